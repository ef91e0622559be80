"""Second derivatives of the energies of a loaded model, exact: kinetic energy of bodies and drives, potential of weight and of
all that forces store.

A displacement e of the joints moves q to integrate(q, e), while the numbers v stay. With T = v^T M(q) v / 2 and V(q),

    d^2 T/de^2 and d^2 V/de^2   by the rules of the energies on numbers with two directions (`kernel.second_order`), a pair of
                                degrees of freedom in every lane: O(n) each, O(n^3) in all
    d^2 T/de dv                 the transpose of d(M v)/de
    d^2 T/dv^2                  M
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from .elements.collection import collection
from .elements.nodes import law_at
from .energy import moving_energy
from .kernel.plans import Plans
from .kernel.running import Arrays, run_plan
from .kernel.second_order import second_order
from .kernel.sweep import POSE, SCALAR, Algorithm, Field, Step, each, outward, vector
from .lagrange.second_derivatives import momentum_derivatives
from .model import Model
from .model.accepts import check_model
from .model.manifold import INTEGRATE
from .model.rules import world_pose
from .reduced import mass_matrix
from .reduced.loaded import given_laws, without_pushes
from .spatial.gate import finite_reals
from .spatial.kinds import explained

INTEGRATE_TWICE = second_order(INTEGRATE)
LANES = 1 << 12  # pairs of all states that are found in one call


class EnergyHessian(NamedTuple):
    """Second derivatives of T and V along displacements of the joints (q) and velocities (v), (..., nv, nv) each.

    >>> found = lw.energy_hessian(model, q, v)
    >>> bool(np.allclose(found.kinetic_vv, lw.mass_matrix(model, q)))
    True
    """

    kinetic_qq: np.ndarray
    kinetic_qv: np.ndarray
    kinetic_vv: np.ndarray
    potential_qq: np.ndarray


def store(n: Any, *ports: Any) -> None:
    """What one force stores."""
    law, at = law_at(n, ports)
    n.stored = law.stored_energy(at, n.t, n.u)


@functools.cache
def _energies(forces: int) -> Algorithm:
    """Of models whose forces have so many ports at most, body by body and force by force; below 0: without forces."""
    fields = {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "gravity": Field("input", "global", vector(3)),
        "t": Field("input", "global", SCALAR),
        "pose": Field("work", "node", POSE, world=world_pose),
        "twist": Field("work", "node", vector(6)),
        "kinetic_of": Field("output", "node", SCALAR),
        "potential_of": Field("output", "node", SCALAR),
    }
    steps: list[Step] = [outward(moving_energy)]
    if forces >= 0:
        fields |= {"u": Field("input", "u", of="force"), "stored": Field("output", "node", SCALAR, of="force")}
        steps.append(each(store, *(f"p{i}" for i in range(forces)), on="force"))
    return second_order(Algorithm(f"energies_{forces}", fields, {"run": steps}))


@explained
def energy_hessian(model: Model, q: Any, v: Any = None, inputs: Any = None, t: float = 0.0) -> EnergyHessian:
    """Second derivatives of the kinetic energy T and the potential energy V of `energy`, at q (nq,) or (batch, nq).

    inputs, t   of forces, as `energy` has them

    >>> found = lw.energy_hessian(model, q, v)
    >>> found.kinetic_qq.shape, bool(np.allclose(found.kinetic_qq, found.kinetic_qq.T))
    ((2, 2), True)
    """
    check_model(model)
    q = finite_reals("q", q)
    v = np.zeros((*q.shape[:-1], model.nv)) if v is None else finite_reals("v", v)
    lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    q, v = (np.ascontiguousarray(np.broadcast_to(x, (*lead, x.shape[-1]))) for x in (q, v))
    laws = collection(without_pushes(model))
    algorithm = _energies(laws.shape[0])
    given = {"gravity": model.gravity, **given_laws(laws, q, t, inputs, False)}
    rows, nv = q.reshape(-1, model.nq), model.nv
    kinetic, potential = np.empty((2, len(rows), nv, nv))
    together = max(1, 2 * LANES // max(1, nv * (nv + 1)))
    for a in range(0, len(rows), together):
        some = slice(a, min(a + together, len(rows)))
        own = {name: x[some] if x.ndim == 2 and len(x) == len(rows) else x for name, x in given.items()}
        kinetic[some], potential[some] = _second(model, laws.plan, algorithm, rows[some], v.reshape(-1, nv)[some], own)
    square = (*lead, nv, nv)
    return EnergyHessian(
        kinetic.reshape(square),
        momentum_derivatives(model, q, v).swapaxes(-1, -2),
        mass_matrix(model, q),
        potential.reshape(square),
    )


def _second(
    model: Model, plans: Plans, algorithm: Algorithm, q: np.ndarray, v: np.ndarray, given: Arrays
) -> tuple[np.ndarray, np.ndarray]:
    """Both Hessians along displacements (batch, nv, nv), from one lane for every pair."""
    batch, nv = len(q), model.nv
    first, second = np.triu_indices(nv)
    units, pairs = np.eye(nv), len(first)
    at = np.repeat(q, pairs, axis=0)
    moved = model.quick(INTEGRATE_TWICE, ("q", "dv", "d_dv", "e_dv"), ("d_q_next", "e_q_next", "de_q_next"))
    along = (np.tile(units[k], (batch, 1)) for k in (first, second))
    changes = dict(zip(("d_q", "e_q", "de_q"), moved(at, np.zeros(nv), *along), strict=True))
    shared = {name: np.repeat(x, pairs, axis=0) if x.ndim == 2 else x for name, x in given.items()}
    wanted = tuple(f"de_{name}" for name in ("kinetic_of", "potential_of", "stored") if name in algorithm.fields)
    inputs = {"q": at, "v": np.repeat(v, pairs, axis=0), **changes, **shared}
    found = run_plan(plans, algorithm, inputs, wanted, batch * pairs, 1, 1)
    kinetic, potential, *stored = (found[name].reshape(batch, pairs, -1).sum(axis=-1) for name in wanted)
    out = np.empty((2, batch, nv, nv))
    for matrix, x in zip(out, (kinetic, sum(stored, start=potential)), strict=True):
        matrix[:, first, second] = matrix[:, second, first] = x
    return out[0], out[1]
