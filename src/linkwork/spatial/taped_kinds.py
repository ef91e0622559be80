"""Transforms and tables on tapes: see `tape`. Importing this module makes them known there."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import tape as tapes
from .dual import held
from .scalar import Vector
from .se3 import SE3
from .stage import Rotation, Shift, Turn
from .table import Table, TableShape
from .tape import CONSTANTS, LEAVES, OPERATIONS, TAPED_LEAVES, Tape, Taped

POINT, TWIST = (3,), (6,)


class TapedSE3(SE3):
    """A transform whose operations are noted."""

    __slots__ = ("index", "tape")
    tape: Tape
    index: int

    def __init__(self, *given: Any, **named: Any) -> None:
        """Made by `noted_transform` alone; Python calls this after `SE3(...)` has returned one."""

    def _array(self, shape: tuple[int, ...], name: str, *given: Any) -> np.ndarray:
        return self.tape.array(shape, f"SE3.{name}", self, *given)

    @property
    def R(self) -> np.ndarray:
        return self._array((3, 3), "R")

    @property
    def p(self) -> Vector:
        return self._array(POINT, "p")

    @property
    def matrix(self) -> np.ndarray:
        return self._array((4, 4), "matrix")

    def __matmul__(self, other: Any) -> Any:
        return noted_transform(self.tape, "SE3.product", self, other) if isinstance(other, SE3) else self.act(other)

    def __rmatmul__(self, other: Any) -> Any:
        return noted_transform(self.tape, "SE3.product", other, self)

    def inverse(self) -> SE3:
        return noted_transform(self.tape, "SE3.inverse", self)

    def collapsed(self) -> SE3:
        return noted_transform(self.tape, "SE3.collapsed", self)

    def act(self, point: Vector) -> Vector:
        return self._array(POINT, "act", np.asarray(point))

    def log(self) -> Vector:
        return self._array(TWIST, "log")

    def rotate(self, x: Vector) -> Vector:
        return self._array(POINT, "rotate", np.asarray(x))

    def unrotate(self, x: Vector) -> Vector:
        return self._array(POINT, "unrotate", np.asarray(x))

    def move_twist(self, x: Vector) -> Vector:
        return self._array(TWIST, "move_twist", np.asarray(x))

    def pull_twist(self, x: Vector) -> Vector:
        return self._array(TWIST, "pull_twist", np.asarray(x))

    def move_wrench(self, f: Vector) -> Vector:
        return self._array(TWIST, "move_wrench", np.asarray(f))

    def pull_wrench(self, f: Vector) -> Vector:
        return self._array(TWIST, "pull_wrench", np.asarray(f))

    def __repr__(self) -> str:
        return f"TapedSE3({self.index})"


def noted_transform(tape: Tape, operation: str, *given: Any) -> TapedSE3:
    """Note an operation whose result is a transform."""
    return _transform(tape, tape.note(operation, *given), None)


def _transform(tape: Tape, index: int, _: Any) -> TapedSE3:
    E = object.__new__(TapedSE3)
    object.__setattr__(E, "tape", tape)
    object.__setattr__(E, "index", index)
    return E


class TapedData:
    """The data of a table whose look-ups are noted."""

    __slots__ = ("index", "tape")

    def __init__(self, tape: Tape, index: int) -> None:
        self.tape, self.index = tape, index

    def gather(self, place: Any, k: int) -> Taped:
        return self.tape.scalar("Table.take", self, place, k)


def _table(tape: Tape, index: int, shape: Any) -> Table:
    cell, cyclic, steps = shape
    form, data = TableShape(tuple(cell), tuple(cyclic), steps), TapedData(tape, index)
    return Table.of_shape(form, [data, *(tape.scalar("Table.header", data, k) for k in range(form.header))])


def _stages(E: SE3) -> list[Any]:
    """A transform of numbers as data."""
    found: list[Any] = []
    for s in E.stages:
        if isinstance(s, Turn):
            found.append(["turn", s.axis, float(s.c), float(s.s)])
        else:
            kind, a = ("shift", s.p) if isinstance(s, Shift) else ("rotation", s.R)
            found.append([kind, np.asarray(a, float).tolist()])
    return found


def _of_stages(data: Any) -> SE3:
    stages: list[Any] = []
    for kind, *given in data:
        if kind == "turn":
            stages.append(Turn(int(given[0]), *map(float, given[1:])))
        else:
            stages.append((Shift if kind == "shift" else Rotation)(np.array(given[0], float)))
    E = object.__new__(SE3)
    object.__setattr__(E, "stages", tuple(stages))
    object.__setattr__(E, "carried", None)
    return E


tapes.NOTED_TRANSFORM = noted_transform
CONSTANTS[SE3] = ("SE3", _stages, _of_stages)
LEAVES[SE3] = ("SE3", lambda E: 0)
LEAVES[Table] = ("Table", lambda t: [list(t.shape.cell), list(t.shape.cyclic), t.shape.steps])
TAPED_LEAVES["SE3"], TAPED_LEAVES["Table"] = _transform, _table
OPERATIONS["held"] = held
OPERATIONS["Table.take"] = lambda table, at, k: table._take(at, k)
OPERATIONS["Table.header"] = lambda table, k: table._header[k]
OPERATIONS["SE3.product"] = lambda a, b: a @ b
OPERATIONS["SE3.made"] = lambda R, p: SE3(R=R, p=p)
for _name in ("R", "p", "matrix"):
    OPERATIONS[f"SE3.{_name}"] = lambda E, name=_name: getattr(E, name)
MOVES = ("rotate", "unrotate", "move_twist", "pull_twist", "move_wrench", "pull_wrench")
for _name in ("inverse", "collapsed", "act", "log", *MOVES):
    OPERATIONS[f"SE3.{_name}"] = lambda E, *given, name=_name: getattr(E, name)(*given)
for _name in ("rot_x", "rot_y", "rot_z", "rot_axis", "exp", "rot_exp", "rot_quat"):
    OPERATIONS[f"SE3.{_name}"] = getattr(SE3, _name)
