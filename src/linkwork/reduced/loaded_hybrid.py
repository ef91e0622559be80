"""Hybrid dynamics of the loaded tree: some joints move as told, under every force and equality row of a model.

A prescribed joint is rigid to rows: they climb over it undiminished and cause no change of it (`hybrid` for the tree itself).
Rows that concern prescribed joints alone are overruled. Once accelerations and the forces of rows are known, inverse dynamics
says what makes the prescribed joints move as they do.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..elements.collection import Shape, collection
from ..kernel.plans import Plans
from ..kernel.sweep import SCALAR, Algorithm, Field, Step, each, inward, outward
from ..model.arrays import Interface
from ..model.model import Model
from ..rows import solved
from ..rows.solved import ACCELERATION, rules_of, solved_rows
from ..spatial.scalar import zeros
from . import forward, program
from .contradictions import check_rows_meet_told
from .hybrid import pass_undiminished, prescribed_bodies, with_prescribed
from .loaded import given_laws, hand_out, law_tails, without_pushes
from .loaded_inverse import interface_of, loaded_inverse
from .program import act, begin_loads, place, twist_rate


# --- rules -------------------------------------------------------------------------------------------------------------------
def inertias(n: Any, parent: Any) -> None:
    """As in forward dynamics, or the subtree as it is."""
    if n.prescribed:
        pass_undiminished(n, parent, n.load)
    else:
        program.loaded_inertia(n, parent)


def accelerations(n: Any, parent: Any) -> None:
    """Those of joints, found or told, without rows."""
    if n.prescribed:
        n.acc = n.E.pull_twist(parent.acc) + n.zeta + n.S @ n.a_given
        n.free_v = n.a_given
    else:
        forward.accelerations(n, parent)
        n.free_v = n.a


def accelerations_of_bodies(n: Any, parent: Any) -> None:
    """And of bodies, for rows to look at."""
    accelerations(n, parent)
    n.free = twist_rate(n)


def climb(n: Any, place: Any, up: Any) -> None:
    """One row at one joint on its way to the root."""
    if not n.prescribed:
        solved.climb(n, place, up)
        return
    p, none = place.p, zeros(len(n.v))
    place.u_rows, place.y_rows, place.p, place.c = none, none, zeros(6), none
    if not n.is_root:
        up.p = up.p + n.E.move_wrench(p)


def correct(n: Any, parent: Any) -> None:
    """Add what rows cause to the free motion."""
    if n.prescribed:
        n.jump, n.dy = n.E.pull_twist(parent.jump), zeros(len(n.v))
    else:
        program.correct(n, parent)


# --- the program -------------------------------------------------------------------------------------------------------------
@functools.cache
def loaded_hybrid(shape: Shape) -> Algorithm:
    """Accelerations and multipliers of models with such laws."""
    forces, rows, on_bodies, _ = shape
    steps: list[Step] = [outward(forward.velocities), *([outward(place)] if on_bodies else []), each(begin_loads)]
    steps += [each(act, *(f"p{i}" for i in range(forces)), on="force")] if forces >= 0 else []
    steps += [inward(inertias), outward(accelerations_of_bodies if on_bodies and rows >= 0 else accelerations)]
    steps += solved_rows(rows, rules_of(ACCELERATION), correct, climb) if rows >= 0 else []
    fields = program.fields(shape) | {name: Field("input", name) for name in ("q", "v")}
    fields |= {"a_given": Field("input", "v"), "t": Field("input", "global", SCALAR), "accelerations": Field("output", "v")}
    return Algorithm(f"hybrid_dynamics_{'_'.join(map(str, map(int, shape)))}", fields, {"run": [*steps, each(hand_out)]})


def loaded_hybrid_dynamics(
    model: Model,
    q: Any,
    v: Any,
    tau: Any,
    a: Any,
    prescribed: str | Iterable[str],
    external: Any,
    threads: int | None,
    t: Any,
    inputs: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """See `hybrid_dynamics`."""
    fixed, laws = prescribed_bodies(model, prescribed), collection(without_pushes(model))

    def make() -> Interface:
        return Interface(model, loaded_hybrid(laws.shape), Plans(with_prescribed(laws.tree, fixed)), law_tails(laws))

    moving = {"q": q, "v": v, "external": external, "gravity": model.gravity, **given_laws(laws, q, t, inputs, bool(laws.rows))}
    wanted = ("accelerations", "x", "left") if laws.rows else ("accelerations",)
    found = model.keep_as((loaded_hybrid, fixed), make)({**moving, "tau": tau, "a_given": a}, threads, wanted)
    moving |= {"a": found["accelerations"], **({"x": found["x"]} if laws.rows else {})}
    told = np.zeros(model.nv, dtype=bool)
    starts = model.tree.offsets("v")
    for i in fixed:
        told[starts[i] : starts[i + 1]] = True
    if laws.rows:
        check_rows_meet_told(laws.model, found, q, v, t, told)
    needed = interface_of(laws, loaded_inverse(laws.shape))(moving, threads, ("tau",))["tau"]
    return found["accelerations"], np.where(told, needed, 0.0 if tau is None else np.asarray(tau, float))
