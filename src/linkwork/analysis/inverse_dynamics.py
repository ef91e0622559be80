"""Inverse dynamics of models with loops and contacts: what drives and what constraints carry, by a stated choice.

M a + (all other forces) = tau + G^T x leaves a choice where there are more forces than accelerations: internal forces. Here
joints that are not driven exert nothing, contacts only push, and of what is left the joint forces with the least sum of
squares are taken, then the least x.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..constraints.targets import TOUCHING
from ..errors import SolverError
from ..model.accepts import takes_model
from ..model.kinematics import kinematics
from ..model.model import Model
from ..model.state import Motion
from ..reduced.dynamics import inverse_dynamics
from ..solvers.quadratic import QuadraticProgram
from ..spatial.gate import given_number
from .entrance import one_state

SMALL = 1e-12  # weight of the multipliers' squares beside those of the joint forces


@dataclass(frozen=True, eq=False)
class Shared:
    """Joint forces tau (nv,), multipliers of all rows (zero where a contact is open), and what balances neither (nv,)."""

    tau: np.ndarray
    multipliers: np.ndarray
    left: np.ndarray

    @property
    def residual(self) -> float:
        """The largest force that nothing carries: accelerations that cannot be had with these drives leave one."""
        return float(np.abs(self.left).max(initial=0.0))


@takes_model
def shared_inverse_dynamics(
    model: Model, q: Any, v: Any, a: Any, driven: Iterable[str] | str | None = None, *, t: float = 0.0, inputs: Any = None
) -> Shared:
    """The joint forces and constraint forces behind accelerations of one state, by the choice of the module's text.

    driven   names of joints with drives, or one; all but free ones if None
    """
    q = one_state("q", q, model.nq)
    v, a = one_state("v", v, model.nv), one_state("a", a, model.nv)
    t = given_number("t", t)
    needed = inverse_dynamics(model, q, v, a, t=t, inputs=inputs)
    G, pushes, count, keep = _rows(model, q, v, t)
    on = _driven(model, driven)
    free = ~on
    if not len(G):
        return Shared(np.where(on, needed, 0.0), np.zeros(count), np.where(free, needed, 0.0))
    unit = 1.0 / np.maximum(np.linalg.norm(G, axis=1), 1e-300)
    R = G * unit[:, None]
    H = R[:, on] @ R[:, on].T
    C, wanted = R[:, free].T, needed[free]
    reach = C @ np.linalg.lstsq(C, wanted, rcond=1e-10)[0] if free.any() else wanted
    lower = np.where(pushes, 0.0, -np.inf)
    program = QuadraticProgram(
        H + SMALL * max(np.trace(H), 1.0) * np.eye(len(R)),
        -R[:, on] @ needed[on],
        np.concatenate([lower, reach]),
        np.concatenate([np.full(len(R), np.inf), reach]),
        C,
    )
    try:
        x = program.solve()[0]
    except SolverError:
        raise SolverError("no forces that only push carry what the driven joints do not: a contact would have to pull") from None
    carried = R.T @ x
    found = np.zeros(count)
    found[keep] = x * unit
    return Shared(np.where(on, needed - carried, 0.0), found, np.where(free, needed - carried, 0.0))


def _rows(model: Model, q: np.ndarray, v: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    """Rows on joint velocities of equations and of contacts that touch, which of them only push, and where they stand."""
    k = kinematics(model, q, v)
    c = constraint_set(model).at(k.poses, k.twists, q, v, t)
    keep = ~c.unilateral | (c.residual <= TOUCHING)
    units = np.eye(model.nv)
    G = (c.rows @ Motion(kinematics(model, q, units).twists, units)).T
    return G[keep], c.unilateral[keep], c.rows.count, keep


def _driven(model: Model, names: Iterable[str] | None) -> np.ndarray:
    out = np.zeros(model.nv, dtype=bool)
    chosen = [b.name for b in model.bodies if b.joint.nv < 6] if names is None else [names] if isinstance(names, str) else names
    for name in chosen:
        out[model.v_index(name)] = True
    return out
