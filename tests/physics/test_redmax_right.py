"""Scenes without the slips of the published ones, each against a route of its own: a recurrence, SciPy, or a known value.

Every scene is run twice. Without slips it must meet what is written out here for one or two coordinates; as published it must
lie clearly elsewhere, which shows that the slip is there and that it matters.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import linkwork as lw
from linkwork.io.redmax import RedmaxScene, Run, published_constraints, published_forces, read_scene
from linkwork.io.redmax.slips import Slip
from linkwork.studies import verify_redmax
from linkwork.studies.verify_redmax import energy_change, rows_of, run, verify

FOLDER = Path(__file__).parent.parent / "data" / "redmax"
G = 9.81


class Case:
    """A run of a file, without slips and as published: coordinates, velocities and energies at the end."""

    def __init__(self, scene: RedmaxScene, integrator: str, *slips: str, **options: Any) -> None:
        self.run: Run = next(r for r in scene.runs if r.integrator == integrator)
        assert tuple(text.split(":")[0] for text in scene.slips(self.run)) == slips
        right, published = (run(scene, self.run, right=which, **options) for which in (True, False))
        self.q, self.v, self.H = right.q, right.v, energy_change(scene, self.run, right, right=True)
        self.published_q, self.published_H = published.q, energy_change(scene, self.run, published)


def scene(name: str) -> RedmaxScene:
    return read_scene(FOLDER / f"{name}.json")


def accurate(rates: Callable[..., Any], start: Any, t_end: float) -> np.ndarray:
    return solve_ivp(rates, (0.0, t_end), start, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


def bdf1(m: float, force: Callable[[float, float], float], q: float, v: float, r: Run) -> tuple[float, float]:
    """Implicit Euler on one coordinate, every step by bracketing."""
    for _ in range(r.steps):

        def rest(u: float, q: float = q, v: float = v) -> float:
            return m * (u / r.h - v) / r.h - force(q + u, u / r.h)

        u = float(brentq(rest, -1.0, 1.0, xtol=1e-16, rtol=1e-15))
        q, v = q + u, u / r.h
    return q, v


# --- forces -----------------------------------------------------------------------------------------------------------
CRANK = {"I": 0.2, "q0": 0.3, "v0": 2.0, "moment": 1.2}  # a force 3 upward, 0.4 from the pin


def crank_energy(q: float, v: float) -> float:
    return 0.5 * CRANK["I"] * v * v + CRANK["moment"] * (np.sin(q) - np.sin(CRANK["q0"]))


def test_a_point_force_is_implicit_and_has_an_energy() -> None:
    """Its moment -1.2 cos q has the stiffness -1.2 sin q, which belongs into the matrix of the step."""
    case = Case(scene("pushed"), "REDMAX_EULER", "ExplicitPointForce")
    q, v, h = CRANK["q0"], CRANK["v0"], case.run.h
    for _ in range(case.run.steps):
        v = (CRANK["I"] * v - h * 1.2 * np.cos(q)) / (CRANK["I"] - h * h * 1.2 * np.sin(q))
        q += h * v
    assert abs(case.q[0] - q) + abs(case.v[0] - v) + abs(case.H - crank_energy(q, v)) < 1e-10
    assert abs(case.published_q[0] - q) > 1e-3
    assert abs(case.published_H - case.H) > 0.2


def test_the_work_of_a_point_force_is_counted() -> None:
    case = Case(scene("pushed"), "BDF1", "UncountedPointForce", tolerance=0.0)
    q, v = bdf1(CRANK["I"], lambda q, v: -1.2 * np.cos(q), CRANK["q0"], CRANK["v0"], case.run)
    assert abs(case.q[0] - q) + abs(case.v[0] - v) + abs(case.H - crank_energy(q, v)) < 1e-9
    assert abs(case.published_H - case.H) > 0.2
    case = Case(scene("pushed"), "REDMAX_ODE45", "ExplicitPointForce")
    assert abs(case.H - 0.5 * CRANK["I"] * CRANK["v0"] ** 2) < 1e-5  # T + V stays what it was
    assert abs(case.published_H - case.H) > 0.2


CART = {"m": 2.0, "k": 50.0 / 0.8, "d": 6.0 / 0.8, "v0": 1.5}


def cart_energy(q: float, v: float) -> float:
    return 0.5 * (CART["m"] * v * v + CART["k"] * q * q)


def cart_rates(t: float, y: np.ndarray) -> tuple[float, float]:
    return y[1], -(CART["k"] * y[0] + CART["d"] * y[1]) / CART["m"]


def test_a_damper_brakes() -> None:
    """In a linearly implicit step, and in an explicit method."""
    case = Case(scene("cart_published"), "REDMAX_EULER", "AddedMassDamper")
    q, v, h = 0.0, CART["v0"], case.run.h
    for _ in range(case.run.steps):
        v = (CART["m"] * v - h * CART["k"] * q) / (CART["m"] + h * CART["d"] + h * h * CART["k"])
        q += h * v
    assert abs(case.q[0] - q) + abs(case.v[0] - v) + abs(case.H - cart_energy(q, v)) < 1e-10
    assert abs(case.published_H - case.H) > 1.0
    case = Case(scene("cart_published"), "REDMAX_ODE45", "ReversedDamper")
    q, v = accurate(cart_rates, (0.0, CART["v0"]), case.run.duration)
    assert abs(case.q[0] - q) + abs(case.v[0] - v) + abs(case.H - cart_energy(q, v)) < 1e-5
    assert case.H < cart_energy(0.0, CART["v0"]) < case.published_H


def test_springs_of_a_chain_are_implicit() -> None:
    """Mass 2 + 0.15 on a spring of 40 / 0.5^2; the node at its end, at rest first, moves with the cart."""
    case = Case(scene("tether"), "REDMAX_EULER", "ExplicitStrainSpring")
    q, v, m, k, h = 0.0, 2.0 / 2.15, 2.15, 160.0, case.run.h
    for _ in range(case.run.steps):
        v = (m * v - h * k * q) / (m + h * h * k)
        q += h * v
    assert abs(case.q[0] - q) + abs(case.v[0] - v) + abs(case.H - 0.5 * (m * v * v + k * q * q)) < 1e-9
    assert abs(case.published_H - case.H) > 0.1


def test_friction_on_the_ground_brakes() -> None:
    """A box at rest on four corners: mu m g while it slides, -4 kt v when 4 kt v is less than that."""
    case = Case(scene("slide"), "BDF1", "GroundCuboid", tolerance=0.0)
    m, mu, kt, h = 0.6, 0.5, 1.0, case.run.h
    x, v, stuck = 0.0, 2.0, 0
    for _ in range(case.run.steps):
        slid, held = v - h * mu * G, m * v / (m + 4 * h * kt)
        stuck += 4 * kt * held < mu * m * G
        v = held if 4 * kt * held < mu * m * G else slid
        x += h * v
    assert 0 < stuck < case.run.steps
    assert abs(case.q[0] - x) + abs(case.v[0] - v) + abs(case.H - 0.5 * m * v * v) < 1e-8
    assert case.H < 0.5 * m * 2.0**2 < case.published_H


def test_a_soft_stop_never_pulls() -> None:
    """Spring 20, mass 0.5; beyond 0.2 a push 300 x + 30 x_dot, which ends when it would hold back what returns."""

    def force(q: float, v: float) -> float:
        return -20.0 * q - (max(300.0 * (q - 0.2) + 30.0 * v, 0.0) if q > 0.2 else 0.0)

    case = Case(scene("soft_stops"), "BDF1", "SoftStop", tolerance=0.0)
    q, v = bdf1(0.5, force, 0.0, 4.0, case.run)
    assert abs(case.q[0] - q) + abs(case.v[0] - v) + abs(case.H - 0.5 * (0.5 * v * v + 20.0 * q * q)) < 1e-8
    assert abs(case.published_q[0] - q) > 0.1


# --- constraints ------------------------------------------------------------------------------------------------------
def test_both_stops_push_back() -> None:
    case = Case(scene("stops"), "REDMAX_EULER", "OneWayLimit")
    m, k, h, beta = 0.5, 20.0, case.run.h, case.run.baumgarte[2]
    q, v, beyond = 0.0, 3.0, set()
    for _ in range(case.run.steps):
        v = (m * v - h * k * q) / (m + h * h * k)
        if q <= -0.2:
            v = max(v, beta * (-0.2 - q))
            beyond.add("lower")
        if q >= 0.3:
            v = min(v, beta * (0.3 - q))
            beyond.add("upper")
        q += h * v
    assert beyond == {"lower", "upper"}
    assert abs(case.q[0] - q) + abs(case.v[0] - v) + abs(case.H - 0.5 * (m * v * v + k * q * q)) < 1e-9
    assert abs(case.published_H - case.H) > 2e-3


def test_a_ball_that_touches_rests() -> None:
    """At a distance of zero it is held from the first step on; it slides at 1."""
    case = Case(scene("floor"), "REDMAX_EULER", "StrictFloor")
    assert np.abs(case.q - [case.run.duration, 0.0, 0.5]).max() < 1e-12
    assert abs(case.H - 0.5 * 1.2) < 1e-12
    assert case.published_q[2] < 0.5 - 1e-4


def test_a_bead_stays_on_its_rod() -> None:
    """(I + m r^2) w stays, r_ddot = r w^2: the loop's directions turn with the rod, and so push on it."""
    case = Case(scene("bead"), "REDMAX_ODE45", "HingeLoop")
    I, m, r0, w0, r_dot0 = 0.3, 0.5, 0.5, 2.0, 0.4
    L = (I + m * r0**2) * w0

    def rates(t: float, y: np.ndarray) -> tuple[float, float, float]:
        w = L / (I + m * y[0] ** 2)
        return y[1], y[0] * w * w, w

    r, r_dot, angle = accurate(rates, (r0, r_dot0, 0.0), case.run.duration)
    assert np.abs(case.q - [angle, 0.0, r * np.cos(angle), 0.0, -r * np.sin(angle)]).max() < 1e-5
    assert abs(case.H - 0.5 * (I * w0**2 + m * (r_dot0**2 + (r0 * w0) ** 2))) < 1e-5
    assert abs(case.H - 0.5 * (L**2 / (I + m * r * r) + m * r_dot**2)) < 1e-5
    assert abs(case.published_H - case.H) > 0.5


