"""What rules may do: the compiled kernels and the reference read, write and refuse the same."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwork.errors import CompileError, InputError
from linkwork.kernel import eager
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.plan import Plan, variant
from linkwork.kernel.sweep import SCALAR, Algorithm, Field, Items, NodeClass, Packing, Sweep, Tree, each, inward, outward, over

INPUT, OUTPUT = Field("input", codec=SCALAR), Field("output", codec=SCALAR)
XYZ = {"x": INPUT, "y": OUTPUT, "z": OUTPUT}
_numbers = itertools.count()


def algorithm(fields: dict[str, Field], *sweeps: Sweep) -> Algorithm:
    return Algorithm(f"rules{next(_numbers)}", fields, {"run": sweeps})


def tree(parents: list[int], classes: list[NodeClass] | None = None, parameters: Any = None, **more: Any) -> Tree:
    n = len(parents)
    plain = NodeClass(("plain",))
    return Tree(np.array(parents, np.int64), classes or [plain] * n, parameters or [{}] * n, **more)


def plan(a: Algorithm, t: Tree, absent: tuple[str, ...] = ()) -> Plan:
    return Plan(a, t, variant(Lanes(1), ("run",), absent))


def compiled(a: Algorithm, t: Tree, wanted: str = "y", absent: tuple[str, ...] = (), **inputs: Any) -> list[float]:
    p = plan(a, t, absent)
    out = np.full((1, p.sizes[wanted]), np.nan)
    p.run({k: np.array(v, float) for k, v in inputs.items()}, {wanted: out}, 1)
    return out[0].tolist()


def reference(a: Algorithm, t: Tree, wanted: str = "y", **inputs: Any) -> list[float]:
    return eager.run(a, t, {k: np.array(v, float) for k, v in inputs.items()})[wanted].tolist()


def test_an_output_that_is_not_wanted_is_kept_for_a_later_rule() -> None:
    def double(n: Any) -> None:
        n.y = 2.0 * n.x

    def more(n: Any) -> None:
        n.z = n.y + 1.0

    a = algorithm(XYZ, each(double), each(more))
    assert compiled(a, tree([-1]), "z", ("y",), x=[3.0]) == reference(a, tree([-1]), "z", x=[3.0]) == [7.0]


def test_an_output_that_is_not_wanted_is_kept_for_a_role() -> None:
    def double(n: Any) -> None:
        n.y = 2.0 * n.x

    def look(n: Any, other: Any) -> None:
        n.z = other.y + 1.0

    a, t = algorithm(XYZ, each(double), each(look, "other")), tree([-1, 0], roles={"other": np.array([1, 0])})
    assert compiled(a, t, "z", ("y",), x=[3.0, 4.0]) == reference(a, t, "z", x=[3.0, 4.0]) == [9.0, 7.0]


def test_shared_values_of_leaves_are_seen_through_a_role() -> None:
    def down(n: Any, parent: Any) -> None:
        n.s = parent.s + n.x

    def look(n: Any, other: Any) -> None:
        n.y = other.s

    a = algorithm({**XYZ, "s": Field("shared", codec=SCALAR)}, outward(down), each(look, "other"))
    t = tree([-1, 0], roles={"other": np.array([1, 0])})
    assert compiled(a, t, absent=("z",), x=[1.0, 2.0]) == reference(a, t, x=[1.0, 2.0]) == [3.0, 1.0]


def test_all_children_take_part_in_a_sum() -> None:
    def rule(n: Any, parent: Any) -> None:
        n.y = n.s
        if n.adds:
            parent.s = parent.s + n.x

    adds, idle = NodeClass(("adds",), {"adds": True}), NodeClass(("idle",), {"adds": False})
    a = algorithm({**XYZ, "s": Field("gathered", codec=SCALAR)}, inward(rule))
    with pytest.raises(CompileError, match=r"adds to parent\.s at some nodes only"):
        plan(a, tree([-1, 0, 0], [adds, adds, idle]))
    assert compiled(a, tree([-1, 0, 0], [idle, adds, adds]), absent=("z",), x=[1.0, 2.0, 3.0]) == [5.0, 0.0, 0.0]


def own_sum(n: Any, parent: Any) -> None:
    n.s = n.s + n.x
    parent.s = parent.s + n.s


def own_parameter(n: Any, parent: Any) -> None:
    n.k = 2.0 * n.k


def own_attribute(n: Any, parent: Any) -> None:
    n.joint = 1.0


def others_sum(n: Any, parent: Any) -> None:
    parent.z = 1.0


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (own_sum, r"writes own\.s: of the parent only gathered"),
        (own_parameter, r"writes own\.k: a parameter or attribute of the node's class; give the new value another name"),
        (own_attribute, r"writes own\.joint: a parameter or attribute"),
        (others_sum, r"writes parent\.z: of the parent only gathered"),
    ],
)
def test_what_rules_may_not_write(rule: Any, message: str) -> None:
    a = algorithm({**XYZ, "s": Field("gathered", codec=SCALAR)}, inward(rule))
    c = NodeClass(("k",), {"joint": None}, {"k": ((), (None,))})
    t = tree([-1, 0], [c, c], [{"k": np.array(1.0)}] * 2)
    with pytest.raises(CompileError, match=message):
        plan(a, t)
    with pytest.raises(CompileError, match=message):
        eager.run(a, t, {"x": np.zeros(2)})


def test_a_role_that_writes_a_shared_field_is_refused() -> None:
    def rule(n: Any, other: Any) -> None:
        other.s = 1.0

    a = algorithm({**XYZ, "s": Field("shared", codec=SCALAR)}, each(rule, "other"))
    with pytest.raises(CompileError, match=r"writes other\.s: a shared field, which only its own node writes"):
        plan(a, tree([-1], roles={"other": np.array([0])}))


def test_gathered_values_cannot_be_read_through_a_role() -> None:
    def rule(n: Any, other: Any) -> None:
        n.y = other.s

    a = algorithm({**XYZ, "s": Field("gathered", codec=SCALAR)}, each(rule, "other"))
    with pytest.raises(CompileError, match=r"reads other\.s: gathered fields live only between"):
        plan(a, tree([-1], roles={"other": np.array([0])}))


def test_a_role_shows_what_was_there_before_the_rule() -> None:
    def rule(n: Any, other: Any) -> None:
        n.s = n.s + 1.0
        n.y = 2.0 * other.s

    a = algorithm({"s": Field("state", codec=SCALAR), "y": OUTPUT}, each(rule, "other"))
    t = tree([-1, -1], roles={"other": np.array([0, 0])})
    assert compiled(a, t, s=[1.0, 2.0]) == reference(a, t, s=[1.0, 2.0]) == [2.0, 4.0]


def test_a_role_that_points_nowhere_is_refused() -> None:
    def rule(n: Any, other: Any) -> None:
        n.y = other.x

    with pytest.raises(CompileError, match=r"role 'other' of .* points at index -1"):
        plan(algorithm(XYZ, each(rule, "other")), tree([-1, 0], roles={"other": np.array([-1, 0])}))


def constant(n: Any) -> None:
    n.y = n.g


def test_a_frozen_constant_returns_after_another_value() -> None:
    p = plan(algorithm({"g": Field("input", "global", SCALAR), "y": OUTPUT}, each(constant)), tree([-1]))
    frozen, other, out, got = np.array([1.0]), np.array([5.0]), np.empty((1, 1)), []
    frozen.flags.writeable = False
    for g in (frozen, other, frozen, frozen):
        p.run({"g": g}, {"y": out}, 1)
        got.append(out[0, 0])
    assert got == [1.0, 5.0, 1.0, 1.0]


@pytest.mark.parametrize("kind", [np.int64, np.float32, bool])
def test_arrays_of_another_type_are_refused(kind: Any) -> None:
    p = plan(algorithm({"g": Field("input", "global", SCALAR), "y": OUTPUT}, each(constant)), tree([-1]))
    with pytest.raises(InputError, match=r"g holds .*, the plan computes with float64"):
        p.run({"g": np.ones(1, kind)}, {"y": np.empty((1, 1))}, 1)


def product(n: Any, other: Any) -> None:
    n.y = n.x * other.x


def test_flops_count_every_item() -> None:
    items = Items(np.array([0, 0, 1, 1, 1]), {"other": np.array([0, 1, 0, 1, 0])})
    t = tree([-1, -1], items={"many": lambda: items})
    assert plan(algorithm({"x": INPUT, "y": OUTPUT}, over("many", product, "other")), t).flops == 5


def test_empty_lists_and_trees_do_nothing() -> None:
    nothing = np.zeros(0, int)
    t = tree([-1], items={"none": lambda: Items(nothing, {"other": nothing})})
    a = algorithm({"x": INPUT, "y": OUTPUT}, over("none", product, "other"))
    assert compiled(a, t, x=[1.0]) == [0.0]
    assert compiled(algorithm({"x": INPUT, "y": OUTPUT}, each(lambda n: setattr(n, "y", n.x))), tree([]), x=[]) == []


def test_algorithms_of_one_name_have_their_own_code() -> None:
    def once(n: Any) -> None:
        n.y = n.x

    def twice(n: Any) -> None:
        n.y = 2.0 * n.x

    fields = {"x": INPUT, "y": OUTPUT}
    got = [compiled(Algorithm("one name", fields, {"run": [each(r)]}), tree([-1]), x=[1.0]) for r in (once, twice, once)]
    assert got == [[1.0], [2.0], [1.0]]


def test_the_package_s_own_algorithms_are_not_foreign() -> None:
    from linkwork.reduced.forward import FORWARD_DYNAMICS

    assert not FORWARD_DYNAMICS.foreign
    assert algorithm(XYZ, each(product, "other")).foreign


def test_a_rule_knows_whether_its_node_is_a_root() -> None:
    def rule(n: Any) -> None:
        n.y = n.x if n.is_root else 2.0 * n.x

    a, t = algorithm({"x": INPUT, "y": OUTPUT}, each(rule)), tree([-1, 0, 0, -1])
    assert compiled(a, t, x=[1, 2, 3, 4]) == reference(a, t, x=[1, 2, 3, 4]) == [1, 4, 6, 4]


@pytest.mark.parametrize("lanes", [Lanes(1), Lanes(8), Lanes(16, True)])
@pytest.mark.parametrize("copies", [1, 3, 7, 50])
@pytest.mark.parametrize("order", [np.tile, np.repeat])
def test_packed_outputs_are_unpacked_for_the_caller(lanes: Lanes, copies: int, order: Callable[..., np.ndarray]) -> None:
    """Two stored numbers and a zero appear at many places, next to one another or not."""

    def rule(n: Any, place: Any) -> None:
        place.y = n.x * n.x

    packing = Packing(order([1, 2, 0, 2, 1], copies), 3)
    items = Items(np.array([0, 1]), {"place": np.array([0, 1])})
    t = tree([-1, -1], items={"all": lambda: items}, packings={"Y": lambda: packing})
    a = algorithm({"x": INPUT, "y": Field("output", "Y", SCALAR)}, over("all", rule, "place"))
    x = np.arange(1.0, 25.0).reshape(12, 2).astype(lanes.dtype)
    out = np.full((12, 5 * copies), np.nan, lanes.dtype)
    Plan(a, t, variant(lanes, ("run",))).run({"x": x}, {"y": out}, 12)
    expected = np.concatenate([x * x, np.zeros((12, 1))], axis=1)[:, packing.index]
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(eager.run(a, t, {"x": x[0]})["y"], expected[0])


@pytest.mark.parametrize("asleep", [(), (0,), (1,)])
def test_neighbours_are_passed_over_together(asleep: tuple[int, ...]) -> None:
    """Under a guard of their own, and each by its `when`."""

    def add(n: Any, other: Any) -> None:
        n.y = n.y + other.x

    pairs = [(own, other, group) for group, own in enumerate((2, 0)) for other in range(3)]
    nodes, others, groups = np.array(pairs).T
    t = tree([-1] * 3, items={"all": lambda: Items(nodes, {"other": others, "group": groups})})
    sweep = over("all", add, "other", when=("other", "z"), under=("group", "x"))
    a = algorithm({"x": INPUT, "z": INPUT, "y": OUTPUT}, sweep)
    x = [0.0 if k in asleep else float(k + 1) for k in range(3)]
    z = [1.0, 0.0, 1.0]
    expected = [0.0, 0.0, 0.0]
    for own, other, group in pairs:
        expected[own] += x[other] if x[group] and z[other] else 0.0
    assert compiled(a, t, x=x, z=z) == reference(a, t, x=x, z=z) == expected


@pytest.mark.parametrize("asleep", [(), (0,), (1, 2)])
def test_sweeps_under_one_field_run_group_by_group(asleep: tuple[int, ...]) -> None:
    """What the first leaves at a node, the next sees there before other nodes are reached: `last` tells the order."""

    def first(n: Any) -> None:
        n.y, n.last = n.x + 10.0 * n.last, n.x

    def second(n: Any) -> None:
        n.y = n.y + 100.0 * n.last

    under = ("own", "x")
    fields = {"x": INPUT, "y": OUTPUT, "last": Field("work", "global", SCALAR)}
    a = algorithm(fields, each(first, under=under), each(second, under=under))
    x = [0.0 if k in asleep else float(k + 1) for k in range(4)]
    expected, last = [0.0] * 4, 0.0
    for k, own in enumerate(x):
        if own:
            expected[k], last = own + 10.0 * last + 100.0 * own, own
    assert compiled(a, tree([-1] * 4), x=x) == expected


def test_a_rule_that_does_nothing_is_not_run() -> None:
    def nothing(n: Any) -> None:
        pass

    def copy(n: Any) -> None:
        n.y = n.x

    a, t = algorithm({"x": INPUT, "y": OUTPUT}, each(nothing), each(copy)), tree([-1] * 3)
    assert compiled(a, t, x=[1, 2, 3]) == reference(a, t, x=[1, 2, 3]) == [1, 2, 3]
    assert len(Plan(a, t, variant(Lanes(1), ("run",))).segments) == 1
