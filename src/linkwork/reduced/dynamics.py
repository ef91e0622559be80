"""Dynamics with everything that acts in a model: gravity, armature and damping of joints, forces and equality constraints.

What only the loaded model needs is imported when a model has laws: it is as much as all the rest. `tree_dynamics` and the like
speak of the bare tree.

Arguments that all functions share:

    external   wrenches (moment, force) on the bodies, about their origins in their axes: (bodies, 6)
    threads    for batches; None uses all cores
    t          time, for forces and constraints that depend on it: one, or (batch,)
    inputs     of forces that have any (activations, targets), in the order of `lw.force_set(model)`; their own if None

Arrays have the batch axis first and broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any

import numpy as np

from ..model.accepts import check_model, takes_model
from ..model.model import FUNCTIONS, Model
from ..spatial.gate import check_unused
from .derivatives import (
    DynamicsDerivatives,
    tree_dynamics_derivatives,
    tree_inverse_dynamics_derivatives,
    tree_linearised_dynamics,
)
from .forward import tree_dynamics
from .hybrid import tree_hybrid_dynamics
from .inverse import tree_inverse_dynamics


def forward_dynamics(
    model: Model,
    q: Any,
    v: Any,
    tau: Any = None,
    external: Any = None,
    threads: int | None = 1,
    *,
    t: Any = 0.0,
    inputs: Any = None,
) -> np.ndarray:
    """The joint accelerations (nv,) or (batch, nv) under gravity, tau, external wrenches, and every force and equality
    constraint of the model.

    tau        joint forces (nv,) or (batch, nv); zero if None
    external   wrenches (moment, force) on the bodies, about their origins in their axes: (bodies, 6) or (batch, bodies, 6);
               `lw.convert.external_wrenches` makes them from forces in world axes

    O(n) per state; constraints add a dense problem of their size. `constrained_dynamics` returns their forces, too. Raises
    `SolverError` if they contradict one another.

    >>> a = lw.forward_dynamics(model, q, v)
    >>> lw.forward_dynamics(model, np.zeros((100, 2)), np.zeros((100, 2))).shape
    (100, 2)
    """
    if type(model) is not Model:
        check_model(model)
    if not model.elements:
        if inputs is not None or type(t) is not float or not isfinite(t):
            check_unused(t, inputs)
        return tree_dynamics(model, q, v, tau, external, threads)
    from .loaded import smooth_dynamics

    return smooth_dynamics(model, q, v, tau, external, threads, t, inputs)


def inverse_dynamics(
    model: Model,
    q: Any,
    v: Any,
    a: Any,
    external: Any = None,
    threads: int | None = 1,
    *,
    t: Any = 0.0,
    inputs: Any = None,
) -> np.ndarray:
    """The joint forces (nv,) or (batch, nv) with which the model has the accelerations `a`: forward_dynamics(..., tau) = a.

    Where equality constraints leave a choice, their forces are zero and tau alone carries: that is one solution whenever `a`
    obeys them (G a + bias = 0); if it does not, none exists. Dry friction is overcome. O(n) per state.

    >>> a = lw.forward_dynamics(model, q, v, [1.0, 2.0])
    >>> np.round(lw.inverse_dynamics(model, q, v, a), 6)
    array([1., 2.])
    """
    if type(model) is not Model:
        check_model(model)
    if not model.elements:
        if inputs is not None or type(t) is not float or not isfinite(t):
            check_unused(t, inputs)
        return tree_inverse_dynamics(model, q, v, a, external, threads)
    from .loaded_inverse import loaded_inverse_dynamics

    return loaded_inverse_dynamics(model, q, v, a, external, threads, t, inputs)[0]


@takes_model
def hybrid_dynamics(
    model: Model,
    q: Any,
    v: Any,
    tau: Any,
    a: Any,
    prescribed: str | Iterable[str],
    external: Any = None,
    threads: int | None = 1,
    *,
    t: Any = 0.0,
    inputs: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations and joint forces (a, tau), (nv,) or (batch, nv), when the joints named in `prescribed` move as told by `a`.

    `tau` counts at the other joints only, `a` at the prescribed ones only. Equality constraints act on what is left to move; one
    that concerns prescribed joints alone is overruled. Raises `SolverError` if they cannot hold with what is told.

    >>> a, tau = lw.hybrid_dynamics(model, q, v, np.zeros(2), np.zeros(2), prescribed="upper")
    >>> float(a[0]), float(tau[1])
    (0.0, 0.0)
    """
    if not model.elements:
        if inputs is not None or type(t) is not float or not isfinite(t):
            check_unused(t, inputs)
        return tree_hybrid_dynamics(model, q, v, tau, a, prescribed, external, threads)
    from .loaded_hybrid import loaded_hybrid_dynamics

    return loaded_hybrid_dynamics(model, q, v, tau, a, prescribed, external, threads, t, inputs)


