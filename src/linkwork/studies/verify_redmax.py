"""Published energies of scene files against those computed here."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..energy import energy
from ..errors import InputError, LinkworkError
from ..io.redmax import RedmaxScene, Run, UnsupportedError
from ..io.redmax.record import is_scene, parsed
from ..model import State
from ..simulate import simulate

NEWTON = 1e-9  # what the published runs of BDF stop at; bdf scene 11 multiplies it by 1e5
STEPPERS = {"REDMAX_EULER": "linearly_implicit", "BDF1": "bdf1", "BDF2": "bdf2"}


@dataclass(frozen=True)
class Row:
    """One integrator of one file; `computed` is None where `problem` says why."""

    file: str
    integrator: str
    expected: float | None
    computed: float | None
    tolerance: float = 0.0
    problem: str = ""
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return self.computed is not None and self.expected is not None and abs(self.computed - self.expected) <= self.tolerance

    @property
    def result(self) -> str:
        """The last column of the table."""
        return self.problem or ("pass" if self.passed else "FAIL")


def run(scene: RedmaxScene, wanted: Run) -> State:
    """The state at the end of a run."""
    p = scene.problem(wanted)
    options: dict[str, Any] = {"method": "reduced" if wanted.recursive else "redmax", "control": p.control}
    if wanted.kind == "ODE45":
        options |= {"stepper": "ode45", "rtol": wanted.rtol, "atol": wanted.atol, "baumgarte": wanted.baumgarte[:2]}
        dt, every = wanted.duration, 1
    else:
        options["stepper"] = STEPPERS[wanted.integrator]
        dt, every = wanted.h, wanted.steps
    if wanted.kind == "EULER":
        options["baumgarte"] = wanted.baumgarte[2]
    if wanted.kind == "BDF":
        options["tolerance"] = NEWTON
    end = simulate(p.model, p.state, dt * every, dt, every=every, **options).final
    assert isinstance(end, State)
    return end


def energy_change(scene: RedmaxScene, wanted: Run, end: State) -> float:
    """T + V - V(0): what the files call H."""
    p = scene.problem(wanted)
    return float(energy(p.model, end).total - energy(p.model, p.state).potential)


def rows_of(path: Path, name: str) -> Iterator[Row]:
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
        computed, problem = None, ""
        try:
            computed = energy_change(scene, wanted, run(scene, wanted))
            if not np.isfinite(computed):
                computed, problem = None, "error: the energy is not finite"
        except UnsupportedError as error:
            problem = f"not supported: {error}"
        except Exception as error:  # one broken file must not keep the others from their numbers
            problem = f"error: {error}" if isinstance(error, LinkworkError) else f"error: {type(error).__name__}: {error}"
        seconds = time.perf_counter() - begin
        yield Row(name, wanted.integrator, wanted.expected, computed, wanted.tolerance, problem, seconds)


def files_of(folder: Path) -> list[Path]:
    """All JSON files in a folder and those below it."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {str(folder)!r}")
    return sorted(folder.rglob("*.json"))


def verify(folder: Path, report: Path | None = None) -> list[Row]:
    """Run every scene in a folder, print a table, and write the rows to a file."""
    rows: list[Row] = []
    if report is not None:
        report.parent.mkdir(parents=True, exist_ok=True)
    print(f"{'file':52} {'integrator':13} {'expected':>18} {'computed':>18} {'difference':>10} {'time':>8}  result")
    for path in files_of(folder):
        for row in rows_of(path, path.relative_to(folder).as_posix()):
            rows.append(row)
            print(_line(row), flush=True)
    if not rows:
        raise InputError(f"no file in {str(folder)!r} is a scene of the schema redmax-scene/1")
    if report is not None:
        keys = ("file", "integrator", "expected", "computed")
        report.write_text(json.dumps([{k: getattr(r, k) for k in keys} for r in rows], indent=1) + "\n")
    passed, absent = sum(r.passed for r in rows), sum(r.computed is None for r in rows)
    print(f"{passed} of {len(rows)} pass, {len(rows) - passed - absent} fail, {absent} not computed")
    return rows


def _line(row: Row) -> str:
    def number(x: float | None, width: int = 18) -> str:
        return " " * (width - 1) + "-" if x is None else f"{x:{width}.10g}"

    difference = None if row.computed is None or row.expected is None else row.computed - row.expected
    shown = " " * 9 + "-" if difference is None else f"{difference:10.1e}"
    where = f"{row.file:52} {row.integrator:13}"
    return f"{where} {number(row.expected)} {number(row.computed)} {shown} {row.seconds:6.1f} s  {row.result}"
