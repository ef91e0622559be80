"""The records that Python fills and compiled code reads: 64-bit fields, one after the other."""

from __future__ import annotations

JOB = (
    "segments",
    "segment_count",
    "bases",
    "input_count",
    "inputs",
    "output_count",
    "outputs",
    "next",  # address of the number of the next state to take; threads may share it
    "end",
    "chunk",  # states taken at a time
    "records",
    "every",
    "order",  # address of the numbers of the states, in the order in which they are taken; null: one after the other
    "odd",  # address of a number that becomes 1 if a number is not finite or a quaternion not unit; null: nobody looks
    "units",  # addresses in the lanes of all unit quaternions
    "unit_count",
)
# Of inputs and outputs; strides in bytes. map: for every scalar of an output its place in the lanes, or null
TRANSFER = ("lanes", "memory", "count", "stride", "record_stride", "map")
# guard: number of an array or -1, and the place of a scalar in it (bytes): zero in every lane, the segment is passed over
SEGMENT = ("kernel", "entries", "nodes", "guard", "guard_at")


def load_field(lines: list[str], name: str, index: int, base: str = "%job", kind: str = "i64") -> None:
    """Append the lines that load a field of a record as `%name`."""
    lines.append(f"  %{name}.p = getelementptr i64, ptr {base}, i64 {index}")
    lines.append(f"  %{name} = load {kind}, ptr %{name}.p")
