"""Tables: run-time data of any length that a law looks up by a number that only the run knows.

A spline through any number of frames, a torque curve, a height field: `table[i]` is row floor(i) of the values. Tables that
differ in their numbers or in how many rows they have share machine code, which an array as a parameter would be part of by its
shape. The index has no derivative (it is constant piece by piece); what is computed from the row has all of its own.

    axes     table[i, j] looks up two indices at once; the remaining axes of the values are the shape of what is found
    cyclic   an index begins anew after the last row; others stay at the first and the last one
    knots    x_0 < x_1 < ...: `table.at(x)` is row 0 below x_0, row 1 from x_0 on, ... A uniform grid over the knots says how many
             lie before each of its cells, so that a few comparisons find the row, however many there are
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import ModelError, SymbolError
from .dual import Dual, held
from .frozen import Frozen
from .gate import flags, reals
from .kinds import explained
from .scalar import Scalar, array, is_number, is_zero, read_only, where

FINEST = 16  # cells of the grid per knot, at most


class TableShape(NamedTuple):
    """What of a table is structure: part of what identifies machine code.

    cell    shape of what is found
    cyclic  of every index whether it begins anew
    steps   comparisons that find a row among the knots; 0 without knots
    """

    cell: tuple[int, ...]
    cyclic: tuple[bool, ...]
    steps: int = 0

    @classmethod
    def from_members(cls, members: Sequence[Any]) -> TableShape:
        """The structure that a file says."""
        cell, cyclic, steps = members
        sizes = isinstance(cell, tuple) and all(type(n) is int and n >= 0 for n in cell)
        if not (sizes and isinstance(cyclic, tuple) and all(type(c) is bool for c in cyclic) and type(steps) is int):
            raise ModelError("Table: its structure is the shape of a cell, which axes are cyclic, and a number of comparisons")
        return cls(cell, cyclic, steps)

    @property
    def header(self) -> int:
        """Numbers of a node that say where the data lies: its start, the size of every axis, and the grid over the knots."""
        return 1 + len(self.cyclic) + (3 if self.steps else 0)


class Table(Frozen):
    """Values to be looked up at run time; see the module's text.

    >>> curve = lw.Table(np.arange(5.0))         # (rows,) or (rows, ...)
    >>> ground = lw.Table(np.zeros((4, 3)), axes=2)  # (nx, ny)
    >>> force = lw.joint_force("knee", force=lambda q, v, curve: [curve[10.0 * q[0]]], parameters={"curve": curve})
    """

    _behind: Scalar | None = None  # see `changing`

    @explained
    def __init__(self, values: Any, axes: int = 1, cyclic: bool | Sequence[bool] = False, knots: Any = None) -> None:
        a = _numbers("values", values)
        if not isinstance(axes, int) or isinstance(axes, bool) or not 1 <= axes <= a.ndim or not all(a.shape[:axes]):
            raise ModelError(f"Table: axes must be 1 to {a.ndim}, axes of its values {a.shape} that are not empty, not {axes!r}")
        around = flags("Table", "cyclic", cyclic, axes)
        self.values = a
        cell = a.shape[axes:]
        grid = _Grid(np.zeros(0), np.zeros(0), 0.0, 0.0, 0) if knots is None else _grid(_numbers("knots", knots), a.shape, around)
        self.shape = TableShape(cell, around, grid.steps)
        self._data: Any = read_only(np.concatenate([a.reshape(-1), grid.knots, grid.before]))
        search = (grid.low, grid.scale, float(len(grid.before))) if grid.steps else ()
        self._header: Sequence[Scalar] = (0.0, *map(float, a.shape[:axes]), *search)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Table:
        """The table that a file says: made anew of its values and knots."""
        values, shape, data = state["values"], state["shape"], state["_data"]
        if not (isinstance(values, np.ndarray) and isinstance(shape, TableShape) and isinstance(data, np.ndarray)):
            raise ModelError("Table: values and data must be arrays")
        axes = len(shape.cyclic)
        knots = data[values.size : values.size + values.shape[0] - 1] if shape.steps and values.ndim else None
        return cls(values, axes, shape.cyclic, knots)

    # --- as run-time data ---------------------------------------------------------------------------------------------------
    @property
    def data(self) -> np.ndarray:
        """All numbers, flat."""
        return self._data

    def header(self, start: int) -> np.ndarray:
        """Where the data lies if it begins at `start`, see `TableShape.header`."""
        return np.array([start, *self._header[1:]], float)

    @property
    def size(self) -> int:
        """Scalars that stand for the table where it is traced: where its data is, and the header."""
        return 1 + self.shape.header

    @staticmethod
    def of_shape(shape: TableShape, scalars: Sequence[Scalar]) -> Table:
        """A table of data that is somewhere else: `scalars[0]` gathers from it, the rest is the header."""
        table = object.__new__(Table)
        table.shape, table._data, table._header = shape, scalars[0], list(scalars[1:])
        return table

    def with_values(self, values: Any) -> Table:
        """The same with other values, as many; knots stay where they are."""
        a = read_only(np.reshape(_numbers("values", values), self.values.shape))
        return self.with_parts(values=a, _data=read_only(np.concatenate([a.reshape(-1), self._data[a.size :]])))

    # --- as what changes ----------------------------------------------------------------------------------------------------
    def beside(self, changes: np.ndarray) -> Table:
        """The same with the changes (count, size of the data) of its data behind it, see `changing`."""
        return self.with_parts(_data=read_only(np.concatenate([self._data, *changes])))

    def changing(self, behind: Scalar) -> Table:
        """The same on dual numbers: how what is found changes stands so far behind it; where that is 0, it does not change."""
        return self if is_zero(behind) else self.with_parts(_behind=behind)

    # --- looking up -----------------------------------------------------------------------------------------------------------
    @property
    def sizes(self) -> Sequence[Scalar]:
        """How many there are along every axis: numbers of the run."""
        return self._header[1 : 1 + len(self.shape.cyclic)]

    def __getitem__(self, index: Any) -> Any:
        """What stands at an index, or at as many as the table has axes: a scalar, or an array of the shape of a cell."""
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) != len(self.sizes):
            raise ModelError(f"Table: it is looked up by {len(self.sizes)} indices, not {len(indices)}")
        place: Scalar = 0.0
        for i, n, around in zip(indices, self.sizes, self.shape.cyclic, strict=True):
            place = place * n + row_of(i, n, around)
        return self._cell(place)

    def row_and_rest(self, x: Scalar) -> tuple[Any, Scalar]:
        """Row floor(x), and how far x is beyond its beginning; before the first row and after the last the rest goes on."""
        start = self.first_index(x)
        return self[start], x - start

    def first_index(self, x: Scalar, axis: int = 0) -> Scalar:
        """The whole number at or below x along an axis; within the table where that is not cyclic."""
        around = self.shape.cyclic[axis]
        return np.floor(held(x)) if around else row_of(x, self._header[1 + axis], around)

    def at(self, x: Scalar) -> Any:
        """The row of the interval between knots that x lies in."""
        if not self.shape.steps:
            raise ModelError("Table: at(x) needs knots")
        return self._cell(self._count_before(held(x)))

    def _count_before(self, x: Scalar) -> Scalar:
        """How many knots are not above x."""
        n, (low, scale, cells) = self._header[1], self._header[-3:]
        knots = self._header[0] + n * _product(self.shape.cell)
        found = self._plain(knots + n + row_of((x - low) * scale, cells, False), 0)
        for _ in range(self.shape.steps):
            found = where(x >= self._plain(knots + found, 0), found + 1.0, found)
        return found

    def _cell(self, place: Scalar) -> Any:
        size = _product(self.shape.cell)
        start = self._header[0] + place * float(size)
        found = [self._take(start, k) for k in range(size)]
        return array(found).reshape(self.shape.cell) if self.shape.cell else found[0]

    def _take(self, at: Scalar, k: int) -> Scalar:
        """Number k after a place of the data, with its change."""
        x = self._plain(at, k)
        if self._behind is None:
            return x
        return Dual(x, (where(self._behind > 0.0, self._plain(at + self._behind, k), 0.0),))

    def _plain(self, at: Scalar, k: int) -> Scalar:
        data = self._data
        if not isinstance(data, np.ndarray):
            return data.gather(at, k)
        if not is_number(at):
            raise SymbolError("a Table that a law looks up must be one of its parameters, parameters={'table': ...}")
        return float(data[int(at) + k])

    def __float__(self) -> float:
        raise SymbolError("a Table is looked up, as table[i] or lw.interp(x, table); it is no number itself")

    def __repr__(self) -> str:
        return f"Table(shape={self.values.shape}, axes={len(self.shape.cyclic)})"


def row_of(index: Scalar, n: Scalar, cyclic: bool) -> Scalar:
    """The row of an index among n; what is not a number is row 0, so that nothing beyond the data is ever read."""
    i = np.floor(held(index))
    if cyclic:
        i = i - n * np.floor(i / n)
    return where(i >= 0.0, where(i <= n - 1.0, i, n - 1.0), 0.0)


def _product(cell: tuple[int, ...]) -> int:
    return int(np.prod(cell, dtype=int))


def _numbers(what: str, x: Any) -> np.ndarray:
    try:
        a = reals(x)
    except (TypeError, ValueError):
        a = np.array(np.nan)
    if a.ndim < 1 or not np.all(np.isfinite(a)):
        raise ModelError(f"Table: its {what} must be an array of finite numbers, not {x!r}")
    return read_only(a)


class _Grid(NamedTuple):
    """Knots with one at the end that nothing is above; of every cell of a uniform grid how many lie in cells before; where cells
    begin, how many there are per unit, and the most knots in one cell."""

    knots: np.ndarray
    before: np.ndarray
    low: float
    scale: float
    steps: int


def _grid(knots: np.ndarray, shape: tuple[int, ...], cyclic: tuple[bool, ...]) -> _Grid:
    if knots.shape != (shape[0] - 1,) or not len(knots) or np.any(np.diff(knots) <= 0.0) or cyclic != (False,):
        raise ModelError(
            f"Table: knots must increase, one less than the {shape[0]} rows of a table with one axis that is not cyclic, "
            f"not {knots.tolist()!r}"
        )
    n, low, span = len(knots), float(knots[0]), float(knots[-1] - knots[0])
    cells, scale, of_knot = 1, 0.0, np.zeros(n, int)
    for cells in (n * 2**k for k in range(FINEST.bit_length())):
        scale = cells / span if span else 0.0
        of_knot = np.clip(np.floor((knots - low) * scale), 0, cells - 1).astype(int)
        if np.bincount(of_knot).max() == 1:
            break
    counts = np.bincount(of_knot, minlength=cells)
    before = np.cumsum(counts) - counts
    return _Grid(np.append(knots, np.nan), before.astype(float), low, scale, int(counts.max()))
