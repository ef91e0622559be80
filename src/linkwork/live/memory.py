"""The memory of a module of WebAssembly: plans with their arrays and tables, at addresses of 32 bits.

    | stack, which grows down | arrays of zeros | tables and arrays that are not zero at the start |

Only the last part is in the file; the rest of a fresh memory is zero.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping

import numpy as np

from ..kernel.loops import LoopFunction
from ..kernel.plan import Plan
from ..kernel.records import SEGMENT
from ..kernel.sweep import Routine

STACK = 1 << 16  # bytes
ALIGN = 16
PAGE = 1 << 16
KERNEL, ENTRIES = SEGMENT.index("kernel"), SEGMENT.index("entries")
REPEAT = 4  # numbers of an entry of the kernel that repeats others: segments, how many, how often, a flag
PARAMETER = 2  # numbers of a parameter of a routine


class Memory:
    """Addresses are given out one after the other: those of zeros first.

    start   where the image begins, once it has begun
    """

    def __init__(self) -> None:
        self.start = STACK
        self._parts: list[bytes] = []
        self._end = STACK

    def leave(self, size: int) -> int:
        """The address of so many bytes of zeros."""
        assert not self._parts, "zeros come before the image"
        at = self.start
        self.start = self._end = at + size + -size % ALIGN
        return at

    def put(self, data: np.ndarray) -> int:
        """The address of these numbers in the image."""
        at, content = self._end, data.tobytes()
        self._parts.append(content + bytes(-len(content) % ALIGN))
        self._end += len(self._parts[-1])
        return at

    @property
    def image(self) -> bytes:
        """What lies from `start` on."""
        return b"".join(self._parts)

    @property
    def pages(self) -> int:
        return -(-self._end // PAGE)


class Placed:
    """A plan in such a memory.

    at   addresses of its arrays, by name
    """

    def __init__(self, memory: Memory, plan: Plan, values: Mapping[str, np.ndarray]) -> None:
        """values   of inputs and states at the start"""
        self.plan, self._memory, self._space = plan, memory, plan.workspace()
        for name, x in values.items():
            self._space.views[name][:] = np.asarray(x, float).reshape(-1)
        self.at: dict[str, int] = {}
        views: dict[int, np.ndarray] = {}  # by address: several names may mean one array
        for name in plan.arrays:
            address, view = self._space.address[name], self._space.views[name]
            if address not in views or view.size > views[address].size:
                views[address] = view
        self._filled = {address: view for address, view in views.items() if view.any()}
        self._places = {address: memory.leave(view.nbytes) for address, view in views.items() if address not in self._filled}
        self._arrays = sorted(((a.ctypes.data, a) for a in plan.entries if a.nbytes), key=lambda pair: pair[0])
        self._starts = [start for start, _ in self._arrays]
        self._tables: dict[int, int] = {}  # where the arrays of the plan's tables are, by their addresses here
        routines = [step.function for _, step in plan.algorithm.steps() if isinstance(step, Routine)]
        self._tables_of = {plan.backend.routine(f, plan.lanes): _tables(f) for f in routines}

    def put(self, elsewhere: Mapping[str, int] | None = None) -> dict[str, int]:
        """Place the tables, and all that is not zero: what `repeat(entries, 1, bases)` runs, as often as the number at `count`.

        elsewhere   addresses of arrays that another plan has placed
        """
        for address, view in self._filled.items():
            self._places[address] = self._memory.put(view)
        self._places |= {self._space.address[name]: at for name, at in (elsewhere or {}).items()}
        self.at = {name: self._places[self._space.address[name]] for name in self.plan.arrays}
        bases = self._memory.put(np.array([self.at[name] for name in self.plan.arrays], np.int32))
        segments = self._memory.put(self._moved_segments(self.plan.segments))
        entries = self._memory.put(np.array([segments, len(self.plan.segments), 1, -1], np.int64))
        return {"entries": entries, "bases": bases, "count": entries + 16}

    def _moved_segments(self, segments: np.ndarray) -> np.ndarray:
        out = segments.copy()
        for row in out:
            row[ENTRIES] = self._moved_entries(int(row[KERNEL]), int(row[ENTRIES]))
        return out

    def _moved_entries(self, kernel: int, address: int) -> int:
        """Where the entries of a kernel are: those that hold addresses themselves are rewritten."""
        if kernel == self.plan.driver.repeat_at:
            return self._moved(address, self._moved_repeats)
        if kernel in self._tables_of:
            return self._moved(address, lambda a: self._moved_arguments(a, self._tables_of[kernel]))
        return self._moved(address, lambda a: a)

    def _moved_repeats(self, entries: np.ndarray) -> np.ndarray:
        out = entries.reshape(-1, REPEAT).copy()
        for row in out:
            row[0] = self._moved(int(row[0]), self._moved_segments)
        return out

    def _moved_arguments(self, entries: np.ndarray, tables: list[int]) -> np.ndarray:
        out = entries.reshape(-1, PARAMETER).copy()
        for k in tables:
            out[k, 0] = self._moved(int(out[k, 0]), lambda a: a)
        return out

    def _moved(self, address: int, rewritten: Callable[[np.ndarray], np.ndarray]) -> int:
        """Where an address in one of the plan's arrays is now (0: the array is empty); arrays are placed when first asked for."""
        k = bisect_right(self._starts, address) - 1
        if k < 0 or address >= self._starts[k] + self._arrays[k][1].nbytes:
            return 0
        start, array = self._arrays[k]
        if start not in self._tables:
            self._tables[start] = self._memory.put(rewritten(array))
        return self._tables[start] + address - start


def _tables(function: LoopFunction) -> list[int]:
    """Which parameters of a routine are tables."""
    return [k for k, (_, kind) in enumerate(function.parameters) if kind == "Table"]
