"""Accelerations of the tree on the way back: by the implicit function theorem, on the factor that found them.

Forward dynamics solves M a = tau - c for a. Weights g of a ask for lam with M lam = g, two sweeps on the same factor:

    inward     y = D^-1 (g - S^T p),   to the parent: p + U y, moved by E_pj
    outward    m = pull(mu_p),   lam = y - K m,   mu = m + S lam

mu is the motion of the bodies that lam is the joints' of. All that a depends on then has the weights that it has in

    lam . (tau - damping v - armature a) - sum of mu . F,     F = I acc + (w x J w, w x (w x m c)) - load,

where acc and mu follow the joints outward with a and lam held: inverse dynamics, transposed, which needs no articulated inertia.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..kernel.solved_sweeps import WORK, SolvedBackwards, solved_backwards
from ..kernel.sweep import Field, vector
from ..model.rules import inertia_of
from ..spatial.scalar import array, dot, zeros
from .forward import accelerations, articulated_inertia
from .program import (
    free_joint_accelerations,
    free_joint_velocities,
    loaded_inertia,
    loaded_middle_forces,
    middle_forces,
)
from .rules import gyroscopic

FIELDS = {
    "mu": Field("shared", codec=vector(6)),
    "lam_load": Field("gathered", codec=vector(6)),
    "lam_y": Field("work", "v"),
    "lam": Field("work", "v"),
}
SEEN = ("E", "S", "zeta", "w", "v", "a", "K", "factor", "bend")


def solve_weights(n: Any, parent: Any) -> None:
    """y of the weights of joint accelerations, which are used up."""
    f, g, p = n.factor, n.bar_a, n.lam_load
    n.lam_y = y = f.solve(g - n.S.T @ p)
    pa = np.array(p + f.U @ y, dtype=object)
    for k, row in enumerate(f.rows):
        pa[row] = n.S[row, k] * g[k]  # as (IA - U K) S = 0, see `pass_forces`
    parent.lam_load = parent.lam_load + n.E.move_wrench(array(pa))
    n.bar_a = zeros(len(g))


def weighted_motion(n: Any, parent: Any) -> None:
    """lam, and mu of the body."""
    m = n.E.pull_twist(parent.mu)
    n.lam = n.lam_y - n.K @ m
    n.mu = m + n.S @ n.lam


def weighed_by(load: str, push: str) -> Callable[[Any, Any], None]:
    """The rule that weighs inverse dynamics under such loads."""

    def weighed_equations(n: Any, parent: Any) -> None:
        n.acc = acc = n.E.pull_twist(parent.acc) + n.zeta + n.S @ n.a
        n.mu = mu = n.E.pull_twist(parent.mu) + n.S @ n.lam
        F = inertia_of(n) @ acc + gyroscopic(n.w, n.first_moment, inertia_of(n).J) - getattr(n, load)
        tau = getattr(n, push) - n.damping * n.v - n.armature * (n.a - n.bend)
        setattr(n, WORK, dot(n.lam, tau) - dot(mu, F))

    return weighed_equations


def free_velocities_after(n: Any) -> None:
    """What `free_joint_velocities` does with accelerations."""
    n.free_v = n.v + n.h * n.a


def free_accelerations_after(n: Any) -> None:
    """What `free_joint_accelerations` does with them."""
    n.free_v = n.a


def _solution(load: str, push: str) -> SolvedBackwards:
    keeps = [("own", name) for name in (*SEEN, load, push)]
    return SolvedBackwards(
        [*keeps, ("parent", "acc")],
        None,
        solve_weights,
        weighted_motion,
        weighed_by(load, push),
        frozenset(("a", "lam")),
        FIELDS,
    )


def _register() -> None:
    for rules, names in (
        ((articulated_inertia, middle_forces), ("external", "tau")),
        ((loaded_inertia, loaded_middle_forces), ("load", "push")),
    ):
        plain = _solution(*names)
        in_step = replace(plain, keeps=[*plain.keeps, ("own", "h")], after=free_velocities_after)
        for rule in rules:
            solved_backwards(rule, accelerations, plain)
            solved_backwards(rule, free_joint_velocities, in_step)
            solved_backwards(rule, free_joint_accelerations, replace(plain, after=free_accelerations_after))


_register()
