"""A state from any numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import State


def state(q: Any, v: Any) -> State:
    return State(np.array(q, float), np.array(v, float))
