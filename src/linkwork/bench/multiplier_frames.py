"""Steps of backward Euler in maximal coordinates, as `simulate` runs them, and the linear systems inside them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np

from ..forces import Handle
from ..kernel.call import Call
from ..kernel.lanes import Lanes
from ..kernel.sweep import Algorithm, Field, each
from ..maximal import to_maximal
from ..maximal.implicit import FACTOR, NODE, SOLVE, STEP_FIELDS
from ..maximal.implicit_tree import force_tree
from ..maximal.rules import centre_of
from ..model import Model, State
from ..scenes.drag import figure, held
from ..simulator import Simulator
from ..steppers.backward_euler import BackwardEuler

DT = 1 / 60
ABSENT = ("tau", "external")
PARTS = ("poses", "twists", "q_fit")


def _entered(model: Model, state: State, batch: int, stepper: BackwardEuler) -> tuple[Any, dict[str, np.ndarray], Any]:
    """The program of a step, its states in the beginning, and all its inputs."""
    program, start = stepper.program("maximal-implicit", model), to_maximal(model, state)
    parts = {name: np.tile(np.reshape(getattr(start, name), -1), (batch, 1)) for name in PARTS}
    kept = program.entered(model, parts, 0.0)
    return program, kept, kept | program.given(model, DT)


def frames(model: Model, state: State, batch: int, count: int, solves: int | None = None) -> Callable[[], dict[str, np.ndarray]]:
    """So many steps of a batch of equal states in one call; it returns the last states by their parts (batch, size).

    solves   linear solves in a step; as many as the stepper thinks right by default
    """
    program, kept, inputs = _entered(model, state, batch, BackwardEuler(solves=solves))
    plan = program.plan(model, program.lanes(model, batch), ABSENT)
    out = {name: np.empty((batch, 1, x.shape[1])) for name, x in kept.items()}

    def run() -> dict[str, np.ndarray]:
        plan.run(inputs, out, batch, 1, count * program.passes)
        return {name: out[name][:, 0] for name in PARTS}

    return run


def _recentre(n: Any) -> None:
    """Centres of mass are not kept from one phase to the next."""
    n.centre = centre_of(n)


@functools.cache
def _linear_system() -> Algorithm:
    """The system of one solve: "factor" assembles it, "apply" eliminates and substitutes."""
    fields = {name: dataclasses.replace(f, kind="input") if f.kind == "state" else f for name, f in STEP_FIELDS.items()}
    fields["y_new"] = Field("output", "node", NODE)
    return Algorithm("bench_linear_system", fields, {"factor": FACTOR[:2], "apply": [each(_recentre), *FACTOR[2:], *SOLVE]})


class _Systems:
    """The phases of the linear system of a first step, ready to be called; `out` are the new twists in the axes of the start."""

    def __init__(self, model: Model, state: State) -> None:
        self._model, self.out = model, np.empty((1, 6 * model.nb))
        unforced = {"tau": np.zeros(model.nv), "external": np.zeros(6 * model.nb)}
        unforced |= {"t": np.zeros(model.nb), "u": force_tree(model).inputs}
        self.inputs = _entered(model, state, 1, BackwardEuler(solves=1))[2] | unforced

    def call(self, phases: tuple[str, ...], inputs: dict[str, np.ndarray], after: Call | None = None) -> Call:
        plan = force_tree(self._model).plan(_linear_system(), Lanes(1), phases)
        return Call(plan, inputs, {"y_new": self.out} if "apply" in phases else {}, 1, after)

    def solution(self, call: Call) -> Callable[[], np.ndarray]:
        def run() -> np.ndarray:
            call()
            return self.out.reshape(-1, 6)

        return run


def factor_solve(model: Model, state: State) -> Callable[[], np.ndarray]:
    """Factor and solve alone, of the assembled system; it returns the new twists (bodies, 6)."""
    systems = _Systems(model, state)
    assembled = systems.call(("factor",), systems.inputs)
    assembled()
    changing = {name: systems.inputs[name] for name in ("h", "held")}
    return systems.solution(systems.call(("apply",), changing, assembled))


def assemble_factor_solve(model: Model, state: State) -> Callable[[], np.ndarray]:
    """The same, with all that it takes to assemble the system: the forces of the joints and their derivatives."""
    systems = _Systems(model, state)
    return systems.solution(systems.call(("factor", "apply"), systems.inputs))


def handle_steps() -> Callable[[], Any]:
    """A step of 1 ms of the figure that is dragged by its hand, whose target moves on at every call."""
    model, state = figure()
    simulator = Simulator(model, state, 1e-3, "maximal-implicit")
    handle = next(f for f in model.elements_of(Handle))
    targets = cycle([handle.toward(*held(t)) for t in np.arange(0.0, 1.0, 1e-3)])
    return lambda: simulator.step(inputs=next(targets))
