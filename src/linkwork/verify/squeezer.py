"""Andrews' squeezer mechanism: seven bodies in the plane, three loops, a spring and a drive [Mazzia & Magherini, Test Set for IVP
Solvers, 2008; Hairer & Wanner 1996, section VII.7]; A03 of the IFToMM library. Lengths in m, masses in kg."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import Assembly, conditions, interactions, parts

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


def squeezer() -> Assembly:
    """Every body has its frame at a joint; angles are those of the problem, summed along the mechanism."""
    q = START
    assembly = Assembly()
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
        assembly.add(name, parts.Body2D(mass, inertia, com), (*place, angle))
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
        assembly.connect(conditions.Pin(a, b, at_a, at_b, space=2))
    return assembly


def loads(assembly: Assembly, q: np.ndarray) -> np.ndarray:
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


def angles(assembly: Assembly, q: np.ndarray) -> dict[str, float]:
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


def driven_squeezer() -> Assembly:
    """The mechanism with its spring and its drive as interactions."""
    assembly = squeezer()
    assembly.attach(interactions.Spring("rocker", "world", SPRING, LENGTH, at_a=(SD, -SC), at_b=C))
    assembly.attach(interactions.interaction(lambda crank, moment: -moment * crank.x[2], ["crank"], moment=DRIVE))
    return assembly
