"""Whether equality constraints hold where a run begins: a loop that is open there would be pulled shut by forces of any size.

Most starts are closed, and one compiled call sees it: residuals g, and the volume det(A) of the rows G by A = G M^-1 G^T, scaled
to a diagonal of 1 or less. The product of all its eigenvalues but the least is below e, as their sum is below their number plus
one; so the least is above det(A) / e, and where that is far from zero no row depends on others, and none can be locked.
"""

from __future__ import annotations

import functools

import numpy as np

from ..constraints.closure_domains import ClosureCoordinates, bounded_closures
from ..constraints.rows import constraint_set
from ..constraints.singular import LARGE, locks
from ..elements.collection import Shape, collection
from ..errors import InputError, SolverError
from ..kernel.loops import Ints, Lane, Table, loops, maximum, sqrt, where
from ..kernel.sweep import SCALAR, Algorithm, Field, Routine, each, inward, outward
from ..model.arrays import Interface
from ..model.kinematics import kinematics
from ..model.model import Model
from ..model.state import LEFT_OPEN, MaximalState, State
from ..rows.solved import MATRIX, carrying_up, row_fields
from ..solvers.boxes import gather
from ..solvers.dense import factor as factor_dense
from ..solvers.gram import gram
from ..spatial.gate import meant
from .loaded import row_dynamics
from .projection import arrange, factor, hold_positions, projection_fields, watch_equalities

OPEN = 1e-6  # m or rad, in models larger than 1 m of their size: a residual above counts as open
CHOICES = ("refuse", "allow")
VOLUME = 1e-3  # of scaled rows: above, they are independent beyond doubt
NOTHING = 0.0
AT_REST = 1e-9  # rad/s^2, m/s^2, beside gravity: a load that accelerates by less is none


def check_closed(model: Model, state: State | MaximalState, open_loops: str = "refuse") -> None:
    """Raise if an equality constraint is open by more than `OPEN` at a state, or at one of a batch, and by more than the run left
    it that ended there; or locks a single one.

    open_loops   "refuse", or "allow": nothing is checked
    """
    if not isinstance(open_loops, str) or open_loops not in CHOICES:
        raise InputError(f"open_loops must be one of {', '.join(CHOICES)}, not {open_loops!r}{meant(open_loops, CHOICES)}")
    if not model.elements:
        return
    if open_loops == "allow" or not model.keep_as(closing_rows, lambda: closing_rows(model).any()):
        return
    c, counts = constraint_set(model), closing_rows(model)
    q = state.q if isinstance(state, State) else state.q_fit
    if isinstance(state, State) and _surely_closed(model, q, state.t):
        _check_domains(model, q, state.t)
        return
    poses = kinematics(model, q).poses if isinstance(state, State) else state.poses
    residual = np.abs(np.where(counts, c.residuals(poses, q, state.t), 0.0))
    worst = np.unravel_index(int(np.argmax(residual)), residual.shape)
    if residual[worst] <= max(OPEN * size_of(poses), left_open(state)[0]):
        _check_locks(model, state, q)
        _check_domains(model, q, state.t)
        return
    law = [law for law, rows in c.sizes() for _ in range(rows)][worst[-1]]
    one = f" of state {worst[0]}" if len(worst) > 1 else ""
    raise InputError(
        f"{law!r} is open at the start{one}: its residual is {residual[worst]:.3g}. Start from lw.assemble(model, state), which "
        'closes it, or pass open_loops="allow" to have it pulled shut during the run'
    )


def left_open(state: State | MaximalState) -> np.ndarray:
    """How far, and how fast, the run that ended at a state left equality constraints open; rounding is added."""
    return (1.0 + 1e-9) * (state.memory or {}).get(LEFT_OPEN, np.zeros(2)) + 1e-14


def closing_rows(model: Model) -> np.ndarray:
    """Which rows hold positions by equations (rows,)."""
    c = constraint_set(model)
    return ~c.unilateral & c.holonomic


