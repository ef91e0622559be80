"""Sueda, Rigid Body Dynamics Notes: its one figure, its printed examples, and what it claims of speed."""

from __future__ import annotations

import numpy as np

from .. import SE3
from ..forces.muscle_curves import ACTIVE, PASSIVE, VELOCITY, PiecewiseCurve
from .item import Family, Outcome
from .pictures import curves

SUEDA = Family(
    "sueda",
    "Sueda: rigid body dynamics notes",
    "One numbered figure, no tables; the energies of the notes' own code are below.",
)
# [Eqs. 1.42, 1.44, 1.46]: a, b, c, d of every piece; 1.42 as printed, which is right (errata 004-8).
PRINTED: dict[str, tuple[PiecewiseCurve, list[list[float]]]] = {
    "passive": (
        PASSIVE,
        [
            [2.55305620081729, -7.02386028610914, 6.38855196976641, -1.91774788447456],
            [-2.76122280853939, 14.6587935048229, -23.0429533092186, 11.3749950550874],
        ],
    ),
    "active": (
        ACTIVE,
        [
            [-39.881247949014, 68.3443204612586, -35.5324573534802, 5.83029153632759],
            [-0.322674853252855, -1.71744046959073, 4.40290549894003, -1.36279017609645],
            [4.85118460831817, -20.9908796589089, 28.3080866793169, -11.2356843095252],
        ],
    ),
    "velocity": (
        VELOCITY,
        [
            [0.915253473864379, 2.74576042159314, 2.74576042159314, 0.915253473864378],
            [-453.333333333333, -8.78048780487805, 5.0, 1.0],
            [0.266648649866, -0.799945949598001, 0.799945949598001, 1.133351350134],
        ],
    ),
}
KNOTS = {"passive": (1.0, 1.3, 1.7), "active": (0.4, 0.7, 1.2, 1.81), "velocity": (-1.0, -0.05, 0.05, 1.0)}


@SUEDA.item(
    "fig1",
    "The three muscle curves at 100 points of every piece beside the printed cubics",
    "Figure 1, Eqs. 1.42, 1.44 and 1.46 (printed to 15 digits; errata 004-8)",
)
def fig1(quick: bool) -> Outcome:
    error, lines, points = 0.0, {}, {}
    for name, (curve, pieces) in PRINTED.items():
        knots = KNOTS[name]
        for k, cubic in enumerate(pieces):
            x = np.linspace(knots[k], knots[k + 1], 100)
            error = max(error, float(np.abs([curve(t) for t in x] - np.polyval(cubic, x)).max()))
        grid = np.linspace(knots[0], knots[-1], 200)
        lines[name] = (grid, [curve(t) for t in grid])
        points[f"{name}, knots"] = (knots, [curve(t) for t in knots])
    return Outcome(error, 1e-11, "", curves(lines, "normalised length or velocity", "force", points=points))


# Section 1.3: a matrix and its logarithm, as MATLAB prints them.
MATRIX = np.array(
    [[-0.7372, -0.2659, 0.6211, 0.6877], [-0.1676, -0.8186, -0.5493, 0.3886], [0.6545, -0.5091, 0.5589, 0.9371], [0, 0, 0, 1]]
)
LOGARITHM = np.array([1.1157, -0.9257, 2.7242, 1.3245, -0.6727, 0.3156])


@SUEDA.item("exponential", "exp and log of the MATLAB example of section 1.3", "Section 1.3, printed to four digits")
def exponential(quick: bool) -> Outcome:
    there = np.abs(np.asarray(SE3.exp(LOGARITHM).matrix, float) - MATRIX).max()
    back = np.abs(np.asarray(SE3(R=MATRIX[:3, :3], p=MATRIX[:3, 3]).log(), float) - LOGARITHM).max()
    return Outcome(float(max(there, back)), 3e-4, "the tolerance is what four digits leave")
