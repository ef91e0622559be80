"""MJCF files: the same model as MuJoCo's, to rounding; what it cannot be is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest

import linkwork as lw
from linkwork.contact.formulations import touching
from linkwork.view.description import describe

ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
ROBOTS = ("ant", "half_cheetah", "hopper", "humanoid", "inverted_double_pendulum", "pusher_v5", "reacher", "walker2d_v5")
SMOOTH = ("CONTACT", "LIMIT", "FRICTIONLOSS", "EQUALITY")

EVERYTHING = """
<mujoco>
  <option gravity="0.3 -0.2 -9"/>
  <worldbody>
    <geom type="plane" size="1 1 1" friction="0.7"/>
    <body name="trunk" pos="0 0 1" euler="10 20 30">
      <freejoint name="root"/>
      <geom type="box" size=".2 .1 .05" pos=".02 0 0" euler="0 0 15"/>
      <body name="upper" pos=".2 0 0">
        <joint name="ball" type="ball" pos="0 .05 0" damping="0.4" stiffness="3"/>
        <geom type="capsule" fromto="0 0 0 .3 0 .1" size=".04"/>
        <site name="marker" pos=".1 0 0" euler="0 90 0"/>
        <body name="lower" pos=".3 0 .1" euler="0 40 0">
          <joint name="bend" axis="0 1 0" pos="0 0 .02" range="-40 100" ref="12" springref="5" stiffness="2" armature=".02"/>
          <joint name="twist" axis="1 0 .2" pos=".03 0 0" damping=".3"/>
          <joint name="slide" type="slide" axis="0 0 1" ref=".1" range="-.1 .3" frictionloss=".2"/>
          <geom type="cylinder" size=".03 .1" pos=".1 0 0"/>
          <body name="welded" pos=".2 0 0" euler="5 0 0"><geom type="ellipsoid" size=".05 .04 .03"/></body>
        </body>
      </body>
      <body name="tail" pos="-.2 0 0"><joint name="wag" axis="0 0 1"/><geom type="sphere" size=".06" pos="-.1 0 0"/></body>
    </body>
  </worldbody>
  <contact><exclude body1="upper" body2="tail"/></contact>
  <actuator>
    <motor name="push" joint="slide" gear="7" ctrlrange="-.3 .3" ctrllimited="true"/>
    <position name="hold" joint="bend" kp="20" kv="1.5" forcerange="-8 8"/>
    <velocity name="spin" joint="wag" kv="2"/>
  </actuator>
  <keyframe><key name="go" qpos="0 0 1 .6 .8 0 0  1 0 0 0  .2 .1 .05  .3" qvel="1 2 3 .1 .2 .3  0 0 0  0 0 0  1"/></keyframe>
</mujoco>
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "model.xml"
    path.write_text(text)
    return path


