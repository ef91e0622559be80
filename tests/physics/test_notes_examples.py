"""The worked examples of Sueda's notes: logarithms and exponentials (1.3), the material Jacobian (1.4), and the two sample
programs for one rigid body (1.8) and for two bodies with joints (1.10). Lengths in cm, masses in g."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import block_diag, expm

import linkwork as lw

PRINTED = 1e-4  # four digits, of what was computed from more of them
GRAVITY = np.array([0.0, 0.0, -98.0])


def rows(text: str) -> np.ndarray:
    return np.array([[float(x) for x in line.split()] for line in text.strip().splitlines()])


def transform(E: np.ndarray) -> lw.SE3:
    return lw.SE3(R=E[:3, :3], p=E[:3, 3])


def matrix(E: lw.SE3) -> np.ndarray:
    return np.asarray(E.matrix, float)


def bracket(phi: Any) -> np.ndarray:
    """(1.6)."""
    x, y, z, *v = phi
    return np.array([[0, -z, y, v[0]], [z, 0, -x, v[1]], [-y, x, 0, v[2]], [0, 0, 0, 0]])


# --- 1.3 ----------------------------------------------------------------------------------------------------------------
E_ONE = rows("""
    -0.7372  -0.2659   0.6211   0.6877
    -0.1676  -0.8186  -0.5493   0.3886
     0.6545  -0.5091   0.5589   0.9371
     0        0        0        1.0000""")
LOG_ONE = rows("""
     0       -2.7242  -0.9257   1.3245
     2.7242   0       -1.1157  -0.6727
     0.9257   1.1157   0        0.3156
     0        0        0        0     """)
E_TWO = rows("""
    -0.9227  -0.3845  -0.0274  -0.5020
     0.2865  -0.6364  -0.7162   0.4564
     0.2579  -0.6687   0.6973  -1.5617
     0        0        0        1.0000""")
PHI_TWO = np.array([-0.1285, 1.2666, 0.8058, -0.6903, -0.5538, -0.1246])
RATE_TWO = rows("""
    -0.2751   0.7470  -1.2181   0.8533
     0.3944  -0.1388   0.2811   0.2439
    -1.4221  -0.2974   0.2408   0.1054
     0        0        0        0     """)


def test_logarithm() -> None:
    assert np.abs(bracket(transform(E_ONE).log()) - LOG_ONE).max() < PRINTED


def test_exponential() -> None:
    phi = np.array([LOG_ONE[2, 1], LOG_ONE[0, 2], LOG_ONE[1, 0], *LOG_ONE[:3, 3]])
    E = matrix(lw.SE3.exp(phi))
    assert np.abs(E - E_ONE).max() < PRINTED
    assert np.abs(E - expm(LOG_ONE)).max() < 1e-14
    assert np.abs(lw.SE3.exp(phi).log() - phi).max() < 1e-13


def test_rate_of_a_moving_frame() -> None:
    """E_dot = E [phi], and (1.11) with a step of 1e-8."""
    assert np.abs(E_TWO @ bracket(PHI_TWO) - RATE_TWO).max() < PRINTED
    E, step = transform(E_TWO), 1e-8
    difference = (matrix(E @ lw.SE3.exp(step * PHI_TWO)) - E_TWO) / step
    assert np.abs(difference - RATE_TWO).max() < PRINTED
    assert np.abs(difference - E_TWO @ bracket(PHI_TWO)).max() < 1e-7


# --- 1.4 ----------------------------------------------------------------------------------------------------------------
def test_material_jacobian() -> None:
    """Gamma at (1, 0, 0), and the velocities of that point; the first printed one is (0, 1, 0) [errata 004-9]."""
    builder = lw.ModelBuilder().body("body", joint=lw.Free(), inertia=lw.Inertia.cuboid(10.0, (10, 1, 1)))
    model = builder.frame("point", body="body", placement=lw.SE3(p=(1, 0, 0))).build()
    q = model.neutral()
    gamma = lw.jacobian(model, q, "point")[3:]
    assert np.array_equal(gamma, rows("0 0 0 1 0 0\n 0 0 1 0 1 0\n 0 -1 0 0 0 1"))
    R = lw.frame_pose(model, q, "point")[:3, :3]
    assert np.array_equal(R @ gamma @ [0, 0, 0, 1, 0, 0], [1, 0, 0])
    assert np.array_equal(R @ gamma @ [0, 0, 1, 0, 0, 0], [0, 1, 0])
    force = np.array([0.3, -0.5, 0.7])  # (1.13): a force on the point is a wrench on the body
    wrench = lw.SE3(p=(1, 0, 0)).move_wrench(np.append(np.zeros(3), force))
    assert np.abs(gamma.T @ force - np.asarray(wrench, float)).max() < 1e-15


# --- testRigid ------------------------------------------------------------------------------------------------------------
def cuboid(sides: Any) -> lw.Inertia:
    """Of density 1, by integration over its faces."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return lw.mesh_inertia(lw.Mesh(corners * np.asarray(sides, float), faces), density=1.0)


