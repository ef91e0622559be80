"""Steps of a `Simulator` that are written while it goes on.

A record is what every call of `step` leaves. Records are gathered for a quarter of a second and written as one block, with all
that is needed to go on from the last of them; so a kill takes what was gathered since. The file is a stream as `simulate` writes
it, and says in its head that somebody else asks for the steps.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..errors import InputError, WriteError
from ..steppers.recording import Place
from ..store.blocks import BlockWriter
from . import writing
from .file import END, HEAD, KEPT, RECORDS, StreamFile
from .head import BY_STEPS, call_of, check_versions, head_of
from .loaded import StreamedTrajectory

Parts = dict[str, np.ndarray]


class StepStream:
    """The file of a Simulator.

    batched   whether states have an axis of the batch first
    """

    def __init__(self, writer: BlockWriter, model: Any, batched: bool, records: int) -> None:
        self._writer, self._model, self._axis = writer, model, int(batched)
        self._records = records
        self._gathered: list[Parts] = []
        self._tau: list[np.ndarray] = []
        self._inputs: list[np.ndarray] = []
        self._place: tuple[int, Parts] = (0, {})
        self._clipped: np.ndarray | None = None
        self._due, self._bytes = 0.0, 0

    @staticmethod
    def begun(path: Path, call: dict[str, Any], batched: bool) -> StepStream:
        """A new file for steps with these arguments of `simulate`."""
        text, arrays = head_of(call)
        writer = BlockWriter(writing.free_place(path))
        try:
            writer.write(HEAD, {**text, BY_STEPS: True}, arrays)
        except BaseException:
            writer.close()
            raise
        return StepStream(writer, call["model"], batched, 0)

    @property
    def path(self) -> Path:
        return self._writer.path

    def note(self, now: Parts, tau: np.ndarray | None, inputs: np.ndarray | None, steps: int, kept: Parts, clipped: Any) -> None:
        """One more record, and how it was reached.

        now      the time "t", the parts of the state, and "report." arrays (batch, size)
        tau      joint forces (batch, nv) on the way to it, inputs of forces (inputs,) likewise; None at the start
        steps    that were made until here
        kept     all that the program keeps here
        """
        self._gathered.append({name: np.array(a) for name, a in now.items()})
        if tau is not None:
            self._tau.append(np.array(tau))
        if inputs is not None:
            self._inputs.append(np.array(inputs))
        self._place, self._clipped = (steps, {name: a.copy() for name, a in kept.items()}), clipped
        self._bytes += sum(a.nbytes for a in self._gathered[-1].values())
        if perf_counter() > self._due or self._bytes > writing.ROOM:
            self.flush()

    def flush(self) -> None:
        """Write what was gathered."""
        if not self._gathered:
            return
        first = self._gathered[0]
        arrays = {name: np.stack([x[name] for x in self._gathered], axis=self._axes(name)) for name in first}
        arrays |= {"tau": np.array(self._tau)} if self._tau else {}
        arrays |= {"inputs": np.array(self._inputs)} if self._inputs else {}
        steps, kept = self._place
        arrays |= {f"{KEPT}{name}": a for name, a in kept.items()}
        arrays |= {} if self._clipped is None else {"clipped": self._clipped}
        count, last = len(self._gathered), self._records + len(self._gathered) - 1
        text = {"count": count, "resumable": True, "record": last, "steps": steps, "states": []}
        self._write(RECORDS, text, arrays)
        self._records, self._bytes, self._due = self._records + count, 0, perf_counter() + writing.SECONDS
        self._gathered, self._tau, self._inputs = [], [], []

    def _axes(self, name: str) -> int:
        return 0 if name == "t" else 1 if name.startswith("report.") else self._axis

    def end(self, failure: str | None) -> None:
        """The run is over."""
        self.flush()
        self._write(END, {"failure": failure}, {})
        self._writer.close()

    def let_go(self) -> None:
        """Nobody steps any more, and nobody said that the run is over: write what was gathered."""
        try:
            self.flush()
        except WriteError:  # there is nobody to tell
            pass
        finally:
            self._writer.close()

    def _write(self, kind: str, text: dict[str, Any], arrays: Parts) -> None:
        try:
            self._writer.write(kind, text, arrays)
        except WriteError as error:
            error.trajectory = StreamedTrajectory(self.path, self._model)
            raise


def taken_up(path: Path, model: Any, elsewhere: str) -> tuple[dict[str, Any], Place, np.ndarray | None, BlockWriter, int]:
    """A file of steps that is not at its end: the arguments of `simulate` in its head, where it goes on (after so many records
    and steps), what was clipped until there, who writes on, and how many records there are."""
    file = StreamFile(path)
    if not file.head.text.get(BY_STEPS):
        raise InputError(f"{path} holds a run of simulate; lw.resume(path) continues it")
    if file.end is not None:
        why = file.end["failure"]
        raise InputError(f"{path} is at its end{f' ({why})' if why else ''}; lw.Trajectory.load reads it")
    if file.place is None:
        raise InputError(f"{path} holds no record yet; make the Simulator anew")
    check_versions(path, file.head.text["ran_on"], elsewhere)
    call = call_of(path, file.head.text, file.head.arrays, model)
    return call, file.place, file.clipped, BlockWriter(path, *file.whole_to), file.place.record + 1
