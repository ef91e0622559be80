"""Friction inside joints, in turn with their reactions: bilateral staggered projections [Sueda, 2.11, Alg. 8; errata 26-33].

A linearly implicit step of bodies with the masses M_m, P = h D_m - h^2 K_m and the momentum p = M_m J v + h (f_m + D_m J v),
whose joints rub with the wrenches f_b. In turn, until the reactions f_a of the joints stand still:

    reduced solve    A v' = b + h J^T f_b + G_r^T lam                     with all constraints; A = J^T (M_m + P) J + ...
    reactions        h f_a = (M_m + P) J v' + h M_m J_dot v - p - h f_b - G_m^T lam
    of each joint    w_i = f_a,i + sum of Ad(E_ci)^T w_c over the children; pressed by them, its contacts have
                     (N M_i^-1 N^T + eps) alpha = h N M_i^-1 w_i          a bilateral contact: alpha may have either sign
    friction         minimise |J v' as f_a and lam leave it, with T^T beta|^2 in the metric of M_m + P,  |beta| <= mu |alpha|

As printed, the reactions lack J_dot (27) and hold a difference of external forces (29), and count twice in the last solve (28).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..constraints.rows import ConstraintRows
from ..reduced.jacobian import body_jacobian_dot
from ..solvers.kkt import constrained_solve
from ..solvers.quadratic import in_discs
from ..spatial.se3 import SE3, Ad, ad
from .system import Dynamics

ROUNDS = 100
ENOUGH = 1e-20  # of the square of the reactions, in the norm of the inverse mass: a smaller change is none
RANK = 1e-12  # of the largest singular value of the contacts of one joint: smaller ones are none


@dataclass(frozen=True, eq=False)
class Rubbing:
    """Contacts of a body with another (-1: the world): rows on the twist of the first relative to the other, in its axes.

    N       along the normals (k, 6)
    T       along the tangents (m, 6)
    limit   mu of every tangent and group (m, groups): |beta| <= limit |alpha|
    rows    of the model's constraints that are the joint between them; none: the tree's
    groups  the number of every normal's group (k,): |alpha| is the length of a group; none: each is its own
    discs   how many tangents, one after the other, every disc has, whose force is bounded by its length; none: each is its own
    """

    body: int
    other: int
    N: np.ndarray
    T: np.ndarray
    limit: np.ndarray
    rows: tuple[int, ...] = ()
    groups: np.ndarray | None = None
    discs: tuple[int, ...] = ()

    def most(self, alpha: np.ndarray) -> np.ndarray:
        """The largest |beta| of every tangent."""
        size = np.abs(alpha) if self.groups is None else np.sqrt(np.bincount(self.groups, alpha**2))
        return self.limit @ size


@dataclass(frozen=True, eq=False)
class Sliding:
    """Friction beside one row that pushes: rows along the tangents (m, 6 bodies), and mu."""

    row: int
    T: np.ndarray
    mu: float


@dataclass(frozen=True)
class Stop:
    """When the projections end: after so many rounds, or with so small a change (a square); contacts below `least` are none.

    regular   eps of the contacts of one joint, of which there may be more than it has reactions; 0: the limit of small ones
    """

    rounds: int = ROUNDS
    enough: float = ENOUGH
    regular: float = 0.0
    least: float = 0.0


class StaggeredStep:
    """One step of a model at a state, see the module's text.

    now          the model with its forces at the time of the step's end
    constraints  those that act, and what their rows ask of v'
    friction     f_b (6 bodies,) to begin with
    """

    def __init__(
        self,
        now: Dynamics,
        h: float,
        constraints: ConstraintRows,
        target: np.ndarray,
        rubbing: Sequence[Rubbing],
        sliding: Sequence[Sliding],
        stop: Stop,
    ) -> None:
        self.now, self.h, self.stop = now, h, stop
        self.constraints, self.target = constraints, target
        self.rubbing, self.sliding = rubbing, sliding
        self.rounds = 0

    # --- the two systems -----------------------------------------------------------------------------------------------------
    @cached_property
    def A(self) -> np.ndarray:
        """M + h D - h^2 K (nv, nv)."""
        K, D = self.now.stiffness_and_damping
        return self.now.M + self.h * D - self.h**2 * K

    @cached_property
    def b(self) -> np.ndarray:
        """M v + h (f + D v) (nv,)."""
        v, D = self.now.state.v, self.now.stiffness_and_damping[1]
        return self.now.M @ v + self.h * (self.now.f + D @ v)

    @cached_property
    def poses(self) -> list[SE3]:
        return [SE3(R=E[:3, :3], p=E[:3, 3]) for E in self.now.motion.poses]

    @cached_property
    def M_m(self) -> np.ndarray:
        """The masses of all bodies (6 bodies, 6 bodies)."""
        return _diagonal([np.asarray(b.inertia.matrix, float) for b in self.now.model.bodies])

    @cached_property
    def soft(self) -> tuple[np.ndarray, np.ndarray]:
        """K_m and D_m (6 bodies, 6 bodies)."""
        df_dq, df_dv = self.now.force_derivatives[0]
        nb = self.now.model.nb
        return df_dq.dense(nb), -df_dv.dense(nb)

    @cached_property
    def mass(self) -> np.ndarray:
        """M_m + P."""
        K, D = self.soft
        return self.M_m + self.h * D - self.h**2 * K

    @cached_property
    def momentum(self) -> np.ndarray:
        """p (6 bodies,)."""
        now, phi = self.now, self.now.motion.twists
        force = now.wrenches.copy()
        for i, (E, body) in enumerate(zip(self.poses, now.model.bodies, strict=True)):
            M = np.asarray(body.inertia.matrix, float)
            fall = np.concatenate([np.zeros(3), E.unrotate(now.model.gravity)])
            force[i] += np.asarray(ad(phi[i]), float).T @ M @ phi[i] + M @ fall
        flat = phi.reshape(-1)
        return self.M_m @ flat + self.h * (force.reshape(-1) + self.soft[1] @ flat)

    @cached_property
    def turning(self) -> np.ndarray:
        """h M_m J_dot v (6 bodies,)."""
        s = self.now.state
        return self.h * self.M_m @ (body_jacobian_dot(self.now.model, s.q, s.v) @ s.v)

    @cached_property
    def G(self) -> np.ndarray:
        """Rows of the constraints on joint velocities."""
        return self.now.dense(self.constraints.rows)

    @cached_property
    def G_m(self) -> np.ndarray:
        """Those of them that act on bodies (rows, 6 bodies)."""
        rows = self.constraints.rows
        out = np.zeros((rows.count, self.now.model.nb, 6))
        np.add.at(out, (rows.body_row, rows.body_index), rows.body_block)
        return out.reshape(rows.count, 6 * self.now.model.nb)

    def solve(self, impulse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """v' and the impulses of the constraints, with an impulse on the bodies besides."""
        return constrained_solve(self.A, self.b + self.now.J.T @ impulse, self.G, self.target, self.constraints.unilateral)

    # --- contacts ------------------------------------------------------------------------------------------------------------
    def spread(self, rows: np.ndarray, body: int, other: int = -1) -> np.ndarray:
        """Rows on the twist of a body relative to another, as rows on all bodies (k, 6 bodies)."""
        out = np.zeros((len(rows), self.now.model.nb, 6))
        if body >= 0:
            out[:, body] = rows
        if other >= 0:
            E = self.poses[other] if body < 0 else self.poses[body].inverse() @ self.poses[other]
            out[:, other] -= rows @ np.asarray(Ad(E), float)
        return out.reshape(len(rows), 6 * self.now.model.nb)

    @cached_property
    def normals(self) -> list[np.ndarray]:
        """N of every joint that rubs, as rows on all bodies."""
        return [self.spread(r.N, r.body, r.other) for r in self.rubbing]

    @cached_property
    def tangents(self) -> np.ndarray:
        """T of all contacts."""
        parts = [self.spread(r.T, r.body, r.other) for r in self.rubbing]
        parts += [s.T for s in self.sliding]
        return np.concatenate([np.zeros((0, 6 * self.now.model.nb)), *parts])

    @cached_property
    def answer(self) -> np.ndarray:
        """(M_m + P)^-1 T^T."""
        return np.linalg.solve(self.mass, self.tangents.T)

    @cached_property
    def light(self) -> np.ndarray:
        """M_m^-1."""
        return _diagonal([np.linalg.inv(np.asarray(b.inertia.matrix, float)) for b in self.now.model.bodies])

    def handed(self, i: int, wrench: np.ndarray) -> np.ndarray:
        """The wrench of joint i in the axes of its parent."""
        E = self.poses[self.now.model.parents[i]].inverse() @ self.poses[i]
        return np.asarray(E.move_wrench(wrench), float)

    def joint_wrenches(self, reactions: np.ndarray) -> np.ndarray:
        """What every joint carries (bodies, 6), of the reactions on the bodies."""
        w = reactions.reshape(-1, 6).copy()
        for i in reversed(range(len(w))):
            parent = self.now.model.parents[i]
            if parent >= 0:
                w[parent] += self.handed(i, w[i])
        return w

    def pressures(self, reactions: np.ndarray, lam: np.ndarray) -> list[np.ndarray]:
        """alpha of every joint that rubs."""
        w, out = self.joint_wrenches(reactions), []
        for r, N in zip(self.rubbing, self.normals, strict=True):
            if r.rows:
                f = self.G_m[list(r.rows)].T @ lam[list(r.rows)] / self.h
            else:
                f = self.spread(w[r.body][None], r.body)[0]
                if r.other >= 0:
                    f[6 * r.other : 6 * r.other + 6] -= self.handed(r.body, w[r.body])
            L = N @ self.light
            A, pressing, eps = L @ N.T, self.h * (L @ f), self.stop.regular
            regular = np.linalg.solve(A + eps * np.eye(len(N)), pressing) if eps else None
            out.append(np.linalg.lstsq(A, pressing, rcond=RANK)[0] if regular is None else regular)
        return out

    def limits(self, alphas: Sequence[np.ndarray], lam: np.ndarray) -> np.ndarray:
        """mu |alpha| of all tangents."""
        parts = [r.most(a) for r, a in zip(self.rubbing, alphas, strict=True)]
        parts += [np.full(len(s.T), s.mu * max(lam[s.row], 0.0)) for s in self.sliding]
        return np.concatenate([np.zeros(0), *parts])

    @cached_property
    def discs(self) -> np.ndarray:
        """The number of the disc of every tangent."""
        sizes = [size for r in self.rubbing for size in (r.discs or (1,) * len(r.T))] + [len(s.T) for s in self.sliding]
        return np.repeat(np.arange(len(sizes)), sizes)

    def discs_of(self, some: np.ndarray) -> list[np.ndarray]:
        """The places in a list of tangents of those of every disc."""
        numbers = self.discs[some]
        return [np.flatnonzero(numbers == k) for k in np.unique(numbers)]

    # --- projections ---------------------------------------------------------------------------------------------------------
    def reactions(self, friction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """f_a, and the impulses of the constraints with which it was found."""
        v, lam = self.solve(self.h * friction)
        gained = self.mass @ (self.now.J @ v) + self.turning - self.momentum - self.G_m.T @ lam
        return gained / self.h - friction, lam

    def pressed(self, reactions: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """The momentum that friction meets."""
        return self.momentum - self.turning + self.h * reactions + self.G_m.T @ lam

    def compared(self, reactions: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """The impulses that stand still in the end: those of the joints and of the constraints."""
        return self.h * reactions + self.G_m.T @ lam

    def settled(self, change: np.ndarray, whole: np.ndarray) -> bool:
        """Whether a change of these is none."""
        return bool(change @ self._lighter(change) <= self.stop.enough * (whole @ self._lighter(whole)))

    def project(self, friction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """f_a and f_b, in turn from the f_b given."""
        before, reactions = None, np.zeros(len(friction))
        for _ in range(self.stop.rounds):
            self.rounds += 1
            reactions, lam = self.reactions(friction)
            impulses = self.compared(reactions, lam)
            if before is not None and self.settled(impulses - before, impulses):
                break
            before, friction = impulses, self.rub(reactions, lam)
        return reactions, friction

    def rub(self, reactions: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """f_b under the reactions: the program of the module's text."""
        most = self.limits(self.pressures(reactions, lam), lam)
        on = np.flatnonzero(most > self.stop.least)
        T, Y = self.tangents[on], self.answer[:, on]
        beta = in_discs(T @ Y, -(Y.T @ self.pressed(reactions, lam)), -most[on], most[on], self.discs_of(on))
        return -(T.T @ beta) / self.h

    def end(self, reactions: np.ndarray, friction: np.ndarray) -> np.ndarray:
        """v' with them: reactions do no work."""
        return self.solve(self.h * friction)[0]

    def _lighter(self, f: np.ndarray) -> np.ndarray:
        return np.linalg.solve(self.mass, f)


def _diagonal(blocks: Sequence[np.ndarray]) -> np.ndarray:
    """A matrix of blocks of six on the diagonal."""
    out = np.zeros((len(blocks), 6, len(blocks), 6))
    for i, B in enumerate(blocks):
        out[i, :, i] = B
    return out.reshape(6 * len(blocks), -1)
