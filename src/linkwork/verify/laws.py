"""Laws that hold whatever the model: groups, conserved quantities, orders of steppers, one motion in every formulation."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import (
    SE3,
    Ad,
    Inertia,
    Model,
    ModelBuilder,
    Prismatic,
    Revolute,
    State,
    Trajectory,
    Universal,
    ad,
    bias_forces,
    forward_dynamics,
    inverse_dynamics,
    kinematics,
    mass_matrix,
    maximal_dynamics,
    project,
    simulate,
    to_maximal,
)
from ..scenes.loop import closed, four_bar
from ..spatial import so3
from ..steppers import ALL_STEPPERS, AdaptiveStepper
from .item import Family, Outcome
from .pictures import curves, histogram
from .random_models import COMMON, WITHOUT_SLIDES, looped, random_model, random_motion, unit
from .states import state

LAWS = Family(
    "laws",
    "Laws",
    "What holds for every model: axioms of the groups, conserved quantities, the order of every stepper, and the same "
    "accelerations and "
    "motions in all formulations.",
)
MANY, FEW = 300, 12
TIGHT: dict[str, Any] = {"stepper": "dop853", "rtol": 1e-12, "atol": 1e-13}
TIGHTEST: dict[str, Any] = {"stepper": "dop853", "rtol": 1e-13, "atol": 1e-14}


def matrix(E: SE3) -> np.ndarray:
    return np.asarray(E.matrix, float)


@LAWS.item(
    "groups",
    "SE(3) and SO(3) at random elements, angles from 1e-9 to pi - 1e-9: associativity, inverses, exp and log, Ad, ad, "
    "Jacobi's identity",
    "Axioms of Lie groups",
)
def groups(quick: bool) -> Outcome:
    rng, errors = np.random.default_rng(18), {}

    def note(name: str, x: Any, y: Any) -> None:
        errors[name] = max(errors.get(name, 0.0), float(np.abs(np.asarray(x, float) - np.asarray(y, float)).max()))

    angles = [1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1.0, 2.5, 3.0, np.pi - 1e-3, np.pi - 1e-6, np.pi - 1e-9]
    for angle in angles * (2 if quick else 30):
        xi, eta, zeta = (
            np.concatenate([a * unit(rng), rng.normal(size=3)]) for a in (angle, rng.uniform(0, 3), rng.uniform(0, 3))
        )
        A, B, C = (SE3.exp(x) for x in (xi, eta, zeta))
        note("associative", matrix((A @ B) @ C), matrix(A @ (B @ C)))
        note("inverse", matrix(A @ A.inverse()), np.eye(4))
        note("exp log", matrix(SE3.exp(A.log())), matrix(A))
        if angle < 3.1:
            note("log exp", A.log(), xi)
        note("Ad of products", Ad(A @ B), Ad(A) @ Ad(B))
        note("ad is a derivation", ad(Ad(A) @ eta), Ad(A) @ ad(eta) @ Ad(A.inverse()))
        jacobi = ad(xi) @ ad(eta) @ zeta + ad(eta) @ ad(zeta) @ xi + ad(zeta) @ ad(xi) @ eta
        note("Jacobi", jacobi, np.zeros(6))
        note("right Jacobian", so3.right_jacobian(xi[:3]) @ so3.right_jacobian_inverse(xi[:3]), np.eye(3))
        note("left Jacobian", so3.left_jacobian(xi[:3]), so3.exp(xi[:3]) @ so3.right_jacobian(xi[:3]))
    worst = max(errors, key=errors.__getitem__)
    return Outcome(errors[worst], 1e-12, f"worst: {worst}")


@LAWS.item(
    "energy",
    "Energy of random models over 2 s beside the largest kinetic energy",
    "Conservation of energy; stepper dop853",
)
def energies(quick: bool) -> Outcome:
    errors = []
    for seed in range(4 if quick else 60):
        model = random_model(seed, COMMON, most=6)
        q, v, _, _ = random_motion(model, seed)
        run = simulate(model, State(q, v), 2.0, 0.5, **TIGHT)
        errors.append(np.ptp(run.energy.total) / max(run.energy.kinetic.max(), 1.0))
    return Outcome(max(errors), 1e-9, f"{len(errors)} models", histogram(errors, "change"))


@LAWS.item(
    "momentum",
    "Linear and angular momentum of floating random models without gravity over 2 s, joints driven by internal forces",
    "Conservation of momentum; stepper dop853",
)
def momenta(quick: bool) -> Outcome:
    errors, seed = [], 0
    while len(errors) < (3 if quick else 40):
        seed += 1
        model = random_model(seed, COMMON, most=6).replace(gravity=(0, 0, 0))
        if model.bodies[0].name != "base" or sum(b.parent < 0 for b in model.bodies) > 1:
            continue
        q, v, _, tau = random_motion(model, seed)
        tau[model.v_index("base")] = 0.0
        # armature of a joint is inertia of a motor that does not turn with the bodies: it has no momentum of its own
        model = model.with_parameters({b.name: {"armature": np.zeros(b.joint.nv)} for b in model.bodies})
        run = simulate(model, State(q, v), 2.0, 0.5, control=lambda t, s, tau=tau: np.cos(3 * t) * tau, **TIGHT)
        found = np.array([about_origin(model, x, y) for x, y in zip(run.q, run.v, strict=True)])
        errors.append(np.abs(found - found[0]).max() / np.abs(found[0]).max())
    return Outcome(max(errors), 1e-9, f"{len(errors)} models", histogram(errors, "change"))


def about_origin(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Angular momentum about the origin of the world, and linear momentum."""
    k, total = kinematics(model, q, v), np.zeros(6)
    for body, E, twist in zip(model.bodies, k.poses, k.twists, strict=True):
        moment, force = np.split(body.inertia.matrix @ twist, 2)
        total += np.concatenate([E[:3, :3] @ moment + np.cross(E[:3, 3], E[:3, :3] @ force), E[:3, :3] @ force])
    return total


