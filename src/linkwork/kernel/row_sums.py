"""Rows of a matrix times a vector as loop functions: in one lane whole vectors, and no sum waits long for itself.

One row alone goes by four sums side by side,

    u_i = b_i + ((s_0 + s_1) + (s_2 + s_3)),      s_j = sum of A_ik x_k over k = j, j + 4, j + 8, ...

All rows go side by side along the columns. The functions as they stand, which other numbers of lanes run, round alike.
"""

from __future__ import annotations

from .loops import Lane
from .one_lane import in_one_lane
from .vector_text import load_ir, mask_below, splat_ir, store_ir

WIDE = 4  # sums of one row
MOST = 8  # vectors of sums beside one another: as many as there are registers for
KIND = f"<{WIDE} x double>"


@in_one_lane(lambda symbol, width: _row(symbol))
def row_motion(m: int, i: int, A: Lane, b: Lane, x: Lane) -> float:
    """u_i, which is A_i x + b_i for A (m, m), row by row."""
    a = i * m
    end = m - m % 4
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    for k in range(0, end, 4):
        s0 += A[a + k] * x[k]
        s1 += A[a + k + 1] * x[k + 1]
        s2 += A[a + k + 2] * x[k + 2]
        s3 += A[a + k + 3] * x[k + 3]
    if m % 4 > 0:
        s0 += A[a + end] * x[end]
    if m % 4 > 1:
        s1 += A[a + end + 1] * x[end + 1]
    if m % 4 > 2:
        s2 += A[a + end + 2] * x[end + 2]
    return b[i] + ((s0 + s1) + (s2 + s3))


@in_one_lane(lambda symbol, width: motions_ir(symbol, width))
def motions(m: int, At: Lane, b: Lane, x: Lane, u: Lane) -> None:
    """u = A x + b, all rows, of A transposed: every sum begins with b and has its terms in the order of the columns of A. u is
    none of the others."""
    fours = m - m % 4
    for i in range(0, fours, 4):
        s0 = b[i]
        s1 = b[i + 1]
        s2 = b[i + 2]
        s3 = b[i + 3]
        for k in range(m):
            a = k * m + i
            s0 += At[a] * x[k]
            s1 += At[a + 1] * x[k]
            s2 += At[a + 2] * x[k]
            s3 += At[a + 3] * x[k]
        u[i] = s0
        u[i + 1] = s1
        u[i + 2] = s2
        u[i + 3] = s3
    for i in range(fours, m):
        s0 = b[i]
        for k in range(m):
            s0 += At[k * m + i] * x[k]
        u[i] = s0


def motions_ir(symbol: str, width: int) -> str:
    """The function of its parameters: vectors of so many sums side by side, MOST of them at a time; the last one under a mask."""
    given = "i64 %m, ptr %At, ptr %b, ptr %x, ptr %u"
    cases = " ".join(f"i64 {v}, label %sums{v}" for v in range(1, MOST))
    lines = [f"define internal void @{symbol}({given}) #0 {{", "start:", "  br label %some"]
    lines += ["some:", "  %j = phi i64 [ 0, %start ], [ %over, %after ]", "  %room = sub i64 %m, %j"]
    lines += ["  %left = icmp sgt i64 %room, 0", "  br i1 %left, label %choose, label %end"]
    lines += ["choose:", f"  %up = add i64 %room, {width - 1}", f"  %all = sdiv i64 %up, {width}"]
    lines += [f"  %vectors = call i64 @llvm.smin.i64(i64 %all, i64 {MOST})", f"  %taken = mul i64 %vectors, {width}"]
    lines += ["  %over = add i64 %j, %taken", f"  switch i64 %vectors, label %sums{MOST} [ {cases} ]"]
    for v in range(1, MOST + 1):
        lines += [f"sums{v}:", f"  call void @{symbol}.sums{v}({given}, i64 %j, i64 %room)", "  br label %after"]
    lines += ["after:", "  br label %some", "end:", "  ret void", "}"]
    return "\n\n".join([*(_vectors(f"{symbol}.sums{v}", v, width) for v in range(1, MOST + 1)), "\n".join(lines)])


