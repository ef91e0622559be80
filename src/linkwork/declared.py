"""What joints declare acts: stops and dry friction as laws of the model that runs; or a line says that they do not.

    "hard"     every declared limit is a `Limit`: a stop that only pushes
    "spring"   every declared limit is a `LimitSpring`, on which the joint, with all others free, would swing at SPRING rad/s
    "off"      limits of coordinates do not act

Declared friction is a `DryFriction` in all of them. A joint that has such a law of its own is left to it. These laws come after
all others, so the columns of forces of constraints keep their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import reduced
from .elements.collection import collection
from .errors import InputError
from .forces import LimitSpring
from .model import Body, Model
from .model.ground import untouched_ground
from .rows.declared import DeclaringJoints, declaring_joints, with_laws
from .spatial.gate import meant
from .steppers import AdaptiveStepper, Stepper

LIMIT_MODELS = ("hard", "spring", "off")
SPRING = 300.0  # rad/s: of a joint on the spring of its limit; steps of 1 ms carry some twenty of them at once
DAMPING = 0.2  # of that spring, as a part of the critical one


@dataclass(frozen=True, eq=False)
class Declared:
    """The model that runs, and a line for everything that is declared and does not act."""

    model: Model
    notes: tuple[str, ...] = ()


def declared(model: Model, limit_model: str, stepper: Stepper, asked: bool = False) -> Declared:
    """The model with the laws of what its joints declare, as far as the stepper can step them; kept with the model.

    asked   whether a control or inputs of forces are asked for during the run
    """
    if not isinstance(limit_model, str) or limit_model not in LIMIT_MODELS:
        raise InputError(
            f"limit_model must be one of {', '.join(map(repr, LIMIT_MODELS))}, not {limit_model!r}"
            f"{meant(limit_model, LIMIT_MODELS)}"
        )
    joints = declaring_joints(model)
    if joints is None:
        key = (Declared, stepper.name, stepper.bounces)
        return model.keep_as(key, lambda: Declared(model, _without_effect(model, stepper)))
    takes = stepper.contacts
    if isinstance(stepper, AdaptiveStepper):
        takes = not stepper.from_python(model, asked)
    key = (declared, limit_model, stepper.name, takes, stepper.bounces)
    return model.keep_as(key, lambda: _chosen(model, joints, limit_model, stepper, takes))


def _without_effect(model: Model, stepper: Stepper) -> tuple[str, ...]:
    """Lines for a ground that nothing touches, and for restitution of contacts where the stepper has none."""
    lost = not stepper.bounces and collection(model).bounces
    bounces = (f"restitution of contacts is not enforced by the stepper {stepper.name!r}",) if lost else ()
    return (*untouched_ground(model.bodies, model.world_shapes, model.elements), *bounces)


def _chosen(model: Model, joints: DeclaringJoints, limit_model: str, stepper: Stepper, takes: bool) -> Declared:
    springs = _springs(model, joints.limited) if limit_model == "spring" else []
    rows, stops = joints.rows(limit_model), bool(joints.limited) and limit_model == "hard"
    notes = [*_without_effect(model, stepper)]
    if rows and not takes:
        lost = [("limits", joints.limited)] if stops else []
        lost += [("dry friction", joints.rubbing)] if joints.rubbing else []
        what = " and ".join(_named(*pair) for pair in lost)
        notes.append(f"{what} {'are' if stops else 'is'} not enforced by the stepper {stepper.name!r}")
        rows = []
    return Declared(with_laws(model, [*springs, *rows]) if springs or rows else model, tuple(notes))


def _springs(model: Model, bodies: Sequence[Body]) -> list[LimitSpring]:
    """Springs that fit the inertias of the joints where all are at zero: of each, with all others free to move."""
    inertia = 1.0 / np.diag(reduced.inverse_mass_matrix(model, model.neutral())) if bodies else np.zeros(0)
    stiffness, damping = SPRING**2 * inertia, 2.0 * DAMPING * SPRING * inertia
    parts = [(b.joint_name, model.v_index(b.name)) for b in bodies]
    return [LimitSpring(name, stiffness[part], damping[part]) for name, part in parts]


def _named(what: str, bodies: Sequence[Body]) -> str:
    names = ", ".join(repr(b.joint_name) for b in bodies[:3])
    return f"{what} of {len(bodies)} joint{'s' * (len(bodies) > 1)} ({names}{', ...' * (len(bodies) > 3)})"
