"""Bases of splines: how much each of the control values around a segment counts, as polynomials of the place in the segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ModelError
from ..spatial.gate import meant, reals
from ..spatial.scalar import Scalar

MAX_COUNT = 64  # control values of a segment


@dataclass(frozen=True)
class SplineBasis:
    """Weights w_j(u) = sum_p matrix[j][p] u^p of the control values j of a segment, u from 0 to 1; they sum to one.

    matrix   (count, degree + 1)
    stride   how many control values a segment is ahead of the one before

    >>> line = lw.SplineBasis(((1.0, -1.0), (0.0, 1.0)))
    """

    matrix: tuple[tuple[float, ...], ...]
    stride: int = 1

    def __post_init__(self) -> None:
        try:
            M: np.ndarray = reals(self.matrix)
        except (TypeError, ValueError):
            M = np.zeros(())
        if M.ndim != 2 or min(M.shape) < 2 or not np.all(np.isfinite(M)):
            raise ModelError(
                f"SplineBasis: its matrix must be finite numbers, two rows and columns at least, not {self.matrix!r}"
            )
        if M.shape[0] > MAX_COUNT:
            raise ModelError(f"SplineBasis: {M.shape[0]} control values of a segment are too many; at most {MAX_COUNT}")
        sums = np.abs(M.sum(axis=0) - np.eye(M.shape[1])[0])
        if sums.max() > 1e-12:
            raise ModelError(f"SplineBasis: the weights must sum to one at every u; these sum to {M.sum(axis=0).tolist()}")
        if not isinstance(self.stride, int) or not 1 <= self.stride < len(M):
            raise ModelError(f"SplineBasis: the stride must be from 1 to {len(M) - 1}, not {self.stride!r}")
        rows: list[list[float]] = M.tolist()
        object.__setattr__(self, "matrix", tuple(tuple(row) for row in rows))

    @property
    def count(self) -> int:
        """Control values of a segment."""
        return len(self.matrix)

    @property
    def cumulative(self) -> np.ndarray:
        """Coefficients of the sums of the weights from j on, j = 1, 2, ... [Sueda, Eq. 2.65]."""
        return np.cumsum(np.array(self.matrix)[::-1], axis=0)[-2::-1]

    def segments(self, owner: str, values: int, cyclic: bool) -> int:
        """How many segments there are of so many control values; raises where there is none, or a part of one."""
        least = self.count if not cyclic else max(self.count - 1, 2)
        if values < least:
            around = "of a closed spline" if cyclic else "of an open spline"
            raise ModelError(f"{owner}: {values} control values are too few; the basis needs {least} at least {around}")
        found, rest = divmod(values if cyclic else values - self.count, self.stride)
        if rest:
            more = self.stride - rest
            raise ModelError(f"{owner}: {values} control values end within a segment of {self.stride}; {more} more are needed")
        return found if cyclic else found + 1

    def polynomials_of(self, values: np.ndarray, cyclic: Sequence[bool], segments: Sequence[int]) -> np.ndarray:
        """Coefficients (k, segments..., powers...) of the tensor product on every patch, from control values (k, n, ...)."""
        found, M = values, np.array(self.matrix)
        for axis, (around, count) in enumerate(zip(cyclic, segments, strict=True), 1):
            windows = self.windows(found.shape[axis], around, count)
            taken = np.take(found, windows, axis=axis)
            found = np.tensordot(taken, M, axes=(axis + 1, 0))
        return found

    def windows(self, values: int, cyclic: bool, segments: int) -> np.ndarray:
        """The indices (segments, count) of the control values of every segment."""
        at = self.stride * np.arange(segments)[:, None] + np.arange(self.count)
        return at % values if cyclic else at


def taylor(coefficients: Sequence[Any], u: Scalar, most: int) -> list[Any]:
    """A polynomial sum_p c_p u^p, its slope and half its second derivative at u, up to an order, by one pass of Horner's rule."""
    value, *rest = reversed(coefficients)
    slope: Any = None
    half: Any = None
    for c in rest:
        if most > 1 and slope is not None:
            half = slope if half is None else half * u + slope
        if most:
            slope = value if slope is None else slope * u + value
        value = value * u + c
    return [value, slope if slope is not None else 0.0 * value, half if half is not None else 0.0 * value][: most + 1]


def derivatives(coefficients: Sequence[Any], u: Scalar, most: int) -> list[Any]:
    """A polynomial sum_p c_p u^p and its derivatives up to an order, 2 at most."""
    found = taylor(coefficients, u, most)
    return [*found[:2], *(2.0 * x for x in found[2:])]


def _sixths(*rows: Sequence[int]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(x / 6.0 for x in row) for row in rows)


BSPLINE = SplineBasis(_sixths((1, -3, 3, -1), (4, 0, -6, 3), (1, 3, 3, -3), (0, 0, 0, 1)))  # [Sueda, Eq. 2.61]: two derivatives
BEZIER = SplineBasis(((1, -3, 3, -1), (0, 3, -6, 3), (0, 0, 3, -3), (0, 0, 0, 1)), 3)  # through every third frame
CATMULL_ROM = SplineBasis(
    ((0, -0.5, 1, -0.5), (1, 0, -2.5, 1.5), (0, 0.5, 2, -1.5), (0, 0, -0.5, 0.5))
)  # through all but the ends
BASES = {"bspline": BSPLINE, "bezier": BEZIER, "catmull-rom": CATMULL_ROM}


def basis_of(owner: str, given: Any) -> SplineBasis:
    """A basis, by its name too."""
    found = BASES.get(given) if isinstance(given, str) else given
    if not isinstance(found, SplineBasis):
        raise ModelError(
            f"{owner}: basis must be one of {', '.join(map(repr, BASES))}, or a SplineBasis, not {given!r}{meant(given, BASES)}"
        )
    return found
