"""Loads of forces outside programs: with energies, powers and slopes, at given poses, twists, coordinates and velocities."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..joints import Joint
from ..kernel.sweep import SCALAR, Field
from .derive import load_slopes, power
from .evaluate import LAWS, Evaluation, of_laws, port_size
from .law import ForceLaw
from .nodes import STILL, LawNodes, law_at
from .ports import joined


def act(n: Any, *ports: Any) -> None:
    """Loads and energy of one force."""
    force, at = law_at(n, ports)
    n.loads, n.energy = joined(force.loads(at, n.t, n.u)), force.stored_energy(at, n.t, n.u)


def spend(n: Any, *ports: Any) -> None:
    """The power of one force, less what it takes from its own energy."""
    force, at = law_at(n, ports)
    n.power = power(force, at, n.t, n.u)


def differentiate(n: Any, *ports: Any) -> None:
    """Slopes of the loads of one force."""
    force, at = law_at(n, ports)
    df_dx, df_dv = load_slopes(force, at, n.t, n.u)
    n.df_dx, n.df_dv = df_dx.reshape(-1), df_dv.reshape(-1)


def act_fields() -> dict[str, Field]:
    return of_laws("input", u="u") | of_laws("output", loads="loads") | {"energy": Field("output", "node", SCALAR, of=LAWS)}


def spend_fields() -> dict[str, Field]:
    return of_laws("input", u="u") | {"power": Field("output", "node", SCALAR, of=LAWS)}


def slope_fields() -> dict[str, Field]:
    return of_laws("input", u="u") | of_laws("output", df_dx="slopes", df_dv="slopes")


class LoadEvaluation(Evaluation):
    """Forces of a model, in their order.

    widths   how many loads each has
    places   of all loads, one force after the other, where they act: entries of the wrenches of all bodies, then of v; -1 is
             the world
    """

    def __init__(self, nodes: LawNodes) -> None:
        self.forces: list[Any] = nodes.laws
        self.widths = [sum(map(port_size, kinds)) for kinds in nodes.kinds]
        pairs: list[tuple[ForceLaw, int]] = list(zip(self.forces, self.widths, strict=True))
        super().__init__(nodes, [{"loads": width, "slopes": width**2, "u": f.inputs} for f, width in pairs])
        starts, places = self.model.tree.offsets("v"), [np.zeros(0, int)]
        for at, kinds in zip(nodes.bodies, nodes.kinds, strict=True):
            for body, kind in zip(at, kinds, strict=True):
                first = 6 * self.model.nb + int(starts[body]) if isinstance(kind, Joint) else 6 * body
                places.append(np.full(6, -1) if kind == STILL else first + np.arange(port_size(kind)))
        self.places = np.concatenate(places)
        self._real = self.places >= 0

    def loads(self, given: dict[str, np.ndarray], lead: tuple[int, ...]) -> np.ndarray:
        """The sums (..., 6 bodies + nv): wrenches on all bodies, then forces on all joints."""
        out = np.zeros((6 * self.model.nb + self.model.nv, *lead))
        if self.forces:
            parts = self.run(self.algorithm(act, act_fields), ("loads", "energy"), given, lead)["loads"]
            np.add.at(out, self.places[self._real], np.moveaxis(parts, -1, 0)[self._real])
        return np.moveaxis(out, 0, -1)

    def broken(self, given: dict[str, np.ndarray]) -> list[ForceLaw]:
        """The forces whose loads are not finite at one state."""
        if not self.forces:
            return []
        parts = self.run(self.algorithm(act, act_fields), ("loads", "energy"), given, ())["loads"]
        ends = np.cumsum(self.widths)
        return [
            f for f, end, n in zip(self.forces, ends, self.widths, strict=True) if not np.isfinite(parts[end - n : end]).all()
        ]

    def energies(self, given: dict[str, np.ndarray], lead: tuple[int, ...]) -> np.ndarray:
        """The energy stored in every force (..., forces)."""
        if not self.forces:
            return np.zeros((*lead, 0))
        return self.run(self.algorithm(act, act_fields), ("loads", "energy"), given, lead)["energy"]

    def powers(self, given: dict[str, np.ndarray], lead: tuple[int, ...]) -> np.ndarray:
        """What every force brings or takes (..., forces), besides what it stores."""
        if not self.forces:
            return np.zeros((*lead, 0))
        return self.run(self.algorithm(spend, spend_fields), ("power",), given, lead)["power"]

    def slopes(self, given: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """df_dx and df_dv of all forces at one state, flat: a matrix (width, width) of each, one after the other."""
        if not self.forces:
            return np.zeros(0), np.zeros(0)
        found = self.run(self.algorithm(differentiate, slope_fields), ("df_dx", "df_dv"), given)
        return found["df_dx"], found["df_dv"]
