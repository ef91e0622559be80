"""How the run-time numbers of kernels change with numbers that users know: mass, centre of mass, stiffness, a joint's axis, a
control point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..elements.collection import collection
from ..errors import InputError, ModelError
from ..kernel.directional import TableChanges, slope_entries, with_slopes
from ..kernel.sweep import Tree
from ..model import Model
from ..model.quantities import Quantity, quantity_of
from ..spatial.gate import shown
from ..spatial.table import Table

STEP = 1e-4  # of the largest entry: numbers of kernels are polynomials of second degree in most of those of users
SETS = ("", "force", "constraint")
# Difference formulas, places in steps and weights: exact for polynomials of second degree, and of fourth order, which leaves
# rounding only, on both sides and on one.
LINEAR = (1.0, -1.0), (0.5, -0.5)
FOURTH = (1.0, -1.0, 2.0, -2.0), (8 / 12, -8 / 12, -1 / 12, 1 / 12)
AHEAD = (0.0, 1.0, 2.0, 3.0, 4.0), (-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4)
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
        if not isinstance(numbers, str | list | tuple):
            raise InputError(f"parameters of {name!r} must be a list of names, as ['mass'], not {shown(numbers)}")
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
        if not np.isfinite(quantity.scale):
            raise ModelError(
                f"{name!r}: {what} = {quantity.value!r} is not finite, and has no derivative; give it a number first"
            )
        h = STEP * quantity.scale
        weights, ends = _ends(model, quantity, k, h, acting)
        for of in ends[0].numbers:
            columns.setdefault(of, []).append(_slope(weights, [end.numbers[of] for end in ends], h))
            for key in ends[0].tables[of]:
                change = _slope(weights, [end.tables[of][key] for end in ends], h)
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


def _ends(
    model: Model, quantity: Quantity, k: int, h: float, acting: Callable[[Model], Model]
) -> tuple[Sequence[float], list[_Numbers]]:
    """Weights of a difference formula, and all numbers where it wants them: on both sides, or on one at a bound."""

    def at(places: Sequence[float]) -> list[_Numbers]:
        values = ({quantity.name: {quantity.what: quantity.moved(k, s * h)}} for s in places)
        return [_all(acting(model.with_parameters(x))) for x in values]

    both = LINEAR if quantity.is_linear else FOURTH
    refused: ModelError | None = None
    for places, weights in (both, AHEAD, ([-s for s in AHEAD[0]], [-w for w in AHEAD[1]])):
        try:
            ends = at(places)
        except ModelError as error:
            refused = refused or error
            continue
        sizes = {tuple((of, x.size) for of, x in end.numbers.items()) for end in ends}
        if len(sizes) == 1:
            return weights, ends
    value = f"{quantity.name!r}: {quantity.what} = {quantity.value!r}"
    raise ModelError(f"{value} has no derivative, as it cannot change a little; give it another value first ({refused})")


def _slope(weights: Sequence[float], ends: Sequence[np.ndarray], h: float) -> np.ndarray:
    """The slope by a difference formula; of what is the same everywhere, infinite too, it is zero."""
    with np.errstate(invalid="ignore"):
        changes = [np.where(x == ends[0], 0.0, x - ends[0]) for x in ends]
    return np.asarray(weights) @ np.reshape(changes, (len(ends), -1)) / h


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
