"""Sums of some rows of a matrix, each with its weight, as a loop function: in one lane whole registers run along the rows.

    out = sum over k of weights_k Y_(rows_k)

Each entry is a sum in the order of k, with one rounding a term, in any number of lanes.
"""

from __future__ import annotations

from .loops import Ints, Lane
from .products import in_one_lane

WIDTH = 8  # numbers of a register: rows have a multiple of it
TOGETHER = 4  # registers, of which sums run side by side


def combine_ir(symbol: str, width: int) -> str:
    """The functions of `combine`'s parameters: several registers, one, and all."""
    return "\n\n".join([_some(symbol, TOGETHER), _some(symbol, 1), _all(symbol)])


@in_one_lane(combine_ir)
def combine(count: int, rows: Ints, weights: Lane, Y: Lane, stride: int, wide: int, out: Lane) -> None:
    """out, of `wide` numbers, a multiple of WIDTH; rows of Y have `stride` numbers, no fewer."""
    for i in range(0, wide, 4):
        first = 0.0 * Y[0]
        second = first
        third = first
        fourth = first
        for k in range(count):
            at = rows[k] * stride + i
            first += weights[k] * Y[at]
            second += weights[k] * Y[at + 1]
            third += weights[k] * Y[at + 2]
            fourth += weights[k] * Y[at + 3]
        out[i] = first
        out[i + 1] = second
        out[i + 2] = third
        out[i + 3] = fourth


def _some(symbol: str, registers: int) -> str:
    """Some registers of the sum, from the given place on."""
    kind, zeros, each = f"<{WIDTH} x double>", ", ".join(["i32 0"] * WIDTH), range(registers)
    given = "i64 %count, ptr %rows, ptr %weights, ptr %Y, i64 %stride, ptr %out"
    lines = [f"define internal void @{symbol}.{registers}({given}) #0 {{", "start:"]
    lines += ["  %some = icmp sgt i64 %count, 0", "  br i1 %some, label %loop, label %end", "loop:"]
    lines += ["  %k = phi i64 [ 0, %start ], [ %k.next, %loop ]"]
    lines += [f"  %s{v} = phi {kind} [ zeroinitializer, %start ], [ %t{v}, %loop ]" for v in each]
    lines += ["  %row.at = getelementptr i64, ptr %rows, i64 %k", "  %row = load i64, ptr %row.at, align 8"]
    lines += ["  %first = mul i64 %row, %stride", "  %Yk = getelementptr double, ptr %Y, i64 %first"]
    lines += ["  %weight.at = getelementptr double, ptr %weights, i64 %k", "  %weight = load double, ptr %weight.at, align 8"]
    lines += [f"  %one = insertelement {kind} poison, double %weight, i64 0"]
    lines += [f"  %all = shufflevector {kind} %one, {kind} poison, <{WIDTH} x i32> <{zeros}>"]
    for v in each:
        lines += [f"  %y{v}.at = getelementptr double, ptr %Yk, i64 {v * WIDTH}", f"  %y{v} = load {kind}, ptr %y{v}.at, align 8"]
        lines.append(f"  %t{v} = call {kind} @llvm.fma.v{WIDTH}f64({kind} %all, {kind} %y{v}, {kind} %s{v})")
    lines += ["  %k.next = add i64 %k, 1", "  %more = icmp slt i64 %k.next, %count", "  br i1 %more, label %loop, label %end"]
    lines += ["end:", *(f"  %e{v} = phi {kind} [ zeroinitializer, %start ], [ %t{v}, %loop ]" for v in each)]
    for v in each:
        lines += [f"  %o{v} = getelementptr double, ptr %out, i64 {v * WIDTH}", f"  store {kind} %e{v}, ptr %o{v}, align 8"]
    return "\n".join([*lines, "  ret void", "}"])


def _all(symbol: str) -> str:
    """The whole sum."""
    given = "i64 %count, ptr %rows, ptr %weights, ptr %Yi, i64 %stride, ptr %outi"
    return f"""define internal void @{symbol}(i64 %count, ptr %rows, ptr %weights, ptr %Y, i64 %stride, i64 %wide, ptr %out) #0 {{
start:
  %some = icmp sgt i64 %wide, 0
  br i1 %some, label %next, label %end
next:
  %i = phi i64 [ 0, %start ], [ %i.next, %after ]
  %left = sub i64 %wide, %i
  %several = icmp sge i64 %left, {WIDTH * TOGETHER}
  %Yi = getelementptr double, ptr %Y, i64 %i
  %outi = getelementptr double, ptr %out, i64 %i
  br i1 %several, label %many, label %one
many:
  call void @{symbol}.{TOGETHER}({given})
  br label %after
one:
  call void @{symbol}.1({given})
  br label %after
after:
  %done = select i1 %several, i64 {WIDTH * TOGETHER}, i64 {WIDTH}
  %i.next = add i64 %i, %done
  %more = icmp slt i64 %i.next, %wide
  br i1 %more, label %next, label %end
end:
  ret void
}}"""
