"""Paths of muscles over full ranges of joints: lengths and moment arms are continuous, or the run says where they are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.elements.collection import collection
from linkwork.reduced.muscle_lapses import seen_from

ARM = lw.Inertia.cuboid(1.5, (0.05, 0.05, 0.33), com=(0, 0, -0.165))


def arm(*items: Any, axis: Any = (0, -1, 0), tendon: float = 0.0, fibres: float = 0.9, kind: Any = lw.Muscle) -> lw.Model:
    """A forearm on a hinge below an upper arm that stays, with one muscle; slack but for short fibres."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.body("upper", joint=lw.Fixed(), inertia=ARM)
    b.body("fore", parent="upper", joint=lw.Revolute(axis), placement=lw.SE3(p=(0, 0, -0.3)), inertia=ARM)
    b.add(kind(list(items), 100.0, fibres, tendon, name="triceps"))
    return b.build()


BEHIND = (("upper", (-0.025, 0, -0.08)), ("fore", (-0.024, 0, -0.015)))


def elbow(turn: int, **options: Any) -> lw.Model:
    around = lw.WrapCylinder("upper", (0, 0, -0.3), axis=(0, 1, 0), radius=0.02, turn=turn)
    return arm(BEHIND[0], around, BEHIND[1], **options)


def check_continuous(model: lw.Model, q: np.ndarray) -> np.ndarray:
    """Moment arms (states,) over a fine range (states, 1); differences of the length are the moment arm, which does not jump."""
    found, h = lw.muscle_states(model, q), q[1, 0] - q[0, 0]
    length, moment_arm = found.length[:, 0], found.moment_arms[:, 0, 0]
    size = max(np.abs(moment_arm).max(), 1e-3)
    assert np.abs(np.diff(length)).max() < 1.01 * h * size
    assert np.abs(np.diff(moment_arm)).max() < 30.0 * h * size
    assert np.abs(np.diff(length) + 0.5 * h * (moment_arm[1:] + moment_arm[:-1])).max() < 10.0 * h * h * size
    return moment_arm


@pytest.mark.parametrize("turn", [0, 1, -1])
def test_an_elbow_turns_by_half_a_turn_either_way(turn: int) -> None:
    """Without a turn the triceps stays behind, where it is when the arm hangs: it extends."""
    q = np.linspace(-3.14, 3.14, 6001)[:, None]
    moment_arm = check_continuous(elbow(turn), q)
    bent = moment_arm[q[:, 0] > 0]
    assert (bent > 0).all() if turn == 1 else (bent[q[q[:, 0] > 0, 0] < 3.0] < 0).all()


def random_wrap(seed: int) -> lw.Model:
    """A muscle around a cylinder whose axis is the hinge's, nearly, from points anywhere outside it."""
    rng = np.random.default_rng(seed)
    axis = np.array([0.0, -1.0, 0.0]) + 0.15 * rng.normal(size=3) * (seed % 2)
    radius = rng.uniform(0.01, 0.04)

    def outside(distance: float) -> np.ndarray:
        angle = rng.uniform(-np.pi, np.pi)
        return distance * np.array([np.cos(angle), 0, np.sin(angle)]) + [0, rng.uniform(-0.03, 0.03), 0]

    a, b = (outside(rng.uniform(1.7, 6.0) * radius) for _ in range(2))
    turn = int(rng.integers(-1, 2))
    wrap = lw.WrapCylinder("upper", (0, 0, -0.3), axis=axis, radius=radius, turn=turn)
    return arm(("upper", a + np.array([0, 0, -0.3])), wrap, ("fore", b))


@pytest.mark.parametrize("seed", range(40))
def test_random_cylinders_over_the_range_of_a_joint(seed: int) -> None:
    """Length and moment arm are continuous wherever the path does not change sides; where it does, they jump."""
    model = random_wrap(seed)
    q = np.linspace(-3.1, 3.1, 8001)[:, None]
    wrap, jumps = sides(model, q)
    if seed % 2 == 0 and wrap.begin > -0.5 * np.pi:
        assert not jumps.any()
    assert jumps.sum() <= 2
    for span in np.split(np.arange(len(q)), np.flatnonzero(jumps) + 1):
        if len(span) > 1:
            check_continuous(model, q[span])
    moment_arm = lw.muscle_states(model, q).moment_arms[:, 0, 0]
    assert (np.abs(np.diff(moment_arm))[jumps] > 1e-3).all()


