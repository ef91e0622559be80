"""A ground under models from files: robots stand on it, and a ground that nothing can touch is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command import called

import linkwork as lw

INERTIAL = '<inertial><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
WALKER = f"""<robot name="walker"><link name="trunk">{INERTIAL}
<collision name="belly"><geometry><box size="0.3 0.2 0.1"/></geometry></collision></link>
<link name="leg">{INERTIAL}<collision><origin xyz="0 0 -0.2"/><geometry><sphere radius="0.03"/></geometry></collision></link>
<joint name="hip" type="revolute"><parent link="trunk"/><child link="leg"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="50" velocity="50"/></joint></robot>"""
HULL = """<robot name="hull"><link name="trunk">{inertial}
<collision><geometry><mesh filename="tetra.stl"/></geometry></collision></link></robot>"""
SLED = f"""<robot name="sled"><link name="trunk">{INERTIAL}
<collision><geometry><box size="0.3 0.2 0.1"/></geometry></collision></link></robot>"""
BARE = f'<robot name="bare"><link name="trunk">{INERTIAL}</link></robot>'
MJCF = """<mujoco><worldbody>{floor}<body name="ball" pos="0 0 1"><freejoint/>
<geom type="sphere" size="0.1" mass="1" contype="{contype}" conaffinity="{contype}"/></body></worldbody></mujoco>"""


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def lowest_after_fall(model: lw.Model, height: float = 0.5, **options: object) -> float:
    """The least height of any shape's origin half a second after a fall."""
    q = model.neutral()
    q[2] = height
    run = lw.simulate(model, lw.State(q, np.zeros(model.nv)), 0.6, 1e-3, **options)  # pyright: ignore
    assert run.health.penetration is not None
    assert run.health.penetration < 5e-3
    return float(run.poses[-1, :, 2, 3].min())


GROUNDS = {
    "true": True,
    "plane": lw.Plane(friction=0.5),
    "scenery": [lw.Plane(), lw.Box((1, 1, 0.2), lw.SE3(p=(5, 0, 0.1)))],
    "box": lw.Box((4, 4, 0.2), lw.SE3(p=(0, 0, -0.1))),
}


@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_a_robot_loaded_with_a_ground_stands_on_it(ground: object, method: str, tmp_path: Path) -> None:
    model = lw.load(written(tmp_path, "walker.urdf", WALKER), floating=True, ground=ground)  # pyright: ignore
    assert lowest_after_fall(model, method=method) > 0.02
    assert not any("touches" in note for note in model.notes)


def test_hulls_of_meshes_stand_on_the_ground(tmp_path: Path) -> None:
    import trimesh

    trimesh.creation.icosahedron().export(tmp_path / "tetra.stl")
    model = lw.load(written(tmp_path, "hull.urdf", HULL.format(inertial=INERTIAL)), floating=True, ground=True)
    assert lowest_after_fall(model, 1.2) > 0.5


def test_the_ground_true_has_friction_and_a_plane_has_its_own(tmp_path: Path) -> None:
    file = written(tmp_path, "sled.urdf", SLED)
    slid = []
    for ground in (True, lw.Plane()):
        model = lw.load(file, floating=True, ground=ground)
        q, v = model.neutral(), np.zeros(model.nv)
        q[2], v[3] = 0.05, 1.0
        slid.append(lw.simulate(model, lw.State(q, v), 0.3, 1e-3).q[-1, 0])
    assert slid[0] == pytest.approx(0.5 / (0.8 * 9.81), rel=0.01)  # v^2 / (2 mu g)
    assert slid[1] == pytest.approx(0.3, rel=1e-6)


