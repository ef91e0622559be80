"""Forward dynamics of the loaded tree: every force and row of a model, one state or a batch.

A module of its own, as a bare tree needs none of what it imports.
"""

from __future__ import annotations

import functools
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ..elements.collection import Collection, Shape, collection
from ..errors import InputError
from ..kernel.sweep import SCALAR, Algorithm, Field, each
from ..model.accepts import takes_model
from ..model.arrays import Interface
from ..model.kinematics import kinematics
from ..model.model import Model
from ..rows.solved import ACCELERATION
from ..spatial.gate import check_unused, finite_reals
from .contradictions import check_rows_meet, is_rounding
from .program import dynamics, fields


class ConstrainedAcceleration(NamedTuple):
    """Joint accelerations (..., nv), and the multipliers (..., rows) of all constraints."""

    accelerations: np.ndarray
    multipliers: np.ndarray


def hand_out(n: Any) -> None:
    """Accelerations, for the caller."""
    n.accelerations = n.free_v


@functools.cache
def loaded_dynamics(shape: Shape) -> Algorithm:
    """Accelerations and multipliers of models with such laws."""
    found = fields(shape) | {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "t": Field("input", "global", SCALAR),
        "accelerations": Field("output", "v"),
    }
    found |= {"foot": Field("output", "unknown", of="constraint")} if shape[1] >= 0 else {}
    steps = [*dynamics(shape, ACCELERATION), each(hand_out)]
    return Algorithm(f"forward_dynamics_{'_'.join(map(str, map(int, shape)))}", found, {"run": steps})


def law_tails(laws: Collection) -> dict[str, tuple[int, ...]]:
    """The shapes of the fields of laws, of one state."""
    rows, unknowns = (laws.row_count,), (sum(c.unknowns for c in laws.rows),)
    of_rows = dict.fromkeys(("x", "missing", "borne"), rows) | dict.fromkeys(("unknown", "foot"), unknowns)
    return of_rows | {"u": (len(laws.initial_inputs),), "told": (laws.told_count,)}


def _refuse_friction(laws: Collection) -> None:
    """Raise if contacts or the insides of joints have friction, which accelerations alone do not say."""
    if laws.rubs or laws.rubs_inside:
        rubbing = next(law for law in laws.rows if law.cones or law.by_reaction)
        raise InputError(f"{rubbing!r} has friction, which accelerations do not say: simulate, with a stepper that takes it")


def given_laws(laws: Collection, q: Any, t: Any, inputs: Any, rows: bool) -> dict[str, Any]:
    """What laws of a program look at besides the motion: time, inputs of forces and, if rows take part, what these must know."""
    given: dict[str, Any] = {"t": np.array([t]) if type(t) is float and isfinite(t) else given_times(t)}
    if laws.forces:
        given["u"] = laws.initial_inputs if inputs is None else inputs
    elif inputs is not None:
        check_unused(None, inputs)
    if rows:
        _refuse_friction(laws)
        times = np.ravel(t) if laws.told_count else np.zeros(1)
        given["told"] = _looked(laws, np.asarray(q, float), times) if laws.looks else _told(laws, times)
        given["unknown"] = laws.first_unknowns(np.atleast_2d(np.asarray(q, float)))
        if np.ndim(q) == 1:
            given["unknown"] = given["unknown"][0]
    return given


def _told(laws: Collection, times: np.ndarray) -> np.ndarray:
    """What rows must know at one time, or at each of a batch."""
    return laws.told_at(float(times[0])) if len(times) == 1 else np.array([laws.told_at(float(t)) for t in times])


