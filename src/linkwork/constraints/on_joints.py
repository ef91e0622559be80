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
from ..spatial.functions import shaped
from ..spatial.gate import meant, word
from ..spatial.scalar import Scalar, Vector


class JointConstraint(RowLaw):
    """Base of all constraints between joints (any number).

    joints            their names (or those of their bodies)
    size              number of rows
    unilateral        False: residual = 0.  True: residual >= 0, with forces that only push
    holonomic         True: it is the residual `gap`.  False: it is the rate `slip`, and has no residual
    timed             whether it depends on time
    parameter_names   attributes that are numbers or arrays: run-time data, shared kernels

    >>> isinstance(lw.Coupling("lower", "upper"), lw.JointConstraint)
    True
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

    @property
    def coordinate_joints(self) -> tuple[str, ...]:
        """The joints whose coordinates it uses: they keep one chart."""
        return tuple(self.joints)

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
            moving_joint(model, self, name)
            joint = model.bodies[model.body_index(name)].joint
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


def moving_joint(model: Any, owner: object, name: str) -> None:
    """Raise unless the model has a joint of this name that moves."""
    word(repr(owner), "the joint", name)
    if name not in model.names:
        raise ModelError(f"{owner!r}: there is no joint {name!r}{meant(name, model.names)}")
    if not model.bodies[model.body_index(name)].joint.nv:
        raise ModelError(f"{owner!r}: joint {name!r} is fixed")


def plain_joint(model: Any, owner: object, name: str) -> None:
    """Raise unless the model has a joint of this name whose velocities are the rates of its coordinates."""
    word(repr(owner), "the joint", name)
    if name not in model.names:
        raise ModelError(f"{owner!r}: there is no joint {name!r}{meant(name, model.names)}")
    joint = model.bodies[model.body_index(name)].joint
    if joint.nq != joint.nv or not joint.nv:
        raise ModelError(f"{owner!r}: joint {name!r} ({joint!r}) has no coordinates whose rates are its velocities")
