"""What a run is written as: numbers that come back, pages that need nothing else, plots that say what they leave out."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes import ALL_SCENES
from linkwork.store.files import whole_file
from linkwork.view import WRITERS, page, plot
from linkwork.view.bundle import script_of
from linkwork.view.html import content
from linkwork.view.labels import coordinate_labels, force_labels, velocity_labels
from linkwork.view.packed import packed, rounded, unpacked, unzipped, zipped
from linkwork.view.recording import FEW, FRAMES, POSES, chosen

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


def element(text: str, name: str) -> str:
    """What an element of a page holds, found as a browser finds it: up to the first end of a script element."""
    found = re.search(rf'<script id="{name}" type="text/plain">(.*?)</script', text, re.DOTALL)
    assert found
    return found[1]


def embedded(text: str, name: str) -> Any:
    """The data of a page."""
    return json.loads(unzipped(element(text, name)))


def frames_of(run: lw.Trajectory) -> int:
    return content(run, "run")["recording"]["t"]["shape"][0]


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
    if suffix == ".mp4" and shutil.which("ffmpeg") is None:
        pytest.skip("there is no ffmpeg")
    start = {".npz": b"PK", ".html": b"<!doctype html>", ".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    start |= {".csv": b"time (s),", ".glb": b"glTF", ".mp4": b"\0\0\0", ".gif": b"GIF89a", ".strobe.png": b"\x89PNG"}
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


def test_the_page_carries_three_js_and_modules_are_one_script() -> None:
    text = page(run_of("ball"), "ball")
    assert "Three.js Authors" in unzipped(element(text, "three"))
    script = script_of("recorded")
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)
    tops = re.findall(r"^(?:async )?(?:function|class|const) (\w+)", script, re.MULTILINE)
    assert len(tops) == len(set(tops)) > 30


def test_hostile_names_are_data_only() -> None:
    run = hostile_run()
    text = page(run, HOSTILE)
    assert "<script>alert" not in text
    assert text.count("<script") == 5
    assert embedded(text, "scene")["bodies"][0]["name"] == HOSTILE
    assert "<title>&lt;/script&gt;" in text
    assert "&lt;script&gt;alert" not in re.sub(r"<title>.*?</title>|<h1>.*?</h1>", "", text)


def test_frames_are_limited_and_the_page_says_so() -> None:
    run = run_of("pendulum", 20.0)
    data = content(run, "run")
    t, poses = (unpacked(data["recording"][name]) for name in ("t", "poses"))
    assert poses.shape == (FRAMES, 3, 7)
    assert (len(t), t[0], t[-1]) == (FRAMES, 0.0, 20.0)
    assert any("900 frames of 20001 records" in note for note in data["words"]["notes"])
    assert len(page(run)) < 500_000


def test_frames_come_at_most_sixty_per_second() -> None:
    assert frames_of(run_of("pendulum", 1.0)) == 61
    assert frames_of(run_of("loop", 0.1)) == 7
    assert len(chosen(np.linspace(0, 100, 10_001), nb=2)) == FRAMES
    assert len(chosen(np.linspace(0, 100, 10_001), nb=POSES // 100)) == 100
    assert len(chosen(np.linspace(0, 100, 10_001), nb=10 * POSES)) == FEW
    np.testing.assert_array_equal(chosen(np.array([0.0, 1.0, 2.0]), nb=1), [0, 1, 2])


def test_poses_of_the_page_are_those_of_the_run() -> None:
    run = run_of("pendulum", 0.5)
    data = content(run, "run")["recording"]
    t = unpacked(data["t"])
    records = np.searchsorted(run.t, t - 1e-6)
    for row, k in zip(unpacked(data["poses"]), records, strict=True):
        for values, pose in zip(row, run.poses[k], strict=True):
            np.testing.assert_allclose(values[:3], pose[:3, 3], atol=1e-6)
            np.testing.assert_allclose(lw.SE3.rot_quat(values[3:].astype(float)).R, pose[:3, :3], atol=1e-6)
    np.testing.assert_allclose(unpacked(data["energy"][0]["values"]), run.energy.kinetic[records], rtol=1e-6)
    assert [curve["name"] for curve in data["curves"]] == ["link1", "link2", "link3"]


def test_numbers_keep_six_digits() -> None:
    assert rounded(np.array([123.456789, 1e-9, -0.0, 0.1 + 0.2])) == [123.457, 0.0, 0.0, 0.3]
    assert rounded(np.array([1.23456789e-7])) == [1.23457e-7]
    assert rounded(np.zeros(2)) == [0.0, 0.0]
    assert rounded(np.array([123456789.0])) == [123457000.0]


@pytest.mark.parametrize("kind", ["f4", "u2", "u4", "u1"])
def test_packed_arrays_come_back(kind: str) -> None:
    a = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(unpacked(packed(a, kind)), a)
    assert unzipped(zipped("\u2028 text")) == "\u2028 text"


def test_a_batch_shows_its_first_run_and_says_so() -> None:
    model, state = ALL_SCENES["pendulum"].build(links=2)
    q = np.stack([state.q, state.q + 0.3, state.q - 0.3])
    run = lw.simulate(model, lw.State(q, np.zeros((3, 2))), 0.05)
    alone = lw.simulate(model, state, 0.05)
    data = content(run, "run")
    assert data["recording"]["poses"] == content(alone, "run")["recording"]["poses"]
    assert any("first run of 3" in note for note in data["words"]["notes"])
    figure = plot(run)
    assert "first run of 3" in figure.get_suptitle()
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), alone.q[:, 0])


def led_run() -> lw.Trajectory:
    """A rod with damping, led by a hand that moves."""
    rod = lw.Inertia.cuboid(1.0, (1, 0.1, 0.1), com=(0.5, 0, 0))
    handle = lw.Handle("rod", (1, 0, 0), target=(1, 0, 0), stiffness=60.0, damping=1.0, name="hand")
    model = lw.ModelBuilder().body("rod", joint=lw.Revolute((0, 1, 0)), inertia=rod, damping=0.5).add(handle).build()
    start = lw.State(np.zeros(1), np.zeros(1))
    return lw.simulate(model, start, 1.0, inputs=lambda t: handle.toward((1.0, 0.0, t), (0.0, 0.0, 1.0)))


def test_health_is_told_as_a_story() -> None:
    """What came in and went out is what the account says; the rest is named."""
    run = led_run()
    words, account = content(run, "run")["words"], run.account
    assert words["story"][0] == f"The model had {account.start:.4g} J at the start and {account.end:.4g} J at the end."
    brought = sum(account.came_in.values())
    assert any(line.startswith(f"{brought:.3g} J came in: ") and "inputs of forces" in line for line in words["story"])
    assert any(line.startswith("Unexplained: ") and "'symplectic_euler'" in line for line in words["story"])
    flows = {flow["name"]: flow["in"] - flow["out"] for flow in words["flows"]}
    assert flows["unexplained"] == pytest.approx(account.unexplained)
    assert sum(flows.values()) == pytest.approx(account.end - account.start, abs=2 * abs(account.unexplained))


def test_handles_are_in_the_recording() -> None:
    run = led_run()
    recorded = content(run, "run")["recording"]
    (hand,) = recorded["handles"]
    t = unpacked(recorded["t"])
    assert hand["name"] == "hand"
    assert unpacked(hand["to"]) == pytest.approx(np.stack([np.ones_like(t), 0 * t, t], axis=1), abs=2e-3)
    assert unpacked(hand["from"])[-1] == pytest.approx(run.poses[-1, 0, :3, 0] + run.poses[-1, 0, :3, 3], abs=1e-6)


def broken_from(run: lw.Trajectory, record: int) -> lw.Trajectory:
    """The same run with no numbers for q from a record on."""
    q = run.arrays["q"].copy()
    q[record:] = np.nan
    return replace(run, arrays={**run.arrays, "q": q})


def test_a_run_that_broke_down_is_shown_until_then(tmp_path: Path) -> None:
    whole = run_of("pendulum", 0.1)
    run = broken_from(whole, 60)
    data = content(run, "run")
    assert unpacked(data["recording"]["t"])[-1] == pytest.approx(0.059)
    assert any("not finite after t = 0.059" in note for note in data["words"]["notes"])
    assert data["words"]["health"][-1]["value"] == "no"
    assert data["words"]["story"][0].startswith("The run broke down")
    assert run.save(tmp_path / "run.png").exists()
    with pytest.raises(lw.InputError, match="first state"):
        content(broken_from(whole, 0), "run")


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
    assert repr(run.health) in figure.get_suptitle()


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
