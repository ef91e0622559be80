"""Gradients of accelerations: weights of a = forward_dynamics(q, v, tau), carried back to all that they are computed from, O(n).

The program of the model, forces and equality constraints included, run backwards (`kernel.adjoint`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..elements.collection import collection
from ..errors import InputError
from ..kernel.adjoint import adjoint, with_reversed_items
from ..kernel.adjoint_names import bar, bars_of, end
from ..kernel.directional import with_slopes
from ..kernel.plans import Plans
from ..kernel.running import run_plan
from ..kernel.sweep import Algorithm
from ..model.model import Model
from ..model.weights import displacement_weights
from ..solvers import box_adjoints  # noqa: F401  (the transposes of what solves rows)
from ..spatial.kinds import explained
from . import solve_adjoints  # noqa: F401  (those of accelerations)
from .loaded import given_laws, loaded_dynamics, without_pushes
from .parameters import parameter_slopes


class DynamicsGradient(NamedTuple):
    """How a weighted sum of accelerations changes with q (displacements of the joints), v and tau (..., nv), and with numbers of
    bodies and laws (..., numbers); None where none are asked for.

    >>> found = lw.forward_dynamics_gradient(model, q, v, [1.0, 0.0])
    >>> found.q.shape, found.tau.shape
    ((2,), (2,))
    """

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    parameters: np.ndarray | None


class _Backwards:
    """Forward dynamics of a model, backwards."""

    def __init__(self, model: Model, parameters: bool) -> None:
        self.laws = collection(without_pushes(model))
        self.sets = tuple(of for of in ("", "force", "constraint") if not of or of in self.laws.tree.sets) if parameters else ()
        self.algorithm: Algorithm = adjoint(loaded_dynamics(self.laws.shape), self.sets)
        tree = with_slopes(self.laws.tree, self.sets) if parameters else self.laws.tree
        self.plans = Plans(with_reversed_items(tree))


def _spoken(name: str) -> str:
    """What callers call an input."""
    return "weights" if name == end("accelerations") else name


@explained
def forward_dynamics_gradient(
    model: Model,
    q: Any,
    v: Any,
    weights: Any,
    tau: Any = None,
    external: Any = None,
    *,
    parameters: Mapping[str, Sequence[str]] | None = None,
    t: Any = 0.0,
    inputs: Any = None,
) -> DynamicsGradient:
    """The product of weights (nv,) or (batch, nv) with the derivatives of forward_dynamics(q, v, tau), in O(n).

    With `linearised_dynamics`: da_dq^T w, da_dv^T w and da_dtau^T w; parameters as `parameter_derivatives` takes them.

    >>> found = lw.forward_dynamics_gradient(model, q, v, [1.0, 0.0])
    >>> bool(np.allclose(found.tau, lw.inverse_mass_matrix(model, q)[0]))
    True
    """
    slopes = None if parameters is None else parameter_slopes(model, parameters, without_pushes)
    if slopes is not None and slopes.tables:
        raise InputError(
            "forward_dynamics_gradient: numbers that lie in tables (frames and values of splines) have no weights; "
            "take parameter_derivatives"
        )
    own: _Backwards = model.keep_as((_Backwards, parameters is not None), lambda: _Backwards(model, parameters is not None))
    given = {"q": q, "v": v, "tau": np.zeros(model.nv) if tau is None else tau, end("accelerations"): weights}
    arrays = {name: np.asarray(x, float) for name, x in given.items()}
    if external is not None:
        wrenches = np.asarray(external, float)
        arrays["external"] = wrenches.reshape(*wrenches.shape[:-2], -1)
    lead = np.broadcast_shapes(*(x.shape[:-1] for x in arrays.values()))
    if len(lead) > 1:
        raise InputError(f"forward_dynamics_gradient: one state, or a batch of them, not {lead}")
    for name, x in arrays.items():
        size = own.plans.size(own.algorithm, name)
        if x.shape[-1:] != (size,):
            raise InputError(f"{_spoken(name)} has the shape {x.shape}; its last axis has {size} numbers")
        if not np.isfinite(x).all():
            raise InputError(f"{_spoken(name)} must be finite")
    batch = int(np.prod(lead))
    flat = {name: np.broadcast_to(x, (*lead, x.shape[-1])).reshape(batch, -1) for name, x in arrays.items()}
    laws = given_laws(own.laws, flat["q"], t, inputs, bool(own.laws.rows))
    bars = {bars_of(of): np.zeros((batch, own.plans.size(own.algorithm, bars_of(of)))) for of in own.sets}
    wanted = tuple(map(bar, ("q", "v", "tau")))
    constants = {"gravity": model.gravity, **{name: np.asarray(x, float) for name, x in laws.items()}}
    out = run_plan(own.plans, own.algorithm, flat | constants | bars, wanted, batch, 1, 1, tuple(bars))
    found = {name: out[name] if name in bars else out[name][:, 0] for name in out}
    numbers = None
    if slopes is not None:
        numbers = np.sum([found[bars_of(of)] @ x.T for of, x in slopes.items() if bars_of(of) in found], axis=0)
    results = (displacement_weights(model, flat["q"], found[bar("q")]), found[bar("v")], found[bar("tau")], numbers)
    return DynamicsGradient(*(x if x is None else x.reshape(*lead, x.shape[-1]) for x in results))  # pyright: ignore
