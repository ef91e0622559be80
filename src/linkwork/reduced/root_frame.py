"""Bodies in the frame of their root: nothing needs moving from one to the next there, and sums over subtrees are plain sums.

The frame is where the root body is now, and stands still; far from the world's origin it loses no digits. Column k of J is the
twist that a unit velocity of degree of freedom k gives to all bodies behind it. With twists nu and alpha = d(nu)/dt,

    nu = nu_p + J v,      alpha = alpha_p + J a + zeta,      zeta = [nu_p, J v] + c,      c = S_dot v of the joint.

**What changes with one degree of freedom.** Move the joint of a body by the displacement e; s = J e. All that hangs on it is
carried along by s. Seen from there, joints further out are as before, and it is the rest of the world that has moved: twists of
the bodies change by one and the same n, their accelerations by m + [n, nu] with one and the same m,

    n = [nu_p, s] + C v,          m = [alpha_p, s] + [nu_p, [nu_p, s]] + C a + d + 2 [nu_p, C v] - [C v, J v],

where C = dS[e] and d = dc[e] are zero for joints of constant subspace. If e changes the velocity instead,

    n = s,                        m = [nu_p + nu, s] + dc/dv e.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..joints import Joint
from ..model.rules import placement_of, stepped_joint_of
from ..spatial.articulated import symmetric
from ..spatial.dual import Dual, split, variables
from ..spatial.rigid import RigidInertia
from ..spatial.scalar import Vector, stack, zeros
from ..spatial.se3 import SE3, bracket

MotionOf = Callable[[Joint, Vector, Vector], SE3]


def motion_of_joint(joint: Joint, q: Vector, v: Vector) -> SE3:
    """Where accelerations are v_dot."""
    return joint.motion(q, v)


def motion_in_step(joint: Joint, q: Vector, v: Vector) -> SE3:
    """Where they are those of a step."""
    return joint.steady_motion(q, v)


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A body in the frame of its root, see the module's text; `rise` is the acceleration of a world that falls upwards."""

    E: SE3
    J: np.ndarray
    nu_p: Vector
    rise: Vector
    nu: Vector
    zeta: Vector
    inertia: RigidInertia


def place_in_root(n: Any, parent: Any, motion: MotionOf = motion_of_joint) -> Placed:
    """One step outward."""
    inner = placement_of(n) @ motion(stepped_joint_of(n), n.q, n.v)
    t = inner.tangent
    if n.is_root:
        E, nu_p, rise = SE3(), zeros(6), np.concatenate([zeros(3), -inner.unrotate(n.gravity)])
    else:
        E, nu_p, rise = parent.frame @ inner.with_tangent(None), parent.nu, zeros(6)
        E = SE3(R=E.R, p=E.p)
    J = np.stack([E.move_twist(s) for s in t.S.T], axis=1) if t.S.shape[1] else t.S
    twist = J @ n.v
    zeta = bracket(nu_p, twist) + E.move_twist(t.bias)
    inertia = RigidInertia(n.mass, n.first_moment, symmetric(n.J)).moved(E)
    return Placed(E, J, nu_p, rise, nu_p + twist, zeta, inertia)


def acceleration_above(n: Any, parent: Any, rise: Vector) -> Vector:
    """alpha_p: of the parent, or of the world as the root sees it."""
    return rise if n.is_root else parent.alpha


@dataclass(frozen=True, slots=True, eq=False)
class SubspaceChanges:
    """How S and c = S_dot v of a joint change, moved to the root: C[e] (6, nv) and d[e] (6,) with displacements, dv[e] with v."""

    C: list[np.ndarray]
    d: list[Vector]
    dv: list[Vector]


def displaced(joint: Joint, q: Vector) -> Vector:
    """Coordinates as dual numbers of displacements."""
    count = joint.nv
    slopes = split(joint.integrate(q, variables(zeros(count), count)), count)[1]
    return stack(*(Dual(x, tuple(row)) for x, row in zip(q, slopes, strict=True)))


def subspace_changes(n: Any, E: SE3, motion: MotionOf = motion_of_joint) -> SubspaceChanges:
    """By dual numbers on the joint's own motion; zeros where its subspace is constant."""
    joint = stepped_joint_of(n)
    count = joint.nv
    moved = motion(joint, displaced(joint, n.q), n.v).tangent
    C, d = split(moved.S, count)[1], split(moved.bias, count)[1]
    dv = split(motion(joint, n.q, variables(n.v, count)).tangent.bias, count)[1]

    def to_root(columns: np.ndarray) -> list[Vector]:
        return [E.move_twist(x) for x in columns.T]

    return SubspaceChanges([np.stack(to_root(C[:, :, e]), axis=1) for e in range(count)], to_root(d), to_root(dv))


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Of a joint: twists before and behind it, acceleration before it, its velocities and accelerations."""

    nu_p: Vector
    nu: Vector
    alpha_p: Vector
    v: Vector
    a: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """m (6,) and the angular part of n (3,), of every displacement and of every velocity of a joint."""

    m_q: list[Vector]
    n_q: list[Vector]
    m_v: list[Vector]


def carried(J: list[Vector], changes: SubspaceChanges, x: Motion) -> Carried:
    """See the module's text; n of a velocity is the column of J itself."""
    m_q, n_q, m_v = [], [], []
    for e, s in enumerate(J):
        C, turned = changes.C[e], bracket(x.nu_p, s)
        slide = C @ x.v
        bent = bracket(x.nu_p, slide)
        changed = C @ x.a + changes.d[e] + bent + bent - bracket(slide, x.nu - x.nu_p)
        m_q.append(bracket(x.alpha_p, s) + bracket(x.nu_p, turned) + changed)
        n_q.append((turned + slide)[:3])
        m_v.append(bracket(x.nu_p + x.nu, s) + changes.dv[e])
    return Carried(m_q, n_q, m_v)
