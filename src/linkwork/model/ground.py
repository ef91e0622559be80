"""The line that a model keeps when something stands in the world to be touched and none of its bodies can touch it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..geometry.shapes import Shape

if TYPE_CHECKING:
    from .model import Body

UNTOUCHED = "nothing touches "  # how the line begins
GROUNDS = ("plane", "height field")  # kinds of shapes that are there to carry what moves
REMEDY = 'load the file with ground=True or collisions="touch", or give bodies `shapes` (model.replace(bodies=...))'


def can_touch(shape: Shape) -> bool:
    """Whether anything can touch a shape; those of no group and no mask are for looking at."""
    return bool(shape.group or shape.mask)


def untouched_ground(bodies: Sequence[Body], world: Iterable[Shape], elements: Iterable[Any] = ()) -> tuple[str, ...]:
    """One line if the world has shapes to be touched and no moving body touches them, else nothing.

    A world that holds only the fixed links of a robot, in groups that its other links leave out, is no ground. Contacts with the
    world that are elements of the model count as touching.
    """
    solid = [shape for shape in world if can_touch(shape)]
    if not solid or any(getattr(e, "shapes", ()) and "world" in getattr(e, "bodies", ()) for e in elements):
        return ()
    shapes = [shape for body, moves in zip(bodies, _moving(bodies), strict=True) if moves for shape in body.shapes]
    able = [shape for shape in shapes if can_touch(shape)]
    if able:
        solid = [s for s in solid if s.kind in GROUNDS and not any(s.group & o.mask or o.group & s.mask for o in able)]
    if not solid:
        return ()
    if able:
        why = f"the groups and masks of {len(able)} shapes leave it out; give both `group` and `mask` that fit"
    elif shapes:
        count = sum(bool(body.shapes) for body in bodies)
        why = f"the collision shapes of {count} bodies are for looking at only; {REMEDY}"
    else:
        why = f"no body that moves has a collision shape; {REMEDY}"
    return (f"{UNTOUCHED}{solid[0].name!r}, bodies pass through it: {why}",)


def _moving(bodies: Sequence[Body]) -> list[bool]:
    """For every body whether it moves; what is welded to the world does not."""
    moves: list[bool] = []
    for body in bodies:
        moves.append(body.joint.nv > 0 or (body.parent >= 0 and moves[body.parent]))
    return moves
