"""What a plan is made of must lie within its arrays: it is checked once, here, as compiled code checks nothing.

Every kernel says how far it reaches into the records of its operands; with the offsets of the records and the sizes of the arrays
it is known, before anything runs, whether all that sweeps touch is there. Routines have loops of their own: `guard` watches them.
"""

from __future__ import annotations

import numpy as np

from ..errors import CompileError
from .sweep import Algorithm, Items, Packing, Tree

LARGEST = np.iinfo(np.int32).max  # entries are of 32 bits


def check_tree(tree: Tree) -> None:
    """Raise unless parents come before their children, and there is a class, parameters and a target of every role for each."""
    n, parent = len(tree), np.asarray(tree.parent)
    wrong = np.flatnonzero((parent < -1) | (parent >= np.arange(n)))
    if len(wrong):
        i = int(wrong[0])
        raise CompileError(f"node {i} has the parent {int(parent[i])}; parents are -1 or come before their children")
    for what, count in (("classes", len(tree.classes)), ("parameters", len(tree.parameters))):
        if count != n:
            raise CompileError(f"{n} nodes have {count} {what}")
    for role, target in tree.roles.items():
        if np.shape(target) != (n,):
            raise CompileError(f"role {role!r} has {np.shape(target)} targets for {n} nodes")


def check_items(name: str, items: Items, count: int) -> None:
    """Raise unless a list is one of nodes that there are, with a target of every role for each."""
    if len(items.nodes) and not (items.nodes.min() >= 0 and items.nodes.max() < count):
        worst = int(items.nodes.min()) if items.nodes.min() < 0 else int(items.nodes.max())
        raise CompileError(f"list {name!r} has node {worst} of {count}")
    for role, target in items.roles.items():
        if np.shape(target) != np.shape(items.nodes):
            raise CompileError(f"list {name!r}: role {role!r} has {np.shape(target)} targets for {len(items.nodes)} items")


def check_packing(space: str, packing: Packing) -> None:
    """Raise unless every number has its place among those that are stored."""
    if len(packing.index) and not (packing.index.min() >= 0 and packing.index.max() < packing.count):
        raise CompileError(f"packing {space!r}: place {packing.index.max()} of {packing.count}")


def check_sizes(algorithm: Algorithm, sizes: dict[str, int]) -> None:
    """Raise unless entries can number all of an array, and a field that has the memory of another fits into it."""
    for name, size in sizes.items():
        if size > LARGEST:
            raise CompileError(f"{algorithm.name!r}: {name!r} has {size} numbers; an array may have {LARGEST}")
    for name, f in algorithm.fields.items():
        if f.alias is not None and sizes[name] > sizes[f.alias]:
            raise CompileError(
                f"{algorithm.name!r}: {name!r} has {sizes[name]} numbers, but {f.alias!r}, whose memory it has, {sizes[f.alias]}"
            )


def starts(algorithm: str, role: str, offsets: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Where the records begin that a role points to."""
    try:
        return offsets[index]
    except IndexError:
        raise CompileError(f"role {role!r} of {algorithm!r} points at index {index.max()} of {len(offsets)}") from None


def check_reach(algorithm: str, what: str, last: int, reach: int, size: int) -> None:
    """Raise if a kernel reaches beyond an array, from the last record on that it touches."""
    if last + reach > size:
        raise CompileError(f"{algorithm!r} reaches number {last + reach} of {what}, which has {size}")
