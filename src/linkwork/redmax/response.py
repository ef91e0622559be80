"""The response of a model, whichever coordinates its state has."""

from __future__ import annotations

from typing import Any

from ..maximal.response import factor_maximal
from ..model.model import Model
from ..model.state import MaximalState, Response
from ..reduced.response import factor_reduced


def factor(
    model: Model,
    q: Any,
    v: Any = None,
    tau: Any = None,
    external: Any = None,
    dt: float | None = None,
) -> Response:
    """The `Response` of a model at a configuration, or at a `MaximalState`: how it answers forces, in O(n).

    Without `dt` its free motion is an acceleration and it answers forces; with `dt`, a velocity after a step, and impulses.
    """
    if isinstance(q, MaximalState):
        return factor_maximal(model, q, tau, external, dt)
    return factor_reduced(model, q, v, tau, external, dt)
