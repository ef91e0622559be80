"""What constraints are told from Python: at a time, and, where they look, where their bodies are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import SolverError
from ..spatial.se3 import SE3
from .law import RowLaw

STILL = SE3()
NO_SPEED = np.zeros(2)


class Telling:
    """All that some laws must be told.

    bodies   of every law the numbers of its bodies; that after the last is the world's
    """

    def __init__(self, laws: Sequence[RowLaw], bodies: Sequence[Sequence[int]]) -> None:
        pairs = [(law, at) for law, at in zip(laws, bodies, strict=True) if law.inputs]
        self._parts = [(law, law.asker() if law.looks else None, tuple(at)) for law, at in pairs]
        self._looks = any(law.looks for law, _ in pairs)

    def __call__(self, t: float, poses: Any = None, twists: Any = None, time: float = 0.0) -> np.ndarray:
        """The numbers at a time; laws that look are told that nothing is there if poses are not given.

        poses, twists   of the bodies (bodies, 4, 4) and (bodies, 6)
        time            ahead: what may touch within it, they are told
        """
        frames = speeds = None
        if self._looks and poses is not None:
            frames = [*(SE3(E[:3, :3], E[:3, 3]) for E in poses), STILL]
            speeds = [NO_SPEED] * len(frames) if twists is None else [*_speeds(twists), NO_SPEED]
        found = [np.zeros(0)]
        for law, ask, at in self._parts:
            if ask is None or frames is None or speeds is None:
                found.append(law.inputs_at(t))
            else:
                try:
                    found.append(ask([frames[i] for i in at], [speeds[i] for i in at], time))
                except SolverError as error:
                    raise SolverError(f"{law!r} at t = {t:.6g} s: {error}") from error
        return np.concatenate(found)


def _speeds(twists: np.ndarray) -> np.ndarray:
    """|v| and |w| of all bodies."""
    return np.linalg.norm(twists.reshape(-1, 2, 3), axis=2)[:, ::-1]
