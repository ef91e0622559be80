"""Problems with cones by islands: joints that rows hold together are solved together, and others apart.

A row that only pushes holds nothing together while it is open, and of the contacts that are near most are. So rows join their
joints where they act: where they did in the step before, or would be broken by what acted then. Islands of these are problems of
their own (`sparse_cones`), with all rows between their joints. Rows from one island to another have x = 0. Where the motion that
is found breaks one of them, it joins its islands, which are solved once more from where they are, until none is broken: what is
found solves the problem of all rows. A pile that collapses falls apart into some thirty islands of a few bodies.

Islands are solved in the order of their first joint, so the cost of separate piles is the sum of theirs. For one lane.
"""

from __future__ import annotations

from ..kernel.loops import Arrays, Ints, Lane, any, loops, maximum
from .block_sparse import Blocks
from .cone_modes import Modes
from .cone_rows import Rows, Search
from .own_rows import Listed
from .sparse_cones import solve_sparse_cones
from .sparse_rows import Entries, Paths, Turned

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


class Islands(Arrays):
    """Which rows and joints are one island.

    acts        of listed rows: BEGINS, which becomes ACTS, or 0
    place       of listed rows: see `place_of`; rows of one contact have the same joints
    waits       of joints: 1 where they begin an island that is to be solved
    root        of joints: the way to the first joint of their island
    ends        of joints: where the rows of the island that they begin end in `by_island`
    by_island   rows of islands that wait, one after the other, each in the order of the list
    """

    acts: Ints
    place: Ints
    waits: Ints
    root: Ints
    ends: Ints
    by_island: Ints


@loops
def island_of(j: int, root: Ints) -> int:
    """The first joint of the island of a joint; ways there become shorter."""
    while root[j] != j:
        root[j] = root[root[j]]
        j = root[j]
    return j


@loops
def join(r: int, paths: Paths, root: Ints) -> int:
    """The joints of a row are one island; returns its first joint, -1 where none of them moves."""
    one = -1
    for a in range(paths.starts[r], paths.starts[r + 1]):
        if paths.freedoms[a] > 0:
            other = island_of(paths.joints[a], root)
            if one < 0:
                one = other
            elif other < one:
                root[one] = other
                one = other
            elif one < other:
                root[other] = one
    return one


@loops
def place_of(r: int, paths: Paths, root: Ints) -> int:
    """The first joint of the island of a row; FIXED where no joint of it moves, BETWEEN where they are of several islands."""
    one = FIXED
    for a in range(paths.starts[r], paths.starts[r + 1]):
        if paths.freedoms[a] > 0:
            other = island_of(paths.joints[a], root)
            if one >= 0 and other != one:
                return BETWEEN
            one = other
    return one


@loops
def move_joints(joint_count: int, listed: Listed, paths: Paths, joint_w: Lane) -> None:
    """The motion of joints that multipliers cause, w = Y^T x."""
    for k in range(6 * joint_count):
        joint_w[k] = 0.0
    for i in range(listed.active[0]):
        r = listed.active[i + 1]
        if any(abs(listed.x[r]) > 0.0):
            for a in range(paths.starts[r], paths.starts[r + 1]):
                to = 6 * paths.joints[a]
                for k in range(paths.freedoms[a]):
                    joint_w[to + k] += listed.x[r] * paths.y_rows[paths.places[a] + k]


@loops
def part_seen(a: int, paths: Paths, joint_w: Lane) -> float:
    """What a row sees of the motion of one joint of its path."""
    found = 0.0 * joint_w[0]
    for k in range(paths.freedoms[a]):
        found += paths.u_rows[paths.places[a] + k] * joint_w[6 * paths.joints[a] + k]
    return found


@loops
def row_motion(r: int, paths: Paths, b: Lane, joint_w: Lane) -> float:
    """b + U w of a row."""
    found = b[r]
    for a in range(paths.starts[r], paths.starts[r + 1]):
        found += part_seen(a, paths, joint_w)
    return found


@loops
def row_rounding(r: int, paths: Paths, b: Lane, joint_w: Lane) -> float:
    """The size of the terms of `row_motion`."""
    found = abs(b[r])
    for a in range(paths.starts[r], paths.starts[r + 1]):
        found += abs(part_seen(a, paths, joint_w))
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
def find_acting(listed: Listed, paths: Paths, joint_w: Lane, acts: Ints) -> None:
    """BEGINS of rows that act or would, of those that are listed: all but rows that only push, and neither do nor are broken."""
    for i in range(listed.active[0]):
        r = listed.active[i + 1]
        kind = listed.cones[r]
        first = leader(i, kind)
        acts[i] = 0
        if first < i:
            acts[i] = acts[first]
        elif any(listed.on[r] > 0.0):
            pushes = kind == 1 or (any(listed.lower[r] >= 0.0) and any(listed.upper[r] > HUGE))
            if not pushes or any(listed.x[r] > 0.0) or any(row_motion(r, paths, listed.b, joint_w) < 0.0):
                acts[i] = BEGINS


