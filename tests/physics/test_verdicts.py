"""The verdict on a run: energy that appears, starts inside each other, times and places that numbers cannot count."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes import ALL_SCENES
from linkwork.view.words import health_rows, story

DT = 1e-3


def growing(beyond: float, height: float, amplitude: float = 1e-6) -> tuple[lw.Model, lw.State]:
    """A ball that falls and stays where it lands, and a mass on a spring that explicit steps of 1 ms do not bear: its amplitude
    grows by the fraction 2 sqrt(beyond) or so in a step."""
    b = lw.ModelBuilder().ground(restitution=0.0, friction=0.0)
    b.body("ball", joint=lw.Free(), shapes=[lw.Sphere(0.1, mass=1.0)])
    b.body("mass", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia.sphere(1.0, 0.1), placement=lw.SE3(p=(0, 3.0, 5.0)))
    b.add(lw.JointSpring("mass", ((2.0 + beyond) / DT) ** 2))
    model = b.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[2], q[7] = height + 0.1, amplitude
    return model, lw.State(q, v)


# --- energy -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("every", [1, 50])
def test_energy_that_appears_is_told(every: int) -> None:
    model, start = growing(3e-6, 0.0)
    run = lw.simulate(model, start, 3.0, DT, every=every)
    assert run.energy.total[-1] > 10.0 * run.energy.total[0]
    assert not run.health.ok
    assert any("unexplained energy" in line for line in run.health.reasons)
    assert "DOUBTFUL: " in str(run.health)
    assert any("came from nowhere" in line for line in story(run))
    assert health_rows(run)[-2]["value"] == "doubtful"


@pytest.mark.parametrize("every", [1, 50])
def test_a_long_fall_does_not_hide_a_gain(every: int) -> None:
    """Of the energy that moved in the whole run the gain is a small part; of what moved after the fall it is all."""
    model, start = growing(6e-7, 30.0, 1e-9)
    run = lw.simulate(model, start, 5.0, DT, every=every)
    account = run.account
    assert account.drift < 0.05
    assert account.gained is not None
    assert account.gained.share > 0.3
    assert account.gained.end > 2.5
    assert not run.health.ok
    assert len(run.health.reasons) == 1
    assert "came from nowhere between t = " in run.health.reasons[0]


def test_what_a_stepper_takes_is_told() -> None:
    model, start = ALL_SCENES["pendulum"].build()
    run = lw.simulate(model, start, 2.0, 0.02, "maximal-implicit")
    assert not run.health.ok
    assert "numerical damping of the stepper 'backward_euler' took" in run.health.reasons[0]


@pytest.mark.parametrize("scene", ["pendulum", "ball", "loop", "gears", "cradle", "dominoes", "ragdoll", "leg", "scapula"])
def test_sound_runs_are_said_to_be_sound(scene: str) -> None:
    its = ALL_SCENES[scene]
    model, start = its.build()
    given: dict[str, Any] = {} if its.inputs is None else {"inputs": its.inputs(model)}
    health = lw.simulate(model, start, min(its.duration, 1.0), its.dt, **given).health
    assert health.ok, health.reasons
    assert health.reasons == ()


def test_a_batch_is_as_sound_as_its_worst() -> None:
    model, start = growing(3e-6, 0.0)
    q = np.tile(start.q, (3, 1))
    q[:2, 7] = 0.0
    assert lw.simulate(model, lw.State(q[:2], np.zeros((2, 7))), 0.5, DT).health.ok
    assert not lw.simulate(model, lw.State(q, np.zeros((3, 7))), 3.0, DT).health.ok


def test_commands_end_with_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "linkwork", "run", "hair", "--headless", "--duration", "0.25"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "doubtful" in done.stdout
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("linkwork: warning: results are doubtful: numerical damping")


# --- starts -------------------------------------------------------------------------------------------------------------------
def step_and_box(depth: float) -> tuple[lw.Model, lw.State]:
    """A box whose foot is so deep inside a stair."""
    b = lw.ModelBuilder()
    b.body("stair", joint=lw.Fixed(), shapes=[lw.Box((1.0, 1.0, 0.4), lw.SE3(p=(0, 0, 0.2)), mass=1.0)])
    b.body("box", joint=lw.Free(), shapes=[lw.Box((0.3, 0.2, 0.4), mass=2.0)])
    model = b.build()
    q = model.neutral()
    q[2] = 0.4 + 0.2 - depth
    return model, lw.State(q, np.zeros(6))


TOLD = "'box' starts 0.12 m inside 'stair'|'stair' starts 0.12 m inside 'box'"


@pytest.mark.parametrize(
    "given",
    [{}, {"method": "maximal"}, {"method": "maximal-implicit"}, {"contact": "compliant"}, {"contact": "pyramid"}, {"every": 10}],
    ids=str,
)
def test_bodies_that_start_inside_each_other_are_told_before_the_run(given: dict[str, Any]) -> None:
    model, start = step_and_box(0.12)
    with pytest.warns(lw.StartWarning, match=TOLD) as told:
        run = lw.simulate(model, start, 0.05, DT, **given)
    assert told[0].filename == __file__
    assert not run.health.ok
    assert any(re.search(TOLD, line) for line in run.health.reasons)
    assert any(re.search(TOLD, line) for line in run.health.notes)
    assert str(run.health).count("starts 0.12 m inside") == 1


def test_starts_of_batches_streams_and_simulators_are_told(tmp_path: Path) -> None:
    model, start = step_and_box(0.12)
    apart = step_and_box(-0.1)[1]
    many = lw.State(np.array([apart.q, start.q]), np.zeros((2, 6)))
    with pytest.warns(lw.StartWarning, match=TOLD):
        assert not lw.simulate(model, many, 0.01, DT).health.ok
    with pytest.warns(lw.StartWarning, match=TOLD):
        lw.simulate(model, start, 0.01, DT, out=tmp_path / "run.lwk")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert re.search(TOLD, str(lw.Trajectory.load(tmp_path / "run.lwk").health))
    with pytest.warns(lw.StartWarning, match=TOLD):
        sim = lw.Simulator(model, start)
    assert re.search(TOLD, sim.notes[0])


@pytest.mark.parametrize("depth", [-0.1, 0.0, 1e-3])
def test_what_touches_at_the_start_is_not_told(depth: float) -> None:
    model, start = step_and_box(depth)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not lw.simulate(model, start, 0.01, DT).health.flaws
        model, start = step_and_box(0.12)
        assert not lw.simulate(model, start, 0.01, DT, contact="off").health.flaws


# --- times and places ---------------------------------------------------------------------------------------------------------
def pendulum(origin: float = 0.0) -> lw.Model:
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(1.0, (0.4, 0.1, 0.1), (0.2, 0, 0))
    b.body("rod", joint=lw.Revolute((0, 1, 0)), inertia=rod, placement=lw.SE3(p=(origin, 0, 0)))
    return b.build()


RUNS: dict[str, Any] = {
    "simulate": lambda m, s: lw.simulate(m, s, 0.1, DT),
    "maximal": lambda m, s: lw.simulate(m, s, 0.1, DT, "maximal"),
    "dop853": lambda m, s: lw.simulate(m, s, 0.1, DT, stepper="dop853"),
    "rollout": lambda m, s: lw.rollout(m, s, np.zeros((10, 1)), DT),
    "Simulator": lambda m, s: lw.Simulator(m, s, DT),
    "reset": lambda m, s: lw.Simulator(m, dt=DT).reset(s),
}


@pytest.mark.parametrize("how", RUNS)
def test_time_that_stands_still_is_refused(how: str) -> None:
    for t in (1e16, -1e16, 1e11, 1e300):
        with pytest.raises(lw.InputError, match=r"state\.t = .* is too large for steps of 0\.001"):
            RUNS[how](pendulum(), lw.State([0.1], [0.0], t=t))
    RUNS[how](pendulum(), lw.State([0.1], [0.0], t=1.7e9))  # seconds since 1970


@pytest.mark.parametrize("how", RUNS)
def test_numbers_out_of_range_are_refused(how: str) -> None:
    for q, v, name in (([1e200], [0.0], "q"), ([0.0], [-1e200], "v"), ([1e13], [0.0], "q")):
        with pytest.raises(lw.InputError, match=rf"state\.{name} at joint 'rod': .* is out of range"):
            RUNS[how](pendulum(), lw.State(q, v))
    with pytest.raises(lw.InputError, match="body 'rod': its placement is 1e\\+200 m away"):
        RUNS[how](pendulum(1e200), lw.State([0.0], [0.0]))


def test_maximal_states_out_of_range_are_refused() -> None:
    model = pendulum()
    state = lw.to_maximal(model, lw.State([0.0], [0.0]))
    poses = state.poses.copy()
    poses[0, 0, 3] = 1e200
    with pytest.raises(lw.InputError, match=r"state\.poses at joint 'rod': 1e\+200 is out of range"):
        lw.simulate(model, lw.MaximalState(poses, state.twists, state.q_fit), 0.1, DT, "maximal")
