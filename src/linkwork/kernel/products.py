"""Products of matrices as loop functions: in one lane whole registers run along the rows of a product.

    C = scale (A B), or added to C,      each entry a sum in the order of the columns of A, with one rounding a term

In one lane the columns of C lie side by side, so that vectors of them are made at once, four rows of A at a time: what is loaded
of B serves four times. No sum changes its order, so the function as it stands, which other numbers of lanes run, rounds alike.
Sums of rows and small triangles with many right-hand sides, which stay in registers, go the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import machine
from .lanes import Lanes
from .loops import Lane, LoopFunction, maximum

ROWS, VECTORS = 4, 2  # of C at a time


class InOneLane(LoopFunction):
    """A loop function with a text of its own for one lane of double precision, given the name, the width of registers and how far
    apart the numbers of `Strided` arrays lie."""

    def __init__(self, function: Callable[..., Any], text: Callable[[str, int, int], str]) -> None:
        super().__init__(function)
        self._text = text

    def written(self, lanes: Lanes, symbol: str, stride: int) -> str | None:
        return None if lanes.width > 1 or lanes.single else self._text(symbol, machine.register_bytes() // 8, stride)


def in_one_lane(text: Callable[[str, int], str]) -> Callable[[Callable[..., Any]], InOneLane]:
    """A decorator of functions without `Strided` arrays: see `InOneLane`."""
    return in_strided_lane(lambda symbol, width, stride: text(symbol, width))


def in_strided_lane(text: Callable[[str, int, int], str]) -> Callable[[Callable[..., Any]], InOneLane]:
    """The same of functions with such."""
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


@in_one_lane(lambda symbol, width: scaled_ir(symbol, width, onto=True))
def add_scaled(count: int, scale: float, A: Lane, a: int, B: Lane, b: int) -> None:
    """B += scale A, from record a and record b on; they do not overlap."""
    for i in range(count):
        B[b + i] += scale * A[a + i]


@in_one_lane(lambda symbol, width: scaled_ir(symbol, width, onto=False))
def put_scaled(count: int, scale: float, A: Lane, a: int, B: Lane, b: int) -> None:
    """B = scale A, the same."""
    for i in range(count):
        B[b + i] = scale * A[a + i]


@in_one_lane(lambda symbol, width: turned_ir(symbol, width))
def turn_rows(count: int, d1: float, d2: float, A: Lane, a: int, b: int) -> None:
    """Rows of A from record a and record b on become d2 a - d1 b and d1 a + d2 b."""
    for i in range(count):
        across = d2 * A[a + i] - d1 * A[b + i]
        A[b + i] = d1 * A[a + i] + d2 * A[b + i]
        A[a + i] = across


@in_one_lane(lambda symbol, width: entries_ir(symbol, width))
def put_entries(count: int, A: Lane, a: int, S: Lane, B: Lane, b: int, C: Lane, c: int) -> None:
    """C = B + A S, entry by entry, from record c, b, a and the first on."""
    for i in range(count):
        C[c + i] = B[b + i] + A[a + i] * S[i]


@in_one_lane(lambda symbol, width: largest_ir(symbol, width))
def largest_entry(count: int, A: Lane) -> float:
    """The largest size of so many numbers, at least one."""
    most = abs(A[0])
    for i in range(1, count):
        most = maximum(most, abs(A[i]))
    return most


@in_one_lane(lambda symbol, width: triangle_ir(symbol, width, lower=True))
def solve_lower(rows: int, n: int, L: Lane, at: int, L_row: int, x: Lane, c: int) -> None:
    """x (rows, n), from record c on, becomes L^-1 x: at most four rows, ones on the diagonal of L, which begins at a record."""
    for i in range(1, rows):
        for k in range(i):
            for j in range(n):
                x[c + i * n + j] -= L[at + i * L_row + k] * x[c + k * n + j]


@in_one_lane(lambda symbol, width: triangle_ir(symbol, width, lower=False))
def solve_upper(rows: int, n: int, U: Lane, at: int, U_row: int, x: Lane, c: int) -> None:
    """x (rows, n) becomes U^-1 x: at most four rows, on the diagonal of U its reciprocals."""
    for back in range(rows):
        i = rows - 1 - back
        for k in range(i + 1, rows):
            for j in range(n):
                x[c + i * n + j] -= U[at + i * U_row + k] * x[c + k * n + j]
        for j in range(n):
            x[c + i * n + j] = x[c + i * n + j] * U[at + i * U_row + i]


@in_one_lane(lambda symbol, width: product_ir(symbol, width, onto=True))
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


@in_one_lane(lambda symbol, width: product_ir(symbol, width, onto=False))
def put_product(
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
    """C = scale (A B), the same; C is not A or B."""
    for i in range(m):
        for j in range(n):
            total = 0.0 * scale
            for p in range(k):
                total += A[a + i * row + p * column] * B[b + p * B_row + j]
            C[c + i * C_row + j] = scale * total


def product_ir(symbol: str, width: int, onto: bool) -> str:
    """The function of the parameters of `add_product` (onto what is there) or `put_product`, with vectors of so many numbers."""
    counts = range(1, ROWS + 1)
    blocks = [_block(symbol, r, v, width, part, onto) for r in counts for v, part in ((VECTORS, False), (1, True))]
    return "\n\n".join([*blocks, _columns(symbol, width)])


def _columns(symbol: str, width: int) -> str:
    """All columns of C: blocks of several vectors first, the last ones vector by vector under a mask."""
    mask = "\n".join(mask_below("mask", "%room", width))
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
{mask}
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
    counts = range(1, ROWS)
    labels = " ".join(f"i64 {r}, label %rest{r}.{x}" for r in counts)
    rest = "\n".join(f"rest{r}.{x}:\n  call void @{symbol}.{r}.{x}({arguments})\n  br label %next.{x}" for r in counts)
    return f"""  %bj.{x} = add i64 %b, %j.{x}
  %Bj.{x} = getelementptr double, ptr %B, i64 %bj.{x}
  %cj.{x} = add i64 %c, %j.{x}
  br label %rows.{x}
