"""From links to bodies: every link is placed on the body that carries it; links on fixed joints may be welded to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...joints import Fixed, Free, Joint
from ...spatial.se3 import SE3
from ..options import Options
from .joints import Note, joint_for
from .records import JointRecord, Link
from .values import composed


@dataclass(eq=False)
class Carrier:
    """A body to be, named after its link.

    record      its joint in the file; None for the free root
    parent      the body that it hangs on; None is the world
    placement   pose of the joint's inboard frame in the parent's frame
    parts       the links that make it up, with their poses in its frame; its own link comes first
    rigid_root  the first body up the tree, itself included, that moves against its parent; None is the world
    """

    link: Link
    record: JointRecord | None
    parent: Carrier | None
    joint: Joint
    placement: SE3
    parts: list[tuple[Link, SE3]] = field(default_factory=list)
    rigid_root: Carrier | None = field(init=False)

    def __post_init__(self) -> None:
        fixed = isinstance(self.joint, Fixed)
        self.rigid_root = self if not fixed else None if self.parent is None else self.parent.rigid_root


@dataclass(frozen=True, eq=False)
class Weld:
    """A link that is no body of its own: part of a body, or of the world (None), at a pose; `record` is its fixed joint."""

    link: Link
    record: JointRecord | None
    body: Carrier | None
    pose: SE3


def carried(order: Sequence[tuple[Link, JointRecord | None]], options: Options, note: Note) -> tuple[list[Carrier], list[Weld]]:
    """The bodies, parents first, and the links welded to them or to the world.

    order   links with their joints, parents first
    """
    bodies: list[Carrier] = []
    welds: list[Weld] = []
    places: dict[str, tuple[Carrier | None, SE3]] = {}
    for link, record in order:
        base, pose = (None, SE3()) if record is None else places[record.parent]
        if record is not None:
            pose = composed(pose, record.origin)
        if (record is None and not options.floating) or (record is not None and record.kind == "fixed" and options.merge_fixed):
            places[link.name] = base, pose
            welds.append(Weld(link, record, base, pose))
            if base is not None:
                base.parts.append((link, pose))
            continue
        joint, turn = (Free(), SE3()) if record is None else joint_for(record, note)
        body = Carrier(link, record, base, joint, composed(pose, turn))
        body.parts.append((link, turn.inverse()))
        bodies.append(body)
        places[link.name] = body, turn.inverse()
    return bodies, welds
