"""The texts of the functions of `products` that run along rows in one lane: copies, sums of rows, their largest entry, and small
triangles with many right-hand sides, which stay in registers."""

from __future__ import annotations

from .vector_text import largest_of_ir, load_ir, mask_below, splat_ir, store_ir, vectors_ir

ROWS = 4  # of a triangle, at most


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


def scaled_ir(symbol: str, width: int, onto: bool) -> str:
    """The function of the parameters of `add_scaled` (onto what is there) or `put_scaled`."""
    kind = f"<{width} x double>"

    def body(x: str, mask: str) -> list[str]:
        found = [
            f"  %{x}.a = getelementptr double, ptr %from, i64 %{x}.j",
            f"  %{x}.b = getelementptr double, ptr %to, i64 %{x}.j",
            load_ir(f"%{x}.u", f"%{x}.a", width, mask),
        ]
        if onto:
            found.append(load_ir(f"%{x}.v", f"%{x}.b", width, mask))
            found.append(f"  %{x}.s = call {kind} @llvm.fma.v{width}f64({kind} %sv, {kind} %{x}.u, {kind} %{x}.v)")
        else:
            found.append(f"  %{x}.s = fmul {kind} %sv, %{x}.u")
        return [*found, store_ir(f"%{x}.s", f"%{x}.b", width, mask)]

    head = f"define internal void @{symbol}(i64 %count, double %scale, ptr %A, i64 %a, ptr %B, i64 %b) #0 {{"
    begin = ["  %from = getelementptr double, ptr %A, i64 %a", "  %to = getelementptr double, ptr %B, i64 %b"]
    lines = [head, "start:", *begin, *splat_ir("sv", "%scale", width), *vectors_ir("%count", width, body)]
    return "\n".join([*lines, "end:", "  ret void", "}"])


def _loads(x: str, names: str, width: int, mask: str) -> list[str]:
    """`%x.ax` of every name a: the vector that begins `%x.j` numbers behind `%from.a`."""
    lines = []
    for name in names:
        lines.append(f"  %{x}.{name} = getelementptr double, ptr %from.{name}, i64 %{x}.j")
        lines.append(load_ir(f"%{x}.{name}x", f"%{x}.{name}", width, mask))
    return lines


def three_ir(symbol: str, width: int, onto: bool) -> str:
    """The function of the parameters of `add_three` (onto what is there) or `put_three`."""
    kind = f"<{width} x double>"

    def body(x: str, mask: str) -> list[str]:
        lines = [*_loads(x, "abc", width, mask), f"  %{x}.to = getelementptr double, ptr %to, i64 %{x}.j"]
        if onto:
            lines.append(load_ir(f"%{x}.v", f"%{x}.to", width, mask))
            lines.append(f"  %{x}.s = call {kind} @llvm.fma.v{width}f64({kind} %seconds, {kind} %{x}.bx, {kind} %{x}.v)")
        else:
            lines.append(f"  %{x}.s = fmul {kind} %seconds, %{x}.bx")
        return [
            *lines,
            f"  %{x}.t = call {kind} @llvm.fma.v{width}f64({kind} %thirds, {kind} %{x}.cx, {kind} %{x}.s)",
            f"  %{x}.u = call {kind} @llvm.fma.v{width}f64({kind} %firsts, {kind} %{x}.ax, {kind} %{x}.t)",
            store_ir(f"%{x}.u", f"%{x}.to", width, mask),
        ]

    parts = ("first", "second", "third")
    given = ", ".join(["i64 %count", *(f"double %{name}" for name in parts), "ptr %A, i64 %a, ptr %B, i64 %b"])
    head = f"define internal void @{symbol}({given}) #0 {{"
    begin = ["  %from.a = getelementptr double, ptr %A, i64 %a", "  %from.b = getelementptr double, ptr %from.a, i64 %count"]
    begin += ["  %from.c = getelementptr double, ptr %from.b, i64 %count", "  %to = getelementptr double, ptr %B, i64 %b"]
    begin += [line for name in parts for line in splat_ir(f"{name}s", f"%{name}", width)]
    return "\n".join([head, "start:", *begin, *vectors_ir("%count", width, body), "end:", "  ret void", "}"])


def turned_ir(symbol: str, width: int) -> str:
    """The function of `turn_rows`'s parameters."""
    kind = f"<{width} x double>"

    def fma(to: str, a: str, b: str, x: str) -> str:
        return f"  {to} = call {kind} @llvm.fma.v{width}f64({kind} {a}, {kind} {b}, {kind} {x})"

    def body(x: str, mask: str) -> list[str]:
        return [
            *_loads(x, "ab", width, mask),
            f"  %{x}.s = fmul {kind} %s2, %{x}.ax",
            f"  %{x}.t = fmul {kind} %s1, %{x}.ax",
            fma(f"%{x}.across", "%m1", f"%{x}.bx", f"%{x}.s"),
            fma(f"%{x}.along", "%s2", f"%{x}.bx", f"%{x}.t"),
            store_ir(f"%{x}.across", f"%{x}.a", width, mask),
            store_ir(f"%{x}.along", f"%{x}.b", width, mask),
        ]

    head = f"define internal void @{symbol}(i64 %count, double %d1, double %d2, ptr %A, i64 %a, i64 %b) #0 {{"
    begin = [f"  %from.{name} = getelementptr double, ptr %A, i64 %{name}" for name in "ab"] + ["  %less = fneg double %d1"]
    begin += [line for name, value in (("s1", "%d1"), ("s2", "%d2"), ("m1", "%less")) for line in splat_ir(name, value, width)]
    return "\n".join([head, "start:", *begin, *vectors_ir("%count", width, body), "end:", "  ret void", "}"])


