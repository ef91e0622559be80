"""Contact forces with friction at acceleration level, after Baraff: what acts between impacts, without a step.

At points that touch and do not part, with rows G, A = G M^-1 G^T and b = G a_free + bias, the accelerations of the rows are
w = A f + b [Baraff 1996, section 8; Baraff 1994]:

    f_n >= 0,  w_n >= 0,  f_n w_n = 0                          along the normal
    static     the point rests:  |f_t| <= mu f_n, and w_t = 0, or friction at its bound against w_t
    dynamic    it slips along d = u_t / |u_t|:  f_t = -mu f_n d

Dynamic friction belongs to its normal force, so that its column of A becomes A_n - mu A_t d: one row, and no symmetry. What
rests is Coulomb's problem of accelerations (`solvers.coulomb`), together with them.

With dynamic friction there may be no solution: the tip of a rod that is pushed over a rough floor digs in, and every force
makes its approach faster (Painleve). Then nature answers by an impulse, though nothing collides: velocities jump, as they do in
an impact in which friction acts on velocities, and forces are those after the jump.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..constraints.rows import constraint_set
from ..constraints.targets import TOUCHING
from ..errors import InputError, SolverError
from ..model.accepts import takes_model
from ..model.kinematics import kinematics
from ..model.model import Model
from ..solvers.coulomb import solve
from ..solvers.problem import BOUNDS, NORMAL, Cones, Problem
from .jacobian import body_jacobian
from .mass_matrix import mass_matrix

SOLVED = 1e-9  # of the largest of b: what may be left of a problem that has a solution
SLIPS = 1e-9  # m/s: what is slower rests
INSTANT = 1e-8  # s
JUMPS = 8  # at most, until forces are found


class ContactForces(NamedTuple):
    """Joint accelerations (nv,), forces (rows,) of all rows of the model, velocities (nv,) after jumps, and how many of them."""

    accelerations: np.ndarray
    forces: np.ndarray
    v: np.ndarray
    jumps: int


@takes_model
def contact_forces(model: Model, q: Any, v: Any, tau: Any = None, touching: float = TOUCHING) -> ContactForces:
    """Accelerations and forces at one state, all forces of the model, loops, limits and contacts with friction acting.

    touching   m, m/s: points no farther apart, and no faster apart, touch. Approaching ones are in an impact, which comes first
    Dense, O(n^3); shapes act as laws of the model (`contact.formulations.touching`).

    >>> b = lw.ModelBuilder()
    >>> _ = b.ground(friction=0.5)
    >>> _ = b.body("box", joint=lw.Free(), shapes=[lw.Box((0.2, 0.2, 0.2), mass=1.0)])
    >>> box = b.build()
    >>> at = box.neutral()
    >>> at[2] = 0.1
    >>> found = lw.contact_forces(box, at, np.zeros(6))
    """
    from .dynamics import forward_dynamics  # what a bare tree does not need

    q, v = np.asarray(q, float), np.array(v, float)
    if q.shape != (model.nq,) or v.shape != (model.nv,):
        raise InputError(f"contact_forces takes one state, q ({model.nq},) and v ({model.nv},)")
    laws = constraint_set(model)
    bare = model.keep_as(
        contact_forces, lambda: model.replace(elements=[e for e in model.elements if not hasattr(e, "unilateral")])
    )
    M = mass_matrix(model, q)
    for jumps in range(JUMPS):
        a_free = forward_dynamics(bare, q, v, tau)
        rows = Rows.at(model, laws, q, v, touching)
        force = rows.forces(M, a_free, v)
        if force is not None:
            full = np.zeros(laws.count)
            full[rows.index] = force
            return ContactForces(a_free + np.linalg.solve(M, rows.G.T @ force), full, v, jumps)
        v = v + np.linalg.solve(M, rows.G.T @ rows.impulses(M, a_free, v))
    raise SolverError(f"contacts still jump after {JUMPS} impulses: no forces were found")


class Rows(NamedTuple):
    """Rows that take part, with what they are: their number in the model, kinds and coefficients of `Cones`, G and bias."""

    index: np.ndarray
    kinds: np.ndarray
    mu: np.ndarray
    G: np.ndarray
    bias: np.ndarray

    @staticmethod
    def at(model: Model, laws: Any, q: np.ndarray, v: np.ndarray, touching: float) -> Rows:
        k = kinematics(model, q, v)
        found = laws.look(k.poses, k.twists, q, v, 0.0)
        dense, J = np.zeros((laws.count, model.nv)), body_jacobian(model, q).reshape(model.nb, 6, model.nv)
        r = found.rows
        for row, body, block in zip(r.body_row, r.body_index, r.body_block, strict=True):
            dense[row] += block @ J[body]
        for row, joint, value in zip(r.joint_row, r.joint_index, r.joint_value, strict=True):
            dense[row, joint] += value
        keep, kinds, mu, first = [], [], [], 0
        for law, size in laws.sizes():
            on = not law.unilateral
            coefficients = law.row_friction() if law.cones else np.zeros(size)
            for i, kind in enumerate(law.row_kinds):
                if law.unilateral and (kind == NORMAL or (kind == BOUNDS and not law.cones)):
                    on = found.residual[first + i] <= touching and found.rate[first + i] <= touching
                if law.bounded or (law.cones and kind < 0):
                    raise InputError(
                        f"{law!r}: its rows are bounded by more than Coulomb's cone, which accelerations do not know"
                    )
                if on:
                    keep.append(first + i)
                    kinds.append(kind if law.unilateral else -1)
                    mu.append(float(coefficients[i]))
            first += size
        index = np.array(keep, int)
        turning = turning_bias(model, q, v, found, dense)
        return Rows(index, np.array(kinds, int), np.array(mu), dense[index], turning[index])

    def cones(self) -> Cones:
        """The conditions of the rows if all that touches rests."""
        found = Cones.equal(0)
        for kind, mu in zip(self.kinds, np.r_[self.mu[1:], 0.0], strict=True):
            if kind == NORMAL:
                found = found + Cones.coulomb([mu])
            elif kind in (-1, BOUNDS):
                found = found + (Cones.equal(1) if kind < 0 else Cones.push(1))
        return found

    def impulses(self, M: np.ndarray, a_free: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Of an impact without restitution. Where nothing approaches, what would in the next instant does."""
        u, pushes = self.G @ v, (self.kinds == NORMAL) | (self.kinds == BOUNDS)
        soon = u if np.any(u[pushes] < -SLIPS) else u + INSTANT * (self.G @ a_free + self.bias)
        return solve(Problem(self.G @ np.linalg.solve(M, self.G.T), soon, self.cones()))[0]

    def forces(self, M: np.ndarray, a_free: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """At acceleration level; None where there are none, or where points approach."""
        u, b = self.G @ v, self.G @ a_free + self.bias
        pushes = (self.kinds == NORMAL) | (self.kinds == BOUNDS)
        if np.any(u[pushes] < -SLIPS):
            return None
        A, n = self.G @ np.linalg.solve(M, self.G.T), len(u)
        into, kept, cones = np.eye(n), np.ones(n, bool), Cones.equal(0)  # f = into @ those kept
        for i, kind in enumerate(self.kinds):
            if kind == NORMAL:
                speed = float(np.hypot(u[i + 1], u[i + 2]))
                if speed > SLIPS:
                    into[i + 1 : i + 3, i] = -self.mu[i + 1] * u[i + 1 : i + 3] / speed
                    kept[i + 1 : i + 3] = False
                    cones = cones + Cones.push(1)
                else:
                    cones = cones + Cones.coulomb([self.mu[i + 1]])
            elif kind in (-1, BOUNDS):
                cones = cones + (Cones.equal(1) if kind < 0 else Cones.push(1))
        into = into[:, kept]
        problem = Problem(A[kept] @ into, b[kept], cones)
        if np.any(np.diagonal(problem.A)[cones.lower == 0.0] < 0.0):
            return None  # a push makes the approach faster
        f, info = solve(problem)
        solved = info.left <= SOLVED * max(float(np.abs(b).max(initial=0.0)), 1e-300)
        return into @ f if solved else None


def turning_bias(model: Model, q: np.ndarray, v: np.ndarray, found: Any, G: np.ndarray) -> np.ndarray:
    """What rows see of accelerations at which v stays: their bias, and J_dot v of the bodies."""
    step = 1e-6
    ahead, behind = (kinematics(model, model.integrate(q, s * step * v), v).twists for s in (1.0, -1.0))
    J_dot_v = (ahead - behind) / (2.0 * step)
    r, bias = found.rows, np.array(found.bias)
    for row, body, block in zip(r.body_row, r.body_index, r.body_block, strict=True):
        bias[row] += block @ J_dot_v[body]
    return bias
