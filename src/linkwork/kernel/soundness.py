"""Compiled looks at the arrays of a call: whether every number is finite, and quaternions have length one.

    object sound(self, arrays)    True, or None if something is wrong with one of them
    object guarded(self, arrays)  what another such function of arrays returns (`python.of_state`), or None if something is wrong
                                  with an argument or with that result

A function says by None that its arguments need a closer look; Python then finds out what is wrong and says so. The look costs
about a cycle for eight numbers, so that a call of a small model is as fast with it as without.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import machine
from .python import PLACES, address_of_api, builtin
from .records import load_field

WIDTH = 8  # numbers at a time
SLACK = {"double": 2e-6, "float": 2e-5}  # of the square of a length, about twice that of the length
FIELDS = ("inner", "inner_self", "none", "true", "incref", "decref", "units", "unit_count", "result_size")
UNIT = ("argument", "offset")  # of every quaternion: which argument holds it, and where in a row


def finite_ir(element: str) -> str:
    """i1 lw_all_finite(data, count): sums x 0, which is 0 for finite numbers alone."""
    vector, zero = f"<{WIDTH} x {element}>", "zeroinitializer"
    bytes_ = 8 if element == "double" else 4
    return f"""define i1 @lw_all_finite(ptr %data, i64 %count) #0 {{
start:
  %blocks.end = and i64 %count, {-WIDTH}
  %some = icmp sgt i64 %blocks.end, 0
  br i1 %some, label %block, label %single
block:
  %i = phi i64 [ 0, %start ], [ %i.next, %block ]
  %sum = phi {vector} [ {zero}, %start ], [ %sum.next, %block ]
  %at = getelementptr {element}, ptr %data, i64 %i
  %x = load {vector}, ptr %at, align {bytes_}
  %nothing = fmul {vector} %x, {zero}
  %sum.next = fadd {vector} %sum, %nothing
  %i.next = add i64 %i, {WIDTH}
  %more = icmp slt i64 %i.next, %blocks.end
  br i1 %more, label %block, label %looked
looked:
  %odd = fcmp uno {vector} %sum.next, {zero}
  %bits = bitcast <{WIDTH} x i1> %odd to i{WIDTH}
  %fine = icmp eq i{WIDTH} %bits, 0
  br i1 %fine, label %single, label %no
single:
  %first = phi i64 [ 0, %start ], [ %blocks.end, %looked ]
  br label %rest
rest:
  %k = phi i64 [ %first, %single ], [ %k.next, %one ]
  %total = phi {element} [ 0.0, %single ], [ %total.next, %one ]
  %left = icmp slt i64 %k, %count
  br i1 %left, label %one, label %done
one:
  %k.at = getelementptr {element}, ptr %data, i64 %k
  %y = load {element}, ptr %k.at
  %none = fmul {element} %y, 0.0
  %total.next = fadd {element} %total, %none
  %k.next = add i64 %k, 1
  br label %rest
done:
  %good = fcmp ord {element} %total, 0.0
  ret i1 %good
no:
  ret i1 false
}}"""


def unit_ir(element: str) -> str:
    """i1 lw_all_unit(data, rows, columns, offset): whether the four numbers from `offset` on have length one in every row."""
    slack = SLACK[element] if element == "double" else float(np.float32(SLACK[element]))
    loads = "\n".join(
        f"  %x{j}.at = getelementptr {element}, ptr %row, i64 {j}\n  %x{j} = load {element}, ptr %x{j}.at\n"
        f"  %s{j} = fmul {element} %x{j}, %x{j}"
        for j in range(4)
    )
    return f"""define i1 @lw_all_unit(ptr %data, i64 %rows, i64 %columns, i64 %offset) #0 {{
start:
  br label %look
look:
  %r = phi i64 [ 0, %start ], [ %r.next, %next ]
  %left = icmp slt i64 %r, %rows
  br i1 %left, label %one, label %yes
one:
  %before = mul i64 %r, %columns
  %place = add i64 %before, %offset
  %row = getelementptr {element}, ptr %data, i64 %place
{loads}
  %a = fadd {element} %s0, %s1
  %b = fadd {element} %s2, %s3
  %square = fadd {element} %a, %b
  %above = fcmp ogt {element} %square, {_hex(1.0 - slack)}
  %below = fcmp olt {element} %square, {_hex(1.0 + slack)}
  %unit = and i1 %above, %below
  br i1 %unit, label %next, label %no
next:
  %r.next = add i64 %r, 1
  br label %look
yes:
  ret i1 true
no:
  ret i1 false
}}"""


def _hex(x: float) -> str:
    return f"0x{np.float64(np.float32(x)).view(np.uint64):016X}"  # exact in both kinds of numbers


def arguments_ir() -> str:
    """i1 lw_arguments_sound(arguments, given, units, unit_count): all arrays are finite, their quaternions unit."""
    places = "\n".join(f"  %{n}.at = getelementptr i8, ptr %a, i64 {PLACES[n]}" for n in ("data", "nd", "shape"))
    unit = [f"  %u.at = mul i64 %u, {len(UNIT)}", "  %unit = getelementptr i64, ptr %units, i64 %u.at"]
    for index, name in enumerate(UNIT):
        load_field(unit, name, index, "%unit")
    array = f"""  %a = load ptr, ptr %a.at
{places}
  %data = load ptr, ptr %data.at
  %nd = load i32, ptr %nd.at
  %shape = load ptr, ptr %shape.at
  %first = load i64, ptr %shape
  %two = icmp eq i32 %nd, 2
  %last.at = getelementptr i64, ptr %shape, i64 1
  %last.safe = select i1 %two, ptr %last.at, ptr %shape
  %second = load i64, ptr %last.safe
  %columns = select i1 %two, i64 %second, i64 %first
  %rows = select i1 %two, i64 %first, i64 1"""
    quaternion = array.replace("%", "%q.")
    return f"""define i1 @lw_arguments_sound(ptr %arguments, i64 %given, ptr %units, i64 %unit_count) #0 {{
