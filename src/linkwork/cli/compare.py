"""`linkwork compare`: one model by every formulation."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import Any

from ..errors import InputError
from .app import FOUND, Flag, Loading, Names, Rest, Timing, app, print_json
from .problem import METHODS, Problem, problem_of
from .tables import print_rows


@app.command
def compare(
    what: str,
    /,
    *rest: Rest,
    methods: Names = ("all",),
    timing: Timing = Timing(),  # noqa: B008  frozen
    loading: Loading = Loading(),  # noqa: B008
    within: float | None = None,
    json: Flag = False,
    headless: Flag = False,
) -> None:
    """Simulate by every formulation and print how far they agree, how they drift and how long they take.

    Distances are those of the origins of all bodies at the end, to the first method and to the same method with half the step:
    methods of one order agree as well as their steps allow.

    Examples:
        linkwork compare pendulum
        linkwork compare stack --methods reduced --methods redmax --duration 0.5
        linkwork compare robot.urdf --duration 0.5 --within 1e-3 --json

    Parameters
    ----------
    what
        Name of a scene, or a file of a model.
    methods
        reduced, maximal, maximal-implicit, redmax, or all; may be repeated.
    within
        Metres; the exit code is 1 if a method is farther from the first.
    json
        Print the rows as JSON.
    headless
        Has no effect: nothing is opened.
    """
    problem = problem_of(what, rest, loading)
    for name in methods:
        if name not in (*METHODS, "all"):
            raise InputError(f"compare: there is no method {name!r}; choose {', '.join(METHODS)} or all")
    chosen = METHODS if "all" in methods else tuple(dict.fromkeys(methods))
    rows = rows_of(problem, chosen, timing)
    if json:
        print_json({"name": problem.name, "rows": rows})
    else:
        _print(problem, rows)
    failed = all(r["error"] for r in rows)
    if failed or (within is not None and any(r["distance"] is not None and not r["distance"] <= within for r in rows)):
        sys.exit(FOUND)


def rows_of(problem: Problem, methods: tuple[str, ...], timing: Timing) -> list[dict[str, Any]]:
    """A row a method: distance to the first, to itself with half the step, drift, errors, time; or what it cannot do."""
    from ..errors import LinkworkError

    rows: list[dict[str, Any]] = []
    first = None
    for method in methods:
        row: dict[str, Any] = dict.fromkeys(("distance", "half_step", "energy_drift", "gap", "us_per_step", "error"))
        row = {"method": method} | row
        rows.append(row)
        own = replace(timing, method=method)  # type: ignore[arg-type]
        dt = problem.dt if timing.dt is None else timing.dt
        try:
            problem.simulate(own, duration=dt)
            start = time.process_time()
            run = problem.simulate(own)
            seconds = time.process_time() - start
            finer = problem.simulate(own, dt=0.5 * dt)
        except LinkworkError as error:
            row["error"] = " ".join(str(error).split())
            continue
        end, health = run.poses[-1, :, :3, 3], run.health
        first = end if first is None else first
        gaps = [x for x in (health.joint_gap, health.constraint_residual) if x is not None]
        row |= {"distance": _distance(end, first), "half_step": _distance(end, finer.poses[-1, :, :3, 3])}
        row |= {"energy_drift": health.energy_drift, "gap": max(gaps, default=0.0)}
        row |= {"us_per_step": 1e6 * seconds / max(1, len(run) - 1)}
    return rows


def _distance(a: Any, b: Any) -> float:
    import numpy as np

    return float(np.linalg.norm(a - b, axis=-1).max())


def _print(problem: Problem, rows: list[dict[str, Any]]) -> None:
    heads = ("method", "to the first (m)", "to half the step (m)", "energy drift", "gaps (m)", "us/step")
    table: list[tuple[str, ...]] = [heads]
    for r in rows:
        if r["error"] is None:
            names = ("distance", "half_step", "energy_drift", "gap")
            table.append((r["method"], *(f"{r[name]:.2e}" for name in names), f"{r['us_per_step']:.1f}"))
    print(f"{problem.name}")
    print_rows(table)
    for r in rows:
        if r["error"] is not None:
            print(f"{r['method']} cannot run it: {r['error']}")
