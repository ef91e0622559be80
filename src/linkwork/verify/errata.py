"""What the list of errata of the five papers leaves as "not verified", run."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import least_squares

from .. import (
    SE3,
    Coupling,
    Ellipsoid,
    Inertia,
    JointFriction,
    Limit,
    Loop,
    Model,
    ModelBuilder,
    Revolute,
    Spherical,
    State,
    Torus,
    bias_forces,
    constrained_dynamics,
    forward_dynamics,
    kinematics,
    mass_matrix,
    project,
    simulate,
)
from ..analysis.rows import equality_rows
from ..bench import bisp
from ..bench.multiplier_routes import matrices, primary_system
from ..bench.multipliers import halves, turning
from ..bench.table1 import PUBLISHED
from ..scenes import baraff
from ..scenes.chain import chain
from ..scenes.loop import four_bar
from ..scenes.windmill import windmill
from ..spatial import so3
from ..steppers.rubbing import friction_run
from .clock import best_ms
from .hernandez import PRINTED_FRAME, frame_ms
from .item import Family, Outcome, absent
from .pictures import curves
from .si_guenter import state_us
from .states import state

ERRATA = Family(
    "errata",
    "What the errata left open",
    "Equations that were read but not run, claims that were not measured. Numbers of equations are those of the papers; 000 is "
    "Hernandez et al., 001 Baraff, 002 Si & Guenter, 004 Sueda.",
)


@ERRATA.item(
    "timings",
    "How times grow with size over how the printed ones do: chains of 1000 and 10000 links, RC20 and RC100, TC10 and TC20",
    "000 Figure 4 (12.95 times), 002 Table 1 (5.6 and 2.09 times). The machines of the papers are not at hand, growth is of "
    "the method",
)
def timings(quick: bool) -> Outcome:
    links = (100, 1000) if quick else (1000, 10000)
    pairs = {"frames": (tuple(frame_ms(n) for n in links), tuple(PRINTED_FRAME.values()))}
    for first, second in (("RC20", "RC100"),) if quick else (("RC20", "RC100"), ("TC10", "TC20")):
        ours = tuple(state_us(name) for name in (first, second))
        pairs[f"{first} to {second}"] = ours, tuple(PUBLISHED[name][0] for name in (first, second))
    growth = {name: (ours[1] / ours[0], printed[1] / printed[0]) for name, (ours, printed) in pairs.items()}
    text = ", ".join(f"{name} {own:.2f} (printed {printed:.2f})" for name, (own, printed) in growth.items())
    note = f"{text}; times themselves: hernandez.fig4 and fig5, baraff.section9, cubic and conjugate_gradients, si_guenter.table1"
    return Outcome(max(own / printed for own, printed in growth.values()), 1.3, note)


@ERRATA.item(
    "examples",
    "Bodies of the windmill touch: gap and angle between normals of all pairs, by equations of their surfaces",
    "002, Figure 2 and its sentence on the pairs; Figures 1 to 4 run in si_guenter.fig1 to fig4",
)
def examples(quick: bool) -> Outcome:
    model, start = windmill()
    q = start.q + 0.2 * np.random.default_rng(2).normal(size=model.nq)
    poses = kinematics(model, q).poses
    errors, pairs = [], set()
    for body, E in zip(model.bodies, poses, strict=True):
        if body.parent >= 0:
            parent = model.bodies[body.parent]
            errors.append(contact_error(parent.shapes[0], poses[body.parent], body.shapes[0], E))
            pairs.add(frozenset(type(x.shapes[0]).__name__ for x in (parent, body)))
    return Outcome(max(errors), 1e-9, f"{len(errors)} contacts of {len(pairs)} kinds of pairs at random angles; gaps in m")


def contact_error(a: Any, E_a: np.ndarray, b: Any, E_b: np.ndarray) -> float:
    """How far two bodies are from touching in one point with opposite normals: the best of several searches for such a point."""

    def residual(x: np.ndarray) -> np.ndarray:
        (f, n), (g, m) = (equation(s, E[:3, :3].T @ (x - E[:3, 3])) for s, E in ((a, E_a), (b, E_b)))
        return np.concatenate([[f, g], E_a[:3, :3] @ n + E_b[:3, :3] @ m])

    rng, middle = np.random.default_rng(0), (E_a[:3, 3] + E_b[:3, 3]) / 2
    found = (least_squares(residual, middle + 0.1 * rng.normal(size=3), xtol=1e-15, ftol=1e-15, gtol=1e-15) for _ in range(40))
    best = np.inf
    for x in found:
        best = min(best, float(np.abs(x.fun).max()))
        if best < 1e-10:
            break
    return best


def equation(shape: Any, x: np.ndarray) -> tuple[float, np.ndarray]:
    """A function that is zero on a surface and has the size of a distance near it, and the unit normal of its level there."""
    if isinstance(shape, Torus):
        along = np.hypot(x[0], x[1])
        ring = np.array([x[0], x[1], 0.0]) * (shape.ring / along)
        away = x - ring
        return float(np.linalg.norm(away) - shape.tube), away / np.linalg.norm(away)
    radii = np.asarray(shape.radii if isinstance(shape, Ellipsoid) else np.full(3, shape.radius), float)
    gradient = x / radii**2
    return float((np.sum((x / radii) ** 2) - 1.0) / (2.0 * np.linalg.norm(gradient))), gradient / np.linalg.norm(gradient)


@ERRATA.item("scans", "Whether slips marked [OCR?] stand in the printed papers", "000 to 004")
def scans(quick: bool) -> Outcome:
    return absent("only texts of the papers are at hand; the right forms are pinned by tests either way")


@ERRATA.item(
    "factor_over_solve",
    "Multiplications of sparsefactor over those of sparsesolve for the tree of 381 multipliers: how far from 4, as "
    "|log2(ratio / 4)|",
    '001 section 7.3: "sparsefactor about four times sparsesolve"',
)
def factor_over_solve(quick: bool) -> Outcome:
    """A node of d rows with a parent of p: d^3/3 + d^2 p + d p^2 for its factor, d^2 + 2 d p for its solve."""
    assembly = baraff.tree()
    system = primary_system(assembly, matrices(assembly, turning(assembly)))
    d, p = system.tree.dims.astype(float), system.tree.parent_dims.astype(float)
    factor, solve = np.sum(d**3 / 3 + d**2 * p + d * p**2), np.sum(d**2 + 2 * d * p)
    us = [1e3 * best_ms(lambda run=c.run: [run() for _ in range(50)], 20) / 50 for c in halves("tree", system)]
    note = f"{factor / solve:.2f} times as many; compiled here they take {us[0]:.0f} and {us[1]:.0f} us from Python"
    return Outcome(abs(float(np.log2(factor / solve / 4.0))), 0.5, note)


# --- drift --------------------------------------------------------------------------------------------------------------------
@ERRATA.item(
    "drift",
    "Largest gap of the joints of a swinging chain of ten links (0.1 m each) over 60 s, steps of 1/60 s with implicit "
    "constraints",
    "000: implicit constraints do not drift, those on accelerations do",
)
def drift(quick: bool) -> Outcome:
    duration = 10.0 if quick else 60.0
    model, start = chain(links=10)
    held = simulate(model, start, duration, 1 / 60, "maximal-implicit", every=30)
    loop, at_rest = four_bar()
    free = simulate(loop, at_rest, duration, 2e-3, "reduced", stepper="rk4", stabilise="none", every=round(duration / 2e-3 / 100))
    gap, other = float(held.health.joint_gap or 0.0), float(free.health.constraint_residual or 0.0)
    note = f"m, of links of 0.1 m; a four-bar linkage whose loop acts on accelerations alone (rk4, 2 ms) opens by {other:.1e} m"
    return Outcome(gap, 1e-3, note)


@ERRATA.item(
    "baumgarte",
    "Residual of a loop that starts open, under g'' = -2 a g' - b^2 g with a = b = 8: its size over 1 s",
    "004 Eq. 1.82: g = g_0 (1 + b t) exp(-b t); stepper ode45, rtol 1e-10",
)
def baumgarte(quick: bool) -> Outcome:
    rate = 8.0
    model, start = four_bar()
    q = start.q + np.array([0.0, 0.01, -0.02])
    run = simulate(
        model,
        State(q, np.zeros(3)),
        1.0,
        0.05,
        stepper="ode45",
        baumgarte=(rate, rate),
        rtol=1e-10,
        atol=1e-12,
        open_loops="allow",
    )
    found = np.array([equality_rows(model, x)[1] for x in run.q])
    exact = found[0] * ((1 + rate * run.t) * np.exp(-rate * run.t))[:, None]
    error = np.abs(found - exact).max() / np.abs(found[0]).max()
    sizes = [np.abs(x).max(axis=1) for x in (found, exact)]
    return Outcome(
        error, 1e-7, "", curves({"found": (run.t, sizes[0])}, "t / s", "residual / m", points={"exact": (run.t, sizes[1])})
    )


# --- constraints --------------------------------------------------------------------------------------------------------------
def tied(*more: Any) -> tuple[Model, State]:
    """A chain of a ball and five hinges with a loop (maximal rows), a coupling (reduced rows), and what is given."""
    b, rod = ModelBuilder(), Inertia.cuboid(mass=1.0, size=(0.4, 0.05, 0.08), com=(0.2, 0.02, 0))
    b.body("l0", joint=Spherical(), inertia=rod)
    for i, axis in enumerate(((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)), start=1):
        b.body(f"l{i}", parent=f"l{i - 1}", joint=Revolute(axis), placement=SE3(p=(0.4, 0, 0)), inertia=rod)
    b.add(Coupling("l5", "l4", ratio=0.7, offset=0.1))
    for law in more:
        b.add(law)
    tree = b.build()
    q = np.concatenate([[1, 0, 0, 0], [0.3, -0.4, 0.5, 0.2, 0.7 * 0.2 + 0.1]])
    poses = kinematics(tree, q).poses
    there = poses[5, :3, :3] @ np.array([0.4, 0, 0]) + poses[5, :3, 3]
    model = tree.add(Loop("l5", "world", (0.4, 0, 0), there))
    return model, project(model, State(q, 0.7 * np.random.default_rng(3).normal(size=model.nv)))


def rows_and_bias(model: Model, at: State) -> tuple[np.ndarray, np.ndarray]:
    """G, and G_dot v by differences of G along the motion."""

    def rate(h: float) -> np.ndarray:
        return equality_rows(model, model.integrate(at.q, h * at.v))[0] @ at.v

    h = 2e-4
    return equality_rows(model, at.q)[0], (8 * (rate(h) - rate(-h)) - rate(2 * h) + rate(-2 * h)) / (12 * h)


def saddle(M: np.ndarray, G: np.ndarray, f: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(M G^T; G 0) (x, y) = (f, c)."""
    n, k = len(M), len(G)
    found = np.linalg.solve(np.block([[M, G.T], [G, np.zeros((k, k))]]), np.concatenate([f, c]))
    return found[:n], found[n:]


