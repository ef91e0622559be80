"""Forward dynamics of the loaded tree: every force and row of a model, one state or a batch.

A module of its own, as a bare tree needs none of what it imports.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..elements.collection import CONES, Collection, Shape, collection
from ..errors import InputError
from ..kernel.sweep import SCALAR, Algorithm, Field, each
from ..model.arrays import Interface
from ..model.model import Model
from .program import ACCELERATION, dynamics, fields


def hand_out(n: Any) -> None:
    """Accelerations, for the caller."""
    n.accelerations = n.free_v


@functools.cache
def loaded_dynamics(shape: Shape) -> Algorithm:
    """Accelerations and multipliers of models with such laws."""
    found = fields(shape) | {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "t": Field("input", "global", SCALAR),
        "accelerations": Field("output", "v"),
    }
    steps = [*dynamics(shape, ACCELERATION), each(hand_out)]
    return Algorithm(f"loaded_dynamics_{'_'.join(map(str, map(int, shape)))}", found, {"run": steps})


def _interface(laws: Collection) -> Interface:
    sizes = {"x": (laws.row_count,), "u": (len(laws.initial_inputs),), "told": (laws.told_count,)}
    sizes["unknown"] = (sum(c.unknowns for c in laws.rows),)
    return laws.model.keep_as(loaded_dynamics, lambda: Interface(laws.model, loaded_dynamics(laws.shape), laws.plan, sizes))


def constrained_dynamics(
    model: Model,
    q: Any,
    v: Any,
    tau: Any = None,
    external: Any = None,
    threads: int | None = 1,
    *,
    t: Any = 0.0,
    inputs: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Joint accelerations (..., nv), and the multipliers (..., rows) of all constraints, those that only push included.

    Arguments as of `forward_dynamics`. Rows stand in the order of `lw.constraint_set(model)`. A row that only pushes acts
    where it touches and does not part [Sueda, Eqs. 2.105, 2.125-2.127; errata 004-15].
    """
    laws = collection(model)
    if laws.shape[3] == CONES:
        rubbing = next(law for law in laws.rows if law.cones)
        raise InputError(f"{rubbing!r} has friction, which accelerations do not say: simulate, with a stepper that takes it")
    given: dict[str, Any] = {"q": q, "v": v, "tau": tau, "external": external, "gravity": model.gravity, "t": np.atleast_1d(t)}
    if laws.forces:
        given["u"] = laws.initial_inputs if inputs is None else inputs
    if laws.rows:
        given["told"] = laws.told_at(float(np.ravel(t)[0]))
        given["unknown"] = laws.first_unknowns(np.atleast_2d(np.asarray(q, float)))
        if np.ndim(q) == 1:
            given["unknown"] = given["unknown"][0]
    wanted = ("accelerations", "x") if laws.rows else ("accelerations",)
    out = _interface(laws)(given, threads, wanted)
    return out["accelerations"], out["x"] if laws.rows else np.zeros((*out["accelerations"].shape[:-1], 0))


def smooth_dynamics(
    model: Model, q: Any, v: Any, tau: Any, external: Any, threads: int | None, t: Any, inputs: Any
) -> np.ndarray:
    """See `forward_dynamics`: rows that only push are left out."""
    return constrained_dynamics(without_pushes(model), q, v, tau, external, threads, t=t, inputs=inputs)[0]


def without_pushes(model: Model) -> Model:
    """The model with its forces and equality constraints alone, kept with it."""
    if not any(c.unilateral for c in collection(model).rows):
        return model
    kept = [e for e in model.elements if not getattr(e, "unilateral", False)]
    return model.keep_as(without_pushes, lambda: model.replace(elements=kept))
