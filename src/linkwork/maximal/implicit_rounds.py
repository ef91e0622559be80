"""Rounds of an implicit step: the way to what was solved for, how far to go, and when forces do what the step took them to do.

A step makes the work of inertia and forces least, a function of the new twists y that is convex where forces are. A solve
leads from the guess along a way, at whose end the linearised function is least: its slope there is 0, and -way . A way at the
beginning. The slope of the function itself differs by the work, along the way, of what forces do beside what they were taken to
do. Where it is not small at the end of the way, it is sought where it is: so rounds end, whatever limits set in and let go.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.loops import Lane, loops, maximum, minimum
from ..kernel.loops import where as chosen
from ..model.rules import inertia_of
from ..spatial.scalar import dot
from .implicit_forces import AGREED
from .implicit_rules import either

ROUNDING = 1e-9  # of the work of the forces
CLOSE = 1e-12  # of the work of the first round: what is left is nothing
LEVEL = 0.1  # of the first slope: the search along a way ends there
TRIES = 16  # of a search
EDGE = 0.05  # of the bracket: trials keep away from its ends
SEARCH = ("seeking", "tries", "s", "low", "low_slope", "high", "high_slope", "first")


def aim(n: Any, parent: Any) -> None:
    """The way from the guess to what was solved for, in lanes that go on."""
    n.way = either(n.going > 0.5, n.free - n.y, np.zeros(6))
    n.way_v = n.S_hat.T @ (n.way - n.E.pull_twist(parent.way))
    drive, turn, turn_p = n.armature + n.h * n.damping, n.way[:3], parent.way[:3]
    n.curve_own = dot(n.way, inertia_of(n) @ n.way) + dot(turn, n.own_pull @ turn) + dot(turn_p, n.pull @ turn_p)
    if len(drive):
        n.curve_own = n.curve_own + dot(n.way_v, drive * n.way_v)


def settle(n: Any) -> None:
    """The guess is where the search has ended."""
    n.y = n.trial


@loops
def first_round(going: Lane, round: Lane, handed: Lane) -> None:
    """All lanes go, and none is handed over."""
    going[0] = 1.0
    round[0] = 0.0
    handed[0] = 0.0


@loops
def first_trial(going: Lane, seeking: Lane, tries: Lane, s: Lane, low: Lane, high: Lane, high_slope: Lane) -> None:
    """All the way."""
    seeking[0] = going[0]
    tries[0] = 0.0
    s[0] = 1.0
    low[0] = 0.0
    high[0] = 0.0
    high_slope[0] = 0.0


@loops
def seek(
    bodies: int,
    forces: int,
    curve_own: Lane,
    curve: Lane,
    slope: Lane,
    round: Lane,
    seeking: Lane,
    tries: Lane,
    s: Lane,
    low: Lane,
    low_slope: Lane,
    high: Lane,
    high_slope: Lane,
) -> None:
    """How far to go: where the slope of what the step makes least vanishes, or nearly so; the first round goes all the way."""
    steep = 0.0 * s[0]
    off = 0.0 * s[0]
    for i in range(bodies):
        steep += curve_own[i]
    for i in range(forces):
        steep += curve[i]
        off += slope[i]
    begin = -steep
    now = begin + s[0] * steep + off
    stuck = (steep <= 0.0) & (round[0] > 0.5) & (s[0] > 0.0)
    good = (abs(now) <= LEVEL * steep) | (round[0] < 0.5) | (s[0] <= 0.0) | (tries[0] >= TRIES)
    seeking[0] = chosen(good & ~stuck, 0.0, seeking[0])
    up = now > 0.0
    low_slope[0] = chosen(tries[0] < 0.5, begin, low_slope[0])
    new_high_slope = chosen(up, now, chosen(tries[0] < 0.5, 0.0, 0.5 * high_slope[0]))
    new_low_slope = chosen(up, chosen(tries[0] < 0.5, low_slope[0], 0.5 * low_slope[0]), now)
    new_high = chosen(up, s[0], high[0])
    new_low = chosen(up, low[0], s[0])
    between = (new_low * new_high_slope - new_high * new_low_slope) / (new_high_slope - new_low_slope)
    edge = EDGE * (new_high - new_low)
    between = minimum(maximum(between, new_low + edge), new_high - edge)
    beyond = minimum(2.0 * new_low, new_low * begin / minimum(begin - now, EDGE * begin))
    next = chosen(stuck, 0.0, chosen(new_high > 0.0, between, maximum(beyond, new_low)))
    on = seeking[0] > 0.5
    s[0] = chosen(on, next, s[0])
    low[0] = chosen(on, new_low, low[0])
    low_slope[0] = chosen(on, new_low_slope, low_slope[0])
    high[0] = chosen(on, new_high, high[0])
    high_slope[0] = chosen(on, new_high_slope, high_slope[0])
    tries[0] += seeking[0]


@loops
def judge(
    bodies: int,
    forces: int,
    curve_own: Lane,
    curve: Lane,
    miss: Lane,
    astray: Lane,
    size: Lane,
    s: Lane,
    first: Lane,
    going: Lane,
    round: Lane,
    handed: Lane,
) -> None:
    """Which lanes go on: those that stopped on the way, or where forces are not what the step took them to be.

    Where forces on bodies are far from it, another solve would not help: the step is handed over to Newton's method.
    """
    total = 0.0 * s[0]
    wrong = 0.0 * s[0]
    off = 0.0 * s[0]
    for i in range(bodies):
        total += curve_own[i]
    for i in range(forces):
        total += abs(curve[i]) + (ROUNDING / AGREED) * size[i]
        wrong += miss[i]
        off += astray[i]
    first[0] = chosen(round[0] < 0.5, total, first[0])
    close = total <= CLOSE * first[0]
    lost = (going[0] > 0.5) & ~close & ~(off <= AGREED * total)
    handed[0] = chosen(lost, 1.0, handed[0])
    there = (s[0] >= 1.0) & (s[0] <= 1.0) & (wrong <= AGREED * total)
    going[0] = chosen(there | close | (s[0] <= 0.0) | lost, 0.0, going[0])
    round[0] += going[0]
