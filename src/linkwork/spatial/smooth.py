"""What all scalars that carry derivatives share: functions by the chain rule, comparisons of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .scalar import Element, Scalar, is_number, truth


class Smooth(Element):
    """A scalar with a value `x` that knows the chain rule: `chain(y, y', y'')` is what a function y of it is."""

    __slots__ = ()
    x: Scalar

    def chain(self, y: Scalar, dy: Scalar, ddy: Scalar) -> Any:
        """The scalar of y(x), given y, y' and y'' at x."""
        raise NotImplementedError

    def blend(self, condition: Any, a: Any, b: Any) -> Any:
        """`where(condition, a, b)` with all derivatives."""
        raise NotImplementedError

    def __mul__(self, other: Any) -> Any:
        raise NotImplementedError

    def __neg__(self) -> Any:
        raise NotImplementedError

    def reciprocal(self) -> Any:
        y = 1.0 / self.x
        return self.chain(y, -(y * y), 2.0 * (y * y * y))

    def __pow__(self, n: Any) -> Any:
        if isinstance(n, np.ndarray):
            return NotImplemented
        if not is_number(n):
            return np.exp(n * np.log(self))
        if n == 2:
            return self * self
        if n == 0.5:
            return self.sqrt()
        return self.chain(self.x**n, _term(n, self.x, n - 1), _term(n * (n - 1), self.x, n - 2))

    def __rpow__(self, base: Any) -> Any:
        """base^x for a base above zero."""
        y, slope = base**self.x, np.log(base)
        return self.chain(y, y * slope, y * slope * slope)

    # Comparisons look at the value only; `where` blends whole jets.
    def __lt__(self, other: Any) -> Any:
        return truth(self.x < value_of(self, other))

    def __le__(self, other: Any) -> Any:
        return truth(self.x <= value_of(self, other))

    def __gt__(self, other: Any) -> Any:
        return truth(self.x > value_of(self, other))

    def __ge__(self, other: Any) -> Any:
        return truth(self.x >= value_of(self, other))

    # NumPy calls these for np.sin(x) and for arrays.
    def sin(self) -> Any:
        s, c = np.sin(self.x), np.cos(self.x)
        return self.chain(s, c, -s)

    def cos(self) -> Any:
        s, c = np.sin(self.x), np.cos(self.x)
        return self.chain(c, -s, -c)

    def tan(self) -> Any:
        y = np.tan(self.x)
        dy = 1.0 + y * y
        return self.chain(y, dy, 2.0 * y * dy)

    def sqrt(self) -> Any:
        y = np.sqrt(self.x)
        dy = 0.5 / y
        return self.chain(y, dy, -0.5 * dy / self.x)

    def exp(self) -> Any:
        y = np.exp(self.x)
        return self.chain(y, y, y)

    def log(self) -> Any:
        y = 1.0 / self.x
        return self.chain(np.log(self.x), y, -(y * y))

    def expm1(self) -> Any:
        y = np.exp(self.x)
        return self.chain(np.expm1(self.x), y, y)

    def log1p(self) -> Any:
        y = 1.0 / (1.0 + self.x)
        return self.chain(np.log1p(self.x), y, -(y * y))

    def sinh(self) -> Any:
        s, c = np.sinh(self.x), np.cosh(self.x)
        return self.chain(s, c, s)

    def cosh(self) -> Any:
        s, c = np.sinh(self.x), np.cosh(self.x)
        return self.chain(c, s, c)

    def tanh(self) -> Any:
        y = np.tanh(self.x)
        dy = 1.0 - y * y
        return self.chain(y, dy, -2.0 * y * dy)

    def arctan(self) -> Any:
        dy = 1.0 / (1.0 + self.x * self.x)
        return self.chain(np.arctan(self.x), dy, -2.0 * self.x * dy * dy)

    def arcsin(self) -> Any:
        dy = 1.0 / np.sqrt(1.0 - self.x * self.x)
        return self.chain(np.arcsin(self.x), dy, self.x * dy * dy * dy)

    def arccos(self) -> Any:
        return -self.arcsin() + np.pi / 2

    def arcsinh(self) -> Any:
        dy = 1.0 / np.sqrt(self.x * self.x + 1.0)
        return self.chain(np.arcsinh(self.x), dy, -self.x * dy * dy * dy)

    def arccosh(self) -> Any:
        dy = 1.0 / np.sqrt(self.x * self.x - 1.0)
        return self.chain(np.arccosh(self.x), dy, -self.x * dy * dy * dy)

    def arctanh(self) -> Any:
        dy = 1.0 / (1.0 - self.x * self.x)
        return self.chain(np.arctanh(self.x), dy, 2.0 * self.x * dy * dy)

    def __abs__(self) -> Any:
        return self.blend(self.x >= 0, self, -self)

    fabs = __abs__

    def sign(self) -> Any:
        return self.chain(np.sign(self.x), 0.0, 0.0)

    def __floor__(self) -> Any:
        return self.chain(np.floor(self.x), 0.0, 0.0)

    def __ceil__(self) -> Any:
        return self.chain(np.ceil(self.x), 0.0, 0.0)


def _term(c: float, x: Scalar, n: float) -> Scalar:
    """c x^n, and 0 for c = 0 even where x^n is infinite."""
    return c * x**n if c else 0.0


def value_of(x: Smooth, other: Any) -> Any:
    """The value of another scalar of the same kind, or the scalar itself."""
    return other.x if isinstance(other, type(x)) else other
