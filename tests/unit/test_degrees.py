"""Angles that were meant in degrees are told wherever a model or a call takes angles."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw

BALL = lw.Inertia.sphere(1.0, 0.1)
HINGE = lw.Revolute((0, 1, 0))


def made(*elements: Any, joint: lw.Joint = HINGE, **properties: Any) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("arm", joint=joint, inertia=BALL, **properties)
    b.body("fore", parent="arm", joint=HINGE, inertia=BALL)
    for element in elements:
        b.add(element)
    return b.build()


DEGREES: dict[str, Any] = {
    "limits": lambda: made(limits=(-90, 90)),
    "one limit": lambda: made(limits=(0, 120)),
    "two kinds of coordinates": lambda: made(joint=lw.Cylindrical((0, 0, 1)), limits=((-90, -90), (90, 90))),
    "Euler angles": lambda: made(joint=lw.SphericalEuler("xyz"), limits=((-45, -1, -1), (45, 1, 1))),
    "stop": lambda: made(lw.Limit("arm", -45, 45)),
    "spring": lambda: made(lw.JointSpring("fore", 5.0, rest=30.0)),
    "target": lambda: made(lw.PDController("fore", 5.0, target=60)),
    "servo": lambda: made(lw.Actuator("fore", gain=20.0, bias=(0, -20.0, 0), control=45)),
    "coupling": lambda: made(lw.Coupling("fore", "arm", offset=90)),
}


@pytest.mark.parametrize("case", DEGREES)
def test_a_model_tells_angles_in_degrees(case: str) -> None:
    with pytest.warns(lw.UnitWarning, match=r"rad looks like degrees.*np\.deg2rad") as told:
        model = DEGREES[case]()
    assert any("looks like degrees" in note for note in model.notes)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", lw.UnitWarning)
        assert sum("looks like degrees" in note for note in model.add(lw.JointDamping("arm", 1.0)).notes) == len(told)


def test_lengths_turns_and_open_limits_are_not_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", lw.UnitWarning)
        made(joint=lw.Prismatic((0, 0, 1)), limits=(-90, 90))
        made(joint=lw.Cylindrical((0, 0, 1)), limits=((-3, -90), (3, 90)))
        made(limits=(-np.inf, 3.0))
        made(limits=(-4 * np.pi, 4 * np.pi))
        model = made(lw.JointSpring("arm", 1.0, rest=0.5))
        lw.simulate(model, lw.State([45.3, 0.0], [0.0, 0.0]), 0.002, 1e-3)
        lw.simulate(model, lw.State([45.0, 0.0], [0.0, 0.0], 2.0), 0.002, 1e-3)
        lw.SE3.rot_x(20.1)
    with pytest.raises(lw.ModelError, match="radians"):
        lw.SwingTwistLimit("arm", 1.0, swing=60.0)
    with pytest.raises(lw.ModelError, match="radians"):
        lw.SwingTwistLimit("arm", 1.0, twist=(-30, 30))
    with pytest.raises(lw.ModelError, match="radians"):
        lw.Muscle([("world", (0, 0, 0)), ("arm", (0, 0, 1))], 1.0, 1.0, pennation=20.0)


def test_starts_and_poses_in_degrees_are_told() -> None:
    model = made()
    with pytest.warns(lw.UnitWarning, match=r"state.q at joint 'fore': 45 rad looks like degrees"):
        lw.simulate(model, lw.State([0.3, 45.0], [0.0, 0.0]), 0.002, 1e-3)
    with pytest.warns(lw.UnitWarning, match=r"a turn of 90 rad looks like degrees"):
        lw.SE3.rot_y(90)


URDF = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
 ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
 <origin rpy="0 90 0"/><limit lower="-90" upper="90" effort="10" velocity="10"/></joint></robot>"""


def test_a_file_in_degrees_has_notes(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(URDF)
    with pytest.warns(lw.UnitWarning, match="joint 'j': a limit of -90, 90 rad"):
        model = lw.load(path)
    assert any("joint 'j': a limit of -90, 90 rad looks like degrees" in note for note in model.notes)
    assert any("rpy = '0 90 0' in line 3 is more than a whole turn" in note for note in model.notes)
    saved = tmp_path / "r.lwm"
    model.save(saved)
    with warnings.catch_warnings():
        warnings.simplefilter("error", lw.UnitWarning)
        assert lw.load(saved).notes == model.notes
