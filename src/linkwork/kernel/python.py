"""Functions that Python calls at the speed of an extension module: compiled code that reads the arrays itself.

For a small model, asking three arrays for their type, shape and address takes longer than its dynamics. Here a builtin
function of Python is made from an address of compiled code (`PyCFunction_NewEx`, METH_FASTCALL); what it does with Python is
behind functions of the stable interface. The places of an array's fields are those of NumPy's C interface
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
from .notes import notes_ir
from .records import JOB, TRANSFER, load_field

HEADER = object.__basicsize__
PLACES = {"type": HEADER - 8, "data": HEADER, "nd": HEADER + 8, "shape": HEADER + 16, "descr": HEADER + 40, "flags": HEADER + 48}
C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
METH_FASTCALL = 0x80
COMMON = ("count", "type", "descr", "none", "error", "message", "incref", "set_error")  # count of arguments
# For every input follow its place in bases and its size. The `size` numbers of the result are in the lanes; by the map, if there
# is one, they are unpacked to memory, which is that of `result`.
# make: the function that makes an array like the result for the caller, or null
STATE = (*COMMON, "segments", "segment_count", "bases", "result", "make", "lanes", "memory", "size", "map")
COPY = ("array", "copy")
# A step has one input; it may be as large as `most`. What moves (its place in bases) must be finite, below `finite`, afterwards.
# It copies `notes` then.
STEP = (*COMMON, "segments", "segment_count", "bases", "most", "true", "false", "moving", "size", "finite", "notes")
BATCH = (*COMMON, "job", "save", "restore", "false")
# pieces: into so many a batch is cut; after these the jobs of the others
SHARED = (*BATCH, "share", "mails", "others", "pieces")


# --- making functions -------------------------------------------------------------------------------------------------
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


# --- what they do -----------------------------------------------------------------------------------------------------
def data_ir() -> str:
    """ptr lw_data(array, type, descr, nd, rows, columns): its data if it is such an array, in one piece, or null.

    rows matter for nd = 2 only.
    """
    lines = ["define ptr @lw_data(ptr %a, ptr %type, ptr %descr, i32 %nd, i64 %rows, i64 %columns) #0 {", "start:"]
    for name, place in PLACES.items():
        lines.append(f"  %{name}.at = getelementptr i8, ptr %a, i64 {place}")
    flags = C_CONTIGUOUS | ALIGNED
    return (
        "\n".join(lines)
        + f"""
  %type.of = load ptr, ptr %type.at
  %is.array = icmp eq ptr %type.of, %type
  br i1 %is.array, label %kind, label %no
kind:
  %descr.of = load ptr, ptr %descr.at
  %nd.of = load i32, ptr %nd.at
  %flags.of = load i32, ptr %flags.at
  %same.descr = icmp eq ptr %descr.of, %descr
  %same.nd = icmp eq i32 %nd.of, %nd
  %wanted = and i32 %flags.of, {flags}
  %whole = icmp eq i32 %wanted, {flags}
  %both = and i1 %same.descr, %same.nd
  %all = and i1 %both, %whole
  br i1 %all, label %sizes, label %no
sizes:
  %shape = load ptr, ptr %shape.at
  %first = load i64, ptr %shape
  %last.index = sub i32 %nd, 1
  %last.at = getelementptr i64, ptr %shape, i32 %last.index
  %last = load i64, ptr %last.at
  %one = icmp eq i32 %nd, 1
  %same.rows = icmp eq i64 %first, %rows
  %rows.fit = or i1 %one, %same.rows
  %columns.fit = icmp eq i64 %last, %columns
  %fits = and i1 %rows.fit, %columns.fit
  br i1 %fits, label %yes, label %no
yes:
  %data = load ptr, ptr %data.at
  ret ptr %data
