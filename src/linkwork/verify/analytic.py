"""Motions that are known in closed form: pendulum, tops, helix, catenary, oscillator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ellipj, ellipk

from .. import (
    SE3,
    Inertia,
    JointDamping,
    JointSpring,
    Loop,
    Model,
    ModelBuilder,
    Revolute,
    Spherical,
    analysis,
    joint,
    simulate,
)
from .item import Family, Outcome
from .pictures import curves, moments
from .states import state

ANALYTIC = Family(
    "analytic",
    "Closed forms",
    "Motions that are known on paper. Figures are the largest errors over the run, relative to the size of the motion.",
)
GRAVITY = 9.81
EXACT = {"stepper": "dop853", "rtol": 1e-12, "atol": 1e-13}


@ANALYTIC.item(
    "pendulum",
    "Angle of a pendulum released at 2 rad, over 10 s: sin(angle / 2) = k cd(w t), k = sin 1",
    "Jacobi's elliptic functions; stepper rk4, 1 ms",
)
def pendulum(quick: bool) -> Outcome:
    amplitude, rate = 2.0, np.sqrt(GRAVITY / 1.1)
    bob = Inertia(1.0, (0, 0, -1.0), 0.1 * np.eye(3))
    model = ModelBuilder().body("bob", joint=Revolute((0, 1, 0)), inertia=bob).build()
    run = simulate(model, state([amplitude], [0.0]), 10.0, 1e-3, stepper="rk4", every=20)
    _, cn, dn, _ = ellipj(rate * run.t, np.sin(amplitude / 2) ** 2)
    exact = 2.0 * np.arcsin(np.sin(amplitude / 2) * cn / dn)
    error = np.abs(run.q[:, 0] - exact).max() / amplitude
    picture = curves({"computed": (run.t, run.q[:, 0])}, "t / s", "angle / rad", points={"cd": (run.t[::20], exact[::20])})
    return Outcome(error, 1e-9, "largest error of the angle", picture)


@ANALYTIC.item(
    "dzhanibekov",
    "Angular velocity of a free body that turns over about its middle axis, over 30 s",
    "Euler's equations in Jacobi's elliptic functions [Landau & Lifshitz, Mechanics, section 37]; stepper dop853",
)
def dzhanibekov(quick: bool) -> Outcome:
    I, energy, momentum = np.array([1.0, 2.0, 3.0]), 4.0, 4.0001  # just above the momentum of a turn about the middle axis
    a, b = 2 * energy * I[2] - momentum**2, momentum**2 - 2 * energy * I[0]
    speed = np.sqrt((I[2] - I[1]) * b / I.prod())
    modulus = (I[1] - I[0]) * a / ((I[2] - I[1]) * b)
    size = np.sqrt([a / (I[0] * (I[2] - I[0])), a / (I[1] * (I[2] - I[1])), b / (I[2] * (I[2] - I[0]))])
    model = ModelBuilder(gravity=(0, 0, 0)).body("nut", joint=Spherical(), inertia=Inertia(1.0, tensor=np.diag(I))).build()
    begin = ellipk(modulus) / speed  # turning about the middle axis
    phase = begin + np.linspace(0.0, 30.0, 301)

    def exact(t: np.ndarray) -> np.ndarray:
        sn, cn, dn, _ = ellipj(speed * t, modulus)
        return size * np.stack([cn, sn, dn], axis=-1)

    run = simulate(model, state(model.neutral(), exact(np.array(begin))), 30.0, 0.1, **EXACT)
    error = np.abs(run.v - exact(phase)).max() / np.abs(run.v).max()
    lines = {f"about axis {k + 1}": (run.t, run.v[:, k]) for k in range(3)}
    points = {"elliptic functions": (run.t[::6], exact(phase)[::6, 1])}
    flips = int(np.sum(np.diff(np.sign(run.v[:, 1])) != 0))
    picture = curves(lines, "t / s", "angular velocity / (rad/s)", points=points)
    return Outcome(error, 1e-9, f"it turns over {flips} times", picture)


@ANALYTIC.item(
    "heavy_top",
    "Axis of a top with one point fixed, released with spin alone, over 5 s: nutation by sn, precession by a quadrature",
    "Lagrange's top [Goldstein, Classical Mechanics, section 5.7]; stepper dop853",
)
def heavy_top(quick: bool) -> Outcome:
    mass, arm, across, along, spin, tilt = 1.0, 0.3, 0.12, 0.02, 60.0, 0.8
    tensor = np.diag([across - mass * arm**2] * 2 + [along])
    model = ModelBuilder().body("top", joint=Spherical(), inertia=Inertia(mass, (0, 0, arm), tensor)).build()
    q = np.array([np.cos(tilt / 2), np.sin(tilt / 2), 0.0, 0.0])
    run = simulate(model, state(q, [0.0, 0.0, spin]), 5.0, 0.02, **EXACT)
    axis = run.poses[:, 0, :3, 2]
    # u = cos(tilt): u'^2 = (1 - u^2)(alpha - beta u) - (b - a u)^2, with cusps at u_2 = u(0)
    u0, beta, a = np.cos(tilt), 2 * mass * GRAVITY * arm / across, along * spin / across
    b, alpha = a * u0, beta * u0
    u1, u2, u3 = np.sort(np.roots([beta, -(alpha + a**2), 2 * a * b - beta, alpha - b**2]).real)
    modulus, rate = (u2 - u1) / (u3 - u1), np.sqrt(beta * (u3 - u1) / 4)

    def u(t: float | np.ndarray) -> np.ndarray:
        sn = ellipj(rate * t + ellipk(modulus), modulus)[0]
        return u1 + (u2 - u1) * sn**2

    def precession(t: float) -> float:
        return float((b - a * u(t)) / (1.0 - u(t) ** 2))

    turned = np.cumsum([0.0, *(quad(precession, s, t, epsabs=1e-13)[0] for s, t in zip(run.t[:-1], run.t[1:], strict=True))])
    level = np.sqrt(1.0 - u(run.t) ** 2)
    exact = np.stack([level * np.sin(turned), -level * np.cos(turned), u(run.t)], axis=1)
    error = np.abs(axis - exact).max()
    low, high = np.degrees(np.arccos([u2, u1]))
    picture = curves({"axis": (axis[:, 0], axis[:, 1])}, "x", "y", points={"Lagrange": (exact[::4, 0], exact[::4, 1])})
    return Outcome(error, 1e-9, f"nutation between {low:.1f} and {high:.1f} degrees", picture)


@ANALYTIC.item(
    "helix",
    "A bead on a helix, a joint given by its transform alone: places in reduced and maximal coordinates, force on the wire, 3 s",
    "Constant acceleration c g / (r^2 + c^2 + k^2); radial force m r w^2",
)
def helix(quick: bool) -> Outcome:
    radius, descent, moment = 0.5, 0.1, 0.006
    slide = joint(lambda q: SE3.rot_z(q[0]) @ SE3(p=(radius, 0, -descent * q[0])), nv=1, name="verified helix")
    bead = Inertia(1.0, tensor=np.diag([0.01, 0.01, moment]))
    model = ModelBuilder().body("bead", joint=slide, inertia=bead).build()
    a = descent * GRAVITY / (radius**2 + descent**2 + moment)
    errors, runs = [], {}
    for method in ("reduced", "maximal"):
        run = simulate(model, state([0.0], [0.0]), 3.0, 1e-3, method, stepper="rk4", every=30)
        p, angle = run.poses[:, 0, :3, 3], 0.5 * a * run.t**2
        exact = np.stack([radius * np.cos(angle), radius * np.sin(angle), -descent * angle], axis=1)
        errors.append(np.abs(p - exact).max() / radius)
        runs[method] = run
    force = runs["reduced"].reactions("bead")[:, 3:]
    inward = np.stack([np.cos(0.5 * a * run.t**2), np.sin(0.5 * a * run.t**2)], axis=1)
    pull = np.abs(np.sum(force[:, :2] * inward, axis=1) + radius * (a * run.t) ** 2).max() / (radius * (3 * a) ** 2)
    note = f"places {max(errors):.1e}, radial force {pull:.1e}"
    return Outcome(max(*errors, pull), 1e-9, note, moments(runs["reduced"], "xy", 12))


def root(f: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes its sign."""
    return float(brentq(f, low, high, xtol=1e-15))  # pyright: ignore[reportArgumentType]


