"""One tracking controller, written in generalized coordinates, on engines that know bodies only [Liu & Jain, section 6].

The controller sees q and v, found from Cartesian states; its joint forces are handed over as forces and torques on links. In
our own maximal coordinates the motion is that of the reduced ones; in Bullet it is so within the error of its steps, which halves
with them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.convert import drive_wrenches, joint_fit
from linkwork.scenes import ALL_SCENES

Slope = Callable[[float, list[np.ndarray]], list[np.ndarray]]


def runge_kutta(f: Slope, y: list[np.ndarray], dt: float, steps: int) -> list[np.ndarray]:
    """The classical method of order 4; the control is asked at every stage."""
    for n in range(steps):
        t = n * dt
        k1 = f(t, y)
        k2 = f(t + dt / 2, [a + dt / 2 * b for a, b in zip(y, k1, strict=True)])
        k3 = f(t + dt / 2, [a + dt / 2 * b for a, b in zip(y, k2, strict=True)])
        k4 = f(t + dt, [a + dt * b for a, b in zip(y, k3, strict=True)])
        y = [a + dt / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4, strict=True)]
    return y


def hat(x: np.ndarray) -> np.ndarray:
    """[phi] (bodies, 4, 4) of body twists."""
    out = np.zeros((len(x), 4, 4))
    for (i, j), k in {(2, 1): 0, (0, 2): 1, (1, 0): 2}.items():
        out[:, i, j], out[:, j, i] = x[:, k], -x[:, k]
    out[:, :3, 3] = x[:, 3:]
    return out


def test_reduced_and_maximal_coordinates_follow_alike() -> None:
    """Two seconds of the four links: both end in the same place, to 1e-8."""
    model, state = ALL_SCENES["tutorial"].build()

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        target = 0.4 * np.sin(2.0 * t + np.arange(model.nv))
        return lw.gravity_forces(model, q) + 2.0 * (target - q) - 0.2 * v

    def reduced(t: float, y: list[np.ndarray]) -> list[np.ndarray]:
        q, v = y
        return [v, lw.forward_dynamics(model, q, v, control(t, q, v))]

    near = state.q

    def maximal(t: float, y: list[np.ndarray]) -> list[np.ndarray]:
        nonlocal near
        poses, twists = y
        fit = lw.to_reduced(model, lw.MaximalState(poses, twists, near))
        near = fit.q
        wrenches = drive_wrenches(model, fit.q, control(t, fit.q, fit.v))
        found = lw.maximal_dynamics(model, lw.MaximalState(poses, twists, fit.q, t), None, wrenches)
        return [poses @ hat(twists), found.twists_dot]

    dt, steps = 1.25e-3, 1600
    q, v = runge_kutta(reduced, [state.q, state.v], dt, steps)
    start = lw.to_maximal(model, state)
    poses, twists = runge_kutta(maximal, [start.poses, start.twists], dt, steps)
    expected = lw.kinematics(model, q, v)
    assert np.abs(poses - expected.poses).max() < 1e-8
    assert np.abs(twists - expected.twists).max() < 1e-7
    fit = joint_fit(model, poses, twists, near)
    assert np.abs(fit.q - q).max() < 1e-8
    assert np.abs(fit.q - state.q).max() > 0.3  # it moved


# --- Bullet --------------------------------------------------------------------------------------------------------------------
LINK = '<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>{tensor}</inertial></link>'
TENSOR = '<inertia ixx="{}" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0"/>'
JOINT = '<joint name="j{name}" type="{kind}"><parent link="{parent}"/><child link="{name}"/><origin xyz="{at}"/>{axis}</joint>'


def character() -> lw.Model:
    """A hinge, a ball joint, and two hinges on it."""
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(1.0, (0.1, 0.12, 0.4), com=(0, 0, -0.2))
    b.body("a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0, 0, 2)), inertia=rod)
    b.body("b", parent="a", joint=lw.Spherical(), placement=lw.SE3(p=(0, 0, -0.4)), inertia=rod)
    b.body("c", parent="b", joint=lw.Revolute((1, 0, 0)), placement=lw.SE3(p=(0.1, 0, -0.4)), inertia=rod)
    b.body("d", parent="b", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(-0.1, 0, -0.4)), inertia=rod)
    return b.build()


def urdf(model: lw.Model) -> str:
    parts = ['<robot name="character"><link name="base"/>']
    for body in model.bodies:
        i = body.inertia
        text = lambda x: " ".join(str(float(y)) for y in x)  # noqa: E731
        parts.append(LINK.format(name=body.name, com=text(i.com), mass=float(i.mass), tensor=TENSOR.format(*np.diag(i.tensor))))
        kind, axis = (
            ("continuous", f'<axis xyz="{text(body.joint.axis)}"/>') if isinstance(body.joint, lw.Revolute) else ("spherical", "")
        )
        parent = "base" if body.parent < 0 else model.bodies[body.parent].name
        parts.append(JOINT.format(name=body.name, kind=kind, parent=parent, at=text(body.placement.p), axis=axis))
    return "".join([*parts, "</robot>"])


def test_bullet_follows_within_its_own_error(tmp_path: Path) -> None:
    bullet = pytest.importorskip("pybullet", reason="pip install linkwork[bullet]")
    model = character()
    rest = model.neutral()

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        target = 0.4 * np.sin(2.0 * t + np.arange(model.nv))
        return lw.gravity_forces(model, q) + 20.0 * (target - model.difference(rest, q)) - 3.0 * v

    duration = 0.5
    settings = {"rtol": 1e-10, "atol": 1e-10}
    start = lw.State(rest, np.zeros(model.nv))
    ours = lw.simulate(model, start, duration, 0.05, stepper="dop853", control=lambda t, s: control(t, s.q, s.v), **settings)
    expected = lw.to_cartesian(model, ours.q[-1], ours.v[-1])
    path = tmp_path / "character.urdf"
    path.write_text(urdf(model))
    errors = [
        np.abs(in_bullet(bullet, str(path), model, control, duration, dt) - expected.positions).max() for dt in (2e-3, 1e-3)
    ]
    moved = np.abs(expected.positions - lw.to_cartesian(model, rest).positions).max()
    assert moved > 0.1
    assert errors[1] < 0.01 * moved
    assert errors[1] < 0.6 * errors[0]  # of first order


def in_bullet(
    bullet: Any, path: str, model: lw.Model, control: Callable[..., np.ndarray], duration: float, dt: float
) -> np.ndarray:
    """Centres of mass at the end, in Bullet, under the forces on links that the controller's joint forces amount to."""
    p = bullet
    client = p.connect(p.DIRECT)
    try:
        p.setGravity(*model.gravity)
        p.setTimeStep(dt)
        robot = p.loadURDF(path, useFixedBase=True, flags=p.URDF_USE_INERTIA_FROM_FILE | p.URDF_MAINTAIN_LINK_ORDER)
        count = p.getNumJoints(robot)
        index = {p.getJointInfo(robot, k)[12].decode(): k for k in range(count)}
        links = [index[b.name] for b in model.bodies]
        for k in range(-1, count):
            p.changeDynamics(robot, k, linearDamping=0, angularDamping=0, jointDamping=0, maxJointVelocity=1e3)
        for body, k in zip(model.bodies, links, strict=True):
            if isinstance(body.joint, lw.Revolute):
                p.setJointMotorControl2(robot, k, p.VELOCITY_CONTROL, force=0)
            else:
                free = {"targetPosition": [0, 0, 0, 1], "targetVelocity": [0, 0, 0], "positionGain": 0, "velocityGain": 0}
                p.setJointMotorControlMultiDof(robot, k, p.POSITION_CONTROL, force=[0, 0, 0], **free)
        near = model.neutral()
        for n in range(round(duration / dt)):
            state = cartesian(p, robot, links)
            fit = lw.from_cartesian(model, state, near)
            near = fit.q
            acting = lw.to_cartesian(model, fit.q, fit.v, control(n * dt, fit.q, fit.v))
            for k, link in enumerate(links):
                p.applyExternalForce(robot, link, acting.forces[k].tolist(), state.positions[k].tolist(), p.WORLD_FRAME)
                p.applyExternalTorque(robot, link, acting.torques[k].tolist(), p.WORLD_FRAME)
            p.stepSimulation()
        return cartesian(p, robot, links).positions
    finally:
        p.disconnect(client)


def cartesian(p: Any, robot: int, links: list[int]) -> lw.Cartesian:
    """The links as Bullet has them; their inertial frames are turned as their own."""
    found = [p.getLinkState(robot, k, computeLinkVelocity=1, computeForwardKinematics=1) for k in links]
    x, quats, u, w = (np.array([f[i] for f in found]) for i in (0, 1, 6, 7))
    return lw.Cartesian(x, np.roll(quats, 1, axis=-1), u, w, np.zeros_like(u), np.zeros_like(u))
