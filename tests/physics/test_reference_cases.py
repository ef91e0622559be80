"""Numbers of other engines and closed forms (tests/data): accelerations, forces, energies, and motions over many seconds."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models import relative

import linkwork as lw

DATA = Path(__file__).parent.parent / "data"
TOLERANCE = 1e-10
TIGHT: dict[str, Any] = {"stepper": "dop853", "rtol": 1e-13, "atol": 1e-14}
STIFF: dict[str, Any] = {"stepper": "dop853", "rtol": 1e-10, "atol": 1e-14}
SAMPLES = pytest.mark.parametrize(
    ("name", "k"), [(name, k) for name in ("double_pendulum", "seven_link_arm") for k in range(5)], ids=str
)


@cache
def data(name: str) -> dict[str, Any]:
    return json.loads((DATA / f"{name}.json").read_text())


def built(case: dict[str, Any], **properties: Any) -> lw.Model:
    """The model of a file: hinges, or a free body where there is no axis."""
    builder = lw.ModelBuilder(gravity=case["gravity"])
    for i, b in enumerate(case["bodies"]):
        builder.body(
            f"b{i}",
            parent="world" if b["parent"] < 0 else f"b{b['parent']}",
            joint=lw.Revolute(b["axis"]) if "axis" in b else lw.Free(),
            placement=lw.SE3(R=b.get("R"), p=b.get("p")),
            inertia=lw.Inertia(b["mass"], b["com"], b["tensor"]),
            **properties,
        )
    return builder.build()


@cache
def model(name: str) -> lw.Model:
    return built(data(name))


def at(run: lw.Trajectory, points: list[dict[str, Any]]) -> list[int]:
    """Where the times of some points are among those recorded."""
    found = [int(np.abs(run.t - p["t"]).argmin()) for p in points]
    assert np.allclose(run.t[found], [p["t"] for p in points], rtol=1e-12, atol=0.0)
    return found


# --- states -------------------------------------------------------------------------------------------------------------
@SAMPLES
def test_joint_space(name: str, k: int) -> None:
    m, s = model(name), data(name)["samples"][k]
    q, v, tau, a = (np.array(s[x]) for x in ("q", "v", "tau", "a"))
    assert relative(lw.forward_dynamics(m, q, v, tau), a) < TOLERANCE
    assert relative(lw.maximal_dynamics(m, lw.to_maximal(m, lw.State(q, v)), tau).a, a) < TOLERANCE
    assert relative(lw.mass_matrix(m, q), s["mass_matrix"]) < TOLERANCE
    assert relative(lw.bias_forces(m, q, v), s["bias"]) < TOLERANCE
    assert relative(lw.gravity_forces(m, q), s["gravity_forces"]) < TOLERANCE
    assert relative(lw.inverse_dynamics(m, q, v, a), tau) < TOLERANCE
    energy = lw.energy(m, lw.State(q, v))
    assert energy.kinetic == pytest.approx(s["kinetic"], rel=TOLERANCE)
    assert energy.potential == pytest.approx(s["potential"], rel=TOLERANCE)


@SAMPLES
def test_bodies(name: str, k: int) -> None:
    m, s = model(name), data(name)["samples"][k]
    kinematics = lw.kinematics(m, s["q"], s["v"], s["a"])
    R, p = kinematics.poses[:, :3, :3], kinematics.poses[:, :3, 3]
    w, u = (in_world(R, x) for x in np.split(kinematics.twists, 2, axis=1))
    alpha, rate = (in_world(R, x) for x in np.split(kinematics.twists_dot, 2, axis=1))
    moments, forces = (in_world(R, x) for x in np.split(lw.joint_wrenches(m, s["q"], s["v"], s["a"]), 2, axis=1))
    assert relative(R, s["rotations"]) < TOLERANCE
    assert relative(p, s["origins"]) < TOLERANCE
    assert relative(w, s["angular_velocities"]) < TOLERANCE
    assert relative(u, s["velocities"]) < TOLERANCE
    assert relative(alpha, s["angular_accelerations"]) < TOLERANCE
    assert relative(rate + np.cross(w, u), s["accelerations"]) < TOLERANCE
    assert relative(moments, s["moments"]) < TOLERANCE
    assert relative(forces, s["forces"]) < TOLERANCE


@SAMPLES
def test_momentum(name: str, k: int) -> None:
    m, s = model(name), data(name)["samples"][k]
    linear, angular = momentum(m, lw.kinematics(m, s["q"], s["v"]))
    assert relative(linear, s["momentum"]) < TOLERANCE
    assert relative(angular, s["angular_momentum"]) < TOLERANCE


def in_world(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", R, x)


def momentum(m: lw.Model, k: lw.Kinematics) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular momentum about the world's origin."""
    linear, angular = np.zeros(3), np.zeros(3)
    for body, pose, twist in zip(m.bodies, k.poses, k.twists, strict=True):
        moment, impulse = np.split(body.inertia.matrix @ twist, 2)  # about the body's origin, in its axes
        linear += pose[:3, :3] @ impulse
        angular += pose[:3, :3] @ moment + np.cross(pose[:3, 3], pose[:3, :3] @ impulse)
    return linear, angular


