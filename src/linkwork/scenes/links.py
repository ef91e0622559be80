"""Chains of equal links, for scenes made of them."""

from __future__ import annotations

from typing import Any

import linkwork as lw


def whole(what: str, x: Any, least: int = 1) -> int:
    """A count that a user gave, checked."""
    if isinstance(x, bool) or not isinstance(x, int) or x < least:
        raise lw.InputError(f"{what} must be a whole number, at least {least}, not {x!r}")
    return x


def hung_chain(
    links: int, joint: lw.Joint, length: float, density: float = 1.0, width: float | None = None, elements: Any = ()
) -> lw.Model:
    """Links "link1", "link2", ... down from a point high enough to clear z = 0.

    density    kg/m
    width      of a link, m; a fifth of its length by default
    elements   functions of a link's name: forces and constraints to add for each
    """
    whole("links", links)
    width = length / 5 if width is None else width
    b = lw.ModelBuilder()
    size, com = (width, width, length), (0, 0, -length / 2)
    link = lw.Inertia.cuboid(mass=density * length, size=size, com=com)
    parent, placement = "world", lw.SE3(p=(0, 0, (links + 0.2) * length))
    for k in range(links):
        name = f"link{k + 1}"
        b.body(name, parent=parent, joint=joint, placement=placement, inertia=link)
        for element in elements:
            b.add(element(name))
        parent, placement = name, lw.SE3(p=(0, 0, -length))
    return b.build()
