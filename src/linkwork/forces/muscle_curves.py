"""Curves of muscles: functions of one scalar of any kind, with slope and integral.

The active force-length, passive force-length and force-velocity curves are cubics piece by piece, solved from conditions on
values and slopes [Sueda 1.9.4, Eqs. 1.40-1.46; errata 004-8]; the tendon's is a toe that ends in a line [Millard et al. 2013].
Beyond its ends every curve goes on along its tangent: active zero, passive zero below and linear above, velocity held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import perm
from typing import Any

import numpy as np

from ..errors import ModelError
from ..kernel.symbol import traced_digest
from ..spatial.dual import Gradient
from ..spatial.frozen import Frozen
from ..spatial.gate import listed, numbers, positive, reals, shown
from ..spatial.kinds import explained
from ..spatial.scalar import Scalar, Vector, read_only, where

GAUSS = np.polynomial.legendre.leggauss(16)


class MuscleCurve(Frozen):
    """A function of one scalar; a subclass says `__call__(x)` for numbers, symbols, jets and duals alike (see `lw.math.where`).

    numbers   its run-time data: curves that differ in these alone share machine code

    >>> isinstance(lw.tendon_curve(), lw.MuscleCurve)
    True
    """

    numbers: np.ndarray = np.zeros(0)

    def __call__(self, x: Scalar) -> Scalar:
        raise TypeError(f"{type(self).__name__} must define __call__(x)")

    def slope(self, x: Scalar) -> Scalar:
        """The derivative at a number, a symbol or a dual of these."""
        y = self(Gradient(x, (1.0,)))
        return y.grad[0] if isinstance(y, Gradient) else 0.0

    def integral(self, x: Scalar) -> Scalar:
        """The integral from 1 to x, by Gauss's rule."""
        half = 0.5 * (x - 1.0)
        return half * sum(w * self(1.0 + half * (1.0 + at)) for at, w in zip(*GAUSS, strict=True))

    def with_numbers(self, numbers: Vector) -> Any:
        """The same curve with other run-time data."""
        return self

    @property
    def signature(self) -> tuple[Any, ...]:
        """What identifies its machine code."""
        return type(self).__qualname__, traced_digest(lambda x: [self(x[0]), self.integral(x[0])], 1)


