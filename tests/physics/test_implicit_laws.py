"""Implicit maximal coordinates with laws of every kind: the right motion as steps shrink, no energy from limits, batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from identities.test_maximal_implicit import dense

import linkwork as lw
from linkwork.spatial.scalar import maximum

WAYS = pytest.mark.parametrize("options", [{}, {"newton": True}], ids=["default", "newton"])


# --- forces -----------------------------------------------------------------------------------------------------------
def chain(*elements: Any) -> lw.Model:
    """Three rods on hinges."""
    b, rod = lw.ModelBuilder(), lw.Inertia.cuboid(mass=1.0, size=(0.3, 0.05, 0.05), com=(0.15, 0, 0))
    for k in range(3):
        place, parent = lw.SE3(p=(0.3 if k else 0, 0, 0)), f"b{k - 1}" if k else "world"
        b.body(f"b{k}", parent=parent, joint=lw.Revolute((0, 1, 0)), placement=place, inertia=rod)
    for element in elements:
        b.add(element)
    return b.build()


def arm(*elements: Any) -> lw.Model:
    """Upper and lower arm on hinges."""
    b = lw.ModelBuilder()
    for name, parent, mass in (("u", "world", 2.0), ("l", "u", 1.5)):
        rod = lw.Inertia.cuboid(mass=mass, size=(0.3, 0.05, 0.05), com=(0.15, 0, 0))
        place = lw.SE3(p=(0 if parent == "world" else 0.3, 0, 0))
        b.body(name, parent=parent, joint=lw.Revolute((0, 1, 0)), placement=place, inertia=rod)
    for element in elements:
        b.add(element)
    return b.build()


def test_a_muscle_over_three_bodies_moves_them_right_as_steps_shrink() -> None:
    """Its damping couples the two arms, and not by their relative motion alone."""
    path = [("world", (-0.05, 0, 0.03)), ("u", (0.2, 0, 0.035)), ("l", (0.05, 0, 0.035))]
    model = arm(lw.Muscle(path, max_force=900, optimal_length=0.12, tendon_length=0.2, activation=0.3))
    start = lw.State(np.array([0.3, 0.5]), np.zeros(2))
    exact = lw.simulate(model, start, 0.1, 1e-4, stepper="rk4").q[-1]
    errors = [np.abs(lw.simulate(model, start, 0.1, dt, "maximal-implicit").q[-1] - exact).max() for dt in (1e-4, 5e-5)]
    assert errors[1] < 0.02
    assert 1.8 < errors[0] / errors[1] < 2.2


@pytest.mark.parametrize(("stiffness", "damping"), [(1e6, 0.0), (1e8, 0.0), (1e10, 0.0), (1e8, 1e4)])
def test_stiff_limits_never_give_energy(stiffness: float, damping: float) -> None:
    """Twenty links fall into their limits, many at once, some of which let go again in the same step."""
    b, rod = lw.ModelBuilder(), lw.Inertia.cuboid(mass=0.5, size=(0.5, 0.05, 0.05), com=(0.25, 0, 0))
    for k in range(20):
        place, parent = lw.SE3(p=(0.5 if k else 0, 0, 0)), f"b{k - 1}" if k else "world"
        b.body(f"b{k}", parent=parent, joint=lw.Revolute((0, 1, 0)), placement=place, inertia=rod, limits=(-0.3, 0.2))
        b.add(lw.LimitSpring(f"b{k}", stiffness, damping))
    run = lw.simulate(b.build(), lw.State(np.zeros(20), np.zeros(20)), 3.0, 1 / 60, "maximal-implicit")
    assert run.energy.total.max() <= run.energy.total[0]
    assert max(run.q.max() - 0.2, -0.3 - run.q.min()) < (1e-3 if damping else 2e3 / stiffness)


def test_one_sided_forces_of_users_act_in_the_step_in_which_they_are_met() -> None:
    """A stop at zero: energy of a force given without one is not counted, so the speed tells."""
    stop = lw.joint_force("u", force=lambda q, v, t, k: [-k * maximum(q[0], 0.0)], parameters={"k": 1e8})
    run = lw.simulate(arm(stop), lw.State(np.array([-0.5, 0.0]), np.zeros(2)), 3.0, 1 / 60, "maximal-implicit")
    assert -1e-9 < run.q[:, 0].max() < 1e-4
    assert run.energy.total.max() <= run.energy.total[0] + 1e-9


def test_distant_forces_are_those_of_the_dense_system() -> None:
    """A spring past a body, by minimal residuals; stiff for the step."""
    model = chain(lw.SpringDamper("b0", "b2", (0.1, 0, 0), (0.2, 0, 0), stiffness=2e3, damping=20.0, rest_length=0.6))
    state = lw.to_maximal(model, lw.State(np.array([0.3, 0.2, -0.5]), np.array([1.0, -2.0, 0.5])))
    one = lw.simulate(model, state, 1 / 60, 1 / 60, "maximal-implicit", solves=1)
    none = np.zeros((3, 6))
    y = dense(model, state, np.zeros(3), none, none).solve()
    np.testing.assert_allclose(one.arrays["twists"][-1][:, :3], y[:, :3], rtol=0, atol=1e-7 * np.abs(y).max())


def braced(stiffness: float, *pairs: tuple[str, str, float]) -> lw.Model:
    """Six rods on hinges with springs between points above them, at rest when the rods are in line."""
    b, rod = lw.ModelBuilder(), lw.Inertia.cuboid(mass=1.0, size=(0.3, 0.05, 0.05), com=(0.15, 0, 0))
    for k in range(6):
        place, parent = lw.SE3(p=(0.3 if k else 0, 0, 0)), f"b{k - 1}" if k else "world"
        b.body(f"b{k}", parent=parent, joint=lw.Revolute((0, 1, 0)), placement=place, inertia=rod)
    for one, other, length in pairs:
        b.add(lw.SpringDamper(one, other, (0.1, 0, 0.1), (0.2, 0, 0.1), stiffness=stiffness, rest_length=length))
    return b.build()


BRACES: dict[str, list[tuple[str, str, float]]] = {
    "neighbours": [("b1", "b0", 0.2), ("b3", "b2", 0.2)],
    "distant": [("b0", "b2", 0.7)],
    "world": [("b5", "world", 1.4)],
    "all": [(f"b{k}", f"b{k + 2}", 0.7) for k in range(4)],
}


@WAYS
@pytest.mark.parametrize("braces", BRACES)
def test_stiff_springs_between_bodies_never_give_energy(braces: str, options: dict[str, Any]) -> None:
    """1e8 N/m at 60 steps a second: they turn by much in a step, and are nearly rigid; at rest and thrown."""
    model = braced(1e8, *BRACES[braces])
    v = np.zeros((4, 6))
    v[1:] = 3.0 * np.random.default_rng(0).normal(size=(3, 6))
    run = lw.simulate(model, lw.State(np.zeros((4, 6)), v), 3.0, 1 / 60, "maximal-implicit", **options)
    e = run.energy.total
    assert np.all(e.max(axis=1) <= e[:, 0] + 1e-9 * np.abs(e[:, 0]))
    assert e[0, -1] > e[0, 0] - 60.0  # they still swing: 6 kg, 0.9 m


def test_forces_on_a_body_that_is_fixed_to_another() -> None:
    b, rod = lw.ModelBuilder(), lw.Inertia.cuboid(mass=1.0, size=(0.3, 0.05, 0.05), com=(0.15, 0, 0))
    b.body("arm", joint=lw.Revolute((0, 1, 0)), inertia=rod)
    b.body("hand", parent="arm", joint=lw.Fixed(), placement=lw.SE3(p=(0.3, 0, 0)), inertia=rod)
    model = b.add(lw.SpringDamper("hand", "world", (0.3, 0, 0), (0.6, 0, 0.3), stiffness=50.0, rest_length=0.3)).build()
    start = lw.State(np.array([0.2]), np.zeros(1))
    exact = lw.simulate(model, start, 0.2, 1e-4, stepper="rk4").q[-1]
    ways: list[dict[str, Any]] = [{}, {"newton": True}]
    for options in ways:
        errors = [
            np.abs(lw.simulate(model, start, 0.2, h, "maximal-implicit", **options).q[-1] - exact).max() for h in (2e-3, 1e-3)
        ]
        assert errors[1] < 0.01
        assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)


# --- constraints ------------------------------------------------------------------------------------------------------
def test_a_prescribed_motion_starts_as_fast_as_it_is_prescribed() -> None:
    model = arm(lw.PrescribedJoint("u", lambda t: (2.0 * t, 2.0, 0.0)))
    run = lw.simulate(model, lw.State(np.zeros(2), np.array([2.0, 0.0])), 0.2, 0.01, "maximal-implicit")
    np.testing.assert_allclose(run.v[:, 0], 2.0, rtol=1e-9)
    np.testing.assert_allclose(run.q[:, 0], 2.0 * run.t, rtol=0, atol=1e-9)


ROWS: dict[str, list[Any]] = {
    "loop": [lw.Loop("b2", "world", (0.3, 0, 0), (0.6, 0, -0.2))],
    "coupling": [lw.Coupling("b2", "b0", 0.5, 0.1)],
    "contact": [lw.Contact("b2", lw.Sphere(0.05, (0.3, 0, 0)), "world", lw.Plane((0, 0, -0.4), (0, 0, 1)))],
    "prescribed": [lw.PrescribedJoint("b0", lambda t: (0.2 + np.sin(t), np.cos(t), -np.sin(t)))],
    "forces": [
        lw.JointSpring("b1", 20.0, damping=0.3),
        lw.SpringDamper("b0", "b1", (0.1, 0, 0), (0.2, 0, 0), stiffness=200.0, rest_length=0.2, damping=1.0),
        lw.SpringDamper("b0", "b2", (0.1, 0, 0), (0.2, 0, 0), stiffness=300.0, rest_length=0.5, damping=1.0),
    ],
}
ROWS["all"] = [*ROWS["forces"], *ROWS["loop"], *ROWS["contact"]]


@WAYS
@pytest.mark.parametrize("laws", ROWS)
def test_laws_of_every_kind_move_as_they_should_as_steps_shrink(laws: str, options: dict[str, Any]) -> None:
    """Against reduced coordinates at a hundredth of the step; errors halve with the step."""
    model = chain(*ROWS[laws])
    start = lw.project(model, lw.State(np.array([0.2, 0.6, 0.4]), np.array([1.0, 0.0, 0.0]) * (laws == "prescribed")))
    exact = lw.simulate(model, start, 0.2, 1e-5, "reduced").q[-1]
    errors = [
        np.abs(lw.simulate(model, start, 0.2, dt, "maximal-implicit", **options).q[-1] - exact).max() for dt in (2e-3, 1e-3)
    ]
    assert errors[1] < 0.04
    assert errors[1] < 0.6 * errors[0] + 1e-4


@WAYS
@pytest.mark.parametrize("laws", ["loop", "coupling", "contact", "forces", "all"])
def test_a_batch_is_its_members(laws: str, options: dict[str, Any]) -> None:
    """To the bit, though some of them take more rounds than others."""
    model = chain(*ROWS[laws])
    q = np.array([lw.project(model, lw.State(np.array([0.2, 0.6, x]), np.zeros(3))).q for x in np.linspace(0.3, 0.5, 5)])
    v = np.linspace(-3.0, 3.0, 15).reshape(5, 3) * (laws in ("contact", "forces"))
    batch = lw.simulate(model, lw.State(q, v), 0.2, 1 / 100, "maximal-implicit", **options)
    for k in range(5):
        alone = lw.simulate(model, lw.State(q[k], v[k]), 0.2, 1 / 100, "maximal-implicit", **options)
        np.testing.assert_array_equal(batch.arrays["poses"][k], alone.arrays["poses"])
