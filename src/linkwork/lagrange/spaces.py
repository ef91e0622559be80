"""The tree of a model with what these quantities need besides: matrices whose columns are stored joint by joint."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..kernel.plans import Plans
from ..kernel.sweep import Items, Packing, Tree
from ..model.arrays import Interface
from ..model.model import Model


def columns_of(nv: int, size: int, moving: np.ndarray | None = None) -> Packing:
    """A matrix (size, nv) whose columns lie one after the other; those that do not move are zero."""
    index = np.arange(size * nv).reshape(nv, size)
    if moving is not None:
        index = np.where(moving[:, None], index, size * nv)
    return Packing(np.ascontiguousarray(index.T, np.int32).reshape(-1), size * nv + 1)


def path_to(model: Model, body: int) -> list[int]:
    """The bodies from the root to this one."""
    path = []
    while body >= 0:
        path.append(body)
        body = int(model.parents[body])
    return path[::-1]


def paths(model: Model) -> np.ndarray:
    """(bodies, nv): whether a degree of freedom is on the way from the root to a body, as 1 or 0."""
    return model.keep_as(paths, lambda: _paths(model))


def _paths(model: Model) -> np.ndarray:
    out = np.zeros((model.nb, model.nv))
    starts = model.tree.offsets("v")
    for i, p in enumerate(model.parents):
        if p >= 0:
            out[i] = out[p]
        out[i, starts[i] : starts[i + 1]] = 1.0
    return out


def total_mass(model: Model) -> float:
    """kg of all bodies."""
    return float(sum(b.inertia.mass for b in model.bodies))


def world_tree(model: Model) -> Tree:
    """All bodies, matrices (6, nv) "J6" and (3, nv) "J3" stored by columns, and the roots."""
    packings = {
        **model.tree.packings,
        "J6": lambda: columns_of(model.nv, 6),
        "J3": lambda: columns_of(model.nv, 3),
    }
    roots = np.flatnonzero(model.parents < 0)
    return replace(model.tree, packings=packings, tables={"roots": roots}, numbers={"root_count": len(roots)})


def path_tree(model: Model, body: int) -> Tree:
    """The same with the list of bodies on the way to one of them, and a carrier that goes along."""
    way = np.array(path_to(model, body), np.int64)
    moving = paths(model)[body] > 0
    carried = {"carrier": np.zeros(len(way), np.int64)}
    last = {"carrier": np.zeros(1, np.int64)}
    return replace(
        model.tree,
        counts={**model.tree.counts, "carrier": 1},
        items={"path": lambda: Items(way, carried), "tip": lambda: Items(way[-1:], last)},
        packings={"J6": lambda: columns_of(model.nv, 6, moving)},
    )


def plans_of(model: Model, kind: Any, tree: Any) -> Plans:
    """The plans of a tree, kept with the model."""
    return model.keep_as((Plans, kind), lambda: Plans(tree()))


def interface(model: Model, algorithm: Any, plans: Plans, tails: dict[str, tuple[int, ...]]) -> Interface:
    """The algorithm on a tree of this module; `J6` and `J3` are known."""
    known = {"J6": (6, model.nv), "J3": (3, model.nv)}
    found = {name: known[f.space] for name, f in algorithm.fields.items() if f.space in known}
    return Interface(model, algorithm, plans, found | tails)
