"""The compiled driver: packing states into lanes, running segments of kernels, N steps at a time, unpacking.

    void lw_run(ptr segments, i64 count, ptr bases)           see SEGMENT
    void lw_batch(ptr job)                                    see JOB; runs without the interpreter lock

For every block of `width` states: the inputs are transposed into lanes, then for every record the segments run `every`
times and the outputs are transposed back. Lanes beyond the last state repeat that state, so they cost nothing extra to
guard: they write the same values to the same place. A job may say in which order states are taken, so that those which do the
same go side by side. Where the job asks for it, numbers are looked at on their way.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence

from . import machine, python_text
from .lanes import Lanes
from .records import JOB, SEGMENT, TRANSFER, load_field
from .unit_lanes import unit_ir
from .workers import share

RUN = 4  # tiles of scalars that are one and the same are written at once
ADDRESSES = ("segments", "bases", "inputs", "outputs", "next", "order", "odd", "units")  # in a job


def run_ir(t: Lanes) -> str:
    """Call the kernel of every segment whose guard is not zero in every lane."""
    lines = ["define void @lw_run(ptr %segments, i64 %count, ptr %bases) #0 {", "start:"]
    lines += ["  %some = icmp sgt i64 %count, 0", "  br i1 %some, label %loop, label %done", "loop:"]
    lines += ["  %i = phi i64 [ 0, %start ], [ %next, %after ]", f"  %at = mul i64 %i, {len(SEGMENT)}"]
    lines.append("  %s = getelementptr i64, ptr %segments, i64 %at")
    for index, field in enumerate(SEGMENT):
        load_field(lines, field, index, "%s", "ptr" if field in ("kernel", "entries") else "i64")
    any_lane = (
        "  %wanted = or i1 %awake, false"
        if t.width == 1
        else f"  %wanted = call i1 @llvm.vector.reduce.or.v{t.width}i1({t.bool_type} %awake)"
    )
    return (
        "\n".join(lines)
        + f"""
  %always = icmp slt i64 %guard, 0
  br i1 %always, label %go, label %ask
ask:
  %base.at = getelementptr ptr, ptr %bases, i64 %guard
  %base = load ptr, ptr %base.at
  %guard.of = getelementptr i8, ptr %base, i64 %guard_at
  %value = load {t.type}, ptr %guard.of, align {t.bytes}
  %awake = fcmp une {t.type} %value, {t.constant(0.0)}
{any_lane}
  br i1 %wanted, label %go, label %after
go:
  call void %kernel(ptr %entries, i64 %nodes, ptr %bases)
  br label %after
after:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""
    )


def repeat_ir(t: Lanes) -> str:
    """A kernel that runs segments several times: entries are their address and number, how often, the array of a flag or -1."""
    any_lane = (
        "  %again = or i1 %on, false"
        if t.width == 1
        else f"  %again = call i1 @llvm.vector.reduce.or.v{t.width}i1({t.bool_type} %on)"
    )
    lines = ["define void @lw_repeat(ptr %entries, i64 %nodes, ptr %bases) #0 {", "start:"]
    for index, field in enumerate(("segments", "count", "most", "flag")):
        load_field(lines, field, index, "%entries", "ptr" if field == "segments" else "i64")
    return (
        "\n".join(lines)
        + f"""
  %some = icmp sgt i64 %most, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %start ], [ %next, %more ]
  call void @lw_run(ptr %segments, i64 %count, ptr %bases)
  %next = add i64 %i, 1
  %flagged = icmp sge i64 %flag, 0
  br i1 %flagged, label %ask, label %more
ask:
  %base.at = getelementptr ptr, ptr %bases, i64 %flag
  %base = load ptr, ptr %base.at
  %value = load {t.type}, ptr %base, align {t.bytes}
  %on = fcmp une {t.type} %value, {t.constant(0.0)}
{any_lane}
  br i1 %again, label %more, label %done
more:
  %left = icmp slt i64 %next, %most
  br i1 %left, label %loop, label %done
done:
  ret void
}}"""
    )


