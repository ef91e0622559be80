"""Joints of users whose coordinates change to those of a second chart near poles."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw

BODY = lw.Inertia(1.0, tensor=1e-3 * np.eye(3))


def parts(q: Any) -> tuple[Any, Any, Any]:
    second = q[1] > 2 * np.pi
    return second, q[0], q[1] - lw.math.where(second, 4 * np.pi, 0.0)


def direction(q: Any) -> tuple[Any, Any, Any]:
    second, a, b = parts(q)
    x, y, z = np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)
    return lw.math.where(second, z, x), y, lw.math.where(second, -x, z)


def on_sphere(q: Any, r: Any) -> lw.SE3:
    return lw.SE3(p=np.array([r * x for x in direction(q)]))


def leave(q: Any) -> Any:
    return 0.4 - np.cos(parts(q)[2]) ** 2


def other(q: Any) -> Any:
    second, (x, y, z) = parts(q)[0], direction(q)
    a, b = lw.math.where(second, x, -z), lw.math.where(second, z, x)
    return np.array([np.arctan2(y, a), np.arcsin(b) + lw.math.where(second, 0.0, 4 * np.pi)])


def bead(charts: Any = (leave, other), **more: Any) -> lw.Joint:
    return lw.joint(on_sphere, 2, "bead", parameters={"r": 0.7}, charts=charts, **more)


def pendulum(**more: Any) -> lw.Model:
    return lw.ModelBuilder().body("bead", joint=bead(**more), inertia=BODY).build()


def starts(model: lw.Model, count: int) -> lw.State:
    rng = np.random.default_rng(0)
    q = np.array([model.random_configuration(rng) for _ in range(count)])
    return lw.State(q, 3.0 * rng.normal(size=(count, 2)))


@pytest.mark.parametrize(
    ("stepper", "drift"), [("rk4", 1e-7), ("symplectic_euler", 3e-2), ("dop853", 1e-5), ("bdf2", 1e-3), ("variational", 1e-3)]
)
def test_energy_is_kept_over_changes_of_charts(stepper: str, drift: float) -> None:
    """Also of runs that begin beside a pole."""
    model = pendulum()
    count = 1 if stepper == "dop853" else 24
    run = lw.simulate(model, starts(model, count), 3.0, 1e-3, stepper=stepper, every=10)
    energies = run.energy.total
    assert np.all(np.ptp(energies, axis=-1) < drift * (1.0 + np.abs(energies).max(axis=-1)))
    assert (run.q[..., 1] > 2 * np.pi).any()


def test_pose_and_twist_stay() -> None:
    joint, rng = bead(), np.random.default_rng(1)
    changed = 0
    for q in (joint.random(rng) for _ in range(50)):
        v = rng.normal(size=2)
        q_new, v_new = joint.rechart(q, v)
        before, after = joint.motion(q, v), joint.motion(q_new, v_new)
        assert np.abs(np.asarray(after.p - before.p, float)).max() < 1e-12
        if abs(np.cos(parts(q)[2])) > 1e-2:
            assert np.abs(np.asarray(after.tangent.phi - before.tangent.phi, float)).max() < 1e-9
        changed += bool(np.any(q_new != q))
    assert changed > 5


def test_formulations_derivatives_and_copies(tmp_path: Path) -> None:
    model = pendulum()
    start = lw.State([0.3, 0.5], [0.1, 6.0])
    run = lw.simulate(model, start, 1.0, 1e-4, every=100)
    assert np.abs(lw.simulate(model, start, 1.0, 1e-4, method="maximal", every=100).poses[-1] - run.poses[-1]).max() < 5e-3
    found = lw.step_derivatives(model, start, 1e-3, stepper="rk4", steps=100).A  # over a change of charts
    ends = []
    for sign in (1.0, -1.0):
        end = lw.simulate(model, lw.State(start.q, start.v + np.array([0.0, sign * 1e-6])), 0.1, 1e-3, stepper="rk4")
        ends.append(np.concatenate([end.q[-1], end.v[-1]]))
    assert found[:, 3] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-6)
    model.save(tmp_path / "bead.lwm")
    for same in (lw.load(tmp_path / "bead.lwm"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(lw.simulate(same, start, 1.0, 1e-4, every=100).q, run.q)
    assert model.with_parameters({"bead": {"r": 0.8}}).bodies[0].joint.charted


def test_laws_on_coordinates_keep_one_chart() -> None:
    def early(q: Any, share: float) -> Any:
        return share - np.cos(parts(q)[2]) ** 2

    joint = lw.joint(on_sphere, 2, parameters={"r": 0.7, "share": 0.4}, charts=(early, other))
    model = lw.ModelBuilder().body("bead", joint=joint, inertia=BODY).add(lw.JointSpring("bead", [1.0, 1.0])).build()
    assert not model.bodies[0].joint.charted
    assert "keep one chart" in model.notes[0]
    assert model.bodies[0].joint.signature != joint.signature


def test_what_is_refused() -> None:
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (leave, {}, "charts must be two functions"),
        ((leave, lambda q: q + 0.1), {}, "has another pose, off by"),
        ((leave, lambda q: q), {}, "is to be left at once"),
        ((leave, lambda q: [q[0]]), {}, "must return 2 coordinates"),
        ((leave, other), {"domain": (-1.0, 1.0)}, "give charts or domain"),
    ]
    for charts, more, told in cases:
        with pytest.raises(lw.ModelError, match=told):
            bead(charts, **more)
