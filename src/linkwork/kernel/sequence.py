"""Jobs of several plans, one after the other, in one call from Python: what one writes, the next reads.

    void lw_sequence(ptr entries, i64 count)      see ENTRY

An entry may be passed over where a number that an earlier job has found is not positive, and may bring bases of its own, so that
one workspace serves many states.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .machine import Library
from .records import load_field
from .workspace import Workspace, address_of

ENTRY = ("function", "job", "next", "bases", "own", "count", "flag")
ADDRESSES = ("function", "job", "next", "bases", "own", "flag")


def sequence_ir() -> str:
    """See the head of the module."""
    lines = ["define void @lw_sequence(ptr %entries, i64 %total) nounwind {", "start:"]
    lines += ["  %some = icmp sgt i64 %total, 0", "  br i1 %some, label %loop, label %done", "loop:"]
    lines += ["  %i = phi i64 [ 0, %start ], [ %i.next, %after ]", f"  %at = mul i64 %i, {len(ENTRY)}"]
    lines.append("  %entry = getelementptr i64, ptr %entries, i64 %at")
    for index, field in enumerate(ENTRY):
        load_field(lines, field, index, "%entry", "ptr" if field in ADDRESSES else "i64")
    return (
        "\n".join(lines)
        + """
  %always = icmp eq ptr %flag, null
  br i1 %always, label %go, label %ask
ask:
  %value = load double, ptr %flag
  %wanted = fcmp ogt double %value, 0.0
  br i1 %wanted, label %go, label %after
go:
  store i64 0, ptr %next
  %bytes = mul i64 %count, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %bases, ptr %own, i64 %bytes, i1 false)
  call void %function(ptr %job)
  br label %after
after:
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %total
  br i1 %more, label %loop, label %done
done:
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"""
    )


@functools.cache
def _library() -> Library:
    return Library.of_text("sequence", sequence_ir())


@functools.cache
def _run() -> Any:
    return _library().function("lw_sequence", ctypes.c_void_p, ctypes.c_int64)


@dataclass(frozen=True, eq=False)
class Entry:
    """The job that a workspace has described.

    bases   its arrays for this time, in the order of its plan; else its own
    flag    a number (1,): not positive, the job is passed over
    """

    work: Workspace
    bases: np.ndarray | None = None
    flag: np.ndarray | None = None

    @property
    def record(self) -> tuple[int, ...]:
        work = self.work
        work.plan.complete()
        own = (0, 0) if self.bases is None else (address_of(self.bases), len(self.bases))
        flag = 0 if self.flag is None else address_of(self.flag)
        return work.plan.driver.batch_at, work.job_at, work.next_at, work.bases.ctypes.data, *own, flag


class JobSequence:
    """Entries, ready to run."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries, self._call = entries, _run()
        self._table = np.array([entry.record for entry in entries], np.int64).reshape(-1, len(ENTRY))
        self._at = (self._table.ctypes.data, len(self._table))

    @property
    def described(self) -> tuple[int, int, int]:
        """For compiled code: the address of `lw_sequence`, and its arguments."""
        return _library().address("lw_sequence"), *self._at

    def __call__(self) -> None:
        """Run all jobs."""
        self._call(*self._at)
