"""Steppers of hyper-reduced coordinates q = f(r): programs that move r, and record states of the model, where the map leads.

A run begins at the r and r_dot that its first state remembers.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..elements.collection import CONES, Shape, collection
from ..kernel.plans import Plans
from ..kernel.sweep import Algorithm, Step, each
from ..model import Model, State
from ..redmax.hyper_program import ACCELERATIONS, LEAD, Level, dynamics, free_accelerations, hyper_fields, hyper_tree
from ..redmax.hyper_reduced import HyperReduced
from ..rows.asked import hold_accelerations, watch_accelerations
from .row_forces import RowForces
from .stepper import Program, Solution, Stepper


def begin_here(n: Any) -> None:
    """Where the map leads from here."""
    n.stage_r, n.stage_r_dot = n.r, n.r_dot


@functools.cache
def first_forces(shape: Shape) -> Algorithm:
    """The forces of rows at a state."""
    level = Level(ACCELERATIONS, (free_accelerations, None), (watch_accelerations, hold_accelerations))
    steps: list[Step] = [each(begin_here, on="map"), *LEAD, *dynamics(shape, level)]
    return Algorithm(f"hyper_first_forces_{'_'.join(map(str, map(int, shape)))}", hyper_fields(shape), {"run": steps})


def kept_of(shape: Shape) -> tuple[str, ...]:
    """The states of a step with evaluations at its middle, of the size of r."""
    return ("last_r", "pull_r") if shape[1] >= 0 else ("last_r",)


@dataclass(frozen=True)
class MappedStepper(Stepper):
    """Base of programs that move r; what they record are states of the model."""

    hyper: HyperReduced

    on_accelerations: ClassVar[bool] = False
    warm: ClassVar[bool] = False  # whether rows with cones begin at the impulses of the step before
    flags: ClassVar[tuple[str, ...]] = ()  # states that are one number
    nodes: ClassVar[tuple[float, ...]] = (0.0,)  # where constraints are told what they must know, in steps

    @property
    def methods(self) -> tuple[str, ...]:
        return ("reduced", "redmax")

    def kept(self, shape: Shape) -> tuple[str, ...]:
        """States of the program besides r and r_dot, of the size of r."""
        return ()

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
        own, warm = self.kept(laws.shape), ("impulses",) if self.warm and laws.shape[3] == CONES else ()

        def enter(model: Model, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            batch = len(given["t"])
            kept = given | {name: np.zeros((batch, nr)) for name in ("r", "r_dot", *own)}
            kept |= {name: np.full((batch, 1), float(name == "fresh")) for name in self.flags}
            kept |= {name: np.zeros((batch, laws.row_count)) for name in warm}
            return kept | ({"unknown": laws.first_unknowns(given["q"])} if laws.rows else {})

        def leave(model: Model, kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            self.check_found(kept)
            return {name: kept[name] for name in ("q", "v")}

        def inputs(model: Model) -> dict[str, np.ndarray]:
            given = self.numbers(model) | ({"u": laws.initial_inputs} if laws.forces else {})
            return given | ({"told": np.zeros(stages * laws.told_count)} if laws.rows else {})

        return Program(
            self.algorithm(laws.shape),
            ("q", "v", "r", "r_dot", "t", *own, *warm, *self.flags, *(["unknown"] if laws.rows else [])),
            enter=enter,
            leave=leave,
            inputs=inputs,
            bind=lambda m: self.bound(m, stages),
            reports=lambda m: {"x": laws.row_count, "left": 1} if laws.rows else {},
            records=("q", "v", *(["stuck"] if "stuck" in self.flags else [])),
            memory=("r", "r_dot"),
            times=self.nodes,
        )

    def with_first_forces(self, model: Model, start: State, external: Any, found: Solution) -> Solution:
        """What a run found, with the forces of rows at its start as the map lets them act."""
        laws = collection(model)
        if found.forces is None or start.memory is None or laws.rubs:
            return found
        forces = found.forces.averaged() if isinstance(found.forces, RowForces) else found.forces.copy()
        lead = forces.shape[:-2]
        given = {name: np.zeros(size) for name, size in (("q", model.nq), ("v", model.nv), ("tau", model.nv), ("h", 1))}
        given |= {"gravity": model.gravity, "t": np.array([start.t]), "told": laws.told_at(start.t), **start.memory}
        given |= {"unknown": laws.first_unknowns(start.q.reshape(-1, model.nq)).reshape(*lead, -1)}
        given |= {"u": laws.initial_inputs} if laws.forces else {}
        given |= {} if found.tau is None else {"tau": found.tau[..., 0, :]}
        given["external"] = np.zeros(6 * model.nb) if external is None else external.reshape(*external.shape[:-2], -1)
        forces[..., 0, :] = self.bound(model, 1).run(first_forces(laws.shape), given, ("x",), lead)["x"]
        return replace(found, forces=forces)

    def bound(self, model: Model, stages: int) -> Plans:
        """Programs bound to the tree and its map, kept with the model."""
        return model.keep_as((Plans, self.hyper, stages), lambda: Plans(hyper_tree(model, self.hyper.map, stages)))
