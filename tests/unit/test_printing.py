"""What models, states and runs print."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes import ALL_SCENES

ROD = lw.Inertia.cuboid(mass=2.0, size=(1, 0.1, 0.1), com=(0.5, 0, 0))


def arm() -> lw.Model:
    b = lw.ModelBuilder()
    b.body("upper", joint=lw.Revolute((0, 1, 0)), inertia=ROD, joint_name="shoulder", limits=(-1, 2), damping=0.5)
    b.body("lower", parent="upper", joint=lw.Spherical(), placement=lw.SE3(p=(1, 0, 0)) @ lw.SE3.rot_z(np.pi / 2), inertia=ROD)
    b.frame("hand", body="lower", placement=lw.SE3(p=(1, 0, 0)))
    b.add(lw.SpringDamper("lower", "world", stiffness=3.0, rest_length=0.5, name="band"))
    return b.build()


def test_a_model_prints_its_tree() -> None:
    assert str(arm()).splitlines() == [
        "Model of 2 bodies, 4 degrees of freedom (5 coordinates), 4 kg",
        "  world",
        "    upper (shoulder)  Revolute y  q[0]    v[0]    2 kg  limits -1 to 2, damping 0.5",
        "      lower           Spherical   q[1:5]  v[1:4]  2 kg",
        "laws: 1 SpringDamper (band)",
        "frames: hand",
        "gravity (0, 0, -9.81)",
    ]
    assert repr(arm()) == "Model(2 bodies, nq=5, nv=4)"


def test_large_models_print_short_and_describe_prints_all() -> None:
    model, _ = ALL_SCENES["pendulum"].build(links=200)
    lines = str(model).splitlines()
    assert len(lines) < 30
    assert "  ... 178 more bodies" in lines
    assert lines[-2].split()[0] == "link200"
    assert max(map(len, lines)) < 100
    assert len(model.describe().splitlines()) == 203


def test_a_part_is_described() -> None:
    model = arm()
    text = model.describe("shoulder")
    for words in (
        "Revolute y 'shoulder', q[0], v[0]",
        "the world, at (0, 0, 0) m",
        "2 kg, centre (0.5, 0, 0)",
        "-1 to 2",
        "lower",
    ):
        assert words in text
    lower = model.describe("lower")
    for words in (
        "turned by 90 degrees about z",
        "body 'upper'",
        "frame     hand",
        "SpringDamper('lower', 'world', name='band')",
    ):
        assert words in lower
    assert "on body 'lower', at (1, 0, 0) m" in " ".join(model.describe("hand").split())
    assert "stiffness           3" in model.describe("band")
    with pytest.raises(lw.InputError, match="no joint, body, frame or law 'foot'"):
        model.describe("foot")


@pytest.mark.parametrize("name", ALL_SCENES)
def test_every_scene_prints_and_tells_of_its_parts(name: str) -> None:
    model, state = ALL_SCENES[name].build()
    model = model if isinstance(model, lw.Model) else model.model
    assert len(str(model).splitlines()) < 40
    assert model.describe(model.bodies[-1].joint_name).startswith("body ")
    assert len(repr(state)) < 300


def test_turns_by_half_a_circle_name_their_axis() -> None:
    from linkwork.model.printing import placed

    assert placed(lw.SE3.rot_x(np.pi)) == "at (0, 0, 0) m, turned by 180 degrees about x"
    assert placed(lw.SE3.rot_y(-0.5)) == "at (0, 0, 0) m, turned by 28.65 degrees about -y"
    assert placed(lw.SE3(p=(1, 2, 3))) == "at (1, 2, 3) m"


def test_states_and_runs_print_in_a_line() -> None:
    model, state = ALL_SCENES["pendulum"].build(links=2)
    assert repr(state) == "State(q=[0., 0.], v=[0., 0.], t=0)"
    assert repr(lw.State(np.zeros((5, 2)), np.zeros((5, 2)))) == "State(q=array of 5 x 2, v=array of 5 x 2, t=0)"
    assert repr(lw.to_maximal(model, state)) == "MaximalState(2 bodies, q_fit=[0., 0.], t=0)"
    run = lw.simulate(model, state, 0.1)
    assert repr(run) == "Trajectory(0 to 0.1 s, 101 records, reduced coordinates, Model(2 bodies, nq=2, nv=2))"
    assert str(run).splitlines()[0] == repr(run)
    assert "energy drift" in str(run)
    many = lw.simulate(model, lw.State(np.zeros((3, 2)), np.zeros((3, 2))), 0.01)
    assert repr(many).startswith("Trajectory(3 runs, 0 to 0.01 s")


def test_dir_shows_public_names_alone() -> None:
    assert sorted(dir(lw)) == sorted([*lw.__all__, "__version__"])
    for name in lw.__all__:
        assert hasattr(lw, name)
    space: dict[str, object] = {}
    exec("from linkwork import *", space)
    assert set(space) - {"__builtins__"} == set(lw.__all__)


def test_poses_print_numbers() -> None:
    assert repr(lw.SE3.rot_z(0.0) @ lw.SE3(p=(0.1, 2, 3))).endswith("p=[0.1, 2.0, 3.0])")
