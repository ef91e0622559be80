"""What the functions of `python` do, as LLVM IR, and the records that they read.

An array's fields lie where NumPy's C interface says (`PLACES`); a record is numbers of 64 bits, in the order of its names.
"""

from __future__ import annotations

from collections.abc import Sequence

from .notes import notes_ir
from .records import JOB, TRANSFER, load_field

HEADER = object.__basicsize__
PLACES = {"type": HEADER - 8, "data": HEADER, "nd": HEADER + 8, "shape": HEADER + 16, "descr": HEADER + 40, "flags": HEADER + 48}
C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
COMMON = ("count", "type", "descr", "none", "error", "message", "incref", "set_error")  # count of arguments
# For every input follow its place in bases and its size. The `size` numbers of the result are in the lanes; by the map, if there
# is one, they are unpacked to memory, which is that of `result`.
# make: the function that makes an array like the result for the caller, or null
STATE = (*COMMON, "segments", "segment_count", "bases", "result", "make", "lanes", "memory", "size", "map")
COPY = ("array", "copy")
# A step has one input; it may be as large as `most`. What moves (its place in bases) must be finite, below `finite`, afterwards.
# It copies `notes` then.
STEP = (*COMMON, "segments", "segment_count", "bases", "most", "true", "false", "moving", "size", "finite", "notes")
BATCH = (*COMMON, "job", "save", "restore", "false")
# pieces: into so many a batch is cut; after these the jobs of the others
SHARED = (*BATCH, "share", "mails", "others", "pieces")


def data_ir() -> str:
    """ptr lw_data(array, type, descr, nd, rows, columns): its data if it is such an array, in one piece, or null.

    rows matter for nd = 2 only.
    """
    lines = ["define ptr @lw_data(ptr %a, ptr %type, ptr %descr, i32 %nd, i64 %rows, i64 %columns) #0 {", "start:"]
    for name, place in PLACES.items():
        lines.append(f"  %{name}.at = getelementptr i8, ptr %a, i64 {place}")
    flags = C_CONTIGUOUS | ALIGNED
    return (
        "\n".join(lines)
        + f"""
  %type.of = load ptr, ptr %type.at
  %is.array = icmp eq ptr %type.of, %type
  br i1 %is.array, label %kind, label %no
kind:
  %descr.of = load ptr, ptr %descr.at
  %nd.of = load i32, ptr %nd.at
  %flags.of = load i32, ptr %flags.at
  %same.descr = icmp eq ptr %descr.of, %descr
  %same.nd = icmp eq i32 %nd.of, %nd
  %wanted = and i32 %flags.of, {flags}
  %whole = icmp eq i32 %wanted, {flags}
  %both = and i1 %same.descr, %same.nd
  %all = and i1 %both, %whole
  br i1 %all, label %sizes, label %no
sizes:
  %shape = load ptr, ptr %shape.at
  %first = load i64, ptr %shape
  %last.index = sub i32 %nd, 1
  %last.at = getelementptr i64, ptr %shape, i32 %last.index
  %last = load i64, ptr %last.at
  %one = icmp eq i32 %nd, 1
  %same.rows = icmp eq i64 %first, %rows
  %rows.fit = or i1 %one, %same.rows
  %columns.fit = icmp eq i64 %last, %columns
  %fits = and i1 %rows.fit, %columns.fit
  br i1 %fits, label %yes, label %no
yes:
  %data = load ptr, ptr %data.at
  ret ptr %data
no:
  ret ptr null
}}"""
    )


def head_lines(name: str, fields: Sequence[str], numbers: Sequence[str]) -> list[str]:
    """The start of a function: its record, and the loop over its arguments."""
    lines = [f"define ptr @{name}(ptr %self, ptr %arguments, i64 %given) #0 {{", "start:"]
    lines.append(f"  %record.at = getelementptr i8, ptr %self, i64 {bytes.__basicsize__ - 1}")
    lines.append("  %record = load ptr, ptr %record.at")
    for index, field in enumerate(fields):
        load_field(lines, field, index, "%record", "i64" if field in numbers else "ptr")
    return [*lines, "  %enough = icmp eq i64 %given, %count", "  br i1 %enough, label %ready, label %refused", "ready:"]