def sides(model: lw.Model, q: np.ndarray) -> tuple[Any, np.ndarray]:
    """The obstacle of the muscle, and whether its path changes sides from one state to the next."""
    path = collection(model).forces[0].path
    ((i, a), (j, b), (k, wrap)) = path._segments()[0]
    poses, bodies = lw.kinematics(model, q).poses, [model.body_index(name) for name in path.bodies]
    ends = (seen_from(poses, bodies[k], bodies[n], wrap, x) for n, x in ((i, a), (j, b)))
    return wrap, wrap.sides(*ends)[0]


def told(run: Any, what: str) -> str:
    """The one reason that says this."""
    (line,) = (line for line in run.health.reasons if what in line)
    return line


def test_a_run_beyond_says_when_and_by_how_much() -> None:
    """A hinge that turns round and round: no function of its state can count turns."""
    run = lw.simulate(elbow(-1), lw.State([0.0], [9.0]), 1.0, 1e-3, every=100)
    assert not run.health.ok
    line = told(run, "the path of muscle 'triceps' changes sides at the WrapCylinder of 'upper' at t = 0.")
    assert "its moment arm at joint 'fore' jumps from" in line
    assert "mm, its length by" in line
    assert line in run.health.notes
    t = float(line.split("t = ")[1].split()[0])
    assert run.q[:, 0].max() > np.pi
    assert lw.simulate(elbow(-1), lw.State([0.0], [9.0]), t - 2e-3, 1e-3).health.ok
    assert not lw.simulate(elbow(-1), lw.State([0.0], [9.0]), t + 1e-3, 1e-3).health.ok


def test_a_sphere_passed_from_behind_is_told() -> None:
    """Where the points stand opposite each other all ways are as long: moment arms jump from one side to the other."""
    model = arm(BEHIND[0], lw.WrapSphere("upper", (0, 0, -0.3), radius=0.02), BEHIND[1])
    line = told(lw.simulate(model, lw.State([0.0], [6.0]), 0.4, 1e-3, every=10), "changes sides at the WrapSphere of 'upper'")
    before, after = (float(line.split(word)[1].split()[0]) for word in ("jumps from", " to"))
    assert before < -15.0 < 15.0 < after
    assert lw.simulate(model, lw.State([-0.3], [1.0]), 0.2, 1e-3).health.ok


@pytest.mark.parametrize("kind", [lw.Muscle, lw.ElasticMuscle])
def test_clamped_fibres_are_told(kind: Any) -> None:
    model = elbow(-1, tendon=0.26, fibres=0.1, kind=kind)
    run = lw.simulate(model, lw.State([-1.0], [4.0]), 0.6, 1e-3, every=50)
    clamped = lw.muscle_states(model, run.q).clamped[:, 0]
    assert clamped[0]
    assert not clamped[-1]
    told(run, "fibres of muscle 'triceps' are clamped at 0.01 of their optimal length from t = 0 to 0.")
    assert lw.simulate(model, lw.State(run.q[-1], [0.0]), 0.05, 1e-3).health.ok


def test_other_units_are_told() -> None:
    """Activations in percent, and points in millimetres."""
    model = elbow(-1)
    run = lw.simulate(model, lw.State([0.5], [0.0]), 0.02, 1e-3, inputs=lambda t: [50.0 if t > 0.0095 else 0.5])
    assert told(run, "the activation of muscle 'triceps' is not from 0 to 1 from t = 0.01 to 0.02 s").endswith("it is 50")
    assert "activation" in told(lw.simulate(model, lw.State([0.5], [0.0]), 0.02, 1e-3, inputs=[-1.0]), "it is -1")
    millimetres = arm(("upper", (-25.0, 0, -80.0)), ("fore", (-24.0, 0, -15.0)), fibres=0.1)
    told(lw.simulate(millimetres, lw.State([0.5], [0.0]), 1e-5, 1e-6), "fibres of muscle 'triceps' are longer than 5 times")