@ERRATA.item(
    "accelerations",
    "Accelerations under a loop (maximal rows) and a coupling (reduced rows) by the dense systems of the notes beside "
    "forward_dynamics",
    "004 Eqs. 2.98, 2.100, 2.102, 2.103; G_dot by differences of order 4",
)
def accelerations(quick: bool) -> Outcome:
    model, at = tied()
    G, c = rows_and_bias(model, at)
    M, f = mass_matrix(model, at.q), -bias_forces(model, at.q, at.v)
    dense, _ = saddle(M, G, f, -c)
    error = np.abs(forward_dynamics(model, at.q, at.v) - dense).max() / np.abs(dense).max()
    return Outcome(float(error), 1e-8, f"{len(G)} rows on {model.nv} velocities")


@ERRATA.item(
    "velocities",
    "Steps v' of the dense systems on velocities, 0.05 s with 100 and 200 of them: how far their order is from 1",
    "004 Eqs. 2.99, 2.101; truth: dop853",
)
def velocities(quick: bool) -> Outcome:
    model, start = tied()
    truth = simulate(model, start, 0.05, 0.05, stepper="dop853", rtol=1e-11, atol=1e-12).q[-1]
    errors = []
    for n in (100, 200):
        h, q, v = 0.05 / n, start.q, start.v
        for _ in range(n):
            M, G = mass_matrix(model, q), equality_rows(model, q)[0]
            v, _ = saddle(M, G, M @ v - h * bias_forces(model, q, v), np.zeros(len(G)))
            q = model.integrate(q, h * v)
        errors.append(np.linalg.norm(model.difference(truth, q)))
    order = np.log2(errors[0] / errors[1])
    return Outcome(abs(order - 1.0), 0.1, f"errors {errors[0]:.1e}, {errors[1]:.1e}")


