"""Scenes of the schema redmax-scene/1 (tests/data/redmax) against the same methods on one coordinate, written out here.

Every scene reduces to one or two independent coordinates, so that its discrete motion is a recurrence of a line or two, and its
continuous one an equation for SciPy. Slips of the published scenes are compared with what the library has instead.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import linkwork as lw
from linkwork.io.redmax import RedmaxScene, Run, read_scene
from linkwork.studies.verify_redmax import energy_change, rows_of, run

FOLDER = Path(__file__).parent.parent / "data" / "redmax"
FILES = sorted(FOLDER.glob("*.json"))
G = 9.81
Force = Callable[[float, float, float], float]  # of q, v, t


def scene(name: str) -> RedmaxScene:
    return read_scene(FOLDER / f"{name}.json")


def run_of(s: RedmaxScene, integrator: str) -> Run:
    return next(r for r in s.runs if r.integrator == integrator)


def end_of(name: str, integrator: str) -> tuple[np.ndarray, np.ndarray]:
    """q and v at the end of a run of a file."""
    s = scene(name)
    end = run(s, run_of(s, integrator))
    return end.q, end.v


# --- methods on one coordinate ----------------------------------------------------------------------------------------
def accurate(m: float, f: Force, q: float, v: float, t_end: float) -> tuple[float, float]:
    found = solve_ivp(lambda t, y: (y[1], f(y[0], y[1], t) / m), (0.0, t_end), (q, v), "DOP853", rtol=1e-12, atol=1e-13)
    return float(found.y[0, -1]), float(found.y[1, -1])


def implicit(m: float, f: Force, s: float, q: float, v_c: float, a_c: float, t: float) -> tuple[float, float]:
    """The move u with v = s u + v_c and m (s^2 u + a_c) = f, by bracketing."""

    def rest(u: float) -> float:
        return m * (s * s * u + a_c) - f(q + u, s * u + v_c, t)

    u = float(brentq(rest, -1.0, 1.0, xtol=1e-15, rtol=1e-15))
    return q + u, s * u + v_c


def bdf1(m: float, f: Force, q: float, v: float, h: float, steps: int) -> tuple[float, float]:
    for k in range(steps):
        q, v = implicit(m, f, 1 / h, q, 0.0, -v / h, (k + 1) * h)
    return q, v


def bdf2(m: float, f: Force, q: float, v: float, h: float, steps: int) -> tuple[float, float]:
    c = 1 - np.sqrt(0.5)
    _, v_a = implicit(m, f, 1 / (c * h), q, 0.0, -v / (c * h), c * h)
    a = (v_a - v) / (c * h)
    new = implicit(m, f, 1 / (c * h), q, -(1 - c) / c * v_a, -((v + (1 - c) * h * a) / (c * h) + (1 - c) / c * v_a / (c * h)), h)
    old, (q, v) = (q, v), new
    for k in range(1, steps):
        v_c = (old[0] - q) / (2 * h)
        a_c = (3 * v_c - 4 * v + old[1]) / (2 * h)
        old, (q, v) = (q, v), implicit(m, f, 1.5 / h, q, v_c, a_c, (k + 1) * h)
    return q, v


# --- a pendulum with a spring, on a body whose axes are turned --------------------------------------------------------
ARM = np.array([0.3, -0.1])  # x and z of the centre of mass
SWING = {"m": 1.5, "I": 0.02 + 1.5 * ARM @ ARM, "k": 2.0, "d": 0.3 + 0.05 * (1 + ARM @ ARM), "q0": 0.7, "v0": -0.4}


def swing_weight(q: float) -> float:
    """The moment of the weight, about y."""
    return SWING["m"] * G * (ARM[0] * np.cos(q) + ARM[1] * np.sin(q))


def swing_force(q: float, v: float, t: float) -> float:
    return swing_weight(q) - SWING["k"] * (q - SWING["q0"]) - SWING["d"] * v


def swing_energy(q: float, v: float) -> float:
    def height(x: float) -> float:
        return -ARM[0] * np.sin(x) + ARM[1] * np.cos(x)

    stored = 0.5 * SWING["k"] * (q - SWING["q0"]) ** 2
    return 0.5 * SWING["I"] * v * v + stored + SWING["m"] * G * (height(q) - height(SWING["q0"]))


def swing_end(integrator: str, r: Run) -> tuple[float, float]:
    q, v, I = SWING["q0"], SWING["v0"], SWING["I"]
    if integrator == "REDMAX_EULER":
        for _ in range(r.steps):
            b = I * v + r.h * (swing_force(q, v, 0.0) + SWING["d"] * v)
            v = b / (I + r.h * SWING["d"] + r.h**2 * SWING["k"])
            q += r.h * v
        return q, v
    if integrator.startswith("BDF"):
        return (bdf1 if integrator == "BDF1" else bdf2)(I, swing_force, q, v, r.h, r.steps)
    return accurate(I, swing_force, q, v, r.duration)


@pytest.mark.parametrize("integrator", ["REDMAX_EULER", "BDF1", "BDF2", "REDMAX_ODE45", "RECURS_ODE45"])
def test_a_pendulum_with_a_spring(integrator: str) -> None:
    s = scene("swing")
    r = run_of(s, integrator)
    end = run(s, r)
    q, v = swing_end(integrator, r)
    tolerance = 1e-9 if r.kind == "EULER" else 1e-6  # ode45 and the published Newton steps stop before
    assert abs(end.q[0] - q) < tolerance
    assert abs(end.v[0] - v) < tolerance
    assert abs(energy_change(s, r, end) - swing_energy(q, v)) < tolerance
    assert abs(r.expected - swing_energy(q, v)) < tolerance
    if r.kind == "BDF":
        p = s.problem(r)
        exact = lw.simulate(p.model, p.state, r.duration, r.h, "redmax", stepper=integrator.lower()).final
        assert abs(exact.q[0] - q) + abs(exact.v[0] - v) < 1e-10


# --- a parallelogram, which is a pendulum -----------------------------------------------------------------------------
def test_a_closed_loop_is_a_pendulum() -> None:
    """Cranks of length 0.5 and mass 0.4 carry a coupler of mass 1.2 that does not turn."""
    s = scene("parallelogram")
    r = run_of(s, "REDMAX_EULER")
    I, weight = 2 * 0.4 * 0.5**2 / 3 + 1.2 * 0.5**2, (2 * 0.4 * 0.25 + 1.2 * 0.5) * G
    q, v = 0.6, 1.5
    start = 0.5 * I * v * v - weight * np.cos(q)
    for _ in range(r.steps):
        v -= r.h * weight * np.sin(q) / I
        q += r.h * v
    end = run(s, r)
    H = 0.5 * I * v * v - weight * np.cos(q) + weight * np.cos(0.6)
    assert np.abs(end.q - [q, -q, q]).max() < 1e-9
    assert abs(energy_change(s, r, end) - H) + abs(r.expected - H) < 1e-8
    for integrator in ("REDMAX_ODE45", "RECURS_ODE45"):
        r = run_of(s, integrator)
        q, v = accurate(I, lambda q, v, t: -weight * np.sin(q), 0.6, 1.5, r.duration)
        assert np.abs(run(s, r).q - [q, -q, q]).max() < 1e-6
        assert abs(r.expected - (start + weight * np.cos(0.6))) < 1e-9


# --- springs and dampers ----------------------------------------------------------------------------------------------
CART = {"m": 2.0, "k": 50.0, "d": 6.0, "L": 0.8, "v0": 1.5}


def cart_force(q: float, v: float, t: float) -> float:
    return -(CART["k"] * q + CART["d"] * v) / CART["L"]


def cart_energy(q: float, v: float, rest_length: float) -> float:
    return 0.5 * CART["m"] * v * v + 0.5 * CART["k"] * (q / CART["L"]) ** 2 * rest_length


@pytest.mark.parametrize("integrator", ["BDF1", "BDF2"])
def test_a_spring_and_damper(integrator: str) -> None:
    r = run_of(scene("cart"), integrator)
    q, v = (bdf1 if integrator == "BDF1" else bdf2)(CART["m"], cart_force, 0.0, CART["v0"], r.h, r.steps)
    assert np.abs(np.concatenate(end_of("cart", integrator)) - (q, v)).max() < 1e-9
    assert abs(r.expected - cart_energy(q, v, CART["L"])) < 1e-9


def test_the_published_damper_is_added_mass() -> None:
    """Its explicit part has the wrong sign, so that it resists acceleration; the library's damper takes the energy away."""
    s = scene("cart_published")
    r = run_of(s, "REDMAX_EULER")
    m, k, d = CART["m"], CART["k"] / CART["L"], CART["d"] / CART["L"]
    q, v = 0.0, CART["v0"]
    for _ in range(r.steps):
        v = (m * v + r.h * (-k * q + d * v)) / (m + r.h * d + r.h**2 * k)
        q += r.h * v
    assert np.abs(np.concatenate(end_of("cart_published", "REDMAX_EULER")) - (q, v)).max() < 1e-10
    assert abs(r.expected - cart_energy(q, v, 1.0)) < 1e-9
    true = accurate(m, cart_force, 0.0, CART["v0"], r.duration)
    p = s.problem(r)
    spring = lw.SpringDamper("wall", "cart", (0, 0, 0), (0, 0, 0), stiffness=50.0, damping=6.0, rest_length=0.8)
    right = p.model.replace(elements=[spring])
    tight = lw.simulate(right, p.state, r.duration, r.duration, stepper="dop853", rtol=1e-12, atol=1e-12).final
    assert np.abs([tight.q[0] - true[0], tight.v[0] - true[1]]).max() < 1e-10
    assert abs(q - true[0]) > 0.05
    fine = [lw.simulate(right, p.state, r.duration, r.h / n, "redmax").final.q[0] for n in (4, 8)]
    assert abs(fine[1] - true[0]) < 0.6 * abs(fine[0] - true[0]) < 0.01


