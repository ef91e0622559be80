"""Derivatives of time steps: the program of a stepper on dual numbers, a direction in every lane.

The state of a step is (q, v), its changes are displacements of the joints and changes of v: 2 nv numbers. What is differentiated
is the step as it is taken: midpoints, constraint rows and their multipliers, limits and contacts that act, what is pushed out.
Where a row has just reached a bound, the derivative is that of the side on which it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..elements.collection import collection
from ..errors import InputError
from ..kernel.directional import directional, with_slopes
from ..kernel.plans import Plans
from ..model import Model, State
from ..model.manifold import DIFFERENCE
from . import step_tangents  # noqa: F401  (what routines change by)
from .stepper import Program, Stepper, program_of

DIFFERENCE_DIRECTIONAL = directional(DIFFERENCE)
METHOD = "reduced"


class StepTangent:
    """The step of a model by a stepper, with the directional derivative of its end along directions.

    parameters   whether numbers of bodies and laws change, too
    """

    def __init__(self, model: Model, stepper: Stepper, parameters: bool) -> None:
        self.model, self.program = model, program_of(stepper, model, METHOD)
        laws = collection(model)
        if laws.told_count:
            raise InputError("derivatives of steps: motions of constraints that only Python can compute are not differentiated")
        own = self.program.algorithm
        self.sets = tuple(of for of in own.sets if of in ("", "force", "constraint")) if parameters else ()
        tree = (self.program.bind(model) if self.program.bind else model.plan).tree
        self.tree = with_slopes(tree, self.sets) if parameters else tree
        self.algorithm = directional(own, self.sets)
        self.plans = Plans(self.tree)

    def __call__(
        self,
        state: State,
        h: float,
        given: Mapping[str, Any],
        changes: Mapping[str, np.ndarray],
        steps: int,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """q, v after some steps and how they change, (count, ...) each, along `count` directions of one state each.

        state     (count, ...)
        given     other inputs: tau, external, u; (size,) or (count, size)
        changes   of inputs and states, by their names (count, size)
        """
        program: Program = self.program
        kept = program.entered(self.model, {"q": state.q, "v": state.v}, float(state.t))
        inputs: dict[str, Any] = {**program.given(self.model, h), **kept, **{k: x for k, x in given.items() if x is not None}}
        inputs["t"] = np.full((len(state.q), 1), float(state.t))
        inputs |= changes
        wanted = [name for name, f in self.algorithm.fields.items() if f.kind in ("input", "state")]
        absent = tuple(name for name in wanted if name not in inputs and self.algorithm.fields[name].kind == "input")
        count = len(state.q)
        plan = self.plans(self.algorithm, self.plans.lanes(self.algorithm, count), ("run",), absent)
        states = [name for name in wanted if self.algorithm.fields[name].kind == "state"]
        filled = {}
        for name in wanted:
            if name in absent:
                continue
            x = inputs.get(name)
            if x is None:  # states that nothing has changed yet
                x = np.zeros((count, plan.sizes[name]))
            filled[name] = np.ascontiguousarray(x, float).reshape(*np.shape(x)[:-1], -1) if np.ndim(x) else np.array([x], float)
        out = {name: np.empty((count, plan.sizes[name])) for name in states}
        plan.run(filled, out, count, every=steps * program.passes)
        left = program.left(self.model, {name: out[name][:, None] for name in program.states if name in out})
        return left["q"][:, 0], left["v"][:, 0], out["d_q"], out["d_v"]


def step_tangent(model: Model, stepper: Stepper, parameters: bool = False) -> StepTangent:
    """Kept with the model."""
    return model.keep_as((StepTangent, stepper, parameters), lambda: StepTangent(model, stepper, parameters))


def _displacements(model: Model, q: np.ndarray, d_q: np.ndarray) -> np.ndarray:
    """Changes of coordinates (count, nq) at q as displacements of the joints (count, nv)."""
    inputs = {"q": q, "d_q": None, "q_next": q, "d_q_next": d_q}
    return model.call(DIFFERENCE_DIRECTIONAL, inputs, wanted=("d_dv",))["d_dv"]


def along(
    tangent: StepTangent,
    state: State,
    dt: float,
    given: Mapping[str, Any],
    changes: Mapping[str, np.ndarray],
    steps: int,
) -> np.ndarray:
    """The changes (batch, count, 2 nv) of the states after the steps, along `count` directions of each of a batch of states.

    state     (batch, ...)
    given     tau, external, u: (...) of one state, or (batch, ...); None where there is none
    changes   of inputs and states, by their names (batch, count, size) or (count, size)
    """
    model, batch = tangent.model, len(state.q)
    count = max(x.shape[-2] for x in changes.values())
    tails = {"tau": 1, "external": 2, "u": 1}

    def repeated(x: np.ndarray, tail: int) -> np.ndarray:
        many = x.ndim > tail
        x = x.reshape(*x.shape[: x.ndim - tail], -1)
        return np.repeat(x, count, axis=0) if many else x

    own = {name: repeated(np.asarray(x, float), tails[name]) for name, x in given.items() if x is not None}
    rows = {name: np.broadcast_to(x, (batch, *x.shape[-2:])).reshape(batch * count, -1) for name, x in changes.items()}
    start = State(np.repeat(state.q, count, axis=0), np.repeat(state.v, count, axis=0), t=state.t)
    q_new, _, d_q, d_v = tangent(start, dt, own, rows, steps)
    return np.concatenate([_displacements(model, q_new, d_q), d_v], axis=1).reshape(batch, count, 2 * model.nv)
