"""Which laws are worth watching in a step: shapes that are far from one another are not.

Of pairs of shapes of bounded extent, one routine looks at all (`geometry.near_segments`), from a segment and a radius that hold
each shape with all the way that it may take in the step; other laws are asked one by one (`RowLaw.near`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..constraints.targets import REACH, TOUCHING
from ..contact.broad import speed_bound
from ..elements.nodes import BODY
from ..elements.ports import values
from ..geometry import Capsule
from ..geometry.near_segments import find_near_segments
from ..kernel.loops import Lane, Table, loops
from ..kernel.products import clear
from ..kernel.sweep import SCALAR, Field, Routine, Step, each, vector
from ..spatial.dual import held
from ..spatial.scalar import Scalar, Vector, array, dot, zeros
from ..spatial.se3 import SE3
from .asked import row_law_at

PAIRS = ("near_starts", "near_second", "near_law")  # of shapes and laws: tables of `elements.swept`


def measure(n: Any) -> None:
    """|v| and |w| of a body in its free motion. They decide what takes part, and have no derivatives."""
    n.speeds = speeds_of(held(n.free))


def speeds_of(motion: Vector) -> Vector:
    """|v| and |w| of a twist."""
    w, v = motion[:3], motion[3:]
    return array([np.sqrt(dot(v, v)), np.sqrt(dot(w, w))])


def notice(n: Any, *ports: Any) -> None:
    """Whether a constraint is worth watching in a step."""
    law, at = row_law_at(n, ports)
    speeds = [port.speeds if kind == BODY else zeros(2) for kind, port in zip(n.kinds, ports, strict=False)]
    n.noticed = law.near(values(at), speeds, REACH * n.h)


def notice_others(n: Any, *ports: Any) -> None:
    """The same of those that are no pairs of shapes of bounded extent."""
    if not n.law.swept:
        notice(n, *ports)


def hold_shape(n: Any, body: Any) -> None:
    """A segment that holds a shape, and the radius around it, with room for twice the way that its body may take in the step.
    They decide what takes part, and have no derivatives."""
    hold_shape_within(n, body, 0.0 if n.still else REACH * n.h * speed_bound(shape_of(n), body.speeds))


def hold_shape_driven(n: Any, body: Any) -> None:
    """The same with room for the way of its motion with multipliers."""
    hold_shape_within(n, body, 0.0 if n.still else n.h * speed_bound(shape_of(n), body.driven_speeds))


def shape_of(n: Any) -> Any:
    """In a rule, the shape of a node with its numbers."""
    return n.shape.bound({name: getattr(n, f"own_{name}") for name in n.shape.parameter_names})


def hold_shape_within(n: Any, body: Any, way: Scalar) -> None:
    """The same with so much room."""
    shape = shape_of(n)
    pose = SE3() if n.still else SE3(held(body.pose.R), held(body.pose.p))
    center, radius = shape.bounding_sphere()
    n.segment_middle, n.segment_axis, n.segment_half = pose @ center, zeros(3), 0.0
    if isinstance(shape, Capsule):
        n.segment_axis, n.segment_half, radius = pose.rotate(shape.R[:, 2]), 0.5 * shape.length, shape.radius
    n.segment_reach = radius + way + TOUCHING


@loops
def find_near(
    laws: int,
    rows: int,
    shapes: int,
    starts: Table,
    second: Table,
    number: Table,
    middle: Lane,
    axis: Lane,
    half: Lane,
    reach: Lane,
    on: Lane,
    awake: Lane,
    noticed: Lane,
) -> None:
    """Laws whose shapes are near one another are noticed; no law is awake yet, and no row is on."""
    clear(rows, on)
    clear(laws, awake)
    find_near_segments(shapes, starts, second, number, middle, axis, half, reach, noticed)


SEGMENTS = {
    "segment_middle": Field("work", "node", vector(3), of="shape"),
    "segment_axis": Field("work", "node", vector(3), of="shape"),
    "segment_half": Field("work", "node", SCALAR, of="shape"),
    "segment_reach": Field("work", "node", SCALAR, of="shape"),
}


def noticing(ports: Sequence[str]) -> list[Step]:
    """The steps that find the laws that are worth watching."""
    return [
        each(hold_shape, "p0", on="shape"),
        Routine(find_near, ("laws", "rows", "shapes", *PAIRS, *SEGMENTS, "on", "awake", "noticed")),
        each(notice_others, *ports, on="constraint"),
    ]
