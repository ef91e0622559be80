"""Joints whose coordinates stay in one chart, because something acts on these coordinates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .model import Body


def with_single_charts(bodies: tuple[Body, ...], laws: Iterable[Any]) -> tuple[tuple[Body, ...], list[str]]:
    """The bodies, with `Joint.one_chart` of joints whose coordinates are limited or used by a law; and a note for each of them.

    The same tuple if nothing changes. A law names such joints in `coordinate_joints`.
    """
    if not any(b.joint.recharts_after_steps for b in bodies):
        return bodies, []
    users = {name: repr(law) for law in laws for name in getattr(law, "coordinate_joints", ())}
    made, notes = list(bodies), []
    for i, body in enumerate(bodies):
        user = users.get(body.joint_name) or users.get(body.name) or _declared(body)
        if not body.joint.recharts_after_steps or not user:
            continue
        joint = body.joint.one_chart()
        if joint is not body.joint:
            made[i] = replace(body, joint=joint)
            notes.append(
                f"joint {body.joint_name!r} ({body.joint!r}): its coordinates keep one chart, because {user} acts on them; "
                "they are singular where another chart would take over (poles of its surfaces)"
            )
    return (tuple(made), notes) if notes else (bodies, [])


def _declared(body: Body) -> str:
    """What the joint declares about its coordinates or their rates, in a word; empty if nothing."""
    p = body.properties
    if np.isfinite(p.lower).any() or np.isfinite(p.upper).any():
        return "limits="
    return "friction=" if p.friction.any() else ""