@ERRATA.item(
    "inequalities",
    "Accelerations under a loop, a coupling and a stop that pushes: the quadratic program, its dual and the projection of free "
    "accelerations beside constrained_dynamics",
    "004 Eqs. 2.104, 2.105, 2.121 to 2.127, with the signs of errata 004-14 and 004-15",
)
def inequalities(quick: bool) -> Outcome:
    free, at = tied()
    k = free.v_index("l2").start
    turned = State(at.q, at.v - at.v[k] * direction(free, at, k))  # the joint of the stop does not move
    G, c = rows_and_bias(free, turned)
    M, f = mass_matrix(free, turned.q), -bias_forces(free, turned.q, turned.v)
    unstopped, _ = saddle(M, G, f, -c)
    side = np.sign(unstopped[k])  # where it would go
    here = turned.q[free.q_index("l2").start]
    limit = Limit("l2", here - 1.0, here) if side > 0 else Limit("l2", here, here + 1.0)
    found = constrained_dynamics(free.add(limit), turned.q, turned.v).accelerations
    C = -side * np.eye(free.nv)[k][None]  # C a >= 0
    primal, _ = saddle(M, np.concatenate([C, G]), f, np.concatenate([[0.0], -c]))  # (2.105): the stop is active
    star = np.linalg.solve(M, f)
    A, rate = np.concatenate([C, G]), np.concatenate([[0.0], c])
    lam = np.linalg.solve(A @ np.linalg.solve(M, A.T), -(rate + A @ star))  # (2.127), with lambda_c >= 0 (errata 004-15)
    projected = star + np.linalg.solve(M, A.T @ lam)  # (2.122) to (2.124)
    size = np.abs(primal).max()
    error = max(np.abs(found - primal).max(), np.abs(projected - primal).max()) / size
    pushed = lam[0] > 0.0
    note = f"the stop pushes with {lam[0]:.3f} N m; without it the joint would accelerate by {abs(unstopped[k]):.2f} rad/s^2"
    return Outcome(float(error) if pushed else np.inf, 1e-8, note)


