"""Compiled looks at the arrays of a call: whether every number is finite, and quaternions have length one.

    object sound(self, arrays)    True, or None if something is wrong with one of them
    object guarded(self, arrays)  what another such function of arrays returns (`python.of_state`), or None if something is wrong
                                  with an argument, with that result, or with others that it leaves in its memory

A function says by None that its arguments need a closer look; Python then finds out what is wrong and says so. The look costs
about a cycle for eight numbers, so that a call of a small model is as fast with it as without.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import machine
from .python import address_of_api, builtin, parts_of
from .python_text import PLACES
from .records import load_field
from .unit_lanes import SLACK

WIDTH, SUMS = 8, 4  # numbers at a time, and how many times that
FIELDS = ("inner", "inner_self", "none", "true", "incref", "decref", "units", "unit_count", "result_size", "begin", "end")
FIELDS += ("more", "more_count")  # address and size of every further result
NUMBERS = ("unit_count", "result_size", "begin", "end", "more_count")
# Of four quaternions: which argument holds them, and where in a row; alone: they are one, and four rows are taken at a time.
UNIT = ("argument", "o0", "o1", "o2", "o3", "alone")


def finite_ir(element: str) -> str:
    """i1 lw_all_finite(data, count): sums x 0, which is 0 for finite numbers alone; four sums, so that none waits for another."""
    vector, zero, block = f"<{WIDTH} x {element}>", "zeroinitializer", WIDTH * SUMS
    size = 8 if element == "double" else 4
    places = ", ".join(f"i64 {k}" for k in range(WIDTH))
    sums, looks = [], []
    for j in range(SUMS):
        sums.append(f"  %sum{j} = phi {vector} [ {zero}, %start ], [ %next{j}, %block ]")
        looks.append(f"  %i{j} = add i64 %i, {j * WIDTH}\n  %at{j} = getelementptr {element}, ptr %data, i64 %i{j}")
        looks.append(f"  %x{j} = load {vector}, ptr %at{j}, align {size}\n  %nothing{j} = fmul {vector} %x{j}, {zero}")
        looks.append(f"  %next{j} = fadd {vector} %sum{j}, %nothing{j}")
    mask = f"declare {vector} @llvm.masked.load.v{WIDTH}f{8 * size}.p0(ptr, i32, <{WIDTH} x i1>, {vector})"
    return f"""{mask}

define i1 @lw_all_finite(ptr %data, i64 %count) #0 {{
start:
  %blocks.end = and i64 %count, {-block}
  %some = icmp sgt i64 %blocks.end, 0
  br i1 %some, label %block, label %rest
block:
  %i = phi i64 [ 0, %start ], [ %i.next, %block ]
{chr(10).join(sums)}
{chr(10).join(looks)}
  %i.next = add i64 %i, {block}
  %more = icmp slt i64 %i.next, %blocks.end
  br i1 %more, label %block, label %looked
looked:
  %a = fadd {vector} %next0, %next1
  %b = fadd {vector} %next2, %next3
  %sum = fadd {vector} %a, %b
  br label %rest
rest:
  %k = phi i64 [ 0, %start ], [ %blocks.end, %looked ], [ %k.next, %part ]
  %total = phi {vector} [ {zero}, %start ], [ %sum, %looked ], [ %total.next, %part ]
  %left = sub i64 %count, %k
  %any = icmp sgt i64 %left, 0
  br i1 %any, label %part, label %done
part:
  %left.one = insertelement <{WIDTH} x i64> poison, i64 %left, i32 0
  %lefts = shufflevector <{WIDTH} x i64> %left.one, <{WIDTH} x i64> poison, <{WIDTH} x i32> {zero}
  %mask = icmp slt <{WIDTH} x i64> <{places}>, %lefts
  %k.at = getelementptr {element}, ptr %data, i64 %k
  %y = call {vector} @llvm.masked.load.v{WIDTH}f{8 * size}.p0(ptr %k.at, i32 {size}, <{WIDTH} x i1> %mask, {vector} {zero})
  %none = fmul {vector} %y, {zero}
  %total.next = fadd {vector} %total, %none
  %k.next = add i64 %k, {WIDTH}
  br label %rest
