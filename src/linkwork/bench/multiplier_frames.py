"""Steps of backward Euler in maximal coordinates, as `simulate` runs them, and the linear systems inside them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np

from ..elements.collection import Shape
from ..forces import Handle
from ..kernel.call import Call
from ..kernel.lanes import Lanes
from ..kernel.sweep import Algorithm, Field, Routine, Step, each, inward, outward, vector
from ..maximal import implicit_forces as forces
from ..maximal import to_maximal
from ..maximal.implicit_laws import implicit_laws
from ..maximal.implicit_program import begin, eliminate, fields, free_motion
from ..maximal.implicit_rounds import first_round
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


def _set_aside(n: Any) -> None:
    """What forces do, and joint velocities, for the next phase: fields are not kept from one to the next."""
    n.aside = (n.push, n.resist, n.v) if n.sprung else (n.v,)


def _give_back(n: Any) -> None:
    """The same, where the rules look for it."""
    if n.sprung:
        n.push, n.resist, n.v = n.aside
    else:
        (n.v,) = n.aside


def _hand_out(n: Any) -> None:
    """The new twists, for the caller."""
    n.y_new = n.free


@functools.cache
def _linear_system(shape: Shape) -> Algorithm:
    """The system of one solve: "factor" assembles it, "apply" eliminates and substitutes."""
    found = {name: dataclasses.replace(f, kind="input") if f.kind == "state" else f for name, f in fields(shape, False).items()}
    found["y_new"] = Field("output", "node", vector(6))
    assemble: list[Step] = [outward(begin)]
    if shape[0] >= 0:
        ports = [f"p{i}" for i in range(shape[0])]
        assemble += [each(forces.look_at_joints), Routine(first_round, ("going", "round", "handed")), each(forces.clear)]
        assemble += [each(forces.linearise, *ports, on="force"), each(forces.push, *ports, on="force")]
    assemble.append(each(_set_aside))
    solve: list[Step] = [each(_give_back), inward(eliminate), outward(free_motion), each(_hand_out)]
    return Algorithm(f"bench_linear_system_{shape}", found, {"factor": assemble, "apply": solve})


class _Systems:
    """The phases of the linear system of a first step, ready to be called; `out` are the new twists in the axes of the start."""

    def __init__(self, model: Model, state: State) -> None:
        self._model, self.out = model, np.empty((1, 6 * model.nb))
        unforced = {"tau": np.zeros(model.nv), "external": np.zeros(6 * model.nb)}
        self.inputs = _entered(model, state, 1, BackwardEuler(solves=1))[2] | unforced

    def call(self, phases: tuple[str, ...], inputs: dict[str, np.ndarray], after: Call | None = None) -> Call:
        laws = implicit_laws(self._model)
        plan = laws.plan(_linear_system(laws.laws.shape), Lanes(1), phases, ("going", "round"))
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
    changing = {name: systems.inputs[name] for name in ("h", "tau")}
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
