"""A step by Newton's method in parts: one that is not solved is halved, in every lane by itself."""

from __future__ import annotations

import numpy as np

from ..kernel.loops import Lane, loops, minimum, where

HALVINGS = 8
SHORTEST = 0.75 * 0.5**HALVINGS  # parts of a step that would be shorter are not tried
NO_NUMBER = np.nan


@loops
def hand_over(handed: Lane) -> None:
    """All lanes are solved by rounds of Newton's method."""
    handed[0] = 1.0


@loops
def begin_parts(h: Lane, unsolved: Lane, handed: Lane, span: Lane, rest: Lane, trying: Lane) -> None:
    """All of the step at once, in lanes that are handed over and were solved so far."""
    span[0] = h[0]
    rest[0] = h[0]
    trying[0] = where(unsolved[0] > 0.0, 0.0, handed[0])


@loops
def settle(trying: Lane, change: Lane, tolerance: Lane, solved: Lane) -> None:
    """Which lanes solved their part."""
    solved[0] = where((trying[0] > 0.5) & (change[0] <= tolerance[0]), 1.0, 0.0)


@loops
def next_part(h: Lane, change: Lane, solved: Lane, span: Lane, rest: Lane, t: Lane, trying: Lane, unsolved: Lane) -> None:
    """A part that was solved is done, and the next may be twice as long; one that was not is halved, HALVINGS times at most."""
    on = trying[0] > 0.5
    good = solved[0] > 0.5
    t[0] += where(good, span[0], 0.0)
    rest[0] = where(good, rest[0] - span[0], rest[0])
    ended = rest[0] <= 1e-9 * h[0]
    span[0] = where(on, where(good, minimum(2.0 * span[0], rest[0]), 0.5 * span[0]), span[0])
    given_up = on & ~good & (span[0] < SHORTEST * h[0])
    unsolved[0] = where(given_up, change[0], unsolved[0])
    trying[0] = where(ended | given_up, 0.0, trying[0])


@loops
def lose(width: int, unsolved: Lane, twists: Lane) -> None:
    """The motion of a lane whose step is not solved is no number."""
    for i in range(width):
        twists[i] = where(unsolved[0] > 0.0, NO_NUMBER, twists[i])