done:
  %odd = fcmp uno {vector} %total, {zero}
  %bits = bitcast <{WIDTH} x i1> %odd to i{WIDTH}
  %fine = icmp eq i{WIDTH} %bits, 0
  ret i1 %fine
}}"""


def unit_ir(element: str) -> str:
    """i1 lw_all_unit(data, o0, o1, o2, o3, rows, last, columns, step): whether the four quaternions at these places of a row have
    length one, in every `step`-th row up to `last`, which is looked at in any case. Four sums of squares at once, transposed."""
    four, size = f"<4 x {element}>", 8 if element == "double" else 4
    lines = []
    for j, name in enumerate("abcd"):
        lines.append(f"  %place{j} = add i64 %before, %o{j}\n  %at{j} = getelementptr {element}, ptr %data, i64 %place{j}")
        lines.append(f"  %{name} = load {four}, ptr %at{j}, align {size}\n  %{name}2 = fmul {four} %{name}, %{name}")

    def mixed(name: str, a: str, b: str, order: str) -> str:
        entries = ", ".join(f"i32 {k}" for k in order)
        return f"  %{name} = shufflevector {four} %{a}, {four} %{b}, <4 x i32> <{entries}>"

    lines += [mixed("x", "a2", "b2", "0426"), mixed("y", "a2", "b2", "1537"), f"  %p = fadd {four} %x, %y"]
    lines += [mixed("z", "c2", "d2", "0426"), mixed("w", "c2", "d2", "1537"), f"  %r = fadd {four} %z, %w"]
    lines += [mixed("m", "p", "r", "0145"), mixed("n", "p", "r", "2367"), f"  %squares = fadd {four} %m, %n"]
    ones, most = (f"<{', '.join([f'{element} {_hex(x)}'] * 4)}>" for x in (1.0, SLACK[element] ** 2))
    return f"""define i1 @lw_all_unit(ptr %data, i64 %o0, i64 %o1, i64 %o2, i64 %o3, i64 %last, i64 %columns, i64 %step) #0 {{
start:
  br label %look
look:
  %row = phi i64 [ 0, %start ], [ %row.next, %look ]
  %worst = phi {four} [ zeroinitializer, %start ], [ %worst.next, %look ]
  %inside = icmp slt i64 %row, %last
  %here = select i1 %inside, i64 %row, i64 %last
  %before = mul i64 %here, %columns
{chr(10).join(lines)}
  %off = fsub {four} %squares, {ones}
  %off2 = fmul {four} %off, %off
  %larger = fcmp ogt {four} %off2, %worst
  %worst.next = select <4 x i1> %larger, {four} %off2, {four} %worst
  %row.next = add i64 %row, %step
  br i1 %inside, label %look, label %done
done:
  %good = fcmp ole {four} %worst.next, {most}
  %bits = bitcast <4 x i1> %good to i4
  %all = icmp eq i4 %bits, -1
  ret i1 %all
}}"""


def _hex(x: float) -> str:
    return f"0x{np.float64(np.float32(x)).view(np.uint64):016X}"  # exact in both kinds of numbers


def arguments_ir() -> str:
    """i1 lw_arguments_sound(arguments, first, end, units, unit_count): these arrays are finite, and quaternions unit."""
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
    return f"""define i1 @lw_arguments_sound(ptr %arguments, i64 %begin, i64 %end, ptr %units, i64 %unit_count) #0 {{
start:
  br label %look
look:
  %k = phi i64 [ %begin, %start ], [ %k.next, %next ]
  %left = icmp slt i64 %k, %end
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
  %rows.less = sub i64 %q.rows, 1
  %some.rows = icmp sge i64 %rows.less, 0
  br i1 %some.rows, label %some, label %turned
some:
  %is.alone = icmp ne i64 %alone, 0
  %many = icmp sge i64 %q.rows, 4
  %by.rows = and i1 %is.alone, %many
  %c1 = select i1 %by.rows, i64 %q.columns, i64 0
  %c2 = mul i64 %c1, 2
  %c3 = mul i64 %c1, 3
  %p1 = add i64 %o1, %c1
  %p2 = add i64 %o2, %c2
  %p3 = add i64 %o3, %c3
  %step = select i1 %by.rows, i64 4, i64 1
  %last.row = sub i64 %q.rows, %step
  %good = call i1 @lw_all_unit(ptr %q.data, i64 %o0, i64 %p1, i64 %p2, i64 %p3, i64 %last.row, i64 %q.columns, i64 %step)
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
        load_field(lines, field, index, "%record", "i64" if field in NUMBERS else "ptr")
    return lines


