"""Models, states and forces in Pinocchio and MuJoCo, by the converters: same poses, twists, accelerations and energies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from identities.trees import KINDS
from models import PLACEMENTS, random_inertia, random_parents, relative

import linkwork as lw
from linkwork.bench.models import ROBOTS, robots_folder
from linkwork.interop import mujoco as to_mujoco
from linkwork.interop import pinocchio as to_pinocchio

CLOSE = 1e-10
ALIKE = [
    "revolute",
    "revolute y",
    "prismatic",
    "cylindrical",
    "planar",
    "free2d",
    "translational",
    "universal",
    "spherical",
    "euler zyx",
]


def floating(seed: int, kinds: Sequence[str], bodies: int = 7) -> lw.Model:
    """A free base at the world's origin, and a random tree on it; some joints have armature."""
    rng = np.random.default_rng([seed, 3])
    b = lw.ModelBuilder(gravity=rng.normal(size=3) * 5.0)
    b.body("base", joint=lw.Free(), inertia=random_inertia(rng), joint_name="root")
    parents = random_parents(rng, bodies)
    for i, p in enumerate(parents):
        make, placement = KINDS[kinds[rng.integers(len(kinds))]]
        joint = make(rng)
        drive = {"armature": np.full(joint.nv, rng.uniform(0.1, 0.3))}
        parent = "base" if p < 0 else f"b{p}"
        b.body(f"b{i}", parent=parent, joint=joint, placement=PLACEMENTS[placement](rng), inertia=random_inertia(rng), **drive)
    return b.build()


