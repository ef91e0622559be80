"""Velocities that break equality constraints where a run begins.

A step on velocities takes them away, as an impulse does. One on accelerations, G v_dot = -bias, keeps g_dot as it is: a wheel
would run free of its gear. There a run begins with the velocities that an impulse leaves, the nearest in the metric of the mass:

    v' = v - M^-1 G^T (G M^-1 G^T)^+ g_dot.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..constraints.rows import constraint_set
from ..elements.collection import collection
from ..maximal.projection import maximal_projection
from ..model import MaximalState, Model, State
from ..reduced.closed import left_open
from ..reduced.projection import RATES, projection

BROKEN = 1e-4  # of the largest velocity, or of 1: rates above break a constraint; below may be what a run before has drifted
NOTED = 1e-2  # the same: below may be what implicit steps leave of their order


def admissible(model: Model, state: State | MaximalState) -> tuple[State | MaximalState, tuple[str, ...]]:
    """A state, or a batch of them, with velocities that equality constraints allow, and a line if they are others than given."""
    if not collection(model).rows:
        return state, ()
    changed, broken = _joints(model, state) if isinstance(state, State) else _bodies(model, state)
    return (changed, (said(model, broken),)) if broken.any() else (state, ())


def _joints(model: Model, state: State) -> tuple[State, np.ndarray]:
    """The state with other velocities, and how fast constraints were left (states, rows)."""
    q, v = np.atleast_2d(state.q), np.atleast_2d(state.v)
    out = projection(model).step(RATES, q, v, state.t, collection(model).first_unknowns(q))
    broken = broken_rates(model, out["error"], v, left_open(state)[1])
    if not broken.any():
        return state, broken
    v = np.where(np.any(broken, axis=-1)[:, None], v + out["free_v"], v)
    return replace(state, v=v.reshape(state.v.shape)), broken


def _bodies(model: Model, state: MaximalState) -> tuple[MaximalState, np.ndarray]:
    """The same in maximal coordinates."""
    by, single = maximal_projection(model), state.twists.ndim == 2
    parts = zip(state.poses, state.twists, state.q_fit, strict=True)
    ones = [state] if single else [MaximalState(*part, state.t) for part in parts]
    found = [by.step(RATES, one) for one in ones]
    sizes = np.array([one.twists.reshape(-1) for one in ones])
    broken = broken_rates(model, np.array([out["error"] for out in found]), sizes, left_open(state)[1])
    twists = [out["twists"] if b.any() else one.twists for out, b, one in zip(found, broken, ones, strict=True)]
    return replace(state, twists=np.array(twists).reshape(state.twists.shape)), broken


def broken_rates(model: Model, rates: np.ndarray, v: np.ndarray, left: float = 0.0, share: float = BROKEN) -> np.ndarray:
    """How fast equality constraints (states, rows) are left at velocities (states, ...); 0 where that is as good as not at all,
    or as the run before left them.

    share   of the largest velocity, or of 1, that counts as none
    """
    slack = model.keep_as(broken_rates, lambda: constraint_set(model).unilateral | constraint_set(model).of("bounded"))
    most = np.maximum(share * np.maximum(1.0, np.abs(v).max(axis=-1, initial=0.0)), left)
    size = np.where(slack, 0.0, np.abs(rates))
    return np.where(size > most[:, None], size, 0.0)


def said(model: Model, broken: np.ndarray) -> str:
    """A line about the rates of `broken_rates`."""
    state, row = (int(k) for k in np.unravel_index(int(np.argmax(broken)), broken.shape))
    law = [law for law, rows in constraint_set(model).sizes() for _ in range(rows)][row]
    one = f" of state {state}" if len(broken) > 1 else ""
    return (
        f"the velocities at the start{one} broke {law!r}, by {broken[state, row]:.3g} m/s or rad/s: an impulse changed them "
        "(lw.assemble gives those that obey)"
    )
