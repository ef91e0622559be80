"""Runs that write their records while they run.

Every part of a run takes a quarter of a second; then its records are written as one block, with everything that the run needs to
go on from there. Whoever kills the process loses the part that was being computed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, WriteError
from ..prepared import Prepared, delivered
from ..replay import StepReplay
from ..simulate import prepared
from ..spatial.gate import given_path
from ..steppers.fixed import FixedRun
from ..steppers.recording import Place
from ..steppers.stepper import Solution
from ..store.blocks import BlockWriter
from ..store.objects import encode_for_file
from ..tally import Tally, as_data
from ..trajectory import Trajectory
from .adaptive import Write
from .file import END, HEAD, KEPT, RECORDS, TALLY, StreamFile
from .head import ASKED, head_of, parts
from .loaded import StreamedTrajectory
from .stepwise import adaptive_stream

SECONDS = 0.25  # of a part of a run
ROOM = 1 << 24  # bytes of records of a part, at most
SUFFIX = ".lwk"


def stream(call: dict[str, Any], out: str | Path) -> Trajectory:
    """Simulate with these arguments, and write to a file; the trajectory reads from it."""
    path = free_place(given_path("out", out))
    ready = prepared(**call)
    if ready.adaptive:
        adaptive_stream(ready)  # raises where it cannot be
    text, arrays = head_of(call)
    writer = BlockWriter(path)
    ready.warn()
    try:
        writer.write(HEAD, text, arrays)
        return written(ready, writer, call, None)
    finally:
        writer.close()


def free_place(path: Path) -> Path:
    """A path at which a stream may begin; raises where there is something to lose."""
    if path.suffix.lower() != SUFFIX:
        raise InputError(f"out must be a file {SUFFIX}, not {path.name!r}")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {path.parent}; create it first")
    if not path.exists():
        return path
    try:
        found = StreamFile(path)
    except InputError as error:
        if "no run" not in str(error):
            raise InputError(f"{path} exists and is no stream of a run; choose another file, or delete it") from None
    else:
        if found.end is None:
            raise InputError(f"{path} holds a run that is not at its end; lw.resume continues it, or delete it")
    try:
        path.unlink()
    except OSError as error:
        raise WriteError.of(path, error) from error
    return path


def written(ready: Prepared, writer: BlockWriter, call: dict[str, Any], place: Place | None) -> Trajectory:
    """The rest of a run from a place on, part by part."""

    def write(
        end: Place, records: dict[str, np.ndarray], kept: dict[str, np.ndarray], resumable: bool, steps: Tally | None = None
    ) -> bool:
        return _write(writer, ready, call, end, records, kept if resumable else None, steps)

    failure, stopped = None, True
    try:
        if ready.adaptive:
            failure, stopped = adaptive_stream(ready).walk(place, ROOM, SECONDS, write)
        else:
            failure, stopped = _walk(ready, place, write)
        if not stopped:
            writer.write(END, {"failure": failure}, {})
    except KeyboardInterrupt:
        stopped = True
    except WriteError as error:
        error.trajectory = StreamedTrajectory(writer.path, call["model"])
        raise
    words = f"; lw.resume({str(writer.path)!r}) continues it" if stopped else ""
    return delivered(StreamedTrajectory(writer.path, call["model"]), failure, words)


def _walk(ready: Prepared, place: Place | None, write: Write) -> tuple[str | None, bool]:
    """Go on from a place to the end with fixed steps: why it was not reached, and whether somebody pressed Ctrl-C.

    Where Python is asked, the steps between records are looked at after every part, as nobody can ask for the same again.
    """
    run, failure, stopped = ready.fixed_run(), None, False
    replay = ready.replay(place) if run.asks(ready.control) else None
    run.noted = replay.note if isinstance(replay, StepReplay) else None

    def kept(end: Place) -> dict[str, np.ndarray]:
        return {name: end.kept[name] for name in run.program.states}

    if place is None:
        place = run.begin
        stopped = write(place, _first(run), kept(place), True)
    while place.record < run.records and not stopped:
        part = run.part(place, max(1, ROOM // run.record_bytes), SECONDS)
        found = part.solve(ready.control)
        failure = failure or found.failure
        end = Place(place.record + part.end.record, part.end.steps, part.end.kept)
        lost = found.failure is not None and _nothing_moves(run, found)
        new = _records(part, found, slice(1, None))
        steps = None
        if isinstance(replay, StepReplay):
            replay.look(max(end.record * run.every + end.steps, (place.record + len(new["t"])) * run.every))
            steps = replay.taken()
        stopped = write(end, new, kept(end), not lost and len(new["t"]) == part.end.record, steps) or found.stopped
        if lost:
            break
        place = end
    return failure, stopped


def _nothing_moves(run: FixedRun, found: Solution) -> bool:
    """Whether a run that failed is at its end: of a batch the others go on."""
    return not run.batched or not np.isfinite(found.arrays["v" if "v" in found.arrays else "twists"][:, -1]).any()


def _first(run: FixedRun) -> dict[str, np.ndarray]:
    """The first record: the start."""
    found = {name: run.parts[name].reshape(_shape(run, 1) + tail) for name, tail in run.tails.items()}
    sizes = run.program.report_sizes(run.model)
    return {"t": np.array([run.start.t]), **found, **{f"report.{name}": np.zeros((run.batch, 1, n)) for name, n in sizes.items()}}


def _shape(run: FixedRun, count: int) -> tuple[int, ...]:
    return (run.batch, count) if run.batched else (count,)


def _records(run: FixedRun, found: Solution, some: slice) -> dict[str, np.ndarray]:
    """The records that a part found."""
    axis = (slice(None), some) if run.batched else (some,)
    arrays = {name: a[axis] for name, a in found.arrays.items()}
    arrays |= {f"report.{name}": a[:, some] for name, a in run.reported.items()}
    tau, inputs = run.asked
    arrays |= {"tau": tau} if len(tau) else {}
    return {"t": found.t[some], **arrays, **({"inputs": inputs} if len(inputs) else {})}


def _write(
    writer: BlockWriter,
    ready: Prepared,
    call: dict[str, Any],
    end: Place,
    records: dict[str, np.ndarray],
    kept: dict[str, np.ndarray] | None,
    steps: Tally | None = None,
) -> bool:
    """Write a block of records, with where the run goes on from: whether Ctrl-C was pressed meanwhile.

    kept    what the program keeps there; None where the run cannot go on from there
    steps   what the steps until there, from the block before, add up to; None where that can be found again
    """
    text: dict[str, Any] = {"count": len(records["t"]), "resumable": kept is not None, "record": end.record, "steps": end.steps}
    arrays = dict(records)
    text["states"] = []
    if steps is not None:
        text[TALLY], found = as_data(steps)
        arrays |= {f"{TALLY}.{name}": a for name, a in found.items()}
    if kept is not None:
        arrays |= {f"{KEPT}{name}": a for name, a in kept.items()}
        arrays |= {} if ready.efforts.clipped is None else {"clipped": ready.efforts.clipped}
        for name in ASKED:
            asked = getattr(call[name], "state", None)
            if callable(asked):
                data = encode_for_file(asked())
                text["states"].append(name)
                text[name] = data.tree
                arrays |= parts(data, name)
    try:
        writer.write(RECORDS, text, arrays)
    except KeyboardInterrupt:
        writer.write(RECORDS, text, arrays)
        return True
    return False
