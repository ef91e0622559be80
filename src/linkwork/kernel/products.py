"""Products of matrices as a loop function: in one lane whole registers run along the rows of a product.

    C += scale (A B),      each entry a sum in the order of the columns of A, with one rounding a term

In one lane the columns of C lie side by side, so that vectors of them are made at once, four rows of A at a time: what is loaded
of B serves four times. No sum changes its order, so the function as it stands, which other numbers of lanes run, rounds alike.
"""

from __future__ import annotations

from . import machine
from .lanes import Lanes
from .loops import Lane, LoopFunction

ROWS, VECTORS = 4, 2  # of C at a time


class MatrixProduct(LoopFunction):
    """`add_product`, with a text of its own for one lane of double precision."""

    def written(self, lanes: Lanes, symbol: str) -> str | None:
        return None if lanes.width > 1 or lanes.single else product_ir(symbol, machine.register_bytes() // 8)


@MatrixProduct
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
    masked = ", ".join(["i32 0"] * width)
    blocks = [_block(symbol, r, v, width, part) for r in (ROWS, 1) for v, part in ((VECTORS, False), (1, True))]
    return "\n\n".join([*blocks, _loops(symbol, width, masked)])


def _loops(symbol: str, width: int, zeros: str) -> str:
    """Blocks of columns, and of rows: whole ones first, the last columns under a mask."""
    wide, kind = width * VECTORS, f"<{width} x i64>"
    counted = ", ".join(f"i64 {i}" for i in range(width))
    names = "i64 %m, i64 %n, i64 %k, double %scale, ptr %A, i64 %a, i64 %row, i64 %column, ptr %B, i64 %b, i64 %B_row"
    given = "i64 %k, double %scale, ptr %Ai, i64 %row, i64 %column, ptr %Bj, i64 %B_row, ptr %Cij, i64 %C_row"
    rows = f"""
rows.@:
  %i.@ = phi i64 [ 0, %begin.@ ], [ %i.next.@, %after.@ ]
  %left.@ = sub i64 %m, %i.@
  %four.@ = icmp sge i64 %left.@, {ROWS}
  %ai.@ = mul i64 %i.@, %row
  %a.at.@ = add i64 %a, %ai.@
  %Ai.@ = getelementptr double, ptr %A, i64 %a.at.@
  %ci.@ = mul i64 %i.@, %C_row
  %cj.@ = add i64 %c, %j.@
  %c.at.@ = add i64 %cj.@, %ci.@
  %Cij.@ = getelementptr double, ptr %C, i64 %c.at.@
  br i1 %four.@, label %many.@, label %one.@
many.@:
  call void @{symbol}.{ROWS}@(GIVEN)
  br label %after.@
one.@:
  call void @{symbol}.1@(GIVEN)
  br label %after.@
after.@:
  %done.@ = select i1 %four.@, i64 {ROWS}, i64 1
  %i.next.@ = add i64 %i.@, %done.@
  %more.@ = icmp slt i64 %i.next.@, %m
  br i1 %more.@, label %rows.@, label %next.@"""

    def part(name: str, mask: str) -> str:
        arguments = given.replace("%Ai", f"%Ai.{name}").replace("%Bj", f"%Bj.{name}").replace("%Cij", f"%Cij.{name}") + mask
        return rows.replace("GIVEN", arguments).replace("@(", f".{name}(").replace(f"1.{name}(", f"1.{name}(").replace("@:", f"{name}:").replace(
            ".@", f".{name}"
        )

    return f"""define internal void @{symbol}({names}, ptr %C, i64 %c, i64 %C_row) #0 {{
start:
  %some = icmp sgt i64 %m, 0
  br i1 %some, label %wide, label %end
wide:
  %j.w = phi i64 [ 0, %start ], [ %j.next.w, %next.w ]
  %over.w = add i64 %j.w, {wide}
  %fits = icmp sle i64 %over.w, %n
  br i1 %fits, label %begin.w, label %narrow
begin.w:
  %bj.w = add i64 %b, %j.w
  %Bj.w = getelementptr double, ptr %B, i64 %bj.w
  br label %rows.w{part("w", "")}
next.w:
  %j.next.w = add i64 %j.w, {wide}
  br label %wide
narrow:
  %j.p = phi i64 [ %j.w, %wide ], [ %j.next.p, %next.p ]
  %rest = icmp slt i64 %j.p, %n
  br i1 %rest, label %begin.p, label %end
begin.p:
  %bj.p = add i64 %b, %j.p
  %Bj.p = getelementptr double, ptr %B, i64 %bj.p
  %room = sub i64 %n, %j.p
  %one = insertelement {kind} poison, i64 %room, i64 0
  %all = shufflevector {kind} %one, {kind} poison, <{width} x i32> <{zeros}>
  %mask = icmp slt {kind} <{counted}>, %all
  br label %rows.p{part("p", f", <{width} x i1> %mask")}
next.p:
  %j.next.p = add i64 %j.p, {width}
  br label %narrow
end:
  ret void
}}"""


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
