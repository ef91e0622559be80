"""The sweeps of block elimination on a forest: fields and local rules, for whoever has blocks on a tree.

A node has the blocks D (dim, dim) and B = H_ip (dim, parent_dim); with grandparent blocks also C = H_ig (dim, grand_dim);
without symmetry also B_back = H_pi and C_back = H_gi. What children leave behind is gathered on the way in: `D_below` on a
node's own block; with grandparents, at nodes that are `fed` by such children, `B_below` on the block to the parent, and `G_below`
on the parent's block, to be handed on.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..kernel.sweep import Algorithm, Codec, Field, inward, outward
from ..spatial.scalar import array, zeros
from .elimination import back_substitute, eliminate, eliminate_general, forward_substitute, growth


# --- values that may be smaller than their place: the rest is zero -----------------------------------------------------
def padded_vector(size: int) -> Codec:
    """A vector."""
    return Codec(size, lambda x: [*x, *[0.0] * (size - len(x))], array)


def padded_matrix(size: int) -> Codec:
    """A matrix."""

    def pack(A: np.ndarray) -> list[Any]:
        out = zeros(size, size)
        out[: A.shape[0], : A.shape[1]] = A
        return list(out.flat)

    return Codec(size * size, pack, lambda x: array(x).reshape(size, size))


def padded_triangle(size: int) -> Codec:
    """A symmetric matrix, as its lower triangle."""

    def pack(A: np.ndarray) -> list[Any]:
        flat = [A[r, c] for r in range(len(A)) for c in range(r + 1)]
        return flat + [0.0] * (size * (size + 1) // 2 - len(flat))

    def unpack(x: list[Any]) -> np.ndarray:
        A = zeros(size, size)
        for r in range(size):
            for c in range(r + 1):
                A[r, c] = A[c, r] = x[r * (r + 1) // 2 + c]
        return array(A)

    return Codec(size * (size + 1) // 2, pack, unpack)


# --- parent blocks only [Baraff, section 7.3] --------------------------------------------------------------------------
def factor(n: Any, parent: Any) -> None:
    """Eliminate a node: its parent's block changes."""
    d, p = n.dim, n.parent_dim
    given = n.D.reshape(d, d)
    D = given + n.D_below[:d, :d]
    U = n.B.reshape(d, p)
    n.pivot, change = eliminate(D, U) if n.symmetric else eliminate_general(D, U, n.B_back.reshape(p, d))
    parent.D_below = parent.D_below[:p, :p] + change
    n.growth = growth(n.pivot, given, D)


def forward(n: Any, parent: Any) -> None:
    """Right-hand sides, leaves to root."""
    n.y, change = forward_substitute(n.pivot, n.b + n.b_below[: n.dim])
    n.y_scaled = n.pivot.d_inv * n.y
    parent.b_below = parent.b_below[: n.parent_dim] + change


def back(n: Any, parent: Any) -> None:
    """Unknowns, root to leaves."""
    n.x = back_substitute(n.pivot, n.y, parent.solution[: n.parent_dim])
    n.solution = n.x


# --- parent and grandparent blocks [Hernandez, section 4] ---------------------------------------------------------------
def factor_grand(n: Any, parent: Any) -> None:
    """Eliminate a node: the blocks of its parent, of its grandparent and between them change."""
    d, p, g = n.dim, n.parent_dim, n.grand_dim
    given = n.D.reshape(d, d)
    D = given + n.D_below[:d, :d]
    B = n.B.reshape(d, p) + n.B_below[:d, :p] if n.fed else n.B.reshape(d, p)
    U = np.concatenate([B, n.C.reshape(d, g)], axis=1)
    if n.symmetric:
        n.pivot, change = eliminate(D, U)
    else:
        back_block = n.B_back.reshape(p, d) + n.B_back_below[:p, :d] if n.fed else n.B_back.reshape(p, d)
        n.pivot, change = eliminate_general(D, U, np.concatenate([back_block, n.C_back.reshape(g, d)]))
        parent.B_back_below = parent.B_back_below[:g, :p] + change[p:, :p]
    handed_on = n.G_below[:p, :p] if n.fed else zeros(p, p)
    parent.D_below = parent.D_below[:p, :p] + handed_on + change[:p, :p]
    parent.B_below = parent.B_below[:p, :g] + change[:p, p:]
    parent.G_below = parent.G_below[:g, :g] + change[p:, p:]
    n.growth = growth(n.pivot, given, D)


def forward_grand(n: Any, parent: Any) -> None:
    """Right-hand sides, leaves to root."""
    p = n.parent_dim
    n.y, change = forward_substitute(n.pivot, n.b + n.b_below[: n.dim])
    n.y_scaled = n.pivot.d_inv * n.y
    handed_on = n.b_above[:p] if n.fed else np.zeros(p)
    parent.b_below = parent.b_below[:p] + handed_on + change[:p]
    parent.b_above = parent.b_above[: n.grand_dim] + change[p:]


def back_grand(n: Any, parent: Any) -> None:
    """Unknowns, root to leaves."""
    above = parent.solution[: n.parent_dim]
    n.x = back_substitute(n.pivot, n.y, np.concatenate([above, parent.solution_above[: n.grand_dim]]))
    n.solution, n.solution_above = n.x, above


# --- algorithms ---------------------------------------------------------------------------------------------------------
def elimination_fields(largest: int, symmetric: bool = True, grandparents: bool = False) -> dict[str, Field]:
    """What the rules gather, share and return, for blocks up to this size."""
    square, block = (padded_triangle if symmetric else padded_matrix)(largest), padded_matrix(largest)
    gathered = {"D_below": square, "b_below": padded_vector(largest)}
    shared = ["solution"]
    if grandparents:
        gathered |= {"B_below": block, "G_below": square, "b_above": padded_vector(largest)}
        gathered |= {} if symmetric else {"B_back_below": block}
        shared.append("solution_above")
    return {
        **{name: Field("gathered", codec=codec) for name, codec in gathered.items()},
        **{name: Field("shared", codec=padded_vector(largest)) for name in shared},
        **{name: Field("output", "x") for name in ("growth", "x", "y", "y_scaled")},
    }


def unwanted(phase: str) -> tuple[str, ...]:
    """Outputs that only the way to halfway is asked for."""
    return () if phase == "halfway" else ("y", "y_scaled")


@functools.cache
def block_tree_algorithm(largest: int, symmetric: bool, grandparents: bool) -> Algorithm:
    """Given blocks: factor; apply to right-hand sides b; or only halfway, which gives y = L^-1 b and D^-1 y."""
    spaces = {"D": "D", "B": "B", "b": "x"}
    spaces |= {"C": "C"} if grandparents else {}
    spaces |= {} if symmetric else {f"{name}_back": name for name in ("B", "C") if name in spaces}
    rules = (factor_grand, forward_grand, back_grand) if grandparents else (factor, forward, back)
    return Algorithm(
        f"block_tree_{largest}{'' if symmetric else '_general'}{'_grand' if grandparents else ''}",
        {
            **{name: Field("input", space) for name, space in spaces.items()},
            **elimination_fields(largest, symmetric, grandparents),
        },
        {
            "factor": [inward(rules[0])],
            "apply": [inward(rules[1]), outward(rules[2])],
            "halfway": [inward(rules[1])],
        },
    )
