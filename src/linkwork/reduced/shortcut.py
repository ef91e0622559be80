"""The short way for three inputs and one output: checks and copies cost more than the kernel, so they are few.

One state: the inputs go to the driver as bytes (the fastest copy that NumPy has), which it puts in place of the arrays of that
name. A batch: the driver's job is written with one `struct.pack_into`. Whatever is unusual (lists, float32, broadcasting, wrong
shapes) takes the long way through `Interface`, with its messages.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy as np

from ..kernel.plan import Plan, Workspace, address_of
from ..kernel.sweep import Algorithm
from ..model.arrays import FLOAT32, FLOAT64, SCALAR64, WIDE32, WIDE64, Interface
from ..model.model import Model

Names = tuple[str, str, str]
FLOATS = (FLOAT32, FLOAT64)


class Shortcut:
    """An algorithm of three inputs and one output on a model; one per thread, as it has memory of its own."""

    def __init__(self, model: Model, algorithm: Algorithm, names: Names, result: str) -> None:
        self.model, self.algorithm, self.names, self.result = model, algorithm, names, result
        sizes = Interface(model, algorithm).sizes
        self.shapes = tuple((sizes[n],) for n in names)
        self._size = sizes[result]
        self._wide: dict[Any, tuple[Plan, Workspace, tuple[int, ...]]] = {}
        work, self._run, self._job = self._prepare_single()
        self._narrow, self._out = work, work.views[result]

    def _plan(self, lanes: Any) -> Plan:
        given = (*self.names, "gravity")
        absent = [n for n, f in self.algorithm.fields.items() if f.kind == "input" and n not in given]
        absent += [n for n in self.algorithm.results if n != self.result]
        return self.model.plan(self.algorithm, lanes, tuple(self.algorithm.phases), tuple(absent))

    def _prepare_single(self) -> tuple[Workspace, Callable[..., None], int]:
        plan = self._plan(SCALAR64)
        work = plan.workspace()
        work.views["gravity"][:] = self.model.gravity
        return work, plan.driver.single, work.single(self.names)

    def unchecked(self) -> Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
        """A function of one state, without checks, that returns its own array."""
        run, job, out = self._run, self._job, self._out

        def call(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
            run(job, x.tobytes(), y.tobytes(), z.tobytes())
            return out

        call.__dict__["shortcut"] = self  # keeps the memory alive
        return call

    def __call__(self, x: Any, y: Any, z: Any) -> np.ndarray | None:
        """The result, or None if the arrays are not of one state or of equal batches."""
        shapes = (x.shape, y.shape, z.shape)
        if shapes == self.shapes and x.dtype is FLOAT64:
            self._run(self._job, x.tobytes(), y.tobytes(), z.tobytes())
            return self._out.copy()
        if x.ndim == 2 and len(x) > 1 and shapes == tuple((len(x), *s) for s in self.shapes):
            return self._batch(np.ascontiguousarray(x), np.ascontiguousarray(y), np.ascontiguousarray(z))
        return None

    def _prepare_wide(self, dtype: Any) -> tuple[Plan, Workspace, tuple[int, ...]]:
        plan = self._plan(WIDE64 if dtype is FLOAT64 else WIDE32)
        work = plan.workspace()
        work.views["gravity"].reshape(3, -1)[:] = self.model.gravity[:, None]
        self._wide[dtype] = plan, work, tuple(work.address[n] for n in (*self.names, self.result))
        return self._wide[dtype]

    def _batch(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        dtype = x.dtype
        plan, work, (lx, ly, lz, lo) = self._wide.get(dtype) or self._prepare_wide(dtype)
        count, n, size = len(x), self._size, dtype.itemsize
        out = np.empty((count, n), dtype)
        (nx,), (ny,), (nz,) = self.shapes
        moves = (lx, address_of(x), nx, size * nx, 0, ly, address_of(y), ny, size * ny, 0, lz, address_of(z), nz, size * nz, 0)
        at = work.transfers_at
        head = (*work.fixed, 3, at, 1, at + 120, 0, count, 1, 1)
        struct.pack_into("31q", work.buffer, 0, *head, *moves, lo, address_of(out), n, size * n, 0)
        plan.driver.batch(work.job_at)
        return out


def shortcut(model: Model, algorithm: Algorithm, names: Names, result: str, x: Any, y: Any, z: Any) -> np.ndarray | None:
    """The result by the short way, or None if the inputs need the long one."""
    if not (type(x) is type(y) is type(z) is np.ndarray and x.dtype is y.dtype is z.dtype) or x.dtype not in FLOATS:
        return None
    key = (algorithm.name, get_ident())
    call = model.shortcuts.get(key)
    if call is None:
        call = model.shortcuts[key] = Shortcut(model, algorithm, names, result)
    return call(x, y, z)


def prepared(algorithm: Algorithm, names: Names, result: str) -> Callable[[Model], Callable[..., np.ndarray]]:
    """For `model.function`: a maker of functions without checks."""
    return lambda model: Shortcut(model, algorithm, names, result).unchecked()
