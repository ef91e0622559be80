"""Matrices row by row as loop functions: in one lane whole registers run along each row, the last numbers under a mask.

One call does all rows: of short ones, calls cost more than what they do.
"""

from __future__ import annotations

from .loops import Lane, maximum
from .one_lane import in_one_lane
from .vector_text import largest_of_ir, load_ir, mask_below, splat_ir, store_ir


@in_one_lane(lambda symbol, width: summed_rows_ir(symbol, width))
def put_sum(m: int, n: int, A: Lane, B: Lane, C: Lane, c: int, C_row: int) -> None:
    """C = A + B, C (m, n) from record c on with C_row records a row."""
    for i in range(m):
        for j in range(n):
            C[c + i * C_row + j] = A[i * n + j] + B[i * n + j]


@in_one_lane(lambda symbol, width: scaled_rows_ir(symbol, width))
def scale_rows(m: int, n: int, scale: float, s: Lane, A: Lane, B: Lane) -> float:
    """B (m, n) = scale s_i times row i of A; the largest size of its numbers. B may be A."""
    most = 0.0 * scale
    for i in range(m):
        factor = scale * s[i]
        for k in range(i * n, i * n + n):
            x = factor * A[k]
            B[k] = x
            most = maximum(most, abs(x))
    return most


def summed_rows_ir(symbol: str, width: int) -> str:
    """The function of `put_sum`'s parameters: row by row, the last numbers of each under a mask."""
    kind, mask = f"<{width} x double>", "\n".join(mask_below("mask", "%rest", width))

    def vector(x: str, masked: str) -> str:
        return f"""  %at.{x} = add i64 %row, %j
  %to.{x} = add i64 %C.at, %j
  %A.{x} = getelementptr double, ptr %A, i64 %at.{x}
  %B.{x} = getelementptr double, ptr %B, i64 %at.{x}
  %C.{x} = getelementptr double, ptr %C, i64 %to.{x}
{load_ir(f"%a.{x}", f"%A.{x}", width, masked)}
{load_ir(f"%b.{x}", f"%B.{x}", width, masked)}
  %c.{x} = fadd {kind} %a.{x}, %b.{x}
{store_ir(f"%c.{x}", f"%C.{x}", width, masked)}"""

    return f"""define internal void @{symbol}(i64 %m, i64 %n, ptr %A, ptr %B, ptr %C, i64 %c, i64 %C_row) #0 {{
start:
  %rest = srem i64 %n, {width}
  %whole = sub i64 %n, %rest
  %odd = icmp sgt i64 %rest, 0
{mask}
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %done ]
  %C.at = phi i64 [ %c, %start ], [ %C.next, %done ]
  %more.i = icmp slt i64 %i, %m
  br i1 %more.i, label %begin, label %end
begin:
  %row = mul i64 %i, %n
  br label %ask
ask:
  %j = phi i64 [ 0, %begin ], [ %over, %go ]
  %fits = icmp slt i64 %j, %whole
  br i1 %fits, label %go, label %tail
go:
{vector("w", "")}
  %over = add i64 %j, {width}
  br label %ask
tail:
  br i1 %odd, label %masked, label %done
masked:
{vector("p", f", <{width} x i1> %mask")}
  br label %done
done:
  %i.next = add i64 %i, 1
  %C.next = add i64 %C.at, %C_row
  br label %rows
end:
  ret void
}}"""


def scaled_rows_ir(symbol: str, width: int) -> str:
    """The function of `scale_rows`'s parameters: row by row, the last numbers of each under a mask."""
    kind, suffix, mask = f"<{width} x double>", f"v{width}f64", "\n".join(mask_below("mask", "%rest", width))

    def vector(x: str, after: str, masked: str) -> str:
        return f"""  %at.{x} = add i64 %row, %j
  %from.{x} = getelementptr double, ptr %A, i64 %at.{x}
  %to.{x} = getelementptr double, ptr %B, i64 %at.{x}
{load_ir(f"%a.{x}", f"%from.{x}", width, masked)}
  %b.{x} = fmul {kind} %fv, %a.{x}
{store_ir(f"%b.{x}", f"%to.{x}", width, masked)}
  %size.{x} = call {kind} @llvm.fabs.{suffix}({kind} %b.{x})
  %{after} = call {kind} @llvm.maximum.{suffix}({kind} %most, {kind} %size.{x})"""

    return f"""define internal double @{symbol}(i64 %m, i64 %n, double %scale, ptr %s, ptr %A, ptr %B) #0 {{
start:
  %rest = srem i64 %n, {width}
  %whole = sub i64 %n, %rest
  %odd = icmp sgt i64 %rest, 0
{mask}
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %done ]
  %most.i = phi {kind} [ zeroinitializer, %start ], [ %most.done, %done ]
  %more.i = icmp slt i64 %i, %m
  br i1 %more.i, label %begin, label %end
begin:
  %row = mul i64 %i, %n
  %s.at = getelementptr double, ptr %s, i64 %i
  %s.i = load double, ptr %s.at, align 8
  %factor = fmul double %scale, %s.i
{chr(10).join(splat_ir("fv", "%factor", width))}
  br label %ask
ask:
  %j = phi i64 [ 0, %begin ], [ %over, %go ]
  %most = phi {kind} [ %most.i, %begin ], [ %most.go, %go ]
  %fits = icmp slt i64 %j, %whole
  br i1 %fits, label %go, label %tail
go:
{vector("w", "most.go", "")}
  %over = add i64 %j, {width}
  br label %ask
tail:
  br i1 %odd, label %masked, label %done
masked:
{vector("p", "most.tail", f", <{width} x i1> %mask")}
  br label %done
done:
  %most.done = phi {kind} [ %most, %tail ], [ %most.tail, %masked ]
  %i.next = add i64 %i, 1
  br label %rows
end:
  %all{width} = call {kind} @llvm.maximum.{suffix}({kind} %most.i, {kind} zeroinitializer)
{largest_of_ir(width)}
  ret double %best
}}"""