def twists(m: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Velocities of MuJoCo as linkwork has them: of free joints (angular, linear) in body axes."""
    v = v.copy()
    for j in np.flatnonzero(m.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        at, on, R = m.jnt_qposadr[j], m.jnt_dofadr[j], np.zeros(9)
        mujoco.mju_quat2Mat(R, q[at + 3 : at + 7])
        v[on : on + 6] = np.concatenate([v[on + 3 : on + 6], R.reshape(3, 3).T @ v[on : on + 3]])
    return v


def accelerations(m: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """The same for rates of velocities, whose axes turn."""
    found, now = twists(m, q, a), twists(m, q, v)
    for j in np.flatnonzero(m.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        on = m.jnt_dofadr[j]
        found[on + 3 : on + 6] -= np.cross(now[on : on + 3], now[on + 3 : on + 6])
    return found


def check_motion(path: Path, model: lw.Model) -> None:
    m = mujoco.MjModel.from_xml_path(str(path))
    m.opt.disableflags |= sum(int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{x}")) for x in SMOOTH)
    rng, d = np.random.default_rng(0), mujoco.MjData(m)
    free = model.replace(elements=[e for e in model.elements if isinstance(e, lw.Actuator | lw.JointSpring)])
    for _ in range(3):
        d.qpos[:] = m.qpos0
        mujoco.mj_integratePos(m, d.qpos, 0.7 * rng.normal(size=m.nv), 1.0)
        d.qvel[:], d.ctrl[:] = rng.normal(size=m.nv), rng.uniform(-1, 1, m.nu)
        mujoco.mj_forward(m, d)
        q, v = np.array(d.qpos), np.array(d.qvel)
        found = lw.forward_dynamics(free, q, twists(m, q, v), **({"inputs": np.array(d.ctrl)} if m.nu else {}))
        expected = accelerations(m, q, v, np.array(d.qacc))
        assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()


@pytest.mark.parametrize("robot", ROBOTS)
def test_robots_move_as_in_mujoco(robot: str) -> None:
    path = ASSETS / f"{robot}.xml"
    check_motion(path, lw.load(path))


def test_everything_moves_as_in_mujoco(tmp_path: Path) -> None:
    path = written(tmp_path, EVERYTHING)
    check_motion(path, lw.load(path))


def test_what_is_read(tmp_path: Path) -> None:
    model = lw.load(written(tmp_path, EVERYTHING))
    assert [b.name for b in model.bodies] == ["trunk", "upper", "lower", "tail"]
    assert [b.joint_name for b in model.bodies] == ["root", "ball", "bend+twist+slide", "wag"]
    assert model.gravity.tolist() == [0.3, -0.2, -9.0]
    lower = model.bodies[2]
    np.testing.assert_allclose(lower.properties.lower, [-np.deg2rad(40), -np.inf, -0.1])
    assert lower.properties.friction.tolist() == [0, 0, 0.2]
    assert [type(s).__name__ for b in model.bodies for s in b.shapes] == ["Box", "Capsule", "Cylinder", "Ellipsoid", "Sphere"]
    (plane,) = model.world_shapes
    assert plane.friction == 0.7
    assert frozenset(("upper", "tail")) in model.excluded
    assert set(model.frames) == {"marker", "welded"}
    assert any("'welded'" in note for note in model.notes)


def test_places_are_those_of_mujoco(tmp_path: Path) -> None:
    path = written(tmp_path, EVERYTHING)
    model, m = lw.load(path), mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    state = model.keyframes["go"]
    d.qpos[:] = state.q
    mujoco.mj_forward(m, d)
    poses = lw.kinematics(model, state.q).poses
    for i, body in enumerate(model.bodies):
        for shape in body.shapes:
            centre = getattr(shape, "center", None) if isinstance(shape, lw.Sphere) else shape.p
            placed = (poses[i] @ np.append(centre, 1.0))[:3]
            assert np.abs(d.geom_xpos - placed).max(1).min() < 1e-12
    frame = model.frames["marker"]
    E = poses[model.body_index(frame.body)] @ np.asarray(frame.placement.matrix, float)
    np.testing.assert_allclose(E[:3, 3], d.site_xpos[0], atol=1e-12)
    np.testing.assert_allclose(E[:3, :3].ravel(), d.site_xmat[0], atol=1e-12)
    np.testing.assert_allclose(state.v[:3], [0.1, 0.2, 0.3])
    R = np.array(d.xmat[1]).reshape(3, 3)
    np.testing.assert_allclose(R @ state.v[3:6], [1, 2, 3], atol=1e-12)


EQUALITIES = """
<mujoco>
  <worldbody>
    <body name="a"><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/></body>
    <body name="b" pos=".4 0 .3">
      <joint name="b" axis="0 1 0" pos=".1 0 0"/><geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03"/></body>
    <body name="c" pos="1 0 0"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    <body name="d" pos="1 .5 0"><joint name="d" axis="1 0 0" ref="20"/><geom type="box" size=".1 .1 .1" pos="0 0 .1"/></body>
  </worldbody>
  <equality>
    <connect body1="a" body2="b" anchor=".4 0 0"/>
    <weld body1="d" body2="c" relpose="0 -.5 .1 .96 .28 0 0"/>
    <joint joint1="d" joint2="a" polycoef=".1 2 0 0 0"/>
  </equality>
</mujoco>
"""


def test_equalities_are_those_of_mujoco(tmp_path: Path) -> None:
    """Rows span the same directions, and the residuals of both vanish together."""
    path = written(tmp_path, EQUALITIES)
    model, m = lw.load(path), mujoco.MjModel.from_xml_path(str(path))
    assert [type(e).__name__ for e in model.elements] == ["Loop", "Closure", "Coupling"]
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    d = mujoco.MjData(m)
    state = lw.assemble(model, lw.State(np.array(m.qpos0), np.zeros(m.nv)))
    d.qpos[:] = state.q
    mujoco.mj_forward(m, d)
    assert d.nefc == 3 + 6 + 1
    assert np.abs(d.efc_pos).max() < 1e-9
    assert lw.load(path).notes


REFUSED = {
    "fluid": ('<option density="1000"/>', "", "it moves in a fluid"),
    "gravcomp": ("", 'gravcomp="1"', "1 bodies have their weight compensated"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_would_change_the_motion_is_refused_unless_allowed(what: str, tmp_path: Path) -> None:
    top, own, words = REFUSED[what]
    body = f'<worldbody><body name="a" {own}><joint name="j"/><geom size=".1"/></body></worldbody>'
    path = written(tmp_path, f"<mujoco>{top}{body}</mujoco>")
    with pytest.raises(lw.ModelError, match=f"{words}.*allow=\\['{what}'\\]"):
        lw.load(path)
    assert any(words in note for note in lw.load(path, allow=what).notes)


def test_limits_of_balls_are_told(tmp_path: Path) -> None:
    """MuJoCo bounds the whole angle of a ball, which linkwork does not: a note by name, none where there is no limit."""
    for range_, told in (('range="0 0.8" limited="true"', True), ("", False)):
        ball = f'<body name="a"><joint name="hip" type="ball" {range_}/><geom size=".1"/></body>'
        notes = lw.load(written(tmp_path, f"<mujoco><compiler angle='radian'/><worldbody>{ball}</worldbody></mujoco>")).notes
        assert any("'hip'" in note and "0.8 rad" in note and "SwingTwistLimit" in note for note in notes) == told


def test_muscles_are_refused_by_name(tmp_path: Path) -> None:
    body = '<worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>'
    path = written(tmp_path, f'<mujoco>{body}<actuator><muscle name="m" joint="j" lengthrange="0 1"/></actuator></mujoco>')
    with pytest.raises(lw.ModelError, match="actuator 'm' has a state of its own"):
        lw.load(path)
    assert not lw.load(path, allow=["actuators"]).elements


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<mujoco><worldbody><nothing/></worldbody></mujoco>", "nothing"),
        ("<mujoco>", "model.xml"),
        ("<mujoco/>", "nothing in this model moves"),
    ],
)
def test_bad_files(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(lw.LinkworkError, match=words) as error:
        lw.load(written(tmp_path, text))
    assert "\n" not in str(error.value)


def test_floating_is_for_urdf(tmp_path: Path) -> None:
    with pytest.raises(lw.InputError, match="freejoint"):
        lw.load(written(tmp_path, EVERYTHING), floating=True)


FRICTION = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" friction="0.9" condim="3"/>
    <body name="a" pos="0 0 1"><freejoint/><geom name="a" size=".1" friction="0.4" condim="1"/></body>
    <body name="b" pos="1 0 1"><freejoint/><geom name="b" size=".1" friction="0.4" condim="1"/></body>
  </worldbody>
  <contact><pair geom1="floor" geom2="b" friction="0.2 0.2 0.005 0.0001 0.0001" condim="3"/></contact>
</mujoco>
"""


def test_friction_of_pairs_is_that_of_mujoco(tmp_path: Path) -> None:
    """The larger coefficient, unless both ask for none; a pair says its own."""
    path = written(tmp_path, FRICTION)
    model, m = lw.load(path), mujoco.MjModel.from_xml_path(str(path))
    found = {frozenset(c.bodies): c.friction for c in model.elements_of(lw.Contact)}
    assert found == {frozenset(("a", "world")): 0.9, frozenset(("a", "b")): 0.0, frozenset(("b", "world")): 0.2}
    d = mujoco.MjData(m)
    for q in ((0, 0, 0.09, 0.15, 0, 0.09), (0, 0, 0.5, 0.15, 0, 0.5)):
        d.qpos[:] = [*q[:3], 1, 0, 0, 0, *q[3:], 1, 0, 0, 0]
        mujoco.mj_forward(m, d)
        assert d.ncon == (3 if q[2] < 0.1 else 1)
        for c in d.contact[: d.ncon]:
            names = frozenset(m.body(m.geom_bodyid[g]).name for g in c.geom)
            assert found[names] == (c.friction[0] if c.dim > 1 else 0.0)


ROLLING = """<mujoco><option timestep="0.001" cone="elliptic" impratio="10"/><worldbody>
    <geom name="floor" type="plane" size="5 5 1" friction="0.5 0.001 0.0001" condim="3"/>
    <body name="ball" pos="0 0 .1"><freejoint/>
      <geom name="ball" size=".1" mass="2" friction="0.9 0.004 0.002" condim="{dim}"/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize("dim", [3, 4, 6])
def test_spinning_and_rolling_friction_is_that_of_mujoco(dim: int, tmp_path: Path) -> None:
    """Coefficients are the larger of two geoms, rows as many as condim; torques slow a ball as MuJoCo's soft contacts do."""
    file = tmp_path / "ball.xml"
    file.write_text(ROLLING.format(dim=dim))
    model = lw.load(file)
    assert not any("spinning" in note for note in model.notes)
    (law,) = touching(model, "exact").elements_of(lw.Contact)
    assert (law.friction, law.spinning, law.rolling) == (0.9, 0.004 if dim > 3 else 0.0, 0.002 if dim > 4 else 0.0)
    assert law.per_point == dim
    m = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(m)
    spin, roll = (5.0, 0.0) if dim == 4 else (0.0, 2.0)  # MuJoCo bounds all torques and forces of a point together
    data.qvel[:] = (0.1 * roll, 0, 0, 0, roll, spin)
    run = lw.simulate(model, lw.State(np.array([0, 0, 0.1, 1, 0, 0, 0]), np.array([0, roll, spin, 0.1 * roll, 0, 0])), 0.1, 1e-3)
    for _ in range(100):
        mujoco.mj_step(m, data)
    ours = run.poses[-1, 0, :3, :3] @ run.v[-1, :3]
    theirs = np.zeros(3)
    mujoco.mju_rotVecQuat(theirs, data.qvel[3:], data.qpos[3:7])
    np.testing.assert_allclose(ours, theirs, atol=0.02)


# --- what is looked at ------------------------------------------------------------------------------------------------------
def test_meshes_are_looked_at_and_their_hulls_touch(tmp_path: Path) -> None:
    import trimesh

    trimesh.creation.torus(0.2, 0.05, 16, 12).export(tmp_path / "ring.stl")
    (tmp_path / "model.xml").write_text(
        """<mujoco><asset><mesh name="ring" file="ring.stl"/><material name="red" rgba="1 0 0 1"/></asset><worldbody>
        <geom type="mesh" mesh="ring" pos="0 0 -1" contype="0" conaffinity="0"/>
        <body name="a"><freejoint/><geom type="mesh" mesh="ring" material="red"/>
          <geom type="sphere" size=".1" group="3"/></body>
        <body name="b"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""
    )
    model = lw.load(tmp_path / "model.xml")
    a, b = model.bodies
    assert [type(s).__name__ for s in a.shapes] == ["Convex", "Sphere"]
    assert [type(s).__name__ for s in a.visuals] == ["Mesh"]
    assert a.visuals[0].color == (1, 0, 0, 1)
    low, high = a.visuals[0].bounding_box()
    np.testing.assert_allclose(sorted(high - low), [0.1, 0.5, 0.5], atol=1e-2)
    assert (len(b.shapes), b.visuals) == (1, ())
    assert [type(s).__name__ for s in model.world_visuals] == ["Mesh"]


def test_skins_are_noted_and_shown_as_not_drawn(tmp_path: Path) -> None:
    skin = '<skin vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"><bone body="a" bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1 2" '
    (tmp_path / "model.xml").write_text(
        '<mujoco><worldbody><body name="a"><freejoint/><geom size=".1"/></body></worldbody><deformable>'
        + skin
        + 'vertweight="1 1 1"/></skin></deformable></mujoco>'
    )
    model = lw.load(tmp_path / "model.xml")
    assert "not drawn: 1 skins, which bend with several bodies" in model.notes
    assert "not drawn: 1 skins, which bend with several bodies" in describe(model)["notes"]


# --- and back ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["everything", "ant", "humanoid", "hopper"])
def test_a_model_that_was_read_goes_back(name: str, tmp_path: Path) -> None:
    """From a file to linkwork and to MuJoCo again: the accelerations of the file, with all springs and drives."""
    path = tmp_path / "everything.xml" if name == "everything" else ASSETS / f"{name}.xml"
    if name == "everything":
        path.write_text(EVERYTHING)
    first = mujoco.MjModel.from_xml_path(str(path))
    model = lw.load(path, allow=["tendons"])
    second = lw.interop.mujoco.build(model)
    to, rng, data = lw.interop.mujoco.converter(model, second), np.random.default_rng(0), []
    q, v = model.random_configuration(rng), rng.normal(size=model.nv)
    ctrl = rng.normal(size=first.nu)
    for m in (first, second):
        for flag in SMOOTH:
            m.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}")
        m.opt.density = m.opt.viscosity = 0.0
        data.append(mujoco.MjData(m))
        data[-1].qpos[:], data[-1].qvel[:], data[-1].ctrl[:] = to.to_q(q), to.to_v(q, v), ctrl
        mujoco.mj_forward(m, data[-1])
    np.testing.assert_allclose(data[1].qacc, data[0].qacc, rtol=0.0, atol=1e-9 * np.abs(data[0].qacc).max())


def test_equalities_between_sites_hold_their_bodies(tmp_path: Path) -> None:
    """Their numbers are those of sites, and not of bodies."""
    body = '<body name="{0}"><freejoint/><geom size=".1"/><site name="on {0}" pos=".1 .2 .3" euler="0 0 90"/></body>'
    held = '<equality><connect site1="on b" site2="w"/><weld site1="on a" site2="on b"/></equality>'
    (tmp_path / "model.xml").write_text(
        f'<mujoco><worldbody>{body.format("a")}{body.format("b")}<site name="w" pos="1 2 3"/></worldbody>{held}</mujoco>'
    )
    loop, weld = lw.load(tmp_path / "model.xml").elements
    assert (loop.bodies, weld.bodies) == (("b", "world"), ("a", "b"))
    np.testing.assert_allclose([loop.point_a, loop.point_b], [(0.1, 0.2, 0.3), (1, 2, 3)])
    np.testing.assert_allclose([weld.p_a, weld.p_b], [(0.1, 0.2, 0.3)] * 2)
    np.testing.assert_allclose(weld.R_a, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-12)
