"""Many runs of one model: a design says which, a measure what is kept of each.

Runs that differ in numbers only are packed into lanes (`packs`), chunk by chunk; chunks go to threads, processes or a Ray cluster
(`places`), and what they find is written as it arrives (`results`): a study that was killed goes on where it was.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..model import Model, State
from ..simulate import step_count
from ..spatial.gate import given_count, given_path, given_positive, given_truth, known_keywords
from .design import Design
from .places import here, in_processes, on_cluster
from .results import FAILURE, RUN, Store, described
from .work import Rows, Runs, Work


class Study:
    """What a study found: columns of the design and of the measures, a row for every run.

    columns    by name, (runs,) or (runs, size); "run" is the number of the run, "failure" what went wrong in it, or ""
    design     the names of the columns that were given;  measures  of those that were found

    >>> found = lw.study(model, lw.Design({"lower.mass": [0.5, 1.0]}), lambda run: {"last": run.q[:, 0].max()}, duration=0.1)
    >>> found["last"].shape
    (2,)
    """

    def __init__(self, design: Design, found: Mapping[str, np.ndarray]) -> None:
        self.design, self.columns = tuple(design.columns), dict(found)
        self.measures = tuple(name for name in found if name not in (*self.design, RUN, FAILURE))

    def __len__(self) -> int:
        return len(self.columns[RUN])

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise InputError(f"the study has no column {name!r}; it has {', '.join(self.columns)}")
        return self.columns[name]

    @property
    def failed(self) -> np.ndarray:
        """The numbers of the runs that went wrong."""
        return np.flatnonzero(self.columns[FAILURE] != "")

    def frame(self) -> Any:
        """A pandas DataFrame, arrays as a column for every entry."""
        try:
            import pandas  # pyright: ignore[reportMissingImports]
        except ModuleNotFoundError:
            raise InputError("study.frame() needs pandas; install it with: pip install pandas, or use study.columns") from None
        flat: dict[str, np.ndarray] = {}
        for name, x in self.columns.items():
            if x.ndim > 1:
                flat |= {f"{name}[{k}]": part for k, part in enumerate(x.reshape(len(x), -1).T)}
            else:
                flat[name] = x
        return pandas.DataFrame(flat)

    def plot(self, *measures: str) -> Any:
        """A figure: every measure against every column that was varied; the figure of matplotlib."""
        from .plots import plotted

        return plotted(self, measures or self.measures)

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} of them failed" if len(self.failed) else ""
        return f"Study of {len(self)} runs{failed}: {', '.join(self.design)} -> {', '.join(self.measures)}"


@known_keywords
def study(
    model: Model,
    design: Design | Mapping[str, Any],
    measure: Callable[..., Any] | None = None,
    *,
    duration: float,
    dt: float = 1e-3,
    state: State | Callable[[Rows], State] | None = None,
    control: Callable[[Rows], Callable[[float, State], Any]] | None = None,
    method: str = "reduced",
    stepper: str | None = None,
    every: int | None = None,
    together: bool = False,
    out: str | Path | None = None,
    processes: int = 1,
    threads: int | None = None,
    cluster: bool | str = False,
    chunk: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Study:
    """Simulate a model many times with other numbers, initial states, controllers and seeds, and measure every run.

    >>> design = lw.Design.sobol({"q[0]": (-0.5, 0.5), "upper.mass": (0.5, 2.0)}, 64)
    >>> study = lw.study(model, design, lambda run: {"height": run.q[:, 0].max()}, duration=0.1)
    >>> study["height"].shape
    (64,)

    design    which runs there are, a `Design` or a table {column: values}. Columns are "LAW.number", "BODY.mass" (com, tensor,
              armature, damping), "BODY.com[0]", "BODY.SHAPE.friction", "gravity[2]", "q[3]", "v[0]", "BODY.q", "BODY.v"; any
              other word is for the functions below
    measure   `measure(trajectory)`, or `measure(trajectory, row)` with the row of the design, returns a number or {name: number};
              arrays count too. The last q and v if None
    state     where runs start, unless columns say otherwise: a State, or `state(columns)`, the states of some runs; at rest
              in the neutral position by default
    control   `control(columns)` returns a control `(t, state) -> tau` of some runs at once, (runs, nv)
    every     record every so many steps; only the last if there is no measure
    together  the measure is called once for many runs, with `Runs`: arrays (runs, T, ...). Saves the time of a call for each
    out       NAME.parquet. Written while the study runs: a study that was killed goes on where it was when it is started again
    processes of this machine, for controls and measures that take long in Python
    threads   for the compiled code; all cores by default
    cluster   True: a local Ray cluster, or the one that this program is connected to;  an address: that one
    chunk     runs that are made together
    progress  whether to show a bar; by default where there is somebody to see it
    duration, dt, method, stepper, options   as `simulate` has them

    Results depend on none of processes, threads, cluster and chunk. A run whose motion is not finite has no measures; its column
    "failure" says why.
    """
    made = design if isinstance(design, Design) else Design(design)
    duration, dt = given_positive("duration", duration), given_positive("dt", dt)
    steps = step_count(duration, dt)
    every = (steps if measure is None else 1) if every is None else every
    every, processes = given_count("every", every), given_count("processes", processes)
    if steps % every:
        raise InputError(f"every must be a positive integer that divides the {steps} steps, not {every!r}")
    chunk = None if chunk is None else given_count("chunk", chunk)
    if not isinstance(model, Model):
        raise InputError(f"a study needs a Model, not a {type(model).__name__}")
    for name, f in (("measure", measure), ("control", control)):
        if f is not None and not callable(f):
            raise InputError(f"{name} must be a function, not {f!r}")
    own_threads = 1 if processes > 1 or cluster else threads
    work = Work(model, made, measure, state, control, together, duration, dt, method, stepper, every, own_threads, options)
    work.check()
    size = work.chunk_size(chunk)
    store = None if out is None else Store(given_path("out", out), described(work, size))
    if store is not None and store.finished:
        return Study(made, store.columns())
    return Study(made, _made(work, size, store, processes, cluster, progress))


def _made(work: Work, size: int, store: Store | None, processes: int, cluster: bool | str, progress: bool | None) -> Rows:
    """All runs, made and kept."""
    runs = work.design.runs
    chunks = [(k, np.arange(first, min(first + size, runs))) for k, first in enumerate(range(0, runs, size))]
    there = store.done() if store is not None else set()
    left = [own for own in chunks if own[0] not in there]
    found: dict[int, Rows] = {}
    with _bar(runs, sum(len(which) for k, which in chunks if k in there), progress) as advance:
        for number, measured in _placed(work, left, processes, cluster):
            which = chunks[number][1]
            rows = {RUN: which, **work.design.rows(which), **measured}
            if store is None:
                found[number] = rows
            else:
                store.add(number, rows)
            advance(len(which))
    if store is not None:
        store.finish()
        return store.columns()
    return joined([found[k] for k, _ in chunks])


def _placed(work: Work, chunks: Any, processes: int, cluster: bool | str) -> Iterator[Any]:
    if cluster:
        return on_cluster(work, chunks, cluster if isinstance(cluster, str) else None)
    return in_processes(work, chunks, processes) if processes > 1 else here(work, chunks)


def joined(parts: list[Rows]) -> Rows:
    """Chunks one after the other; a measure that a chunk lacks, as all of its runs failed, is no number there."""
    names = max(parts, key=len)
    tails = {name: next(p[name].shape[1:] for p in parts if name in p) for name in names}
    return {
        name: np.concatenate([p[name] if name in p else np.full((len(p[RUN]), *tail), np.nan) for p in parts])
        for name, tail in tails.items()
    }


@contextmanager
def _bar(runs: int, done: int, progress: bool | None) -> Iterator[Callable[[int], None]]:
    """A bar with the time that is left."""
    if not (sys.stderr.isatty() if progress is None else given_truth("study: progress", progress)):
        yield lambda n: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    shown = (TextColumn("study"), BarColumn(), MofNCompleteColumn(), TextColumn("runs"), TimeRemainingColumn())
    with Progress(*shown, console=Console(stderr=True)) as bar:
        task = bar.add_task("study", total=runs, completed=done)
        yield lambda n: bar.advance(task, n)


__all__ = ["Runs", "Study", "study"]