start:
  br label %look
look:
  %k = phi i64 [ 0, %start ], [ %k.next, %next ]
  %left = icmp slt i64 %k, %given
  br i1 %left, label %one, label %turn
one:
  %a.at = getelementptr ptr, ptr %arguments, i64 %k
{array}
  %count = mul i64 %rows, %columns
  %finite = call i1 @lw_all_finite(ptr %data, i64 %count)
  br i1 %finite, label %next, label %no
next:
  %k.next = add i64 %k, 1
  br label %look
turn:
  %u = phi i64 [ 0, %look ], [ %u.next, %turned ]
  %u.left = icmp slt i64 %u, %unit_count
  br i1 %u.left, label %each, label %yes
each:
{chr(10).join(unit)}
  %q.a.at = getelementptr ptr, ptr %arguments, i64 %argument
{quaternion}
  %good = call i1 @lw_all_unit(ptr %q.data, i64 %q.rows, i64 %q.columns, i64 %offset)
  br i1 %good, label %turned, label %no
turned:
  %u.next = add i64 %u, 1
  br label %turn
yes:
  ret i1 true
no:
  ret i1 false
}}"""


def _head(name: str) -> list[str]:
    lines = [f"define ptr @{name}(ptr %self, ptr %arguments, i64 %given) #0 {{", "start:"]
    lines.append(f"  %record.at = getelementptr i8, ptr %self, i64 {bytes.__basicsize__ - 1}")
    lines.append("  %record = load ptr, ptr %record.at")
    for index, field in enumerate(FIELDS):
        load_field(lines, field, index, "%record", "i64" if field in ("unit_count", "result_size") else "ptr")
    return lines


def module_ir(element: str) -> str:
    """All of it for one kind of numbers; functions are named after it, as all kinds share a process."""
    sound = [
        *_head("lw_sound"),
        "  %good = call i1 @lw_arguments_sound(ptr %arguments, i64 %given, ptr %units, i64 %unit_count)",
        "  %said = select i1 %good, ptr %true, ptr %none",
        "  call void %incref(ptr %said)",
        "  ret ptr %said",
        "}",
    ]
    guarded = [
        *_head("lw_guarded"),
        "  %found = call ptr %inner(ptr %inner_self, ptr %arguments, i64 %given)",
        "  %failed = icmp eq ptr %found, null",
        "  %refused = icmp eq ptr %found, %none",
        "  %over = or i1 %failed, %refused",
        "  br i1 %over, label %back, label %look",
        "look:",
        "  %good = call i1 @lw_arguments_sound(ptr %arguments, i64 %given, ptr %units, i64 %unit_count)",
        "  br i1 %good, label %result, label %bad",
        "result:",
        f"  %data.at = getelementptr i8, ptr %found, i64 {PLACES['data']}",
        "  %data = load ptr, ptr %data.at",
        "  %finite = call i1 @lw_all_finite(ptr %data, i64 %result_size)",
        "  br i1 %finite, label %back, label %bad",
        "back:",
        "  ret ptr %found",
        "bad:",
        "  call void %decref(ptr %found)",
        "  call void %incref(ptr %none)",
        "  ret ptr %none",
        "}",
    ]
    parts = [finite_ir(element), unit_ir(element), arguments_ir(), "\n".join(sound), "\n".join(guarded)]
    text = "\n\n".join(parts) + "\nattributes #0 = { nounwind }\n"
    for name in ("lw_all_finite", "lw_all_unit", "lw_arguments_sound", "lw_sound", "lw_guarded"):
        text = text.replace(f"@{name}(", f"@{name}_{element}(")
    return text


@functools.cache
def _library(element: str) -> machine.Library:
    return machine.Library.of_text(f"soundness_{element}", module_ir(element))


def _element(dtype: np.dtype) -> str:
    return "float" if dtype == np.float32 else "double"


def _fields(inner: tuple[int, int], units: Sequence[tuple[int, int]], size: int) -> tuple[tuple[int, ...], Any]:
    table = np.array(units, dtype=np.int64).reshape(-1, len(UNIT))
    calls = address_of_api("Py_IncRef"), address_of_api("Py_DecRef")
    return (*inner, id(None), id(True), *calls, table.ctypes.data, len(table), size), table


def sound(dtype: np.dtype, units: Sequence[tuple[int, int]]) -> Callable[..., Any]:
    """A function of arrays of this kind, (n,) or (batch, n) and in one piece: True, or None if something is wrong.

    units   of every quaternion which argument holds it, and where in a row
    """
    fields, table = _fields((0, 0), units, 0)
    return builtin(_library(_element(dtype)).address(f"lw_sound_{_element(dtype)}"), fields, (table,))


def guarded(run: Callable[..., Any], dtype: np.dtype, units: Sequence[tuple[int, int]], size: int) -> Callable[..., Any]:
    """What a function of vectors that is made by `python.of_state` returns, an array of `size` numbers; None if that or an
    argument is not sound."""
    parts = []
    for name in ("PyCFunction_GetFunction", "PyCFunction_GetSelf"):
        get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)((name, ctypes.pythonapi))
        parts.append(int(get(run) or 0))
    fields, table = _fields((parts[0], parts[1]), units, size)
    return builtin(_library(_element(dtype)).address(f"lw_guarded_{_element(dtype)}"), fields, (table, run))