_LOOP = """  br label %loop
loop:
  %k = phi i64 [ 0, %ready ], [ %k.next, %accepted ]
  %argument.at = getelementptr ptr, ptr %arguments, i64 %k
  %argument = load ptr, ptr %argument.at"""
_NEXT = """  %is.null = icmp eq ptr %data, null
  br i1 %is.null, label %refused, label %accepted
accepted:
  store ptr %data, ptr %target
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %count
  br i1 %k.more, label %loop, label %go
go:"""
REFUSED = """refused:
  %raises = icmp ne ptr %error, null
  br i1 %raises, label %raise, label %nothing
raise:
  call void %set_error(ptr %error, ptr %message)
  ret ptr null
nothing:
  call void %incref(ptr %none)
  ret ptr %none
}"""


def within_ir(element: str) -> str:
    """ptr lw_within(data, most, count): the data if no number is larger than its own `most`, nor smaller than -most; or null."""
    return f"""define ptr @lw_within(ptr %data, ptr %most, i64 %count) #0 {{
start:
  %missing = icmp eq ptr %data, null
  %empty = icmp eq i64 %count, 0
  %nothing = or i1 %missing, %empty
  br i1 %nothing, label %as.it.is, label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %i.next, %loop ]
  %good = phi i1 [ true, %start ], [ %good.next, %loop ]
  %x.at = getelementptr {element}, ptr %data, i64 %i
  %x = load {element}, ptr %x.at
  %m.at = getelementptr {element}, ptr %most, i64 %i
  %m = load {element}, ptr %m.at
  %least = fneg {element} %m
  %below = fcmp ole {element} %x, %m
  %above = fcmp oge {element} %x, %least
  %both = and i1 %below, %above
  %good.next = and i1 %good, %both
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %count
  br i1 %more, label %loop, label %done
done:
  %found = select i1 %good.next, ptr %data, ptr null
  ret ptr %found
as.it.is:
  ret ptr %data
}}"""


def _pair_ir(first: int, name: str) -> list[str]:
    """Place and length of the input that an argument stands for, and its data under a name."""
    lines = [f"  %pair.at = mul i64 %k, 2\n  %pair.index = add i64 %pair.at, {first}"]
    lines.append("  %pair = getelementptr i64, ptr %record, i64 %pair.index")
    load_field(lines, "place", 0, "%pair")
    load_field(lines, "length", 1, "%pair")
    return [*lines, f"  %{name} = call ptr @lw_data(ptr %argument, ptr %type, ptr %descr, i32 1, i64 1, i64 %length)"]


def step_ir() -> str:
    """See STEP."""
    lines = [
        *head_lines("lw_python_step", STEP, ("count", "segment_count", "moving", "size")),
        _LOOP,
        *_pair_ir(len(STEP), "array"),
    ]
    lines.append("  %data = call ptr @lw_within(ptr %array, ptr %most, i64 %length)")
    lines += ["  %target = getelementptr ptr, ptr %bases, i64 %place", _NEXT]
    lines.append("  call void @lw_run(ptr %segments, i64 %segment_count, ptr %bases)")
    lines.append(notes_ir())
    lines.append("  %moving.at = getelementptr ptr, ptr %bases, i64 %moving\n  %after = load ptr, ptr %moving.at")
    lines.append("  %kept = call ptr @lw_within(ptr %after, ptr %finite, i64 %size)\n  %lost = icmp eq ptr %kept, null")
    lines.append("  %said = select i1 %lost, ptr %false, ptr %true")
    return "\n".join([*lines, "  call void %incref(ptr %said)", "  ret ptr %said", REFUSED])


