"""Values that did harm: threads without end, names that no file takes, numbers that overflow, paths that lead elsewhere."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from bad_files import ROBOT, text_of
from cases import ROD, ball, plain

import linkwork as lw
from linkwork.kernel import workers

HIDDEN = "\ud800"  # half of a character
BATCH = lw.State(np.zeros((64, 2)), np.zeros((64, 2)))


def test_no_more_threads_than_cores_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_told_of_cores", False)
    monkeypatch.setattr(workers.os, "cpu_count", lambda: 2)
    before = threading.active_count()
    with pytest.warns(UserWarning, match="threads=2000: there are 2 cores"):
        lw.simulate(plain(), BATCH, 0.01, 1e-3, threads=2000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lw.forward_dynamics(plain(), BATCH.q, BATCH.v, threads=10**9)
    assert threading.active_count() <= before + 2


@pytest.mark.parametrize("name", ["a" + HIDDEN, "a" * 10000])
def test_names_that_cannot_be_written(name: str) -> None:
    hinge = {"joint": lw.Revolute(), "inertia": ROD}
    for make in (
        lambda: lw.ModelBuilder().body(name, **hinge),
        lambda: lw.ModelBuilder().body("a", joint_name=name, **hinge),
        lambda: lw.ModelBuilder().body("a", **hinge).frame(name, body="a"),
        lambda: lw.Sphere(1.0, name=name),
        lambda: lw.Mesh(np.eye(3), [[0, 1, 2]], name),
        lambda: lw.Limit("elbow", 0.0, 1.0, name=name),
    ):
        with pytest.raises(lw.ModelError, match="name"):
            make()


@pytest.mark.parametrize("name", ["a" * 10000, "b" + HIDDEN, "c\0", "no/x"])
@pytest.mark.parametrize("suffix", [".csv", ".npz", ".html", ".glb"])
def test_paths_that_no_system_has(tmp_path: Path, name: str, suffix: str) -> None:
    run = lw.simulate(plain(), lw.State([0.0, 0.0], [0.0, 0.0]), 0.01, 1e-3)
    with pytest.raises(lw.LinkworkError):
        run.save(f"{tmp_path}/{name}{suffix}")
    with pytest.raises(lw.LinkworkError):
        lw.simulate(plain(), run.final, 0.01, 1e-3, out=f"{tmp_path}/{name}.lwk")
    for read in (lw.load, lw.resume, lw.Trajectory.load, lambda x: lw.MeshFile(x).surfaces, lw.Mesh.load):
        with pytest.raises(lw.LinkworkError):
            read(f"{tmp_path}/{name}.lwk")


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1.0abc", "0x10", "1_0", "nan", "\u0661", "1,5"])
@pytest.mark.parametrize("where", ["lower", "upper", "effort", "velocity"])
def test_numbers_of_urdf_files(number: str, where: str) -> None:
    usual = {"lower": "-1", "upper": "1", "effort": "1", "velocity": "1"}[where]
    with pytest.raises(lw.ModelError, match=where):
        lw.load(text_of("robot.urdf", ROBOT.replace(f'{where}="{usual}"', f'{where}="{number}"')))


def test_limits_without_end_are_legal() -> None:
    robot = ROBOT.replace('upper="1"', 'upper="inf"').replace('effort="1"', 'effort="Infinity"')
    assert lw.load(text_of("robot.urdf", robot)).bodies[0].properties.upper[0] == np.inf


@pytest.mark.parametrize(
    "name",
    [
        "no.stl",
        "link.stl",
        "../out.stl",
        "file:///etc/passwd.stl",
        "package://no/no.stl",
        "package://../out.stl",
        "package://robot/../out.stl",
        "package://robot/%2e%2e/out.stl",
        "package://" + "a/" * 5000 + "x.stl",
        "a" * 10000 + ".stl",
    ],
)
@pytest.mark.parametrize("tag", ["visual", "collision"])
def test_meshes_that_are_not_read_stand_in_the_notes(tmp_path: Path, name: str, tag: str) -> None:
    folder = tmp_path / "robot"
    folder.mkdir()
    (tmp_path / "out.stl").write_bytes(b"solid x\nendsolid x\n")
    (folder / "link.stl").symlink_to(tmp_path / "out.stl")
    shape = f'<{tag}><geometry><mesh filename="{name}"/></geometry></{tag}>'
    path = folder / "r.urdf"
    path.write_text(ROBOT.replace('<link name="base"/>', f'<link name="base">{shape}</link>'))
    model = lw.load(path)
    assert any(f"left out, a <{tag}>" in note and name[:20] in note for note in model.notes)


@pytest.mark.parametrize("stepper", ["ode45", "dop853", "rk4", "symplectic_euler"])
@pytest.mark.parametrize("late", [0.0, 0.005])
def test_control_that_is_not_finite(stepper: str, late: float) -> None:
    with pytest.raises(lw.LinkworkError, match=r"control returned a value that is not finite at t = .*nan in entry 1"):
        lw.simulate(
            plain(),
            lw.State([0.0, 0.0], [0.0, 0.0]),
            0.01,
            1e-3,
            stepper=stepper,
            control=lambda t, state: [0.0, np.nan if t >= late else 0.0],
        )


def test_quaternion_of_zeros() -> None:
    zero, still = np.zeros(4), np.zeros(3)
    for call in (
        lambda: lw.SE3.rot_quat(zero),
        lambda: lw.forward_dynamics(ball(), zero, still),
        lambda: lw.simulate(ball(), lw.State(zero, still), 0.01, 1e-3),
        lambda: ball().integrate(zero, still),
        lambda: ball().difference(zero, zero),
    ):
        with pytest.raises(lw.LinkworkError):
            call()


def test_spline_of_two_points() -> None:
    with pytest.raises(lw.ModelError, match="2 control values are too few"):
        lw.SplineCurve([lw.SE3(), lw.SE3(p=(1, 0, 0))])
    with pytest.raises(lw.ModelError):
        lw.SplineSurface(np.zeros((6, 2, 2)))