def transfer_ir(t: Lanes, unpack: bool, mapped: bool = False) -> str:
    """Transpose `width` rows of memory, whose numbers are `who`, into lanes, or back.

    mapped: scalar i of a row is number `map[i]` of the lanes.

    Square tiles of one register per row; the last tile overlaps the one before. Rows shorter than a tile go scalar by scalar,
    and so does one lane by a map. Where a map has one place for a whole tile (that of zeros, as a rule), nothing is transposed.

    Returns whether the numbers are finite: whether their sums are, which are made beside the loads and stores in no time of their
    own. A sum of finite numbers may overflow; so the answer may be no where nothing is wrong.
    """
    name, fit = ("lw_unpack" if unpack else "lw_pack"), machine.register_bytes() // t.bytes
    tile = fit if t.width == 1 else min(t.width, fit)
    name, more = (f"{name}_mapped", ", ptr %map") if mapped else (name, "")
    lines = [f"define i1 @{name}(ptr %lanes, ptr %memory, i64 %count, i64 %stride, ptr %who{more}) #0 {{", "start:"]
    summed = Lanes(1 if t.width < tile and mapped else tile, t.single)
    sums = [f"sum{first}" for first in range(0, t.width, tile)]
    for k in range(t.width):
        lines += [f"  %who{k} = getelementptr i64, ptr %who, i64 {k}", f"  %k{k} = load i64, ptr %who{k}"]
        lines.append(f"  %o{k} = mul i64 %k{k}, %stride")
        lines.append(f"  %row{k} = getelementptr i8, ptr %memory, i64 %o{k}")
    lines += [f"  %final = sub i64 %count, {tile}", "  %long = icmp sge i64 %final, 0"]
    lines += ["  %some = icmp sgt i64 %count, 0", "  br i1 %long, label %tiles, label %short"]
    lines += ["tiles:", "  %u = phi i64 [ 0, %start ], [ %u.next, %tiles.end ]"]
    lines += [f"  %{x} = phi {summed.type} [ {summed.constant(0.0)}, %start ], [ %{x}.now, %tiles.end ]" for x in sums]
    lines += ["  %over = icmp sgt i64 %u, %final", "  %j = select i1 %over, i64 %final, i64 %u"]
    wide = RUN if mapped and tile > 1 else 0
    if wide:
        lines += [*_alike(t, tile, wide, summed), *_alike(t, tile, 1, summed)]
    if t.width >= tile:
        lines += _tiles(t, tile, unpack, mapped)
    elif not mapped:
        lines += [*_straight(t, tile, unpack), *_total("sum0", "sum0.more", summed, ["%x.j"])]
    else:
        lines += [line for k in range(tile) for line in _scalars(t, unpack, mapped, f"%j{k}", f"%j{k} = add i64 %j, {k}")]
        lines += _total("sum0", "sum0.more", summed, [f"%atj{k}.s0" for k in range(tile)])
    lines += ["  br label %tiles.end", "tiles.end:"]
    for x in sums:
        others = [f"[ %alike{n}.{x}, %alike{n}.yes ]" for n in (wide, 1)] if wide else []
        plain = f"[ %{x}.more, %{'alike1.no' if wide else 'tiles'} ]"
        lines.append(f"  %{x}.now = phi {summed.type} {', '.join([*others, plain])}")
    step = f"[ {wide * tile}, %alike{wide}.yes ], [ {tile}, %alike1.yes ], [ {tile}, %alike1.no ]" if wide else ""
    lines.append(f"  %step = phi i64 {step}" if wide else f"  %step = add i64 0, {tile}")
    lines += ["  %u.next = add i64 %u, %step", "  %u.more = icmp slt i64 %u.next, %count"]
    lines += ["  br i1 %u.more, label %tiles, label %whole"]
    lines += ["whole:", *_finite("tile", summed, [f"%{x}.now" for x in sums]), "  ret i1 %tile.fine"]
    lines += ["short:", "  br i1 %some, label %loop, label %empty"]
    alone = [("lone", t)] if unpack else [(f"lone{k}", Lanes(1, t.single)) for k in range(t.width)]
    lines += ["loop:", "  %i = phi i64 [ 0, %short ], [ %next, %loop ]"]
    lines += [f"  %{x} = phi {kind.type} [ {kind.constant(0.0)}, %short ], [ %{x}.more, %loop ]" for x, kind in alone]
    lines += _scalars(t, unpack, mapped, "%i")
    if unpack:  # all of them at once; written just now, they could not be read so
        lines += [
            f"  %all.lanes = load {t.type}, ptr %ati.lane, align {t.bytes}",
            *_total("lone", "lone.more", t, ["%all.lanes"]),
        ]
    else:
        lines += [line for k, (x, kind) in enumerate(alone) for line in _total(x, f"{x}.more", kind, [f"%ati.s{k}"])]
    lines += ["  %next = add i64 %i, 1", "  %more = icmp slt i64 %next, %count"]
    lines += ["  br i1 %more, label %loop, label %last.one", "last.one:"]
    lines += _finite("end", alone[0][1], [f"%{x}.more" for x, _ in alone])
    return "\n".join([*lines, "  ret i1 %end.fine", "empty:", "  ret i1 true", "}"])


