"""Limits of joints as stiff springs that only push back."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..elements.derive import displaced, gradient_of
from ..errors import ModelError
from ..joints import Free, Joint, Spherical, SphericalEuler
from ..joints.axis import unit_axis
from ..model.model import Body
from ..spatial import quaternion
from ..spatial.dual import Gradient
from ..spatial.gate import number, numbers, positive
from ..spatial.kinds import explained
from ..spatial.scalar import Scalar, Vector, atan2, dot, maximum, where, zeros
from .joint import JointForce, is_flat, standing


class LimitSpring(JointForce):
    """The limits of a joint, as its body declares them: beyond one by x, a force k x + d x_dot back, never outward.

    Energy k x^2 / 2. The damping sets in with a jump where a limit is met. For joints whose coordinates add: not quaternions, see
    `SwingTwistLimit`.

    stiffness, damping   k and d: a number, or one per coordinate

    >>> b = lw.ModelBuilder()
    >>> _ = b.body("arm", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.sphere(1.0, 0.1), limits=(-1, 1))
    >>> _ = b.add(lw.LimitSpring("arm", stiffness=50.0, damping=0.5))
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("stiffness", "damping", "lower", "upper")

    @explained
    def __init__(self, joint: str, stiffness: Any, damping: Any = 0.0, *, name: str = "") -> None:
        owner = self.on(joint, name)
        self.stiffness, self.damping = stiffness, damping
        self.lower = self.upper = np.zeros(0)
        for what, x in (("stiffness", stiffness), ("damping", damping)):
            numbers(owner, what, x, max(1, np.size(x)), 0.0, spread=True)

    def fitted(self, body: Body) -> Any:
        joint, given = body.joint, body.properties
        if not is_flat(joint):
            raise ModelError(f"{self!r}: {joint!r} has no coordinates to limit one by one; use SwingTwistLimit")
        if not (np.isfinite(given.lower).any() or np.isfinite(given.upper).any()):
            raise ModelError(f"{self!r}: joint {self.joint!r} has no limits; give it limits=(lower, upper)")
        sizes = {
            what: numbers(repr(self), what, getattr(self, what), joint.nv, 0.0, spread=True) for what in ("stiffness", "damping")
        }
        return self.bound({**sizes, "lower": given.lower, "upper": given.upper})

    def energy(self, joint: Joint, q: Vector) -> Scalar:
        past = [maximum(x, 0.0) for x in (*(q - self.upper), *(self.lower - q))]
        return 0.5 * sum(k * x * x for k, x in zip((*self.stiffness, *self.stiffness), past, strict=True))

    def force(self, joint: Joint, q: Vector, v: Vector, t: Scalar, u: Vector) -> Vector:
        f = zeros(joint.nv)
        for i in range(joint.nv):
            k, d = self.stiffness[i], self.damping[i]
            f[i] = pushed(self.lower[i] - q[i], -v[i], k, d) - pushed(q[i] - self.upper[i], v[i], k, d)
        return f


