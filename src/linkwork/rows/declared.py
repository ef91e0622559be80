"""What joints and shapes of a model declare, as laws of it: stops, dry friction, contacts.

A joint that has such a law of its own is left to it, and so is a pair of shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints import DryFriction, Limit
from ..contact.formulations import touching
from ..elements.collection import collection
from ..elements.law import RowLaw
from ..elements.ports import BodyPort
from ..errors import InputError
from ..forces import LimitSpring, SwingTwistLimit
from ..model.model import Body, Model
from ..spatial.gate import meant

STOPS = ("hard", "off")


@dataclass(frozen=True, eq=False)
class DeclaringJoints:
    """Joints with limits, and with friction."""

    limited: Sequence[Body]
    rubbing: Sequence[Body]

    def rows(self, limit_model: str) -> list[Any]:
        """Their stops, if these are hard, and their dry friction."""
        stops = [Limit(b.joint_name) for b in self.limited] if limit_model == "hard" else []
        return [*stops, *(DryFriction(b.joint_name) for b in self.rubbing)]


def declaring_joints(model: Model) -> DeclaringJoints | None:
    """None if no joint declares anything that needs a law; kept with the model."""
    return model.keep_as(declaring_joints, lambda: _joints(model))


def _joints(model: Model) -> DeclaringJoints | None:
    stopped = {model.body_index(e.joint) for e in model.elements if isinstance(e, Limit | LimitSpring | SwingTwistLimit)}
    held = {model.body_index(e.joint) for e in model.elements if isinstance(e, DryFriction)}
    bodies = [(i, b, b.properties) for i, b in enumerate(model.bodies) if b.joint.nv]
    limited = [b for i, b, p in bodies if i not in stopped and (np.isfinite(p.lower).any() or np.isfinite(p.upper).any())]
    rubbing = [b for i, b, p in bodies if i not in held and p.friction.any()]
    return DeclaringJoints(limited, rubbing) if limited or rubbing else None


def with_laws(model: Model, laws: list[Any]) -> Model:
    """The model with further laws, kept with it: the same for all who ask for them."""
    names = tuple((type(e), e.joint) for e in laws)
    return model.keep_as((with_laws, names), lambda: model.add(*laws))


def acting(model: Model, limit_model: str, contact: str) -> Model:
    """The model with the laws of all that it declares, as accelerations need them."""
    if limit_model not in STOPS:
        raise InputError(
            f"limit_model must be one of {', '.join(map(repr, STOPS))}, not {limit_model!r}{meant(limit_model, STOPS)}"
        )
    found = touching(model, contact)
    joints = declaring_joints(found)
    laws = [] if joints is None else joints.rows(limit_model)
    return with_laws(found, laws) if laws else found


def own_first(model: Model, found: Model) -> np.ndarray:
    """The rows of a model that is `acting`: those of the model itself in their order, then those of what it declares."""
    return found.keep_as((own_first, len(model.elements)), lambda: _own_first(len(model.elements), found))


def _own_first(own: int, found: Model) -> np.ndarray:
    rows = [(k, e) for k, e in enumerate(found.elements) if isinstance(e, RowLaw)]
    rows.sort(key=lambda pair: not isinstance(pair[1].ports[0], BodyPort))  # as `collection` has them
    sizes = [law.size for law in collection(found).rows]
    declared = np.repeat([k >= own for k, _ in rows], sizes)
    return np.argsort(declared, kind="stable")
