"""What a tree looks like to the sweeps: positions, classes, lists."""

from __future__ import annotations

import numpy as np

from .bounds import check_items, check_tree
from .sweep import Items, Packing, Tree


class Shape:
    """What a tree looks like to the sweeps: positions, classes, slots of gathered values."""

    def __init__(self, tree: Tree) -> None:
        check_tree(tree)
        n = len(tree)
        self.tree = tree
        parent = tree.parent
        self.root = parent < 0
        self.leaf = np.ones(n, bool)
        self.leaf[parent[~self.root]] = False
        # An inward sweep runs from the last node to the first: the child with the highest index comes first.
        highest = np.full(n, -1)
        np.maximum.at(highest, parent[~self.root], np.flatnonzero(~self.root))
        self.first = np.zeros(n, bool)
        self.first[highest[highest >= 0]] = True
        self.slot, self.slots = self._slots(highest)
        index: dict[int, int] = {}
        self.class_of = np.array([index.setdefault(id(c), len(index)) for c in tree.classes], dtype=np.int64)
        self.classes = list({id(c): c for c in tree.classes}.values())

    def _slots(self, highest: np.ndarray) -> tuple[np.ndarray, int]:
        """A slot for every inner node, reused as soon as the inward sweep has passed it."""
        n = len(self.tree)
        slot = np.zeros(n, np.int64)
        free: list[int] = []
        used = 0
        opens = dict(zip(highest[highest >= 0].tolist(), np.flatnonzero(highest >= 0).tolist(), strict=True))
        for i in range(n - 1, -1, -1):
            p = opens.get(i)
            if p is not None:
                if free:
                    slot[p] = free.pop()
                else:
                    slot[p], used = used, used + 1
            if highest[i] >= 0:
                free.append(int(slot[i]))
        return slot, max(used, 1)


def tree_items(tree: Tree, name: str) -> Items:
    """A list of the tree, made once."""
    made = tree.__dict__.setdefault("_made_items", {})
    if name not in made:
        made[name] = tree.items[name]()
        check_items(name, made[name], len(tree))
    return made[name]


def tree_packing(tree: Tree, space: str) -> Packing:
    """A packing of the tree, made once."""
    made = tree.__dict__.setdefault("_made_packings", {})
    if space not in made:
        made[space] = tree.packings[space]()
    return made[space]