def wanted(t: float) -> tuple[float, float, float]:
    u = np.exp(-2.0 * (t - 1.0))
    return 0.8 / (1 + u), 0.8 * 2 * u / (1 + u) ** 2, 0.8 * 4 * u * (u - 1) / (1 + u) ** 3


@pytest.mark.parametrize(("integrator", "slip"), [("REDMAX_ODE45", "NoVelocityFeedback"), ("RECURS_ODE45", "NoFeedback")])
def test_a_prescribed_joint_finds_back(integrator: str, slip: str) -> None:
    """It starts elsewhere; with both errors fed back (rates 5 and 5) the error is critically damped."""
    case = Case(scene("driven"), integrator, slip, rtol=1e-5, atol=1e-7)
    t, e, e_dot = case.run.duration, -wanted(0.0)[0], -wanted(0.0)[1]
    c = e_dot + 5.0 * e
    x = wanted(t)[0] + (e + c * t) * np.exp(-5.0 * t)
    x_dot = wanted(t)[1] + (c - 5.0 * (e + c * t)) * np.exp(-5.0 * t)
    assert abs(case.q[0] - x) + abs(case.v[0] - x_dot) < 1e-4
    assert abs(case.published_q[0] - x) > 1e-2


def test_a_prescribed_joint_turns_as_asked() -> None:
    """q = t^2 / 2 of an arm of mass 1 at 0.3; errors of position are corrected at the rate 4."""
    case = Case(scene("turned"), "REDMAX_EULER", "ReversedRate")
    q, v, h = 0.0, 0.0, case.run.h
    for k in range(case.run.steps):
        t = (k + 1) * h
        v = t + 4.0 * (0.5 * t * t - q)
        q += h * v
    assert abs(case.q[0] - q) + abs(case.v[0] - v) < 1e-12
    assert abs(case.H - (0.5 * 0.29 * v * v - G * 0.3 * np.sin(q))) < 1e-12
    assert case.published_q[0] < -0.1 < 0.1 < q