no:
  ret ptr null
}}"""
    )


def head_lines(name: str, fields: Sequence[str], numbers: Sequence[str]) -> list[str]:
    """The start of a function: its record, and the loop over its arguments."""
    lines = [f"define ptr @{name}(ptr %self, ptr %arguments, i64 %given) #0 {{", "start:"]
    lines.append(f"  %record.at = getelementptr i8, ptr %self, i64 {bytes.__basicsize__ - 1}")
    lines.append("  %record = load ptr, ptr %record.at")
    for index, field in enumerate(fields):
        load_field(lines, field, index, "%record", "i64" if field in numbers else "ptr")
    return [*lines, "  %enough = icmp eq i64 %given, %count", "  br i1 %enough, label %ready, label %refused", "ready:"]


_LOOP = """  br label %loop
loop:
  %k = phi i64 [ 0, %ready ], [ %k.next, %accepted ]
  %argument.at = getelementptr ptr, ptr %arguments, i64 %k
  %argument = load ptr, ptr %argument.at"""
_NEXT = """  %is.null = icmp eq ptr %data, null
  br i1 %is.null, label %refused, label %accepted
accepted:
  store ptr %data, ptr %target
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %count
  br i1 %k.more, label %loop, label %go
go:"""
REFUSED = """refused:
  %raises = icmp ne ptr %error, null
  br i1 %raises, label %raise, label %nothing
raise:
  call void %set_error(ptr %error, ptr %message)
  ret ptr null
nothing:
  call void %incref(ptr %none)
  ret ptr %none
}"""


def within_ir(element: str) -> str:
    """ptr lw_within(data, most, count): the data if no number is larger than its own `most`, nor smaller than -most; or null."""
    return f"""define ptr @lw_within(ptr %data, ptr %most, i64 %count) #0 {{
start:
  %missing = icmp eq ptr %data, null
  %empty = icmp eq i64 %count, 0
  %nothing = or i1 %missing, %empty
  br i1 %nothing, label %as.it.is, label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %i.next, %loop ]
  %good = phi i1 [ true, %start ], [ %good.next, %loop ]
  %x.at = getelementptr {element}, ptr %data, i64 %i
  %x = load {element}, ptr %x.at
  %m.at = getelementptr {element}, ptr %most, i64 %i
  %m = load {element}, ptr %m.at
  %least = fneg {element} %m
  %below = fcmp ole {element} %x, %m
  %above = fcmp oge {element} %x, %least
  %both = and i1 %below, %above
  %good.next = and i1 %good, %both
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %count
  br i1 %more, label %loop, label %done
done:
  %found = select i1 %good.next, ptr %data, ptr null
  ret ptr %found
