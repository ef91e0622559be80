"""Coordinates as functions of fewer coordinates: q = f(r), with every derivative that the dynamics needs.

f is run on jets, so that it arrives with its Jacobian and its rates along a motion. Of q itself these are no velocities where a
joint lives on a group (quaternions). What is differentiated is therefore the displacement u from where the joints are now,
u(t) = difference(q, f(r(t))), which starts at zero: there v = u_dot and v_dot = u_ddot, whatever the joint. Hence

    v = J r_dot,     v_dot = J r_ddot + J_dot r_dot,     J = du/dr,

compiled into one kernel (in a second for some hundred coordinates).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..errors import LinkworkError, ModelError
from ..joints import Joint
from ..kernel.plans import Plans
from ..kernel.sweep import Algorithm, Field, NodeClass, Tree, each
from ..kernel.symbol import traced_digest
from ..model.model import Model
from ..spatial.jet import biases, coordinates, gradients, rates, values
from ..spatial.scalar import Vector, stack
from ..store.travelling import Travelling

Map = Callable[[Vector], Any]


@dataclass(frozen=True, eq=False)
class Moved:
    """Where a map leads: q, v = J r_dot, a = J r_ddot + J_dot r_dot and J (nv, nr) with its columns in joint velocities."""

    q: Vector
    v: Vector
    a: Vector
    J: np.ndarray


class CoordinateMap(Travelling):
    """q = f(r) for the joints of a model; r has nr entries."""

    def __init__(self, model: Model, function: Map, nr: int) -> None:
        if not callable(function):
            raise ModelError(f"a coordinate map must be a function of r, not {type(function).__name__}")
        if isinstance(nr, bool) or not isinstance(nr, int) or not 1 <= nr <= model.nv:
            raise ModelError(f"a coordinate map needs between 1 and {model.nv} coordinates (those of the model), not {nr!r}")
        self.nr, self.nq, self.nv = nr, model.nq, model.nv
        self.function = function
        self._joints: list[tuple[Joint, slice]] = [(b.joint, model.q_index(b.name)) for b in model.bodies]
        self.configuration(np.full(nr, 0.1))

    is_record: ClassVar[bool] = True

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> CoordinateMap:
        """The map that a file says; `HyperReduced` makes it anew with its model, which must agree."""
        if set(state) != {"nr", "nq", "nv", "function", "_joints"} or not callable(state["function"]):
            raise ModelError("a coordinate map is a function of r of a model")
        found = object.__new__(cls)
        vars(found).update(state)
        return found

    def function_arguments(self) -> dict[str, Any]:
        """The form of what its function is called with (see `spatial.tape`)."""
        return {"function": ([[self.nr]], {})}

    def configuration(self, r: Vector) -> Vector:
        """f(r), with as many entries as the model has coordinates."""
        try:
            q = stack(*self.function(r))
        except LinkworkError:
            raise
        except Exception as error:
            raise ModelError(f"the coordinate map failed for r = {r}: {error}") from error
        if len(q) != self.nq:
            raise ModelError(f"the coordinate map returns {len(q)} coordinates; the model has {self.nq}")
        return q

    def moved(self, r: Vector, r_dot: Vector, r_ddot: Vector) -> Moved:
        """Where the map leads, for numbers or symbols."""
        q = self.configuration(coordinates(r, r_dot))
        here = values(q)
        u = np.concatenate([joint.difference(here[i], q[i]) for joint, i in self._joints])
        J = gradients(u, self.nr)
        return Moved(here, rates(u), J @ r_ddot + biases(u), J)

    def __call__(self, r: np.ndarray, r_dot: np.ndarray, r_ddot: np.ndarray) -> Moved:
        """The same, compiled, for one state or a batch (..., nr)."""
        found = self._run(MAP, {"r": r, "r_dot": r_dot, "r_ddot": r_ddot})
        return Moved(found["q"], found["v"], found["a"], self._matrix(found["J"]))

    def _matrix(self, flat: np.ndarray) -> np.ndarray:
        return flat.reshape(*flat.shape[:-1], self.nv, self.nr)

    @cached_property
    def tree(self) -> Tree:
        """One node that is the whole map; its class is known by what it computes."""

        def everything(r: Vector, r_dot: Vector, r_ddot: Vector) -> list[Any]:
            m = self.moved(r, r_dot, r_ddot)
            return [*m.q, *m.v, *m.a, *m.J.flat]

        digest = traced_digest(everything, self.nr, self.nr, self.nr)
        sizes = {"r": self.nr, "q": self.nq, "v": self.nv, "J": self.nv * self.nr}
        node = NodeClass(("coordinate_map", *sizes.values(), digest), {"map": self}, {}, sizes)
        return Tree(np.array([-1]), [node], [{}])

    @cached_property
    def _plans(self) -> Plans:
        return Plans(self.tree)

    def _run(self, algorithm: Algorithm, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in inputs.values()))
        spread = {name: np.broadcast_to(x, lead + x.shape[-1:]) for name, x in inputs.items()}
        return self._plans.run(algorithm, spread, algorithm.results, lead)


def _moved(n: Any) -> None:
    m = n.map.moved(n.r, n.r_dot, n.r_ddot)
    n.q, n.v, n.a, n.J = m.q, m.v, m.a, m.J.reshape(-1)


MAP = Algorithm(
    "coordinate_map",
    {
        "r": Field("input", "r"),
        "r_dot": Field("input", "r"),
        "r_ddot": Field("input", "r"),
        "q": Field("output", "q"),
        "v": Field("output", "v"),
        "a": Field("output", "v"),
        "J": Field("output", "J"),
    },
    {"run": [each(_moved)]},
)
