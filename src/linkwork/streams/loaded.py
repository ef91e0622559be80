"""Trajectories that read from a stream."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..prepared import Prepared
from ..simulate import prepared
from ..spatial.gate import given_path
from ..steppers.stepper import Solution
from ..trajectory import Trajectory
from .checks import check_clipped, check_records
from .file import TALLY, StreamFile
from .head import ASKED, BY_STEPS, EVENTS, call_of, read_from
from .stepwise import adaptive_stream

REPORT = "report."


class StreamedTrajectory(Trajectory):
    """A trajectory in a file, which is read when somebody asks for something.

    path     the file
    model    in place of that of the file, where that does not hold its own
    """

    path: Path
    _own_model: Any

    def __init__(self, path: Path, model: Any = None) -> None:
        self.__dict__.update(path=path, _own_model=model)

    @cached_property
    def _file(self) -> StreamFile:
        return StreamFile(self.path)

    @property
    def complete(self) -> bool:
        """Whether the run came to its end."""
        return self._file.end is not None

    @cached_property
    def _whole(self) -> Trajectory:
        with read_from(self.path):
            return self._read()

    def _read(self) -> Trajectory:
        file = self._file
        ready = prepared(**self._call(file))
        found = _joined(file)
        if "t" not in found:
            raise InputError(f"{self.path} holds no record yet")
        check_records(ready, found, bool(file.head.text.get(BY_STEPS)))
        if file.place is not None:
            check_clipped(ready, file.clipped)
        solution = adaptive_stream(ready).solution(found) if ready.adaptive else self._fixed(ready, found)
        ready.efforts.clipped = file.clipped if file.clipped is not None else ready.efforts.clipped
        ready.notes = (*ready.notes, *self._notes())
        whole = ready.held(solution, self._steps(ready, len(solution.t)))
        steps = self._steps_of_calls(ready, solution.t)
        return whole if steps == whole.every else replace(whole, every=steps)

    def _steps_of_calls(self, ready: Prepared, t: np.ndarray) -> int:
        """How many steps a call of `Simulator.step` made at most, between two records; `every` where no Simulator wrote."""
        if not self._file.head.text.get(BY_STEPS) or len(t) < 2:
            return ready.setting.every
        return max(1, round(float(np.diff(t).max()) / ready.setting.dt))

    def _steps(self, ready: Prepared, records: int) -> Any:
        """What the steps between records add up to, or who can find that; None if there are none, or nobody can."""
        file = self._file
        if ready.setting.every == 1 or records < 2:
            return None
        if any(file.head.text["asked"].values()):
            found = file.tally()
            return found if found is not None and found.is_whole(records - 1, ready.setting.every) else None
        return ready.replay()

    def _call(self, file: StreamFile) -> dict[str, Any]:
        """The arguments of `simulate`; others stand for functions, which the file does not hold."""
        text, arrays = file.head.text, file.head.arrays
        asked = {name: NotHere() for name in ASKED if text["asked"][name]}
        events = (NotHere(),) if text["asked"].get(EVENTS) else None
        return call_of(self.path, text, arrays, self._own_model, **asked, events=events)

    def _fixed(self, ready: Prepared, found: dict[str, np.ndarray]) -> Solution:
        """Records of a run with fixed steps as a solution."""
        file, run = self._file, ready.fixed_run()
        t = found.pop("t")
        count = len(t)
        shaped = {name: found[name].reshape(run.batch, count, -1) for name in run.tails}
        reports = {name[len(REPORT) :]: a for name, a in found.items() if name.startswith(REPORT)}
        tau = _held(found["tau"], count).swapaxes(0, 1) if "tau" in found else None
        inputs = _held(found["inputs"], count) if "inputs" in found else None
        if tau is None and run.tau is not None:
            tau = np.repeat(np.broadcast_to(run.tau.reshape(-1, run.model.nv), (run.batch, run.model.nv))[:, None], count, axis=1)
        if inputs is None and run.driven is not None and run.driven.steady:
            inputs = np.repeat(run.driven.asked(run.start)[None], count, axis=0)
        first = run.tau if "tau" not in found else tau[:, 0] if tau is not None else None
        asked = file.head.text["asked"]["control"] or file.head.text.get(BY_STEPS) or run.tau is not None
        kept = {} if file.place is None else file.place.kept  # of another version that kept less, a run that goes on starts anew
        memory = run.program.remembered(kept, run.dt) if set(run.program.memory) <= set(kept) else {}
        return ready.mapped(run.solution(t, shaped, reports, tau if asked else None, inputs, first, memory))

    def _notes(self) -> list[str]:
        file = self._file
        failed = None if file.end is None else file.end["failure"]
        found = [file.note] if file.note else []
        if file.end is None:
            who = "lw.Simulator.resume" if file.head.text.get(BY_STEPS) else "lw.resume"
            found.append(f"the run in {self.path} is not at its end; {who} continues it")
        return [*found, failed] if failed else found

    def __reduce__(self) -> Any:
        return _in_memory, (self._whole.__getstate__(),)


for _field in fields(Trajectory):
    _read = cached_property(lambda self, name=_field.name: getattr(self._whole, name))
    setattr(StreamedTrajectory, _field.name, _read)
    _read.__set_name__(StreamedTrajectory, _field.name)


class NotHere:
    """Stands for a function that a file does not hold."""

    moves_fibres = True

    def __call__(self, t: float, state: Any = None) -> Any:
        raise InputError(f"what was asked at t = {t:g} is not in the file; lw.resume takes the functions again")


def _in_memory(parts: dict[str, Any]) -> Trajectory:
    """A trajectory of these parts."""
    made = object.__new__(Trajectory)
    made.__setstate__(parts)
    return made


def _joined(file: StreamFile) -> dict[str, np.ndarray]:
    """All records, in one array each."""
    chunks: dict[str, list[np.ndarray]] = {}
    for block in file.blocks():
        for name, a in block.arrays.items():
            if not name.startswith(("kept.", "clipped", f"{TALLY}.", *(f"{n}." for n in ASKED))):
                chunks.setdefault(name, []).append(a)
    state = next(iter(n for n in ("q", "poses") if n in chunks), None)
    batched = state is not None and chunks[state][0].ndim > {"q": 2, "poses": 4}[state]
    first = {"t": 0, "tau": 0, "inputs": 0, EVENTS: 0}
    axes = {name: first.get(name, 1 if batched or name.startswith(REPORT) else 0) for name in chunks}
    return {name: _one(name, a, axes[name]) for name, a in chunks.items()}


def _one(name: str, chunks: list[np.ndarray], axis: int) -> np.ndarray:
    try:
        return np.concatenate(chunks, axis=axis)
    except ValueError:
        shapes = ", ".join(map(str, sorted({a.shape for a in chunks})[:4]))
        raise InputError(f"{name[:40]!r} has blocks of shapes {shapes}; those of one run differ in their records alone") from None


def _held(asked: np.ndarray, count: int) -> np.ndarray:
    """What was asked for from every record on; at the last one what was held before."""
    return np.concatenate([asked, asked[-1:]])[:count]


def load(path: str | Path, model: Any = None) -> Trajectory:
    """The trajectory in a stream, as far as that is whole; see `Trajectory.load`."""
    found = StreamedTrajectory(given_path("Trajectory.load: path", path), model)
    _ = found.t
    return found
