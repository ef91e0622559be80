"""Exact derivatives of the dynamics of the bare tree, one state or a batch, and directions for dual numbers.

Derivatives with respect to q are along displacements of the joints: tau(integrate(q, e), v, a) to first order in e.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..kernel.directional import companion, directional
from ..kernel.function import Function
from ..kernel.sweep import Algorithm
from ..model.accepts import takes_model
from ..model.arrays import Interface
from ..model.manifold import INTEGRATE
from ..model.model import Model
from .dof_tree import dof_plans
from .forward_derivatives import FORWARD_DERIVATIVES
from .inverse_derivatives import INVERSE_DERIVATIVES
from .jacobian import jacobian_transpose_product

INTEGRATE_DIRECTIONAL = directional(INTEGRATE)
INVERSE_RESULTS = ("dtau_dq", "dtau_dv", "dtau_da")
FORWARD_RESULTS = ("a", "da_dq", "da_dv", "da_dtau")
Directional = Callable[[dict[str, Any], tuple[str, ...]], dict[str, np.ndarray]]  # inputs and results of a directional algorithm


class DynamicsDerivatives(NamedTuple):
    """Accelerations (..., nv) and their derivatives (..., nv, nv) with respect to q, v and tau.

    >>> found = lw.linearised_dynamics(model, q, v)
    >>> found.da_dq.shape
    (2, 2)
    """

    a: np.ndarray
    da_dq: np.ndarray
    da_dv: np.ndarray
    da_dtau: np.ndarray


def square_interface(model: Model, algorithm: Algorithm) -> Interface:
    """An algorithm with results (nv, nv) on a model, kept with it."""

    def make() -> Interface:
        squares = {name: (model.nv, model.nv) for name, f in algorithm.fields.items() if f.space == "square"}
        return Interface(model, algorithm, dof_plans(model), squares)

    return model.keep_as((square_interface, algorithm.name), make)


def square_function(model: Model, algorithm: Algorithm, inputs: tuple[str, ...], results: tuple[str, ...]) -> Function:
    """The same as a function of these inputs under the model's gravity, no wrenches, for the results alone."""

    def make() -> Function:
        fields = algorithm.fields
        gravity = {"gravity": model.gravity} if "gravity" in fields else {}
        absent = tuple(name for name, f in fields.items() if f.kind == "input" and name not in (*inputs, "gravity"))
        return square_interface(model, algorithm).function(inputs, results, absent, gravity)

    return model.keep_as((square_function, algorithm.name, results), make)


def _squares(
    model: Model, algorithm: Algorithm, given: dict[str, Any], external: Any, threads: int | None, results: tuple[str, ...]
) -> list[np.ndarray]:
    """Results of an algorithm, quickly where nothing but the usual is given."""
    if external is None and all(x is not None for x in given.values()):
        return square_function(model, algorithm, tuple(given), results)(*given.values(), threads=threads)
    inputs = {**given, "external": external, "gravity": model.gravity}
    return list(square_interface(model, algorithm)(inputs, threads, results).values())


@takes_model
def tree_inverse_dynamics_derivatives(
    model: Model, q: Any, v: Any, a: Any, external: Any = None, d_external: Any = None, threads: int | None = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of tau = tree_inverse_dynamics(q, v, a): dtau_dq, dtau_dv and dtau_da, (nv, nv) or (batch, nv, nv) each.

    external     constant wrenches on the bodies in body axes (bodies, 6)
    d_external   how they change, of one state: (2 nv, bodies, 6), for displacements of the joints, then for velocities

    O(n depth) per state; see `inverse_derivatives`.

    >>> dtau_dq, dtau_dv, dtau_da = lw.tree_inverse_dynamics_derivatives(model, q, v, np.zeros(2))
    """
    dq, dv, da = _squares(model, INVERSE_DERIVATIVES, {"q": q, "v": v, "a": a}, external, threads, INVERSE_RESULTS)
    if d_external is not None:
        change = jacobian_transpose_product(model, q, d_external).T
        dq, dv = dq - change[:, : model.nv], dv - change[:, model.nv :]
    return dq, dv, da


@takes_model
def tree_dynamics_derivatives(
    model: Model, q: Any, v: Any, tau: Any = None, external: Any = None, threads: int | None = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Of a = tree_dynamics(q, v, tau): da_dq and da_dv, (nv, nv) or (batch, nv, nv) each; da_dtau is the inverse mass matrix.

    >>> da_dq, da_dv = lw.tree_dynamics_derivatives(model, q, v)
    """
    given = {"q": q, "v": v, "tau": tau}
    dq, dv = _squares(model, FORWARD_DERIVATIVES, given, external, threads, ("da_dq", "da_dv"))
    return dq, dv


@takes_model
def tree_linearised_dynamics(
    model: Model, q: Any, v: Any, tau: Any = None, external: Any = None, threads: int | None = 1
) -> DynamicsDerivatives:
    """tree_dynamics(q, v, tau) with all its derivatives, O(n^2) per state; see `forward_derivatives`.

    >>> found = lw.tree_linearised_dynamics(model, q, v)
    """
    given = {"q": q, "v": v, "tau": tau}
    return DynamicsDerivatives(*_squares(model, FORWARD_DERIVATIVES, given, external, threads, FORWARD_RESULTS))


# --- directions --------------------------------------------------------------------------------------------------------------
def coordinate_columns(model: Model, q: np.ndarray) -> np.ndarray:
    """How coordinates q (..., nq) change along unit displacements of the joints: (..., nv, nq), one row per displacement."""
    nv, unit = model.nv, _unit(model, model.nv, 0)
    inputs = {"q": q, "d_q": None, "dv": np.zeros(nv), "d_dv": unit}
    if q.ndim > 1:
        inputs |= {"q": np.repeat(q, nv, axis=0), "d_dv": np.tile(unit, (len(q), 1))}
    found = model.quick(INTEGRATE_DIRECTIONAL, ("q", "dv", "d_dv"), ("d_q_next",))(inputs["q"], inputs["dv"], inputs["d_dv"])[0]
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
