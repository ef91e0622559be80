"""The numbers of a model that are fitted, as free coordinates: numbers, directions, poses, and inertias that bodies can have.

The ten parameters of a rigid body are physical where its pseudo-inertia, the (4, 4) matrix of second moments of its mass,
is positive definite. Its Cholesky factor with logarithms on the diagonal is a chart of all of these [Rucker & Wensing 2022].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from ..errors import InputError
from ..model import Model
from ..model.quantities import DIRECTION, POSES, Quantity, quantity_of
from ..spatial.gate import shown
from ..spatial.inertia import Inertia
from ..spatial.se3 import SE3, right_jacobian
from .columns import Column, Replaced, column

INERTIA = "inertia"
LOWER = [(0, 0), (1, 1), (2, 2), (3, 3), (1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]  # of the factor


class Unknowns:
    """What is fitted, by names as in a design: "upper.mass", "spring.stiffness", "fore.com[0]", "knee.axis", "knee.placement";
    "upper.inertia" is all of it.

    An axis has two free coordinates, across what the model has; a pose six, a displacement (turns, then shifts) from there.

    names    of the free coordinates: ten of every inertia
    """

    def __init__(self, model: Model, names: Sequence[str]) -> None:
        if not names:
            raise InputError("nothing is to be fitted; name numbers of the model, as in fit(..., {'upper.mass': (0.1, 5.0)})")
        self.model = model
        self.parts = [_part(model, name) for name in names]
        self.names = [name for part in self.parts for name in part.names]
        self.asked: dict[str, list[str]] = {}
        for part in self.parts:
            own = self.asked.setdefault(part.column.owner, [])
            own += [what for what in part.whats if what not in own]

    def of(self, model: Model) -> np.ndarray:
        """The free coordinates of a model."""
        return np.concatenate([part.of(model) for part in self.parts])

    def put(self, x: np.ndarray) -> Model:
        """The model with these coordinates."""
        numbers = Replaced(self.model)
        for part, own in zip(self.parts, self._split(x), strict=True):
            part.put(own, numbers)
        return numbers.model()

    def _split(self, x: np.ndarray) -> list[np.ndarray]:
        return np.split(x, np.cumsum([len(part.names) for part in self.parts])[:-1])

    def chained(self, model: Model, by_numbers: np.ndarray) -> np.ndarray:
        """Derivatives (..., numbers), in the order of `asked`, as derivatives by the free coordinates (..., names)."""
        places, at = {}, 0
        for owner, whats in self.asked.items():
            for what in whats:
                size = quantity_of(model, owner, what).size
                places[owner, what] = slice(at, at + size)
                at += size
        out = []
        for part in self.parts:
            own = [by_numbers[..., places[part.column.owner, what]] for what in part.whats]
            out.append(np.concatenate(own, axis=-1) @ part.slopes(model))
        return np.concatenate(out, axis=-1)


class _Part:
    """What one name stands for: single numbers, as many as its quantity has, or one of them.

    names   of its free coordinates;  whats  the numbers that change with them
    """

    def __init__(self, column: Column, quantity: Quantity, count: int) -> None:
        self.column, self.quantity, self.whats = column, quantity, [column.what]
        single = column.entry is not None or count == 1
        self.names = [column.name] if single else [f"{column.name}[{k}]" for k in range(count)]

    def of(self, model: Model) -> np.ndarray:
        """The free coordinates in a model."""
        return self._own(quantity_of(model, self.column.owner, self.column.what).start)

    def _own(self, x: np.ndarray) -> np.ndarray:
        return x if self.column.entry is None else x[self.column.entry : self.column.entry + 1]

    def put(self, x: np.ndarray, numbers: Replaced) -> None:
        """Replace what they stand for."""
        numbers.put(self.column, x if self.column.entry is None else x[0])

    def slopes(self, model: Model) -> np.ndarray:
        """How the numbers change with them (numbers, names)."""
        k, size = self.column.entry, self.quantity.size
        if k is None:
            return np.eye(size)
        mirror = 3 * (k % 3) + k // 3
        return np.eye(size)[:, [k]] + (np.eye(size)[:, [mirror]] if self.quantity.is_symmetric and mirror != k else 0.0)


class _Poses(_Part):
    """Displacements of one pose or several from where the model has them."""

    def of(self, model: Model) -> np.ndarray:
        return self._own(self._displacements(model))

    def _displacements(self, model: Model) -> np.ndarray:
        first = self.quantity.value
        now = quantity_of(model, self.column.owner, self.column.what).value
        pairs = [(first, now)] if isinstance(first, SE3) else [(_pose(a), _pose(b)) for a, b in zip(first, now, strict=True)]
        return np.concatenate([np.asarray((a.inverse() @ b).log(), float) for a, b in pairs])

    def slopes(self, model: Model) -> np.ndarray:
        """P exp(x + dx) = P exp(x) exp(J_r(x) dx)."""
        blocks = [np.asarray(right_jacobian(d), float) for d in self._displacements(model).reshape(-1, 6)]
        whole = np.asarray(block_diag(*blocks))
        return whole if self.column.entry is None else whole[:, [self.column.entry]]


class _Direction(_Part):
    """Two coordinates x of a unit vector: that of a + B x, with a the one of the model and B across it."""

    def __init__(self, column: Column, quantity: Quantity) -> None:
        if column.entry is not None:
            raise InputError(f"{column.name!r}: entries of an axis are not free; name the axis, {column.owner}.{column.what}")
        super().__init__(column, quantity, 2)
        self.B = np.linalg.svd(np.asarray(quantity.value, float)[None])[2][1:].T

    def of(self, model: Model) -> np.ndarray:
        now = quantity_of(model, self.column.owner, self.column.what).value
        return self.B.T @ now / (now @ self.quantity.value)

    def put(self, x: np.ndarray, numbers: Replaced) -> None:
        numbers.put(self.column, self.quantity.value + self.B @ x)

    def slopes(self, model: Model) -> np.ndarray:
        return self.B / np.linalg.norm(self.quantity.value + self.B @ self.of(model))


class _Inertia(_Part):
    """All of an inertia."""

    def __init__(self, column: Column, quantity: Quantity) -> None:
        super().__init__(column, quantity, 10)
        self.whats = ["mass", "com", "tensor"]

    def of(self, model: Model) -> np.ndarray:
        return chart(model.bodies[model.body_index(self.column.owner)].inertia)

    def put(self, x: np.ndarray, numbers: Replaced) -> None:
        for what, value in zip(self.whats, rigid(x), strict=True):
            numbers.put_value(self.column.owner, what, float(value) if what == "mass" else value)

    def slopes(self, model: Model) -> np.ndarray:
        return rigid_slopes(self.of(model))  # (13, 10)


def _part(model: Model, name: str) -> _Part:
    if not isinstance(name, str):
        raise InputError(f"fit: numbers must be names as 'upper.mass', not {shown(name)}")
    owner, _, what = name.rpartition(".")
    if what == INERTIA and owner in model.names:
        return _Inertia(Column(name, "number", owner, INERTIA), quantity_of(model, owner, "mass"))
    found = column(model, name, False)
    if found.kind != "number":
        raise InputError(f"{name!r} is no number of a body or law, and cannot be fitted")
    quantity = quantity_of(model, found.owner, found.what)
    if quantity.kind == DIRECTION:
        return _Direction(found, quantity)
    return (_Poses if quantity.kind == POSES else _Part)(found, quantity, quantity.size)


def _pose(matrix: np.ndarray) -> SE3:
    return SE3(R=matrix[:3, :3], p=matrix[:3, 3])


def chart(body: Inertia) -> np.ndarray:
    """Free coordinates (10,) of an inertia: its pseudo-inertia's Cholesky factor, logarithms on the diagonal."""
    about = np.asarray(body.about_origin, float)
    second = 0.5 * np.trace(about) * np.eye(3) - about
    P = np.zeros((4, 4))
    P[:3, :3], P[:3, 3], P[3, :3], P[3, 3] = second, body.first_moment, body.first_moment, body.mass
    try:
        L = np.linalg.cholesky(P)
    except np.linalg.LinAlgError:
        raise InputError(
            f"the inertia of mass {body.mass:g} is flat or a point, and has no free coordinates; give it some extent first"
        ) from None
    return np.array([np.log(L[i, j]) if i == j else L[i, j] for i, j in LOWER])


def rigid(x: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Mass, centre of mass and tensor about it, of free coordinates; complex numbers too."""
    L = np.zeros((4, 4), np.result_type(x, float))
    for k, (i, j) in enumerate(LOWER):
        L[i, j] = np.exp(x[k]) if i == j else x[k]
    P = L @ L.T
    mass, com = P[3, 3], P[:3, 3] / P[3, 3]
    second = P[:3, :3] - mass * np.outer(com, com)
    return mass, com, np.trace(second) * np.eye(3) - second


def rigid_slopes(x: np.ndarray) -> np.ndarray:
    """Of (mass, com, tensor) by the free coordinates, (13, 10), by complex steps."""
    h, columns = 1e-30, []
    for unit in np.eye(10):
        mass, com, tensor = rigid(x + 1j * h * unit)
        columns.append(np.imag(np.concatenate([[mass], com, tensor.reshape(-1)])) / h)
    return np.array(columns).T