def _vectors(symbol: str, count: int, width: int) -> str:
    """So many vectors of sums, from row j on, as far as there is room."""
    kind, last = f"<{width} x double>", count - 1
    masks = [""] * last + [f", <{width} x i1> %mask"]
    lines = [f"define internal void @{symbol}(i64 %m, ptr %At, ptr %b, ptr %x, ptr %u, i64 %j, i64 %room) #0 {{", "start:"]
    lines += [f"  %rest = sub i64 %room, {last * width}", *mask_below("mask", "%rest", width)]
    for v, mask in enumerate(masks):
        lines.append(f"  %j{v} = add i64 %j, {width * v}")
        lines += [f"  %{x}.at{v} = getelementptr double, ptr %{x}, i64 %j{v}" for x in ("b", "u", "At")]
        lines.append(load_ir(f"%first{v}", f"%b.at{v}", width, mask))
    lines += ["  br label %loop", "loop:", "  %k = phi i64 [ 0, %start ], [ %next, %loop ]"]
    lines += [f"  %s{v} = phi {kind} [ %first{v}, %start ], [ %t{v}, %loop ]" for v in range(count)]
    lines += ["  %x.at = getelementptr double, ptr %x, i64 %k", "  %x.k = load double, ptr %x.at, align 8"]
    lines += [*splat_ir("xs", "%x.k", width), "  %row = mul i64 %k, %m"]
    for v, mask in enumerate(masks):
        lines += [f"  %a.at{v} = getelementptr double, ptr %At.at{v}, i64 %row", load_ir(f"%a{v}", f"%a.at{v}", width, mask)]
        lines.append(f"  %t{v} = call {kind} @llvm.fma.v{width}f64({kind} %a{v}, {kind} %xs, {kind} %s{v})")
    lines += ["  %next = add i64 %k, 1", "  %more = icmp slt i64 %next, %m", "  br i1 %more, label %loop, label %end", "end:"]
    lines += [store_ir(f"%t{v}", f"%u.at{v}", width, mask) for v, mask in enumerate(masks)]
    return "\n".join([*lines, "  ret void", "}"])


def _row(symbol: str) -> str:
    """One row, its sum returned."""
    lines = [
        f"define internal double @{symbol}(i64 %m, i64 %i, ptr %A, ptr %b, ptr %x) #0 {{",
        "start:",
        "  %begin = mul i64 %i, %m",
    ]
    lines += ["  %row = getelementptr double, ptr %A, i64 %begin", f"  %rest = and i64 %m, {WIDE - 1}"]
    lines += ["  %end = sub i64 %m, %rest", "  %some = icmp sgt i64 %end, 0", "  br i1 %some, label %loop, label %tail"]
    lines += ["loop:", "  %k = phi i64 [ 0, %start ], [ %next, %loop ]"]
    lines += [f"  %s = phi {KIND} [ zeroinitializer, %start ], [ %t, %loop ]", *_terms("%k", "", "s", "t")]
    lines += [f"  %next = add i64 %k, {WIDE}", "  %more = icmp slt i64 %next, %end", "  br i1 %more, label %loop, label %tail"]
    lines += ["tail:", f"  %e = phi {KIND} [ zeroinitializer, %start ], [ %t, %loop ]"]
    lines += ["  %odd = icmp sgt i64 %rest, 0", "  br i1 %odd, label %masked, label %sum", "masked:"]
    lines += [*mask_below("mask", "%rest", WIDE), *_terms("%end", f", <{WIDE} x i1> %mask", "e", "f"), "  br label %sum"]
    lines += ["sum:", f"  %v = phi {KIND} [ %e, %tail ], [ %f, %masked ]"]
    lines += [f"  %w{j} = extractelement {KIND} %v, i64 {j}" for j in range(WIDE)]
    lines += ["  %w01 = fadd double %w0, %w1", "  %w23 = fadd double %w2, %w3", "  %w = fadd double %w01, %w23"]
    lines += ["  %b.at = getelementptr double, ptr %b, i64 %i", "  %b0 = load double, ptr %b.at, align 8"]
    return "\n".join([*lines, "  %u = fadd double %b0, %w", "  ret double %u", "}"])


def _terms(k: str, mask: str, before: str, after: str) -> list[str]:
    """Four more terms of the row, from column k on; names of the sums before and after."""
    return [
        f"  %x.{after} = getelementptr double, ptr %x, i64 {k}",
        load_ir(f"%xs.{after}", f"%x.{after}", WIDE, mask),
        f"  %p.{after} = getelementptr double, ptr %row, i64 {k}",
        load_ir(f"%a.{after}", f"%p.{after}", WIDE, mask),
        f"  %{after} = call {KIND} @llvm.fma.v{WIDE}f64({KIND} %a.{after}, {KIND} %xs.{after}, {KIND} %{before})",
    ]
