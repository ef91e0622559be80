"""Forward and inverse dynamics: one state from Python, prepared, one at a time in compiled code, batches.

Every engine gets the same random states and answers the same question; that it gives the same answer is checked first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..kernel.plan import Plan
from ..model import Model
from ..model.arrays import SCALAR64
from ..reduced import forward_dynamics, inverse_dynamics
from ..reduced.forward import FORWARD_DYNAMICS
from ..reduced.inverse import INVERSE_DYNAMICS
from . import models
from .report import missing, publish, rows_of
from .timing import FULL, QUICK, Contender, enough_cores, measure

PINOCCHIO_LIMIT, MUJOCO_LIMIT = 200, 100  # links
FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {"forward_dynamics": forward_dynamics, "inverse_dynamics": inverse_dynamics}
ALGORITHMS = {
    "forward_dynamics": (FORWARD_DYNAMICS, ("q", "v", "tau"), "a"),
    "inverse_dynamics": (INVERSE_DYNAMICS, ("q", "v", "a"), "tau"),
}
MUJOCO_NOTE = (
    "mujoco single is mj_forward or mj_inverse called from Python: its whole pipeline of positions, velocities, mass matrix and "
    "factor, not only the accelerations or forces; contacts and constraints are disabled"
)
FLOPS_NOTE = "flops are the sums and products of linkwork's kernels per state, a fused multiply-add is two, sines are not counted"


@dataclass(frozen=True)
class Case:
    """A mechanism and the size of its batches: a few milliseconds of work."""

    name: str
    build: Callable[[], Model]
    batch: int


def _chain(n: int, batch: int) -> Case:
    return Case(f"chain{n}", lambda: models.chain(n), batch)


SMALL = (Case("arm7", models.arm7, 1024), _chain(7, 1024), _chain(20, 512))
CASES = (*SMALL, _chain(100, 128), _chain(1000, 64), _chain(10000, 16))


@dataclass(frozen=True)
class Task:
    """One quantity of one case with its inputs: x is tau or the accelerations."""

    case: Case
    quantity: str
    model: Model
    q: np.ndarray
    v: np.ndarray
    x: np.ndarray

    def contender(self, engine: str, mode: str, run: Callable[[], Any], states: int = 1, threads: int = 1) -> Contender:
        return Contender(self.case.name, self.quantity, engine, mode, threads, run, states)

    @property
    def plan(self) -> Plan:
        """The compiled algorithm for one state at a time, with the one result that is asked for."""
        algorithm, _, result = ALGORITHMS[self.quantity]
        skipped = tuple(name for name in algorithm.results if name != result)
        return self.model.plan(algorithm, SCALAR64, ("run",), ("external", *skipped))


def ours(t: Task) -> Iterator[Contender]:
    """linkwork in all its modes."""
    function, batch = FUNCTIONS[t.quantity], t.case.batch
    yield t.contender("linkwork", "batch64", lambda: function(t.model, t.q, t.v, t.x), batch)
    if enough_cores(2):
        yield t.contender("linkwork", "batch64", lambda: function(t.model, t.q, t.v, t.x, threads=2), batch, 2)
    half = [a.astype(np.float32) for a in (t.q, t.v, t.x)]
    yield t.contender("linkwork", "batch32", lambda: function(t.model, *half), batch)
    yield t.contender("linkwork", "native", native(t), batch)
    one = t.q[0].copy(), t.v[0].copy(), t.x[0].copy()
    yield t.contender("linkwork", "single", lambda: function(t.model, *one))
    prepared = t.model.function(t.quantity)
    yield t.contender("linkwork", "prepared", lambda: prepared(*one))


def native(t: Task) -> Callable[[], None]:
    """One state at a time, in a compiled loop over a batch."""
    _, names, result = ALGORITHMS[t.quantity]
    inputs = {**dict(zip(names, (t.q, t.v, t.x), strict=True)), "gravity": t.model.gravity}
    outputs = {result: np.empty((t.case.batch, t.model.nv))}
    plan = t.plan
    return lambda: plan.run(inputs, outputs, t.case.batch)


def pinocchio(t: Task, pin: Any, pin_model: Any) -> Iterator[Contender]:
    """Pinocchio: a compiled loop over a batch (columns are states), and one state from Python."""
    forward = t.quantity == "forward_dynamics"
    in_parallel, single = (pin.abaInParallel, pin.aba) if forward else (pin.rneaInParallel, pin.rnea)
    q, v, x, out = t.q.T, t.v.T, t.x.T, np.empty((t.case.batch, t.model.nv)).T
    for threads in (1, 2):
        if enough_cores(threads):
            pool = pin.ModelPool(pin_model, threads)
            run = _in_parallel(in_parallel, threads, pool, (q, v, x, out))
            yield t.contender("pinocchio", "batch64", run, t.case.batch, threads)
    data, one = pin_model.createData(), (t.q[0].copy(), t.v[0].copy(), t.x[0].copy())
    yield t.contender("pinocchio", "single", lambda: single(pin_model, data, *one))


def _in_parallel(function: Any, threads: int, pool: Any, arrays: tuple[np.ndarray, ...]) -> Callable[[], None]:
    return lambda: function(threads, pool, *arrays)


def mujoco(t: Task, mj: Any, mj_model: Any) -> Iterator[Contender]:
    """MuJoCo: one state from Python."""
    data = mj.MjData(mj_model)
    forward = t.quantity == "forward_dynamics"
    function, last = (mj.mj_forward, data.qfrc_applied) if forward else (mj.mj_inverse, data.qacc)
    qpos, qvel, one = data.qpos, data.qvel, (t.q[0].copy(), t.v[0].copy(), t.x[0].copy())

    def run() -> None:
        qpos[:], qvel[:], last[:] = one
        function(mj_model, data)

    yield t.contender("mujoco", "single", run)


def contenders(case: Case) -> tuple[list[Contender], dict[tuple[str, str], int], list[str]]:
    """All that is timed for a case, the flops of our kernels, and notes on what is left out."""
    model, notes = case.build(), []
    q, v, x = models.random_states(model, case.batch)
    tasks = [Task(case, quantity, model, q, v, x) for quantity in FUNCTIONS]
    out = [c for t in tasks for c in ours(t)]
    pin, mj = models.peer("pinocchio"), models.peer("mujoco")
    if pin is None:
        notes.append(missing("pinocchio"))
    elif model.nv > PINOCCHIO_LIMIT:
        notes.append(f"{case.name}: no pinocchio: its data holds arrays of nv x nv x nv numbers")
    else:
        pin_model = models.to_pinocchio(model)
        models.require_agreement(model, "pinocchio", models.pinocchio_dynamics(pin_model))
        out += [c for t in tasks for c in pinocchio(t, pin, pin_model)]
    if mj is None:
        notes.append(missing("mujoco"))
    elif model.nv > MUJOCO_LIMIT:
        notes.append(f"{case.name}: no mujoco: it factors the mass matrix, which is dense for a chain")
    else:
        mj_model = models.to_mujoco(model)
        models.require_agreement(model, "mujoco", models.mujoco_dynamics(mj_model))
        out += [c for t in tasks for c in mujoco(t, mj, mj_model)]
    return out, {(case.name, t.quantity): t.plan.flops for t in tasks}, notes


def run(json: Path | None = None, quick: bool = False, cases: tuple[Case, ...] | None = None) -> list[dict[str, Any]]:
    """Time all cases (or those given) and publish the rows."""
    rows: list[dict[str, Any]] = []
    flops: dict[tuple[str, str], int] = {}
    notes: list[str] = []
    for case in cases or (SMALL if quick else CASES):
        group, work, found = contenders(case)
        rows += rows_of(group, measure(group, QUICK if quick else FULL))
        flops |= work
        notes += found
    if any(r["engine"] == "mujoco" for r in rows):
        notes.append(MUJOCO_NOTE)
    return publish("dynamics", rows, json, list(dict.fromkeys([*notes, FLOPS_NOTE])), flops)
