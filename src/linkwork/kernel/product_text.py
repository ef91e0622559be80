"""The texts of `products.add_product` and `put_product` in one lane: several vectors of columns, four rows of A at a time, so
that what is loaded of B serves four times."""

from __future__ import annotations

from collections.abc import Sequence

from .vector_text import load_ir, mask_below, splat_ir, store_ir

ROWS, VECTORS = 4, 2  # of C at a time


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
    for r in range(rows):
        lines += [f"  %ar{r} = mul i64 %row, {r}", f"  %ap{r} = add i64 %ao, %ar{r}"]
        lines += [f"  %aq{r} = getelementptr double, ptr %A, i64 %ap{r}", f"  %a{r} = load double, ptr %aq{r}, align 8"]
        lines += splat_ir(f"av{r}", f"%a{r}", width)
        for v in range(vectors):
            product = f"{kind} %av{r}, {kind} %b{v}, {kind} %s{r}.{v}"
            lines.append(f"  %t{r}.{v} = call {kind} @llvm.fma.v{width}f64({product})")
    lines += ["  %p.next = add i64 %p, 1", "  %more = icmp slt i64 %p.next, %k", "  br i1 %more, label %loop, label %end", "end:"]
    lines += [f"  %e{r}.{v} = phi {kind} [ zeroinitializer, %start ], [ %t{r}.{v}, %loop ]" for r, v in places]
    lines += sums_to_C([f"{r}.{v}" for r, v in places], width, onto, mask)
    return "\n".join([*lines, "  ret void", "}"])


def sums_to_C(places: Sequence[str], width: int, onto: bool, mask: str) -> list[str]:
    """The sums `%e` of places, times `%scale`, to what `%cp` of each points at, or onto it."""
    kind, lines = f"<{width} x double>", splat_ir("sv", "%scale", width)
    for x in places:
        if onto:
            lines.append(load_ir(f"%c{x}", f"%cp{x}", width, mask))
            lines.append(f"  %f{x} = call {kind} @llvm.fma.v{width}f64({kind} %sv, {kind} %e{x}, {kind} %c{x})")
        else:
            lines.append(f"  %f{x} = fmul {kind} %sv, %e{x}")
        lines.append(store_ir(f"%f{x}", f"%cp{x}", width, mask))
    return lines
