"""Questions about models, with answers known otherwise: Laguerre's chain, base parameters of an arm, muscles, equilibria."""

from __future__ import annotations

import numpy as np
import pytest
from models import relative, two_links
from numpy.polynomial.laguerre import lagroots

import linkwork as lw
from linkwork import analysis
from linkwork.analysis import Target
from linkwork.bench.models import arm7
from linkwork.scenes import ALL_SCENES

G = 9.81


# --- modes -------------------------------------------------------------------------------------------------------------------
def hanging(n: int, length: float = 0.3) -> lw.Model:
    """Point masses on massless links that swing in a plane."""
    b = lw.ModelBuilder(gravity=(0, 0, -G))
    for k in range(n):
        b.body(
            f"m{k}",
            parent=f"m{k - 1}" if k else "world",
            joint=lw.Revolute((0, 1, 0)),
            placement=lw.SE3(p=(0, 0, -length if k else 0)),
            inertia=lw.Inertia(0.7, com=(0, 0, -length)),
        )
    return b.build()


@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_modes_of_a_hanging_chain_are_laguerres(n: int) -> None:
    """omega^2 = g / l times the roots of L_n; one shape moves masses as L_n says."""
    found = analysis.modes(hanging(n), np.zeros(n))
    roots = np.sort(lagroots([0.0] * n + [1.0]))
    assert relative(found.squares, G / 0.3 * roots) < 1e-9
    assert found.stable
    M = lw.mass_matrix(hanging(n), np.zeros(n))
    assert np.abs(found.shapes.T @ M @ found.shapes - np.eye(n)).max() < 1e-9


def test_modes_are_how_it_swings() -> None:
    """A run started in a mode returns after its period."""
    model = hanging(4)
    found = analysis.modes(model, np.zeros(4))
    shape = 1e-5 * found.shapes[:, 2] / np.abs(found.shapes[:, 2]).max()
    period = 2.0 * np.pi / found.frequencies[2]
    run = lw.simulate(model, lw.State(shape, np.zeros(4)), period, period / 8, stepper="dop853", rtol=1e-12, atol=1e-16)
    assert relative(run.q[-1], shape) < 1e-6


def test_an_upright_chain_is_unstable() -> None:
    found = analysis.modes(hanging(2), np.array([np.pi, 0.0]))
    assert not found.stable
    assert np.isnan(found.frequencies[0])


def test_modes_of_a_closed_loop() -> None:
    """A square of rods hung at its upper corners swings as one pendulum: its lower rod only translates."""
    b = lw.ModelBuilder(gravity=(0, 0, -G))
    rod, down = lw.Inertia.cuboid(1.0, (0.01, 0.01, 1.0), com=(0, 0, -0.5)), lw.SE3(p=(0, 0, -1))
    b.body("left", joint=lw.Revolute((0, 1, 0)), inertia=rod)
    bar = lw.Inertia.cuboid(2.0, (1.0, 0.01, 0.01), com=(0.5, 0, 0))
    b.body("bar", parent="left", joint=lw.Revolute((0, 1, 0)), placement=down, inertia=bar)
    b.body("right", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(1, 0, 0)), inertia=rod)
    b.add(lw.Loop("bar", "right", point_a=(1, 0, 0), point_b=(0, 0, -1)))
    model = b.build()
    found = analysis.modes(model, np.zeros(3))
    I = rod.about_origin[1, 1]
    assert len(found.squares) == 1
    assert found.squares[0] == pytest.approx((2 * 1.0 * G * 0.5 + 2.0 * G) / (2 * I + 2.0), rel=1e-9)
    shape = found.shapes[:, 0] / found.shapes[0, 0]
    assert np.abs(shape - [1.0, -1.0, 1.0]).max() < 1e-9


