"""The six recursions of [Si & Guenter, Eqs. 18-35; errata 002] over a whole model, one after the other.

With f the pose of body k in its parent, J its inertia, and root values v = eta = 0, alpha = (0, -g) (gravity as an acceleration
of the world instead of forces f_e):

    1  outward   v = Ad(f^-1) v_p,   a = -ad(S qd) v + S_dot qd,   v += S qd,   b = -ad*(v) J v        (18)-(21)
    2  outward   alpha = Ad(f^-1) alpha_p + a,   alpha_bar = J alpha + b                                (22)-(23)
    3  inward    p = sum Ad*(f^-1) p_i + alpha_bar,   tau_bar = tau - S^T p                             (24)-(26)
    4  inward    J_bar = J + sum Ad* (J_bar - U Omega^-1 U^T) Ad,   U = J_bar S,   Omega = S^T U         (27)-(28)
    5  inward    z = sum Y z_i + Pi tau_bar_i,   c_bar = Omega^-1 (tau_bar - S^T z)                      (29)-(33)
    6  outward   eta = Y^T eta_p + S c_bar,   qdd = c_bar - Pi^T eta_p                                   (34)-(35)

Y and Pi are never formed: Y z + Pi tau_bar = Ad* (z + U c_bar), and Pi^T eta = Omega^-1 U^T Ad eta, with the star that (30)
lacks. Armature is added to Omega, damping taken from tau. Run on numbers these are the paper's algorithm as it stands; on
symbols they become straight-line code of the whole model (Method I), or of its first half (Method II).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import Model
from ..spatial.inertia import Articulated
from ..spatial.scalar import Vector, cross, stack, zeros
from ..spatial.se3 import SE3, bracket
from .rules import JointFactor, factor_joint


@dataclass(frozen=True, eq=False)
class Link:
    """What the first three recursions know of a body: its parent, the pose in it, its subspace and inertia, the force left."""

    parent: int
    f: SE3
    S: np.ndarray
    J: Articulated
    tau_bar: Vector


def known_forces(model: Model, q: Vector, v: Vector, tau: Vector, gravity: Vector) -> list[Link]:
    """Recursions 1 to 3: what is left of the joint forces after those that q, v and gravity ask for."""
    f, S, J, twists, alphas, wrenches = [], [], [], [], [], []
    world = stack(0.0, 0.0, 0.0, -gravity[0], -gravity[1], -gravity[2])
    for body in model.bodies:
        own_q, own_v = q[model.q_index(body.name)], v[model.v_index(body.name)]
        E = body.placement @ body.joint.motion(own_q, own_v)
        motion, pose = E.tangent, E.with_tangent(None)
        root = body.parent < 0
        carried = zeros(6) if root else pose.pull_twist(twists[body.parent])
        a = motion.bias - bracket(motion.phi, carried)
        inertia = Articulated.rigid(body.inertia.mass, body.inertia.first_moment, body.inertia.about_origin)
        twist = carried + motion.phi
        alpha = pose.pull_twist(world if root else alphas[body.parent]) + a
        f.append(pose)
        S.append(motion.S)
        J.append(inertia)
        twists.append(twist)
        alphas.append(alpha)
        wrenches.append(inertia @ alpha + _turning(twist, inertia @ twist))
    left: list[Vector] = [zeros(0)] * model.nb
    for k in reversed(range(model.nb)):
        body, at = model.bodies[k], model.v_index(model.bodies[k].name)
        push = tau[at] - body.properties.damping * v[at]
        left[k] = push - S[k].T @ wrenches[k]
        if body.parent >= 0:
            wrenches[body.parent] = wrenches[body.parent] + f[k].move_wrench(wrenches[k])
    return [Link(b.parent, *parts) for b, parts in zip(model.bodies, zip(f, S, J, left, strict=True), strict=True)]


def accelerations(model: Model, links: list[Link]) -> Vector:
    """Recursions 4 to 6."""
    J = [link.J for link in links]
    z: list[Vector] = [zeros(6)] * len(links)
    factors: list[JointFactor] = []
    c: list[Vector] = []
    for k in reversed(range(len(links))):
        link = links[k]
        F = factor_joint(J[k], link.S, model.bodies[k].properties.armature)
        factors.append(F)
        c.append(F.solve(link.tau_bar - link.S.T @ z[k]))
        if link.parent >= 0:
            J[link.parent] = J[link.parent] + link.f.move_inertia(F.Ia)
            z[link.parent] = z[link.parent] + link.f.move_wrench(z[k] + F.U @ c[-1])
    eta, found = [], []
    for link, F, own in zip(links, reversed(factors), reversed(c), strict=True):
        if link.parent < 0:
            found.append(own)
            eta.append(link.S @ own)
        else:
            carried = link.f.pull_twist(eta[link.parent])
            found.append(own - F.K @ carried)
            eta.append(carried + link.S @ found[-1])
    return np.concatenate(found)


def forward_dynamics_of_the_paper(model: Model, q: Vector, v: Vector, tau: Vector, gravity: Vector) -> Vector:
    """All six recursions."""
    return accelerations(model, known_forces(model, q, v, tau, gravity))


def _turning(twist: Vector, momentum: Vector) -> Vector:
    """-ad*(v) J v: (w x L + v x P, w x P) for the momentum (L, P)."""
    w, v, L, P = twist[:3], twist[3:], momentum[:3], momentum[3:]
    return np.concatenate([cross(w, L) + cross(v, P), cross(w, P)])
