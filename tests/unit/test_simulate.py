"""The time loop and what it returns: arguments that cannot be, what a run reports about itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes.ball import ball
from linkwork.scenes.loop import four_bar
from linkwork.simulate import setting_of
from linkwork.steppers import ALL_STEPPERS

ROD = lw.Inertia.cuboid(mass=1.0, size=(1, 0.1, 0.1), com=(0.5, 0, 0))


def arm(**properties: Any) -> lw.Model:
    """Two hinged rods."""
    b = lw.ModelBuilder()
    b.body("upper", joint=lw.Revolute((0, 1, 0)), inertia=ROD, **properties)
    b.body("lower", parent="upper", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(1, 0, 0)), inertia=ROD, **properties)
    return b.build()


MODEL = arm()
REST = lw.State(np.zeros(2), np.zeros(2))
MAXIMAL = lw.to_maximal(MODEL, REST)


def run(**changes: Any) -> lw.Trajectory:
    """A short run with some arguments changed."""
    arguments: dict[str, Any] = {"state": REST, "duration": 0.01, "dt": 1e-3} | changes
    return lw.simulate(arguments.pop("model", MODEL), **arguments)


# --- arguments --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dt": 0.0}, "dt must be positive"),
        ({"dt": -1e-3}, "dt must be positive"),
        ({"dt": np.nan}, "dt must be positive"),
        ({"duration": 0.0}, "duration must be positive"),
        ({"duration": np.inf}, "duration must be positive"),
        ({"duration": 0.0105}, "not a whole number of steps"),
        ({"duration": 1e-4}, "not a whole number of steps"),
        ({"every": 0}, "every must be a positive integer"),
        ({"every": 2.0}, "every must be a positive integer"),
        ({"every": 3}, "does not divide the 10 steps"),
        ({"state": lw.State(np.zeros(3), np.zeros(2))}, r"state.q has shape \(3,\)"),
        ({"state": lw.State(np.zeros(2), np.zeros((2, 1)))}, "state.v has shape"),
        ({"state": lw.State(np.zeros((3, 2)), np.zeros((4, 2)))}, "batch of 3"),
        ({"state": lw.State(np.array([0.0, np.nan]), np.zeros(2))}, "not finite at joint 'lower'"),
        ({"state": lw.State(np.zeros(2), np.array([np.inf, 0.0]))}, "not finite at joint 'upper'"),
        ({"state": np.zeros(4)}, "must be a State"),
        ({"state": MAXIMAL}, "needs method="),
        ({"state": lw.MaximalState(MAXIMAL.poses[:1], MAXIMAL.twists, MAXIMAL.q_fit), "method": "maximal"}, "state.poses"),
        ({"state": lw.MaximalState(MAXIMAL.poses, MAXIMAL.twists, np.zeros(5)), "method": "maximal"}, "state.q_fit"),
        ({"state": lw.MaximalState(MAXIMAL.poses, np.nan * MAXIMAL.twists, np.zeros(2)), "method": "maximal"}, "not finite"),
        ({"method": "minimal"}, "no method 'minimal'; choose one of reduced, maximal"),
        ({"stepper": "leapfrog"}, "no stepper 'leapfrog'; choose one of symplectic_euler, rk4, dop853"),
        ({"stepper": "rk4", "method": "redmax"}, "'rk4' does not work with method 'redmax'; it works with reduced, maximal"),
        ({"stepper": "dop853", "method": "maximal"}, "'dop853' does not work with method 'maximal'"),
        ({"tau": np.zeros(3)}, r"tau has shape \(3,\)"),
        ({"tau": np.zeros((4, 2))}, r"tau has shape \(4, 2\)"),
        ({"tau": "strong"}, "tau must be an array of numbers"),
        ({"tau": [np.nan, 0.0]}, "tau is not finite"),
        ({"external": np.zeros((2, 3))}, r"external has shape \(2, 3\)"),
        ({"tau": np.zeros(2), "control": lambda t, s: np.zeros(2)}, "either tau or control"),
        ({"control": lambda t, s: np.zeros(3)}, r"control returned shape \(3,\) at t = 0"),
        ({"control": lambda t, s: [0.0, np.nan]}, "control returned a value that is not finite at t = 0"),
        ({"control": lambda t, s: np.zeros(3), "stepper": "dop853"}, r"control returned shape \(3,\) at t = 0"),
        ({"rtol": 1e-6}, "no argument 'rtol', and the stepper 'symplectic_euler' no such option: its options are"),
        ({"stepper": "dop853", "tolerance": 1e-6}, "its options are rtol, atol, max_step, first_step, events"),
        ({"stepper": "dop853", "rtol": 0.0}, "rtol must be at least"),
        ({"stepper": "dop853", "atol": 0.0}, "atol must be positive"),
        ({"stepper": "dop853", "max_step": 0.0}, "max_step must be positive"),
        ({"stepper": "dop853", "events": [1.0]}, "events must be functions"),
        (
            {"stepper": "dop853", "state": lw.State(np.zeros((3, 2)), np.zeros(2)), "events": [lambda t, s: 1.0]},
            "events are looked for in one motion at a time",
        ),
    ],
)
def test_refused_arguments(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(lw.InputError, match=message):
        run(**changes)


def test_constrained_batches_are_bitwise_single_runs() -> None:
    model, state = four_bar()
    v = np.array([[0.0, 0.0, 0.0], [0.1, 0.2, 0.3], [0.5, 0.0, -0.5]])
    many = lw.simulate(model, lw.State(np.stack([state.q] * 3), v), 0.05)
    for k in range(3):
        one = lw.simulate(model, lw.State(state.q, v[k]), 0.05)
        assert np.array_equal(many.q[k], one.q)
        assert np.array_equal(many.v[k], one.v)
        assert many.forces is not None
        assert one.forces is not None
        assert np.array_equal(many.forces[k], one.forces)


# --- records ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("stepper", ALL_STEPPERS)
def test_records(stepper: str) -> None:
    start = lw.State(np.array([0.1, 0.2]), np.zeros(2), t=3.0)
    method = ALL_STEPPERS[stepper]().methods[0]
    all_of_it, some = (run(state=start, duration=0.02, every=every, method=method, stepper=stepper) for every in (1, 5))
    assert np.allclose(all_of_it.t, 3.0 + 1e-3 * np.arange(21))
    assert len(some) == 5
    assert all(np.array_equal(some.arrays[name], a[::5]) for name, a in all_of_it.arrays.items())
    assert np.allclose(some.q[0], start.q, rtol=0.0, atol=1e-15)
    assert some.final.t == some.t[-1]


def test_q_and_v_broadcast_to_one_batch() -> None:
    v = np.linspace(-1, 1, 6).reshape(3, 2)
    batch = run(state=lw.State(np.zeros(2), v))
    assert batch.q.shape == batch.v.shape == (3, 11, 2)
    assert np.abs(batch.q[1] - run(state=lw.State(np.zeros(2), v[1])).q).max() < 1e-15


@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_a_control_is_asked_once_per_step(method: str) -> None:
    asked = []

    def control(t: float, state: Any) -> np.ndarray:
        asked.append(t)
        return np.array([1.0, -2.0])

    free, held = run(control=control, method=method), run(tau=[1.0, -2.0], method=method)
    assert np.allclose(asked, 1e-3 * np.arange(10))
    assert np.abs(free.q - held.q).max() < 1e-14
    assert np.array_equal(free.tau[:-1], held.tau[:-1])


def test_a_control_of_a_constrained_model_is_asked_once_per_step() -> None:
    model, state = four_bar()
    asked = []
    lw.simulate(model, state, 4e-3, 1e-3, control=lambda t, s: asked.append(t) or np.zeros(3))
    assert np.allclose(asked, 1e-3 * np.arange(4))


def test_forces_begin_with_those_at_the_start() -> None:
    """At rest the loop carries what the acceleration demands, in both formulations."""
    model, state = four_bar()
    reduced, maximal = (lw.simulate(model, state, 2e-3, 1e-3, method) for method in ("reduced", "maximal"))
    assert np.abs(reduced.forces[0]).max() > 1.0
    assert np.allclose(reduced.forces[0], maximal.forces[0], atol=1e-8)
    assert np.allclose(reduced.forces[0], reduced.forces[1], atol=1e-6)  # the first step starts at rest


def test_forces_at_the_start_are_under_what_acted_there() -> None:
    """They are found when asked for: with the inputs and joint forces of the first step, whatever changed since."""
    model, state = four_bar()
    driven = model.add(lw.PDController(model.bodies[0].name, 5.0, 1.0, target=0.3))
    u, tau, q = lw.force_set(driven).initial_inputs, np.array([0.5, 0.0, -0.2]), state.q.copy()
    a = lw.simulate(driven, lw.State(q, state.v), 5e-3, 1e-3, inputs=lambda t: u + t)
    b = lw.simulate(driven, lw.State(q, state.v), 5e-3, 1e-3, tau=tau)
    expected = [lw.constrained_dynamics(driven, state.q, state.v, x)[1] for x in (None, tau.copy())]
    q += 1.0
    tau += 1.0
    for found, first in zip((a, b), expected, strict=True):
        assert found.forces is not None
        assert np.array_equal(found.forces[0], first)


def test_calls_with_equal_options_share_what_was_checked() -> None:
    model, start = ball()
    told = ("hard", "exact", (None, None, None))
    once, again, other, odd = (
        setting_of(model, 0.1, 1e-3, "reduced", None, 1, *told, options, False)
        for options in ({"evaluations": 1}, {"evaluations": 1}, {"evaluations": 2}, {"evaluations": True})
    )
    assert once is again
    assert once is not other
    assert once.stepper != other.stepper
    assert once is not odd
    assert len(lw.simulate(model, start, 0.1, evaluations=1)) == 101


def test_runs_that_follow_each_other_do_not_touch_each_other() -> None:
    """Their memory is used again: records, steps, threads and kinds of joint forces may change from run to run."""
    q = np.random.default_rng(0).normal(size=(40, 2))
    start = lw.State(q, np.zeros((40, 2)))
    first = run(state=start)
    kept = first.q.copy()
    for changes in ({"threads": 2, "duration": 0.02}, {}, {"every": 5}, {"threads": 2}, {"dt": 5e-4}, {"tau": [1.0, 0.0]}, {}):
        found = run(state=start, **changes)
        one = run(state=lw.State(q[7], np.zeros(2)), **changes)
        assert np.array_equal(found.q[7], one.q)
        assert np.array_equal(first.q, kept)
    assert np.array_equal(found.q, kept)


# --- health -----------------------------------------------------------------------------------------------------------
def test_health_of_each_kind_of_run() -> None:
    assert run().health.joint_gap is run().health.constraint_residual is run().health.penetration is None
    assert run(method="maximal").health.joint_gap < 1e-8
    assert run(external=np.ones((2, 6))).health.work_of == ("external wrenches",)
    model, state = four_bar()
    assert lw.simulate(model, state, 0.01).health.constraint_residual < 1e-6
    model, state = ball()
    assert lw.simulate(model, state, 0.01).health.penetration == 0.0


@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_health_of_a_batch_is_that_of_its_runs(method: str) -> None:
    """Rows of all kinds: a prescribed motion, a contact, a limit; and a spring."""
    moved = lw.PrescribedJoint("upper", lambda t: (0.1 * t, 0.1, 0.0))
    floor = lw.Contact("lower", lw.Sphere(0.1, (1, 0, 0)), "world", lw.Plane((0, 0, -0.3), (0, 0, 1)))
    model = arm().add(
        moved, floor, lw.SpringDamper("lower", "world", stiffness=20.0, rest_length=0.5), lw.Limit("lower", -1.0, 0.4)
    )
    q = np.array([[0.0, 0.0], [0.0, 0.2], [0.0, -0.3]])
    many = lw.simulate(model, lw.State(q, np.zeros(2)), 0.3, method=method)
    alone = [lw.simulate(model, lw.State(x, np.zeros(2)), 0.3, method=method).health for x in q]
    for name in ("energy_drift", "constraint_residual", "penetration", "limits", "work", "complementarity"):
        assert getattr(many.health, name) == pytest.approx(max(getattr(h, name) for h in alone), rel=1e-9, abs=1e-15), name
    assert set(many.health.work_of) == {name for h in alone for name in h.work_of}
    assert "prescribed motion" in many.health.work_of


def test_health_in_words() -> None:
    none = [None] * 4
    assert str(lw.Health(*none, True)) == "finite"
    assert str(lw.Health(*none, False)) == "NOT FINITE"
    assert str(lw.Health(0.25, None, 1e-3, None, True)) == "energy drift 0.25\nconstraint residual 0.001 m"
    assert str(lw.Health(0.25, *none[1:], False)) == "NOT FINITE\nenergy drift 0.25"
    assert repr(lw.Health(0.25, None, 1e-3, None, False)) == "Health(energy_drift=0.25, constraint_residual=0.001, finite=False)"


def test_where_the_energy_went_in_words() -> None:
    account = lw.Account(1.0, 3.0, -0.5, 4.0, {"joint forces": 4.0}, {"impacts": 1.5}, "symplectic_euler")
    assert account.words() == (
        "energy 1 J at the start, 3 J at the end",
        "came in: 4 J by joint forces",
        "went out: 1.5 J by impacts",
        "unexplained: 0.5 J, 12 % of the energy that moved, the error of the stepper 'symplectic_euler'",
    )
    damped = lw.Account(1.0, 0.5, -0.5, 1.0, stepper="backward_euler", damps=True)
    assert damped.rest == "numerical damping of the stepper 'backward_euler' took 0.5 J, 50 % of the energy that moved"
    assert damped.drift == 0.5


def falling(restitution: float, every: int = 1) -> lw.Trajectory:
    """A ball of 1 kg that falls 0.5 m."""
    b = lw.ModelBuilder()
    b.ground(friction=0.0, restitution=restitution)
    b.body("ball", joint=lw.Free(), shapes=[lw.Sphere(0.1, mass=1.0)])
    model = b.build()
    q = model.neutral()
    q[2] = 0.6
    return lw.simulate(model, lw.State(q, np.zeros(6)), 0.5, 1e-3, every=every)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_an_impact_takes_what_restitution_does_not_give_back(restitution: float) -> None:
    """m g h (1 - e^2), to the first order of the step; nothing is left that is not explained."""
    run = falling(restitution)
    assert run.work_of == ("impacts",)
    assert run.account.went_out["impacts"] == pytest.approx(9.81 * 0.5 * (1.0 - restitution**2), rel=0.02)
    assert run.health.energy_drift is not None
    assert run.health.energy_drift < 5e-3


def test_impacts_between_records_are_in_the_account() -> None:
    """All steps are looked at, whatever is recorded: the account is that of a run with all its records."""
    run, whole = falling(0.5, every=50), falling(0.5)
    assert run.every == 50
    assert run.work_of == ("impacts",)
    assert run.account.went_out == whole.account.went_out
    assert run.account.unexplained == whole.account.unexplained
    assert run.work[-1] == pytest.approx(whole.work[-1], rel=1e-12)
    assert np.allclose(run.work, whole.work[::50], rtol=1e-12, atol=1e-14)
    assert "-0" not in str(run.health)


def test_steps_that_nobody_saw_are_not_the_error_of_the_stepper() -> None:
    """Where what lies between records is not known, nothing is said to have come or gone by impacts, and the account says why."""
    run = replace(falling(0.5, every=50), steps=None)
    assert run.work_of == ()
    assert run.account.unexplained == pytest.approx(-9.81 * 0.5 * 0.75, rel=0.02)
    assert "impacts and other forces in the 50 steps from record to record, or the error of the stepper" in run.account.rest


def test_what_stands_still_has_no_drift() -> None:
    """Energies of rounding errors are compared with the weight of the model, not with each other."""
    b = lw.ModelBuilder()
    b.ground(friction=0.5)
    b.body("box", joint=lw.Free(), shapes=[lw.Box((0.2, 0.2, 0.2), mass=1.0)])
    model = b.build()
    q = model.neutral()
    q[2] = 0.1
    run = lw.simulate(model, lw.State(q, np.zeros(6)), 0.2, 1e-3)
    assert run.health.energy_drift is not None
    assert run.health.energy_drift < 1e-6


@pytest.mark.parametrize("control", [None, lambda t, s: np.zeros(2)], ids=["free", "controlled"])
@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_a_run_that_blows_up_stops_and_keeps_what_was_computed(method: str, control: Any) -> None:
    start = lw.State([0.0, 1.0], [1e4, -1e4])
    with pytest.raises(lw.SolverError, match=r"not finite at t = [\d.]+: body 'upper', joint 'upper'") as lost:
        run(state=start, duration=20.0, dt=0.5, method=method, control=control)
    kept = lost.value.trajectory
    assert 1 < len(kept) < 41
    assert np.isfinite(kept.v).all()
    assert f"t = {kept.t[-1] + 0.5:.9g}" in str(lost.value)


def test_of_a_batch_the_others_go_on() -> None:
    start = lw.State(np.array([[0.0, 0.1], [0.0, 1.0]]), np.array([[0.0, 0.0], [1e4, -1e4]]))
    with pytest.raises(lw.SolverError, match="of 1 of the 2 runs, first of run 1, is not finite") as lost:
        run(state=start, duration=5.0, dt=0.05)
    assert np.isfinite(lost.value.trajectory.v[0]).all()
    assert not lost.value.trajectory.health.finite


@pytest.mark.parametrize("method", ["reduced", "maximal"])
@pytest.mark.parametrize("tau", [None, [3.0, -1.0]])
def test_energy_accounts_for_drives_damping_and_joint_forces(method: str, tau: Any) -> None:
    """A damped arm with heavy drives loses most of its energy; the balance closes to the error of the method."""
    model, start = arm(armature=0.7, damping=0.8), lw.State([0.5, -0.3], [2.0, 1.0])
    e = lw.energy(model, start)
    M = lw.mass_matrix(model, start.q)
    assert np.isclose(e.kinetic, 0.5 * start.v @ M @ start.v)
    assert np.isclose(lw.energy(model, lw.to_maximal(model, start)).kinetic, e.kinetic)
    coarse, fine = (run(model=model, state=start, duration=2.0, dt=dt, method=method, tau=tau).health for dt in (2e-3, 1e-3))
    assert fine.energy_drift < 3e-3
    assert abs(fine.energy_drift / coarse.energy_drift - 0.5) < 0.1
    exact = run(model=model, state=start, duration=2.0, dt=1e-3, tau=tau, stepper="rk4").health
    assert exact.energy_drift < 1e-6  # of the trapezoidal rule


def test_energy_of_a_batch_is_that_of_its_runs() -> None:
    model = arm(armature=0.2, damping=0.1)
    v = np.linspace(-1, 1, 6).reshape(3, 2)
    batch = run(model=model, state=lw.State(np.zeros(2), v))
    alone = [run(model=model, state=lw.State(np.zeros(2), x)) for x in v]
    assert np.allclose(batch.energy.total, [r.energy.total for r in alone])
    assert np.isclose(batch.health.energy_drift, max(r.health.energy_drift for r in alone))


# --- saving -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["run.docx", "run"])
def test_unknown_suffixes_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(lw.InputError, match=r"cannot save a trajectory as .*; use \.npz"):
        run().save(tmp_path / name)
    assert not list(tmp_path.iterdir())