def test_linearisation() -> None:
    """A and B against differences, at a moving state; damping shows in the eigenvalues."""
    model = two_links(lw.JointSpring("lower", 5.0, damping=0.4))
    rng = np.random.default_rng(1)
    q, v, tau = rng.normal(size=(3, 2))
    found = analysis.linearize(model, q, v, tau)
    h = 1e-6
    for k, e in enumerate(np.eye(2)):
        dq = (lw.forward_dynamics(model, q + h * e, v, tau) - lw.forward_dynamics(model, q - h * e, v, tau)) / (2 * h)
        dv = (lw.forward_dynamics(model, q, v + h * e, tau) - lw.forward_dynamics(model, q, v - h * e, tau)) / (2 * h)
        dt = (lw.forward_dynamics(model, q, v, tau + h * e) - lw.forward_dynamics(model, q, v, tau - h * e)) / (2 * h)
        assert np.allclose(found.A[2:, k], dq, atol=1e-7)
        assert np.allclose(found.A[2:, 2 + k], dv, atol=1e-7)
        assert np.allclose(found.B[2:, k], dt, atol=1e-7)
    rest = analysis.static_equilibrium(model, [1.4, 0.1])
    assert analysis.linearize(model, rest.q).eigenvalues.real.max() < 0.0
    assert relative(found.c, np.r_[v, lw.forward_dynamics(model, q, v, tau)]) < 1e-12


# --- equilibria --------------------------------------------------------------------------------------------------------------
def test_equilibrium_of_a_sprung_arm() -> None:
    model = two_links(lw.JointSpring("upper", 20.0), lw.JointSpring("lower", 10.0))
    found = analysis.static_equilibrium(model, np.zeros(2))
    needed = lw.inverse_dynamics(model, found.q, np.zeros(2), np.zeros(2))
    assert np.abs(needed).max() < 1e-9
    assert found.stable
    tau = np.array([2.0, -1.0])
    held = analysis.static_equilibrium(model, np.zeros(2), tau)
    assert np.abs(lw.inverse_dynamics(model, held.q, np.zeros(2), np.zeros(2)) - tau).max() < 1e-9


def test_equilibrium_of_a_loop() -> None:
    """A chain between two posts: where a long damped run ends."""
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(1.0, (0.5, 0.02, 0.02), com=(0.25, 0, 0))
    for k in range(4):
        placement = lw.SE3(p=(0.5 * (k > 0), 0, 0))
        b.body(f"l{k}", parent=f"l{k - 1}" if k else "world", joint=lw.Revolute((0, 1, 0)), placement=placement, inertia=rod)
    b.add(lw.Loop("l3", "world", point_a=(0.5, 0, 0), point_b=(1.4, 0, 0.2)))
    model = b.build()
    start = lw.assemble(model, lw.State(np.array([0.8, -0.3, -0.6, -0.4]), np.zeros(4)))
    found = analysis.static_equilibrium(model, start.q)
    assert found.residual < 1e-8
    assert np.abs(analysis.equality_rows(model, found.q)[1]).max() < 1e-10
    assert np.abs(lw.forward_dynamics(model, found.q, np.zeros(4))).max() < 1e-7
    assert found.stable == (found.modes.squares.min() > 0.0)


def test_no_equilibrium_is_said() -> None:
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia.sphere(1.0, 0.1))
    with pytest.raises(lw.SolverError, match="no equilibrium"):
        analysis.static_equilibrium(b.build(), [0.0])


# --- identification ----------------------------------------------------------------------------------------------------------
def motion(model: lw.Model) -> tuple[np.ndarray, ...]:
    """q, v, a and tau of a simulated run: accelerations are differences of the velocities that were recorded."""
    rng = np.random.default_rng(2)
    size, rate, phase = rng.uniform(0.5, 1.5, (3, 3, model.nv))
    nominal = np.abs(lw.mass_matrix(model, model.neutral())).sum(axis=1)

    def tau(t: float) -> np.ndarray:
        return nominal * (size * np.sin(3.0 * rate * t + 6.0 * phase)).sum(axis=0)

    h = 2e-3
    start = lw.State(model.neutral(), np.zeros(model.nv))
    held = lambda t, s: tau(t) + lw.gravity_forces(model, s.q) - 2.0 * nominal * s.v  # noqa: E731
    run = lw.simulate(model, start, 2.0, h, stepper="dop853", rtol=1e-11, atol=1e-12, control=held)
    weights = np.array([-1, 9, -45, 0, 45, -9, 1]) / (60.0 * h)
    a = sum(w * run.v[k : len(run.v) - 6 + k] for k, w in enumerate(weights))
    q, v, t = run.q[3:-3], run.v[3:-3], run.t[3:-3]
    forces = np.array([held(x, lw.State(p, u)) for x, p, u in zip(t, q, v, strict=True)])
    return q, v, a, forces


