"""The tree of degrees of freedom: those of one joint follow one another, the first of a joint the last of the joint before it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..kernel.plans import Plans
from ..kernel.sweep import Tree
from ..model.model import Model

WIDE = 8  # rows of matrices that vectors run along begin at multiples of so many numbers


def dof_tree(model: Model) -> Tree:
    """The tree of a model with tables of its degrees of freedom.

    dof_before   the one before it on the way to the root, or -1
    dof_above    the one before its joint, or -1
    dof_first    the first of its joint
    dof_count    how many its joint has, at the first; zero at others
    dof_end      one more than the last of those behind it
    dof_block    where its joint's square of entries begins
    dof_body     its body
    dof_shoots   1 where others than the next begin behind it
    dof_none     zeros
    dof_chain    the first of its chain: those that follow one another and carry the same others behind them
    chain_first, chain_size   of every chain
    dof_forks    the one nearest to the root from which branches part that do not carry it, or -1
    """
    starts, nv = model.tree.offsets("v"), model.nv
    sizes = np.diff(starts)
    last = np.full(model.nb, -1, np.int64)  # of every body the last degree of freedom on the way to it
    end = np.arange(1, model.nb + 1)
    for i, p in enumerate(model.parents.tolist()):
        last[i] = starts[i + 1] - 1 if sizes[i] else last[p] if p >= 0 else -1
    for i in range(model.nb - 1, -1, -1):
        p = model.parents[i]
        if p >= 0:
            end[p] = max(end[p], end[i])
    body = np.repeat(np.arange(model.nb), sizes)
    parent = model.parents[body]
    first, above = starts[body], np.where(parent >= 0, last[np.maximum(parent, 0)], -1)
    own = np.arange(nv)
    before = np.where(own == first, above, own - 1)
    squares = np.concatenate([[0], np.cumsum(sizes**2)])
    tables = {
        "dof_before": before,
        "dof_above": above,
        "dof_first": first,
        "dof_count": np.where(own == first, sizes[body], 0),
        "dof_end": starts[end[body]],
        "dof_block": squares[body],
    }
    shoots = np.zeros(nv, np.int64)
    shoots[before[(before >= 0) & (before != own - 1)]] = 1
    forks = np.full(nv, -1, np.int64)
    for i, p in enumerate(before.tolist()):
        if p >= 0:
            forked = p + 1 < i or tables["dof_end"][i] < tables["dof_end"][p]
            forks[i] = forks[p] if forks[p] >= 0 else p if forked else -1
    begins = np.ones(nv, bool)
    begins[1:] = (before[1:] != own[:-1]) | (tables["dof_end"][1:] != tables["dof_end"][:-1])
    chains = np.flatnonzero(begins)
    tables |= {"dof_chain": chains[np.cumsum(begins) - 1], "chain_first": chains, "chain_size": np.diff(chains, append=nv)}
    tables |= {"dof_body": body, "dof_shoots": shoots, "dof_forks": forks, "dof_none": np.zeros(nv)}
    own_tree, row = model.tree, -(-nv // WIDE) * WIDE
    return replace(
        own_tree,
        tables={name: x.astype(np.int32) for name, x in tables.items()},
        numbers={**own_tree.numbers, "nv": nv, "row": row, "chains": len(chains)},
        counts={
            **own_tree.counts,
            "square": nv * nv,
            "six_rows": 6 * row,
            "rows_of_dofs": nv * row,
        },
    )


def dof_plans(model: Model) -> Plans:
    """Algorithms bound to it, kept with the model."""
    return model.keep_as(dof_plans, lambda: Plans(dof_tree(model)))
