"""Problems with cones by islands: joints that rows hold together are solved together, and others apart.

A row that only pushes holds nothing together while it is open, and of the contacts that are near most are. So rows join their
joints where they act: where they did in the step before, or would be broken by what acted then. Islands of these are problems of
their own (`sparse_cones`), with all rows between their joints. Rows from one island to another have x = 0. Where the motion that
is found breaks one of them, it joins its islands, which are solved once more from where they are, until none is broken: what is
found solves the problem of all rows. A pile that collapses falls apart into some thirty islands of a few bodies.

Islands are solved in the order of their first joint, so the cost of separate piles is the sum of theirs. For one lane.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, Table, any, loops, maximum
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
FIXED, BETWEEN = -1, -2  # places of rows that are in no island
BEGINS, ACTS = 2, 1  # rows that join islands from now on, and those that have
JOININGS = 8  # rounds in which islands are joined by rows that are broken; then all rows join
HUGE = 1e300


@loops
def island_of(j: int, root: Ints) -> int:
    """The first joint of the island of a joint; ways there become shorter."""
    while root[j] != j:
        root[j] = root[root[j]]
        j = root[j]
    return j


@loops
def join(r: int, starts: Table, freedoms: Table, joints: Table, root: Ints) -> int:
    """The joints of a row are one island; returns its first joint, -1 where none of them moves."""
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
    return one


@loops
def place_of(r: int, starts: Table, freedoms: Table, joints: Table, root: Ints) -> int:
    """The first joint of the island of a row; FIXED where no joint of it moves, BETWEEN where they are of several islands."""
    one = FIXED
    for a in range(starts[r], starts[r + 1]):
        if freedoms[a] > 0:
            other = island_of(joints[a], root)
            if one >= 0 and other != one:
                return BETWEEN
            one = other
    return one


@loops
def move_joints(
    joint_count: int,
    active: Ints,
    starts: Table,
    places: Table,
    freedoms: Table,
    joints: Table,
    y_rows: Lane,
    x: Lane,
    joint_w: Lane,
) -> None:
    """The motion of joints that multipliers cause, w = Y^T x."""
    for k in range(6 * joint_count):
        joint_w[k] = 0.0
    for i in range(active[0]):
        r = active[i + 1]
        if any(abs(x[r]) > 0.0):
            for a in range(starts[r], starts[r + 1]):
                to = 6 * joints[a]
                for k in range(freedoms[a]):
                    joint_w[to + k] += x[r] * y_rows[places[a] + k]


@loops
def part_seen(a: int, places: Table, freedoms: Table, joints: Table, u_rows: Lane, joint_w: Lane) -> float:
    """What a row sees of the motion of one joint of its path."""
    found = 0.0 * joint_w[0]
    for k in range(freedoms[a]):
        found += u_rows[places[a] + k] * joint_w[6 * joints[a] + k]
    return found


@loops
def row_motion(
    r: int, starts: Table, places: Table, freedoms: Table, joints: Table, u_rows: Lane, b: Lane, joint_w: Lane
) -> float:
    """b + U w of a row."""
    found = b[r]
    for a in range(starts[r], starts[r + 1]):
        found += part_seen(a, places, freedoms, joints, u_rows, joint_w)
    return found


@loops
def row_rounding(
    r: int, starts: Table, places: Table, freedoms: Table, joints: Table, u_rows: Lane, b: Lane, joint_w: Lane
) -> float:
    """The size of the terms of `row_motion`."""
    found = abs(b[r])
    for a in range(starts[r], starts[r + 1]):
        found += abs(part_seen(a, places, freedoms, joints, u_rows, joint_w))
    return found


@loops
def leader(i: int, kind: int) -> int:
    """Where the row is listed that decides whether a row of this kind can act: its normal row, or itself."""
    if kind > 1:
        return i + 1 - kind
    if kind < 0:
        return i + kind
    return i


@loops
def find_acting(
    active: Ints,
    starts: Table,
    places: Table,
    freedoms: Table,
    joints: Table,
    cones: Table,
    u_rows: Lane,
    on: Lane,
    b: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    joint_w: Lane,
    acts: Ints,
) -> None:
    """BEGINS of rows that act or would, of those that are listed: all but rows that only push, and neither do nor are broken."""
    for i in range(active[0]):
        r = active[i + 1]
        kind = cones[r]
        first = leader(i, kind)
        acts[i] = 0
        if first < i:
            acts[i] = acts[first]
        elif any(on[r] > 0.0):
            pushes = kind == 1 or (any(lower[r] >= 0.0) and any(upper[r] > HUGE))
            if not pushes or any(x[r] > 0.0) or any(row_motion(r, starts, places, freedoms, joints, u_rows, b, joint_w) < 0.0):
                acts[i] = BEGINS


@loops
def find_islands(
    joint_count: int,
    active: Ints,
    starts: Table,
    freedoms: Table,
    joints: Table,
    cones: Table,
    acts: Ints,
    root: Ints,
    waits: Ints,
    place: Ints,
) -> int:
    """Join the joints of rows that begin to act; islands that get such rows wait to be solved. Returns how many rows lie between
    islands.

    acts    of listed rows: BEGINS, which becomes ACTS, or 0
    place   of listed rows: see `place_of`; rows of one contact have the same joints
    """
    for i in range(active[0]):
        if acts[i] == BEGINS and leader(i, cones[active[i + 1]]) == i:
            join(active[i + 1], starts, freedoms, joints, root)
    for j in range(joint_count):
        waits[j] = 0
    between = 0
    for i in range(active[0]):
        r = active[i + 1]
        first = leader(i, cones[r])
        if first < i:
            place[i] = place[first]
            acts[i] = acts[first]
        else:
            place[i] = place_of(r, starts, freedoms, joints, root)
            if acts[i] == BEGINS:
                acts[i] = ACTS
                if place[i] >= 0:
                    waits[place[i]] = 1
        if place[i] == BETWEEN:
            between += 1
    return between


@loops
def sort_by_island(joint_count: int, active: Ints, place: Ints, waits: Ints, ends: Ints, by_island: Ints) -> None:
    """The listed rows of islands that wait, one after the other, each in the order of the list; ends[j] is where that of joint j
    ends."""
    for j in range(joint_count):
        ends[j] = 0
    for i in range(active[0]):
        if place[i] >= 0:
            ends[place[i]] += waits[place[i]]
    total = 0
    for j in range(joint_count):
        size = ends[j]
        ends[j] = total
        total += size
    for i in range(active[0]):
        j = place[i]
        if j >= 0 and waits[j] == 1:
            by_island[ends[j]] = active[i + 1]
            ends[j] += 1


@loops
def find_broken(
    active: Ints,
    starts: Table,
    places: Table,
    freedoms: Table,
    joints: Table,
    cones: Table,
    u_rows: Lane,
    on: Lane,
    b: Lane,
    motion: Lane,
    enough: float,
    joint_w: Lane,
    place: Ints,
    acts: Ints,
) -> int:
    """Rows between islands that are broken begin to act; returns how many. The motion of all rows between islands is found."""
    broken = 0
    for i in range(active[0]):
        if place[i] == BETWEEN:
            r = active[i + 1]
            motion[r] = row_motion(r, starts, places, freedoms, joints, u_rows, b, joint_w)
            if any(motion[r] < 0.0) and leader(i, cones[r]) == i and any(on[r] > 0.0):
                rounding = row_rounding(r, starts, places, freedoms, joints, u_rows, b, joint_w)
                if any(motion[r] < -enough * rounding):
                    acts[i] = BEGINS
                    broken += 1
    return broken


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
    joint_w: Lane,
    island_left: Lane,
    acts: Ints,
    place: Ints,
    waits: Ints,
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
    K: Lane,
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
    move_joints(joint_count, active, starts, places, freedoms, joints, y_rows, x, joint_w)
    find_acting(active, starts, places, freedoms, joints, cones, u_rows, on, b, lower, upper, x, joint_w, acts)
    for j in range(joint_count):
        root[j] = j
        island_left[j] = 0.0
    for i in range(active[0]):
        r = active[i + 1]
        motion[r] = b[r]
        if acts[i] == 0:
            x[r] = 0.0
    joinings = 0
    broken = 1
    while broken > 0:
        between = find_islands(joint_count, active, starts, freedoms, joints, cones, acts, root, waits, place)
        sort_by_island(joint_count, active, place, waits, ends, by_island)
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
                most = max(changes, SMALL_ISLAND * changes - m // 3)
                island_left[j] = solve_sparse_cones(
                    rows, starts, places, freedoms, joints, cones, nb, local, u_rows, y_rows, mu, on, b, lower, upper, x,
                    motion, soft, enough, most, at, block, kinds, unknowns, slot, degree, gone, order, first, near, pivots, U, Y,
                    R, C, H, K, w, B, scale, bs, lo, hi, xs, u, xn, un, best, inside, force, z, keep, turn, d, rest,
                )  # fmt: skip
            begin = ends[j]
        broken = 0
        if between > 0:
            move_joints(joint_count, active, starts, places, freedoms, joints, y_rows, x, joint_w)
            broken = find_broken(
                active, starts, places, freedoms, joints, cones, u_rows, on, b, motion, enough, joint_w, place, acts
            )
        joinings += 1
        if broken > 0 and joinings >= JOININGS:
            for i in range(active[0]):
                if acts[i] == 0 and place[i] == BETWEEN:
                    acts[i] = BEGINS
    left[0] = 0.0
    for j in range(joint_count):
        if root[j] == j:
            left[0] = maximum(left[0], island_left[j])
