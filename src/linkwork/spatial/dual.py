"""Dual numbers: scalars that carry their derivatives with respect to some variables, first order only.

What is computed from duals arrives with exact derivatives. A dual is a scalar like any other, so jets and gradients may be made
of duals (the derivative of a gradient), and the entries of duals may be floats or traced symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .scalar import Scalar, Vector, array, stack, where
from .se3 import SE3
from .smooth import Smooth
from .stage import skew
from .tape import Taped


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dual(Smooth):
    """A scalar `x` and its derivatives `grad`. Entries may be duals of a lower level."""

    x: Scalar
    grad: tuple[Scalar, ...]
    level: ClassVar[int] = 0

    def like(self, x: Any) -> Dual:
        return x if isinstance(x, type(self)) else type(self)(x, (0.0,) * len(self.grad))

    def chain(self, y: Scalar, dy: Scalar, ddy: Scalar) -> Dual:
        return type(self)(y, tuple(dy * g for g in self.grad))

    def _knows(self, other: Any) -> bool:
        """Whether `other` is a dual of this level or a scalar below; others know themselves how to combine with one."""
        return other.level <= self.level if isinstance(other, Dual) else not isinstance(other, (np.ndarray, Smooth))

    def __add__(self, other: Any) -> Any:
        if not self._knows(other):
            return NotImplemented
        if not isinstance(other, type(self)):
            return type(self)(self.x + other, self.grad)
        return type(self)(self.x + other.x, tuple(a + b for a, b in zip(self.grad, other.grad, strict=True)))

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return type(self)(-self.x, tuple(-g for g in self.grad))

    def __pos__(self) -> Dual:
        return self

    def __sub__(self, other: Any) -> Any:
        return self + (-other) if self._knows(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        if not self._knows(other):
            return NotImplemented
        if not isinstance(other, type(self)):
            return type(self)(self.x * other, tuple(g * other for g in self.grad))
        pairs = zip(self.grad, other.grad, strict=True)
        return type(self)(self.x * other.x, tuple(self.x * b + a * other.x for a, b in pairs))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if not self._knows(other):
            return NotImplemented
        return self * (other.reciprocal() if isinstance(other, type(self)) else 1.0 / other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.reciprocal() * other

    def blend(self, condition: Any, a: Any, b: Any) -> Any:
        if not (self._knows(a) and self._knows(b)):  # what is made of duals decides
            return (b if self._knows(a) else a).blend(condition, a, b)
        a, b = self.like(a), self.like(b)
        return type(self)(where(condition, a.x, b.x), tuple(where(condition, p, q) for p, q in zip(a.grad, b.grad, strict=True)))

    def arctan2(self, other: Any) -> Any:
        if not self._knows(other):
            return other.like(self).arctan2(other)
        y, x = self, self.like(other)
        r2_inv = 1.0 / (x.x * x.x + y.x * y.x)
        slopes = tuple((x.x * gy - y.x * gx) * r2_inv for gx, gy in zip(x.grad, y.grad, strict=True))
        return type(self)(np.arctan2(y.x, x.x), slopes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.x}, {self.grad})"


class Bend(Dual):
    """A dual whose entries may be duals: a derivative of a law inside a step that is differentiated."""

    __slots__ = ()
    level: ClassVar[int] = 1


class Rate(Dual):
    """A dual whose entries may be duals or bends: what changes along a motion, the whole of which is differentiated."""

    __slots__ = ()
    level: ClassVar[int] = 2


class Gradient(Dual):
    """A dual whose entries may be duals, bends or rates."""

    __slots__ = ()
    level: ClassVar[int] = 3


class Slope(Dual):
    """A dual whose entries may be gradients: what a function that is differentiated differentiates in turn."""

    __slots__ = ()
    level: ClassVar[int] = 4


def variables(x: Vector, count: int, first: int = 0, kind: type[Dual] = Dual) -> Vector:
    """The entries of x as variables number `first`, ... of `count`."""
    return stack(*(kind(x[k], tuple(1.0 if j == first + k else 0.0 for j in range(count))) for k in range(len(x))))


def displaced(E: SE3, count: int, first: int = 0, kind: type[Dual] = Dual) -> SE3:
    """A pose as a function of its displacement E exp(xi) at xi = 0, whose six entries are variables `first`, ... of `count`."""
    R, p = E.R, E.p
    unit = np.eye(3)
    turned = [R @ skew(unit[k]) for k in range(3)]

    def dual(x: Scalar, turns: Sequence[Scalar], shifts: Sequence[Scalar]) -> Dual:
        return kind(x, (*[0.0] * first, *turns, *shifts, *[0.0] * (count - first - 6)))

    rotation = [[dual(R[i, j], [T[i, j] for T in turned], [0.0] * 3) for j in range(3)] for i in range(3)]
    position = [dual(p[i], [0.0] * 3, [R[i, k] for k in range(3)]) for i in range(3)]
    return SE3(R=array([x for row in rotation for x in row]).reshape(3, 3), p=array(position))


def held(x: Any) -> Any:
    """The value of a scalar (or of every entry of an array) without its derivatives."""
    if isinstance(x, np.ndarray):
        return stack(*(held(e) for e in x.flat)).reshape(x.shape)
    while isinstance(x, Smooth):
        x = x.x  # type: ignore[attr-defined]
    return x.tape.scalar("held", x) if isinstance(x, Taped) else x


def split(x: np.ndarray, count: int, kind: type[Dual] = Dual) -> tuple[np.ndarray, np.ndarray]:
    """The values of an array of duals of a kind (or of constants), and its derivatives with `count` columns more."""
    flat = np.asarray(x, dtype=object).reshape(-1)
    values = stack(*(e.x if isinstance(e, kind) else e for e in flat))
    grads = [e.grad if isinstance(e, kind) else (0.0,) * count for e in flat]
    columns = stack(*(g for row in grads for g in row))
    return values.reshape(np.shape(x)), columns.reshape(*np.shape(x), count)
