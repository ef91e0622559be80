"""Custom joints: a function from coordinates to a transform is all that is needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import LinkworkError, ModelError
from ..kernel.symbol import traced_digest
from ..spatial.scalar import Vector
from ..spatial.se3 import SE3
from .base import Joint, pose_entries


class CustomJoint(Joint):
    """A joint given by `transform(q) -> SE3` of nv coordinates; subspace, bias and constraint rows are derived."""

    def __init__(self, transform: Callable[[Vector], SE3], nv: int, name: str = "custom") -> None:
        if not callable(transform):
            raise ModelError(f"joint {name!r}: transform must be a function of q, not {type(transform).__name__}")
        if not isinstance(nv, int) or isinstance(nv, bool) or not 1 <= nv <= 6:
            raise ModelError(f"joint {name!r}: nv must be an integer from 1 to 6, not {nv!r}")
        self.nq = self.nv = nv
        self.name = name
        self._transform = transform
        self._check()

    def transform(self, q: Vector) -> SE3:
        return self._transform(q)

    @cached_property
    def signature(self) -> tuple[Any, ...]:
        """A digest of the traced transform: the same function in another process has the same machine code."""
        return ("custom", self.nq, traced_digest(lambda q: pose_entries(self.transform(q)), self.nq))

    def _check(self) -> None:
        q = np.full(self.nq, 0.1)
        try:
            E = self.transform(q)
        except LinkworkError:
            raise
        except Exception as error:
            raise ModelError(f"joint {self.name!r}: transform(q) failed for q = {q.tolist()}: {error}") from error
        if not isinstance(E, SE3):
            raise ModelError(f"joint {self.name!r}: transform(q) must return an SE3, not {type(E).__name__}")
        rigid = np.allclose(E.R @ E.R.T, np.eye(3), atol=1e-9) and np.linalg.det(E.R.astype(float)) > 0
        if not rigid or not np.all(np.isfinite(E.p)):
            raise ModelError(f"joint {self.name!r}: transform({q.tolist()}) is not a rigid transform")
        for trial in (q, np.full(self.nq, 0.7), np.linspace(0.2, 0.9, self.nq)):
            S = self.motion(trial, np.zeros(self.nv)).tangent.S.astype(float)
            if np.linalg.matrix_rank(S, 1e-9) == self.nv:
                return
        raise ModelError(f"joint {self.name!r}: its {self.nv} coordinates do not move it independently")

    def __repr__(self) -> str:
        return f"joint({self.name!r}, nv={self.nv})"


def joint(transform: Callable[[Vector], SE3], nv: int, name: str = "custom") -> CustomJoint:
    """A joint from its transform alone.

    >>> helix = joint(lambda q: SE3.rot_z(q[0]) @ SE3(p=(0, 0, 0.02 * q[0])), nv=1)
    """
    return CustomJoint(transform, nv, name)