# --- stops ------------------------------------------------------------------------------------------------------------
def test_stops_and_the_slip_of_the_upper_one() -> None:
    """Beyond the lower stop a correction pushes back; beyond the upper one, as published, it allows as much farther out."""
    s = scene("stops")
    r = run_of(s, "REDMAX_EULER")
    m, k, lower, upper, beta = 0.5, 20.0, -0.2, 0.3, r.baumgarte[2]
    q, v, touched = 0.0, 3.0, set()
    for _ in range(r.steps):
        v = (m * v - r.h * k * q) / (m + r.h**2 * k)
        if q <= lower and v < beta * (lower - q):
            v = beta * (lower - q)
            touched.add("lower")
        if q >= upper and v > -beta * (upper - q):
            v = -beta * (upper - q)
            touched.add("upper")
        q += r.h * v
    assert touched == {"lower", "upper"}
    assert np.abs(np.concatenate(end_of("stops", "REDMAX_EULER")) - (q, v)).max() < 1e-9
    assert abs(r.expected - 0.5 * (m * v * v + k * q * q)) < 1e-8
    p = s.problem(r)
    right = p.model.replace(
        elements=[*(e for e in p.model.elements if not isinstance(e, lw.Limit)), lw.Limit("slider", -0.2, 0.3)]
    )
    run = lw.simulate(right, p.state, 2.0, 1e-3, "redmax", baumgarte=50.0)
    assert -0.2 - 3e-3 < run.q.min() < -0.2
    assert 0.3 < run.q.max() < 0.3 + 3e-3
    assert run.health.limits < 3.0 * 1e-3