@loops
def find_islands(joint_count: int, listed: Listed, paths: Paths, islands: Islands) -> int:
    """Join the joints of rows that begin to act; islands that get such rows wait to be solved. Returns how many rows lie between
    islands."""
    for i in range(listed.active[0]):
        if islands.acts[i] == BEGINS and leader(i, listed.cones[listed.active[i + 1]]) == i:
            join(listed.active[i + 1], paths, islands.root)
    for j in range(joint_count):
        islands.waits[j] = 0
    between = 0
    for i in range(listed.active[0]):
        r = listed.active[i + 1]
        first = leader(i, listed.cones[r])
        if first < i:
            islands.place[i] = islands.place[first]
            islands.acts[i] = islands.acts[first]
        else:
            islands.place[i] = place_of(r, paths, islands.root)
            if islands.acts[i] == BEGINS:
                islands.acts[i] = ACTS
                if islands.place[i] >= 0:
                    islands.waits[islands.place[i]] = 1
        if islands.place[i] == BETWEEN:
            between += 1
    return between


@loops
def sort_by_island(joint_count: int, active: Ints, islands: Islands) -> None:
    """List the rows of islands that wait."""
    for j in range(joint_count):
        islands.ends[j] = 0
    for i in range(active[0]):
        if islands.place[i] >= 0:
            islands.ends[islands.place[i]] += islands.waits[islands.place[i]]
    total = 0
    for j in range(joint_count):
        size = islands.ends[j]
        islands.ends[j] = total
        total += size
    for i in range(active[0]):
        j = islands.place[i]
        if j >= 0 and islands.waits[j] == 1:
            islands.by_island[islands.ends[j]] = active[i + 1]
            islands.ends[j] += 1


@loops
def find_broken(listed: Listed, paths: Paths, motion: Lane, enough: float, joint_w: Lane, islands: Islands) -> int:
    """Rows between islands that are broken begin to act; returns how many. The motion of all rows between islands is found."""
    broken = 0
    for i in range(listed.active[0]):
        if islands.place[i] == BETWEEN:
            r = listed.active[i + 1]
            motion[r] = row_motion(r, paths, listed.b, joint_w)
            if any(motion[r] < 0.0) and leader(i, listed.cones[r]) == i and any(listed.on[r] > 0.0):
                rounding = row_rounding(r, paths, listed.b, joint_w)
                if any(motion[r] < -enough * rounding):
                    islands.acts[i] = BEGINS
                    broken += 1
    return broken


@loops
def solve_islands(
    joint_count: int,
    listed: Listed,
    paths: Paths,
    motion: Lane,
    left: Lane,
    soft: float,
    enough: float,
    changes: int,
    joint_w: Lane,
    island_left: Lane,
    islands: Islands,
    island: Ints,
    local: Ints,
    entries: Entries,
    turned: Turned,
    blocks: Blocks,
    K: Lane,
    w: Lane,
    B: Lane,
    rows: Rows,
    s: Search,
    modes: Modes,
    rest: Lane,
) -> None:
    """The multipliers x of the listed rows, from the x given, and the motion A x + b; `left` is the largest residual.

    All behind `changes` is scratch; see `sparse_cones.solve_sparse_cones` for what is not.
    """
    move_joints(joint_count, listed, paths, joint_w)
    find_acting(listed, paths, joint_w, islands.acts)
    for j in range(joint_count):
        islands.root[j] = j
        island_left[j] = 0.0
    for i in range(listed.active[0]):
        r = listed.active[i + 1]
        motion[r] = listed.b[r]
        if islands.acts[i] == 0:
            listed.x[r] = 0.0
    joinings = 0
    broken = 1
    while broken > 0:
        between = find_islands(joint_count, listed, paths, islands)
        sort_by_island(joint_count, listed.active, islands)
        begin = 0
        for j in range(joint_count):
            m = islands.ends[j] - begin
            if m > 0:
                island[0] = m
                for i in range(m):
                    island[i + 1] = islands.by_island[begin + i]
                    for a in range(paths.starts[island[i + 1]], paths.starts[island[i + 1] + 1]):
                        local[paths.joints[a]] = -1
                nb = 0
                for i in range(m):
                    for a in range(paths.starts[island[i + 1]], paths.starts[island[i + 1] + 1]):
                        if paths.freedoms[a] > 0 and local[paths.joints[a]] < 0:
                            local[paths.joints[a]] = nb
                            nb += 1
                most = max(changes, SMALL_ISLAND * changes - m // 3)
                island_left[j] = solve_sparse_cones(
                    Listed(island, listed.cones, listed.mu, listed.on, listed.b, listed.lower, listed.upper, listed.x),
                    paths,
                    nb,
                    local,
                    motion,
                    soft,
                    enough,
                    most,
                    entries,
                    turned,
                    blocks,
                    K,
                    w,
                    B,
                    rows,
                    s,
                    modes,
                    rest,
                )
            begin = islands.ends[j]
        broken = 0
        if between > 0:
            move_joints(joint_count, listed, paths, joint_w)
            broken = find_broken(listed, paths, motion, enough, joint_w, islands)
        joinings += 1
        if broken > 0 and joinings >= JOININGS:
            for i in range(listed.active[0]):
                if islands.acts[i] == 0 and islands.place[i] == BETWEEN:
                    islands.acts[i] = BEGINS
    left[0] = 0.0
    for j in range(joint_count):
        if islands.root[j] == j:
            left[0] = maximum(left[0], island_left[j])