@LAWS.item(
    "long_energy",
    "Energy of double pendulums over 100000 steps of variational4, 16 starts that chaos parts: the largest error of the second "
    "half of the time over that of the first",
    "Variational steps keep a nearby energy: the error does not grow (2 if it grew linearly)",
)
def long_energy(quick: bool) -> Outcome:
    b, rod = ModelBuilder(), Inertia.cuboid(mass=1.0, size=(0.5, 0.05, 0.05), com=(0.25, 0, 0))
    b.body("upper", joint=Revolute((0, 1, 0)), inertia=rod)
    b.body("lower", parent="upper", joint=Revolute((0, 1, 0)), placement=SE3(p=(0.5, 0, 0)), inertia=rod)
    steps, starts = 10000 if quick else 100000, np.zeros((16, 2))
    starts[:, 1] = 1e-9 * np.arange(16)
    run = simulate(b.build(), State(starts, np.zeros((16, 2))), 5e-3 * steps, 5e-3, stepper="variational4", every=10)
    error = np.abs(run.energy.total - run.energy.total[:, :1]).max(axis=0) / run.energy.kinetic.max()
    half = len(error) // 2
    picture = curves({"error": (run.t[1:], error[1:])}, "t / s", "relative error of the energy", log="y")
    first, last = error[:half].max(), error[half:].max()
    return Outcome(
        last / first, 1.5, f"{steps} steps; largest error {error.max():.1e}; figure: ratio of second to first half", picture
    )


# --- orders -------------------------------------------------------------------------------------------------------------------
STEPS = {1: (40, 80), 2: (30, 60), 4: (16, 32), 5: (30, 60), 8: (8, 10, 12)}  # by order
STEPS_OF_LOOP = STEPS | {8: (6, 7, 8)}  # order 8 reaches rounding soon


def chain() -> tuple[Model, State, float]:
    """Three kinds of joints."""
    b, heavy = ModelBuilder(), Inertia(1.0, (0.2, 0.05, -0.1), np.diag([0.3, 0.4, 0.5]))
    b.body("a", joint=Universal(), inertia=heavy)
    b.body("b", parent="a", joint=Revolute((0, 1, 0)), placement=SE3(p=(0.4, 0, 0)), inertia=heavy)
    b.body("c", parent="b", joint=Prismatic((0.6, 0, 0.8)), placement=SE3(p=(0.4, 0, 0)), inertia=heavy)
    return b.build(), State(np.linspace(-0.3, 0.4, 4), np.linspace(-1.0, 1.5, 4)), 0.6


def linkage() -> tuple[Model, State, float]:
    """A four-bar linkage that already turns."""
    model = four_bar()[0].replace(gravity=(0, 0, -3.0))
    return model, project(model, state(closed(2.6), [2.0, -2.0, 2.0])), 0.3


def bodies(run: Trajectory) -> np.ndarray:
    """All entries of poses and twists at the end."""
    end: Any = run.final
    k = end if run.kind == "maximal" else kinematics(run.model, end.q, end.v)
    return np.concatenate([k.poses.ravel(), k.twists.ravel()])


