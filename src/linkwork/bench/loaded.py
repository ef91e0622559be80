"""Steps of models under loads: springs, drives, limits, loops, contacts, muscles; beside MuJoCo and, for loops, Pinocchio.

Each mechanism is stepped bare and under each load, by `lw.simulate` with its default method and stepper, in steps of 1 ms: one
state (`single`) and 1024 states (`batch1024`) in a call. MuJoCo's `rollout` does the same on the calling thread, state after
state. A single run is one second, 1000 steps, for all engines: what a user asks for, and so long that the call itself, which the
case `simulator` times, is a few hundredths of it. A batch makes 20 steps, 20480 in all. A run that would take more than 50 ms
has fewer.

By default linkwork evaluates velocity terms twice in a step (quantity `step`); with one evaluation, as MuJoCo's steps have, it is
the quantity `step_one_evaluation`, and both are compared. Single paths are recorded step by step by all; of a batch linkwork
keeps the last states, and MuJoCo all, as it cannot do otherwise: it copies them into one array. Pinocchio has no steps: its time
is that of `constraintDynamics`, called from Python.

Before anything is timed, the trees must agree, and so must accelerations where a load means the same to both.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from ..constraints import Loop
from ..errors import InputError, LinkworkError
from ..model import State
from ..reduced import forward_dynamics
from ..simulate import simulate
from ..spatial.gate import meant
from . import models, peers
from .blas import one_blas_thread
from .loaded_models import CASES, MECHANISMS, SCENES, Loaded
from .report import OURS, Progress, Row, missing, publish, rows_of
from .simulator_calls import SIMULATOR, simulator_contenders
from .timing import Contender, Effort, measure

DT, BATCH = 1e-3, 1024
STEPS, BATCH_STEPS = 1000, 20  # of a run, where they are fast enough: see the text of the module
LEAST = BATCH_STEPS  # and at least so many: where stops or contacts act, the first step is an impact, which few steps are
RUN = 0.05  # s: a run is no longer, but for one step
FULL, QUICK = Effort(40, 0.4), Effort(3, 0.05)
QUICK_CASES = ("arm", "arm+springs", "arm+loop", "arm+contacts_active", "elbow+muscles")
SINGLE, MANY = "single", f"batch{BATCH}"
STEP, ONE = "step", "step_one_evaluation"
QUANTITIES: dict[str, dict[str, Any]] = {STEP: {}, ONE: {"evaluations": 1}}  # options of our stepper
SMOOTH, SOFT, CLOSED = 1e-8, 1e-2, 1e-6  # relative: trees and forces; MuJoCo's equalities, at rest; Pinocchio's loops
LEGEND = (
    f"differences are relative. Accelerations: bare trees and forces up to {SMOOTH:g}; equalities of mujoco, which are soft, at "
    f"rest up to {SOFT:g}; loops of pinocchio up to {CLOSED:g}. Rows: of constraints, in mujoco. Velocities: a soft constraint, "
    "a limit in place of a spring, a muscle with other curves or a joint held in place of one that is moved are not the same"
)
REFUSED = "left out, "
FORCES, EQUALITIES = ("", "springs", "pd", "spring_dampers"), ("coupling", "loop")


# --- checks ----------------------------------------------------------------------------------------------------------
def relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))


def require(case: str, what: str, error: float, tolerance: float) -> str:
    """A note on an agreement; raises where there is none."""
    if not error <= tolerance:
        raise LinkworkError(
            f"{case}: {what} differs by {error:.2g} (relative), more than {tolerance:g}: these are different models"
        )
    return f"{what} {error:.1g}"


def mujoco_note(case: str, loaded: Loaded, peer: Any) -> str:
    """How far MuJoCo's accelerations are from ours.

    Its equalities are soft, and leave out what velocities add: they are compared where they hold, at rest.
    """
    load, tree = _parts(case)[1], loaded.model.replace(elements=())
    said = require(case, "bare tree", peers.disagreement(tree, peers.MuJoCo(tree)), SMOOTH)
    soft = load in EQUALITIES or (load in FORCES and bool(peer.model.neq))
    if not soft and load not in FORCES:
        return said
    (_, q), (_, v) = loaded.states(2)
    q, v = (loaded.q, np.zeros_like(v)) if soft else (q, v)
    tau = np.random.default_rng(1).normal(size=v.shape)
    found, ours = peer.accelerations(q, v, tau), forward_dynamics(loaded.model, q, v, tau)
    under = require(case, "under load", relative(found, peer.laid_out(q, v, ours)), SOFT if soft else SMOOTH)
    return f"{said}, {under}"


def pinocchio_note(case: str, loaded: Loaded, peer: Any) -> str:
    """How far Pinocchio's accelerations are from ours."""
    (_, q), (_, v) = loaded.states(2)
    ours = peer.laid_out(q, v, forward_dynamics(loaded.model, q, v))
    return f"{case}: pinocchio: {require(case, 'under load', relative(peer.call(q, v)(), ours), CLOSED)}"


