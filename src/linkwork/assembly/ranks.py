"""Whether rows are independent wherever their parts are: tried at random configurations that satisfy them.

Rows that are independent almost everywhere may still become dependent on the way (a rod that slides on a rail, when it is
upright). Then the smallest singular value of the rows, each of length one, comes close to zero at some of the configurations;
where rank does not depend on configuration it varies little. From one configuration to the next parts take a random step, along
which the conditions stay satisfied, and come back to them: a step w becomes w - J^+ (J w + r). All trials go at once, compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.plans import Plans
from ..kernel.sweep import SCALAR, Algorithm, Field, Tree, each
from ..kernel.widths import SCALAR64
from ..spatial.scalar import zeros
from .condition import derive
from .views import bound_law, bound_parts

TRIED = 120  # configurations
STRIDE = 0.35  # of a random step, in units of the velocities
LONGEST = 0.5  # of a step in each velocity: a rotation matrix must be brought back after it
RETURNS = 2  # to the conditions, after each
STEADY = 0.4  # the least of the smallest singular values, by the largest: above, rank counts as independent of configuration
INDEPENDENT = 1e-6  # the least singular value of rows that are independent


def stray(n: Any) -> None:
    """Take a step, and measure the rows there; `spans` are the parts of each law."""
    parts, count = bound_parts(n), sum(p.nv for p in n.parts)
    xs, columns, first, column = [], [], 0, 0
    for part in parts:
        x = n.x[first : first + part.nx]
        x = x + part.velocity_map(x) @ n.w[column : column + part.nv]
        for _ in range(3):
            x = part.normalised(x)
        xs.append(x)
        columns.append(slice(column, column + part.nv))
        first, column = first + part.nx, column + part.nv
    J, residuals, row = zeros(sum(law.size for law in n.laws), count), [], 0
    for k, span in enumerate(n.spans):
        law = bound_law(n, k)
        rows = derive(law, [parts[i] for i in span], [xs[i] for i in span], [np.zeros(parts[i].nv) for i in span], n.t)
        at = 0
        for i in span:
            J[row : row + law.size, columns[i]] = rows.J[:, at : at + parts[i].nv]
            at += parts[i].nv
        residuals.append(np.asarray(rows.residual, dtype=object))
        row += law.size
    n.x, n.J, n.residual = np.concatenate([np.asarray(x, dtype=object) for x in xs]), J.reshape(-1), np.concatenate(residuals)


STRAY = Algorithm(
    "assembly_ranks",
    {
        "t": Field("input", "global", SCALAR),
        "w": Field("input", "w"),
        "x": Field("state", "x"),
        "J": Field("output", "J"),
        "residual": Field("output", "rows"),
    },
    {"run": [each(stray)]},
)


def steady(tree: Tree, x: np.ndarray) -> list[bool]:
    """Of every trial whether its rows are independent in the velocities of its first part at all configurations.

    tree   the trials; x: coordinates to begin with
    """
    plan = Plans(tree)(STRAY, SCALAR64)
    w, rng = np.zeros((1, plan.sizes["w"])), np.random.default_rng(0)
    out = {"x": x[None].copy(), "J": np.empty((1, plan.sizes["J"])), "residual": np.empty((1, plan.sizes["residual"]))}
    kinds = [Alike(tree, nodes) for nodes in _alike(tree)]
    least = np.empty((TRIED, len(tree)))
    plan.run({"x": out["x"], "w": w, "t": np.zeros(1)}, out, 1)
    for k in range(TRIED):
        for kind in kinds:
            least[k, kind.nodes] = kind.smallest(out["J"][0])
        for turn in range(1 + RETURNS):
            for kind in kinds:
                wish = STRIDE * rng.normal(size=kind.size) if turn == 0 else np.zeros(kind.size)
                kind.step(w[0], out["J"][0], out["residual"][0], wish)
            plan.run({"x": out["x"].copy(), "w": w, "t": np.zeros(1)}, out, 1)
    return (least.min(axis=0) > np.maximum(STEADY * least.max(axis=0), INDEPENDENT)).tolist()


def _alike(tree: Tree) -> list[list[int]]:
    """The nodes of one class together."""
    found: dict[int, list[int]] = {}
    for node, c in enumerate(tree.classes):
        found.setdefault(id(c), []).append(node)
    return list(found.values())


class Alike:
    """Trials of one class: where their numbers are. `size`: how many trials, how many velocities."""

    def __init__(self, tree: Tree, nodes: list[int]) -> None:
        kind = tree.classes[nodes[0]]
        rows, columns = kind.sizes["rows"], kind.sizes["w"]
        self.nodes, self.size = nodes, (len(nodes), columns)
        self._own, self._shape = kind.attributes["parts"][0].nv, (len(nodes), rows, columns)
        self._J, self._r, self._w = (tree.offsets(s)[nodes][:, None] + np.arange(kind.sizes[s]) for s in ("J", "rows", "w"))

    def _rows(self, J: np.ndarray) -> np.ndarray:
        return np.nan_to_num(J[self._J].reshape(self._shape))

    def smallest(self, J: np.ndarray) -> np.ndarray:
        """The smallest singular value of the rows in the velocities of the first part, each of length one."""
        rows = self._rows(J)[:, :, : self._own]
        size = np.linalg.norm(rows, axis=2, keepdims=True)
        return np.linalg.svd(rows / np.where(size > 0.0, size, 1.0), compute_uv=False)[:, -1]

    def step(self, w: np.ndarray, J: np.ndarray, residual: np.ndarray, wish: np.ndarray) -> None:
        """Write the step that is nearest to a wish among those after which residuals vanish, to first order."""
        rows = self._rows(J)
        missing = np.einsum("nij,nj->ni", rows, wish) + np.nan_to_num(residual[self._r])
        nearest = wish - np.einsum("nij,nj->ni", np.linalg.pinv(rows, rcond=1e-9), missing)
        w[self._w] = np.clip(nearest, -LONGEST, LONGEST)
