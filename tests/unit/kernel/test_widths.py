"""How many states go side by side: what an algorithm is said to touch."""

from __future__ import annotations

from dataclasses import replace

import linkwork as lw
from linkwork.contact.formulations import touching
from linkwork.elements.collection import collection
from linkwork.kernel.sweep import SCALAR, Algorithm, Field
from linkwork.kernel.widths import PRIVATE, extent


def test_rows_that_may_be_off_take_less_room() -> None:
    """Matrices of rows begin with those that act, and of a dozen balls few touch."""
    b = lw.ModelBuilder()
    b.ground(friction=0.5)
    for k in range(12):
        b.body(f"ball{k}", joint=lw.Prismatic(axis=(0, 0, 1)), shapes=[lw.Sphere(0.1, density=500.0)])
    tree = collection(touching(b.build(), "exact")).tree
    assert tree.usual["pair"] < 0.5 * tree.counts["pair"]
    matrix = Algorithm("one", {"A": Field("work", "pair", SCALAR)}, {"run": []})
    found, own = extent(matrix, tree), PRIVATE * len(tree)
    assert found.dense == tree.counts["pair"]
    assert found.numbers == tree.usual["pair"] + own
    assert extent(matrix, replace(tree, usual={})).numbers == found.dense + own


def test_equalities_always_act() -> None:
    model = lw.ModelBuilder()
    model.body("rod", joint=lw.Revolute(axis=(0, 1, 0)), inertia=lw.Inertia.sphere(1.0, 0.1))
    model.add(lw.Loop("rod", point_b=(0, 0, 0.1)))
    tree = collection(model.build()).tree
    assert tree.usual["pair"] == tree.counts["pair"]
