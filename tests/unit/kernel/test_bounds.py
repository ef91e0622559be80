"""What would touch memory beyond its arrays is refused when a plan is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwork.errors import CompileError
from linkwork.kernel.bounds import LARGEST, check_sizes
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.loops import Lane, loops
from linkwork.kernel.plan import Plan, variant
from linkwork.kernel.shape import Shape
from linkwork.kernel.sweep import (
    SCALAR,
    Algorithm,
    Field,
    Items,
    NodeClass,
    Packing,
    Repeat,
    Routine,
    Step,
    Tree,
    each,
    over,
    vector,
)

CLASS = NodeClass(("bounds",), sizes={"q": 1})
FIELDS = {
    "x": Field("input", "node", SCALAR),
    "y": Field("output", "node", SCALAR),
    "z": Field("input", "thing", vector(2)),
    "w": Field("output", "packed"),
}


def double(n: Any) -> None:
    n.y = n.x * 2.0


def look(n: Any, other: Any) -> None:
    n.y = n.x + other.x


def look_at_thing(n: Any, thing: Any) -> None:
    n.y = n.x + thing.z[1]


@loops
def clear(x: Lane) -> None:
    x[0] = 0.0


def made(step: Step, fields: dict[str, Field] | None = None, **parts: Any) -> Plan:
    n = 3
    given: dict[str, Any] = {"parent": np.array([-1, 0, 1]), "classes": [CLASS] * n, "parameters": [{}] * n}
    tree = Tree(**(given | parts))
    return Plan(Algorithm("bounds", fields or {k: FIELDS[k] for k in "xy"}, {"run": [step]}), tree, variant(Lanes(1), ("run",)))


def with_role(*targets: int) -> dict[str, Any]:
    return {"roles": {"other": np.array(targets)}}


def items(nodes: list[int], targets: list[int]) -> dict[str, Any]:
    return {"items": {"list": lambda: Items(np.array(nodes), {"other": np.array(targets)})}}


THINGS = {k: FIELDS[k] for k in "xyz"}
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "parent after child": (
        lambda: made(each(double), parent=np.array([-1, 2, 0])),
        "node 1 has the parent 2; parents are -1",
    ),
    "own parent": (lambda: made(each(double), parent=np.array([0, 0, 1])), "node 0 has the parent 0"),
    "parent below -1": (lambda: made(each(double), parent=np.array([-2, 0, 1])), "node 0 has the parent -2"),
    "too few classes": (lambda: made(each(double), classes=[CLASS] * 2), "3 nodes have 2 classes"),
    "too many parameters": (lambda: made(each(double), parameters=[{}] * 4), "3 nodes have 4 parameters"),
    "too few targets": (lambda: made(each(look, "other"), **with_role(0, 1)), r"role 'other' has \(2,\) targets for 3 nodes"),
    "target beyond": (lambda: made(each(look, "other"), **with_role(0, 1, 3)), "role 'other' of 'bounds' points at index 3 of 3"),
    "target far beyond": (lambda: made(each(look, "other"), **with_role(0, 1, 10**12)), "points at index 1000000000000 of 3"),
    "negative target": (lambda: made(each(look, "other"), **with_role(0, -1, 1)), "role 'other' of 'bounds' points at index -1"),
    "item beyond": (lambda: made(over("list", look, "other"), **items([0, 3], [0, 0])), "list 'list' has node 3 of 3"),
    "item negative": (lambda: made(over("list", look, "other"), **items([-1, 1], [0, 0])), "list 'list' has node -1 of 3"),
    "item without target": (
        lambda: made(over("list", look, "other"), **items([0, 1], [0])),
        r"list 'list': role 'other' has \(1,\) targets for 2 items",
    ),
    "item's target beyond": (lambda: made(over("list", look, "other"), **items([0, 2], [0, 5])), "points at index 5 of 3"),
    "item's target negative": (lambda: made(over("list", look, "other"), **items([0, 2], [0, -2])), "points at index -2"),
    "thing beyond": (
        lambda: made(each(look_at_thing, "thing"), THINGS, counts={"thing": 2}, roles={"thing": np.array([0, 1, 2])}),
        "role 'thing' of 'bounds' points at index 2 of 2",
    ),
    "guard beyond": (
        lambda: made(each(double, on="", when=("other", "x")), **with_role(0, 1, 7)),
        "role 'other' of 'bounds' points at index 7 of 3",
    ),
    "guard that is no array": (lambda: made(Repeat((each(double),), 2, "nothing")), "'bounds' has no array 'nothing'"),
    "argument that is no array": (lambda: made(Routine(clear, ("nothing",))), "'bounds' has no array 'nothing'"),
    "condition that is no array": (lambda: made(Routine(clear, ("y",), "nothing")), "'bounds' has no array 'nothing'"),
    "place beyond": (
        lambda: made(each(double), FIELDS, packings={"packed": lambda: Packing(np.array([0, 1, 2]), 2)}, counts={"thing": 1}),
        "packing 'packed': place 2 of 2",
    ),
    "alias too large": (
        lambda: made(each(double), {**THINGS, "v": Field("work", "node", vector(2), alias="y")}, counts={"thing": 1}),
        "'v' has 6 numbers, but 'y', whose memory it has, 3",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_it_is_refused_when_the_plan_is_made(what: str) -> None:
    make, said = WRONG[what]
    with pytest.raises(CompileError, match=said):
        make()


def test_what_is_within_is_not() -> None:
    plan = made(each(look, "other"), **with_role(2, 0, 0))
    y = np.empty((1, 3))
    plan.run({"x": np.array([1.0, 2.0, 4.0])}, {"y": y}, 1)
    assert y[0].tolist() == [5.0, 3.0, 5.0]


def test_a_kernel_says_how_far_it_reaches() -> None:
    """The second number of a thing: a record that is cut off would be refused."""
    plan = made(each(look_at_thing, "thing"), THINGS, counts={"thing": 2}, roles={"thing": np.array([0, 1, 1])})
    reaches = {pair: reach for u in plan.units for pair, reach in zip(u.operands[0], u.reaches[0], strict=True)}
    assert reaches == {("x", "own"): 1, ("z", "thing"): 2, ("y", "own"): 1}
    plan._rooms["z"] = 3
    with pytest.raises(CompileError, match=r"'bounds' reaches number 4 of thing.z, which has 3"):
        plan._sweep_segments(0, each(look_at_thing, "thing"), 1)


def test_arrays_that_entries_cannot_number_are_refused() -> None:
    algorithm = Algorithm("bounds", {k: FIELDS[k] for k in "xy"}, {"run": [each(double)]})
    with pytest.raises(CompileError, match=f"'x' has {LARGEST + 1} numbers; an array may have {LARGEST}"):
        check_sizes(algorithm, {"x": LARGEST + 1})


def test_shapes_of_trees_without_nodes() -> None:
    assert Shape(Tree(np.zeros(0, int), [], [])).slots == 1