class FunctionCurve(MuscleCurve):
    """A curve given as a function."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def function_arguments(self) -> dict[str, Any]:
        """The form of what its function is called with (see `spatial.tape`)."""
        return {"function": (["scalar"], {})}

    def __call__(self, x: Scalar) -> Scalar:
        return self.function(x)


class PiecewiseCurve(MuscleCurve):
    """Polynomials piece by piece: sum_k c_k (x - x_i)^k between knots x_i and x_{i+1}, and lines beyond the ends.

    knots           x_0 < x_1 < ... (n + 1,)
    coefficients    c of every piece (n, degree + 1)
    before, after   value and slope of the lines; the curve's own at its ends by default

    >>> ramp = lw.PiecewiseCurve([0.0, 1.0], [[0.0, 2.0]])
    >>> float(ramp(0.5))
    1.0
    """

    @explained
    def __init__(self, knots: Any, coefficients: Any, before: Any = None, after: Any = None) -> None:
        owner = type(self).__name__
        x, c = _knots(owner, knots), _reals(owner, "coefficients", coefficients)
        if c.ndim != 2 or len(c) != len(x) - 1 or c.shape[1] < 2 or not np.isfinite(c).all():
            raise ModelError(f"{owner}: {len(x)} knots need coefficients of shape ({len(x) - 1}, 2 or more), not {c.shape}")
        width = x[-1] - x[-2]
        before = (c[0, 0], c[0, 1]) if before is None else numbers(owner, "before", before, 2)
        end = _polynomial(c[-1], width), _polynomial_slope(c[-1], width)
        after = end if after is None else numbers(owner, "after", after, 2)
        lines = np.zeros((2, c.shape[1]))
        lines[:, :2] = before, after
        origins = np.concatenate([x[:1], x[:-1], x[-1:]])
        below = np.cumsum([_polynomial_integral(k, w) for k, w in zip(c, np.diff(x), strict=True)])
        self.breaks = x
        # A row per piece: where it starts, the integral up to there, its coefficients.
        self.rows = np.column_stack([origins, np.concatenate([[0.0, 0.0], below]), np.vstack([lines[:1], c, lines[1:]])])

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> PiecewiseCurve:
        """The curve that a file says: made anew of its rows."""
        rows = state["rows"]
        if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.shape[0] < 3 or rows.shape[1] < 4:
            raise ModelError("PiecewiseCurve: it has a row for each piece, and one before and after them")
        return cls(state["breaks"], rows[1:-1, 2:], rows[0, 2:4], rows[-1, 2:4])

    @property
    def numbers(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return np.concatenate([self.breaks, self.rows.reshape(-1)])

    def with_numbers(self, numbers: Vector) -> Any:
        n = len(self.breaks)
        return self.with_parts(breaks=numbers[:n], rows=numbers[n:].reshape(self.rows.shape))

    @property
    def signature(self) -> tuple[Any, ...]:
        return "piecewise", self.rows.shape

    def __call__(self, x: Scalar) -> Scalar:
        start, _, c = self._piece(x)
        return _polynomial(c, x - start)

    def slope(self, x: Scalar) -> Scalar:
        """The derivative, of any kind of scalar."""
        start, _, c = self._piece(x)
        return _polynomial_slope(c, x - start)

    def integral(self, x: Scalar) -> Scalar:
        """The integral from the first knot to x."""
        start, below, c = self._piece(x)
        return below + _polynomial_integral(c, x - start)

    def _piece(self, x: Scalar) -> tuple[Scalar, Scalar, list[Scalar]]:
        row = list(self.rows[-1])
        for end, other in zip(reversed(self.breaks), reversed(self.rows[:-1]), strict=True):
            left = x < end
            row = [where(left, p, q) for p, q in zip(other, row, strict=True)]
        return row[0], row[1], row[2:]


def _polynomial(c: Sequence[Scalar] | np.ndarray, h: Scalar) -> Scalar:
    y = c[-1]
    for k in reversed(range(len(c) - 1)):
        y = c[k] + h * y
    return y


def _polynomial_slope(c: Sequence[Scalar] | np.ndarray, h: Scalar) -> Scalar:
    return _polynomial([k * c[k] for k in range(1, len(c))], h)


def _polynomial_integral(c: Sequence[Scalar] | np.ndarray, h: Scalar) -> Scalar:
    return h * _polynomial([c[k] / (k + 1) for k in range(len(c))], h)


def _reals(owner: str, what: str, x: Any) -> np.ndarray:
    try:
        return reals(x)
    except ValueError as error:
        raise ModelError(f"{owner}: {what} must be finite numbers, not {shown(x)} ({error})") from None


def _knots(owner: str, knots: Any) -> np.ndarray:
    x = _reals(owner, "knots", knots)
    if x.ndim != 1 or len(x) < 2 or not (np.all(np.isfinite(x)) and np.all(np.diff(x) > 0)):
        raise ModelError(f"{owner}: knots must be two or more finite numbers that increase, not {shown(knots)}")
    return x


@explained
def cubic_curve(knots: Sequence[float], conditions: Iterable[tuple[float, int, float]]) -> PiecewiseCurve:
    """Cubics between knots with continuous value and slope, solved from conditions.

    conditions   (x, order, y): the derivative of that order (0 is the value) at x is y; four per piece, less two per inner knot

    >>> step = lw.cubic_curve([0.0, 1.0], [(0.0, 0, 0.0), (0.0, 1, 0.0), (1.0, 0, 1.0), (1.0, 1, 0.0)])
    >>> float(step(0.5))
    0.5
    """
    x = _knots("cubic_curve", knots)
    rows = [listed("cubic_curve", "a condition", row, 3) for row in listed("cubic_curve", "conditions", conditions)]
    given = [(float(at), int(order), float(y)) for at, order, y in rows]
    pieces = len(x) - 1
    if len(given) != 2 * pieces + 2:
        raise ModelError(f"cubic_curve: {pieces} pieces need {2 * pieces + 2} conditions, not {len(given)}")
    # Unknowns are the coefficients in (x - x_i) / w_i, conditions are scaled with the mean width: all numbers are of order 1.
    widths = np.diff(x)
    mean = float(widths.mean())

    def row(i: int, at: float, order: int) -> np.ndarray:
        """What gives the scaled derivative of piece i."""
        out = np.zeros((pieces, 4))
        s = (at - x[i]) / widths[i]
        out[i, order:] = [perm(k, order) * s ** (k - order) * (mean / widths[i]) ** order for k in range(order, 4)]
        return out.reshape(-1)

    A, b = [], []
    for at, order, y in given:
        if not x[0] <= at <= x[-1] or not 0 <= order <= 3:
            raise ModelError(f"cubic_curve: the condition {(at, order, y)} is not on the curve: x in {x.tolist()}, order 0 to 3")
        i = min(int(np.searchsorted(x, at, side="right")) - 1, pieces - 1)
        A.append(row(i, at, order))
        b.append(y * mean**order)
    for i in range(1, pieces):
        for order in (0, 1):
            A.append(row(i - 1, x[i], order) - row(i, x[i], order))
            b.append(0.0)
    if np.linalg.matrix_rank(A) < 4 * pieces:
        raise ModelError("cubic_curve: the conditions do not determine the curve")
    scaled = np.linalg.solve(A, b).reshape(pieces, 4)
    curve = PiecewiseCurve(x, scaled / widths[:, None] ** np.arange(4))
    rows = curve.rows.copy()
    for at, order, y in given:  # lines begin with what was asked, not with its rounding
        if order < 2 and at in (x[0], x[-1]):
            rows[0 if at == x[0] else -1, 2 + order] = y
    return curve.with_parts(rows=read_only(rows))


@explained
def tendon_curve(strain: float = 0.049) -> PiecewiseCurve:
    """Force of a tendon over its relative length: zero up to 1, a toe up to two thirds of the maximal force, then a line.

    The force is 1 at the given strain, the line's slope 1.375 / strain [Millard et al. 2013].

    >>> float(lw.tendon_curve()(0.99))
    0.0
    """
    strain = positive("tendon_curve", "strain", strain)
    slope = 1.375 / strain
    end = 1.0 + strain - 1.0 / (3.0 * slope)
    return cubic_curve((1.0, end), ((1.0, 0, 0.0), (1.0, 1, 0.0), (end, 0, 2.0 / 3.0), (end, 1, slope)))


def as_curve(owner: str, what: str, curve: Any) -> MuscleCurve:
    """A curve, or a function as one."""
    if isinstance(curve, MuscleCurve):
        return curve
    if not callable(curve):
        raise ModelError(f"{owner}: {what} must be a curve or a function of one scalar, not {curve!r}")
    return FunctionCurve(curve)


ACTIVE = cubic_curve(
    (0.4, 0.7, 1.2, 1.81),
    (
        (0.4, 0, 0.0),
        (0.4, 1, 0.0),
        (0.7, 0, 0.767020368396388),
        (1.0, 0, 1.0),
        (1.0, 1, 0.0),
        (1.2, 0, 0.89),
        (1.81, 0, 0.0),
        (1.81, 1, 0.0),
    ),
)
PASSIVE = cubic_curve(
    (1.0, 1.3, 1.7),
    (
        (1.0, 0, 0.0),
        (1.0, 1, 0.0),
        (1.3, 0, 0.126110265892917),
        (1.3, 1, 1.07051016402631),
        (1.7, 0, 1.0),
        (1.7, 1, 20.0 / 7.0),
    ),
)
VELOCITY = cubic_curve(
    (-1.0, -0.05, 0.05, 1.0),
    (
        (-1.0, 0, 0.0),
        (-1.0, 1, 0.0),
        (-1.0, 2, 0.0),
        (0.0, 0, 1.0),
        (0.0, 1, 5.0),
        (1.0, 0, 1.4),
        (1.0, 1, 0.0),
        (1.0, 2, 0.0),
    ),
)
TENDON = tendon_curve()
