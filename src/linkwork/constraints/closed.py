"""Whether equality constraints hold where a run begins: a loop that is open there would be pulled shut by forces of any size."""

from __future__ import annotations

import numpy as np

from ..errors import InputError, SolverError
from ..model.kinematics import kinematics
from ..model.model import Model
from ..model.state import MaximalState, State
from .rows import constraint_set
from .singular import locks

OPEN = 1e-6  # m or rad, in models larger than 1 m of their size: a residual above counts as open
CHOICES = ("refuse", "allow")


def check_closed(model: Model, state: State | MaximalState, open_loops: str = "refuse") -> None:
    """Raise if an equality constraint is open by more than `OPEN` at a state, or at one of a batch; or locks a single one.

    open_loops   "refuse", or "allow": nothing is checked
    """
    if open_loops not in CHOICES:
        raise InputError(f"open_loops must be one of {', '.join(CHOICES)}, not {open_loops!r}")
    if not model.elements:
        return
    if open_loops == "allow" or not model.keep_as(closing_rows, lambda: closing_rows(model).any()):
        return
    c, counts = constraint_set(model), closing_rows(model)
    q = state.q if isinstance(state, State) else state.q_fit
    seen, start = model.keep_as(check_closed, dict), (type(state), state.t, q.shape, q.tobytes())
    if isinstance(state, State) and seen.get("closed") == start:  # many runs begin where the last one did
        return
    poses = kinematics(model, q).poses if isinstance(state, State) else state.poses
    residual = np.abs(np.where(counts, c.residuals(poses, q, state.t), 0.0))
    worst = np.unravel_index(int(np.argmax(residual)), residual.shape)
    if residual[worst] <= OPEN * size_of(poses):
        _check_locks(model, q, state.t)
        seen["closed"] = start
        return
    law = [law for law, rows in c.sizes() for _ in range(rows)][worst[-1]]
    one = f" of state {worst[0]}" if len(worst) > 1 else ""
    raise InputError(
        f"{law!r} is open at the start{one}: its residual is {residual[worst]:.3g}. Start from lw.assemble(model, state), which "
        'closes it, or pass open_loops="allow" to have it pulled shut during the run'
    )


def closing_rows(model: Model) -> np.ndarray:
    """Which rows hold positions by equations (rows,)."""
    c = constraint_set(model)
    return ~c.unilateral & c.holonomic


def _check_locks(model: Model, q: np.ndarray, t: float) -> None:
    """Raise if no motion leads away from a position, and forces to hold it have no bound."""
    held = locks(model, q, t) if q.ndim == 1 else ()
    if held:
        raise SolverError(
            f"the start is a singular position: {', '.join(held)} locks it to second order only, and no finite force holds it. "
            'Start from another, leave out what locks it, or pass open_loops="allow" to see it give way by a part of a step'
        )


def size_of(poses: np.ndarray) -> float:
    """How far apart bodies are (m), and at least 1 m; poses (..., bodies, 4, 4)."""
    places = poses[..., :3, 3]
    return max(1.0, float(np.ptp(places, axis=-2).max(initial=0.0)), float(np.abs(places).max(initial=0.0)))
