"""Sweeps of small rules on random forests against plain NumPy: orders, classes, roles, items, phases, steps and batches.

Inputs are small whole numbers, so that sums and products are exact and compiled results can be compared with `==`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwork.errors import CompileError
from linkwork.kernel import eager
from linkwork.kernel.call import Factored
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.plan import Plan, variant
from linkwork.kernel.shape import Shape
from linkwork.kernel.sweep import (
    INERTIA,
    MATRIX,
    POSE,
    SCALAR,
    Algorithm,
    Codec,
    Field,
    Items,
    NodeClass,
    Sweep,
    Tree,
    each,
    inward,
    matrix,
    outward,
    over,
    pattern,
    vector,
)
from linkwork.kernel.trace import Position, Tracer
from linkwork.spatial import SE3, Articulated
from linkwork.spatial.scalar import stack, where

NAMES = (f"test_sweeps_{k}" for k in itertools.count())
PLAIN = NodeClass(("plain",))
WIDTHS = [Lanes(1), Lanes(4), Lanes(8), Lanes(16, single=True)]
EVERY_WIDTH = pytest.mark.parametrize("t", WIDTHS, ids=str)


@pytest.fixture(autouse=True, scope="module")
def _no_cache() -> Iterator[None]:
    """A cache knows the sources of the library, not those of the rules here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINKWORK_CACHE", "off")
        yield


# --- helpers --------------------------------------------------------------------------------------------------------------
def algorithm(fields: dict[str, Field], *sweeps: Sweep) -> Algorithm:
    return Algorithm(next(NAMES), fields, {"run": sweeps})


def per_node(kind: Any, size: int | None = None) -> Field:
    return Field(kind, "node", SCALAR if size is None else vector(size))


def plain_tree(parents: Sequence[int], **more: Any) -> Tree:
    return Tree(np.array(parents, dtype=np.int64), [PLAIN] * len(parents), [{}] * len(parents), **more)


def make_plan(a: Algorithm, tree: Tree, t: Lanes, absent: Sequence[str] = (), uniform: Sequence[str] = ()) -> Plan:
    return Plan(a, tree, variant(t, tuple(a.phases), absent, uniform))


def run(
    a: Algorithm, tree: Tree, t: Lanes = WIDTHS[0], absent: Sequence[str] = (), threads: int = 1, **inputs: Any
) -> dict[str, np.ndarray]:
    """All results (batch, size) of inputs (batch, size) or (size,)."""
    plan = make_plan(a, tree, t, absent)
    arrays = {name: np.ascontiguousarray(x, t.dtype) for name, x in inputs.items()}
    batch = max((len(x) for x in arrays.values() if x.ndim == 2), default=1)
    out = {name: np.full((batch, plan.sizes[name]), np.nan, t.dtype) for name in a.results if name not in absent}
    plan.run(arrays, out, batch, threads=threads)
    return out


def by_rules(a: Algorithm, tree: Tree, **inputs: Any) -> dict[str, np.ndarray]:
    """The same by the rules as they stand, state by state."""
    arrays = {name: np.asarray(x, float) for name, x in inputs.items()}
    batch = max((len(x) for x in arrays.values() if x.ndim == 2), default=1)
    rows = [eager.run(a, tree, {k: x[i] if x.ndim == 2 else x for k, x in arrays.items()}) for i in range(batch)]
    return {name: np.stack([row[name] for row in rows]) for name in a.results}


def whole(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-4, 5, shape).astype(float)


@st.composite
def forests(draw: st.DrawFn, largest: int = 14) -> list[int]:
    """Parents in any topological order, with several roots."""
    n = draw(st.integers(1, largest))
    return [draw(st.integers(-1, i - 1)) for i in range(n)]


def children(parents: Sequence[int], i: int) -> list[int]:
    return [j for j, p in enumerate(parents) if p == i]


def ancestors(parents: Sequence[int], i: int) -> list[int]:
    """The node and all above it."""
    return [] if i < 0 else [i, *ancestors(parents, parents[i])]


def above(parents: Sequence[int]) -> np.ndarray:
    """A[i, j] = 1 if j is i or above it."""
    A = np.zeros((len(parents), len(parents)))
    for i in range(len(parents)):
        A[i, ancestors(parents, i)] = 1
    return A


BUSY = [-1, 0, 1, 1, 0, 4, 4, 4, -1, 8, 2, 9, 5]  # chains, branches, two roots, not depth first


# --- orders ---------------------------------------------------------------------------------------------------------------
def prefix(n: Any, parent: Any) -> None:
    n.total = parent.total + n.x
    n.depth = parent.depth + 1.0
    n.sum, n.level = n.total, n.depth


PREFIX = algorithm(
    {
        "x": per_node("input", 2),
        "start": Field("input", "global", vector(2)),
        "total": Field("shared", codec=vector(2), world=lambda n: n.start),
        "depth": Field("shared", codec=SCALAR),
        "sum": per_node("output", 2),
        "level": per_node("output"),
    },
    outward(prefix),
)


