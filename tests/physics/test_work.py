"""The account of energy: what forces bring and take is not drift, what a method gets wrong is."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw

ROD = lw.Inertia.cuboid(mass=1.0, size=(0.5, 0.05, 0.05), com=(0.25, 0, 0))
TIGHT = {"stepper": "dop853", "rtol": 1e-10, "atol": 1e-11}
START = lw.State([0.3, -0.5], [1.0, 2.0])


def arm(*elements: object, damping: float = 0.0) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("upper", joint=lw.Revolute((0, 1, 0)), inertia=ROD, damping=damping)
    b.body("lower", parent="upper", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.5, 0, 0)), inertia=ROD)
    for element in elements:
        b.add(element)
    return b.build()


def active() -> lw.Model:
    """Forces of every kind: springs with dampers, a drive, drag, a muscle, one that depends on time."""
    path = [("world", (0, 0, 0.1)), ("upper", (0.3, 0, 0.05))]
    return arm(
        lw.SpringDamper("lower", "world", (0.5, 0, 0), (0.5, 0, 0.5), stiffness=20.0, damping=2.0, rest_length=0.3),
        lw.JointSpring("lower", 5.0, damping=0.3),
        lw.PDController("upper", 8.0, 0.5, target=[0.4]),
        lw.Drag("lower", linear=0.3, quadratic=0.2),
        lw.Muscle(path, 30.0, 0.2, 0.12, activation=0.6),
        lw.force("lower", wrenches=lambda E, phi, t, u: [np.array([0.0, np.sin(9.0 * t), 0.0, 0.0, 0.0, 0.0])]),
        damping=0.2,
    )


def test_powers_are_what_the_energy_does_not_explain() -> None:
    """All forces together: power of wrenches and joint forces, and the change of their energy along the motion."""
    model = active()
    forces, t = lw.force_set(model), 0.7
    k = lw.kinematics(model, START.q, START.v)

    def stored(q: np.ndarray) -> float:
        E = lw.kinematics(model, q, START.v)
        return float(forces.energies(E.poses, E.twists, t).sum() + forces.joint_energies(q, START.v, t).sum())

    h = 1e-6
    rate = (stored(START.q + h * START.v) - stored(START.q - h * START.v)) / (2 * h)
    whole = np.sum(forces.wrenches(k.poses, k.twists, t) * k.twists) + forces.joint_forces(START.q, START.v, t) @ START.v
    spent = forces.powers(k.poses, k.twists, t).sum() + forces.joint_powers(START.q, START.v, t).sum()
    assert abs(spent) > 0.1
    assert spent == pytest.approx(whole + rate, abs=1e-7)
    later = forces.powers(np.stack([k.poses] * 2), np.stack([k.twists] * 2), np.array([0.1, t]))
    assert later[1].sum() + forces.joint_powers(START.q, START.v, t).sum() == pytest.approx(spent, abs=1e-12)
    assert abs(later[0] - later[1]).max() > 0.1


def test_accurate_runs_have_no_drift_whatever_acts() -> None:
    """Joint forces, external wrenches, all forces: drift is left by the trapezoidal rule only, and falls with its square."""
    model = active()
    external = np.array([[0, 0.5, 0, 0, 0, 0], [0, 0, 0, 1.0, 0, -0.5]])
    given = {"control": lambda t, s: [np.cos(5 * t), -s.v[1]], "external": external, **TIGHT}
    coarse, health = (lw.simulate(model, START, 0.3, h, **given).health for h in (5e-3, 2.5e-3))
    assert health.energy_drift < 2e-3
    assert coarse.energy_drift / health.energy_drift == pytest.approx(4.0, rel=0.2)
    assert health.work > 1.0
    assert health.work_of == ("joint forces", "external wrenches", "damping and forces")
    for name in health.work_of:
        assert f"J by {name}" in str(health)


def test_drift_is_the_error_of_the_method() -> None:
    model = active()
    drifts = [lw.simulate(model, START, 0.5, h).health.energy_drift for h in (2e-3, 1e-3)]
    assert drifts[0] / drifts[1] == pytest.approx(2.0, rel=0.2)


def test_springs_alone_do_no_work() -> None:
    model = arm(lw.JointSpring("lower", 5.0), lw.SpringDamper("lower", "world", stiffness=10.0, rest_length=0.2))
    health = lw.simulate(model, START, 0.5, 0.1, **TIGHT).health
    assert (health.work, health.work_of) == (None, ())
    assert health.energy_drift < 1e-8  # though the records are coarse


@pytest.mark.parametrize(("options", "bound"), [(TIGHT, 1e-4), ({}, 0.06)])
def test_the_work_of_a_hand_and_of_a_prescribed_motion(options: dict, bound: float) -> None:
    """A handle whose target moves, and a joint that is turned: both do work on the model."""
    model = arm(
        lw.Handle("lower", (0.5, 0, 0), target=(1.0, 0, 0), stiffness=40.0, damping=3.0),
        lw.PrescribedJoint("upper", lambda t: (np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t))),
    )
    handle = model.elements_of(lw.Handle)[0]

    def inputs(t: float) -> np.ndarray:
        return handle.toward((1.0, 0, 0.3 * np.sin(4 * t)), (0, 0, 1.2 * np.cos(4 * t)))

    start = lw.State([0.0, 0.2], [3.0, 0.0])
    run = lw.simulate(model, start, 1.0, 2e-3, inputs=inputs, **options)
    assert run.work_of == ("damping and forces", "inputs of forces", "prescribed motion")
    assert run.health.energy_drift < bound
    assert run.inputs.shape == (len(run), 6)
    np.testing.assert_allclose(run.inputs[10], inputs(run.t[10]))
