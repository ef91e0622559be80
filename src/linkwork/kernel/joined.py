"""Rules that look at no other node than their own, one after the other: one kernel does them all.

Rules of different sets do not meet, so each set has one such rule. What one leaves for the next stays in registers.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from .sweep import Step, Sweep

Rule = Callable[..., None]


def joined(steps: Sequence[Step]) -> list[Step]:
    """The same steps, such rules as one."""
    found: list[Step] = []
    for alone, group in itertools.groupby(steps, _is_alone):
        rules: dict[str, list[Rule]] = {}
        for step in group:
            if alone and isinstance(step, Sweep):
                rules.setdefault(step.on, []).append(step.rule)
            else:
                found.append(step)
        found += [Sweep(_in_turn(own), "each", ("own",), None, on) for on, own in rules.items()]
    return found


def _is_alone(step: Step) -> bool:
    if not isinstance(step, Sweep) or step.order != "each" or step.roles != ("own",):
        return False
    return step.items is None and step.when is None and step.under is None


def _in_turn(rules: Sequence[Rule]) -> Rule:
    @functools.wraps(rules[-1])
    def run(n: Any) -> None:
        for rule in rules:
            rule(n)

    return run