def direction(model: Model, at: State, k: int) -> np.ndarray:
    """A velocity that the equalities allow whose component k is 1: the cheapest."""
    G = equality_rows(model, at.q)[0]
    found, _ = saddle(
        mass_matrix(model, at.q),
        np.concatenate([G, np.eye(model.nv)[k][None]]),
        np.zeros(model.nv),
        np.append(np.zeros(len(G)), 1.0),
    )
    return found


@ERRATA.item(
    "moving_axes",
    "Rate of the rows of a pin that slides along its turning axis: the printed one with the missing term beside differences",
    "004 Eq. 2.97, which keeps v_1 and v_2 fixed (errata 004-18)",
)
def moving_axes(quick: bool) -> Outcome:
    rng = np.random.default_rng(97)
    axis = np.array([0.0, 0.0, 1.0])
    across = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # v_1, v_2 in the axes of A
    x_a, x_b = rng.normal(size=(2, 3))
    phi_a, R_a, R_b = rng.normal(size=6), *(np.asarray(so3.exp(rng.normal(size=3)), float) for _ in range(2))
    w_b = rng.normal(size=3)
    # B's point moves against A's along the axis alone, at 1.3 m/s
    point_a = R_a @ (phi_a[3:] + np.cross(phi_a[:3], x_a))
    u_b = R_b.T @ (point_a - 1.3 * R_a @ axis) - np.cross(w_b, x_b)
    phi_b = np.concatenate([w_b, u_b])

    def rows(t: float) -> np.ndarray:
        """G (2, 12) after both bodies have moved with constant twists."""
        A, B = R_a @ np.asarray(so3.exp(t * phi_a[:3]), float), R_b @ np.asarray(so3.exp(t * phi_b[:3]), float)
        gamma = [np.hstack([-np.asarray(so3.hat(x), float), np.eye(3)]) for x in (x_a, x_b)]
        return across @ A.T @ np.hstack([A @ gamma[0], -B @ gamma[1]])

    h, phi = 1e-3, np.concatenate([phi_a, phi_b])
    true = (8 * (rows(h) - rows(-h)) - rows(2 * h) + rows(-2 * h)) / (12 * h) @ phi
    gamma = [np.hstack([-np.asarray(so3.hat(x), float), np.eye(3)]) for x in (x_a, x_b)]
    spin = [np.asarray(so3.hat(w[:3]), float) for w in (phi_a, phi_b)]
    printed = across @ R_a.T @ np.hstack([R_a @ spin[0] @ gamma[0], -R_b @ spin[1] @ gamma[1]]) @ phi
    missing = across @ spin[0].T @ R_a.T @ (1.3 * R_a @ axis)  # (w_A x v_i) . v_rel
    error = np.abs(printed + missing - true).max() / np.abs(true).max()
    lost = np.abs(printed - true).max() / np.abs(true).max()
    return Outcome(
        float(error), 1e-9, f"as printed {100 * lost:.0f} % is missing; exact where nothing slides, or with (w_A x v_i) . v_rel"
    )