def _total(before: str, after: str, t: Lanes, terms: list[str]) -> list[str]:
    """`%after`: what was summed before with further terms, in pairs, so that few wait for one another."""
    lines, rest = [], [f"%{before}", *terms]
    while len(rest) > 1:
        total = f"%{after}" if len(rest) == 2 else f"%{after}.{len(rest)}"
        lines.append(f"  {total} = fadd {t.type} {rest.pop()}, {rest.pop()}")
        rest.insert(1, total)
    return lines


def _finite(name: str, t: Lanes, sums: list[str]) -> list[str]:
    """`%name.fine`: whether the sum of sums is finite in all lanes."""
    zero, n = t.constant(0.0), t.width
    lines = [f"  %{name}.first = fadd {t.type} {sums[0]}, {zero}", *_total(f"{name}.first", f"{name}.sum", t, sums[1:] or [zero])]
    lines.append(f"  %{name}.none = fmul {t.type} %{name}.sum, {zero}")
    lines.append(f"  %{name}.good = fcmp ord {t.type} %{name}.none, {zero}")
    lines.append(f"  %{name}.bits = bitcast {t.bool_type} %{name}.good to i{n}")
    return [*lines, f"  %{name}.fine = icmp eq i{n} %{name}.bits, -1"]


def _place(t: Lanes, name: str, index: str, mapped: bool) -> list[str]:
    """`%name`: where scalar `index` begins in the lanes, in scalars."""
    if not mapped:
        return [f"  %{name} = mul i64 {index}, {t.width}"]
    return [
        f"  %{name}.of = getelementptr i32, ptr %map, i64 {index}",
        f"  %{name}.n = load i32, ptr %{name}.of",
        f"  %{name}.w = zext i32 %{name}.n to i64",
        f"  %{name} = mul i64 %{name}.w, {t.width}",
    ]


