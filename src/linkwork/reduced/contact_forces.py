"""Contact forces with friction at acceleration level, after Baraff: what acts between impacts, without a step.

Points that touch and do not part have rows G, A = G M^-1 G^T and b = G a_free + bias; their forces are those of
`solvers.accelerations`. Where there are none (Painleve), nature answers by an impulse, though nothing collides: velocities jump,
as they do in an impact in which friction acts on velocities, and forces are those after the jump.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..constraints.rows import constraint_set
from ..constraints.targets import TOUCHING
from ..contact.records import ContactRecord, finder_of
from ..elements.law import EXACT, RowLaw
from ..errors import InputError, SolverError
from ..model.accepts import takes_model
from ..model.kinematics import kinematics
from ..model.model import Model
from ..rows.declared import acting, own_first
from ..solvers.accelerations import SLIPS, solve_accelerations
from ..solvers.coulomb import solve
from ..solvers.problem import BOUNDS, NORMAL, Cones, Problem
from ..spatial.gate import check_unused, finite_reals, given_number
from .dynamics import forward_dynamics
from .jacobian import body_jacobian
from .mass_matrix import mass_matrix

HARD = "hard"
INSTANT = 1e-8  # s
JUMPS = 8  # at most, until forces are found


class _Numbers(NamedTuple):
    accelerations: np.ndarray
    forces: np.ndarray
    v: np.ndarray
    jumps: int


class ContactForces(_Numbers):
    """Joint accelerations (nv,), forces (rows,) of all rows of the model, velocities (nv,) after jumps, and how many of them.

    contacts   a `ContactRecord` (bodies, shapes, point, normal, force, slip) for every point of shapes that pushes
    """

    _found: tuple[Model, np.ndarray, np.ndarray]  # model, q, and forces in the order of its rows

    @cached_property
    def contacts(self) -> tuple[ContactRecord, ...]:
        model, q, forces = self._found
        k = kinematics(model, q, self.v)
        return finder_of(model).at_state(k.poses, k.twists, forces)


@takes_model
def contact_forces(
    model: Model,
    q: Any,
    v: Any,
    tau: Any = None,
    touching: float = TOUCHING,
    *,
    external: Any = None,
    t: float = 0.0,
    inputs: Any = None,
) -> ContactForces:
    """Accelerations and forces at one state, all forces of the model, loops, limits and contacts with friction acting.

    touching   m, m/s: points no farther apart, and no faster apart, touch. Approaching ones are in an impact, which comes first
    Dense, O(n^3). Shapes and what joints declare act as in `constrained_dynamics`, and rows stand in the same order.

    >>> b = lw.ModelBuilder()
    >>> _ = b.ground(friction=0.5)
    >>> _ = b.body("box", joint=lw.Free(), shapes=[lw.Box((0.2, 0.2, 0.2), mass=1.0)])
    >>> box = b.build()
    >>> at = box.neutral()
    >>> at[2] = 0.1
    >>> found = lw.contact_forces(box, at, np.zeros(6))
    >>> bool(np.abs(found.accelerations).max() < 1e-9), bool(np.isclose(found.forces[::3].sum(), 9.81))
    (True, True)
    >>> found.contacts[0].bodies, len(found.contacts)
    (('box', 'world'), 4)
    """
    given, model = model, acting(model, HARD, EXACT)
    q, v = finite_reals("contact_forces: q", q), finite_reals("contact_forces: v", v)
    touching = given_number("contact_forces: touching", touching, 0.0)
    check_unused(t, inputs)
    if q.shape != (model.nq,) or v.shape != (model.nv,):
        raise InputError(f"contact_forces takes one state, q ({model.nq},) and v ({model.nv},)")
    here = Here(model, q, tau, external, t, inputs)
    for jumps in range(JUMPS):
        rows = Rows.at(model, q, v, t, touching)
        force = None if rows.approach(v) else rows.forces(here, v)
        if force is not None:
            a, full = here.answer(rows, force, v)
            found = ContactForces(a, full[own_first(given, model)], v, jumps)
            found._found = model, q, full
            return found
        v = v + here.moved(rows.G.T @ rows.impulses(here, v))
    raise SolverError(f"contacts still jump after {JUMPS} impulses: no forces were found")


def rubbing_dynamics(model: Model, q: Any, v: Any, tau: Any, external: Any, t: Any, inputs: Any) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations and forces (see `constrained_dynamics`) of the laws of a model, one state or a batch, without impacts."""
    free = forward_dynamics(without_rows(model), q, v, tau, external, t=t, inputs=inputs)  # which looks at all that is given
    batch, given = free.shape[:-1], {"q": (q, 1), "v": (v, 1), "tau": (tau, 1), "external": (external, 2), "inputs": (inputs, 1)}
    arrays = {name: (np.asarray(x, float), rank) for name, (x, rank) in given.items() if x is not None}
    arrays["t"] = np.reshape(np.asarray(t, float), (-1,) if np.size(t) > 1 else ()), 0
    spread = {name: np.broadcast_to(x, (*batch, *x.shape[x.ndim - rank :])) for name, (x, rank) in arrays.items()}
    a, forces = np.zeros((*batch, model.nv)), np.zeros((*batch, constraint_set(model).count))
    for k in np.ndindex(*batch):
        one = {name: x[k] for name, x in spread.items()}
        at, moving, time = one["q"], one.get("v", np.zeros(model.nv)), float(one["t"])
        here = Here(model, at, one.get("tau"), one.get("external"), time, one.get("inputs"))
        rows = Rows.at(model, at, moving, time, TOUCHING)
        force = rows.forces(here, moving)
        if force is None:
            raise SolverError("contacts jam: no forces hold them, and velocities jump; see lw.contact_forces")
        a[k], forces[k] = here.answer(rows, force, moving)
    return a, forces


