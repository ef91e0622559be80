"""Jets: scalars that carry their derivatives along a motion.

A jet of x(q) along the velocity v holds the value, the gradient (one entry per velocity coordinate), the rate
`x_dot = gradient . v`, the bias `x_ddot` at zero acceleration, and the rate of every entry of the gradient. Products and
functions follow the chain rule, so whatever is computed from jets arrives with exact derivatives; the entries may be floats
or traced symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .scalar import Scalar, Vector, stack, where
from .smooth import Smooth


class Jet(Smooth):
    """A scalar `x` with `grad` (tuple), `rate`, `bias` and `grad_rate` (tuple, zeros by default), see the module's text."""

    __slots__ = ("bias", "grad", "grad_rate", "rate", "x")

    def __init__(
        self, x: Scalar, grad: tuple[Scalar, ...], rate: Scalar, bias: Scalar, grad_rate: tuple[Scalar, ...] | None = None
    ) -> None:
        self.x, self.grad, self.rate, self.bias = x, grad, rate, bias
        self.grad_rate = (0.0,) * len(grad) if grad_rate is None else grad_rate

    def like(self, x: Any) -> Jet:
        return lift(x, len(self.grad))

    def chain(self, y: Scalar, dy: Scalar, ddy: Scalar) -> Jet:
        """The jet of y(x), given y, y' and y'' at x."""
        bend = ddy * self.rate
        grad_rate = tuple(dy * r + bend * g for r, g in zip(self.grad_rate, self.grad, strict=True))
        return Jet(y, tuple(dy * g for g in self.grad), dy * self.rate, dy * self.bias + bend * self.rate, grad_rate)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, Jet):
            return Jet(self.x + other, self.grad, self.rate, self.bias, self.grad_rate)
        grad = tuple(a + b for a, b in zip(self.grad, other.grad, strict=True))
        grad_rate = tuple(a + b for a, b in zip(self.grad_rate, other.grad_rate, strict=True))
        return Jet(self.x + other.x, grad, self.rate + other.rate, self.bias + other.bias, grad_rate)

    __radd__ = __add__

    def __neg__(self) -> Jet:
        return Jet(-self.x, tuple(-g for g in self.grad), -self.rate, -self.bias, tuple(-r for r in self.grad_rate))

    def __pos__(self) -> Jet:
        return self

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, Jet):
            grad_rate = tuple(r * other for r in self.grad_rate)
            return Jet(self.x * other, tuple(g * other for g in self.grad), self.rate * other, self.bias * other, grad_rate)
        a, b = self, other
        grad = tuple(a.x * gb + ga * b.x for ga, gb in zip(a.grad, b.grad, strict=True))
        slopes = zip(a.grad, b.grad, a.grad_rate, b.grad_rate, strict=True)
        grad_rate = tuple(a.x * rb + a.rate * gb + ga * b.rate + ra * b.x for ga, gb, ra, rb in slopes)
        cross = a.rate * b.rate
        bias = a.x * b.bias + a.bias * b.x + (cross + cross)
        return Jet(a.x * b.x, grad, a.x * b.rate + a.rate * b.x, bias, grad_rate)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return self * (other.reciprocal() if isinstance(other, Jet) else 1.0 / other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.reciprocal() * other

    def blend(self, condition: Any, a: Any, b: Any) -> Jet:
        """`where(condition, a, b)` entry by entry."""
        a, b = self.like(a), self.like(b)
        grad = tuple(where(condition, ga, gb) for ga, gb in zip(a.grad, b.grad, strict=True))
        grad_rate = tuple(where(condition, ra, rb) for ra, rb in zip(a.grad_rate, b.grad_rate, strict=True))
        rate, bias = where(condition, a.rate, b.rate), where(condition, a.bias, b.bias)
        return Jet(where(condition, a.x, b.x), grad, rate, bias, grad_rate)

    def arctan2(self, other: Any) -> Jet:
        """atan2(self, other): its derivatives are those of the angle (x dy - y dx) / (x^2 + y^2)."""
        y, x = self, self.like(other)
        r2_inv = 1.0 / (x.x * x.x + y.x * y.x)
        grad = tuple((x.x * gy - y.x * gx) * r2_inv for gx, gy in zip(x.grad, y.grad, strict=True))
        rate = (x.x * y.rate - y.x * x.rate) * r2_inv
        radial = x.x * x.rate + y.x * y.rate
        bias = (x.x * y.bias - y.x * x.bias - 2.0 * radial * rate) * r2_inv
        turn = [
            (x.rate * gy + x.x * ry - y.rate * gx - y.x * rx - 2.0 * radial * g) * r2_inv
            for gx, gy, rx, ry, g in zip(x.grad, y.grad, x.grad_rate, y.grad_rate, grad, strict=True)
        ]
        return Jet(np.arctan2(y.x, x.x), grad, rate, bias, tuple(turn))

    def __repr__(self) -> str:
        return f"Jet({self.x}, grad={self.grad}, rate={self.rate}, bias={self.bias})"


def lift(x: Any, n: int) -> Jet:
    """A jet of anything: constants have zero derivatives."""
    return x if isinstance(x, Jet) else Jet(x, (0.0,) * n, 0.0, 0.0)


def value(x: Any) -> Any:
    """The value of a jet, or the argument itself."""
    return x.x if isinstance(x, Jet) else x


def coordinates(q: Vector, v: Vector) -> Vector:
    """The jets of coordinates q that move with q_dot = v."""
    n = len(q)
    return stack(*(Jet(q[k], tuple(1.0 if j == k else 0.0 for j in range(n)), v[k], 0.0) for k in range(n)))


def values(jets: np.ndarray) -> np.ndarray:
    """The array of values of an array of jets."""
    return _collect(jets, value)


def rates(jets: np.ndarray) -> np.ndarray:
    """The array of first time derivatives."""
    return _collect(jets, lambda x: x.rate if isinstance(x, Jet) else 0.0)


def biases(jets: np.ndarray) -> np.ndarray:
    """The array of second time derivatives at zero acceleration."""
    return _collect(jets, lambda x: x.bias if isinstance(x, Jet) else 0.0)


def gradients(jets: Vector, n: int) -> np.ndarray:
    """The Jacobian (len(jets), n) of a vector of jets."""
    out = np.empty((len(jets), n), dtype=object)
    for k, x in enumerate(jets):
        out[k] = lift(x, n).grad
    return out


def gradient_rates(jets: Vector, n: int) -> np.ndarray:
    """The time derivative (len(jets), n) of the Jacobian of a vector of jets."""
    out = np.empty((len(jets), n), dtype=object)
    for k, x in enumerate(jets):
        out[k] = lift(x, n).grad_rate
    return out


def _collect(jets: np.ndarray, part: Any) -> np.ndarray:
    flat = stack(*(part(x) for x in jets.flat))
    return flat.reshape(jets.shape)
