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

Longitude and latitude have poles, where the longitude only turns the frame. `Chart.covered` adds a second chart to spheres and
ellipsoids, whose poles lie along x of the shape: a latitude beyond 2 pi is one of that chart, with 4 pi added.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..spatial.frozen import FINISHED, Frozen, finish
from ..spatial.gate import real, reals, rotation_problem
from ..spatial.scalar import Scalar, Vector, array, atan2, cross, dot, norm, stack, where
from ..spatial.se3 import SE3
from ..spatial.tape import TapedFunction, form_of
from .curves import Curve
from .shapes import Plane, Shape, Sphere
from .solids import Cylinder, Ellipsoid, Placed, Torus
from .surfaces import ImplicitSurface, ParametricSurface, tangents

OUTWARD = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # x, y, z of the frame are y, z, x before it
SOME = 37  # one in so many samples
PARALLEL = 1e-9  # sine of the angle between tangents
SAME_POINT = 1e-9  # of the size of what comes back
SECOND = 4.0 * np.pi  # rad: what is added to latitudes of the second chart; more than half of it says which chart it is
NEAR_POLE = (0.0, 1.2)  # rad: some place that both charts have, but for their poles
MIN_COS2_LATITUDE = 0.4  # the chart is changed below it; the other one then has at least 0.6
Values = Mapping[str, Any]
Interval = tuple[float, float]


@dataclass(frozen=True)
class Coordinate:
    """Where a coordinate goes: once round, from pole to pole, from end to end, or along a line of which an interval is shown.

    around   it comes back after the interval
    ends     there is nothing beyond the interval
    """

    low: float
    high: float
    around: bool = False
    ends: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(real(self.low)) and np.isfinite(real(self.high)) and self.low < self.high):
            raise ModelError(f"a coordinate goes from one finite number to a larger one, not from {self.low!r} to {self.high!r}")
        if not all(isinstance(x, (bool, np.bool_)) for x in (self.around, self.ends)):
            raise ModelError("whether a coordinate comes back, or ends, must be True or False")


ROUND = Coordinate(-np.pi, np.pi, around=True)
LATITUDE = Coordinate(-0.5 * np.pi, 0.5 * np.pi)


@dataclass(frozen=True, eq=False)
class Chart(Frozen):
    """A frame that runs over something.

    what          its name in messages
    kind          what its function computes, from numbers by name
    values        those numbers
    function      the moving part of the frame, of the coordinates and the numbers
    constant      the rest of it
    coordinates   where each of them goes
    straight      which of them run along straight lines without turning the frame
    two_charts    the function where latitudes beyond 2 pi are of a second chart; None for what has no poles
    single        the chart without a second one, if `function` is that one
    """

    what: str
    kind: tuple[Any, ...]
    values: Values
    function: Callable[[Vector, Values], SE3]
    constant: SE3
    coordinates: tuple[Coordinate, ...]
    straight: tuple[int, ...] = ()
    two_charts: Callable[[Vector, Values], SE3] | None = None
    single: Chart | None = None

    def __post_init__(self) -> None:
        finish(self)

    is_record: ClassVar[bool] = True

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Chart:
        """The chart that a file says, looked at: frames over shapes compute what their kinds do, others have a kind of their
        own, so that no machine code of another one is taken for theirs."""
        known = {f.name for f in fields(cls)}
        if {*state, FINISHED} != {*known, FINISHED}:
            raise ModelError(f"a chart has the attributes {', '.join(sorted(known))}")
        chart = cls(**{name: state[name] for name in known})
        _check_chart(chart)
        function = chart.function
        if not isinstance(function, TapedFunction) or not chart.size:
            return chart
        said = hashlib.sha256(json.dumps(function.as_data(), sort_keys=True).encode()).hexdigest()
        if len(chart.kind) == 3 and chart.kind[0] == TAPED:  # it was in a file before
            return replace(chart, kind=(TAPED, chart.kind[1], said))
        return replace(chart, kind=(TAPED, str(chart.kind[0]), said))

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return len(self.coordinates)

    def function_arguments(self) -> dict[str, Any]:
        """The form of what its function is called with (see `spatial.tape`)."""
        return {"function": ([[self.size], form_of(self.values)], {})}

    def moving(self, u: Vector) -> SE3:
        """The moving part of the frame at u."""
        return self.function(u, self.values)

    def frame(self, u: Vector) -> SE3:
        """The frame at u."""
        return self.moving(u) @ self.constant

    def bound(self, values: Values) -> Chart:
        """The same with other numbers."""
        return replace(self, values={**self.values, **values})

    @property
    def is_covered(self) -> bool:
        """Whether there is a second chart."""
        return self.single is not None

    def covered(self) -> Chart:
        """The same with a second chart that has its poles elsewhere; itself where it has no poles that are known."""
        if self.two_charts is None or self.is_covered:
            return self
        return replace(self, kind=(*self.kind, "two charts"), function=self.two_charts, single=self)

    def without_straight(self) -> Chart:
        """The same where coordinates along straight lines stay at 0."""
        if not self.straight:
            return self
        kept = [k for k in range(self.size) if k not in self.straight]
        if not kept:
            still = self.frame(np.zeros(self.size))
            return replace(_point_chart(still.R, still.p), what=self.what)
        whole = self.function

        def function(u: Vector, values: Values) -> SE3:
            return whole(stack(*(u[kept.index(k)] if k in kept else 0.0 for k in range(self.size))), values)

        kind, coordinates = (*self.kind, "without", *self.straight), tuple(self.coordinates[k] for k in kept)
        return replace(self, kind=kind, function=function, coordinates=coordinates, straight=())


