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
from ..simulate import admitted, checked_force, checked_start, chosen_stepper, mapped_start, takes_stiffness
from ..steppers import AdaptiveStepper
from ..steppers.efforts import Efforts
from ..steppers.stepper import Program, program_of


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
    model: Model | HyperReduced,
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
    if not (np.isfinite(dt) and dt > 0):
        raise InputError(f"dt must be positive and finite, not {dt!r}")
    if callable(inputs):
        raise InputError("inputs as a function of time are Python's and cannot go into a page; give an array, or None")
    if np.ndim(state.q if isinstance(state, State) else state.q_fit) != 1:
        raise InputError("a page runs one state, not a batch")
    soft = Compliance(None, None, None, takes_stiffness(method, stepper))
    if isinstance(model, HyperReduced):
        given = model.model
        handles = handles_on(given, mapped_start(model, given, state, method, stepper, options, "allow")[0].q)
        loaded = touching(given.add(*handles), contact, soft, dt)
        first, chosen, _ = mapped_start(model, loaded, state, method, stepper, options, open_loops)
    else:
        given, handles = model, handles_on(model, state.q if isinstance(state, State) else state.q_fit)
        loaded = touching(model.add(*handles), contact, soft, dt)
        chosen = chosen_stepper(loaded, method, stepper, options)
        first, _ = admitted(loaded, chosen, checked_start(loaded, state, method), open_loops)
    if isinstance(chosen, AdaptiveStepper):
        raise InputError(f"the stepper {chosen.name!r} chooses its own steps, from Python; a page needs fixed steps")
    acting = declared(loaded, limit_model, chosen)
    _refuse(acting.model)
    force = checked_force(tau, "tau", (acting.model.nv,), ())
    force = None if force is None else Efforts(acting.model).held(force)
    u = _first_inputs(acting.model, handles, inputs)
    program = program_of(chosen, acting.model, method)
    return Start(acting.model, given, first, program, handles, dt, force, u, chosen.implicit, acting.notes)


def handles_on(model: Model, q: np.ndarray) -> tuple[Handle, ...]:
    """A handle on every body, which does not pull yet."""
    at = kinematics(model, q).poses[:, :3, 3]
    return tuple(Handle(b.name, target=p, stiffness=0.0) for b, p in zip(model.bodies, at, strict=True))


def _first_inputs(model: Model, handles: tuple[Handle, ...], given: Any) -> np.ndarray:
    """The inputs of all forces: those that are given, and those of the handles."""
    laws, own = collection(model), {id(h) for h in handles}
    u = laws.initial_inputs.copy()
    others = np.concatenate([np.zeros(0, bool), *(np.full(f.inputs, id(f) not in own) for f in laws.forces)])
    found = checked_force(given, "inputs", (int(others.sum()),), ())
    if found is not None:
        u[others] = found
    return u


def _refuse(model: Model) -> None:
    """Raise if Python is asked for something at every step."""
    told = [law for law in collection(model).rows if law.inputs]
    if told and told[0].looks:
        raise InputError(
            f"{told[0]!r}: where its shapes touch is found by Coal from Python, which a page has not; see docs/contact/shapes.md"
        )
    if told:
        raise InputError(
            f"{told[0]!r}: its motion is computed by Python alone, which a page has not; write it with np.sin and the like, "
            "and lw.math.where instead of if, so that it can be compiled"
        )
    moving = model.elements_of(FibreMuscle)
    if moving:
        raise InputError(f"{moving[0]!r}: its fibres are moved by Python (MuscleDrive), which a page has not; use Muscle")
