"""The recorded page in a real browser: it plays, pauses, steps, scrubs, names and hides."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import linkwork as lw
from linkwork.look import Camera, Look
from linkwork.scenes import ALL_SCENES

Opened = Callable[..., Any]


def saved(name: str, folder: Path, duration: float = 1.0, **look: Any) -> tuple[lw.Trajectory, Path]:
    scene = ALL_SCENES[name]
    model, state = scene.build()
    run = lw.simulate(model, state, duration, scene.dt, scene.methods[0])
    return run, run.save(folder / f"{name}.html", **look)


def picture(page: Any) -> np.ndarray:
    """What the scene shows now, (height, width, 3)."""
    page.evaluate("linkwork.player.draw()")
    shot = page.locator("#stage canvas").screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), float)


def time_of(page: Any) -> float:
    return page.evaluate("linkwork.player.time")


def until(page: Any, expression: str, seconds: float = 30.0) -> None:
    """Wait for a value of the page; its policy forbids what the browser's driver would do."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(30)


def differs(a: np.ndarray, b: np.ndarray) -> float:
    """How much of two pictures is different."""
    return float(np.mean(np.abs(a - b).max(axis=-1) > 24))


def test_it_plays_pauses_steps_and_scrubs(opened: Opened, tmp_path: Path) -> None:
    run, path = saved("pendulum", tmp_path)
    page = opened(path)
    until(page, "linkwork.player.time > 0.05")  # it starts by itself
    page.click("#play")
    at = time_of(page)
    assert page.inner_text("#play") == "Play"
    page.wait_for_timeout(120)
    assert time_of(page) == at
    page.click("#reset")
    page.evaluate("linkwork.player.seek(0)")
    first = picture(page)
    page.click("#forth")
    page.keyboard.press("ArrowRight")
    frames = page.evaluate("Array.from(linkwork.film.t)")
    assert time_of(page) == frames[2]
    page.click("#back")
    assert time_of(page) == frames[1]
    page.locator("#time").fill("1")
    assert time_of(page) == pytest.approx(run.t[-1])
    assert differs(first, picture(page)) > 0.01
    assert page.inner_text("#clock") == "1.00 / 1.00 s"
    poses = page.evaluate("Array.from(linkwork.film.transforms(linkwork.player.time))")
    np.testing.assert_allclose(np.reshape(poses, (-1, 7))[:, :3], run.poses[-1, :, :3, 3], atol=1e-6)
    page.click("#loop")  # no more
    page.select_option("#speed", "4")
    page.keyboard.press("Space")
    until(page, "!linkwork.player.playing && linkwork.player.time === linkwork.film.end")


def test_bodies_have_names_and_can_be_hidden(opened: Opened, tmp_path: Path) -> None:
    _, path = saved("cradle", tmp_path, 0.1)
    page = opened(path, "#still")
    x, y = page.evaluate(
        """() => { const s = linkwork.scene, p = new THREE.Vector3(...s.description.bodies[2].com).applyMatrix4(s.matrices[2]);
             const box = s.canvas.getBoundingClientRect(); p.project(s.orbit.camera);
             return [box.left + (p.x + 1) / 2 * box.width, box.top + (1 - p.y) / 2 * box.height]; }"""
    )
    page.mouse.move(x, y)
    page.wait_for_selector("#hover", state="visible")
    assert page.inner_text("#hover") == page.inner_text("#bodies li:nth-child(3) span")
    page.mouse.move(2, 2)
    whole = picture(page)
    page.click("#bodies li:nth-child(3) button:first-of-type")
    hidden = picture(page)
    page.click("#bodies li:nth-child(3) button:first-of-type")
    page.click("#bodies li:nth-child(3) button:last-of-type")
    alone = picture(page)
    page.click("#bodies li:nth-child(3) button:last-of-type")
    assert 0.001 < differs(whole, hidden) < differs(whole, alone)
    assert differs(whole, picture(page)) < 1e-3
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y + 30)
    page.mouse.up()
    assert differs(whole, picture(page)) > 0.01  # another side
    page.click("#theme")
    assert picture(page).mean() < 0.6 * whole.mean()


@pytest.mark.parametrize("name", ["leg", "ball"])
def test_muscles_and_contacts_are_drawn(name: str, opened: Opened, tmp_path: Path) -> None:
    _, path = saved(name, tmp_path, 0.5, look=Look(camera=Camera(azimuth=-60, elevation=10), strobe=3, theme="light"))
    page = opened(path, "#still")
    page.evaluate("linkwork.player.seek(0.4)")
    whole = picture(page)
    assert whole.std() > 5
    layer = {"leg": "paths", "ball": "shapes"}[name]
    page.click(f"#layer-{layer}")
    assert differs(whole, picture(page)) > 0.002
    page.select_option("#choice", "0")
    assert page.inner_text("#story").startswith("The model had ")
    assert "went out" in page.inner_text("#flows")
    page.click("text=numbers")
    assert page.inner_text("#health").startswith("energy drift")


