"""The equation of motion of coordinates r with q = f(r) [Sueda, Eqs. 2.82-2.83]:

    J^T M J r_ddot = J^T (f - M J_dot r_dot),

where M and f are those of the model with all its forces. Products with M run in O(n) per column of J; the system that is solved
has as many rows as r.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..constraints.rows import ConstraintRows
from ..errors import SolverError
from ..forces.blocks import Blocks, JointBlocks
from ..model.state import Motion, Response, force_arrays
from ..reduced.inverse import mass_product
from ..reduced.jacobian import jacobian_product, jacobian_transpose_product
from ..solvers.kkt import constrained_solve
from .system import Dynamics


@dataclass(frozen=True, eq=False)
class HyperDynamics:
    """The system at a state of r; made by `HyperReduced.dynamics`.

    J      joint velocities from r_dot (nv, nr)
    bias   J_dot r_dot (nv,)
    full   the dynamics of the model there
    """

    J: np.ndarray
    bias: np.ndarray
    full: Dynamics

    def _product(self, x: np.ndarray) -> np.ndarray:
        """M x for x (..., nv), of the model."""
        return mass_product(self.full.model, self.full.state.q, np.ascontiguousarray(x))

    @cached_property
    def M(self) -> np.ndarray:
        """J^T M J (nr, nr)."""
        return self._product(self.J.T) @ self.J

    @cached_property
    def f(self) -> np.ndarray:
        """The whole force (nr,)."""
        return self.J.T @ (self.full.f - self._product(self.bias))

    @property
    def constraints(self) -> ConstraintRows:
        """The rows of the model's constraints."""
        return self.full.constraints

    def response(self, dt: float | None = None) -> HyperResponse:
        """How the system answers forces: at acceleration level, or at velocity level after an explicit step of `dt`."""
        return HyperResponse(self, dt)

    def implicit_velocities(
        self, h: float, rows: ConstraintRows, target: np.ndarray, kept: Callable[[np.ndarray], np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """r_dot after a linearly implicit step, and the impulses of some rows, with K = df/dq and D = -df/dv of the model,

            J^T (M + h D - h^2 K) J r_dot' = J^T (M v + h (f + D v - M J_dot r_dot)).

        kept   what is kept of J^T df/dq J and J^T df/dv J, all if None
        """
        full, columns = self.full, np.ascontiguousarray(self.J.T)
        model, q, v = full.model, full.state.q, full.state.v
        twists = jacobian_product(model, q, columns)
        (dq, dv), (joint_dq, joint_dv) = full.force_derivatives

        def on_both_sides(bodies: Blocks, joints: JointBlocks) -> np.ndarray:
            """J^T B J for the derivatives B of all forces."""
            at_bodies = (bodies @ twists).reshape(len(columns), -1) @ twists.reshape(len(columns), -1).T
            return at_bodies + (joints @ columns) @ self.J

        K, slope = on_both_sides(dq, joint_dq), on_both_sides(dv, joint_dv)
        K, slope = (K, slope) if kept is None else (kept(K), kept(slope))
        D, r_dot = self.J.T @ (model.damping[:, None] * self.J) - slope, np.linalg.lstsq(self.J, v, rcond=None)[0]
        b = self.J.T @ (self._product(v - h * self.bias) + h * full.f) + h * D @ r_dot
        G = rows.rows @ Motion(twists, columns)
        return constrained_solve(self.M + h * D - h * h * K, b, G.T, target, rows.unilateral)


class HyperResponse(Response):
    """See `Response`: motions of all bodies and joints, as the map allows them; `coordinates` finds r_ddot or r_dot in one.

    At velocity level, velocities are those that r_dot has where the step began.
    """

    def __init__(self, now: HyperDynamics, dt: float | None) -> None:
        self.model, self._now = now.full.model, now
        a = now.J @ self._solved(now.f)
        if dt is None:
            self._still = Motion(now.full.motion.twists_dot, np.zeros_like(a)) + self._motion(now.bias)  # at r_ddot = 0
            self.free = self._motion(a) + self._still
        else:
            self._still = self._motion(np.zeros_like(a))
            self.free = self._motion(now.full.state.v + dt * a)

    def apply(self, body_wrenches: Any = None, joint_forces: Any = None) -> Motion:
        forces, lead = force_arrays(self.model, body_wrenches, joint_forces)
        wrenches = forces["wrench"].reshape(-1, self.model.nb, 6)
        tau = forces["tau"] + jacobian_transpose_product(self.model, self._now.full.state.q, wrenches)
        moved = self._motion(self._solved(tau @ self._now.J) @ self._now.J.T)
        return Motion.of_rows(lead, moved.bodies.reshape(len(tau), -1), moved.joints)

    def coordinates(self, motion: Motion) -> np.ndarray:
        """The r_ddot (at velocity level: the r_dot) of a motion."""
        return np.linalg.lstsq(self._now.J, motion.joints - self._still.joints, rcond=None)[0]

    def _solved(self, b: np.ndarray) -> np.ndarray:
        """M^-1 b for b (..., nr)."""
        try:
            return np.linalg.solve(self._now.M, b.T).T
        except np.linalg.LinAlgError:
            raise SolverError("the map q = f(r) is singular here: a change of r moves nothing") from None

    def _motion(self, v: np.ndarray) -> Motion:
        v = np.ascontiguousarray(v)
        return Motion(jacobian_product(self.model, self._now.full.state.q, v), v)
