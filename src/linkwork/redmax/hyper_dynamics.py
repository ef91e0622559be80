"""The equation of motion of coordinates r with q = f(r) [Sueda, Eqs. 2.82-2.83]:

    J^T M J r_ddot = J^T (f - M J_dot r_dot),

where M and f are those of the model with all its forces. Products with M run in O(n) per column of J; the system that is solved
has as many rows as r.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..constraints.rows import ConstraintRows
from ..errors import SolverError
from ..model.state import Motion, Response, force_arrays
from ..reduced.inverse import mass_product
from ..reduced.jacobian import jacobian_product, jacobian_transpose_product
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

    def response(self) -> HyperResponse:
        """How accelerations answer forces."""
        return HyperResponse(self)


class HyperResponse(Response):
    """See `Response`: accelerations of all bodies and joints, as the map allows them; `coordinates` finds r_ddot in one."""

    def __init__(self, now: HyperDynamics) -> None:
        self.model, self._now = now.full.model, now
        a = now.J @ self._solved(now.f)
        self._still = Motion(now.full.motion.twists_dot, np.zeros_like(a)) + self._motion(now.bias)  # at r_ddot = 0
        self.free = self._motion(a) + self._still

    def apply(self, body_wrenches: Any = None, joint_forces: Any = None) -> Motion:
        forces, lead = force_arrays(self.model, body_wrenches, joint_forces)
        wrenches = forces["wrench"].reshape(-1, self.model.nb, 6)
        tau = forces["tau"] + jacobian_transpose_product(self.model, self._now.full.state.q, wrenches)
        moved = self._motion(self._solved(tau @ self._now.J) @ self._now.J.T)
        return Motion.of_rows(lead, moved.bodies.reshape(len(tau), -1), moved.joints)

    def coordinates(self, motion: Motion) -> np.ndarray:
        """The r_ddot of a motion."""
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