# --- shapes ------------------------------------------------------------------------------------------------------------------
def _frame(values: Values) -> SE3:
    return SE3(R=values["R"], p=values["p"])


def _out(x: Scalar) -> SE3:
    return SE3(p=stack(x, 0.0, 0.0))


NORMAL = SE3(R=OUTWARD)


def _sphere(u: Vector, values: Values) -> SE3:
    return SE3(p=values["p"]) @ SE3.rot_z(u[0]) @ SE3.rot_y(-u[1])


def _sphere_of_two(u: Vector, values: Values) -> SE3:
    tilt, x = _tilted(u)
    return SE3(p=values["p"]) @ tilt @ SE3.rot_z(x[0]) @ SE3.rot_y(-x[1])


def _torus(u: Vector, values: Values) -> SE3:
    return _frame(values) @ SE3.rot_z(u[0]) @ _out(values["ring"]) @ SE3.rot_y(-u[1])


def _cylinder(u: Vector, values: Values) -> SE3:
    return _frame(values) @ SE3(p=stack(0.0, 0.0, u[1])) @ SE3.rot_z(u[0])


def _plane(u: Vector, values: Values) -> SE3:
    return _frame(values) @ SE3(p=stack(u[0], u[1], 0.0))


def _ellipsoid(u: Vector, values: Values) -> SE3:
    return _ellipsoid_at(SE3(), u, values)


def _ellipsoid_of_two(u: Vector, values: Values) -> SE3:
    return _ellipsoid_at(*_tilted(u), values)


def _ellipsoid_at(tilt: SE3, u: Vector, values: Values) -> SE3:
    level = np.cos(u[1])
    n = tilt.R @ stack(level * np.cos(u[0]), level * np.sin(u[0]), np.sin(u[1]))
    scaled = stack(*(values["radii"][k] * n[k] for k in range(3)))
    reach = 1.0 / norm(scaled)
    point = stack(*(values["radii"][k] * scaled[k] * reach for k in range(3)))
    return _frame(values) @ SE3(p=point) @ tilt @ SE3.rot_z(u[0]) @ SE3.rot_y(-u[1])


