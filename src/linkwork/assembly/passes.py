"""One pass over an assembly: linearise at a state, factor, solve. Every law and every stage of a step is such a pass.

    [M  J^T] [ z   ]   [force ]
    [J  0  ] [-lam ] = [target]

    links        rows J and targets of the conditions between parts that are on the forest
    inward       a part's block [[M, J^T], [J, 0]] with the conditions on it alone, a condition's block 0; block elimination
                 H = L D L^T [Baraff, section 7.3], and D^-1 L^-1 b
    auxiliary    the multipliers of conditions that are not on the forest (`auxiliary`)
    outward      the unknowns

What is solved for is said by numbers, the same for all rows (`Aim`): whether forces act, and how much of bias, rate and residual
the target takes back.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernel.sweep import SCALAR, Algorithm, Field, Kind, Step, Sweep, each, over, vector
from ..solvers.block_rules import padded_triangle, padded_vector
from ..solvers.elimination import Pivot, forward_substitute
from ..solvers.elimination import eliminate as eliminate_block
from ..spatial.scalar import Scalar, Vector, absolute, maximum, stack, upper_solve, zeros
from .aim import AIM_SIZE, Aim, rows_at, target_of
from .auxiliary import row_fields, row_steps, watch_afresh
from .extent import Extent, Rule, part_roles
from .interaction import pushes
from .part import gravity_force
from .views import bound_law, bound_parts


# --- the forest ---------------------------------------------------------------------------------------------------------------
def begin_forces(n: Any) -> None:
    """Nothing; interactions add to it."""
    n.forces = np.zeros(n.parts[0].nv)


def interact(n: Any, *at: Any) -> None:
    """The forces of one interaction."""
    parts = bound_parts(n)
    mine = at[: len(parts)]
    _, f = pushes(bound_law(n), parts, [role.q for role in mine], [role.v for role in mine], n.t)
    first = 0
    for part, role in zip(parts, mine, strict=True):
        role.forces = role.forces + f[first : first + part.nv]
        first += part.nv


def linearise(n: Any, *at: Any) -> None:
    """Rows and targets of a condition between parts."""
    rows = rows_at(n, at)
    n.J, n.target = rows.J.reshape(-1), target_of(n, n.laws[0], rows)


def eliminate_node(n: Any, parent: Any, p0: Any) -> None:
    """Block elimination of a node, and of its right-hand side."""
    if n.is_part:
        D, b, given = _part_block(n, p0)
        U = _to_parent(parent.J, n)
    else:
        D, b = n.D_below[: n.dim, : n.dim], n.target + n.b_below[: n.dim]
        U, given = n.J[: n.dim * n.width].reshape(n.dim, n.width)[:, n.column : n.column + n.parent_dim], None
    pivot, change = eliminate_block(D, U)
    y, up = forward_substitute(pivot, b)
    n.pivot, n.scaled = pivot, pivot.d_inv * y
    parent.D_below = parent.D_below[: n.parent_dim, : n.parent_dim] + change
    parent.b_below = parent.b_below[: n.parent_dim] + up
    n.growth = stack(*growths(n, pivot, D, given))


def eliminate_and_remember(n: Any, parent: Any, p0: Any) -> None:
    """The same; growth is the most of all passes."""
    before = n.growth
    eliminate_node(n, parent, p0)
    n.growth = stack(*map(maximum, before, n.growth))


def _part_block(n: Any, p0: Any) -> tuple[np.ndarray, Vector, np.ndarray]:
    """The block of a part with the conditions on it alone, its right-hand side, and its mass."""
    (part,), nv, aim = bound_parts(n), n.nv, Aim(*n.aim)
    x, v = p0.q, p0.v
    M, h = part.inertia(x, v)
    D = zeros(n.dim, n.dim)
    D[:nv, :nv] = M + n.D_below[:nv, :nv]
    natural = gravity_force(part, x, n.gravity) - h
    natural = natural + p0.forces if n.pulled else natural
    b = [aim.applied * p0.f + aim.natural * natural + n.b_below[:nv]]
    first = nv
    for k, condition in enumerate(n.laws):
        rows = rows_at(n, [p0], k)
        at = slice(first, first + condition.size)
        D[at, :nv], D[:nv, at] = rows.J, rows.J.T
        b.append(target_of(n, condition, rows))
        first = at.stop
    return D, np.concatenate([np.asarray(x, dtype=object) for x in b]), M


def _to_parent(J: Vector, n: Any) -> np.ndarray:
    """The block between a part and the condition above it: rows of that condition, transposed; zero below the velocities."""
    U = zeros(n.dim, n.parent_dim)
    if n.parent_dim:
        U[: n.nv] = J[: n.parent_dim * n.width].reshape(n.parent_dim, n.width)[:, n.column : n.column + n.nv].T
    return U


def growths(n: Any, pivot: Pivot, D: np.ndarray, given: np.ndarray | None) -> list[Scalar]:
    """How much larger than each scalar pivot the diagonal was from which it is left.

    Rows of conditions on a part alone have no diagonal; what its velocities leave of them, -J M^-1 J^T, stands for it.
    """
    sizes = [absolute(D[k, k]) for k in range(n.dim)]
    if given is not None:
        for k in range(n.nv):
            sizes[k] = maximum(absolute(given[k, k]), sizes[k])
        for k in range(n.nv, n.dim):
            sizes[k] = absolute(sum(pivot.L[k, c] * pivot.L[k, c] / pivot.d_inv[c] for c in range(n.nv)))
    return [absolute(d) * size for d, size in zip(pivot.d_inv, sizes, strict=True)]


def substitute(n: Any, parent: Any, p0: Any) -> None:
    """Unknowns, root to leaves: those of a part are its motion."""
    pivot = n.pivot
    above = pivot.Y @ parent.solution[: n.parent_dim] if n.parent_dim else np.zeros(n.dim)
    n.x = upper_solve(pivot.R, n.scaled - pivot.d_inv * above)
    n.solution = n.x[: n.nv] if n.is_part else n.x
    if n.is_part:
        p0.z = n.x[: n.nv]


# --- the program --------------------------------------------------------------------------------------------------------------
def fields(e: Extent, kept: Kind) -> dict[str, Field]:
    """All but those that differ between laws and steps: q, v, t and aim.

    kept   the kind of what tells whether a pass went well
    """
    found = {
        "f": Field("input", "v", of="part"),
        "gravity": Field("input", "global", vector(3)),
        "z": Field("output", "v", of="part"),
        "x": Field("output", "x"),
        "growth": Field(kept, "x"),
        "scaled": Field("work", "x"),
        "J": Field("shared", codec=padded_vector(e.widest)),
        "solution": Field("shared", codec=padded_vector(e.largest)),
        "D_below": Field("gathered", codec=padded_triangle(e.largest)),
        "b_below": Field("gathered", codec=padded_vector(e.largest)),
    }
    found |= {"forces": Field("work", "v", of="part")} if e.pulls else {}
    return found | (row_fields(e, kept) if e.rows else {})


def sweeps(e: Extent, eliminate: Rule, watch: Rule) -> list[Step]:
    """The pass, with these of its rules."""
    steps: list[Step] = []
    if e.pulls:
        steps += [each(begin_forces, on="part"), each(interact, *part_roles(e.pulls), on="interaction")]
    if e.links:
        steps.append(over("links", linearise, *part_roles(e.links)))
    steps.append(Sweep(eliminate, "inward", ("own", "parent", "p0")))
    return [*steps, *(row_steps(e, watch) if e.rows else []), Sweep(substitute, "outward", ("own", "parent", "p0"))]


def state_fields(kind: Any) -> dict[str, Field]:
    """Coordinates and velocities of the parts."""
    return {"q": Field(kind, "q", of="part"), "v": Field(kind, "v", of="part")}


@functools.cache
def pass_algorithm(e: Extent) -> Algorithm:
    """One pass at given states with a given aim."""
    given = {"t": Field("input", "global", SCALAR), "aim": Field("input", "global", vector(AIM_SIZE))}
    steps: dict[str, Sequence[Step]] = {"run": sweeps(e, eliminate_node, watch_afresh)}
    return Algorithm(f"assembly_pass_{e}", {**state_fields("input"), **given, **fields(e, "output")}, steps)
