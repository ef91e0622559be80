"""Shapes, contacts and equalities of a model in MuJoCo: geoms where the shapes are, and a model that survives the round trip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from identities.test_mujoco_elements import CLOSE, CORNERS, PLACE, ROD, robot

import linkwork as lw
from linkwork.contact.candidates import candidates
from linkwork.geometry import Shape
from linkwork.geometry.registry import ALL_SHAPES
from linkwork.interop import mujoco as to_mujoco
from linkwork.scenes.quadruped import quadruped

mj: Any = pytest.importorskip("mujoco")

SHAPES: dict[type[Shape], Any] = {
    lw.Plane: lambda **k: lw.Plane((0, 0, -1), (0.6, 0, 0.8), **k),
    lw.Sphere: lambda **k: lw.Sphere(0.1, (0.1, 0.2, 0.3), **k),
    lw.Box: lambda **k: lw.Box((0.1, 0.2, 0.3), PLACE, **k),
    lw.Capsule: lambda **k: lw.Capsule(0.1, 0.4, PLACE, **k),
    lw.Cylinder: lambda **k: lw.Cylinder(0.1, 0.4, PLACE, **k),
    lw.Ellipsoid: lambda **k: lw.Ellipsoid((0.1, 0.2, 0.3), PLACE, **k),
    lw.Torus: lambda **k: lw.Torus(0.5, 0.1, PLACE, **k),
    lw.Convex: lambda **k: lw.Convex(CORNERS, **k),
    lw.Mesh: lambda **k: lw.Mesh(lw.Convex(CORNERS).vertices, lw.Convex(CORNERS).faces, **k),
    lw.HeightField: lambda **k: lw.HeightField(np.random.default_rng(1).normal(size=(4, 6)), (3.0, 2.0), PLACE, **k),
}


@pytest.mark.parametrize("kind", ALL_SHAPES)
@pytest.mark.parametrize("where", ["world", "a"])
def test_every_shape_is_a_geom_at_its_place_or_refused(kind: type[Shape], where: str) -> None:
    """Geoms have the boxes of the shapes; MuJoCo has planes and height fields on bodies that do not move only."""
    shape = SHAPES[kind](name="thing")
    b = robot(shapes=[shape] if where == "a" else ())
    model = (b if where == "a" else b.world(shape)).build()
    if kind in (lw.Torus, lw.Mesh) or (where == "a" and kind in (lw.Plane, lw.HeightField)):
        with pytest.raises(lw.ModelError, match=r"'thing' of .*allow=.'shapes'."):
            to_mujoco.build(model)
        return
    peer = to_mujoco.build(model)
    q, data = model.random_configuration(1), mj.MjData(peer)
    data.qpos[:] = to_mujoco.converter(model, peer).to_q(q)
    mj.mj_forward(peer, data)
    g = mj.mj_name2id(peer, mj.mjtObj.mjOBJ_GEOM, "thing")
    E = lw.SE3() if where == "world" else lw.SE3(*_split(lw.kinematics(model, q).poses[1]))
    R, p = data.geom_xmat[g].reshape(3, 3), data.geom_xpos[g]
    if kind is lw.Plane:
        np.testing.assert_allclose(R[:, 2], shape.normal, atol=1e-12)
        np.testing.assert_allclose(p, shape.point, atol=1e-12)
        return
    if kind is lw.Convex:
        found = data.geom_xpos[g] + peer.mesh_vert @ R.T
        assert np.abs(np.sort(found, axis=0) - np.sort((E @ lw.SE3()).p + CORNERS @ np.asarray(E.R).T, axis=0)).max() < 1e-6
        return
    if kind is lw.HeightField:
        heights = peer.hfield_data.reshape(4, 6) * peer.hfield_size[0, 2]
        x, y = np.meshgrid(np.linspace(-1.5, 1.5, 6), np.linspace(-1, 1, 4))
        local = np.stack([x, y, heights], axis=-1).reshape(-1, 3)
        surface = shape.surface().vertices
        np.testing.assert_allclose(p + local @ R.T, surface, atol=1e-6)
        return
    moved = E @ lw.SE3(p=shape.center) if kind is lw.Sphere else E @ shape.pose
    np.testing.assert_allclose(p, np.asarray(moved.p, float), atol=1e-12)
    if kind is not lw.Sphere:
        np.testing.assert_allclose(R, np.asarray(moved.R, float), atol=1e-12)


def _split(E: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return E[:3, :3], E[:3, 3]


def machine() -> lw.Model:
    """Loops, welds, couplings, limits, dry friction, drives, shapes in groups, a ground, a height field, frames and keyframes."""
    b = lw.ModelBuilder(gravity=(1, 2, -9))
    ball, box = lw.Sphere(0.1, (0.1, 0.2, 0.3), friction=0.5, name="ball"), lw.Box((0.1, 0.2, 0.3), PLACE, friction=0.5)
    b.body("base", joint=lw.Free(), inertia=ROD, joint_name="root", shapes=[ball, box])
    along, rod = lw.SE3(p=(0.3, 0, 0.1)), [lw.Capsule(0.1, 0.3, PLACE), lw.Cylinder(0.1, 0.3, PLACE, group=2, mask=4)]
    own: dict[str, Any] = {"limits": (-1, 2), "friction": 0.3, "armature": 0.1}
    b.body("a", parent="base", joint=lw.Revolute((0, 1, 0)), inertia=ROD, placement=along, shapes=rod, **own)
    hull = [lw.Ellipsoid((0.1, 0.2, 0.3), PLACE), lw.Convex(CORNERS + 0.2)]
    slide: dict[str, Any] = {"limits": (-np.inf, 1.0), "effort": 5.0}
    b.body("b", parent="a", joint=lw.Prismatic((0, 0, 1)), inertia=ROD, placement=along, shapes=hull, **slide)
    b.body("d", parent="b", joint=lw.Universal(), inertia=ROD, placement=along, visuals=[lw.Box((1, 1, 1))])
    b.body("e", joint=lw.Revolute((0, 0, 1)), inertia=ROD, placement=PLACE)
    b.ground(friction=0.5)
    b.world(lw.HeightField(np.random.default_rng(2).normal(size=(4, 6)), (3.0, 2.0), PLACE, base=0.4, friction=0.5))
    b.exclude("b", "world").exclude("base", "d").frame("tip", body="d", placement=PLACE)
    b.add(lw.Loop("d", "world", (0.1, 0.2, 0.3), (1, 1, 1)), lw.Closure(lw.Fixed(), "a", "e", PLACE, lw.SE3(p=(0.2, 0.1, 0))))
    b.add(lw.Closure(lw.Spherical(), "b", "e", PLACE, lw.SE3(p=(0.2, 0.1, 0))), lw.Coupling("e", "a", ratio=-0.5, offset=0.2))
    b.add(lw.Limit("e", -1, 1), lw.DryFriction("d", [0.2, 0.1]), lw.JointSpring("a", 3.0, 0.2, 0.1))
    b.add(lw.Actuator("a", 3.0, (1, -2, -1), control=0.4, name="drive", force_range=(-5.0, np.inf)))
    model = b.build()
    up = lw.State(model.random_configuration(3), np.random.default_rng(3).normal(size=model.nv), 0.5)
    return b.keyframe("up", up).build()


def test_a_round_trip_keeps_the_model(tmp_path: Path) -> None:
    """Equalities are soft in MuJoCo: that they are the same ones is seen by reading them again."""
    model = machine()
    text = to_mujoco.mjcf(model)
    (tmp_path / "machine.xml").write_text(text)
    back = lw.load(tmp_path / "machine.xml")
    assert (back.nq, back.nv) == (model.nq, model.nv)
    for a, b in zip(model.bodies, back.bodies, strict=True):
        assert (a.name, a.parent, len(a.shapes)) == (b.name, b.parent, len(b.shapes) - len(a.visuals))
        np.testing.assert_array_equal([*a.properties.lower, *a.properties.upper], _limits(model, back, b.name))
        np.testing.assert_allclose(a.inertia.matrix, b.inertia.matrix, atol=1e-12)
        np.testing.assert_allclose(b.properties.friction, [0.2, 0.1] if a.name == "d" else a.properties.friction)
        assert a.properties.effort.tolist() == b.properties.effort.tolist()

    def touching(m: lw.Model) -> list[Any]:
        return sorted((*sorted((c.body_a, c.body_b)), *sorted((c.shape_a.kind, c.shape_b.kind))) for c in candidates(m))

    assert touching(back) == touching(model)
    laws = [e for e in back.elements if isinstance(e, (lw.Loop, lw.Closure, lw.Coupling, lw.JointSpring, lw.Actuator))]
    assert [type(e).__name__ for e in laws] == ["JointSpring", "Actuator", "Loop", "Closure", "Loop", "Coupling"]
    ours = [e for e in model.elements if isinstance(e, (lw.Loop, lw.Closure, lw.Coupling, lw.JointSpring, lw.Actuator))]
    drives = ("JointSpring", "Actuator")
    forces = [[e for e in found if type(e).__name__ in drives] for found in (ours, laws)]
    held = [[e for e in found if type(e).__name__ not in drives] for found in (ours, laws)]
    for seed, alone in enumerate(zip(*held, strict=True)):
        start = lw.State(model.random_configuration(seed), np.random.default_rng(seed).normal(size=model.nv))
        both = [lw.Model(m.bodies, m.gravity).add(*f, e) for m, f, e in zip((model, back), forces, alone, strict=True)]
        closed = lw.assemble(both[0], start)
        first, second = (lw.forward_dynamics(m, closed.q, closed.v, inputs=[0.3]) for m in both)
        assert np.abs(first - second).max() < CLOSE * np.abs(first).max()
    assert {"up", "start"} <= set(back.keyframes)
    for name in ("q", "v", "t"):
        np.testing.assert_allclose(getattr(back.keyframes["up"], name), getattr(model.keyframes["up"], name), atol=1e-12)
    (here, E), (there, F) = model.frame("tip"), back.frame("tip")
    assert here == there
    np.testing.assert_allclose(np.asarray(E.matrix, float), np.asarray(F.matrix, float), atol=1e-12)


def _limits(model: lw.Model, back: lw.Model, name: str) -> list[float]:
    """Declared limits of a body that was read; those of a `Limit` are declared there."""
    own = back.bodies[back.body_index(name)].properties
    if name == "e":
        assert (own.lower[0], own.upper[0]) == (-1.0, 1.0)
        return [*model.bodies[model.body_index(name)].properties.lower, *model.bodies[model.body_index(name)].properties.upper]
    return [*own.lower, *own.upper]


def test_equalities_are_those_of_the_model() -> None:
    """MuJoCo's residuals at random states: points that meet, coordinates that follow."""
    model = machine()
    peer = to_mujoco.build(model)
    to, data = to_mujoco.converter(model, peer), mj.MjData(peer)
    held: list[Any] = [e for e in model.elements if isinstance(e, (lw.Loop, lw.Closure, lw.Coupling))]
    loop, _, ball, coupling = held
    for seed in range(3):
        q = model.random_configuration(seed)
        data.qpos[:] = to.to_q(q)
        mj.mj_forward(peer, data)
        E = {b.name: lw.SE3(*_split(x)) for b, x in zip(model.bodies, lw.kinematics(model, q).poses, strict=True)}
        pin = np.asarray(E["d"] @ loop.point_a - loop.point_b, float)
        joint = np.asarray(E["b"] @ ball.p_a - E["e"] @ ball.p_b, float)
        np.testing.assert_allclose(np.abs(data.efc_pos[:3]), np.abs(pin), atol=1e-9)
        np.testing.assert_allclose(np.abs(data.efc_pos[9:12]), np.abs(joint), atol=1e-9)
        follower, leader = (q[model.q_index(name)][0] for name in coupling.joints)
        assert data.efc_pos[12] == pytest.approx(follower + 0.5 * leader - 0.2, abs=1e-12)