def test_a_ground_goes_under_a_model_that_exists(tmp_path: Path) -> None:
    model = lw.load(written(tmp_path, "walker.urdf", WALKER), floating=True, collisions="touch")
    grounded = model.add(lw.Plane(), lw.JointDamping("hip", 0.1))
    assert model.world_shapes == ()
    assert len(grounded.elements) == 1
    assert lowest_after_fall(grounded) > 0.02
    bare = grounded.replace(world=())
    assert bare.world_shapes == ()
    builder = lw.ModelBuilder().add(lw.Plane(name="floor"))
    builder.body("ball", joint=lw.Free(), shapes=[lw.Sphere(0.1, mass=1.0)])
    assert [s.name for s in builder.build().world_shapes] == ["floor"]
    with pytest.raises(lw.ModelError, match="cannot add a type"):
        model.add(lw.Plane)


@pytest.mark.parametrize(("text", "why"), [(WALKER, "of 2 bodies are for looking at only"), (BARE, "no body that moves has")])
def test_a_ground_that_nothing_touches_is_told(text: str, why: str, tmp_path: Path) -> None:
    model = lw.load(written(tmp_path, "robot.urdf", text), floating=True).add(lw.Plane(name="floor"))
    (line,) = [note for note in model.notes if "nothing touches 'floor'" in note]
    assert why in line
    run = lw.simulate(model, lw.State(model.neutral(), np.zeros(model.nv)), 0.01, 1e-3)
    assert line in run.health.notes
    assert line in str(run.health)
    assert line in lw.Simulator(model).notes
    assert not any("touches" in note for note in model.replace(world=()).notes)


def test_a_ground_that_groups_leave_out_is_told_and_the_base_of_an_arm_is_no_ground(tmp_path: Path) -> None:
    file = written(tmp_path, "walker.urdf", WALKER)
    apart = lw.load(file, floating=True, ground=lw.Plane(group=4, mask=4))
    assert any("groups and masks" in note for note in apart.notes)
    arm = lw.load(file, collisions="touch")  # the trunk is the world
    assert arm.world_shapes
    assert not any("touches" in note for note in arm.notes)
    laid = lw.load(file, floating=True, collisions="look", ground=True)
    assert any("looking at only" in note for note in laid.notes)
    own = apart.add(lw.Contact("leg", lw.Sphere(0.03, (0, 0, -0.2)), "world", lw.Plane()))
    assert not any("touches" in note for note in own.notes)


def test_mjcf_and_saved_models_stand_on_a_ground(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    plain = written(tmp_path, "ball.xml", MJCF.format(floor="", contype=1))
    for model in (
        lw.load(plain, ground=True),
        lw.load(written(tmp_path, "g.xml", MJCF.format(floor="", contype=4)), ground=True),
    ):
        assert lowest_after_fall(model) == pytest.approx(0.1, abs=1e-3)
    saved = lw.load(plain).save(tmp_path / "ball.lwm")
    assert lowest_after_fall(lw.load(saved, ground=True)) == pytest.approx(0.1, abs=1e-3)
    floor = '<geom name="floor" type="plane" size="1 1 1"/>'
    twice = lw.load(written(tmp_path, "floor.xml", MJCF.format(floor=floor, contype=1)), ground=True)
    assert [s.name for s in twice.world_shapes] == ["floor"]
    assert any("ground=True lays nothing" in note for note in twice.notes)
    ghost = lw.load(written(tmp_path, "ghost.xml", MJCF.format(floor=floor, contype=0)))
    assert any("nothing touches 'floor'" in note for note in ghost.notes)


@pytest.mark.parametrize("ground", ["yes", 1, lw.Plane, [1], {"z": 0}])
def test_what_is_no_ground_is_refused(ground: object, tmp_path: Path) -> None:
    with pytest.raises(lw.InputError, match="load: ground = "):
        lw.load(written(tmp_path, "walker.urdf", WALKER), ground=ground)  # pyright: ignore


def test_options_that_say_nothing_of_a_file_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path, "walker.urdf", WALKER)
    saved = lw.load(file).save(tmp_path / "walker.lwm")
    with pytest.raises(lw.InputError, match=r"allow = \('tendons',\) is for .xml files"):
        lw.load(file, allow=["tendons"])
    for name, value in (("floating", True), ("mimic", "independent"), ("inertia", "repair"), ("merge_fixed", False)):
        with pytest.raises(lw.InputError, match=rf"walker.lwm: {name} = {value!r} is for .urdf files"):
            lw.load(saved, **{name: value})  # pyright: ignore
        with pytest.raises(lw.InputError, match=rf"ball.xml: {name} = {value!r} is for .urdf files"):
            lw.load(written(tmp_path, "ball.xml", MJCF.format(floor="", contype=1)), **{name: value})  # pyright: ignore


