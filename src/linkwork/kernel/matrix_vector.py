"""u = A x + b as a loop function: in one lane whole registers run along the rows of the matrix.

A sum has PARTS parts, of every PARTS-th term each, which are added by halves at its end: so it is the same to the bit in any
number of lanes.
"""

from __future__ import annotations

from .loops import Lane
from .products import in_one_lane

PARTS = 8  # of a sum
ROWS = 4  # at a time: what is loaded of x serves so often


def affine_ir(symbol: str, width: int) -> str:
    """The functions of `affine`'s parameters: several rows, one row, all."""
    return "\n\n".join([_rows(symbol, ROWS), _rows(symbol, 1), _all(symbol)])


@in_one_lane(affine_ir)
def affine(m: int, A: Lane, b: Lane, x: Lane, u: Lane) -> None:
    """u = A x + b, A (m, m) row by row."""
    whole = m // 8 * 8
    for i in range(m):
        a = i * m
        s0 = 0.0 * b[i]
        s1 = s0
        s2 = s0
        s3 = s0
        s4 = s0
        s5 = s0
        s6 = s0
        s7 = s0
        for k in range(0, whole, 8):
            s0 += A[a + k] * x[k]
            s1 += A[a + k + 1] * x[k + 1]
            s2 += A[a + k + 2] * x[k + 2]
            s3 += A[a + k + 3] * x[k + 3]
            s4 += A[a + k + 4] * x[k + 4]
            s5 += A[a + k + 5] * x[k + 5]
            s6 += A[a + k + 6] * x[k + 6]
            s7 += A[a + k + 7] * x[k + 7]
        if m > whole:
            s0 += A[a + whole] * x[whole]
        if m > whole + 1:
            s1 += A[a + whole + 1] * x[whole + 1]
        if m > whole + 2:
            s2 += A[a + whole + 2] * x[whole + 2]
        if m > whole + 3:
            s3 += A[a + whole + 3] * x[whole + 3]
        if m > whole + 4:
            s4 += A[a + whole + 4] * x[whole + 4]
        if m > whole + 5:
            s5 += A[a + whole + 5] * x[whole + 5]
        if m > whole + 6:
            s6 += A[a + whole + 6] * x[whole + 6]
        u[i] = b[i] + (((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7)))


def masked_ir(kind: str = f"<{PARTS} x double>") -> tuple[str, str]:
    """The beginnings of a load and of a store under a mask."""
    name = f"v{PARTS}f64.p0"
    return f"call {kind} @llvm.masked.load.{name}(ptr", f"call void @llvm.masked.store.{name}({kind}"


def mask_ir(name: str, count: str) -> list[str]:
    """A mask of the first `count` of a register."""
    kind = f"<{PARTS} x i64>"
    counted, zeros = ", ".join(f"i64 {i}" for i in range(PARTS)), ", ".join(["i32 0"] * PARTS)
    return [
        f"  %{name}.one = insertelement {kind} poison, i64 {count}, i64 0",
        f"  %{name}.all = shufflevector {kind} %{name}.one, {kind} poison, <{PARTS} x i32> <{zeros}>",
        f"  %{name} = icmp slt {kind} <{counted}>, %{name}.all",
    ]


def _sum(lines: list[str], name: str, parts: str) -> str:
    """The sum of the parts, by halves."""
    half = PARTS
    while half > 1:
        kind, half = f"<{half} x double>", half // 2
        new = f"%{name}.{half}"
        for side, first in (("low", 0), ("high", half)):
            chosen = ", ".join(f"i32 {first + i}" for i in range(half))
            lines.append(f"  {new}.{side} = shufflevector {kind} {parts}, {kind} poison, <{half} x i32> <{chosen}>")
        lines.append(f"  {new} = fadd <{half} x double> {new}.low, {new}.high")
        parts = new
    lines.append(f"  %{name} = extractelement <1 x double> {parts}, i64 0")
    return f"%{name}"