# --- two charts of longitude and latitude ------------------------------------------------------------------------------------
def _tilted(u: Vector) -> tuple[SE3, Vector]:
    """The turn of the chart's poles (none, or z to x), and longitude and latitude in it."""
    second = u[1] > 0.5 * SECOND
    c, s = where(second, 0.0, 1.0), where(second, 1.0, 0.0)
    tilt = SE3(R=array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]))
    return tilt, stack(u[0], u[1] - where(second, SECOND, 0.0))


def is_near_pole(u: Vector) -> Scalar:
    """Whether longitude and latitude, in either chart, are to be changed for those of the other."""
    level = np.cos(_tilted(u)[1][1])
    return level * level < MIN_COS2_LATITUDE


def other_chart(u: Vector, *rates: Vector) -> tuple[Vector, tuple[Vector, ...]]:
    """Longitude and latitude of the same normal in the other chart, and the turn of the frame; their rates for each of `rates`.

    F(u) is F(u') turned about the normal. The old frame R turns with w = (sin b a_dot, -b_dot, cos b a_dot) in its axes x (the
    normal), y, z; with R = R' Rot_x(turn) that is Rot_x(turn) w = w' + (turn_dot, 0, 0).
    """
    x = _tilted(u)[1]
    ca, sa, cb, sb = np.cos(x[0]), np.sin(x[0]), np.cos(x[1]), np.sin(x[1])
    second = u[1] > 0.5 * SECOND
    sign = where(second, 1.0, -1.0)  # poles of the other chart are along z, or along x
    normal, across = (stack(sign * e[2], e[1], -sign * e[0]) for e in (stack(cb * ca, cb * sa, sb), stack(-sa, ca, 0.0)))
    level = np.sqrt(normal[0] * normal[0] + normal[1] * normal[1])
    c, s = normal[0] / level, normal[1] / level
    new = stack(atan2(normal[1], normal[0]), atan2(normal[2], level) + where(second, 0.0, SECOND))
    y, z = stack(-s, c, 0.0), stack(-normal[2] * c, -normal[2] * s, level)
    cos, sin = dot(y, across), dot(z, across)

    def moved(rate: Vector) -> Vector:
        w = stack(sb * rate[0], -rate[1], cb * rate[0])
        longitude = (sin * w[1] + cos * w[2]) / level
        return stack(longitude, sin * w[2] - cos * w[1], w[0] - normal[2] * longitude)

    return stack(*new, atan2(sin, cos)), tuple(moved(rate) for rate in rates)


def _shape_chart(shape: Shape) -> Chart | None:
    kind = type(shape).__name__
    what = kind if shape.name == kind else f"{kind} {shape.name!r}"
    if isinstance(shape, Sphere):
        values, out = {"p": shape.center}, _out(shape.radius)
        return Chart(what, (kind,), values, _sphere, out @ NORMAL, (ROUND, LATITUDE), (), _sphere_of_two)
    if isinstance(shape, Plane):
        values = {"R": _plane_axes(shape.normal), "p": shape.point}
        return Chart(what, (kind,), values, _plane, SE3(), (Coordinate(-1.0, 1.0),) * 2, straight=(0, 1))
    if not isinstance(shape, Placed):
        return None
    values = {"R": shape.R, "p": shape.p}
    if isinstance(shape, Ellipsoid):
        given = {**values, "radii": shape.radii}
        return Chart(what, (kind,), given, _ellipsoid, NORMAL, (ROUND, LATITUDE), (), _ellipsoid_of_two)
    if isinstance(shape, Torus):
        return Chart(what, (kind,), {**values, "ring": shape.ring}, _torus, _out(shape.tube) @ NORMAL, (ROUND, ROUND))
    if isinstance(shape, Cylinder):
        along = Coordinate(-0.5 * shape.length, 0.5 * shape.length, ends=True)
        return Chart(what, (kind,), values, _cylinder, _out(shape.radius) @ NORMAL, (ROUND, along), straight=(1,))
    return None


