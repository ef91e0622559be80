"""All that acts on a model, in reduced coordinates [Sueda, Eqs. 2.18, 2.79; errata 004-6, 22, 23].

With the body Jacobian J, body wrenches f_m and joint forces f_r,

    M v_dot = f,     M = J^T M_m J,     f = f_r + J^T (f_m - M_m J_dot v),

where M and the inertial part of f come from the O(n) recursions, and the forces of the model from their own definitions. Of the
derivatives of f an implicit method takes K = J^T df_m/dq J + df_r/dq and D = -(J^T df_m/dv J + df_r/dv), symmetrised: the
change of J with q is left out, and a wrench in body axes turns with its body, which makes df_m/dq unsymmetric.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..constraints.rows import ConstraintRows, constraint_set
from ..forces.applied import applied
from ..forces.blocks import Blocks, JointBlocks
from ..forces.set import force_set
from ..model.kinematics import Kinematics, kinematics
from ..model.model import Model
from ..model.state import Motion, Rows, State
from ..reduced.inverse import tree_inverse_dynamics
from ..reduced.jacobian import body_jacobian
from ..reduced.mass_matrix import mass_matrix
from ..solvers.kkt import constrained_solve


@dataclass(frozen=True, eq=False)
class Dynamics:
    """A model at a state, with the forces that act on it at the time `t` of time functions; made by `dynamics`.

    wrenches   of the model's forces and those given, on the bodies (bodies, 6)
    forces     on the joints besides, without their damping (nv,)
    """

    model: Model
    state: State
    t: float
    motion: Kinematics
    wrenches: np.ndarray
    forces: np.ndarray

    @cached_property
    def M(self) -> np.ndarray:
        """The mass matrix (nv, nv)."""
        return mass_matrix(self.model, self.state.q)

    @cached_property
    def J(self) -> np.ndarray:
        """Body twists from joint velocities (6 bodies, nv)."""
        return body_jacobian(self.model, self.state.q)

    @cached_property
    def f(self) -> np.ndarray:
        """The whole force (nv,): M v_dot = f."""
        s = self.state
        return self.forces - tree_inverse_dynamics(self.model, s.q, s.v, np.zeros(self.model.nv), self.wrenches)

    @cached_property
    def force_derivatives(self) -> tuple[tuple[Blocks, Blocks], tuple[JointBlocks, JointBlocks]]:
        """df_dq and df_dv of the forces between bodies, and of those on joints, symmetrised."""
        s, k, forces = self.state, self.motion, force_set(self.model)
        bodies = forces.derivatives(k.poses, k.twists, self.t, symmetrised=True)
        return bodies, forces.joint_derivatives(s.q, s.v, self.t, symmetrised=True)

    @cached_property
    def stiffness_and_damping(self) -> tuple[np.ndarray, np.ndarray]:
        """K and D of the module's text (nv, nv)."""
        pairs = zip(*self.force_derivatives, strict=True)
        K, D = (self.J.T @ b.dense(self.model.nb) @ self.J + j.dense() for b, j in pairs)
        return K, np.diag(self.model.damping) - D

    @cached_property
    def constraints(self) -> ConstraintRows:
        """The rows of all constraints, with time functions at `t`."""
        return constraint_set(self.model).at(self.motion.poses, self.motion.twists, self.state.q, self.state.v, self.t)

    def dense(self, rows: Rows) -> np.ndarray:
        """Rows on bodies and joints as rows on joint velocities (k, nv)."""
        G = np.zeros((rows.count, self.model.nv))
        blocks = np.einsum("ei,eij->ej", rows.body_block, self.J.reshape(-1, 6, self.model.nv)[rows.body_index])
        np.add.at(G, rows.body_row, blocks)
        np.add.at(G, (rows.joint_row, rows.joint_index), rows.joint_value)
        return G

    def accelerations(self, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Joint accelerations whose rows on the bodies' and joints' accelerations meet `target`, and the forces of the rows."""
        c = self.constraints
        drift = c.rows @ Motion(self.motion.twists_dot, np.zeros(self.model.nv))  # J_dot v
        return constrained_solve(self.M, self.f, self.dense(c.rows), target - drift, c.unilateral)


def dynamics(model: Model, state: State, tau: Any = None, external: Any = None, t: float | None = None) -> Dynamics:
    """The model at a state (one, not a batch), with all its forces; `t` is the time of time functions if not the state's."""
    t = state.t if t is None else t
    k = kinematics(model, state.q, state.v)
    forces, wrenches = applied(model, k, state.q, state.v, tau, external, t)
    return Dynamics(model, state, t, k, wrenches, forces)
