"""Chains of equal links, for scenes made of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import linkwork as lw


def whole(owner: str, what: str, x: Any, least: int = 1) -> int:
    """A count that a user gave, checked."""
    if isinstance(x, bool) or not isinstance(x, int) or x < least:
        raise lw.InputError(f"{owner} needs a whole number of {what}, at least {least}, not {x!r}")
    return x


def chain_of(
    links: int, joint: lw.Joint, link: lw.Inertia, start: Any, step: Any, visuals: Iterable[lw.Shape] = ()
) -> lw.ModelBuilder:
    """Links "link1", "link2", ...: the first at a point of the world, each further one at a point of the one before."""
    b = lw.ModelBuilder()
    parent, placement = "world", lw.SE3(p=start)
    for k in range(links):
        name = f"link{k + 1}"
        b.body(name, parent=parent, joint=joint, placement=placement, inertia=link, visuals=visuals)
        parent, placement = name, lw.SE3(p=step)
    return b
