"""Rows of a matrix times a vector as loop functions: in one lane four rows at a time, each by four sums side by side.

    u_i = b_i + ((s_0 + s_1) + (s_2 + s_3)),      s_j = sum of A_ik x_k over k = j, j + 4, j + 8, ...

No sum waits long for itself, and in one lane the four are one vector; the function as it stands, which other numbers of lanes
run, rounds alike.
"""

from __future__ import annotations

from .loops import Lane
from .one_lane import in_one_lane
from .vector_text import load_ir, mask_below

WIDE = 4  # rows at a time, and numbers of a vector
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


@in_one_lane(lambda symbol, width: motions_ir(symbol))
def motions(m: int, A: Lane, b: Lane, x: Lane, u: Lane) -> None:
    """u = A x + b, all rows; u is none of the others."""
    for i in range(m):
        u[i] = row_motion(m, i, A, b, x)


def motions_ir(symbol: str) -> str:
    """The function of its parameters: rows in fours, the last four may be some of those before again; fewer go one by one."""
    given = "i64 %m, ptr %A, ptr %b, ptr %x, ptr %u"
    main = f"""define internal void @{symbol}({given}) #0 {{
start:
  %last = sub i64 %m, {WIDE}
  %many = icmp sge i64 %last, 0
  br i1 %many, label %fours, label %few
fours:
  %j = phi i64 [ 0, %start ], [ %over, %fours ]
  %i = call i64 @llvm.smin.i64(i64 %j, i64 %last)
  call void @{symbol}.{WIDE}({given}, i64 %i)
  %over = add i64 %j, {WIDE}
  %more = icmp slt i64 %over, %m
  br i1 %more, label %fours, label %end
few:
  %some = icmp sgt i64 %m, 0
  br i1 %some, label %ones, label %end
ones:
  %k = phi i64 [ 0, %few ], [ %next, %ones ]
  %one = call double @{symbol}.1(i64 %m, i64 %k, ptr %A, ptr %b, ptr %x)
  %to = getelementptr double, ptr %u, i64 %k
  store double %one, ptr %to, align 8
  %next = add i64 %k, 1
  %again = icmp slt i64 %next, %m
  br i1 %again, label %ones, label %end
end:
  ret void
}}"""
    return "\n\n".join([_row(f"{symbol}.1"), _fours(f"{symbol}.{WIDE}"), main])


def _row(symbol: str) -> str:
    """One row, its sum returned."""
    lines = [f"define internal double @{symbol}(i64 %m, i64 %i, ptr %A, ptr %b, ptr %x) #0 {{", "start:", *_sums(1)]
    lines += [f"  %w{j} = extractelement {KIND} %v0, i64 {j}" for j in range(WIDE)]
    lines += ["  %w01 = fadd double %w0, %w1", "  %w23 = fadd double %w2, %w3", "  %w = fadd double %w01, %w23"]
    lines += ["  %b.at = getelementptr double, ptr %b, i64 %i", "  %b0 = load double, ptr %b.at, align 8"]
    return "\n".join([*lines, "  %u = fadd double %b0, %w", "  ret double %u", "}"])


def _fours(symbol: str) -> str:
    """Four rows, from row i on."""
    lines = [f"define internal void @{symbol}(i64 %m, ptr %A, ptr %b, ptr %x, ptr %u, i64 %i) #0 {{", "start:", *_sums(WIDE)]
    lines += ["  %b.at = getelementptr double, ptr %b, i64 %i", "  %u.at = getelementptr double, ptr %u, i64 %i"]

    def pick(to: str, a: str, b: str, places: tuple[int, ...]) -> str:
        chosen = ", ".join(f"i32 {i}" for i in places)
        return f"  {to} = shufflevector {KIND} {a}, {KIND} {b}, <{WIDE} x i32> <{chosen}>"

    for a, b in ((0, 1), (2, 3)):  # s_0 + s_1 of two rows, then s_2 + s_3
        lines += [pick(f"%even{a}", f"%v{a}", f"%v{b}", (0, 4, 2, 6)), pick(f"%odd{a}", f"%v{a}", f"%v{b}", (1, 5, 3, 7))]
        lines.append(f"  %pair{a} = fadd {KIND} %even{a}, %odd{a}")
    lines += [pick("%low", "%pair0", "%pair2", (0, 1, 4, 5)), pick("%high", "%pair0", "%pair2", (2, 3, 6, 7))]
    lines += [f"  %all = fadd {KIND} %low, %high", f"  %bs = load {KIND}, ptr %b.at, align 8", f"  %us = fadd {KIND} %bs, %all"]
    return "\n".join([*lines, f"  store {KIND} %us, ptr %u.at, align 8", "  ret void", "}"])


def _sums(rows: int) -> list[str]:
    """`%v{r}`: the four sums of so many rows, from row i on."""
    mask = f", <{WIDE} x i1> %mask"
    lines = []
    for r in range(rows):
        lines += [f"  %row{r} = add i64 %i, {r}", f"  %begin{r} = mul i64 %row{r}, %m"]
        lines.append(f"  %A{r} = getelementptr double, ptr %A, i64 %begin{r}")
    lines += [f"  %rest = and i64 %m, {WIDE - 1}", "  %end = sub i64 %m, %rest", "  %some = icmp sgt i64 %end, 0"]
    lines += ["  br i1 %some, label %loop, label %tail", "loop:", "  %k = phi i64 [ 0, %start ], [ %next, %loop ]"]
    lines += [f"  %s{r} = phi {KIND} [ zeroinitializer, %start ], [ %t{r}, %loop ]" for r in range(rows)]
    lines += _terms(rows, "%k", "", "s", "t")
    lines += [f"  %next = add i64 %k, {WIDE}", "  %more = icmp slt i64 %next, %end", "  br i1 %more, label %loop, label %tail"]
    lines.append("tail:")
    lines += [f"  %e{r} = phi {KIND} [ zeroinitializer, %start ], [ %t{r}, %loop ]" for r in range(rows)]
    lines += ["  %odd = icmp sgt i64 %rest, 0", "  br i1 %odd, label %masked, label %sum", "masked:"]
    lines += [*mask_below("mask", "%rest", WIDE), *_terms(rows, "%end", mask, "e", "f"), "  br label %sum", "sum:"]
    return [*lines, *(f"  %v{r} = phi {KIND} [ %e{r}, %tail ], [ %f{r}, %masked ]" for r in range(rows))]


def _terms(rows: int, k: str, mask: str, before: str, after: str) -> list[str]:
    """Four more terms of the rows, from column k on; names of sums before and after."""
    lines = [f"  %x.{after} = getelementptr double, ptr %x, i64 {k}", load_ir(f"%xs.{after}", f"%x.{after}", WIDE, mask)]
    for r in range(rows):
        lines.append(f"  %p{r}.{after} = getelementptr double, ptr %A{r}, i64 {k}")
        lines.append(load_ir(f"%a{r}.{after}", f"%p{r}.{after}", WIDE, mask))
        given = f"{KIND} %a{r}.{after}, {KIND} %xs.{after}, {KIND} %{before}{r}"
        lines.append(f"  %{after}{r} = call {KIND} @llvm.fma.v{WIDE}f64({given})")
    return lines
