"""Linearly implicit steps with friction inside joints (`JointFriction`), beside loops and contacts with friction of their own.

By `reduced_friction`, or by bilateral staggered projections (`bisp`): O(n^3) for every step, in Python; `steppers.rubbing` runs
them. They are the reference of programs, which solve the same law in O(n) (`rows.pressing`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..constraints.bearings import Bearing
from ..constraints.joint_friction import JointFriction
from ..constraints.rows import ConstraintRows, constraint_set
from ..constraints.targets import CORRECTION
from ..elements.law import RowLaw
from ..elements.ports import BodyPort
from ..errors import InputError
from ..model.model import WORLD, Model
from ..model.state import State
from ..solvers.problem import NORMAL
from ..spatial.gate import meant
from ..spatial.se3 import SE3, Ad
from .bisp import Rubbing, Sliding, StaggeredStep, Stop
from .reduced_friction import ReducedStep
from .system import Dynamics, dynamics

PROJECTIONS: dict[str, type[StaggeredStep]] = {"joints": ReducedStep, "bodies": StaggeredStep}


def rubbing_of(law: JointFriction, now: Dynamics, rows: dict[int, tuple[int, ...]]) -> Rubbing:
    """The contacts of friction inside a joint at a state; `rows` of the constraints, by their identity."""
    model = now.model

    def made() -> tuple[Any, JointFriction, Bearing]:
        return law.closure(model), law.fitted_to(model), law.bearing(model)

    if law.fitted_to(model).by_coordinates:
        raise InputError(f"{law!r}: dense projections do not know joints whose surfaces move with their coordinates; simulate")
    loop, fitted, usual = model.keep_as((rubbing_of, id(law)), made)
    a, b = (-1 if name == WORLD else model.body_index(name) for name in fitted.bodies)
    moved = np.asarray(Ad(SE3(p=fitted.origin).inverse()), float)
    bearing = usual if law.points is None else law.bearing(model, now.state.q)
    limit, closing = law.mu * bearing.share, rows[id(loop)] if loop else ()
    return Rubbing(a, b, bearing.N @ moved, bearing.T @ moved, limit, closing, bearing.groups, bearing.discs)


def friction_step(
    model: Model,
    state: State,
    h: float,
    tau: Any = None,
    external: Any = None,
    projections: str = "joints",
    stop: Stop | None = None,
) -> StaggeredStep:
    """A step of a model from a state, to be projected.

    Equalities ask for v' as for every stepper; what pushes may close its gap and not cross it (nothing is pushed out).
    """
    if projections not in PROJECTIONS:
        raise InputError(
            f"there are no projections {projections!r}; choose one of {', '.join(PROJECTIONS)}{meant(projections, PROJECTIONS)}"
        )
    friction = model.elements_of(JointFriction)
    model = model.keep_as(friction_step, lambda: model.replace(elements=[e for e in model.elements if e not in friction]))
    now, laws = dynamics(model, state, tau, external, t=state.t + h), constraint_set(model)
    if laws.of("bounded").any():
        raise InputError("rows with a largest force (DryFriction) do not go with friction of joints")
    every = laws.look(now.motion.poses, now.motion.twists, state.q, state.v, state.t + h)
    held = ~laws.tangent
    rows, index = every.restricted(held), np.cumsum(held) - 1
    pushing = -np.maximum(rows.residual, 0.0) / h
    target = rows.given + np.where(rows.unilateral, pushing, -CORRECTION / h * np.where(laws.holonomic[held], rows.residual, 0.0))
    places: dict[int, tuple[int, ...]] = {}
    sliding: list[Sliding] = []
    first = 0
    given = sorted(model.elements_of(RowLaw), key=lambda law: not isinstance(law.ports[0], BodyPort))  # as `collection` has them
    for element, law in zip(given, laws.laws, strict=True):
        places[id(element)] = tuple(int(index[k]) for k in range(first, first + law.size) if held[k])
        sliding += _contacts(every, law, first, index, model.nb)
        first += law.size
    rubbing = [rubbing_of(law, now, places) for law in friction]
    return PROJECTIONS[projections](now, h, rows, target, rubbing, sliding, stop or Stop())


def _contacts(every: ConstraintRows, law: RowLaw, first: int, index: np.ndarray, nb: int) -> list[Sliding]:
    """Friction beside the rows of a contact, along its two tangents: a pyramid."""
    if not law.cones:
        return []
    if law.spins or law.rolls:
        raise InputError(f"{law!r} resists spinning or rolling, which friction inside joints is not solved with")
    rows, T = every.rows, np.zeros((every.rows.count, nb, 6))
    np.add.at(T, (rows.body_row, rows.body_index), rows.body_block)
    T, mu = T.reshape(len(T), -1), float(law.grip()[0])
    normals = [first + k for k, kind in enumerate(law.row_kinds) if kind == NORMAL]
    return [Sliding(int(index[k]), T[k + 1 : k + 3], mu) for k in normals]
