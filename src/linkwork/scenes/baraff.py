"""The systems of [Baraff 1996]: the chain and the star of Figure 1, the object of Figure 2, those whose times section 9 reports.

All are rods that are pinned together, in the plane or in space. Of those of section 9 the paper tells how many conditions they
have, not how they look.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import linkwork as lw

GRAVITY = 9.81
PETALS = 6


class Rods:
    """An assembly of thin rods of 1 kg/m, each added between two points and pinned to a former one at the first of them."""

    def __init__(self, space: int) -> None:
        self.assembly, self._space = lw.Assembly(gravity=np.eye(space)[-1] * -GRAVITY), space
        self._poses: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # rotation and centre of every rod

    def add(self, name: str, start: Any, end: Any, to: str | None = None) -> np.ndarray:
        """Add a rod; it returns its end."""
        start, end = np.asarray(start, float), np.asarray(end, float)
        length = float(np.linalg.norm(end - start))
        R, centre = pointing((end - start) / length), 0.5 * (start + end)
        self._poses[name] = R, centre
        if self._space == 2:
            angle = np.arctan2(R[1, 0], R[0, 0])
            self.assembly.add(name, lw.parts.Body2D(length, length**3 / 12), [*centre, angle])
        else:
            rod = lw.parts.Body3D(lw.Inertia.cuboid(mass=length, size=(length, 0.1 * length, 0.1 * length)))
            self.assembly.add(name, rod, rod.coordinates(lw.SE3(R=R, p=centre)))
        if to is not None:
            self.pin(name, to, start)
        return end

    def pin(self, a: str, b: str, at: Any) -> None:
        """Pin two rods to one another at a point of the world."""
        self.assembly.connect(lw.conditions.Pin(a, b, self.local(a, at), self.local(b, at), space=self._space))

    def local(self, name: str, at: Any) -> np.ndarray:
        """A point of the world in the axes of a rod."""
        R, centre = self._poses[name]
        return R.T @ (np.asarray(at, float) - centre)

    def strand(self, name: str, points: Any, to: str | None = None) -> str:
        """Rods along a line of points, each pinned to the one before, the first one to `to`; the name of the last."""
        for k, (start, end) in enumerate(pairwise(points)):
            self.add(f"{name}{k + 1}", start, end, to)
            to = f"{name}{k + 1}"
        assert to is not None
        return to


def pointing(x: np.ndarray) -> np.ndarray:
    """A rotation whose first column is x."""
    if len(x) == 2:
        return np.array([[x[0], -x[1]], [x[1], x[0]]])
    y = np.cross(np.eye(3)[np.argmin(np.abs(x))], x)
    y /= np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def chain(rods: int = 10) -> lw.Assembly:
    """Figure 1a: rods in a row, a wavy line in space; J M^-1 J^T is banded."""
    made, s = Rods(3), np.arange(rods + 1.0)
    made.strand("rod", np.column_stack([s, 0.3 * np.sin(s), 0.3 * np.cos(2.0 * s)]))
    return made.assembly


def star(rods: int = 10) -> lw.Assembly:
    """Figure 1b: all rods but the first are pinned to it, and J M^-1 J^T is full."""
    made = Rods(3)
    made.add("rod1", (-1, 0, 0), (1, 0, 0))
    for k, angle in enumerate(np.linspace(0.0, 2.0 * np.pi, rods - 1, endpoint=False)):
        at = np.array([0.9 * np.cos(angle), 0.0, 0.0])
        made.add(f"rod{k + 2}", at, at + np.array([0.3, np.cos(angle), np.sin(angle)]), to="rod1")
    return made.assembly


def object_of_figure_2() -> lw.Assembly:
    """Six rods and the five conditions 1-2, 2-3, 2-4, 1-5, 5-6, in this order, in the plane."""
    made = Rods(2)
    made.add("rod1", (0, 0), (1, 0))
    made.add("rod2", (0, 0), (-1, 0.2), to="rod1")
    made.add("rod3", (-1, 0.2), (-1.7, 0.9), to="rod2")
    made.add("rod4", (-1, 0.2), (-1.8, -0.4), to="rod2")
    made.add("rod5", (1, 0), (1.8, 0.6), to="rod1")
    made.add("rod6", (1.8, 0.6), (2.8, 0.5), to="rod5")
    return made.assembly


# --- section 9 --------------------------------------------------------------------------------------------------------------
def open_flower() -> lw.Assembly:
    """54 pins in the plane, 108 multipliers: six petals of nine rods on a hub, none of them closed."""
    return _flower(9).assembly


def closed_flower() -> lw.Assembly:
    """54 pins in the plane: the ninth pin of each petal closes it, so 12 of the 108 multipliers are auxiliary."""
    made = _flower(8)
    for k in range(PETALS):
        made.pin(f"petal{k + 1}_8", "hub", _petal(k)[8])
    return made.assembly


def _flower(rods: int) -> Rods:
    made = Rods(2)
    made.add("hub", (-0.5, 0.0), (0.5, 0.0))
    for k in range(PETALS):
        made.strand(f"petal{k + 1}_", _petal(k)[: rods + 1], to="hub")
    return made


def _petal(k: int) -> np.ndarray:
    """Points of a petal: nine on a closed line that begins and ends near the hub, and one on the hub's other side."""
    turn = np.append(np.linspace(0.15, 2.0 * np.pi - 0.15, 9), 2.0 * np.pi + 0.8)
    x, y = 2.0 - 2.0 * np.cos(turn), np.sin(turn)
    c, s = np.cos(np.pi * k / 3.0), np.sin(np.pi * k / 3.0)
    return np.column_stack([c * x - s * y, s * x + c * y])


def tripod() -> lw.Assembly:
    """32 ball joints in space and three frictionless contacts, 96 + 3 multipliers: three curved legs of ten rods, and a tail."""
    made = Rods(3)
    made.add("hub", (-0.5, 0, 3), (0.5, 0, 3))
    for k in range(3):
        bow, angle = np.linspace(0.0, 0.5 * np.pi, 11), 2.0 * np.pi * k / 3.0
        out, up = 0.5 + 3.0 * np.sin(bow), 3.0 * np.cos(bow)
        foot = made.strand(f"leg{k + 1}_", np.column_stack([out * np.cos(angle), out * np.sin(angle), up]), to="hub")
        down = made.local(foot, (3.5 * np.cos(angle), 3.5 * np.sin(angle), 0.0))
        made.assembly.connect(lw.conditions.Above(foot, down))
    made.strand("tail", [(0, 0, 3), (0.2, 0, 2), (0, 0.2, 1)], to="hub")
    return made.assembly


def tree() -> lw.Assembly:
    """Figure 3: 127 ball joints, 381 multipliers: a trunk, and seven generations of branches, each of which forks."""
    made = Rods(3)
    ends = {0: made.add("rod0", (0, 0, 0), (0, 0, 1))}
    for k in range(1, 128):
        below = k // 2
        generation, place = k.bit_length() - 1, k - (1 << (k.bit_length() - 1)) + 0.5
        angle = 2.0 * np.pi * place / 2**generation
        lean, length = 0.3 + 0.15 * generation, 0.85**generation
        step = np.array([np.sin(lean) * np.cos(angle), np.sin(lean) * np.sin(angle), np.cos(lean)])
        ends[k] = made.add(f"rod{k}", ends[below], ends[below] + length * step, to=f"rod{below}")
    return made.assembly
