"""Looks at numbers while they are in lanes: whether all are finite, and quaternions have length one.

    i1 lw_lanes_finite(ptr list, i64 total)    of all inputs or outputs of a block, see TRANSFER
    i1 lw_lanes_unit(ptr units, i64 count)     of the quaternions whose lanes begin at these addresses

In lanes a look at a number of all states of a block is one multiplication and one sum, in the nearest cache: about a hundredth of
the dynamics of a small robot, where a look at the arrays of a batch would read them from memory once more.
"""

from __future__ import annotations

from .lanes import Lanes
from .records import TRANSFER, load_field

SUMS = 4  # numbers at a time, so that none waits for another
SLACK = {"double": 2e-6, "float": 2e-5}  # of the square of a length, about twice that of the length


def finite_ir(t: Lanes) -> str:
    """Sums x 0, which is 0 for finite numbers alone; the last number stands for those that lack."""
    zero = t.constant(0.0)
    lines = ["define i1 @lw_lanes_finite(ptr %list, i64 %total) #0 {", "start:", "  br label %next"]
    lines += ["next:", "  %i = phi i64 [ 0, %start ], [ %i.next, %looked ]"]
    lines += [f"  %sum{j} = phi {t.type} [ {zero}, %start ], [ %got{j}, %looked ]" for j in range(SUMS)]
    lines += ["  %left = icmp slt i64 %i, %total", "  br i1 %left, label %one, label %done", "one:"]
    lines += [f"  %at = mul i64 %i, {len(TRANSFER)}", "  %entry = getelementptr i64, ptr %list, i64 %at"]
    for index, field in enumerate(TRANSFER):
        if field in ("lanes", "count", "map"):
            load_field(lines, field, index, "%entry", "i64" if field == "count" else "ptr")
    lines += ["  %last = sub i64 %count, 1", "  %some = icmp sgt i64 %count, 0", "  %plain = icmp eq ptr %map, null"]
    lines += ["  br i1 %some, label %look, label %none", "none:", "  br label %looked"]
    lines += ["look:", "  %k = phi i64 [ 0, %one ], [ %k.next, %take ]"]
    lines += [f"  %s{j} = phi {t.type} [ %sum{j}, %one ], [ %t{j}, %take ]" for j in range(SUMS)]
    for j in range(SUMS):
        lines += [f"  %k{j} = add i64 %k, {j}", f"  %in{j} = icmp slt i64 %k{j}, %last"]
        lines += [f"  %n{j} = select i1 %in{j}, i64 %k{j}, i64 %last"]
    lines += ["  br i1 %plain, label %take, label %by.map", "by.map:"]
    for j in range(SUMS):
        lines += [f"  %m{j}.at = getelementptr i32, ptr %map, i64 %n{j}", f"  %m{j}.n = load i32, ptr %m{j}.at"]
        lines += [f"  %m{j} = zext i32 %m{j}.n to i64"]
    lines += ["  br label %take", "take:"]
    lines += [f"  %p{j} = phi i64 [ %n{j}, %look ], [ %m{j}, %by.map ]" for j in range(SUMS)]
    for j in range(SUMS):
        lines += [f"  %a{j} = getelementptr {t.type}, ptr %lanes, i64 %p{j}"]
        lines += [f"  %x{j} = load {t.type}, ptr %a{j}, align {t.bytes}", f"  %z{j} = fmul {t.type} %x{j}, {zero}"]
        lines += [f"  %t{j} = fadd {t.type} %s{j}, %z{j}"]
    lines += [f"  %k.next = add i64 %k, {SUMS}", "  %k.more = icmp sle i64 %k.next, %last"]
    lines += ["  br i1 %k.more, label %look, label %looked", "looked:"]
    lines += [f"  %got{j} = phi {t.type} [ %sum{j}, %none ], [ %t{j}, %take ]" for j in range(SUMS)]
    lines += ["  %i.next = add i64 %i, 1", "  br label %next", "done:"]
    lines += [f"  %u = fadd {t.type} %sum0, %sum1", f"  %v = fadd {t.type} %sum2, %sum3", f"  %w = fadd {t.type} %u, %v"]
    lines += [f"  %odd = fcmp uno {t.type} %w, {zero}", *_in_no_lane(t, "odd"), "  ret i1 %fine", "}"]
    return "\n".join(lines)


def unit_ir(t: Lanes) -> str:
    """Whether (w^2 + x^2 + y^2 + z^2 - 1)^2 is small in every lane."""
    square, falsity = SLACK[t.element] ** 2, "false" if t.width == 1 else "zeroinitializer"
    lines = ["define i1 @lw_lanes_unit(ptr %units, i64 %count) #0 {", "start:", "  br label %next"]
    lines += ["next:", "  %i = phi i64 [ 0, %start ], [ %i.next, %look ]"]
    lines += [f"  %bad = phi {t.bool_type} [ {falsity}, %start ], [ %worse, %look ]"]
    lines += ["  %left = icmp slt i64 %i, %count", "  br i1 %left, label %look, label %done", "look:"]
    lines += ["  %unit.at = getelementptr ptr, ptr %units, i64 %i", "  %unit = load ptr, ptr %unit.at"]
    for j in range(4):
        lines += [f"  %a{j} = getelementptr {t.type}, ptr %unit, i64 {j}", f"  %x{j} = load {t.type}, ptr %a{j}, align {t.bytes}"]
        lines += [f"  %y{j} = fmul {t.type} %x{j}, %x{j}"]
    lines += [f"  %p = fadd {t.type} %y0, %y1", f"  %q = fadd {t.type} %y2, %y3", f"  %r = fadd {t.type} %p, %q"]
    lines += [f"  %off = fsub {t.type} %r, {t.constant(1.0)}", f"  %off2 = fmul {t.type} %off, %off"]
    lines += [f"  %far = fcmp ugt {t.type} %off2, {t.constant(square)}", f"  %worse = or {t.bool_type} %bad, %far"]
    lines += ["  %i.next = add i64 %i, 1", "  br label %next", "done:", *_in_no_lane(t, "bad"), "  ret i1 %fine", "}"]
    return "\n".join(lines)


def _in_no_lane(t: Lanes, flag: str) -> list[str]:
    """`%fine`: whether a flag is down in every lane."""
    if t.width == 1:
        return [f"  %fine = xor i1 %{flag}, true"]
    any_lane = f"  %any = call i1 @llvm.vector.reduce.or.v{t.width}i1({t.bool_type} %{flag})"
    return [any_lane, "  %fine = xor i1 %any, true"]
