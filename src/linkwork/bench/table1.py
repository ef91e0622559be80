"""Table 1 of [Si & Guenter 2010]: forward dynamics of chains on hinges, of chains of tori, and of the windmill.

Three ways to compile it (`model.compile`), one state at a time in a compiled loop (`native`), one called from Python (`single`),
and batches of 1024; beside the figures that the paper printed (2.67 GHz Core 2 Quad), and Pinocchio where it has the joints.
Preprocessing is what `model.compile` takes in a process of its own with no cache of machine code, and memory what it adds there
to the largest size of the process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from ..kernel.widths import SCALAR64
from ..model import Model
from ..reduced import forward_dynamics
from ..reduced.methods import CompiledDynamics
from ..scenes import ALL_SCENES
from . import peers
from .models import random_states
from .report import Progress, Row, missing, publish, require_known, rows_of
from .timing import FULL, QUICK, Contender, measure

BATCH = 1024
QUANTITY = {"classes": "forward_dynamics", "whole": "forward_dynamics_method_1", "mixed": "forward_dynamics_method_2"}
TITLES = {"classes": "default", "whole": "Method I", "mixed": "Method II"}
PUBLISHED = {  # microseconds: Method I, Method II
    "RC20": (20.0, 1000.0),
    "RC50": (50.0, 2400.0),
    "RC100": (112.0, 4900.0),
    "TC10": (55.0, 1050.0),
    "TC20": (115.0, 2200.0),
    "WM": (108.0, 2400.0),
}
SCENES: dict[str, tuple[str, dict[str, int]]] = {
    "RC20": ("revolute_chain", {"links": 20}),
    "RC50": ("revolute_chain", {"links": 50}),
    "RC100": ("revolute_chain", {"links": 100}),
    "TC10": ("torus_chain", {"links": 10}),
    "TC20": ("torus_chain", {"links": 20}),
    "WM": ("windmill", {}),
}
SMALL = ("RC20", "TC10")
COMPILING = """
from linkwork.bench.table1 import model_of, peak
import linkwork.reduced.methods
model = model_of({case!r})
before = peak()
print(model.compile({method!r}).seconds, peak() - before)
"""
AGREEMENT = 1e-8


def model_of(case: str) -> Model:
    """The model of a column of the table."""
    scene, options = SCENES[case]
    return ALL_SCENES[scene].build(**options)[0]


def peak() -> float:
    """The largest size of this process so far, in megabytes; NaN where the system does not say."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((float(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), float("nan"))


def preprocessing(case: str, method: str) -> tuple[float, float]:
    """Seconds and megabytes to compile a model from nothing, in a process of its own."""
    env = {**os.environ, "LINKWORK_CACHE": "off"}
    code = COMPILING.format(case=case, method=method)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    seconds, megabytes = done.stdout.split()
    return float(seconds), float(megabytes)


def native(compiled: CompiledDynamics, states: dict[str, np.ndarray]) -> Callable[[], Any]:
    """One state at a time in a compiled loop; every call overwrites the same array."""
    function = compiled.function
    plan, batch = function.plan(SCALAR64), len(states["q"])
    inputs = {**{name: states[name] for name in ("q", "v", "tau")}, **function.constants}
    out = {"a": np.empty((batch, compiled.model.nv))}
    return lambda: plan.run(inputs, out, batch)


def contenders(case: str, model: Model) -> Iterator[Contender]:
    """All that is timed for one model, after a look at whether all methods agree."""
    states = random_states(model, BATCH)
    given = [states[name] for name in ("q", "v", "tau")]
    one = [x[0].copy() for x in given]
    expected = forward_dynamics(model, states["q"], states["v"], states["tau"])
    for method, quantity in QUANTITY.items():
        compiled = model.compile(method)
        error = np.abs(compiled.function(*given)[0] - expected).max() / np.abs(expected).max()
        if not error < AGREEMENT:
            raise AssertionError(f"{case}: {TITLES[method]} differs by {error:.2g}")
        yield Contender(case, quantity, "linkwork", "native", 1, native(compiled, states), BATCH)
        yield Contender(case, quantity, "linkwork", "single", 1, partial(compiled.function, *one), 1)
        yield Contender(case, quantity, "linkwork", "batch1024", 1, partial(compiled.function, *given), BATCH)
    if case.startswith("RC") and peers.module("pinocchio") is not None:
        peer = peers.Pinocchio(model)
        theirs = peer.layout(states)
        inputs = [theirs[name] for name in ("q", "v", "tau")]
        run = peer.batch("forward_dynamics", inputs, np.empty((BATCH, model.nv)), 1)
        assert run is not None
        for quantity in QUANTITY.values():
            yield Contender(case, quantity, "pinocchio", "batch1024", 1, run, BATCH)
        single = partial(peer.functions["forward_dynamics"], *(x[0].copy() for x in inputs))
        yield Contender(case, QUANTITY["classes"], "pinocchio", "single", 1, single, 1)


