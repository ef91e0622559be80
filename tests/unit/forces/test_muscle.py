"""Muscles with rigid tendons: the law of the notes, pennation, run-time data, inputs, what can be measured."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.forces.muscle_curves import ACTIVE, PASSIVE, VELOCITY
from linkwork.view.muscle_plots import over_joint, plot_moment_arms, plot_muscle_curves, write_figure

POINTS = [("world", (0, 0, 0)), ("a", (0, 0, 0))]


def slider(*muscles: lw.Muscle) -> lw.Model:
    """A body on a rail: with the path from the world's origin to its own, q is the length."""
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia(1.0, tensor=np.eye(3)), limits=(0.1, 0.6))
    for m in muscles:
        b.add(m)
    return b.build()


@pytest.mark.parametrize(
    ("l", "rate", "a"), [(0.3, 0.0, 1.0), (0.35, 0.4, 0.5), (0.42, -0.6, 0.2), (0.25, -3.0, 1.0), (0.5, 3.0, 0.3)]
)
def test_tension_is_the_law_of_the_notes(l: float, rate: float, a: float) -> None:
    """[Sueda, Eqs. 1.38, 1.47, 1.49]."""
    m = lw.Muscle(POINTS, 800.0, 0.2, 0.1, max_velocity=8.0)
    expected = 800.0 * (a * ACTIVE((l - 0.1) / 0.2) * VELOCITY(rate / (0.2 * 8.0)) + PASSIVE((l - 0.1) / 0.2))
    assert m.tension(l, rate, 0.0, np.array([a])) == pytest.approx(expected, rel=1e-13)
    s = lw.muscle_states(slider(m), [l], [rate], u=[a])
    np.testing.assert_allclose([s.length[0], s.rate[0], s.tension[0]], [l, rate, expected], rtol=1e-13)
    np.testing.assert_allclose(s.moment_arms, [[-1.0]], rtol=1e-14)


def test_pennation_keeps_the_thickness() -> None:
    m = lw.Muscle(POINTS, 800.0, 0.2, 0.1, pennation=0.5)
    u = np.array([1.0])
    s = lw.muscle_states(slider(m), [0.1 + 0.2 * np.cos(0.5)], [0.3], u=u)
    assert s.fibre_length[0] == pytest.approx(0.2, rel=1e-14)
    assert s.fibre_rate[0] == pytest.approx(0.3 * np.cos(0.5), rel=1e-14)
    assert m.tension(0.1 + 0.2 * np.cos(0.5), 0.0, 0.0, u) == pytest.approx(800.0 * np.cos(0.5), rel=1e-14)


def test_a_slack_muscle_does_not_pull() -> None:
    m = lw.Muscle(POINTS, 800.0, 0.2, 0.1)
    assert [m.tension(l, 0.1, 0.0, np.array([1.0])) for l in (0.0, 0.05, 0.1, 0.15)] == [0.0] * 4
    damped = lw.Muscle(POINTS, 800.0, 0.2, 0.1, damping=0.5)
    assert damped.tension(0.3, -9.0, 0.0, np.array([0.0])) == 0.0
    assert damped.tension(0.3, 0.2, 0.0, np.array([0.0])) == pytest.approx(800.0 * 0.5 * 0.1)


def test_stored_energy_is_the_work_of_passive_stretching() -> None:
    m = lw.Muscle(POINTS, 800.0, 0.2, 0.1, pennation=0.3)
    l = np.linspace(0.2, 0.6, 4001)
    work = np.trapezoid([m.tension(x, 0.0, 0.0, np.zeros(1)) for x in l], l)
    assert m.stored(0.6) - m.stored(0.2) == pytest.approx(work, rel=1e-6)
    forces = lw.force_set(slider(m))
    assert forces.energies(np.array([lw.SE3(p=(0, 0, 0.6)).matrix]), np.zeros((1, 6)))[0] == pytest.approx(
        m.stored(0.6), rel=1e-14
    )


def test_activation_by_schedule_or_by_input() -> None:
    schedule = lw.Schedule((0.0, 1.0), (0.2, 0.8))
    m = lw.Muscle(POINTS, 800.0, 0.2, 0.1, activation=schedule, name="timed")
    n = lw.Muscle(POINTS, 800.0, 0.2, 0.1, activation=0.3, name="driven")
    model = slider(m, n)
    assert (m.inputs, n.inputs) == (0, 1)
    np.testing.assert_allclose(lw.force_set(model).initial_inputs, [0.3])
    np.testing.assert_allclose(lw.muscle_states(model, [0.3], t=0.5).activation, (0.5, 0.3))
    np.testing.assert_allclose(lw.muscle_states(model, [0.3], t=9.0, u=[0.6]).tension, (640.0, 480.0))
    pull = lw.forward_dynamics(model.replace(gravity=(0, 0, 0)), [0.3], [0.0], t=0.25, inputs=[0.1])
    np.testing.assert_allclose(pull, -800.0 * (0.35 + 0.1))


def test_curves_can_be_replaced() -> None:
    """A curve of a user's, and any function; machine code is shared where only numbers differ."""
    bell = lw.Muscle(POINTS, 800.0, 0.2, 0.1, active=lambda x: np.exp(-((x - 1.0) ** 2) / 0.45), activation=1.0)
    plain, wide = lw.Muscle(POINTS, 800.0, 0.2, 0.1), lw.Muscle(POINTS, 800.0, 0.2, 0.1, passive=lw.tendon_curve(0.6))
    s = lw.muscle_states(slider(bell), [0.34])
    assert s.tension[0] == pytest.approx(800.0 * (np.exp(-0.04 / 0.45) + PASSIVE(1.2)), rel=1e-13)
    assert plain.signature == lw.Muscle(POINTS, 80.0, 0.4, 0.2, pennation=0.1).signature
    assert plain.signature != bell.signature
    assert plain.signature != wide.signature
    assert wide.signature == lw.Muscle(POINTS, 1.0, 1.0, passive=lw.tendon_curve(0.1)).signature
    assert wide.tension(0.5, 0.0, 0.0, np.zeros(1)) == pytest.approx(800.0 * lw.tendon_curve(0.6)(2.0))


