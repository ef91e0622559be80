"""Functions that Python calls at the speed of an extension module: compiled code that reads the arrays itself.

For a small model, asking three arrays for their type, shape and address takes longer than its dynamics. Here a builtin
function of Python is made from an address of compiled code (`PyCFunction_NewEx`, METH_FASTCALL); what it does with Python is
behind functions of the stable interface (`python_text`). The places of an array's fields are those of NumPy's C interface
(`PyArrayObject_fields`), which every extension has built in; they are compared with what Python says of some arrays once per
process, and where they differ nothing here is used.

    object state(self, arrays)           one state: the arrays become inputs where they are; returns `result`, or a copy of it
    object copy(self)                    what an array holds now: a copy that cannot be written to
    object step(self, array)             the same of a state that goes on; returns whether it is finite afterwards
    object batch(self, arrays and out)   a batch, without the interpreter lock; returns `out`, or False if numbers that the job
                                         looks at are not sound
    object shared(self, arrays and out)  the same by several threads, each with a job of its own

An array that is not what the record says (type, shape, in one piece; for a step, too large) makes them return None, or raise the
error of the record.

Nothing else of Python runs while one of them does, no signal handler either, and but for batches no other thread: a state that
returns a copy can be called by all threads at any moment, though it has one memory.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import array_api
from .python_text import PLACES

METH_FASTCALL = 0x80


@functools.cache
def available() -> bool:
    """Whether arrays lie in memory as this module says, and are made and copied as it says."""
    table = np.arange(24.0).reshape(4, 6)
    some = (table, table[1:, ::2], table[0], table.astype(np.float32).T, np.zeros(0), np.array(1))
    return all(_as_expected(a) for a in some) and _copied(table) and _made(table)


def _as_expected(a: np.ndarray) -> bool:
    def at(name: str, kind: Any) -> int:
        return kind.from_address(id(a) + PLACES[name]).value or 0

    known = at("type", ctypes.c_void_p) == id(np.ndarray) and at("nd", ctypes.c_int) == a.ndim
    known = known and at("data", ctypes.c_void_p) == a.ctypes.data and at("flags", ctypes.c_int) == a.flags.num
    if not known or at("descr", ctypes.c_void_p) != id(a.dtype):
        return False
    return a.ndim == 0 or tuple((ctypes.c_ssize_t * a.ndim).from_address(at("shape", ctypes.c_void_p))) == a.shape


def _copied(a: np.ndarray) -> bool:
    copy = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_int)(array_api.address(array_api.NEW_COPY))(a, 0)
    return type(copy) is np.ndarray and copy.tobytes() == a.tobytes() and copy.flags.owndata and copy is not a


def _made(a: np.ndarray) -> bool:
    kinds = ctypes.py_object, ctypes.py_object, ctypes.c_int, ctypes.c_void_p, ctypes.c_int
    new = ctypes.PYFUNCTYPE(*kinds)(array_api.address(array_api.NEW_LIKE))(a, 0, None, 0)
    same = type(new) is np.ndarray and new.shape == a.shape and new.dtype is a.dtype
    return same and _as_expected(new) and new.flags.owndata and new.flags.c_contiguous


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


class _Record:
    """What a function reads while it lives, and what must live as long."""

    def __init__(self, fields: Sequence[int], alive: Sequence[Any], address: int) -> None:
        self.memory = ctypes.create_string_buffer(struct.pack(f"{len(fields)}q", *fields))
        self.alive = alive
        self.method = _Method(b"linkwork", address, METH_FASTCALL, None)


def builtin(address: int, fields: Sequence[int], alive: Sequence[Any]) -> Callable[..., Any]:
    """A function of Python at an address, the record that it reads, and what must live as long."""
    record = _Record(fields, alive, address)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    own = struct.pack("q", ctypes.addressof(record.memory))  # the function's `self`: where its record is
    return make(ctypes.addressof(record.method), own, record)  # its `__module__` keeps the record alive


def address_of_api(name: str) -> int:
    """Where a function of Python's C interface is."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def parts_of(function: Callable[..., Any]) -> tuple[int, int]:
    """Where the code of such a function is, and its `self`: compiled code calls it with them."""
    names = ("PyCFunction_GetFunction", "PyCFunction_GetSelf")
    first, second = (ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)((name, ctypes.pythonapi))(function) for name in names)
    return int(first or 0), int(second or 0)