as.it.is:
  ret ptr %data
}}"""


def _pair_ir(first: int, name: str) -> list[str]:
    """Place and length of the input that an argument stands for, and its data under a name."""
    lines = [f"  %pair.at = mul i64 %k, 2\n  %pair.index = add i64 %pair.at, {first}"]
    lines.append("  %pair = getelementptr i64, ptr %record, i64 %pair.index")
    load_field(lines, "place", 0, "%pair")
    load_field(lines, "length", 1, "%pair")
    return [*lines, f"  %{name} = call ptr @lw_data(ptr %argument, ptr %type, ptr %descr, i32 1, i64 1, i64 %length)"]


def step_ir() -> str:
    """See STEP."""
    lines = [
        *head_lines("lw_python_step", STEP, ("count", "segment_count", "moving", "size")),
        _LOOP,
        *_pair_ir(len(STEP), "array"),
    ]
    lines.append("  %data = call ptr @lw_within(ptr %array, ptr %most, i64 %length)")
    lines += ["  %target = getelementptr ptr, ptr %bases, i64 %place", _NEXT]
    lines.append("  call void @lw_run(ptr %segments, i64 %segment_count, ptr %bases)")
    lines.append(notes_ir())
    lines.append("  %moving.at = getelementptr ptr, ptr %bases, i64 %moving\n  %after = load ptr, ptr %moving.at")
    lines.append("  %kept = call ptr @lw_within(ptr %after, ptr %finite, i64 %size)\n  %lost = icmp eq ptr %kept, null")
    lines.append("  %said = select i1 %lost, ptr %false, ptr %true")
    return "\n".join([*lines, "  call void %incref(ptr %said)", "  ret ptr %said", REFUSED])


def copy_ir() -> str:
    """See COPY."""
    lines = ["define ptr @lw_python_copy(ptr %self, ptr %arguments, i64 %given) #0 {", "start:"]
    lines.append(f"  %record.at = getelementptr i8, ptr %self, i64 {bytes.__basicsize__ - 1}")
    lines.append("  %record = load ptr, ptr %record.at")
    for index, field in enumerate(COPY):
        load_field(lines, field, index, "%record", "ptr")
    lines += ["  %made = call ptr %copy(ptr %array, i32 0)", "  %none = icmp eq ptr %made, null"]
    lines += ["  br i1 %none, label %done, label %close", "close:"]
    lines.append(f"  %flags.at = getelementptr i8, ptr %made, i64 {PLACES['flags']}\n  %flags = load i32, ptr %flags.at")
    lines.append(f"  %closed = and i32 %flags, {~WRITEABLE}\n  store i32 %closed, ptr %flags.at\n  br label %done")
    return "\n".join([*lines, "done:", "  ret ptr %made", "}"])


def state_ir() -> str:
    """See STATE."""
    lines = [*head_lines("lw_python_state", STATE, ("count", "segment_count", "size")), _LOOP, *_pair_ir(len(STATE), "data")]
    lines += ["  %target = getelementptr ptr, ptr %bases, i64 %place", _NEXT]
    lines.append("  call void @lw_run(ptr %segments, i64 %segment_count, ptr %bases)")
    arguments, data = "i64 %size, i64 0, i64 1", PLACES["data"]
    lines += [
        "  %plain = icmp eq ptr %map, null",
        "  %own = icmp eq ptr %make, null",
        "  br i1 %own, label %kept, label %new",
        "kept:",
        "  br i1 %plain, label %as.it.is, label %unpack",
        "unpack:",
        f"  %fine.kept = call i1 @lw_unpack_mapped(ptr %lanes, ptr %memory, {arguments}, ptr %map)",
        "  br label %as.it.is",
        "as.it.is:",
        "  call void %incref(ptr %result)",
        "  ret ptr %result",
        "new:",
        "  %made = call ptr %make(ptr %result, i32 0, ptr null, i32 0)",
        "  %lost = icmp eq ptr %made, null",
        "  br i1 %lost, label %done, label %fill",
        "fill:",
        f"  %made.at = getelementptr i8, ptr %made, i64 {data}",
        "  %made.data = load ptr, ptr %made.at",
        "  br i1 %plain, label %straight, label %mapped",
        "straight:",
        f"  %fine.new = call i1 @lw_unpack(ptr %lanes, ptr %made.data, {arguments})",
        "  br label %done",
        "mapped:",
        f"  %fine.mapped = call i1 @lw_unpack_mapped(ptr %lanes, ptr %made.data, {arguments}, ptr %map)",
        "  br label %done",
        "done:",
        "  ret ptr %made",
    ]
    return "\n".join([*lines, REFUSED])


def batch_ir(width: int, shared: bool) -> str:
    """See BATCH and SHARED. The last argument, an output, says how many rows there are."""
    name, fields = ("lw_python_shared", SHARED) if shared else ("lw_python_batch", BATCH)
    lines = head_lines(name, fields, ("count", "others", "pieces"))
    lines.append("  %last.place = sub i64 %count, 1\n  %out.at = getelementptr ptr, ptr %arguments, i64 %last.place")
    lines.append(f"  %out = load ptr, ptr %out.at\n  %rows.of = getelementptr i8, ptr %out, i64 {PLACES['shape']}")
    lines.append("  %rows.at = load ptr, ptr %rows.of\n  %rows = load i64, ptr %rows.at")
    load_field(lines, "transfers", JOB.index("inputs"), "%job", "ptr")
    lines += [_LOOP, f"  %entry.at = mul i64 %k, {len(TRANSFER)}", "  %entry = getelementptr i64, ptr %transfers, i64 %entry.at"]
    load_field(lines, "columns", TRANSFER.index("count"), "%entry")
    lines.append("  %data = call ptr @lw_data(ptr %argument, ptr %type, ptr %descr, i32 2, i64 %rows, i64 %columns)")
    lines += [f"  %target = getelementptr ptr, ptr %entry, i64 {TRANSFER.index('memory')}", _NEXT]
    lines.append(f"  %end.at = getelementptr i64, ptr %job, i64 {JOB.index('end')}\n  store i64 %rows, ptr %end.at")
    load_field(lines, "next", JOB.index("next"), "%job", "ptr")
    load_field(lines, "odd", JOB.index("odd"), "%job", "ptr")
    lines += ["  store i64 0, ptr %next", "  %looks = icmp ne ptr %odd, null"]
    lines.append("  %odd.of = select i1 %looks, ptr %odd, ptr %next\n  store i64 0, ptr %odd.of")
    call = "  call void @lw_batch(ptr %job)"
    if shared:
        lines.append(_others_ir(width))
        call = "  call void %share(ptr %mails, i64 %others, ptr @lw_batch, ptr %job)"
    lines += ["  %thread = call ptr %save()", call, "  call void %restore(ptr %thread)"]
    lines += ["  %odd.now = load i64, ptr %odd.of", "  %is.odd = icmp ne i64 %odd.now, 0", "  %bad = and i1 %looks, %is.odd"]
    lines.append("  %said = select i1 %bad, ptr %false, ptr %out")
    return "\n".join([*lines, "  call void %incref(ptr %said)", "  ret ptr %said", REFUSED])


def _others_ir(width: int) -> str:
    """Cut the batch into pieces, and tell the others where the arrays are."""
    chunk, end, inputs = (JOB.index(name) for name in ("chunk", "end", "inputs"))
    memory, size = TRANSFER.index("memory"), len(TRANSFER)
    return f"""  %piece = udiv i64 %rows, %pieces
  %blocks = udiv i64 %piece, {width}
  %blocks.none = icmp eq i64 %blocks, 0
  %blocks.some = select i1 %blocks.none, i64 1, i64 %blocks
  %chunk = mul i64 %blocks.some, {width}
  %chunk.at = getelementptr i64, ptr %job, i64 {chunk}
  store i64 %chunk, ptr %chunk.at
  br label %tell