def _rows(symbol: str, rows: int) -> str:
    """Some rows of A, from the given ones on: whole registers, then the rest under a mask."""
    kind, (load, _) = f"<{PARTS} x double>", masked_ir()
    each = range(rows)
    lines = [f"define internal void @{symbol}.{rows}(i64 %m, ptr %A, ptr %b, ptr %x, ptr %u) #0 {{", "start:"]
    for r in each:
        lines += [f"  %o{r} = mul i64 %m, {r}", f"  %A{r} = getelementptr double, ptr %A, i64 %o{r}"]
    lines += [f"  %whole = and i64 %m, -{PARTS}", "  %some = icmp sgt i64 %whole, 0"]
    lines += ["  br i1 %some, label %loop, label %rest", "loop:", "  %k = phi i64 [ 0, %start ], [ %k.next, %loop ]"]
    lines += [f"  %s{r} = phi {kind} [ zeroinitializer, %start ], [ %t{r}, %loop ]" for r in each]
    lines += ["  %x.at = getelementptr double, ptr %x, i64 %k", f"  %xk = load {kind}, ptr %x.at, align 8"]
    for r in each:
        lines += [f"  %a{r}.at = getelementptr double, ptr %A{r}, i64 %k", f"  %a{r} = load {kind}, ptr %a{r}.at, align 8"]
        lines.append(f"  %t{r} = call {kind} @llvm.fma.v{PARTS}f64({kind} %a{r}, {kind} %xk, {kind} %s{r})")
    lines += [f"  %k.next = add i64 %k, {PARTS}", "  %more = icmp slt i64 %k.next, %whole"]
    lines += ["  br i1 %more, label %loop, label %rest", "rest:"]
    lines += [f"  %e{r} = phi {kind} [ zeroinitializer, %start ], [ %t{r}, %loop ]" for r in each]
    lines += ["  %left = sub i64 %m, %whole", *mask_ir("mask", "%left")]
    tail = f"i32 8, <{PARTS} x i1> %mask, {kind} zeroinitializer)"
    lines += ["  %x.rest = getelementptr double, ptr %x, i64 %whole", f"  %xr = {load} %x.rest, {tail}"]
    for r in each:
        lines += [f"  %r{r}.at = getelementptr double, ptr %A{r}, i64 %whole", f"  %r{r} = {load} %r{r}.at, {tail}"]
        lines.append(f"  %f{r} = call {kind} @llvm.fma.v{PARTS}f64({kind} %r{r}, {kind} %xr, {kind} %e{r})")
    for r in each:
        total = _sum(lines, f"sum{r}", f"%f{r}")
        lines += [f"  %b{r}.at = getelementptr double, ptr %b, i64 {r}", f"  %b{r} = load double, ptr %b{r}.at, align 8"]
        lines += [f"  %u{r} = fadd double %b{r}, {total}", f"  %u{r}.at = getelementptr double, ptr %u, i64 {r}"]
        lines.append(f"  store double %u{r}, ptr %u{r}.at, align 8")
    return "\n".join([*lines, "  ret void", "}"])


def _all(symbol: str) -> str:
    """All rows."""
    return f"""define internal void @{symbol}(i64 %m, ptr %A, ptr %b, ptr %x, ptr %u) #0 {{
start:
  %some = icmp sgt i64 %m, 0
  br i1 %some, label %rows, label %end
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %after ]
  %left = sub i64 %m, %i
  %several = icmp sge i64 %left, {ROWS}
  %a = mul i64 %i, %m
  %Ai = getelementptr double, ptr %A, i64 %a
  %bi = getelementptr double, ptr %b, i64 %i
  %ui = getelementptr double, ptr %u, i64 %i
  br i1 %several, label %many, label %one
many:
  call void @{symbol}.{ROWS}(i64 %m, ptr %Ai, ptr %bi, ptr %x, ptr %ui)
  br label %after
one:
  call void @{symbol}.1(i64 %m, ptr %Ai, ptr %bi, ptr %x, ptr %ui)
  br label %after
after:
  %done = select i1 %several, i64 {ROWS}, i64 1
  %i.next = add i64 %i, %done
  %more = icmp slt i64 %i.next, %m
  br i1 %more, label %rows, label %end
end:
  ret void
}}"""