def _plane_axes(normal: np.ndarray) -> np.ndarray:
    """Axes whose z is the normal; those of the world where that is up."""
    x = np.array([1.0, 0.0, 0.0]) if abs(normal[2]) == 1.0 else np.asarray(tangents(normal)[0], float)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(normal, x), normal], axis=1) + 0.0


# --- in files ----------------------------------------------------------------------------------------------------------------
TAPED = "taped"  # of kinds: computed by a function of a file
FRAME = {"R": (3, 3), "p": (3,)}
OF_SHAPES: dict[str, tuple[Any, Any, dict[str, tuple[int, ...]]]] = {  # functions, and numbers with their shapes
    "Sphere": (_sphere, _sphere_of_two, {"p": (3,)}),
    "Plane": (_plane, None, FRAME),
    "Ellipsoid": (_ellipsoid, _ellipsoid_of_two, {**FRAME, "radii": (3,)}),
    "Torus": (_torus, None, {**FRAME, "ring": ()}),
    "Cylinder": (_cylinder, None, FRAME),
}


def _check_chart(chart: Chart) -> None:
    """Raise unless a chart of a file can be that of a point, a curve or a surface."""
    owner = f"chart of {str(chart.what)[:40]!r}"
    tupled = isinstance(chart.coordinates, tuple) and isinstance(chart.kind, tuple) and isinstance(chart.straight, tuple)
    if not (isinstance(chart.what, str) and tupled and isinstance(chart.values, dict) and isinstance(chart.constant, SE3)):
        raise ModelError(f"{owner}: it has a name, a kind, numbers, a constant pose and coordinates")
    if len(chart.coordinates) > 2 or not all(isinstance(c, Coordinate) for c in chart.coordinates):
        raise ModelError(f"{owner}: it has at most two coordinates, not {str(chart.coordinates)[:80]}")
    if not chart.kind or not all(type(x) in (str, int) for x in chart.kind) or not set(chart.straight) <= {0, 1}:
        raise ModelError(f"{owner}: its kind is a few words, not {str(chart.kind)[:80]}")
    for name, x in chart.values.items():
        if not isinstance(name, str) or not np.all(np.isfinite(reals(x))):
            raise ModelError(f"{owner}: its numbers must be finite, with names")
    if chart.single is not None and not isinstance(chart.single, Chart):
        raise ModelError(f"{owner}: what it is without a second chart must be a chart")
    if isinstance(chart.function, TapedFunction):
        if chart.is_covered or chart.two_charts is not None:
            raise ModelError(f"{owner}: functions of files have one chart")
    else:
        _check_shape_chart(owner, chart)
    for part in (0.3, 0.6):
        u = np.array([c.low + part * (c.high - c.low) for c in chart.coordinates])
        frame = chart.frame(u)
        if not isinstance(frame, SE3) or not np.isfinite(reals(frame.matrix)).all():
            raise ModelError(f"{owner}: its function must return a transform of finite numbers at {u.tolist()}")


def _check_shape_chart(owner: str, chart: Chart) -> None:
    """Raise unless a chart is that of the shape that its kind names."""
    name, *rest = chart.kind
    if name not in OF_SHAPES or rest != ["two charts"] * chart.is_covered:
        raise ModelError(f"{owner}: there is no shape {str(chart.kind)[:80]}")
    function, of_two, shapes = OF_SHAPES[name]
    if chart.function is not (of_two if chart.is_covered else function) or chart.two_charts is not of_two:
        raise ModelError(f"{owner}: its function is not that of a {name}")
    if {n: np.shape(x) for n, x in chart.values.items()} != shapes or chart.size != 2:
        raise ModelError(f"{owner}: it needs the numbers {', '.join(shapes)} and two coordinates")
    if any(np.any(reals(chart.values[n]) <= 0.0) for n in ("radii", "ring") if n in shapes):
        raise ModelError(f"{owner}: its radii must be positive")
    if "R" in shapes and rotation_problem(reals(chart.values["R"])):
        raise ModelError(f"{owner}: R must be a rotation")
    single = chart.single
    if single is not None and (
        single.is_covered or not is_same_chart(replace(chart, single=None), single, but=("kind", "function"))
    ):
        raise ModelError(f"{owner}: without a second chart it is another one")


