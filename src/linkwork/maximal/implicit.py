"""Implicit maximal coordinates outside programs: a round of Newton's method, and the responses of it and of one linear solve."""

from __future__ import annotations

import functools
from typing import Any

from ..kernel.sweep import INERTIA, MATRIX, SCALAR, Algorithm, Field, each, inward, matrix, outward, vector
from ..model.rules import world_pose
from . import implicit_newton as newton
from . import implicit_rules as rules
from .dynamics import STATE_FIELDS

NODE = vector(6)
GIVEN = {
    "tau": Field("input", "v"),
    "external": Field("input", "node", NODE),
    "u": Field("input", "u"),
    "gravity": Field("input", "global", vector(3)),
    "h": Field("input", "global", SCALAR),
}
BETWEEN = {
    "y": Field("shared", codec=NODE),
    "centre": Field("shared", codec=vector(3)),
    "D": Field("gathered", codec=INERTIA),
    "r": Field("gathered", codec=NODE),
}
FACTOR = [outward(rules.place), outward(rules.load), inward(rules.factor)]
SOLVE = [inward(rules.forward), outward(rules.back)]


STEP_FIELDS = {
    **{name: Field("state", f.space, f.codec, f.world) for name, f in STATE_FIELDS.items()},
    "held": Field("state", "node", NODE),
    "t": Field("state", "node", SCALAR),
    **GIVEN,
    **BETWEEN,
}


# --- a round of Newton's method ---------------------------------------------------------------------------------------------
def improve(n: Any) -> None:
    """The end of the step moves by the twist that was found."""
    n.held = n.reactions * (1.0 / n.h)
    n.poses, _ = rules.moved(n, n.poses, n.y)


NEWTON_FIELDS = {
    "start": Field("input", "node", MATRIX),
    "twists": Field("input", "node", NODE),
    "q_fit": Field("input", "q"),
    "v_start": Field("input", "v"),
    "t": Field("input", "node", SCALAR),
    **GIVEN,
    **BETWEEN,
    "phi": Field("shared", codec=NODE),
    "D": Field("gathered", codec=matrix(6, 6)),
    "q_end": Field("output", "q"),
    "twists_end": Field("output", "node", NODE),
}
NEWTON_FACTOR = [
    each(newton.travelled),
    outward(newton.place),
    outward(newton.load),
    outward(newton.load_bodies),
    inward(newton.factor),
]


@functools.cache
def newton_round() -> Algorithm:
    """A round of Newton's method, and the end of the step that it improves."""
    return Algorithm(
        "maximal_implicit_round",
        {
            "poses": Field("state", "node", MATRIX, world=world_pose),
            "held": Field("state", "node", NODE),
            **NEWTON_FIELDS,
            "y_new": Field("output", "node", NODE),
        },
        {"run": [*NEWTON_FACTOR, *SOLVE, each(improve)]},
    )


# --- responses --------------------------------------------------------------------------------------------------------------
def own_side(n: Any) -> None:
    """The right-hand sides of the step itself, for whoever solves."""
    n.own_wrench, n.own_reaction, n.own_rate = n.b_j, n.b_a, n.rate


def given_side(n: Any) -> None:
    """Given impulses and rates."""
    impulse = n.S_hat @ n.impulse
    n.b_j, n.b_a, n.rate = n.wrench + impulse, n.reaction - impulse, n.closing


def _response(name: str, fields: dict[str, Field], factor: list[Any]) -> Algorithm:
    own = {"own_wrench": Field("output", "node", NODE), "own_reaction": Field("output", "node", NODE)}
    given = {"wrench": Field("input", "node", NODE), "reaction": Field("input", "node", NODE)}
    found = {"y_new": Field("output", "node", NODE), "v_new": Field("output", "v"), "reactions": Field("output", "node", NODE)}
    return Algorithm(
        name,
        {
            **fields,
            **own,
            "own_rate": Field("output", "rows"),
            **given,
            "impulse": Field("input", "v"),
            "closing": Field("input", "rows"),
            **found,
        },
        {"factor": [*factor, each(own_side)], "apply": [each(given_side), *SOLVE]},
    )


@functools.cache
def implicit_response() -> Algorithm:
    """The response of one linear solve."""
    held = {"held": Field("input", "node", NODE), "t": Field("input", "node", SCALAR)}
    return _response("maximal_implicit_response", {**STATE_FIELDS, **held, **GIVEN, **BETWEEN}, FACTOR)


@functools.cache
def newton_response() -> Algorithm:
    """The response of a round of Newton's method."""
    at = {"poses": Field("input", "node", MATRIX, world=world_pose), "held": Field("input", "node", NODE)}
    return _response("maximal_implicit_newton_response", {**at, **NEWTON_FIELDS}, NEWTON_FACTOR)


# --- what a solution moves --------------------------------------------------------------------------------------------------
def follow(n: Any) -> None:
    """Pose and twist after a step with the twist y."""
    n.poses_new, n.twists_new = rules.moved(n, n.poses, n.y_given)


IMPLICIT_MOVE = Algorithm(
    "maximal_implicit_move",
    {
        "poses": Field("input", "node", MATRIX),
        "y_given": Field("input", "node", NODE),
        "h": Field("input", "global", SCALAR),
        "poses_new": Field("output", "node", MATRIX),
        "twists_new": Field("output", "node", NODE),
    },
    {"run": [each(follow)]},
)