def path_note(loaded: Loaded, peer: Any, steps: int) -> str:
    """How many rows of constraints are at work after the single run, and how far apart the velocities are by then."""
    rows, v = peer.after(loaded.q, loaded.v, steps)
    end = simulate(loaded.model, State(q=loaded.q, v=loaded.v), steps * DT, DT, every=steps)
    apart = relative(v, peer.layout_of(end.q[-1], end.v[-1])["v"][0])
    return f"; after {steps} steps {rows} rows, velocities {apart:.1g}"


# --- what is timed ---------------------------------------------------------------------------------------------------
def path(loaded: Loaded, q: np.ndarray, v: np.ndarray, steps: int, every: int, **options: Any) -> Callable[[], Any]:
    """Steps by `simulate`."""
    model, state, duration = loaded.model, State(q=q, v=v), steps * DT
    return lambda: simulate(model, state, duration, DT, every=every, **options)


def fitting(make: Callable[[int], Callable[[], Any]], most: int, least: int = 1) -> int:
    """As many steps or states, up to `most`, as keep a run below `RUN`; at least `least`."""
    make(least)()  # compiles
    count = least
    while True:
        run, start = make(count), time.thread_time()
        run()
        took = time.thread_time() - start
        if 2 * took > RUN or count == most:
            return count
        count = min(most, max(2 * count, min(8 * count, int(count * RUN / max(took, 1e-9)))))


def ours(case: str, loaded: Loaded) -> tuple[list[Contender], list[str], dict[str, int]]:
    """linkwork's, notes on what it refuses, and how many steps a run of each mode has."""
    q, v = loaded.states(BATCH)
    makers: dict[str, tuple[int, int, Callable[..., Callable[[], Any]]]] = {
        SINGLE: (1, STEPS, lambda steps, **options: path(loaded, loaded.q, loaded.v, steps, 1, **options)),
        MANY: (BATCH, BATCH_STEPS, lambda steps, **options: path(loaded, q, v, steps, steps, **options)),
    }
    group, notes, chosen = [], [], {}
    for mode, (count, most, make) in makers.items():
        chosen[mode] = most
        try:
            chosen[mode] = steps = fitting(make, most, LEAST)
        except LinkworkError as error:
            notes.append(f"{REFUSED}{mode} of linkwork: {error}: {case}")
            continue
        for quantity, options in QUANTITIES.items():
            group.append(Contender(case, quantity, OURS, mode, 1, make(steps, **options), count * steps))
    return group, notes, chosen


def theirs(case: str, loaded: Loaded, chosen: dict[str, int]) -> tuple[list[Contender], list[str]]:
    """MuJoCo's, with as many steps as ours, and of a batch as many states as fit into a run."""
    if peers.module("mujoco") is None:
        return [], []
    from .loaded_peers import LoadedMuJoCo

    peer = LoadedMuJoCo(loaded.model, loaded.q, DT)
    note, steps = f"{case}: mujoco: {mujoco_note(case, loaded, peer)}", chosen[MANY]
    with contextlib.suppress(LinkworkError):  # where linkwork refuses to step
        note += path_note(loaded, peer, chosen[SINGLE])
    group = [Contender(case, STEP, "mujoco", SINGLE, 1, peer.rollout(loaded.q, loaded.v, chosen[SINGLE]), chosen[SINGLE])]
    q, v = loaded.states(BATCH)
    count = fitting(lambda n: peer.rollout(q[:n], v[:n], steps), BATCH)
    group.append(Contender(case, STEP, "mujoco", MANY, 1, peer.rollout(q[:count], v[:count], steps), count * steps))
    return group, [note]


def closed(case: str, loaded: Loaded) -> tuple[list[Contender], list[str]]:
    """Pinocchio's, where all elements are loops."""
    elements = loaded.model.elements
    if _parts(case)[1] != "loop" or peers.module("pinocchio") is None:
        return [], []
    if not all(isinstance(element, Loop) for element in elements):
        return [], [f"{case}: not in pinocchio: the model has couplings beside its loop"]
    from .loaded_peers import ClosedPinocchio

    peer = ClosedPinocchio(loaded.model)
    (_, q), (_, v) = loaded.states(2)
    return [Contender(case, STEP, "pinocchio", SINGLE, 1, peer.call(q, v), 1)], [pinocchio_note(case, loaded, peer)]


def contenders(case: str) -> tuple[list[Contender], list[str]]:
    """All that is timed for a case, and what to know of it."""
    loaded = CASES[case]()
    group, notes, chosen = ours(case, loaded)
    for more, said in (theirs(case, loaded, chosen), closed(case, loaded)):
        group, notes = group + more, notes + said
    return group, notes


