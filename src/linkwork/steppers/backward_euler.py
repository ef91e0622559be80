"""Backward Euler in maximal coordinates: joints closed at the end of the step, forces taken implicitly, O(n). Order 1.

[Hernandez et al. 2011; errata 000.] Bodies are free and joints are rows; springs, limits, dampers and handles on joints, single
bodies and neighbours enter the matrix that one sweep factors, with the derivative of the joints' own forces.

    newton=False   one linear solve per step, symmetrised: stable at any stiffness of joints; gaps of joints are of second order
                   in the turn per step and do not grow (`maximal.implicit_program`). Forces between bodies that are no neighbours
                   by minimal residuals, constraints as in every formulation. Where forces set in or let go in the step, as limits
                   do, it is solved again, at most `solves` times. A force between bodies that is stiff for their masses turns
                   with them in a step: where it does then something else than the step took it to do, the step is solved by
                   Newton's method, unless `solves` is given
    newton=True    rounds of Newton's method with exact derivatives until the step is solved (`maximal.newton`); one that is not
                   solved after `iterations` rounds is taken in halves, quarters, ..., or refused

Either is one program of any model, for batches too.
`lw.force_report(model)` says what is done with each force.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from ..constraints.targets import CORRECTION
from ..elements.collection import Shape, collection
from ..errors import InputError, SolverError
from ..kernel.plans import Plans
from ..kernel.sweep import Algorithm, Repeat, Routine, Step, each, outward
from ..maximal import newton, newton_parts, newton_rows
from ..maximal.implicit_laws import implicit_laws
from ..maximal.implicit_program import fields, implicit_program, implicit_step
from ..maximal.newton_parts import HALVINGS
from ..model import Model
from ..rows.poisson import NEWTON, check_restitution, has_impacts
from .stages import renamed
from .stepper import Program, Stepper

STATES = ("poses", "twists", "q_fit")
MOST = 20  # rounds of a step


def enter(model: Model, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the program keeps besides the state: the forces that the joints carry, none at first, and unknowns of constraints."""
    laws, batch = collection(model), len(given["t"])
    kept = given | {"held": np.zeros((batch, 6 * model.nb)), "unsolved": np.zeros((batch, 1))}
    return kept | ({"unknown": laws.first_unknowns(given["q_fit"])} if laws.rows else {})


def leave(model: Model, kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The states of the records; a step that was not solved is refused."""
    unsolved = kept["unsolved"].reshape(-1) if "unsolved" in kept else np.zeros(0)
    if np.any(unsolved > 0.0):
        k = int(np.argmax(unsolved > 0.0))
        raise SolverError(
            f"backward_euler: the step at t = {kept['t'].reshape(-1)[k]:.9g} is not solved: its last round moved a body by "
            f"{unsolved[k]:.3g}, though the step was halved {HALVINGS} times"
        )
    return {name: kept[name] for name in STATES}


def solved_parts(shape: Shape, distant: bool, iterations: int) -> list[Step]:
    """The step by Newton's method in lanes that are handed over, at once or in parts (`maximal.newton`)."""
    rows = shape[1] >= 0
    part: list[Step] = [
        *newton.rounds(*shape[:2], distant, iterations),
        Routine(newton_parts.settle, ("trying", "change", "tolerance", "solved")),
        outward(newton.take),
        *([each(newton_rows.add_parts, on="constraint")] if rows else []),
    ]
    control = ("h", "change", "solved", "span", "rest", "t", "trying", "unsolved")
    parts = [*(renamed(step, {"h": "span"}) for step in part), Routine(newton_parts.next_part, control)]
    return [
        Routine(newton_parts.begin_parts, ("h", "unsolved", "handed", "span", "rest", "trying")),
        *([each(newton_rows.begin_step_rows, on="constraint")] if rows else []),
        Repeat(tuple(parts), 2 ** (HALVINGS + 1), "trying"),
        Routine(newton_parts.lose, ("width", "unsolved", "twists")),
        *([each(newton_rows.give_rows, on="constraint")] if rows else []),
    ]


@functools.cache
def newton_program(shape: Shape, distant: bool, iterations: int) -> Algorithm:
    """A step of models with laws of a shape, solved in so many rounds at most."""
    steps = [Routine(newton_parts.hand_over, ("handed",)), *solved_parts(shape, distant, iterations)]
    name = f"maximal_newton_{'_'.join(map(str, map(int, shape)))}_{int(distant)}_{iterations}"
    return Algorithm(name, newton.newton_fields(shape, distant), {"run": steps})


@functools.cache
def guarded_program(shape: Shape, distant: bool, iterations: int) -> Algorithm:
    """A step with forces on bodies, or, where they lead astray, by Newton's method."""
    steps = [*implicit_step(shape, True, distant, MOST, True), *solved_parts(shape, distant, iterations)]
    name = f"maximal_guarded_euler_{'_'.join(map(str, map(int, shape)))}_{int(distant)}_{iterations}"
    return Algorithm(name, newton.newton_fields(shape, distant) | fields(shape, distant), {"run": steps})


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
    restitution  "newton", of velocities, or "poisson", of impulses (`rows.poisson`)
    """

    newton: bool = False
    solves: int | None = None
    tolerance: float = 1e-10
    iterations: int = 25
    restitution: str = NEWTON

    name = "backward_euler"
    order = 1
    contacts = True
    bounces = True
    implicit = True

    def __post_init__(self) -> None:
        if not (np.isfinite(self.tolerance) and self.tolerance > 0 and self.iterations >= 1):
            raise InputError(
                f"{self.name}: tolerance and iterations must be positive, not {self.tolerance!r}, {self.iterations!r}"
            )
        if self.solves is not None and not 1 <= self.solves <= MOST:
            raise InputError(f"{self.name}: solves must be from 1 to {MOST}, not {self.solves!r}")
        check_restitution(self.name, self.restitution)
        if self.newton and self.restitution != NEWTON:
            raise InputError(f"{self.name}: newton=True has no restitution={self.restitution!r}")

    @property
    def friction(self) -> bool:
        return not self.newton

    @property
    def methods(self) -> tuple[str, ...]:
        return ("maximal-implicit",)

    def program(self, method: str, model: Model) -> Program:
        laws, distant = collection(model), implicit_laws(model).distant
        on_bodies, impacts = laws.force_nodes.on_bodies, has_impacts(laws, self.restitution)
        if self.newton:
            algorithm = newton_program(laws.shape, distant, self.iterations)
        elif on_bodies and self.solves is None and not (laws.rubs or laws.rubs_inside or impacts):
            algorithm = guarded_program(laws.shape, distant, self.iterations)
        else:
            algorithm = implicit_program(laws.shape, on_bodies, distant, self.solves or MOST, laws.rubs_inside, impacts)
        states = tuple(name for name in (*STATES, "held", "t", "unsolved", "unknown") if name in algorithm.fields)

        def entered(model: Model, parts: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {name: a for name, a in enter(model, parts).items() if name in states}

        def given(model: Model) -> dict[str, np.ndarray]:
            found = inputs(model) | {"tolerance": np.array([self.tolerance])}
            return {name: a for name, a in found.items() if name in algorithm.fields}

        records = (*STATES, "unsolved", "t") if "unsolved" in states else STATES
        return Program(algorithm, states, 1, entered, leave, given, bind, reports, records, ("held",))
