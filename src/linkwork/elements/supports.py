"""The supports of rows: the bodies between a row's ports and the root, and where its force passes on the way.

A row with wrench p on a body and force c on joints goes up its path; at every joint j

    u_j = c_j + S_j^T p_j,      y_j = D_j^-1 u_j,      p_parent = move(p_j - U_j y_j).

Then A_rs = G_r M^-1 G_s^T is the sum of u_rj . y_sj over the joints on both paths, and M^-1 G^T x starts from sums of y_rj x_r.
A *place* is one row at one body of its path; the places of the rows of one law at one body lie side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..joints import Joint
from ..kernel.sweep import Items, NodeClass, Tree
from ..model.model import Model
from .nodes import LawNodes


@dataclass(frozen=True, eq=False)
class Supports:
    """The places of the rows of some laws.

    sizes    rows of every law
    paths    of every law the bodies on the way from its ports to the root, root first
    """

    model: Model
    nodes: LawNodes
    sizes: list[int]
    paths: list[np.ndarray]

    @staticmethod
    def of(nodes: LawNodes, sizes: list[int]) -> Supports:
        """Those of laws with so many rows."""
        parents = nodes.model.parents
        paths = []
        for at in nodes.bodies:
            found: set[int] = set()
            for i in at:
                while i >= 0 and i not in found:
                    found.add(i)
                    i = int(parents[i])
            paths.append(np.array(sorted(found), np.int64))
        return Supports(nodes.model, nodes, sizes, paths)

    @cached_property
    def firsts(self) -> list[dict[int, int]]:
        """Of every law, by body, the first of its places there."""
        out, at = [], 0
        for size, path in zip(self.sizes, self.paths, strict=True):
            out.append({int(body): at + k * size for k, body in enumerate(path)})
            at += size * len(path)
        return out

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Of every place its row and its body."""
        rows, bodies, row = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
        for size, path in zip(self.sizes, self.paths, strict=True):
            rows.append(np.tile(np.arange(row, row + size), len(path)))
            bodies.append(np.repeat(path, size))
            row += size
        return np.concatenate(rows), np.concatenate(bodies)

    @cached_property
    def _freedoms(self) -> np.ndarray:
        return np.array([b.joint.nv for b in self.model.bodies], np.int64)

    def tree(self) -> Tree:
        """The places as a set of nodes: p, c, u and y live there."""
        _, bodies = self._places
        classes = {n: NodeClass(("place", n), {}, {}, {"p": 6, "v": n}) for n in set(self._freedoms[bodies].tolist())}
        return Tree(np.full(len(bodies), -1), [classes[n] for n in self._freedoms[bodies].tolist()], [{}] * len(bodies))

    def roles(self) -> tuple[dict[str, np.ndarray], list[dict[str, dict[str, int]]]]:
        """For the set of the laws: s0, s1, ... point to the places of their rows at each port, all rows at once."""
        index = np.zeros((len(self.sizes), self.nodes.most), np.int64)
        sizes: list[dict[str, dict[str, int]]] = []
        for law, (at, size) in enumerate(zip(self.nodes.bodies, self.sizes, strict=True)):
            sizes.append({})
            for i, body in enumerate(at):
                if body >= 0:
                    index[law, i] = self.firsts[law][body]
                    kind = self.nodes.kinds[law][i]
                    sizes[-1][f"s{i}"] = {"p": 6 * size, "v": size * (kind.nv if isinstance(kind, Joint) else 0)}
        return {f"s{i}": index[:, i] for i in range(self.nodes.most)}, sizes

    def climbs(self) -> Items:
        """Every row at every body of its path, leaves first: the body, the place, the next one toward the root, the row
        that says whether it is on: the first of a law whose rows are on together, of a cone, or the row itself; and the law."""
        nodes: list[int] = []
        roles: dict[str, list[int]] = {"place": [], "up": [], "row": [], "law": []}
        first = 0
        for law, (size, path) in enumerate(zip(self.sizes, self.paths, strict=True)):
            together = self.nodes.laws[law].together
            for body in path[::-1].tolist():
                parent = int(self.model.parents[body])
                for k in range(size):
                    nodes.append(body)
                    roles["place"].append(self.firsts[law][body] + k)
                    roles["up"].append(self.firsts[law][parent] + k if parent >= 0 else 0)
                    roles["row"].append(first + k - k % together)
                    roles["law"].append(law)
            first += size
        return Items(np.array(nodes, np.int64), {role: np.array(x, np.int64) for role, x in roles.items()})

    def tables(self) -> dict[str, np.ndarray]:
        """What routines read: the places of every row by body, where u and y begin there, how many, and where v does; the same
        freedom by freedom in `path_*`."""
        rows, bodies = self._places
        order = np.lexsort((bodies, rows))
        counts = self._freedoms[bodies]
        at = np.cumsum(counts) - counts
        starts = np.searchsorted(rows[order], np.arange(sum(self.sizes) + 1))
        v_at = self.model.tree.offsets("v")[bodies]
        found = {"starts": starts, "places": at[order], "freedoms": counts[order], "v_at": v_at[order]}
        found["joints"] = bodies[order]
        one = np.arange(counts.sum()) - np.repeat(np.cumsum(counts[order]) - counts[order], counts[order])  # of a place
        found["path_starts"] = np.append(0, np.cumsum(counts[order]))[starts]
        found["path_places"] = np.repeat(at[order], counts[order]) + one
        found["path_v"] = np.repeat(v_at[order], counts[order]) + one
        found["law_rows"] = np.concatenate([[0], np.cumsum(self.sizes)])
        found["groups"] = self._groups()
        found["cones"] = np.array([kind for law in self.nodes.laws for kind in law.row_kinds], np.int64)
        by_reaction = [[law.by_reaction] * size for law, size in zip(self.nodes.laws, self.sizes, strict=True)]
        found["by_reaction"] = np.array([flag for flags in by_reaction for flag in flags], np.int64)
        return {name: np.ascontiguousarray(x, np.int32) for name, x in found.items()}

    def _groups(self) -> np.ndarray:
        """Of every row its group: rows of a law that have the same units, and are of one size in most positions."""
        found, first = [np.zeros(0, np.int64)], 0
        for law, size in zip(self.nodes.laws, self.sizes, strict=True):
            found.append(first + np.asarray(law.groups, np.int64))
            first += size
        return np.concatenate(found)
