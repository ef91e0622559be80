"""What a page computes is what Python computes: the module of a model, run by node."""

from __future__ import annotations

import base64
import functools
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages.live_models import MODELS, ROD, chain, moving, muscles, springs

import linkwork as lw
from linkwork.live.paths import segments
from linkwork.live.program import LiveProgram, live_program
from linkwork.live.start import start_of
from linkwork.view.paths import path_line

STEPS, DT = 100, 1e-3
ENGINE = Path(lw.__file__).parent / "live" / "page"
MODULES = ("simulation", "controls", "grip", "wraps", "transforms")
METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")


@functools.cache
def node() -> str:
    """The node of this machine, or the one that playwright brings along."""
    found = shutil.which("node")
    if found is None:
        found = Path(pytest.importorskip("playwright").__file__).parent / "driver" / "node"
    return str(found)


def program(model: Any, state: Any, method: str = "reduced", dt: float = DT, **options: Any) -> LiveProgram:
    given: dict[str, Any] = {"stepper": None, "tau": None, "inputs": None, "open_loops": "refuse", "limit_model": "hard"}
    given |= {"contact": "exact", **{k: options.pop(k) for k in tuple(options) if k in (*given, "contact")}}
    sliders = options.pop("sliders", None)
    return live_program(start_of(model, state, dt, method, **given, options=options), sliders)


