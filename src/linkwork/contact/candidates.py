"""Which shapes of a model may touch: all pairs, without those that filters exclude.

Shapes of one body never touch. Bodies that are welded together (joints without freedom) count as one, the world too; neighbours
in the tree pass through each other, as their shapes overlap at the joint. But all bodies may touch the shapes of the world,
also those that hang on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..geometry import Shape
from ..model.model import WORLD, Model
from .pairs import PAIRS, is_compiled


@dataclass(frozen=True, eq=False)
class Candidate:
    """Two shapes that may touch, in the order of the function that says where (`pairs.PAIRS`).

    body_a, body_b   names of their bodies; "world" for shapes that stand still
    friction         coefficient of the pair
    restitution      of the pair
    compiled         whether there is a compiled function for it
    """

    body_a: str
    shape_a: Shape
    body_b: str
    shape_b: Shape
    friction: float
    restitution: float

    @property
    def compiled(self) -> bool:
        return is_compiled(self.shape_a, self.shape_b)


def candidates(model: Model) -> tuple[Candidate, ...]:
    """All pairs that may touch: those with the world first, then by bodies and shapes in their order."""
    weld = welds(model)
    owners = [(-1, s) for s in model.world_shapes] + [(i, s) for i, body in enumerate(model.bodies) for s in body.shapes]
    owners = [(i, s) for i, s in owners if s.group or s.mask]
    found = []
    for number, (i, a) in enumerate(owners):
        for j, b in owners[number + 1 :]:
            if may_touch(model, weld, i, j) and accept(a, b):
                found.append(_ordered(_name(model, i), a, _name(model, j), b))
    return tuple(found)


def welds(model: Model) -> list[int]:
    """For every body the first of those that it is welded to; -1 if that is the world."""
    found: list[int] = []
    for i, body in enumerate(model.bodies):
        found.append(i if body.joint.nv else (-1 if body.parent < 0 else found[body.parent]))
    return found


def may_touch(model: Model, weld: list[int], i: int, j: int) -> bool:
    """Whether the tree and the excluded pairs let two bodies touch; -1 is the world."""
    first, second = (-1 if k < 0 else weld[k] for k in (i, j))
    if first == second or frozenset((_name(model, i), _name(model, j))) in model.excluded:
        return False
    if -1 in (first, second):
        return True

    def above(k: int) -> int:
        parent = model.bodies[k].parent
        return -1 if parent < 0 else weld[parent]

    return above(first) != second and above(second) != first


def accept(a: Shape, b: Shape) -> bool:
    """Whether the groups of two shapes let them touch: that of one must be in the mask of the other."""
    return bool(a.group & b.mask) or bool(b.group & a.mask)


def pair_friction(a: Shape, b: Shape) -> float:
    """The geometric mean of both coefficients; the only one that is given; none at all if none is."""
    given = [s.friction for s in (a, b) if s.friction is not None]
    return math.sqrt(given[0] * given[1]) if len(given) == 2 else given[0] if given else 0.0


def pair_restitution(a: Shape, b: Shape) -> float:
    """The larger of both, of those that are given."""
    return max((s.restitution for s in (a, b) if s.restitution is not None), default=0.0)


def _ordered(body_a: str, a: Shape, body_b: str, b: Shape) -> Candidate:
    """The pair in the order of its function; a body before the world where either will do."""
    straight, swapped = (a.kind, b.kind) in PAIRS, (b.kind, a.kind) in PAIRS
    if (swapped and not straight) or (body_a == WORLD and swapped == straight):
        body_a, a, body_b, b = body_b, b, body_a, a
    return Candidate(body_a, a, body_b, b, pair_friction(a, b), pair_restitution(a, b))


def _name(model: Model, i: int) -> str:
    return WORLD if i < 0 else model.bodies[i].name
