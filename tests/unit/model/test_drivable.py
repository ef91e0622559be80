"""Joints that are locked somewhere, as Euler angles zxz at zero, are refused there and nowhere else."""

import numpy as np
import pytest

import linkwork as lw

TOP = lw.Inertia(1.3, (0.02, 0.0, 0.25), np.diag([0.02, 0.03, 0.011]))
Z, X = lw.Revolute((0, 0, 1)), lw.Revolute((1, 0, 0))
ANGLES = {"euler": lw.SphericalEuler("zxz"), "composite": lw.Composite(Z, lw.Composite(X, Z))}


def top(joint: lw.Joint) -> lw.Model:
    return lw.ModelBuilder().body("top", joint=joint, inertia=TOP).build()


@pytest.mark.parametrize("joint", ANGLES.values(), ids=ANGLES)
def test_angles_locked_at_zero_move_elsewhere(joint: lw.Joint) -> None:
    """The classical angles of a top against a ball joint at the same pose, angular velocities and accelerations in body axes."""
    model, ball = top(joint), top(lw.Spherical())
    q, v = np.array([0.3, 0.6, 0.2]), np.array([1.0, 0.4, 40.0])
    at = lw.kinematics(model, q, v, lw.forward_dynamics(model, q, v))
    quaternion = lw.to_reduced(ball, lw.MaximalState(at.poses, at.twists, ball.neutral())).q
    assert np.allclose(at.twists_dot[0, :3], lw.forward_dynamics(ball, quaternion, at.twists[0, :3]), rtol=1e-12)
    run = lw.simulate(model, lw.State(q, v), 0.1, 1e-3, stepper="rk4")
    other = lw.simulate(ball, lw.State(quaternion, at.twists[0, :3]), 0.1, 1e-3, stepper="rk4")
    assert np.allclose(run.poses[-1], other.poses[-1], atol=1e-6)


@pytest.mark.parametrize("method", ["reduced", "maximal", "redmax"])
@pytest.mark.parametrize("joint", ANGLES.values(), ids=ANGLES)
def test_a_run_from_the_lock_says_so(joint: lw.Joint, method: str) -> None:
    with pytest.raises(lw.InputError, match=r"subspace of joint 'top' has a rank below 3 at q = \[0\.3, 0\.0, 0\.2\]"):
        lw.simulate(top(joint), lw.State([0.3, 0.0, 0.2], np.zeros(3)), 0.1, method=method)


def test_armature_says_how_a_locked_joint_moves() -> None:
    """As MuJoCo moves it: three hinges z, x, z in one plane, M = S^T I S + armature."""
    model = lw.ModelBuilder().body("top", joint=ANGLES["composite"], inertia=TOP, armature=0.01).build()
    run = lw.simulate(model, lw.State([0.3, 0.0, 0.2], [0.0, 0.5, 0.0]), 0.2, 1e-3)
    assert (run.health.energy_drift or 0.0) < 1e-2
    assert run.health.singular == ()


def test_passing_the_lock_is_reported() -> None:
    model = (
        lw.ModelBuilder(gravity=(0, 0, 0)).body("top", joint=ANGLES["euler"], inertia=lw.Inertia(1.0, tensor=np.eye(3))).build()
    )
    run = lw.simulate(model, lw.State([0.0, 0.3004, 0.0], [0.0, -1.0, 0.0]), 0.6, 1e-3)
    ((t, names),) = run.health.singular
    assert t == pytest.approx(0.3, abs=2e-3)
    assert names == ("joint 'top'",)


def test_a_needle_about_itself_is_refused_still() -> None:
    needle = lw.Inertia(1.0, (0, 0, 0.5), np.diag([0.1, 0.1, 0.0]))
    model = lw.ModelBuilder().body("needle", joint=lw.SphericalEuler("zxz"), inertia=needle).build()
    with pytest.raises(lw.ModelError, match="nothing resists joint 'needle'"):
        lw.forward_dynamics(model, [0.3, 0.6, 0.2], np.zeros(3))
