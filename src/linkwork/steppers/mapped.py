"""Steppers of hyper-reduced coordinates q = f(r): programs that move r, and record states of the model, where the map leads.

A run begins at the r and r_dot that its first state remembers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..constraints.solve import accelerations
from ..elements.collection import Shape, collection
from ..kernel.plans import Plans
from ..kernel.sweep import Algorithm
from ..model import Model, State
from ..redmax.hyper_dynamics import HyperDynamics
from ..redmax.hyper_program import hyper_tree
from ..redmax.hyper_reduced import HyperReduced
from ..redmax.system import dynamics
from .stepper import Program, Solution, Stepper


@dataclass(frozen=True)
class MappedStepper(Stepper):
    """Base of programs that move r; what they record are states of the model."""

    hyper: HyperReduced

    kept: ClassVar[tuple[str, ...]] = ()  # states of the program besides, of the size of r
    flags: ClassVar[tuple[str, ...]] = ()  # states that are one number
    nodes: ClassVar[tuple[float, ...]] = (0.0,)  # where constraints are told what they must know, in steps

    @property
    def methods(self) -> tuple[str, ...]:
        return ("reduced", "redmax")

    def algorithm(self, shape: Shape) -> Algorithm:
        """The step of models with such laws."""
        raise TypeError(f"{type(self).__name__} must define algorithm")

    def numbers(self, model: Model) -> dict[str, np.ndarray]:
        """Its inputs besides those of laws."""
        return {}

    def check_found(self, kept: dict[str, np.ndarray]) -> None:
        """Raise if a step was not found."""

    def program(self, method: str, model: Model) -> Program:
        laws, nr, stages = collection(model), self.hyper.nr, len(self.nodes)

        def enter(model: Model, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            batch = len(given["t"])
            kept = given | {name: np.zeros((batch, nr)) for name in ("r", "r_dot", *self.kept)}
            kept |= {name: np.full((batch, 1), float(name == "fresh")) for name in self.flags}
            return kept | ({"unknown": laws.first_unknowns(given["q"])} if laws.rows else {})

        def leave(model: Model, kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            self.check_found(kept)
            return {name: kept[name] for name in ("q", "v")}

        def inputs(model: Model) -> dict[str, np.ndarray]:
            given = self.numbers(model) | ({"u": laws.initial_inputs} if laws.forces else {})
            return given | ({"told": np.zeros(stages * laws.told_count)} if laws.rows else {})

        def bind(model: Model) -> Plans:
            return model.keep_as((Plans, self.hyper, stages), lambda: Plans(hyper_tree(model, self.hyper.map, stages)))

        return Program(
            self.algorithm(laws.shape),
            ("q", "v", "r", "r_dot", "t", *self.kept, *self.flags, *(["unknown"] if laws.rows else [])),
            enter=enter,
            leave=leave,
            inputs=inputs,
            bind=bind,
            reports=lambda m: {"x": laws.row_count, "left": 1} if laws.rows else {},
            records=("q", "v", *(["stuck"] if "stuck" in self.flags else [])),
            memory=("r", "r_dot"),
            times=self.nodes,
        )

    def with_first_forces(self, model: Model, start: State, external: Any, found: Solution) -> Solution:
        """What a run found, with the forces of rows at its start as the map lets them act."""
        if found.forces is None or start.memory is None:
            return found
        forces = np.reshape(found.forces, (-1, *found.forces.shape[-2:])).copy()
        r, r_dot = (start.memory[name].reshape(len(forces), -1) for name in ("r", "r_dot"))
        tau = None if found.tau is None else found.tau.reshape(len(forces), -1, model.nv)[:, 0]
        for k in range(len(forces)):
            m = self.hyper.moved(State(r[k], r_dot[k], start.t))
            wrenches = external[k] if external is not None and external.ndim == 3 else external
            full = dynamics(model, State(m.q, m.v, start.t), None if tau is None else tau[k], wrenches)
            now = HyperDynamics(m.J, m.a, full)
            forces[k, 0] = accelerations(now.response(), now.constraints).multipliers
        return replace(found, forces=forces.reshape(found.forces.shape))
