"""How the run-time numbers of kernels change with numbers that users know: mass, centre of mass, stiffness, a joint's axis, a
control point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..elements.collection import collection
from ..kernel.directional import TableChanges, slope_entries, with_slopes
from ..kernel.sweep import Tree
from ..model import Model
from ..model.quantities import Quantity, quantity_of
from ..spatial.table import Table

STEP = 1e-4  # of the largest entry: numbers of kernels are polynomials of second degree in most of those of users
SETS = ("", "force", "constraint")
Numbers = dict[str, np.ndarray]


class ParameterSlopes(dict[str, np.ndarray]):
    """Of every set of nodes with parameters, how these change with each number: (numbers, all parameters of the set).

    tables   how tables of nodes change, as further data beside theirs (see `kernel.directional.with_slopes`); empty where none
             does. The place of a table among the parameters holds which of these a number stands for
    """

    tables: TableChanges


def entries(model: Model, parameters: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, Quantity, int]]:
    """Every single number: the name of its body or law, what it is, its quantity, and which direction of it."""
    for name, numbers in parameters.items():
        for what in [numbers] if isinstance(numbers, str) else numbers:
            quantity = quantity_of(model, name, what)
            for k in range(quantity.size):
                yield name, what, quantity, k


def value_of(model: Model, name: str, what: str) -> Any:
    """A number of a body, a joint or a law, as it was given."""
    return quantity_of(model, name, what).value


def varied(quantity: Quantity, k: int, step: float) -> Any:
    """The value displaced by a step along direction k."""
    return quantity.moved(k, step)


def parameter_slopes(model: Model, parameters: Mapping[str, Sequence[str]], acting: Callable[[Model], Model]) -> ParameterSlopes:
    """How the run-time numbers of every set, and the tables of its nodes, change with each number.

    acting   makes the model that runs of one that is declared
    """
    columns: dict[str, list[np.ndarray]] = {}
    moving: dict[str, dict[tuple[int, str], list[tuple[int, np.ndarray]]]] = {}
    for column, (name, what, quantity, k) in enumerate(entries(model, parameters)):
        h = STEP * quantity.scale
        ends = [_all(acting(model.with_parameters({name: {what: quantity.moved(k, s * h)}}))) for s in (1.0, -1.0)]
        if not quantity.is_linear:  # no polynomial, but the fourth order leaves rounding only
            ends += [_all(acting(model.with_parameters({name: {what: quantity.moved(k, s * h)}}))) for s in (2.0, -2.0)]
        for of in ends[0].numbers:
            columns.setdefault(of, []).append(_slope([end.numbers[of] for end in ends], h))
            for key in ends[0].tables[of]:
                change = _slope([end.tables[of][key] for end in ends], h)
                if change.any():
                    moving.setdefault(of, {}).setdefault(key, []).append((column, change))
    found = ParameterSlopes({of: np.array(x) for of, x in columns.items()})
    found.tables = {of: {key: np.array([x for _, x in some]) for key, some in own.items()} for of, own in moving.items()}
    places = _all(acting(model)).places if moving else {}
    for of, own in moving.items():
        for key, some in own.items():
            for number, (column, change) in enumerate(some):
                found[of][column, places[of][key]] = (number + 1.0) * change.size
    return found


class _Numbers(NamedTuple):
    """Of every set all numbers in the order of `with_slopes`, the data of its tables, and their places among the numbers."""

    numbers: Numbers
    tables: dict[str, dict[tuple[int, str], np.ndarray]]
    places: dict[str, dict[tuple[int, str], int]]


def _slope(ends: Sequence[np.ndarray], h: float) -> np.ndarray:
    """The slope from values at one step ahead and behind, and at two where they are given."""
    if len(ends) == 2:
        return (ends[0] - ends[1]) / (2 * h)
    return (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * h)


def _all(model: Model) -> _Numbers:
    """All parameters of the sets of a model, in the order of `with_slopes`."""
    tree, found = with_slopes(collection(model).tree, SETS), _Numbers({}, {}, {})
    for of in SETS:
        if not of or of in tree.sets:
            found.numbers[of], found.tables[of], found.places[of] = _flat(tree.of(of))
    return found


def _flat(tree: Tree) -> tuple[np.ndarray, dict[tuple[int, str], np.ndarray], dict[tuple[int, str], int]]:
    values, tables, places, at = [np.zeros(0)], {}, {}, 0
    for i, (c, own) in enumerate(zip(tree.classes, tree.parameters, strict=True)):
        for name in slope_entries(c):
            x = own[name]
            if isinstance(x, Table):
                tables[i, name], places[i, name] = x.data, at
            values.append(np.zeros(1) if isinstance(x, Table) else np.reshape(x, -1))
            at += values[-1].size
    return np.concatenate(values), tables, places