def without_rows(model: Model) -> Model:
    """The model with its forces alone, kept with it."""
    return model.keep_as(without_rows, lambda: model.replace(elements=[e for e in model.elements if not isinstance(e, RowLaw)]))


@dataclass(frozen=True, eq=False)
class Here:
    """A model where it is, and what is given there."""

    model: Model
    q: np.ndarray
    tau: Any
    external: Any
    t: float
    inputs: Any

    @cached_property
    def mass(self) -> np.ndarray:
        return mass_matrix(self.model, self.q)

    def moved(self, force: np.ndarray) -> np.ndarray:
        """M^-1 times joint forces (nv,) or (nv, columns)."""
        return np.linalg.solve(self.mass, force)

    def free(self, v: np.ndarray) -> np.ndarray:
        """The accelerations without rows."""
        return forward_dynamics(without_rows(self.model), self.q, v, self.tau, self.external, t=self.t, inputs=self.inputs)

    def answer(self, rows: Rows, force: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations, and the forces of all rows of the model."""
        full = np.zeros(constraint_set(self.model).count)
        full[rows.index] = force
        return self.free(v) + self.moved(rows.G.T @ force), full


class Rows(NamedTuple):
    """Rows that take part: their number in the model, their cones, G and bias."""

    index: np.ndarray
    cones: Cones
    G: np.ndarray
    bias: np.ndarray

    @staticmethod
    def at(model: Model, q: np.ndarray, v: np.ndarray, t: float, touching: float) -> Rows:
        laws, k = constraint_set(model), kinematics(model, q, v)
        found = laws.look(k.poses, k.twists, q, v, t)
        dense, J = np.zeros((laws.count, model.nv)), body_jacobian(model, q).reshape(model.nb, 6, model.nv)
        r = found.rows
        for row, body, block in zip(r.body_row, r.body_index, r.body_block, strict=True):
            dense[row] += block @ J[body]
        for row, joint, value in zip(r.joint_row, r.joint_index, r.joint_value, strict=True):
            dense[row, joint] += value
        keep: list[int] = []
        known: list[tuple[int, float, float, float]] = []
        first = 0
        for law, size in laws.sizes():
            if law.by_reaction:
                raise InputError(f"{law!r}: its rows are bounded by what joints carry, which accelerations do not know")
            on, (lower, upper) = not law.unilateral, law.bounds()
            coefficients = law.row_friction() if law.cones else np.zeros(size)
            for i, kind in enumerate(law.row_kinds):
                if law.unilateral and (kind == NORMAL or (kind == BOUNDS and not law.cones)):
                    on = found.residual[first + i] <= touching and found.rate[first + i] <= touching
                if on:
                    keep.append(first + i)
                    known.append((kind, float(lower[i]), float(upper[i]), float(coefficients[i])))
            first += size
        index, turning = np.array(keep, int), turning_bias(model, q, v, found, dense)
        kinds, low, high, mu = np.array(known, float).reshape(-1, 4).T
        return Rows(index, Cones(kinds.astype(np.int32), low, high, mu), dense[index], turning[index])

    def approach(self, v: np.ndarray) -> bool:
        """Whether what touches strikes."""
        c = self.cones
        pushes = (c.rows == NORMAL) | ((c.rows == BOUNDS) & (c.lower == 0.0) & (c.upper == np.inf))
        return bool(np.any((self.G @ v)[pushes] < -SLIPS))

    def impulses(self, here: Here, v: np.ndarray) -> np.ndarray:
        """Of an impact without restitution, in which dry friction of joints is nothing. Where nothing approaches, what would in
        the next instant does."""
        u, c = self.G @ v, self.cones
        soon = u if self.approach(v) else u + INSTANT * (self.G @ here.free(v) + self.bias)
        dry = (c.rows == BOUNDS) & np.isfinite(c.lower) & np.isfinite(c.upper)
        cones = Cones(c.rows, np.where(dry, 0.0, c.lower), np.where(dry, 0.0, c.upper), c.mu)
        return solve(Problem(self.G @ here.moved(self.G.T), soon, cones))[0]

    def forces(self, here: Here, v: np.ndarray) -> np.ndarray | None:
        """At acceleration level; None where there are none."""
        A, b = self.G @ here.moved(self.G.T), self.G @ here.free(v) + self.bias
        return solve_accelerations(Problem(A, b, self.cones), self.G @ v)


def turning_bias(model: Model, q: np.ndarray, v: np.ndarray, found: Any, G: np.ndarray) -> np.ndarray:
    """What rows see of accelerations at which v stays: their bias, and J_dot v of the bodies."""
    step = 1e-6
    ahead, behind = (kinematics(model, model.integrate(q, s * step * v), v).twists for s in (1.0, -1.0))
    J_dot_v = (ahead - behind) / (2.0 * step)
    r, bias = found.rows, np.array(found.bias)
    for row, body, block in zip(r.body_row, r.body_index, r.body_block, strict=True):
        bias[row] += block @ J_dot_v[body]
    return bias
