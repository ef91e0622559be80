"""Whether equality constraints hold where a run begins: a loop that is open there would be pulled shut by forces of any size."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..model.kinematics import kinematics
from ..model.model import Model
from ..model.state import MaximalState, State
from .rows import constraint_set

OPEN = 1e-6  # m or rad, in models larger than 1 m of their size: a residual above counts as open
CHOICES = ("refuse", "allow")


def check_closed(model: Model, state: State | MaximalState, open_loops: str = "refuse") -> None:
    """Raise if an equality constraint is open by more than `OPEN` at a state, or at one of a batch.

    open_loops   "refuse", or "allow": nothing is checked
    """
    if open_loops not in CHOICES:
        raise InputError(f"open_loops must be one of {', '.join(CHOICES)}, not {open_loops!r}")
    c = constraint_set(model)
    counts = ~c.unilateral & c.holonomic
    if open_loops == "allow" or not counts.any():
        return
    q = state.q if isinstance(state, State) else state.q_fit
    poses = kinematics(model, q).poses if isinstance(state, State) else state.poses
    residual = np.abs(np.where(counts, c.residuals(poses, q, state.t), 0.0))
    worst = np.unravel_index(int(np.argmax(residual)), residual.shape)
    if residual[worst] <= OPEN * size_of(poses):
        return
    law = [law for law, rows in c.sizes() for _ in range(rows)][worst[-1]]
    one = f" of state {worst[0]}" if len(worst) > 1 else ""
    raise InputError(
        f"{law!r} is open at the start{one}: its residual is {residual[worst]:.3g}. Start from lw.assemble(model, state), which "
        'closes it, or pass open_loops="allow" to have it pulled shut during the run'
    )


def size_of(poses: np.ndarray) -> float:
    """How far apart bodies are (m), and at least 1 m; poses (..., bodies, 4, 4)."""
    places = poses[..., :3, 3]
    return max(1.0, float(np.ptp(places, axis=-2).max(initial=0.0)), float(np.abs(places).max(initial=0.0)))
