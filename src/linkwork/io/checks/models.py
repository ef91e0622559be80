"""Doubts about a model, whatever file it came from: inertias, limits, loops and shapes at the start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ...contact.detect import detect
from ...errors import LinkworkError
from ...forces.joint import is_flat
from ...geometry import Shape
from ...model import Model
from ...model.kinematics import kinematics
from ...reduced import mass_matrix
from ...reduced.closed import check_closed
from ..starts import START, usual_start
from .findings import DOUBT, ERROR, Finding

RATIO = 1e4  # of masses of neighbours
CONDITION = 1e12  # of the mass matrix, with joints scaled to the same size
DEEP = 1e-4  # m: shapes that overlap by less rest on each other
MOST = 8  # overlaps that are told one by one


def check_model(model: Model, lines: Mapping[str, int]) -> list[Finding]:
    """All doubts.

    lines   of the file, by the names of bodies and joints
    """
    return [*_masses(model, lines), *_drives(model, lines), *_limits(model, lines), *_loops(model), *_overlaps(model, lines)]


def _masses(model: Model, lines: Mapping[str, int]) -> Iterator[Finding]:
    for body in model.bodies:
        if body.parent < 0:
            continue
        other = model.bodies[body.parent]
        small, large = sorted((body.inertia.mass, other.inertia.mass))
        if 0 < small * RATIO < large:
            yield Finding(
                DOUBT,
                f"bodies {body.name!r} ({body.inertia.mass:.3g} kg) and {other.name!r} ({other.inertia.mass:.3g} kg) differ "
                f"{large / small:.0e} times in mass: steps must be short",
                "give the light one a likely mass, or fix it to its neighbour",
                lines.get(body.name),
            )


def _drives(model: Model, lines: Mapping[str, int]) -> Iterator[Finding]:
    """Degrees of freedom that next to nothing resists."""
    if not model.nv:
        return
    try:
        M = mass_matrix(model, model.neutral())
    except LinkworkError:
        return
    d = np.diag(M)
    for body in model.bodies:
        part = model.v_index(body.name)
        if body.joint.nv and d[part].min() <= 0:
            yield Finding(
                ERROR,
                f"joint {body.joint_name!r} moves nothing: the inertia along it is {d[part].min():.3g}",
                "give its body mass and moments of inertia, or the joint armature",
                lines.get(body.joint_name, lines.get(body.name)),
            )
            return
    s = 1.0 / np.sqrt(d)
    condition = float(np.linalg.cond(M * s * s[:, None]))
    if condition > CONDITION:
        yield Finding(
            DOUBT,
            f"the mass matrix is nearly singular at the zero position (condition {condition:.1e} with scaled joints)",
            "look for links without moments of inertia at the ends of chains",
        )


def _limits(model: Model, lines: Mapping[str, int]) -> Iterator[Finding]:
    q = model.keyframes[START].q if START in model.keyframes else model.neutral()
    for body in model.bodies:
        low, high = body.properties.lower, body.properties.upper
        line = lines.get(body.joint_name, lines.get(body.name))
        if not is_flat(body.joint):
            continue
        at = q[model.q_index(body.name)]
        for x, a, b in zip(at, low, high, strict=True):
            if x < a or x > b:
                yield Finding(
                    DOUBT,
                    f"joint {body.joint_name!r} cannot be at {x:g}, where it starts: its limits are {a:g} to {b:g}",
                    "start elsewhere (a State of your own, a keyframe), or move the zero of the joint",
                    line,
                )


def _loops(model: Model) -> Iterator[Finding]:
    try:
        check_closed(model, usual_start(model), "refuse")
    except LinkworkError as error:
        yield Finding(DOUBT, f"constraints do not hold at the start: {error}", "start from lw.assemble(model, state)")


def _overlaps(model: Model, lines: Mapping[str, int]) -> Iterator[Finding]:
    """Shapes of bodies that are no neighbours and overlap at the start, whether or not they would touch."""
    shaped = [replace(b, shapes=tuple(_touchable(s) for s in b.shapes if s.kind != "mesh file")) for b in model.bodies]
    if sum(len(b.shapes) for b in shaped) < 2:
        return
    solid = replace(model, bodies=tuple(shaped), elements=())
    try:
        found = detect(solid, kinematics(solid, usual_start(model).q).poses)
    except (LinkworkError, ImportError):
        return
    deepest: dict[tuple[str, str], float] = {}
    for point in found:
        pair = (point.candidate.body_a, point.candidate.body_b)
        deepest[pair] = min(deepest.get(pair, 0.0), float(point.at.gap))
    deep = {pair: gap for pair, gap in deepest.items() if gap < -DEEP}
    for (a, b), gap in sorted(deep.items(), key=lambda item: item[1])[:MOST]:
        yield Finding(
            DOUBT,
            f"{_called(a)} and {_called(b)} overlap by {-1e3 * gap:.3g} mm at the start",
            "shrink or move their collision shapes, or exclude the pair",
            lines.get(b if a == "world" else a),
        )
    if len(deep) > MOST:
        yield Finding(DOUBT, f"{len(deep) - MOST} more pairs of bodies overlap at the start", "see those above")


def _touchable(shape: Shape) -> Shape:
    """The same shape, free to touch all others."""
    return shape.with_parts(group=1, mask=1)


def _called(name: str) -> str:
    return "the world" if name == "world" else f"body {name!r}"
