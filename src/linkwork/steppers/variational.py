"""A variational integrator on Lie groups: the midpoint rule applied to the action, not to the equations of motion. Order 2.

Over a step the joints move with constant velocities v along their `paths`; `discrete_lagrangian` says which momenta p0 and p1
that means before and after. The step is symplectic and keeps momenta: the energy of an undamped system stays near its start for
exponentially long times. p0 is given, v is unknown: Newton's method with M(q_m) for its matrix, in O(n), a fixed number of
rounds; that they were enough is checked. One pass of the program is one round; the last one moves the state. With forces and
constraints see `rattle`.

"variational4" composes each step of three, of lengths c h, (1 - 2c) h, c h with c = 1 / (2 - 2^(1/3)): order 4 [Yoshida 1990].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..constraints.rows import constraint_set
from ..errors import InputError, SolverError
from ..kernel.sweep import INERTIA, SCALAR, Algorithm, Field, each, inward, outward, vector
from ..model import MaximalState, Model, State
from ..model.rules import inertia_of
from ..reduced.inverse import mass_product
from ..reduced.rules import factor_joint
from ..spatial.scalar import array, maximum, where
from .discrete_lagrangian import SUMS, end_momenta, midpoint, velocities_of
from .paths import all_along, all_own, along, own, own_subspace, path_of
from .rattle import ENOUGH, rattle_step
from .stepper import Program, StepInfo, Stepper

ROUNDS = 12


def balance(n: Any, parent: Any) -> None:
    """What is missing of the momentum at the start, and the articulated inertia that answers it."""
    p0 = end_momenta(n, parent)
    S = own_subspace(n)
    f = factor_joint(inertia_of(n) + n.IA, S, n.armature)
    u = own(n, n.momentum - p0) - S.T @ n.pA
    n.K, n.y = f.K, f.solve(u)
    parent.IA = parent.IA + n.E.move_inertia(f.Ia)
    parent.pA = parent.pA + n.E.move_wrench(n.pA + f.K.T @ u)


def advance(n: Any, parent: Any) -> None:
    """Better velocities; after the last round the state moves."""
    acc = n.E.pull_twist(parent.acc)
    own_change = n.y - n.K @ acc
    n.acc = acc + own_subspace(n) @ own_change
    change = along(n, own_change)
    v = n.v + change
    last = n.round >= ROUNDS - 1.5
    q = path_of(n).integrate(n.q, n.step * v)
    n.q = array([where(last, a, b) for a, b in zip(q, n.q, strict=True)])
    n.momentum = array([where(last, a, b) for a, b in zip(n.p1, n.momentum, strict=True)])
    n.error = array([where(last, maximum(abs(a), b), b) for a, b in zip(change, n.error, strict=True)])
    n.v = v
    n.part = where(last, n.part + 1.0, n.part)
    n.round = where(last, 0.0, n.round + 1.0)


def begin(parts: tuple[float, ...]) -> Callable[[Any], None]:
    """The length of the present part of the step."""

    def rule(n: Any) -> None:
        n.part = where(n.part > len(parts) - 0.5, 0.0, n.part)
        length = parts[0]
        for k, x in enumerate(parts[1:]):
            length = where(n.part > k + 0.5, x, length)
        n.step = n.h * length

    return rule


def _algorithm(name: str, parts: tuple[float, ...]) -> Algorithm:
    fields = {
        "q": Field("state", "q"),
        "momentum": Field("state", "v"),
        "v": Field("state", "v"),
        "error": Field("state", "v"),
        "round": Field("state", "node", SCALAR),
        "part": Field("state", "node", SCALAR),
        "tau": Field("input", "v"),
        "external": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),
        "h": Field("input", "global", SCALAR),
        **SUMS,
        "acc": Field("shared", codec=vector(6)),
        "IA": Field("gathered", codec=INERTIA),
        "pA": Field("gathered", codec=vector(6)),
    }
    return Algorithm(name, fields, {"run": [each(begin(parts)), outward(midpoint), inward(balance), outward(advance)]})


def enter(model: Model, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the program keeps of a batch of states (batch, size): momenta, and the velocities of the paths to start from."""
    q, v = given["q"], all_along(model, given["q"], given["v"])
    p = all_along(model, q, mass_product(model, q, given["v"]))
    counts = {name: np.zeros((len(q), model.nb)) for name in ("round", "part")}
    return {"q": q, "momentum": p, "v": v, "error": np.zeros_like(v), **counts}


def leave(model: Model, kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The states of the records (batch, records, size)."""
    q, p = kept["q"], kept["momentum"]
    change, scale = kept["error"].max(initial=0.0), 1.0 + np.abs(kept["v"]).max(initial=0.0)
    if not change <= ENOUGH * scale:
        raise SolverError(
            f"a variational step did not converge: its velocities still changed by {change:.2g} in the last of {ROUNDS} rounds; "
            "take a smaller dt"
        )
    own_p = all_own(model, q, p)
    return {"q": q, "v": velocities_of(model, q.reshape(-1, model.nq), own_p.reshape(-1, model.nv)).reshape(p.shape)}


def _program(name: str, parts: tuple[float, ...]) -> Program:
    states = ("q", "momentum", "v", "error", "round", "part")
    return Program(_algorithm(name, parts), states, ROUNDS * len(parts), enter, leave)


OUTER = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))


@dataclass(frozen=True)
class Variational(Stepper):
    """See the module's text.

    parts   the lengths of the steps of order 2 that make one step
    """

    parts: ClassVar[tuple[float, ...]] = (1.0,)

    name = "variational"
    order = 2
    programs = {"reduced": _program("reduced_variational", parts)}

    def check(self, model: Model) -> None:
        if not constraint_set(model).holonomic.all():
            raise InputError(
                f"the stepper {self.name!r} needs constraints on positions; some of this model are on velocities only"
            )
        for b in model.bodies:
            if b.joint.charted:
                raise InputError(
                    f"the stepper {self.name!r} cannot change charts, which joint {b.joint_name!r} ({type(b.joint).__name__}) "
                    "does; use Spherical or Free instead"
                )

    def constrained_step(
        self, model: Model, state: State | MaximalState, h: float, tau: Any, external: Any
    ) -> tuple[State | MaximalState, StepInfo]:
        assert isinstance(state, State)
        forces = np.zeros(constraint_set(model).count)
        for part in self.parts:
            state, found = rattle_step(model, state, part * h, tau, external)
            forces = forces + part * found
        return state, StepInfo(forces)


@dataclass(frozen=True)
class Variational4(Variational):
    """See the module's text."""

    parts = (OUTER, 1.0 - 2.0 * OUTER, OUTER)

    name = "variational4"
    order = 4
    programs = {"reduced": _program("reduced_variational4", parts)}
