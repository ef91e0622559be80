"""A step of the variational integrator with any forces and equality constraints: RATTLE on Lie groups [Andersen 1983].

Constraints add impulses to the momenta of `discrete_lagrangian` at both ends: one along G(q) such that the constraints hold
where the step ends, one along G(q') such that the velocities there obey them,

    p + G(q)^T x = p0(q, v),     g(q', t + h) = 0 at the end q' of the path with velocities v,
    M(q') v' = p1(q, v) + G(q')^T x',     G(q') v' = given.

Velocities and momenta of a step are those of its `paths`; M, G and forces know the joints' own.

Forces act at the midpoint, with its time. Where they have a potential the step is that of a discrete Lagrangian with it:
symplectic on the constrained manifold, symmetric, of order 2. The first line is solved by Newton's method with M(q) and G(q) for
its matrix, whose rounds gain a factor of order h each, until v no longer changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..constraints.solve import solve
from ..errors import SolverError
from ..forces.applied import applied
from ..kernel.sweep import SCALAR, Algorithm, Field, inward, outward, vector
from ..model import Model, Motion, State
from ..model.kinematics import kinematics
from ..reduced.inverse import mass_product
from ..reduced.response import ReducedResponse, factor_reduced
from .constrained import rows_at
from .discrete_lagrangian import SUMS, end_momenta, midpoint, velocities_of
from .paths import all_along, all_own, moved

ROUNDS = 60
ENOUGH = 1e-9  # of the velocities: the largest last change of any step
SAME = 1e-15  # of velocities times h: a change that rounding makes
CUT = 1e-10  # of G M^-1 G^T, relative: directions that answer less are redundant rows


def both_momenta(n: Any, parent: Any) -> None:
    """p0 and p1 at every joint."""
    n.p0 = end_momenta(n, parent)


DISCRETE_MOMENTA = Algorithm(
    "discrete_momenta",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "step": Field("input", "global", SCALAR),
        "tau": Field("input", "v"),
        "external": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),
        **SUMS,
        "p0": Field("output", "v"),
        "p1": Field("output", "v"),
    },
    {"run": [outward(midpoint), inward(both_momenta)]},
)


def discrete_momenta(model: Model, state: State, h: float, tau: Any, external: Any) -> tuple[np.ndarray, np.ndarray]:
    """p0 and p1 of a step h from state.q with the constant velocities state.v of its paths, under the forces at its midpoint."""
    q, v = state.q, state.v
    middle = moved(model, q, 0.5 * h * v)
    own_v = all_own(model, middle, v)
    tau, external = applied(model, kinematics(model, middle, own_v), middle, own_v, tau, external, state.t + 0.5 * h)
    given = {"q": q, "v": v, "step": np.array([h]), "tau": tau, "external": external, "gravity": model.gravity}
    out = model.call(DISCRETE_MOMENTA, given)
    return out["p0"], out["p1"]


def rattle_step(model: Model, state: State, h: float, tau: Any, external: Any) -> tuple[State, np.ndarray]:
    """The state after h, and the forces of the constraints, averaged over the step."""
    q, p = state.q, all_along(model, state.q, mass_product(model, state.q, state.v))
    response, rows = factor_reduced(model, q), rows_at(model, state, state.t).rows
    answers = response.apply(*rows.transposed(np.eye(rows.count), model.nb, model.nv))
    inverse = np.linalg.pinv(rows @ answers, rcond=CUT, hermitian=True)
    v, t = all_along(model, q, state.v), state.t + h
    for _ in range(ROUNDS):
        p0, p1 = discrete_momenta(model, State(q, v, state.t), h, tau, external)
        end = moved(model, q, h * v)
        gap = rows_at(model, State(end, all_own(model, end, v), t), t).residual
        free = response.apply(None, all_own(model, q, p - p0))
        x = -inverse @ (rows @ free + gap / h)
        change = free.joints + x @ answers.joints
        v = v + all_along(model, q, change)
        size, scale = np.abs(change).max(initial=0.0), 1.0 + np.abs(v).max(initial=0.0)
        if not size > SAME / abs(h) * scale:
            break
    if not size <= ENOUGH * scale:
        raise SolverError(f"a variational step at t = {state.t:.9g} did not converge: take a smaller dt")
    end = moved(model, q, h * v)
    after, last = _projected(model, end, all_own(model, end, p1), t)
    return after, (x + last) / h


def _projected(model: Model, q: np.ndarray, p: np.ndarray, t: float) -> tuple[State, np.ndarray]:
    """The state with momenta p, less what the constraints forbid, and their impulses."""
    free = State(q, velocities_of(model, q, p), t)
    c = rows_at(model, free, t)
    found = solve(ReducedResponse(model, q, Motion(kinematics(model, q, free.v).twists, free.v)), c, c.given)
    return State(q, found.motion.joints, t), found.multipliers
