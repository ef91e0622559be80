"""Linearly implicit Euler: one solve per step, forces linearised about its start [Sueda, Eqs. 1.30, 2.79; errata 004-6, 22].

    (M + h D - h^2 K) v' = M v + h (f + D v),     q' = q + h v' on the manifold,

with everything at the old state and time functions of forces at the new time; velocity terms in f are those of the middle of the
step. Springs and dampers of any stiffness are stable; energy decays at first order. Constraints act on v'.

A step is a program (`redmax.program`): linear in the number of bodies where every force acts on one joint, on one body, or
between a body and its parent; where some couple distant bodies, a dense system or, if it is large, conjugate gradients.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints.targets import CORRECTION
from ..elements.collection import Shape, collection
from ..errors import InputError
from ..kernel.loops import Lane, loops
from ..kernel.sweep import SCALAR, Algorithm, Field, Routine, Step, each
from ..model import Model
from ..model.rules import joint_of
from ..redmax.laws import DENSE, GRADIENTS, RECURSIVE, Softness, stiff_laws
from ..redmax.program import IMPACTS, PUBLISHED, TARGETS, dynamics, fields
from ..rows.asked import keep_unknowns
from ..rows.poisson import NEWTON, check_restitution, has_impacts, impact_fields
from ..rows.pressing import pressing_fields
from ..spatial.gate import meant
from .loaded_program import loaded_program
from .stepper import Program, Stepper
from .symplectic_euler import NOTE_IMPACTS, advance_time, check_evaluations, update_rule

STIFFNESS = ("exact", "definite")
ROUTES = {"auto": None, "dense": DENSE, "recursive": RECURSIVE, "pcg": GRADIENTS}
INDEFINITE = (
    "linearly_implicit at t = {t:.9g}: conjugate gradients failed, as the matrix of the step is not positive definite; try "
    "shorter steps, or stiffness='definite'"
)
RULES = {"targets": TARGETS, "published": PUBLISHED, "poisson": IMPACTS}


def move(n: Any) -> None:
    """New positions with the new velocities."""
    joint = joint_of(n)
    n.q, n.v = joint.rechart(joint.integrate(n.q, n.h * n.free_v), n.free_v)


@loops
def look_ahead(t: Lane, h: Lane, force_t: Lane) -> None:
    """Forces are those of the end of the step."""
    force_t[0] = t[0] + h[0]


@functools.cache
def implicit_step(shape: Shape, softness: Softness, rules: str, rubs_inside: bool, evaluations: int) -> Algorithm:
    """A step of models with such laws, some of which may be friction inside joints."""
    found = (
        fields(shape, softness)
        | (pressing_fields() if rubs_inside else {})
        | {
            "q": Field("state", "q"),
            "v": Field("state", "v"),
            "t": Field("state", "global", SCALAR),
        }
    )
    found |= impact_fields(shape[3]) if rules == "poisson" else {}
    moved = dynamics(shape, softness, RULES[rules], rubs_inside, None if rules == "published" else evaluations)
    steps: list[Step] = [Routine(look_ahead, ("t", "h", "force_t")), *moved]
    if rules == "published":
        steps.append(each(move))
    else:
        found |= {"last": Field("state", "v"), "struck": Field("work", "global", SCALAR)}
        found |= {"pull": Field("state", "v")} if shape[1] >= 0 else {}
        steps += [NOTE_IMPACTS] if shape[3] else []
        steps.append(each(update_rule(shape)))
    steps.append(Routine(advance_time, ("t", "h")))
    if shape[1] >= 0:
        found["unknown"] = Field("state", "unknown", of="constraint")
        steps.append(each(keep_unknowns, on="constraint"))
    kind = (evaluations, *map(int, (*shape, *softness)))
    name = f"linearly_implicit_{rules}_{'_'.join(map(str, kind))}{'_rubbing' * rubs_inside}"
    return Algorithm(name, found, {"run": steps})


@dataclass(frozen=True)
class LinearlyImplicit(Stepper):
    """See the module's text.

    baumgarte   None: what rows ask is as for every stepper (`constraints.targets`). A rate (1/s): as RedMax has it, everything
                at the new time, G v' = given - baumgarte g, or >= for those that push, if they are touched
    evaluations of the velocity terms at the middle of a step, as in `SymplecticEuler`; 0 takes them at its start, as RedMax and
                every step with a `baumgarte` rate: what spins gains energy
    route       to the velocities: "recursive" where no force couples distant bodies; "dense"; "pcg", conjugate gradients
                preconditioned by the recursion; "auto": the cheapest
    stiffness   "exact", or "definite": without what destabilises long steps (see `redmax.definite`), for stiff nets
    restitution "newton", of velocities, or "poisson", of impulses (`rows.poisson`)
    """

    baumgarte: float | None = None
    route: str = "auto"
    stiffness: str = "exact"
    evaluations: int = 2
    restitution: str = NEWTON

    name = "linearly_implicit"
    order = 1
    contacts = True
    bounces = True
    implicit = True

    @property
    def friction(self) -> bool:
        return self.baumgarte is None and (self.route, self.stiffness) == ("auto", "exact")

    @property
    def methods(self) -> tuple[str, ...]:
        return ("reduced", "redmax")

    def __post_init__(self) -> None:
        if self.baumgarte is not None and not (np.isfinite(self.baumgarte) and self.baumgarte >= 0):
            raise InputError(f"{self.name}: baumgarte must be a rate, not {self.baumgarte!r}")
        check_evaluations(self.name, self.evaluations)
        check_restitution(self.name, self.restitution)
        if self.restitution != NEWTON and self.baumgarte is not None:
            raise InputError(f"{self.name}: a step with a baumgarte rate has no restitution={self.restitution!r}")
        for what, chosen, known in (("route", self.route, ROUTES), ("stiffness", self.stiffness, STIFFNESS)):
            if chosen not in known:
                raise InputError(
                    f"{self.name}: there is no {what} {chosen!r}; choose one of {', '.join(known)}{meant(chosen, known)}"
                )

    def check(self, model: Model) -> None:
        if self.route == "recursive" and stiff_laws(model).distant:
            raise InputError(f"{self.name}: the recursive route needs stiffness of joints, bodies, neighbours; use pcg or dense")

    def softness(self, model: Model) -> Softness:
        """How the step is solved."""
        found, way = stiff_laws(model).softness, ROUTES[self.route]
        if not collection(model).forces:
            return found
        return found._replace(way=found.way if way is None else way, definite=self.stiffness == "definite")

    def program(self, method: str, model: Model) -> Program:
        rules = "targets" if self.baumgarte is None else "published"
        rules = "poisson" if has_impacts(collection(model), self.restitution) else rules
        evaluations = 0 if rules == "published" else self.evaluations
        softness, correction = self.softness(model), CORRECTION if self.baumgarte is None else self.baumgarte
        gradients = softness.way == GRADIENTS

        memory = () if rules == "published" else ("last", "pull") if collection(model).rows else ("last",)

        def first(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {name: np.zeros((len(given["t"]), model.nv)) for name in memory}

        return loaded_program(
            model,
            implicit_step(collection(model).shape, softness, rules, collection(model).rubs_inside, evaluations),
            stiff_laws(model).plan,
            first=first,
            memory=memory,
            settings={"correction": np.array([correction])} if collection(model).rows else {},
            reports=("products",) if gradients else (),
            times=(1.0,),
            failure=INDEFINITE if gradients else "",
        )
