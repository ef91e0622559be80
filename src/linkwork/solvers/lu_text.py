"""The factor of `lu.factor_lu` in one lane: vectors of four numbers run along the rows, as LLVM IR.

Four pivots at a time: L and U among them (`pivots`), the entries of L of the rows below (`multipliers`), and what these take from
the columns behind (`behind`): U of the four rows stays in registers, while the rows below go by. Every entry loses its terms in
the order of the pivots and with one rounding each, as `factor_lu` says, so all numbers are the same to the bit.

Vectors begin at columns that are multiples of four, as pivots do, so that what one round stores the next loads as it stands; that
is what caches forward at once. The last of a row ends with the row, and begins within the one before.
"""

from __future__ import annotations

from ..kernel.lanes import Lanes
from ..kernel.vector_text import mask_below, splat_ir

WIDE = 4  # numbers of a vector, and pivots at a time
MOST = 5  # vectors of columns beside one another: as many as there are registers for
KIND, SUFFIX = f"<{WIDE} x double>", f"v{WIDE}f64"
Names = dict[tuple[int, int], str]  # of values, by row and vector, or by row and pivot
NONE = 1e-300  # a pivot below is none


def factor_ir(symbol: str, width: int) -> str:
    """The function of `factor_lu`'s parameters."""
    parts = [pivots_ir(symbol, count) for count in range(1, WIDE + 1)]
    parts += [multipliers_ir(symbol), *(behind_ir(symbol, vectors) for vectors in range(1, MOST + 1))]
    return "\n\n".join([*parts, _all(symbol)])


def _all(symbol: str) -> str:
    cases = " ".join(f"i64 {c}, label %pivots{c}" for c in range(1, WIDE))
    lines = [f"define internal void @{symbol}(i64 %n, ptr %A) #0 {{", "start:", f"  %last = sub i64 %n, {WIDE}"]
    lines += ["  br label %loop", "loop:", "  %k = phi i64 [ 0, %start ], [ %next, %columns ]", "  %left = sub i64 %n, %k"]
    lines += ["  %more = icmp sgt i64 %left, 0", "  br i1 %more, label %go, label %end"]
    lines += ["go:", f"  switch i64 %left, label %pivots{WIDE} [ {cases} ]"]
    for c in range(1, WIDE):
        lines += [f"pivots{c}:", f"  call void @{symbol}.pivots{c}(i64 %n, i64 %k, ptr %A)", "  br label %end"]
    lines += [f"pivots{WIDE}:", f"  call void @{symbol}.pivots{WIDE}(i64 %n, i64 %k, ptr %A)"]
    lines.append(f"  call void @{symbol}.multipliers(i64 %n, i64 %k, ptr %A)")
    lines += [f"  %next = add i64 %k, {WIDE}", "  br label %columns"]
    lines += ["columns:", f"  %j = phi i64 [ %next, %pivots{WIDE} ], [ %over, %again ]", "  %room = sub i64 %n, %j"]
    lines += ["  %some = icmp sgt i64 %room, 0", "  br i1 %some, label %choose, label %loop", "choose:"]
    lines += [f"  %up = add i64 %room, {WIDE - 1}", f"  %all = sdiv i64 %up, {WIDE}"]
    lines += [f"  %vectors = call i64 @llvm.smin.i64(i64 %all, i64 {MOST})", f"  %taken = mul i64 %vectors, {WIDE}"]
    lines += ["  %over = add i64 %j, %taken", f"  %final = sub i64 %over, {WIDE}"]
    lines.append("  %end.at = call i64 @llvm.smin.i64(i64 %final, i64 %last)")
    cases = " ".join(f"i64 {v}, label %behind{v}" for v in range(1, MOST))
    lines.append(f"  switch i64 %vectors, label %behind{MOST} [ {cases} ]")
    for v in range(1, MOST + 1):
        given = "i64 %n, i64 %k, i64 %j, i64 %end.at, ptr %A"
        lines += [f"behind{v}:", f"  call void @{symbol}.behind{v}({given})", "  br label %again"]
    return "\n".join([*lines, "again:", "  br label %columns", "end:", "  ret void", "}"])


