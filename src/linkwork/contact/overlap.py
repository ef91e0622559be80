"""The way out of two convex shapes that are deep in each other, where Coal finds none: a search over directions.

Along a unit direction n from b to a, b reaches up to s_b(n) and a down to -s_a(-n), s the support functions, so that

    depth(n) = s_a(-n) + s_b(n)

is how far a must go along n to be free of b. The least depth over all n is the depth of the contact. It has several local minima;
the search starts from the best of directions that are spread evenly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

DIRECTIONS = 256  # spread over the sphere, 0.2 rad apart: shapes that are 10 times as long as wide have wider valleys
STARTS = 4  # of them, the best, from which the search goes on
FIRST_TURN_RAD, LAST_TURN_RAD = 0.1, 1e-7  # of a direction in a round of the search; depths are that exact, relative to the size
Support = Callable[[np.ndarray], float]


def least_overlap(support_a: Support, support_b: Support) -> tuple[np.ndarray, float]:
    """The unit direction (3,) from b to a along which a is free soonest, and how far that is (m, positive)."""

    def depth(n: np.ndarray) -> float:
        return support_a(-n) + support_b(n)

    around = evenly_spread(DIRECTIONS)
    depths = np.array([depth(n) for n in around])
    found = [_descended(depth, around[k], float(depths[k])) for k in np.argsort(depths)[:STARTS]]
    return min(found, key=lambda pair: pair[1])


def _descended(depth: Support, n: np.ndarray, least: float) -> tuple[np.ndarray, float]:
    """A local minimum near a direction: of eight neighbours the best, nearer ones when none is better."""
    turn = FIRST_TURN_RAD
    while turn > LAST_TURN_RAD:
        t = np.linalg.svd(n[None])[2][1:]
        angles = 0.25 * np.pi * np.arange(8)
        around = np.cos(turn) * n + np.sin(turn) * (np.cos(angles)[:, None] * t[0] + np.sin(angles)[:, None] * t[1])
        depths = [depth(d) for d in around]
        best = int(np.argmin(depths))
        if depths[best] < least:
            n, least = around[best] / np.linalg.norm(around[best]), depths[best]
        else:
            turn *= 0.5
    return n, least


def evenly_spread(count: int) -> np.ndarray:
    """Unit directions (count, 3) along a spiral."""
    k = np.arange(count) + 0.5
    z, angle = 1.0 - 2.0 * k / count, np.pi * (1.0 + np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)