def _alike(t: Lanes, tile: int, tiles: int, summed: Lanes) -> list[str]:
    """If the map has one place for all scalars of so many tiles, write it to all rows and go on after them."""
    n, name, size = tiles * tile, f"alike{tiles}", tiles * tile
    places, kind = f"<{n} x i32>", Lanes(tile, t.single).type
    lines = [
        f"  %{name}.end = add i64 %j, {size}",
        f"  %{name}.fit = icmp sle i64 %{name}.end, %count",
        f"  br i1 %{name}.fit, label %{name}.ask, label %{name}.no",
        f"{name}.ask:",
        f"  %{name}.map = getelementptr i32, ptr %map, i64 %j",
        f"  %{name}.places = load {places}, ptr %{name}.map, align 4",
        f"  %{name}.first = shufflevector {places} %{name}.places, {places} poison, {places} zeroinitializer",
        f"  %{name}.differ = icmp ne {places} %{name}.places, %{name}.first",
        f"  %{name}.bits = bitcast <{n} x i1> %{name}.differ to i{n}",
        f"  %{name}.all = icmp eq i{n} %{name}.bits, 0",
        f"  br i1 %{name}.all, label %{name}.yes, label %{name}.no",
        f"{name}.yes:",
        f"  %{name}.n = extractelement {places} %{name}.places, i64 0",
        f"  %{name}.w = zext i32 %{name}.n to i64",
        f"  %{name}.at = mul i64 %{name}.w, {t.width}",
        f"  %{name}.of = getelementptr {t.element}, ptr %lanes, i64 %{name}.at",
    ]
    for k in range(t.width):
        lines += [
            f"  %{name}.of{k} = getelementptr {t.element}, ptr %{name}.of, i64 {k}",
            f"  %{name}.x{k} = load {t.element}, ptr %{name}.of{k}, align {t.bytes}",
            f"  %{name}.one{k} = insertelement {kind} poison, {t.element} %{name}.x{k}, i64 0",
            f"  %{name}.all{k} = shufflevector {kind} %{name}.one{k}, {kind} poison, <{tile} x i32> zeroinitializer",
        ]
        for i in range(tiles):
            lines.append(f"  %{name}.j{k}.{i} = add i64 %j, {i * tile}")
            lines.append(f"  %{name}.to{k}.{i} = getelementptr {t.element}, ptr %row{k}, i64 %{name}.j{k}.{i}")
            lines.append(f"  store {kind} %{name}.all{k}, ptr %{name}.to{k}.{i}, align {t.bytes}")
    for first in range(0, t.width, tile):
        lines.append(f"  %{name}.v{first} = load {summed.type}, ptr %{name}.of{first}, align {t.bytes}")
        lines += _total(f"sum{first}", f"{name}.sum{first}", summed, [f"%{name}.v{first}"])
    return [*lines, "  br label %tiles.end", f"{name}.no:"]


def _tiles(t: Lanes, tile: int, unpack: bool, mapped: bool) -> list[str]:
    """Scalars j to j + tile of all rows."""
    lines, kind = [], Lanes(tile, t.single).type
    for k in range(tile):
        lines += [f"  %j{k} = add i64 %j, {k}", *_place(t, f"place{k}", f"%j{k}", mapped)]
    for first in range(0, t.width, tile):
        memory = [f"%m{first + k}" for k in range(tile)]
        lanes = [f"%l{first}.{k}" for k in range(tile)]
        for k in range(tile):
            lines.append(f"  {memory[k]} = getelementptr {t.element}, ptr %row{first + k}, i64 %j")
            lines.append(f"  %at{first}.{k} = add i64 %place{k}, {first}")
            lines.append(f"  {lanes[k]} = getelementptr {t.element}, ptr %lanes, i64 %at{first}.{k}")
        source, target = (lanes, memory) if unpack else (memory, lanes)
        x = _transposed(lines, _halves(lines, t, source, f"{first}"), f"{first}", kind)
        lines += [f"  store {kind} {x[k]}, ptr {target[k]}, align {t.bytes}" for k in range(tile)]
        lines += _total(f"sum{first}", f"sum{first}.more", Lanes(tile, t.single), x)
    return lines


def _straight(t: Lanes, tile: int, unpack: bool) -> list[str]:
    """Scalars j to j + tile of the one row, which lie in the one lane as they do in memory."""
    kind = Lanes(tile, t.single).type
    ends = ("%lane.j", "%row.j") if unpack else ("%row.j", "%lane.j")
    return [
        f"  %lane.j = getelementptr {t.element}, ptr %lanes, i64 %j",
        f"  %row.j = getelementptr {t.element}, ptr %row0, i64 %j",
        f"  %x.j = load {kind}, ptr {ends[0]}, align {t.bytes}",
        f"  store {kind} %x.j, ptr {ends[1]}, align {t.bytes}",
    ]


