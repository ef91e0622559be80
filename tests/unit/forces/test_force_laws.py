"""What single forces do in plain cases, and where they are singular."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from models import rotation, unit

import linkwork as lw
from linkwork.spatial.se3 import SE3

STILL = np.zeros((2, 6))


def model_with(*forces: Any) -> lw.Model:
    b = lw.ModelBuilder()
    for name in "ab":
        b.body(name, joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    for force in forces:
        b.add(force)
    return b.build()


def at(*poses: SE3) -> np.ndarray:
    return np.array([np.asarray(E.matrix, float) for E in poses])


# --- springs ------------------------------------------------------------------------------------------------------------------
def test_a_spring_without_length_has_no_direction_no_force_and_no_derivatives() -> None:
    forces = lw.force_set(model_with(lw.SpringDamper("a", "b", stiffness=5.0, damping=1.0, rest_length=0.3)))
    together, apart = at(SE3(), SE3()), at(SE3(), SE3(p=(1e-100, 0, 0)))
    twists = np.random.default_rng(0).normal(size=(2, 6))
    assert not forces.wrenches(together, twists).any()
    assert not any(A.dense(2).any() for A in forces.derivatives(together, twists))
    assert forces.energies(together, twists)[0] == pytest.approx(0.5 * 5.0 * 0.3)
    assert forces.wrenches(apart, STILL)[1, 3:] == pytest.approx([5.0, 0, 0])  # pushed apart, however near
    assert all(np.all(np.isfinite(A.dense(2))) for A in forces.derivatives(apart, twists))


def test_a_point_spring_has_derivatives_where_its_ends_meet() -> None:
    forces = lw.force_set(model_with(lw.PointSpring("a", "b", stiffness=5.0)))
    df_dq, _ = forces.derivatives(at(SE3(), SE3()), STILL)
    assert np.array_equal(df_dq.dense(2)[3:6, 3:6], -5.0 * np.eye(3))


def test_stretch_of_a_spring_damper_is_relative() -> None:
    forces = lw.force_set(model_with(lw.SpringDamper("a", "b", stiffness=6.0, damping=0.5, rest_length=2.0)))
    twists = np.zeros((2, 6))
    twists[1, 3] = 0.4
    wrenches = forces.wrenches(at(SE3(), SE3(p=(3, 0, 0))), twists)
    assert wrenches[:, 3].tolist() == pytest.approx([3.1, -3.1])
    assert forces.energies(at(SE3(), SE3(p=(3, 0, 0))), twists)[0] == pytest.approx(1.5)


# --- one body -----------------------------------------------------------------------------------------------------------------
def test_point_forces_stay_in_the_world_or_turn_with_the_body() -> None:
    turned = at(SE3.rot_z(np.pi / 2), SE3())
    for axes, force in (("world", [0, -2, 0]), ("body", [2, 0, 0])):
        forces = lw.force_set(model_with(lw.PointForce("a", (0, 1, 0), (2, 0, 0), axes)))
        moment = np.cross([0, 1, 0], force)
        assert forces.wrenches(turned, STILL)[0] == pytest.approx([*moment, *force])
    stored = lw.force_set(model_with(lw.PointForce("a", (0, 1, 0), (2, 0, 0)))).energies(turned, STILL)
    assert stored[0] == pytest.approx(2.0)  # the point is at x = -1


def test_point_forces_may_change_with_time() -> None:
    forces = lw.force_set(model_with(lw.PointForce("a", (0, 0, 0), lambda t: (np.sin(t), 0.0, lw.math.where(t > 1, 2.0, t)))))
    for t, last in ((0.5, 0.5), (1.5, 2.0)):
        assert forces.wrenches(at(SE3(), SE3()), STILL, t)[0, 3:] == pytest.approx([np.sin(t), 0, last])
    assert not forces.energies(at(SE3(), SE3()), STILL, 0.5).any()


def test_damping_about_a_frame_acts_on_its_own_twist() -> None:
    F = SE3(p=(0, 2, 0))
    forces = lw.force_set(model_with(lw.BodyDamping("a", angular=0.0, linear=3.0, frame=F)))
    twists = np.zeros((2, 6))
    twists[0, 2] = 1.0  # turning about z, the frame moves along -x
    wrench = forces.wrenches(at(SE3(), SE3()), twists)[0]
    assert wrench == pytest.approx([0, 0, -12, 6, 0, 0])


def test_drag_grows_with_the_square_and_is_smooth_at_rest() -> None:
    forces = lw.force_set(model_with(lw.Drag("a", 0.5, 2.0)))
    twists = np.zeros((2, 6))
    twists[0, 3:] = (3, 0, 4)
    assert forces.wrenches(at(SE3(), SE3()), twists)[0, 3:] == pytest.approx([-31.5, 0, -42])
    assert not forces.wrenches(at(SE3(), SE3()), STILL).any()
    _, df_dv = forces.derivatives(at(SE3(), SE3()), STILL)
    assert np.array_equal(df_dv.dense(2)[3:6, 3:6], -0.5 * np.eye(3))


def test_a_body_that_goes_with_the_flow_has_no_drag() -> None:
    R = rotation(unit(np.random.default_rng(0)), 1.0)
    forces = lw.force_set(model_with(lw.Drag("a", 1.0, 2.0, flow=(1, 2, 3))))
    twists = np.zeros((2, 6))
    twists[0, 3:] = R.T @ [1, 2, 3]
    assert np.abs(forces.wrenches(at(SE3(R=R), SE3()), twists)).max() < 1e-14


# --- bushing --------------------------------------------------------------------------------------------------------------------
def test_a_bushing_at_rest_is_its_matrices() -> None:
    K, D = np.diag(np.arange(1.0, 7.0)), np.diag(np.arange(2.0, 8.0))
    forces = lw.force_set(model_with(lw.Bushing("a", "b", stiffness=K, damping=D)))
    E = SE3(R=rotation(unit(np.random.default_rng(0)), 2.0), p=(1, 2, 3))
    df_dq, df_dv = forces.derivatives(at(E, E), STILL)
    assert np.abs(forces.wrenches(at(E, E), STILL)).max() < 1e-13
    assert df_dq.dense(2) == pytest.approx(np.kron([[-1, 1], [1, -1]], K), abs=1e-13)
    assert df_dv.dense(2) == pytest.approx(np.kron([[-1, 1], [1, -1]], D), abs=1e-13)


@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_bushing_half_a_turn_away_pulls_back_on_either_side(gap: float, side: float) -> None:
    """The moment is k times the rotation vector, and its derivative along the axis is k, up to half a turn."""
    n, k = unit(np.random.default_rng(4)), 3.0
    forces = lw.force_set(model_with(lw.Bushing("a", "b", stiffness=k)))
    poses = at(SE3(), SE3(R=rotation(n, side * (np.pi - gap))))
    moment = forces.wrenches(poses, STILL)[1, :3]
    assert moment == pytest.approx(-side * k * (np.pi - gap) * n, abs=1e-12)
    df_dq = forces.derivatives(poses, STILL)[0].dense(2)
    assert np.all(np.isfinite(df_dq))
    assert df_dq[6:9, 6:9] @ n == pytest.approx(-k * n, abs=1e-11)


# --- handles --------------------------------------------------------------------------------------------------------------------
def test_a_handle_pulls_and_the_hand_feels_it() -> None:
    handle = lw.Handle("b", (0, 1, 0), target=(0, 0, 0), stiffness=2.0, damping=0.5, name="hand")
    model = model_with(handle)
    rng = np.random.default_rng(0)
    state = lw.State(q=model.random_configuration(1), v=rng.normal(size=model.nv))
    k = lw.kinematics(model, state.q, state.v)
    u = handle.toward((1, 2, 3), (0.1, 0.2, 0.3))
    E, phi = k.poses[1], k.twists[1]
    x, x_dot = E[:3, :3] @ [0, 1, 0] + E[:3, 3], E[:3, :3] @ (phi[3:] + np.cross(phi[:3], [0, 1, 0]))
    pull = 2.0 * (np.array([1, 2, 3]) - x) + 0.5 * (np.array([0.1, 0.2, 0.3]) - x_dot)
    assert handle.reaction(model, state, u) == pytest.approx(-pull)
    assert E[:3, :3] @ lw.force_set(model).wrenches(k.poses, k.twists, u=u)[1, 3:] == pytest.approx(pull)
    assert lw.force_set(model).energies(k.poses, k.twists, u=u)[0] == pytest.approx(np.sum((x - [1, 2, 3]) ** 2))


def test_a_grip_is_a_handle_wherever_it_takes_hold() -> None:
    """Wrenches, energies, derivatives and reaction are those of a handle with its numbers; without a hold there are none."""
    grip = lw.Grip("b", name="hand")
    u = grip.holding((0, 1, 0), (1, 2, 3), (0.1, 0.2, 0.3), stiffness=2.0, damping=0.5)
    handle = lw.Handle("b", (0, 1, 0), target=(1, 2, 3), stiffness=2.0, damping=0.5)
    held, pulled = model_with(grip), model_with(handle)
    state = lw.State(q=held.random_configuration(1), v=np.random.default_rng(0).normal(size=held.nv))
    k = lw.kinematics(held, state.q, state.v)
    toward = handle.toward((1, 2, 3), (0.1, 0.2, 0.3))
    ours, theirs = lw.force_set(held), lw.force_set(pulled)
    for name in ("wrenches", "energies"):
        expected = getattr(theirs, name)(k.poses, k.twists, u=toward)
        assert getattr(ours, name)(k.poses, k.twists, u=u) == pytest.approx(expected, abs=1e-14)
    found, expected = (f.derivatives(k.poses, k.twists, u=x) for f, x in ((ours, u), (theirs, toward)))
    for A, B in zip(found, expected, strict=True):
        assert A.dense(2) == pytest.approx(B.dense(2), abs=1e-14)
    assert grip.reaction(held, state, u) == pytest.approx(handle.reaction(pulled, state, toward), abs=1e-14)
    assert not ours.wrenches(k.poses, k.twists).any()
    with pytest.raises(lw.ModelError, match=r"Grip\('b', name='hand'\): stiffness must be at least 0"):
        grip.holding((0, 0, 0), (0, 0, 0), stiffness=-1.0)


def test_a_pose_handle_is_a_bushing_to_a_moving_frame() -> None:
    rng = np.random.default_rng(2)
    target = SE3(R=rotation(unit(rng), 1.0), p=rng.normal(size=3))
    F, K, D = SE3(R=rotation(unit(rng), 0.4), p=rng.normal(size=3)), rng.uniform(1, 2, 6), rng.uniform(1, 2, 6)
    handle = lw.PoseHandle("b", F, target=target, stiffness=K, damping=D)
    held, tied = model_with(handle), model_with(lw.Bushing("a", "b", frame_b=F, stiffness=K, damping=D))
    twists = rng.normal(size=(2, 6))
    poses = at(target, SE3(R=rotation(unit(rng), 2.0), p=rng.normal(size=3)))
    u = handle.toward(target, twists[0])
    expected = lw.force_set(tied).wrenches(poses, twists)
    assert lw.force_set(held).wrenches(poses, twists, u=u)[1] == pytest.approx(expected[1], abs=1e-12)
    state = lw.MaximalState(poses=poses, twists=twists, q_fit=held.neutral())
    assert handle.reaction(held, state, u) == pytest.approx(expected[0], abs=1e-12)
    at_rest = lw.force_set(held).wrenches(poses, 0 * twists)
    assert at_rest[1] == pytest.approx(lw.force_set(tied).wrenches(poses, 0 * twists)[1], abs=1e-12)


def test_reactions_are_of_one_state_and_their_own_inputs() -> None:
    handle = lw.Handle("b", target=(0, 0, 0), stiffness=2.0)
    model = model_with(handle)
    state = lw.State(q=model.neutral(), v=np.zeros(model.nv))
    with pytest.raises(lw.InputError, match=r"Handle\('b'\): its inputs have shape \(3,\); expected \(6,\)"):
        handle.reaction(model, state, (1, 2, 3))
    many = lw.State(q=np.tile(model.neutral(), (2, 1)), v=np.zeros((2, model.nv)))
    with pytest.raises(lw.InputError, match="the reaction is that of one state, not of a batch"):
        handle.reaction(model, many)


# --- forces of one's own ------------------------------------------------------------------------------------------------------
def test_energy_and_wrenches_of_ones_own_add_up() -> None:
    both = lw.force(
        "a",
        energy=lambda E, m: m * 9.81 * E[0].p[2],
        wrenches=lambda E, phi, d, t: [-d * t * phi[0]],
        parameters={"m": 2.0, "d": 0.5},
    )
    forces = lw.force_set(model_with(both))
    twists = np.ones((2, 6))
    wrench = forces.wrenches(at(SE3(p=(0, 0, 3)), SE3()), twists, 2.0)[0]
    assert wrench == pytest.approx([-1, -1, -1, -1, -1, -1 - 19.62])
    assert forces.energies(at(SE3(p=(0, 0, 3)), SE3()), twists)[0] == pytest.approx(58.86)


def test_whatever_a_pose_offers_carries_its_gradient() -> None:
    """E @ x, E.p, E.R, E.inverse(), E.log(): the same energy said in four ways gives the same wrench."""
    c = np.array([0.2, -0.1, 0.4])
    said = [
        lambda E: (E[0] @ c)[2],
        lambda E: E[0].p[2] + lw.math.dot(E[0].R[2], c),
        lambda E: E[0].rotate(c)[2] + E[0].p[2],
        lambda E: E[0].inverse().inverse().act(c)[2],
        lambda E: SE3.exp(E[0].log()).act(c)[2],
    ]
    poses = at(SE3(R=rotation(unit(np.random.default_rng(0)), 1.3), p=(1, 2, 3)), SE3())
    found = [lw.force_set(model_with(lw.force("a", energy=f))) for f in said]
    for forces in found[1:]:
        assert forces.wrenches(poses, STILL) == pytest.approx(found[0].wrenches(poses, STILL), abs=1e-13)
        assert forces.derivatives(poses, STILL)[0].dense(2) == pytest.approx(
            found[0].derivatives(poses, STILL)[0].dense(2), abs=1e-12
        )


class Gravity(lw.Force):
    """A class of a user: weight toward a fixed point, falling off with the distance."""

    parameter_names = ("strength",)

    def __init__(self, body: str, strength: float) -> None:
        self.bodies, self.strength = (body,), strength

    def energy(self, poses: Any) -> Any:
        return -self.strength / lw.math.norm(poses[0].p)


def test_classes_of_users_share_kernels_by_what_they_compute() -> None:
    forces = lw.force_set(model_with(Gravity("a", 2.0), Gravity("a", 3.0)))
    poses = at(SE3(p=(2, 0, 0)), SE3())
    assert forces.wrenches(poses, STILL)[0, 3] == pytest.approx(-5.0 / 4.0)
    assert {len(plan.units_of["law"]) for plan in forces.on_bodies.plans.made.values()} == {1}
    assert Gravity("a", 2.0).signature == Gravity("b", 9.0).signature
