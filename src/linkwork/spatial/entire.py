"""Sinc-like functions of x2 = x * x: smooth at zero, exact to rounding with their first two derivatives.

The rotation vector enters exp, log and their Jacobians through even functions of the angle x. Written in x2 they are
analytic at zero, so nothing outside this module branches on small angles.

Each function is a Taylor series below a limit and the closed form above. The limits are far higher than the value
alone would need, because derivatives of the closed forms cancel sooner: differentiated twice, sin(x) / x has lost
nearly three digits at x2 = 0.25, and (x - sin x) / x^3 more than five. Both branches are always evaluated (a symbol
cannot skip one), so each sees a safe argument: else the branch not taken may be infinite, and 0 * inf is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import factorial
from typing import NamedTuple

import numpy as np

from .scalar import Scalar, where

NEGLIGIBLE = Fraction(1, 2**58)


class Series(NamedTuple):
    """A power series in x2, used for x2 < limit."""

    coefficients: tuple[float, ...]
    limit: float

    def __call__(self, x2: Scalar) -> Scalar:
        """The sum at x2, by Horner's rule."""
        total = self.coefficients[-1]
        for c in reversed(self.coefficients[:-1]):
            total = total * x2 + c
        return total


def _series(coefficient: Callable[[int], Fraction], limit: Fraction | int) -> Series:
    """The series of c_k x2^k with the terms that its second derivative needs for rounding accuracy up to the limit."""
    n, first = 3, 2 * abs(coefficient(2))
    while n * (n - 1) * abs(coefficient(n)) * Fraction(limit) ** (n - 2) > NEGLIGIBLE * first:
        n += 1
    return Series(tuple(float(coefficient(k)) for k in range(n)), float(limit))


COSINE = _series(lambda k: Fraction((-1) ** k, factorial(2 * k)), limit=2)
SINC = _series(lambda k: Fraction((-1) ** k, factorial(2 * k + 1)), limit=4)
SINC_SLOPE = _series(lambda k: Fraction((-1) ** k * (2 * k + 2), factorial(2 * k + 3)), limit=10)
SINE_REMAINDER = _series(lambda k: Fraction((-1) ** k, factorial(2 * k + 3)), limit=20)
CUBIC = _series(lambda k: Fraction((-1) ** k * (2 * k + 2), factorial(2 * k + 4)), limit=20)
QUARTIC = _series(lambda k: Fraction((-1) ** k * (2 * k + 2), factorial(2 * k + 5)), limit=24)
ARCTANC = _series(lambda k: Fraction((-1) ** k, 2 * k + 1), limit=Fraction(1, 25))  # tan(pi / 16)^2 = 0.0396


def _joined(series: Series, closed: Callable[[Scalar, Scalar], Scalar], x2: Scalar) -> Scalar:
    """The series below its limit, else closed(x, x2); the branch not taken sees the limit or zero in place of x2."""
    near = x2 < series.limit
    far = where(near, series.limit, x2)
    return where(near, series(where(near, x2, 0.0)), closed(np.sqrt(far), far))


def cosine(x2: Scalar) -> Scalar:
    """cos x."""
    return _joined(COSINE, lambda x, x2: np.cos(x), x2)


def sinc(x2: Scalar) -> Scalar:
    """sin x / x."""
    return _joined(SINC, lambda x, x2: np.sin(x) / x, x2)


def sinc_slope(x2: Scalar) -> Scalar:
    """(sin x - x cos x) / x^3 = -2 d sinc / d x2."""
    return _joined(SINC_SLOPE, lambda x, x2: (np.sin(x) / x - np.cos(x)) / x2, x2)


def versine(x2: Scalar) -> Scalar:
    """(1 - cos x) / x^2 = sinc(x/2)^2 / 2, where nothing cancels."""
    s = sinc(0.25 * x2)
    return 0.5 * s * s


def sine_remainder(x2: Scalar) -> Scalar:
    """(x - sin x) / x^3."""
    return _joined(SINE_REMAINDER, lambda x, x2: (1.0 - np.sin(x) / x) / x2, x2)


def half_cot_remainder(x2: Scalar) -> Scalar:
    """(1 - (x/2) cot(x/2)) / x^2, with poles at x = 2 pi, 4 pi, ...

    With h = x/2 it is (sin h - h cos h) / (4 h^2 sin h) = sinc_slope(h^2) / (4 sinc(h^2)).
    """
    h2 = 0.25 * x2
    return sinc_slope(h2) / (4.0 * sinc(h2))


def arctanc(x2: Scalar) -> Scalar:
    """arctan x / x for 0 <= x <= 1.

    Halving the angle twice, arctan x = 2 arctan(x / (1 + sqrt(1 + x^2))), leaves at most pi/16, where one short series
    serves: no branch, and no call of a library's arctan.
    """
    factor = 1.0
    for _ in range(2):
        ratio = 1.0 / (1.0 + np.sqrt(1.0 + x2))  # of the tangents of half the angle and of the angle
        factor = factor * (2.0 * ratio)
        x2 = x2 * (ratio * ratio)
    return factor * ARCTANC(x2)


def se3_jacobian(x2: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """Coefficients a1..a4 of the left Jacobian 1 + a1 A + a2 A^2 + a3 A^3 + a4 A^4 of SE(3), A = ad(xi), x = |angular|.

    a1 = (4 - x sin x - 4 cos x) / 2x^2,    a2 = (4x - 5 sin x + x cos x) / 2x^3,
    a3 = (2 - x sin x - 2 cos x) / 2x^4,    a4 = (2x - 3 sin x + x cos x) / 2x^5.
    """
    cubic = _joined(CUBIC, lambda x, x2: (2.0 - 2.0 * np.cos(x) - x * np.sin(x)) / (x2 * x2), x2)
    quartic = _joined(QUARTIC, lambda x, x2: (2.0 * x - 3.0 * np.sin(x) + x * np.cos(x)) / (x * x2 * x2), x2)
    a1 = 2.0 * versine(x2) - 0.5 * sinc(x2)
    a2 = 2.0 * sine_remainder(x2) - 0.5 * sinc_slope(x2)
    return a1, a2, 0.5 * cubic, 0.5 * quartic