def told(live: LiveProgram, script: str, tmp_path: Path) -> Any:
    """What a script says of a simulation `s`: the value of its last expression, as JSON."""
    data = {"wasm": base64.b64encode(live.module).decode(), "image": base64.b64encode(live.image).decode()}
    (tmp_path / "live.json").write_text(json.dumps(data | {"manifest": live.manifest}))
    engine = "".join(
        (ENGINE / f"{name}.js").read_text() for name in ("simulation", "controls", "grip", "wraps", "transforms")
    ).replace("export ", "")
    text = f"""
        {engine}
        const d = JSON.parse(require("fs").readFileSync({json.dumps(str(tmp_path / "live.json"))}));
        const bytes = (x) => Uint8Array.from(Buffer.from(x, "base64"));
        makeSimulation(bytes(d.wasm), bytes(d.image), d.manifest)
          .then((s) => console.log(JSON.stringify((() => {{ {script} }})())));"""
    done = subprocess.run([node(), "-e", text], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def poses(found: Any) -> np.ndarray:
    return np.reshape(found, (-1, 4, 4))


def after(model: lw.Model, state: Any, method: str = "reduced", **options: Any) -> np.ndarray:
    """Poses of the bodies after all steps, by Python."""
    run = lw.simulate(model, state, STEPS * DT, DT, method, every=STEPS, **options)
    return run.poses[-1] if method.startswith("maximal") else lw.kinematics(model, run.q[-1]).poses


@pytest.mark.parametrize("name", MODELS)
def test_a_page_agrees_with_python(name: str, tmp_path: Path) -> None:
    model, state = MODELS[name]()
    live = program(model, state)
    found = told(
        live, f"s.step({STEPS}); return {{q: [...s.state('q')], v: [...s.state('v')], E: [...s.poses], t: s.time}};", tmp_path
    )
    run = lw.simulate(model, state, STEPS * DT, DT, every=STEPS)
    assert np.abs(run.q[-1] - state.q).max() > 1e-3
    np.testing.assert_allclose(found["q"], run.q[-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found["v"], run.v[-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(poses(found["E"]), lw.kinematics(model, run.q[-1]).poses, rtol=0, atol=1e-9)
    assert found["t"] == pytest.approx(STEPS * DT, abs=1e-12)


@pytest.mark.parametrize("method", METHODS[1:])
def test_other_formulations_agree(method: str, tmp_path: Path) -> None:
    model, state = springs()
    found = told(program(model, state, method), f"s.step({STEPS}); return [...s.poses];", tmp_path)
    np.testing.assert_allclose(poses(found), after(model, state, method), rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["reduced", "redmax"])
def test_hyper_reduced_coordinates(method: str, tmp_path: Path) -> None:
    model = chain().build()
    hyper = lw.HyperReduced(model, lambda r: [r[0], r[1], 0.5 * r[0] + r[1] ** 2], nr=2)
    state = lw.State(np.array([0.3, -0.2]), np.array([0.5, 0.1]))
    found = told(program(hyper, state, method), f"s.step({STEPS}); return [...s.poses];", tmp_path)
    run = lw.simulate(hyper, state, STEPS * DT, DT, method, every=STEPS)
    np.testing.assert_allclose(poses(found), lw.kinematics(model, run.q[-1]).poses, rtol=0, atol=1e-9)


def test_contacts_of_hyper_reduced_coordinates(tmp_path: Path) -> None:
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia.sphere(1.0, 0.05), shapes=[lw.Sphere(0.05)])
    hyper = lw.HyperReduced(b.ground().build(), lambda r: [0.5 * r[0]], 1)
    found = told(program(hyper, lw.State([0.12], [0.0]), "reduced"), "s.step(400); return [...s.poses];", tmp_path)
    assert poses(found)[0, 2, 3] == pytest.approx(0.05, abs=1e-6)


def test_reset_returns_to_the_start_bit_by_bit(tmp_path: Path) -> None:
    model, state = MODELS["contact"]()
    script = """
        const hex = (x) => Buffer.from(x.slice().buffer).toString("hex"), bits = () => hex(s.state("q")) + hex(s.poses);
        const start = bits(); s.step(50); const then = bits(); s.reset(); const again = bits(); s.step(50);
        return [start, then, again, bits()];"""
    start, then, again, once_more = told(program(model, state), script, tmp_path)
    assert again == start != then == once_more
    assert start.startswith(state.q.astype("<f8").tobytes().hex())


def test_numbers_of_laws_are_where_the_manifest_says(tmp_path: Path) -> None:
    """A stiffness, a number of a user's force and gravity, changed in the page."""
    model, state = springs()
    live = program(model, state)
    script = f"""
        const law = (name) => s.manifest.laws.find((x) => x.name === name).numbers;
        s.numbers(...law("spring").stiffness)[0] *= 2; s.numbers(...law("trap").depth)[0] = -1.5;
        s.numbers(s.manifest.at.gravity, 3)[2] = 3.0;
        s.step({STEPS}); return [...s.poses];"""
    other = model.with_parameters({"spring": {"stiffness": 60.0}, "trap": {"depth": -1.5}}, gravity=(0, 0, 3.0))
    np.testing.assert_allclose(poses(told(live, script, tmp_path)), after(other, state), rtol=0, atol=1e-9)


def test_inputs_of_forces(tmp_path: Path) -> None:
    model, state = muscles()
    script = f"""
        const at = (name) => s.manifest.laws.find((x) => x.name === name).inputs;
        s.numbers(...at("flexor"))[0] = 0.9; s.numbers(...at("front"))[0] = 0.1;
        s.step({STEPS}); return [...s.poses];"""
    expected = after(model, state, inputs=np.array([0.9, 0.1]))
    np.testing.assert_allclose(poses(told(program(model, state), script, tmp_path)), expected, rtol=0, atol=1e-9)
    told_first = told(program(model, state, inputs=[0.9, 0.1]), f"s.step({STEPS}); return [...s.poses];", tmp_path)
    np.testing.assert_allclose(poses(told_first), expected, rtol=0, atol=1e-9)


def test_joint_forces(tmp_path: Path) -> None:
    model = chain().build()
    state, tau = moving(model), np.array([0.3, -0.2, 0.1])
    found = told(program(model, state, tau=tau), f"s.step({STEPS}); return [...s.poses];", tmp_path)
    np.testing.assert_allclose(poses(found), after(model, state, tau=tau), rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["reduced", "maximal-implicit"])
def test_a_handle_pulls_as_one_of_the_model_does(method: str, tmp_path: Path) -> None:
    model = chain().build()
    state, point, target = moving(model), (0.0, 0.01, -0.3), (0.5, 0.2, 1.0)
    script = f"""
        const h = s.manifest.handles.find((x) => s.manifest.bodies[x.body] === "rod2");
        s.numbers(h.at.point, 3).set({list(point)}); s.numbers(h.at.stiffness, 1)[0] = 40; s.numbers(h.at.damping, 1)[0] = 2;
        s.numbers(h.at.target, 6).set({[*target, 0, 0, 0]});
        s.step({STEPS}); return [...s.poses];"""
    pulled = model.add(lw.Handle("rod2", point, target=target, stiffness=40.0, damping=2.0))
    found = poses(told(program(model, state, method), script, tmp_path))
    np.testing.assert_allclose(found, after(pulled, state, method), rtol=0, atol=1e-9)


def test_what_cannot_go_is_named() -> None:
    model = chain().build()
    state = moving(model)
    with pytest.raises(lw.InputError, match=r"dop853.*chooses its own steps"):
        program(model, state, stepper="dop853")
    with pytest.raises(lw.InputError, match="function of time"):
        program(*muscles(), inputs=lambda t: np.zeros(2))
    with pytest.raises(lw.InputError, match="not a batch"):
        program(model, lw.State(np.zeros((2, 3)), np.zeros((2, 3))))
    opaque = model.add(lw.PrescribedJoint("rod1", lambda t: (float(t) ** 2, 2 * float(t), 2.0)))
    with pytest.raises(lw.InputError, match=r"rod1.*Python alone"):
        program(opaque, lw.State(np.zeros(3), np.zeros(3)))


def test_a_hand_and_its_force(tmp_path: Path) -> None:
    """The force that the page shows is the handle's own: minus what the hand feels."""
    model = chain().build()
    state = moving(model)
    script = """
        const grip = makeGrip(s); grip.hold(1, [0.1, 0.0, 1.5]); grip.pull([0.3, 0.2, 1.4]); s.step(20);
        const { stiffness, damping, at } = s.manifest.handles[1], { force, point } = grip;
        grip.release();
        const after = [s.numbers(at.stiffness, 1)[0], s.numbers(at.damping, 1)[0]];
        return { force, point, stiffness, damping, after, q: [...s.state("q")], v: [...s.state("v")] };"""
    found = told(program(model, state), script, tmp_path)
    E = lw.kinematics(model, state.q).poses[1]
    local = E[:3, :3].T @ (np.array([0.1, 0.0, 1.5]) - E[:3, 3])
    numbers = {"stiffness": found["stiffness"], "damping": found["damping"]}
    handle = lw.Handle("rod1", local, target=(0.3, 0.2, 1.4), **numbers)
    run = lw.simulate(model.add(handle), state, 20 * DT, DT, every=20)
    np.testing.assert_allclose(found["q"], run.q[-1], rtol=0, atol=1e-9)
    now = lw.State(np.array(found["q"]), np.array(found["v"]))
    np.testing.assert_allclose(found["force"], -handle.reaction(model, now), rtol=1e-9)
    E = lw.kinematics(model, now.q).poses[1]
    np.testing.assert_allclose(found["point"], E[:3, :3] @ local + E[:3, 3], atol=1e-12)
    assert found["after"] == [0, 0]


def test_sliders_and_switches(tmp_path: Path) -> None:
    """Labels, ranges and what they change; back at its first value a slider leaves the bits of the start."""
    model, state = springs()
    live = program(model, state, sliders={"spring.rest_length": (0.0, 1.0), "rod1.mass": (0.5, 3.0)})
    labels = {x["label"]: x for x in live.manifest["controls"]}
    expected = {
        "spring.rest_length",
        "rod1.mass",
        "gravity",
        "stiffness",
        "damping",
        "trap: depth",
        "trap: width",
        "joint torques",
    }
    assert set(labels) == expected
    assert (labels["rod1.mass"]["value"], labels["gravity"]["value"]) == (1.0, pytest.approx(9.81))
    script = f"""
        const c = makeControls(s), all = s.numbers(s.manifest.memory.start, 1000);
        const bits = () => Buffer.from(all.slice().buffer).toString("hex"), start = bits();
        c.set("gravity", 3); c.set("stiffness", 2); c.set("rod1.mass", 1.5);
        c.set("trap: depth", -1); c.set("joint torques", false);
        const changed = bits(); s.reset(c.apply);
        s.step({STEPS}); const moved = [...s.poses]; c.restore(); s.reset(c.apply);
        return {{ moved, same: [start === changed, start === bits()] }};"""
    found = told(live, script, tmp_path)
    assert found["same"] == [False, True]
    spring, bend, trap = {"stiffness": 60.0}, {"stiffness": 0.0}, {"depth": -1.0}
    heavy = {"mass": 1.5, "tensor": 1.5 * ROD.tensor}
    other = model.with_parameters({"spring": spring, "bend": bend, "trap": trap, "rod1": heavy}, gravity=(0, 0, -3.0))
    np.testing.assert_allclose(poses(found["moved"]), after(other, state), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("sliders", "message"),
    [
        ({"spring.colour": (0, 1)}, r"no number 'spring.colour'.*stiffness"),
        ({"nobody.mass": (0, 1)}, "nothing is named 'nobody'"),
        ({"spring.stiffness": (1, 0)}, r"needs \(lowest, highest\)"),
        ({"spring.point_b": (0, 1)}, "different numbers"),
    ],
)
def test_bad_sliders(sliders: Any, message: str) -> None:
    with pytest.raises(lw.InputError, match=message):
        program(*springs(), sliders=sliders)


@pytest.mark.parametrize("factor", [0.0, 2.0])
def test_the_slider_of_friction(factor: float, tmp_path: Path) -> None:
    """A box that slides is slowed by mu g; not at all without friction."""
    model, state = MODELS["contact"]()
    script = f"const c = makeControls(s); c.set('friction', {factor}); s.step({STEPS}); return [...s.state('v')];"
    v = np.array(told(program(model, state), script, tmp_path))
    first, last = np.linalg.norm(state.v[9:11]), np.linalg.norm(v[9:11])
    assert first - last == pytest.approx(factor * 0.3 * 9.81 * STEPS * DT, abs=1e-6)


def test_muscles_are_drawn_around_obstacles(tmp_path: Path) -> None:
    """As recorded pages draw them: around a sphere, around cylinders of either sense, and past them."""
    b = chain(2)
    for k, wrap in enumerate(
        [
            lw.WrapCylinder("rod0", (0, 0, -0.4), axis=(1, 0, 0), radius=0.03, turn=1),
            lw.WrapCylinder("rod0", (0, 0, -0.4), axis=(1, 0, 0), radius=0.03, turn=-1),
            lw.WrapCylinder("rod1", (0, 0.01, -0.02), axis=(1, 0.2, 0), radius=0.02),
            lw.WrapSphere("rod0", (0.0, 0.01, -0.38), radius=0.05),
            lw.WrapSphere("rod0", (0.0, 0.3, -0.38), radius=0.05),
        ]
    ):
        path = [("world", (0.0, 0.1, 1.9)), ("rod0", (0.01, 0.02, -0.1)), wrap, ("rod1", (0.0, 0.01, -0.1))]
        b.add(lw.Muscle(path, 100.0, 0.2, 0.1, activation=0.1, name=f"m{k}"))
    model = b.build()
    state = moving(model)
    described = json.dumps([segments(model, m.path) for m in model.elements_of(lw.Muscle)])
    found = told(program(model, state), f"return {described}.map((x) => lineOf(x, s.poses));", tmp_path)
    E = lw.kinematics(model, state.q).poses
    bent = 0
    for muscle, line in zip(model.elements_of(lw.Muscle), found, strict=True):
        at = [lw.SE3() if n == "world" else lw.SE3(*_parts(E[model.body_index(n)])) for n in muscle.path.bodies]
        expected = path_line(muscle.path, at)
        np.testing.assert_allclose(np.reshape(line, (-1, 3)), expected, atol=1e-12)
        bent += bool(np.linalg.norm(np.diff(expected, n=2, axis=0), axis=1)[2:-2].max() > 1e-6)
    assert 3 <= bent < 5


def _parts(E: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return E[:3, :3], E[:3, 3]


def test_activations_by_schedule_are_scaled(tmp_path: Path) -> None:
    """A factor of a schedule is the schedule of other values."""
    times, values = np.array([0.0, 0.03, 0.06, 1.0]), np.array([0.05, 0.4, 0.1, 0.2])

    def model(factor: float) -> lw.Model:
        path = [("world", (0.2, 0, 1.9)), ("rod0", (0.02, 0, -0.2))]
        return chain(2).add(lw.Muscle(path, 80.0, 0.2, activation=lw.Schedule(times, factor * values), name="front")).build()

    state = moving(model(1.0))
    live = program(model(1.0), state)
    control = next(x for x in live.manifest["controls"] if x["label"] == "activation of front")
    assert (control["high"], control["value"]) == (2.5, 1.0)
    script = f"makeControls(s).set('activation of front', 2); s.step({STEPS}); return [...s.poses];"
    np.testing.assert_allclose(poses(told(live, script, tmp_path)), after(model(2.0), state), rtol=0, atol=1e-9)
