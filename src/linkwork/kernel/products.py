"""Products of matrices as loop functions: in one lane whole registers run along the rows of a product.

    C += scale (A B),      each entry a sum in the order of the columns of A, with one rounding a term

In one lane the columns of C lie side by side, so that vectors of them are made at once, four rows of A at a time: what is loaded
of B serves four times. No sum changes its order, so the function as it stands, which other numbers of lanes run, rounds alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import machine
from .lanes import Lanes
from .loops import Lane, LoopFunction

ROWS, VECTORS = 4, 2  # of C at a time


class InOneLane(LoopFunction):
    """A loop function with a text of its own for one lane of double precision, given the name and the width of registers."""

    def __init__(self, function: Callable[..., Any], text: Callable[[str, int], str]) -> None:
        super().__init__(function)
        self._text = text

    def written(self, lanes: Lanes, symbol: str) -> str | None:
        return None if lanes.width > 1 or lanes.single else self._text(symbol, machine.register_bytes() // 8)


def in_one_lane(text: Callable[[str, int], str]) -> Callable[[Callable[..., Any]], InOneLane]:
    """A decorator: see `InOneLane`."""
    return lambda function: InOneLane(function, text)


def clear_ir(symbol: str, width: int) -> str:
    """The function of `clear`'s parameters."""
    return f"""define internal void @{symbol}(i64 %count, ptr %A) #0 {{
  %bytes = mul i64 %count, 8
  call void @llvm.memset.p0.i64(ptr %A, i8 0, i64 %bytes, i1 false)
  ret void
}}"""


def copy_ir(symbol: str, width: int) -> str:
    """The function of `copy`'s parameters."""
    return f"""define internal void @{symbol}(i64 %count, ptr %A, i64 %a, ptr %B, i64 %b) #0 {{
  %bytes = mul i64 %count, 8
  %from = getelementptr double, ptr %A, i64 %a
  %to = getelementptr double, ptr %B, i64 %b
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  ret void
}}"""


@in_one_lane(clear_ir)
def clear(count: int, A: Lane) -> None:
    """Zeros."""
    for i in range(count):
        A[i] = 0.0


@in_one_lane(copy_ir)
def copy(count: int, A: Lane, a: int, B: Lane, b: int) -> None:
    """B, from record b on, is A from record a on; they do not overlap."""
    for i in range(count):
        B[b + i] = A[a + i]


@in_one_lane(lambda symbol, width: product_ir(symbol, width))
def add_product(
    m: int,
    n: int,
    k: int,
    scale: float,
    A: Lane,
    a: int,
    row: int,
    column: int,
    B: Lane,
    b: int,
    B_row: int,
    C: Lane,
    c: int,
    C_row: int,
) -> None:
    """C += scale (A B), C (m, n) from record c on with C_row records a row; A (m, k) has its own steps by row and column."""
    for i in range(m):
        for j in range(n):
            total = 0.0 * scale
            for p in range(k):
                total += A[a + i * row + p * column] * B[b + p * B_row + j]
            C[c + i * C_row + j] += scale * total


def product_ir(symbol: str, width: int) -> str:
    """The function of `add_product`'s parameters, with vectors of so many numbers."""
    blocks = [_block(symbol, r, v, width, part) for r in (ROWS, 1) for v, part in ((VECTORS, False), (1, True))]
    return "\n\n".join([*blocks, _columns(symbol, width)])


def _columns(symbol: str, width: int) -> str:
    """All columns of C: blocks of several vectors first, the last ones vector by vector under a mask."""
    kind, counted, zeros = f"<{width} x i64>", ", ".join(f"i64 {i}" for i in range(width)), ", ".join(["i32 0"] * width)
    given = "i64 %m, i64 %n, i64 %k, double %scale, ptr %A, i64 %a, i64 %row, i64 %column, ptr %B, i64 %b, i64 %B_row"
    return f"""define internal void @{symbol}({given}, ptr %C, i64 %c, i64 %C_row) #0 {{
start:
  %some = icmp sgt i64 %m, 0
  br i1 %some, label %wide, label %end
wide:
  %j.w = phi i64 [ 0, %start ], [ %over.w, %next.w ]
  %over.w = add i64 %j.w, {width * VECTORS}
  %fits = icmp sle i64 %over.w, %n
  br i1 %fits, label %begin.w, label %narrow
begin.w:
{_rows(symbol, "w", "")}
next.w:
  br label %wide
narrow:
  %j.p = phi i64 [ %j.w, %wide ], [ %over.p, %next.p ]
  %over.p = add i64 %j.p, {width}
  %rest = icmp slt i64 %j.p, %n
  br i1 %rest, label %begin.p, label %end
begin.p:
  %room = sub i64 %n, %j.p
  %one = insertelement {kind} poison, i64 %room, i64 0
  %all = shufflevector {kind} %one, {kind} poison, <{width} x i32> <{zeros}>
  %mask = icmp slt {kind} <{counted}>, %all
{_rows(symbol, "p", f", <{width} x i1> %mask")}
next.p:
  br label %narrow
end:
  ret void
}}"""


