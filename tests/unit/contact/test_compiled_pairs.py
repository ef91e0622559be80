"""Functions of pairs, traced and compiled: the same numbers as in Python, in one lane and in eight, all of them finite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from contact_cases import random_pair

import linkwork as lw
from linkwork.contact.broad import near, world_box
from linkwork.contact.pairs import PAIRS, contact_points
from linkwork.geometry import Shape
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.plan import Plan, variant
from linkwork.kernel.sweep import Algorithm, Field, NodeClass, Tree, each, vector
from linkwork.spatial.scalar import array, where

CASES = 24
MARGIN = 0.1


@pytest.fixture(autouse=True, scope="module")
def _no_cache() -> Iterator[None]:
    """A cache knows the sources of the library, not those of the rules here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINKWORK_CACHE", "off")
        yield


def packed(shape: Shape, E: lw.SE3) -> np.ndarray:
    """All numbers of a shape and of the pose of its body."""
    return np.concatenate([*(x.reshape(-1) for x in shape.parameters().values()), E.R.reshape(-1), E.p]).astype(float)


def unpacked(shape: Shape, x: Any) -> tuple[Any, lw.SE3]:
    """A shape and a pose with these numbers, floats or symbols."""
    values, at = {}, 0
    for name, own in shape.parameters().items():
        part = x[at : at + own.size]
        values[name] = part.reshape(own.shape) if own.shape else part[0]
        at += own.size
    return shape.bound(values), lw.SE3(array(x[at : at + 9]).reshape(3, 3), array(x[at + 9 :]))


def numbers(a: Any, E_a: lw.SE3, b: Any, E_b: lw.SE3) -> list[Any]:
    points = contact_points(a, E_a, b, E_b)
    low, high = world_box(a, E_a, MARGIN)
    is_near = where(near(a, E_a, b, E_b, MARGIN), 1.0, 0.0)
    return [*(x for p in points for x in (*p.point, *p.normal, p.gap, p.on)), is_near, *low, *high]


def algorithm(a: Shape, b: Shape, sizes: tuple[int, int, int]) -> Algorithm:
    def rule(n: Any) -> None:
        n.out = array(numbers(*unpacked(a, n.a), *unpacked(b, n.b)))

    fields = {
        "a": Field("input", codec=vector(sizes[0])),
        "b": Field("input", codec=vector(sizes[1])),
        "out": Field("output", codec=vector(sizes[2])),
    }
    return Algorithm(f"pair_{a.kind}_{b.kind}", fields, {"run": (each(rule),)})


def cases(kinds: tuple[str, str]) -> list[tuple[Shape, lw.SE3, Shape, lw.SE3]]:
    """Random ones, near ones, and one with both frames in the same place."""
    found = [random_pair(kinds, np.random.default_rng(seed), 0.5 if seed % 2 else 0.1) for seed in range(CASES - 1)]
    a, _, b, _ = found[0]
    return [*found, (a, lw.SE3(), b, lw.SE3())]


@pytest.mark.parametrize("kinds", list(PAIRS), ids="-".join)
def test_compiled_is_eager(kinds: tuple[str, str]) -> None:
    given = cases(kinds)
    eager = np.array([[float(x) for x in numbers(*case)] for case in given])
    inputs = {name: np.array([packed(*case[k : k + 2]) for case in given]) for name, k in (("a", 0), ("b", 2))}
    a, _, b, _ = given[0]
    program = algorithm(a, b, (inputs["a"].shape[1], inputs["b"].shape[1], eager.shape[1]))
    tree = Tree(np.array([-1], np.int64), [NodeClass(("plain",))], [{}])
    runs = []
    for lanes in (Lanes(1), Lanes(8)):
        plan = Plan(program, tree, variant(lanes, ("run",)))
        out = np.full((CASES, eager.shape[1]), np.nan)
        plan.run(inputs, {"out": out}, CASES)
        runs.append(out)
    assert np.all(np.isfinite(runs[0]))
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_allclose(runs[0], eager, rtol=0, atol=1e-9)