def test_calls_on_muscles_refuse_what_is_no_number() -> None:
    model, dynamics = elbow(-1), lw.ActivationDynamics()
    calls: list[tuple[Any, str]] = [
        (lambda: lw.muscle_states(model, [0.1], t=np.nan), "t must be a finite number"),
        (lambda: lw.muscle_states(model, [0.1], u=[np.nan]), "u must be finite"),
        (lambda: lw.muscle_states(model, [0.1], u=[0.1, 0.2]), r"u has shape \(2,\); it must be \(\.\.\., 1\)"),
        (lambda: dynamics.response([1.0, np.nan], 0.01), "e must be finite"),
        (lambda: dynamics.response([50.0], 0.01), "e must be from 0 to 1"),
        (lambda: dynamics.response([1.0], -0.01), "dt must be positive"),
    ]
    for call, message in calls:
        with pytest.raises(lw.InputError, match=message):
            call()


def test_a_point_inside_an_obstacle_is_told() -> None:
    model = arm(("upper", (-0.06, 0, -0.2)), lw.WrapSphere("upper", (0, 0, -0.33), radius=0.03), ("fore", (0, 0, -0.05)))
    run = lw.simulate(model, lw.State([-1.5], [3.0]), 1.0, 1e-3, every=10)
    assert " m deep" in told(run, "a point of muscle 'triceps' is inside the WrapSphere of 'upper' from t = 0.")


def test_streams_and_batches_tell_it_too(tmp_path: Path) -> None:
    model = elbow(-1)
    line = told(lw.simulate(model, lw.State([0.0], [9.0]), 1.0, 1e-3), "changes sides")
    streamed = lw.simulate(model, lw.State([0.0], [9.0]), 1.0, 1e-3, every=50, out=tmp_path / "run.lwk")
    assert told(streamed, "changes sides") == line
    assert told(lw.Trajectory.load(tmp_path / "run.lwk"), "changes sides") == line
    two = lw.simulate(model, lw.State([[0.0], [0.0]], [[0.1], [9.0]]), 1.0, 1e-3, every=50)
    assert told(two, "changes sides").split(":")[0] == line.split(":")[0]
    told(lw.simulate(model, lw.State([0.0], [9.0]), 1.0, 1e-2, stepper="dop853", every=10), "changes sides")


@pytest.mark.parametrize(
    ("shape", "radius", "first", "second", "length", "slope"),
    [
        ("cylinder", 0.03, (-0.08, 0.02, -0.02), (0.07, 0.01, 0.02), 0.15867581035228814, -0.9255490122650478),
        ("cylinder", 0.03, (-0.08, 0.02, -0.05), (0.05, -0.005, 0.03), 0.1639678471171888, -0.6449305999245425),
        ("sphere", 0.04, (-0.1, 0.01, 0.0), (0.09, 0.02, 0.01), 0.19665098013158283, -0.9786237357978234),
        ("sphere", 0.04, (-0.06, 0.0, 0.02), (0.07, 0.02, -0.01), 0.1479314194974157, -0.8782792201983414),
    ],
)
def test_geodesics_found_by_shooting(shape: str, radius: float, first: Any, second: Any, length: float, slope: float) -> None:
    """Lengths and their slopes along x of the second point, by an independent geodesic (1e-11)."""
    wraps = {"cylinder": lw.WrapCylinder("world", axis=(0, 0, 1), radius=radius), "sphere": lw.WrapSphere("world", radius=radius)}
    b = lw.ModelBuilder()
    b.body("slider", joint=lw.Prismatic((1, 0, 0)), inertia=ARM)
    b.add(lw.Muscle([("world", first), wraps[shape], ("slider", (0, *second[1:]))], 1.0, 1.0, name="m"))
    found = lw.muscle_states(b.build(), [second[0]])
    assert found.length[0] == pytest.approx(length, abs=1e-11)
    assert found.moment_arms[0, 0] == pytest.approx(slope, abs=1e-9)