def is_same_chart(a: Chart, b: Chart, but: tuple[str, ...] = ()) -> bool:
    """Whether two charts compute the same, to rounding; `but` names attributes that may differ."""
    if a is b:
        return True
    same = set(a.values) == set(b.values) and all(np.allclose(reals(x), reals(b.values[n])) for n, x in a.values.items())
    same = same and np.allclose(reals(a.constant.matrix), reals(b.constant.matrix)) and a.coordinates == b.coordinates
    names = ("kind", "function", "straight", "two_charts")
    return same and all(getattr(a, name) == getattr(b, name) for name in names if name not in but)


# --- own functions -------------------------------------------------------------------------------------------------------------
def _surface_chart(surface: ParametricSurface) -> Chart:
    def function(u: Vector, values: Values) -> SE3:
        here = surface.bound(values).patch(u)
        x, z = (a * (1.0 / norm(a)) for a in (here.tangents[0], here.normal))
        return SE3(R=np.stack([x, cross(z, x), z], axis=1), p=here.point)

    for u in surface.samples()[::SOME]:
        here = surface.patch(u)
        sizes = [float(np.linalg.norm(np.asarray(x, float))) for x in (here.normal, *here.tangents)]
        if not sizes[0] > PARALLEL * sizes[1] * sizes[2]:
            raise ModelError(
                f"ParametricSurface: it has no normal at u = {u.tolist()}: its tangents are parallel or vanish there"
            )
    kind = ("surface", surface.digest)
    coordinates = _coordinates(lambda u: surface.patch(u).point, surface.domain)
    return Chart("ParametricSurface", kind, surface.given.parameters(), function, SE3(), coordinates)


def _curve_chart(curve: Curve) -> Chart:
    def function(u: Vector, values: Values) -> SE3:
        point, along = curve.bound(values).point_and_tangent(u[0])
        aside = values["aside"]
        x = along * (1.0 / norm(along))
        y = cross(aside, x)
        y = y * (1.0 / norm(y))
        return SE3(R=np.stack([x, y, cross(x, y)], axis=1), p=point)

    given = {**curve.given.parameters(), "aside": curve.aside}
    coordinates = _coordinates(lambda u: curve.point(float(u[0])), (curve.domain,))
    return Chart("Curve", ("curve", curve.digest), given, function, SE3(), coordinates)


def _point_chart(R: Any, p: Any) -> Chart:
    constant = SE3(R=np.asarray(R, float), p=np.asarray(p, float))
    return Chart("point", ("point",), {}, lambda u, values: SE3(), constant, ())


def _coordinates(point: Callable[[np.ndarray], Vector], domain: tuple[Interval, ...]) -> tuple[Coordinate, ...]:
    """Of a function of the user: it ends with its domain unless its points come back there, wherever the others are."""
    low, high = np.array(domain).T
    found = []
    for k, (a, b) in enumerate(domain):
        along = np.eye(len(domain))[k] * (b - a)
        starts = [low + f * (high - low) for f in (0.13, 0.38, 0.71)]
        here, there, back = (np.array([point(s + f * along) for s in starts], float) for f in (0.0, 0.5, 1.0))
        around = bool(np.abs(back - here).max() <= SAME_POINT * np.abs(there - here).max())
        found.append(Coordinate(a, b, around=around, ends=not around))
    return tuple(found)


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
        p = reals(thing)
    except (TypeError, ValueError):
        p = np.zeros(0)
    if p.shape == (3,) and np.all(np.isfinite(p)):
        return _point_chart(np.eye(3), p)
    raise ModelError(
        f"{owner}: a Sphere, Ellipsoid, Torus, Plane, Cylinder, ParametricSurface, Curve or a point is needed, not {thing!r}"
    )
