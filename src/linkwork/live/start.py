"""What a page runs: a model with a handle on every body, its start, and the program of its steps; or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..contact.compliant import Compliance
from ..contact.formulations import touching
from ..declared import declared
from ..elements.collection import collection
from ..errors import InputError
from ..forces import FibreMuscle, Handle
from ..model import MaximalState, Model, State
from ..model.kinematics import kinematics
from ..redmax import HyperReduced
from ..reduced.closed import check_closed
from ..simulate import checked_force, checked_start, chosen_stepper, takes_stiffness
from ..steppers import AdaptiveStepper
from ..steppers.efforts import Efforts
from ..steppers.stepper import Program, program_of

SWING = 12.0  # rad/s, of all bodies on a handle
DAMPED = 0.5  # of that swing, as a part of the critical damping
STABLE = 0.3  # of the step: how far an explicit step may go into the period, and into the decay, of a body on a handle


@dataclass(frozen=True, eq=False)
class Start:
    """Where a page begins.

    model    with handles, contacts and what joints declare
    given    the model as it was given
    handles  one for every body that can be taken hold of
    tau      constant joint forces (nv,), or None
    u        inputs of all forces
    stiff    whether the stepper takes stiff forces implicitly
    """

    model: Model
    given: Model
    state: State | MaximalState
    program: Program
    handles: tuple[Handle, ...]
    dt: float
    tau: np.ndarray | None
    u: np.ndarray
    stiff: bool
    notes: tuple[str, ...]


def start_of(
    model: Model,
    state: State | MaximalState,
    dt: float,
    method: str,
    stepper: str | None,
    tau: Any,
    inputs: Any,
    open_loops: str,
    limit_model: str,
    contact: str,
    options: dict[str, Any],
) -> Start:
    """See `save_live`; raises where something of the model cannot go into a page."""
    if isinstance(model, HyperReduced):
        raise InputError("hyper-reduced coordinates cannot go into a page; give their model, with loops instead of the map")
    if not (np.isfinite(dt) and dt > 0):
        raise InputError(f"dt must be positive and finite, not {dt!r}")
    if callable(inputs):
        raise InputError("inputs as a function of time are Python's and cannot go into a page; give an array, or None")
    given = model
    handles = tuple(_handles(model, state))
    soft = Compliance(None, None, None, takes_stiffness(method, stepper))
    model = touching(model.add(*handles), contact, soft, dt)
    first = checked_start(model, state, method)
    if np.ndim(first.v if isinstance(first, State) else first.q_fit) != 1:
        raise InputError("a page runs one state, not a batch")
    check_closed(model, first, open_loops)
    chosen = chosen_stepper(model, method, stepper, options)
    if isinstance(chosen, AdaptiveStepper):
        raise InputError(f"the stepper {chosen.name!r} chooses its own steps, from Python; a page needs fixed steps")
    acting = declared(model, limit_model, chosen)
    model, laws = acting.model, collection(acting.model)
    _refuse(model)
    held = checked_force(tau, "tau", (model.nv,), ())
    held = None if held is None else Efforts(model).held(held)
    own = checked_force(inputs, "inputs", (len(laws.initial_inputs) - 6 * len(handles),), ())
    u = laws.initial_inputs.copy()
    if own is not None:
        u[_not_of(laws.forces, handles)] = own
    program = program_of(chosen, model, method)
    return Start(model, given, first, program, handles, dt, held, u, chosen.implicit, acting.notes)


def _handles(model: Model, state: State | MaximalState) -> list[Handle]:
    """A handle on every body, which does not pull yet."""
    poses = kinematics(model, state.q).poses if isinstance(state, State) else state.poses
    at = np.reshape(poses, (-1, 4, 4))[: model.nb, :3, 3]
    return [Handle(b.name, target=p, stiffness=0.0) for b, p in zip(model.bodies, at, strict=False)]


def _refuse(model: Model) -> None:
    """Raise if Python is asked for something at every step."""
    told = [law for law in collection(model).rows if law.inputs]
    if told:
        raise InputError(
            f"{told[0]!r}: its motion is computed by Python alone, which a page has not; write it with functions of linkwork "
            "(lw.sin, ...) so that it can be compiled"
        )
    moving = model.elements_of(FibreMuscle)
    if moving:
        raise InputError(f"{moving[0]!r}: its fibres are moved by Python (MuscleDrive), which a page has not; use Muscle")


def _not_of(forces: tuple[Any, ...], handles: tuple[Handle, ...]) -> np.ndarray:
    """Which inputs are not those of the handles."""
    own = {id(h) for h in handles}
    return np.concatenate([np.zeros(0, bool), *(np.full(f.inputs, id(f) not in own) for f in forces)])


def grip(start: Start, body: str) -> tuple[float, float]:
    """How a handle pulls a body: stiffness (N/m) and damping (N s/m).

    All bodies together would swing on it at SWING rad/s. Steps that take forces as they are at their start bear no more than a
    part of what the body's own inertia allows: a point at its end has about a quarter of its mass.
    """
    model = start.model
    total = max(sum(b.inertia.mass for b in model.bodies), 1e-6)
    own = max(model.bodies[model.body_index(body)].inertia.mass, 1e-3 * total) / 4.0
    stiffness, damping = SWING**2 * total, 2.0 * DAMPED * SWING * total
    if start.stiff:
        return stiffness, damping
    return min(stiffness, own * (STABLE / start.dt) ** 2), min(damping, own * STABLE / start.dt)