@ANALYTIC.item(
    "catenary",
    "Equilibrium of chains of 10, 20 and 40 rods between two pins beside that of rods (slopes in arithmetic progression)",
    "Statics of a chain; the sag tends to that of a catenary",
)
def catenary(quick: bool) -> Outcome:
    length, span = 1.0, 0.7
    errors, sags, places = [], [], {}
    for n in (10, 20, 40):
        b, rod = ModelBuilder(), length / n
        # tan of the slopes: (2 i - n + 1) s; s such that the rods reach from pin to pin
        k = np.arange(n) * 2.0 - n + 1.0
        steep = root(lambda s, k=k, rod=rod: np.sum(rod / np.sqrt(1 + (k * s) ** 2)) - span, 1e-3, 1e3)
        slopes = np.arctan(k * steep)
        for i in range(n):
            parent, place = (f"rod{i - 1}", SE3(p=(rod, 0, 0))) if i else ("world", SE3())
            inertia = Inertia.cuboid(mass=rod, size=(rod, 0.01, 0.01), com=(rod / 2, 0, 0))
            b.body(f"rod{i}", parent=parent, joint=Revolute((0, -1, 0)), placement=place, inertia=inertia)
        model = b.add(Loop(f"rod{n - 1}", "world", (rod, 0, 0), (span, 0, 0))).build()
        start = np.linspace(-1.0, 1.0, n) * 1.1  # an arc near it
        found = analysis.static_equilibrium(model, np.diff(start, prepend=0.0)).q
        errors.append(np.abs(np.cumsum(found) - slopes).max())
        sags.append(-np.min(np.cumsum(rod * np.sin(np.cumsum(found)))))
        places[f"{n} rods"] = tuple(np.insert(np.cumsum(rod * f(np.cumsum(found))), 0, 0.0) for f in (np.cos, np.sin))
    c = root(lambda c: 2 * c * np.sinh(span / 2 / c) - length, 0.05, 5.0)
    sag = c * (np.cosh(span / 2 / c) - 1.0)
    order = np.log2((sag - sags[0]) / (sag - sags[1])), np.log2((sag - sags[1]) / (sag - sags[2]))
    x = np.linspace(0.0, span, 15)
    points = {"catenary": (x, c * (np.cosh((x - span / 2) / c) - np.cosh(span / 2 / c)))}
    note = f"slopes in rad; sag {sags[-1]:.6f} m of 40 rods, {sag:.6f} of the catenary, converging with order {order[1]:.2f}"
    figure = max(*errors, 1e-9 * (abs(order[1] - 2.0) > 0.05))
    return Outcome(figure, 1e-10, note, curves(places, "x / m", "z / m", points=points))