def published(case: str) -> list[Row]:
    """The paper's figures as rows; the default is compared with Method I."""
    first, second = PUBLISHED[case]
    figures = {"classes": first, "whole": first, "mixed": second}
    head = {"case": case, "engine": "published", "mode": "native", "threads": 1}
    return [{**head, "quantity": QUANTITY[method], "us": us} for method, us in figures.items()]


def run(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> list[Row]:
    """Measure all cases in turns, print the table, and write its rows."""
    require_known(cases, SCENES)
    names = list(dict.fromkeys(cases or (SMALL if quick else SCENES)))
    progress, group, rows = Progress(), [], []
    sizes: dict[str, int] = {}
    for case in names:
        with progress.line(case):
            model = model_of(case)
            sizes[case] = model.nv
            for method, quantity in QUANTITY.items():
                progress.say(f"compiling, {TITLES[method]}")
                seconds, megabytes = preprocessing(case, method)
                head = {"case": case, "engine": "linkwork", "mode": "cold", "threads": 1}
                rows.append({**head, "quantity": quantity.replace("forward_dynamics", "preprocessing"), "us": 1e6 * seconds})
                rows.append({**head, "quantity": quantity.replace("forward_dynamics", "memory_MB"), "us": megabytes})
            progress.say("preparing")
            group += list(contenders(case, model))
    with progress.line("all"):
        progress.say(f"measuring {len(group)} functions in turns")
        rows += rows_of(group, measure(group, QUICK if quick else FULL))
    rows += [row for case in names for row in published(case)]
    notes = [] if peers.module("pinocchio") else [missing("pinocchio")]
    return publish("table1", rows, json, [*notes, *remarks(rows)], parts={}, tables=[overview(rows, sizes)])


def overview(rows: Sequence[Row], sizes: dict[str, int]) -> Table:
    """One line for every model and method."""
    us = {(r["case"], r["quantity"], r["engine"], r["mode"]): r["us"] for r in rows}
    out = Table(title="table 1: forward dynamics", caption="microseconds per state; x pub: how many times faster than published")
    columns = (
        "model",
        "dofs",
        "method",
        "prep s",
        "MB",
        "native",
        "single",
        "batch",
        "published",
        "x native",
        "x batch",
        "pin",
        "x nat",
        "x batch",
    )
    for name in columns:
        out.add_column(name, justify="left" if name in ("model", "method") else "right")
    for case, size in sizes.items():
        for method, quantity in QUANTITY.items():

            def time(mode: str, engine: str = "linkwork", what: str = quantity, of: str = case) -> float | None:
                return us.get((of, what, engine, mode))

            def ratio(a: float | None, b: float | None) -> str:
                return "-" if not a or not b else f"{a / b:.1f}"

            cold = [quantity.replace("forward_dynamics", what) for what in ("preprocessing", "memory_MB")]
            native_us, batch, printed = time("native"), time("batch1024"), time("native", "published")
            pin = time("batch1024", "pinocchio")
            out.add_row(
                case,
                str(size),
                TITLES[method],
                _figure((time("cold", what=cold[0]) or 0.0) / 1e6),
                _figure(time("cold", what=cold[1])),
                *map(_figure, (native_us, time("single"), batch, printed)),
                ratio(printed, native_us),
                ratio(printed, batch),
                _figure(pin),
                ratio(pin, native_us),
                ratio(pin, batch),
                end_section=method == "mixed",
            )
    return out


def remarks(rows: Sequence[Row]) -> Iterator[str]:
    """What stands in the table and what does not."""
    us = {(r["case"], r["engine"]): r["us"] for r in rows if (r["quantity"], r["mode"]) == ("forward_dynamics", "batch1024")}
    torus, hinges = us.get(("TC20", "linkwork")), us.get(("RC100", "pinocchio"))
    if torus and hinges:
        yield f"TC20 batched is {hinges / torus:.1f} times faster than pin.abaInParallel on the chain of 100 hinges"
    yield "pin is pin.abaInParallel on one thread, a compiled loop over the batch"
    yield "published figures are of another machine, of 2010; x native and x batch are against Method I for the default"


def _figure(x: float | None) -> str:
    return "-" if x is None else f"{x:.3g}"
