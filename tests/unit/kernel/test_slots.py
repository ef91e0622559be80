"""Places of private values: another's once nobody asks for them any more, in whatever order steps run."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from linkwork.kernel import eager
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.plan import Plan, variant
from linkwork.kernel.sweep import SCALAR, Algorithm, Field, NodeClass, Repeat, Step, Tree, each

FIELDS = {"x": Field("input", codec=SCALAR), "s": Field("state", codec=SCALAR), "y": Field("output", codec=SCALAR)}
TREE = Tree(np.array([-1, 0, 1]), [NodeClass(("plain",))] * 3, [{}] * 3)
_numbers = itertools.count()


def algorithm(*steps: Step) -> Algorithm:
    return Algorithm(f"slots{next(_numbers)}", FIELDS, {"run": steps})


def places_and_result(a: Algorithm) -> tuple[int, list[float]]:
    """Private numbers of a node, and y; the same as by the rules as they stand."""
    plan, out = Plan(a, TREE, variant(Lanes(1), ("run",))), np.full((1, 3), np.nan)
    given = {"x": np.array([1.0, 2.0, 3.0]), "s": np.array([0.5, -1.0, 4.0])}
    plan.run({name: x.copy() for name, x in given.items()}, {"y": out}, 1)
    assert out[0].tolist() == eager.run(a, TREE, given)["y"].tolist()
    return plan.units[0].private["run"], out[0].tolist()


def first(n: Any) -> None:
    n.a = n.x * n.x


def second(n: Any) -> None:
    n.s = n.s + n.a


def third(n: Any) -> None:
    n.b = n.s * 3.0


def fourth(n: Any) -> None:
    n.y = n.s + n.b


def test_one_place_after_the_other() -> None:
    places, y = places_and_result(algorithm(each(first), each(second), each(third), each(fourth)))
    assert places == 1
    assert y == [6.0, 12.0, 52.0]


def test_what_is_asked_for_again_stays() -> None:
    def last(n: Any) -> None:
        n.y = n.s + n.b + n.a

    assert places_and_result(algorithm(each(first), each(second), each(third), each(last)))[0] == 2


def test_no_place_changes_hands_within_a_kernel() -> None:
    def both(n: Any) -> None:
        n.b = n.a * 3.0

    assert places_and_result(algorithm(each(first), each(both), each(fourth)))[0] == 2


def test_what_is_repeated_asks_again() -> None:
    """In the second round, `second` asks for `a` after `third` has run."""
    again = Repeat((each(second), each(third), each(fourth)), 3)
    places, y = places_and_result(algorithm(each(first), again))
    assert places == 2
    assert y == [14.0, 44.0, 124.0]


def test_what_nobody_needs_is_not_loaded() -> None:
    def pair(n: Any) -> None:
        n.a, n.b = [n.x * n.x, n.x * 3.0], n.x + 1.0

    def use(n: Any) -> None:
        values = [*n.a, n.b]
        n.y = values[0] + n.s

    plan = Plan(algorithm(each(pair), each(use)), TREE, variant(Lanes(1), ("run",)))
    assert plan.units[0].private["run"] == 1
