"""What a run is written as: numbers that come back, pages that need nothing else, plots that say what they leave out."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes import ALL_SCENES
from linkwork.view import WRITERS, page, plot
from linkwork.view.files import whole_file
from linkwork.view.html import FEW, FRAMES, POSES, chosen, content, rounded, script_json
from linkwork.view.labels import coordinate_labels, force_labels, velocity_labels
from linkwork.view.meshes import drawn
from linkwork.view.solids import bodies, equivalent_cuboid, grounds, scenery, springs

HOSTILE = "</script><script>alert(1)</script>&<b>{{title}}\u2028$x_"


def run_of(name: str, duration: float = 0.1, method: str | None = None, **options: Any) -> lw.Trajectory:
    scene = ALL_SCENES[name]
    model, state = scene.build(**options)
    return lw.simulate(model, state, duration, scene.dt, method or scene.methods[0])


def hostile_run() -> lw.Trajectory:
    b = lw.ModelBuilder()
    b.body(HOSTILE, joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.cuboid(1.0, (1, 0.1, 0.1), com=(0.5, 0, 0)))
    b.body("_hidden", parent=HOSTILE, joint=lw.Revolute(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    model = b.build()
    return lw.simulate(model, lw.State(model.neutral(), np.zeros(model.nv)), 0.01)


def embedded(text: str) -> dict[str, Any]:
    """The data of a page, found as a browser finds it: up to the first end of the script element."""
    found = re.search(r'<script id="data" type="application/json">(.*?)</script', text, re.DOTALL)
    assert found
    return json.loads(found[1])


# --- numbers ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_numbers_come_back(method: str, tmp_path: Path) -> None:
    run = run_of("loop", 0.02, method)
    path = run.save(tmp_path / "run.npz")
    with np.load(path, allow_pickle=False) as saved:
        assert str(saved["kind"]) == method
        assert saved["body_names"].tolist() == ["crank", "coupler", "rocker"]
        assert "tau" not in saved
        for name, a in {"t": run.t, "forces": run.forces, "kinetic": run.energy.kinetic, **run.arrays}.items():
            np.testing.assert_array_equal(saved[name], a)


def test_joint_forces_are_saved(tmp_path: Path) -> None:
    model, state = ALL_SCENES["pendulum"].build(links=2)
    run = lw.simulate(model, state, 0.01, tau=[1.0, -2.0])
    with np.load(run.save(tmp_path / "run.npz")) as saved:
        np.testing.assert_array_equal(saved["tau"], np.tile([1.0, -2.0], (11, 1)))


def test_a_broken_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    path.write_text("old")

    def interrupted() -> None:
        with whole_file(path) as part:
            part.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_and_an_unknown_suffix_are_named(tmp_path: Path) -> None:
    run = run_of("helix", 0.01)
    with pytest.raises(lw.InputError, match="no folder"):
        run.save(tmp_path / "none" / "run.npz")
    with pytest.raises(lw.InputError, match=r"\.xyz.*\.npz"):
        run.save(tmp_path / "run.xyz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_suffix_writes_its_kind(suffix: str, tmp_path: Path) -> None:
    start = {".npz": b"PK", ".html": b"<!doctype html>", ".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    path = run_of("helix", 0.01).save(tmp_path / f"run{suffix.upper()}")
    assert path.read_bytes().startswith(start[suffix])
    assert list(tmp_path.iterdir()) == [path]


# --- page ------------------------------------------------------------------------------------------------------------
def test_page_loads_nothing_from_anywhere() -> None:
    text = page(run_of("ball"), "ball")
    assert not re.search(r"https?:|//\w+\.|@import|url\(|fetch\(|XMLHttpRequest|WebSocket|import\(", text)
    assert not re.search(r"<(script|img|iframe|audio|video|source)[^>]*\ssrc=", text)
    assert re.findall(r'<link[^>]*href="([^"]*)"', text) == ["data:,"]
    assert "default-src 'none'" in text
    assert "{{" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def test_hostile_names_are_data_only() -> None:
    run = hostile_run()
    text = page(run, HOSTILE)
    assert "<script>alert" not in text
    assert text.count("<script") == 2
    assert embedded(text)["bodies"][0]["name"] == HOSTILE
    assert "<title>&lt;/script&gt;" in text
    assert "\u2028" not in script_json(HOSTILE)
    assert json.loads(script_json(HOSTILE)) == HOSTILE


def test_frames_are_limited_and_the_page_says_so() -> None:
    run = run_of("pendulum", 8.0)
    data = content(run, "run")
    assert len(data["t"]) == len(data["poses"]) == len(data["kinetic"]) == FRAMES
    assert (data["t"][0], data["t"][-1]) == (0.0, 8.0)
    assert any("300 frames of 8001 records" in note for note in data["notes"])
    assert len(page(run)) < 150_000


def test_frames_come_at_most_sixty_per_second() -> None:
    assert len(content(run_of("pendulum", 1.0), "run")["t"]) == 61
    few = run_of("loop", 0.1)
    assert len(content(few, "run")["t"]) == 7
    assert len(chosen(np.linspace(0, 100, 10_001), nb=2)) == FRAMES
    assert len(chosen(np.linspace(0, 100, 10_001), nb=POSES // 100)) == 100
    assert len(chosen(np.linspace(0, 100, 10_001), nb=10 * POSES)) == FEW
    np.testing.assert_array_equal(chosen(np.array([0.0, 1.0, 2.0]), nb=1), [0, 1, 2])


def test_poses_of_the_page_are_those_of_the_run() -> None:
    run = run_of("pendulum", 0.5)
    data = content(run, "run")
    records = np.searchsorted(run.t, np.array(data["t"]) - 1e-9)
    for row, k in zip(data["poses"], records, strict=True):
        for i, pose in enumerate(run.poses[k]):
            np.testing.assert_allclose(row[7 * i : 7 * i + 3], pose[:3, 3], atol=1e-5)
            E = lw.SE3.rot_quat(np.array(row[7 * i + 3 : 7 * i + 7]))
            np.testing.assert_allclose(E.R, pose[:3, :3], atol=1e-4)


def test_numbers_keep_six_digits() -> None:
    assert rounded(np.array([123.456789, 1e-9, -0.0, 0.1 + 0.2])) == [123.457, 0.0, 0.0, 0.3]
    assert rounded(np.array([1.23456789e-7])) == [1.23457e-7]
    assert rounded(np.zeros(2)) == [0.0, 0.0]
    assert rounded(np.array([123456789.0])) == [123457000.0]


def test_a_batch_shows_its_first_run_and_says_so() -> None:
    model, state = ALL_SCENES["pendulum"].build(links=2)
    q = np.stack([state.q, state.q + 0.3, state.q - 0.3])
    run = lw.simulate(model, lw.State(q, np.zeros((3, 2))), 0.05)
    alone = lw.simulate(model, state, 0.05)
    data = content(run, "run")
    assert data["poses"] == content(alone, "run")["poses"]
    assert any("first run of 3" in note for note in data["notes"])
    figure = plot(run)
    assert "first run of 3" in figure.get_suptitle()
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), alone.q[:, 0])


def broken_from(run: lw.Trajectory, record: int) -> lw.Trajectory:
    """The same run with no numbers for q from a record on."""
    q = run.arrays["q"].copy()
    q[record:] = np.nan
    return replace(run, arrays={**run.arrays, "q": q})


def test_a_run_that_broke_down_is_shown_until_then(tmp_path: Path) -> None:
    whole = run_of("pendulum", 0.1)
    run = broken_from(whole, 60)
    data = content(run, "run")
    assert data["t"][-1] == pytest.approx(0.059)
    assert any("not finite after t = 0.059" in note for note in data["notes"])
    assert data["health"][-1]["value"] == "no"
    assert run.save(tmp_path / "run.png").exists()
    with pytest.raises(lw.InputError, match="first state"):
        content(broken_from(whole, 0), "run")


# --- solids ----------------------------------------------------------------------------------------------------------
def test_a_cuboid_is_drawn_as_itself() -> None:
    size = np.array([0.5, 2.0, 1.0])
    turn = lw.SE3.rot_exp(np.array([0.3, -0.4, 0.5])).R
    straight = lw.Inertia.cuboid(3.0, size)
    edges, axes = equivalent_cuboid(lw.Inertia(3.0, tensor=turn @ straight.tensor @ turn.T))
    np.testing.assert_allclose(edges, size, rtol=1e-12)
    np.testing.assert_allclose(axes, turn, atol=1e-12)


def test_equivalent_cuboid_has_the_same_inertia() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        points = rng.normal(size=(6, 3))
        points -= points.mean(axis=0)
        tensor = sum((x @ x * np.eye(3) - np.outer(x, x) for x in points), np.zeros((3, 3)))
        edges, axes = equivalent_cuboid(lw.Inertia(6.0, tensor=tensor))
        again = axes @ lw.Inertia.cuboid(6.0, edges).tensor @ axes.T
        np.testing.assert_allclose(again, tensor, atol=1e-12)
        assert np.linalg.det(axes) == pytest.approx(1.0)


def test_a_point_mass_has_no_extent() -> None:
    np.testing.assert_array_equal(equivalent_cuboid(lw.Inertia(1.0))[0], np.zeros(3))


def test_springs_are_lines_between_their_points() -> None:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia(1.0))
    b.add(lw.SpringDamper("a", point_a=(0.5, 0, 0), point_b=(0, 0, 1), stiffness=1.0, rest_length=1.0))
    b.add(lw.MassSpringChain("c", (0, 0, 0), (1, 0, 0), nodes=2, mass=1.0, stiffness=1.0, attached={0: ("a", (0, 0, 0))}))
    first, second = springs(b.build())
    assert first == {"bodies": [0, -1], "points": [[0.5, 0, 0], [0, 0, 1]]}
    assert second["bodies"] == [1, 2]


def test_contacts_give_spheres_and_the_ground() -> None:
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(1.0, 0.2))
    b.body("foot", joint=lw.Free(), inertia=lw.Inertia.cuboid(1.0, (1, 2, 3)))
    plane = lw.Plane(point=(0, 0, -1), normal=(0, 0.6, 0.8))
    b.add(lw.Contact("ball", lw.Sphere(0.2), "world", plane))
    b.add(lw.Contact("foot", lw.Sphere(0.1, center=(0, 0, -0.5)), "world", plane))
    model = b.build()
    kinds = [[solid["kind"] for solid in body["solids"]] for body in bodies(model)]
    assert kinds == [["sphere"], ["sphere", "box"]]
    assert grounds(model) == [{"body": -1, "point": [0.0, 0.0, -1.0], "normal": [0.0, 0.6, 0.8]}]
    assert grounds(ALL_SCENES["helix"].build()[0])[0]["normal"] == [0.0, 0.0, 1.0]


def test_shapes_are_drawn_as_they_are() -> None:
    """Every solid is closed, faces outward and has the volume of its shape, as far as its faces can."""
    pose = lw.SE3(p=(0.1, -0.2, 0.3)) @ lw.SE3.rot_x(0.7)
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    shapes = [lw.Capsule(0.2, 0.5, pose), lw.Cylinder(0.2, 0.5, pose), lw.Ellipsoid((0.1, 0.2, 0.3), pose), lw.Convex(corners)]
    for shape in shapes:
        solid = drawn(shape)
        vertices, volume = np.array(solid["vertices"]), 0.0
        edges = [(f[i], f[i - 1]) for f in solid["faces"] for i in range(len(f))]
        assert len(set(edges)) == len(edges)
        assert {(b, a) for a, b in edges} == set(edges)
        for face in solid["faces"]:
            for i in range(1, len(face) - 1):
                volume += np.linalg.det(vertices[[face[0], face[i], face[i + 1]]]) / 6.0
        assert volume == pytest.approx(shape.volume, rel=0.08)
        assert volume <= shape.volume * (1 + 1e-5)


def test_shapes_take_the_place_of_the_cuboid() -> None:
    b = lw.ModelBuilder().ground().world(lw.Box((1, 1, 1)), lw.Plane((0, 0, -1), (1, 0, 0)))
    b.body("a", joint=lw.Free(), shapes=[lw.Box((1, 2, 3), mass=1.0, color=(1, 0, 0.5)), lw.Sphere(0.2)])
    b.body("b", joint=lw.Free(), inertia=lw.Inertia.cuboid(1.0, (1, 2, 3)))
    model = b.build()
    first, second = bodies(model)
    assert [solid["kind"] for solid in first["solids"]] == ["box", "sphere"]
    assert first["solids"][0]["color"] == [255, 0, 128]
    assert [solid["kind"] for solid in second["solids"]] == ["box"]
    assert [solid["kind"] for solid in scenery(model)] == ["box"]
    assert [ground["point"][2] for ground in grounds(model)] == [0.0, -1.0]


# --- plots -----------------------------------------------------------------------------------------------------------
def test_plots_have_units_names_and_health() -> None:
    run = run_of("loop", 0.02)
    figure = plot(run)
    labels = [ax.get_ylabel() for ax in figure.axes]
    assert labels == ["joint coordinates (rad)", "joint velocities (rad/s)", "energy (J)", "constraint forces (N)"]
    assert figure.axes[-1].get_xlabel() == "time (s)"
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["crank", "coupler", "rocker"]
    assert str(run.health) in figure.get_suptitle()


def test_many_curves_are_thinned_and_said() -> None:
    axes = plot(run_of("pendulum", 0.01, links=25)).axes[0]
    assert len(axes.lines) == 10
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == "10 of 25 shown"
    assert [text.get_text() for text in legend.get_texts()][::9] == ["link1", "link25"]


def test_strange_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    run = hostile_run()
    legend = plot(run).axes[0].get_legend()
    assert legend is not None
    assert [text.get_text()[:7] for text in legend.get_texts()] == [HOSTILE[:7], "_hidden"]
    assert run.save(tmp_path / "run.png").exists()


def test_labels_match_the_arrays() -> None:
    for name in ("pendulum", "loop", "ball", "gears", "assembling", "net", "chain"):
        run = run_of(name, 2 * ALL_SCENES[name].dt)
        assert len(coordinate_labels(run.model)) == run.q.shape[-1]
        assert len(velocity_labels(run.model)) == run.v.shape[-1]
        assert len(force_labels(run.model)) == (0 if run.forces is None else run.forces.shape[-1])
    ball, _ = ALL_SCENES["ball"].build()
    assert [label.unit for label in coordinate_labels(ball)] == ["m"] * 3 + [""] * 4
    assert [label.unit for label in velocity_labels(ball)] == ["rad/s"] * 3 + ["m/s"] * 3


def test_a_coordinate_with_a_scale_of_its_own_claims_no_unit() -> None:
    b = lw.ModelBuilder()
    wheel = lw.Inertia.sphere(1.0, 0.1)
    b.body("geared", joint=lw.joint(lambda q: lw.SE3.rot_z(3.0 * q[0]), nv=1), inertia=wheel)
    b.body("slide", joint=lw.joint(lambda q: lw.SE3(p=(0, q[0], 0)), nv=1), inertia=wheel)
    model = b.build()
    assert [label.unit for label in coordinate_labels(model)] == ["", "m"]
