"""Exact derivatives of the dynamics: the recursions on dual numbers, one direction per lane.

Derivatives with respect to q are along displacements of the joints: tau(integrate(q, e), v, a) to first order in e.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernel.directional import companion, directional
from ..model.manifold import INTEGRATE
from ..model.model import Model
from .forward import FORWARD_DYNAMICS
from .inverse import INVERSE_DYNAMICS
from .mass_matrix import mass_matrix

INTEGRATE_DIRECTIONAL = directional(INTEGRATE)
INVERSE_DYNAMICS_DIRECTIONAL = directional(INVERSE_DYNAMICS)
FORWARD_DYNAMICS_DIRECTIONAL = directional(FORWARD_DYNAMICS)
Directional = Callable[[dict[str, Any], tuple[str, ...]], dict[str, np.ndarray]]  # inputs and results of a directional algorithm


def coordinate_columns(model: Model, q: np.ndarray) -> np.ndarray:
    """How coordinates q (..., nq) change along unit displacements of the joints: (..., nv, nq), one row per displacement."""
    nv, unit = model.nv, _unit(model, model.nv, 0)
    inputs = {"q": q, "d_q": None, "dv": np.zeros(nv), "d_dv": unit}
    if q.ndim > 1:
        inputs |= {"q": np.repeat(q, nv, axis=0), "d_dv": np.tile(unit, (len(q), 1))}
    found = model.call(INTEGRATE_DIRECTIONAL, inputs, wanted=("d_q_next",))["d_q_next"]
    return found.reshape(*q.shape[:-1], nv, model.nq)


def _unit(model: Model, count: int, k: int) -> np.ndarray:
    """The directions (count, nv) of which those from k nv on are the unit ones, kept."""
    return model.keep_as((_unit, count, k), lambda: np.eye(count, model.nv, -k * model.nv))


def _batched(name: str, x: np.ndarray | None) -> bool:
    """Whether an input has a batch axis."""
    return x is not None and x.ndim > (2 if name == "external" else 1)


def columns(
    call: Directional,
    model: Model,
    given: dict[str, Any],
    along: tuple[str, ...],
    results: tuple[str, ...],
    changes: dict[str, Any] | None = None,
) -> dict[str, np.ndarray]:
    """Of every result its derivatives (..., inputs, size, nv), with respect to each of the inputs `along`.

    given     inputs of the algorithm, arrays or None, of one state or of a batch; those that are one for all broadcast
    along     "q", along displacements of the joints, and inputs of nv numbers
    changes   how others change with the directions, of one state
    """
    nv, count = model.nv, len(along) * model.nv
    many = {name: x for name, x in given.items() if _batched(name, x)}
    lead = (max(map(len, many.values())),) if many else ()
    inputs = {**dict.fromkeys(map(companion, given)), **given}
    inputs |= {name: np.repeat(x, count, axis=0) for name, x in many.items() if len(x) > 1}
    for k, name in enumerate(along):
        if name == "q":
            q = given["q"] if given["q"].ndim > len(lead) else np.broadcast_to(given["q"], (*lead, model.nq))
            change = np.zeros((*lead, count, model.nq))
            change[..., k * nv : (k + 1) * nv, :] = coordinate_columns(model, q)
            inputs[companion(name)] = change.reshape(-1, model.nq) if lead else change
        else:
            unit = _unit(model, count, k)
            inputs[companion(name)] = np.tile(unit, (*lead, 1)) if lead else unit
    out = call({**inputs, **(changes or {})}, tuple(map(companion, results)))
    found = {name: out[companion(name)] for name in results}
    return {name: x.reshape(*lead, len(along), nv, x.shape[-1]).swapaxes(-1, -2) for name, x in found.items()}


def tree_inverse_dynamics_derivatives(
    model: Model, q: Any, v: Any, a: Any, external: Any = None, d_external: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of tau = tree_inverse_dynamics(q, v, a): dtau_dq, dtau_dv and dtau_da, (nv, nv) or (batch, nv, nv) each.

    external     constant wrenches on the bodies in body axes (bodies, 6)
    d_external   how they change, of one state: (2 nv, bodies, 6), for displacements of the joints, then for velocities
    """
    found = _of_tree(model, INVERSE_DYNAMICS_DIRECTIONAL, "tau", {"q": q, "v": v, "a": a, "external": external}, d_external)
    M = mass_matrix(model, q)
    return *found, M if M.shape == found[0].shape else np.broadcast_to(M, found[0].shape).copy()


def tree_dynamics_derivatives(
    model: Model, q: Any, v: Any, tau: Any = None, external: Any = None, d_external: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Of a = tree_dynamics(q, v, tau): da_dq and da_dv, (nv, nv) or (batch, nv, nv) each; da_dtau is the inverse mass matrix."""
    tau = np.zeros(model.nv) if tau is None else tau
    return _of_tree(model, FORWARD_DYNAMICS_DIRECTIONAL, "a", {"q": q, "v": v, "tau": tau, "external": external}, d_external)


def _of_tree(model: Model, algorithm: Any, result: str, given: dict[str, Any], d_external: Any) -> tuple[np.ndarray, np.ndarray]:
    """The derivatives of a result along displacements and velocities."""
    given = {name: x if x is None else np.asarray(x, float) for name, x in given.items()} | {"gravity": model.gravity}

    def call(inputs: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, np.ndarray]:
        return model.call(algorithm, inputs, 1, wanted)

    found = columns(call, model, given, ("q", "v"), (result,), {"d_external": d_external})[result]
    return found[..., 0, :, :], found[..., 1, :, :]
