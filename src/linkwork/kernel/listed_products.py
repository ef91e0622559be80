"""Products with matrices of which many entries are zero, a vector of columns at a time (see `products`): of the rows of B only
those that have something there, which a list names."""

from __future__ import annotations

from .loops import Lane, Table
from .one_lane import in_one_lane
from .product_text import sums_to_C
from .vector_text import load_ir, mask_below, splat_ir

ROWS = 8  # of C at a time


@in_one_lane(lambda symbol, width: listed_ir(symbol, width, onto=True))
def add_listed(
    m: int,
    n: int,
    k: int,
    scale: float,
    listed: Table,
    first: int,
    A: Lane,
    row: int,
    B: Lane,
    b: int,
    B_row: int,
    C: Lane,
    c: int,
    C_row: int,
) -> None:
    """C += scale (A B), C (m, n) from record c on, of k columns of A and rows of B, which entries `first` and on of a list name.

    A has rows of `row` records; the list is read once for every register that n numbers take.
    """
    for i in range(m):
        for j in range(n):
            total = 0.0 * scale
            for t in range(k):
                p = listed[first + t]
                total += A[i * row + p] * B[b + p * B_row + j]
            C[c + i * C_row + j] += scale * total


@in_one_lane(lambda symbol, width: listed_ir(symbol, width, onto=False))
def put_listed(
    m: int,
    n: int,
    k: int,
    scale: float,
    listed: Table,
    first: int,
    A: Lane,
    row: int,
    B: Lane,
    b: int,
    B_row: int,
    C: Lane,
    c: int,
    C_row: int,
) -> None:
    """C = scale (A B), the same."""
    for i in range(m):
        for j in range(n):
            total = 0.0 * scale
            for t in range(k):
                p = listed[first + t]
                total += A[i * row + p] * B[b + p * B_row + j]
            C[c + i * C_row + j] = scale * total


def listed_ir(symbol: str, width: int, onto: bool) -> str:
    """The function of the parameters of `add_listed` (onto what is there) or `put_listed`: a vector of columns at a time,
    of it blocks of several rows, then the last ones."""
    counts = range(1, ROWS)
    arguments = "i64 %k, double %scale, ptr %list, ptr %Ai, i64 %row, ptr %Bj, i64 %B_row, ptr %Ci, i64 %C_row"
    arguments += f", <{width} x i1> %mask"
    labels = " ".join(f"i64 {r}, label %rest{r}" for r in counts)
    rest = "\n".join(f"rest{r}:\n  call void @{symbol}.{r}({arguments})\n  br label %columns" for r in counts)
    mask = "\n".join(mask_below("mask", "%room", width))
    given = "i64 %m, i64 %n, i64 %k, double %scale, ptr %listed, i64 %first, ptr %A, i64 %row, ptr %B, i64 %b, i64 %B_row"
    whole = f"""define internal void @{symbol}({given}, ptr %C, i64 %c, i64 %C_row) #0 {{
start:
  %list = getelementptr i32, ptr %listed, i64 %first
  br label %columns
columns:
  %j = phi i64 [ 0, %start ], [ %j.next, %few ]{", ".join(["", *(f"[ %j.next, %rest{r} ]" for r in counts)])}
  %j.next = add i64 %j, {width}
  %room = sub i64 %n, %j
  %some = icmp sgt i64 %room, 0
  br i1 %some, label %begin, label %end
begin:
{mask}
  %bj = add i64 %b, %j
  %Bj = getelementptr double, ptr %B, i64 %bj
  %cj = add i64 %c, %j
  %Cj = getelementptr double, ptr %C, i64 %cj
  br label %rows
rows:
  %i = phi i64 [ 0, %begin ], [ %i.next, %many ]
  %left = sub i64 %m, %i
  %ai = mul i64 %i, %row
  %Ai = getelementptr double, ptr %A, i64 %ai
  %ci = mul i64 %i, %C_row
  %Ci = getelementptr double, ptr %Cj, i64 %ci
  %several = icmp sge i64 %left, {ROWS}
  br i1 %several, label %many, label %few
many:
  call void @{symbol}.{ROWS}({arguments})
  %i.next = add i64 %i, {ROWS}
  br label %rows
few:
  switch i64 %left, label %columns [ {labels} ]
{rest}
end:
  ret void
}}"""
    return "\n\n".join([*(_block(symbol, r, width, onto) for r in range(1, ROWS + 1)), whole])


def _block(symbol: str, rows: int, width: int, onto: bool) -> str:
    """Some rows of C."""
    kind, mask, each = f"<{width} x double>", f", <{width} x i1> %mask", range(rows)
    lines = [
        f"define internal void @{symbol}.{rows}(i64 %k, double %scale, ptr %list, ptr %A, i64 %row, ptr %B, i64 %B_row, "
        f"ptr %C, i64 %C_row{mask}) #0 {{",
        "start:",
    ]
    for r in each:
        lines += [f"  %co{r} = mul i64 %C_row, {r}", f"  %cp{r} = getelementptr double, ptr %C, i64 %co{r}"]
        lines += [f"  %ao{r} = mul i64 %row, {r}", f"  %ar{r} = getelementptr double, ptr %A, i64 %ao{r}"]
    lines += ["  %some = icmp sgt i64 %k, 0", "  br i1 %some, label %loop, label %end", "loop:"]
    lines.append("  %t = phi i64 [ 0, %start ], [ %t.next, %loop ]")
    lines += [f"  %s{r} = phi {kind} [ zeroinitializer, %start ], [ %t{r}, %loop ]" for r in each]
    lines += ["  %lp = getelementptr i32, ptr %list, i64 %t", "  %p.n = load i32, ptr %lp", "  %p = zext i32 %p.n to i64"]
    lines += ["  %bo = mul i64 %p, %B_row", "  %bp = getelementptr double, ptr %B, i64 %bo", load_ir("%b", "%bp", width, mask)]
    for r in each:
        lines += [f"  %aq{r} = getelementptr double, ptr %ar{r}, i64 %p", f"  %a{r} = load double, ptr %aq{r}, align 8"]
        lines += splat_ir(f"av{r}", f"%a{r}", width)
        lines.append(f"  %t{r} = call {kind} @llvm.fma.v{width}f64({kind} %av{r}, {kind} %b, {kind} %s{r})")
    lines += ["  %t.next = add i64 %t, 1", "  %more = icmp slt i64 %t.next, %k", "  br i1 %more, label %loop, label %end", "end:"]
    lines += [f"  %e{r} = phi {kind} [ zeroinitializer, %start ], [ %t{r}, %loop ]" for r in each]
    lines += sums_to_C([str(r) for r in each], width, onto, mask)
    return "\n".join([*lines, "  ret void", "}"])
