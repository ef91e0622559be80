"""Block systems as flat arrays and as sparse matrices: the same numbers for block elimination and for SciPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from ..forces import JointSpring
from ..joints.complement import complement
from ..kernel.sweep import Algorithm, Field, outward, vector
from ..maximal import to_maximal
from ..maximal.implicit_laws import implicit_laws
from ..maximal.implicit_program import begin, fields
from ..model import MaximalState, Model, State
from ..solvers.block_tree import BlockTree
from ..spatial.stage import skew

SPRING = 1e4  # N m/rad, in stiff hinges


@dataclass(frozen=True, eq=False)
class BlockSystem:
    """A symmetric matrix on a tree, and a right-hand side.

    blocks   flat: D, B, and C if the tree has grandparents
    """

    tree: BlockTree
    blocks: tuple[np.ndarray, ...]
    b: np.ndarray

    @cached_property
    def matrix(self) -> csc_array:
        """The whole matrix, without the zeros that blocks have."""
        t = self.tree
        starts = np.cumsum(t.dims) - t.dims
        up = np.append(t.parents, -1)
        above = (np.arange(len(starts)), t.parents, up[t.parents])
        rows, columns, values = [], [], []
        for widths, at, flat in zip((t.dims, t.parent_dims, t.grand_dims), above, self.blocks, strict=False):
            r, c = _places(t.dims, widths, starts, starts[at])
            sides = [(r, c)] if widths is t.dims else [(r, c), (c, r)]
            for side in sides:
                rows, columns, values = [*rows, side[0]], [*columns, side[1]], [*values, flat]
        entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
        out = csc_array(entries, shape=(len(self.b), len(self.b)))
        out.eliminate_zeros()
        return out

    def eliminated(self) -> Callable[[], np.ndarray]:
        """Factor and solve by block elimination."""
        run, given = self.tree.function(), (*self.blocks, self.b)
        return lambda: run(*given)

    def sparse_lu(self) -> Callable[[], np.ndarray]:
        """Factor and solve by SciPy as it stands, which finds an order by itself."""
        return lambda: splu(self.matrix).solve(self.b)

    def sparse_lu_in_order(self) -> Callable[[], np.ndarray]:
        """The same in the order of the elimination, leaves first."""
        A, b = csc_array(self.matrix[::-1, ::-1]), self.b[::-1].copy()
        return lambda: splu(A, permc_spec="NATURAL").solve(b)[::-1]


def _places(heights: np.ndarray, widths: np.ndarray, row_starts: np.ndarray, column_starts: np.ndarray) -> tuple[Any, Any]:
    """Row and column of every entry of blocks that are stored one after the other."""
    sizes = heights * widths
    entry = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    width = np.repeat(widths, sizes)
    return np.repeat(row_starts, sizes) + entry // width, np.repeat(column_starts, sizes) + entry % width


def stiff(model: Model) -> Model:
    """The same chain with a spring in every hinge."""
    return model.replace(elements=tuple(JointSpring(b.name, SPRING) for b in model.bodies))


def hinge_chain(model: Model, state: State, h: float) -> BlockSystem:
    """The first implicit step of a serial chain of hinges, [[M + h^2 K, J^T], [J, 0]]: hinge 1, body 1, hinge 2, body 2, ...

    Rows of hinge j are T_j^T (y_j - Ad(E_jp) y_p), with T_j the complement of its axis S_j. If the hinges have springs, K couples
    bodies with those before them: grandparent blocks.
    """
    n, start = model.nb, to_maximal(model, state)
    S = np.array([[*np.asarray(b.joint.axis, float), 0.0, 0.0, 0.0] for b in model.bodies])[:, :, None]  # pyright: ignore
    T = np.array([np.asarray(complement(s), float) for s in S])
    A = _to_parent(np.asarray(start.poses, float))
    K = (h * h * SPRING if model.elements else 0.0) * S @ S.transpose(0, 2, 1)
    M = np.array([b.inertia.matrix for b in model.bodies], float) + K
    M[:-1] += (A.transpose(0, 2, 1) @ K @ A)[1:]
    J = -T.transpose(0, 2, 1) @ A
    D = np.concatenate([np.zeros((n, 25)), M.reshape(n, 36)], axis=1).reshape(-1)
    B = np.concatenate([J.reshape(n, 30), T.reshape(n, 30)], axis=1).reshape(-1)[30:]
    tree = BlockTree(range(-1, 2 * n - 1), [5, 6] * n, grandparents=[False, bool(model.elements)] * n)
    blocks = (D, B, (-K @ A)[1:].reshape(-1)) if model.elements else (D, B)
    push = -S[:, :, 0] * (h * (SPRING if model.elements else 0.0) * state.q[:, None])  # of the springs, linearised at the start
    given, zeta = _beginning(model, start, h)
    given += push
    given[:-1] -= (A.transpose(0, 2, 1) @ push[:, :, None])[1:, :, 0]
    rates = (T.transpose(0, 2, 1) @ zeta[:, :, None])[:, :, 0]
    return BlockSystem(tree, blocks, np.concatenate([rates, given], axis=1).reshape(-1))


def _beginning(model: Model, start: MaximalState, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Momentum and impulses of gravity (bodies, 6), and the motion that closes the joints, as a step begins."""
    outputs = {name: Field("output", "node", vector(6)) for name in ("given", "zeta")}
    algorithm = Algorithm("bench_beginning", fields((-1, -1, False, False), False) | outputs, {"run": [outward(begin)]})
    known = {"poses": start.poses, "twists": start.twists, "q_fit": start.q_fit, "gravity": model.gravity, "h": np.array([h])}
    known |= {"held": np.zeros(6 * model.nb), "tau": np.zeros(model.nv), "external": np.zeros(6 * model.nb), "t": np.zeros(1)}
    out = implicit_laws(model).plan.run(algorithm, {k: np.reshape(x, -1) for k, x in known.items()}, tuple(outputs), (1,))
    return out["given"].reshape(-1, 6), out["zeta"].reshape(-1, 6)


def _to_parent(poses: np.ndarray) -> np.ndarray:
    """Ad(E_jp) of a chain (n, 6, 6), from the poses of its bodies in the world."""
    before = np.concatenate([np.eye(4)[None], poses[:-1]])
    E = np.linalg.solve(before, poses)
    back, n = E[:, :3, :3].transpose(0, 2, 1), len(E)
    arm = np.array([np.asarray(skew(p), float) for p in E[:, :3, 3]])
    return np.concatenate([np.concatenate([back, np.zeros((n, 3, 3))], 2), np.concatenate([-back @ arm, back], 2)], 1)
