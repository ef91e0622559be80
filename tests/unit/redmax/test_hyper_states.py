"""Hyper-reduced coordinates: conversions, contacts and stops on what the map leaves free, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw

ROD = lw.Inertia.cuboid(mass=1.0, size=(0.5, 0.05, 0.05), com=(0.25, 0, 0))


def arm(*elements: Any, joint: lw.Joint | None = None) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("upper", joint=joint or lw.Revolute((0, 1, 0)), inertia=ROD)
    b.body("lower", parent="upper", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.5, 0, 0)), inertia=ROD)
    for element in elements:
        b.add(element)
    return b.build()


def bent(r: Any) -> list[Any]:
    return [r[0], np.sin(r[0])]


ARM = lw.HyperReduced(arm(), bent, nr=1)


def test_states_convert_one_by_one_and_in_batches() -> None:
    r = np.array([[0.2], [0.5], [-1.0]])
    many = ARM.full(lw.State(r, 2 * r, 0.3))
    assert many.t == 0.3
    for k in range(3):
        one = ARM.full(lw.State(r[k], 2 * r[k]))
        assert np.array_equal(many.q[k], one.q)
        assert np.array_equal(many.v[k], one.v)
        found = ARM.fit(one, guess=[0.1])
        assert found.q == pytest.approx(r[k], abs=1e-12)
        assert found.v == pytest.approx(2 * r[k], abs=1e-12)


def test_a_fit_is_nearest_where_none_is_exact() -> None:
    """Of (r, r): the mean of both angles, and of both velocities."""
    same = lw.HyperReduced(ARM.model, lambda r: [r[0], r[0]], nr=1)
    found = same.fit(lw.State(np.array([0.2, 0.6]), np.array([1.0, 2.0]), 0.7))
    assert found.q == pytest.approx([0.4])
    assert found.v == pytest.approx([1.5])
    assert found.t == 0.7


def test_mass_matrix_is_that_of_the_kinetic_energy() -> None:
    s = lw.State(np.array([0.4]), np.array([1.3]))
    kinetic = lw.energy(ARM.model, ARM.full(s)).kinetic
    assert 0.5 * 1.3**2 * ARM.mass_matrix(s.q)[0, 0] == pytest.approx(kinetic, rel=1e-12)


@pytest.mark.parametrize("method", ["reduced", "redmax"])
def test_stops_hold_what_the_map_leaves_free(method: str) -> None:
    stopped = lw.HyperReduced(arm(lw.Limit("upper", upper=0.6)), bent, nr=1)
    run = lw.simulate(stopped, lw.State(np.zeros(1), np.zeros(1)), 0.6, 0.005, method)
    assert run.q[-1] == pytest.approx(bent([0.6]), abs=1e-3)
    assert run.forces is not None
    resting = ARM.dynamics(lw.State(np.array([0.6]), np.zeros(1)))
    assert run.forces[-1, 0] == pytest.approx(resting.f[0], rel=1e-2)


def test_work_and_energy_agree() -> None:
    """Joint forces of a control are those of the model: the health of a run counts their work."""
    run = lw.simulate(ARM, lw.State(np.zeros(1), np.zeros(1)), 0.2, 2e-3, stepper="rk4", control=lambda t, s: -0.3 * s.v + [1, 0])
    assert run.tau is not None
    assert run.tau.shape == (101, 2)
    assert (run.health.energy_drift or 1.0) < 2e-3


@pytest.mark.parametrize(
    ("function", "nr", "message"),
    [
        (3.0, 1, "must be a function of r"),
        (bent, 0, "between 1 and 2 coordinates"),
        (bent, 3, "between 1 and 2 coordinates"),
        (bent, True, "between 1 and 2 coordinates"),
        (lambda r: [r[0]], 1, "returns 1 coordinates; the model has 2"),
        (lambda r: [r[0], r[1]], 1, "the coordinate map failed for r = \\[0.1\\]"),
    ],
)
def test_maps_that_make_no_sense_are_refused(function: Any, nr: Any, message: str) -> None:
    with pytest.raises(lw.ModelError, match=message):
        lw.HyperReduced(ARM.model, function, nr)


def test_quaternions_must_be_unit() -> None:
    model = arm(joint=lw.Spherical())
    hyper = lw.HyperReduced(model, lambda r: [1.0, r[0], 0.0, 0.0, r[0]], nr=1)
    with pytest.raises(lw.InputError, match=r"quaternion \(wxyz\) has norm"):
        lw.simulate(hyper, lw.State(np.array([0.5]), np.zeros(1)), 0.1, 0.01)


def test_a_map_that_stands_still_is_singular() -> None:
    hyper = lw.HyperReduced(ARM.model, lambda r: [r[0] ** 2, r[0] ** 2], nr=1)
    with pytest.raises(lw.SolverError, match="a change of r moves nothing"):
        hyper.forward_dynamics(np.zeros(1), np.zeros(1))
    with pytest.raises(lw.InputError, match="nearer guess"):
        hyper.fit(lw.State(np.array([-1.0, -1.0]), np.zeros(2)), guess=[0.5])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "maximal"}, "no method 'maximal'; choose one of reduced, redmax"),
        ({"stepper": "dop853"}, "no stepper 'dop853'.*choose one of symplectic_euler, rk4"),
        ({"method": "redmax", "stepper": "rk4"}, "choose one of linearly_implicit, bdf1, bdf2, sdirk2"),
        ({"stabilise": "project"}, "has no option 'stabilise' here; it has evaluations"),
        ({"method": "redmax", "stepper": "bdf1", "route": "dense"}, "has no option 'route' here; it has none"),
        ({"method": "redmax", "route": "dense"}, "it has baumgarte"),
        ({"tau": np.zeros(1)}, "tau has shape"),
    ],
)
def test_runs_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(lw.InputError, match=message):
        lw.simulate(ARM, lw.State(np.zeros(1), np.zeros(1)), 0.1, 0.01, **options)


def test_states_and_constraints_that_do_not_fit_are_refused() -> None:
    with pytest.raises(lw.InputError, match=r"state.q has shape \(2,\); a hyper-reduced state needs \(1,\)"):
        lw.simulate(ARM, lw.State(np.zeros(2), np.zeros(1)), 0.1, 0.01)
    with pytest.raises(lw.InputError, match="start from State"):
        lw.simulate(ARM, lw.to_maximal(ARM.model, ARM.full(lw.State(np.zeros(1), np.zeros(1)))), 0.1, 0.01)
    stopped = lw.HyperReduced(arm(lw.Limit("upper", upper=0.6)), bent, nr=1)
    with pytest.raises(lw.InputError, match="cannot step contacts or limits"):
        lw.simulate(stopped, lw.State(np.zeros(1), np.zeros(1)), 0.1, 0.01, "redmax", stepper="bdf2")