@takes_model
def forward_dynamics_derivatives(
    model: Model,
    q: Any,
    v: Any,
    tau: Any = None,
    external: Any = None,
    threads: int | None = 1,
    *,
    t: Any = 0.0,
    inputs: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Of a = forward_dynamics(q, v, tau): da_dq and da_dv, (nv, nv) or (batch, nv, nv) each, exact.

    Derivatives with respect to q are along displacements of the joints (`model.integrate`). Forces of equality constraints
    change so that these go on holding; dry friction sticks, or slips with the force that it has.

    >>> da_dq, da_dv = lw.forward_dynamics_derivatives(model, q, v)
    """
    if not model.elements:
        if inputs is not None or type(t) is not float or not isfinite(t):
            check_unused(t, inputs)
        return tree_dynamics_derivatives(model, q, v, tau, external, threads)
    from .loaded_slopes import loaded_dynamics_derivatives

    found = loaded_dynamics_derivatives(model, q, v, tau, external, t, inputs, threads)
    return found.da_dq, found.da_dv


@takes_model
def linearised_dynamics(
    model: Model,
    q: Any,
    v: Any,
    tau: Any = None,
    external: Any = None,
    threads: int | None = 1,
    *,
    t: Any = 0.0,
    inputs: Any = None,
) -> DynamicsDerivatives:
    """forward_dynamics(q, v, tau) and all its derivatives: a, da_dq, da_dv and da_dtau, see `forward_dynamics_derivatives`.

    >>> found = lw.linearised_dynamics(model, q, v)
    >>> found.a.shape, found.da_dtau.shape
    ((2,), (2, 2))
    """
    if not model.elements:
        if inputs is not None or type(t) is not float or not isfinite(t):
            check_unused(t, inputs)
        return tree_linearised_dynamics(model, q, v, tau, external, threads)
    from .loaded_slopes import loaded_dynamics_derivatives

    return loaded_dynamics_derivatives(model, q, v, tau, external, t, inputs, threads)


@takes_model
def inverse_dynamics_derivatives(
    model: Model,
    q: Any,
    v: Any,
    a: Any,
    external: Any = None,
    threads: int | None = 1,
    *,
    t: Any = 0.0,
    inputs: Any = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of tau = inverse_dynamics(q, v, a): dtau_dq, dtau_dv and dtau_da, (nv, nv) or (batch, nv, nv) each, exact.

    >>> dtau_dq, dtau_dv, dtau_da = lw.inverse_dynamics_derivatives(model, q, v, np.zeros(2))
    >>> bool(np.allclose(dtau_da, lw.mass_matrix(model, q)))
    True
    """
    if not model.elements:
        if inputs is not None or type(t) is not float or not isfinite(t):
            check_unused(t, inputs)
        return tree_inverse_dynamics_derivatives(model, q, v, a, external, threads=threads)
    from .loaded_derivatives import loaded_inverse_derivatives

    return loaded_inverse_derivatives(model, q, v, a, external, t, inputs)


def _prepared(function: Callable[..., np.ndarray], of_tree: str) -> Callable[[Model], Callable[..., np.ndarray]]:
    """For `model.function`: the prepared function of the bare tree, or this one."""

    def make(model: Model) -> Callable[..., np.ndarray]:
        return FUNCTIONS[of_tree](model) if not model.elements else lambda q, v, x: function(model, q, v, x)

    return make


FUNCTIONS["forward_dynamics"] = _prepared(forward_dynamics, "tree_dynamics")
FUNCTIONS["inverse_dynamics"] = _prepared(inverse_dynamics, "tree_inverse_dynamics")
