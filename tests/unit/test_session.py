"""Live sessions without a browser: hands, numbers, recordings, what is drawn, and how they end. tests/pages has the browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models import two_links
from pages.live_models import chain, springs

import linkwork as lw
from linkwork.scenes import ALL_SCENES
from linkwork.view.firmness import firmness
from linkwork.view.session.ropes import between, coil, resampled
from linkwork.view.session.tunables import tunables, variant

pytest.importorskip("viser")


@pytest.fixture
def live() -> Iterator[Any]:
    opened: list[lw.view.Session] = []

    def open_session(*arguments: Any, **named: Any) -> lw.view.Session:
        opened.append(lw.view.live(*arguments, **named))
        opened[-1].set_pace(50.0)
        return opened[-1]

    yield open_session
    for session in opened:
        session.close()
        session.close()  # once more is no error


def tip(session: lw.view.Session) -> np.ndarray:
    E = lw.kinematics(session.sim.model, session.sim.state.q).poses[-1]
    return E[:3, :3] @ (0, 0, -0.4) + E[:3, 3]


def test_a_hand_pulls_and_lets_go(live: Any) -> None:
    """The tip comes to where its weight and the hand agree, and falls back; the model that was given stays as it is."""
    model = chain().build()
    model = model.add(*(lw.JointDamping(b.name, 1.0) for b in model.bodies))
    sim = lw.Simulator(model)
    session = live(sim)
    target = tip(session) + np.array([0.3, 0.2, 0.3])
    session.hold("rod2", target, (0, 0, -0.4))
    session.run(duration=3.0)
    assert np.linalg.norm(tip(session) - target) < 0.1
    name, force = session.pull
    assert name == "rod2"
    stiffness, _ = firmness(model, "rod2", 1e-3, False)
    assert force == pytest.approx(stiffness * np.linalg.norm(tip(session) - target), rel=0.05)  # nearly at rest
    assert force > 5.0
    session.let_go()
    session.run(duration=6.0)
    assert session.pull is None
    assert np.linalg.norm(tip(session) - (0, 0, 0.8)) < 0.05
    assert sim.t == 0.0
    assert sim.given is model


def test_recordings_are_runs_as_others_are(live: Any) -> None:
    """Under a controller, to the bit; a change of a number begins another."""
    model, state = springs()
    session = live(lw.Simulator(model, state))

    def control(t: float, s: lw.State) -> np.ndarray:
        return -0.1 * s.v

    run = session.run(control, duration=0.2, record=True)
    expected = lw.simulate(run.model, state, 0.2, control=control)
    for name in ("t", "q", "v"):
        assert np.array_equal(getattr(run, name), getattr(expected, name))
    assert np.array_equal(run.tau, expected.tau)
    assert run.account.words() == pytest.approx(expected.account.words())
    gravity = next(t for t in session.tunables if t.label.startswith("gravity"))
    session.record()
    session.ask(lambda: session.change(gravity, 1.0))
    second = session.run(control, duration=0.1)
    assert len(session.recordings) == 2
    assert second.model.gravity.tolist() == [0.0, 0.0, -1.0]
    assert second.t[0] == pytest.approx(0.2)
    assert b"<html" in session.recorded_page()[:200]
    session.reset()
    assert np.array_equal(session.sim.state.q, state.q)


def test_every_number_makes_the_model_that_it_says() -> None:
    b = lw.ModelBuilder().ground(friction=0.5)
    b.body("box", joint=lw.Free(), shapes=[lw.Box((0.2, 0.2, 0.2), density=100.0, friction=0.4)])
    rod = lw.Inertia.cuboid(1.0, (0.4, 0.1, 0.1))
    b.body("rod", parent="box", joint=lw.Revolute(), inertia=rod, damping=0.3, joint_name="pin")
    b.add(lw.JointSpring("rod", stiffness=3.0, damping=0.2, name="bend"))
    b.add(lw.PDController("rod", 5.0, 0.5, name="servo"))
    b.add(lw.force("rod", energy=lambda E, depth: depth * E[0].p[2], parameters={"depth": 2.0}, name="pull"))
    model = b.build()
    found = {t.label: t for t in tunables(model, {"rod.mass": (0.1, 5.0), "bend.stiffness": (0, 9), "pin.damping": (0, 1)})}
    one = {label: variant(model, {t: t.high}) for label, t in found.items()}
    assert one["gravity, m/s²"].gravity[2] == pytest.approx(-2 * 9.81)
    for kind in ("stiffness", "damping"):
        assert one[f"{kind}, times"].elements[0].numbers()[kind] == 4 * model.elements[0].numbers()[kind]
    assert one["stiffness, times"].elements[1].numbers()["kp"] == 20.0
    assert one["friction, times"].bodies[0].shapes[0].friction == pytest.approx(1.6)
    assert one["friction, times"].world_shapes[0].friction == pytest.approx(2.0)
    assert model.bodies[0].shapes[0].friction == 0.4
    assert one["pull: depth"].elements[2].numbers()["depth"] == 4.0
    off = variant(model, {found["joint torques"]: 0.0})
    assert [off.elements[0].numbers()["stiffness"], off.elements[1].numbers()["kp"]] == [0.0, 0.0]
    assert one["rod.mass"].bodies[1].inertia.mass == 5.0
    assert one["rod.mass"].bodies[1].inertia.tensor == pytest.approx(5 * model.bodies[1].inertia.tensor)
    assert one["bend.stiffness"].elements[0].numbers()["stiffness"] == 9
    assert one["pin.damping"].bodies[1].properties.damping == pytest.approx([1.0])
    assert variant(model, {t: t.value for t in found.values()}) is model


def test_what_is_refused(live: Any) -> None:
    model = two_links()
    cases: list[tuple[dict[str, Any], str]] = [
        ({"sliders": {"nobody.mass": (0, 1)}}, "nothing is named 'nobody'"),
        ({"sliders": {"upper.colour": (0, 1)}}, "no number that a slider could change"),
        ({"sliders": {"upper.mass": (2, 1)}}, r"needs \(lowest, highest\)"),
        ({"plot": ("shin",)}, "shin"),
        ({"host": "203.0.113.7"}, "cannot listen"),
        ({"inputs": np.zeros(3)}, "inputs have shape"),
    ]
    for named, words in cases:
        with pytest.raises(lw.LinkworkError, match=words):
            live(lw.Simulator(model), **named).run(duration=0.01)
    with pytest.raises(lw.InputError, match="one state, not a batch"):
        live(lw.Simulator(model, lw.State(np.zeros((3, 2)), np.zeros((3, 2)))))
    with pytest.raises(lw.InputError, match="not between"):
        live(lw.Simulator(model)).slider("gain", 0.0, 1.0, 2.0)


def test_a_motion_that_is_lost_can_be_reset(live: Any) -> None:
    """It is an error of a run that ends by itself; the session stays."""
    model = two_links()
    session = live(lw.Simulator(model))

    def control(t: float, state: Any) -> np.ndarray:
        return np.full(2, 1e305 if t > 0.05 else 0.0)

    with pytest.raises(lw.SolverError, match="not finite"):
        session.run(control, duration=1.0)
    assert not session.running
    assert "not finite" in session.trouble
    session.reset()
    session.resume()
    session.run(duration=0.02)
    assert session.sim.t == pytest.approx(0.02)


@pytest.mark.parametrize("name", ["leg", "ball", "spline_knee", "gears"])
def test_what_is_drawn_is_where_the_model_is(name: str, live: Any) -> None:
    """Solids at their bodies, and every layer can be shown."""
    scene = ALL_SCENES[name]
    model, state = scene.build()
    inputs = scene.inputs(model) if scene.inputs else None
    session = live(lw.Simulator(model, state, scene.dt, scene.methods[0]), inputs=inputs, look=scene.shot.look)
    for layer in session.stage.layers:
        session.stage.show(layer, True)
    session.run(duration=5 * scene.dt)
    sim = session.sim
    poses = sim.state.poses if isinstance(sim.state, lw.MaximalState) else lw.kinematics(sim.model, sim.state.q).poses
    seen = 0
    for batch in session.stage.solids.batches:
        for k, body in enumerate(batch.bodies):
            E = np.eye(4) if body < 0 else poses[body]
            expected = E[:3, :3] @ batch.p[k] + E[:3, 3]
            assert batch.node.batched_positions[k] == pytest.approx(expected, abs=1e-5)
            assert batch.node.visible
            seen += 1
    assert seen >= model.nb


def test_what_is_not_drawn_stands_in_the_panel(live: Any, tmp_path: Path) -> None:
    """As plain text: viser's markdown would run what a file's name says."""
    b, lost = lw.ModelBuilder(), tmp_path / "{alert(1)}<b>.stl"
    b.body("arm", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.sphere(1.0, 0.1), visuals=[lw.MeshFile(lost)])
    session = live(lw.Simulator(b.build()))
    assert "not drawn: ?alert(1)??b?.stl: cannot read" in session.panel.notes.content
    assert not set("{}<>`*[]") & set(session.panel.notes.content)


def test_targets_and_sliders_are_read(live: Any) -> None:
    session = live(lw.Simulator(two_links()))
    goal = session.target("goal", lw.SE3.rot_z(0.5) @ lw.SE3(p=(1.0, 0.0, 0.5)), turns=True)
    assert goal.pose.matrix == pytest.approx((lw.SE3.rot_z(0.5) @ lw.SE3(p=(1.0, 0.0, 0.5))).matrix)
    goal.move((0.0, 0.2, 0.0))
    assert goal.p.tolist() == [0.0, 0.2, 0.0]
    assert session.slider("gain", 0.0, 10.0, 4.0).value == 4.0
    assert session.address in session._repr_html_()


def test_lines() -> None:
    """Rods reach from end to end, coils begin and end at their points, lines are resampled evenly."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 5, 3))
    b[0] = a[0]  # without a length
    rows, lengths = between(a, b)
    assert np.isfinite(rows).all()
    assert lengths[1:] == pytest.approx(np.linalg.norm(b - a, axis=1)[1:])
    assert rows[:, :3] == pytest.approx(0.5 * (a + b), abs=1e-6)
    helix = coil(a[1], b[1], 0.05)
    assert helix[[0, -1]] == pytest.approx(np.array([a[1], b[1]]))
    line = resampled(np.array([[0.0, 0, 0], [1, 0, 0], [1, 3, 0]]), 9)
    assert np.linalg.norm(np.diff(line, axis=0), axis=1) == pytest.approx(0.5)
