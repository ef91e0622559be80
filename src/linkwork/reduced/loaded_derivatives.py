"""Exact derivatives of inverse dynamics of the loaded tree, one state or a batch: the recursions with all forces on dual numbers,
a direction in every lane."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..elements.collection import Collection, Shape, collection
from ..kernel.directional import companion, directional
from ..kernel.sweep import Algorithm
from ..model.arrays import Interface
from ..model.model import Model
from .derivatives import Directional, columns
from .loaded import given_laws, law_tails, without_pushes
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
