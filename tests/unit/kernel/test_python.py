"""Builtin functions made of compiled code: what they accept, what they return, how long they live."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from linkwork.errors import InputError
from linkwork.kernel import python
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.notes import NOTES, empty_notes, write_notes
from linkwork.kernel.plan import Plan, variant
from linkwork.kernel.sweep import SCALAR, Algorithm, Field, NodeClass, Tree, each
from linkwork.kernel.workspace import Workspace


def combine(n: Any) -> None:
    n.r = n.a + 2.0 * n.b + 3.0 * n.c


FIELDS = {**{name: Field("input", codec=SCALAR) for name in "abc"}, "r": Field("output", codec=SCALAR)}
COMBINE = Algorithm("combine three", FIELDS, {"run": [each(combine)]})
WIDE = [Lanes(8), Lanes(16), Lanes(32, True)]


def workspace(lanes: Lanes, nodes: int = 2) -> Workspace:
    tree = Tree(np.arange(nodes) - 1, [NodeClass(("plain",))] * nodes, [{}] * nodes)
    return Plan(COMBINE, tree, variant(lanes, ("run",))).workspace()


def expected(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return a + 2 * b + 3 * c


def test_arrays_lie_in_memory_as_compiled_code_believes() -> None:
    assert python.available()


def test_one_state_is_read_where_it_is() -> None:
    work = workspace(Lanes(1))
    call, out = work.of_state(("a", "b", "c"), "r", (2,))
    for k in range(3):
        values = np.array([1.0, 2.0]) + k, np.array([3.0, 4.0]), np.array([5.0, 6.0]) * k
        assert call(*values) is out
        np.testing.assert_array_equal(out, expected(*values))


@pytest.mark.parametrize("lanes", WIDE)
@pytest.mark.parametrize("nodes", [1, 2, 3, 4, 5, 8, 9, 17])
@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 33])
def test_batches_of_all_sizes(lanes: Lanes, nodes: int, rows: int) -> None:
    """Rows shorter and longer than a tile of the transposition, blocks that are full and not."""
    call = workspace(lanes, nodes).of_batch(("a", "b", "c"), "r")
    a, b, c = np.random.default_rng(0).integers(-9, 9, (3, rows, nodes)).astype(lanes.dtype)
    memory = np.full((rows + 2, nodes), np.nan, lanes.dtype)
    out = memory[1:-1]
    assert call(a, b, c, out) is out
    np.testing.assert_array_equal(out, expected(a, b, c))
    assert np.isnan(memory[[0, -1]]).all()  # nothing else was written


GOOD = np.array([1.0, 2.0])
UNFIT = {
    "None": None,
    "a list": [1.0, 2.0],
    "integers": np.array([1, 2]),
    "float32": GOOD.astype(np.float32),
    "other byte order": GOOD.astype(">f8"),
    "a slice": np.arange(4.0)[::2],
    "too long": np.arange(3.0),
    "empty": np.zeros(0),
    "a scalar array": np.array(1.0),
    "a matrix": GOOD[None],
    "a number": 1.0,
    "a subclass": np.ma.masked_array(GOOD),
    "not aligned": np.frombuffer(b"x" * 17, np.float64, 2, 1),
}


@pytest.mark.parametrize("name", UNFIT)
@pytest.mark.parametrize("place", range(3))
def test_what_does_not_fit_is_refused(name: str, place: int) -> None:
    work = workspace(Lanes(1))
    arguments: list[Any] = [GOOD] * 3
    arguments[place] = UNFIT[name]
    assert work.of_state(("a", "b", "c"), "r", (2,))[0](*arguments) is None
    with pytest.raises(InputError, match="two numbers, please"):
        work.of_state(("a", "b", "c"), "r", (2,), (InputError, "two numbers, please"))[0](*arguments)


@pytest.mark.parametrize("count", [0, 2, 4])
def test_the_number_of_arguments_counts(count: int) -> None:
    work = workspace(Lanes(1))
    assert work.of_state(("a", "b", "c"), "r", (2,))[0](*[GOOD] * count) is None
    assert workspace(Lanes(8)).of_batch(("a", "b", "c"), "r")(*[GOOD[None]] * count) is None or count == 4


@pytest.mark.parametrize("rows", [2, 4])
def test_batches_of_other_sizes_are_refused(rows: int) -> None:
    call, out = workspace(Lanes(8)).of_batch(("a", "b", "c"), "r"), np.full((3, 2), np.nan)
    assert call(np.ones((3, 2)), np.ones((rows, 2)), np.ones((3, 2)), out) is None
    assert call(np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 2)).astype(np.float32), out) is None
    assert call(np.ones((3, 2)), np.ones((2, 3)).T, np.ones((3, 2)), out) is None
    assert np.isnan(out).all()


def test_a_function_keeps_its_memory_and_nothing_keeps_it() -> None:
    work = workspace(Lanes(1))
    (call, _), alive = work.of_state(("a", "b", "c"), "r", (2,)), weakref.ref(work)
    del work, _
    gc.collect()
    assert alive() is not None
    np.testing.assert_array_equal(call(GOOD, GOOD, GOOD), 6 * GOOD)
    del call
    gc.collect()
    assert alive() is None


def test_references_are_counted() -> None:
    import sys

    work = workspace(Lanes(1))
    call, out = work.of_state(("a", "b", "c"), "r", (2,))
    before = sys.getrefcount(out), sys.getrefcount(GOOD)
    for _ in range(100):
        call(GOOD, GOOD, GOOD)
        call(GOOD, GOOD)
    assert (sys.getrefcount(out), sys.getrefcount(GOOD)) == before


def test_batches_run_beside_one_another() -> None:
    rng = np.random.default_rng(1)
    data = rng.normal(size=(4, 3, 500, 20))
    out = np.empty((4, 500, 20))

    def run(k: int) -> None:
        call = workspace(Lanes(8), 20).of_batch(("a", "b", "c"), "r")
        for _ in range(50):
            call(*data[k], out[k])

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    np.testing.assert_allclose(out, expected(*data.transpose(1, 0, 2, 3)), rtol=1e-14, atol=1e-14)


def test_a_step_says_whether_it_was_done_and_is_finite() -> None:
    def double(n: Any) -> None:
        n.x = n.x * n.a

    fields = {"a": Field("input", codec=SCALAR), "x": Field("state", codec=SCALAR)}
    tree = Tree(np.arange(2) - 1, [NodeClass(("plain",))] * 2, [{}] * 2)
    work = Plan(Algorithm("double it", fields, {"run": [each(double)]}), tree, variant(Lanes(1), ("run",))).workspace()
    x = np.array([1.0, 2.0])
    work.point({"x": x})
    step = work.of_step("a", np.array([1e300, 5.0]), "x")
    assert step(np.array([2.0, -3.0])) is True
    np.testing.assert_array_equal(x, [2.0, -6.0])
    for refused in ([2.0, -5.1], [np.inf, 0.0], [np.nan, 0.0], [1.0], [1, 2]):
        assert step(np.array(refused)) is None
    assert step([1.0, 1.0]) is None
    np.testing.assert_array_equal(x, [2.0, -6.0])
    assert step(np.array([1e300, 1.0])) is True
    assert step(np.array([1e300, 1.0])) is False


def test_a_step_copies_what_is_noted() -> None:
    def double(n: Any) -> None:
        n.x = n.x * n.a

    fields = {"a": Field("input", codec=SCALAR), "x": Field("state", codec=SCALAR)}
    tree = Tree(np.arange(2) - 1, [NodeClass(("plain",))] * 2, [{}] * 2)
    work = Plan(Algorithm("double it", fields, {"run": [each(double)]}), tree, variant(Lanes(1), ("run",))).workspace()
    x, notes, given, left = np.array([1.0, 2.0]), empty_notes(2), np.zeros((3, 2)), np.zeros((3, 2))
    work.point({"x": x})
    step = work.of_step("a", np.array([1e300, 5.0]), "x", notes)
    write_notes(notes, [(0, 16, given.ctypes.data), (x.ctypes.data, 16, left.ctypes.data)])
    for a in ([2.0, 3.0], [np.nan, 1.0], [4.0, -1.0]):  # the second is refused
        step(np.array(a))
    assert notes[NOTES.index("made")] == 2
    write_notes(notes, ())
    step(np.array([1.0, 1.0]))
    assert notes[NOTES.index("made")] == 0
    np.testing.assert_array_equal(given, [[2.0, 3.0], [4.0, -1.0], [0.0, 0.0]])
    np.testing.assert_array_equal(left, [[2.0, 6.0], [8.0, -6.0], [0.0, 0.0]])
