"""The matrix of a linearly implicit step as an operator: three ways to solve with it, in O(n) where that is possible.

    A = M + J^T (h D_m - h^2 K_m) J + h D_r - h^2 K_r

dense       the matrix itself, factored: best for small systems, and the reference
recursive   Alg. 10 of Sueda's notes: exact if stiffness and damping sit on single joints and single bodies
pcg         conjugate gradients on products with A in O(n), preconditioned by Alg. 10 with the part that it can take: for forces
            that couple distant bodies
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, SolverError
from ..forces.blocks import Blocks, JointBlocks
from ..model.state import Motion, Rows
from ..reduced.inertia_product import InertiaProduct
from ..reduced.inverse import mass_product
from ..reduced.jacobian import jacobian_product, jacobian_transpose_product
from ..solvers.complementarity import multipliers
from ..solvers.conjugate_gradients import conjugate_gradients

if TYPE_CHECKING:
    from .system import Dynamics

ROUTES = ("auto", "dense", "recursive", "pcg")
SMALL = 40  # degrees of freedom up to which a dense factor is fastest
TOLERANCE = 1e-14  # of conjugate gradients, relative


class ImplicitOperator:
    """See the module's text."""

    def __init__(self, now: Dynamics, h: float, route: str = "auto") -> None:
        self.now, self.h = now, h
        self.iterations = 0  # of conjugate gradients, in all solves
        if route not in ROUTES:
            raise InputError(f"there is no route {route!r} to an implicit step; choose one of {', '.join(ROUTES)}")
        self.route = self._chosen() if route == "auto" else route
        if route == "recursive" and not self.local:
            raise InputError("the recursive route needs stiffness and damping on single joints or bodies; use pcg or dense")

    def _chosen(self) -> str:
        if self.now.model.nv <= SMALL:
            return "dense"
        return "recursive" if self.local else "pcg"

    @cached_property
    def _terms(self) -> tuple[Blocks, JointBlocks, np.ndarray]:
        """h D - h^2 K of the bodies, of the joints, and of the joints' own damping."""
        now, h = self.now, self.h
        (dq, dv), (joint_dq, joint_dv) = now.force_derivatives
        blocks = tuple(-h * b - h * h * a for a, b in zip(joint_dq.block, joint_dv.block, strict=True))
        return (-h) * dv + (-h * h) * dq, JointBlocks(joint_dq.nv, joint_dq.start, blocks), h * now.model.damping

    @property
    def local(self) -> bool:
        """Whether every block couples a body or a joint coordinate with itself only."""
        bodies, joints, _ = self._terms
        return bodies.diagonal and all(np.array_equal(B, np.diag(np.diagonal(B))) for B in joints.block)

    @cached_property
    def recursion(self) -> InertiaProduct:
        """Alg. 10 with the part of the blocks that couples nothing with anything else."""
        bodies, joints, damping = self._terms
        own = bodies.row == bodies.column
        alone = Blocks(bodies.row[own], bodies.column[own], bodies.block[own])
        nb = self.now.model.nb
        return InertiaProduct(self.now.model, self.now.state.q, joints.diagonal() + damping, alone.on_diagonal(nb))

    @cached_property
    def _coupling(self) -> Any:
        """The blocks of the bodies as a sparse matrix (6 bodies, 6 bodies), for many products."""
        from scipy.sparse import coo_array

        bodies, entry, size = self._terms[0], np.arange(6), 6 * self.now.model.nb
        row, column = 6 * bodies.row[:, None, None] + entry[:, None], 6 * bodies.column[:, None, None] + entry
        places = tuple(x.reshape(-1) for x in np.broadcast_arrays(row, column))
        return coo_array((bodies.block.reshape(-1), places), (size, size)).tocsr()

    @cached_property
    def matrix(self) -> np.ndarray:
        """A itself (nv, nv)."""
        bodies, joints, damping = self._terms
        J = self.now.J
        return self.now.M + J.T @ bodies.dense(self.now.model.nb) @ J + joints.dense() + np.diag(damping)

    def apply(self, x: np.ndarray) -> np.ndarray:
        """A x for x (..., nv), in O(n)."""
        model, q = self.now.model, self.now.state.q
        _, joints, damping = self._terms
        rows = np.ascontiguousarray(x.reshape(int(np.prod(x.shape[:-1])), model.nv))
        twists = jacobian_product(model, q, rows)
        wrenches = (self._coupling @ twists.reshape(len(rows), -1).T).T.reshape(twists.shape)
        coupled = jacobian_transpose_product(model, q, np.ascontiguousarray(wrenches))
        return (mass_product(model, q, rows) + coupled + joints @ rows + damping * rows).reshape(x.shape)

    def right_side(self) -> np.ndarray:
        """M v + h (f + D v), in O(n): A v with stiffness left out, and the forces."""
        now, h, s = self.now, self.h, self.now.state
        return mass_product(now.model, s.q, s.v) + h * (now.f + self.damped(s.v, now.motion.twists))

    def damped(self, v: np.ndarray, twists: np.ndarray) -> np.ndarray:
        """D v in O(n), for joint velocities and the twists J v that they mean."""
        model, q = self.now.model, self.now.state.q
        (_, dv), (_, joint_dv) = self.now.force_derivatives
        return model.damping * v - joint_dv @ v - jacobian_transpose_product(model, q, dv @ twists)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """A^-1 b for b (..., nv)."""
        if self.route == "dense":
            try:
                return np.linalg.solve(self.matrix, np.reshape(b, (-1, b.shape[-1])).T).T.reshape(b.shape)
            except np.linalg.LinAlgError:
                raise SolverError("the matrix of the implicit step is singular") from None
        if self.route == "recursive":
            return self.recursion(b)
        out = np.empty_like(b)
        for index in np.ndindex(b.shape[:-1]):
            try:
                out[index], used = conjugate_gradients(self.apply, b[index], self.recursion, TOLERANCE)
            except SolverError as error:
                raise SolverError(f"{error}, shorter steps, or stiffness='definite' of linearly_implicit") from None
            self.iterations += used
        return out

    def constrained(self, b: np.ndarray, rows: Rows, target: np.ndarray, unilateral: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x with A x = b + G^T y and the rows at their targets, and y: one solve for b, one per row [Sueda, 2.121-2.127]."""
        model, q = self.now.model, self.now.state.q
        free = self.solve(b)
        if not rows.count:
            return free, np.zeros(0)
        wrenches, forces = rows.transposed(np.eye(rows.count), model.nb, model.nv)
        answers = self.solve(jacobian_transpose_product(model, q, wrenches) + forces)
        both = np.concatenate([free[None], answers])
        moved = rows @ Motion(jacobian_product(model, q, both), both)
        y = multipliers(moved[1:].T, moved[0] - target, unilateral)
        return free + y @ answers, y