def _looked(laws: Collection, q: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The same where some rows look at the poses of bodies."""
    poses = kinematics(laws.model, q).poses
    if q.ndim == 1:
        return laws.told_at(float(times[0]), poses)
    return np.array([laws.told_at(float(t), E) for t, E in zip(np.broadcast_to(times, len(q)), poses, strict=True)])


def given_times(t: Any) -> np.ndarray:
    """One time (1,), or those of a batch (batch, 1)."""
    t = finite_reals("t", t)
    if t.ndim > 2 or t.shape[1:] not in ((), (1,)) or (t.ndim and not t.size):
        raise InputError(f"t must be one time, or one for every state of a batch, not of shape {t.shape}")
    return t.reshape((-1, 1) if t.size > 1 else (1,))


def _interface(laws: Collection) -> Interface:
    def make() -> Interface:
        return Interface(laws.model, loaded_dynamics(laws.shape), laws.plan, law_tails(laws))

    return laws.model.keep_as(loaded_dynamics, make)


@takes_model
def constrained_dynamics(
    model: Model,
    q: Any,
    v: Any,
    tau: Any = None,
    external: Any = None,
    threads: int | None = 1,
    *,
    t: Any = 0.0,
    inputs: Any = None,
    limit_model: str = "hard",
    contact: str = "exact",
) -> ConstrainedAcceleration:
    """Joint accelerations (..., nv), and the multipliers (..., rows) of all constraints, those that only push included.

    Arguments as of `forward_dynamics`, and
    limit_model   "hard": the limits that joints declare are stops;  "off": they are not
    contact       how shapes touch, as in `simulate`; "off": not at all, and no `Contact` acts

    Rows of constraints between bodies come first, then those on joints, in the order in which they were added; after them
    contacts of shapes, then stops and dry friction that joints declare. A row that only pushes acts where it touches and does
    not part [Sueda, Eqs. 2.105, 2.125-2.127; errata 004-15]. Where contacts have friction, the problem is dense, one state at a
    time (see `contact_forces`). Raises `SolverError` if rows contradict one another.

    >>> closed = model.add(lw.Coupling("lower", "upper", ratio=-0.5))
    >>> a, forces = lw.constrained_dynamics(closed, [0.2, -0.1], [0.0, 0.0])
    >>> bool(np.isclose(a[1], -0.5 * a[0]))
    True
    """
    from ..rows.declared import acting, own_first  # shapes, which few need

    found = acting(model, limit_model, contact)
    a, x = all_rows_dynamics("constrained_dynamics", found, q, v, tau, external, threads, t, inputs)
    return ConstrainedAcceleration(a, x if found is model else x[..., own_first(model, found)])


def all_rows_dynamics(
    call: str, model: Model, q: Any, v: Any, tau: Any, external: Any, threads: int | None, t: Any, inputs: Any
) -> ConstrainedAcceleration:
    """The same of the laws that a model has, in the order of `collection`; `call` is what is asked for, in messages."""
    if collection(model).rubs:
        from .contact_forces import rubbing_dynamics

        return ConstrainedAcceleration(*rubbing_dynamics(model, q, v, tau, external, t, inputs))
    out = solved_dynamics(collection(model), q, v, tau, external, threads, t, inputs)
    if "left" in out:
        check_rows_meet(call, model, out, q, v, t)
    return _constrained(out)


def row_dynamics(
    model: Model,
    q: Any,
    v: Any,
    tau: Any = None,
    external: Any = None,
    threads: int | None = 1,
    *,
    t: Any = 0.0,
    inputs: Any = None,
) -> ConstrainedAcceleration:
    """The same without friction of contacts; rows that contradict one another share what they miss, as in a step."""
    return _constrained(solved_dynamics(collection(model), q, v, tau, external, threads, t, inputs))


def _constrained(out: dict[str, np.ndarray]) -> ConstrainedAcceleration:
    a = out["accelerations"]
    return ConstrainedAcceleration(a, out["x"] if "x" in out else np.zeros((*a.shape[:-1], 0)))


def solved_dynamics(
    laws: Collection, q: Any, v: Any, tau: Any, external: Any, threads: int | None, t: Any, inputs: Any
) -> dict[str, np.ndarray]:
    """The "accelerations", and where there are rows their multipliers "x", what is "left" of the one that is met least and, if
    they have any, unknowns "foot"."""
    given = _given(laws, q, v, tau, external, t, inputs)
    wanted = ("accelerations", *(["x", "left"] if laws.rows else []), *(["foot"] if any(c.unknowns for c in laws.rows) else []))
    return _interface(laws)(given, threads, wanted)


def _given(laws: Collection, q: Any, v: Any, tau: Any, external: Any, t: Any, inputs: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"q": q, "v": v, "tau": tau, "external": external, "gravity": laws.model.gravity}
    return given | given_laws(laws, q, t, inputs, bool(laws.rows))


def smooth_dynamics(
    model: Model, q: Any, v: Any, tau: Any, external: Any, threads: int | None, t: Any, inputs: Any
) -> np.ndarray:
    """See `forward_dynamics`: rows that only push are left out."""
    laws = collection(without_pushes(model))
    given, wanted = _given(laws, q, v, tau, external, t, inputs), ("accelerations", "left") if laws.rows else ("accelerations",)
    out = _interface(laws)(given, threads, wanted)
    if laws.rows and not is_rounding(out["left"]):
        check_rows_meet("forward_dynamics", laws.model, solved_dynamics(laws, q, v, tau, external, threads, t, inputs), q, v, t)
    return out["accelerations"]


def without_pushes(model: Model) -> Model:
    """The model with its forces and equality constraints alone, kept with it."""
    if not any(c.unilateral for c in collection(model).rows):
        return model
    kept = [e for e in model.elements if not getattr(e, "unilateral", False)]
    return model.keep_as(without_pushes, lambda: model.replace(elements=kept))
