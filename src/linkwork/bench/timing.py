"""Interleaved timing: contenders take turns, the best sample of each counts.

A machine slows down for many reasons and speeds up for none, so the least time of a contender is its own, and turns of a
few milliseconds let every contender meet the same weather. Every turn begins with a run that does not count, so that nobody is
charged for the caches that others have emptied. One thread is measured in its CPU time on one core; several
threads are measured by the clock on the wall, on all cores that the process may use, after all others and engine by
engine, as idle threads of some libraries (OpenMP) wait in a loop.
"""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

SAMPLE = 2_000_000  # ns: long beside the clock's steps and one interrupt, short beside a change of the weather


@dataclass(frozen=True)
class Contender:
    """Something to time: `run()` treats `states` states (or steps)."""

    case: str
    quantity: str
    engine: str
    mode: str
    threads: int
    run: Callable[[], Any]
    states: int


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds, until `seconds` have passed for every contender."""

    rounds: int
    seconds: float


FULL, QUICK = Effort(2000, 1.0), Effort(5, 0.1)


def cores() -> set[int]:
    """The cores that this thread may run on; empty where the system does not say."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


def enough_cores(threads: int) -> bool:
    """Whether so many threads can run at once."""
    return threads <= (len(cores()) or os.cpu_count() or 1)


@contextlib.contextmanager
def running_on(wanted: set[int]) -> Iterator[None]:
    """Only these cores inside, the former ones afterwards; no promise where the system has none."""
    before = cores()
    if before and wanted:
        os.sched_setaffinity(0, wanted)
    try:
        yield
    finally:
        if before:
            os.sched_setaffinity(0, before)


def sample(contender: Contender, repetitions: int, free: set[int]) -> int:
    """Nanoseconds of `repetitions` runs. One thread stays on the last core: interrupts prefer the first."""
    one = contender.threads == 1
    clock, run = time.thread_time_ns if one else time.perf_counter_ns, contender.run
    with running_on({max(free)} if one and free else free):
        run()
        start = clock()
        for _ in range(repetitions):
            run()
        return clock() - start


def repetitions(contender: Contender, free: set[int]) -> int:
    """As many runs as make one sample; also the warm-up, which compiles and allocates."""
    count = 1
    while (ns := sample(contender, count, free)) < SAMPLE:
        count = max(count + 1, min(16 * count, round(1.2 * count * SAMPLE / max(ns, 1))))
    return count


def measure(contenders: Sequence[Contender], effort: Effort) -> list[float]:
    """The least microseconds per state of every contender."""
    best = [float("inf")] * len(contenders)
    collects = gc.isenabled()
    gc.disable()
    try:
        groups: dict[str, list[int]] = {"": []}
        for i, c in enumerate(contenders):
            groups.setdefault("" if c.threads == 1 else c.engine, []).append(i)
        for group in groups.values():
            _take_turns(contenders, group, effort, best)
    finally:
        if collects:
            gc.enable()
    return best


def _take_turns(contenders: Sequence[Contender], group: list[int], effort: Effort, best: list[float]) -> None:
    free = cores()
    counts = {i: repetitions(contenders[i], free) for i in group}
    deadline = time.monotonic() + effort.seconds * len(group)
    for turn in range(effort.rounds):
        for i, count in counts.items():
            c = contenders[i]
            best[i] = min(best[i], sample(c, count, free) / (count * c.states * 1e3))
        if turn and time.monotonic() > deadline:
            break
