"""Constraints that state their rows themselves: on joint coordinates, or on twists that are prescribed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError, ModelError
from ..model.model import Model
from ..model.state import Rows


@dataclass(frozen=True, eq=False)
class Situation:
    """Where a model is: poses (bodies, 4, 4), twists (bodies, 6), joint coordinates, and the time if it is known."""

    poses: np.ndarray
    twists: np.ndarray
    q: np.ndarray
    v: np.ndarray
    t: float | None

    def time(self, owner: object) -> float:
        """The time, which a constraint that moves with it needs."""
        if self.t is None:
            raise InputError(f"{owner!r} moves with time, and no time is given here; use simulate, or a State with its t")
        return self.t

    def time_for(self, constraints: Sequence[Any]) -> float:
        """The time for constraints of which those that are `timed` need it."""
        for c in constraints:
            if c.timed:
                return self.time(c)
        return 0.0 if self.t is None else self.t


@dataclass(frozen=True, eq=False)
class Direct:
    """Rows at one situation: G, the residual, its whole rate, its bias (rate of the rate without G v_dot), the wanted G v.

    A constraint that moves with time has the residual g(q, t): `given` is -dg/dt, the rate is G v - given.
    """

    rows: Rows
    residual: np.ndarray
    rate: np.ndarray
    bias: np.ndarray
    given: np.ndarray


def joined(parts: list[Direct]) -> Direct:
    """The rows of all parts, one below the other."""
    if len(parts) == 1:
        return parts[0]
    names = ("residual", "rate", "bias", "given")
    columns = (np.concatenate([np.zeros(0), *(getattr(p, name) for p in parts)]) for name in names)
    return Direct(Rows.stacked([p.rows for p in parts]), *columns)


class DirectConstraint:
    """Base of constraints that state their rows; `at` must return `count(model)` of them.

    unilateral   False: residual = 0.  True: residual >= 0, with forces that only push
    holonomic    whether the residual says where things are; otherwise it is zero, and only its rate counts
    """

    unilateral: ClassVar[bool] = False
    holonomic: ClassVar[bool] = True

    def count(self, model: Model) -> int:
        """The number of rows."""
        raise TypeError(f"{type(self).__name__} must define count(model)")

    def at(self, model: Model, now: Situation) -> Direct:
        """The rows where the model is now."""
        raise TypeError(f"{type(self).__name__} must define at(model, now)")

    def check(self, model: Any) -> None:
        """Raise if the model lacks what this constraint names."""


def joint_rows(index: np.ndarray, values: np.ndarray | float = 1.0) -> Rows:
    """One row for each velocity in `index`, with one entry."""
    k = len(index)
    return Rows(k, joint_row=np.arange(k), joint_index=np.asarray(index, int), joint_value=np.full(k, values, float))


def plain_joint(model: Any, owner: object, name: str) -> None:
    """Raise unless the model has a joint of this name whose velocities are the rates of its coordinates."""
    if name not in model.names:
        raise ModelError(f"{owner!r}: there is no joint {name!r}")
    joint = model.bodies[model.body_index(name)].joint
    if joint.nq != joint.nv or not joint.nv:
        raise ModelError(f"{owner!r}: joint {name!r} ({joint!r}) has no coordinates whose rates are its velocities")
