"""The ports of the laws of a model as one space of vectors: six numbers for every body that some law looks at, then all joints.

Matrices of a law on its own ports become parts of matrices on this space: `places` says where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..elements.nodes import STILL, LawNodes
from ..joints import Joint


def moving(kinds: Sequence[Any]) -> list[tuple[int, int, int]]:
    """Of the ports of a law that move: their number, where each begins among all of them, and its size."""
    found, first = [], 0
    for i, kind in enumerate(kinds):
        if kind != STILL:
            size = kind.nv if isinstance(kind, Joint) else 6
            found.append((i, first, size))
            first += size
    return found


def width(kinds: Sequence[Any]) -> int:
    """The sizes of all ports of a law that move."""
    return sum(size for _, _, size in moving(kinds))


@dataclass(frozen=True, eq=False)
class PortSpace:
    """The ports of some laws."""

    nodes: LawNodes

    @cached_property
    def bodies(self) -> list[int]:
        """Those that some law looks at."""
        at = zip(self.nodes.bodies, self.nodes.kinds, strict=True)
        found = {own[i] for own, kinds in at for i, _, _ in moving(kinds) if not isinstance(kinds[i], Joint)}
        return sorted(found)

    @cached_property
    def joints(self) -> int:
        """The degrees of freedom, if some law looks at joints."""
        return self.nodes.model.nv if self.nodes.on_joints else 0

    @cached_property
    def size(self) -> int:
        return 6 * len(self.bodies) + self.joints

    @cached_property
    def places(self) -> list[np.ndarray]:
        """Of every law, where the numbers of its ports are."""
        starts, first = self.nodes.model.tree.offsets("v"), {body: 6 * k for k, body in enumerate(self.bodies)}
        found = []
        for own, kinds in zip(self.nodes.bodies, self.nodes.kinds, strict=True):
            parts = [np.zeros(0, np.int64)]
            for i, _, size in moving(kinds):
                start = 6 * len(self.bodies) + starts[own[i]] if isinstance(kinds[i], Joint) else first[own[i]]
                parts.append(start + np.arange(size))
            found.append(np.concatenate(parts))
        return found

    def on_all(self, columns: np.ndarray) -> np.ndarray:
        """Columns (..., bodies 6, nv) at the bodies, with those of joints, which are unit ones: of displacements and motions."""
        if not self.joints:
            return columns
        unit = np.broadcast_to(np.eye(self.joints), (*columns.shape[:-2], self.joints, self.joints))
        return np.concatenate([columns, unit], axis=-2)

    def on_bodies(self, columns: np.ndarray) -> np.ndarray:
        """The same where joints have none."""
        if not self.joints:
            return columns
        none = np.zeros((*columns.shape[:-2], self.joints, self.joints))
        return np.concatenate([columns, none], axis=-2)
