"""The unknowns of constraints: where a point is nearest to a curve, where two surfaces touch. Newton's method, to rounding."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..elements.law_tree import law_at
from ..errors import SolverError
from ..kernel.lanes import Lanes
from ..kernel.plan import Plan, variant
from ..kernel.sweep import Algorithm, Field, each
from ..model.model import Model
from .body_tree import GIVEN, body_tree
from .constraint import Constraint
from .derive import equations

ITERATIONS = 40
SHORT = 1e-7  # of the unknowns: after a step as short as this, the next is of the order of rounding, and the last


def determine(n: Any, *bodies: Any) -> None:
    """The conditions on the unknowns of one constraint, and their Jacobian."""
    c, poses, _ = law_at(n, bodies)
    n.conditions, jacobian = equations(c, poses, n.t, n.u)
    n.jacobian = jacobian.reshape(-1)


@functools.cache
def algorithm(roles: tuple[str, ...]) -> Algorithm:
    """Conditions on the unknowns of constraints on as many bodies as there are roles, or fewer."""
    solved = {"conditions": Field("output", "unknowns"), "jacobian": Field("output", "squares")}
    return Algorithm(f"constraint_unknowns{len(roles)}", GIVEN | solved, {"run": [each(determine, *roles)]})


class Unknowns:
    """The unknowns of those constraints that have any, in their order."""

    def __init__(self, model: Model, constraints: Sequence[Constraint]) -> None:
        self.constraints = [c for c in constraints if c.unknowns]
        self._at = np.cumsum([0, *(c.unknowns for c in self.constraints)])
        self._squares = np.cumsum([0, *(c.unknowns**2 for c in self.constraints)])
        if self.constraints:
            self.bodies = body_tree(model, self.constraints)
            self.plan = Plan(algorithm(self.bodies.roles), self.bodies.tree, variant(Lanes(1), ("run",)))

    def solved(self, given: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The unknowns u at poses and time, and the inverses of the Jacobians of their conditions, flat, one after the other."""
        if not self.constraints:
            return np.zeros(0), np.zeros(0)
        poses = given["poses"].reshape(-1, 4, 4)
        sides = zip(self.constraints, self.bodies.sides, strict=True)
        u = np.concatenate([c.guess([poses[i] for i in side]) for c, side in sides])
        far = np.ones(len(self.constraints), dtype=bool)
        for _ in range(ITERATIONS):
            inverses, steps = self._steps(given, u)
            u = u - np.concatenate(steps)
            if not far.any():
                return u, np.concatenate([A.reshape(-1) for A in inverses])
            far = np.array([np.abs(s).max() > SHORT * (1.0 + np.abs(u).max()) for s in steps])
        raise _lost(self.constraints[int(np.argmax(far))])

    def _steps(self, given: dict[str, np.ndarray], u: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Of every constraint the inverse of its Jacobian, and what Newton's method takes from its unknowns."""
        out = {name: np.empty((1, self.plan.sizes[name])) for name in ("conditions", "jacobian")}
        self.plan.run(given | {"u": u}, out, 1)
        inverses, steps = [], []
        for k, c in enumerate(self.constraints):
            jacobian = out["jacobian"][0, self._squares[k] : self._squares[k + 1]].reshape(c.unknowns, c.unknowns)
            inverses.append(_inverse(c, jacobian))
            steps.append(inverses[-1] @ out["conditions"][0, self._at[k] : self._at[k + 1]])
        return inverses, steps


def _inverse(c: Constraint, jacobian: np.ndarray) -> np.ndarray:
    if not np.all(np.isfinite(jacobian)):
        raise _lost(c)
    try:
        return np.linalg.inv(jacobian)
    except np.linalg.LinAlgError:
        raise _lost(c) from None


def _lost(c: Constraint) -> SolverError:
    return SolverError(
        f"{c!r}: its nearest points were not found; start closer to where it holds, where curvatures leave one nearest point"
    )