def state(model: lw.Model, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng([seed, 5])
    q = model.random_configuration(rng)
    return q, *rng.normal(size=(3, model.nv))


def round_trip(to: Any, model: lw.Model, seed: int) -> None:
    """Everything comes back, of a batch and of one state; power is the same."""
    states = [state(model, seed + k) for k in range(3)]
    q, v, a, tau = (np.array(x) for x in zip(*states, strict=True))
    assert np.abs(model.difference(q, to.from_q(to.to_q(q)))).max() < 1e-14
    assert np.abs(to.from_v(q, to.to_v(q, v)) - v).max() < 1e-14
    assert np.abs(to.from_a(q, v, to.to_a(q, v, a)) - a).max() < 1e-13
    assert np.abs(to.from_tau(q, to.to_tau(q, tau)) - tau).max() < 1e-14
    assert relative((to.to_tau(q, tau) * to.to_v(q, v)).sum(-1), (tau * v).sum(-1)) < 1e-13
    assert np.array_equal(to.to_a(q[1], v[1], a[1]), to.to_a(q, v, a)[1])


@pytest.mark.parametrize("seed", range(4))
def test_pinocchio(seed: int) -> None:
    pin = pytest.importorskip("pinocchio")
    model = floating(seed, [*ALIKE, "helical", "fixed", "slide and universal"])
    peer = to_pinocchio.build(model)
    to, data = to_pinocchio.converter(model, peer), peer.createData()
    round_trip(to, model, seed)
    q, v, a, tau = state(model, seed)
    q_p, v_p, a_p = to.to_q(q), to.to_v(q, v), to.to_a(q, v, a)
    pin.forwardKinematics(peer, data, q_p, v_p, a_p)
    k = lw.kinematics(model, q, v, a)
    for i, body in enumerate(model.bodies):
        if body.joint.nv:
            j = peer.getJointId(body.joint_name)
            assert relative(data.oMi[j].homogeneous, k.poses[i]) < CLOSE
            assert relative(np.r_[data.v[j].angular, data.v[j].linear], k.twists[i]) < CLOSE
            assert relative(np.r_[data.a[j].angular, data.a[j].linear], k.twists_dot[i]) < CLOSE
    expected = to.from_a(q, v, pin.aba(peer, data, q_p, v_p, to.to_tau(q, tau)))
    assert relative(lw.forward_dynamics(model, q, v, tau), expected) < CLOSE
    assert relative(lw.inverse_dynamics(model, q, v, a), to.from_tau(q, pin.rnea(peer, data, q_p, v_p, a_p))) < CLOSE
    energy = lw.energy(model, lw.State(q, v))
    upper = np.triu(pin.crba(peer, data, q_p))  # its kinetic energy leaves out the armature of some joints
    kinetic = v_p @ upper @ v_p - 0.5 * v_p**2 @ np.diag(upper)
    assert float(energy.kinetic) == pytest.approx(kinetic, rel=CLOSE)
    assert float(energy.potential) == pytest.approx(pin.computePotentialEnergy(peer, data, q_p), rel=CLOSE)


@pytest.mark.parametrize("seed", range(2))
def test_matrices_of_pinocchio(seed: int) -> None:
    """Jacobians in all axes, centroidal and Coriolis matrices, and their rates, on a floating tree."""
    pin = pytest.importorskip("pinocchio")
    model = floating(seed, ["revolute", "revolute y", "prismatic", "spherical"])
    peer = to_pinocchio.build(model)
    to, data = to_pinocchio.converter(model, peer), peer.createData()
    q, v, _, _ = state(model, seed)
    q_p, v_p = to.to_q(q), to.to_v(q, v)
    order = np.argsort(to.to_v(model.neutral(), np.arange(model.nv)).astype(int))

    def ours(A: np.ndarray) -> np.ndarray:
        return np.roll(A[:, order], 3, axis=0)

    name = model.bodies[-1].name
    joint = peer.getJointId(name)
    axes = {"body": pin.LOCAL, "aligned": pin.LOCAL_WORLD_ALIGNED, "world": pin.WORLD}
    pin.computeJointJacobians(peer, data, q_p)
    pin.computeJointJacobiansTimeVariation(peer, data, q_p, v_p)
    for ours_axes, theirs in axes.items():
        J, J_dot = (f(peer, data, joint, theirs) for f in (pin.getJointJacobian, pin.getJointJacobianTimeVariation))
        assert relative(lw.frame_jacobian(model, q, name, ours_axes), ours(J)) < CLOSE
        assert relative(lw.frame_jacobian_dot(model, q, v, name, ours_axes), ours(J_dot)) < CLOSE
    pin.computeCentroidalMapTimeVariation(peer, data, q_p, v_p)
    assert relative(lw.centroidal_momentum_matrix(model, q), ours(data.Ag)) < CLOSE
    A, A_dot = ours(data.Ag), ours(data.dAg)
    drift = np.cross(
        lw.com_jacobian(model, q) @ v, A[3:], axisb=0
    ).T  # theirs is about a point at rest where the centre of mass is
    A_dot[:3] -= drift
    assert np.abs(drift @ v).max() < CLOSE  # along v both say the same
    assert relative(lw.centroidal_momentum_matrix_dot(model, q, v), A_dot) < CLOSE
    assert relative(lw.com_jacobian(model, q), pin.jacobianCenterOfMass(peer, data, q_p)[:, order]) < CLOSE
    C = pin.computeCoriolisMatrix(peer, data, q_p, v_p)[np.ix_(order, order)]
    assert relative(lw.coriolis_matrix(model, q, v) @ v, C @ v) < CLOSE


@pytest.mark.parametrize("seed", range(4))
def test_mujoco(seed: int) -> None:
    mj = pytest.importorskip("mujoco")
    model = floating(seed, [*ALIKE, "fixed", "slide and universal"])
    peer = to_mujoco.build(model)
    to, data = to_mujoco.converter(model, peer), mj.MjData(to_mujoco.build(model))
    round_trip(to, model, seed)
    q, v, a, tau = state(model, seed)
    data.qpos[:], data.qvel[:] = to.to_q(q), to.to_v(q, v)
    data.qfrc_applied[:] = to.to_tau(q, tau)
    peer.opt.enableflags |= int(mj.mjtEnableBit.mjENBL_ENERGY)
    mj.mj_forward(peer, data)
    k = lw.kinematics(model, q, v)
    for i, body in enumerate(model.bodies):
        b = mj.mj_name2id(peer, mj.mjtObj.mjOBJ_BODY, body.name)
        assert relative(data.xpos[b], k.poses[i, :3, 3]) < CLOSE
        assert relative(data.xmat[b].reshape(3, 3), k.poses[i, :3, :3]) < CLOSE
        twist = np.zeros(6)
        mj.mj_objectVelocity(peer, data, mj.mjtObj.mjOBJ_XBODY, b, twist, 1)
        assert relative(twist, k.twists[i]) < CLOSE
    assert relative(lw.forward_dynamics(model, q, v, tau), to.from_a(q, v, data.qacc)) < CLOSE
    assert float(data.energy[0] + data.energy[1]) == pytest.approx(float(lw.energy(model, lw.State(q, v)).total), rel=CLOSE)
    data.qacc[:] = to.to_a(q, v, a)
    data.qfrc_applied[:] = 0.0
    mj.mj_inverse(peer, data)
    assert relative(lw.inverse_dynamics(model, q, v, a), to.from_tau(q, data.qfrc_inverse)) < CLOSE


def test_pinocchios_own_reader_keeps_angles_as_cosine_and_sine(tmp_path: Any) -> None:
    """A continuous joint of a URDF, a planar one, and the floating root, in a model that Pinocchio itself has read."""
    pin = pytest.importorskip("pinocchio")
    tensor = '<inertia ixx="1" iyy="1.5" izz="2" ixy="0.1" ixz="0" iyz="0.2"/>'
    inertial = f'<inertial><origin xyz="0.1 0.2 0"/><mass value="2"/>{tensor}</inertial>'
    text = '<robot name="r">' + "".join(f'<link name="{x}">{inertial}</link>' for x in "abc")
    for name, kind, parent, child in (("spin", "continuous", "a", "b"), ("glide", "planar", "b", "c")):
        places = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="0.3 0 0.1"/><axis xyz="0 0 1"/>'
        text += f'<joint name="{name}" type="{kind}">{places}</joint>'
    path = tmp_path / "r.urdf"
    path.write_text(text + "</robot>")
    model = lw.load(path, floating=True)
    peer = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    to, data = to_pinocchio.converter(model, peer), peer.createData()
    assert (peer.nq, model.nq) == (13, 11)
    round_trip(to, model, 1)
    q, v, _, tau = state(model, 2)
    expected = to.from_a(q, v, pin.aba(peer, data, to.to_q(q), to.to_v(q, v), to.to_tau(q, tau)))
    assert relative(lw.forward_dynamics(model, q, v, tau), expected) < CLOSE


def test_a_robot_as_each_reads_its_file() -> None:
    """Solo12 with a floating base, read by us and by Pinocchio."""
    pin = pytest.importorskip("pinocchio")
    folder = robots_folder()
    if folder is None:
        pytest.skip("pip install linkwork[peers]")
    file = str(folder / ROBOTS["solo12"][0])
    model, peer = lw.load(file, floating=True), pin.buildModelFromUrdf(file, pin.JointModelFreeFlyer())
    to, data = to_pinocchio.converter(model, peer), peer.createData()
    q, v, _, tau = state(model, 3)
    undamped = model.with_parameters({b.name: {"damping": np.zeros(b.joint.nv)} for b in model.bodies})
    expected = to.from_a(q, v, pin.aba(peer, data, to.to_q(q), to.to_v(q, v), to.to_tau(q, tau)))
    assert relative(lw.forward_dynamics(lw.Model(undamped.bodies, model.gravity), q, v, tau), expected) < CLOSE


def test_what_the_other_does_not_have_is_named() -> None:
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.SphericalExp(), inertia=lw.Inertia.sphere(1.0, 0.1))
    model = b.build()
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    with pytest.raises(lw.ModelError, match="'ball'"):
        to_pinocchio.build(model)
    with pytest.raises(lw.ModelError, match="'ball'"):
        to_mujoco.build(model)
    other = floating(1, ["revolute"], 2)
    with pytest.raises(lw.InputError, match="no joint"):
        to_pinocchio.converter(other, to_pinocchio.build(floating(2, ["revolute"], 1)))
    with pytest.raises(lw.InputError, match="expected"):
        to_mujoco.converter(other).to_q(np.zeros(3))