def common_fields(count: int, dtype: np.dtype, error: tuple[type, ctypes.Array[ctypes.c_char]] | None) -> tuple[int, ...]:
    """The fields of COMMON.

    error   what to raise where an array does not fit, and its text
    """
    raised = (id(error[0]), ctypes.addressof(error[1])) if error else (0, 0)
    return (count, id(np.ndarray), id(dtype), id(None), *raised, address_of_api("Py_IncRef"), address_of_api("PyErr_SetString"))


def of_state(
    address: int,
    fixed: tuple[int, int, int],
    dtype: np.dtype,
    inputs: Sequence[tuple[int, int]],
    result: np.ndarray,
    unpack: tuple[int, int, int],
    error: tuple[type, str] | None,
    copies: bool,
    owner: Any,
) -> Callable[..., Any]:
    """A function of one-dimensional arrays.

    fixed    segments, their number and bases
    inputs   for every argument its place in bases and its size
    unpack   address in the lanes, number of scalars and address of the map of the result, or 0 if it is not packed
    error    what to raise for an array that does not fit
    copies   it returns a copy of the result; otherwise the result itself, which the next call overwrites
    owner    of the memory; it lives as long as the function
    """
    raised = (error[0], ctypes.create_string_buffer(error[1].encode())) if error else None
    lanes, size, places = unpack
    moved = (array_api.address(array_api.NEW_LIKE) if copies else 0, lanes, result.ctypes.data, size, places)
    fields = (*common_fields(len(inputs), dtype, raised), *fixed, id(result), *moved, *(x for pair in inputs for x in pair))
    return builtin(address, fields, (owner, dtype, result, raised))


def of_copy(address: int, a: np.ndarray) -> Callable[[], np.ndarray]:
    """A function that returns copies of what an array holds, which cannot be written to: half the time of NumPy's `copy`."""
    return builtin(address, (id(a), array_api.address(array_api.NEW_COPY)), (a,))


def of_step(
    address: int,
    fixed: tuple[int, int, int],
    given: tuple[int, np.ndarray],
    moving: tuple[int, int],
    notes: np.ndarray,
    owner: Any,
) -> Callable[..., Any]:
    """A function of one array (n,) that takes a state a step further: True, or False if it is not finite then.

    given    of the array its place in bases, and how large its numbers may be (n,)
    moving   place in bases and size of the part of the state that is looked at; the rest as of `of_state`
    notes    what is copied after every step
    """
    place, most = given
    largest = np.full(moving[1], np.finfo(most.dtype).max, most.dtype)
    said = (most.ctypes.data, id(True), id(False), *moving, largest.ctypes.data, notes.ctypes.data)
    fields = (*common_fields(1, most.dtype, None), *fixed, *said, place, len(most))
    return builtin(address, fields, (owner, most, largest, notes))


def of_batch(address: int, job: int, dtype: np.dtype, count: int, owner: Any) -> Callable[..., Any]:
    """A function of `count` two-dimensional arrays, the last ones for outputs, whose transfers the job has in this order."""
    return builtin(address, _batch_fields(job, dtype, count), (owner, dtype))


def of_shared_batch(
    address: int, jobs: Sequence[int], dtype: np.dtype, count: int, team: tuple[int, int], pieces: int, owner: Any
) -> Callable[..., Any]:
    """The same by several threads; the first job is done by the caller.

    team     addresses of `workers.lw_share` and of the mailboxes of the others
    """
    fields = (*_batch_fields(jobs[0], dtype, count), *team, len(jobs) - 1, pieces, *jobs[1:])
    return builtin(address, fields, (owner, dtype))


def _batch_fields(job: int, dtype: np.dtype, count: int) -> tuple[int, ...]:
    threads = address_of_api("PyEval_SaveThread"), address_of_api("PyEval_RestoreThread")
    return (*common_fields(count, dtype, None), job, *threads, id(False))
