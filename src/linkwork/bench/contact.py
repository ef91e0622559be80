"""Steps of models in contact with friction, beside MuJoCo's `rollout` on one thread, and how well both are solved.

One state (`single`) and 1024 states (`batch1024`) in a call, from fixed states under fixed controls in which contacts act. Single
is the mean of the paths from the first 16 of these states, a call each: two hard steps weigh as much as fifty others, and whether
a path of 100 meets them is luck. Single paths are recorded step by step by both; of a batch linkwork keeps the last states, and
MuJoCo all, as it cannot do otherwise. The quantities of `contact_quality` stand in the rows of the mode `single`. Piles of more
than a few bodies are timed alone, from one state.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from ..errors import LinkworkError
from . import peers
from .blas import one_blas_thread
from .contact_models import CASES, InContact
from .contact_quality import Quality, in_mujoco, mujocos, worst
from .contact_quality import ours as our_quality
from .report import OURS, Progress, Row, missing, publish, require_known, rows_of
from .timing import Contender, Effort, measure

PATHS, STEPS = 16, 100
BATCH, BATCH_STEPS = 1024, 10
THEIR_BATCH = 64  # MuJoCo works through states one by one anyway
FULL, QUICK = Effort(30, 1.5), Effort(2, 0.05)
QUICK_CASES = ("ant", "anymal")
SINGLE, MANY, STEP = "single", f"batch{BATCH}", "step"
LEGEND = (
    "x: how many times longer mujoco takes. Contacts: the mean number of those that push. Penetration (m), slip of contacts that "
    "stick (m/s) and complementarity (m/s) are the largest of the single runs, as is energy: relative to steps 16 times shorter"
)


def rollout(case: InContact, q: np.ndarray, v: np.ndarray, steps: int) -> Callable[[], np.ndarray]:
    """MuJoCo's steps of all states on the calling thread; the array (states, steps, 1 + nq + nv) is overwritten by each call."""
    mj, rollouts = (importlib.import_module(name) for name in ("mujoco", "mujoco.rollout"))
    m, count = case.mujoco, len(q)
    start = np.concatenate([np.zeros((count, 1)), *in_mujoco(case, q, v)], axis=1)
    state, control = np.empty((count, steps, start.shape[1])), np.tile(case.control, (count, steps, 1))
    data, pool, all_models = mj.MjData(m), rollouts.Rollout(nthread=0), [m] * count

    def run() -> np.ndarray:
        pool.rollout(all_models, [data], start, control, nstep=steps, state=state, skip_checks=True)
        return state

    return run


def in_turn(runs: Sequence[Callable[[], Any]]) -> Callable[[], None]:
    """One run after the other."""

    def run() -> None:
        for each in runs:
            each()

    return run


def contenders(name: str, case: InContact) -> tuple[list[Contender], dict[str, Quality]]:
    """What is timed, and how well each engine solves the single runs."""
    q, v = case.states(2 if case.alone else BATCH)
    few, paths = slice(0, THEIR_BATCH), range(1 if case.alone else PATHS)
    runs: list[tuple[str, str, Callable[[], Any], int]] = [
        (OURS, SINGLE, in_turn([lambda k=k: case.run(q[k], v[k], STEPS, 1) for k in paths]), len(paths) * STEPS),
        ("mujoco", SINGLE, in_turn([rollout(case, q[k : k + 1], v[k : k + 1], STEPS) for k in paths]), len(paths) * STEPS),
    ]
    if not case.alone:
        runs += [
            (OURS, MANY, lambda: case.run(q, v, BATCH_STEPS, BATCH_STEPS), BATCH * BATCH_STEPS),
            ("mujoco", MANY, rollout(case, q[few], v[few], BATCH_STEPS), THEIR_BATCH * BATCH_STEPS),
        ]
    group = [Contender(name, STEP, engine, mode, 1, run, count) for engine, mode, run, count in runs]
    solved = {OURS: our_quality, "mujoco": mujocos}
    return group, {engine: worst([of(case, q[k], v[k], STEPS) for k in paths]) for engine, of in solved.items()}


def contact_table(rows: Sequence[Row]) -> Table:
    """Two lines per case: linkwork and MuJoCo."""
    out = Table(title="contact: microseconds per step and state")
    for column in ("case", "engine"):
        out.add_column(column, no_wrap=True)
    for column in (SINGLE, "x", MANY, "x", *Quality._fields):
        out.add_column(column, justify="right")
    us = {(r["case"], r["engine"], r["mode"]): r for r in rows}
    for case in dict.fromkeys(r["case"] for r in rows):
        for engine in (OURS, "mujoco"):
            cells = []
            for mode in (SINGLE, MANY):
                if (case, engine, mode) not in us:
                    cells += ["", ""]
                    continue
                own, other = us[case, engine, mode]["us"], us[case, "mujoco", mode]["us"]
                cells += [f"{own:.4g}", f"{other / own:.2g}" if engine == OURS else ""]
            quality = [us[case, engine, SINGLE][key] for key in Quality._fields]
            out.add_row(case, engine, *cells, *(f"{x:.2g}" for x in quality), end_section=engine != OURS)
    return out


def run(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> list[Row]:
    """Time the cases and publish the rows."""
    require_known(cases, CASES)
    rows: list[Row] = []
    notes, progress = [LEGEND], Progress()
    if peers.module("mujoco") is None:
        return publish("contact", rows, json, [missing("mujoco", "it reads the models, and nothing is measured without it")])
    with one_blas_thread():
        for name in cases or (QUICK_CASES if quick else CASES):
            with progress.line(name):
                progress.say("building")
                try:
                    group, quality = contenders(name, CASES[name]())
                except LinkworkError as error:
                    notes.append(f"left out, {name}: {error}")
                    continue
                progress.say(f"measuring {len(group)} functions")
                found = rows_of(group, measure(group, QUICK if quick else FULL))
                rows += [r | (quality[r["engine"]]._asdict() if r["mode"] == SINGLE else {}) for r in found]
    return publish("contact", rows, json, notes, parts={"contact": []}, tables=[contact_table(rows)] if rows else [])
