"""Calling an algorithm with arrays: shapes checked, batches broadcast, the width of the kernels chosen."""

from __future__ import annotations

import os
from collections.abc import Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel.plans import Plans
from ..kernel.sweep import Algorithm

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


SPARE = 4 << 20  # bytes: larger arrays get huge pages from the system, which are cheap


def _references() -> int:
    """What `getrefcount` says of an array that only a local variable holds."""
    kept = {"a": np.empty(0)}
    a = kept.pop("a")
    return getrefcount(a)


_ALONE = _references()


def fresh(spares: dict[str, np.ndarray], name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array for a result. The last one of this name is used again if the caller has dropped it and all views of it:
    new memory costs a page fault every 4096 bytes, up to half the time of a batch."""
    a = spares.pop(name, None)
    if a is None or a.shape != shape or a.dtype != dtype or getrefcount(a) != _ALONE:
        a = np.empty(shape, dtype)
    if a.nbytes <= SPARE:
        spares[name] = a
    return a


def run_batch(
    plans: Plans, algorithm: Algorithm, inputs: dict[str, np.ndarray], names: Sequence[str], lead: tuple[int, ...]
) -> dict[str, np.ndarray]:
    """Some outputs (..., size) of an algorithm on any tree, with these leading axes.

    inputs   (size,), one value for all states; or as many rows of it as there are states
    """
    batch = int(np.prod(lead))
    if batch == 1:
        one = plans.of_state(algorithm, {name: np.ascontiguousarray(x.reshape(-1)) for name, x in inputs.items()}, tuple(names))
        if one is not None:
            return {name: x.reshape(*lead, -1) for name, x in zip(names, one, strict=True)}
    plan = plans(algorithm, plans.lanes(algorithm, batch))
    given = {name: np.ascontiguousarray(x if x.ndim == 1 else x.reshape(batch, -1)) for name, x in inputs.items()}
    out = {name: np.empty((batch, plan.sizes[name])) for name in names}
    plan.run(given, out, batch)
    return {name: x.reshape(*lead, -1) for name, x in out.items()}


def thread_count(threads: int | None) -> int:
    """How many threads are meant; None means one for every core."""
    if threads is None:
        return os.cpu_count() or 1
    if not isinstance(threads, int | np.integer) or threads < 1:
        raise InputError(f"threads must be a positive whole number, or None for one per core, not {threads!r}")
    return int(threads)


class Interface:
    """An algorithm as a function of arrays on one model: the shapes of its fields.

    plans   of the tree that it runs on; the model's own by default
    tails   shapes of fields that the model does not know
    """

    def __init__(
        self, model: Any, algorithm: Algorithm, plans: Plans | None = None, tails: dict[str, tuple[int, ...]] | None = None
    ) -> None:
        self.model, self.algorithm, self._plans, self._known = model, algorithm, plans or model.plan, tails or {}
        self.tails = {name: self._tail(name) for name, f in algorithm.fields.items() if f.kind in ("input", "output", "state")}
        self.sizes = {name: int(np.prod(tail)) for name, tail in self.tails.items()}
        self.all_phases = tuple(algorithm.phases)
        self._spares: dict[str, np.ndarray] = {}

    def _tail(self, name: str) -> tuple[int, ...]:
        """The shape of one state's value of a field."""
        if name in self._known:
            return self._known[name]
        f = self.algorithm.fields[name]
        if f.space not in ("node", "global"):
            return self.model.space_shape(f.space)
        inner = (4, 4) if f.size({}) == 16 else (f.size({}),)
        return inner if f.space == "global" else (self.model.nb, *inner)

    def __call__(
        self, inputs: dict[str, Any], threads: int | None = 1, wanted: tuple[str, ...] | None = None
    ) -> dict[str, np.ndarray]:
        """The outputs (all, or those wanted), with the batch axis first if any input had one.

        inputs   field name -> array whose last axes are the field's, with an optional batch axis first; None means absent:
                 zeros that the kernels fold away
        """
        names = self.algorithm.results if wanted is None else wanted
        given = {name: x for name, x in inputs.items() if x is not None}
        absent = [name for name, x in inputs.items() if x is None] + [n for n in self.algorithm.results if n not in names]
        one = self._of_state(given, names, tuple(absent)) if threads == 1 else None
        if one is not None:
            return one
        dtype = FLOAT32 if any(getattr(x, "dtype", None) == FLOAT32 for x in given.values()) else FLOAT64
        batch: int | None = None
        arrays = {}
        for name, x in given.items():
            arrays[name], rows = self._array(name, x, dtype)
            if rows is not None and rows != batch:
                if batch not in (None, 1) and rows != 1:
                    raise InputError(f"{self.algorithm.name}: {name} has batch size {rows}, another argument {batch}")
                batch = rows if batch in (None, 1) else batch
        count = 1 if batch is None else batch
        if count != 1:
            arrays = {name: a[0] if a.ndim == 2 and len(a) == 1 else a for name, a in arrays.items()}
        lanes = self._plans.lanes(self.algorithm, count, dtype)
        plan = self._plans(self.algorithm, lanes, self.all_phases, tuple(absent))
        outputs = {name: fresh(self._spares, name, (count, self.sizes[name]), dtype) for name in names}
        if count:
            plan.run(arrays, outputs, count, threads=thread_count(threads))
        lead = () if batch is None else (count,)
        return {name: a.reshape(lead + self.tails[name]) for name, a in outputs.items()}

    def _of_state(self, given: dict[str, Any], names: tuple[str, ...], absent: tuple[str, ...]) -> dict[str, np.ndarray] | None:
        """The outputs by the short way, where all inputs are arrays of one state."""
        flat = {}
        for name, x in given.items():
            if type(x) is not np.ndarray or x.shape != self.tails[name]:
                return None
            flat[name] = x if x.ndim == 1 else x.reshape(-1)
        found = self._plans.of_state(self.algorithm, flat, names, self.all_phases, absent)
        if found is None:
            return None
        return {name: x.reshape(self.tails[name]) for name, x in zip(names, found, strict=True)}

    def _array(self, name: str, x: Any, dtype: Any) -> tuple[np.ndarray, int | None]:
        """The argument as one row (n,) or rows (batch, n), and how many rows it has."""
        tail = self.tails[name]
        try:
            a = np.ascontiguousarray(x, dtype)
        except (TypeError, ValueError):
            raise InputError(f"{self.algorithm.name}: {name} must be an array of numbers; {self._expected(name)}") from None
        shape = a.shape
        if shape == tail or (not np.ndim(x) and tail == (1,)):
            return a.reshape(-1), None
        if shape[1:] == tail and shape:
            return (a if len(shape) == 2 else a.reshape(shape[0], -1)), shape[0]
        raise InputError(f"{self.algorithm.name}: {name} has shape {shape}; {self._expected(name)}")

    def _expected(self, name: str) -> str:
        full = ", ".join(map(str, self.tails[name]))
        return f"expected ({full}) or (batch, {full})"