def test_identification_of_an_arm() -> None:
    """Base parameters of seven hinges from simulated motion to 1e-6, and bodies that can exist with the same forces."""
    model = arm7()
    q, v, a, tau = motion(model)
    found = analysis.identify(model, q, v, a, tau)
    true = found.base.of(lw.inertial_parameters(model))
    assert np.abs(found.beta - true).max() < 1e-6 * np.abs(true).max()
    assert relative(found.beta, true) < 1e-6
    assert len(true) == analysis.base_parameters(model).independent.size == len(found.base.names(model))
    wrong = model.with_parameters(
        {b.name: {"mass": 1.3 * float(b.inertia.mass), "com": b.inertia.com * 0.8} for b in model.bodies}
    )
    fitted = analysis.identify_consistent(wrong, q, v, a, tau)
    parameters = lw.inertial_parameters(fitted)
    assert np.linalg.eigvalsh(analysis.pseudo_inertia(parameters.reshape(-1, 10))).min() > 0.0
    assert relative(found.base.of(parameters), true) < 1e-3
    assert relative(found.base.of(lw.inertial_parameters(wrong)), true) > 1e-2
    expected = lw.inverse_dynamics(model, q, v, a)
    assert relative(lw.inverse_dynamics(fitted, q, v, a), expected) < 1e-4


def test_a_hinge_shows_three_numbers() -> None:
    """About a horizontal axis: the moment of inertia about it, and the two first moments across it."""
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.cuboid(1.0, (0.3, 0.2, 0.1), com=(0.1, 0.2, 0.3)))
    base = analysis.base_parameters(b.build())
    assert set(base.independent) == {1, 3, 7}
    assert not base.K.any()


def test_too_little_motion_is_said() -> None:
    model = arm7()
    with pytest.raises(lw.InputError, match="base parameters"):
        analysis.identify(
            model, model.neutral()[None], np.zeros((1, 7)), np.zeros((1, 7)), lw.gravity_forces(model, model.neutral())[None]
        )


# --- inverse kinematics ------------------------------------------------------------------------------------------------------
SOLVERS = [analysis.inverse_kinematics, analysis.inverse_kinematics_qp]


def limited_arm() -> lw.Model:
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(1.0, (0.3, 0.05, 0.05), com=(0.15, 0, 0))
    axes = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0)]
    for k, axis in enumerate(axes):
        placement = lw.SE3(p=(0.3 * (k > 0), 0, 0))
        b.body(
            f"l{k}",
            parent=f"l{k - 1}" if k else "world",
            joint=lw.Revolute(axis),
            placement=placement,
            inertia=rod,
            limits=(-2.0, 2.0),
        )
    b.frame("hand", body="l6", placement=lw.SE3(p=(0.3, 0, 0)))
    return b.build()


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("seed", range(4))
def test_reachable_targets_are_reached(solve: object, seed: int) -> None:
    """A pose of the hand, and at the same time a point of the elbow on its height."""
    model = limited_arm()
    goal = np.random.default_rng(seed).uniform(-1.6, 1.6, 7)
    E, elbow = lw.frame_pose(model, goal, "hand"), lw.frame_pose(model, goal, "l3")
    targets = [Target("hand", E[:3, 3], E[:3, :3]), Target("l3", elbow[:3, 3])]
    found = solve(model, targets, np.full(7, 0.1))  # type: ignore[operator]
    assert found.reached
    assert found.misses.max() < 1e-8
    assert np.abs(found.q).max() <= 2.0 + 1e-12
    there = lw.frame_pose(model, found.q, "hand")
    assert np.abs(there - E).max() < 1e-8


@pytest.mark.parametrize("solve", SOLVERS)
def test_unreachable_targets_are_reported(solve: object) -> None:
    """Beyond the arm's length: it stretches, and says what is missing."""
    model = limited_arm()
    found = solve(model, Target("hand", (3.0, 0.0, 0.0)), np.full(7, 0.1), restarts=1)  # type: ignore[operator]
    assert not found.reached
    assert found.misses[0] == pytest.approx(3.0 - 7 * 0.3, abs=1e-5)