@pytest.mark.parametrize("sides", [(10, 1, 1), (1, 1, 10)])
def test_bodies_weigh_ten_grams(sides: tuple[int, int, int]) -> None:
    found, formula = cuboid(sides), lw.Inertia.cuboid(10.0, sides)
    assert f"{found.mass:.2f} g" == "10.00 g"
    assert np.abs(found.matrix - formula.matrix).max() < 1e-12 * np.abs(formula.matrix).max()


def flight() -> tuple[lw.Model, lw.State]:
    """Thrown upwards, with a spin about y."""
    model = lw.ModelBuilder(GRAVITY).body("rigid1", joint=lw.Free(), inertia=lw.Inertia.cuboid(10.0, (10, 1, 1))).build()
    return model, lw.State(model.neutral(), np.array([0.0, 3.0, 0.0, 0.0, 0.0, 90.0]))


def ad(phi: np.ndarray) -> np.ndarray:
    W, V = bracket(np.append(phi[:3], np.zeros(3)))[:3, :3], bracket(np.append(phi[3:], np.zeros(3)))[:3, :3]
    return np.block([[W, np.zeros((3, 3))], [V, W]])


def load(M: np.ndarray, E: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """(1.21), (1.22): Coriolis force and weight in body axes."""
    return ad(phi).T @ M @ phi + np.append(np.zeros(3), M[5, 5] * E[:3, :3].T @ GRAVITY)


@pytest.mark.parametrize("phi", [(0, 3, 0, 0, 0, 90), (0.4, 3, -0.7, 20, 0, 90)])
def test_rigid_body_by_euler_steps(phi: tuple[float, ...]) -> None:
    """(1.28) and (1.29) for 401 steps of 5 ms are steps as RedMax takes them: in body axes, velocity terms at the start."""
    h, (model, state) = 5e-3, flight()
    M, E, twist = model.bodies[0].inertia.matrix, np.eye(4), np.array(phi, float)
    run = lw.simulate(model, lw.State(state.q, twist), 401 * h, h, "redmax", baumgarte=0.0)
    for _ in range(401):
        twist = np.linalg.solve(M, M @ twist + h * load(M, E, twist))
        E = E @ expm(bracket(h * twist))
    assert np.abs(run.poses[-1, 0] - E).max() < 1e-10
    assert np.abs(run.v[-1] - twist).max() < 1e-10


def test_rigid_body_flies_on_a_parabola() -> None:
    """It turns steadily about a principal axis; energies stay within 1e-2 erg of 40878.75."""
    model, state = flight()
    run = lw.simulate(model, state, 2.0, 0.1, stepper="dop853", rtol=1e-10, atol=1e-10)
    height = 90.0 * run.t - 49.0 * run.t**2
    assert np.abs(run.poses[:, 0, :3, 3] - np.outer(height, [0, 0, 1])).max() < 1e-8
    assert np.abs(run.poses[:, 0, :3, :3] - [np.asarray(lw.SE3.rot_y(3.0 * t).R, float) for t in run.t]).max() < 1e-8
    assert run.energy.total[0] == pytest.approx(0.5 * 10 * 90**2 + 0.5 * (10 / 12 * 101) * 3**2, rel=1e-14)
    assert np.abs(run.energy.total - run.energy.total[0]).max() < 1e-2


# --- testJoint ------------------------------------------------------------------------------------------------------------
def two_bodies() -> lw.Model:
    """A beam on a hinge in its middle, and another that hangs from its end; both hinges about y."""
    b = lw.ModelBuilder(GRAVITY)
    b.body("rigid1", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.cuboid(10.0, (10, 1, 1)))
    inertia = lw.Inertia.cuboid(10.0, (1, 1, 10), com=(0, 0, -5))
    b.body("rigid2", parent="rigid1", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(5, 0, 0)), inertia=inertia)
    return b.build()