def _less(to: str, a: str, b: str, x: str) -> list[str]:
    """`to` = x - a b, rounded once."""
    return [f"  {to}.m = fneg double {a}", f"  {to} = call double @llvm.fma.f64(double {to}.m, double {b}, double {x})"]


def _rows(count: int, first: str, column: str) -> list[str]:
    """`%at{r}`: where rows `first` to `first` + count - 1 of A are in a column."""
    lines = []
    for r in range(count):
        lines += [
            f"  %row{r} = add i64 {first}, {r}",
            f"  %begin{r} = mul i64 %row{r}, %n",
            f"  %place{r} = add i64 %begin{r}, {column}",
        ]
        lines.append(f"  %at{r} = getelementptr double, ptr %A, i64 %place{r}")
    return lines


def pivots_ir(symbol: str, count: int) -> str:
    """Rows k to k + count - 1, which earlier pivots have been taken from: L and U among them."""
    lines = [f"define internal void @{symbol}.pivots{count}(i64 %n, i64 %k, ptr %A) #0 {{", "start:", *_rows(count, "%k", "%k")]
    now: Names = {}
    for r in range(count):
        for s in range(count):
            lines += [
                f"  %p{r}.{s} = getelementptr double, ptr %at{r}, i64 {s}",
                f"  %a{r}.{s} = load double, ptr %p{r}.{s}, align 8",
            ]
            now[r, s] = f"%a{r}.{s}"
    for r in range(count):
        for s in range(count):
            for q in range(min(r, s)):
                made = f"%e{r}.{s}.{q}"
                lines += _less(made, now[r, q], now[q, s], now[r, s])
                now[r, s] = made
            if s < r:
                lines.append(f"  %l{r}.{s} = fmul double {now[r, s]}, {now[s, s]}")
                now[r, s] = f"%l{r}.{s}"
            elif s == r:
                lines += [
                    f"  %size{r} = call double @llvm.fabs.f64(double {now[r, r]})",
                    f"  %good{r} = fcmp ogt double %size{r}, {Lanes(1).constant(NONE)}",
                ]
                lines += [
                    f"  %one{r} = fdiv double 1.0, {now[r, r]}",
                    f"  %r{r} = select i1 %good{r}, double %one{r}, double 0.0",
                ]
                now[r, r] = f"%r{r}"
    lines += [f"  store double {now[r, s]}, ptr %p{r}.{s}, align 8" for r, s in now]
    return "\n".join([*lines, "  ret void", "}"])


def multipliers_ir(symbol: str) -> str:
    """The entries of L in columns k to k + 3 of all rows below."""
    lines = [f"define internal void @{symbol}.multipliers(i64 %n, i64 %k, ptr %A) #0 {{", "start:", *_rows(WIDE, "%k", "%k")]
    used = [(q, s) for q in range(WIDE) for s in range(q, WIDE)]
    for q, s in used:
        lines += [
            f"  %up{q}.{s} = getelementptr double, ptr %at{q}, i64 {s}",
            f"  %u{q}.{s} = load double, ptr %up{q}.{s}, align 8",
        ]
    lines += [f"  %first = add i64 %k, {WIDE}", "  br label %loop", "loop:", "  %i = phi i64 [ %first, %start ], [ %next, %go ]"]
    lines += ["  %some = icmp slt i64 %i, %n", "  br i1 %some, label %go, label %end", "go:", "  %begin = mul i64 %i, %n"]
    lines += ["  %place = add i64 %begin, %k", "  %at = getelementptr double, ptr %A, i64 %place"]
    found: list[str] = []
    for s in range(WIDE):
        lines += [f"  %lp{s} = getelementptr double, ptr %at, i64 {s}", f"  %a{s} = load double, ptr %lp{s}, align 8"]
        l = f"%a{s}"
        for q in range(s):
            lines += _less(f"%e{s}.{q}", found[q], f"%u{q}.{s}", l)
            l = f"%e{s}.{q}"
        lines.append(f"  %l{s} = fmul double {l}, %u{s}.{s}")
        found.append(f"%l{s}")
    lines += [f"  store double {l}, ptr %lp{s}, align 8" for s, l in enumerate(found)]
    return "\n".join([*lines, "  %next = add i64 %i, 1", "  br label %loop", "end:", "  ret void", "}"])