# --- prescribed motion and joint torques ------------------------------------------------------------------------------
def wanted(t: float) -> tuple[float, float, float]:
    u = np.exp(-2.0 * (t - 1.0))
    return 0.8 / (1 + u), 0.8 * 2 * u / (1 + u) ** 2, 0.8 * 4 * u * (u - 1) / (1 + u) ** 3


def push(t: float) -> float:
    return 1.5 if t < 0.5 else -2.0 * t**2 + np.pi / 4


def driven_energy(x: float, z: float, x_dot: float, z_dot: float) -> float:
    return 0.5 * 1.3 * x_dot**2 + 0.5 * 0.7 * z_dot**2 + 0.7 * G * z


def test_prescribed_joints_and_torques() -> None:
    """x is prescribed, z is pushed; both start elsewhere than the prescription says. Mass 0.7 above, 1.3 in all."""
    r = run_of(scene("driven"), "REDMAX_EULER")
    q, v, beta = np.zeros(2), np.zeros(2), r.baumgarte[2]
    for k in range(r.steps):
        t = (k + 1) * r.h
        position, rate, _ = wanted(t)
        v = np.array([rate + beta * (position - q[0]), v[1] + r.h * (push(t) / 0.7 - G)])
        q = q + r.h * v
    assert np.abs(np.concatenate(end_of("driven", "REDMAX_EULER")) - [*q, *v]).max() < 1e-9
    assert abs(r.expected - driven_energy(*q, *v)) < 1e-8
    for integrator, feedback in (("REDMAX_ODE45", 5.0**2), ("RECURS_ODE45", 0.0)):
        r = run_of(scene("driven"), integrator)
        x = accurate(1.0, lambda q, v, t, c=feedback: wanted(t)[2] + c * (wanted(t)[0] - q), 0.0, 0.0, r.duration)
        first = accurate(0.7, lambda q, v, t: 1.5 - 0.7 * G, 0.0, 0.0, 0.5)
        rest = solve_ivp(lambda t, y: (y[1], push(t) / 0.7 - G), (0.5, r.duration), first, "DOP853", rtol=1e-12, atol=1e-13)
        z = rest.y[:, -1]
        assert np.abs(np.concatenate(end_of("driven", integrator)) - [x[0], z[0], x[1], z[1]]).max() < 1e-5
        assert abs(r.expected - driven_energy(x[0], z[0], x[1], z[1])) < 1e-3


