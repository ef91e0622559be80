"""Derivatives of forward dynamics of a tree under forces on its joints (drives, springs of joints) as one program.

Forces run first, and once more on dual numbers (`law_slopes`): with K = dQ/dq and D = dQ/dv, which have few entries,

    da/dq = (da/dq)_tree + M^-1 K,      da/dv = (da/dv)_tree + M^-1 D,

the tree under all forces, held (`forward_derivatives`). So it is called as quickly as that of the bare tree, one state or many in
lanes. `loaded_slopes` takes forces on bodies, and constraints.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..elements.collection import Collection
from ..kernel.function import Function
from ..kernel.loops import Lane, Table, loops
from ..kernel.plans import Plans
from ..kernel.sweep import SCALAR, Algorithm, Field, each, inward, outward
from ..model.arrays import Interface
from ..model.model import Model
from .derivatives import FORWARD_RESULTS
from .dof_tree import dof_tree
from .forward_derivatives import FORWARD_DERIVATIVES, accelerate, eliminate_under, place_bodies
from .forward_pairs import answers, descents
from .law_slopes import force_slopes
from .linear_laws import LinearLaws
from .loaded import given_laws, law_tails
from .pairs import routine
from .program import act


def begin_pushes(n: Any) -> None:
    """What the caller gives; forces add to it."""
    n.push = n.tau


def eliminate_driven(n: Any, parent: Any) -> None:
    """Under all forces."""
    eliminate_under(n, parent, n.push)


@loops
def add_slopes(
    nv: int,
    K_ports_count: int,
    K_ports_places: Table,
    K_slopes: Lane,
    D_slopes: Lane,
    da_dtau: Lane,
    da_dq: Lane,
    da_dv: Lane,
) -> None:
    """M^-1 K and M^-1 D, entry by entry of K and D."""
    for e in range(K_ports_count):
        row = K_ports_places[e] // nv
        column = K_ports_places[e] % nv
        for i in range(nv):
            da_dq[i * nv + column] += da_dtau[i * nv + row] * K_slopes[e]
            da_dv[i * nv + column] += da_dtau[i * nv + row] * D_slopes[e]


class DrivenDerivatives:
    """The forces of a model on its joints, ready for derivatives of its accelerations."""

    def __init__(self, laws: Collection, linear: LinearLaws) -> None:
        self.laws, self.model, self.linear = laws, laws.model, linear

    @cached_property
    def program(self) -> Algorithm:
        """Forces, their slopes, and the recursions of the tree."""
        ports = [f"p{i}" for i in range(self.laws.shape[0])]
        steps = [
            each(begin_pushes),
            each(act, *ports, on="force"),
            each(force_slopes, *ports, on="force"),
            outward(place_bodies),
            inward(eliminate_driven),
            outward(accelerate),
            routine(answers),
            routine(descents),
            routine(add_slopes),
        ]
        found = FORWARD_DERIVATIVES.fields | {
            "push": Field("work", "v"),
            "t": Field("input", "global", SCALAR),
            "u": Field("input", "u", of="force"),
            **{part.name: Field("work", part.name, of="force") for part in self.linear.force_parts},
        }
        return Algorithm(f"{FORWARD_DERIVATIVES.name}_{len(ports)}", found, {"run": steps})

    @cached_property
    def interface(self) -> Interface:
        """The program as a function of arrays."""
        tree, dofs = self.linear.tree, dof_tree(self.model)
        both = replace(
            tree,
            tables={**tree.tables, **dofs.tables},
            numbers={**tree.numbers, **dofs.numbers},
            counts={**tree.counts, **dofs.counts},
        )
        squares = dict.fromkeys(FORWARD_RESULTS[1:], (self.model.nv,) * 2)
        return Interface(self.model, self.program, Plans(both), law_tails(self.laws) | squares)

    @cached_property
    def usual(self) -> Function:
        """Of q, v and tau alone: no wrenches, at time 0, with the inputs that forces have themselves."""
        constants = {"gravity": self.model.gravity, "t": np.zeros(1), "u": self.laws.initial_inputs}
        return self.interface.function(("q", "v", "tau"), FORWARD_RESULTS, ("external",), constants)

    def __call__(self, q: Any, v: Any, tau: Any, external: Any, t: Any, inputs: Any, threads: int | None) -> list[np.ndarray]:
        """a, da_dq, da_dv and da_dtau of one state or a batch."""
        if tau is not None and external is inputs is None and type(t) is float and t == 0.0:
            return self.usual(q, v, tau, threads=threads)
        given = {"q": q, "v": v, "tau": tau, "external": external, "gravity": self.model.gravity}
        given |= given_laws(self.laws, q, t, inputs, False)
        return list(self.interface(given, threads, FORWARD_RESULTS).values())


def takes_joints_alone(laws: Collection) -> bool:
    """Whether all laws are forces on joints."""
    return bool(laws.forces) and not laws.rows and not laws.shape[2] and not laws.force_nodes.on_bodies


def driven_derivatives(model: Model, laws: Collection) -> DrivenDerivatives:
    """Kept with the model."""
    return model.keep_as(DrivenDerivatives, lambda: DrivenDerivatives(laws, LinearLaws(laws)))