def copy_ir() -> str:
    """See COPY."""
    lines = ["define ptr @lw_python_copy(ptr %self, ptr %arguments, i64 %given) #0 {", "start:"]
    lines.append(f"  %record.at = getelementptr i8, ptr %self, i64 {bytes.__basicsize__ - 1}")
    lines.append("  %record = load ptr, ptr %record.at")
    for index, field in enumerate(COPY):
        load_field(lines, field, index, "%record", "ptr")
    lines += ["  %made = call ptr %copy(ptr %array, i32 0)", "  %none = icmp eq ptr %made, null"]
    lines += ["  br i1 %none, label %done, label %close", "close:"]
    lines.append(f"  %flags.at = getelementptr i8, ptr %made, i64 {PLACES['flags']}\n  %flags = load i32, ptr %flags.at")
    lines.append(f"  %closed = and i32 %flags, {~WRITEABLE}\n  store i32 %closed, ptr %flags.at\n  br label %done")
    return "\n".join([*lines, "done:", "  ret ptr %made", "}"])


def state_ir() -> str:
    """See STATE."""
    lines = [*head_lines("lw_python_state", STATE, ("count", "segment_count", "size")), _LOOP, *_pair_ir(len(STATE), "data")]
    lines += ["  %target = getelementptr ptr, ptr %bases, i64 %place", _NEXT]
    lines.append("  call void @lw_run(ptr %segments, i64 %segment_count, ptr %bases)")
    lines += ["  %who = alloca i64", "  store i64 0, ptr %who"]  # the one state
    arguments, data = "i64 %size, i64 0, ptr %who", PLACES["data"]
    lines += [
        "  %plain = icmp eq ptr %map, null",
        "  %own = icmp eq ptr %make, null",
        "  br i1 %own, label %kept, label %new",
        "kept:",
        "  br i1 %plain, label %as.it.is, label %unpack",
        "unpack:",
        f"  %fine.kept = call i1 @lw_unpack_mapped(ptr %lanes, ptr %memory, {arguments}, ptr %map)",
        "  br label %as.it.is",
        "as.it.is:",
        "  call void %incref(ptr %result)",
        "  ret ptr %result",
        "new:",
        "  %made = call ptr %make(ptr %result, i32 0, ptr null, i32 0)",
        "  %lost = icmp eq ptr %made, null",
        "  br i1 %lost, label %done, label %fill",
        "fill:",
        f"  %made.at = getelementptr i8, ptr %made, i64 {data}",
        "  %made.data = load ptr, ptr %made.at",
        "  br i1 %plain, label %straight, label %mapped",
        "straight:",
        f"  %fine.new = call i1 @lw_unpack(ptr %lanes, ptr %made.data, {arguments})",
        "  br label %done",
        "mapped:",
        f"  %fine.mapped = call i1 @lw_unpack_mapped(ptr %lanes, ptr %made.data, {arguments}, ptr %map)",
        "  br label %done",
        "done:",
        "  ret ptr %made",
    ]
    return "\n".join([*lines, REFUSED])


