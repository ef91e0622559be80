"""Prescribed motion: a joint or a body that moves as a function of time says, whatever it takes [Sueda, 2.9].

A motion is a function of time that returns values and their rates. It runs at one of two speeds:

    traced    It is made of what lw.math and NumPy's functions of scalars can do (no `if` on the time, no math.sin, no tables). It
              is read once and becomes machine code; rates are derived, and must be those that it states.
    asked     Any other function. It is called from Python once for every time that is asked for, and the rates that it states
              count; programs of many steps are left and entered at every step for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError, ModelError
from ..kernel.symbol import variable
from ..model.model import Model
from ..spatial.dual import Dual, Gradient, split
from ..spatial.gate import given_count, listed, reals
from ..spatial.kinds import explained
from ..spatial.scalar import Scalar, Vector, array
from ..spatial.se3 import SE3
from .constraint import Constraint
from .on_joints import JointConstraint, plain_joint

JointMotion = Callable[[Any], tuple[Any, Any, Any]]
BodyMotion = Callable[[Any], tuple[Any, Any, Any, Any]]
TIMES = (0.2137, 1.618)  # where rates that a motion states are compared with those of its values
AGREEMENT = 1e-6  # of what is compared


class Prescribed:
    """A motion in a law; mixed into those of joints and bodies. Classes say what of it are values (`sides`) and rates.

    told   what an asked motion said: the time, the values then, and their rates, one after the other
    """

    motion: Callable[[Any], Any]
    told: Vector

    def _take(self, motion: Any) -> None:
        self.motion = motion
        if not callable(motion):
            raise ModelError(f"{self!r}: motion must be a function of time, not {type(motion).__name__}")

    def function_arguments(self) -> dict[str, Any]:
        """The form of what its function is called with (see `spatial.tape`)."""
        return {"motion": (["scalar"], {})}

    def values(self, t: Scalar) -> Vector:
        """What is prescribed at a time, as the motion returns it."""
        raise NotImplementedError

    def levels(self, t: float) -> np.ndarray:
        """The values at a time and what the motion states of their rates (levels, values); raises if they are not numbers."""
        raise NotImplementedError

    def check_rates(self) -> None:
        """Raise if the motion states other rates than its values have; a motion that cannot say is asked at run time."""
        for t in TIMES:
            try:
                found, stated = self._derived(t), self.levels(t)
            except Exception:  # what is wrong is told where the motion is asked
                return
            names = ("value", "first rate", "second rate")
            for name, own, said in zip(names, found, stated, strict=False):
                wrong = np.abs(own - said) > AGREEMENT * (1.0 + np.abs(own))
                if wrong.any():
                    k = int(np.argmax(wrong))
                    function = getattr(self.motion, "__qualname__", repr(self.motion))
                    raise ModelError(
                        f"{self!r}: {function} states the {name} {said[k]:g} at t = {t:g}, but what it returns as the value has "
                        f"{own[k]:g} there"
                    )

    def _derived(self, t: float) -> np.ndarray:
        """The values at a time and their first and second rates, derived."""
        n = self.levels(t).shape[1]
        slopes = split(np.broadcast_to(self.values(Gradient(Dual(t, (1.0,)), (1.0,))), (n,)), 1, Gradient)
        value, rate = split(slopes[0], 1)
        return np.array([value, rate[:, 0], split(slopes[1][:, 0], 1)[1][:, 0]], float)

    @cached_property
    def traced(self) -> bool:
        """Whether the motion becomes machine code."""
        try:
            self.values(Gradient(Dual(variable("t"), (1.0,)), (1.0,)))
            return all(np.all(np.isfinite(self._derived(t))) and np.all(np.isfinite(self.levels(t))) for t in TIMES)
        except Exception:  # whatever stands in the way of tracing
            return False

    @property
    def built_in(self) -> bool:
        return not self.traced

    @property
    def same(self) -> tuple[Any, ...]:
        return (type(self), self.variant, id(self.motion) if self.traced else None)  # type: ignore[attr-defined]

    def wanted(self, t: Scalar, size: int) -> Vector:
        """The values at a time: traced, or along the rates that were told."""
        if self.traced:
            return np.broadcast_to(self.values(t), (size,))
        since, levels = t - self.told[0], self.told[1:].reshape(-1, size)
        found, factor = levels[0], since
        for k, level in enumerate(levels[1:], 2):
            found, factor = found + factor * level, factor * since / k
        return found

    def inputs_at(self, t: float) -> np.ndarray:
        return np.zeros(0) if self.traced else np.concatenate([[t], self.levels(t).reshape(-1)])

    def with_inputs(self, told: Vector) -> Any:
        return self if self.traced else self.bound({"told": told})  # type: ignore[attr-defined]


class PrescribedJoint(Prescribed, JointConstraint):
    """q = q_p(t) for all coordinates of a joint.

    joint    name of the joint (or of its body)
    motion   t -> (q, its first and second time derivative), numbers or one per coordinate; traced where it can be (see above)

    >>> turned = model.add(lw.PrescribedJoint("upper", lambda t: (np.sin(t), np.cos(t), -np.sin(t))))
    """

    timed = True

    def __init__(self, joint: str, motion: JointMotion, *, name: str = "") -> None:
        self.called(name)
        self.joints = (joint,)
        self._take(motion)
        self.check_rates()

    @property
    def joint(self) -> str:
        return self.joints[0]

    @property
    def variant(self) -> tuple[Any, ...]:
        return ("traced" if self.traced else "asked", self.size)

    @property
    def inputs(self) -> int:  # type: ignore[override]
        return 0 if self.traced else 1 + 3 * self.size

    def fitted_to(self, model: Model) -> Any:
        plain_joint(model, self, self.joint)
        return self.bound({"size": model.bodies[model.body_index(self.joint)].joint.nv})

    def check(self, model: Any) -> None:
        plain_joint(model, self, self.joint)

    def values(self, t: Scalar) -> Vector:
        found = self.motion(t)[0]
        return array(list(found) if np.ndim(found) else [found])

    def levels(self, t: float) -> np.ndarray:
        found = self.motion(t)
        size = getattr(self, "size", max((np.size(x) for x in found), default=1) if isinstance(found, tuple | list) else 1)
        try:
            wanted = np.array([np.broadcast_to(reals(x), (size,)) for x in found])
        except (TypeError, ValueError):
            wanted = np.zeros(0)
        if wanted.shape != (3, size) or not np.all(np.isfinite(wanted)):
            raise InputError(
                f"{self!r}: motion must return three finite values of {size} (position, rate, acceleration) at t = {t:g}"
            )
        return wanted

    def gap(self, q: Vector, t: Scalar) -> Vector:
        return q - self.wanted(t, self.size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.joint!r})"


class PrescribedTwist(Prescribed, Constraint):
    """Some components of the twist of a frame on a body: its angular velocity in its own axes, its origin's velocity in the
    world's. Positions are not part of it: what is prescribed need not be the rate of anything.

    body     name of the body
    motion   t -> (omega, v_world, their time derivatives), three numbers each; traced where it can be (see above)
    rows     which of the six components (angular, linear; axes of the frame) are prescribed, 0 to 5
    frame    pose of the frame in the body

    >>> pushed = lw.PrescribedTwist("lower", lambda t: (np.array([0, 1.0, 0, 0, 0, 0]), np.zeros(6)), rows=[1])
    """

    timed, holonomic = True, False
    parameter_names: ClassVar[tuple[str, ...]] = ("R_frame", "p_frame")

    @explained
    def __init__(
        self, body: str, motion: BodyMotion, rows: Sequence[int] = range(6), frame: SE3 | None = None, *, name: str = ""
    ) -> None:
        self.called(name)
        self.bodies = (body,)
        self.rows = np.array([given_count("PrescribedTwist: a row", row, 0) for row in listed("PrescribedTwist", "rows", rows)])
        self.frame = SE3() if frame is None else frame
        self.R_frame, self.p_frame = np.asarray(self.frame.R, float), np.asarray(self.frame.p, float)
        self._take(motion)
        distinct = set(self.rows.reshape(-1).tolist())
        if self.rows.ndim != 1 or not distinct or len(distinct) < len(self.rows) or not distinct <= set(range(6)):
            raise ModelError(f"{self!r}: rows must be different numbers from 0 to 5, not {rows!r}")
        self.size = len(self.rows)
        self.check_rates()

    @property
    def body(self) -> str:
        return self.bodies[0]

    @property
    def variant(self) -> tuple[Any, ...]:
        return ("traced" if self.traced else "asked", tuple(self.rows.tolist()))

    @property
    def inputs(self) -> int:  # type: ignore[override]
        return 0 if self.traced else 13

    def values(self, t: Scalar) -> Vector:
        w, v, _, _ = self.motion(t)
        return array([*w, *v])

    def levels(self, t: float) -> np.ndarray:
        try:
            found = np.array([reals(x) for x in self.motion(t)])
        except (TypeError, ValueError):
            found = np.zeros(0)
        if found.shape != (4, 3) or not np.all(np.isfinite(found)):
            raise InputError(f"{self!r}: motion must return four times three finite numbers at t = {t:g}")
        return found.reshape(2, 6)

    def slip(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar) -> Vector:
        frame = SE3(R=self.R_frame, p=self.p_frame)
        wanted = self.wanted(t, 6)
        seen = np.concatenate([wanted[:3], (poses[0] @ frame).unrotate(wanted[3:])])
        return (frame.pull_twist(twists[0]) - seen)[self.rows]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.body!r}, rows={self.rows.tolist()})"