def module_ir(element: str) -> str:
    """All of it for one kind of numbers; functions are named after it, as all kinds share a process."""
    sound = [
        *_head("lw_sound"),
        "  %good = call i1 @lw_arguments_sound(ptr %arguments, i64 %begin, i64 %end, ptr %units, i64 %unit_count)",
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
        "  %good = call i1 @lw_arguments_sound(ptr %arguments, i64 %begin, i64 %end, ptr %units, i64 %unit_count)",
        "  br i1 %good, label %result, label %bad",
        "result:",
        f"  %data.at = getelementptr i8, ptr %found, i64 {PLACES['data']}",
        "  %data = load ptr, ptr %data.at",
        "  %finite = call i1 @lw_all_finite(ptr %data, i64 %result_size)",
        "  br i1 %finite, label %further, label %bad",
        "further:",
        "  %m = phi i64 [ 0, %result ], [ %m.next, %one ]",
        "  %m.left = icmp slt i64 %m, %more_count",
        "  br i1 %m.left, label %one, label %back",
        "one:",
        "  %m.place = mul i64 %m, 2",
        "  %m.at = getelementptr i64, ptr %more, i64 %m.place",
        "  %m.data = load ptr, ptr %m.at",
        "  %m.size.at = getelementptr i64, ptr %m.at, i64 1",
        "  %m.size = load i64, ptr %m.size.at",
        "  %m.next = add i64 %m, 1",
        "  %m.finite = call i1 @lw_all_finite(ptr %m.data, i64 %m.size)",
        "  br i1 %m.finite, label %further, label %bad",
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


def _fields(
    inner: tuple[int, int],
    units: Sequence[tuple[int, int]],
    size: int,
    looked: range,
    further: Sequence[np.ndarray] = (),
) -> tuple[tuple[int, ...], Any]:
    table = np.array(_fours(units), dtype=np.int64).reshape(-1, len(UNIT))
    more = np.array([(a.ctypes.data, a.size) for a in further], dtype=np.int64).reshape(-1, 2)
    calls = address_of_api("Py_IncRef"), address_of_api("Py_DecRef")
    rest = table.ctypes.data, len(table), size, looked.start, looked.stop, more.ctypes.data, len(more)
    return (*inner, id(None), id(True), *calls, *rest), (table, more)


def _fours(units: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Quaternions (argument, offset) four by four; the last of an argument stands for those that lack."""
    rows = []
    for argument in sorted({k for k, _ in units}):
        places = [at for k, at in units if k == argument]
        for first in range(0, len(places), 4):
            own = places[first : first + 4]
            rows.append((argument, *own, *own[-1:] * (4 - len(own)), len(own) == 1))
    return rows


def sound(dtype: np.dtype, units: Sequence[tuple[int, int]], looked: range) -> Callable[..., Any]:
    """A function of arrays of this kind, (n,) or (batch, n) and in one piece: True, or None if something is wrong.

    units    of every quaternion which argument holds it, and where in a row
    looked   the arguments that must be finite
    """
    fields, tables = _fields((0, 0), units, 0, looked)
    return builtin(_library(_element(dtype)).address(f"lw_sound_{_element(dtype)}"), fields, (tables,))


def guarded(
    run: Callable[..., Any],
    dtype: np.dtype,
    units: Sequence[tuple[int, int]],
    count: int,
    size: int,
    further: Sequence[np.ndarray] = (),
) -> Callable[..., Any]:
    """What a function of vectors that is made by `python.of_state` returns, an array of `size` numbers; None if that, one of its
    `count` arguments or one of the arrays in one piece that it writes `further` results to is not sound."""
    fields, tables = _fields(parts_of(run), units, size, range(count), further)
    return builtin(_library(_element(dtype)).address(f"lw_guarded_{_element(dtype)}"), fields, (tables, run, further))