@pytest.mark.parametrize("solve", SOLVERS)
def test_limits_hold(solve: object) -> None:
    """One hinge of a pendulum that may not turn as far as asked."""
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 0, 1)), inertia=lw.Inertia.cuboid(1.0, (1, 0.1, 0.1), com=(0.5, 0, 0)), limits=(-0.5, 0.5))
    model = b.build()
    found = solve(model, Target("a", (0.0, 1.0, 0.0), point=(1, 0, 0)), np.zeros(1), restarts=0)  # type: ignore[operator]
    assert found.q[0] == pytest.approx(0.5)
    assert not found.reached


def test_a_batch_of_starts() -> None:
    model = limited_arm()
    goal = np.random.default_rng(3).uniform(-1.5, 1.5, 7)
    E = lw.frame_pose(model, goal, "hand")
    starts = goal + 0.3 * np.random.default_rng(4).normal(size=(5, 7))
    found = analysis.inverse_kinematics(model, Target("hand", E[:3, 3], E[:3, :3]), starts)
    assert found.reached.shape == (5,)
    assert found.reached.all()


def test_a_floating_base_and_quaternions() -> None:
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(1.0, (0.3, 0.05, 0.05), com=(0.15, 0, 0))
    b.body("base", joint=lw.Free(), inertia=rod)
    b.body("arm", parent="base", joint=lw.Spherical(), placement=lw.SE3(p=(0.3, 0, 0)), inertia=rod)
    model = b.build()
    goal = model.random_configuration(5)
    E, F = lw.frame_pose(model, goal, "arm"), lw.frame_pose(model, goal, "base")
    targets = [Target("arm", E[:3, 3], E[:3, :3]), Target("base", F[:3, 3], F[:3, :3])]
    found = analysis.inverse_kinematics(model, targets, model.neutral())
    assert found.reached


# --- muscles -----------------------------------------------------------------------------------------------------------------
def test_muscles_of_the_leg_exert_the_torques() -> None:
    """Torques that some activations exert come back exactly, with no larger effort."""
    model, _ = ALL_SCENES["leg"].build()
    q, v = np.array([0.3, 0.9, 0.8]), np.array([0.2, -0.5, 0.3])
    driven = analysis.muscles._driven(model)
    a = np.array([0.3, 0.5, 0.2, 0.4, 0.6, 0.3])
    state = lw.muscle_states(driven, q, v, u=a)
    found = analysis.static_optimisation(model, q, v, state.joint_forces)
    assert found.residual < 1e-9
    assert found.activation.min() >= -1e-12
    assert found.activation.max() <= 1.0 + 1e-12
    assert (found.activation**2).sum() <= (a**2).sum() + 1e-9
    again = lw.muscle_states(driven, q, v, u=found.activation)
    assert np.abs(again.joint_forces - state.joint_forces).max() < 1e-9


def test_muscles_that_are_too_weak_are_said() -> None:
    model, _ = ALL_SCENES["leg"].build()
    with pytest.raises(lw.SolverError, match="out of reach"):
        analysis.static_optimisation(model, [0.3, 0.9, 0.8], np.zeros(3), [1e4, 0.0, 0.0])


# --- what constraints carry --------------------------------------------------------------------------------------------------
def test_a_loop_shares_its_load() -> None:
    """A closed square driven at one corner only: the accelerations are those of forward dynamics, and other joints exert
    nothing."""
    b = lw.ModelBuilder(gravity=(0, 0, -G))
    rod = lw.Inertia.cuboid(1.0, (0.05, 0.05, 1.0), com=(0, 0, -0.5))
    b.body("left", joint=lw.Revolute((0, 1, 0)), inertia=rod)
    bar = lw.Inertia.cuboid(2.0, (1.0, 0.05, 0.05), com=(0.5, 0, 0))
    b.body("bar", parent="left", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0, 0, -1)), inertia=bar)
    b.body("right", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(1, 0, 0)), inertia=rod)
    b.add(lw.Loop("bar", "right", point_a=(1, 0, 0), point_b=(0, 0, -1)))
    model = b.build()
    q, v, tau = np.array([0.3, -0.3, 0.3]), np.array([1.0, -1.0, 1.0]), np.array([5.0, 0.0, 0.0])
    a = lw.forward_dynamics(model, q, v, tau)
    found = analysis.shared_inverse_dynamics(model, q, v, a, driven=["left"])
    assert np.abs(found.tau - tau).max() < 1e-9
    assert found.residual < 1e-9
    again = lw.constrained_dynamics(model, q, v, tau)
    assert np.abs(found.multipliers[[0, 2]] - again.multipliers[[0, 2]]).max() < 1e-8  # across the plane nothing is determined
    least = analysis.shared_inverse_dynamics(model, q, v, a)
    assert least.tau @ least.tau < tau @ tau
    assert np.abs(lw.forward_dynamics(model, q, v, least.tau) - a).max() < 1e-8


