"""How many states go side by side: as many lanes as the caches have room for. Results are the same to the bit at every width.

Many lanes need fewer calls for as many states, as long as what a program touches stays near. Sweeps pass over their memory once
or twice, so half of the last cache is room enough; a matrix that is gone through again and again should stay nearer.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .lanes import Lanes
from .shape import tree_packing
from .sweep import Algorithm, Field, Tree

SCALAR64, SCALAR32 = Lanes(1), Lanes(1, True)
WIDTHS = {False: (Lanes(4), Lanes(8), Lanes(16)), True: (Lanes(8, True), Lanes(16, True), Lanes(32, True))}
PRIVATE = 40  # numbers that kernels keep to themselves at a node, about
DENSE = 4096  # numbers of a matrix: in the most lanes half a megabyte, and more is too far away
USUAL = 32 << 20  # bytes of the last cache, where the system does not say
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@dataclass(frozen=True)
class Extent:
    """Numbers in one lane: those that an algorithm touches, and those of its largest matrix."""

    numbers: int = 0
    dense: int = 0


def extent(algorithm: Algorithm, tree: Tree) -> Extent:
    """Of an algorithm on a tree; nothing is compiled for it."""
    total, dense = PRIVATE * sum(len(tree.of(of)) for of in algorithm.sets), 0
    for f in algorithm.fields.values():
        on = tree.of(f.of)
        size, own = _size(f, on)
        total += min(size, on.usual.get(f.space, size))
        dense = max(dense, 0 if own else size)
    return Extent(total, dense)


def _size(f: Field, tree: Tree) -> tuple[int, bool]:
    """How many numbers a field has, and whether they belong to nodes."""
    if f.space in tree.packings:
        return tree_packing(tree, f.space).count, False
    if f.space in tree.counts:
        return tree.counts[f.space] * f.size({}), False
    if f.space == "global":
        return f.size({}), True
    per_node = f.kind in ("shared", "gathered") or f.space == "node"
    return len(tree) * f.size({}) if per_node else int(tree.offsets(f.space)[-1]), True


@functools.cache
def room() -> int:
    """Bytes that a program may touch: half of the last cache."""
    try:
        last = max(CACHES.glob("index*"), key=lambda p: int((p / "level").read_text()))
        size = (last / "size").read_text().strip()
        return int(size[:-1]) * {"K": 1 << 10, "M": 1 << 20}[size[-1]] // 2
    except (OSError, ValueError, KeyError):
        return USUAL // 2


def lanes_for(batch: int, dtype: Any, of: Extent | None = None) -> Lanes:
    """One state runs in scalar code, up to 8 (float32: 16) in as many lanes; more in twice as many, where there is room."""
    single, of = dtype == np.float32, of or Extent()
    if batch == 1:
        return SCALAR32 if single else SCALAR64
    few, some, many = WIDTHS[single]
    if batch > some.width and of.dense <= DENSE and of.numbers * many.width * many.bytes <= room():
        return many
    return some if of.numbers * some.width * some.bytes <= room() else few
