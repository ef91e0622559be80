"""Lines of LLVM IR on vectors of numbers that lie side by side: loops over them, masks of the last ones, loads and stores."""

from __future__ import annotations

from collections.abc import Callable


def splat_ir(name: str, value: str, width: int) -> list[str]:
    """`%name`: a number in all places of a vector."""
    kind, zeros = f"<{width} x double>", ", ".join(["i32 0"] * width)
    return [
        f"  %{name}.1 = insertelement {kind} poison, double {value}, i64 0",
        f"  %{name} = shufflevector {kind} %{name}.1, {kind} poison, <{width} x i32> <{zeros}>",
    ]


def vectors_ir(count: str, width: int, body: Callable[[str, str], list[str]]) -> list[str]:
    """`body(name, mask)` for every vector of so many numbers, the last one under a mask; `%name.j` is where it begins. The block
    before them is `start`, the one behind them `end`."""
    return [
        "  br label %w",
        "w:",
        "  %w.j = phi i64 [ 0, %start ], [ %w.over, %w.go ]",
        f"  %w.over = add i64 %w.j, {width}",
        f"  %w.fits = icmp sle i64 %w.over, {count}",
        "  br i1 %w.fits, label %w.go, label %p",
        "w.go:",
        *body("w", ""),
        "  br label %w",
        "p:",
        "  %p.j = add i64 %w.j, 0",
        f"  %p.room = sub i64 {count}, %p.j",
        "  %p.some = icmp sgt i64 %p.room, 0",
        "  br i1 %p.some, label %p.go, label %end",
        "p.go:",
        *mask_below("p.mask", "%p.room", width),
        *body("p", f", <{width} x i1> %p.mask"),
        "  br label %end",
    ]


def mask_below(name: str, count: str, width: int) -> list[str]:
    """`%name`: true in the first so many places of a vector."""
    kind, counted = f"<{width} x i64>", ", ".join(f"i64 {i}" for i in range(width))
    return [
        f"  %{name}.one = insertelement {kind} poison, i64 {count}, i64 0",
        f"  %{name}.all = shufflevector {kind} %{name}.one, {kind} poison, <{width} x i32> zeroinitializer",
        f"  %{name} = icmp slt {kind} <{counted}>, %{name}.all",
    ]


def load_ir(to: str, at: str, width: int, mask: str) -> str:
    """The line that loads a vector, of the numbers under a mask if there is one."""
    kind = f"<{width} x double>"
    if mask:
        return f"  {to} = call {kind} @llvm.masked.load.v{width}f64.p0(ptr {at}, i32 8{mask}, {kind} zeroinitializer)"
    return f"  {to} = load {kind}, ptr {at}, align 8"


def store_ir(value: str, at: str, width: int, mask: str) -> str:
    """The line that stores one."""
    kind = f"<{width} x double>"
    if mask:
        return f"  call void @llvm.masked.store.v{width}f64.p0({kind} {value}, ptr {at}, i32 8{mask})"
    return f"  store {kind} {value}, ptr {at}, align 8"


def largest_of_ir(width: int) -> str:
    """`%best`: the largest number of the vector `%all` and its width."""
    kind, halves, lines = f"<{width} x double>", width, []
    while halves > 1:
        halves //= 2
        order = ", ".join(f"i32 {(i + halves) % width}" for i in range(width))
        lines += [
            f"  %turned{halves} = shufflevector {kind} %all{halves * 2}, {kind} poison, <{width} x i32> <{order}>",
            f"  %all{halves} = call {kind} @llvm.maximum.v{width}f64({kind} %all{halves * 2}, {kind} %turned{halves})",
        ]
    return "\n".join([*lines, f"  %best = extractelement {kind} %all1, i64 0"])
