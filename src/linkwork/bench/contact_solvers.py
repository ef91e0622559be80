"""All solvers of contact with friction on problems of the generator, Pinocchio's ADMM and PGS beside them.

Every problem is solved from zero. Solved means that the natural map is below 1e-6, 1e-8 or 1e-10, in m/s, measured here for all
alike. Times are CPU times of one thread: of compiled solvers the least of a few calls from Python on arrays that are kept, of
Pinocchio its own solve, of solvers in Python the whole call.
"""

from __future__ import annotations

import ctypes
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from ..errors import SolverError
from ..kernel.lanes import Lanes
from ..kernel.loops import LoopFunction
from ..solvers.coulomb import solve_cones
from ..solvers.gauss_seidel import solve_by_sweeps
from ..solvers.opening import opens, opens_against_friction
from ..solvers.problem import Problem
from ..solvers.registry import EXACT, RELAXED
from . import contact_peers, peers
from .blas import one_blas_thread
from .contact_problems import FAMILIES, problems
from .contact_runs import PACKAGES, RUNS, lacking
from .report import OURS, Progress, Row, missing, publish, require_known

COUNT, OF_SCENES, FEW = 250, 50, 8  # problems of every family; of runs of scenes; of all in quick runs
LONG = ("stacked", "run:stack", "run:arch", "run:dominoes", "run:wall")  # of hundreds of rows, not in quick runs
SAMPLE, ROWS = 20, 600  # of them for solvers in Python: so many, and so many rows in all
LANES = 8
CALLS = 3  # of compiled solvers, of which the fastest counts
LEVELS = (1e-6, 1e-8, 1e-10)  # m/s
ASKED = 1e-8  # m/s


@dataclass(frozen=True)
class Outcome:
    """What one solver did on one problem; no residual if it gave up."""

    left: float
    rounds: int
    us: float


class Kept:
    """A compiled solver with its arrays, for problems with the same rows, one in each lane."""

    def __init__(self, routine: LoopFunction, given: Sequence[Problem]) -> None:
        W, m = len(given), len(given[0].b)
        cones = [p.cones for p in given]
        rows = ([c.mu for c in cones], np.ones((W, m)), [p.b for p in given], [c.lower for c in cones], [c.upper for c in cones])
        mu, on, b, lower, upper = (np.ascontiguousarray(np.array(x, float).T) for x in rows)
        self.matrices = np.ascontiguousarray(np.array([p.A.reshape(-1) for p in given]).T)
        self.x, self.A, self.left, self.rounds = np.zeros((m, W)), self.matrices.copy(), np.zeros((1, W)), np.zeros((1, W))
        active = np.arange(-1, m)
        active[0] = m
        first = [active, np.ascontiguousarray(cones[0].rows, np.int32), mu, on, b, lower, upper]
        arrays: list[Any] = [*first, self.x, self.A, self.left, self.rounds]
        for name, kind in routine.parameters[len(arrays) :]:
            arrays.append(np.zeros(m, np.int64) if kind == "Ints" else np.zeros((m * m if name in ("K", "T") else m, W)))
        self._arrays = arrays  # kept alive
        bases = [x for x, (_, kind) in zip(arrays, routine.parameters, strict=True) if kind != "Table"]
        places = iter(range(len(bases)))
        tables = [
            x.ctypes.data if k == "Table" else (next(places), 0) for x, (_, k) in zip(arrays, routine.parameters, strict=True)
        ]
        self._entries, self._bases = routine.entries(*tables), np.array([x.ctypes.data for x in bases], np.int64)
        call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
        self._run, self._given = call(routine.address(Lanes(W))), (self._entries.ctypes.data, 1, self._bases.ctypes.data)

    def __call__(self) -> float:
        """Solve from zero; microseconds."""
        self.A[...] = self.matrices
        self.x[...] = 0.0
        start = time.thread_time()
        self._run(*self._given)
        return 1e6 * (time.thread_time() - start)


