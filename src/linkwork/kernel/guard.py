"""Guard pages, for debugging: what compiled code reads or writes beyond an array ends the process at once, with a report.

With `LINKWORK_GUARD=1` every array that NumPy makes (inputs, outputs, workspaces, tables) has pages of its own, with a page
after its last number and one before its first page that nobody may touch; with `LINKWORK_GUARD=start` its first number comes
right after such a page. `faulthandler` says which line of Python was running. Memory that was freed is gone, too. A workspace is
one array for each of its parts. Arrays of at most 8 bytes have 56 more: NumPy asks for as much for empty ones, of which its
`einsum` reads a register. Runs are slower, and results are the same to the bit.

A block is `ledger, guard, data, guard`, in pages; the ledger holds how long the block is, and the size that was asked for.

    void *malloc(void *, size), *calloc(void *, count, size), *realloc(void *, old, size), void free(void *, block, size)

are what NumPy's `PyDataMem_SetHandler` wants. The handler is one of the thread: `arm` is called in those that make workspaces.
"""

from __future__ import annotations

import ctypes
import faulthandler
import functools
import mmap
import os
import sys
from typing import Any

import numpy as np

from . import array_api

SETTINGS = ("", "0", "1", "start")
REGISTER = 64  # bytes
CALLS = ("mmap", "mprotect", "munmap", "memcpy")


def setting() -> str:
    """What `LINKWORK_GUARD` says."""
    from ..errors import CompileError

    said = os.environ.get("LINKWORK_GUARD", "")
    if said not in SETTINGS:
        raise CompileError(f"LINKWORK_GUARD is {said!r}; it is 1 (guards after arrays), start (before them) or 0 (none)")
    return "" if said == "0" else said


ON = bool(setting())


def guard_ir(page: int, at_start: bool) -> str:
    """See the head of the module."""
    flags = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
    both = getattr(mmap, "PROT_READ", 0) | getattr(mmap, "PROT_WRITE", 0)
    place = "%data" if at_start else "%flush"
    calls = {name: ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value for name in CALLS}
    at = {name: f"inttoptr (i64 {x} to ptr)" for name, x in calls.items()}
    return f"""define ptr @lw_guard_malloc(ptr %context, i64 %asked) {{
start:
  %small = icmp ule i64 %asked, 8
  %size = select i1 %small, i64 {REGISTER}, i64 %asked
  %more = add i64 %size, {page - 1}
  %whole = and i64 %more, {-page}
  %length = add i64 %whole, {3 * page}
  %block = call ptr {at["mmap"]}(ptr null, i64 %length, i32 {both}, i32 {flags}, i32 -1, i64 0)
  %number = ptrtoint ptr %block to i64
  %failed = icmp eq i64 %number, -1
  br i1 %failed, label %no, label %protect
protect:
  %before = getelementptr i8, ptr %block, i64 {page}
  %data = getelementptr i8, ptr %block, i64 {2 * page}
  %after = getelementptr i8, ptr %data, i64 %whole
  %one = call i32 {at["mprotect"]}(ptr %before, i64 {page}, i32 0)
  %two = call i32 {at["mprotect"]}(ptr %after, i64 {page}, i32 0)
  store i64 %length, ptr %block
  %size.at = getelementptr i64, ptr %block, i64 1
  store i64 %size, ptr %size.at
  %back = sub i64 0, %size
  %flush = getelementptr i8, ptr %after, i64 %back
  ret ptr {place}
no:
  ret ptr null
}}

define ptr @lw_guard_ledger(ptr %p) {{
start:
  %number = ptrtoint ptr %p to i64
  %data = and i64 %number, {-page}
  %ledger = sub i64 %data, {2 * page}
  %found = inttoptr i64 %ledger to ptr
  ret ptr %found
}}

define ptr @lw_guard_calloc(ptr %context, i64 %count, i64 %each) {{
start:
  %size = mul i64 %count, %each
  %p = call ptr @lw_guard_malloc(ptr %context, i64 %size)
  ret ptr %p
}}

define void @lw_guard_free(ptr %context, ptr %p, i64 %size) {{
start:
  %none = icmp eq ptr %p, null
  br i1 %none, label %done, label %free
free:
  %ledger = call ptr @lw_guard_ledger(ptr %p)
  %length = load i64, ptr %ledger
  %freed = call i32 {at["munmap"]}(ptr %ledger, i64 %length)
  br label %done
done:
  ret void
}}

define ptr @lw_guard_realloc(ptr %context, ptr %p, i64 %size) {{
start:
  %new = call ptr @lw_guard_malloc(ptr %context, i64 %size)
  %none = icmp eq ptr %p, null
  %failed = icmp eq ptr %new, null
  %nothing = or i1 %none, %failed
  br i1 %nothing, label %done, label %copy
copy:
  %ledger = call ptr @lw_guard_ledger(ptr %p)
  %old.at = getelementptr i64, ptr %ledger, i64 1
  %old = load i64, ptr %old.at
  %longer = icmp ugt i64 %old, %size
  %some = select i1 %longer, i64 %size, i64 %old
  %copied = call ptr {at["memcpy"]}(ptr %new, ptr %p, i64 %some)
  call void @lw_guard_free(ptr %context, ptr %p, i64 %old)
  br label %done
done:
  ret ptr %new
}}"""


class _Allocator(ctypes.Structure):
    """PyDataMem_Handler."""

    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in ("malloc", "calloc", "realloc", "free")),
    ]


@functools.cache
def _handler() -> tuple[Any, Any, Any]:
    """The capsule that NumPy takes, and what it refers to."""
    from . import machine

    library = machine.Library.shared(machine.compile_object(guard_ir(mmap.PAGESIZE, setting() == "start")))
    calls = [library.address(f"lw_guard_{name}") for name in ("malloc", "calloc", "realloc", "free")]
    allocator = _Allocator(b"linkwork_guard", 1, None, *calls)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    return make(ctypes.addressof(allocator), b"mem_handler", None), allocator, library


def arm() -> None:
    """From here on, arrays that this thread makes have guard pages; does nothing unless `LINKWORK_GUARD` asks for it."""
    if not ON:
        return
    if not faulthandler.is_enabled():
        faulthandler.enable(sys.__stderr__ or 2)
    capsule, *_ = _handler()
    use = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(array_api.address(array_api.SET_HANDLER))
    use(capsule)


def zeros(size: int) -> np.ndarray:
    """So many bytes, all of them at the guard."""
    arm()
    block = np.zeros(max(size, REGISTER), np.uint8)
    return block[:size] if setting() == "start" else block[len(block) - size :]
