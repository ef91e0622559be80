"""What single joint forces do in plain cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from models import rotation, unit

import linkwork as lw
from linkwork.spatial import quaternion


def with_joint(joint: lw.Joint, *forces: lw.JointForce, **properties: Any) -> lw.ForceSet:
    b = lw.ModelBuilder().body("j", joint=joint, inertia=lw.Inertia(1.0, tensor=np.eye(3)), **properties)
    for force in forces:
        b.add(force)
    return lw.force_set(b.build())


def force(forces: lw.ForceSet, q: Any, v: Any = None, t: float = 0.0, u: Any = None) -> list[float]:
    q = np.atleast_1d(np.asarray(q, float))
    v = np.zeros(forces.model.nv) if v is None else np.atleast_1d(np.asarray(v, float))
    return forces.joint_forces(q, v, t, u).tolist()


def turned(axis: Any, angle: float) -> np.ndarray:
    return np.asarray(quaternion.exp(np.asarray(axis, float) * angle), float)


def test_springs_and_dampers_of_angles() -> None:
    forces = with_joint(
        lw.Universal(), lw.JointSpring("j", (2.0, 3.0), (0.5, -0.5), damping=0.1), lw.JointDamping("j", (0.0, 1.0))
    )
    assert force(forces, (1.0, 1.0), (2.0, 4.0)) == pytest.approx([-1.0 - 0.2, -4.5 - 0.4 - 4.0])


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.0, np.pi - 1e-6])
def test_a_spring_in_a_ball_pulls_along_the_rotation_vector(angle: float) -> None:
    n = unit(np.random.default_rng(0))
    forces = with_joint(lw.Spherical(), lw.JointSpring("j", 2.0))
    q = turned(n, angle)
    assert force(forces, q) == pytest.approx(list(-2.0 * angle * n), abs=1e-12)
    df_dq = forces.joint_derivatives(q, np.zeros(3))[0].dense()
    assert df_dq @ n == pytest.approx(-2.0 * n, abs=1e-10)
    assert np.all(np.isfinite(df_dq))
    assert force(forces, -q) == pytest.approx(force(forces, q))  # the same rotation


def test_curves_pass_their_points_and_go_straight_beyond() -> None:
    points = [(-1.0, 2.0), (0.0, 0.5), (2.0, -1.0)]
    forces = with_joint(lw.Revolute(), lw.TorqueCurve("j", points))
    for q, f in points:
        assert force(forces, q) == pytest.approx([f])
    df_dq = [forces.joint_derivatives([q], [0.0])[0].dense()[0, 0] for q in (2.0 - 1e-9, 3.0, 5.0)]
    assert df_dq == pytest.approx([df_dq[1]] * 3, abs=1e-7)
    assert force(forces, 5.0) == pytest.approx([-1.0 + 3.0 * df_dq[1]])
    assert max(f for q in np.linspace(-1, 2, 50) for f in force(forces, q)) <= 2.0  # no overshoot


def test_curves_with_slopes_have_them() -> None:
    forces = with_joint(lw.Prismatic(), lw.TorqueCurve("j", [(0.0, 0.0, -1.0), (1.0, 3.0, 4.0)]))
    for q, slope in ((0.0, -1.0), (1.0, 4.0), (-2.0, -1.0), (2.0, 4.0)):
        assert forces.joint_derivatives([q], [0.0])[0].dense()[0, 0] == pytest.approx(slope)


def test_curves_are_functions_too() -> None:
    forces = with_joint(lw.Revolute(), lw.TorqueCurve("j", lambda q: lw.math.where(q > 0.5, -3.0 * (q - 0.5) ** 2, 0.0)))
    assert force(forces, 0.2) == [0.0]
    assert force(forces, 1.5) == pytest.approx([-3.0])


def test_limits_push_back_only_beyond_and_never_pull() -> None:
    forces = with_joint(lw.Revolute(), lw.LimitSpring("j", 100.0, 2.0), limits=(-1.0, 0.5))
    assert force(forces, 0.4, 9.0) == [0.0]
    assert force(forces, 0.6, 1.0) == pytest.approx([-12.0])
    assert force(forces, 0.6, -1.0) == pytest.approx([-8.0])
    assert force(forces, 0.6, -9.0) == [0.0]  # leaving faster than the spring follows
    assert force(forces, -1.1, -1.0) == pytest.approx([12.0])
    assert forces.joint_energies([0.6], [0.0])[0] == pytest.approx(0.5)


def test_one_sided_limits_are_one_sided() -> None:
    forces = with_joint(lw.Prismatic(), lw.LimitSpring("j", 10.0), limits=(-np.inf, 0.5))
    assert force(forces, -1e6) == [0.0]
    assert force(forces, 1.5) == pytest.approx([-10.0])
    assert forces.joint_derivatives([1.5], [0.0])[0].dense()[0, 0] == -10.0


AXES = [(0.0, 0.0, 1.0), (0.48, 0.6, 0.64)]


@pytest.mark.parametrize("axis", AXES)
def test_the_swing_is_the_angle_of_the_axis_and_the_twist_that_about_it(axis: Any) -> None:
    """R = swing about an axis across, times twist about the axis: each limit sees its own angle."""
    across = np.cross(axis, (1.0, 0.0, 0.0))
    across /= np.linalg.norm(across)
    limit = lw.SwingTwistLimit("j", 4.0, axis=axis, swing=0.5, twist=(-0.2, 0.3))
    forces = with_joint(lw.Spherical(), limit)
    for swing, twist in ((0.2, 0.1), (0.4, -0.15), (0.9, 0.1), (0.3, 0.8), (1.4, -1.1), (2.9, 0.7)):
        q = quaternion.multiply(turned(across, swing), turned(axis, twist))
        past = max(0.0, swing - 0.5), max(0.0, twist - 0.3, -0.2 - twist)
        assert forces.joint_energies(q, np.zeros(3))[0] == pytest.approx(2.0 * (past[0] ** 2 + past[1] ** 2), abs=1e-12)
    inside = quaternion.multiply(turned(across, 0.4), turned(axis, 0.2))
    assert force(forces, inside, (9.0, 9.0, 9.0)) == [0.0, 0.0, 0.0]
    straight = turned(axis, 0.7)  # no swing: nothing singular
    assert force(forces, straight) == pytest.approx(list(-4.0 * 0.4 * np.asarray(axis)))


@pytest.mark.parametrize("swing", [np.pi, 1.0, 1e-3])
def test_swing_limits_are_finite_everywhere(swing: float) -> None:
    forces = with_joint(lw.Spherical(), lw.SwingTwistLimit("j", 4.0, 0.3, swing=swing, twist=(-0.2, 0.3)))
    for angle in (0.0, 1e-12, 1.0, np.pi - 1e-9, np.pi):
        for axis in ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.6, 0.8)):
            q, v = turned(axis, angle), np.array([0.3, 0.2, 0.1])
            assert np.all(np.isfinite(forces.joint_forces(q, v)))
            assert all(np.all(np.isfinite(A.dense())) for A in forces.joint_derivatives(q, v))


def test_swing_and_twist_are_the_same_in_all_coordinates() -> None:
    R = rotation(unit(np.random.default_rng(3)), 1.4)
    q = {lw.Spherical(): quaternion.from_rotation(R), lw.SphericalExp(): lw.SE3(R=R).log()[:3]}
    limit = lw.SwingTwistLimit("j", 4.0, swing=0.3, twist=(-0.2, 0.1))
    stored = [with_joint(joint, limit).joint_energies(x, np.zeros(3))[0] for joint, x in q.items()]
    assert stored[0] == pytest.approx(stored[1])
    assert stored[0] > 0.1


def test_controllers_follow_their_inputs_and_saturate() -> None:
    forces = with_joint(lw.Universal(), lw.PDController("j", (10.0, 20.0), 1.0, effort=(5.0, np.inf), name="servo"))
    u = np.array([0.3, 0.4, 0.5, 0.6])
    assert force(forces, (0.1, 0.2), (0.0, 0.1), u=u) == pytest.approx([2.5, 4.5])
    assert force(forces, (-9.0, 0.2), (0.0, 0.1), u=u) == pytest.approx([5.0, 4.5])
    df_dq, df_dv = forces.joint_derivatives((-9.0, 0.2), (0.0, 0.1), u=u)
    assert df_dq.dense().tolist() == [[0.0, 0.0], [0.0, -20.0]]
    assert df_dv.dense().tolist() == [[0.0, 0.0], [0.0, -1.0]]


def test_a_controller_turns_a_ball_the_short_way() -> None:
    forces = with_joint(lw.Spherical(), lw.PDController("j", 3.0, name="servo"))
    target = np.append(turned((0, 0, 1.0), 1.0), np.zeros(3))
    assert force(forces, (1.0, 0, 0, 0), u=target) == pytest.approx([0, 0, 3.0])
    assert force(forces, (-1.0, 0, 0, 0), u=target) == pytest.approx([0, 0, 3.0])


def test_controllers_of_ones_own_have_their_jacobian() -> None:
    def servo(q: Any, v: Any, t: Any, u: Any, gain: Any) -> Any:
        return [gain * np.tanh(u[0] - q[0]) - v[0] * v[0] * np.sin(t)]

    forces = with_joint(lw.Revolute(), lw.joint_force("j", force=servo, parameters={"gain": 2.0}, inputs=1, name="own"))
    assert force(forces, 0.2, 3.0, 0.5, [0.7]) == pytest.approx([2.0 * np.tanh(0.5) - 9.0 * np.sin(0.5)])
    df_dq, df_dv = forces.joint_derivatives([0.2], [3.0], 0.5, [0.7])
    assert df_dq.dense()[0, 0] == pytest.approx(-2.0 / np.cosh(0.5) ** 2)
    assert df_dv.dense()[0, 0] == pytest.approx(-6.0 * np.sin(0.5))


class Coulomb(lw.JointForce):
    """A class of a user: dry friction, smoothed."""

    parameter_names = ("level",)

    def __init__(self, joint: str, level: float) -> None:
        self.joint, self.level = joint, level

    def force(self, joint: lw.Joint, q: Any, v: Any, t: Any, u: Any) -> Any:
        return -self.level * np.tanh(v / 0.01)


def test_classes_of_users_are_traced_with_their_joint() -> None:
    b = lw.ModelBuilder()
    for name, joint in (("j", lw.Revolute()), ("k", lw.Universal())):
        b.body(name, joint=joint, inertia=lw.Inertia(1.0)).add(Coulomb(name, 2.0)).add(Coulomb(name, 1.0))
    forces = lw.force_set(b.build())
    assert forces.joint_forces(np.zeros(3), np.array([1.0, -1.0, 0.0])).tolist() == pytest.approx([-3.0, 3.0, 0.0])
    assert {len(plan.units_of["law"]) for plan in forces.on_joints.plans.made.values()} == {2}
