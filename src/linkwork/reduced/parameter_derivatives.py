"""Derivatives of accelerations with respect to numbers of bodies and laws: forward dynamics of the loaded tree on dual numbers.

Any number that a law or a joint declares as a parameter may change: the rules do not know (`kernel.directional`). Forces of
constraints change so that these go on holding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..elements.collection import collection
from ..kernel.directional import TableChanges, companion, directional, slopes_of, with_slopes
from ..kernel.plans import Plans
from ..model.accepts import takes_model
from ..model.arrays import Interface
from ..model.model import Model
from ..solvers import box_tangents  # noqa: F401  (what rows and boxes change by)
from .loaded import given_laws, law_tails, loaded_dynamics, without_pushes
from .parameters import SETS, parameter_slopes


@takes_model
def parameter_derivatives(
    model: Model,
    q: Any,
    v: Any,
    parameters: Mapping[str, Sequence[str]],
    tau: Any = None,
    external: Any = None,
    *,
    t: Any = 0.0,
    inputs: Any = None,
) -> np.ndarray:
    """Of a = forward_dynamics(q, v, tau): da/dp (nv, numbers) or (batch, nv, numbers), exact.

    parameters   {name: numbers} as `Model.with_parameters` takes them: {"upper": ("mass", "com"), "spring": ("stiffness",)};
                 arrays count entry by entry, in the order given, poses (a placement, frames of a `SplineCurve`) as displacements
                 of six numbers in their own axes, an axis by changes of its entries that leave it a unit vector

    >>> lw.parameter_derivatives(model, q, v, {"lower": ["mass"]}).shape
    (2, 1)
    """
    slopes = parameter_slopes(model, parameters, without_pushes)
    count = len(next(iter(slopes.values())))
    q, v = np.asarray(q, float), np.asarray(v, float)
    lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], () if tau is None else np.shape(tau)[:-1])
    batch = int(np.prod(lead))
    laws = collection(without_pushes(model))
    given = {"q": q, "v": v, "tau": tau, "external": external} | given_laws(laws, q, t, inputs, bool(laws.rows))
    tails = {"external": 2}
    found: dict[str, Any] = {"gravity": model.gravity}
    for name, x in given.items():
        if x is not None:
            x = np.asarray(x, float)
            found[name] = np.repeat(x, count, axis=0) if x.ndim > tails.get(name, 1) else x
        else:
            found[name] = None
    interface = _interface(model, slopes.tables)
    known = interface.algorithm.fields
    changes = {slopes_of(of): np.tile(x, (batch, 1)) for of, x in slopes.items() if slopes_of(of) in known}
    still = {companion(name): None for name in found}
    out = interface({**found, **still, **changes}, 1, (companion("accelerations"),))[companion("accelerations")]
    return out.reshape(*lead, count, model.nv).swapaxes(-1, -2)


def _interface(model: Model, tables: TableChanges) -> Interface:
    laws = collection(without_pushes(model))

    def make() -> Interface:
        own = loaded_dynamics(laws.shape)
        sets = tuple(of for of in own.sets if of in SETS)
        algorithm, plans = directional(own, sets), Plans(with_slopes(laws.tree, sets, tables))
        tails = law_tails(laws)
        tails |= {companion(name): tail for name, tail in tails.items()}
        tails |= {slopes_of(of): (plans.size(algorithm, slopes_of(of)),) for of in sets}
        return Interface(laws.model, algorithm, plans, tails)

    return make() if tables else model.keep_as(parameter_derivatives, make)
