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
    """Outputs and states (batch, records, size), after every so many passes; what is not given is zero.

    inputs   (size,), (batch, size), or (batch, records, size)
    """
    fields, wanted = algorithm.fields, (*outputs, *states)
    found = {name: np.ascontiguousarray(x, float) for name, x in inputs.items() if name in fields}
    absent = [name for name, f in fields.items() if f.kind == "input" and name not in found]
    absent += [name for name, f in fields.items() if f.kind == "output" and name not in wanted]
    plan = plans(algorithm, plans.lanes(algorithm, batch), ("run",), tuple(absent))
    out = {name: np.empty((batch, records, plan.sizes[name])) for name in wanted}
    plan.run(found, out, batch, records, every)
    return out
