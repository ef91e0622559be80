"""Programs of hyper-reduced coordinates: their steps against the equation of motion of r, eagerly, in batches, with all laws."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.elements.collection import collection
from linkwork.kernel import eager
from linkwork.redmax.hyper_program import hyper_tree
from linkwork.steppers.hyper_reduced import STEPPERS, hyper_stepper

LINKS = 5
ROD = lw.Inertia.cuboid(mass=1.0, size=(0.5, 0.05, 0.05), com=(0.25, 0, 0))
R, R_DOT = np.array([0.3, 0.8]), np.array([1.1, -0.6])
TAU = np.linspace(-0.4, 0.5, LINKS)
RUNS = [(name, method) for method, names in STEPPERS.items() for name in names]
PUSHING = [run for run in RUNS if run[0] in ("symplectic_euler", "rk4", "linearly_implicit")]


def curved(r: Any) -> list[Any]:
    """Five angles from two numbers."""
    return [r[0], np.sin(r[1]), r[0] * r[1], 0.5 * r[0] ** 2, r[1] - np.cos(r[0])]


def tip(r: np.ndarray = R) -> np.ndarray:
    return lw.kinematics(chain(), np.array(curved(r))).poses[-1] @ np.array([0.5, 0, 0, 1.0])


def asked(t: float) -> tuple[float, float, float]:
    """A motion that Python alone can compute; from R and R_DOT of the first hinge."""
    t = float(t)
    return R[0] + R_DOT[0] * t - t * t, R_DOT[0] - 2 * t, -2.0


LAWS: dict[str, Any] = {
    "bare": lambda: [],
    "springs": lambda: [
        lw.JointSpring("link1", 5.0, damping=0.1),
        lw.SpringDamper("link4", point_b=(0.3, 0, -1), stiffness=40.0, damping=0.5, rest_length=0.7),
    ],
    "rod": lambda: [lw.constraint("link4", lambda E, l: lw.math.norm(E[0].p) - l, parameters={"l": length()})],
    "motion": lambda: [lw.PrescribedJoint("link0", asked)],
    "stop": lambda: [lw.Limit("link0", -1.0, 0.35), lw.JointSpring("link2", 5.0)],
    "floor": lambda: [lw.Contact("link4", lw.Sphere(0.05, (0.5, 0, 0)), "world", lw.Plane((0, 0, tip()[2] - 0.07), (0, 0, 1)))],
    "friction": lambda: [lw.DryFriction("link0", 0.3)],
}
EQUAL = ("bare", "springs", "rod", "motion")


def length() -> float:
    return float(np.linalg.norm(lw.kinematics(chain(), np.array(curved(R))).poses[-1, :3, 3]))


@cache
def chain(laws: str = "bare") -> lw.Model:
    b = lw.ModelBuilder()
    for k in range(LINKS):
        parent, place = (f"link{k - 1}", (0.5, 0.1, 0)) if k else ("world", (0, 0.1, 0))
        drive = {"damping": 0.2, "armature": 0.05}
        b.body(f"link{k}", parent=parent, joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=place), inertia=ROD, **drive)
    for law in LAWS[laws]() if laws != "bare" else []:
        b.add(law)
    return b.build()


@cache
def hyper(laws: str) -> lw.HyperReduced:
    return lw.HyperReduced(chain(laws), curved, nr=2)


@cache
def start(laws: str) -> lw.State:
    """Where constraints hold: of the rod, with the velocity along it removed."""
    if laws != "rod":
        return lw.State(R, R_DOT)
    h = 1e-6
    slope = [(np.linalg.norm(at(R + h * d)) - np.linalg.norm(at(R - h * d))) / (2 * h) for d in np.eye(2)]
    return lw.State(R, np.array([-slope[1], slope[0]]) / np.linalg.norm(slope))


def at(r: np.ndarray) -> np.ndarray:
    return lw.kinematics(chain(), np.array(curved(r))).poses[-1, :3, 3]


def simulate(laws: str, stepper: str, method: str, dt: float, duration: float | None = None, **how: Any) -> lw.Trajectory:
    return lw.simulate(hyper(laws), how.pop("state", start(laws)), duration or dt, dt, method, stepper=stepper, **how)


def r_of(laws: str, state: lw.State) -> lw.State:
    return hyper(laws).fit(state, R)


@pytest.mark.parametrize("laws", EQUAL[:2])
def test_explicit_steps_have_the_accelerations_of_r(laws: str) -> None:
    """Against the dense equation, which is computed apart."""
    h, s = 1e-2, start(laws)
    a = hyper(laws).forward_dynamics(s.q, s.v, TAU)
    euler = r_of(laws, simulate(laws, "symplectic_euler", "reduced", h, tau=TAU, evaluations=0).final)
    np.testing.assert_allclose(euler.v, s.v + h * a, rtol=1e-10)
    np.testing.assert_allclose(euler.q, s.q + h * (s.v + h * a), rtol=1e-10)

    def slope(y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[2:], hyper(laws).forward_dynamics(y[:2], y[2:], TAU)])

    y = np.concatenate([s.q, s.v])
    k1 = slope(y)
    k2 = slope(y + h / 2 * k1)
    k3 = slope(y + h / 2 * k2)
    expected = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(y + h * k3))
    end = r_of(laws, simulate(laws, "rk4", "reduced", h, tau=TAU).final)
    np.testing.assert_allclose(np.concatenate([end.q, end.v]), expected, rtol=1e-10)


@pytest.mark.parametrize("laws", EQUAL[:2])
def test_implicit_stages_solve_the_equation_at_their_end(laws: str) -> None:
    h, s = 1e-2, start(laws)
    run = simulate(laws, "bdf1", "redmax", h, 2 * h, tau=TAU)
    states = [s, *(r_of(laws, run[k]) for k in (1, 2))]
    for before, after in pairwise(states):
        np.testing.assert_allclose((after.q - before.q) / h, after.v, rtol=1e-9)
        a = hyper(laws).forward_dynamics(after.q, after.v, TAU)
        np.testing.assert_allclose((after.v - before.v) / h, a, rtol=1e-8)
    run = simulate(laws, "bdf2", "redmax", h, 2 * h, tau=TAU)
    s0, s1, s2 = s, r_of(laws, run[1]), r_of(laws, run[2])
    np.testing.assert_allclose((3 * s2.q - 4 * s1.q + s0.q) / (2 * h), s2.v, rtol=1e-9)
    np.testing.assert_allclose((3 * s2.v - 4 * s1.v + s0.v) / (2 * h), hyper(laws).forward_dynamics(s2.q, s2.v, TAU), rtol=1e-8)


@pytest.mark.parametrize(("stepper", "method"), RUNS)
@pytest.mark.parametrize("laws", EQUAL)
def test_order_under_every_law(laws: str, stepper: str, method: str) -> None:
    order = {"rk4": 4, "bdf2": 2, "sdirk2": 2}.get(stepper, 1)
    exact = simulate(laws, "rk4", "reduced", 0.1 / 160, 0.1).q[-1]
    counts = (8, 16) if order == 4 else (80, 160)
    runs = [simulate(laws, stepper, method, 0.1 / n, 0.1) for n in counts]
    coarse, fine = (np.abs(run.q[-1] - exact).max() for run in runs)
    assert fine < {4: 1e-6, 2: 1e-3, 1: 2e-2}[order]
    assert np.log2(coarse / fine) > order - 0.3 or fine < 1e-12
    residual = runs[1].health.constraint_residual
    implicit = stepper in ("bdf1", "bdf2", "sdirk2")
    assert residual is None or residual < (1e-12 if implicit else 1e-7 if stepper == "rk4" else 1e-4)


BOUNDED = [(laws, *run) for laws in ("stop", "floor") for run in PUSHING] + [("friction", *run) for run in RUNS]


@pytest.mark.parametrize(("laws", "stepper", "method"), BOUNDED)
def test_pushes(laws: str, stepper: str, method: str) -> None:
    """All agree, better with smaller steps; nothing passes a stop, and only pushes act."""
    truth = simulate(laws, "rk4", "reduced", 1e-4, 0.2).q[-1]
    coarse, fine = (simulate(laws, stepper, method, dt, 0.2) for dt in (2e-3, 5e-4))
    errors = [np.abs(run.q[-1] - truth).max() for run in (coarse, fine)]
    assert errors[1] < 1e-2
    assert errors[1] < 0.5 * errors[0] or errors[1] < 5e-4, errors  # where in a step it touches decides about the length of one
    if laws == "friction":
        assert np.abs(fine.forces).max() <= 0.3 + 1e-12
    else:
        assert fine.forces.min() >= 0.0
        assert fine.forces.max() > 0.1
        assert (fine.health.limits if laws == "stop" else fine.health.penetration) < 1e-4


@pytest.mark.parametrize(("stepper", "method"), RUNS)
@pytest.mark.parametrize("laws", LAWS)
def test_a_batch_is_its_runs(laws: str, stepper: str, method: str) -> None:
    if laws in ("stop", "floor") and (stepper, method) not in PUSHING:
        with pytest.raises(lw.InputError, match="cannot step contacts or limits"):
            simulate(laws, stepper, method, 1e-3)
        return
    v = start(laws).v * np.linspace(1.0, 1.3 if laws in ("bare", "springs", "stop") else 1.0, 11)[:, None]
    state = lw.State(np.tile(start(laws).q, (11, 1)), v)
    batch = simulate(laws, stepper, method, 5e-3, 0.05, state=state, threads=2, tau=TAU)
    assert batch.q.shape == (11, 11, LINKS)
    for k in (0, 7):
        alone = simulate(laws, stepper, method, 5e-3, 0.05, state=lw.State(state.q[k], v[k]), tau=TAU)
        assert np.array_equal(batch.q[k], alone.q)
        assert np.array_equal(batch.v[k], alone.v)
        assert alone.forces is None or np.array_equal(batch.forces[k], alone.forces)


@pytest.mark.parametrize(("stepper", "method"), RUNS)
@pytest.mark.parametrize("laws", LAWS)
def test_the_program_run_eagerly(laws: str, stepper: str, method: str) -> None:
    if laws in ("stop", "floor") and (stepper, method) not in PUSHING:
        return
    system, s, h = hyper(laws), start(laws), 1e-2
    chosen = hyper_stepper(system, method, stepper, {})
    program, full = chosen.program(method, system.model), system.full(s)
    kept = program.entered(system.model, {"q": full.q[None], "v": full.v[None]}, 0.0)
    inputs = kept | program.given(system.model, h) | {"tau": TAU, "r": s.q, "r_dot": s.v}
    c = collection(system.model)
    if c.told_count:
        inputs["told"] = np.concatenate([c.told_at(x * h) for x in program.times])
    found = eager.run(program.algorithm, hyper_tree(system.model, system.map, len(chosen.nodes)), inputs)
    run = simulate(laws, stepper, method, h, tau=TAU)
    for name in ("q", "v"):
        np.testing.assert_allclose(found[name], run.arrays[name][-1], rtol=1e-10, atol=1e-12)


def test_declared_limits_stop_a_mapped_chain() -> None:
    b = lw.ModelBuilder()
    b.body("upper", joint=lw.Revolute((0, 1, 0)), inertia=ROD, limits=(-1.0, 0.5))
    b.body("lower", parent="upper", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.5, 0, 0)), inertia=ROD)
    both = lw.HyperReduced(b.build(), lambda r: [r[0], 0.5 * r[0]], nr=1)
    for stepper in ("symplectic_euler", "rk4"):
        run = lw.simulate(both, lw.State([0.0], [0.0]), 1.0, 1e-3, stepper=stepper)
        assert run.health.notes == ()
        assert run.q[:, 0].max() < 0.5 + 1e-4
        assert run.q[-1] == pytest.approx([0.5, 0.25], abs=1e-3)


def test_a_stage_without_solution_is_an_error() -> None:
    with pytest.raises(lw.SolverError, match="bdf2: a stage of a step was not solved in 60 rounds; try a shorter step"):
        simulate("springs", "bdf2", "redmax", 5.0, state=lw.State(R, 300 * R_DOT))
