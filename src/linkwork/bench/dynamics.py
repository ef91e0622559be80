"""Forward and inverse dynamics and mass matrices: one state from Python, prepared, one at a time in compiled code, batches.

Every engine gets the same random states and answers the same question; that it gives the same answer is checked first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..model import Model
from ..model.model import FUNCTIONS
from . import models, peers
from .peers import Peer
from .quantities import QUANTITIES, Quantity, States
from .report import PINOCCHIO_RATIOS, Progress, missing, publish, require_known, rows_of
from .timing import FULL, QUICK, Contender, enough_cores, measure

MATRIX_LIMIT = 200  # degrees of freedom
MATRIX_NUMBERS = 2**18  # in a batch of mass matrices: 2 MB stay in the cache that engines share
MATRIX_NOTE = (
    "pinocchio has no function for a batch of mass matrices: its batch64 is a loop of pin.crba in Python, with the cost of the "
    "calls, that keeps no matrix; linkwork's batch64 and native return all of them. Both engines fill both triangles"
)
MUJOCO_NOTE = (
    "mujoco single is mj_forward or mj_inverse called from Python: its whole pipeline of positions, velocities, mass matrix and "
    "factor, not only the accelerations or forces; contacts and constraints are disabled"
)
CLOCK_NOTE = (
    "one thread is measured in its CPU time on one core, two threads by the wall clock: they need a machine without other work"
)
FLOPS_NOTE = "flops are the sums and products of linkwork's kernels per state, a fused multiply-add is two, sines are not counted"


@dataclass(frozen=True)
class Case:
    """A mechanism and the size of its batches: about half a millisecond of work."""

    name: str
    build: Callable[[], Model]
    batch: int


def _robot(name: str, batch: int) -> Case:
    return Case(name, lambda: models.robot(name), batch)


def _chain(n: int, batch: int) -> Case:
    return Case(f"chain{n}", lambda: models.chain(n), batch)


CASES = (
    _robot("panda", 4096),
    _robot("solo12", 2048),
    _robot("anymal", 2048),
    _robot("talos", 1024),
    Case("arm7", models.arm7, 4096),
    _chain(7, 4096),
    _chain(10, 4096),
    _chain(100, 512),
    _chain(1000, 64),
    _chain(10000, 16),
)
SMALL = ("panda", "solo12", "chain10", "chain100")


def chosen(names: Sequence[str], quick: bool) -> list[Case]:
    """The cases of these names; without names all, or the small ones if quick."""
    known = {case.name: case for case in CASES}
    require_known(names, known)
    return [known[name] for name in dict.fromkeys(names or (SMALL if quick else known))]


def available(cases: Sequence[Case]) -> tuple[list[Case], list[str]]:
    """The cases that can be built here, and a note on the others."""
    if models.robots_folder() is not None:
        return list(cases), []
    lost = [case.name for case in cases if case.name in models.ROBOTS]
    notes = [missing(models.ROBOTS_PACKAGE, f"no {', '.join(lost)}")] if lost else []
    return [case for case in cases if case.name not in lost], notes


@dataclass(frozen=True)
class Task:
    """One quantity of one case, with a batch of states."""

    case: Case
    quantity: Quantity
    model: Model
    states: States

    @property
    def batch(self) -> int:
        return len(self.states["q"])

    def contender(self, engine: str, mode: str, run: Callable[[], Any], states: int = 1, threads: int = 1) -> Contender:
        return Contender(self.case.name, self.quantity.name, engine, mode, threads, run, states)


def tasks_of(case: Case, model: Model) -> tuple[list[Task], list[str]]:
    """The quantities of a case with their states, and notes on what is left out."""
    states, tasks, notes = models.random_states(model, case.batch), [], []
    for quantity in QUANTITIES:
        count = case.batch
        if quantity.result == "M":
            if model.nv > MATRIX_LIMIT:
                notes.append(f"{case.name}: no {quantity.name}: it has nv x nv numbers")
                continue
            count = min(count, MATRIX_NUMBERS // model.nv**2 // 16 * 16)
        tasks.append(Task(case, quantity, model, {name: x[:count] for name, x in states.items()}))
    return tasks, notes


def ours(t: Task) -> Iterator[Contender]:
    """linkwork in all its modes."""
    inputs = t.quantity.of(t.states)
    call = partial(t.quantity.function, t.model)
    yield t.contender("linkwork", "batch64", partial(call, *inputs), t.batch)
    if enough_cores(2):
        yield t.contender("linkwork", "batch64", partial(call, *inputs, threads=2), t.batch, 2)
    yield t.contender("linkwork", "batch32", partial(call, *(x.astype(np.float32) for x in inputs)), t.batch)
    yield t.contender("linkwork", "native", t.quantity.native(t.model, t.states), t.batch)
    one = [x[0].copy() for x in inputs]
    yield t.contender("linkwork", "single", partial(call, *one))
    if t.quantity.name in FUNCTIONS:
        yield t.contender("linkwork", "prepared", partial(t.model.function(t.quantity.name), *one))


def theirs(t: Task, peer: Peer) -> Iterator[Contender]:
    """A peer on the same states in its own layout: batches, if it has them, and one state from Python."""
    if t.quantity.name not in peer.functions:
        return
    inputs = t.quantity.of(peer.layout(t.states))
    for threads in (1, 2):
        run = peer.batch(t.quantity.name, inputs, np.empty((t.batch, t.model.nv)), threads) if enough_cores(threads) else None
        if run is not None:
            yield t.contender(peer.name, "batch64", run, t.batch, threads)
    yield t.contender(peer.name, "single", partial(peer.functions[t.quantity.name], *(x[0].copy() for x in inputs)))


def peers_of(case: Case, model: Model) -> tuple[list[Peer], list[str]]:
    """The peers that are installed, fit the case and agree with us, and notes on the others."""
    found: list[Peer] = []
    notes = []
    for kind in peers.PEERS:
        if peers.module(kind.name) is None:
            notes.append(missing(kind.name))
        elif model.nv > kind.limit:
            notes.append(f"{case.name}: no {kind.name}: {kind.beyond}")
        else:
            found.append(kind(model))
            peers.require_agreement(model, found[-1])
    return found, notes


def contenders(case: Case) -> tuple[list[Contender], dict[tuple[str, str], int], list[str]]:
    """All that is timed for a case, the flops of our kernels, and notes on what is left out."""
    model = case.build()
    tasks, notes = tasks_of(case, model)
    rivals, more = peers_of(case, model)
    group = [c for t in tasks for c in (*ours(t), *(c for peer in rivals for c in theirs(t, peer)))]
    return group, {(case.name, t.quantity.name): t.quantity.plan(model).flops for t in tasks}, notes + more


def run(json: Path | None = None, quick: bool = False, cases: Sequence[Case] = CASES) -> list[dict[str, Any]]:
    """Time the cases and publish the rows."""
    rows: list[dict[str, Any]] = []
    flops: dict[tuple[str, str], int] = {}
    cases, notes = available(cases)
    progress = Progress()
    for case in cases:
        with progress.line(case.name):
            progress.say("building")
            group, work, found = contenders(case)
            progress.say(f"measuring {len(group)} functions")
            rows += rows_of(group, measure(group, QUICK if quick else FULL))
        flops |= work
        notes += found
    return publish("dynamics", rows, json, [*dict.fromkeys(notes), *explanations(rows, cases)], flops, PINOCCHIO_RATIOS)


def explanations(rows: Sequence[dict[str, Any]], cases: Sequence[Case]) -> Iterator[str]:
    """What a reader must know about the rows."""
    if any(r["engine"] == "pinocchio" and r["quantity"] == "mass_matrix" for r in rows):
        yield MATRIX_NOTE
    if any(r["engine"] == "mujoco" for r in rows):
        yield MUJOCO_NOTE
    if any(r["threads"] > 1 for r in rows):
        yield CLOCK_NOTE
    if cases:
        sizes = ", ".join(f"{case.name} {case.batch}" for case in cases)
        yield f"states in a batch: {sizes}; fewer mass matrices, {MATRIX_NUMBERS:,} numbers at most"
        yield FLOPS_NOTE