@EVERY_WIDTH
@settings(deadline=None, max_examples=15)
@given(parents=forests(), seed=st.integers(0, 99))
def test_outward_prefix_sums(t: Lanes, parents: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, batch = len(parents), 5
    x, start = whole(rng, batch, n, 2), whole(rng, batch, 2)
    out = run(PREFIX, plain_tree(parents), t, x=x.reshape(batch, -1), start=start)
    A = above(parents)
    np.testing.assert_array_equal(out["sum"].reshape(batch, n, 2), A @ x + start[:, None])
    np.testing.assert_array_equal(out["level"], np.tile(A.sum(axis=1), (batch, 1)))


def collect(n: Any, parent: Any) -> None:
    mass, moment = n.below_mass + n.m, n.below_moment + n.m * n.x
    parent.below_mass = parent.below_mass + mass
    parent.below_moment = parent.below_moment + 2.0 * moment
    n.mass, n.moment = mass, moment


SUBTREE = algorithm(
    {
        "m": per_node("input"),
        "x": per_node("input", 2),
        "below_mass": Field("gathered", codec=SCALAR),
        "below_moment": Field("gathered", codec=vector(2)),
        "mass": per_node("output"),
        "moment": per_node("output", 2),
    },
    inward(collect),
)


@EVERY_WIDTH
@settings(deadline=None, max_examples=15)
@given(parents=forests(), seed=st.integers(0, 99))
def test_inward_subtree_sums(t: Lanes, parents: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, batch = len(parents), 3
    m, x = whole(rng, batch, n), whole(rng, batch, n, 2)
    out = run(SUBTREE, plain_tree(parents), t, m=m, x=x.reshape(batch, -1))
    A = above(parents)
    np.testing.assert_array_equal(out["mass"], m @ A)
    depth = A.sum(axis=1)
    W = A * 2.0 ** (depth[:, None] - depth[None, :])
    np.testing.assert_array_equal(out["moment"].reshape(batch, n, 2), np.einsum("ij,bi,bik->bjk", W, m, x))


@settings(deadline=None, max_examples=60)
@given(parents=forests(40))
def test_gathered_slots_are_reused_but_never_shared(parents: list[int]) -> None:
    """A slot belongs to a node from its first child that the inward sweep meets until the node itself."""
    shape = Shape(plain_tree(parents))
    owner: dict[int, int] = {}
    most = 0
    for i in reversed(range(len(parents))):
        p = parents[i]
        if p >= 0:
            assert owner.setdefault(shape.slot[p], p) == p
        most = max(most, len(owner))
        if children(parents, i):
            assert owner.pop(shape.slot[i]) == i
    assert not owner
    assert shape.slots == max(most, 1)


def test_a_chain_needs_two_slots() -> None:
    """That of the parent is opened before the node's own is given back."""
    assert Shape(plain_tree(range(-1, 50))).slots == 2


@settings(deadline=None, max_examples=60)
@given(parents=forests(20))
def test_positions(parents: list[int]) -> None:
    shape = Shape(plain_tree(parents))
    for i, p in enumerate(parents):
        assert shape.root[i] == (p < 0)
        assert shape.leaf[i] == (not children(parents, i))
        assert shape.first[i] == (p >= 0 and max(children(parents, p)) == i)


def down_and_up(n: Any, parent: Any) -> None:
    n.path = parent.path + n.x
    n.kept = n.path + 0.0


def gather_paths(n: Any, parent: Any) -> None:
    n.below = n.kept + n.path + n.sum
    parent.sum = parent.sum + n.below


def finish(n: Any, parent: Any) -> None:
    n.y = n.below + parent.path
    n.path = parent.path + n.below


ROUND_TRIP = algorithm(
    {
        "x": per_node("input"),
        "path": Field("shared", codec=SCALAR),
        "sum": Field("gathered", codec=SCALAR),
        "y": per_node("output"),
    },
    outward(down_and_up),
    inward(gather_paths),
    outward(finish),
)


@EVERY_WIDTH
@settings(deadline=None, max_examples=10)
@given(parents=forests(), seed=st.integers(0, 99))
def test_private_values_and_shared_fields_pass_from_sweep_to_sweep(t: Lanes, parents: list[int], seed: int) -> None:
    x = whole(np.random.default_rng(seed), 9, len(parents))
    tree = plain_tree(parents)
    A = above(parents)
    below = 2.0 * (x @ A.T) @ A
    expected = below + (below @ A.T - below)
    np.testing.assert_array_equal(run(ROUND_TRIP, tree, t, x=x)["y"], expected)
    np.testing.assert_array_equal(by_rules(ROUND_TRIP, tree, x=x)["y"], expected)


def test_sums_begin_anew_in_every_sweep() -> None:
    def first(n: Any, parent: Any) -> None:
        n.a = n.x + n.sum
        parent.sum = parent.sum + n.a

    def second(n: Any, parent: Any) -> None:
        n.y = n.a + 100.0 * n.sum
        parent.sum = parent.sum + 1.0

    a = algorithm(
        {"x": per_node("input"), "sum": Field("gathered", codec=SCALAR), "y": per_node("output")}, inward(first), inward(second)
    )
    x = whole(np.random.default_rng(13), 2, len(BUSY))
    expected = x @ above(BUSY) + [100.0 * len(children(BUSY, i)) for i in range(len(BUSY))]
    for t in WIDTHS:
        np.testing.assert_array_equal(run(a, plain_tree(BUSY), t, x=x)["y"], expected)
    np.testing.assert_array_equal(by_rules(a, plain_tree(BUSY), x=x)["y"], expected)


# --- classes --------------------------------------------------------------------------------------------------------------
def node_class(size: int, scale: Any, tag: str) -> NodeClass:
    """`size` coordinates; `scale` (size,) is folded where it is 0, 1 or -1."""
    patterns = {"offset": pattern(0.0, False), "scale": pattern(scale, True)}
    sizes = {"q": size, "r": size * size}
    return NodeClass((tag, size, patterns["scale"]), {"power": 1 + size % 2, "tag": tag}, patterns, sizes)


CLASSES = [
    (node_class(0, [], "none"), []),
    (node_class(1, [2.0], "one"), [2.0]),
    (node_class(2, [0.0, 3.0], "two"), [0.0, 3.0]),
    (node_class(3, [1.0, -1.0, -0.0], "folded"), [1.0, -1.0, -0.0]),
    (node_class(3, [5.0, 7.0, -2.0], "free"), [5.0, 7.0, -2.0]),
]


def mixed(n: Any, parent: Any) -> None:
    assert n.tag in ("none", "one", "two", "folded", "free")
    z = n.scale * n.q + n.offset
    n.total = parent.total + sum(z, 0.0) ** n.power + n.offset
    n.square = np.outer(z, n.q).reshape(-1)
    n.y = n.total


MIXED = algorithm(
    {
        "q": Field("input", "q"),
        "total": Field("shared", codec=SCALAR),
        "square": Field("output", "r"),
        "y": per_node("output"),
    },
    outward(mixed),
)


@EVERY_WIDTH
@settings(deadline=None, max_examples=10)
@given(parents=forests(), seed=st.integers(0, 99))
def test_classes_of_any_size_side_by_side(t: Lanes, parents: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    chosen = [CLASSES[k] for k in rng.integers(len(CLASSES), size=len(parents))]
    offsets = whole(rng, len(parents))
    parameters = [{"scale": np.array(s), "offset": np.array(o)} for (_, s), o in zip(chosen, offsets, strict=True)]
    tree = Tree(np.array(parents), [c for c, _ in chosen], parameters)
    starts = tree.offsets("q")
    assert np.diff(starts).tolist() == [len(s) for _, s in chosen]
    q = whole(rng, 4, starts[-1])
    squares, own = [], np.zeros((4, len(parents)))
    for i, (c, s) in enumerate(chosen):
        mine = q[:, starts[i] : starts[i + 1]]
        z = mine * s + offsets[i]
        squares.append(np.einsum("bi,bj->bij", z, mine).reshape(4, -1))
        own[:, i] = z.sum(axis=1) ** c.attributes["power"] + offsets[i]
    for out in (run(MIXED, tree, t, q=q), by_rules(MIXED, tree, q=q)):
        np.testing.assert_array_equal(out["y"], own @ above(parents).T)
        np.testing.assert_array_equal(out["square"], np.concatenate(squares, axis=1))


def test_parameters_are_folded_where_they_are_zero_or_one() -> None:
    assert pattern([0.0, -0.0, 1.0, -1.0, 2.0, 0.5], True) == ((6,), (0.0, 0.0, 1.0, -1.0, None, None))
    assert not any(np.signbit(x) for x in pattern([-0.0, 0.0], True)[1])
    assert pattern([[0.0, 1.0]], False) == ((1, 2), (None, None))
    assert pattern(3.0, True) == ((), (None,))


def test_parameters_have_places_in_the_record_of_their_node() -> None:
    c = NodeClass(("c",), {}, {"a": pattern([2.0, 0.0, 3.0], True), "b": pattern(7.0, True), "c": pattern([1.0], True)})
    assert c.parameter_count == 3
    assert c.parameter_slots("a") == [0, 0.0, 1]
    assert [type(s) for s in c.parameter_slots("a")] == [int, float, int]
    assert c.parameter_slots("b") == [2]
    assert c.parameter_slots("c") == [1.0]
    with pytest.raises(KeyError):
        c.parameter_slots("d")


def test_a_parameter_matrix() -> None:
    A = np.array([[1.0, 2.0], [0.0, -1.0]])

    def multiply(n: Any) -> None:
        n.y = n.A @ n.x * n.k

    c = NodeClass(("matrix",), {}, {"A": pattern(A, True), "k": pattern(1.0, True)})
    a = algorithm({"x": per_node("input", 2), "y": per_node("output", 2)}, each(multiply))
    tree = Tree(np.array([-1, -1]), [c, c], [{"A": A, "k": 1.0}, {"A": A * [[1, 2], [1, 1]], "k": 1.0}])
    for out in (run(a, tree, x=[1.0, 2.0, 3.0, 4.0]), by_rules(a, tree, x=[1.0, 2.0, 3.0, 4.0])):
        assert out["y"].tolist() == [[5.0, -2.0, 19.0, -4.0]]


# --- roles and items ------------------------------------------------------------------------------------------------------
def look_around(n: Any, left: Any, right: Any) -> None:
    n.y = n.x * 3.0 + left.x - right.x * 2.0


def test_each_sees_the_nodes_of_its_roles() -> None:
    rng = np.random.default_rng(4)
    left, right = rng.integers(13, size=(2, 13))
    a = algorithm({"x": per_node("input"), "y": per_node("output")}, each(look_around, "left", "right"))
    tree = plain_tree(BUSY, roles={"left": left, "right": right})
    x = whole(rng, 7, 13)
    expected = 3 * x + x[:, left] - 2 * x[:, right]
    for t in WIDTHS:
        np.testing.assert_array_equal(run(a, tree, t, x=x)["y"], expected)
    np.testing.assert_array_equal(by_rules(a, tree, x=x)["y"], expected)


def connect(n: Any, a: Any, b: Any) -> None:
    n.stretch = b.point - a.point


def test_roles_may_point_to_other_things_than_nodes() -> None:
    rng = np.random.default_rng(5)
    ends = rng.integers(4, size=(2, 6))
    tree = plain_tree([-1] * 6, roles={"a": ends[0], "b": ends[1]}, counts={"thing": 4})
    a = algorithm({"point": Field("input", "thing", vector(3)), "stretch": per_node("output", 3)}, each(connect, "a", "b"))
    points = whole(rng, 10, 4, 3)
    expected = points[:, ends[1]] - points[:, ends[0]]
    for t in WIDTHS:
        out = run(a, tree, t, point=points.reshape(10, -1))
        np.testing.assert_array_equal(out["stretch"].reshape(10, 6, 3), expected)
    out = by_rules(a, tree, point=points.reshape(10, -1))
    np.testing.assert_array_equal(out["stretch"].reshape(10, 6, 3), expected)


def start_columns(n: Any) -> None:
    n.columns = stack(n.x[0], n.x[1])
    n.factor = n.x[0] - n.x[1]


def carry(n: Any, dof: Any, place: Any) -> None:
    place.entry = dof.column * n.x[0]
    dof.column = dof.column + n.factor


COLUMNS = algorithm(
    {
        "x": per_node("input", 2),
        "columns": per_node("work", 2),
        "column": Field("work", "dof", SCALAR, alias="columns"),
        "entry": Field("output", "entry", SCALAR),
    },
    each(start_columns),
    over("paths", carry, "dof", "place"),
)


def paths(parents: Sequence[int]) -> Items:
    """Each of the two columns of every node, carried from the node to its root."""
    rows = [(a, 2 * i + k, 2 * i + k) for i in range(len(parents)) for k in range(2) for a in ancestors(parents, i)]
    nodes, dofs, rows_of = np.array(rows).T
    return Items(nodes, {"dof": dofs, "place": rows_of * len(parents) + nodes})


@EVERY_WIDTH
@settings(deadline=None, max_examples=8)
@given(parents=forests(8), seed=st.integers(0, 99))
def test_items_in_order_on_aliased_memory(t: Lanes, parents: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = len(parents)
    calls = []

    def made() -> Items:
        calls.append(1)
        return paths(parents)

    tree = plain_tree(parents, counts={"dof": 2 * n, "entry": 2 * n * n}, items={"paths": made})
    x = whole(rng, 3, n, 2)
    expected = np.zeros((3, 2 * n, n))
    for i in range(n):
        for k in range(2):
            column = x[:, i, k]
            for a in ancestors(parents, i):
                expected[:, 2 * i + k, a] = column * x[:, a, 0]
                column = column + (x[:, a, 0] - x[:, a, 1])
    for out in (run(COLUMNS, tree, t, x=x.reshape(3, -1)), by_rules(COLUMNS, tree, x=x.reshape(3, -1))):
        np.testing.assert_array_equal(out["entry"].reshape(expected.shape), expected)
    assert len(calls) == 1


def test_an_empty_list_of_items_does_nothing() -> None:
    empty = Items(np.zeros(0, np.int64), {"dof": np.zeros(0, np.int64), "place": np.zeros(0, np.int64)})
    tree = plain_tree([-1, 0], counts={"dof": 4, "entry": 8}, items={"paths": lambda: empty})
    assert run(COLUMNS, tree, x=np.ones(4))["entry"].tolist() == [[0.0] * 8]


# --- phases ---------------------------------------------------------------------------------------------------------------
def eliminate(n: Any, parent: Any) -> None:
    """Of the symmetric system with d on the diagonal and b between a node and its parent."""
    d = n.d + n.d_below
    n.inverse, n.coupling = 1.0 / d, n.b
    parent.d_below = parent.d_below - n.b * (n.b * n.inverse)
    n.pivot = d


def substitute(n: Any, parent: Any) -> None:
    n.ratio, n.rhs = n.coupling * n.inverse, n.f + n.f_below
    parent.f_below = parent.f_below - n.ratio * n.rhs


def back(n: Any, parent: Any) -> None:
    n.solution = n.rhs * n.inverse - n.ratio * parent.solution
    n.x = n.solution


SOLVE = Algorithm(
    next(NAMES),
    {
        **{name: per_node("input") for name in ("d", "b", "f")},
        "d_below": Field("gathered", codec=SCALAR),
        "f_below": Field("gathered", codec=SCALAR),
        "solution": Field("shared", codec=SCALAR),
        "pivot": per_node("output"),
        "x": per_node("output"),
    },
    {"factor": [inward(eliminate)], "apply": [inward(substitute), outward(back)]},
)


def system(parents: Sequence[int], d: np.ndarray, b: np.ndarray) -> np.ndarray:
    A = np.diag(d)
    for i, p in enumerate(parents):
        if p >= 0:
            A[i, p] = A[p, i] = b[i]
    return A


def phase_plans(tree: Tree) -> Callable[[Lanes, str, tuple[str, ...]], Plan]:
    return lambda t, phase, uniform: Plan(SOLVE, tree, variant(t, (phase,), (), uniform))


@settings(deadline=None, max_examples=15)
@given(parents=forests(), seed=st.integers(0, 99), batch=st.integers(1, 20))
def test_factor_once_apply_many_times(parents: list[int], seed: int, batch: int) -> None:
    rng = np.random.default_rng(seed)
    n = len(parents)
    d, b = rng.uniform(5, 9, n) + 2 * n, rng.uniform(-2, 2, n)
    A = system(parents, d, b)
    pivots = np.empty(n)
    factored = Factored(phase_plans(plain_tree(parents)), {"d": d, "b": b}, {"pivot": pivots})
    assert np.prod(pivots / d) == pytest.approx(np.linalg.det(A / d))
    for count in (batch, 1, 3):
        f = rng.normal(size=(count, n))
        (x,) = factored.apply({"f": f}, ("x",))
        np.testing.assert_allclose(x @ A, f, rtol=0, atol=1e-12)
    assert [a.shape for a in factored.apply({"f": np.zeros((0, n))}, ("x",))] == [(0, n)]


def test_one_right_hand_side_has_the_bits_of_many() -> None:
    rng = np.random.default_rng(6)
    n = len(BUSY)
    factored = Factored(phase_plans(plain_tree(BUSY)), {"d": rng.uniform(20, 30, n), "b": rng.normal(size=n)})
    f = rng.normal(size=(11, n))
    (many,) = factored.apply({"f": f}, ("x",))
    one_by_one = [factored.apply({"f": row[None]}, ("x",))[0][0] for row in f]
    assert many.tobytes() == np.array(one_by_one).tobytes()


def test_a_second_factor_does_not_disturb_the_first() -> None:
    tree = plain_tree([-1, 0])
    make = phase_plans(tree)
    first = Factored(make, {"d": np.array([2.0, 4.0]), "b": np.array([0.0, 1.0])})
    before = first.apply({"f": np.eye(2)}, ("x",))[0]
    Factored(make, {"d": np.array([9.0, 8.0]), "b": np.array([0.0, 3.0])})
    assert first.apply({"f": np.eye(2)}, ("x",))[0].tobytes() == before.tobytes()
    np.testing.assert_allclose(before, np.linalg.inv([[2.0, 1.0], [1.0, 4.0]]))


def test_eager_runs_the_phases_that_are_wanted() -> None:
    tree = plain_tree(BUSY)
    n = len(BUSY)
    inputs = {"d": np.full(n, 20.0), "b": np.ones(n), "f": np.arange(float(n))}
    only, both = eager.run(SOLVE, tree, inputs, ("factor",)), eager.run(SOLVE, tree, inputs)
    assert "x" not in only
    np.testing.assert_allclose(system(BUSY, inputs["d"], inputs["b"]) @ both["x"], inputs["f"], atol=1e-13)
    np.testing.assert_array_equal(both["pivot"], only["pivot"])


def test_inputs_of_an_algorithm_in_phases_must_be_given() -> None:
    with pytest.raises(CompileError, match="inputs of an algorithm in phases must all be given"):
        Plan(SOLVE, plain_tree([-1]), variant(Lanes(1), ("factor",), ("b",)))
    Plan(SOLVE, plain_tree([-1]), variant(Lanes(1), ("factor",), ("pivot",)))  # an output may be left out


# --- steps ----------------------------------------------------------------------------------------------------------------
def speed_up(n: Any, parent: Any) -> None:
    n.pull = parent.pull + n.u
    n.change = n.pull - n.s


def advance(n: Any) -> None:
    n.s, n.clock = n.s + n.h * n.change, n.clock + 1.0
    n.twice = 2.0 * n.s


PROGRAM = algorithm(
    {
        "s": per_node("state"),
        "clock": per_node("state"),
        "u": per_node("input"),
        "h": Field("input", "global", SCALAR),
        "pull": Field("shared", codec=SCALAR),
        "twice": per_node("output"),
    },
    outward(speed_up),
    each(advance),
)


def by_hand(parents: Sequence[int], s: np.ndarray, u: np.ndarray, h: float, every: int) -> np.ndarray:
    """The states after each record: u (batch, records, n)."""
    A, out = above(parents), []
    for k in range(u.shape[1]):
        for _ in range(every):
            s = s + h * (u[:, k] @ A.T - s)
        out.append(s)
    return np.stack(out, axis=1)


@EVERY_WIDTH
@pytest.mark.parametrize("batch", [1, 3, 8, 21])
@pytest.mark.parametrize(("records", "every"), [(1, 1), (1, 4), (3, 1), (3, 2)])
def test_states_are_updated_in_place_and_recorded(t: Lanes, batch: int, records: int, every: int) -> None:
    rng = np.random.default_rng(7)
    n = len(BUSY)
    plan = make_plan(PROGRAM, plain_tree(BUSY), t)
    s, u = whole(rng, batch, n).astype(t.dtype), whole(rng, batch, records, n).astype(t.dtype)
    before = s.copy()
    inputs = {"s": s, "clock": np.zeros(n, t.dtype), "u": u, "h": np.full(1, 0.5, t.dtype)}
    out = {name: np.full((batch, records, n), np.nan, t.dtype) for name in PROGRAM.results}
    plan.run(inputs, out, batch, records, every)
    expected = by_hand(BUSY, s, u, 0.5, every)
    np.testing.assert_array_equal(out["s"], expected)
    np.testing.assert_array_equal(out["twice"], 2 * expected)
    np.testing.assert_array_equal(out["clock"], np.broadcast_to(every * np.arange(1, records + 1)[:, None], out["clock"].shape))
    np.testing.assert_array_equal(s, before)  # the caller's array is not the state


def test_an_input_that_does_not_vary_holds_for_all_records() -> None:
    rng = np.random.default_rng(8)
    n = len(BUSY)
    s, u = whole(rng, 10, n), whole(rng, 10, n)
    inputs = {"s": s, "clock": np.zeros(n), "u": u, "h": np.full(1, 0.5)}
    for t in WIDTHS[:3]:
        out = {"s": np.empty((10, 4, n))}
        make_plan(PROGRAM, plain_tree(BUSY), t).run(inputs, out, 10, 4)
        np.testing.assert_array_equal(out["s"], by_hand(BUSY, s, np.repeat(u[:, None], 4, axis=1), 0.5, 1))


def test_records_may_be_views_of_larger_arrays() -> None:
    """Only the innermost axis must be contiguous."""
    rng = np.random.default_rng(9)
    n = len(BUSY)
    s, u = whole(rng, 5, n), whole(rng, 5, 3, n)
    store = np.full((5, 4, n + 2), -7.0)
    out = {"s": store[:, 1:, 1:-1]}
    wide = np.zeros((5, 6, n))
    wide[:, ::2] = u
    inputs = {"s": s, "clock": np.zeros(n), "u": wide[:, ::2], "h": np.full(1, 0.5)}
    make_plan(PROGRAM, plain_tree(BUSY), Lanes(4)).run(inputs, out, 5, 3)
    np.testing.assert_array_equal(out["s"], by_hand(BUSY, s, u, 0.5, 1))
    assert (store[:, 0] == -7.0).all()
    assert (store[:, :, [0, -1]] == -7.0).all()


def test_one_step_by_the_rules_as_they_stand() -> None:
    rng = np.random.default_rng(10)
    n = len(BUSY)
    inputs = {"s": whole(rng, 4, n), "u": whole(rng, 4, n), "h": [0.5], "clock": np.zeros(n)}
    tree = plain_tree(BUSY)
    compiled, plain = run(PROGRAM, tree, **inputs), by_rules(PROGRAM, tree, **inputs)
    for name in PROGRAM.results:
        np.testing.assert_array_equal(compiled[name], plain[name])


# --- batches and threads --------------------------------------------------------------------------------------------------
@EVERY_WIDTH
@pytest.mark.parametrize("batch", range(1, 21))
def test_batches_of_every_size(t: Lanes, batch: int) -> None:
    rng = np.random.default_rng(batch)
    x, m = whole(rng, batch, len(BUSY), 2), whole(rng, batch, len(BUSY))
    tree = plain_tree(BUSY)
    out = run(SUBTREE, tree, t, m=m, x=x.reshape(batch, -1))
    plain = by_rules(SUBTREE, tree, m=m, x=x.reshape(batch, -1))
    for name in SUBTREE.results:
        np.testing.assert_array_equal(out[name], plain[name])


def test_nothing_beyond_the_batch_is_written() -> None:
    x = np.ones((3, len(BUSY)))
    for t in WIDTHS[:3]:
        plan = make_plan(ROUND_TRIP, plain_tree(BUSY), t)
        store = np.full((8, len(BUSY)), -7.0)
        plan.run({"x": x}, {"y": store[:3]}, 3)
        assert (store[:3] != -7.0).all()
        assert (store[3:] == -7.0).all()
        store[:] = -7.0
        plan.run({"x": x[:0]}, {"y": store}, 0)
        assert (store == -7.0).all()


@pytest.mark.parametrize("t", WIDTHS[:3], ids=str)
@pytest.mark.parametrize("threads", [2, 3, 7, 100])
def test_threads_share_a_batch(t: Lanes, threads: int) -> None:
    """Rounding and all: the numbers here are not whole."""
    x = np.random.default_rng(11).normal(size=(37, len(BUSY)))
    alone = run(ROUND_TRIP, plain_tree(BUSY), t, x=x)["y"]
    assert run(ROUND_TRIP, plain_tree(BUSY), t, threads=threads, x=x)["y"].tobytes() == alone.tobytes()


def test_a_plan_serves_many_callers_at_once() -> None:
    plan = make_plan(ROUND_TRIP, plain_tree(BUSY), Lanes(4))

    def call(seed: int) -> tuple[np.ndarray, np.ndarray]:
        x = whole(np.random.default_rng(seed), 200, len(BUSY))
        y = np.empty_like(x)
        for _ in range(20):
            plan.run({"x": x}, {"y": y}, 200, threads=2)
        return x, y

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(call, range(8)))
    for x, y in results:
        np.testing.assert_array_equal(y, run(ROUND_TRIP, plain_tree(BUSY), x=x)["y"])


def test_calls_leave_nothing_behind() -> None:
    """Every call sees its own inputs, in memory that other calls have used."""
    plan = make_plan(PREFIX, plain_tree([-1, 0]), Lanes(1))
    y = np.empty((1, 4))
    for x, start in (([1.0, 2, 3, 4], [10.0, 20.0]), ([5.0, 6, 7, 8], [0.0, 1.0])):
        plan.run({"x": np.array(x), "start": np.array(start)}, {"sum": y}, 1)
        assert y.tolist() == [[x[0] + start[0], x[1] + start[1], x[0] + x[2] + start[0], x[1] + x[3] + start[1]]]


def test_constants_that_cannot_change_are_moved_once_but_others_again() -> None:
    plan = make_plan(PREFIX, plain_tree([-1]), Lanes(1))
    y = np.empty((1, 2))

    def total(start: np.ndarray) -> list[float]:
        plan.run({"x": np.zeros(2), "start": start}, {"sum": y}, 1)
        return y[0].tolist()

    frozen, other, changing = np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0, 6.0])
    frozen.flags.writeable = other.flags.writeable = False
    assert [total(a) for a in (frozen, frozen, other, frozen)] == [[1, 2], [1, 2], [3, 4], [1, 2]]
    assert total(changing) == [5, 6]
    changing[:] = 7
    assert total(changing) == [7, 7]


def test_flops_are_those_of_all_nodes() -> None:
    def two(n: Any, parent: Any) -> None:
        n.s = parent.s * n.x + n.x  # at a root the parent's value is the number 0
        n.y = n.s

    a = algorithm({"x": per_node("input"), "s": Field("shared", codec=SCALAR), "y": per_node("output")}, outward(two))
    assert make_plan(a, plain_tree([-1]), Lanes(1)).flops == 0
    assert make_plan(a, plain_tree([-1, 0, 1, 2, 3]), Lanes(4)).flops == 8


# --- private values -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Pair:
    first: Any
    second: Any


def remember(n: Any) -> None:
    E = SE3.rot_x(n.x) @ SE3(p=(1.0, n.x, 0.0))
    n.pose, n.label, n.nothing, n.count = E, "text", None, 3
    n.mix = [Pair((n.x * 2.0, 1.5), np.array([n.x, 0.0], dtype=object)), np.zeros((0, 2))]
    n.inertia = Articulated.rigid(n.x, stack(n.x, 0.0, 1.0), np.eye(3))


def recall(n: Any) -> None:
    assert (n.label, n.nothing, n.count) == ("text", None, 3)
    pair, empty = n.mix
    assert (type(n.mix), type(pair), type(pair.first)) == (list, Pair, tuple)
    assert empty.shape == (0, 2)
    assert pair.first[1] == 1.5
    n.p = n.pose.p
    n.y = pair.first[0] + pair.second[0] + pair.second[1] + n.inertia.matrix[3, 3]


REMEMBER = algorithm({"x": per_node("input"), "p": per_node("output", 3), "y": per_node("output")}, each(remember), each(recall))


@EVERY_WIDTH
def test_private_values_may_have_any_structure(t: Lanes) -> None:
    x = np.array([[0.5], [-1.25], [2.0]])
    tree = plain_tree([-1])
    out, plain = run(REMEMBER, tree, t, x=x), by_rules(REMEMBER, tree, x=x)
    expected = np.stack([np.ones_like(x), np.cos(x) * x, np.sin(x) * x], axis=1)[..., 0]
    tolerance = 1e-6 if t.single else 1e-15
    for result in (out, plain):
        np.testing.assert_allclose(result["p"], expected, atol=tolerance)
        np.testing.assert_array_equal(result["y"], 4 * x)


def private_scalars(*rules: Callable[[Any], None], fields: dict[str, Field] | None = None) -> int:
    fields = fields or {"x": per_node("input"), "s": per_node("state"), "y": per_node("output")}
    c = NodeClass(("private",), {}, {"k": pattern(2.0, True), "zero": pattern(0.0, True)})
    traced = Tracer(algorithm(fields, *map(each, rules)), c, Position(True, True, False), frozenset()).run()
    return traced.private["run"]


def assign(**values: Callable[[Any], Any]) -> Callable[[Any], None]:
    def rule(n: Any) -> None:
        for name, value in values.items():
            setattr(n, name, value(n))

    return rule


def test_only_what_varies_and_is_read_again_is_stored() -> None:
    def total(n: Any) -> None:
        n.y = n.a + 2.0 * n.b

    a = np.sin
    assert private_scalars(assign(a=lambda n: a(n.x), b=lambda n: n.x * n.x), total) == 2
    assert private_scalars(assign(a=lambda n: 1.5, b=lambda n: n.zero), total) == 0  # numbers
    assert private_scalars(assign(a=lambda n: n.x, b=lambda n: n.k), total) == 0  # inputs and parameters are read again
    assert private_scalars(assign(a=lambda n: a(n.x), b=lambda n: -a(n.x)), total) == 1  # two calls, one value
    assert private_scalars(assign(a=lambda n: n.s, b=lambda n: -n.s), total) == 1  # a state will change; one home for both signs
    assert private_scalars(assign(a=lambda n: n.s, b=lambda n: n.s, c=lambda n: a(n.s)), total) == 1  # nobody reads c


def test_what_nobody_reads_is_not_computed() -> None:
    a = algorithm(
        {"x": per_node("input"), "y": per_node("output")},
        each(assign(waste=lambda n: [n.x * n.x, n.x + 1.0], kept=lambda n: n.x * 3.0)),
        each(assign(y=lambda n: n.kept * n.x)),
    )
    assert make_plan(a, plain_tree([-1]), Lanes(1)).flops == 2
    assert run(a, plain_tree([-1, -1]), x=[1.0, 2.0])["y"].tolist() == [[3.0, 12.0]]


def test_what_was_just_read_is_not_stored() -> None:
    def turn(n: Any) -> None:
        n.s = np.array([n.s[1] * n.x, n.s[1]], dtype=object)

    def keep(n: Any) -> None:
        n.s = n.s

    pair = Field("state", "node", vector(2))
    a = algorithm(
        {"x": per_node("input"), "s": pair, "y": per_node("output")}, each(turn), each(keep), each(assign(y=lambda n: n.s[0]))
    )
    plan = make_plan(a, plain_tree([-1, -1]), Lanes(1))
    kernels = Tracer(a, plan.tree.classes[0], Position(True, True, True), frozenset()).run().kernels
    assert [[place for _, place in kernel.stores] for kernel in kernels if kernel is not None] == [
        [("s", "own", 0)],
        [],
        [("y", "own", 0)],
    ]
    assert len(plan.segments) == 2  # a rule that stores nothing does not run
    assert run(a, plain_tree([-1, -1]), x=[2.0, 3.0], s=[5.0, 7.0, 1.0, 11.0])["y"].tolist() == [[14.0, 33.0]]


def test_a_value_and_its_negative_have_one_home() -> None:
    def both(n: Any) -> None:
        z = n.x * 3.0
        minus = -z
        n.a, n.b = z, [minus, z, -minus]

    def use(n: Any) -> None:
        n.y = n.a * 2.0 + n.b[0] * 5.0 + n.b[1] + n.b[2]

    a = algorithm({"x": per_node("input"), "y": per_node("output")}, each(both), each(use))
    assert private_scalars(both, use) == 1
    assert run(a, plain_tree([-1]), x=[7.0])["y"].tolist() == [[-21.0]]


def test_a_private_value_may_be_replaced() -> None:
    def again(n: Any) -> None:
        n.a = n.a * n.a
        n.b = n.a + 1.0

    a = algorithm(
        {"x": per_node("input"), "y": per_node("output", 2)},
        each(assign(a=lambda n: n.x + 1.0)),
        each(again),
        each(again),
        each(assign(y=lambda n: stack(n.a, n.b))),
    )
    for out in (run(a, plain_tree([-1]), x=[1.0]), by_rules(a, plain_tree([-1]), x=[1.0])):
        assert out["y"].tolist() == [[16.0, 17.0]]


def test_work_fields_and_outputs_can_be_read_again() -> None:
    def write(n: Any) -> None:
        n.w, n.z = stack(n.x, n.x * n.x), n.x + 1.0

    a = algorithm(
        {"x": per_node("input"), "w": per_node("work", 2), "z": per_node("output"), "y": per_node("output")},
        each(write),
        each(assign(y=lambda n: n.w[0] + n.w[1] * n.z)),
    )
    tree = plain_tree([-1, 0])
    for t in WIDTHS:
        assert run(a, tree, t, x=[2.0, 3.0])["y"].tolist() == [[14.0, 39.0]]
    assert by_rules(a, tree, x=[2.0, 3.0])["y"].tolist() == [[14.0, 39.0]]


def test_what_a_rule_has_written_it_reads_back() -> None:
    def twice(n: Any, parent: Any) -> None:
        parent.s = parent.s + n.x
        parent.s = parent.s + 1.0
        n.y = n.x
        n.y = n.y + n.s

    a = algorithm({"x": per_node("input"), "s": Field("gathered", codec=SCALAR), "y": per_node("output")}, inward(twice))
    x = np.arange(float(len(BUSY)))
    expected = [[x[i] + sum(x[j] + 1 for j in children(BUSY, i)) for i in range(len(BUSY))]]
    assert run(a, plain_tree(BUSY), x=x)["y"].tolist() == by_rules(a, plain_tree(BUSY), x=x)["y"].tolist() == expected


# --- what is absent -------------------------------------------------------------------------------------------------------
def test_absent_inputs_are_zeros_that_fold() -> None:
    a = algorithm(
        {"x": per_node("input"), "u": per_node("input"), "y": per_node("output")}, each(assign(y=lambda n: n.x + n.u * n.x))
    )
    tree = plain_tree([-1, 0])
    full, less = make_plan(a, tree, Lanes(1)), make_plan(a, tree, Lanes(1), absent=("u",))
    assert (full.flops, less.flops) == (4, 0)
    assert run(a, tree, absent=("u",), x=[3.0, 4.0])["y"].tolist() == [[3.0, 4.0]]
    assert by_rules(a, tree, x=[3.0, 4.0])["y"].tolist() == [[3.0, 4.0]]
    assert run(a, tree, x=[3.0, 4.0], u=[1.0, 2.0])["y"].tolist() == [[6.0, 12.0]]


def test_outputs_that_nobody_wants_cost_nothing() -> None:
    a = algorithm(
        {"x": per_node("input"), "y": per_node("output"), "z": per_node("output")},
        each(assign(y=lambda n: n.x * n.x, z=lambda n: n.x + 1.0)),
    )
    tree = plain_tree([-1])
    assert make_plan(a, tree, Lanes(1)).flops == 2
    assert make_plan(a, tree, Lanes(1), absent=("y",)).flops == 1
    out = run(a, tree, absent=("y",), x=[3.0])
    assert {k: v.tolist() for k, v in out.items()} == {"z": [[4.0]]}


# --- codecs ---------------------------------------------------------------------------------------------------------------
def poses() -> SE3:
    return SE3.rot_x(0.3) @ SE3.rot_y(-0.8) @ SE3(p=(1.0, 2.0, 3.0))


CODECS: dict[str, tuple[Codec, Any, Callable[[Any], Any]]] = {
    "scalar": (SCALAR, 2.5, float),
    "vector": (vector(3), np.array([1.0, 2.0, 3.0]), np.asarray),
    "matrix": (matrix(2, 3), np.arange(6.0).reshape(2, 3), np.asarray),
    "pose": (POSE, poses(), lambda E: E.matrix),
    "homogeneous": (MATRIX, poses(), lambda E: E.matrix),
    "inertia": (INERTIA, Articulated.rigid(2.0, np.array([1.0, 2.0, 3.0]), np.diag([4.0, 5.0, 6.0])), lambda M: M.matrix),
}


@pytest.mark.parametrize("name", CODECS)
def test_codecs_round_trip(name: str) -> None:
    codec, value, dense = CODECS[name]
    flat = codec.pack(value)
    assert isinstance(flat, list)
    assert len(flat) == codec.size
    assert all(np.ndim(x) == 0 for x in flat)
    np.testing.assert_array_equal(dense(codec.unpack(flat)), dense(value))


def test_matrices_lie_row_by_row_and_poses_as_homogeneous_matrices() -> None:
    assert matrix(2, 3).pack(np.arange(6.0).reshape(2, 3)) == [0, 1, 2, 3, 4, 5]
    np.testing.assert_array_equal(np.reshape(MATRIX.pack(poses()), (4, 4)), poses().matrix)
    assert POSE.pack(poses())[9:] == list(poses().p)


def test_fields_of_structures_pass_through_memory() -> None:
    def place(n: Any, parent: Any) -> None:
        n.E = parent.E @ SE3.rot_z(n.q[0]) @ SE3(p=(0.0, n.q[1], 1.0))
        n.poses = n.E

    world = SE3(p=(1.0, 0.0, 0.0))
    a = algorithm(
        {
            "q": per_node("input", 2),
            "E": Field("shared", codec=POSE, world=lambda n: world),
            "poses": Field("output", "node", MATRIX),
        },
        outward(place),
    )
    q = np.random.default_rng(12).normal(size=(3, 2))
    out = run(a, plain_tree([-1, 0, 0]), q=q.reshape(-1))["poses"].reshape(3, 4, 4)
    own = [(SE3.rot_z(x) @ SE3(p=(0.0, y, 1.0))).matrix for x, y in q]
    expected = [world.matrix @ own[0], world.matrix @ own[0] @ own[1], world.matrix @ own[0] @ own[2]]
    np.testing.assert_allclose(out, expected, atol=1e-15)
    np.testing.assert_allclose(
        by_rules(a, plain_tree([-1, 0, 0]), q=q.reshape(-1))["poses"].reshape(3, 4, 4), expected, atol=1e-15
    )


# --- the eager reference --------------------------------------------------------------------------------------------------
def test_kinds_of_fields_are_listed() -> None:
    assert PROGRAM.results == ("s", "clock", "twice")
    assert PROGRAM.of_kind("input") == ["u", "h"]
    assert [(phase, s.rule.__name__) for phase, s in SOLVE.steps()] == [
        ("factor", "eliminate"),
        ("apply", "substitute"),
        ("apply", "back"),
    ]


def test_conditions_choose_lane_by_lane() -> None:
    a = algorithm({"x": per_node("input"), "y": per_node("output")}, each(assign(y=lambda n: where(n.x < 0, -n.x, 10.0 * n.x))))
    x = np.arange(-9.0, 9.0)[:, None]
    for t in WIDTHS:
        np.testing.assert_array_equal(run(a, plain_tree([-1]), t, x=x)["y"], np.where(x < 0, -x, 10 * x))
    np.testing.assert_array_equal(by_rules(a, plain_tree([-1]), x=x)["y"], np.where(x < 0, -x, 10 * x))


# --- errors ---------------------------------------------------------------------------------------------------------------
ERROR_FIELDS = {
    "x": per_node("input", 3),
    "shared": Field("shared", codec=SCALAR),
    "sum": Field("gathered", codec=SCALAR),
    "s": per_node("state"),
    "y": per_node("output", 3),
}


ERRORS: dict[str, tuple[Sweep, str]] = {
    "reads what nothing set": (each(assign(y=lambda n: n.nothing)), r"reads own\.nothing, which nothing has set"),
    "reads the parent's private": (outward(lambda n, parent: setattr(n, "a", parent.a)), r"reads parent\.a, which"),
    "writes an input": (each(assign(x=lambda n: n.x)), r"writes own\.x: an input"),
    "writes the parent's shared": (
        outward(lambda n, parent: setattr(parent, "shared", 1.0)),
        r"writes parent\.shared: of the parent only",
    ),
    "writes the parent's private": (
        outward(lambda n, parent: setattr(parent, "other", 1.0)),
        r"writes parent\.other: a private value of another node",
    ),
    "writes the parent's state": (outward(lambda n, parent: setattr(parent, "s", 1.0)), r"writes parent\.s: of the parent only"),
    "gathers at a role": (each(lambda n, other: setattr(other, "sum", 1.0), "other"), r"writes other\.sum"),
    "too few scalars": (each(assign(y=lambda n: n.x[:2])), "writes 2 scalars to 'y', which holds 3"),
    "too many scalars": (each(assign(y=lambda n: np.ones(4))), "writes 4 scalars to 'y', which holds 3"),
    "keeps an object": (each(assign(a=lambda n: {"x": n.x})), "assigns a dict; rules hold numbers, arrays and transforms"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_mistakes_in_rules_are_named(name: str) -> None:
    sweep, message = ERRORS[name]
    a = algorithm(ERROR_FIELDS, sweep)
    with pytest.raises(CompileError, match=message):
        make_plan(a, plain_tree([-1, 0], roles={"other": np.array([0, 1])}), Lanes(1))
    if name != "keeps an object":  # the reference may hold anything
        with pytest.raises(CompileError, match=message):
            eager.run(a, plain_tree([-1, 0], roles={"other": np.array([0, 1])}), {})


@pytest.mark.parametrize("name", ["a", "y"])
def test_a_root_asking_for_what_its_parent_cannot_have(name: str) -> None:
    a = algorithm(ERROR_FIELDS, outward(lambda n, parent: setattr(n, "z", getattr(parent, name))))
    with pytest.raises(CompileError, match=rf"reads parent\.{name}, which is neither given nor shared"):
        make_plan(a, plain_tree([-1]), Lanes(1))
