"""Linearly implicit Euler: one solve per step, forces linearised about its start [Sueda, Eqs. 1.30, 2.79; errata 004-6, 22].

    (M + h D - h^2 K) v' = M v + h (f + D v),     q' = q + h v' on the manifold,

with everything at the old state and time functions at the new time. Springs and dampers of any stiffness are stable; energy
decays at first order. Constraints act on v': G v' = given - baumgarte g, or >= for those that push, if they are touched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints.solve import CORRECTION
from ..errors import InputError
from ..model import Model, State
from ..redmax.definite import definite
from ..redmax.hyper_dynamics import HyperDynamics
from ..redmax.operator import ROUTES
from ..redmax.system import Dynamics, dynamics
from .sequential import SequentialStepper
from .stepper import StepInfo
from .tangent import recharted

STIFFNESS = ("exact", "definite")


@dataclass(frozen=True)
class LinearlyImplicit(SequentialStepper):
    """See the module's text.

    baumgarte   rate (1/s) at which position errors of constraints are removed; None: a fixed part of them in every step
    route       to the velocities: "dense", "recursive", "pcg" (see `redmax.operator`), or "auto": by size and kind of the forces
    stiffness   "exact", or "definite": without what destabilises long steps (see `redmax.definite`), for stiff nets
    """

    baumgarte: float | None = None
    route: str = "auto"
    stiffness: str = "exact"

    name = "linearly_implicit"
    order = 1
    contacts = True

    def __post_init__(self) -> None:
        if self.baumgarte is not None and not (np.isfinite(self.baumgarte) and self.baumgarte >= 0):
            raise InputError(f"{self.name}: baumgarte must be a rate, not {self.baumgarte!r}")
        for what, chosen, known in (("route", self.route, ROUTES), ("stiffness", self.stiffness, STIFFNESS)):
            if chosen not in known:
                raise InputError(f"{self.name}: there is no {what} {chosen!r}; choose one of {', '.join(known)}")

    def step(self, model: Model, state: State, memory: Any, h: float, tau: Any, external: Any) -> tuple[State, Any, StepInfo]:
        q, v = recharted(model, state.q, state.v)
        now = dynamics(model, State(q, v, state.t), tau, external, state.t + h)
        v, info = self.velocities(now, h)
        return State(model.integrate(q, h * v), v, state.t + h), None, info

    def velocities(self, now: Dynamics | HyperDynamics, h: float) -> tuple[np.ndarray, StepInfo]:
        """v', and the forces of the constraints."""
        now = definite(now) if self.stiffness == "definite" else now
        pull = CORRECTION / h if self.baumgarte is None else self.baumgarte
        touched = ~now.constraints.unilateral | (now.constraints.residual <= 0.0)
        active = now.constraints.restricted(touched)
        v, found = now.implicit_velocities(h, active, active.given - pull * active.residual, self.route)
        impulses = np.zeros(len(touched))
        impulses[touched] = found
        return v, StepInfo(impulses / h)