def compiled(routine: LoopFunction, width: int) -> Callable[[Sequence[Problem]], list[Outcome]]:
    """A compiled solver in lanes; problems with the same rows share a call, as far as they fill one."""

    def solve(given: Sequence[Problem]) -> list[Outcome]:
        found: dict[int, Outcome] = {}
        alike: dict[bytes, list[int]] = defaultdict(list)
        for k, p in enumerate(given):
            alike[p.cones.rows.tobytes()].append(k)
        for group in alike.values():
            whole = len(group) // width * width
            for chunk in (group[i : i + width] for i in range(0, whole, width)):
                kept = Kept(routine, [given[k] for k in chunk])
                us = min(kept() for _ in range(CALLS)) / width
                for lane, k in enumerate(chunk):
                    found[k] = Outcome(given[k].residual(kept.x[:, lane]), int(kept.rounds[0, lane]), us)
        return [found[k] for k in sorted(found)]

    return solve


def in_python(solver: Callable[..., Any]) -> Callable[[Sequence[Problem]], list[Outcome]]:
    """A solver written in Python, on the first problems."""

    def solve(given: Sequence[Problem]) -> list[Outcome]:
        out = []
        fits = np.cumsum([len(p.b) for p in given]) <= max(ROWS, len(given[0].b))
        for p in [p for p, fit in zip(given, fits, strict=True) if fit][:SAMPLE]:
            start = time.thread_time()
            try:
                x, info = solver(p, None)
                left, rounds = p.residual(x), info.rounds
            except SolverError:
                left, rounds = np.inf, 0
            out.append(Outcome(left, rounds, 1e6 * (time.thread_time() - start)))
        return out

    return solve


def by_pinocchio(pin: Any, kind: str) -> Callable[[Sequence[Problem]], list[Outcome]]:
    """One of Pinocchio's solvers, on problems of Coulomb cones alone."""

    def solve(given: Sequence[Problem]) -> list[Outcome]:
        out = []
        for p in filter(contact_peers.solvable, given):
            run = contact_peers.solver(pin, kind, p)
            x, rounds, us = min((run() for _ in range(CALLS)), key=lambda found: found[2])
            out.append(Outcome(p.residual(x), rounds, us))
        return out

    return solve


def contenders() -> dict[tuple[str, str, str], Callable[[Sequence[Problem]], list[Outcome]]]:
    """(engine, solver, mode) -> what solves problems."""
    found = {
        (OURS, "exact", "single"): compiled(solve_cones, 1),
        (OURS, "exact", f"batch{LANES}"): compiled(solve_cones, LANES),
        (OURS, "gauss-seidel", "single"): compiled(solve_by_sweeps, 1),
    }
    for name, solver in (EXACT | RELAXED).items():
        if name not in ("exact", "gauss-seidel"):
            found[OURS, name, "python"] = in_python(solver)
    pin = peers.module("pinocchio")
    if pin is not None:
        for kind in contact_peers.KINDS:
            found["pinocchio", kind, "single"] = by_pinocchio(pin, kind)
    return found


def row(case: str, who: tuple[str, str, str], outcomes: Sequence[Outcome]) -> Row:
    engine, solver, mode = who
    left, rounds = np.array([o.left for o in outcomes]), [o.rounds for o in outcomes]
    return {
        "case": case,
        "quantity": solver,
        "engine": engine,
        "mode": mode,
        "threads": 1,
        "us": float(np.mean([o.us for o in outcomes])),
        "median_us": float(np.median([o.us for o in outcomes])),
        "problems": len(outcomes),
        **{f"solved_{name_of(level)}": float(np.mean(left < level)) for level in LEVELS},
        "rounds": float(np.median(rounds)),
        "most_rounds": int(max(rounds)),
    }


def name_of(level: float) -> str:
    """1e-6, ... as columns are named."""
    return f"1e{round(np.log10(level))}"


