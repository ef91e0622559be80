"""Published energies of scene files against those computed here; and the right ones where the published rest on slips.

A right energy is computed twice, by routes of the library that share as little as possible: ode45 by the recursions and with the
dense matrix; linearly implicit steps by a dense factor and by conjugate gradients on products in O(n), with friction by
projections of bodies and by a quadratic program in joint velocities; bdf by the program, and by MINPACK on accelerations of the
recursions.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..energy import energy
from ..errors import InputError, LinkworkError
from ..io.redmax import Problem, RedmaxScene, Run, UnsupportedError
from ..io.redmax.record import is_scene, parsed
from ..model import Model, State
from ..redmax.system import dynamics
from ..simulate import simulate
from ..steppers.equation import Equation, Motion
from ..steppers.ode45 import DormandPrince45
from ..steppers.tangent import tangent_rates
from .dense_bdf import bdf, minpack, published_newton
from .friction_runs import friction_run

STEPPERS = {"REDMAX_EULER": "linearly_implicit", "BDF1": "bdf1", "BDF2": "bdf2"}


@dataclass(frozen=True)
class Row:
    """One integrator of one file; `computed` is None where `problem` says why.

    slips                those on which the published number rests
    unread               lines about keys of the file that nobody reads, in its first row
    right, right_again   the energy without them, by two `routes`; None if that was not asked for, or `doubt` says why
    """

    file: str
    integrator: str
    expected: float | None
    computed: float | None
    tolerance: float = 0.0
    problem: str = ""
    seconds: float = 0.0
    slips: tuple[str, ...] = ()
    right: float | None = None
    right_again: float | None = None
    routes: tuple[str, ...] = ()
    doubt: str = ""
    unread: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.computed is not None and self.expected is not None and abs(self.computed - self.expected) <= self.tolerance

    @property
    def result(self) -> str:
        """The last column of the table."""
        return self.problem or ("pass" if self.passed else "FAIL")


# --- runs -------------------------------------------------------------------------------------------------------------
def run(scene: RedmaxScene, wanted: Run, right: bool = False, **other: Any) -> State:
    """The state at the end of a run, as published or without slips; `other` options replace those of the run."""
    p = scene.problem(wanted, right)
    if p.friction:
        return friction_run(p, wanted, other.get("route", "published"))
    if wanted.kind == "BDF" and not right and scene.slips(wanted):
        return bdf(p, wanted, published_newton)  # slips of forces with jumps: what Newton's method leaves counts, too
    options: dict[str, Any] = {"method": "reduced" if wanted.recursive else "redmax", "control": p.control}
    if wanted.kind == "ODE45":
        options |= {
            "stepper": "ode45",
            "rtol": wanted.rtol,
            "atol": wanted.atol,
            "baumgarte": wanted.baumgarte[:2],
            "stabilise": "none",
        }
        dt, every = wanted.duration, 1
    else:
        options["stepper"] = STEPPERS[wanted.integrator]
        dt, every = wanted.h, wanted.steps
    if wanted.kind == "EULER":
        options["baumgarte"] = wanted.baumgarte[2]
    end = simulate(p.model, p.state, dt * every, dt, every=every, open_loops="allow", **(options | other)).final
    assert isinstance(end, State)
    return end


def energy_change(scene: RedmaxScene, wanted: Run, end: State, right: bool = False) -> float:
    """T + V - V(0): what the files call H."""
    p = scene.problem(wanted, right)
    return float(energy(p.model, end).total - energy(p.model, p.state).potential)


def right_routes(scene: RedmaxScene, wanted: Run) -> dict[str, Callable[[], State]]:
    """Two ways to the end of a run without slips, by name; the first is that of the published number."""
    if wanted.kind == "ODE45":
        return {
            "recursive": lambda: run(scene, wanted, right=True),
            "dense": lambda: by_dense_matrix(scene.problem(wanted, right=True), wanted),
        }
    if wanted.kind == "EULER":
        routes = ("staggered", "reduced") if scene.problem(wanted).friction else ("dense", "pcg")
        return {route: lambda r=route: run(scene, wanted, right=True, route=r) for route in routes}
    return {
        "newton": lambda: run(scene, wanted, right=True),
        "minpack": lambda: bdf(scene.problem(wanted, right=True), wanted, minpack),
    }


# --- ode45 by another route -------------------------------------------------------------------------------------------
class DenseEquation(Equation):
    """The equation of motion by the dense mass matrix, which remembers nothing."""

    def __init__(self, model: Model, baumgarte: tuple[float, float]) -> None:
        self.model, self.baumgarte, self._nothing = model, baumgarte, np.zeros((1, 0))

    def begin(self, q: np.ndarray) -> None:
        pass

    @property
    def memory(self) -> np.ndarray:
        return self._nothing

    def keep(self) -> None:
        pass

    def __call__(self, state: State, u: np.ndarray | None, tau: Any, driven: Any) -> np.ndarray:
        now, (b, k) = dynamics(self.model, state, tau), self.baumgarte
        c = now.constraints
        a, self.multipliers = now.accelerations(-c.bias - 2.0 * b * c.rate - k * k * c.residual)
        return np.concatenate([state.v if u is None else tangent_rates(self.model, u, state.v), a])


def by_dense_matrix(p: Problem, wanted: Run) -> State:
    """The end of a run of ode45."""
    b, k = wanted.baumgarte[:2]
    times, force = np.array([p.state.t, p.state.t + wanted.duration]), lambda s: (p.control(s.t, s) if p.control else None, None)
    motion = Motion(p.state, DenseEquation(p.model, (b, k)), force)
    DormandPrince45(wanted.rtol, wanted.atol, stabilise="none").solve_one(motion, times)
    return motion.records[-1]


# --- rows -------------------------------------------------------------------------------------------------------------
def rows_of(path: Path, name: str, right: bool = False) -> Iterator[Row]:
    """The rows of one file, one after the other; nothing for files that are no scenes."""
    try:
        data = parsed(path)
        if not is_scene(data):
            return
        scene = RedmaxScene(data, name)
    except LinkworkError as error:
        yield Row(name, "", None, None, problem=f"error: {error}")
        return
    for wanted in scene.runs:
        begin = time.perf_counter()
        computed, problem = _tried(lambda r=wanted: energy_change(scene, r, run(scene, r)))
        seconds = time.perf_counter() - begin
        unread = tuple(scene.unread) if wanted is scene.runs[0] else ()
        row = Row(name, wanted.integrator, wanted.expected, computed, wanted.tolerance, problem, seconds, unread=unread)
        yield _with_right(row, scene, wanted) if right and computed is not None else row


def _tried(compute: Callable[[], float]) -> tuple[float | None, str]:
    """A number, or None and what went wrong; one broken file must not keep the others from their numbers."""
    try:
        found = compute()
    except UnsupportedError as error:
        return None, f"not supported: {error}"
    except Exception as error:
        return None, f"error: {error}" if isinstance(error, LinkworkError) else f"error: {type(error).__name__}: {error}"
    return (found, "") if np.isfinite(found) else (None, "error: the energy is not finite")


def _with_right(row: Row, scene: RedmaxScene, wanted: Run) -> Row:
    """The row with its slips, and the energy without them."""
    slips = tuple(scene.slips(wanted))
    if not slips:
        return row
    routes = right_routes(scene, wanted)
    found = [_tried(lambda end=end: energy_change(scene, wanted, end(), right=True)) for end in routes.values()]
    (first, problem), (second, other) = found
    doubt = problem or (other and f"by one route only, {other}")
    return replace(row, slips=slips, right=first, right_again=second, routes=tuple(routes), doubt=doubt)


def files_of(folder: Path) -> list[Path]:
    """All JSON files in a folder and those below it, or the file itself."""
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        raise InputError(f"there is no file or folder {str(folder)!r}")
    return sorted(folder.rglob("*.json"))


def verify(folder: Path, report: Path | None = None, right: bool = False) -> list[Row]:
    """Run every scene in a folder, print a table, and write the rows to a file; `right`: also without slips, where there are."""
    rows: list[Row] = []
    files, root = files_of(folder), folder if folder.is_dir() else folder.parent
    if report is not None:
        report.parent.mkdir(parents=True, exist_ok=True)
    print(f"{'file':52} {'integrator':13} {'expected':>18} {'computed':>18} {'difference':>10} {'time':>8}  result")
    for path in files:
        for row in rows_of(path, path.relative_to(root).as_posix(), right):
            rows.append(row)
            print(_line(row), flush=True)
            if row.slips:
                print(_right_line(row), flush=True)
            for line in row.unread:
                print(f"  {line}", flush=True)
    if not rows:
        raise InputError(f"no file in {str(folder)!r} is a scene of the schema redmax-scene/1")
    if report is not None:
        keys = ("file", "integrator", "expected", "computed", *(("right", "right_again", "slips") if right else ()))
        report.write_text(json.dumps([{k: getattr(r, k) for k in keys} for r in rows], indent=1) + "\n")
    passed, absent = sum(r.passed for r in rows), sum(r.computed is None for r in rows)
    print(f"{passed} of {len(rows)} pass, {len(rows) - passed - absent} fail, {absent} not computed")
    for slip in sorted({slip for row in rows for slip in row.slips}):
        print(f"  {slip}")
    return rows


def _line(row: Row) -> str:
    columns = _numbers(row.expected, row.computed)
    return f"{row.file:52} {row.integrator:13} {columns} {row.seconds:6.1f} s  {row.result}"


def _right_line(row: Row) -> str:
    """Below a row: the right energy by both routes."""
    names = ", ".join(slip.split(":")[0] for slip in row.slips)
    where = f"{'  right, by two routes':52} {', '.join(row.routes):13}"
    return f"{where} {_numbers(row.right, row.right_again)} {'':8}  without {names}{row.doubt and f'; {row.doubt}'}"


def _numbers(first: float | None, second: float | None) -> str:
    """Two numbers and what the second has more than the first."""

    def number(x: float | None) -> str:
        return " " * 17 + "-" if x is None else f"{x:18.10g}"

    difference = None if first is None or second is None else second - first
    shown = " " * 9 + "-" if difference is None else f"{difference:10.1e}"
    return f"{number(first)} {number(second)} {shown}"
