"""Twelve Euler sequences as charts of one joint: each describes every rotation, and changes lose nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.joints.euler_charts import SEQUENCES, EulerCharts, margin2

JOINT = EulerCharts()
RNG = np.random.default_rng(5)


def subspace(q: np.ndarray) -> np.ndarray:
    return np.asarray(JOINT.motion(q, np.zeros(3)).tangent.S, float)[:3]


@pytest.mark.parametrize("k", range(12), ids=SEQUENCES)
def test_every_sequence(k: int) -> None:
    q = np.array([*RNG.uniform(-1, 1, 3), k])
    R = np.asarray(JOINT.transform(q).R, float)
    assert np.abs(R - Rotation.from_euler(SEQUENCES[k].upper(), q[:3]).as_matrix()).max() < 1e-15
    assert abs(np.linalg.det(subspace(q)) ** 2 - margin2(k, R)) < 1e-14


def test_the_same_motion_in_every_chart() -> None:
    for _ in range(20):
        q, v = JOINT.random(RNG), RNG.normal(size=3)
        E = JOINT.motion(q, v)
        for k in range(12):
            if margin2(k, E.R) < 0.01:
                continue
            moved = JOINT.motion(*JOINT._in_chart(float(k), E))
            assert np.abs(np.asarray(moved.R - E.R, float)).max() < 1e-14
            assert np.abs(np.asarray(moved.tangent.phi - E.tangent.phi, float)).max() < 1e-13


def test_charts_change_near_lock_only() -> None:
    near, far = np.array([0.3, 1.2, -0.5, 6.0]), np.array([0.3, 1.0, -0.5, 6.0])
    v = np.array([0.1, 0.2, 0.3])
    assert np.array_equal(JOINT.rechart(far, v)[0], far)
    assert np.array_equal(JOINT.rechart_together((far, v), (far, v))[0][0], far)
    q, v_new = JOINT.rechart(near, v)
    assert q[3] == np.argmax([margin2(k, JOINT.transform(near).R) for k in range(12)])
    assert abs(np.linalg.det(subspace(q))) > 0.9
    before = near - [0.01, 0.02, 0.03, 0.0]
    (q2, v2), (q_before, v_before) = JOINT.rechart_together((near, v), (before, v))
    assert q2[3] == q_before[3]
    assert np.abs(q2[:3] - q_before[:3]).max() < 0.2
    pairs = (((near, v), (q, v_new)), ((near, v), (q2, v2)), ((before, v), (q_before, v_before)))
    for old, new in pairs:
        a, b = JOINT.motion(*old), JOINT.motion(*new)
        assert np.abs(np.asarray(a.R - b.R, float)).max() < 1e-14
        assert np.abs(np.asarray(a.tangent.phi - b.tangent.phi, float)).max() < 1e-13


def test_it_steps_like_a_quaternion() -> None:
    """Compiled, with many changes of chart on the way."""
    body = lw.Inertia(1.0, (0, 0, 0), np.diag([1.0, 3.0, 2.0]))
    models = [lw.ModelBuilder(gravity=(0, 0, 0)).body("top", joint=j, inertia=body).build() for j in (JOINT, lw.Spherical())]
    spin = np.array([3.0, 0.3, 5.0])
    run, truth = (lw.simulate(m, lw.State(m.neutral(), spin), 4.0, 1e-3, stepper="rk4", every=10) for m in models)
    assert (np.diff(run.q[:, 3]) != 0).sum() >= 5
    assert np.abs(run.poses - truth.poses).max() < 1e-7


def test_wrong_charts() -> None:
    with pytest.raises(lw.ModelError, match="'xxy' is no sequence"):
        EulerCharts("xxy")
    model = lw.ModelBuilder().body("a", joint=JOINT, inertia=lw.Inertia(1.0, (0, 0, 0), np.eye(3))).build()
    with pytest.raises(lw.InputError, match="whole number from 0 to 11"):
        lw.simulate(model, lw.State([0.0, 0.0, 0.0, 0.5], np.zeros(3)), 0.1)
