"""Points on curves and surfaces, and surfaces that touch. Nearest points are unknowns, eliminated exactly (see `derive`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError, SolverError
from ..geometry.bending import bending_at
from ..geometry.curves import Curve
from ..geometry.surfaces import Patch, as_surface
from ..geometry.touching import touching
from ..model.model import WORLD
from ..spatial.gate import given_truth, numbers
from ..spatial.kinds import explained
from ..spatial.scalar import Scalar, Vector, cross, dot, norm, stack
from ..spatial.se3 import SE3
from .constraint import Constraint
from .rubbing import Rubbing

PARALLEL = 1e-6  # sine of the angle between straight lines of two surfaces: below it they touch along one
INSTEAD = "use shapes with Contact, the joint SurfaceSurface, or TangentCurves if both bodies move in one plane"


class OnShape(Rubbing, Constraint):
    """Base of constraints that hold curves or surfaces; `shape_names` are their attributes."""

    shape_names: ClassVar[tuple[str, ...]] = ()

    @property
    def variant(self) -> tuple[Any, ...]:
        return (*((type(s).__name__, s.digest) for s in self._shapes.values()), self.unilateral, self.gripping)

    @property
    def _shapes(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.shape_names}

    @property
    def _numbers(self) -> tuple[str, ...]:
        return (*self.parameter_names, *self.gripping)

    def parameters(self) -> dict[str, Any]:
        parts = {f"{name}_{key}": x for name, shape in self._shapes.items() for key, x in shape.given.parameters().items()}
        return {name: np.asarray(getattr(self, name), float) for name in self._numbers} | parts

    def bound(self, values: dict[str, Any]) -> Any:
        def of(name: str, shape: Any) -> Any:
            return shape.bound({key: values[f"{name}_{key}"] for key in shape.given.values})

        own = {name: values[name] for name in self._numbers}
        return super().bound(own | {name: of(name, shape) for name, shape in self._shapes.items()})


class PointOnCurve(OnShape):
    """A point of one body stays on a curve of another: two rows, its distances from the nearest point of the curve across it.

    body, point     the body, and the point in its axes
    curve, body_b   the curve, in the axes of the body that carries it (the world by default)

    >>> wire = lw.bezier_curve([(0, 0, 0), (1, 0, 0.5), (2, 0, 0.5), (3, 0, 0)])
    >>> threaded = model.add(lw.PointOnCurve("lower", (1, 0, 0), wire))
    """

    size, unknowns = 2, 1
    parameter_names: ClassVar[tuple[str, ...]] = ("point", "aside")
    shape_names: ClassVar[tuple[str, ...]] = ("curve",)

    def __init__(self, body: str, point: Any, curve: Curve, body_b: str = WORLD, *, name: str = "") -> None:
        self.called(name)
        self.bodies, self.point, self.curve = (body, body_b), numbers("PointOnCurve", "point", point, 3), curve
        if not isinstance(curve, Curve):
            raise ModelError(f"PointOnCurve: a Curve is needed, not {curve!r}")
        self.aside = curve.aside

    def conditions(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Vector:
        x, tangent = self.curve.point_and_tangent(u[0])
        return stack(dot(tangent, x - brought(poses, self.point)))

    def gap(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Vector:
        x, tangent = self.curve.point_and_tangent(u[0])
        d = brought(poses, self.point) - x
        across = cross(tangent, self.aside)
        other = cross(tangent, across)
        return stack(dot(across, d) / norm(across), dot(other, d) / norm(other))

    def guess(self, poses: Sequence[np.ndarray]) -> np.ndarray:
        return np.array([self.curve.nearest(brought_number(poses, self.point))])


class PointOnSurface(OnShape):
    """A point of one body stays on a surface of another, or outside it: one row, its distance.

    body, point       the body, and the point in its axes
    surface, body_b   the surface, in the axes of the body that carries it (the world by default)
    unilateral        True: the point may leave the surface outward, and the surface only pushes
    friction, restitution   of a surface that only pushes: mu, and e in [0, 1]

    >>> resting = model.add(lw.PointOnSurface("lower", (1, 0, 0), lw.ellipsoid((2, 2, 2)), unilateral=True))
    """

    size = 1
    parameter_names: ClassVar[tuple[str, ...]] = ("point",)
    shape_names: ClassVar[tuple[str, ...]] = ("surface",)

    @explained
    def __init__(
        self,
        body: str,
        point: Any,
        surface: Any,
        body_b: str = WORLD,
        unilateral: bool = False,
        friction: float = 0.0,
        restitution: float = 0.0,
        *,
        name: str = "",
    ) -> None:
        self.called(name)
        self.bodies, self.point = (body, body_b), numbers("PointOnSurface", "point", point, 3)
        self.surface = as_surface("PointOnSurface", surface)
        self.unilateral = given_truth("PointOnSurface: unilateral", unilateral)
        self.unknowns = self.surface.feet
        self._take_grip(repr(self), friction, restitution)

    def conditions(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Vector:
        here = self.surface.patch(u)
        return stack(*(dot(a, here.point - brought(poses, self.point)) for a in here.tangents))

    def gap(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Vector:
        return self.with_tangents(stack(self.surface.height(brought(poses, self.point), u)))

    def rub_at(self, x: Sequence[Any], t: Scalar, unknown: Vector) -> Vector:
        return x[0] @ self.point

    def guess(self, poses: Sequence[np.ndarray]) -> np.ndarray:
        u, points, _ = self.surface.table
        return u[np.argmin(np.sum((points - brought_number(poses, self.point)) ** 2, axis=1))]


class TangentSurfaces(OnShape):
    """Surfaces of two bodies touch: they share a point where their normals are opposite. One row, their distance there.

    body_a, surface_a   a body and its surface, in its axes
    body_b, surface_b   another ("world" by default)
    unilateral          True: they may part, and only push
    friction, restitution   of surfaces that only push: mu, and e in [0, 1]

    With the points x_a, x_b of both surfaces, d = x_b - x_a, tangents a_i, b_i and the normal n of the first:
    d . a_i = 0 and n . b_i = 0 determine the points, and d . n is the distance.

    >>> rolling = lw.TangentSurfaces("lower", lw.ellipsoid((0.2, 0.1, 0.1)), lw.ellipsoid((2, 2, 2)))
    """

    size = 1
    shape_names: ClassVar[tuple[str, ...]] = ("surface_a", "surface_b")

    @explained
    def __init__(
        self,
        body_a: str,
        surface_a: Any,
        surface_b: Any,
        body_b: str = WORLD,
        unilateral: bool = False,
        friction: float = 0.0,
        restitution: float = 0.0,
        *,
        name: str = "",
    ) -> None:
        self.called(name)
        self.bodies, self.unilateral = (body_a, body_b), given_truth("TangentSurfaces: unilateral", unilateral)
        self.surface_a, self.surface_b = (as_surface("TangentSurfaces", s) for s in (surface_a, surface_b))
        self.unknowns = self.surface_a.coordinates + self.surface_b.coordinates
        self._take_grip(repr(self), friction, restitution)

    def _patches(self, poses: Sequence[SE3], u: Vector) -> tuple[Patch, Patch]:
        """Both in world axes."""
        k = self.surface_a.coordinates
        parts = ((poses[0], self.surface_a.patch(u[:k])), (poses[1], self.surface_b.patch(u[k:])))
        a, b = (
            Patch(E @ p.point, (E.rotate(p.tangents[0]), E.rotate(p.tangents[1])), E.rotate(p.normal), p.equations)
            for E, p in parts
        )
        return a, b

    def conditions(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Vector:
        a, b = self._patches(poses, u)
        d = b.point - a.point
        return stack(*a.equations, *b.equations, *(dot(d, e) for e in a.tangents), *(dot(a.normal, e) for e in b.tangents))

    def gap(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Vector:
        a, b = self._patches(poses, u)
        return self.with_tangents(stack(dot(a.normal, b.point - a.point) / norm(a.normal)))

    def rub_at(self, x: Sequence[Any], t: Scalar, unknown: Vector) -> Vector:
        return self._patches(x, unknown)[0].point

    def check(self, model: Any) -> None:
        """Raise as all constraints do, and for surfaces that never touch at a point."""
        super().check(model)
        a, b = self.surface_a.bending, self.surface_b.bending
        if min(a, b) == 0 and max(a, b) < 2:
            kinds, where = ("is flat", "is straight in one direction"), "over a face" if a == b else "along a line"
            raise ModelError(
                f"{self!r}: surface_a {kinds[a]} and surface_b {kinds[b]}: they touch {where}, not at a point; {INSTEAD}"
            )

    def guess(self, poses: Sequence[np.ndarray]) -> np.ndarray:
        found = touching(self.surface_a, self.surface_b, np.linalg.inv(poses[1]) @ poses[0])
        if self.surface_a.bending == self.surface_b.bending == 1:
            k = self.surface_a.coordinates
            a, b = (bending_at(s, u).straight for s, u in ((self.surface_a, found[:k]), (self.surface_b, found[k:])))
            if np.linalg.norm(np.cross(poses[0][:3, :3] @ a, poses[1][:3, :3] @ b)) < PARALLEL:
                raise SolverError(
                    f"{self!r}: both surfaces are straight in one direction, and these directions are parallel at this position: "
                    f"they touch along a line, not at a point; start where the directions cross, or {INSTEAD}"
                )
        return found


def brought(poses: Sequence[SE3], point: Vector) -> Vector:
    """A point of the first body in the axes of the second."""
    return poses[1].inverse() @ (poses[0] @ point)


def brought_number(poses: Sequence[np.ndarray], point: np.ndarray) -> np.ndarray:
    """The same with matrices."""
    world = poses[0] @ np.append(point, 1.0)
    return np.linalg.solve(poses[1], world)[:3]
