"""What a joint has besides its kind: limits, drive, damping, friction."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..joints import Joint
from ..spatial.frozen import FINISHED, Frozen, finish, frozen
from ..spatial.gate import reals, shown

NAMES = ("lower", "upper", "armature", "damping", "friction", "effort", "speed")


@dataclass(frozen=True, eq=False)
class JointProperties(Frozen):
    """Arrays with an entry per coordinate (lower, upper) or per velocity (all others); copies that cannot be written to.

    lower, upper   limits of the coordinates; -inf and inf where there are none
    armature       inertia of the drive, added to the joint's own; acts in the dynamics
    damping        force per velocity, against the motion; acts in the dynamics
    friction       largest force of dry friction
    effort         largest force that the drive gives
    speed          largest velocity
    """

    lower: np.ndarray
    upper: np.ndarray
    armature: np.ndarray
    damping: np.ndarray
    friction: np.ndarray
    effort: np.ndarray
    speed: np.ndarray

    def __post_init__(self) -> None:
        for f in fields(self):
            object.__setattr__(self, f.name, np.asarray(getattr(self, f.name), float))
        finish(self)

    is_record: ClassVar[bool] = True

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> JointProperties:
        """The properties that a file says; the model that has them looks at their values."""
        if {*state, FINISHED} != {*NAMES, FINISHED}:
            raise ModelError(f"the properties of a joint are {', '.join(NAMES)}")
        for name in NAMES:
            a = state[name]
            if type(a) is not np.ndarray or a.dtype != float or a.ndim != 1:
                raise ModelError(f"{name} of a joint must be a row of numbers, not {shown(a)}")
        made = object.__new__(cls)
        vars(made).update({name: frozen(state[name]) for name in NAMES}, **{FINISHED: True})
        return made

    def check_values(self, joint: Joint, name: str) -> None:
        """Raise unless they are what `of` makes for such a joint."""
        self.check_sizes(joint, name)
        rest = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("lower", "upper")}
        JointProperties.of(joint, name, (self.lower, self.upper), **rest)

    def check_sizes(self, joint: Joint, name: str) -> None:
        """Raise unless they are those of such a joint."""
        for f in fields(self):
            size = joint.nq if f.name in ("lower", "upper") else joint.nv
            given = getattr(self, f.name).shape
            if given != (size,):
                raise ModelError(
                    f"joint {name!r}: {f.name} of its properties has shape {given}, but {joint!r} needs ({size},); "
                    "a body with another joint needs properties of its own"
                )
        check_limits(joint, name, self.lower, self.upper)

    @staticmethod
    def of(
        joint: Joint,
        name: str,
        limits: Any = None,
        armature: Any = 0.0,
        damping: Any = 0.0,
        friction: Any = 0.0,
        effort: Any = np.inf,
        speed: Any = np.inf,
    ) -> JointProperties:
        """Checked properties of a joint; numbers hold for all its coordinates."""
        lower, upper = (-np.inf, np.inf) if limits is None else _pair(name, limits)
        low, high = _array(name, "limits", lower, joint.nq), _array(name, "limits", upper, joint.nq)
        if np.any(low > high):
            raise ModelError(f"joint {name!r}: its lower limit {low.tolist()} is above the upper {high.tolist()}; exchange them")
        check_limits(joint, name, low, high)
        rest = {"armature": armature, "damping": damping, "friction": friction, "effort": effort, "speed": speed}
        arrays = {what: _array(name, what, x, joint.nv) for what, x in rest.items()}
        for what, a in arrays.items():
            if np.any(a < 0) or (what in ("armature", "damping", "friction") and not np.all(np.isfinite(a))):
                raise ModelError(f"joint {name!r}: {what} = {a.tolist()} must be finite and not negative")
        return JointProperties(low, high, **arrays)


@functools.cache
def plain_properties(nq: int, nv: int) -> JointProperties:
    """No limits, no drive, no damping."""
    free, none = np.full(nv, np.inf), np.zeros(nv)
    return JointProperties(np.full(nq, -np.inf), np.full(nq, np.inf), none, none, none, free, free)


def check_limits(joint: Joint, name: str, lower: np.ndarray, upper: np.ndarray) -> None:
    """Raise if coordinates are limited that are no angles or lengths of their own: quaternions, and those that change charts."""
    single = joint.one_chart()  # that of a joint whose coordinates are limited
    if single.coordinates_add or not (np.isfinite(lower).any() or np.isfinite(upper).any()):
        return
    raise ModelError(
        f"joint {name!r}: limits={[lower.tolist(), upper.tolist()]} of {joint!r} would not act; only coordinates that are angles "
        "or lengths of their own can be limited; leave limits out and add lw.SwingTwistLimit for the rotation, or use "
        "lw.SphericalEuler, or a body for each part of the joint"
    )


def _pair(name: str, limits: Any) -> tuple[Any, Any]:
    try:
        lower, upper = limits
    except (TypeError, ValueError):
        raise ModelError(f"joint {name!r}: limits must be (lower, upper), not {limits!r}") from None
    return lower, upper


def _array(name: str, what: str, x: Any, size: int) -> np.ndarray:
    try:
        given = reals(x)
        a = np.array(np.broadcast_to(given, (size,))) if given.ndim == 0 or given.shape == (size,) else np.zeros(())
    except ValueError:
        a = np.zeros(())
    if a.shape != (size,):
        raise ModelError(f"joint {name!r}: {what} = {shown(x)} must be a number or {size} numbers")
    if np.any(np.isnan(a)):
        raise ModelError(f"joint {name!r}: {what} = {a.tolist()} is not a number")
    return a
