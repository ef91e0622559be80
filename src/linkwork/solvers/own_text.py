"""The text of `own_rows.take_row` in one lane: four numbers at a time, which lie apart where they come from."""

from __future__ import annotations

from ..kernel.vector_text import splat_ir

WIDE = 4  # numbers of a vector
KIND = f"<{WIDE} x double>"


def taken_row_ir(symbol: str, width: int, stride: int) -> str:
    """The function of its parameters; numbers of the packed matrix lie `stride` apart."""
    lines = [f"define internal void @{symbol}(i64 %n, i64 %p, ptr %own, ptr %scale, ptr %packed, ptr %A) #0 {{", "start:"]
    lines += ["  %own.at = getelementptr i64, ptr %own, i64 %p", "  %here = load i64, ptr %own.at", "  %after = add i64 %here, 1"]
    lines += ["  %twice = mul i64 %here, %after", "  %row = lshr i64 %twice, 1", f"  %row.at = mul i64 %row, {stride}"]
    lines += ["  %from = getelementptr double, ptr %packed, i64 %row.at", "  %begin = mul i64 %p, %n"]
    lines += ["  %to = getelementptr double, ptr %A, i64 %begin", "  %column = getelementptr double, ptr %A, i64 %p"]
    lines += ["  %by.at = getelementptr double, ptr %scale, i64 %p", "  %by = load double, ptr %by.at, align 8"]
    lines += [*splat_ir("by.all", "%by", WIDE), f"  %rest = and i64 %p, {WIDE - 1}", "  %fours = sub i64 %p, %rest"]
    lines += ["  %many = icmp sgt i64 %fours, 0", "  br i1 %many, label %four, label %tail"]
    lines += ["four:", "  %q = phi i64 [ 0, %start ], [ %q.next, %four ]"]
    lines += [*_numbers("%q", WIDE, stride), "  %s.at = getelementptr double, ptr %scale, i64 %q"]
    lines += [f"  %s = load {KIND}, ptr %s.at, align 8", f"  %both = fmul {KIND} %by.all, %s"]
    lines += [f"  %found = fmul {KIND} %v{WIDE}, %both", "  %to.at = getelementptr double, ptr %to, i64 %q"]
    lines.append(f"  store {KIND} %found, ptr %to.at, align 8")
    for k in range(WIDE):
        lines += [f"  %e{k} = extractelement {KIND} %found, i64 {k}", *_down(f"%q{k}", f"%e{k}")]
    lines += [f"  %q.next = add i64 %q, {WIDE}", "  %q.more = icmp slt i64 %q.next, %fours"]
    lines += ["  br i1 %q.more, label %four, label %tail", "tail:", "  %some = icmp sgt i64 %rest, 0"]
    lines += ["  br i1 %some, label %one, label %end", "one:", "  %o = phi i64 [ %fours, %tail ], [ %o.next, %one ]"]
    lines += [*_number("%o", "o", stride), "  %os.at = getelementptr double, ptr %scale, i64 %o"]
    lines += ["  %os = load double, ptr %os.at, align 8", "  %o.both = fmul double %by, %os"]
    lines.append("  %o.found = fmul double %o.x, %o.both")
    lines += ["  %o.to = getelementptr double, ptr %to, i64 %o", "  store double %o.found, ptr %o.to, align 8"]
    lines += [*_down("%o", "%o.found"), "  %o.next = add i64 %o, 1", "  %o.more = icmp slt i64 %o.next, %p"]
    return "\n".join([*lines, "  br i1 %o.more, label %one, label %end", "end:", "  ret void", "}"])


def _number(q: str, name: str, stride: int) -> list[str]:
    """`%name.x`: the packed number of own row q."""
    return [
        f"  %{name}.own = getelementptr i64, ptr %own, i64 {q}",
        f"  %{name}.i = load i64, ptr %{name}.own",
        f"  %{name}.far = mul i64 %{name}.i, {stride}",
        f"  %{name}.at = getelementptr double, ptr %from, i64 %{name}.far",
        f"  %{name}.x = load double, ptr %{name}.at, align 8",
    ]


def _numbers(q: str, count: int, stride: int) -> list[str]:
    """`%v{count}`: a vector of those from row q on."""
    lines = []
    for k in range(count):
        lines += [f"  %q{k} = add i64 {q}, {k}", *_number(f"%q{k}", f"n{k}", stride)]
        before = "poison" if k == 0 else f"%v{k}"
        lines.append(f"  %v{k + 1} = insertelement {KIND} {before}, double %n{k}.x, i64 {k}")
    return lines


def _down(q: str, value: str) -> list[str]:
    """Store a number in row q of the column."""
    name = q[1:]
    return [
        f"  %{name}.row = mul i64 {q}, %n",
        f"  %{name}.down = getelementptr double, ptr %column, i64 %{name}.row",
        f"  store double {value}, ptr %{name}.down, align 8",
    ]