def oscillator(stiffness: float, damping: float) -> Model:
    """A hinge with I = 0.2 kg m^2, a spring and a damper."""
    wheel = Inertia(1.0, tensor=0.2 * np.eye(3))
    b = ModelBuilder(gravity=(0, 0, 0)).body("wheel", joint=Revolute((0, 0, 1)), inertia=wheel)
    return b.add(JointSpring("wheel", stiffness=stiffness)).add(JointDamping("wheel", damping=damping)).build()


@ANALYTIC.item(
    "stiff_oscillator",
    "A hinge on a spring of 1e6 N m/rad with a damper, 50 periods",
    "Damped oscillation in closed form; stepper dop853",
)
def stiff_oscillator(quick: bool) -> Outcome:
    k, d, I = 1e6, 20.0, 0.2
    decay = d / (2 * I)
    rate = np.sqrt(k / I - decay**2)
    end = 50 * 2 * np.pi / rate
    run = simulate(oscillator(k, d), state([1e-3], [0.0]), end, end / 500, **EXACT)
    exact = 1e-3 * np.exp(-decay * run.t) * (np.cos(rate * run.t) + decay / rate * np.sin(rate * run.t))
    error = np.abs(run.q[:, 0] - exact).max() / 1e-3
    picture = curves({"computed": (run.t, run.q[:, 0])}, "t / s", "angle / rad", points={"exact": (run.t[::5], exact[::5])})
    return Outcome(error, 1e-8, "error of the angle beside its amplitude", picture)


@ANALYTIC.item(
    "stiff_steps",
    "The same spring in steps of 1/60 s, 40 times longer than its period / 2 pi: what implicit Euler makes of it, step by step",
    "The recursion (1 + h d/I + h^2 k/I) v' = v - h k/I q, q' = q + h v'; method redmax, stepper linearly_implicit",
)
def stiff_steps(quick: bool) -> Outcome:
    k, d, I, h = 1e6, 20.0, 0.2, 1 / 60
    run = simulate(oscillator(k, d), state([0.1], [3.0]), 1.0, h, "redmax", stepper="linearly_implicit")
    q, v = 0.1, 3.0
    exact = [(q, v)]
    for _ in range(60):
        v = (v - h * k / I * q) / (1 + h * d / I + h * h * k / I)
        q += h * v
        exact.append((q, v))
    found = np.stack([run.q[:, 0], run.v[:, 0]], axis=1)
    error = np.abs((found - exact) / np.abs(exact).max(axis=0)).max()
    return Outcome(error, 1e-12, "errors of angle and rate beside their largest values")