def equal_steps(stepper: str, duration: float, n: int) -> dict[str, Any]:
    """Options for n steps: those that choose their own get a tolerance that allows all, and a longest step."""
    if not issubclass(ALL_STEPPERS[stepper], AdaptiveStepper):
        return {"dt": duration / n, "every": n}
    first = {"first_step": duration / n} if stepper == "dop853" else {}  # the first one of ode45 is the longest anyway
    return {"dt": duration, "rtol": 1e6, "atol": 1e6, "max_step": duration / n, **first}


def slopes(case: tuple[Model, State, float], steps: dict[int, tuple[int, ...]], runs: list[tuple[str, str]]) -> dict[str, Any]:
    """Of every stepper in every formulation: its order, the slope that was found, numbers of steps and errors."""
    model, start, duration = case
    truth, found = bodies(simulate(model, start, duration, duration, **TIGHTEST)), {}
    for stepper, method in runs:
        order, errors = ALL_STEPPERS[stepper].order, []
        for n in steps[order]:
            run = simulate(model, start, duration, method=method, stepper=stepper, **equal_steps(stepper, duration, n))
            errors.append(float(np.linalg.norm(bodies(run) - truth)))
        slope = -np.polyfit(np.log(steps[order]), np.log(errors), 1)[0]
        found[f"{stepper}, {method}"] = (order, slope, steps[order], errors)
    return found


def order_outcome(found: dict[str, Any]) -> Outcome:
    off = {name: abs(slope - order) for name, (order, slope, _, _) in found.items()}
    worst = max(off, key=off.__getitem__)
    lines = {name.replace(", reduced", ""): (n, errors) for name, (_, _, n, errors) in found.items()}
    note = f"{len(off)} pairs of stepper and formulation; farthest from its order: {worst}"
    return Outcome(off[worst], 0.1, note, curves(lines, "steps", "error", log="xy"))


def every_run(quick: bool) -> list[tuple[str, str]]:
    """Steppers with their formulations; in quick runs the first of each."""
    return [(name, method) for name, cls in ALL_STEPPERS.items() for method in (cls().methods[:1] if quick else cls().methods)]


@LAWS.item("orders", "Slopes of errors over steps of every stepper, on a chain of three kinds of joints", "The order of each")
def orders(quick: bool) -> Outcome:
    return order_outcome(slopes(chain(), STEPS, every_run(quick)))


@LAWS.item("orders_with_loop", "The same on a four-bar linkage, closed by a loop", "The order of each")
def orders_with_loop(quick: bool) -> Outcome:
    return order_outcome(slopes(linkage(), STEPS_OF_LOOP, every_run(quick)))


# --- formulations -------------------------------------------------------------------------------------------------------------
@LAWS.item(
    "accelerations",
    "Accelerations of random models by recursion, by dense matrices, by multipliers in maximal coordinates; inverse "
    "dynamics undoes them",
    "One equation of motion [Si & Guenter; Liu & Jain; Baraff; Sueda]",
)
def accelerations(quick: bool) -> Outcome:
    errors = []
    for seed in range(FEW if quick else MANY):
        model = random_model(seed + 300000, COMMON)
        q, v, _, tau = random_motion(model, seed)
        a = forward_dynamics(model, q, v, tau)
        dense = np.linalg.solve(mass_matrix(model, q), tau - bias_forces(model, q, v))
        bodies = maximal_dynamics(model, to_maximal(model, State(q, v)), tau).a
        back = inverse_dynamics(model, q, v, a)
        size = np.abs(dense).max()
        errors.append(max(np.abs(a - dense).max() / size, np.abs(bodies - dense).max() / size, np.abs(back - tau).max()))
    return Outcome(max(errors), 1e-9, f"{len(errors)} models, median {np.median(errors):.0e}", histogram(errors, "error"))


@LAWS.item(
    "motions",
    "Motions of random trees, half of them with a loop, in all four formulations with steps h and h/2, extrapolated, after 0.1 s",
    "One motion: dop853 in reduced coordinates",
)
def motions(quick: bool) -> Outcome:
    errors = []
    for seed in range(3 if quick else 30):
        tree = random_model(seed + 400000, WITHOUT_SLIDES, most=4)
        q, v, _, _ = random_motion(tree, seed)
        model, start = (looped(tree, State(q, v), seed) if seed % 2 else None) or (tree, State(q, v))
        truth = bodies(simulate(model, start, 0.1, 0.1, **TIGHT))
        for method in ("reduced", "maximal", "maximal-implicit", "redmax"):
            coarse, fine = (bodies(simulate(model, start, 0.1, h, method, every=round(0.1 / h))) for h in (1e-4, 5e-5))
            errors.append(np.abs(2 * fine - coarse - truth).max() / np.abs(truth).max())
    return Outcome(max(errors), 1e-5, f"{len(errors) // 4} models; what two steps of order 1 leave", histogram(errors, "error"))
