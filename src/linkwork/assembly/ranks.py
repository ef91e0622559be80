"""Whether rows are independent wherever their parts are: tried at random configurations.

Rows that are independent almost everywhere may still become dependent on the way (a rod that slides on a rail, when it is
upright). Then the smallest singular value of the rows, each of length one, comes close to zero at some of the configurations;
where rank does not depend on configuration it varies little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .condition import Condition, derive
from .part import Part

TRIED = 24  # configurations
STEADY = 0.4  # the least of the smallest singular values, by the largest: above, rank counts as independent of configuration
INDEPENDENT = 1e-6  # the least singular value of rows that are independent
STRIDE = 0.4  # of the random walk through configurations, in units of the velocities
Users = Sequence[tuple[Condition, tuple[int, ...]]]  # conditions with their parts


class Ranks:
    """Ranks of rows of conditions on these parts, of which x are the coordinates at the start."""

    def __init__(self, parts: Sequence[Part], x: Sequence[np.ndarray]) -> None:
        self._parts, self._x = parts, x
        self._found: dict[Any, bool] = {}

    def steady(self, part: int, users: Users) -> bool:
        """Whether the rows of some conditions, in the velocities of one part, are independent at all configurations."""
        size = sum(condition.size for condition, _ in users)
        if size > self._parts[part].nv:
            return False
        key = (self._sameness(part), *(self._key(part, condition, at) for condition, at in users))
        if key not in self._found:
            self._found[key] = self._tried(part, users)
        return self._found[key]

    def _tried(self, part: int, users: Users) -> bool:
        least = []
        rng = np.random.default_rng(0)
        x = {i: self._x[i] for _, at in users for i in at}
        for _ in range(TRIED):
            J = np.concatenate([self._rows(part, condition, at, x) for condition, at in users])
            size = np.linalg.norm(J, axis=1, keepdims=True)
            least.append(float(np.linalg.svd(J / np.maximum(size, 1e-300), compute_uv=False)[-1]) if size.min() > 0.0 else 0.0)
            x = {i: self._strayed(i, xi, rng) for i, xi in x.items()}
        return min(least) > max(STEADY * max(least), INDEPENDENT)

    def _rows(self, part: int, condition: Condition, at: tuple[int, ...], x: dict[int, np.ndarray]) -> np.ndarray:
        """J of a condition (size, nv of the part)."""
        parts = [self._parts[i] for i in at]
        J = derive(condition, parts, [x[i] for i in at], [np.zeros(p.nv) for p in parts], 0.0).J
        first = sum(p.nv for p in parts[: at.index(part)])
        return np.asarray(J[:, first : first + self._parts[part].nv], float)

    def _strayed(self, i: int, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Coordinates after a random step."""
        part = self._parts[i]
        N = np.asarray(part.velocity_map(x), float)
        x = x + STRIDE * N @ rng.normal(size=part.nv)
        for _ in range(3):
            x = np.asarray(part.normalised(x), float)
        return x

    def _key(self, part: int, condition: Condition, at: tuple[int, ...]) -> tuple[Any, ...]:
        """What the rows depend on, besides coordinates."""
        numbers = tuple((name, x.shape, x.tobytes()) for name, x in condition.parameters().items())
        own = condition.signature if condition.built_in else id(condition)
        return (own, numbers, at.index(part), *(self._sameness(i) for i in at))

    def _sameness(self, i: int) -> tuple[Any, ...]:
        part = self._parts[i]
        numbers = tuple((name, x.shape, x.tobytes()) for name, x in part.parameters().items())
        return (part.signature if part.built_in else id(part), numbers)
