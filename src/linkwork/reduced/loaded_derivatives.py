"""Exact derivatives of the dynamics of the loaded tree, one state or a batch.

Inverse dynamics on dual numbers says how tau(q, v, a, x) and what is missing of the rows, r(q, v, a) = G a + bias, change with
the motion, forces and rows included. Forward dynamics is where tau is what is given and r = 0: by the implicit function theorem

    [ M  -G^T ] [ da ]     [ dtau ]
    [ G    0  ] [ dx ] = - [  dr  ],        dtau at given forces x, G = dr/da.

Rows that others imply share what they have. Friction that slips keeps its force; where it sticks, it is a row like others.
`loaded_slopes` finds the same by recursions, for most models.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..elements.collection import Collection, Shape, collection
from ..kernel.directional import companion, directional
from ..kernel.sweep import Algorithm
from ..model.arrays import Interface
from ..model.model import Model
from .contradictions import check_rows_meet
from .derivatives import Directional, DynamicsDerivatives, columns
from .held_rows import holding, row_inverse
from .loaded import given_laws, law_tails, solved_dynamics, without_pushes
from .loaded_inverse import carried_alone, loaded_inverse, loaded_inverse_dynamics
from .mass_matrix import mass_matrix


@functools.cache
def inverse_directional(shape: Shape) -> Algorithm:
    """`loaded_inverse` along a direction."""
    return directional(loaded_inverse(shape))


def _call(laws: Collection, shape: Shape) -> Directional:
    def make() -> Interface:
        tails = law_tails(laws)
        return Interface(laws.model, inverse_directional(shape), laws.plan, tails | {companion(k): x for k, x in tails.items()})

    interface: Interface = laws.model.keep_as((inverse_directional, shape), make)
    return lambda inputs, wanted: interface(inputs, 1, wanted)


def _arrays(given: dict[str, Any]) -> dict[str, Any]:
    return {name: x if x is None else np.asarray(x, float) for name, x in given.items()}


def loaded_inverse_derivatives(
    model: Model, q: Any, v: Any, a: Any, external: Any, t: Any, inputs: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """See `inverse_dynamics_derivatives`."""
    laws = collection(without_pushes(model))
    shape = carried_alone(laws)
    given = {"q": q, "v": v, "a": a, "external": external, "gravity": model.gravity}
    given |= given_laws(laws, q, t, inputs, shape[1] >= 0)
    if shape[1] >= 0:
        given["x"] = loaded_inverse_dynamics(model, q, v, a, external, 1, t, inputs)[1]
    found = columns(_call(laws, shape), model, _arrays(given), ("q", "v"), ("tau",))["tau"]
    dq, dv = found[..., 0, :, :], found[..., 1, :, :]
    return dq, dv, np.broadcast_to(mass_matrix(model, q), dq.shape).copy()


def derivatives_on_duals(model: Model, q: Any, v: Any, tau: Any, external: Any, t: Any, inputs: Any) -> DynamicsDerivatives:
    """See `linearised_dynamics`."""
    laws = collection(without_pushes(model))
    now = solved_dynamics(laws, q, v, tau, external, 1, t, inputs)
    if laws.rows:
        check_rows_meet("forward_dynamics_derivatives", laws.model, now, q, v, t)
    given = {"q": q, "v": v, "a": now["accelerations"], "external": external, "gravity": model.gravity}
    given |= given_laws(laws, q, t, inputs, bool(laws.rows))
    if not laws.rows:
        dtau = columns(_call(laws, laws.shape), model, _arrays(given), ("q", "v"), ("tau",))["tau"]
        M = np.broadcast_to(mass_matrix(model, q), dtau[..., 0, :, :].shape)
        da = -np.linalg.solve(M[..., None, :, :], _with_unit(dtau))
        return DynamicsDerivatives(now["accelerations"], *np.moveaxis(da, -3, 0))
    given |= {"x": now["x"], "unknown": now.get("foot", given["unknown"])}
    found = columns(_call(laws, laws.shape), model, _arrays(given), ("q", "v", "a"), ("tau", "missing"))
    dtau, dr, M = found["tau"][..., :2, :, :], found["missing"][..., :2, :, :], found["tau"][..., 2, :, :]
    G = np.where(holding(laws, now["x"])[..., None], found["missing"][..., 2, :, :], 0.0)
    da = _held(M, G, _with_unit(dtau), np.concatenate([dr, np.zeros_like(dr[..., :1, :, :])], axis=-3))
    return DynamicsDerivatives(now["accelerations"], *np.moveaxis(da, -3, 0))


def _with_unit(dtau: np.ndarray) -> np.ndarray:
    """Two kinds of directions and a third, -1: given forces that grow."""
    unit = np.broadcast_to(-np.eye(dtau.shape[-1]), (*dtau.shape[:-3], 1, *dtau.shape[-2:]))
    return np.concatenate([dtau, unit], axis=-3)


def _held(M: np.ndarray, G: np.ndarray, dtau: np.ndarray, dr: np.ndarray) -> np.ndarray:
    """da of the module's text (..., kinds, nv, nv), for M (..., nv, nv), G (..., rows, nv) and some kinds of directions."""
    answer = np.linalg.solve(M, np.swapaxes(G, -1, -2))
    free = -np.linalg.solve(M[..., None, :, :], dtau)
    dx = -row_inverse(G @ answer)[..., None, :, :] @ (dr + G[..., None, :, :] @ free)
    return free + answer[..., None, :, :] @ dx
