"""Live pages in a browser: taken hold of with the mouse, changed by sliders, reset, without a word on the console."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages.live_models import chain, contact, moving, muscles, springs, written_joint

import linkwork as lw
from linkwork.bench.live import CASES
from linkwork.bench.models import robots_folder

PLACE = "([body, point]) => { const { scene } = linkwork, x = new THREE.Vector3(...point).applyMatrix4(scene.matrices[body]);"
ON_SCREEN = f"""{PLACE}
    scene.render(); x.project(scene.orbit.camera);
    const box = scene.canvas.getBoundingClientRect();
    return [box.left + (x.x + 1) / 2 * box.width, box.top + (1 - x.y) / 2 * box.height]; }}"""
ACROSS = """([point, right, up]) => { const axes = linkwork.scene.orbit.axes(); // away from a point, in the plane of the screen
    return new THREE.Vector3(...point).addScaledVector(axes.right, right).addScaledVector(axes.up, up).toArray(); }"""
IN_THE_WORLD = f"{PLACE} return x.toArray(); }}"
BITS = "() => [...new Uint8Array(linkwork.simulation.state('q').slice().buffer)].join()"

Opened = Callable[..., Any]


def until(page: Any, condition: str) -> None:
    """Wait for something that comes by itself."""
    for _ in range(600):
        page.wait_for_timeout(50)
        if page.evaluate(condition):
            return
    raise AssertionError(f"it never came: {condition}")


def wait(page: Any, seconds: float) -> None:
    """Until the simulation has gone on for so long, of its own time."""
    until(page, f"linkwork.simulation.time >= {page.evaluate('linkwork.simulation.time') + seconds}")


def slide(page: Any, label: str, value: float) -> None:
    page.locator(".sliders label", has_text=label).evaluate(
        """(label, value) => { const input = document.getElementById(label.htmlFor);
            input.value = value; input.dispatchEvent(new Event("input")); }""",
        value,
    )


def test_the_mouse_takes_hold_of_a_body(opened: Opened, tmp_path: Path) -> None:
    """The last rod follows the mouse, and the chain follows the rod; let go, it swings back."""
    model = chain().build()
    state = lw.State(np.array([0.01, 0.01, 0.01]), np.zeros(3))
    held = model.add(*(lw.JointDamping(b.name, 0.4) for b in model.bodies))
    page = opened(lw.save_live(held, state, tmp_path / "drag.html"))
    wait(page, 0.1)
    page.evaluate("linkwork.setRunning(false)")
    page.evaluate(
        "linkwork.scene.orbit.azimuth = -2, linkwork.scene.render()"
    )  # so that the first hinge turns in the screen's plane
    grip = [2, [0, 0, -0.2]]
    before, upper = page.evaluate(IN_THE_WORLD, grip), page.evaluate(IN_THE_WORLD, [0, [0, 0, -0.4]])
    x, y = page.evaluate(ON_SCREEN, grip)
    page.mouse.move(x, y)
    page.mouse.down()
    assert page.evaluate("[linkwork.grip.body, linkwork.scene.orbit.dragging]") == [2, False]
    away = page.evaluate(ACROSS, [before, 0.3, 0.2])
    page.mouse.move(*page.evaluate(ON_SCREEN, [3, away]), steps=4)
    np.testing.assert_allclose(page.evaluate("linkwork.grip.target"), away, atol=0.04)  # by the rod's surface
    page.evaluate("linkwork.setRunning(true)")
    end, farthest = page.evaluate("linkwork.simulation.time") + 1.0, 0.0
    while page.evaluate("linkwork.simulation.time") < end:  # the upper rod swings: at one moment it may be where it was
        page.wait_for_timeout(50)
        farthest = max(farthest, float(np.linalg.norm(np.subtract(page.evaluate(IN_THE_WORLD, [0, [0, 0, -0.4]]), upper))))
    target, after = page.evaluate("linkwork.grip.target"), page.evaluate(IN_THE_WORLD, grip)
    assert page.locator("#force").is_visible()
    assert page.locator("#force").text_content().startswith("rod2: ")
    assert page.evaluate("Math.hypot(...linkwork.grip.force)") > 1.0
    assert page.evaluate("linkwork.hand.arrow.group.visible")
    assert np.linalg.norm(np.subtract(after, before)) > 0.2
    assert np.linalg.norm(np.subtract(after, target)) < 0.15
    assert farthest > 0.05
    page.mouse.up()
    assert page.evaluate("linkwork.grip.held") is False
    wait(page, 1.0)
    assert page.locator("#force").is_hidden()
    assert np.linalg.norm(np.subtract(page.evaluate(IN_THE_WORLD, grip), after)) > 0.05


def test_a_drag_beside_bodies_turns_the_view(opened: Opened, tmp_path: Path) -> None:
    page = opened(lw.save_live(*muscles(), tmp_path / "turn.html"), "#still")
    first = page.evaluate("linkwork.scene.orbit.azimuth")
    box = page.locator("#stage canvas").bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 20, steps=3)
    page.mouse.up()
    assert page.evaluate("linkwork.scene.orbit.azimuth") != first
    assert page.evaluate("linkwork.grip.held") is False
    assert page.evaluate("linkwork.simulation.time") == 0  # still


def test_sliders_change_what_runs_and_reset_returns(opened: Opened, tmp_path: Path) -> None:
    """Without gravity, springs and a trap nothing speeds up; reset is the start, bit by bit, and runs as it did."""
    model, state = springs()
    page = opened(lw.save_live(model, state, tmp_path / "slide.html"), "#still")
    start = page.evaluate(BITS)
    assert start == ",".join(map(str, state.q.astype("<f8").tobytes()))
    page.evaluate("linkwork.simulation.step(100)")
    once = page.evaluate(BITS)
    page.locator("#reset").click()
    assert page.evaluate(BITS) == start
    page.evaluate("linkwork.simulation.step(100)")
    assert page.evaluate(BITS) == once != start
    for label, value in (("gravity", 0), ("stiffness", 0), ("damping", 0), ("trap: depth", 0)):
        slide(page, label, value)
    page.locator("#reset").click()
    page.locator("#run").click()
    wait(page, 0.3)
    page.locator("#run").click()
    now = page.evaluate("[[...linkwork.simulation.state('q')], [...linkwork.simulation.state('v')]]")
    free = model.replace(elements=[], gravity=(0, 0, 0))
    energy = [lw.energy(free, lw.State(np.array(q), np.array(v))).kinetic for q, v in ((state.q, state.v), now)]
    assert energy[1] == pytest.approx(energy[0], rel=1e-3)
    page.locator("#restore").click()
    page.locator("#reset").click()
    page.evaluate("linkwork.simulation.step(100)")
    assert page.evaluate(BITS) == once
    page.get_by_label("joint torques").uncheck()
    law = "linkwork.simulation.manifest.laws.find((x) => x.name === 'bend').numbers.stiffness"
    assert page.evaluate(f"linkwork.simulation.numbers(...{law})[0]") == 0


def test_a_joint_that_a_user_wrote_runs(opened: Opened, tmp_path: Path) -> None:
    """What the browser computes is what Python computes."""
    model, state = written_joint()
    page_path = lw.save_live(model, state, tmp_path / "joint.html", sliders={"bead.a": (0.1, 2.0)})
    page = opened(page_path, "#still")
    page.evaluate("linkwork.simulation.step(100)")
    q = page.evaluate("[...linkwork.simulation.state('q')]")
    np.testing.assert_allclose(q, lw.simulate(model, state, 0.1).q[-1], rtol=0, atol=1e-9)
    slide(page, "bead.a", 1.5)
    page.locator("#reset").click()
    page.evaluate("linkwork.simulation.step(100)")
    steeper = model.with_parameters({"bead": {"a": 1.5}})
    q = page.evaluate("[...linkwork.simulation.state('q')]")
    np.testing.assert_allclose(q, lw.simulate(steeper, state, 0.1).q[-1], rtol=0, atol=1e-9)
    E = page.evaluate("[...linkwork.simulation.poses]")
    np.testing.assert_allclose(np.reshape(E, (-1, 4, 4)), lw.kinematics(steeper, np.array(q)).poses, atol=1e-12)


def test_a_motion_that_is_lost_stops_and_can_be_reset(opened: Opened, tmp_path: Path) -> None:
    model, state = contact()
    page = opened(lw.save_live(model, state, tmp_path / "lost.html"))
    page.evaluate("linkwork.simulation.state('v')[3] = NaN")
    until(page, "!linkwork.running")
    until(page, "document.getElementById('clock').textContent.includes('reset')")
    page.locator("#reset").click()
    page.locator("#run").click()
    wait(page, 0.05)
    assert page.evaluate("linkwork.simulation.finite")


def test_files() -> None:
    model = chain().build()
    with pytest.raises(lw.InputError, match=r"ends in \.html"):
        lw.save_live(model, moving(model), "live.txt")


@pytest.mark.slow
@pytest.mark.parametrize("case", ["chain100", "g1"])
def test_large_models_run_in_real_time(case: str, opened: Opened, tmp_path: Path) -> None:
    """A chain of 100 links, and a humanoid with controllers and contacts: a second takes less than a second of steps."""
    if case == "g1" and robots_folder() is None:
        pytest.skip("example-robot-data is not installed")
    model, state, dt, method = CASES[case]()
    page = opened(lw.save_live(model, state, tmp_path / f"{case}.html", dt, method), "#still")
    script = "() => { const begin = performance.now(); linkwork.simulation.step(1000); return performance.now() - begin; }"
    best = min(page.evaluate(script) for _ in range(3))
    assert best < 1e6 * dt
    assert page.evaluate("linkwork.simulation.finite")
