"""Curves of two bodies in one plane that touch: cams and their followers. The point of contact is found on both curves, two
unknowns that are eliminated exactly (see `derive`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..geometry.curves import Curve
from ..model.model import WORLD
from ..spatial.gate import choice, given_truth, numbers
from ..spatial.scalar import Scalar, Vector, cross, dot, norm, stack
from ..spatial.se3 import SE3
from .on_shape import OnShape

STRAIGHT = 1e-6  # of the length of a curve: what its samples are off a line at most, if it is one
FLAT = 1e-9  # of the same: how far they may be off the plane
ROUNDING = 1e-12  # of a unit vector: entries below it are 0
SIDES = {"outside": 1.0, "inside": -1.0}


class TangentCurves(OnShape):
    """Curves of two bodies touch in a plane: they share a point where their tangents are parallel. One row, their distance there.

    body_a, curve_a   a body and its curve, in its axes and in one plane
    body_b, curve_b   another ("world" by default); its curve lies in the same plane, which joints of both bodies keep
    unilateral        True: they may part, and only push
    side              "outside": b touches a from where a bulges; "inside": from within, as a roller in a groove
    normal            of the plane, in axes of body_a; by default that of curve_a, and needed where that is straight: a straight
                      curve a is touched from the right of its direction, seen against this normal

    With the points x_a, x_b, d = x_b - x_a, the tangents t_a, t_b and m = t_a x normal: d . t_a = 0 and m . t_b = 0 determine the
    points, and d . m / |m| is the distance.

    >>> def circle(u, r):
    ...     return [r * np.cos(u), 0.0, r * np.sin(u)]
    >>> cam = lw.Curve(circle, (0.0, 2 * np.pi), parameters={"r": 0.3})
    >>> roller = lw.Curve(circle, (0.0, 2 * np.pi), parameters={"r": 0.1})
    >>> driven = model.add(lw.TangentCurves("lower", roller, cam))
    """

    size, unknowns = 1, 2
    parameter_names: ClassVar[tuple[str, ...]] = ("across",)
    shape_names: ClassVar[tuple[str, ...]] = ("curve_a", "curve_b")

    def __init__(
        self,
        body_a: str,
        curve_a: Curve,
        curve_b: Curve,
        body_b: str = WORLD,
        unilateral: bool = False,
        side: str = "outside",
        normal: Any = None,
        *,
        name: str = "",
    ) -> None:
        self.called(name)
        self.bodies, self.unilateral = (body_a, body_b), given_truth("TangentCurves: unilateral", unilateral)
        for curve in (curve_a, curve_b):
            if not isinstance(curve, Curve):
                raise ModelError(f"{self!r}: a Curve is needed, not {curve!r}")
        self.curve_a, self.curve_b = curve_a, curve_b
        choice(f"{self!r}: side must be 'outside' or 'inside', not {{}}", side, tuple(SIDES), ModelError)
        straight = [is_straight(curve) for curve in (curve_a, curve_b)]
        if all(straight):
            raise ModelError(f"{self!r}: two straight lines touch along a line and not at a point; one of the curves must bend")
        if normal is None and straight[0]:
            raise ModelError(f"{self!r}: curve_a is straight and lies in many planes; give normal=, that of the plane")
        plane = plane_of(curve_a) if normal is None else _unit(repr(self), numbers("TangentCurves", "normal", normal, 3))
        for what, curve, own in (("curve_a", curve_a, plane), ("curve_b", curve_b, plane_of(curve_b))):
            off, size = _off_plane(curve, own)
            if off > FLAT * size:
                raise ModelError(f"{self!r}: {what} is {off:.2g} m off the plane; a cam's curve must lie in one plane")
        self.across = plane * (1.0 if straight[0] else np.sign(_area(curve_a.table[1], plane))) * SIDES[side]
        self._is_straight = straight[1]

    def _points(self, poses: Sequence[SE3], u: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """d, the tangents of both, and m, in axes of the first body."""
        x_a, t_a = self.curve_a.point_and_tangent(u[0])
        x_b, t_b = self.curve_b.point_and_tangent(u[1])
        back = poses[0].inverse() @ poses[1]
        return back @ x_b - x_a, t_a, back.rotate(t_b), cross(t_a, self.across)

    def conditions(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Vector:
        d, t_a, t_b, m = self._points(poses, u)
        return stack(dot(d, t_a), dot(m, t_b))

    def gap(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Vector:
        d, _, _, m = self._points(poses, u)
        return stack(dot(d, m) / norm(m))

    def guess(self, poses: Sequence[np.ndarray]) -> np.ndarray:
        """The pair of samples that agrees best in place and, as if a radian were half the smaller curve, in normals."""
        back = np.linalg.solve(poses[0], poses[1])
        (u_a, x_a, t_a), (u_b, x_b, t_b) = self.curve_a.table, self.curve_b.table
        x_b, t_b = x_b @ back[:3, :3].T + back[:3, 3], t_b @ back[:3, :3].T
        facing = -np.cross(t_a, self.across) @ np.cross(t_b, self.across).T  # where b bulges it faces a
        facing = np.abs(facing) if self._is_straight else facing * np.sign(_area(x_b, self.across))
        bends = [x for x, straight in ((x_a, is_straight(self.curve_a)), (x_b, self._is_straight)) if not straight]
        scale = 0.5 * min(float(np.ptp(x, axis=0).max()) for x in bends)
        apart = np.sum(x_a**2, axis=1)[:, None] + np.sum(x_b**2, axis=1) - 2.0 * x_a @ x_b.T
        i, j = np.unravel_index(int(np.argmin(apart - 2.0 * scale**2 * facing)), apart.shape)
        return np.array([u_a[i], u_b[j]])


def is_straight(curve: Curve) -> bool:
    """Whether the samples of a curve lie on a line."""
    _, size, _ = _spread(curve)
    return bool(size[1] <= STRAIGHT * size[0])


def plane_of(curve: Curve) -> np.ndarray:
    """The unit normal of the plane that fits the samples of a curve best; its largest entry is positive."""
    n = _spread(curve)[2][2]
    n = np.where(np.abs(n) < ROUNDING, 0.0, n) * np.sign(n[np.argmax(np.abs(n))])
    return n / np.linalg.norm(n) + 0.0


def _spread(curve: Curve) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = curve.table[1]
    middle = x.mean(axis=0)
    _, size, axes = np.linalg.svd(x - middle, full_matrices=False)
    return middle, size, axes


def _off_plane(curve: Curve, normal: np.ndarray) -> tuple[float, float]:
    """How far the samples of a curve are from a plane through their middle, and how large the curve is."""
    x = curve.table[1]
    return float(np.abs((x - x.mean(axis=0)) @ normal).max()), float(np.ptp(x, axis=0).max())


def _area(x: np.ndarray, normal: np.ndarray) -> float:
    """Twice the area that points go round counterclockwise about a normal, from the last back to the first."""
    around = x - x.mean(axis=0)
    return float(np.cross(around, np.roll(around, -1, axis=0)).sum(axis=0) @ normal)


def _unit(owner: str, normal: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(normal))
    if not length > 0.0:
        raise ModelError(f"{owner}: normal must be a direction, not zero")
    return normal / length
