"""Forces of your own: functions of plain Python are all that is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..elements.law import FunctionLaw
from ..errors import ModelError
from ..joints import Joint
from ..model.model import Body
from ..spatial.functions import Function, Functions
from ..spatial.gate import known_keywords, numbers, real, reals, shown, size_of
from ..spatial.scalar import Scalar, Vector, array, zeros
from ..spatial.se3 import SE3
from .force import Force
from .joint import JointForce

MOST_INPUTS = 1_000_000
RESERVED = {"t": "the time", "u": "the inputs"}


class Given(FunctionLaw):
    """Functions and inputs as `force` and `joint_force` take them; mixed into their classes."""

    inputs: int

    def _take(self, owner: str, functions: dict[str, Any], parameters: Mapping[str, Any] | None, inputs: Any) -> None:
        self._given = Functions(owner, functions, parameters, RESERVED)
        count = isinstance(inputs, int) and not isinstance(inputs, bool)
        if count and not 0 <= inputs <= MOST_INPUTS:
            most = "" if inputs < 0 else f" and at most {MOST_INPUTS}"
            raise ModelError(f"{owner}: inputs must be at least 0{most}, not {shown(inputs)}")
        self._initial = np.zeros(inputs) if count else numbers(owner, "inputs", inputs, size_of(inputs))
        self.inputs = len(self._initial)

    @property
    def same(self) -> tuple[Any, ...]:
        return (*super().same, self.inputs)

    def initial_inputs(self) -> np.ndarray:
        return self._initial

    def _states(self, what: str) -> bool:
        """Whether there is such a function."""
        return self._given.functions[what] is not None

    def _vector(self, what: str, x: Any, size: int) -> np.ndarray:
        """What a function returned, as a vector of `size` scalars of any kind."""
        if not hasattr(x, "__iter__") or isinstance(x, str) or (isinstance(x, np.ndarray) and not x.ndim):
            raise ModelError(f"{self!r}: {what} must be a list of {size} numbers, not {shown(x)}")
        found = array(list(x))
        if found.shape != (size,):
            raise ModelError(f"{self!r}: {what} must have {size} entries, not shape {found.shape}")
        return found


class CustomForce(Given, Force):
    """A force between bodies from functions; see `force`."""

    def __init__(self, bodies: Any, energy: Any, wrenches: Any, parameters: Any, inputs: Any, name: str) -> None:
        names = tuple(bodies) if np.iterable(bodies) and not isinstance(bodies, str) else (bodies,)
        owner = self.between(*names, name=name)
        if not names:
            raise ModelError(f"{owner}: it acts on no body; name at least one")
        self._take(owner, {"energy": energy, "wrenches": wrenches}, parameters, inputs)
        poses = [SE3.exp(np.linspace(0.1, 0.6, 6) * (-1) ** i) for i in range(len(names))]
        twists = [np.linspace(-0.4, 0.5, 6) for _ in names]
        u = self._initial
        V, F = self._given.attempt("its function", lambda: (self.potential(poses, 0.1, u), self.wrenches(poses, twists, 0.1, u)))
        _check_energy(owner, V)
        for f in F:
            _check_finite(owner, "a wrench", f)

    def potential(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Scalar:
        return self._given.call("energy", poses, t=t, u=u) if self._states("energy") else 0.0

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        total = [zeros(6) for _ in poses]
        if self._states("energy"):
            total = list(super().wrenches(poses, twists, t, u))
        if self._states("wrenches"):
            found = list(self._given.call("wrenches", poses, twists, t=t, u=u))
            if len(found) != len(poses):
                raise ModelError(f"{self!r}: wrenches returned {len(found)} wrenches for {len(poses)} bodies")
            total = [a + self._vector("a wrench", b, 6) for a, b in zip(total, found, strict=True)]
        return total


class CustomJointForce(Given, JointForce):
    """A force on a joint from functions; see `joint_force`."""

    def __init__(self, joint: str, energy: Any, force: Any, parameters: Any, inputs: Any, name: str) -> None:
        self._take(self.on(joint, name), {"energy": energy, "force": force}, parameters, inputs)

    def fitted(self, body: Body) -> Any:
        joint, q, v = body.joint, body.joint.random(np.random.default_rng(0)), np.linspace(-0.4, 0.5, body.joint.nv)
        owner, u = repr(self), self._initial
        V, f = self._given.attempt("its function", lambda: (self.energy(joint, q), self.force(joint, q, v, 0.1, u)))
        _check_energy(owner, V)
        _check_finite(owner, "force", f)
        return self

    def energy(self, joint: Joint, q: Vector) -> Scalar:
        return self._given.call("energy", q) if self._states("energy") else 0.0

    def force(self, joint: Joint, q: Vector, v: Vector, t: Scalar, u: Vector) -> Vector:
        total = zeros(joint.nv)
        if self._states("energy"):
            total = super().force(joint, q, v, t, u)
        if self._states("force"):
            total = total + self._vector("force", self._given.call("force", q, v, t=t, u=u), joint.nv)
        return total


def _check_energy(owner: str, x: Any) -> None:
    try:
        finite = np.isfinite(real(x))
    except ValueError:
        finite = False
    if not finite:
        raise ModelError(f"{owner}: energy must be one finite number, not {np.asarray(x).tolist()!r}")


def _check_finite(owner: str, what: str, x: np.ndarray) -> None:
    try:
        finite = np.all(np.isfinite(reals(x)))
    except ValueError:
        finite = False
    if not finite:
        raise ModelError(f"{owner}: {what} must be finite numbers, not {x.tolist()!r}")


@known_keywords
def force(
    bodies: str | Sequence[str],
    *,
    energy: Function | None = None,
    wrenches: Function | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Any = 0,
    name: str = "",
) -> CustomForce:
    """A force between bodies from its energy, its wrenches, or both (then they add up); derivatives are derived.

    energy       energy(poses, ...): the energy at a list of poses, one for each body
    wrenches     wrenches(poses, twists, ...): a list of wrenches (moment, force) about the body's origin, in its axes
    parameters   numbers and arrays by name; forces that differ only in these share machine code
    inputs       how many numbers drive it at run time, or their initial values
    Either function is handed parameters, the time as `t` and the inputs as `u` where it has an argument of that name.

    >>> well = lw.force("ball", energy=lambda E, depth: depth * np.tanh(E[0].p[2]) ** 2, parameters={"depth": 3.0})
    """
    return CustomForce(bodies, energy, wrenches, parameters, inputs, name)


@known_keywords
def joint_force(
    joint: str,
    *,
    energy: Function | None = None,
    force: Function | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Any = 0,
    name: str = "",
) -> CustomJointForce:
    """A force on a joint from its energy, the force itself, or both (then they add up); derivatives are derived.

    energy       energy(q, ...): the energy at the joint's coordinates
    force        force(q, v, ...): the force (nv,), conjugate to the joint's velocities
    parameters   numbers and arrays by name; forces that differ only in these share machine code
    inputs       how many numbers drive it at run time, or their initial values
    Either is handed parameters, and `force` the time as `t` and the inputs as `u`, where it has an argument of that name.

    >>> swing = lw.joint_force("hip", force=lambda q, v, t, k: [k * np.sin(3.0 * t) - 0.1 * v[0]], parameters={"k": 5.0})
    """
    return CustomJointForce(joint, energy, force, parameters, inputs, name)
