"""Transposed matrices as loop functions: in one lane squares of four rows and columns go through registers.

The last squares of rows and columns begin within those before; matrices with fewer rows or columns go number by number.
"""

from __future__ import annotations

from .loops import Lane
from .one_lane import in_one_lane

WIDE = 4  # rows and columns of a square
KIND = f"<{WIDE} x double>"


@in_one_lane(lambda symbol, width: transposed_ir(symbol))
def put_transposed(rows: int, columns: int, A: Lane, B: Lane) -> None:
    """B (columns, rows) = A^T; B is not A."""
    for i in range(rows):
        for k in range(columns):
            B[k * rows + i] = A[i * columns + k]


def transposed_ir(symbol: str) -> str:
    """The function of `put_transposed`'s parameters."""
    return f"""define internal void @{symbol}(i64 %rows, i64 %columns, ptr %A, ptr %B) #0 {{
start:
  %i.last = sub i64 %rows, {WIDE}
  %k.last = sub i64 %columns, {WIDE}
  %least = call i64 @llvm.smin.i64(i64 %i.last, i64 %k.last)
  %squares = icmp sge i64 %least, 0
  br i1 %squares, label %rows.of, label %count
rows.of:
  %i.next = phi i64 [ 0, %start ], [ %i.over, %row.end ]
  %i = call i64 @llvm.smin.i64(i64 %i.next, i64 %i.last)
  br label %square
square:
  %k.next = phi i64 [ 0, %rows.of ], [ %k.over, %square ]
  %k = call i64 @llvm.smin.i64(i64 %k.next, i64 %k.last)
{_square()}
  %k.over = add i64 %k.next, {WIDE}
  %k.more = icmp slt i64 %k.over, %columns
  br i1 %k.more, label %square, label %row.end
row.end:
  %i.over = add i64 %i.next, {WIDE}
  %i.more = icmp slt i64 %i.over, %rows
  br i1 %i.more, label %rows.of, label %end
count:
  %all = mul i64 %rows, %columns
  br label %ask
ask:
  %e = phi i64 [ 0, %count ], [ %e.next, %one ]
  %e.more = icmp slt i64 %e, %all
  br i1 %e.more, label %one, label %end
one:
  %row = udiv i64 %e, %columns
  %column = urem i64 %e, %columns
  %to.row = mul i64 %column, %rows
  %to = add i64 %to.row, %row
  %from.at = getelementptr double, ptr %A, i64 %e
  %to.at = getelementptr double, ptr %B, i64 %to
  %x = load double, ptr %from.at, align 8
  store double %x, ptr %to.at, align 8
  %e.next = add i64 %e, 1
  br label %ask
end:
  ret void
}}"""


def _square() -> str:
    """The square of A at row i and column k: pairs of columns of two rows, then halves of these."""
    lines: list[str] = []
    for r in range(WIDE):
        lines += [f"  %i{r} = add i64 %i, {r}", f"  %a{r} = mul i64 %i{r}, %columns", f"  %b{r} = add i64 %a{r}, %k"]
        lines += [f"  %p{r} = getelementptr double, ptr %A, i64 %b{r}", f"  %x{r} = load {KIND}, ptr %p{r}, align 8"]

    def mixed(to: str, a: str, b: str, places: tuple[int, ...]) -> str:
        chosen = ", ".join(f"i32 {p}" for p in places)
        return f"  {to} = shufflevector {KIND} {a}, {KIND} {b}, <{WIDE} x i32> <{chosen}>"

    for r in (0, 2):
        lines += [
            mixed(f"%even{r}", f"%x{r}", f"%x{r + 1}", (0, 4, 2, 6)),
            mixed(f"%odd{r}", f"%x{r}", f"%x{r + 1}", (1, 5, 3, 7)),
        ]
    for c, of in enumerate(("even", "odd", "even", "odd")):
        lines.append(mixed(f"%y{c}", f"%{of}0", f"%{of}2", (0, 1, 4, 5) if c < 2 else (2, 3, 6, 7)))
        lines += [f"  %k{c} = add i64 %k, {c}", f"  %c{c} = mul i64 %k{c}, %rows", f"  %d{c} = add i64 %c{c}, %i"]
        lines += [f"  %q{c} = getelementptr double, ptr %B, i64 %d{c}", f"  store {KIND} %y{c}, ptr %q{c}, align 8"]
    return "\n".join(lines)
