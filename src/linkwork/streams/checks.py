"""What records and places of a stream must be, for a run that was prepared: shapes are looked at before they are used."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import InputError, LinkworkError
from ..prepared import Prepared
from ..steppers.fixed import FixedRun
from ..steppers.recording import Place

REPORT = "report."
SAME_TIME = 1e-3  # of a step
Shape = tuple[int | None, ...]  # None: any number


def check_records(ready: Prepared, found: Mapping[str, np.ndarray], by_steps: bool) -> None:
    """Raise unless all records, joined, have the times and shapes of such a run; a Simulator is told when to step."""
    t, its = found["t"], ready.setting
    _check("t", t, (None,))
    if not np.isfinite(t).all() or np.any(np.diff(t) <= 0.0):
        raise InputError(f"its {len(t)} times must be finite, and increase")
    if by_steps and its.every != 1:
        raise InputError(f"a Simulator records every call of step, not every {its.every} steps")
    if not by_steps:
        due = its.times(ready.start.t, 0, min(len(t), its.records + 1) - 1)
        last = len(t) - 1 if ready.adaptive else len(t)  # an event may end a run before its next record
        if len(t) > len(due) or np.abs(t - due)[:last].max(initial=0.0) > SAME_TIME * its.dt:
            raise InputError(f"its {len(t)} times are not those of {its.records} records, {its.dt * its.every:g} s apart")
    for name, shape in _shapes(ready, len(t)).items():
        if name not in found:
            raise InputError(f"it has no {name!r}")
        _check(name, found[name], shape)
    known = {**_shapes(ready, len(t)), **_optional(ready, len(t)), "t": (None,)}
    for name, a in found.items():
        if name not in known:
            raise InputError(f"runs of this kind have no {name[:40]!r}")
        _check(name, a, known[name])
    for name in ("tau", "inputs"):
        if name in found and not len(t) - 1 <= len(found[name]) <= len(t):
            raise InputError(f"{name!r} has {len(found[name])} entries for {len(t)} records")


def _shapes(ready: Prepared, count: int) -> dict[str, Shape]:
    """Of what every record has."""
    model = ready.model
    if ready.adaptive:
        lead = ready.start.v.shape[:-1]  # type: ignore[union-attr]
        return {"q": (*lead, count, model.nq), "v": (*lead, count, model.nv)}
    run = ready.fixed_run()
    lead = (run.batch, count) if run.batched else (count,)
    return {name: (*lead, *tail) for name, tail in run.tails.items()} | _reports(run, count)


def _reports(run: FixedRun, count: int) -> dict[str, Shape]:
    return {f"{REPORT}{name}": (run.batch, count, size) for name, size in run.program.report_sizes(run.model).items()}


def _optional(ready: Prepared, count: int) -> dict[str, Shape]:
    """Of what records may have besides."""
    model, start = ready.model, ready.start
    q = start.q if ready.kind == "reduced" else start.q_fit  # type: ignore[union-attr]
    batch = 1 if q.ndim == 1 else len(q)
    asked: dict[str, Shape] = {
        "tau": (None, batch, model.nv),
        "inputs": (None, None) if not ready.adaptive else (None, batch, None),
    }
    if not ready.adaptive:
        return asked
    return asked | {"events": (None, 2 + model.nq + model.nv), f"{REPORT}modes": (batch, count - 1, None)}


def check_clipped(ready: Prepared, clipped: np.ndarray | None) -> None:
    """Raise unless this says of every joint velocity how often an effort was clipped."""
    if clipped is not None:
        _check("clipped", clipped, (ready.model.nv,))


def check_place(ready: Prepared, place: Place) -> None:
    """Raise unless a run with fixed steps can go on from a place."""
    run = ready.fixed_run()
    check_kept(place, {name: run.begin.kept[name] for name in run.program.states}, run.records, run.every)


def check_kept(
    place: Place, kept: Mapping[str, np.ndarray], records: int, every: int = 1, optional: Collection[str] = ()
) -> None:
    """Raise unless a place lies within a run, and keeps arrays like these; those of `optional` names, which a run has only after
    its first record, are a row for every state, whose length the plan checks."""
    if not (0 <= place.record <= records and 0 <= place.steps < max(1, every)):
        raise InputError(f"it goes on after record {place.record} and {place.steps} steps; the run has {records} records")
    later = {name: a for name, a in place.kept.items() if name in optional and name not in kept}
    for name, a in later.items():
        _check(name, a, (len(next(iter(kept.values()))), None))
    check_like({name: a for name, a in place.kept.items() if name not in later}, kept)


def check_like(found: Mapping[str, np.ndarray], kept: Mapping[str, np.ndarray]) -> None:
    """Raise unless these are arrays of the same names and shapes as those that a run keeps."""
    if set(found) != set(kept):
        raise InputError(f"it keeps {', '.join(sorted(found))[:200]}; the run goes on from {', '.join(sorted(kept))}")
    for name, a in found.items():
        _check(name, a, kept[name].shape)


@contextmanager
def restoring() -> Iterator[None]:
    """Whatever goes wrong while a run takes up what a file keeps says so."""
    try:
        yield
    except LinkworkError:
        raise
    except Exception as error:
        raise InputError(f"the run cannot go on from what its file keeps: {type(error).__name__}: {error}") from error


def _check(name: str, a: Any, shape: Shape) -> None:
    fits = a.ndim == len(shape) and all(n is None or n == m for n, m in zip(shape, a.shape, strict=True))
    if not fits or a.dtype.kind not in "fi":
        words = " x ".join("any" if n is None else str(n) for n in shape) or "no"
        raise InputError(f"{name[:40]!r} has {a.dtype} of shape {a.shape}; numbers of {words} entries are needed")
