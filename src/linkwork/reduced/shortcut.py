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
from ..model.arrays import FLOAT64, SCALAR64, WIDE64, Interface
from ..model.model import Model

Names = tuple[str, str, str]


class Shortcut:
    """An algorithm of three inputs and one output on a model; one per thread, as it has memory of its own."""

    def __init__(self, model: Model, algorithm: Algorithm, names: Names, result: str) -> None:
        self.model, self.algorithm, self.names, self.result = model, algorithm, names, result
        sizes = Interface(model, algorithm).sizes
        self.shapes = tuple((sizes[n],) for n in names)
        self._size = sizes[result]
        self._wide: tuple[Plan, Workspace, tuple[int, ...], tuple[int, ...]] | None = None
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
        if shapes == self.shapes:
            self._run(self._job, x.tobytes(), y.tobytes(), z.tobytes())
            return self._out.copy()
        if x.ndim == 2 and len(x) > 1 and shapes == tuple((len(x), *s) for s in self.shapes):
            return self._batch(np.ascontiguousarray(x), np.ascontiguousarray(y), np.ascontiguousarray(z))
        return None

    def _batch(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        if self._wide is None:
            plan = self._plan(WIDE64)
            work = plan.workspace()
            work.views["gravity"].reshape(3, -1)[:] = self.model.gravity[:, None]
            lanes = tuple(work.address[n] for n in (*self.names, self.result))
            self._wide = (plan, work, lanes, tuple(s[0] for s in self.shapes))
        plan, work, (lx, ly, lz, lo), (nx, ny, nz) = self._wide
        count = len(x)
        out = np.empty((count, self._size))
        n = self._size
        moves = (lx, address_of(x), nx, 8 * nx, 0, ly, address_of(y), ny, 8 * ny, 0, lz, address_of(z), nz, 8 * nz, 0)
        at = work.transfers_at
        head = (*work.fixed, 3, at, 1, at + 120, 0, count, 1, 1)
        struct.pack_into("31q", work.buffer, 0, *head, *moves, lo, address_of(out), n, 8 * n, 0)
        plan.driver.batch(work.job_at)
        return out


def shortcut(model: Model, algorithm: Algorithm, names: Names, result: str, x: Any, y: Any, z: Any) -> np.ndarray | None:
    """The result by the short way, or None if the inputs need the long one."""
    if not (type(x) is type(y) is type(z) is np.ndarray and x.dtype is y.dtype is z.dtype is FLOAT64):
        return None
    key = (algorithm.name, get_ident())
    call = model.shortcuts.get(key)
    if call is None:
        call = model.shortcuts[key] = Shortcut(model, algorithm, names, result)
    return call(x, y, z)


def prepared(algorithm: Algorithm, names: Names, result: str) -> Callable[[Model], Callable[..., np.ndarray]]:
    """For `model.function`: a maker of functions without checks."""
    return lambda model: Shortcut(model, algorithm, names, result).unchecked()
