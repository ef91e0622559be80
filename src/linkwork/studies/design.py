"""Designs: which runs a study has, as a table with a row for each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..spatial.gate import given_count
from ..spatial.kinds import explained

LOG = "log"
Range = Sequence[Any]  # (least, most), or (least, most, "log")


class Design:
    """A table of runs: columns by name, a row for every run.

    >>> two = lw.Design({"spring.stiffness": [10.0, 20.0], "q[0]": [0.1, 0.3]})  # these two runs
    >>> six = lw.Design.grid({"spring.stiffness": [10.0, 20.0, 30.0], "upper.mass": [1.0, 2.0]})  # all pairs
    >>> many = lw.Design.sobol({"spring.stiffness": (1.0, 1e3, "log"), "upper.mass": (0.5, 2.0)}, 256)  # evenly over a box

    Names of columns, see `study`:  "LAW.number", "BODY.mass", "BODY.com[0]", "BODY.SHAPE.friction", "gravity[2]", "q[3]",
    "v[0]", "BODY.q", "BODY.v"; any other single word ("seed") is for the functions that a study is given.
    A column may hold arrays: (runs, size).
    """

    @explained
    def __init__(self, columns: Mapping[str, Any]) -> None:
        if not isinstance(columns, Mapping) or not columns:
            raise InputError(f"a design is a table {{column: values}} with a value for every run, not {columns!r}")
        self.columns = {_name(name): _values(name, values) for name, values in columns.items()}
        counts = {name: len(x) for name, x in self.columns.items()}
        if len(set(counts.values())) > 1:
            raise InputError(f"the columns of a design have different lengths: {counts}; every run needs a value of each")
        self.runs = next(iter(counts.values()))
        if not self.runs:
            raise InputError("the design has no runs")

    @staticmethod
    def grid(axes: Mapping[str, Any]) -> Design:
        """All combinations of the values of the axes; the last axis changes fastest."""
        if not isinstance(axes, Mapping) or not axes:
            raise InputError(f"a grid is made of axes {{column: values}}, not {axes!r}")
        values = {_name(name): _values(name, x) for name, x in axes.items()}
        rows = list(itertools.product(*(range(len(x)) for x in values.values())))
        return Design({name: x[[row[k] for row in rows]] for k, (name, x) in enumerate(values.items())})

    @staticmethod
    def random(ranges: Mapping[str, Range], runs: int, seed: int = 0) -> Design:
        """Points drawn evenly and independently from a box."""
        return _from_unit(ranges, runs, lambda d, n: np.random.default_rng(seed).random((n, d)))

    @staticmethod
    def latin(ranges: Mapping[str, Range], runs: int, seed: int = 0) -> Design:
        """A Latin hypercube: every range is cut into as many equal parts as there are runs, and each part has one."""
        from scipy.stats import qmc

        return _from_unit(
            ranges,
            given_count("a number of runs", runs),
            lambda d, n: qmc.LatinHypercube(d, rng=np.random.default_rng(seed)).random(n),
        )

    @staticmethod
    def sobol(ranges: Mapping[str, Range], runs: int, seed: int = 0) -> Design:
        """Scrambled points of Sobol's sequence; powers of two are spread best."""
        from scipy.stats import qmc

        def points(d: int, n: int) -> np.ndarray:
            return qmc.Sobol(d, rng=np.random.default_rng(seed)).random_base2((n - 1).bit_length())[:n]

        return _from_unit(ranges, runs, points)

    def with_columns(self, **columns: Any) -> Design:
        """The same runs with further columns, one value for all or one for each."""
        more = {name: np.repeat(np.asarray(x)[None], self.runs, axis=0) if np.ndim(x) == 0 else x for name, x in columns.items()}
        return Design(self.columns | more)

    def repeated(self, times: int, column: str = "seed") -> Design:
        """Every run so many times, with the number of its repetition in a column."""
        rows = np.repeat(np.arange(self.runs), given_count("a number of runs", times))
        return Design({name: x[rows] for name, x in self.columns.items()} | {column: np.tile(np.arange(times), self.runs)})

    def rows(self, which: Any) -> dict[str, np.ndarray]:
        """The columns of some runs."""
        return {name: x[which] for name, x in self.columns.items()}

    def __len__(self) -> int:
        return self.runs

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return ({name: x[i] for name, x in self.columns.items()} for i in range(self.runs))

    def __repr__(self) -> str:
        return f"Design({self.runs} runs of {', '.join(self.columns)})"


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"a column of a design has a text as its name, not {name!r}")
    return name


def _values(name: str, values: Any) -> np.ndarray:
    try:
        x = np.asarray(values)
        x = x if x.dtype.kind in "iu" else np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"column {name!r} of the design must hold numbers, one for every run, not {values!r}") from None
    if x.ndim not in (1, 2):
        raise InputError(f"column {name!r} of the design has shape {x.shape}; it needs (runs,) or (runs, size)")
    if not np.isfinite(x).all():
        raise InputError(f"column {name!r} of the design is not finite in run {int(np.argwhere(~np.isfinite(x))[0][0])}")
    return x


def _from_unit(ranges: Mapping[str, Range], runs: int, points: Any) -> Design:
    """Points of the unit cube, stretched to the ranges."""
    if not isinstance(ranges, Mapping) or not ranges:
        raise InputError(f"a design is drawn from ranges {{column: (least, most)}}, not {ranges!r}")
    bounds = {name: _range(name, x) for name, x in ranges.items()}
    unit = points(len(bounds), given_count("a number of runs", runs))
    columns = {}
    for k, (name, (low, high, log)) in enumerate(bounds.items()):
        columns[name] = low * (high / low) ** unit[:, k] if log else low + (high - low) * unit[:, k]
    return Design(columns)


def _range(name: str, given: Any) -> tuple[float, float, bool]:
    wrong = InputError(f'column {name!r} of the design needs a range (least, most) or (least, most, "log"), not {given!r}')
    try:
        low, high, *rest = given
        low, high = float(low), float(high)
    except (TypeError, ValueError):
        raise wrong from None
    if rest not in ([], [LOG]) or not (np.isfinite([low, high]).all() and low < high):
        raise wrong
    if rest and low <= 0:
        raise InputError(f"column {name!r} of the design: a logarithmic range must be positive, not {given!r}")
    return low, high, bool(rest)
