"""Charts: points, curves and surfaces as frames that run over them; their parametric view, for joints.

A chart maps its coordinates (none of a point, one along a curve, two over a surface) to a frame, whose origin is the point:

    of a surface   z along the outward normal, x along the first coordinate line
    of a curve     x along the tangent, y across it and across a direction that the curve never runs along

Frames are a part that moves and a constant one. Round shapes turn and shift along their own axes (their z axis is that of
revolution), so that frames are products of elementary moves; what follows the last move (going out by a radius) is constant:

    sphere      turn u about z, -v about y, go out by the radius: longitude u, latitude v
    torus       turn u about z, go out by the ring, turn -v about y, go out by the tube
    cylinder    turn u about z, go out by the radius, up by v
    plane       go along x by u, along y by v
    ellipsoid   turns u and -v lead to the normal n, and the point is (a^2 n_x, b^2 n_y, c^2 n_z) / |(a n_x, b n_y, c n_z)|;
                x of the frame is horizontal
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import ModelError
from ..spatial.scalar import Scalar, Vector, cross, norm, stack
from ..spatial.se3 import SE3
from .curves import Curve
from .shapes import Plane, Shape, Sphere
from .solids import Cylinder, Ellipsoid, Torus
from .surfaces import ImplicitSurface, ParametricSurface, tangents

OUTWARD = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # x, y, z of the frame are y, z, x before it
TURN = (-np.pi, np.pi)
LATITUDE = (-0.5 * np.pi, 0.5 * np.pi)
Values = Mapping[str, Any]
Interval = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Chart:
    """A frame that runs over something.

    what       its name in messages
    kind       what its function computes, from numbers by name
    values     those numbers
    function   the moving part of the frame, of the coordinates and the numbers
    constant   the rest of it
    domain     the interval of every coordinate, over which it goes round or is free of poles
    periodic   whether a coordinate comes back to where it started
    straight   which coordinates run along straight lines without turning the frame
    """

    what: str
    kind: tuple[Any, ...]
    values: Values
    function: Callable[[Vector, Values], SE3]
    constant: SE3
    domain: tuple[Interval, ...]
    periodic: tuple[bool, ...]
    straight: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return len(self.domain)

    def moving(self, u: Vector) -> SE3:
        """The moving part of the frame at u."""
        return self.function(u, self.values)

    def frame(self, u: Vector) -> SE3:
        """The frame at u."""
        return self.moving(u) @ self.constant

    def bound(self, values: Values) -> Chart:
        """The same with other numbers."""
        return replace(self, values={**self.values, **values})

    def without_straight(self) -> Chart:
        """The same where coordinates along straight lines stay at 0."""
        if not self.straight:
            return self
        kept = [k for k in range(self.size) if k not in self.straight]
        whole = self.function

        def function(u: Vector, values: Values) -> SE3:
            return whole(stack(*(u[kept.index(k)] if k in kept else 0.0 for k in range(self.size))), values)

        domain, periodic = (tuple(x[k] for k in kept) for x in (self.domain, self.periodic))
        kind = (*self.kind, "without", *self.straight)
        return replace(self, kind=kind, function=function, domain=domain, periodic=periodic, straight=())


# --- shapes ------------------------------------------------------------------------------------------------------------------
def _frame(values: Values) -> SE3:
    return SE3(R=values["R"], p=values["p"])


def _out(x: Scalar) -> SE3:
    return SE3(p=stack(x, 0.0, 0.0))


NORMAL = SE3(R=OUTWARD)


def _sphere(u: Vector, values: Values) -> SE3:
    return SE3(p=values["p"]) @ SE3.rot_z(u[0]) @ SE3.rot_y(-u[1])


def _torus(u: Vector, values: Values) -> SE3:
    return _frame(values) @ SE3.rot_z(u[0]) @ _out(values["ring"]) @ SE3.rot_y(-u[1])


def _cylinder(u: Vector, values: Values) -> SE3:
    return _frame(values) @ SE3(p=stack(0.0, 0.0, u[1])) @ SE3.rot_z(u[0])


def _plane(u: Vector, values: Values) -> SE3:
    return _frame(values) @ SE3(p=stack(u[0], u[1], 0.0))


def _ellipsoid(u: Vector, values: Values) -> SE3:
    level = np.cos(u[1])
    n = stack(level * np.cos(u[0]), level * np.sin(u[0]), np.sin(u[1]))
    scaled = stack(*(values["radii"][k] * n[k] for k in range(3)))
    reach = 1.0 / norm(scaled)
    point = stack(*(values["radii"][k] * scaled[k] * reach for k in range(3)))
    return _frame(values) @ SE3(p=point) @ SE3.rot_z(u[0]) @ SE3.rot_y(-u[1])


def _shape_chart(shape: Shape) -> Chart | None:
    what = f"{type(shape).__name__}" if shape.name == type(shape).__name__ else f"{type(shape).__name__} {shape.name!r}"
    kind, given = (shape.kind,), shape.parameters()

    def lengths(*without: str) -> Values:
        return {name: x for name, x in given.items() if name not in without}

    if isinstance(shape, Sphere):
        return Chart(what, kind, {"p": shape.center}, _sphere, _out(shape.radius) @ NORMAL, (TURN, LATITUDE), (True, False))
    if isinstance(shape, Ellipsoid):
        return Chart(what, kind, given, _ellipsoid, NORMAL, (TURN, LATITUDE), (True, False))
    if isinstance(shape, Torus):
        return Chart(what, kind, lengths("tube"), _torus, _out(shape.tube) @ NORMAL, (TURN, TURN), (True, True))
    if isinstance(shape, Cylinder):
        half, placed = 0.5 * shape.length, lengths("radius", "length")
        return Chart(what, kind, placed, _cylinder, _out(shape.radius) @ NORMAL, (TURN, (-half, half)), (True, False), (1,))
    if isinstance(shape, Plane):
        x = tangents(shape.normal)[0] if abs(shape.normal[2]) < 1.0 else np.array([shape.normal[2], 0.0, 0.0])
        x = np.asarray(x, float) / np.linalg.norm(np.asarray(x, float))
        R = np.stack([x, np.cross(shape.normal, x), shape.normal], axis=1) + 0.0
        return Chart(what, kind, {"R": R, "p": shape.point}, _plane, SE3(), ((-1.0, 1.0),) * 2, (False, False), (0, 1))
    return None


# --- own functions -------------------------------------------------------------------------------------------------------------
def _surface_chart(surface: ParametricSurface) -> Chart:
    def function(u: Vector, values: Values) -> SE3:
        here = surface.bound(values).patch(u)
        x, z = (a * (1.0 / norm(a)) for a in (here.tangents[0], here.normal))
        return SE3(R=np.stack([x, cross(z, x), z], axis=1), p=here.point)

    kind = ("surface", surface.digest)
    return Chart("ParametricSurface", kind, surface.given.parameters(), function, SE3(), surface.domain, (False, False))


def _curve_chart(curve: Curve) -> Chart:
    def function(u: Vector, values: Values) -> SE3:
        point, along = curve.bound(values).point_and_tangent(u[0])
        aside = values["aside"]
        x = along * (1.0 / norm(along))
        y = cross(aside, x)
        y = y * (1.0 / norm(y))
        return SE3(R=np.stack([x, y, cross(x, y)], axis=1), p=point)

    given = {**curve.given.parameters(), "aside": curve.aside}
    return Chart("Curve", ("curve", curve.digest), given, function, SE3(), (curve.domain,), (False,))


def _point_chart(R: Any, p: Any) -> Chart:
    constant = SE3(R=np.asarray(R, float), p=np.asarray(p, float))
    return Chart("point", ("point",), {}, lambda u, values: SE3(), constant, (), ())


def as_chart(owner: str, thing: Any) -> Chart:
    """The chart of a shape, a surface, a curve, or of a point (three numbers, or a frame)."""
    if isinstance(thing, Chart):
        return thing
    if isinstance(thing, ParametricSurface):
        return _surface_chart(thing)
    if isinstance(thing, Curve):
        return _curve_chart(thing)
    if isinstance(thing, SE3):
        return _point_chart(thing.R, thing.p)
    if isinstance(thing, Shape):
        found = _shape_chart(thing)
        if found is not None:
            return found
    if isinstance(thing, ImplicitSurface):
        raise ModelError(f"{owner}: an ImplicitSurface has no coordinates; give a ParametricSurface or a shape")
    try:
        p = np.array(thing, dtype=float)
    except (TypeError, ValueError):
        p = np.zeros(0)
    if p.shape == (3,) and np.all(np.isfinite(p)):
        return _point_chart(np.eye(3), p)
    raise ModelError(
        f"{owner}: a Sphere, Ellipsoid, Torus, Plane, Cylinder, ParametricSurface, Curve or a point is needed, not {thing!r}"
    )