def _rows(symbol: str, x: str, mask: str) -> str:
    """All rows of a block of columns; names end in x, and `next.x` is what follows."""
    arguments = (
        f"i64 %k, double %scale, ptr %Ai.{x}, i64 %row, i64 %column, ptr %Bj.{x}, i64 %B_row, ptr %Cij.{x}, i64 %C_row{mask}"
    )
    return f"""  %bj.{x} = add i64 %b, %j.{x}
  %Bj.{x} = getelementptr double, ptr %B, i64 %bj.{x}
  %cj.{x} = add i64 %c, %j.{x}
  br label %rows.{x}
rows.{x}:
  %i.{x} = phi i64 [ 0, %begin.{x} ], [ %i.next.{x}, %after.{x} ]
  %left.{x} = sub i64 %m, %i.{x}
  %several.{x} = icmp sge i64 %left.{x}, {ROWS}
  %ai.{x} = mul i64 %i.{x}, %row
  %a.at.{x} = add i64 %a, %ai.{x}
  %Ai.{x} = getelementptr double, ptr %A, i64 %a.at.{x}
  %ci.{x} = mul i64 %i.{x}, %C_row
  %c.at.{x} = add i64 %cj.{x}, %ci.{x}
  %Cij.{x} = getelementptr double, ptr %C, i64 %c.at.{x}
  br i1 %several.{x}, label %many.{x}, label %one.{x}
many.{x}:
  call void @{symbol}.{ROWS}.{x}({arguments})
  br label %after.{x}
one.{x}:
  call void @{symbol}.1.{x}({arguments})
  br label %after.{x}
after.{x}:
  %done.{x} = select i1 %several.{x}, i64 {ROWS}, i64 1
  %i.next.{x} = add i64 %i.{x}, %done.{x}
  %more.{x} = icmp slt i64 %i.next.{x}, %m
  br i1 %more.{x}, label %rows.{x}, label %next.{x}"""


def _block(symbol: str, rows: int, vectors: int, width: int, masked: bool) -> str:
    """Some rows of C, some vectors of each; under a mask only one."""
    kind, name = f"<{width} x double>", f"{rows}.{'p' if masked else 'w'}"
    mask = f", <{width} x i1> %mask" if masked else ""
    lines = [
        f"define internal void @{symbol}.{name}(i64 %k, double %scale, ptr %A, i64 %row, i64 %column, ptr %B, i64 %B_row, "
        f"ptr %C, i64 %C_row{mask}) #0 {{",
        "start:",
    ]

    def load(to: str, at: str) -> None:
        if masked:
            lines.append(f"  {to} = call {kind} @llvm.masked.load.v{width}f64.p0(ptr {at}, i32 8{mask}, {kind} zeroinitializer)")
        else:
            lines.append(f"  {to} = load {kind}, ptr {at}, align 8")

    places = [(r, v) for r in range(rows) for v in range(vectors)]
    for r, v in places:
        lines += [f"  %co{r}.{v} = mul i64 %C_row, {r}", f"  %cv{r}.{v} = add i64 %co{r}.{v}, {v * width}"]
        lines.append(f"  %cp{r}.{v} = getelementptr double, ptr %C, i64 %cv{r}.{v}")
    lines += ["  %some = icmp sgt i64 %k, 0", "  br i1 %some, label %loop, label %end", "loop:"]
    lines.append("  %p = phi i64 [ 0, %start ], [ %p.next, %loop ]")
    lines += [f"  %s{r}.{v} = phi {kind} [ zeroinitializer, %start ], [ %t{r}.{v}, %loop ]" for r, v in places]
    lines += ["  %bo = mul i64 %p, %B_row", "  %ao = mul i64 %p, %column"]
    for v in range(vectors):
        lines += [f"  %bo{v} = add i64 %bo, {v * width}", f"  %bp{v} = getelementptr double, ptr %B, i64 %bo{v}"]
        load(f"%b{v}", f"%bp{v}")
    zeros = ", ".join(["i32 0"] * width)
    for r in range(rows):
        lines += [f"  %ar{r} = mul i64 %row, {r}", f"  %ap{r} = add i64 %ao, %ar{r}"]
        lines += [f"  %aq{r} = getelementptr double, ptr %A, i64 %ap{r}", f"  %a{r} = load double, ptr %aq{r}, align 8"]
        lines.append(f"  %ai{r} = insertelement {kind} poison, double %a{r}, i64 0")
        lines.append(f"  %av{r} = shufflevector {kind} %ai{r}, {kind} poison, <{width} x i32> <{zeros}>")
        for v in range(vectors):
            product = f"{kind} %av{r}, {kind} %b{v}, {kind} %s{r}.{v}"
            lines.append(f"  %t{r}.{v} = call {kind} @llvm.fma.v{width}f64({product})")
    lines += ["  %p.next = add i64 %p, 1", "  %more = icmp slt i64 %p.next, %k", "  br i1 %more, label %loop, label %end", "end:"]
    lines += [f"  %e{r}.{v} = phi {kind} [ zeroinitializer, %start ], [ %t{r}.{v}, %loop ]" for r, v in places]
    lines += [f"  %si = insertelement {kind} poison, double %scale, i64 0"]
    lines += [f"  %sv = shufflevector {kind} %si, {kind} poison, <{width} x i32> <{zeros}>"]
    for r, v in places:
        load(f"%c{r}.{v}", f"%cp{r}.{v}")
        lines.append(f"  %f{r}.{v} = call {kind} @llvm.fma.v{width}f64({kind} %sv, {kind} %e{r}.{v}, {kind} %c{r}.{v})")
        if masked:
            lines.append(f"  call void @llvm.masked.store.v{width}f64.p0({kind} %f{r}.{v}, ptr %cp{r}.{v}, i32 8{mask})")
        else:
            lines.append(f"  store {kind} %f{r}.{v}, ptr %cp{r}.{v}, align 8")
    return "\n".join([*lines, "  ret void", "}"])
