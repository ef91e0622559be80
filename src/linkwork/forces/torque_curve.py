"""Nonlinear springs in joints of one coordinate: a curve of force over angle (or length)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import LinkworkError, ModelError
from ..joints import Joint
from ..kernel.symbol import traced_digest
from ..model.model import Body
from ..spatial.gate import reals
from ..spatial.scalar import Scalar, Vector, stack
from ..spatial.table import Table
from .joint import JointForce

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


class TorqueCurve(JointForce):
    """Force f(q) of a joint with one coordinate; energy minus the integral of f from 0 to q.

    curve   a function of q, or points (q_k, f_k), (n, 2), or with slopes (q_k, f_k, f_k'), (n, 3). Between points the curve is
            cubic, beyond the first and last straight; slopes not given are those that do not overshoot (pchip).

    The energy of points is exact; that of a function is a sum at 24 Gauss points, exact to rounding where the function is smooth.

    >>> elastic = model.add(lw.TorqueCurve("lower", lambda angle: -5.0 * angle))
    """

    law: Callable[[Scalar], Scalar] | None

    def __init__(self, joint: str, curve: Any, *, name: str = "") -> None:
        owner = self.on(joint, name)
        self.law = curve if callable(curve) else None
        if not self.law:
            rows = segments(owner, curve)
            self.table = Table(rows, knots=rows[1:, 0])
        else:
            for q in (-0.3, 0.0, 0.7):
                _check_value(owner, self.law, q)

    @property
    def parameter_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return () if self.law else ("table",)

    def function_arguments(self) -> dict[str, Any]:
        """The form of what its function is called with (see `spatial.tape`)."""
        return {"law": (["scalar"], {})}

    @cached_property
    def variant(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        law = self.law
        return (traced_digest(lambda q: [law(q[0])], 1) if law else "points",)

    @property
    def same(self) -> tuple[Any, ...]:
        return (type(self), id(self.law))

    def fitted(self, body: Body) -> Any:
        if body.joint.nq != 1 or body.joint.nv != 1:
            raise ModelError(f"{self!r}: {body.joint!r} has {body.joint.nv} degrees of freedom; a curve is for joints with one")
        return self

    def energy(self, joint: Joint, q: Vector) -> Scalar:
        x = q[0]
        if self.law:
            half = 0.5 * x
            return -half * sum(w * self.law(half + half * s) for s, w in zip(NODES, WEIGHTS, strict=True))
        x0, c0, c1, c2, c3, e0 = self.table.at(x)
        s = x - x0
        return e0 - s * (c0 + s * (c1 / 2.0 + s * (c2 / 3.0 + s * (c3 / 4.0))))

    def force(self, joint: Joint, q: Vector, v: Vector, t: Scalar, u: Vector) -> Vector:
        x = q[0]
        if self.law:
            return stack(self.law(x))
        x0, c0, c1, c2, c3, _ = self.table.at(x)
        s = x - x0
        return stack(c0 + s * (c1 + s * (c2 + s * c3)))


def segments(owner: str, points: Any) -> np.ndarray:
    """Rows (x0, c0, c1, c2, c3, e0): force sum c_i (x - x0)^i and energy e0 - its integral from x0 on; straight at the ends."""
    from scipy.interpolate import CubicHermiteSpline, PchipInterpolator  # slow to import, and seldom needed

    try:
        P = reals(points)
    except (TypeError, ValueError):
        P = np.zeros((0, 0))
    columns = np.shape(P)[-1] if P.ndim == 2 else 0
    if columns not in (2, 3) or len(P) < 2 or not np.all(np.isfinite(P)):
        raise ModelError(f"{owner}: a curve is a function or 2 or more points (q, f) or (q, f, slope), finite, not {points!r}")
    x, y = P[:, 0], P[:, 1]
    if np.any(np.diff(x) <= 0.0):
        raise ModelError(f"{owner}: the points of a curve must have increasing q, not {x.tolist()}")
    spline = CubicHermiteSpline(x, y, P[:, 2]) if columns == 3 else PchipInterpolator(x, y)
    ends = np.asarray(spline(x[[0, -1]], 1))
    o = np.zeros(2)
    straight = np.stack([x[[0, -1]], y[[0, -1]], ends, o, o, o], axis=1)
    cubic = np.stack([x[:-1], *spline.c[::-1], np.zeros(len(x) - 1)], axis=1)
    table = np.concatenate([straight[:1], cubic, straight[1:]])
    area = np.append(0.0, np.cumsum(spline.antiderivative()(x[1:]) - spline.antiderivative()(x[:-1])))
    table[:, 5] = -np.concatenate([[0.0], area])
    table[:, 5] -= _energy(table, 0.0)
    return table


def _energy(table: np.ndarray, x: float) -> float:
    """The energy of a table at x."""
    row = table[max(0, int(np.searchsorted(table[1:, 0], x, side="right")))]
    s = x - row[0]
    return float(row[5] - s * (row[1] + s * (row[2] / 2 + s * (row[3] / 3 + s * row[4] / 4))))


def _check_value(owner: str, law: Callable[[Scalar], Scalar], q: float) -> None:
    try:
        f = np.asarray(law(q), dtype=float)
    except LinkworkError:
        raise
    except Exception as error:
        raise ModelError(f"{owner}: curve(q) failed for q = {q:g}: {error}") from error
    if f.shape != () or not np.isfinite(f):
        raise ModelError(f"{owner}: curve(q) must be a finite number, not {f.tolist()!r} at q = {q:g}")
