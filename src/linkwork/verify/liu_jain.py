"""The figures of Liu & Jain, A Quick Tutorial on Multibody Dynamics (2012)."""

from __future__ import annotations

import numpy as np

from .. import State, bias_forces, inverse_dynamics, joint_wrenches, kinematics, link_dynamics, mass_matrix, simulate
from ..scenes.tutorial import tutorial
from .item import Family, Outcome
from .pictures import moments

LIU_JAIN = Family(
    "liu_jain",
    "Liu & Jain 2012: tutorial on multibody dynamics",
    "Two figures, no tables or times. Every equation has its page and test: docs/tutorial/index_of_equations.md.",
)
ACCELERATIONS = np.array([0.7, -0.2, 1.1, 0.4, -0.9, 2.0, -1.3])


@LIU_JAIN.item(
    "fig1",
    "Four links, seven freedoms (universal, ball, two hinges): generalised forces by Lagrange's matrices and by the "
    "recursion of section 7",
    "Figure 1; scene tutorial",
)
def fig1(quick: bool) -> Outcome:
    model, start = tutorial()
    assert [b.joint.nv for b in model.bodies] == [2, 3, 1, 1]
    assert model.parents.tolist() == [-1, 0, 1, 1]
    q, v, a = start.q, start.v, ACCELERATIONS
    lagrange = mass_matrix(model, q) @ a + bias_forces(model, q, v)
    recursive, local = inverse_dynamics(model, q, v, a), link_dynamics(model, q, v, a).Q
    error = max(np.abs(recursive - lagrange).max(), np.abs(local - lagrange).max()) / np.abs(lagrange).max()
    run = simulate(model, start, 1.0, 1e-2, stepper="dop853")
    return Outcome(float(error), 1e-12, "p(4) = 2, n = 7, as printed", moments(run, "xz", 6))


@LIU_JAIN.item(
    "fig2",
    "Force and torque that link 2 receives from its parent and its two children: Newton's and Euler's equations of "
    "that link by differences",
    "Figure 2, Eqs. 72 and 73 (errata 003-2: the root's are the reaction of the ground, not zero)",
)
def fig2(quick: bool) -> Outcome:
    model, start = tutorial()
    q, v, a = start.q, start.v, ACCELERATIONS
    wrenches, poses = joint_wrenches(model, q, v, a), kinematics(model, q).poses

    def momentum(t: float) -> np.ndarray:
        """Of link 2 along the motion: linear, and angular about the place of its centre of mass at t = 0."""
        now = State(model.integrate(q, t * v + 0.5 * t * t * a), v + t * a)
        k, inertia = kinematics(model, now.q, now.v), model.bodies[1].inertia
        R, p, (w, u) = k.poses[1, :3, :3], k.poses[1, :3, 3], np.split(k.twists[1], 2)
        linear = inertia.mass * R @ (u + np.cross(w, inertia.com))
        return np.concatenate([R @ inertia.tensor @ w + np.cross(p + R @ inertia.com - centre, linear), linear])

    centre = poses[1, :3, :3] @ model.bodies[1].inertia.com + poses[1, :3, 3]
    h = 1e-3
    rate = (8 * (momentum(h) - momentum(-h)) - momentum(2 * h) + momentum(-2 * h)) / (12 * h)
    total = np.concatenate([np.zeros(3), model.bodies[1].inertia.mass * model.gravity])
    for k, sign in ((1, 1.0), (2, -1.0), (3, -1.0)):  # from the parent, and back from both children
        R, p = poses[k, :3, :3], poses[k, :3, 3]
        moment, force = R @ wrenches[k, :3], R @ wrenches[k, 3:]
        total += sign * np.concatenate([moment + np.cross(p - centre, force), force])
    error = np.abs(total - rate).max() / np.abs(rate).max()
    ground = np.linalg.norm(wrenches[0, 3:])
    return Outcome(float(error), 1e-8, f"differences of order 4; the ground carries {ground:.1f} N")
