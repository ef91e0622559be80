"""Andrews' squeezer mechanism: seven bodies in the plane, three loops, a spring and a drive [Mazzia & Magherini, Test Set for IVP
Solvers, 2008; Hairer & Wanner 1996, section VII.7]. Lengths in m, masses in kg."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw

A, B, C = (np.array(p) for p in ((-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)))
RR, RA, D, DA, SS, SA, SB, SC, SD = 7e-3, 92e-5, 28e-3, 115e-4, 35e-3, 1874e-5, 1043e-5, 18e-3, 2e-2
E, EA, ZT, TA, TB = 2e-2, 1421e-5, 4e-2, 2308e-5, 916e-5
U, UA, UB, ZF, FA = 4e-2, 1228e-5, 449e-5, 2e-2, 1421e-5
SPRING, LENGTH, DRIVE = 4530.0, 0.07785, 0.033
START = {
    "beta": -0.0617138900142764496358948458001,
    "theta": 0.0,
    "gamma": 0.455279819163070380255912382449,
    "phi": 0.222668390165885884674473185609,
    "delta": 0.487364979543842550225598953530,
    "omega": -0.222668390165885884674473185609,
    "epsilon": 1.23054744454982119249735015568,
}
# Published at t = 0.03 s.
REFERENCE = {
    "beta": 0.1581077119629904e2,
    "theta": -0.1575637105984298e2,
    "gamma": 0.4082224013073101e-1,
    "phi": -0.5347301163226948,
    "delta": 0.5244099658805304,
    "omega": 0.5347301163226948,
    "epsilon": 0.1048080741042263e1,
}


def turned(angle: float, local: Any) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]]) @ np.asarray(local)


def squeezer() -> lw.Assembly:
    """Every body has its frame at a joint; angles are those of the problem, summed along the mechanism."""
    q = START
    assembly = lw.Assembly()
    crank, rod = q["beta"], q["beta"] + q["theta"]
    top, bottom = A + turned(q["delta"], (ZT, 0)), A + turned(q["epsilon"], (0, -U))
    frames = {  # mass, inertia about the centre, centre, where the frame is, its angle
        "crank": (0.04325, 2.194e-6, (RA, 0), np.zeros(2), crank),
        "rod": (0.00365, 4.410e-7, (-DA, 0), turned(crank, (RR, 0)), rod),
        "rocker": (0.02373, 5.255e-6, (SB, -SA), B, q["gamma"]),
        "upper": (0.00706, 5.667e-7, (0, -(E - EA)), top, q["phi"] + q["delta"]),
        "upper arm": (0.07050, 1.169e-5, (TA, TB), A, q["delta"]),
        "lower": (0.00706, 5.667e-7, (ZF - FA, 0), bottom, q["omega"] + q["epsilon"]),
        "lower arm": (0.05498, 1.912e-5, (UA, UB), A, q["epsilon"]),
    }
    for name, (mass, inertia, com, place, angle) in frames.items():
        assembly.add(name, lw.parts.Body2D(mass, inertia, com), (*place, angle))
    for a, b, at_a, at_b in (
        ("crank", "world", (0, 0), (0, 0)),
        ("crank", "rod", (RR, 0), (0, 0)),
        ("rod", "rocker", (-D, 0), (0, -SS)),
        ("rod", "upper", (-D, 0), (0, -E)),
        ("rod", "lower", (-D, 0), (ZF, 0)),
        ("upper", "upper arm", (0, 0), (ZT, 0)),
        ("lower", "lower arm", (0, 0), (0, -U)),
        ("rocker", "world", (0, 0), B),
        ("upper arm", "world", (0, 0), A),
        ("lower arm", "world", (0, 0), A),
    ):
        assembly.connect(lw.conditions.Pin(a, b, at_a, at_b, space=2))
    return assembly


def loads(assembly: lw.Assembly, q: np.ndarray) -> np.ndarray:
    """The drive on the crank, and the spring between the rocker and the ground."""
    f = np.zeros(21)
    at = assembly.q_index("rocker")
    arm = turned(q[at][2], (SD, -SC))
    stretch = q[at][:2] + arm - C
    length = np.linalg.norm(stretch)
    pull = -SPRING * (length - LENGTH) / length * stretch
    f[at] = *pull, arm[0] * pull[1] - arm[1] * pull[0]
    f[assembly.v_index("crank")] = 0.0, 0.0, DRIVE
    return f


def angles(assembly: lw.Assembly, q: np.ndarray) -> dict[str, float]:
    turn = {name: float(q[assembly.q_index(name)][2]) for name in assembly.names}
    return {
        "beta": turn["crank"],
        "theta": turn["rod"] - turn["crank"],
        "gamma": turn["rocker"],
        "phi": turn["upper"] - turn["upper arm"],
        "delta": turn["upper arm"],
        "omega": turn["lower"] - turn["lower arm"],
        "epsilon": turn["lower arm"],
    }


def test_the_mechanism_closes_at_its_start() -> None:
    assembly = squeezer()
    assert np.abs(assembly.system(assembly.start).residual).max() < 1e-15
    assert len(assembly.layout.auxiliary) == 3  # three loops through the ground


def test_the_published_solution_is_met() -> None:
    """Accelerations by the multipliers, integrated by an explicit method of order 8."""
    assembly = squeezer()
    start = assembly.start

    def motion(t: float, y: np.ndarray) -> np.ndarray:
        state = lw.State(y[:21], y[21:], t)
        return np.concatenate([state.v, assembly.accelerations(state, loads(assembly, state.q)).motion])

    run = solve_ivp(motion, (0.0, 0.03), np.concatenate([start.q, start.v]), "DOP853", rtol=1e-10, atol=1e-10)
    found = angles(assembly, run.y[:21, -1])
    for name, value in REFERENCE.items():
        assert found[name] == pytest.approx(value, abs=1e-6), name


def test_the_program_meets_the_published_solution() -> None:
    """The same in compiled steps: the spring and the drive are interactions, loops are closed after every step."""
    assembly = squeezer()
    assembly.attach(lw.interactions.Spring("rocker", "world", SPRING, LENGTH, at_a=(SD, -SC), at_b=C))
    assembly.attach(lw.interactions.interaction(lambda crank, moment: -moment * crank.x[2], ["crank"], moment=DRIVE))
    start = assembly.start
    np.testing.assert_allclose(
        assembly.system(start).forces, loads(assembly, start.q) + squeezer().system(start).forces, atol=1e-12
    )
    run = assembly.simulate(0.03, 1e-5, every=1000)
    found = angles(assembly, run.q[-1])
    for name, value in REFERENCE.items():
        assert found[name] == pytest.approx(value, abs=2e-6), name
    assert run.residual.max() < 1e-12
