"""Problems with cones by islands: rows that share a joint, however far around, are solved together, and others apart.

Islands are found by joining the joints of every row. Each is a problem of its own (`sparse_cones`), in the order of its first
joint, so the cost of separate piles is the sum of theirs. For one lane.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, Table, loops, maximum
from .sparse_cones import solve_sparse_cones

SETTINGS = {  # of rows, and of the displacements of those that are too deep: what is added to the diagonal; of the largest terms,
    # the residual that ends the search; changes of modes, at most
    "crowd_soft": 0.0,
    "crowd_enough": 1e-13,
    "crowd_changes": 20,
    "out_soft": 1e-4,
    "out_enough": 1e-6,
    "out_changes": 6,
}
SMALL_ISLAND = 3  # times as many changes are made in islands of few rows, which cost little


@loops
def island_of(j: int, root: Ints) -> int:
    """The first joint of the island of a joint; ways there become shorter."""
    while root[j] != j:
        root[j] = root[root[j]]
        j = root[j]
    return j


@loops
def find_islands(joint_count: int, active: Ints, starts: Table, freedoms: Table, joints: Table, root: Ints) -> None:
    """Join the joints of every row that is listed."""
    for j in range(joint_count):
        root[j] = j
    for i in range(active[0]):
        r = active[i + 1]
        one = -1
        for a in range(starts[r], starts[r + 1]):
            if freedoms[a] > 0:
                other = island_of(joints[a], root)
                if one < 0:
                    one = other
                elif other < one:
                    root[one] = other
                    one = other
                elif one < other:
                    root[other] = one


@loops
def first_joint(r: int, starts: Table, freedoms: Table, joints: Table) -> int:
    """The first joint of a row; -1 where it has none that moves."""
    for a in range(starts[r], starts[r + 1]):
        if freedoms[a] > 0:
            return joints[a]  # pyright: ignore[reportReturnType]  (of a record of ints, an int)
    return -1


@loops
def sort_by_island(
    joint_count: int, active: Ints, starts: Table, freedoms: Table, joints: Table, root: Ints, ends: Ints, by_island: Ints
) -> None:
    """The listed rows, island after island, each in the order of the list; ends[j] is where that of joint j ends."""
    for j in range(joint_count):
        ends[j] = 0
    for i in range(active[0]):
        j = first_joint(active[i + 1], starts, freedoms, joints)
        if j >= 0:
            ends[island_of(j, root)] += 1
    total = 0
    for j in range(joint_count):
        size = ends[j]
        ends[j] = total
        total += size
    for i in range(active[0]):
        j = first_joint(active[i + 1], starts, freedoms, joints)
        if j >= 0:
            j = island_of(j, root)
            by_island[ends[j]] = active[i + 1]
            ends[j] += 1


@loops
def solve_islands(
    joint_count: int,
    active: Ints,
    starts: Table,
    places: Table,
    freedoms: Table,
    joints: Table,
    cones: Table,
    u_rows: Lane,
    y_rows: Lane,
    mu: Lane,
    on: Lane,
    b: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    motion: Lane,
    left: Lane,
    soft: float,
    enough: float,
    changes: int,
    root: Ints,
    ends: Ints,
    by_island: Ints,
    rows: Ints,
    local: Ints,
    at: Ints,
    block: Ints,
    kinds: Ints,
    unknowns: Ints,
    slot: Ints,
    degree: Ints,
    gone: Ints,
    order: Ints,
    first: Ints,
    near: Ints,
    pivots: Ints,
    U: Lane,
    Y: Lane,
    R: Lane,
    C: Lane,
    H: Lane,
    w: Lane,
    B: Lane,
    scale: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    xs: Lane,
    u: Lane,
    xn: Lane,
    un: Lane,
    best: Lane,
    inside: Lane,
    force: Lane,
    z: Lane,
    keep: Lane,
    turn: Lane,
    d: Lane,
    rest: Lane,
) -> None:
    """The multipliers x of the listed rows, from the x given, and the motion A x + b; `left` is the largest residual.

    All behind `changes` is scratch; see `sparse_cones.solve_sparse_cones` for what is not.
    """
    find_islands(joint_count, active, starts, freedoms, joints, root)
    sort_by_island(joint_count, active, starts, freedoms, joints, root, ends, by_island)
    left[0] = 0.0
    begin = 0
    for j in range(joint_count):
        m = ends[j] - begin
        if m > 0:
            rows[0] = m
            for i in range(m):
                rows[i + 1] = by_island[begin + i]
                for a in range(starts[rows[i + 1]], starts[rows[i + 1] + 1]):
                    local[joints[a]] = -1
            nb = 0
            for i in range(m):
                for a in range(starts[rows[i + 1]], starts[rows[i + 1] + 1]):
                    if freedoms[a] > 0 and local[joints[a]] < 0:
                        local[joints[a]] = nb
                        nb += 1
            most = max(changes, SMALL_ISLAND * changes - m // 10)
            residual = solve_sparse_cones(
                rows, starts, places, freedoms, joints, cones, nb, local, u_rows, y_rows, mu, on, b, lower, upper, x, motion,
                soft, enough, most, at, block, kinds, unknowns, slot, degree, gone, order, first, near, pivots, U, Y, R, C, H,
                w, B, scale, bs, lo, hi, xs, u, xn, un, best, inside, force, z, keep, turn, d, rest,
            )  # fmt: skip
            left[0] = maximum(left[0], residual)
        begin = ends[j]
