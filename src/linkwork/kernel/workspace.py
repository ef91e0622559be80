"""Memory for a plan: every array in lanes, and the tables that the driver reads."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from . import guard, python
from .notes import empty_notes
from .records import JOB, TRANSFER
from .workers import AVAILABLE, workers

if TYPE_CHECKING:
    from .plan import Plan

ALIGN = 64
BEFORE = 2  # numbers before a job: the next state, and whether a number was not sound
ALL = 1 << 60  # states at a time: no other thread shares them
NO_LOOK = (0, 0, 0)  # in a job: nobody looks at its numbers
CHUNKS = 16  # a thread takes its part in so many pieces, so that one which is late or slow gets less


class Workspace:
    """The memory of one thread: every array in lanes, and the tables that the driver reads.

    shared   of another phase of the same program, whose arrays are ours, too
    """

    def __init__(self, plan: Plan, shared: Workspace | None = None) -> None:
        self.plan = plan
        t = plan.lanes
        uniform = plan.variant.uniform
        alias = {name: f.alias for name, f in plan.algorithm.fields.items() if f.alias}
        sizes = {n: plan.stored.get(n, plan.sizes.get(n, 0)) * (1 if n in uniform else t.width) * t.bytes for n in plan.arrays}
        if shared is None:
            blocks = new_blocks({name: size for name, size in sizes.items() if name not in alias})
            blocks |= {name: blocks[other] for name, other in alias.items()}
        else:
            blocks = shared.blocks
        self.blocks = blocks
        self.views = {name: blocks[name][: sizes[name]].view(t.dtype) for name in plan.arrays}
        for name, values in plan.all_parameters.items():
            self.views[name][:] = np.repeat(values, 1 if name in uniform else t.width)
        self.bases = np.array([blocks[name].ctypes.data for name in plan.arrays], np.int64)
        self.address = {name: int(self.bases[i]) for i, name in enumerate(plan.arrays)}
        s = plan.segments
        self._dtype = np.dtype(t.dtype)
        self._globals = {name for name, f in plan.algorithm.fields.items() if f.space == "global"}
        self._constant: dict[str, np.ndarray | None] = {}
        self.fixed = (s.ctypes.data, len(s), self.bases.ctypes.data)
        self._table = np.zeros(BEFORE + len(JOB) + 2 * len(TRANSFER) * len(plan.arrays), np.int64)  # states go both ways
        self.buffer = self._table.data.cast("B")
        self._outputs = self._table[:0]  # where the outputs of the job are
        self.next_at = self._table.ctypes.data
        self.odd_at = self.next_at + 8
        self.job_at = self.next_at + 8 * BEFORE
        self._units = np.zeros(0, np.int64)  # where quaternions are that are looked at
        self._order: np.ndarray | None = None  # of the states of the job
        self.transfers_at = self.job_at + 8 * len(JOB)

    def of_state(
        self,
        names: Sequence[str],
        result: str,
        shape: tuple[int, ...],
        error: tuple[type, str] | None = None,
        copies: bool = False,
    ) -> tuple[Callable[..., Any], np.ndarray]:
        """A function of arrays of one state that stand for these, see `python.of_state`, and the array that it returns, or of
        which it `copies`."""
        plan = self.plan
        plan.complete()  # nothing of Python may run inside
        inputs = [(plan.arrays.index(n), plan.sizes[n]) for n in names]
        out = np.zeros(shape, self._dtype) if result in plan.maps else self.views[result].reshape(shape)
        unpack = (self.address[result], plan.sizes[result], self._map_of(result))
        run = python.of_state(plan.driver.python_state, self.fixed, self._dtype, inputs, out, unpack, error, copies, self)
        return run, out

    def of_step(self, name: str, most: np.ndarray, moving: str, notes: np.ndarray | None = None) -> Callable[..., Any]:
        """A function of an array that stands for this input and takes one state a step further, see `python.of_step`.

        most     how large its numbers may be
        moving   the part of the state that must stay finite
        notes    what is copied after every step
        """
        plan = self.plan
        plan.complete()  # nothing of Python may run inside
        given, looked = (plan.arrays.index(name), most), (plan.arrays.index(moving), plan.sizes[moving])
        noted = empty_notes(0) if notes is None else notes
        return python.of_step(plan.driver.python_step, self.fixed, given, looked, noted, self)

    def of_batch(
        self,
        names: Sequence[str],
        results: Sequence[str],
        others: Sequence[Workspace] = (),
        units: Sequence[tuple[str, int]] | None = None,
    ) -> Callable[..., Any]:
        """A function of arrays of a batch that stand for these, and arrays for the results, see `python.of_batch`.

        others   memory for threads that share the batch
        units    of every unit quaternion which of the names holds it, and where; None: nobody looks at numbers
        """
        driver, count = self.plan.driver, len(names) + len(results)
        jobs = [w._describe(names, results, self.next_at, self.odd_at, units) for w in (self, *others)]
        alone = python.of_batch(driver.python_batch, self.job_at, self._dtype, count, self)
        if not others or not AVAILABLE:
            return alone
        team, pieces = workers(), CHUNKS * len(jobs)
        mails = team.mails(len(others))
        places = (team.share_at, ctypes.addressof(mails))
        owners = (self, *others, mails)
        run = python.of_shared_batch(driver.python_shared, jobs, self._dtype, count, places, pieces, owners)

        return lambda *arrays: team.work(driver.batch_at, jobs, lambda: run(*arrays), lambda: alone(*arrays))

    def describe(self, names: Sequence[str], results: Sequence[str]) -> int:
        """Describe a call whose arrays are told later, in the transfers of the job: its address."""
        return self._describe(names, results, self.next_at, self.odd_at, None)

    def _describe(
        self, names: Sequence[str], results: Sequence[str], next_at: int, odd_at: int, units: Sequence[tuple[str, int]] | None
    ) -> int:
        """Describe a call of compiled code that knows the arrays: the address of the job."""
        self.plan.complete()  # it has no way to raise an error
        at, size, count = self.transfers_at, self.plan.lanes.bytes, len(names)
        moves: list[int] = []
        for n in (*names, *results):
            moves += (self.address[n], 0, self.plan.sizes[n], size * self.plan.sizes[n], 0, self._map_of(n))
        look = NO_LOOK
        if units is not None:
            size = self.plan.lanes.width * self.plan.lanes.bytes
            self._units = np.array([self.address[name] + size * place for name, place in units], np.int64)
            look = (odd_at, self._units.ctypes.data, len(units))
        head = (*self.fixed, count, at, len(results), at + 8 * len(TRANSFER) * count, next_at, 0, ALL, 1, 1, 0, *look)
        struct.pack_into(f"{BEFORE + len(JOB) + len(moves)}q", self.buffer, 0, 0, 0, *head, *moves)
        return self.job_at

    def fill(self, name: str, values: np.ndarray) -> None:
        """Write the same values (size,) of an input into every lane; they stay there."""
        self.views[name].reshape(-1, self.plan.lanes.width)[:] = values[:, None]

    def point(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Let these arrays, in lanes and in one piece, stand for our own, under all their names."""
        for i, name in enumerate(self.plan.arrays):
            f = self.plan.algorithm.fields.get(name)
            a = arrays.get(name if f is None or f.alias is None else f.alias)
            if a is not None:
                self.bases[i] = address_of(a)

    def adopt(self, other: Workspace, names: Sequence[str]) -> None:
        """Read these arrays from another workspace (of another variant) instead of our own."""
        for name in names:
            i = self.plan.arrays.index(name)
            self.bases[i] = other.bases[i]

    def disown(self, names: Sequence[str]) -> None:
        """Read these arrays from our own memory again."""
        for name in names:
            self.bases[self.plan.arrays.index(name)] = self.address[name]

    def job(
        self,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        batch: int,
        records: int = 1,
        every: int = 1,
        chunk: int = ALL,
        next_at: int | None = None,
        order: np.ndarray | None = None,
    ) -> int:
        """Describe a call to the driver: the address for `driver.batch`, valid until the next call is described.

        chunk     states that a thread takes at a time, from the number at `next_at` that all threads share
        order     (batch,) int64: the rows of the arrays that are states, in the order in which they go side by side
        """
        moves: list[int] = []
        for name, a in inputs.items():
            if name in self.plan.variant.uniform:
                self.views[name][:] = np.asarray(a).reshape(-1)
            elif self._constant.get(name) is not a:  # a constant of the model is already in the lanes
                move = self._transfer(name, a, batch, records)
                if name in self._globals and a.ndim == 1 and not a.flags.writeable:
                    self.fill(name, a)  # here: a thread may find no work left
                    self._constant[name] = a
                else:
                    moves += move
                    self._constant[name] = None
        split = len(moves)
        for name, a in outputs.items():
            moves += self._transfer(name, a, batch, records)
        at = self.transfers_at
        self._order = order
        states = (next_at or self.next_at, batch, chunk, records, every, 0 if order is None else address_of(order))
        head = (*self.fixed, split // len(TRANSFER), at, len(outputs), at + 8 * split, *states, *NO_LOOK)
        struct.pack_into(f"{BEFORE + len(JOB) + len(moves)}q", self.buffer, 0, 0, 0, *head, *moves)
        first = BEFORE + len(JOB) + TRANSFER.index("memory")
        self._outputs = self._table[first + split : first + len(moves) : len(TRANSFER)]
        return self.job_at

    def do_again(self) -> None:
        """Make ready to do the job once more."""
        self._table[0] = 0  # no state is done yet

    def move_outputs(self, distance: int, count: int) -> None:
        """The same, with the first outputs so many bytes further on in memory."""
        self.do_again()
        self._outputs[:count] += distance

    def _map_of(self, name: str) -> int:
        found = self.plan.maps.get(name)
        return 0 if found is None else found.ctypes.data

    def _transfer(self, name: str, a: np.ndarray, batch: int, records: int) -> tuple[int, int, int, int, int, int]:
        if a.dtype is not self._dtype and a.dtype != self._dtype:
            raise InputError(f"{name} holds {a.dtype}, the plan computes with {self._dtype}")
        strides = a.strides
        n = len(strides)
        if n and strides[-1] != self._dtype.itemsize and a.size and a.shape[-1] > 1:
            raise InputError(f"{name} must lie row by row in memory; pass np.ascontiguousarray of it")
        shape, size = a.shape, self.plan.sizes[name]
        if not n or shape[-1] != size or (n > 1 and shape[0] < batch) or (n > 2 and shape[1] < records):
            raise InputError(f"{name} has shape {shape}; {batch} states, {records} records of {size} numbers are needed")
        row, record = strides[0] if n > 1 else 0, strides[1] if n > 2 else 0
        places = self._map_of(name) if self.plan.maps else 0
        return self.address[name], address_of(a), self.plan.sizes[name], row, record, places


def new_blocks(sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Zeros, so many bytes each and one at least: one after the other, or each by itself under guard."""
    if guard.ON:
        return {name: guard.zeros(max(size, 1)) for name, size in sizes.items()}
    steps = [-(-max(size, 1) // ALIGN) * ALIGN for size in sizes.values()]
    raw = np.zeros(sum(steps) + ALIGN, np.uint8)
    begin = -raw.ctypes.data % ALIGN
    blocks = {}
    for name, step in zip(sizes, steps, strict=True):
        blocks[name] = raw[begin : begin + step]
        begin += step
    return blocks


def address_of(a: np.ndarray) -> int:
    """Where an array's data begins; four times faster than `a.ctypes.data` for writable arrays."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(a))  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):  # read-only or empty
        return a.__array_interface__["data"][0]