def _parts(case: str) -> tuple[str, str]:
    """The mechanism and the load."""
    mechanism, _, load = case.partition("+")
    return mechanism, load


# --- tables ----------------------------------------------------------------------------------------------------------
def _columns(mode: str) -> dict[str, tuple[str, ...]]:
    return {
        f"linkwork\n{mode}": (STEP, OURS, mode),
        f"1 eval.\n{mode}": (ONE, OURS, mode),
        f"mujoco\n{mode}": (STEP, "mujoco", mode),
        f"x\n{mode}": (STEP, mode),
        f"x 1 eval.\n{mode}": (ONE, mode),
    }


COLUMNS = _columns(SINGLE) | _columns(MANY) | {f"pinocchio\n{SINGLE}": (STEP, "pinocchio", SINGLE)}
"""Quantity, engine and mode of a time; quantity and mode alone for how many times longer MuJoCo takes."""


def step_table(rows: Sequence[Row]) -> Table:
    """A line per case."""
    caption = (
        "microseconds per step and state, velocity terms evaluated twice or (1 eval.) once; x: how many times longer mujoco "
        "takes; pinocchio: accelerations alone"
    )
    out = Table(title="loaded: steps of 1 ms", caption=caption)
    out.add_column("case", no_wrap=True)
    for name in COLUMNS:
        out.add_column(name, justify="right")
    us = {(r["case"], r["quantity"], r["engine"], r["mode"]): r["us"] for r in rows if r["quantity"] in QUANTITIES}
    cases = list(dict.fromkeys(case for case, *_ in us))
    for case, following in zip(cases, [*cases[1:], ""], strict=True):
        last = _parts(case)[0] != _parts(following)[0]
        out.add_row(case, *(_cell(us, case, who) for who in COLUMNS.values()), end_section=last)
    return out


def _cell(us: dict[tuple[str, ...], float], case: str, who: tuple[str, ...]) -> str:
    if len(who) == 3:
        return f"{us[case, *who]:.4g}" if (case, *who) in us else "-"
    quantity, mode = who
    theirs, ours = us.get((case, STEP, "mujoco", mode)), us.get((case, quantity, OURS, mode))
    return f"{theirs / ours:.2g}" if theirs and ours else "-"


def gathered(notes: Sequence[str]) -> list[str]:
    """The notes, those on what is left out for one reason as one."""
    reasons: dict[str, list[str]] = {}
    for note in notes:
        if note.startswith(REFUSED):
            reason, _, case = note.rpartition(": ")
            reasons.setdefault(reason, []).append(case)
    return [note for note in notes if not note.startswith(REFUSED)] + [f"{r}: {', '.join(c)}" for r, c in reasons.items()]


# --- the benchmark ---------------------------------------------------------------------------------------------------
def chosen_cases(prefixes: Sequence[str], quick: bool) -> list[str]:
    """The cases whose names begin with one of the prefixes, `simulator` among them; without prefixes all, or a few."""
    known = [*CASES, SIMULATOR]
    if not prefixes:
        return [*QUICK_CASES, SIMULATOR] if quick else known
    for prefix in prefixes:
        if not any(name.startswith(prefix) for name in known):
            loads = "; after a plus sign, a load"
            raise InputError(
                f"there is no case that begins with {prefix!r}; choose from {', '.join((*MECHANISMS, *SCENES, SIMULATOR))}{loads}"
                f"{meant(prefix, (*MECHANISMS, *SCENES))}"
            )
    return [name for name in known if any(name.startswith(prefix) for prefix in prefixes)]


def run(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> list[Row]:
    """Time the cases and publish the rows."""
    rows: list[Row] = []
    notes = [LEGEND, *(missing(name) for name in ("mujoco", "pinocchio") if peers.module(name) is None)]
    progress, effort = Progress(), QUICK if quick else FULL
    with one_blas_thread():
        for case in chosen_cases(cases, quick):
            if _parts(case)[0] in ("panda", "g1") and models.robots_folder() is None:
                notes.append(f"{REFUSED}{missing(models.ROBOTS_PACKAGE, 'it has the files of robots')}: {case}")
                continue
            with progress.line(case):
                progress.say("building")
                group, found = simulator_contenders() if case == SIMULATOR else contenders(case)
                progress.say(f"measuring {len(group)} functions")
                rows += rows_of(group, measure(group, effort))
            notes += found
    calls = [q for q in dict.fromkeys(r["quantity"] for r in rows) if q not in QUANTITIES]
    tables = [step_table(rows)] if any(r["quantity"] in QUANTITIES for r in rows) else []
    return publish("loaded", rows, json, gathered(notes), parts={"loaded: single calls": calls}, tables=tables)
