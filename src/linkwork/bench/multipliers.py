"""Lagrange multipliers in O(n): block elimination beside SciPy, implicit frames, and the systems of [Baraff, section 9].

Every engine solves the same equations; that it finds the same solution is checked first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..assembly import Assembly
from ..errors import LinkworkError
from ..kernel.call import Call
from ..kernel.lanes import Lanes
from ..model import Model, State
from ..scenes import baraff
from ..scenes.drag import figure
from ..scenes.hand import hand
from . import models
from .blas import one_blas_thread
from .multiplier_chains import BlockSystem, hinge_chain, stiff
from .multiplier_claims import NOTES, PUBLISHED, claims
from .multiplier_frames import DT, assemble_factor_solve, factor_solve, frames, handle_steps
from .multiplier_routes import banded, conjugate_gradients, dense, matrices, primary_system
from .multiplier_steps import accelerations as native_accelerations
from .multiplier_steps import steps
from .report import Progress, publish, require_known, rows_of
from .timing import FULL, QUICK, Contender, measure

AGREEMENT = 1e-7  # relative; conjugate gradients end at 1e-8 of their residual
WORK = 10_000  # links that one call steps, about
LOOP = 64  # accelerations, or steps, of an assembly in one call
LARGE = 20_000  # links, from which on SciPy and batches would take too long
Group = list[Contender]


def contender(case: str, quantity: str, engine: str, mode: str, run: Callable[[], Any], states: int = 1) -> Contender:
    return Contender(case, quantity, engine, mode, 1, run, states)


def require_same(case: str, ours: np.ndarray, theirs: np.ndarray, engine: str) -> None:
    """Raise unless an engine has found what we have."""
    error = np.abs(ours - theirs).max() / np.abs(ours).max()
    if not error <= AGREEMENT:
        raise LinkworkError(f"{case}: the solutions of linkwork and {engine} differ by {error:.2g} (relative)")


# --- models ---------------------------------------------------------------------------------------------------------------
def implicit_frames(case: str, model: Model, state: State, solves: int | None = None) -> Iterator[Contender]:
    """Whole frames, one model at a time in a compiled loop and eight at once, and the linear solve in them by itself."""
    count = max(1, WORK // model.nb)
    yield contender(case, "implicit_frame", "linkwork", "native", frames(model, state, 1, count, solves), count)
    if model.nb < LARGE:
        yield contender(case, "implicit_frame", "linkwork", "batch64", frames(model, state, 16, 1, solves), 16)
    yield contender(case, "factor_solve", "linkwork", "native", factor_solve(model, state))
    yield contender(case, "assemble_factor_solve", "linkwork", "native", assemble_factor_solve(model, state))


def chain(case: str, links: int, springs: bool) -> Group:
    """A chain of hinges at a configuration: its frames, and its linear system beside SciPy."""
    model = stiff(models.chain(links)) if springs else models.chain(links)
    state = State(0.5 * np.random.default_rng(0).normal(size=model.nv), np.zeros(model.nv))
    group = list(implicit_frames(case, model, state))
    if links >= LARGE:
        return group
    system = hinge_chain(model, state, DT)
    routes = {"linkwork": system.eliminated(), "scipy": system.sparse_lu(), "scipy in order": system.sparse_lu_in_order()}
    twists = factor_solve(model, state)().reshape(-1)
    bodies = np.arange(len(system.b)).reshape(links, 11)[:, 5:].reshape(-1)
    for engine, run in routes.items():
        require_same(case, twists, run()[bodies], engine)
        group.append(contender(case, "factor_solve", engine, "prepared" if engine == "linkwork" else "single", run))
    return group


def hand_frames(case: str, solves: int) -> Group:
    return list(implicit_frames(case, *hand(), solves))


def drag_frames(case: str) -> Group:
    return [*implicit_frames(case, *figure()), contender(case, "handle_step", "linkwork", "single", handle_steps())]


# --- assemblies -----------------------------------------------------------------------------------------------------------
def accelerations(case: str, make: Callable[[], Assembly], bands: bool = False) -> Group:
    """Accelerations of an assembly, prepared, from Python and in a compiled loop; its steps; routes through J M^-1 J^T."""
    assembly = make()
    state = turning(assembly)
    run, none = assembly.acceleration_function(), np.zeros_like(state.v)
    m, ours = matrices(assembly, state), run(state.q, state.v, none).copy()
    routes = {"dense": dense(m), "conjugate gradients": conjugate_gradients(m)} | ({"banded": banded(m)} if bands else {})
    group = [
        contender(case, "accelerations", "linkwork", "prepared", partial(run, state.q, state.v, none)),
        contender(case, "accelerations", "linkwork", "single", partial(assembly.accelerations, state)),
        contender(case, "accelerations", "linkwork", "native", native_accelerations(assembly, state, LOOP), LOOP),
        contender(case, "assembly_step", "linkwork", "native", steps(assembly, assembly.start, 1, LOOP), LOOP),
        contender(case, "assembly_step", "linkwork", "batch64", steps(assembly, assembly.start, 64, 1), 64),
    ]
    for engine, route in routes.items():
        require_same(case, ours, route(), engine)
        group.append(contender(case, "accelerations", engine, "single", route))
    return group if assembly.layout.auxiliary else [*group, *halves(case, primary_system(assembly, m))]


def turning(assembly: Assembly) -> State:
    """The start; all parts move, unless contacts would part."""
    start = assembly.start
    moving = 0.0 if assembly.layout.one_sided else 1.0
    return State(start.q, moving * np.random.default_rng(0).normal(size=start.v.shape))


def halves(case: str, system: BlockSystem) -> Iterator[Contender]:
    """Factor and solve, each by itself."""
    growth, x = np.empty((2, 1, len(system.b)))
    given = dict(zip("DB", system.blocks, strict=True))
    factor = Call(system.tree.plan(Lanes(1), "factor", ()), given, {"growth": growth}, 1)
    solve = Call(system.tree.plan(Lanes(1), "apply", ()), {"b": system.b}, {"x": x}, 1, factor)
    factor()
    solve()
    require_same(case, x[0], system.eliminated()(), "both at once")
    yield contender(case, "factor", "linkwork", "prepared", factor)
    yield contender(case, "solve", "linkwork", "prepared", solve)


CASES: dict[str, Callable[[str], Group]] = {
    **{f"chain{n}": partial(chain, links=n, springs=False) for n in (10, 100, 1000, 10000, 100000)},
    **{f"chain{n}_grandparents": partial(chain, links=n, springs=True) for n in (100, 1000, 10000)},
    "hand": partial(hand_frames, solves=1),
    "hand_limits": partial(hand_frames, solves=4),
    "drag": drag_frames,
    "plane108": partial(accelerations, make=baraff.open_flower),
    "plane96+12": partial(accelerations, make=baraff.closed_flower),
    "space96+3": partial(accelerations, make=baraff.tripod),
    "space381": partial(accelerations, make=baraff.tree),
    "chain381": partial(accelerations, make=partial(baraff.chain, 128), bands=True),
}
SMALL = ("chain10", "chain100_grandparents", "plane108", "plane96+12", "space381")
TABLES = {
    "linear systems": ("factor_solve", "factor", "solve", "assemble_factor_solve"),
    "steps": ("implicit_frame", "handle_step", "assembly_step"),
    "accelerations": ("accelerations",),
}


def run(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Time the cases and publish the rows."""
    require_known(cases, CASES)
    rows: list[dict[str, Any]] = []
    progress = Progress()
    with one_blas_thread() as single:
        for name in cases or (SMALL if quick else CASES):
            with progress.line(name):
                progress.say("building")
                group = CASES[name](name)
                progress.say(f"measuring {len(group)} functions")
                rows += rows_of(group, measure(group, QUICK if quick else FULL))
            rows += [{"case": name, "engine": "published", "threads": 1, **row} for row in PUBLISHED.get(name, ())]
    threads = [] if single else ["NumPy's linear algebra may have used several threads: its times are those of one of them"]
    return publish("multipliers", rows, json, [*NOTES, *threads, *claims(rows)], parts=TABLES)
