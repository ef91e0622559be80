"""Deformables of scene files: chains of point masses and springs, whose ends are attached [Sueda, 2.7].

All nodes of a published chain are free, and its ends are held by equations: a `Loop` each, which a run stabilises like any
other. `MassSpringChain` by itself fixes attached nodes to their bodies.
"""

from __future__ import annotations

import numpy as np

from ...constraints.loop import Loop
from ...forces import Force
from ...model.builder import ModelBuilder
from ...redmax import MassSpringChain
from .forces import Positions
from .places import Places
from .published_forces import ExplicitStrainSpring
from .record import Record


class PublishedChain(MassSpringChain):
    """A chain whose springs are those of the published scenes."""

    def spring(self, k: int) -> Force:
        a, b = (self.names[i] for i in self.springs[k])
        return ExplicitStrainSpring(a, b, stiffness=self.stiffness[k], rest_length=self.rest_length[k])


def chains_of(scene: Record, places: Places, builder: ModelBuilder, start: Positions) -> dict[str, np.ndarray]:
    """Add the nodes, springs and attachments of all chains to a builder; the positions of the nodes."""
    nodes: dict[str, np.ndarray] = {}
    for k, record in enumerate(scene.records("deformables")):
        kind = record.text("type")
        if kind != "spring_chain":
            raise record.unsupported(f"deformables of type {kind!r}; there is spring_chain")
        nodes |= _chain(f"deformable {k} node", record, places, builder, start)
    return nodes


def _chain(name: str, record: Record, places: Places, builder: ModelBuilder, start: Positions) -> dict[str, np.ndarray]:
    if record.number("damping", 0.0):
        raise record.unsupported("a chain with damping")
    if record.count("nodes") < 2:
        raise record.error("a chain needs two nodes at least")
    ends = [places.body(record, key) for key in ("body0", "body1")]
    points = [end.point(record.vector(key)) for end, key in zip(ends, ("r0", "r1"), strict=True)]
    first, last = (start(end, point) for end, point in zip(ends, points, strict=True))
    if np.array_equal(first, last):
        raise record.error("its ends are at the same place, so its springs have no length")
    chain = PublishedChain(
        name, first, last, nodes=record.count("nodes"), mass=record.number("mass"), stiffness=record.number("stiffness")
    )
    builder.add(chain)
    for end, point, node in zip(ends, points, (chain.names[0], chain.names[-1]), strict=True):
        builder.add(Loop(node, end.name, point_b=point))
    return dict(zip(chain.names, chain.points, strict=True))
