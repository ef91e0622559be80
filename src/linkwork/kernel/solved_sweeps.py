"""Sweeps that solve linear equations, and what stands for them on the way back.

A rule inward factors, a rule outward finds x with R(x, p) = 0, linear in x. To run both backwards rule by rule would
differentiate the factor. By the implicit function theorem the factor is enough: weights g of x ask for the solution `lam` of the
same equations with g on the other side, and p then has the weights of the scalar lam . R(x, p) at x and lam, a function that
rules say without any factor (`kernel.adjoint` transposes them).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .sweep import Field, Step, Sweep

Rule = Callable[..., None]
WORK = "weighed_work"  # the name under which `weighed` leaves lam . R


@dataclass(frozen=True)
class SolvedBackwards:
    """What runs instead of the transposes of a pair of rules; all read what these saw.

    keeps     (role, name) of what is kept of the way there, the solution among them
    after     what the outward rule computes from the solution besides, transposed first
    solve     inward: from the weights of the solution to the loads of the factor
    answer    outward: the solution `lam`
    weighed   inward, transposed: assigns `WORK`, and whatever it moves from parent to child
    held      of what `weighed` reads, what has no weights
    fields    of these rules
    """

    keeps: Sequence[tuple[str, str]]
    after: Rule | None
    solve: Rule
    answer: Rule
    weighed: Rule
    held: frozenset[str]
    fields: Mapping[str, Field] = field(default_factory=dict)


_PAIRS: dict[tuple[Rule, Rule], SolvedBackwards] = {}


def solved_backwards(inward: Rule, outward: Rule, found: SolvedBackwards) -> None:
    """These two rules, one after the other, have such a way back."""
    _PAIRS[inward, outward] = found


def origin(rule: Rule) -> Rule:
    """The rule that another one is under other names (`steppers.stages`)."""
    return getattr(rule, "renames", rule)


def alike(rule: Rule, other: Rule) -> Rule:
    """Another rule under the names of this one."""
    return rule.alike(other) if hasattr(rule, "alike") else other  # pyright: ignore[reportFunctionMemberAccess]


def solved_pairs(steps: Sequence[Step]) -> dict[int, SolvedBackwards]:
    """Of steps whose factors serve nothing else, by the number of the outward sweep; the inward one is just before it.

    Rows of constraints climb over the factors: where rules run over lists, there are none.
    """
    if any(isinstance(step, Sweep) and step.items is not None for step in steps):
        return {}
    found = {}
    for k, (one, other) in enumerate(itertools.pairwise(steps), start=1):
        if isinstance(one, Sweep) and isinstance(other, Sweep):
            pair = _PAIRS.get((origin(one.rule), origin(other.rule)))
            if pair is not None:
                found[k] = pair
    return found
