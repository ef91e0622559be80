"""How the run-time numbers of kernels change with numbers that users know: mass, centre of mass, stiffness, a control point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..elements.collection import collection
from ..errors import ModelError
from ..kernel.directional import SLOPES, with_slopes
from ..kernel.sweep import Tree
from ..model import Model
from ..spatial.se3 import SE3

STEP = 1e-4  # of the largest entry: numbers of kernels are polynomials of second degree in those of users at most
SETS = ("", "force", "constraint")


def entries(model: Model, parameters: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, Any, int]]:
    """Every single number: the name of its body or law, what it is, its value, and which entry of it."""
    for name, numbers in parameters.items():
        for what in [numbers] if isinstance(numbers, str) else numbers:
            value = value_of(model, name, what)
            for k in range(6 if isinstance(value, SE3) else max(1, np.size(value))):
                yield name, what, value, k


def value_of(model: Model, name: str, what: str) -> Any:
    """A number of a body or law, as it was given."""
    laws = {getattr(e, "name", ""): e for e in model.elements}
    if name in laws and what in (known := laws[name].numbers()):
        return known[what]
    body = model.bodies[model.body_index(name)]
    if what in ("mass", "com", "tensor"):
        return getattr(body.inertia, what)
    if what == "placement":
        return body.placement
    if what in ("armature", "damping"):
        return getattr(body.properties, what)
    raise ModelError(
        f"{name!r} has no number {what!r}; bodies have mass, com, tensor, placement, armature, damping; laws their own"
    )


def varied(value: Any, k: int, step: float) -> Any:
    """A value whose entry k is larger by a step; a placement is displaced, and a symmetric matrix stays one."""
    if isinstance(value, SE3):
        return value @ SE3.exp(step * np.eye(6)[k])
    if not np.ndim(value):
        return float(value) + step
    out = np.array(value, float)
    out.flat[k] += step
    return (out + out.T) / 2 if out.shape == (3, 3) and np.array_equal(value, np.transpose(value)) else out


def parameter_slopes(
    model: Model, parameters: Mapping[str, Sequence[str]], acting: Callable[[Model], Model]
) -> dict[str, np.ndarray]:
    """Of every set of nodes with parameters, how they change with each number: (numbers, all parameters of the set).

    acting   makes the model that runs of one that is declared
    """

    def ends_at(name: str, what: str, values: Sequence[Any]) -> list[dict[str, np.ndarray]]:
        return [_all(acting(model.with_parameters({name: {what: x}}))) for x in values]

    columns: dict[str, list[np.ndarray]] = {}
    for name, what, value, k in entries(model, parameters):
        size = 1.0 if isinstance(value, SE3) else float(np.abs(value).max())
        h = STEP * (size or 1.0)
        ends = ends_at(name, what, [varied(value, k, s * h) for s in (1.0, -1.0)])
        if isinstance(value, SE3):  # not a polynomial, but the fourth order leaves rounding only
            more = ends_at(name, what, [varied(value, k, s * h) for s in (2.0, -2.0)])
            found = {of: (8 * (ends[0][of] - ends[1][of]) - (more[0][of] - more[1][of])) / (12 * h) for of in ends[0]}
        else:
            found = {of: (ends[0][of] - ends[1][of]) / (2 * h) for of in ends[0]}
        for of, x in found.items():
            columns.setdefault(of, []).append(x)
    return {of: np.array(x) for of, x in columns.items()}


def _all(model: Model) -> dict[str, np.ndarray]:
    """All parameters of the sets of a model, in the order of `with_slopes`."""
    tree = with_slopes(collection(model).tree, SETS)
    return {of: _flat(tree.of(of)) for of in SETS if not of or of in tree.sets}


def _flat(tree: Tree) -> np.ndarray:
    values = [np.zeros(0)]
    for c, own in zip(tree.classes, tree.parameters, strict=True):
        values += [np.reshape(own[name], -1) for name in c.attributes[SLOPES]]
    return np.concatenate(values)
