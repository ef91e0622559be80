"""Backward Euler in maximal coordinates: joints closed at the end of the step, forces taken implicitly, O(n). Order 1.

[Hernandez et al. 2011; errata 000.] Bodies are free and joints are rows; springs, limits, dampers and handles on joints, single
bodies and neighbours enter the matrix that one sweep factors, with the derivative of the joints' own forces.

    newton=False   one linear solve per step, symmetrised: stable at any stiffness; gaps of joints are of second order in the turn
                   per step and do not grow. Any model is one program (`maximal.implicit_program`): forces between bodies that are
                   no neighbours by conjugate gradients, constraints as in every formulation. Where forces set in or let go in the
                   step, as limits do, it is solved again, at most `solves` times
    newton=True    rounds of Newton's method with exact derivatives until the step is solved (`maximal.implicit_newton`); one that
                   is not solved after `iterations` rounds is taken in halves, quarters, ..., or refused. It runs in Python, one
                   state at a time

`lw.force_report(model)` says what is done with each force.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..constraints.solve import solve
from ..constraints.targets import CORRECTION
from ..elements.collection import collection
from ..errors import InputError, SolverError
from ..kernel.lanes import Lanes
from ..kernel.plans import Plans
from ..maximal.convert import to_reduced
from ..maximal.implicit import IMPLICIT_MOVE, newton_response, newton_round
from ..maximal.implicit_laws import implicit_laws
from ..maximal.implicit_program import implicit_program
from ..maximal.implicit_response import ImplicitResponse, distant_forces, step_inputs
from ..maximal.implicit_tree import force_tree
from ..model import MaximalState, Model, State
from .constrained import located
from .inputs import DrivenTree
from .stepper import Program, StepInfo, Stepper
from .tangent import recharted

STATES = ("poses", "twists", "q_fit")
HALVINGS = 8
MOST = 20  # rounds of a step


def enter(model: Model, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the program keeps besides the state: the forces that the joints carry, none at first, and unknowns of constraints."""
    laws = collection(model)
    kept = given | {"held": np.zeros((len(given["t"]), 6 * model.nb))}
    return kept | ({"unknown": laws.first_unknowns(given["q_fit"])} if laws.rows else {})


