"""Implicit maximal coordinates as algorithms: a step of one linear solve, a round of Newton's method, and their responses."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..kernel.sweep import INERTIA, MATRIX, SCALAR, Algorithm, Field, each, inward, matrix, outward, vector
from ..model.rules import joint_of, world_pose
from ..spatial.scalar import where
from ..spatial.se3 import SE3
from . import implicit_newton as newton
from . import implicit_rules as rules
from .convert import fitted
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


# --- a step of one solve ----------------------------------------------------------------------------------------------------
def advance(n: Any) -> None:
    """Bodies move; the joint remembers the force that it carried."""
    n.held = n.reactions * (1.0 / n.h)
    n.poses, n.twists = rules.moved(n, n.poses, n.y)
    n.t = n.t + n.h


def refit(n: Any, parent: Any) -> None:
    """The joint coordinate that fits the moved bodies."""
    joint = joint_of(n)
    q = fitted(n, (parent.poses.inverse() @ n.poses).collapsed())
    n.q_fit, _ = joint.rechart(q, np.zeros(joint.nv))


STEP_FIELDS = {
    **{name: Field("state", f.space, f.codec, f.world) for name, f in STATE_FIELDS.items()},
    "held": Field("state", "node", NODE),
    "t": Field("state", "node", SCALAR),
    **GIVEN,
    **BETWEEN,
}


@functools.cache
def implicit_step() -> Algorithm:
    """A step of one linear solve."""
    return Algorithm("maximal_implicit_step", STEP_FIELDS, {"run": [*FACTOR, *SOLVE, each(advance), outward(refit)]})


# --- a step of several solves: one pass each, the last of which moves the state -----------------------------------------------
def guessed(n: Any) -> None:
    """Joint forces are linearised where the pass before led, or where an earlier one found them stiffer."""
    again = n.round > 0.5
    n.guess = rules.either(again, n.found, n.guess)
    n.base, n.base_v = rules.either(again, n.kept, n.base), rules.either(again, n.kept_v, n.base_v)
    n.last = n.round > n.solves - 1.5


def advance_last(n: Any) -> None:
    """Bodies move after the last pass."""
    E, twist = rules.moved(n, n.poses, n.y)
    n.poses = SE3(R=rules.either(n.last, E.R, n.poses.R), p=rules.either(n.last, E.p, n.poses.p))
    n.twists = rules.either(n.last, twist, n.twists)
    n.held = rules.either(n.last, n.reactions * (1.0 / n.h), n.held)
    n.found, n.kept, n.kept_v = n.guess, n.base, n.base_v
    n.t = where(n.last, n.t + n.h, n.t)
    n.round = where(n.last, 0.0, n.round + 1.0)


@functools.cache
def repeated_step() -> Algorithm:
    """A pass of a step of `solves` linear solves."""
    further = {
        **{name: Field("state", "v") for name in ("found", "kept", "kept_v")},
        "round": Field("state", "node", SCALAR),
        "solves": Field("input", "global", SCALAR),
    }
    sweeps = [FACTOR[0], each(guessed), *FACTOR[1:], *SOLVE, each(advance_last), outward(refit)]
    return Algorithm("maximal_implicit_repeated_step", {**STEP_FIELDS, **further}, {"run": sweeps})


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
