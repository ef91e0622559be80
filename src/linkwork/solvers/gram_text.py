"""The text of `gram.sums_along_path` in one lane: vectors of columns stay in registers along the path of some rows."""

from __future__ import annotations

from ..kernel.vector_text import load_ir, mask_below, splat_ir, store_ir

WIDE = 16  # columns at a time
ROWS = 4  # rows with one path that go along it at once, at most
VECTORS = 2  # of columns that do
GIVEN = "i64 %count, i64 %i, i64 %j, ptr %active, ptr %starts, ptr %places, ptr %unknowns, ptr %u, ptr %columns, ptr %A"


def sums_ir(symbol: str, width: int) -> str:
    """The function of `sums_along_path`'s parameters: one for every number of rows, and so many columns at a time as fit."""
    labels = " ".join(f"i64 {r}, label %rows{r}" for r in range(1, ROWS + 1))
    lines = [f"define internal void @{symbol}(i64 %rows, {GIVEN}) #0 {{", f"  switch i64 %rows, label %end [ {labels} ]"]
    firsts = range(0, WIDE, VECTORS * width)
    for r in range(1, ROWS + 1):
        lines += [f"rows{r}:", *(f"  call void @{symbol}.{r}.{c}({GIVEN})" for c in firsts), "  br label %end"]
    own = [_sums(f"{symbol}.{r}.{c}", r, c, width) for r in range(1, ROWS + 1) for c in firsts]
    return "\n\n".join([*own, "\n".join([*lines, "end:", "  ret void", "}"])])


def _sums(symbol: str, rows: int, first: int, width: int) -> str:
    """So many rows, the columns from one on: the vectors of all of them stay in registers."""
    kind = f"<{width} x double>"
    vectors = [(r, v) for r in range(rows) for v in range(VECTORS)]
    lines = [f"define internal void @{symbol}({GIVEN}) #0 {{", "start:"]
    for r in range(rows):
        lines += [
            f"  %n{r} = add i64 %i, {r}",
            f"  %n.1.{r} = add i64 %n{r}, 1",
            f"  %row.at{r} = getelementptr i64, ptr %active, i64 %n.1.{r}",
            f"  %row{r} = load i64, ptr %row.at{r}",
            f"  %start.at{r} = getelementptr i32, ptr %starts, i64 %row{r}",
            f"  %start{r} = load i32, ptr %start.at{r}",
            f"  %begin{r} = sext i32 %start{r} to i64",
            f"  %path{r} = getelementptr i32, ptr %places, i64 %begin{r}",
        ]
    lines += ["  %of = getelementptr i32, ptr %unknowns, i64 %begin0", "  %some = icmp sgt i64 %count, 0"]
    lines += ["  br i1 %some, label %loop, label %end", "loop:", "  %p = phi i64 [ 0, %start ], [ %next, %loop ]"]
    lines += [f"  %s{r}.{v} = phi {kind} [ zeroinitializer, %start ], [ %t{r}.{v}, %loop ]" for r, v in vectors]
    lines += ["  %e.at = getelementptr i32, ptr %of, i64 %p", "  %e = load i32, ptr %e.at", "  %e.i = sext i32 %e to i64"]
    lines.append(f"  %c.at = getelementptr [{WIDE} x double], ptr %columns, i64 %e.i, i64 {first}")
    for v in range(VECTORS):
        lines += [f"  %c.at{v} = getelementptr {kind}, ptr %c.at, i64 {v}", load_ir(f"%c{v}", f"%c.at{v}", width, "")]
    for r in range(rows):
        lines += [
            f"  %k.at{r} = getelementptr i32, ptr %path{r}, i64 %p",
            f"  %k{r} = load i32, ptr %k.at{r}",
            f"  %k.i{r} = sext i32 %k{r} to i64",
            f"  %u.at{r} = getelementptr double, ptr %u, i64 %k.i{r}",
            f"  %u{r} = load double, ptr %u.at{r}, align 8",
            *splat_ir(f"all{r}", f"%u{r}", width),
        ]
        for v in range(VECTORS):
            lines.append(f"  %t{r}.{v} = call {kind} @llvm.fma.v{width}f64({kind} %all{r}, {kind} %c{v}, {kind} %s{r}.{v})")
    lines += ["  %next = add i64 %p, 1", "  %more = icmp slt i64 %next, %count", "  br i1 %more, label %loop, label %end", "end:"]
    lines += [f"  %f{r}.{v} = phi {kind} [ zeroinitializer, %start ], [ %t{r}.{v}, %loop ]" for r, v in vectors]
    lines.append(f"  %j.1 = add i64 %j, {first}")
    lines += [f"  %left{r} = sub i64 %n.1.{r}, %j.1" for r in range(rows)]
    return "\n".join([*lines, *_stored(rows, width), "  ret void", "}"])


def _stored(rows: int, width: int) -> list[str]:
    """The columns of a row lie side by side, to the diagonal."""
    lines = []
    for r in range(rows):
        lines += [f"  %n.2.{r} = mul i64 %n{r}, %n.1.{r}", f"  %n.3.{r} = lshr i64 %n.2.{r}, 1"]
        lines.append(f"  %to{r} = add i64 %n.3.{r}, %j.1")
        for v in range(VECTORS):
            lines += [
                f"  %room{r}.{v} = sub i64 %left{r}, {v * width}",
                *mask_below(f"m{r}.{v}", f"%room{r}.{v}", width),
                f"  %to.i{r}.{v} = add i64 %to{r}, {v * width}",
                f"  %to.at{r}.{v} = getelementptr double, ptr %A, i64 %to.i{r}.{v}",
                store_ir(f"%f{r}.{v}", f"%to.at{r}.{v}", width, f", <{width} x i1> %m{r}.{v}"),
            ]
    return lines