def test_a_prescribed_twist_finds_back() -> None:
    """A velocity that starts off by (1, 0) comes back as exp(-2 b t), b = 5."""
    data = json.loads((FOLDER / "guided.json").read_text())
    data["joints"][0]["qd0"] = [1.0, 0.0, 0.0]
    case = Case(RedmaxScene(data), "REDMAX_ODE45", "NoTwistFeedback", rtol=1e-5, atol=1e-7)
    t = case.run.duration
    off, moved = np.exp(-10.0 * t), (1.0 - np.exp(-10.0 * t)) / 10.0
    x = 0.3**2 + 0.6 * (t - 0.3)
    assert np.abs(case.q - [x + moved, -x / 2, -0.5 * G * t * t]).max() < 1e-4
    assert np.abs(case.v - [0.6 + off, -0.3, -G * t]).max() < 1e-4
    assert abs(case.published_q[0] - (x + t)) < 1e-4


# --- all of them ------------------------------------------------------------------------------------------------------
def test_every_slip_is_tested() -> None:
    """All classes that a scene can hold appear in the tests above by name."""
    kinds = {
        c
        for module in (published_forces, published_constraints)
        for c in vars(module).values()
        if isinstance(c, type) and issubclass(c, Slip) and c.__module__ == module.__name__
    }
    bases = {b for c in kinds for b in c.__bases__} & kinds - {published_forces.UncountedPointForce}
    text = Path(__file__).read_text()
    assert {b.__name__ for b in bases} == {"StrainSpring", "Unfed"}
    assert all(f'"{c.__name__}"' in text for c in kinds - bases)


