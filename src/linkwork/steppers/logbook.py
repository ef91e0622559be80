"""The records of a run that Python steps: what every step leaves is kept, without a look at the arrays that hold it.

Compiled steps of one state write their records themselves (`Logbook`), and the states that a control sees are these. Otherwise
every record is a chunk of bytes (`Chunks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..kernel.workspace import address_of
from ..model import MaximalState, State
from ..spatial.scalar import read_only
from .stepping import Stepping

Parts = dict[str, np.ndarray]


class Records(NamedTuple):
    """What was kept: parts of the states and reports (batch, records, size), and joint forces from the start of every record, or
    of the step that was under way, and once more the last ones (records, batch, nv)."""

    arrays: Parts
    reports: Parts
    tau: np.ndarray


class Logbook:
    """The records of one state, in memory for all of them, which compiled steps fill."""

    def __init__(self, run: Stepping, records: int) -> None:
        self._run = run
        sources = {name: run.now[name] for name in run.program.recorded} | run.reports
        self._arrays = {name: np.empty((1 + records, a.size)) for name, a in sources.items()}
        self._tau = np.empty((1 + records, run.model.nv))
        rows = []
        for name, a in sources.items():
            self._arrays[name][0] = a[0]
            rows.append((address_of(a), a.nbytes, address_of(self._arrays[name]) + a.nbytes))
        run.note([(0, 8 * run.model.nv, address_of(self._tau)), *rows])  # the first is what a step is given

    def states(
        self, kind: type[State | MaximalState], shapes: dict[str, tuple[int, ...]], times: Iterable[float]
    ) -> Iterator[tuple[float, Any]]:
        """Times and the states there, each when it is reached; after every one there must be a step."""
        if kind is State and self._run.shows(shapes):
            return _states(times, read_only(self._arrays["q"]), read_only(self._arrays["v"]))
        seen = self._run.seen(kind, shapes)
        return ((t, seen(t)) for t in times)

    def close(self) -> Records:
        """What was written; from here on nothing is."""
        steps = self._run.noted
        self._run.note(())
        found = {name: a[None, : steps + 1] for name, a in self._arrays.items()}
        parts = {name: found.pop(name) for name in self._run.program.recorded}
        self._tau[steps] = self._tau[steps - 1] if steps else self._run.applied[0]
        return Records(parts, found, self._tau[: steps + 1, None])


def _states(times: Iterable[float], q: np.ndarray, v: np.ndarray) -> Iterator[tuple[float, State]]:
    """States of rows of arrays that nobody can write to: nothing is looked at or copied."""
    new = object.__new__
    for t, q_now, v_now in zip(times, q, v, strict=False):  # there is one more row
        made = new(State)
        parts: Any = made.__dict__
        parts["q"], parts["v"], parts["t"] = q_now, v_now, t
        yield t, made


class Chunks:
    """The records of a batch, or of a run with several steps between them.

    tau   joint forces from the start of every record, in bytes
    """

    def __init__(self, run: Stepping) -> None:
        self._run, self.tau = run, list[bytes]()
        sources = (run.recorded, *run.reports.values())
        self._records = [[source.tobytes()] for source in sources]
        self._notes = [(chunks.append, source.tobytes) for chunks, source in zip(self._records, sources, strict=True)]

    def note(self) -> None:
        """One more record."""
        for add, numbers in self._notes:
            add(numbers())

    def close(self) -> Records:
        """What was noted, as far as it is whole."""
        run, count = self._run, min(map(len, self._records))
        sizes = {name: run.now[name].shape[1] for name in run.program.recorded}
        arrays = self._split(self._records[0][:count], sizes)
        pairs = zip(run.reports.items(), self._records[1:], strict=True)
        reports = {name: self._split(chunks[:count], {name: a.shape[1]})[name] for (name, a), chunks in pairs}
        given = [*self.tau, self.tau[-1] if self.tau else run.applied.tobytes()]
        return Records(arrays, reports, np.frombuffer(b"".join(given)).reshape(len(given), run.batch, run.model.nv))

    def _split(self, chunks: Sequence[bytes], sizes: dict[str, int]) -> Parts:
        """Records of all parts of all states as arrays (batch, records, size)."""
        batch = self._run.batch
        rows, parts, first = np.frombuffer(b"".join(chunks)).reshape(len(chunks), -1), {}, 0
        for name, size in sizes.items():
            by_record = rows[:, first : first + batch * size].reshape(-1, batch, size)
            parts[name] = by_record.swapaxes(0, 1).copy()
            first += batch * size
        return parts