class SwingTwistLimit(JointForce):
    """Limits of a joint that turns freely: its axis stays in a cone, the twist about it in a range.

    With the rotation R = (swing) (twist about the axis), the swing angle is that between the axis and R times the axis, the twist
    angle lies in [-pi, pi]; at a swing of pi there is no twist, nor a force of its limit. Beyond a limit by x the force is
    k x + d x_dot along the angle, back, never outward; energy k x^2 / 2.

    axis                 of the twist, the same in the joint's inboard and outboard axes
    swing                half the opening angle of the cone, in (0, pi]; pi for no limit
    twist                (lower, upper), within [-pi, pi]
    stiffness, damping   k (N m/rad) and d (N m s/rad)

    >>> b = lw.ModelBuilder()
    >>> _ = b.body("arm", joint=lw.Spherical(), inertia=lw.Inertia.sphere(1.0, 0.1))
    >>> _ = b.add(lw.SwingTwistLimit("arm", stiffness=50.0, swing=1.0, twist=(-0.5, 0.5)))
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("axis", "swing", "twist", "stiffness", "damping")
    directions: ClassVar[tuple[str, ...]] = ("axis",)

    @explained
    def __init__(
        self,
        joint: str,
        stiffness: float,
        damping: float = 0.0,
        *,
        axis: Any = (0.0, 0.0, 1.0),
        swing: float = np.pi,
        twist: Any = (-np.pi, np.pi),
        name: str = "",
    ) -> None:
        owner = self.on(joint, name)
        self.axis = unit_axis(axis, owner)
        self.swing, self.twist = positive(owner, "swing", swing), numbers(owner, "twist", twist, 2)
        if self.swing > np.pi + 1e-12:
            raise ModelError(f"{owner}: swing must be at most pi, not {swing!r}; it is in radians, np.deg2rad converts degrees")
        low, high = self.twist
        if low > high or max(-low, high) > np.pi + 1e-12:
            raise ModelError(
                f"{owner}: twist must be (lower, upper) within [-pi, pi], not {twist!r}; radians, np.deg2rad converts"
            )
        self.stiffness, self.damping = number(owner, "stiffness", stiffness, 0.0), number(owner, "damping", damping, 0.0)

    def fitted(self, body: Body) -> Any:
        turning = body.joint.charted and not body.joint.recharts_after_steps
        if not (turning or isinstance(body.joint, (Spherical, SphericalEuler, Free))):
            raise ModelError(f"{self!r}: {body.joint!r} does not turn freely; use LimitSpring")
        return self

    def angles(self, joint: Joint, q: Vector) -> tuple[Scalar, Scalar]:
        """How far the swing is beyond its limit where it is (else zero or less), and the twist angle."""
        quat = orientation(joint, q)
        along, across = dot(self.axis, quat[1:]), quat[1:] - dot(self.axis, quat[1:]) * self.axis
        c2, s2 = quat[0] * quat[0] + along * along, dot(across, across)
        least = np.sin(0.25 * self.swing) ** 2  # of s2 at half the limit: beyond it nothing is singular but a swing of pi
        far = s2 > least
        swing = 2.0 * atan2(np.sqrt(where(far, s2, least)), np.sqrt(where(far, maximum(c2, 1e-30), 1.0 - least)))
        defined = c2 > 1e-24
        twist = 2.0 * atan2(where(defined, along, 0.0), where(defined, quat[0], 1.0))
        return where(far, swing - self.swing, -0.5 * self.swing), twist

    def energy(self, joint: Joint, q: Vector) -> Scalar:
        swing, twist = self.angles(joint, q)
        past = [maximum(x, 0.0) for x in (swing, self.twist[0] - twist, twist - self.twist[1])]
        return 0.5 * self.stiffness * dot(past, past)  # pyright: ignore[reportArgumentType]

    def force(self, joint: Joint, q: Vector, v: Vector, t: Scalar, u: Vector) -> Vector:
        at = standing(joint, q)
        swing, twist = self.angles(joint, displaced(at)[0])
        f = zeros(joint.nv)
        for x in (swing, self.twist[0] - twist, twist - self.twist[1]):
            slope = gradient_of(x, at)[0]
            f = f - pushed(x.x if isinstance(x, Gradient) else x, dot(slope, v), self.stiffness, self.damping) * slope
        return f


def pushed(x: Scalar, rate: Scalar, k: Scalar, d: Scalar) -> Scalar:
    """max(k x + d x_dot, 0) beyond a limit (x > 0), else 0."""
    past = x > 0.0
    return where(past, maximum(k * where(past, x, 0.0) + d * rate, 0.0), 0.0)


def orientation(joint: Joint, q: Vector) -> Vector:
    """The unit quaternion of a joint's rotation, w >= 0."""
    if isinstance(joint, Spherical):
        return quaternion.shortest(q)
    if isinstance(joint, Free):
        return quaternion.shortest(q[3:])
    return quaternion.from_rotation(joint.transform(q).R)
