"""The constraints between bodies of a model, compiled: one kernel per class, a thousand instances share it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..elements.law_tree import law_at
from ..kernel.lanes import Lanes
from ..kernel.plan import Plan, variant
from ..kernel.sweep import Algorithm, Field, each
from ..model.model import Model
from ..model.state import Rows
from .body_tree import GIVEN, body_tree
from .constraint import Constraint
from .derive import RESULTS, derive
from .direct import Direct, Situation
from .unknowns import Unknowns


def constrain(n: Any, *bodies: Any) -> None:
    """Residual, rate, bias and rows of one constraint."""
    c, poses, twists = law_at(n, bodies)
    derive(c, poses, twists, n.t, n.u, n.inverse.reshape(c.unknowns, c.unknowns)).write(n)


@functools.cache
def algorithm(roles: tuple[str, ...]) -> Algorithm:
    """Rows of constraints on as many bodies as there are roles, or fewer."""
    rows = {"inverse": Field("input", "squares"), "G": Field("output", "G")}
    rows |= {name: Field("output", "rows") for name in RESULTS}
    return Algorithm(f"constraint_rows{len(roles)}", GIVEN | rows, {"run": [each(constrain, *roles)]})


class BodySet:
    """Constraints between bodies, in their order."""

    def __init__(self, model: Model, constraints: Sequence[Constraint]) -> None:
        self.constraints = list(constraints)
        self.bodies = body_tree(model, self.constraints)
        self.plan = Plan(algorithm(self.bodies.roles), self.bodies.tree, variant(Lanes(1), ("run",)))
        self._unknowns = Unknowns(model, self.constraints)
        sides = [s for c, s in zip(self.constraints, self.bodies.sides, strict=True) for _ in range(c.size)]
        body = np.array([b for s in sides for b in s], dtype=int)
        self._real = body < model.nb
        self._body, self._row = body[self._real], np.repeat(np.arange(len(sides)), [len(s) for s in sides])[self._real]

    def inputs(self, now: Situation) -> dict[str, np.ndarray]:
        """What the rows are functions of, with the unknowns solved."""
        given = {
            "poses": np.append(now.poses, np.eye(4)),
            "twists": np.append(now.twists, np.zeros(6)),
            "t": np.array([now.time_for(self.constraints)]),
        }
        u, inverse = self._unknowns.solved(given)
        return given | {"u": u, "inverse": inverse}

    def at(self, now: Situation) -> Direct:
        """Their rows where the model is now."""
        out = {name: np.empty((1, self.plan.sizes[name])) for name in (*RESULTS, "G")}
        self.plan.run(self.inputs(now), out, 1)
        rows = Rows(out["rate"].shape[1], self._row, self._body, out["G"].reshape(-1, 6)[self._real])
        return Direct(rows, *(out[name][0] for name in RESULTS))
