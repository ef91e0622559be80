"""A sequence of jobs (`sequence`) as a function of the vectors of one state, called at the speed of an extension module.

    object sequence(self, arrays)    looks at the arrays, copies them to where the first job reads them, and runs all jobs
                                     without the interpreter lock; True, or None if an array is not what it should be

What is not a vector of float64 of its size in one piece, or not sound (`soundness`), is refused before anything runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import python, python_text
from .machine import Library
from .records import load_field
from .sequence import JobSequence
from .soundness import sound

FIELDS = (*python_text.COMMON, "run", "entries", "total", "look", "look_self", "true", "decref", "save", "restore")
FLOAT64 = np.dtype(np.float64)
NUMBERS = ("count", "total")  # after them, of every argument where it goes, and its size


def call_ir() -> str:
    """See the head of the module."""
    return f"""{python_text.data_ir()}

{chr(10).join(python_text.head_lines("lw_python_sequence", FIELDS, NUMBERS))}
  br label %loop
loop:
  %k = phi i64 [ 0, %ready ], [ %k.next, %accepted ]
  %argument.at = getelementptr ptr, ptr %arguments, i64 %k
  %argument = load ptr, ptr %argument.at
  %pair.index = mul i64 %k, 2
  %pair.at = add i64 %pair.index, {len(FIELDS)}
  %pair = getelementptr i64, ptr %record, i64 %pair.at
{_loaded("%pair", ("memory", "ptr"), ("length", "i64"))}
  %data = call ptr @lw_data(ptr %argument, ptr %type, ptr %descr, i32 1, i64 1, i64 %length)
  %is.null = icmp eq ptr %data, null
  br i1 %is.null, label %refused, label %accepted
accepted:
  %bytes = mul i64 %length, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %memory, ptr %data, i64 %bytes, i1 false)
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %count
  br i1 %k.more, label %loop, label %ask
ask:
  %said = call ptr %look(ptr %look_self, ptr %arguments, i64 %given)
  call void %decref(ptr %said)
  %good = icmp eq ptr %said, %true
  br i1 %good, label %go, label %refused
go:
  %thread = call ptr %save()
  call void %run(ptr %entries, i64 %total)
  call void %restore(ptr %thread)
  call void %incref(ptr %true)
  ret ptr %true
{python_text.REFUSED}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
attributes #0 = {{ nounwind }}
""".replace("@lw_data", "@lw_sequence_data")


def _loaded(base: str, *fields: tuple[str, str]) -> str:
    lines: list[str] = []
    for index, (name, kind) in enumerate(fields):
        load_field(lines, name, index, base, kind)
    return "\n".join(lines)


@functools.cache
def _address() -> int:
    return Library.of_text("sequence_call", call_ir()).address("lw_python_sequence")


def of_vectors(sequence: JobSequence, targets: Sequence[np.ndarray], units: Sequence[tuple[int, int]]) -> Callable[..., Any]:
    """A function of vectors, one for every target, which runs the sequence.

    targets   arrays in one piece to which they are copied
    units     of every unit quaternion which argument holds it, and where
    """
    look = sound(FLOAT64, units, range(len(targets)))
    places = (python.address_of_api(name) for name in ("Py_DecRef", "PyEval_SaveThread", "PyEval_RestoreThread"))
    fields = (
        *python.common_fields(len(targets), FLOAT64, None),
        *sequence.described,
        *python.parts_of(look),
        id(True),
        *places,
        *(x for a in targets for x in (a.ctypes.data, a.size)),
    )
    return python.builtin(_address(), fields, (sequence, look, *targets))
