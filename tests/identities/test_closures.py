"""Loops closed by joints: a free body held by a closure moves like one on the joint; redundant closures need no care."""

from __future__ import annotations

import numpy as np
import pytest
from models import CUSTOM, SPLINES, control_values
from models import PAIRS as HIGHER_PAIRS

import linkwork as lw
from linkwork.constraints.rows import constraint_set

BLOCK = lw.Inertia(1.3, (0.1, 0.2, -0.1), np.diag([0.5, 0.7, 0.9]))
FRAME = lw.SE3.exp(np.array([0.3, -0.2, 0.5, 0.4, 0.1, -0.3]))
LIGHT_PAIRS = ("torus on point", "along a Bezier curve", "four-bar")  # others compile for longer
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
    lw.SphericalExp(),
    lw.Helical((0, 0.6, 0.8), pitch=0.05),
    lw.Composite(lw.Revolute((1, 0, 0)), lw.Prismatic((0, 1, 0))),
    lw.Composite(lw.Revolute((1, 0, 0)), lw.Revolute((0, 1, 0)), FRAME),
    lw.joint(lambda q: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0.3 * np.cos(2 * q[0]), 0.1 * q[0] ** 2, 0.2 * np.sin(q[0]))), nv=1),
    *(HIGHER_PAIRS[name] for name in LIGHT_PAIRS),
    CUSTOM["torus"],
    CUSTOM["rail"],
    SPLINES["spline"],
    SPLINES["closed spline"],
    SPLINES["surface of two"],
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
    for joint in (lw.Free(), lw.FreeExp(), lw.Composite(lw.Translational(), lw.Spherical())):
        with pytest.raises(lw.ModelError, match="cannot close a loop; it must be a joint that leaves less than six freedoms"):
            lw.Closure(joint, "a")


PAIRS = (
    lw.Revolute((0, 1, 0)),
    lw.Universal(),
    lw.Helical((0.6, 0, 0.8), pitch=0.1),
    lw.Composite(lw.Revolute((1, 0, 0)), lw.Prismatic((0, 1, 0))),
    lw.joint(lambda q: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0.3 * np.cos(2 * q[0]), 0.1 * q[0] ** 2, 0.2 * np.sin(q[0]))), nv=1),
    CUSTOM["torus"],
    SPLINES["closed spline"],
    lw.SplineSurface(control_values(3, 4, 4), domain=(None, None)),  # one patch: rk4 keeps its order
)


@pytest.mark.parametrize("joint", PAIRS, ids=lambda j: type(j).__name__)
def test_it_does_not_matter_where_a_loop_is_cut(joint: lw.Joint) -> None:
    """World, a free body, the joint, another body, a hinge to the world: once the hinge is the closure, once the joint."""
    hinge, place = lw.Revolute((0, 0.8, 0.6)), lw.SE3(p=(0.2, 0.1, 0.4))
    by_hinge, by_joint = lw.ModelBuilder(), lw.ModelBuilder()
    by_hinge.body("a", joint=lw.Free(), inertia=BLOCK).body("b", parent="a", joint=joint, placement=FRAME, inertia=BLOCK)
    by_hinge.add(lw.Closure(hinge, "world", "b", place))
    by_joint.body("a", joint=lw.Free(), inertia=BLOCK).body("b", joint=hinge, placement=place, inertia=BLOCK)
    by_joint.add(lw.Closure(joint, "a", "b", FRAME))
    rng = np.random.default_rng(2)
    q, v = 0.3 + 0.2 * rng.normal(size=joint.nv), 0.5 * rng.normal(size=joint.nv)
    Q, turned = joint.motion(q, v), hinge.motion(np.array([0.7]), np.array([0.4]))
    pair = FRAME @ Q.with_tangent(None)
    E_b, phi_b = place @ turned.with_tangent(None), turned.tangent.phi
    E_a, phi_a = E_b @ pair.inverse(), pair.move_twist(phi_b - Q.tangent.phi)
    free = pose_coordinates(np.asarray(E_a.matrix, float))
    starts = [(by_hinge.build(), q, v), (by_joint.build(), [0.7], [0.4])]
    runs = []
    for model, q_b, v_b in starts:
        start = lw.State(np.concatenate([free, q_b]), np.concatenate([np.asarray(phi_a, float), v_b]))
        runs.append(lw.simulate(model, start, 0.2, 1e-2, stepper="rk4"))
        assert runs[-1].health.constraint_residual < 1e-6
    assert np.abs(runs[0].poses - runs[1].poses).max() < 1e-6
    assert np.abs(runs[0].poses[-1] - runs[0].poses[0]).max() > 1e-2


def test_multipliers_stand_in_frame_a() -> None:
    """A body that hangs still on a closure: forces along the axes of frame a, moments about them, on the body of frame b."""
    frame = lw.SE3.rot_x(0.3) @ lw.SE3(p=(0.1, 0.2, 0.3))
    weight = np.asarray(frame.unrotate(np.array([0.0, 0.0, 9.81])), float)  # in the axes of frame a
    for joint in (lw.Fixed(), lw.Revolute((1, 0, 0)), lw.Spherical()):
        b = lw.ModelBuilder().body("a", joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
        model = b.add(lw.Closure(joint, "world", "a", frame)).build()
        q = pose_coordinates(np.asarray(frame.matrix, float))
        run = lw.simulate(model, lw.State(q, np.zeros(6)), 1e-3, 1e-3, stepper="rk4")
        np.testing.assert_allclose(run.forces[0, :3], weight, atol=1e-9)
        np.testing.assert_allclose(run.forces[0, 3:], 0.0, atol=1e-9)