def entries_ir(symbol: str, width: int) -> str:
    """The function of `put_entries`'s parameters."""
    kind = f"<{width} x double>"

    def body(x: str, mask: str) -> list[str]:
        return [
            *_loads(x, "asb", width, mask),
            f"  %{x}.t = call {kind} @llvm.fma.v{width}f64({kind} %{x}.ax, {kind} %{x}.sx, {kind} %{x}.bx)",
            f"  %{x}.c = getelementptr double, ptr %to, i64 %{x}.j",
            store_ir(f"%{x}.t", f"%{x}.c", width, mask),
        ]

    head = f"define internal void @{symbol}(i64 %count, ptr %A, i64 %a, ptr %from.s, ptr %B, i64 %b, ptr %C, i64 %c) #0 {{"
    begin = [f"  %from.{name} = getelementptr double, ptr %{name.upper()}, i64 %{name}" for name in "ab"]
    begin.append("  %to = getelementptr double, ptr %C, i64 %c")
    return "\n".join([head, "start:", *begin, *vectors_ir("%count", width, body), "end:", "  ret void", "}"])


def largest_ir(symbol: str, width: int) -> str:
    """The function of `largest_entry`'s parameters: a vector of the largest so far, the last numbers under a mask."""
    kind, suffix, mask = f"<{width} x double>", f"v{width}f64", "\n".join(mask_below("mask", "%room", width))
    return f"""define internal double @{symbol}(i64 %count, ptr %A) #0 {{
start:
  br label %wide
wide:
  %j = phi i64 [ 0, %start ], [ %over, %go ]
  %most = phi {kind} [ zeroinitializer, %start ], [ %more, %go ]
  %over = add i64 %j, {width}
  %fits = icmp sle i64 %over, %count
  %at = getelementptr double, ptr %A, i64 %j
  br i1 %fits, label %go, label %rest
go:
  %x = load {kind}, ptr %at, align 8
  %size = call {kind} @llvm.fabs.{suffix}({kind} %x)
  %more = call {kind} @llvm.maximum.{suffix}({kind} %most, {kind} %size)
  br label %wide
rest:
  %room = sub i64 %count, %j
{mask}
{load_ir("%last", "%at", width, f", <{width} x i1> %mask")}
  %last.size = call {kind} @llvm.fabs.{suffix}({kind} %last)
  %all{width} = call {kind} @llvm.maximum.{suffix}({kind} %most, {kind} %last.size)
{largest_of_ir(width)}
  ret double %best
}}"""


def triangle_ir(symbol: str, width: int, lower: bool) -> str:
    """The function of the parameters of `solve_lower` or `solve_upper`."""
    given = "ptr %A, i64 %at, i64 %A_row, ptr %x, i64 %c"
    labels = " ".join(f"i64 {r}, label %rows{r}" for r in range(1, ROWS + 1))
    lines = [f"define internal void @{symbol}(i64 %rows, i64 %n, {given}) #0 {{", f"  switch i64 %rows, label %end [ {labels} ]"]
    for r in range(1, ROWS + 1):
        lines += [f"rows{r}:", f"  call void @{symbol}.{r}(i64 %n, {given})", "  br label %end"]
    blocks = [_triangle(f"{symbol}.{r}", r, width, lower, given) for r in range(1, ROWS + 1)]
    return "\n\n".join([*blocks, "\n".join([*lines, "end:", "  ret void", "}"])])


def _triangle(symbol: str, rows: int, width: int, lower: bool, given: str) -> str:
    """So many rows."""
    kind = f"<{width} x double>"
    used = [(i, k) for i in range(rows) for k in range(rows) if (k < i if lower else k >= i)]
    lines = [f"define internal void @{symbol}(i64 %n, {given}) #0 {{", "start:"]
    for i, k in used:
        lines += [f"  %o{i}.{k} = mul i64 %A_row, {i}", f"  %f{i}.{k} = add i64 %o{i}.{k}, {k}"]
        lines += [f"  %g{i}.{k} = add i64 %f{i}.{k}, %at", f"  %h{i}.{k} = getelementptr double, ptr %A, i64 %g{i}.{k}"]
        lines += [f"  %l{i}.{k} = load double, ptr %h{i}.{k}, align 8", f"  %m{i}.{k} = fneg double %l{i}.{k}"]
        lines += splat_ir(f"v{i}.{k}", f"%l{i}.{k}" if i == k else f"%m{i}.{k}", width)
    for i in range(rows):
        lines += [f"  %xo{i} = mul i64 %n, {i}", f"  %xc{i} = add i64 %xo{i}, %c"]
        lines.append(f"  %xp{i} = getelementptr double, ptr %x, i64 %xc{i}")

    def body(x: str, mask: str) -> list[str]:
        out, now = [], {}
        for i in range(rows):
            out.append(f"  %{x}.p{i} = getelementptr double, ptr %xp{i}, i64 %{x}.j")
            out.append(load_ir(f"%{x}.x{i}", f"%{x}.p{i}", width, mask))
            now[i] = f"%{x}.x{i}"
        for i in range(rows) if lower else reversed(range(rows)):
            for k in range(i) if lower else range(i + 1, rows):
                made = f"%{x}.t{i}.{k}"
                out.append(f"  {made} = call {kind} @llvm.fma.v{width}f64({kind} %v{i}.{k}, {kind} {now[k]}, {kind} {now[i]})")
                now[i] = made
            if not lower:
                out.append(f"  %{x}.e{i} = fmul {kind} {now[i]}, %v{i}.{i}")
                now[i] = f"%{x}.e{i}"
        return [*out, *(store_ir(now[i], f"%{x}.p{i}", width, mask) for i in range(rows))]

    return "\n".join([*lines, *vectors_ir("%n", width, body), "end:", "  ret void", "}"])
