"""Forward dynamics of the loaded tree in maximal coordinates: every force and equality row, and what joints carry."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..elements.collection import Shape, collection
from ..kernel.sweep import MATRIX, Algorithm, Field, each, vector
from ..model.arrays import Interface
from ..model.model import Model
from ..model.rules import world_pose
from ..model.state import MaximalState
from ..reduced.contradictions import check_rows_meet, open_states
from ..reduced.loaded import given_laws, law_tails, without_pushes
from ..rows.solved import ACCELERATION
from .carried import carried, carried_fields
from .convert import to_reduced
from .dynamics import MaximalAcceleration
from .program import dynamics, fields


def hand_out(n: Any) -> None:
    """Rates of twists and joint accelerations, for the caller."""
    n.twists_dot, n.accelerations = n.free, n.free_v


@functools.cache
def loaded_maximal(shape: Shape) -> Algorithm:
    """Accelerations, multipliers and wrenches of models with such laws."""
    found = fields(shape) | carried_fields()
    found |= {
        "poses": Field("input", "node", MATRIX, world=world_pose),
        "twists": Field("input", "node", vector(6)),
        "q_fit": Field("input", "q"),
        "twists_dot": Field("output", "node", vector(6)),
        "accelerations": Field("output", "v"),
    }
    steps = [*dynamics(shape, ACCELERATION), *carried(shape, ACCELERATION), each(hand_out)]
    return Algorithm(f"maximal_dynamics_{'_'.join(map(str, map(int, shape)))}", found, {"run": steps})


def loaded_maximal_dynamics(
    model: Model, state: MaximalState, tau: Any, external: Any, t: Any, inputs: Any
) -> MaximalAcceleration:
    """See `maximal_dynamics`."""
    laws = collection(without_pushes(model))

    def make() -> Interface:
        return Interface(laws.model, loaded_maximal(laws.shape), laws.plan, law_tails(laws))

    given = {"poses": state.poses, "twists": state.twists, "q_fit": state.q_fit, "tau": tau, "external": external}
    given |= {"gravity": model.gravity, **given_laws(laws, state.q_fit, t, inputs, bool(laws.rows))}
    wanted = ("twists_dot", "accelerations", "lam", "wrench", *(["x", "left"] if laws.rows else []))
    out = laws.model.keep_as(loaded_maximal, make)(given, 1, wanted)
    if laws.rows and any(True for _ in open_states(out)):
        at = to_reduced(model, state)
        check_rows_meet("maximal_dynamics", laws.model, out, at.q, at.v, t)
    x = out["x"] if laws.rows else np.zeros((*out["accelerations"].shape[:-1], 0))
    return MaximalAcceleration(out["twists_dot"], out["accelerations"], out["lam"], out["wrench"], x)