def test_springs_are_coils(opened: Opened, tmp_path: Path) -> None:
    """A thin wire around an axis from end to end: nothing but wire is near the axis, and nothing far from it."""
    b = lw.ModelBuilder().body("block", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia(1.0))
    b.add(lw.SpringDamper("block", "world", (0, 0, 0), (0, 0, 1), stiffness=50.0, rest_length=0.5))
    model = b.build()
    page = opened(lw.simulate(model, lw.State([0.0], [0.0]), 0.1).save(tmp_path / "spring.html"), "#still")
    corners = page.evaluate("[...linkwork.scene.ropes.coils.get(0).mesh.geometry.attributes.position.array]")
    x, y, z = np.reshape(corners, (-1, 3)).T
    wide = page.evaluate("linkwork.scene.ropes.wide.spring")
    away = np.hypot(x, y)[(z > 0.2) & (z < 0.8)]
    assert 0.7 * wide < away.min() < away.max() < 1.3 * wide
    assert -0.02 < z.min() < 0.02
    assert 0.98 < z.max() < 1.02


def test_hands_are_drawn_while_they_hold(opened: Opened, tmp_path: Path) -> None:
    """An arrow from the point to the target; none where the hand has let go."""
    model = lw.ModelBuilder().body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(1.0, 0.1)).build()
    grip = lw.Grip("ball", name="hand")
    held = grip.holding((0, 0, 0.1), (0.5, 0, 0.3), stiffness=50.0, damping=5.0)
    start = lw.State(model.neutral(), np.zeros(6))
    run = lw.simulate(model.add(grip), start, 1.0, inputs=lambda t: held if t < 0.5 else np.zeros(11))
    page = opened(run.save(tmp_path / "hand.html"), "#still")
    for moment, seen in ((0.3, True), (0.8, False)):
        page.evaluate(f"linkwork.show({moment})")
        assert page.evaluate("linkwork.scene.hands[0].group.visible") is seen
    page.evaluate("linkwork.show(0.3)")
    E = run.poses[300, 0]
    assert page.evaluate("linkwork.scene.hands[0].end.position.toArray()") == pytest.approx(E[:3, 3] + 0.1 * E[:3, 2], abs=1e-3)
    assert page.evaluate("linkwork.scene.hands[0].head.position.toArray()") == pytest.approx([0.5, 0, 0.3], abs=1e-6)


def test_a_notebook_shows_runs_and_models(opened: Opened, tmp_path: Path) -> None:
    model, state = ALL_SCENES["pendulum"].build()
    run = lw.simulate(model, state, 0.1)
    book = tmp_path / "book.html"
    book.write_text(f"<!doctype html><html data-ready=yes><body>{run._repr_html_()}{model._repr_html_()}</body></html>")
    page = opened(book)
    for k in (0, 1):
        frame = page.frame_locator("iframe").nth(k)
        frame.locator("html[data-ready=yes]").wait_for(state="attached")
        assert frame.locator("#bodies li").count() == 3
        assert frame.locator("#play").is_visible() is (k == 0)
    assert "Model of 3 bodies" in page.frame_locator("iframe").nth(1).locator("#tree").inner_text()


def test_an_assembly_moves_by_matrices(opened: Opened, tmp_path: Path) -> None:
    made = lw.Assembly(gravity=(0, 0, -9.81))
    rod = lw.parts.ScaledBody(lw.Inertia.cuboid(1.0, (1.0, 0.1, 0.1)))
    made.add("rod", rod, rod.coordinates(lw.SE3(p=(0.5, 0, 1)), 1.0))
    made.connect(lw.conditions.Pin("rod", at_a=(-0.5, 0, 0), at_b=(0, 0, 1)))
    run = made.simulate(0.5, 0.01)
    page = opened(lw.view.write_assembly(made, run, tmp_path / "rod.html"), "#still")
    first = picture(page)
    page.evaluate("linkwork.player.seek(linkwork.film.end)")
    assert differs(first, picture(page)) > 0.01
    matrix = page.evaluate("linkwork.scene.matrices[0].clone().transpose().elements")
    drawn = np.reshape(matrix, (4, 4))[:3] @ [0.2, 0.0, 0.0, 1.0]
    np.testing.assert_allclose(drawn, made.point(run.state(), "rod", (0.2, 0, 0)), atol=1e-6)


def test_a_bead_is_seen_with_its_wire(opened: Opened, tmp_path: Path) -> None:
    """It goes far for its size, but not beyond the curve that it runs along."""
    page = opened(saved("trefoil", tmp_path, 1.0)[1], "#still")
    assert page.evaluate("linkwork.scene.follow") is False
    wire = page.evaluate("linkwork.scene.description.guides[0].points")
    assert page.evaluate("linkwork.scene.size") > 0.8 * np.ptp(wire, axis=0).max()


def test_what_goes_far_is_followed(opened: Opened, tmp_path: Path) -> None:
    b = lw.ModelBuilder().body("stone", joint=lw.Free(), shapes=[lw.Box((0.2, 0.3, 0.4), density=1.0, group=0, mask=0)])
    model = b.build()
    run = lw.simulate(model, lw.State(model.neutral(), np.zeros(6)), 2.0)  # it falls 20 m
    page = opened(run.save(tmp_path / "stone.html"), "#still")
    before_camera = "linkwork.scene.matrices[0].clone().premultiply(linkwork.scene.orbit.camera.matrixWorldInverse).elements"
    seen = []
    for end in ("begin", "end"):
        page.evaluate(f"linkwork.player.seek(linkwork.film.{end}); linkwork.player.draw()")
        seen.append(page.evaluate(before_camera))
    np.testing.assert_allclose(*seen, atol=1e-4)
    page.click("#follow")
    page.evaluate("linkwork.player.draw()")
    left = page.evaluate(before_camera)
    assert abs(left[13] - seen[0][13]) > 5.0
