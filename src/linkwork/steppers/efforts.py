"""The largest force that every joint declares: what is asked for beyond it is held back, and counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import Model

LARGEST = float(np.finfo(float).max)


class Efforts:
    """What the joints of a run may be given.

    most      of every velocity (nv,): the declared effort, or the largest number there is
    clipped   how many steps asked for more (nv,), or None: no step did
    """

    def __init__(self, model: Model) -> None:
        self.model, self.most = model, model.keep_as(Efforts, lambda: declared_efforts(model))
        self.clipped: np.ndarray | None = None

    @property
    def any(self) -> bool:
        """Whether any joint declares an effort."""
        return bool((self.most < LARGEST).any())

    def held(self, tau: np.ndarray, steps: int = 1) -> np.ndarray:
        """Joint forces (..., nv) within their efforts, for so many steps."""
        within = np.clip(tau, -self.most, self.most)
        beyond = (within != tau).reshape(-1, len(self.most)).any(axis=0)
        if beyond.any():
            self.clipped = steps * beyond + (0 if self.clipped is None else self.clipped)
        return within

    @property
    def by_joint(self) -> dict[str, int]:
        """How many steps asked joints for more than their effort, by name."""
        if self.clipped is None:
            return {}
        counts = {b.joint_name: self.clipped[self.model.v_index(b.name)].max(initial=0) for b in self.model.bodies}
        return {name: int(n) for name, n in counts.items() if n}


def declared_efforts(model: Model) -> np.ndarray:
    """The largest force of every velocity (nv,)."""
    given: Any = [b.properties.effort for b in model.bodies]
    return np.minimum(np.concatenate([np.zeros(0), *given]), LARGEST)
