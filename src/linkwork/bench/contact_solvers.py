"""All solvers of contact with friction on problems of the generator, Pinocchio's ADMM and PGS beside them.

Every problem is solved from zero. Solved means that the natural map is below 1e-6, 1e-8 or 1e-10, in m/s, measured here for all
alike. Times are CPU times of one thread: of compiled solvers the least of a few calls from Python on arrays that are kept, of
Pinocchio its own solve, of solvers in Python the whole call.

The default solver runs on all problems. The others have a few seconds for each family, and take problems from all over it until
these are over: the table says how many. `full` gives them all the time they need (days, for those in Python).
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
from ..solvers.coulomb import scratch_of, solve_cones
from ..solvers.existence import PROGRAMS as ALL_PROGRAMS
from ..solvers.existence import Verdict, search_all_modes
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
SECONDS = 1.0  # of CPU time for each solver and family, but for the default one
STRIDE = 0.5 * (np.sqrt(5.0) - 1.0)  # of a family: problems so far apart follow one another
LANES = 8
CALLS, LONG_CALL = 3, 5e3  # of compiled solvers, of which the fastest counts; one, if it takes so many microseconds
PROGRAMS = 400  # linear programs in search of a solution where none was found; `full` has more
PLAIN_FAILURE = 1e-6  # m/s: what is left of problems of which that is asked
LEVELS = (1e-6, 1e-8, 1e-10)  # m/s
ASKED = 1e-8  # m/s
DEFAULT = (OURS, "exact")
Solve = Callable[[Sequence[Problem], float], "list[Outcome]"]  # problems, and the seconds there are


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
        arrays += scratch_of(routine, m, W)
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


class Clock:
    """Seconds of CPU time that are left for a solver, of which a first problem is always solved."""

    def __init__(self, seconds: float) -> None:
        self._end = time.thread_time() + seconds
        self._begun = False

    def over(self) -> bool:
        begun, self._begun = self._begun, True
        return begun and time.thread_time() > self._end


def spread(count: int) -> list[int]:
    """0, 1, ... in an order in which the first few are from everywhere."""
    return np.argsort((STRIDE * np.arange(count)) % 1.0, kind="stable").argsort(kind="stable").tolist()


def best_of_calls(call: Callable[[], float]) -> float:
    """The least of a few times in microseconds; one, if it is long."""
    first = call()
    return first if first > LONG_CALL else min(first, *(call() for _ in range(CALLS - 1)))


def compiled(routine: LoopFunction, width: int) -> Solve:
    """A compiled solver in lanes; problems with the same rows share a call, as far as they fill one."""

    def solve(given: Sequence[Problem], seconds: float) -> list[Outcome]:
        found: dict[int, Outcome] = {}
        alike: dict[bytes, list[int]] = defaultdict(list)
        clock = Clock(seconds)
        for k in spread(len(given)):
            group = alike[given[k].cones.rows.tobytes()]
            group.append(k)
            if len(group) < width:
                continue
            if clock.over():
                break
            kept = Kept(routine, [given[i] for i in group])
            us = best_of_calls(kept) / width
            for lane, i in enumerate(group):
                found[i] = Outcome(given[i].residual(kept.x[:, lane]), int(kept.rounds[0, lane]), us)
            group.clear()
        return [found[k] for k in sorted(found)]

    return solve


def in_python(solver: Callable[..., Any]) -> Solve:
    """A solver written in Python."""

    def solve(given: Sequence[Problem], seconds: float) -> list[Outcome]:
        out: list[Outcome] = []
        clock = Clock(seconds)
        for k in spread(len(given)):
            if clock.over():
                break
            p, start = given[k], time.thread_time()
            try:
                x, info = solver(p, None)
                left, rounds = p.residual(x), info.rounds
            except SolverError:
                left, rounds = np.inf, 0
            out.append(Outcome(left, rounds, 1e6 * (time.thread_time() - start)))
        return out

    return solve


def by_pinocchio(pin: Any, kind: str) -> Solve:
    """One of Pinocchio's solvers, on problems of Coulomb cones alone."""

    def solve(given: Sequence[Problem], seconds: float) -> list[Outcome]:
        out: list[Outcome] = []
        clock = Clock(seconds)
        for p in filter(contact_peers.solvable, (given[k] for k in spread(len(given)))):
            if clock.over():
                break
            run = contact_peers.solver(pin, kind, p)
            last = run()
            us = best_of_calls(lambda run=run: run()[2])
            out.append(Outcome(p.residual(last[0]), last[1], min(us, last[2])))
        return out

    return solve


