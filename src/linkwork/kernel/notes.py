"""Notes: memory that compiled steps copy into a log after every step, so that Python need not.

NOTES, then rows of NOTE: each copies from its source to room that moves on by as many bytes; the source of the first is the array
that the step is given.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from .records import load_field

NOTES, NOTE = ("rows", "made"), ("source", "bytes", "room")  # made: steps that were noted


def empty_notes(rows: int) -> np.ndarray:
    """Memory for so many rows, of which none is noted."""
    return np.zeros(len(NOTES) + len(NOTE) * rows, np.int64)


def write_notes(notes: np.ndarray, rows: Sequence[tuple[int, int, int]]) -> None:
    """Let steps copy these from now on."""
    numbers = [x for row in rows for x in row]
    struct.pack_into(f"{len(NOTES) + len(numbers)}q", notes.data.cast("B"), 0, len(rows), 0, *numbers)


def notes_ir() -> str:
    """Copies all rows; `%notes` is where they are, `%data` the array of the first. It goes on at `answer`."""
    fields: list[str] = []
    for index, field in enumerate(NOTE):
        load_field(fields, field, index, "%row", "i64" if field == "bytes" else "ptr")
    load = "\n".join(fields)
    return f"""  %rows = load i64, ptr %notes
  %noted = icmp sgt i64 %rows, 0
  br i1 %noted, label %log, label %answer
log:
  %made.at = getelementptr i64, ptr %notes, i64 {NOTES.index("made")}
  %made = load i64, ptr %made.at
  %made.now = add i64 %made, 1
  store i64 %made.now, ptr %made.at
  %first = getelementptr i64, ptr %notes, i64 {len(NOTES)}
  store ptr %data, ptr %first
  br label %note
note:
  %n = phi i64 [ 0, %log ], [ %n.next, %note ]
  %row.index = mul i64 %n, {len(NOTE)}
  %row = getelementptr i64, ptr %first, i64 %row.index
{load}
  call void @llvm.memcpy.p0.p0.i64(ptr %room, ptr %source, i64 %bytes, i1 false)
  %room.next = getelementptr i8, ptr %room, i64 %bytes
  store ptr %room.next, ptr %room.p
  %n.next = add i64 %n, 1
  %n.more = icmp slt i64 %n.next, %rows
  br i1 %n.more, label %note, label %answer
answer:"""