# --- motions ------------------------------------------------------------------------------------------------------------
def test_double_pendulum_for_ten_seconds() -> None:
    m, case = model("double_pendulum"), data("double_pendulum")
    start, points = case["motion"][0], case["motion"]
    run = lw.simulate(m, lw.State(start["q"], start["v"]), 10.0, 0.5, **TIGHT)
    k = at(run, points)
    assert np.abs(run.q[k] - [p["q"] for p in points]).max() < 1e-10
    assert np.abs(run.v[k] - [p["v"] for p in points]).max() < 1e-9
    assert np.abs(run.energy.total - case["energy"]).max() < 1e-11


@pytest.mark.parametrize("joint", [lw.Free(), lw.FreeExp("TR")], ids=repr)
def test_tumbling_body_for_twenty_seconds(joint: lw.Joint) -> None:
    """The axis turns over four times."""
    case = data("tumbling_body")
    m = model("tumbling_body").replace(bodies={"b0": {"joint": joint}})
    points = case["motion"]
    v = np.zeros(m.nv)
    v[m.nv - 3 :] = points[0]["w"]  # at the identity, the rate of a rotation vector is the angular velocity
    if isinstance(joint, lw.Free):
        v = np.roll(v, 3)
    run = lw.simulate(m, lw.State(m.neutral(), v), 20.0, 0.5, **TIGHT)
    k = at(run, points)
    motion = lw.kinematics(m, run.q[k], run.v[k])
    R, w = motion.poses[:, 0, :3, :3], motion.twists[:, 0, :3]
    assert np.abs(R - [p["R"] for p in points]).max() < 2e-10
    assert np.abs(w - [p["w"] for p in points]).max() < 2e-9
    assert np.abs(in_world(R, w * [1.0, 2.0, 3.0]) - case["angular_momentum"]).max() < 2e-10
    assert np.abs(run.energy.total - case["kinetic"]).max() < 1e-10


def test_period_of_the_tumbling_body() -> None:
    case, m = data("tumbling_body"), model("tumbling_body")
    start = np.append(case["motion"][0]["w"], np.zeros(3))
    run = lw.simulate(m, lw.State(m.neutral(), start), case["period"], case["period"], **TIGHT)
    assert np.abs(run.v[-1] - start).max() < 1e-9


@pytest.mark.parametrize("k", range(3))
def test_stiff_hinge_accelerations(k: int) -> None:
    """At every point of the motion: I a = tau - k q - damping v, with I = 0.2."""
    case = data("stiff_hinge")
    c = case["cases"][k]
    m = built(case, damping=c["damping"])
    q, v = np.array(c["q"])[:, None], np.array(c["v"])[:, None]
    a = lw.forward_dynamics(m, q, v, c["tau"] - case["k"] * q)
    expected = (c["tau"] - case["k"] * q - c["damping"] * v) / 0.2
    assert relative(a, expected) < TOLERANCE


@pytest.mark.parametrize(("k", "end"), [(0, 0.1), (1, 0.01), (2, 0.01)])
def test_stiff_hinge_motion(k: int, end: float) -> None:
    """The closed form, from point to point; overdamped, an explicit stepper needs steps of 1e-5 s and stops early."""
    case = data("stiff_hinge")
    c = case["cases"][k]
    m = built(case, damping=c["damping"])
    state = lw.State(np.array(c["q"][:1]), np.array(c["v"][:1]))

    def spring(t: float, now: Any) -> np.ndarray:
        return c["tau"] - case["k"] * now.q

    for t, q, v in zip(c["t"][1:], c["q"][1:], c["v"][1:], strict=True):
        if t > end:
            break
        leg = t - state.t
        run = lw.simulate(m, state, leg, leg, control=spring, **STIFF)
        state = lw.State(run.q[-1], run.v[-1], run.t[-1])
        assert abs(state.q[0] - q) < 1e-12
        assert abs(state.v[0] - v) < 1e-9
    assert state.t == pytest.approx(end, rel=1e-12)


def test_simple_pendulum_of_a_point() -> None:
    """No inertia but that of the point at the end of the bar."""
    case = data("simple_pendulum")
    points = case["motion"]
    point = lw.Inertia(1.0, com=(1.0, 0.0, 0.0))
    assert not point.tensor.any()
    m = lw.ModelBuilder(gravity=case["gravity"]).body("bob", joint=lw.Revolute((0, 0, 1)), inertia=point).build()
    run = lw.simulate(m, lw.State(np.array([np.pi]), np.zeros(1)), 10.0, 1.0, **TIGHT)
    place = lw.kinematics(m, run.q).poses[:, 0] @ np.array([1.0, 0.0, 0.0, 1.0])
    assert np.abs(run.q[:, 0] - [p["q"] for p in points]).max() < 1e-10
    assert np.abs(run.v[:, 0] - [p["v"] for p in points]).max() < 1e-10
    assert np.abs(place[:, :2] - [[p["x"], p["y"]] for p in points]).max() < 1e-10
    assert np.abs(run.energy.total).max() < 1e-11