def batch_ir(width: int, shared: bool) -> str:
    """See BATCH and SHARED. The last argument, an output, says how many rows there are."""
    name, fields = ("lw_python_shared", SHARED) if shared else ("lw_python_batch", BATCH)
    lines = head_lines(name, fields, ("count", "others", "pieces"))
    lines.append("  %last.place = sub i64 %count, 1\n  %out.at = getelementptr ptr, ptr %arguments, i64 %last.place")
    lines.append(f"  %out = load ptr, ptr %out.at\n  %rows.of = getelementptr i8, ptr %out, i64 {PLACES['shape']}")
    lines.append("  %rows.at = load ptr, ptr %rows.of\n  %rows = load i64, ptr %rows.at")
    load_field(lines, "transfers", JOB.index("inputs"), "%job", "ptr")
    lines += [_LOOP, f"  %entry.at = mul i64 %k, {len(TRANSFER)}", "  %entry = getelementptr i64, ptr %transfers, i64 %entry.at"]
    load_field(lines, "columns", TRANSFER.index("count"), "%entry")
    lines.append("  %data = call ptr @lw_data(ptr %argument, ptr %type, ptr %descr, i32 2, i64 %rows, i64 %columns)")
    lines += [f"  %target = getelementptr ptr, ptr %entry, i64 {TRANSFER.index('memory')}", _NEXT]
    lines.append(f"  %end.at = getelementptr i64, ptr %job, i64 {JOB.index('end')}\n  store i64 %rows, ptr %end.at")
    load_field(lines, "next", JOB.index("next"), "%job", "ptr")
    load_field(lines, "odd", JOB.index("odd"), "%job", "ptr")
    lines += ["  store i64 0, ptr %next", "  %looks = icmp ne ptr %odd, null"]
    lines.append("  %odd.of = select i1 %looks, ptr %odd, ptr %next\n  store i64 0, ptr %odd.of")
    call = "  call void @lw_batch(ptr %job)"
    if shared:
        lines.append(_others_ir(width))
        call = "  call void %share(ptr %mails, i64 %others, ptr @lw_batch, ptr %job)"
    lines += ["  %thread = call ptr %save()", call, "  call void %restore(ptr %thread)"]
    lines += ["  %odd.now = load i64, ptr %odd.of", "  %is.odd = icmp ne i64 %odd.now, 0", "  %bad = and i1 %looks, %is.odd"]
    lines.append("  %said = select i1 %bad, ptr %false, ptr %out")
    return "\n".join([*lines, "  call void %incref(ptr %said)", "  ret ptr %said", REFUSED])


def _others_ir(width: int) -> str:
    """Cut the batch into pieces, and tell the others where the arrays are."""
    chunk, end, inputs = (JOB.index(name) for name in ("chunk", "end", "inputs"))
    memory, size = TRANSFER.index("memory"), len(TRANSFER)
    return f"""  %piece = udiv i64 %rows, %pieces
  %blocks = udiv i64 %piece, {width}
  %blocks.none = icmp eq i64 %blocks, 0
  %blocks.some = select i1 %blocks.none, i64 1, i64 %blocks
  %chunk = mul i64 %blocks.some, {width}
  %chunk.at = getelementptr i64, ptr %job, i64 {chunk}
  store i64 %chunk, ptr %chunk.at
  br label %tell
tell:
  %o = phi i64 [ 0, %go ], [ %o.next, %told ]
  %o.index = add i64 %o, {len(SHARED)}
  %o.at = getelementptr ptr, ptr %record, i64 %o.index
  %other = load ptr, ptr %o.at
  %other.chunk = getelementptr i64, ptr %other, i64 {chunk}
  store i64 %chunk, ptr %other.chunk
  %other.end = getelementptr i64, ptr %other, i64 {end}
  store i64 %rows, ptr %other.end
  %theirs.at = getelementptr i64, ptr %other, i64 {inputs}
  %theirs = load ptr, ptr %theirs.at
  br label %copy
copy:
  %c = phi i64 [ 0, %tell ], [ %c.next, %copy ]
  %c.entry = mul i64 %c, {size}
  %c.index = add i64 %c.entry, {memory}
  %from = getelementptr ptr, ptr %transfers, i64 %c.index
  %to = getelementptr ptr, ptr %theirs, i64 %c.index
  %moved = load ptr, ptr %from
  store ptr %moved, ptr %to
  %c.next = add i64 %c, 1
  %c.more = icmp slt i64 %c.next, %count
  br i1 %c.more, label %copy, label %told
told:
  %o.next = add i64 %o, 1
  %o.more = icmp slt i64 %o.next, %others
  br i1 %o.more, label %tell, label %sharing
sharing:"""
