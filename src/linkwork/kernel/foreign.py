"""Algorithms as functions that XLA calls: compiled code that reads its buffers, without Python and without copies.

XLA hands a function one record (`XLA_FFI_CallFrame` of its C interface), with a list of arguments and one of results; each has an
address, a rank and dimensions, the last of which is the size of one state's value. The function tells the driver where they are
and how many states there are, and runs it: one state in scalar code, more in lanes. Calls from several threads wait for
one another.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import cache, machine
from .lanes import Lanes
from .plans import Plans
from .records import JOB, TRANSFER
from .sweep import Algorithm
from .workspace import Workspace

ARGUMENTS, RESULTS = 72, 112  # in a call frame: the addresses of the lists of buffers
DATA, RANK, DIMENSIONS = 24, 32, 40  # in a buffer
EXTENSION, KIND, METADATA = 8, 8, 24  # of a frame; in an extension its kind, and for kind 1 what is asked for
VERSION, TRAITS = 24, 32  # in the metadata: major and minor version, and traits
MINOR = 3

FRAME = """define ptr @NAME(ptr %frame) #0 {
start:
  %extension.at = getelementptr i8, ptr %frame, i64 {EXTENSION}
  %extension = load ptr, ptr %extension.at
  %none = icmp eq ptr %extension, null
  br i1 %none, label %run, label %asked
asked:
  %kind.at = getelementptr i8, ptr %extension, i64 {KIND}
  %kind = load i32, ptr %kind.at
  %metadata.asked = icmp eq i32 %kind, 1
  br i1 %metadata.asked, label %tell, label %run
tell:
  %metadata.at = getelementptr i8, ptr %extension, i64 {METADATA}
  %metadata = load ptr, ptr %metadata.at
  %major = getelementptr i8, ptr %metadata, i64 {VERSION}
  store i32 0, ptr %major
  %minor = getelementptr i8, ptr %major, i64 4
  store i32 {MINOR}, ptr %minor
  %traits = getelementptr i8, ptr %metadata, i64 {TRAITS}
  store i32 0, ptr %traits
  ret ptr null
run:
  %arguments.at = getelementptr i8, ptr %frame, i64 {ARGUMENTS}
  %arguments = load ptr, ptr %arguments.at
  %results.at = getelementptr i8, ptr %frame, i64 {RESULTS}
  %results = load ptr, ptr %results.at
  %first = load ptr, ptr %arguments
  %rank.at = getelementptr i8, ptr %first, i64 {RANK}
  %rank = load i64, ptr %rank.at
  %dimensions.at = getelementptr i8, ptr %first, i64 {DIMENSIONS}
  %dimensions = load ptr, ptr %dimensions.at
  %leading = sub i64 %rank, 1
  br label %count
count:
  %i = phi i64 [ 0, %run ], [ %i.next, %multiply ]
  %states = phi i64 [ 1, %run ], [ %states.next, %multiply ]
  %i.more = icmp slt i64 %i, %leading
  br i1 %i.more, label %multiply, label %counted
multiply:
  %d.at = getelementptr i64, ptr %dimensions, i64 %i
  %d = load i64, ptr %d.at
  %states.next = mul i64 %states, %d
  %i.next = add i64 %i, 1
  br label %count
counted:
  %some = icmp sgt i64 %states, 0
  br i1 %some, label %wait, label %done
wait:
  %held = cmpxchg ptr inttoptr (i64 {LOCK} to ptr), i64 0, i64 1 acquire monotonic
  %mine = extractvalue { i64, i1 } %held, 1
  br i1 %mine, label %choose, label %wait
