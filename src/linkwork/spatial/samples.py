"""Curves through samples, for laws: `samples(x, y)` is a table, `interp(s, table)` the curve at a number, a jet or a symbol."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError
from .gate import meant, reals
from .kinds import explained
from .scalar import Scalar
from .table import Table

KINDS = ("linear", "pchip", "cubic")


@explained
def samples(x: Any, y: Any, kind: str = "linear") -> Table:
    """A curve through the points (x_k, y_k), as a parameter of a law; any number of points shares machine code.

    x      increasing (n,)
    y      numbers (n,), or arrays (n, ...)
    kind   "linear": continuous;  "pchip": with its slope, without overshooting;  "cubic": with its slope and curvature
    Before the first and after the last point the curve keeps its value there, as `np.interp` does.

    >>> curve = lw.samples([0.0, 0.5, 1.0], [0.0, 3.0, 1.0], "pchip")
    >>> hill = lw.joint_force("knee", force=lambda q, v, c: [lw.interp(q[0], c)], parameters={"c": curve})
    """
    try:
        a, b = reals(x), reals(y)
    except (TypeError, ValueError):
        a = b = np.zeros(())
    if a.ndim != 1 or len(a) < 2 or b.shape[:1] != a.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ModelError(f"samples: x and y must be two finite numbers or more each, as many of both, not {x!r} and {y!r}")
    if np.any(np.diff(a) <= 0.0):
        raise ModelError(f"samples: x must increase, not {a.tolist()}")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ModelError(f"samples: kind must be one of {', '.join(map(repr, KINDS))}, not {kind!r}{meant(kind, KINDS)}")
    pieces = _pieces(a, b, kind)
    ends = np.zeros((2, *pieces.shape[1:]))
    ends[:, 0] = b[[0, -1]]
    coefficients = np.concatenate([ends[:1], pieces, ends[1:]])
    origins = np.broadcast_to(_column(np.concatenate([a[:1], a[:-1], a[-1:]]), b.ndim), (len(a) + 1, *b.shape[1:]))
    return Table(np.concatenate([origins[:, None], coefficients], axis=1), knots=a)


@explained
def interp(x: Scalar, table: Table) -> Any:
    """The curve of `samples` at x, with its derivatives: sum_i c_i (x - x_k)^i of the piece that x lies in.

    >>> table = lw.samples([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
    >>> float(lw.interp(1.5, table))
    2.5
    """
    row = table.at(x)
    s = x - row[0]
    value = row[-1]
    for c in row[-2:0:-1]:
        value = value * s + c
    return value


def _pieces(x: np.ndarray, y: np.ndarray, kind: str) -> np.ndarray:
    """Coefficients (n - 1, degree + 1, ...) of the polynomials between the points, constants first."""
    if kind == "linear":
        return np.stack([y[:-1], np.diff(y, axis=0) / _column(np.diff(x), y.ndim)], axis=1)
    from scipy.interpolate import CubicSpline, PchipInterpolator  # slow to import, and seldom needed

    made = PchipInterpolator(x, y) if kind == "pchip" else CubicSpline(x, y)
    return np.moveaxis(made.c[::-1], 0, 1)


def _column(x: np.ndarray, ndim: int) -> np.ndarray:
    return x.reshape(-1, *[1] * (ndim - 1))
