"""Constraints of your own: functions of plain Python are all that is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..elements.law import FunctionLaw
from ..errors import ModelError
from ..joints import Joint
from ..spatial.functions import Function, Functions
from ..spatial.gate import given_truth, known_keywords, word
from ..spatial.scalar import Scalar, Vector
from ..spatial.se3 import SE3
from .constraint import Constraint
from .on_joints import JointConstraint
from .rubbing import Rubbing

AFFINE = 1e-9  # of a rate: what a sum of velocities may add to the sum of their rates
TIME = 0.1


class Given(FunctionLaw):
    """A residual or a rate as a function, as `constraint` and `joint_constraint` take them; mixed into their classes."""

    name: str
    size: int
    unilateral: bool
    holonomic: bool
    timed: bool

    def _take(self, owner: str, functions: dict[str, Any], parameters: Any, unilateral: Any, name: Any) -> None:
        if functions["residual"] is not None and functions["rate"] is not None:
            raise ModelError(f"{owner}: give residual or rate, not both")
        if not isinstance(unilateral, bool):
            raise ModelError(f"{owner}: unilateral must be True or False, not {unilateral!r}")
        self._given = Functions(owner, functions, parameters, {"t": "the time"})
        self.unilateral = given_truth("constraint: unilateral", unilateral)
        self.name = word("constraint", "name", name, empty=True)
        self.holonomic = functions["rate"] is None
        self.timed = self._given.mention("t")

    def _affine(self, arguments: Sequence[Any], one: Any, other: Any, sums: Any, none: Any) -> int:
        """The number of rows of a rate; raises unless it is affine in the velocities."""
        r, s, both, rest = (self._given.tried("rate", *arguments, v, t=TIME) for v in (one, other, sums, none))
        if not np.allclose(both + rest, r + s, rtol=AFFINE, atol=AFFINE * (1.0 + np.abs(both).max(initial=0.0))):
            raise ModelError(f"{self._given.owner}: rate must be affine in the velocities: G v - given")
        return len(r)


class CustomConstraint(Given, Rubbing, Constraint):
    """A constraint between bodies from a function; see `constraint`."""

    def __init__(
        self,
        bodies: Any,
        functions: dict[str, Any],
        parameters: Any,
        unilateral: Any,
        name: str,
        friction: Any = 0.0,
        restitution: Any = 0.0,
    ) -> None:
        self.bodies = _names("constraint", "body", bodies)
        self._take(_owner("constraint", self.bodies, name), functions, parameters, unilateral, name)
        poses = [SE3.exp(np.linspace(0.1, 0.6, 6) * (-1) ** i) for i in range(len(self.bodies))]
        if self.holonomic:
            self.size = len(self._given.tried("residual", poses, t=TIME))
        else:
            one, other = ([np.linspace(a, b, 6) for _ in poses] for a, b in ((-0.4, 0.5), (0.3, -0.7)))
            sums = [a + b for a, b in zip(one, other, strict=True)]
            self.size = self._affine([poses], one, other, sums, [np.zeros(6) for _ in poses])
        self._take_grip(repr(self), friction, restitution)
        if self.cones:
            self._check_point(functions.get("point"), poses)

    def _check_point(self, point: Any, poses: Sequence[SE3]) -> None:
        """Raise unless friction knows where it acts, and between which two bodies."""
        if len(self.bodies) != 2:
            raise ModelError(f"{self!r}: friction acts between two bodies; name them, one may be 'world'")
        if point is None:
            raise ModelError(f"{self!r}: friction needs point(poses, ...), where in the world the bodies touch")
        found = self._given.tried("point", poses, t=TIME)
        if len(found) != 3:
            raise ModelError(f"{self!r}: point must return three numbers, not {len(found)}")

    @property
    def same(self) -> tuple[Any, ...]:
        return (*super().same, self.unilateral, self.gripping)

    @property
    def variant(self) -> tuple[Any, ...]:
        return (self.unilateral, self.gripping)

    def parameters(self) -> dict[str, Any]:
        return super().parameters() | {f"grip_{name}": np.asarray(getattr(self, name), float) for name in self.gripping}

    def bound(self, values: dict[str, Any]) -> Any:
        grips = {f"grip_{name}": name for name in self.gripping}
        made = super().bound({name: x for name, x in values.items() if name not in grips})
        made.__dict__.update({name: values[given] for given, name in grips.items() if given in values})
        return made

    def rub_at(self, x: Sequence[Any], t: Scalar, unknown: Vector) -> Vector:
        return self._given.vector("point", x, t=t)

    def gap(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Vector:
        return self.with_tangents(self._given.vector("residual", poses, t=t))

    def slip(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar) -> Vector:
        return self._given.vector("rate", poses, twists, t=t)

    def __repr__(self) -> str:
        return _owner("constraint", self.bodies, self.name)


class CustomJointConstraint(Given, JointConstraint):
    """A constraint between joints from a function; see `joint_constraint`."""

    def __init__(self, joints: Any, functions: dict[str, Any], parameters: Any, size: Any, unilateral: Any, name: str) -> None:
        self.joints = _names("joint_constraint", "joint", joints)
        self._take(_owner("joint_constraint", self.joints, name), functions, parameters, unilateral, name)
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ModelError(f"{self!r}: size must be an integer from 1, not {size!r}")
        self.size = size

    def fitted(self, joints: Sequence[Joint]) -> None:
        q = np.concatenate([j.random(np.random.default_rng(0)) for j in joints])
        v = np.linspace(-0.4, 0.5, sum(j.nv for j in joints))
        found = len(self._given.tried("residual", q, t=TIME)) if self.holonomic else self._affine([q], v, v**2, v + v**2, 0 * v)
        if found != self.size:
            raise ModelError(f"{self!r}: it returned {found} numbers, not size = {self.size}")

    def gap(self, q: Vector, t: Scalar) -> Vector:
        return self._given.vector("residual", q, t=t)

    def slip(self, q: Vector, v: Vector, t: Scalar) -> Vector:
        return self._given.vector("rate", q, v, t=t)

    def __repr__(self) -> str:
        return _owner("joint_constraint", self.joints, self.name)


def _names(kind: str, what: str, given: Any) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names or not all(isinstance(x, str) and x for x in names):
        raise ModelError(f"{kind}: it needs the name of a {what}, or a list of names, not {given!r}")
    return names


def _owner(kind: str, names: tuple[str, ...], name: str) -> str:
    called = f", name={name!r}" if isinstance(name, str) and name else ""
    return f"{kind}({', '.join(map(repr, names))}{called})"


@known_keywords
def constraint(
    bodies: str | Sequence[str],
    residual: Function | None = None,
    *,
    rate: Function | None = None,
    parameters: Mapping[str, Any] | None = None,
    unilateral: bool = False,
    friction: float = 0.0,
    restitution: float = 0.0,
    point: Function | None = None,
    name: str = "",
) -> CustomConstraint:
    """A constraint between bodies from its residual, or from a rate where only velocities are constrained.

    bodies       names, any number; some may be "world"
    residual     residual(poses, ...): what must vanish at a list of poses, one for each body; a number or several
    rate         rate(poses, twists, ...): what must vanish of the twists (angular, linear; body axes), affine in them
    parameters   numbers and arrays by name; constraints that differ only in these share machine code
    unilateral   True: it must not be negative instead, and its force only pushes
    friction, restitution   of one gap between two bodies that only pushes: mu, and e in [0, 1]
    point        point(poses, ...): where in the world they touch, for friction; the normal is the slope of the gap
    Either function is handed parameters, and the time as `t`, where it has an argument of that name. Rows and bias are derived.

    >>> rod = lw.constraint(["a", "b"], lambda E, l: lw.math.norm(E[0].p - E[1].p) - l, parameters={"l": 0.5})
    """
    functions = {"residual": residual, "rate": rate} | ({"point": point} if point and residual else {})
    return CustomConstraint(bodies, functions, parameters, unilateral, name, friction, restitution)


@known_keywords
def joint_constraint(
    joints: str | Sequence[str],
    residual: Function | None = None,
    *,
    rate: Function | None = None,
    parameters: Mapping[str, Any] | None = None,
    size: int = 1,
    unilateral: bool = False,
    name: str = "",
) -> CustomJointConstraint:
    """A constraint between joints from its residual, or from a rate where only velocities are constrained.

    joints       names, any number
    residual     residual(q, ...): what must vanish at the coordinates of all these joints, in one vector
    rate         rate(q, v, ...): what must vanish of their velocities, affine in them
    parameters   numbers and arrays by name; constraints that differ only in these share machine code
    size         how many numbers the function returns
    unilateral   True: they must not be negative instead, and forces only push
    Either function is handed parameters, and the time as `t`, where it has an argument of that name. Rows and bias are derived.

    >>> cam = lw.joint_constraint(["lift", "cam"], lambda q, e: q[0] - e * np.cos(q[1]), parameters={"e": 0.02})
    """
    return CustomJointConstraint(joints, {"residual": residual, "rate": rate}, parameters, size, unilateral, name)
