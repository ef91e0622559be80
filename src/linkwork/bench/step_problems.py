"""The problems of contact that steps of a model pose, as its program does: the same rows, matrix and right-hand side.

The sweeps of a step (`reduced.program`) are run up to the matrix, and what their solver would be given is handed out.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from ..elements.collection import CONES, Shape, collection
from ..kernel.sweep import SCALAR, Algorithm, Field, Repeat, Routine, Step, flat
from ..model import Model
from ..reduced.program import dynamics, fields
from ..rows.solved import VELOCITY
from ..solvers.gram import gram
from ..solvers.problem import Cones, Problem

GIVEN = ("on", "b", "lower", "upper", "mu", "A")
H = {"h": Field("input", "global", SCALAR), "correction": Field("input", "global", SCALAR)}


@functools.cache
def posing(shape: Shape) -> Algorithm:
    """A step of models with such laws, as far as its problem."""
    found = fields(shape) | H | {"q": Field("input", "q"), "v": Field("input", "v")}
    found |= {name: replace(found[name], kind="output") for name in GIVEN}
    steps = [one for step in dynamics(shape, VELOCITY) for one in _first_solve(step)]
    (last,) = [k for k, s in enumerate(steps) if isinstance(s, Routine) and s.function is gram]
    return Algorithm(f"posing_{'_'.join(map(str, map(int, shape)))}", found, {"run": steps[: last + 1]})


def _first_solve(step: Step) -> tuple[Step, ...]:
    """The steps of the first solve, one after the other, of what may solve again; other steps as they are."""
    solves = isinstance(step, Repeat) and any(isinstance(s, Routine) and s.function is gram for s in flat(step.steps))
    return step.first_steps if isinstance(step, Repeat) and solves else (step,)


def pose(model: Model, q: np.ndarray, v: np.ndarray, h: float, inputs: np.ndarray | None = None) -> Problem | None:
    """The problem of the step from one state; None if no row takes part. Some contacts of the model have friction."""
    laws = collection(model)
    assert laws.shape[3] == CONES
    algorithm = posing(laws.shape)
    given: dict[str, Any] = {"q": q, "v": v, "tau": np.zeros(model.nv), "external": np.zeros(6 * model.nb)}
    given |= {"gravity": model.gravity, "t": np.zeros(1), "h": np.array([h]), "correction": np.zeros(1)}
    given |= {"unknown": laws.first_unknowns(q[None])[0], "told": laws.told_at(0.0)}
    if laws.forces:
        given["u"] = laws.initial_inputs if inputs is None else inputs
    out = laws.plan.run(algorithm, {n: np.asarray(given[n], float) for n in algorithm.of_kind("input")}, GIVEN, ())
    active = np.flatnonzero(out["on"] > 0.0)
    if not len(active):
        return None
    kinds = np.array([kind for law in laws.rows for kind in law.row_kinds], np.int32)
    A, (i, k) = np.zeros((len(active), len(active))), np.tril_indices(len(active))
    A[i, k] = A[k, i] = out["A"][: len(i)]
    return Problem(A, out["b"][active], Cones(kinds[active], *(out[name][active] for name in ("lower", "upper", "mu"))))