def leave(model: Model, kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The states of the records; a run that left the finite numbers is refused."""
    if not np.all(np.isfinite(kept["twists"])):
        raise SolverError("backward_euler: the motion is not finite; take a smaller dt, or newton=True")
    return {name: kept[name] for name in STATES}


def inputs(model: Model) -> dict[str, np.ndarray]:
    """What forces and constraints take from outside."""
    laws = collection(model)
    given = {"u": laws.initial_inputs} if laws.forces else {}
    return given | ({"correction": np.array([CORRECTION]), "told": np.zeros(laws.told_count)} if laws.rows else {})


def reports(model: Model) -> dict[str, int]:
    """The multiplier of every row, and what is left of the rows."""
    laws = collection(model)
    return {"x": laws.row_count, "left": 1} if laws.rows else {}


def bind(model: Model) -> Plans:
    """Programs run on the tree whose bodies know what forces add to them."""
    return implicit_laws(model).plan


@dataclass(frozen=True)
class BackwardEuler(Stepper):
    """See the module's text.

    solves       linear solves per step, at most, without newton
    tolerance    with newton: the largest last change (rad, m) of a body's pose that counts as none
    iterations   with newton: rounds, at most
    """

    newton: bool = False
    solves: int | None = None
    tolerance: float = 1e-10
    iterations: int = 25

    name = "backward_euler"
    order = 1
    contacts = True
    driven = DrivenTree

    def __post_init__(self) -> None:
        if not (np.isfinite(self.tolerance) and self.tolerance > 0 and self.iterations >= 1):
            raise InputError(
                f"{self.name}: tolerance and iterations must be positive, not {self.tolerance!r}, {self.iterations!r}"
            )
        if self.solves is not None and not 1 <= self.solves <= MOST:
            raise InputError(f"{self.name}: solves must be from 1 to {MOST}, not {self.solves!r}")

    @property
    def friction(self) -> bool:
        return not self.newton

    @property
    def methods(self) -> tuple[str, ...]:
        return ("maximal-implicit",)

    def program(self, method: str, model: Model) -> Program:
        laws = collection(model)
        distant = implicit_laws(model).distant
        algorithm = implicit_program(laws.shape, laws.force_nodes.on_bodies, distant, self.solves or MOST)
        states = (*STATES, "held", "t", *(["unknown"] if laws.rows else []))
        return Program(algorithm, states, 1, enter, leave, inputs, bind, reports, STATES, ("held",))

    def compiles(self, model: Model, method: str) -> bool:
        return not self.newton

    def remembering_step(
        self, model: Model, state: State | MaximalState, memory: Any, h: float, tau: Any, external: Any
    ) -> tuple[State | MaximalState, Any, StepInfo]:
        assert isinstance(state, MaximalState)
        held = np.zeros((model.nb, 6)) if memory is None else memory
        return self._reached(ImplicitStep(model, tau, external), state, held, h, HALVINGS)

    def _reached(
        self, step: ImplicitStep, state: MaximalState, held: np.ndarray, h: float, halvings: int
    ) -> tuple[MaximalState, np.ndarray, StepInfo]:
        """The end of a step, or of two halves of it."""
        try:
            return step.converged(state, held, h, self.tolerance, self.iterations)
        except SolverError as error:
            if not halvings:
                raise SolverError(f"{self.name}: {error}, though the step was halved {HALVINGS} times") from None
        middle, held, before = self._reached(step, state, held, 0.5 * h, halvings - 1)
        end, held, after = self._reached(step, middle, held, 0.5 * h, halvings - 1)
        return end, held, StepInfo(0.5 * (before.forces + after.forces))


@dataclass(frozen=True, eq=False)
class ImplicitStep:
    """A step of a model under given joint forces and wrenches."""

    model: Model
    tau: Any
    external: Any

    def converged(
        self, state: MaximalState, held: np.ndarray, h: float, tolerance: float, iterations: int
    ) -> tuple[MaximalState, np.ndarray, StepInfo]:
        """Rounds until the end of the step stands still; SolverError if it does not."""
        given = step_inputs(self.model, state, h, self.tau, self.external, held)
        given |= {"start": state.poses.reshape(-1), "v_start": to_reduced(self.model, state).v}
        alone = not constraint_set(self.model).count and distant_forces(self.model) is None
        improve = self._round if alone else self._constrained_round
        poses, change, forces = state.poses, np.inf, np.zeros(0)
        for _ in range(iterations):
            poses, twists, q, y, given["held"], forces = improve(given, poses, state.t + h, h)
            change = h * np.abs(y).max(initial=0.0)
            if not change < 1e6:  # nor if it is not a number
                break
            if change <= tolerance:
                q, _ = recharted(self.model, q, np.zeros(self.model.nv))
                end = MaximalState(poses, twists + y, q, state.t + h)
                return end, given["held"].reshape(-1, 6), StepInfo(forces / h)
        raise SolverError(f"the step at t = {state.t:.9g} is not solved: its last round moved a body by {change:.3g}")

    def _round(self, given: dict[str, np.ndarray], poses: np.ndarray, t: float, h: float) -> tuple[np.ndarray, ...]:
        """A tree: everything in one sweep of compiled code."""
        plan = force_tree(self.model).plan(newton_round(), Lanes(1), ("run",))
        out = {name: np.empty((1, plan.sizes[name])) for name in newton_round().results}
        plan.run(given | {"poses": poses.reshape(-1)}, out, 1)
        y, twists = out["y_new"].reshape(-1, 6), out["twists_end"].reshape(-1, 6)
        return out["poses"].reshape(-1, 4, 4), twists, out["q_end"][0], y, out["held"][0], np.zeros(0)

    def _constrained_round(self, given: dict[str, np.ndarray], poses: np.ndarray, t: float, h: float) -> tuple[np.ndarray, ...]:
        """The same with constraints, and forces across the tree."""
        model = self.model
        inner = ImplicitResponse(model, newton_response(), {"poses": poses, **given})
        twists, q = inner.found["twists_end"].reshape(-1, 6), inner.found["q_end"]
        distant = distant_forces(model)
        response = distant.softened(inner, poses, twists, t, h, twists) if distant else inner
        rows = located(model, MaximalState(poses, twists, q, t)).rows(t)
        found = solve(response, rows, np.where(constraint_set(model).holonomic, -rows.residual / h, -rows.rate))
        y = found.motion.bodies
        carried = response.reactions(found.motion, *rows.rows.transposed(found.multipliers, model.nb, model.nv)) / h
        return self._moved(poses, y, h)["poses_new"], twists, q, y, carried.reshape(-1), found.multipliers

    def _moved(self, poses: np.ndarray, y: np.ndarray, h: float) -> dict[str, np.ndarray]:
        return self.model.call(IMPLICIT_MOVE, {"poses": poses, "y_given": y, "h": np.array([h])})