tell:
  %o = phi i64 [ 0, %go ], [ %o.next, %told ]
  %o.index = add i64 %o, {len(SHARED)}
  %o.at = getelementptr ptr, ptr %record, i64 %o.index
  %other = load ptr, ptr %o.at
  %other.chunk = getelementptr i64, ptr %other, i64 {chunk}
  store i64 %chunk, ptr %other.chunk
  %other.end = getelementptr i64, ptr %other, i64 {end}
  store i64 %rows, ptr %other.end
  %theirs.at = getelementptr i64, ptr %other, i64 {inputs}
  %theirs = load ptr, ptr %theirs.at
  br label %copy
copy:
  %c = phi i64 [ 0, %tell ], [ %c.next, %copy ]
  %c.entry = mul i64 %c, {size}
  %c.index = add i64 %c.entry, {memory}
  %from = getelementptr ptr, ptr %transfers, i64 %c.index
  %to = getelementptr ptr, ptr %theirs, i64 %c.index
  %moved = load ptr, ptr %from
  store ptr %moved, ptr %to
  %c.next = add i64 %c, 1
  %c.more = icmp slt i64 %c.next, %count
  br i1 %c.more, label %copy, label %told
told:
  %o.next = add i64 %o, 1
  %o.more = icmp slt i64 %o.next, %others
  br i1 %o.more, label %tell, label %sharing
sharing:"""
