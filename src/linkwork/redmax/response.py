"""The response of a model, whichever coordinates its state has."""

from __future__ import annotations

from typing import Any

from ..elements.law import ForceLaw
from ..maximal import response as maximal
from ..maximal.dynamics import maximal_dynamics
from ..model.accepts import check_model
from ..model.model import Model
from ..model.state import MaximalState, Response
from ..reduced import response as reduced
from ..reduced.dynamics import forward_dynamics
from ..spatial.gate import check_unused, given_positive
from ..spatial.kinds import explained


@explained
def factor(
    model: Model,
    q: Any,
    v: Any = None,
    tau: Any = None,
    external: Any = None,
    dt: float | None = None,
    *,
    t: float | None = None,
    inputs: Any = None,
) -> Response:
    """The `Response` of a model at a configuration, or at a `MaximalState`: how it answers forces, in O(n).

    Without `dt` its free motion is an acceleration and it answers forces; with `dt`, a velocity after a step, and impulses.
    The free motion is that under every force of the model. Constraints are what a response is asked about: their rows see it
    through `delassus`, their forces are added by `corrected`; none act in it.

    t, inputs   as of `forward_dynamics`; a `MaximalState` has a time of its own

    >>> response = lw.factor(model, q, v)
    >>> bool(np.allclose(response.free.joints, lw.forward_dynamics(model, q, v)))
    True
    """
    _check(model, dt)
    check_unused(t, inputs)
    m = model.keep_as(factor, lambda: model.replace(elements=model.elements_of(ForceLaw))) if model.elements else model
    if isinstance(q, MaximalState):
        return maximal.response_at(model, q, lambda: maximal_dynamics(m, q, tau, external, t=t, inputs=inputs), dt)
    at = 0.0 if t is None else t
    return reduced.response_at(model, q, v, lambda q, v: forward_dynamics(m, q, v, tau, external, t=at, inputs=inputs), dt)


@explained
def tree_factor(model: Model, q: Any, v: Any = None, tau: Any = None, external: Any = None, dt: float | None = None) -> Response:
    """The same of the bare tree: its free motion is that under gravity, tau and external wrenches alone.

    >>> lw.tree_factor(model, q, v).free.joints.shape
    (2,)
    """
    _check(model, dt)
    if isinstance(q, MaximalState):
        return maximal.factor_maximal(model, q, tau, external, dt)
    return reduced.factor_reduced(model, q, v, tau, external, dt)


def _check(model: Model, dt: float | None) -> None:
    check_model(model)
    if dt is not None:
        given_positive("dt", dt)
