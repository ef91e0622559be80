"""Deformables of scene files: chains of point masses and springs, whose ends are attached [Sueda, 2.7].

A node is a body on a `Translational` joint with a mass and nothing else; its attachment is a `Loop`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ...constraints.loop import Loop
from ...joints import Translational
from ...model.builder import ModelBuilder
from ...spatial.inertia import Inertia
from .forces import Positions
from .places import Places
from .published_forces import ExplicitStrainSpring
from .record import Record


def chains_of(scene: Record, places: Places, builder: ModelBuilder, start: Positions) -> dict[str, np.ndarray]:
    """Add the nodes, springs and attachments of all chains to a builder; the positions of the nodes."""
    nodes: dict[str, np.ndarray] = {}
    for k, record in enumerate(scene.records("deformables")):
        kind = record.text("type")
        if kind != "spring_chain":
            raise record.unsupported(f"deformables of type {kind!r}; there is spring_chain")
        nodes |= _chain(f"deformable {k}", record, places, builder, start)
    return nodes


def _chain(name: str, record: Record, places: Places, builder: ModelBuilder, start: Positions) -> dict[str, np.ndarray]:
    if record.number("damping", 0.0):
        raise record.unsupported("a chain with damping")
    count = record.count("nodes")
    if count < 2:
        raise record.error("a chain needs two nodes at least")
    ends = [places.body(record, key) for key in ("body0", "body1")]
    points = [end.point(record.vector(key)) for end, key in zip(ends, ("r0", "r1"), strict=True)]
    first, last = (start(end, point) for end, point in zip(ends, points, strict=True))
    where = {f"{name}, node {i}": first + (last - first) * i / (count - 1) for i in range(count)}
    names, mass = list(where), Inertia(record.number("mass") / count)
    for node in names:
        builder.body(node, joint=Translational(), inertia=mass)
    for a, b in pairwise(names):
        builder.add(_segment(record, a, b, float(np.linalg.norm(where[b] - where[a]))))
    for end, point, node in zip(ends, points, (names[0], names[-1]), strict=True):
        builder.add(Loop(node, end.name, point_b=point))
    return where


def _segment(record: Record, a: str, b: str, length: float) -> Any:
    if length <= 0.0:
        raise record.error("its ends are at the same place, so its springs have no length")
    return ExplicitStrainSpring(a, b, stiffness=record.number("stiffness"), rest_length=length)
