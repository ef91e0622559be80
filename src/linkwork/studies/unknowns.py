"""The numbers of a model that are fitted, as free coordinates: single numbers, and inertias that bodies can have.

The ten parameters of a rigid body are physical where its pseudo-inertia, the (4, 4) matrix of second moments of its mass,
is positive definite. Its Cholesky factor with logarithms on the diagonal is a chart of all of these [Rucker & Wensing 2022].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..model import Model
from ..reduced.parameters import value_of
from ..spatial.inertia import Inertia
from .columns import Column, column, placed

INERTIA = "inertia"
LOWER = [(0, 0), (1, 1), (2, 2), (3, 3), (1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]  # of the factor
Slopes = Mapping[str, Sequence[str]]


class Unknowns:
    """What is fitted, by names as in a design: "upper.mass", "spring.stiffness", "fore.com[0]"; "upper.inertia" is all of it.

    names    of the free coordinates: ten of every inertia
    """

    def __init__(self, model: Model, names: Sequence[str]) -> None:
        if not names:
            raise InputError("nothing is to be fitted; name numbers of the model, as in fit(..., {'upper.mass': (0.1, 5.0)})")
        self.model = model
        self.columns = [self._column(name) for name in names]
        self.names: list[str] = []
        self.asked: dict[str, list[str]] = {}
        for c in self.columns:
            whole = [f"{c.name}[{k}]" for k in range(10)]
            size = np.size(value_of(model, c.owner, c.what)) if c.what != INERTIA else 10
            single = c.entry is not None or size == 1
            self.names += whole if c.what == INERTIA else [c.name] if single else [f"{c.name}[{k}]" for k in range(size)]
            whats = ["mass", "com", "tensor"] if c.what == INERTIA else [c.what]
            own = self.asked.setdefault(c.owner, [])
            own += [what for what in whats if what not in own]

    def _column(self, name: str) -> Column:
        owner, _, what = name.rpartition(".")
        if what == INERTIA and owner in self.model.names:
            return Column(name, "number", owner, INERTIA)
        found = column(self.model, name, False)
        if found.kind != "number":
            raise InputError(f"{name!r} is no number of a body or law, and cannot be fitted")
        return found

    def of(self, model: Model) -> np.ndarray:
        """The free coordinates of a model."""
        out: list[float] = []
        for c in self.columns:
            if c.what == INERTIA:
                out += list(chart(model.bodies[model.body_index(c.owner)].inertia))
            else:
                value = np.reshape(value_of(model, c.owner, c.what), -1)
                out += list(value if c.entry is None else value[c.entry : c.entry + 1])
        return np.array(out, float)

    def put(self, x: np.ndarray) -> Model:
        """The model with these coordinates."""
        numbers: dict[str, dict[str, Any]] = {}
        at = 0
        for c in self.columns:
            own = numbers.setdefault(c.owner, {})
            if c.what == INERTIA:
                mass, com, tensor = rigid(x[at : at + 10])
                own |= {"mass": float(mass), "com": com, "tensor": tensor}
                at += 10
                continue
            old = own.get(c.what, value_of(self.model, c.owner, c.what))
            size = np.size(old) if c.entry is None else 1
            own[c.what] = placed(old, c.entry, x[at : at + size] if np.ndim(old) and c.entry is None else x[at])
            at += size
        return self.model.with_parameters(numbers)

    def chained(self, model: Model, by_numbers: np.ndarray) -> np.ndarray:
        """Derivatives (..., numbers), in the order of `asked`, as derivatives by the free coordinates (..., names)."""
        places, at = {}, 0
        for owner, whats in self.asked.items():
            for what in whats:
                size = int(np.size(value_of(model, owner, what)))
                places[owner, what] = (at, at + size)
                at += size
        out = []
        for c in self.columns:
            if c.what == INERTIA:
                body = model.bodies[model.body_index(c.owner)].inertia
                slopes = rigid_slopes(chart(body))  # (13, 10)
                parts = [slice(*places[c.owner, what]) for what in ("mass", "com", "tensor")]
                out.append(np.concatenate([by_numbers[..., p] for p in parts], axis=-1) @ slopes)
                continue
            first, last = places[c.owner, c.what]
            if c.entry is None:
                out.append(by_numbers[..., first:last])
            else:
                found = by_numbers[..., first + c.entry]
                mirror = 3 * (c.entry % 3) + c.entry // 3
                if last - first == 9 and mirror != c.entry:  # both entries of a symmetric tensor
                    found = found + by_numbers[..., first + mirror]
                out.append(found[..., None])
        return np.concatenate(out, axis=-1)


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
