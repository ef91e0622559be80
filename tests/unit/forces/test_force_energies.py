"""Energies: conservative forces do the work that their energy loses; what dissipates only takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from derivatives.force_cases import POINTS, Rng, definite, frame
from models import rotation, unit
from scipy.integrate import quad

import linkwork as lw
from linkwork.spatial.se3 import SE3

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)
SEEDS = pytest.mark.parametrize("seed", range(3))


def well(E: Any) -> Any:
    return np.log(1.0 + lw.math.dot(E[0].p, E[0].p)) + E[0].R[0, 2] * (E[1] @ np.array([0.3, 0.1, 0.2]))[1]


CONSERVATIVE: dict[str, Callable[[Rng], lw.Force]] = {
    "PointSpring": lambda rng: lw.PointSpring("a", "b", *rng.normal(size=(2, 3)), stiffness=3.0),
    "SpringDamper": lambda rng: lw.SpringDamper("a", "b", *rng.normal(size=(2, 3)), stiffness=3.0, rest_length=0.7),
    "PointForce": lambda rng: lw.PointForce("a", *rng.normal(size=(2, 3))),
    "Bushing": lambda rng: lw.Bushing("a", "b", frame(rng), frame(rng), stiffness=definite(rng)),
    "Handle": lambda rng: lw.Handle("b", rng.normal(size=3), target=rng.normal(size=3), stiffness=2.0),
    "PoseHandle": lambda rng: lw.PoseHandle("b", frame(rng), target=frame(rng), stiffness=definite(rng)),
    "force": lambda rng: lw.force(("a", "b"), energy=well),
}
DISSIPATIVE: dict[str, Callable[[Rng], lw.Force]] = {
    "BodyDamping": lambda rng: lw.BodyDamping("a", angular=rng.uniform(0, 1, 3), linear=0.4, frame=frame(rng)),
    "Drag": lambda rng: lw.Drag("b", rng.uniform(0, 1, 6), rng.uniform(0, 1, 6), frame=frame(rng)),
    "SpringDamper": lambda rng: lw.SpringDamper("a", "b", *rng.normal(size=(2, 3)), stiffness=0, damping=1, rest_length=0.7),
    "Bushing": lambda rng: lw.Bushing("a", "b", frame(rng), frame(rng), stiffness=0.0, damping=definite(rng)),
    "Handle": lambda rng: lw.Handle("b", rng.normal(size=3), target=rng.normal(size=3), stiffness=0.0, damping=0.4),
    "PoseHandle": lambda rng: lw.PoseHandle("b", frame(rng), target=frame(rng), stiffness=0.0, damping=definite(rng)),
}


def bodies(*forces: lw.Force) -> lw.ForceSet:
    b = lw.ModelBuilder()
    for name in "ab":
        b.body(name, joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    for force in forces:
        b.add(force)
    return lw.force_set(b.build())


def path(seed: int) -> tuple[Callable[[float], np.ndarray], np.ndarray]:
    """Poses E exp(s phi) as a function of s, and the twists phi."""
    rng = np.random.default_rng([seed, 5])
    start = [SE3(R=rotation(unit(rng), 0.6), p=rng.normal(size=3)) for _ in range(2)]
    twists = 0.5 * rng.normal(size=(2, 6))
    return lambda s: np.array([(E @ SE3.exp(s * phi)).matrix for E, phi in zip(start, twists, strict=True)]), twists


@pytest.mark.parametrize("case", CONSERVATIVE)
@SEEDS
def test_power_is_minus_the_rate_of_the_energy(case: str, seed: int) -> None:
    forces = bodies(CONSERVATIVE[case](np.random.default_rng(seed)))
    poses, twists = path(seed)
    power = np.sum(forces.wrenches(poses(0.0), twists) * twists)
    V = [forces.energies(poses(s), twists).sum() for s in (-2e-3, -1e-3, 1e-3, 2e-3)]
    rate = (8.0 * (V[2] - V[1]) - (V[3] - V[0])) / 12e-3
    assert abs(power + rate) < 1e-9 * max(1.0, abs(rate))


@pytest.mark.parametrize("case", CONSERVATIVE)
@SEEDS
def test_work_along_a_path_is_the_energy_lost(case: str, seed: int) -> None:
    forces = bodies(CONSERVATIVE[case](np.random.default_rng(seed)))
    poses, twists = path(seed)
    along = np.array([poses(0.5 + 0.5 * s) for s in NODES])
    phi = np.tile(twists, (len(NODES), 1, 1))
    work = 0.5 * WEIGHTS @ np.sum(forces.wrenches(along, phi) * phi, axis=(1, 2))
    lost = forces.energies(poses(0.0), twists).sum() - forces.energies(poses(1.0), twists).sum()
    assert abs(work - lost) < 1e-10 * max(1.0, abs(lost))


@pytest.mark.parametrize("case", DISSIPATIVE)
@SEEDS
def test_dampers_only_take(case: str, seed: int) -> None:
    forces = bodies(DISSIPATIVE[case](np.random.default_rng(seed)))
    rng = np.random.default_rng(seed)
    poses = np.tile(path(seed)[0](0.0), (50, 1, 1, 1))
    twists = rng.normal(size=(50, 2, 6))
    power = np.sum(forces.wrenches(poses, twists) * twists, axis=(1, 2))
    assert power.max() <= 0.0
    assert power.min() < -1e-6
    assert not forces.energies(poses, twists).any()


@SEEDS
def test_forces_between_bodies_add_up_to_nothing(seed: int) -> None:
    """Moved to the world, the two wrenches of an inner force cancel."""
    rng = np.random.default_rng(seed)
    spring = lw.SpringDamper("a", "b", *rng.normal(size=(2, 3)), stiffness=2.0, damping=0.3, rest_length=0.5)
    inner = lw.Bushing("a", "b", frame(rng), frame(rng), stiffness=definite(rng), damping=definite(rng))
    for force in (lw.PointSpring("a", "b", *rng.normal(size=(2, 3)), stiffness=2.0), spring, inner):
        poses, twists = path(seed)
        wrenches = bodies(force).wrenches(poses(0.3), twists)
        moved = [SE3(R=E[:3, :3], p=E[:3, 3]).move_wrench(w) for E, w in zip(poses(0.3), wrenches, strict=True)]
        assert np.abs(moved[0] + moved[1]).max() < 1e-12 * max(1.0, np.abs(moved[0]).max())


# --- on joints ----------------------------------------------------------------------------------------------------------------
def with_joint(joint: lw.Joint, *forces: lw.JointForce, **properties: Any) -> tuple[lw.Model, lw.ForceSet]:
    b = lw.ModelBuilder().body("j", joint=joint, inertia=lw.Inertia(1.0, tensor=np.eye(3)), **properties)
    for force in forces:
        b.add(force)
    model = b.build()
    return model, lw.force_set(model)


STORED: dict[str, tuple[Callable[[], lw.Joint], Callable[[], lw.JointForce], dict[str, Any]]] = {
    "hinge spring": (lw.Revolute, lambda: lw.JointSpring("j", 3.0, 0.4), {}),
    "spring of two": (lw.Universal, lambda: lw.JointSpring("j", (3.0, 1.0), (0.4, -0.2)), {}),
    "ball spring": (lw.Spherical, lambda: lw.JointSpring("j", (3.0, 1.0, 2.0), (0.6, 0.8, 0.0, 0.0)), {}),
    "ball spring by exponentials": (lw.SphericalExp, lambda: lw.JointSpring("j", (3.0, 1.0, 2.0), (0.3, 0.1, 0.2)), {}),
    "free spring": (lw.Free, lambda: lw.JointSpring("j", np.arange(1.0, 7.0), (1, 2, 3, 0.6, 0, 0.8, 0)), {}),
    "points": (lw.Revolute, lambda: lw.TorqueCurve("j", POINTS), {}),
    "function": (lw.Revolute, lambda: lw.TorqueCurve("j", lambda q: np.exp(-2 * q) - np.cos(q)), {}),
    "limits": (lw.Universal, lambda: lw.LimitSpring("j", (3.0, 1.0)), {"limits": ((-0.3, -0.1), (0.1, 0.2))}),
    "cone": (lw.Spherical, lambda: lw.SwingTwistLimit("j", 3.0, swing=0.3, twist=(-0.1, 0.2)), {}),
    "own": (lw.Spherical, lambda: lw.joint_force("j", energy=lambda q, k: k * q[0] * q[2], parameters={"k": 2.0}), {}),
}


@pytest.mark.parametrize("case", STORED)
@SEEDS
def test_joint_forces_do_the_work_that_their_energy_loses(case: str, seed: int) -> None:
    joint, force, properties = STORED[case]
    model, forces = with_joint(joint(), force(), **properties)
    rng = np.random.default_rng(seed)
    q, v = model.random_configuration(rng), rng.normal(size=model.nv)
    power = forces.joint_forces(q, v) @ v
    V = [forces.joint_energies(model.integrate(q, s * v), v).sum() for s in (-2e-3, -1e-3, 1e-3, 2e-3)]
    rate = (8.0 * (V[2] - V[1]) - (V[3] - V[0])) / 12e-3
    assert abs(power + rate) < 1e-9 * max(1.0, abs(rate))


@pytest.mark.parametrize("curve", ["points", "slopes", "function"])
def test_the_energy_of_a_curve_is_its_integral(curve: str) -> None:
    slopes = [(-1.0, 1.0, -3.0), (0.2, 0.4, 0.1), (0.9, -2.0, 0.0)]
    given = {"points": POINTS, "slopes": slopes, "function": lambda q: np.exp(-2 * q) - np.exp(1.5 * q) + np.sin(3 * q)}
    model, forces = with_joint(lw.Revolute(), lw.TorqueCurve("j", given[curve]))
    knots = [] if curve == "function" else [p[0] for p in given[curve]]
    for q in (-3.0, -1.2, -0.5, 0.0, 0.3, 0.95, 2.7):
        work = quad(lambda x: forces.joint_forces([x], [0.0])[0], 0.0, q, points=knots, epsabs=1e-13, epsrel=1e-13)[0]
        assert forces.joint_energies([q], [0.0])[0] == pytest.approx(-work, abs=1e-12, rel=1e-12)
    assert model.nv == 1


@pytest.mark.parametrize("kind", [lw.Spherical, lw.SphericalExp, lambda: lw.SphericalEuler("xyz", "xzx")])
def test_a_spring_in_a_ball_is_the_same_in_all_coordinates(kind: Callable[[], lw.Joint]) -> None:
    """Energy k |log(R_rest^T R)|^2 / 2; the moment, k log(R_rest^T R) back, is S^-T times the force."""
    joint, rest = kind(), kind().random(np.random.default_rng(1))
    model, forces = with_joint(joint, lw.JointSpring("j", 2.0, rest))
    q, still = model.random_configuration(2), np.zeros(3)
    E = joint.motion(q, still)
    w = (joint.transform(rest).inverse() @ joint.transform(q)).log()[:3]
    assert forces.joint_energies(q, still)[0] == pytest.approx(w @ w)
    S = np.asarray(E.tangent.S, float)[:3]
    assert np.linalg.solve(S.T, forces.joint_forces(q, still)) == pytest.approx(-2.0 * np.asarray(w, float))
