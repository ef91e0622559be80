"""Loops closed by joints: a free body held by a closure moves like one on the joint; redundant closures need no care."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.constraints.rows import constraint_set

BLOCK = lw.Inertia(1.3, (0.1, 0.2, -0.1), np.diag([0.5, 0.7, 0.9]))
FRAME = lw.SE3.exp(np.array([0.3, -0.2, 0.5, 0.4, 0.1, -0.3]))
JOINTS = (
    lw.Fixed(),
    lw.Revolute((0, 0.6, 0.8)),
    lw.Prismatic((0.6, 0, 0.8)),
    lw.Cylindrical((0, 0, 1)),
    lw.Spherical(),
    lw.Universal(),
    lw.Planar(),
    lw.Free2D(),
    lw.Translational(),
)


def both(joint: lw.Joint) -> tuple[lw.Model, lw.Model]:
    """A body that hangs on the joint, and the same body free, held by a closure."""
    on_joint, closed = lw.ModelBuilder(), lw.ModelBuilder()
    for b in (on_joint, closed):
        b.body("base", joint=lw.Revolute((1, 0, 0)), inertia=BLOCK)
    on_joint.body("body", parent="base", joint=joint, placement=FRAME, inertia=BLOCK)
    closed.body("body", joint=lw.Free(), inertia=BLOCK)
    closed.add(lw.Closure(joint, "base", "body", frame_a=FRAME))
    return on_joint.build(), closed.build()


def pose_coordinates(E: np.ndarray) -> np.ndarray:
    from linkwork.spatial.quaternion import from_rotation

    return np.concatenate([E[:3, 3], from_rotation(E[:3, :3])])


@pytest.mark.parametrize("joint", JOINTS, ids=lambda j: type(j).__name__)
@pytest.mark.parametrize("seed", range(3))
def test_a_closure_is_its_joint(joint: lw.Joint, seed: int) -> None:
    tree, closed = both(joint)
    rng = np.random.default_rng(seed)
    q, v, tau = tree.random_configuration(seed), rng.normal(size=tree.nv), rng.normal(size=tree.nv)
    k = lw.kinematics(tree, q, v, lw.forward_dynamics(tree, q, v, np.append(tau[:1], np.zeros(tree.nv - 1))))
    q_c = np.concatenate([q[:1], pose_coordinates(k.poses[1])])
    v_c = np.concatenate([v[:1], k.twists[1]])
    rows = constraint_set(closed).at(*(getattr(lw.kinematics(closed, q_c, v_c), n) for n in ("poses", "twists")), q_c, v_c)
    assert rows.rows.count == 6 - joint.nv
    assert np.abs(rows.residual).max(initial=0) < 1e-12
    assert np.abs(rows.rate).max(initial=0) < 1e-12
    a = lw.forward_dynamics(closed, q_c, v_c, np.append(tau[:1], np.zeros(6)))
    found = lw.kinematics(closed, q_c, v_c, a)
    np.testing.assert_allclose(found.twists_dot, k.twists_dot, atol=1e-9 * (1 + np.abs(k.twists_dot).max()))


def four_bar(closure: object) -> tuple[lw.Model, lw.State]:
    """Crank, coupler and rocker about y in the plane y = 0; the rocker's end meets the world at (0.8, 0, 0)."""
    b = lw.ModelBuilder()
    lengths, angles = (0.3, 0.7, 0.5), four_bar_angles()
    parent, place, at = "world", lw.SE3(), 0.0
    q = []
    for i, (length, angle) in enumerate(zip(lengths, angles, strict=True)):
        rod = lw.Inertia.cuboid(mass=1.0, size=(length, 0.05, 0.05), com=(length / 2, 0, 0))
        b.body(f"rod{i}", parent=parent, joint=lw.Revolute((0, 1, 0)), placement=place, inertia=rod)
        parent, place = f"rod{i}", lw.SE3(p=(length, 0, 0))
        q.append(angle - at)
        at = angle
    if isinstance(closure, lw.Joint):
        b.add(lw.Closure(closure, "rod2", "world", lw.SE3(p=(0.5, 0, 0)), lw.SE3(p=(0.8, 0, 0))))
    else:
        b.add(lw.Loop("rod2", "world", (0.5, 0, 0), (0.8, 0, 0)))
    model = b.build()
    return model, lw.State(np.array(q), np.zeros(3))


def four_bar_angles() -> tuple[float, float, float]:
    """Angles of the rods against x about y, so that the loop closes with the crank at 60 degrees up."""
    crank = -np.pi / 3  # turning about y lowers x towards -z
    tip = 0.3 * np.array([np.cos(crank), -np.sin(crank)])
    d = np.array([0.8, 0.0]) - tip
    r = np.linalg.norm(d)
    alpha = np.arccos((0.7**2 + r**2 - 0.5**2) / (2 * 0.7 * r))
    coupler = np.arctan2(d[1], d[0]) + alpha
    elbow = tip + 0.7 * np.array([np.cos(coupler), np.sin(coupler)])
    rocker = np.arctan2(-elbow[1], 0.8 - elbow[0])
    return crank, -coupler, -rocker


@pytest.mark.parametrize("joint", [lw.Revolute((0, 1, 0)), lw.Cylindrical((0, 1, 0))], ids=lambda j: type(j).__name__)
def test_redundant_hinges_of_a_planar_four_bar(joint: lw.Joint) -> None:
    """Three hinges about y and a fourth in space: five rows, two of them independent. A point needs no care either."""
    model, state = four_bar(joint)
    plain, _ = four_bar("point")
    v = velocities_of(plain, state.q)
    for tau in (np.zeros(3), np.array([2.0, 0.0, 0.0])):
        a, expected = (lw.forward_dynamics(m, state.q, v, tau) for m in (model, plain))
        np.testing.assert_allclose(a, expected, atol=1e-9 * (1 + np.abs(expected).max()))
    run, other = (lw.simulate(m, lw.State(state.q, v), 0.2, 1e-3) for m in (model, plain))
    np.testing.assert_allclose(run.q, other.q, atol=2e-5)  # drift is corrected in other axes
    assert run.health.constraint_residual < 1e-4


def velocities_of(model: lw.Model, q: np.ndarray) -> np.ndarray:
    """Joint velocities with the crank at 1 rad/s that keep the loop closed."""
    k = lw.kinematics(model, q, np.zeros(3))
    rows = constraint_set(model).at(k.poses, k.twists, q, np.zeros(3)).rows
    G = np.array([rows @ lw_motion(model, q, e) for e in np.eye(3)]).T
    free = np.linalg.svd(G)[2][-1]
    return free / free[0]


def lw_motion(model: lw.Model, q: np.ndarray, v: np.ndarray) -> object:
    from linkwork.model.state import Motion

    return Motion(lw.kinematics(model, q, v).twists, v)


def test_joints_that_cannot_close_a_loop_are_refused() -> None:
    with pytest.raises(lw.ModelError, match=r"Closure: Helical.* cannot close a loop; these can: Fixed, Revolute"):
        lw.Closure(lw.Helical((0, 0, 1), pitch=0.1), "a")