def test_accelerations_that_cannot_be_had_leave_a_residual() -> None:
    model = two_links()
    q, v, a = np.zeros(2), np.zeros(2), np.array([1.0, 2.0])
    found = analysis.shared_inverse_dynamics(model, q, v, a, driven=["upper"])
    assert found.residual == pytest.approx(abs(lw.inverse_dynamics(model, q, v, a)[1]))


def test_condition_of_the_mass_matrix() -> None:
    model = hanging(3)
    q = np.array([[0.1, 0.2, 0.3], [0.0, 1.0, 2.0]])
    expected = [np.linalg.cond(M) for M in lw.mass_matrix(model, q)]
    assert relative(analysis.mass_matrix_condition(model, q), expected) < 1e-9


# --- what is no number, no model's, or a batch where one state is asked for -----------------------------------------------------
ONE = np.array([0.3, 0.4])
MANY, LOST = np.array([ONE, ONE]), np.array([0.3, np.nan])
REFUSED = {
    "equilibrium of a batch": (lambda m: analysis.static_equilibrium(m, MANY), "this function takes one state"),
    "equilibrium of words": (lambda m: analysis.static_equilibrium(m, ["a", "b"]), "q must be an array of numbers"),
    "equilibrium, lost tau": (lambda m: analysis.static_equilibrium(m, ONE, LOST), "tau must be finite"),
    "equilibrium, lost time": (lambda m: analysis.static_equilibrium(m, ONE, t=np.nan), "t must be a finite number"),
    "modes of a batch": (lambda m: analysis.modes(m, MANY), "this function takes one state"),
    "modes, lost time": (lambda m: analysis.modes(m, ONE, t=np.nan), "t must be a finite number"),
    "linearisation, many tau": (lambda m: analysis.linearize(m, ONE, None, MANY), "tau has shape"),
    "rows of a batch": (lambda m: analysis.equality_rows(m, MANY), "this function takes one state"),
    "shared, many accelerations": (lambda m: analysis.shared_inverse_dynamics(m, ONE, ONE, MANY), "a has shape"),
    "shared, lost time": (lambda m: analysis.shared_inverse_dynamics(m, ONE, ONE, ONE, t=np.nan), "t must be a finite number"),
    "identification, lost": (lambda m: analysis.identify(m, MANY, MANY, MANY, [ONE, LOST]), "tau must be finite"),
    "identification, short": (
        lambda m: analysis.identify(m, MANY, MANY, MANY, [ONE]),
        r"\(1, 2\); it must be \(2, 2\)",
    ),
    "identification, narrow": (lambda m: analysis.identify_consistent(m, MANY, MANY, MANY, [[1.0], [2.0]]), "tau has shape"),
    "identification, weight": (
        lambda m: analysis.identify_consistent(m, MANY, MANY, MANY, MANY, -1.0),
        "weight must be positive",
    ),
    "seed": (lambda m: analysis.base_parameters(m, "x"), "seed must be a whole number"),
    "empty batch of targets": (lambda m: analysis.inverse_kinematics(m, Target("lower", np.zeros((0, 3))), ONE), "is empty"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_questions_with_wrong_numbers_are_refused(case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises(lw.InputError, match=message):
        call(two_links())  # type: ignore[no-untyped-call]


def test_one_driven_joint_may_be_given_by_its_name() -> None:
    model = two_links()
    one, listed = (analysis.shared_inverse_dynamics(model, ONE, ONE, ONE, names) for names in ("lower", ["lower"]))
    assert np.array_equal(one.tau, listed.tau)