choose:
  %one = icmp eq i64 %states, 1
  %job = select i1 %one, ptr inttoptr (i64 {SCALAR_JOB} to ptr), ptr inttoptr (i64 {WIDE_JOB} to ptr)
  %driver = select i1 %one, ptr inttoptr (i64 {SCALAR_DRIVER} to ptr), ptr inttoptr (i64 {WIDE_DRIVER} to ptr)
  %transfers.at = getelementptr i64, ptr %job, i64 {TRANSFERS}
  %transfers = load ptr, ptr %transfers.at
{MOVES}
  %end = getelementptr i64, ptr %job, i64 {END}
  store i64 %states, ptr %end
  %next.at = getelementptr i64, ptr %job, i64 {NEXT}
  %next = load ptr, ptr %next.at
  store i64 0, ptr %next
  call void %driver(ptr %job)
  store atomic i64 0, ptr inttoptr (i64 {LOCK} to ptr) release, align 8
  br label %done
done:
  ret ptr null
}
attributes #0 = { nounwind }
"""


class ForeignFunction:
    """An algorithm on a tree, as a function of some inputs that returns some outputs, in this order, at an address.

    absent      inputs that are zero, and outputs that nobody wants
    constants   inputs that are the same in all calls
    """

    def __init__(
        self,
        plans: Plans,
        algorithm: Algorithm,
        inputs: tuple[str, ...],
        outputs: tuple[str, ...],
        absent: tuple[str, ...] = (),
        constants: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self._plans, self._algorithm, self._absent, self._constants = plans, algorithm, absent, dict(constants or {})
        self._names = inputs, outputs
        self._lock = (ctypes.c_int64 * 1)()
        one, many = (self._workspace(lanes) for lanes in (Lanes(1), plans.lanes(algorithm, 1 << 10)))
        self.sizes = {name: one.plan.sizes[name] for name in (*inputs, *outputs)}
        self._kept: Any = (one, many)
        numbers = {
            "LOCK": ctypes.addressof(self._lock),
            "SCALAR_JOB": one.job_at,
            "WIDE_JOB": many.job_at,
            "SCALAR_DRIVER": one.plan.driver.batch_at,
            "WIDE_DRIVER": many.plan.driver.batch_at,
            "TRANSFERS": JOB.index("inputs"),
            "END": JOB.index("end"),
            "NEXT": JOB.index("next"),
            "MOVES": "\n".join([*_moves("arguments", len(inputs), 0), *_moves("results", len(outputs), len(inputs))]),
        }
        places = {
            "EXTENSION": EXTENSION,
            "KIND": KIND,
            "METADATA": METADATA,
            "VERSION": VERSION,
            "TRAITS": TRAITS,
            "MINOR": MINOR,
        }
        places |= {"ARGUMENTS": ARGUMENTS, "RESULTS": RESULTS, "RANK": RANK, "DIMENSIONS": DIMENSIONS}
        text = FRAME
        for name, x in {**numbers, **places}.items():
            text = text.replace(f"{{{name}}}", str(x))
        symbol = f"lw_foreign_{cache.digest(text)[:24]}"
        self._library = machine.Library.shared(machine.compile_object(text.replace("@NAME", f"@{symbol}")))
        self.address = self._library.address(symbol)

    def _workspace(self, lanes: Lanes) -> Workspace:
        work = self._plans(self._algorithm, lanes, ("run",), self._absent).workspace()
        for name, x in self._constants.items():
            work.fill(name, np.asarray(x, float).reshape(-1))
        work.describe(*self._names)
        return work


def _moves(of: str, count: int, first: int) -> list[str]:
    """Tell the driver where the buffers of a list are."""
    lines = []
    for k in range(count):
        x, entry = f"{of}.{k}", len(TRANSFER) * (first + k) + TRANSFER.index("memory")
        lines += [
            f"  %{x}.at = getelementptr ptr, ptr %{of}, i64 {k}",
            f"  %{x} = load ptr, ptr %{x}.at",
            f"  %{x}.data.at = getelementptr i8, ptr %{x}, i64 {DATA}",
            f"  %{x}.data = load ptr, ptr %{x}.data.at",
            f"  %{x}.to = getelementptr ptr, ptr %transfers, i64 {entry}",
            f"  store ptr %{x}.data, ptr %{x}.to",
        ]
    return lines
