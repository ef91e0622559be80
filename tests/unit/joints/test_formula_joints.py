"""Joints from formulas: parameters are run-time data, domains hold, periods close, subspaces that lose rank are named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from models import control_frames, control_values

import linkwork as lw

BALL = lw.Inertia.sphere(1.0, 0.1)
NAN = float("nan")


def screw(pitch: float, **region: Any) -> lw.Joint:
    return lw.joint(
        lambda q, pitch: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0.1, 0, pitch * q[0])), 1, "screw", parameters={"pitch": pitch}, **region
    )


def on_sphere(q: Any) -> lw.SE3:
    """A point on the unit sphere by longitude and latitude, without turning: S loses rank at the poles."""
    return lw.SE3(p=(np.sin(q[1]) * np.cos(q[0]), np.sin(q[1]) * np.sin(q[0]), np.cos(q[1])))


def one(joint: lw.Joint) -> lw.Model:
    return lw.ModelBuilder().body("b", joint=joint, joint_name="j", inertia=BALL).build()


# --- parameters -----------------------------------------------------------------------------------------------------------
def test_joints_that_differ_in_parameters_share_kernels() -> None:
    builder, helical = lw.ModelBuilder(), lw.ModelBuilder()
    for i in range(40):
        parent = "world" if i % 10 == 0 else f"b{i - 1}"
        builder.body(f"b{i}", parent=parent, joint=screw(0.01 * (i - 17)), inertia=BALL)
        pair = lw.Composite(lw.Helical(pitch=0.01 * (i - 17)), lw.Fixed(), lw.SE3(p=(0.1, 0, 0)))
        helical.body(f"b{i}", parent=parent, joint=pair, inertia=BALL)
    model = builder.build()
    assert len({id(c) for c in model.tree.classes}) == 1
    q, v = model.random_configuration(1), np.linspace(-1.0, 1.0, model.nv)
    expected = lw.forward_dynamics(helical.build(), q, v)
    assert np.abs(lw.forward_dynamics(model, q, v) - expected).max() < 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("how", ["parameter", "closure", "global"])
def test_what_a_function_refers_to_is_never_mistaken(how: str) -> None:
    """Functions of one piece of code compute different things where what they refer to differs."""
    space: dict[str, Any] = {"lw": lw}
    made = []
    for pitch in (0.1, 0.2):
        space["PITCH"] = pitch
        if how == "parameter":
            made.append(screw(pitch))
        elif how == "closure":
            made.append(lw.joint(lambda q, k=pitch: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0, 0, k * q[0])), 1))
        else:
            joint = lw.joint(eval("lambda q: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0, 0, PITCH * q[0]))", space), 1)
            made.append(joint)
        assert lw.kinematics(one(made[-1]), np.array([1.0])).poses[0, 2, 3] == pytest.approx(pitch)
    assert (made[0].signature == made[1].signature) == (how == "parameter")


def test_variants_take_parameters_of_joints() -> None:
    model = one(screw(0.1))
    other = model.with_parameters({"b": {"pitch": 0.3, "mass": 2.0}})
    assert lw.kinematics(other, np.array([1.0])).poses[0, 2, 3] == pytest.approx(0.3)
    assert other.bodies[0].inertia.mass == 2.0
    with pytest.raises(lw.ModelError, match=r"'lead' cannot be changed here; these can: .*pitch"):
        model.with_parameters({"b": {"lead": 0.3}})


# --- domains and periods ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("domain", [(-3.0, 0.5), (2.0, 3.0), (None, -1.0), (1.0, None), [(None, 4.0)], None])
def test_random_positions_keep_to_the_domain(domain: Any) -> None:
    model = one(screw(0.1, domain=domain))
    joint = model.bodies[0].joint
    drawn = np.array([model.random_configuration(seed) for seed in range(50)])
    assert joint.inside(drawn).all()
    assert joint.inside(joint.neutral())
    assert np.ptp(drawn) > 0.5


RUNS: dict[str, dict[str, Any]] = {
    "reduced": {},
    "rk4": {"stepper": "rk4"},
    "dop853": {"stepper": "dop853"},
    "maximal": {"method": "maximal"},
    "maximal-implicit": {"method": "maximal-implicit"},
    "redmax": {"method": "redmax"},
    "bdf2": {"method": "redmax", "stepper": "bdf2"},
    "variational": {"stepper": "variational"},
    "control": {"control": lambda t, state: np.zeros(1)},
}


@pytest.mark.parametrize("how", RUNS)
def test_a_run_that_leaves_the_domain_is_stopped(how: str) -> None:
    model = one(screw(0.5, domain=(-3.0, 3.0)))
    with pytest.raises(lw.SolverError, match=r"joint 'j' left its domain at t = 0.6\d*: its coordinate 0 = -3.* outside") as stop:
        lw.simulate(model, lw.State([0.0], [1.0]), 2.0, 1e-2, **RUNS[how])
    if how != "dop853":
        run = stop.value.trajectory
        assert 55 < len(run) < 70
        assert (np.abs(run.q) <= 3.0).all()


def test_a_composite_and_a_simulator_stop_too() -> None:
    model = one(lw.Composite(lw.Prismatic((1, 0, 0)), screw(0.5, domain=(-3.0, 3.0))))
    sim = lw.Simulator(model, lw.State([0.0, 0.0], [0.0, 1.0]), dt=1e-2)
    with pytest.raises(lw.SolverError, match=r"joint 'j' left its domain at t = 0.7"):
        sim.step(70)
    batch = lw.State(np.zeros((3, 2)), np.array([[0, 0], [0, 1.0], [0, 0]]))
    with pytest.raises(lw.SolverError, match=r"joint 'j' left its domain .* in run 1 of 3"):
        lw.simulate(model.replace(gravity=(0, 0, 0)), batch, 3.5, 1e-2)


def closed_by(joint: lw.Joint) -> lw.Model:
    """A free body that a joint holds to the world."""
    return (
        lw.ModelBuilder()
        .body("b", joint=lw.Free(), inertia=lw.Inertia.sphere(1.0, 0.1))
        .add(lw.Closure(joint, "world", "b"))
        .build()
    )


def on_thread(x: float, rate: float, pitch: float) -> tuple[np.ndarray, np.ndarray]:
    """q and v of a free body on the thread of a screw."""
    q = np.array([0.1 * np.cos(x), 0.1 * np.sin(x), pitch * x, np.cos(0.5 * x), 0, 0, np.sin(0.5 * x)])
    return q, rate * np.array([0, 0, 1.0, 0, 0.1, pitch])


@pytest.mark.parametrize("how", ["reduced", "dop853", "maximal", "control"])
def test_the_joint_of_a_closure_has_its_domain(how: str) -> None:
    """Its coordinate is no part of the state; a run stops where it leaves the domain all the same."""
    how_run = RUNS[how] | ({"control": lambda t, state: np.zeros(6)} if how == "control" else {})
    model, said = closed_by(screw(0.5, domain=(-3.0, 3.0))), r"Closure\(.* left its domain at t = 0.6\d*: its coordinate 0 = -3"
    with pytest.raises(lw.SolverError, match=said) as stop:
        lw.simulate(model, lw.State(*on_thread(0.0, 1.0, 0.5)), 2.0, 1e-2, **how_run)
    if how != "dop853":
        assert 55 < len(stop.value.trajectory) < 70


@pytest.mark.parametrize("stepper", ["dop853", "ode45"])
@pytest.mark.parametrize("control", [None, lambda t, state: np.zeros(state.v.shape)], ids=["alone", "control"])
def test_steps_that_are_too_long_do_not_lead_closures_astray(stepper: str, control: Any) -> None:
    """A coordinate that is looked for in a step which is given up is not where the next one begins."""
    how: dict[str, Any] = {"stepper": stepper, "rtol": 1e-9, "atol": 1e-11, "control": control}
    by_loop = lw.simulate(closed_by(screw(0.5)), lw.State(*on_thread(0.0, 1.0, 0.5)), 1.0, 0.1, **how)
    b = lw.ModelBuilder().body("b", joint=screw(0.5), inertia=lw.Inertia.sphere(1.0, 0.1))
    as_joint = lw.simulate(b.build(), lw.State([0.0], [1.0]), 1.0, 0.1, **how)
    assert np.abs(by_loop.q[:, 2] - 0.5 * as_joint.q[:, 0]).max() < 1e-7


def test_closures_of_batches_and_simulators_have_their_domains() -> None:
    lw.simulate(closed_by(screw(0.5)), lw.State(*on_thread(0.0, 1.0, 0.5)), 1.0, 1e-2)  # without one it goes on
    model = closed_by(screw(0.5, domain=(-3.0, 3.0)))
    sim = lw.Simulator(model, lw.State(*on_thread(2.0, 1.0, 0.5)), dt=1e-2)
    for _ in range(30):
        sim.step()
    with pytest.raises(lw.SolverError, match=r"Closure\(.* left its domain at t = 1: its coordinate 0 = -"):
        sim.step(70)
    pairs = [on_thread(0.0, rate, 0.5) for rate in (0.0, 1.0, 0.5)]
    batch = lw.State(*(np.array(x) for x in zip(*pairs, strict=True)))
    with pytest.raises(lw.SolverError, match=r"left its domain .* in run 1 of 3: its coordinate 0 = 3"):
        lw.simulate(model.replace(gravity=(0, 0, 0)), batch, 3.5, 1e-2)
    with pytest.raises(lw.InputError, match=r"Closure\(.* at the start: its coordinate 0 = 4 is outside its domain \[-3, 3\]"):
        lw.simulate(model, lw.State(*on_thread(4.0, 0.0, 0.5)), 0.1)


def test_a_start_outside_the_domain_is_refused() -> None:
    with pytest.raises(lw.InputError, match=r"state.q at joint 'j': its coordinate 0 = 4 is outside its domain"):
        lw.simulate(one(screw(0.5, domain=(-3.0, 3.0))), lw.State([4.0], [0.0]), 0.1)


def test_differences_go_the_short_way_round() -> None:
    ring = lw.joint(lambda q: lw.SE3.rot_z(0.5 * q[0]) @ lw.SE3(p=(1, 0, 0.1 * q[1])), 2, "ring", periodic=(4 * np.pi, None))
    model = one(ring)
    a, b = np.array([6.0, 9.0]), np.array([-6.0, -9.0])
    expected = np.array([4 * np.pi - 12.0, -18.0])
    assert np.allclose(ring.difference(a, b), expected, atol=1e-14)
    assert np.allclose(model.difference(a, b), expected, atol=1e-14)
    assert np.allclose(model.integrate(a, np.array([10.0, 1.0])), [16.0, 10.0])  # turns are counted
    drawn = np.array([model.random_configuration(s)[0] for s in range(60)])
    assert np.abs(drawn).max() <= 2 * np.pi < 1.3 * np.abs(drawn).max()


def test_springs_of_periodic_joints_wind_up() -> None:
    """Their energy has no edge half a turn away."""
    wheel = lw.joint(lambda q: lw.SE3.rot_z(q[0]), 1, "wheel", periodic=True)
    springs = [lw.JointSpring("b", stiffness=2.0, rest=0.0)]
    model, plain = one(wheel).add(*springs), one(lw.Revolute((0, 0, 1))).add(*springs)
    q = np.array([[3.1], [3.2], [9.0]])
    assert np.allclose(lw.forward_dynamics(model, q, 0 * q), lw.forward_dynamics(plain, q, 0 * q), rtol=1e-14)


# --- subspaces that lose rank -------------------------------------------------------------------------------------------------
def test_a_subspace_that_loses_rank_is_named() -> None:
    model = one(lw.joint(on_sphere, 2, "sphere"))
    assert model.notes == ("joint 'j': its motion subspace loses rank at the neutral position; start elsewhere",)
    for q in ([0.3, 0.0], [0.3, np.pi]):
        with pytest.raises(lw.InputError, match=r"the motion subspace of joint 'j' has a rank below 2 at q = \[0.3"):
            lw.simulate(model, lw.State(q, [0.0, 0.0]), 0.1)
    lw.simulate(model, lw.State([0.3, 1e-3], [0.0, 1.0]), 0.1)
    two = lw.State(np.array([[0.3, 1.0], [0.3, 0.0]]), np.zeros((2, 2)))
    with pytest.raises(lw.InputError, match=r"has a rank below 2 at q = \[0.3, 0.0\]"):
        lw.simulate(model, two, 0.1)


def test_a_run_into_a_loss_of_rank_names_the_joint() -> None:
    """A cusp: the speed of the curve (q^3, q^2) vanishes at zero."""
    cusp = lw.joint(lambda q: lw.SE3(p=(q[0] ** 3, 0, q[0] ** 2)), 1, "cusp")
    model = one(cusp)
    run = lw.simulate(model, lw.State([-1.0], [0.0]), 1.0, 1e-3, limit_model="off")
    assert any("'j'" in name for _, names in run.health.singular for name in names)


# --- bad input ------------------------------------------------------------------------------------------------------------------
def counting() -> Callable[[Any], lw.SE3]:
    calls = [0]

    def transform(q: Any) -> lw.SE3:
        calls[0] += 1
        return lw.SE3.rot_z(q[0] + 0.01 * calls[0])

    return transform


def rot(q: Any, **k: Any) -> lw.SE3:
    return lw.SE3.rot_z(q[0])


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "not rigid somewhere": (
        lambda: lw.joint(lambda q: lw.SE3(R=np.eye(3) * (1.0 + lw.math.maximum(q[0] - 0.5, 0.0))), 1, "odd"),
        r"joint 'odd': transform\(.*\) is not a rigid transform: its R is not a rotation",
    ),
    "nan somewhere": (
        lambda: lw.joint(lambda q: lw.SE3(p=(np.sqrt(q[0]), q[0], 0)), 1, "odd"),
        r"joint 'odd': .* is not (a rigid transform: it is not )?finite",
    ),
    "nan in the domain": (
        lambda: lw.joint(lambda q: lw.SE3(p=(1.0 / q[0] * q[0] * NAN, 0, 0)), 1, "odd", domain=(1, 2)),
        "joint 'odd': .* it is not finite",
    ),
    "another source": (
        lambda: lw.joint(counting(), 1, "odd"),
        "joint 'odd': .* differs from call to call; it must depend on q alone",
    ),
    "random": (lambda: lw.joint(lambda q: lw.SE3.rot_z(q[0] + np.random.rand()), 1), "must depend on q alone"),
    "never independent": (
        lambda: lw.joint(lambda q: lw.SE3.rot_z(q[0] + q[1]), 2, "odd"),
        "joint 'odd': its 2 coordinates do not move it independently",
    ),
    "domain empty": (lambda: lw.joint(rot, 1, "odd", domain=(2, 2)), "joint 'odd': of its domain .* must be below the largest"),
    "domain shape": (
        lambda: lw.joint(rot, 1, domain=(1, 2, 3)),
        r"domain must be \(least, largest\), or 1 such pairs, not \(1, 2, 3\)",
    ),
    "domain words": (lambda: lw.joint(rot, 1, domain=("a", "b")), "domain must be"),
    "domain nan": (lambda: lw.joint(rot, 1, domain=(NAN, 1)), "domain must be"),
    "period zero": (lambda: lw.joint(rot, 1, periodic=0.0), "periodic must be a length above zero, True"),
    "period negative": (lambda: lw.joint(rot, 1, periodic=-1.0), "periodic must be"),
    "period too many": (lambda: lw.joint(rot, 1, periodic=(1.0, 2.0)), "periodic must be"),
    "period of words": (lambda: lw.joint(rot, 1, periodic="round"), "periodic must be"),
    "period that is none": (
        lambda: lw.joint(rot, 1, "odd", periodic=3.0),
        r"joint 'odd': one period \(3\) of coordinate 0 on, its",
    ),
    "both": (lambda: lw.joint(rot, 1, "odd", periodic=True, domain=(0, 1)), "coordinate 0 has a period, so it has no domain"),
    "parameter unknown": (
        lambda: lw.joint(lambda q: lw.SE3.rot_z(q[0]), 1, "odd", parameters={"k": 1.0}),
        "joint 'odd': no function has an argument for the parameter 'k'",
    ),
    "parameter missing": (
        lambda: lw.joint(lambda q, k: lw.SE3.rot_z(k * q[0]), 1, "odd"),
        r"joint 'odd': transform\(q\) failed for q = .*missing 1 required positional argument: 'k'",
    ),
    "parameter nan": (lambda: lw.joint(rot, 1, "odd", parameters={"k": NAN}), "joint 'odd': parameter 'k' must be finite"),
    "parameter reserved": (lambda: lw.joint(rot, 1, parameters={"period": 1.0}), "'period' cannot be a parameter"),
}


FRAMES = control_frames(0, 6)
GRID = control_values(0, 5, 5)
HALF = [lw.SE3(p=(k, 0, 0)) @ lw.SE3.rot_z(np.pi * k) for k in range(5)]
REFUSED |= {
    "spline of three frames": (
        lambda: lw.SplineCurve(FRAMES[:3]),
        "SplineCurve: 3 control values are too few; .* needs 4",
    ),
    "closed spline of two": (lambda: lw.SplineCurve(FRAMES[:2], cyclic=True), "2 control values are too few; the basis needs 3"),
    "no frames": (lambda: lw.SplineCurve([]), "0 control values are too few"),
    "frames coincide": (
        lambda: lw.SplineCurve([*FRAMES[:3], FRAMES[2], *FRAMES[3:]]),
        "SplineCurve: frames 2 and 3 coincide; neighbours must differ",
    ),
    "all frames coincide": (lambda: lw.SplineCurve([FRAMES[0]] * 5), "frames 0 and 1 coincide"),
    "closed frames coincide": (lambda: lw.SplineCurve([*FRAMES, FRAMES[0]], cyclic=True), "frames 6 and 0 coincide"),
    "half a turn": (lambda: lw.SplineCurve(HALF), "frames 0 and 1 are half a turn apart"),
    "frame not rigid": (lambda: lw.SplineCurve([*FRAMES, 2.0 * np.eye(4)]), "frame 6 is not a rigid transform"),
    "frame of another shape": (lambda: lw.SplineCurve([*FRAMES, np.eye(3)]), r"frame 6 must be a SE3 or an array \(4, 4\)"),
    "frame nan": (lambda: lw.SplineCurve([*FRAMES, NAN * np.eye(4)]), "frame 6 must be a SE3 or an array"),
    "one frame": (lambda: lw.SplineCurve(lw.SE3()), "frames must be a list of SE3 or of arrays"),
    "bezier frames": (
        lambda: lw.SplineCurve(FRAMES, basis="bezier"),
        "6 control values end within a segment of 3; 1 more",
    ),
    "basis": (
        lambda: lw.SplineCurve(FRAMES, basis="cubic"),
        "basis must be one of 'bspline', 'bezier', 'catmull-rom'",
    ),
    "basis sums": (lambda: lw.SplineBasis(((1, 0), (0, 1))), "the weights must sum to one at every u"),
    "basis stride": (lambda: lw.SplineBasis(((1, -1), (0, 1)), 2), "the stride must be from 1 to 1, not 2"),
    "surface of five": (lambda: lw.SplineSurface(GRID[:5]), r"values must be finite numbers \(6, n\).*not of shape \(5, 5, 5\)"),
    "surface small": (lambda: lw.SplineSurface(GRID[:, :3]), "SplineSurface: 3 control values are too few"),
    "surface nan": (lambda: lw.SplineSurface(GRID * NAN), "values must be finite numbers"),
    "surface still": (lambda: lw.SplineSurface(0.0 * GRID), "SplineSurface: its 2 coordinates do not move it independently"),
    "surface of one motion": (
        lambda: lw.SplineSurface(np.broadcast_to(GRID[:, :1], GRID.shape)),
        "its 2 coordinates do not move it independently",
    ),
    "surface cyclic": (lambda: lw.SplineSurface(GRID, cyclic=(True,)), "cyclic must be True or False, or 2 of these"),
    "spline domain": (lambda: lw.SplineCurve(FRAMES, domain=(3, 1)), "SplineCurve: of its domain"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_formulas_are_refused_by_name(what: str) -> None:
    make, rule = REFUSED[what]
    with np.errstate(all="ignore"), pytest.raises(lw.ModelError, match=rule):
        make()


# --- functions of NumPy ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (lambda q: np.hypot(q[0], 0.3), lambda q: np.sqrt(q[0] * q[0] + 0.09)),
        (lambda q: np.hypot(0.3, q[0]), lambda q: np.sqrt(q[0] * q[0] + 0.09)),
        (lambda q: np.deg2rad(40.0 * q[0]), lambda q: q[0] * (40.0 * np.pi / 180.0)),
        (lambda q: np.degrees(q[0] / 60.0), lambda q: q[0] * (3.0 / np.pi)),
        (lambda q: q[0] % 0.5, lambda q: q[0]),
        (lambda q: np.mod(q[0], 0.5), lambda q: q[0]),
        (lambda q: 1.0 % (1.0 + q[0] * q[0]) + q[0], lambda q: 1.0 + q[0]),
    ],
)
def test_functions_of_angles(written: Callable[..., Any], meant: Callable[..., Any]) -> None:
    """The same accelerations as by what they mean."""
    off = lw.Inertia(1.0, (0.1, 0.2, 0.3), np.eye(3))
    a, b = (
        lw.forward_dynamics(
            lw.ModelBuilder().body("b", joint=lw.joint(lambda q, f=f: lw.SE3.rot_x(f(q)), 1), inertia=off).build(), [0.4], [0.7]
        )
        for f in (written, meant)
    )
    assert np.allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(
    ("f", "advice"),
    [
        (lambda q: np.where(q[0] > 0, q[0], 2 * q[0]), "use lw.math.where instead of np.where"),
        (lambda q: np.cbrt(q[0]), "np.cbrt does not take traced values; use np.sign"),
        (lambda q: np.linalg.inv(np.eye(2) * (2 + q[0]))[0, 0], "np.linalg.inv does not take traced values; use lw.math"),
    ],
)
def test_functions_that_have_another_name_here(f: Callable[..., Any], advice: str) -> None:
    with pytest.raises(lw.LinkworkError, match=advice):
        lw.joint(lambda q: lw.SE3.rot_x(f(q)), 1)


def test_a_slope_that_is_not_finite_says_what_to_do(recwarn: pytest.WarningsRecorder) -> None:
    def on_ray(q: Any) -> lw.SE3:
        return lw.SE3(p=(q[0], q[1], 0.0)) @ lw.SE3.rot_z(lw.math.atan2(q[1], q[0]))

    with pytest.raises(
        lw.ModelError, match=r"the slope of transform\(\[0.0, 0.0\]\) is not finite; leave the place out by a domain"
    ):
        lw.joint(on_ray, 2)
    assert not recwarn.list
    assert lw.joint(on_ray, 2, domain=((0.1, 3.0), (-2.0, 2.0))).nv == 2