def contenders() -> dict[tuple[str, str, str], Solve]:
    """(engine, solver, mode) -> what solves problems."""
    found = {
        (*DEFAULT, "single"): compiled(solve_cones, 1),
        (*DEFAULT, f"batch{LANES}"): compiled(solve_cones, LANES),
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
    coefficients; what the default solver leaves of each, in m/s; and whether a search of all modes proves that none solves it."""

    case: str
    opening: list[bool]
    against_friction: list[bool]
    left: list[float]
    verdicts: list[Verdict | None]

    @property
    def lists(self) -> tuple[list[Any], ...]:
        return self.opening, self.against_friction, self.left, self.verdicts

    def line(self) -> str:
        """How many of each kind are solved."""
        solved, opening = np.array(self.left) < ASKED, np.array(self.opening, bool)
        none = np.array([v is not None and v.proves_none for v in self.verdicts], bool)
        kinds = {
            "all": np.ones(len(solved), bool),
            "opening": opening,
            "opening against friction": np.array(self.against_friction, bool),
        }
        if none.any():
            kinds |= {"all that are not proved to have no solution": ~none, "opening of these": opening & ~none}
        parts = [f"{name} {np.sum(solved & kind)} of {np.sum(kind)}" for name, kind in kinds.items()]
        return f"{self.case}: solved at {ASKED:g} m/s: {', '.join(parts)}"

    def unsolved(self) -> str:
        """What is left of those that are not solved, and why."""
        named = [f"{k}: {left:.1e}{self._cause(k)}" for k, left in enumerate(self.left) if not left < ASKED]
        return f"{self.case}, left in m/s: {', '.join(named)}" if named else ""

    def _cause(self, k: int) -> str:
        """Jammed are those that no motion opens; jammed by friction those that open, but not faster than they slide: friction
        alone holds them, and more than it can balance may be asked."""
        verdict = self.verdicts[k]
        jam = "" if self.against_friction[k] else "jammed by friction" if self.opening[k] else "jammed"
        if verdict is None:
            found = "contacts that contradict one another by so little"
        elif verdict.x is not None:
            found = "it has a solution"
        else:
            found = f"{'no solution' if verdict.complete else 'none found'}, {verdict.programs} linear programs"
        return f" ({', '.join(part for part in (jam, found) if part)})"


def jams(case: str, given: Sequence[Problem], programs: int) -> Jams:
    """Which problems the default solver leaves, and why."""
    left = [o.left for o in compiled(solve_cones, 1)(given, np.inf)]
    verdicts = [search_all_modes(p, programs) if off > PLAIN_FAILURE else None for p, off in zip(given, left, strict=True)]
    return Jams(case, [opens(p) for p in given], [opens_against_friction(p) for p in given], left, verdicts)


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


def run(json: Path | None = None, quick: bool = False, cases: Sequence[str] = (), full: bool = False) -> list[Row]:
    """Solve, print a table, and say what stays unsolved."""
    require_known(cases, FAMILIES)
    asked = cases or [case for case in FAMILIES if not (quick and case in LONG)]
    chosen, progress = [case for case in asked if not lacking(case)], Progress()
    rows: list[Row] = []
    notes = [] if peers.module("pinocchio") is not None else [missing("pin")]
    notes += [missing(lacking(c), f"{c} is left out") for c in asked if lacking(c)]
    together: dict[tuple[str, str, str], list[Outcome]] = defaultdict(list)
    whole = Jams("all", [], [], [], [])
    with one_blas_thread():
        for case in chosen:
            with progress.line(case):
                progress.say("problems")
                given = problems(case, FEW if quick else count_of(case))
                for who, solve in contenders().items():
                    progress.say(who[1])
                    outcomes = solve(given, np.inf if full or who[:2] == DEFAULT else SECONDS)
                    together[who] += outcomes
                    if outcomes:
                        rows.append(row(case, who, outcomes))
                progress.say("jams")
                found = jams(case, given, ALL_PROGRAMS if full else PROGRAMS)
                notes += [line for line in (found.line(), found.unsolved()) if line]
                for mine, more in zip(whole.lists, found.lists, strict=True):
                    mine.extend(more)
    if len(chosen) > 1:
        rows += [row("all", who, outcomes) for who, outcomes in together.items() if outcomes]
        notes.append(whole.line())
    return publish("contact problems", rows, json, notes, parts={"contact problems": ()}, tables=[table(rows)])