class Sleepy(lw.Muscle):
    """A muscle of a user: activation counts half."""

    def activation_at(self, t: Any, u: Any) -> Any:
        return 0.5 * super().activation_at(t, u)


def test_muscles_of_users_are_compiled_as_they_say() -> None:
    whole, half = lw.Muscle(POINTS, 800.0, 0.2, 0.1, activation=0.8), Sleepy(POINTS, 800.0, 0.2, 0.1, activation=0.8)
    np.testing.assert_allclose(lw.muscle_states(slider(whole, half), [0.3]).tension, (640.0, 320.0))


def test_a_batch_is_its_states() -> None:
    model = slider(lw.Muscle(POINTS, 800.0, 0.2, 0.1), lw.Muscle(POINTS, 300.0, 0.3, pennation=0.2))
    rng = np.random.default_rng(0)
    q, v, u = rng.uniform(0.2, 0.5, (11, 1)), rng.normal(size=(11, 1)), rng.uniform(0, 1, (11, 2))
    many = lw.muscle_states(model, q, v, u=u)
    assert many.moment_arms.shape == (11, 2, 1)
    for k in range(11):
        one = lw.muscle_states(model, q[k], v[k], u=u[k])
        for name in ("length", "rate", "tension", "activation", "fibre_length", "fibre_rate", "moment_arms", "joint_forces"):
            np.testing.assert_array_equal(getattr(many, name)[k], getattr(one, name))


def test_inputs_of_other_forces_stay_apart() -> None:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    b.add(lw.Handle("a", target=(0, 0, 1), stiffness=1.0))
    b.add(lw.Muscle(POINTS, 800.0, 0.2, 0.1, activation=0.4, name="m"))
    model = b.build()
    assert lw.force_set(model).input_index("m") == slice(6, 7)
    u = lw.force_set(model).initial_inputs.copy()
    u[6] = 0.9
    np.testing.assert_allclose([lw.muscle_states(model, [0.3], u=x).activation[0] for x in (None, u)], (0.4, 0.9))


def test_a_model_without_muscles_says_so() -> None:
    with pytest.raises(lw.InputError, match="no muscles"):
        lw.muscle_states(slider(), [0.3])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_force": 0.0}, "max_force must be above 0"),
        ({"max_force": "x"}, "max_force must be a number"),
        ({"optimal_length": -1.0}, "optimal_length must be above 0"),
        ({"tendon_length": -0.1}, "tendon_length must be at least 0"),
        ({"max_velocity": 0.0}, "max_velocity must be above 0"),
        ({"damping": -1.0}, "damping must be at least 0"),
        ({"pennation": 1.6}, "pennation must be below pi / 2"),
        ({"pennation": np.nan}, "pennation must be"),
        ({"activation": 1.5}, "activation must be from 0 to 1, not 1.5"),
        ({"activation": lw.Schedule((0, 1), (0.0, -0.2))}, "activation must be from 0 to 1, not -0.2"),
        ({"activation": lw.Schedule((0, 1), np.zeros((2, 2)))}, "one value at a time, not 2"),
        ({"active": 3.0}, "active must be a curve or a function"),
        ({"name": 7}, "name must be a name"),
    ],
)
def test_bad_numbers_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(lw.ModelError, match=message):
        lw.Muscle(**({"path": POINTS, "max_force": 1.0, "optimal_length": 1.0, "name": "m"} | options))


def test_a_body_that_is_not_there_is_named() -> None:
    with pytest.raises(lw.ModelError, match="no body 'b'"):
        slider(lw.Muscle([("a", (0, 0, 0)), ("b", (0, 0, 0))], 1.0, 1.0))


def test_plots(tmp_path: Any) -> None:
    model = slider(lw.Muscle(POINTS, 800.0, 0.2, 0.1, name="m"))
    values, states = over_joint(model, "a")
    assert (values[0], values[-1]) == (0.1, 0.6)
    np.testing.assert_allclose(states.length[:, 0], values)
    for name, figure in (
        ("arms", plot_moment_arms(model, "a", span=(0.2, 0.3))),
        ("curves", plot_muscle_curves(model.elements[0])),
    ):
        path = write_figure(figure, tmp_path / f"{name}.png")
        assert path.read_bytes().startswith(b"\x89PNG")
    free = lw.ModelBuilder().body("a", joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    free = free.add(lw.Muscle(POINTS, 800.0, 0.2)).body(
        "c", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia(1.0, tensor=np.eye(3))
    )
    with pytest.raises(lw.InputError, match="7 coordinates"):
        plot_moment_arms(free.build(), "a")
    with pytest.raises(lw.InputError, match="no finite limits"):
        plot_moment_arms(free.build(), "c")
    with pytest.raises(lw.InputError, match="no muscle crosses"):
        plot_moment_arms(free.build(), "c", q=[0, 0, 1, 1, 0, 0, 0, 0], span=(0, 1))


def test_the_page_runs() -> None:
    """Every block of the page, one after the other."""
    page = (Path(__file__).parents[3] / "docs" / "forces" / "muscle.md").read_text()
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(block, names)
    assert "drive" in names