def _halves(lines: list[str], t: Lanes, rows: list[str], name: str) -> list[str]:
    """Load a square of rows with its halves exchanged: loads put halves of registers together for less than shuffles do."""
    n = len(rows)
    half = n // 2
    if not half:
        lines.append(f"  %x{name} = load {t.element}, ptr {rows[0]}, align {t.bytes}")
        return [f"%x{name}"]
    kind, both = f"<{half} x {t.element}>", ", ".join(f"i32 {k}" for k in range(n))
    out = []
    for i in range(n):
        parts = (rows[i], rows[i + half]) if i < half else (rows[i - half], rows[i])
        for part, row in enumerate(parts):
            lines.append(f"  %h{name}.{i}.{part} = getelementptr {t.element}, ptr {row}, i64 {0 if i < half else half}")
            lines.append(f"  %v{name}.{i}.{part} = load {kind}, ptr %h{name}.{i}.{part}, align {t.bytes}")
        out.append(f"%x{name}.{i}")
        pair = f"{kind} %v{name}.{i}.0, {kind} %v{name}.{i}.1"
        lines.append(f"  {out[-1]} = shufflevector {pair}, <{n} x i32> <{both}>")
    return out


def _transposed(lines: list[str], rows: list[str], name: str, kind: str) -> list[str]:
    """The columns of a square of rows whose halves are exchanged already: quarters, eighths, ... change places."""
    n = len(rows)
    half = n // 4
    while half:
        new = list(rows)
        for i in range(n):
            if not i & half:
                a, b = rows[i], rows[i + half]
                low = [k if not k & half else n + k - half for k in range(n)]
                high = [k + half if not k & half else n + k for k in range(n)]
                for target, choice in ((i, low), (i + half, high)):
                    new[target] = f"%t{name}.{half}.{target}"
                    mask = ", ".join(f"i32 {k}" for k in choice)
                    lines.append(f"  {new[target]} = shufflevector {kind} {a}, {kind} {b}, <{n} x i32> <{mask}>")
        rows, half = new, half // 2
    return rows


def _scalars(t: Lanes, unpack: bool, mapped: bool, index: str, *first: str) -> list[str]:
    """Scalar `index` of all rows; lines that come first say which it is."""
    at = f"at{index[1:]}"
    lines = [*(f"  {line}" for line in first), *_place(t, at, index, mapped)]
    lines.append(f"  %{at}.lane = getelementptr {t.element}, ptr %lanes, i64 %{at}")
    for k in range(t.width):
        lines.append(f"  %{at}.e{k} = getelementptr {t.element}, ptr %row{k}, i64 {index}")
        lines.append(f"  %{at}.f{k} = getelementptr {t.element}, ptr %{at}.lane, i64 {k}")
        source, target = (f"%{at}.f{k}", f"%{at}.e{k}") if unpack else (f"%{at}.e{k}", f"%{at}.f{k}")
        lines.append(f"  %{at}.s{k} = load {t.element}, ptr {source}, align {t.bytes}")
        lines.append(f"  store {t.element} %{at}.s{k}, ptr {target}, align {t.bytes}")
    return lines