def test_pinocchio_refuses_what_its_trees_do_not_have() -> None:
    """Damping, forces, constraints and contacts change accelerations; limits, frames and keyframes are kept."""
    pin = pytest.importorskip("pinocchio")
    b, rod = lw.ModelBuilder(), lw.Inertia.cuboid(1.0, (0.4, 0.1, 0.2))
    b.body("base", joint=lw.Free(), inertia=rod, joint_name="root", shapes=[lw.Sphere(0.1, name="ball")])
    own: dict[str, Any] = {"limits": (-1, 2), "effort": 5.0, "speed": 3.0, "friction": 0.2, "armature": 0.1}
    b.body("a", parent="base", joint=lw.Revolute((0, 1, 0)), inertia=rod, **own)
    b.frame("tip", body="a", placement=PLACEMENTS["general"](np.random.default_rng(1)))
    model = b.build()
    peer = to_pinocchio.build(b.keyframe("up", lw.State(model.random_configuration(1), np.zeros(7))).build())
    assert (peer.lowerPositionLimit[7], peer.upperPositionLimit[7]) == (-1, 2)
    assert (peer.effortLimit[6], peer.velocityLimit[6], peer.friction[6], peer.armature[6]) == (5, 3, 0.2, 0.1)
    to, data = to_pinocchio.converter(model, peer), peer.createData()
    q = to.from_q(peer.referenceConfigurations["up"])
    assert np.abs(model.difference(q, model.random_configuration(1))).max() < 1e-12
    pin.framesForwardKinematics(peer, data, to.to_q(q))
    body, placement = model.frame("tip")
    here = lw.kinematics(model, q).poses[body] @ np.asarray(placement.matrix, float)
    assert relative(data.oMf[peer.getFrameId("tip")].homogeneous, here) < CLOSE
    assert len(to_pinocchio.notes(peer)) == 2
    loads: dict[str, lw.Model] = {
        "damping": model.replace(bodies={"a": {"damping": 0.1}}),
        "forces": model.add(lw.JointSpring("a", 1.0)),
        "constraints": model.add(lw.Loop("a", "world")),
        "contacts": model.add(lw.Plane()),
    }
    for kind, loaded in loads.items():
        with pytest.raises(lw.ModelError, match=rf"Pinocchio has no counterpart of .*allow=\['{kind}'\]"):
            to_pinocchio.build(loaded)
        for allow in (kind, "all", [kind]):
            assert any(line.startswith("left out") for line in to_pinocchio.notes(to_pinocchio.build(loaded, allow=allow)))
        to_pinocchio.converter(loaded)
    with pytest.raises(lw.InputError, match="allow has 'springs'"):
        to_pinocchio.build(model, allow=["springs"])
    with pytest.raises(lw.InputError, match="call its build"):
        to_pinocchio.build(b)  # pyright: ignore[reportArgumentType]


def test_what_mujocos_compiler_refuses_is_an_error_of_the_library() -> None:
    pytest.importorskip("mujoco")
    b = lw.ModelBuilder()
    for name in ("a", "a.0"):
        b.body(name, joint=lw.Universal(), inertia=lw.Inertia.sphere(1.0, 0.1))
    b.body("b", joint=lw.Revolute(), joint_name="a.1", inertia=lw.Inertia.sphere(1.0, 0.1))
    with pytest.raises(lw.ModelError, match="MuJoCo's compiler refuses the model"):
        to_mujoco.build(b.build())
    with pytest.raises(lw.InputError, match="call its build"):
        to_mujoco.build(b)  # pyright: ignore[reportArgumentType]
