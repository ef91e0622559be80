"""What steps keep steady (`Joint.advance`), node by node in compiled code: where a way leads, how velocities there are seen from
its start, and what the rates of velocities that stay have besides v_dot."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.sweep import Algorithm, Field, each
from .arrays import usual_function
from .rules import stepped_joint_of


def _advance(n: Any) -> None:
    (n.q_next,) = stepped_joint_of(n).advance(n.q, n.way)


def _look_back(n: Any) -> None:
    n.seen = stepped_joint_of(n).seen_from(n.q, n.q_next, n.v)


def _bend(n: Any) -> None:
    n.bend = stepped_joint_of(n).bend(n.q, n.v)


Q, V = Field("input", "q"), Field("input", "v")
ADVANCE = Algorithm("advance", {"q": Q, "way": V, "q_next": Field("output", "q")}, {"run": [each(_advance)]})
LOOK_BACK = Algorithm("look_back", {"q": Q, "q_next": Q, "v": V, "seen": Field("output", "v")}, {"run": [each(_look_back)]})
BEND = Algorithm("bend", {"q": Q, "v": V, "bend": Field("output", "v")}, {"run": [each(_bend)]})


def advance(model: Any, q: np.ndarray, way: np.ndarray) -> np.ndarray:
    """Where a way of a step leads; batches broadcast, here and below."""
    return usual_function(model, ADVANCE, ("q", "way"), "q_next").first(1, q, way)


def seen_from(model: Any, q: np.ndarray, q_next: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Velocities at q that a step to q_next shows as v there."""
    return usual_function(model, LOOK_BACK, ("q", "q_next", "v"), "seen").first(1, q, q_next, v)


def bend(model: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """See `Joint.bend`."""
    return usual_function(model, BEND, ("q", "v"), "bend").first(1, q, v)