# --- friction inside joints -----------------------------------------------------------------------------------------------------
@ERRATA.item(
    "staggered",
    "Friction on pins: share of steps of the compiled law (JointFriction) that do not settle. Staggered projections do "
    "not converge in "
    "every step, nor are bilateral ones always faster: see the figures",
    "004 section 2.11, Alg. 7 and 8: convergence and speed of both; linkwork bench bisp",
)
def staggered(quick: bool) -> Outcome:
    case, steps = bisp.revolute(2 if quick else 8, 0.3), 10
    rows = {(r["method"], r["start"]): r for r in bisp.measured(case, steps, ("staggered", "bisp"))}
    law = bisp.programmed("chain30", case, steps)
    text = "{} {rounds:.0f} rounds, {ms:.1f} ms a step, {unsettled} of {} not settled in 100 rounds"
    both = (text.format(name, steps, **rows[key, "cached"]) for name, key in (("plain", "staggered"), ("bilateral", "bisp")))
    note = f"{case[0].nb} pins; {'; '.join(both)}; compiled law {law['ms']:.2f} ms"
    return Outcome(law["unsettled"] / steps, 0.0, note)


@ERRATA.item(
    "hinge_contact",
    "An unbalanced wheel on a pin with friction slows down in 1 s: speed by bilateral staggered projections and by the "
    "compiled law",
    "004 section 2.11, cylinder geometry; closed form w_0 / (1 + K w_0 t), K = k / sqrt(I^2 - k^2), k = mu r m c",
)
def hinge_contact(quick: bool) -> Outcome:
    b = ModelBuilder(gravity=(0, 0, 0))
    b.body("wheel", joint=Revolute((0, 1, 0)), inertia=Inertia(2.0, (0.3, 0, 0), 0.3 * np.eye(3)))
    model = b.add(JointFriction("wheel", 0.5, radius=0.1)).build()
    k, inertia, h = 0.5 * 0.1 * 2.0 * 0.3, 0.3 + 2.0 * 0.3**2, 5e-4
    exact = 4.0 / (1.0 + k / np.sqrt(inertia**2 - k**2) * 4.0)
    start = state([0.0], [4.0])
    ends = {"compiled": simulate(model, start, 1.0, h).v[-1, 0]}
    ends["dense"] = friction_run(model, start, 200 if quick else 500, 5e-3 if quick else 2e-3, projections="bodies")[-1].v[0]
    errors = {name: abs(v / exact - 1.0) for name, v in ends.items()}
    return Outcome(
        max(errors.values()), 2e-3, ", ".join(f"{name} {x:.1e}" for name, x in errors.items()) + "; first order in the step"
    )
