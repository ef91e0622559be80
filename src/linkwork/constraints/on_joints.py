"""The joint constraint contract: a residual of the coordinates of some joints; its rows and bias are derived.

`residual(q)` is a function of the coordinates of all its joints in one vector; `gap(q, t)` where it depends on time as well;
`slip(q, v, t)` where only velocities are constrained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..elements.law import RowLaw
from ..elements.ports import JointPort, Port, joined
from ..errors import ModelError
from ..joints import Joint
from ..kernel.symbol import traced_digest
from ..spatial.dual import Dual, Gradient, variables
from ..spatial.functions import shaped
from ..spatial.jet import Jet
from ..spatial.scalar import Scalar, Vector, array, zeros
from .derive import Derived, from_gap, from_slip, time_in


class JointConstraint(RowLaw):
    """Base of all constraints between joints (any number).

    joints            their names (or those of their bodies)
    size              number of rows
    unilateral        False: residual = 0.  True: residual >= 0, with forces that only push
    holonomic         True: it is the residual `gap`.  False: it is the rate `slip`, and has no residual
    timed             whether it depends on time
    parameter_names   attributes that are numbers or arrays: run-time data, shared kernels
    """

    joints: tuple[str, ...]

    @property
    def ports(self) -> tuple[Port, ...]:
        return tuple(map(JointPort, self.joints))

    def code(self, joints: Sequence[Joint]) -> tuple[Any, ...]:
        return self.signature(joints)

    def gap_of(self, x: Sequence[Any], t: Scalar, unknown: Vector) -> Vector:
        return self.gap(joined(x), t)

    def slip_of(self, x: Sequence[Any], v: Sequence[Vector], t: Scalar) -> Vector:
        return self.slip(joined(x), joined(v), t)

    def residual(self, q: Vector) -> Vector:
        """What must vanish (or stay non-negative)."""
        raise TypeError(f"{type(self).__name__} must define residual(q)")

    def gap(self, q: Vector, t: Scalar) -> Vector:
        """The residual where it depends on time."""
        return self.residual(q)

    def slip(self, q: Vector, v: Vector, t: Scalar) -> Vector:
        """What must vanish where only velocities are constrained: affine in v."""
        raise TypeError(f"{type(self).__name__} must define slip(q, v, t)")

    def signature(self, joints: Sequence[Joint]) -> tuple[Any, ...]:
        """What identifies the machine code: the class, how its joints move, and for classes of users what they compute."""
        own = (type(self).__qualname__, tuple(kind_of(j) for j in joints), self.variant)
        return own if self.built_in else (*own, self.digest(joints))

    def digest(self, joints: Sequence[Joint]) -> str:
        """A digest of all that it computes, traced; parameters are symbols."""
        given = self.parameters()

        def computed(q: Vector, v: Vector, t: Vector, *values: Vector) -> list[Scalar]:
            c = self.bound(shaped(given, values))
            return list(c.gap(q, t[0]) if c.holonomic else c.slip(q, v, t[0]))

        nq, nv = sum(j.nq for j in joints), sum(j.nv for j in joints)
        return traced_digest(computed, nq, nv, 1, *(x.size for x in given.values()))

    def fitted(self, joints: Sequence[Joint]) -> None:
        """Raise if the joints do not fit."""

    def check(self, model: Any) -> None:
        """Raise if the model lacks a joint that this constraint names, or one does not fit."""
        for name in self.joints:
            if name not in model.names:
                raise ModelError(f"{self!r}: there is no joint {name!r}")
            joint = model.bodies[model.body_index(name)].joint
            if not joint.nv:
                raise ModelError(f"{self!r}: joint {name!r} is fixed")
            if joint.charted:
                raise ModelError(
                    f"{self!r}: the coordinates of joint {name!r} ({joint!r}) change their chart; constrain the pose of its body"
                )
        bodies = [model.body_index(name) for name in self.joints]
        if len(set(bodies)) < len(bodies):
            raise ModelError(f"{self!r}: it names a joint twice")
        self.fitted([model.bodies[i].joint for i in bodies])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.joints))})"


def kind_of(joint: Joint) -> tuple[Any, ...]:
    """What of a joint says how its coordinates move."""
    return ("adds", joint.nq) if joint.nq == joint.nv else joint.signature


def moving(joints: Sequence[Joint], q: Vector, v: Vector) -> Vector:
    """The coordinates as gradients with respect to displacements and, last, time, whose entries are functions of s (`derive`)."""
    nv, out, i, k = len(v), [], 0, 0
    for joint in joints:
        for x in joint.jets(q[i : i + joint.nq], v[k : k + joint.nv]):
            out.append(_gradient(x, k, nv) if isinstance(x, Jet) else x)
        i, k = i + joint.nq, k + joint.nv
    return array(out)


def _gradient(x: Jet, first: int, nv: int) -> Gradient:
    own = tuple(Dual(g, (r,)) for g, r in zip(x.grad, x.grad_rate, strict=True))
    return Gradient(Dual(x.x, (x.rate,)), (0.0,) * first + own + (0.0,) * (nv + 1 - first - len(own)))


def derive_on_joints(c: JointConstraint, joints: Sequence[Joint], q: Vector, v: Vector, t: Scalar) -> Derived:
    """All rows of a constraint on joints; G acts on the velocities of its joints."""
    n = len(v)
    if c.holonomic:
        return from_gap(c.gap(moving(joints, q, v), time_in(n, t)), v)
    flows = array([x.x if isinstance(x, Gradient) else x for x in moving(joints, q, v)])
    return from_slip(c.slip(flows, variables(v, n, 0, Gradient), Dual(t, (1.0,))), c.slip(q, zeros(n), t), n)
