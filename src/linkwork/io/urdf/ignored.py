"""What a URDF file has and a model does not: counted, one line each kind."""

from __future__ import annotations

from collections.abc import Callable

from ..element import Element

TURN = 6.2832  # rad: angles of a pose are smaller

# Elements that are known and have no part in the dynamics, or none for the kind of joint that they stand in.
KNOWN = {
    "axis",
    "calibration",
    "collision",
    "dynamics",
    "gazebo",
    "limit",
    "material",
    "mimic",
    "ros2_control",
    "safety_controller",
    "sensor",
    "transmission",
    "visual",
}


def note_turns(root: Element, note: Callable[[str], object]) -> None:
    """A line for the first `<origin>` that turns more than once, which is meant in degrees, and how many there are."""
    found = [
        e for e in root.walk() if e.tag == "origin" and max(map(abs, _floats(e.attributes.get("rpy", ""))), default=0) > TURN
    ]
    if found:
        note(
            f"rpy = {found[0].attributes['rpy']!r} in line {found[0].line} is more than a whole turn and looks like degrees; rpy "
            f"is in radians ({len(found)} in all)"
        )


def _floats(text: str) -> list[float]:
    try:
        return [float(x) for x in text.split()]
    except ValueError:
        return []


def note_ignored(root: Element, note: Callable[[str], object]) -> None:
    """A line for every kind of element or attribute that nobody read."""
    counts: dict[tuple[str, str], int] = {}
    lines: dict[tuple[str, str], int] = {}
    for owner, thing in root.unread():
        tag = thing.tag if isinstance(thing, Element) else None
        what = f"attribute {thing!r}" if tag is None else f"<{tag}>" if tag in KNOWN else f"unknown <{tag}>"
        key = (what, owner.kind)
        counts[key] = counts.get(key, 0) + 1
        lines.setdefault(key, thing.line if isinstance(thing, Element) else owner.line)
    for (what, owner), count in counts.items():
        note(f"ignored: {what} of {owner} ({count}; first in line {lines[what, owner]})")
