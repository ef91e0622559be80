"""The joint force contract: a force along a joint's own velocities is its energy, or the force itself.

`energy(joint, q)` alone makes a conservative force: minus its gradient along the displacements `joint.integrate(q, dv)`. What is
not conservative is written as `force(joint, q, v, t, u)`. Derivatives with respect to displacement and velocity are derived.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..elements.derive import conservative
from ..elements.law import ForceLaw
from ..elements.ports import At, JointAt, JointPort, Port
from ..errors import ModelError
from ..joints import Composite, Joint
from ..kernel.symbol import traced_digest
from ..model.model import Body, Model
from ..spatial import so3
from ..spatial.functions import shaped
from ..spatial.gate import meant, word
from ..spatial.scalar import Scalar, Vector, zeros


class JointForce(ForceLaw):
    """Base of all forces on one joint; they are conjugate to its velocities v, as `tau` is.

    joint             the name of the joint (or of its body)
    parameter_names   attributes that are numbers or arrays: run-time data, shared kernels
    inputs            what drives the force from outside at run time: as many numbers, 0 by default
    any_chart         whether it acts on velocities alone, whatever chart the coordinates are in

    >>> isinstance(lw.JointSpring("lower", 5.0), lw.JointForce)
    True
    """

    joint: str
    any_chart: ClassVar[bool] = False

    @property
    def ports(self) -> tuple[Port, ...]:
        return (JointPort(self.joint),)

    @property
    def coordinate_joints(self) -> tuple[str, ...]:
        """The joints whose coordinates it uses: they keep one chart."""
        return () if self.any_chart else (self.joint,)

    def fitted_to(self, model: Model) -> Any:
        return self.fitted(model.bodies[model.body_index(self.joint)])

    def code(self, joints: Sequence[Joint]) -> tuple[Any, ...]:
        return self.signature(joints[0])

    def loads(self, at: Sequence[At], t: Scalar, u: Vector) -> Sequence[Vector]:
        (port,) = at
        assert isinstance(port, JointAt)
        return [self.force(port.joint, port.value, port.velocity, t, u)]

    def stored_energy(self, at: Sequence[At], t: Scalar, u: Vector) -> Scalar:
        (port,) = at
        assert isinstance(port, JointAt)
        return self.energy(port.joint, port.value)

    def energy(self, joint: Joint, q: Vector) -> Scalar:
        """The energy stored in the force."""
        return 0.0

    def force(self, joint: Joint, q: Vector, v: Vector, t: Scalar, u: Vector) -> Vector:
        """The force (nv,); t is time, u are the inputs."""
        return along(joint, lambda moved: self.energy(joint, moved), q)

    def fitted(self, body: Body) -> Any:
        """The same force with its numbers as this body's joint needs them; raises if they do not fit."""
        return self

    def signature(self, joint: Joint) -> tuple[Any, ...]:
        """What identifies the machine code: the class, and for classes of users what they compute."""
        own = (type(self).__qualname__, self.inputs, self.variant)
        return own if self.built_in else (*own, self.digest(joint))

    def digest(self, joint: Joint) -> str:
        """A digest of force and energy, traced; parameters are symbols."""
        given = self.parameters()

        def computed(q: Vector, v: Vector, t: Vector, *values: Vector) -> list[Scalar]:
            force = self.bound(shaped(given, values))
            return [force.energy(joint, q), *force.force(joint, q, v, t[0], t[1:])]

        return traced_digest(computed, joint.nq, joint.nv, 1 + self.inputs, *(x.size for x in given.values()))

    def on(self, joint: Any, name: Any = "") -> str:
        """Take a joint and a name; what messages about the rest begin with."""
        self.joint = word(self.called(name), "the joint", joint)
        return repr(self)

    def check(self, model: Any) -> None:
        """Raise if the model lacks the joint, or the joint does not fit."""
        if self.joint not in model.names:
            raise ModelError(f"{self!r}: there is no joint {self.joint!r}{meant(self.joint, model.names)}")
        body = model.bodies[model.body_index(self.joint)]
        if not body.joint.nv:
            raise ModelError(f"{self!r}: joint {self.joint!r} is fixed")
        if body.joint.recharts_after_steps and not self.any_chart:
            raise ModelError(
                f"{self!r}: coordinates of joint {self.joint!r} ({body.joint!r}) change to those of another chart; act on its "
                "body, or give the joint one chart"
            )
        self.fitted(body)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.joint!r}{f', name={self.name!r}' if self.name else ''})"


def standing(joint: Joint, q: Vector) -> list[At]:
    """A joint that stands still."""
    return [JointAt(joint, q, zeros(joint.nv))]


def along(joint: Joint, energy: Callable[[Vector], Scalar], q: Vector) -> Vector:
    """Minus the gradient of an energy of the coordinates of a joint, along its displacements."""
    return conservative(lambda moved: energy(moved[0]), standing(joint, q))[0]


# --- what a joint is like ----------------------------------------------------------------------------------------------------
def is_flat(joint: Joint) -> bool:
    """Whether displacements add to the coordinates, which never change their chart."""
    return joint.coordinates_add


def offset(joint: Joint, rest: Vector, q: Vector) -> Vector:
    """How far q is from rest (nv,): a difference of coordinates, log(Q_rest^-1 Q) where they turn on a group or change charts."""
    if isinstance(joint, Composite):
        n = joint.first.nq
        return np.concatenate([offset(joint.first, rest[:n], q[:n]), offset(joint.second, rest[n:], q[n:])])
    if joint.charted and joint.nv == 3 and not joint.recharts_after_steps:
        return so3.log(joint.transform(rest).R.T @ joint.transform(q).R)
    return joint.offset(rest, q)