rows.{x}:
  %i.{x} = phi i64 [ 0, %begin.{x} ], [ %i.next.{x}, %many.{x} ]
  %left.{x} = sub i64 %m, %i.{x}
  %several.{x} = icmp sge i64 %left.{x}, {ROWS}
  %ai.{x} = mul i64 %i.{x}, %row
  %a.at.{x} = add i64 %a, %ai.{x}
  %Ai.{x} = getelementptr double, ptr %A, i64 %a.at.{x}
  %ci.{x} = mul i64 %i.{x}, %C_row
  %c.at.{x} = add i64 %cj.{x}, %ci.{x}
  %Cij.{x} = getelementptr double, ptr %C, i64 %c.at.{x}
  br i1 %several.{x}, label %many.{x}, label %few.{x}
many.{x}:
  call void @{symbol}.{ROWS}.{x}({arguments})
  %i.next.{x} = add i64 %i.{x}, {ROWS}
  br label %rows.{x}
few.{x}:
  switch i64 %left.{x}, label %next.{x} [ {labels} ]
{rest}"""


def _block(symbol: str, rows: int, vectors: int, width: int, masked: bool, onto: bool) -> str:
    """Some rows of C, some vectors of each; under a mask only one."""
    kind, name = f"<{width} x double>", f"{rows}.{'p' if masked else 'w'}"
    mask = f", <{width} x i1> %mask" if masked else ""
    lines = [
        f"define internal void @{symbol}.{name}(i64 %k, double %scale, ptr %A, i64 %row, i64 %column, ptr %B, i64 %B_row, "
        f"ptr %C, i64 %C_row{mask}) #0 {{",
        "start:",
    ]

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
        lines.append(load_ir(f"%b{v}", f"%bp{v}", width, mask))
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
        if onto:
            lines.append(load_ir(f"%c{r}.{v}", f"%cp{r}.{v}", width, mask))
            lines.append(f"  %f{r}.{v} = call {kind} @llvm.fma.v{width}f64({kind} %sv, {kind} %e{r}.{v}, {kind} %c{r}.{v})")
        else:
            lines.append(f"  %f{r}.{v} = fmul {kind} %sv, %e{r}.{v}")
        lines.append(store_ir(f"%f{r}.{v}", f"%cp{r}.{v}", width, mask))
    return "\n".join([*lines, "  ret void", "}"])


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


def turned_ir(symbol: str, width: int) -> str:
    """The function of `turn_rows`'s parameters."""
    kind = f"<{width} x double>"

    def fma(to: str, a: str, b: str, x: str) -> str:
        return f"  {to} = call {kind} @llvm.fma.v{width}f64({kind} {a}, {kind} {b}, {kind} {x})"

    def body(x: str, mask: str) -> list[str]:
        found = []
        for name in "ab":
            found.append(f"  %{x}.{name} = getelementptr double, ptr %from.{name}, i64 %{x}.j")
            found.append(load_ir(f"%{x}.{name}x", f"%{x}.{name}", width, mask))
        return [
            *found,
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
        found = []
        for name in "asb":
            found.append(f"  %{x}.{name} = getelementptr double, ptr %from.{name}, i64 %{x}.j")
            found.append(load_ir(f"%{x}.{name}x", f"%{x}.{name}", width, mask))
        return [
            *found,
            f"  %{x}.t = call {kind} @llvm.fma.v{width}f64({kind} %{x}.ax, {kind} %{x}.sx, {kind} %{x}.bx)",
            f"  %{x}.c = getelementptr double, ptr %to, i64 %{x}.j",
            store_ir(f"%{x}.t", f"%{x}.c", width, mask),
        ]

    head = f"define internal void @{symbol}(i64 %count, ptr %A, i64 %a, ptr %from.s, ptr %B, i64 %b, ptr %C, i64 %c) #0 {{"
    begin = [f"  %from.{name} = getelementptr double, ptr %{name.upper()}, i64 %{name}" for name in "ab"]
    begin.append("  %to = getelementptr double, ptr %C, i64 %c")
    return "\n".join([head, "start:", *begin, *vectors_ir("%count", width, body), "end:", "  ret void", "}"])


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