# --- by one compiled call ----------------------------------------------------------------------------------------------------
@loops
def volume_of(active: Ints, groups: Table, A: Lane, L: Lane, d: Lane, scale: Lane, volume: Lane) -> None:
    """The determinant of A, rows scaled so that the largest diagonal of every group is 1."""
    m = active[0]
    for i in range(m):
        size = 0.0 * A[0]
        for k in range(m):
            if groups[active[k + 1]] == groups[active[i + 1]]:
                size = maximum(size, A[k * (k + 1) // 2 + k])
        scale[i] = where(size > 0.0, 1.0 / sqrt(where(size > 0.0, size, 1.0)), 0.0)
    for i in range(m):
        for k in range(i + 1):
            a = i * (i + 1) // 2 + k
            L[a] = A[a] * (scale[i] * scale[k])
    factor_dense(m, L, d, NOTHING)
    volume[0] = 1.0 + 0.0 * A[0]
    for i in range(m):
        volume[0] = where(d[i] > 0.0, volume[0] / where(d[i] > 0.0, d[i], 1.0), 0.0)


@functools.cache
def closedness(shape: Shape) -> Algorithm:
    """Residuals of the equality constraints on positions (zero of all others), and the volume of their rows."""
    ports = [f"p{i}" for i in range(shape[1])]
    found = {
        **row_fields(),
        **projection_fields(),
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "t": Field("input", "global", SCALAR),
        "error": Field("output", "rows", of="constraint"),
        "volume": Field("output", "global", SCALAR),
    }
    steps = [
        outward(arrange),
        inward(factor),
        each(watch_equalities, *ports, on="constraint"),
        *carrying_up(hold_positions, ports),
        Routine(gather, ("rows", "on", "x", "busy", "left", "active")),
        Routine(gram, MATRIX),
        Routine(volume_of, ("active", "groups", "A", "LDL", "d", "scale", "volume")),
    ]
    return Algorithm(f"closedness_{'_'.join(map(str, map(int, shape)))}", found, {"run": steps})


def _surely_closed(model: Model, q: np.ndarray, t: float) -> bool:
    """Whether a state, or every one of a batch, is closed beyond doubt, and a single one is not locked."""
    laws = collection(model)
    call = model.keep_as(closedness, lambda: closedness_call(model))
    unknown = laws.first_unknowns(np.atleast_2d(q))
    given = {"q": q, "v": None, "t": np.array([t]), "told": laws.told_at(t), "unknown": unknown if q.ndim > 1 else unknown[0]}
    found = call(given, 1, ("error", "volume"))
    if not np.abs(found["error"]).max(initial=0.0) <= OPEN:
        return False
    return q.ndim > 1 or model.nv > LARGE or bool(found["volume"][0] > VOLUME)


def closedness_call(model: Model) -> Interface:
    """`closedness` as a function of arrays."""
    laws = collection(model)
    sizes = {"error": (laws.row_count,), "told": (laws.told_count,), "unknown": (sum(c.unknowns for c in laws.rows),)}
    return Interface(model, closedness(laws.shape), laws.plan, sizes | {"x": (laws.row_count,)})


def _check_locks(model: Model, state: State | MaximalState, q: np.ndarray) -> None:
    """Raise if no motion leads away from a position, and forces to hold it have no bound."""
    held = locks(model, q, state.t) if q.ndim == 1 else ()
    if held and not _rests(model, state, q):
        raise SolverError(
            f"the start is a singular position: {', '.join(held)} locks it to second order only, and no finite force holds it. "
            'Start from another, leave out what locks it, or pass open_loops="allow" to see it give way by a part of a step'
        )


def _rests(model: Model, state: State | MaximalState, q: np.ndarray) -> bool:
    """Whether a position that is held to second order only bears its loads: nothing moves, and nothing pulls it where rows answer
    nothing. Bars pinned straight carry what acts along them."""
    if np.any(state.v if isinstance(state, State) else state.twists):
        return False
    a = row_dynamics(model, q, np.zeros(model.nv), t=state.t).accelerations
    return bool(np.abs(a).max(initial=0.0) <= AT_REST * (1.0 + np.abs(model.gravity).max()))


def _check_domains(model: Model, q: np.ndarray, t: float) -> None:
    """Raise if a joint that closes a loop is outside its domain."""
    if not bounded_closures(model):
        return
    closures = ClosureCoordinates(model)
    x = closures.at(q.reshape(-1, 1, model.nq), np.array([t]))[:, 0]
    x = x[np.isfinite(x).all(axis=-1)]
    for law, part in closures.parts:
        problem = law.pair.checked(x[:, part])
        if problem:
            raise InputError(f"{law!r} at the start: {problem}")


def size_of(poses: np.ndarray) -> float:
    """How far apart bodies are (m), and at least 1 m; poses (..., bodies, 4, 4)."""
    places = poses[..., :3, 3]
    return max(1.0, float(np.ptp(places, axis=-2).max(initial=0.0)), float(np.abs(places).max(initial=0.0)))