def test_forces_are_known_of_a_robot_that_starts_inside_the_ground(tmp_path: Path) -> None:
    """All rows of its shapes act at once: more than 48 for every body."""
    form = '<geometry><cylinder radius="0.04" length="0.04"/></geometry>'
    places = [f"{0.1 * i} {0.1 * j} 0" for i in range(6) for j in range(5)]
    pads = "".join(f'<collision><origin xyz="{place}"/>{form}</collision>' for place in places)
    tray = f'<robot name="tray"><link name="trunk">{INERTIAL}{pads}</link></robot>'
    model = lw.load(written(tmp_path, "tray.urdf", tray), floating=True, ground=True)
    q = model.neutral()
    q[2] = -0.02
    run = lw.simulate(model, lw.State(q, np.zeros(6)), 0.01, 1e-3)
    assert run.health.finite
    assert run.forces is not None
    assert np.isfinite(run.forces).all()


# --- the command line ---------------------------------------------------------------------------------------------------------
def test_the_command_line_lays_a_ground_that_carries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(written(tmp_path, "walker.urdf", WALKER))
    given = ["--floating", "--height", "0.5", "--ground", "--duration", "0.5", "--headless", "--out", str(tmp_path)]
    assert called("run", file, *given) == 0
    capsys.readouterr()
    with np.load(tmp_path / "walker.npz") as saved:
        assert saved["q"][-1, 2] > 0.04


def test_options_that_do_nothing_are_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(written(tmp_path, "walker.urdf", WALKER))
    out = ["--headless", "--out", str(tmp_path)]
    assert called("run", "pendulum", "--duration", "0.01", "--stream", *out) == 0
    stream = str(tmp_path / "pendulum.lwk")
    cases = [
        (["run", "pendulum", "--ground", *out], "the scene 'pendulum' takes no --ground"),
        (["view", "pendulum", "--floating", "--inertia", "repair", *out], "takes no --floating, --inertia"),
        (["run", file, "--allow", "tendons", *out], "allow = ('tendons',) is for .xml files"),
        (["export", stream, "--dt", "0.1", *out], "pendulum.lwk: a saved run takes no --dt"),
        (["plot", stream, "--links", "3", "--headless"], "a saved run takes no --links"),
        (["view", stream, "--move", *out], "a saved run takes no --move"),
        (["view", str(tmp_path / "pendulum.html"), "--ground", *out], "a page takes no --ground"),
        (["run", "pendulum", "--live", "--stream", *out], "--live writes a page"),
    ]
    capsys.readouterr()
    for arguments, words in cases:
        assert called(*arguments) == 2, arguments
        assert words in capsys.readouterr().err


@pytest.mark.parametrize("height", ["0", "0.7"])
def test_a_scene_gets_its_own_option_of_a_name_that_files_have(height: str, tmp_path: Path) -> None:
    for scene in ("quadruped", "ragdoll"):
        assert called("view", scene, "--height", height, "--headless", "--out", str(tmp_path), "--json") == 0
    from linkwork.cli.app import Loading
    from linkwork.cli.problem import problem_of

    low, high = (problem_of("ragdoll", (), Loading(height=h)).state for h in (float(height), None))
    assert not np.array_equal(low.q, high.q)