def behind_ir(symbol: str, vectors: int) -> str:
    """So many vectors of columns from j on, the last one at `last`: U of four pivots, and what they take of the rows below."""
    given = "i64 %n, i64 %k, i64 %j, i64 %last, ptr %A"
    lines = [f"define internal void @{symbol}.behind{vectors}({given}) #0 {{", "start:", *_rows(WIDE, "%k", "0")]
    lines += [f"  %c{v} = add i64 %j, {v * WIDE}" for v in range(vectors - 1)] + [f"  %c{vectors - 1} = add i64 %last, 0"]
    # a last vector that is the only one may begin before j: what is there stays
    lines += ["  %before = sub i64 %j, %last", *mask_below("kept", "%before", WIDE)]
    for q in range(WIDE):
        for s in range(q):
            lines += [f"  %lk{q}.{s} = add i64 %k, {s}", f"  %lp{q}.{s} = getelementptr double, ptr %at{q}, i64 %lk{q}.{s}"]
            lines += [f"  %lq{q}.{s} = load double, ptr %lp{q}.{s}, align 8", f"  %lm{q}.{s} = fneg double %lq{q}.{s}"]
            lines += splat_ir(f"l{q}.{s}", f"%lm{q}.{s}", WIDE)
    among = {(q, s): f"%l{q}.{s}" for q in range(WIDE) for s in range(q)}
    u = _losing(lines, "u", vectors, {q: f"%at{q}" for q in range(WIDE)}, among, {})
    lines += [f"  %first = add i64 %k, {WIDE}", "  %some = icmp slt i64 %first, %n", "  br i1 %some, label %loop, label %end"]
    lines += ["loop:", "  %i = phi i64 [ %first, %start ], [ %next, %loop ]", "  %begin = mul i64 %i, %n"]
    lines += ["  %at = getelementptr double, ptr %A, i64 %begin", "  %to = getelementptr double, ptr %at, i64 %k"]
    for q in range(WIDE):
        lines += [f"  %mp{q} = getelementptr double, ptr %to, i64 {q}", f"  %ml{q} = load double, ptr %mp{q}, align 8"]
        lines += [f"  %mm{q} = fneg double %ml{q}", *splat_ir(f"m{q}", f"%mm{q}", WIDE)]
    _losing(lines, "x", vectors, {WIDE: "%at"}, {(WIDE, q): f"%m{q}" for q in range(WIDE)}, u)
    lines += ["  %next = add i64 %i, 1", "  %more = icmp slt i64 %next, %n", "  br i1 %more, label %loop, label %end"]
    return "\n".join([*lines, "end:", "  ret void", "}"])


def _losing(lines: list[str], name: str, vectors: int, rows: dict[int, str], less: Names, u: Names) -> Names:
    """All vectors of rows that begin at addresses: loaded, then less[row, q] times row q added in the order of q, and stored.

    u   rows q that are known; those of `rows` follow
    """
    now = dict(u)
    places = [(r, v) for r in rows for v in range(vectors)]
    for r, v in places:
        lines.append(f"  %{name}p{r}.{v} = getelementptr double, ptr {rows[r]}, i64 %c{v}")
        lines.append(f"  %{name}{r}.{v} = load {KIND}, ptr %{name}p{r}.{v}, align 8")
        now[r, v] = f"%{name}{r}.{v}"
    for r, v in places:
        for q in (q for row, q in less if row == r):
            made = f"%{name}{r}.{v}.{q}"
            lines.append(
                f"  {made} = call {KIND} @llvm.fma.{SUFFIX}({KIND} {less[r, q]}, {KIND} {now[q, v]}, {KIND} {now[r, v]})"
            )
            now[r, v] = made
    for r, v in places:
        value = now[r, v]
        if v == vectors - 1:
            value = f"%{name}{r}.own"
            lines.append(f"  {value} = select <{WIDE} x i1> %kept, {KIND} %{name}{r}.{v}, {KIND} {now[r, v]}")
        lines.append(f"  store {KIND} {value}, ptr %{name}p{r}.{v}, align 8")
    return now