def transfers_ir(unpack: bool) -> str:
    """Move all inputs (or outputs) of one block; inputs that do not change between records move only at record 0, and outputs
    that have no place for every record only at the last one: `once` says which it is. Returns whether what moved is finite.
    """
    name, move = ("lw_unpack_all", "lw_unpack") if unpack else ("lw_pack_all", "lw_pack")
    lines = [f"define i1 @{name}(ptr %list, i64 %total, ptr %who, i64 %record, i1 %once) #0 {{", "start:"]
    lines += ["  %some = icmp sgt i64 %total, 0", "  br i1 %some, label %loop, label %done", "loop:"]
    lines += ["  %i = phi i64 [ 0, %start ], [ %next, %after ]", "  %fine = phi i1 [ true, %start ], [ %fine.now, %after ]"]
    lines += [f"  %at = mul i64 %i, {len(TRANSFER)}", "  %entry = getelementptr i64, ptr %list, i64 %at"]
    for index, field in enumerate(TRANSFER):
        load_field(lines, field, index, "%entry", "ptr" if field in ("lanes", "memory", "map") else "i64")
    lines += ["  %moves = icmp ne i64 %record_stride, 0", "  %wanted = or i1 %once, %moves"]
    lines += ["  br i1 %wanted, label %move, label %after", "move:"]
    lines += ["  %at.record = mul i64 %record, %record_stride", "  %rows = getelementptr i8, ptr %memory, i64 %at.record"]
    arguments = "ptr %lanes, ptr %rows, i64 %count, i64 %stride, ptr %who"
    if unpack:
        lines += ["  %plain = icmp eq ptr %map, null", "  br i1 %plain, label %direct, label %by.map", "by.map:"]
        lines += [f"  %mapped = call i1 @lw_unpack_mapped({arguments}, ptr %map)", "  br label %after", "direct:"]
    ways = "[ true, %loop ], [ %moved, %direct ], [ %mapped, %by.map ]" if unpack else "[ true, %loop ], [ %moved, %move ]"
    lines += [
        f"  %moved = call i1 @{move}({arguments})",
        "  br label %after",
        "after:",
        f"  %good = phi i1 {ways}",
        "  %fine.now = and i1 %fine, %good",
        "  %next = add i64 %i, 1",
        "  %more = icmp slt i64 %next, %total",
    ]
    lines += ["  br i1 %more, label %loop, label %done", "done:"]
    return "\n".join([*lines, "  %all = phi i1 [ true, %start ], [ %fine.now, %after ]", "  ret i1 %all", "}"])


def batch_ir(t: Lanes) -> str:
    """Chunks of states until none is left, blocks of each, records of each, repetitions of each."""
    lines = ["define void @lw_batch(ptr %job) #0 {", "entry:"]
    for index, field in enumerate(JOB):
        load_field(lines, field, index, kind="ptr" if field in ADDRESSES else "i64")
    lines.append(f"  %who = alloca [{t.width} x i64]")
    return (
        "\n".join(lines)
        + f"""
  %looks = icmp ne ptr %odd, null
  %ordered = icmp ne ptr %order, null
  br label %take
take:
  %first = atomicrmw add ptr %next, i64 %chunk seq_cst
  %some = icmp slt i64 %first, %end
  br i1 %some, label %chunk.of, label %done
chunk.of:
  %beyond = add i64 %first, %chunk
  %whole = icmp slt i64 %beyond, %end
  %stop = select i1 %whole, i64 %beyond, i64 %end
  br label %block
block:
  %s = phi i64 [ %first, %chunk.of ], [ %s.next, %block.end ]
  %last = sub i64 %end, 1
  br label %lane
lane:
  %l = phi i64 [ 0, %block ], [ %l.next, %who.known ]
  %s.lane = add i64 %s, %l
  %s.of = call i64 @llvm.smin.i64(i64 %s.lane, i64 %last)
  br i1 %ordered, label %who.asked, label %who.known
who.asked:
  %who.from = getelementptr i64, ptr %order, i64 %s.of
  %who.other = load i64, ptr %who.from
  br label %who.known
who.known:
  %who.is = phi i64 [ %s.of, %lane ], [ %who.other, %who.asked ]
  %who.to = getelementptr i64, ptr %who, i64 %l
  store i64 %who.is, ptr %who.to
  %l.next = add i64 %l, 1
  %l.more = icmp slt i64 %l.next, {t.width}
  br i1 %l.more, label %lane, label %record
record:
  %r = phi i64 [ 0, %who.known ], [ %r.next, %out ]
  %r.first = icmp eq i64 %r, 0
  %fine.in = call i1 @lw_pack_all(ptr %inputs, i64 %input_count, ptr %who, i64 %r, i1 %r.first)
  br i1 %looks, label %look.in, label %go
look.in:
  %unit.in = call i1 @lw_lanes_unit(ptr %units, i64 %unit_count)
  %good.in = and i1 %fine.in, %unit.in
  br i1 %good.in, label %go, label %odd.in
odd.in:
  store atomic i64 1, ptr %odd monotonic, align 8
  br label %go
go:
  br label %repeat
repeat:
  %k = phi i64 [ 0, %go ], [ %k.next, %repeat ]
  call void @lw_run(ptr %segments, i64 %segment_count, ptr %bases)
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %every
  br i1 %k.more, label %repeat, label %record.end
record.end:
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %records
  %r.last = xor i1 %r.more, true
  %fine.out = call i1 @lw_unpack_all(ptr %outputs, i64 %output_count, ptr %who, i64 %r, i1 %r.last)
  %odd.found = xor i1 %fine.out, true
  %odd.told = and i1 %looks, %odd.found
  br i1 %odd.told, label %odd.out, label %out
odd.out:
  store atomic i64 1, ptr %odd monotonic, align 8
  br label %out
out:
  br i1 %r.more, label %record, label %block.end
block.end:
  %s.next = add i64 %s, {t.width}
  %s.more = icmp slt i64 %s.next, %stop
  br i1 %s.more, label %block, label %take
done:
  ret void
}}"""
    )


