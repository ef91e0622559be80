"""u = A x + b as a loop function: in one lane whole registers run along the rows of the matrix.

In one lane a sum has PARTS parts, of every PARTS-th term each, which are added by halves at its end; in several lanes it has its
terms in order. So results differ by rounding: functions that are to be the same at all numbers of lanes go lane by lane.
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
    """u = A x + b, A (m, m) row by row; four rows at a time, so that no sum waits for itself."""
    for i in range(0, m - 3, 4):
        a = i * m
        s0 = b[i]
        s1 = b[i + 1]
        s2 = b[i + 2]
        s3 = b[i + 3]
        for k in range(m):
            s0 += A[a + k] * x[k]
            s1 += A[a + m + k] * x[k]
            s2 += A[a + 2 * m + k] * x[k]
            s3 += A[a + 3 * m + k] * x[k]
        u[i] = s0
        u[i + 1] = s1
        u[i + 2] = s2
        u[i + 3] = s3
    for i in range(m - m % 4, m):
        s = b[i]
        for k in range(m):
            s += A[i * m + k] * x[k]
        u[i] = s


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
