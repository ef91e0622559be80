"""Calling an algorithm with arrays: shapes checked, batches broadcast, the width of the kernels chosen."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel.lanes import Lanes
from ..kernel.sweep import Algorithm

SCALAR64, SCALAR32, WIDE64, WIDE32 = Lanes(1), Lanes(1, True), Lanes(8), Lanes(16, True)


def lanes_for(batch: int, dtype: Any) -> Lanes:
    """One state runs in scalar code, more in lanes of 8 (float64) or 16 (float32)."""
    if dtype == np.float32:
        return SCALAR32 if batch == 1 else WIDE32
    return SCALAR64 if batch == 1 else WIDE64


class Call:
    """One evaluation of an algorithm on a model.

    inputs    field name -> array whose last axes are the field's (see `tail`), with an optional batch axis first;
              None means absent: zeros that the kernels fold away
    """

    def __init__(self, model: Any, algorithm: Algorithm, inputs: dict[str, Any], threads: int | None = 1) -> None:
        self.model, self.algorithm = model, algorithm
        self.threads = threads if threads is not None else os.cpu_count() or 1
        given = {name: x for name, x in inputs.items() if x is not None}
        self.absent = tuple(name for name, x in inputs.items() if x is None)
        self.dtype = np.float32 if any(getattr(x, "dtype", None) == np.float32 for x in given.values()) else np.float64
        self.batch: int | None = None
        self.arrays = {name: self._array(name, x) for name, x in given.items()}
        self.lanes = lanes_for(self.batch or 1, self.dtype)

    def tail(self, name: str) -> tuple[int, ...]:
        """The shape of one state's value of a field."""
        f = self.algorithm.fields[name]
        if f.space not in ("node", "global"):
            return (self.model.space_size(f.space),)
        inner = (4, 4) if f.size({}) == 16 else (f.size({}),)
        return inner if f.space == "global" else (self.model.nb, *inner)

    def _array(self, name: str, x: Any) -> np.ndarray:
        tail = self.tail(name)
        try:
            a = np.ascontiguousarray(x, dtype=self.dtype)
        except (TypeError, ValueError):
            raise InputError(
                f"{self.algorithm.name}: {name} must be an array of numbers of shape {tail} or (batch, {tail})"
            ) from None
        if a.ndim == 0 and tail == (1,):
            a = a.reshape(1)
        if a.shape == tail:
            return a.reshape(-1)
        if a.shape[1:] == tail and a.ndim == len(tail) + 1:
            if self.batch in (None, 1) or len(a) == self.batch:
                self.batch = max(len(a), self.batch or 0) if len(a) != 0 else 0
            elif len(a) != 1:
                raise InputError(f"{self.algorithm.name}: {name} has batch size {len(a)}, another argument {self.batch}")
            flat = a.reshape(len(a), -1)
            return flat[0] if len(a) == 1 and self.batch != 1 else flat
        full = ", ".join(map(str, tail))
        raise InputError(f"{self.algorithm.name}: {name} has shape {a.shape}; expected ({full}) or (batch, {full})")

    def run(self, phases: tuple[str, ...] | None = None, wanted: tuple[str, ...] | None = None) -> dict[str, np.ndarray]:
        """The outputs (all, or those wanted), with the batch axis first if any input had one."""
        batch = 1 if self.batch is None else self.batch
        names = wanted or self.algorithm.results
        skipped = tuple(n for n in self.algorithm.results if n not in names)
        plan = self.model.plan(self.algorithm, self.lanes, phases or tuple(self.algorithm.phases), self.absent + skipped)
        outputs = {name: np.empty((batch, plan.sizes[name]), self.dtype) for name in names}
        if batch:
            plan.run(self.arrays, outputs, batch, threads=self.threads)
        lead = () if self.batch is None else (batch,)
        return {name: a.reshape(lead + self.tail(name)) for name, a in outputs.items()}