def test_what_means_something_else_is_noted() -> None:
    found = " | ".join(to_mujoco.notes(to_mujoco.build(machine())))
    for word in (
        "equalities are soft",
        "contacts are soft",
        "limits of joints are soft",
        "dry friction of joints is soft",
        "controls",
    ):
        assert word in found
    assert to_mujoco.notes(to_mujoco.build(robot().build())) == ()
    assert to_mujoco.mjcf(machine()).notes == to_mujoco.notes(to_mujoco.build(machine()))


def test_contacts_have_the_friction_of_their_pair() -> None:
    """Here it is the geometric mean, in MuJoCo the larger of both: pairs that differ are listed."""
    b = lw.ModelBuilder()
    for name, mu in (("a", 0.2), ("b", 0.8), ("c", None)):
        b.body(name, joint=lw.Free(), inertia=ROD, shapes=[lw.Sphere(0.1, friction=mu, name=f"{name} ball")])
    b.add(lw.Contact("a", lw.Sphere(0.05, (0.3, 0, 0)), "world", friction=0.7, spinning=0.01))
    peer = to_mujoco.build(b.ground(friction=0.8).build())
    assert peer.npair == 3  # a and b, a and the ground, and the contact
    np.testing.assert_allclose(np.sort(peer.pair_friction[:, 0]), [0.4, 0.4, 0.7])
    assert sorted(peer.pair_dim) == [3, 3, 4]
    rest = to_mujoco.build(b.build())
    data = mj.MjData(rest)
    data.qpos[:] = to_mujoco.converter(b.build(), rest).to_q(
        [*(0, 0, 0.09, 1, 0, 0, 0), *(3, 0, 0.09, 1, 0, 0, 0), *(0, 5, 0.09, 1, 0, 0, 0)]
    )
    mj.mj_forward(rest, data)
    touch = {tuple(sorted(rest.geom(g).name for g in c.geom)): c.friction[0] for c in data.contact if c.dist < 0}
    assert touch[("b ball", "ground")] == pytest.approx(0.8)
    assert touch[("a ball", "ground")] == pytest.approx(0.4)


def test_a_robot_on_the_ground_stands_in_mujoco() -> None:
    """Servos hold a floating base with four legs up; nothing of them is lost."""
    model, start = quadruped(height=0.02)
    peer = to_mujoco.build(model, allow=["restitution"])
    data = mj.MjData(peer)
    to = to_mujoco.converter(model, peer)
    data.qpos[:], data.qvel[:], data.ctrl[:] = to.to_q(start.q), to.to_v(start.q, start.v), to_mujoco.controls(model)
    for _ in range(1000):
        mj.mj_step(peer, data)
    height = to.from_q(data.qpos)[2]
    run = lw.simulate(model, start, 1.0, 1e-3)
    assert height == pytest.approx(run.q[-1, 2], abs=0.02)