def test_scenes_without_slips_stay() -> None:
    s = scene("swing")
    assert all(s.slips(r) == [] and s.problem(r, right=True).model.elements == s.problem(r).model.elements for r in s.runs)


def test_two_routes_of_the_library_agree() -> None:
    """A scene that has all kinds of integrators."""
    rows = list(rows_of(FOLDER / "pushed.json", "pushed", right=True))
    assert {row.integrator for row in rows} == {"REDMAX_EULER", "BDF1", "REDMAX_ODE45"}
    for row in rows:
        assert row.slips, row
        assert row.right is not None
        assert row.right_again is not None
        assert abs(row.right - row.right_again) < 1e-8
        assert len(set(row.routes)) == 2


def test_the_command_says_what_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line below each run with a slip, and the slips with what they do; keys of the report beside the usual ones."""
    for name in ("floor", "turned"):
        (tmp_path / f"{name}.json").write_text((FOLDER / f"{name}.json").read_text())
    verify(tmp_path, tmp_path / "out" / "rows.txt", right=True)
    lines = capsys.readouterr().out.splitlines()
    assert "without StrictFloor" in lines[2]
    assert "dense, pcg" in lines[2]
    assert any(line.startswith("  ReversedRate: A joint that turns") for line in lines)
    rows = json.loads((tmp_path / "out" / "rows.txt").read_text())
    assert [set(row) for row in rows] == [{"file", "integrator", "expected", "computed", "right", "right_again", "slips"}] * 2
    assert abs(rows[0]["right"] - 0.6) < 1e-12
    verify(tmp_path, tmp_path / "out" / "rows.txt")
    assert "right" not in capsys.readouterr().out
    assert set(json.loads((tmp_path / "out" / "rows.txt").read_text())[0]) == {"file", "integrator", "expected", "computed"}


def test_a_route_that_fails_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "floor.json").write_text((FOLDER / "floor.json").read_text())
    both = verify_redmax.right_routes

    def broken() -> lw.State:
        raise lw.SolverError("it is stuck")

    monkeypatch.setattr(verify_redmax, "right_routes", lambda s, r: both(s, r) | {"pcg": broken})
    (row,) = verify(tmp_path, right=True)
    assert row.passed
    assert (row.right, row.right_again) == (pytest.approx(0.6), None)
    assert "without StrictFloor; by one route only, error: it is stuck" in capsys.readouterr().out
