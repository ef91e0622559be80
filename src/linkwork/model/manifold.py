"""Moving on the manifold of configurations: integrate and difference, node by node in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.sweep import Algorithm, Field, each
from .arrays import usual_function
from .rules import joint_of


def _integrate(n: Any) -> None:
    n.q_next = joint_of(n).integrate(n.q, n.dv)


def _difference(n: Any) -> None:
    n.dv = joint_of(n).difference(n.q, n.q_next)


INTEGRATE = Algorithm(
    "integrate",
    {"q": Field("input", "q"), "dv": Field("input", "v"), "q_next": Field("output", "q")},
    {"run": [each(_integrate)]},
)
DIFFERENCE = Algorithm(
    "difference",
    {"q": Field("input", "q"), "q_next": Field("input", "q"), "dv": Field("output", "v")},
    {"run": [each(_difference)]},
)


def integrate(model: Any, q: np.ndarray, dv: np.ndarray) -> np.ndarray:
    """See `Model.integrate`."""
    return usual_function(model, INTEGRATE, ("q", "dv"), "q_next").first(1, q, dv)


def difference(model: Any, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
    """See `Model.difference`."""
    return usual_function(model, DIFFERENCE, ("q", "q_next"), "dv").first(1, q0, q1)