class NotesStep:
    """The step of the notes: (1.73) with rows 1, 3, 4, 5, 6 of (1.69) for both hinges, and the gap removed, -g / h.

    Frames are at the centres of mass. Where hinges are in the frames of their bodies: E_ja, E_jb.
    """

    KEPT = (0, 2, 3, 4, 5)
    MASS = [np.diag(np.append(10 / 12 * np.array(m), 10.0 * np.ones(3))) for m in ((2, 101, 101), (101, 101, 2))]
    HINGES = [(-1, 0, (0, 0, 0), (0, 0, 0)), (0, 1, (5, 0, 0), (0, 0, 5))]  # bodies a and b, the hinge in a and in b

    def __init__(self) -> None:
        self.E = [np.eye(4), matrix(lw.SE3(p=(5, 0, -5)))]
        self.phi = np.zeros(12)

    def constraints(self) -> tuple[np.ndarray, np.ndarray]:
        G, g = np.zeros((10, 12)), np.zeros(10)
        for k, (a, b, in_a, in_b) in enumerate(self.HINGES):
            E_a, at = np.eye(4) if a < 0 else self.E[a], slice(5 * k, 5 * k + 5)
            joint = transform(E_a) @ lw.SE3(p=in_a)
            for body, sign, E in ((a, 1.0, E_a), (b, -1.0, self.E[b])):
                if body >= 0:
                    G[at, 6 * body : 6 * body + 6] = sign * lw.Ad(joint.inverse() @ transform(E))[self.KEPT, :]
            gap = joint.p - (transform(self.E[b]) @ lw.SE3(p=in_b)).p
            g[5 * k + 2 : 5 * k + 5] = np.asarray(joint.R, float).T @ np.asarray(gap, float)
        return G, g

    def solve(self, h: float) -> tuple[np.ndarray, np.ndarray]:
        """New velocities and multipliers."""
        M, (G, g) = np.asarray(block_diag(*self.MASS)), self.constraints()
        f = np.concatenate([load(self.MASS[i], self.E[i], self.phi[6 * i : 6 * i + 6]) for i in range(2)])
        K = np.block([[M, G.T], [G, np.zeros((10, 10))]])
        x = np.linalg.solve(K, np.concatenate([M @ self.phi + h * f, -g / h]))
        return x[:12], x[12:]

    def step(self, h: float) -> None:
        self.phi, _ = self.solve(h)
        self.E = [E @ expm(bracket(h * self.phi[6 * i : 6 * i + 6])) for i, E in enumerate(self.E)]


def centres(model: lw.Model, poses: np.ndarray) -> np.ndarray:
    """Poses of the frames at the centres of mass."""
    return poses @ np.array([matrix(lw.SE3(p=b.inertia.com)) for b in model.bodies])


def test_joints_at_the_first_step() -> None:
    """From rest: velocities after a step, and the forces -G^T lam / h, of (1.73), in either formulation."""
    model, notes, h = two_bodies(), NotesStep(), 1e-2
    phi, lam = notes.solve(h)
    start = lw.State(np.zeros(2), np.zeros(2))
    for q in (start.q, lw.to_maximal(model, start)):
        bodies = lw.factor(model, q, dt=h).free.bodies
        moved = [lw.SE3(p=b.inertia.com).pull_twist(x) for b, x in zip(model.bodies, bodies, strict=True)]
        assert np.abs(np.concatenate(moved) - phi).max() < 1e-12 * np.abs(phi).max()
    wrenches = lw.joint_wrenches(model, start.q, start.v, lw.forward_dynamics(model, start.q, start.v))
    force = (-notes.constraints()[0].T @ lam / h).reshape(2, 6)  # of all joints on each body, at its centre of mass
    own = [lw.SE3(p=b.inertia.com).pull_wrench(w) for b, w in zip(model.bodies, wrenches, strict=True)]
    passed_on = lw.SE3(p=(5, 0, 0)).move_wrench(wrenches[1])
    assert np.abs(own[1] - force[1]).max() < 1e-11 * np.abs(force).max()
    assert np.abs(own[0] - passed_on - force[0]).max() < 1e-11 * np.abs(force).max()


def test_joints_for_a_second() -> None:
    """The notes' steps come to our motion with their first power; we keep the energy within 1e-2 erg, of 4900 to spend."""
    model = two_bodies()
    run = lw.simulate(model, lw.State(np.zeros(2), np.zeros(2)), 1.0, 0.1, stepper="dop853")
    assert np.abs(run.energy.total - run.energy.total[0]).max() < 1e-2
    assert np.ptp(run.energy.kinetic) > 1000.0
    truth, errors = centres(model, run.poses[-1]), []
    counts = (100, 200, 400)
    for n in counts:
        notes = NotesStep()
        for _ in range(n):
            notes.step(1.0 / n)
        errors.append(np.abs(np.array(notes.E) - truth).max())
    assert abs(np.polyfit(np.log(counts), np.log(errors), 1)[0] + 1.0) < 0.1


def test_joints_in_maximal_coordinates() -> None:
    """The same scene by multipliers, with the notes' step: joints stay closed."""
    model = two_bodies()
    run = lw.simulate(model, lw.State(np.zeros(2), np.zeros(2)), 1.0, 1e-2, "maximal")
    truth = lw.simulate(model, lw.State(np.zeros(2), np.zeros(2)), 1.0, 0.1, stepper="dop853")
    gap = run.health.joint_gap
    assert gap is not None
    assert gap < 1e-2
    assert np.abs(run.poses[::10] - truth.poses).max() < 0.5
