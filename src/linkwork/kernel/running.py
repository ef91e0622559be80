"""One run of an algorithm on a batch, for callers that name what they give and what they want each time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .plans import Plans
from .sweep import Algorithm

Arrays = dict[str, np.ndarray]


def run_plan(
    plans: Plans,
    algorithm: Algorithm,
    inputs: Mapping[str, np.ndarray],
    outputs: tuple[str, ...],
    batch: int,
    records: int,
    every: int,
    states: tuple[str, ...] = (),
) -> Arrays:
    """Outputs (batch, records, size), after every so many passes, and states (batch, size) after the last; what is not given is
    zero.

    inputs   (size,), (batch, size), or (batch, records, size)
    """
    found = {name: _in_rows(x) for name, x in inputs.items() if name in algorithm.fields}
    plan = plans.asked(algorithm, batch, tuple(found), outputs)
    out = {name: np.empty((batch, records, plan.sizes[name])) for name in outputs}
    out |= {name: np.empty((batch, plan.sizes[name])) for name in states}
    plan.run(found, out, batch, records, every)
    return out


def _in_rows(x: np.ndarray) -> np.ndarray:
    """The same numbers, those of a row one after the other; rows may lie anywhere, in any order."""
    x = np.asarray(x, float)
    return x if x.ndim and x.strides[-1] == x.itemsize else np.ascontiguousarray(x)
