"""What a page shows where there is no WebGL, where the view is dragged below the floor, and of motions that go far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages.live_models import chain, muscles

import linkwork as lw

Opened = Callable[..., Any]
NO_WEBGL = """const original = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind.includes("webgl") ? null : original.call(this, kind, ...rest);
};"""
ON_SCREEN = """linkwork.scene.render(), linkwork.scene.matrices.slice(0, -1).map((matrix, i) => {
    const com = new THREE.Vector3(...linkwork.scene.description.bodies[i].com).applyMatrix4(matrix);
    return com.project(linkwork.scene.orbit.camera).toArray(); })"""


@pytest.fixture
def opened_without_webgl(browser: Any) -> Iterator[Opened]:
    """Opens a page in a browser whose canvases have no WebGL; errors of the page's own code fail the test."""
    context = browser.new_context(viewport={"width": 900, "height": 700}, offline=True)
    context.add_init_script(NO_WEBGL)
    errors: list[str] = []

    def open_page(path: Path) -> Any:
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(path.resolve().as_uri())
        page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=60_000)
        return page

    yield open_page
    context.close()
    assert errors == []


def falling_box() -> tuple[lw.Model, lw.State]:
    b = lw.ModelBuilder().ground(friction=0.5)
    b.body("box", joint=lw.Free(), shapes=[lw.Box((0.2, 0.3, 0.4), density=500.0)])
    model = b.build()
    q = model.neutral()
    q[2] = 0.5
    return model, lw.State(q, np.zeros(6))


def test_a_run_without_webgl_has_all_but_its_picture(opened_without_webgl: Opened, tmp_path: Path) -> None:
    model, state = falling_box()
    page = opened_without_webgl(lw.simulate(model, state, 0.5).save(tmp_path / "run.html"))
    assert "cannot be drawn" in page.inner_text("#stage .error")
    assert "WebGL" in page.inner_text("#stage .error")
    assert page.locator("#bodies li").count() == 1
    assert page.inner_text("#story").startswith("The model had ")
    drawn = "(canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((x) => x > 0)"
    for chart in ("#energy", "#curves"):
        assert page.locator(chart).evaluate(drawn)
    page.evaluate("linkwork.player.setPlaying(false)")
    page.evaluate("linkwork.player.seek(0.3), linkwork.player.draw()")
    assert page.inner_text("#clock") == "0.30 / 0.50 s"
    page.click("#bodies li button:first-of-type")


def test_a_live_page_without_webgl_runs(opened_without_webgl: Opened, tmp_path: Path) -> None:
    page = opened_without_webgl(lw.save_live(*muscles(), tmp_path / "live.html"))
    page.wait_for_timeout(300)
    assert page.evaluate("linkwork.running && linkwork.simulation.time > 0")
    assert "cannot be drawn" in page.inner_text("#stage .error")
    labels = page.locator(".sliders label").all_inner_texts()
    assert any(text.startswith("activation of flexor") for text in labels)
    assert not any(" of of " in text for text in labels)


@pytest.mark.parametrize("tilt", [0.0, 0.4])
def test_the_view_stays_above_the_floor(tilt: float, opened: Opened, tmp_path: Path) -> None:
    """Dragged up as far as it goes, the camera ends above the plane, the box is still in sight, and it comes back at once."""
    b = lw.ModelBuilder().add(lw.Plane(normal=(np.sin(tilt), 0.0, np.cos(tilt)), friction=1.0))
    b.body("box", joint=lw.Free(), shapes=[lw.Box((0.2, 0.3, 0.4), density=500.0)])
    model = b.build()
    q = model.neutral()
    q[2] = 0.3
    page = opened(lw.simulate(model, lw.State(q, np.zeros(6)), 0.2).save(tmp_path / "run.html"), "#still")
    box = page.locator("#stage canvas").bounding_box()
    x, y = box["x"] + 12, box["y"] + box["height"] - 12
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 180, steps=6)
    camera = np.array(page.evaluate("linkwork.scene.orbit.camera.position.toArray()"))
    distance = page.evaluate("linkwork.scene.orbit.distance")
    height = camera @ (np.sin(tilt), 0.0, np.cos(tilt))
    assert height >= 0.0199 * distance
    target = np.array(page.evaluate("linkwork.scene.orbit.target.toArray()"))
    assert np.linalg.norm(camera - target) == pytest.approx(distance, rel=1e-6)
    [seen] = page.evaluate(ON_SCREEN)
    assert np.abs(seen[:2]).max() < 1.0
    elevation = page.evaluate("linkwork.scene.orbit.elevation")
    page.mouse.move(x, y - 130, steps=3)
    page.mouse.up()
    assert page.evaluate("linkwork.scene.orbit.elevation") > elevation + 0.1


def test_a_live_page_frames_the_motion_ahead(opened: Opened, tmp_path: Path) -> None:
    """A chain let go beside its hinge, and a ball on a spring, stay in the first view for three seconds."""
    model = chain(2).build()
    swing = lw.State(np.array([1.5, 0.0]), np.zeros(2))
    b = lw.ModelBuilder(gravity=(0, 0, 0)).body("ball", joint=lw.Prismatic((1, 0, 0)), shapes=[lw.Sphere(0.1, density=300.0)])
    sliding = b.add(lw.JointSpring("ball", stiffness=5.0)).build()
    for name, made, state in (("chain", model, swing), ("ball", sliding, lw.State([0.3], [0.0]))):
        page = opened(lw.save_live(made, state, tmp_path / f"{name}.html"), "#still")
        for _ in range(30):
            page.evaluate("linkwork.simulation.step(100), linkwork.draw()")
            assert np.abs(np.array(page.evaluate(ON_SCREEN))[:, :2]).max() < 1.0, name