def test_a_prescribed_twist() -> None:
    """Two components follow v_world(t), at the new time; the third falls."""
    r = run_of(scene("guided"), "REDMAX_EULER")
    t = r.h * np.arange(1, r.steps + 1)
    x = r.h * np.sum(np.where(t < 0.3, 2 * t, 0.6))
    z = -G * r.h * np.sum(t)
    assert np.abs(end_of("guided", "REDMAX_EULER")[0] - [x, -x / 2, z]).max() < 1e-12
    assert abs(r.expected - 0.9 * (0.5 * (0.6**2 + 0.3**2 + (G * t[-1]) ** 2) + G * z)) < 1e-9
    r = run_of(scene("guided"), "REDMAX_ODE45")
    end = 0.3**2 + 0.6 * (r.duration - 0.3)
    assert np.abs(end_of("guided", "REDMAX_ODE45")[0] - [end, -end / 2, -0.5 * G * r.duration**2]).max() < 1e-6


# --- deformables ------------------------------------------------------------------------------------------------------
def test_a_chain_of_two_nodes_is_an_explicit_spring() -> None:
    """Node 1, at rest first, moves with the cart: mass 2 + 0.15, force -K e / L of the strain e."""
    r = run_of(scene("tether"), "REDMAX_EULER")
    q, v = 0.0, 1.0 * 2.0 / 2.15
    for _ in range(r.steps):
        v -= r.h * 40.0 * (q / 0.5) / 0.5 / 2.15
        q += r.h * v
    found = end_of("tether", "REDMAX_EULER")
    assert abs(found[0][0] - q) < 1e-10
    assert abs(found[1][0] - v) < 1e-10
    assert np.abs(found[0][1:] - [-0.5, 0, 0, q, 0, 0]).max() < 1e-10
    assert abs(r.expected - (0.5 * 2.15 * v * v + 0.5 * 40.0 * (q / 0.5) ** 2)) < 1e-9


# --- ground -----------------------------------------------------------------------------------------------------------
def test_a_cuboid_on_the_ground() -> None:
    """It falls flat: four corners of stiffness 400 and damping 3, half a side below the centre."""

    def force(y: float, v: float, t: float) -> float:
        d = y - 0.1
        return -0.6 * G + (4 * (-400.0 * d - 3.0 * v) if d <= 0 else 0.0)

    s = scene("drop")
    for integrator, method in (("BDF1", bdf1), ("BDF2", bdf2)):
        r = run_of(s, integrator)
        y, v = method(0.6, force, 0.3, 0.0, r.h, r.steps)
        end = run(s, r)
        assert np.abs(end.q - [0.0, y, 0.0]).max() < 1e-7
        assert np.abs(end.v - [0.0, v, 0.0]).max() < 1e-5
        stored = 0.5 * 4 * 400.0 * min(y - 0.1, 0.0) ** 2
        assert abs(r.expected - (0.3 * v * v + 0.6 * G * (y - 0.3) + stored)) < 1e-6


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_files_pass(path: Path) -> None:
    rows = list(rows_of(path, path.name))
    assert rows
    assert all(row.passed for row in rows), rows
