"""Runs of scene files with friction, step by step: as published, and twice as they should be.

The right ones are those of `redmax.bisp` and `redmax.reduced_friction`, which share contacts, not projections. Where a joint is
about to stick, a round of staggered projections may leave 998 parts of 1000 of the error (scenes 27, 28, 33): they need thousands
of rounds to end where the other does.
"""

from __future__ import annotations

import numpy as np

from ..io.redmax import Problem, Run
from ..io.redmax.published_friction import PublishedStep
from ..model import State
from ..redmax.bisp import StaggeredStep, Stop
from ..redmax.reduced_friction import ReducedStep
from ..steppers.tangent import recharted

CONVERGED = Stop(rounds=400, regular=1e-6)
SLOWLY = Stop(rounds=20_000, enough=1e-23, regular=1e-6)


class SettledStep(StaggeredStep):
    """Bilateral staggered projections until the motion stands still: impulses of many contacts need not."""

    moved: np.ndarray

    def reactions(self, friction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found, lam = super().reactions(friction)
        self.moved = self.h * (found + friction) + self.G_m.T @ lam
        return found, lam

    def compared(self, reactions: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """The change of the momenta of all bodies."""
        return self.moved


ROUTES: dict[str, tuple[type[StaggeredStep], Stop | None]] = {
    "published": (PublishedStep, None),
    "staggered": (SettledStep, SLOWLY),
    "reduced": (ReducedStep, CONVERGED),
}


def friction_run(p: Problem, wanted: Run, route: str) -> State:
    """The end of a run by one of the routes; the friction of a step begins with that of the one before."""
    assert p.friction is not None
    kind, stop = ROUTES[route]
    now, wrenches, h = p.state, np.zeros(6 * p.model.nb), wanted.h
    for _ in range(wanted.steps):
        tau = p.control(now.t, now) if p.control else None
        step = p.friction.step(kind, p.model, now, tau, h, wanted.baumgarte[2], stop or p.friction.stop)
        reactions, wrenches = step.project(wrenches)
        v = step.end(reactions, wrenches)
        now = State(*recharted(p.model, p.model.integrate(now.q, h * v), v), now.t + h)
    return now