@dataclass(frozen=True)
class Jams:
    """Of the problems of a case, whether a motion opens all contacts, and whether it does so faster than they slide, times their
    coefficients; and what the default solver leaves of each, in m/s."""

    case: str
    opening: list[bool]
    against_friction: list[bool]
    left: list[float]

    def line(self) -> str:
        """How many of each kind stay unsolved."""
        solved = np.array(self.left) < ASKED
        kinds = [("all", np.ones(len(solved), bool)), ("opening", np.array(self.opening, bool))]
        kinds.append(("opening against friction", np.array(self.against_friction, bool)))
        parts = [f"{name} {np.sum(solved & kind)} of {np.sum(kind)}" for name, kind in kinds]
        return f"{self.case}: solved at {ASKED:g} m/s: {', '.join(parts)}"

    def unsolved(self) -> str:
        """What is left of those that are not solved, and why: "jammed" are those that no motion opens; "jammed by friction" those
        that open, but not faster than they slide: friction alone holds them, and more than it can balance may be asked."""
        named = []
        for k, left in enumerate(self.left):
            if not left < ASKED:
                cause = "" if self.against_friction[k] else " (jammed by friction)" if self.opening[k] else " (jammed)"
                named.append(f"{k}: {left:.1e}{cause}")
        return f"{self.case}, left in m/s: {', '.join(named)}" if named else ""


def jams(case: str, given: Sequence[Problem]) -> Jams:
    """Which problems the default solver leaves, and why."""
    outcomes = compiled(solve_cones, 1)(given)
    return Jams(case, [opens(p) for p in given], [opens_against_friction(p) for p in given], [o.left for o in outcomes])


def table(rows: Iterable[Row]) -> Table:
    out = Table(
        title="contact problems", caption="solved: share of problems; rounds: systems, sweeps or iterations; us per problem"
    )
    for name in ("case", "engine", "solver", "mode"):
        out.add_column(name)
    for name in ("problems", *map(name_of, LEVELS), "rounds", "most", "us, median", "mean"):
        out.add_column(name, justify="right")
    last = None
    for r in rows:
        if last not in (None, r["case"]):
            out.add_section()
        last = r["case"]
        shares = [f"{r[f'solved_{name_of(level)}']:.3f}" for level in LEVELS]
        numbers = [f"{r['rounds']:.0f}", str(r["most_rounds"]), f"{r['median_us']:.1f}", f"{r['us']:.1f}"]
        out.add_row(r["case"], r["engine"], r["quantity"], r["mode"], str(r["problems"]), *shares, *numbers)
    return out


def count_of(family: str) -> int:
    """How many problems of a family make the whole benchmark."""
    own = family in RUNS and family.removeprefix("run:") not in PACKAGES
    return OF_SCENES if own else COUNT


def run(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> list[Row]:
    """Solve, print a table, and say what stays unsolved."""
    require_known(cases, FAMILIES)
    asked = cases or [case for case in FAMILIES if not (quick and case in LONG)]
    chosen, progress = [case for case in asked if not lacking(case)], Progress()
    rows: list[Row] = []
    notes = [] if peers.module("pinocchio") is not None else [missing("pin")]
    notes += [missing(lacking(c), f"{c} is left out") for c in asked if lacking(c)]
    together: dict[tuple[str, str, str], list[Outcome]] = defaultdict(list)
    whole = Jams("all", [], [], [])
    with one_blas_thread():
        for case in chosen:
            with progress.line(case):
                progress.say("problems")
                given = problems(case, FEW if quick else count_of(case))
                for who, solve in contenders().items():
                    progress.say(who[1])
                    outcomes = solve(given)
                    together[who] += outcomes
                    if outcomes:
                        rows.append(row(case, who, outcomes))
                progress.say("jams")
                found = jams(case, given)
                notes += [line for line in (found.line(), found.unsolved()) if line]
                whole.opening.extend(found.opening)
                whole.against_friction.extend(found.against_friction)
                whole.left.extend(found.left)
    if len(chosen) > 1:
        rows += [row("all", who, outcomes) for who, outcomes in together.items() if outcomes]
        notes.append(whole.line())
    return publish("contact problems", rows, json, notes, parts={"contact problems": ()}, tables=[table(rows)])