def driver_ir(t: Lanes) -> str:
    """The whole driver for one value type."""
    parts = [
        run_ir(t),
        repeat_ir(t),
        transfer_ir(t, False),
        transfer_ir(t, True),
        transfer_ir(t, True, mapped=True),
        transfers_ir(False),
        transfers_ir(True),
        unit_ir(t),
        batch_ir(t),
        python_text.data_ir(),
        python_text.within_ir(t.element),
        python_text.copy_ir(),
        python_text.state_ir(),
        python_text.step_ir(),
        python_text.batch_ir(t.width, shared=False),
        python_text.batch_ir(t.width, shared=True),
    ]
    named = [part.replace("@lw_", f"@lw_{t.suffix}_") for part in parts]  # one process holds several drivers
    named += ["declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)", "declare i64 @llvm.smin.i64(i64, i64)"]
    if t.width > 1:
        named.append(f"declare i1 @llvm.vector.reduce.or.v{t.width}i1({t.bool_type})")
    return "\n\n".join([*named, 'attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }'])


class Driver:
    """The loaded driver for one value type: `batch(job)`, and the addresses of functions that Python calls with arrays."""

    def __init__(self, t: Lanes) -> None:
        self._library = machine.Library.of_text("driver", driver_ir(t))
        self.batch = self._library.function(f"lw_{t.suffix}_batch", ctypes.c_void_p)
        self.batch_at = self._library.address(f"lw_{t.suffix}_batch")
        self.repeat_at = self._library.address(f"lw_{t.suffix}_repeat")
        self.python_state = self._library.address(f"lw_{t.suffix}_python_state")
        self.python_copy = self._library.address(f"lw_{t.suffix}_python_copy")
        self.python_step = self._library.address(f"lw_{t.suffix}_python_step")
        self.python_batch = self._library.address(f"lw_{t.suffix}_python_batch")
        self.python_shared = self._library.address(f"lw_{t.suffix}_python_shared")

    def shared(self, jobs: Sequence[int]) -> None:
        """Jobs that share the number of the next state, each in a thread of its own, the first in this one."""
        share(self.batch_at, self.batch, jobs)


driver = functools.cache(Driver)
