"""Mimic joints: couplings to the joint at the end of each chain, or freedom."""

from __future__ import annotations

from collections.abc import Callable

from ...constraints import Coupling
from ...spatial.gate import meant
from .records import ONE_DOF, JointRecord, Mimic


def couplings(joints: dict[str, JointRecord], names: dict[str, str]) -> list[Coupling]:
    """One coupling per follower, to a leader that follows nobody:

        q = r1 (r2 q_leader + o2) + o1 = r1 r2 q_leader + (r1 o2 + o1).

    names   what the model calls the joints
    """
    out = []
    for joint in joints.values():
        if joint.mimic is None:
            continue
        ratio, offset, seen = joint.mimic.ratio, joint.mimic.offset, [joint.name]
        leader = _leader(joint, joint.mimic, joints)
        while leader.mimic is not None:
            seen.append(leader.name)
            offset += ratio * leader.mimic.offset
            ratio *= leader.mimic.ratio
            leader = _leader(leader, leader.mimic, joints)
            if leader.name in seen:
                raise joint.mimic.element.error(f"joints {', '.join(map(repr, seen))} mimic each other in a circle")
        out.append(Coupling(names[joint.name], names[leader.name], ratio, offset))
    return out


def note_independent(joints: dict[str, JointRecord], note: Callable[[str], object]) -> None:
    """A line for every joint that could follow another and is left free."""
    for joint in joints.values():
        if joint.mimic is not None:
            m = joint.mimic
            note(
                f"joint {joint.name!r} is left free; its file has it follow {m.leader!r} (ratio {m.ratio:g}, offset {m.offset:g})"
            )


def _leader(follower: JointRecord, mimic: Mimic, joints: dict[str, JointRecord]) -> JointRecord:
    free = "correct the file, or load it with mimic='independent'"
    leader = joints.get(mimic.leader)
    if leader is None:
        raise mimic.element.error(
            f"joint {follower.name!r} mimics {mimic.leader!r}, which does not exist; {free}{meant(mimic.leader, joints)}"
        )
    if leader is follower:
        raise mimic.element.error(f"joint {follower.name!r} mimics itself; {free}")
    if leader.kind not in ONE_DOF:
        raise mimic.element.error(f"joint {follower.name!r} mimics {mimic.leader!r}, whose type is {leader.kind!r}; {free}")
    return leader
