"""One pass over an assembly: linearise at a state, factor, solve. Every law and every stage of a step is such a pass.

    [M  J^T] [ z   ]   [force ]
    [J  0  ] [-lam ] = [target]

    links        rows J and targets of the conditions between parts that are on the forest
    inward       a part's block [[M, J^T], [J, 0]] with the conditions on it alone, a condition's block 0; block elimination
                 H = L D L^T [Baraff, section 7.3], and D^-1 L^-1 b
    auxiliary    rows that are not on the forest go up from their parts [Baraff, section 8]: with u = L^-1 J^T at the nodes on
                 their way (`paths`), A_rs = sum of u_r . D^-1 u_s over the nodes on both ways, D being negative at conditions
    routines     the matrix A, and the multipliers of the problem (`solvers.boxes`, `solvers.mixed`)
    outward      the unknowns

What is solved for is said by numbers, the same for all rows (`Law`): whether forces act, and how much of bias, rate and residual
the target takes back.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from ..kernel.sweep import SCALAR, Algorithm, Field, Kind, Routine, Step, Sweep, each, over, vector
from ..solvers.block_rules import padded_triangle, padded_vector
from ..solvers.boxes import gather, gram, solve_boxes, spread
from ..solvers.elimination import Pivot, forward_substitute
from ..solvers.elimination import eliminate as eliminate_block
from ..solvers.mixed import general_gram, solve_mixed
from ..spatial.scalar import Scalar, Vector, absolute, array, maximum, stack, upper_solve, where, zeros
from .condition import Condition, ConditionRows, derive
from .interaction import pushes
from .part import gravity_force
from .paths import leftover, measure
from .views import bound_law, bound_parts

HUGE = 1e300
Rule = Callable[..., None]


@dataclass(frozen=True)
class Law:
    """What a pass solves for; b and c may be Baumgarte's, or 0.

    applied    1: what is applied acts, 0: it does not
    natural    the same of gravity, interactions and the bias of the parts
    bias       target = -bias c - rate r_dot - residual r, of equalities
    one_sided  in the place of `residual` in rows that only push
    bounce     they get bounce max(-r_dot, 0) besides
    near       rows that only push act where r <= near
    slow       and r_dot <= slow
    straight   1: forces along J^T in all conditions, 0: along directions of their own where they have some
    """

    applied: float = 0.0
    natural: float = 0.0
    bias: float = 0.0
    rate: float = 0.0
    residual: float = 0.0
    one_sided: float = 0.0
    bounce: float = 0.0
    near: float = HUGE
    slow: float = HUGE
    straight: float = 0.0

    @property
    def numbers(self) -> np.ndarray:
        return np.array(astuple(self))


LAW_SIZE = len(astuple(Law()))
TOUCHING = 1e-9  # a gap, or a speed of approach, up to here counts as touching


def acceleration_law(b: float = 0.0, c: float = 0.0) -> Law:
    """f = m a, with Baumgarte's b and c."""
    return Law(1.0, 1.0, 1.0, 2.0 * b, c * c, c * c, near=TOUCHING, slow=TOUCHING)


@dataclass(frozen=True)
class Extent:
    """What the sweeps of an assembly depend on.

    largest   block of a part's velocities, or of a condition
    widest    numbers in the rows of a condition on the forest
    links     parts of a condition on the forest, at most; 0 if there are none
    rows      parts of an auxiliary condition, at most; 0 if there are none
    pulls     parts of an interaction, at most; 0 if there are none
    one_sided whether an auxiliary condition only pushes
    directed  whether one has forces along directions of their own
    """

    largest: int
    widest: int
    links: int
    rows: int
    pulls: int
    one_sided: bool
    directed: bool


def ports(count: int) -> tuple[str, ...]:
    """The roles of parts."""
    return tuple(f"p{k}" for k in range(count))


# --- laws at a node -----------------------------------------------------------------------------------------------------------
def rows_at(n: Any, at: Sequence[Any], k: int = 0) -> ConditionRows:
    """The rows of a condition of a node, its parts being at these roles."""
    parts = bound_parts(n)
    xs, vs = [role.q for role in at[: len(parts)]], [role.v for role in at[: len(parts)]]
    return derive(bound_law(n, k), parts, xs, vs, n.t)


def target_of(n: Any, condition: Condition, rows: ConditionRows) -> Vector:
    """What J z shall be, by the law of the pass."""
    _, _, bias, rate, residual, one_sided, bounce, *_ = n.law
    target = -bias * rows.bias - rate * rows.rate - (one_sided if condition.unilateral else residual) * rows.residual
    if condition.unilateral:
        target = target + stack(*(bounce * maximum(-r, 0.0) for r in rows.rate))
    return target


# --- the forest ---------------------------------------------------------------------------------------------------------------
def begin_forces(n: Any) -> None:
    """Nothing; interactions add to it."""
    n.force = np.zeros(n.parts[0].nv)


def interact(n: Any, *at: Any) -> None:
    """The forces of one interaction."""
    parts = bound_parts(n)
    mine = at[: len(parts)]
    _, f = pushes(bound_law(n), parts, [role.q for role in mine], [role.v for role in mine], n.t)
    first = 0
    for part, role in zip(parts, mine, strict=True):
        role.force = role.force + f[first : first + part.nv]
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
    (part,), nv = bound_parts(n), n.nv
    x, v = p0.q, p0.v
    M, h = part.inertia(x, v)
    D = zeros(n.dim, n.dim)
    D[:nv, :nv] = M + n.D_below[:nv, :nv]
    natural = gravity_force(part, x, n.gravity) - h
    natural = natural + p0.force if n.pulled else natural
    b = [n.law[0] * p0.f + n.law[1] * natural + n.b_below[:nv]]
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


# --- auxiliary conditions -----------------------------------------------------------------------------------------------------
def watch(n: Any, *at: Any) -> None:
    """Which rows take part."""
    if n.laws[0].unilateral:
        rows, near, slow = rows_at(n, at), n.law[7], n.law[8]
        pairs = zip(rows.residual, rows.rate, strict=True)
        n.on = array([where((r <= near) & (rate <= slow), 1.0, 0.0) for r, rate in pairs])
    else:
        n.on = array([1.0] * n.laws[0].size)
    awake = n.on[0]
    for flag in n.on[1:]:
        awake = maximum(awake, flag)
    n.awake = awake


def watch_afresh(n: Any, *at: Any) -> None:
    """The same; what was left of rows in earlier passes is forgotten."""
    watch(n, *at)
    n.off = np.zeros(n.laws[0].size)


def hold(n: Any, *around: Any) -> None:
    """The rows of a condition, put where its parts are on the forest; around it are its parts, and these places."""
    at, places = around[: len(around) // 2], around[len(around) // 2 :]
    condition, rows = n.laws[0], rows_at(n, at)
    n.wanted = target_of(n, condition, rows)
    n.lower = np.full(condition.size, 0.0 if condition.unilateral else -np.inf)
    n.upper = np.full(condition.size, np.inf)
    first = 0
    for part, dim, place in zip(n.parts, n.place_dims, places, strict=False):
        block = slice(first, first + part.nv)
        place.p = place.p + _at_node(rows.J[:, block], dim)
        if n.directed:
            along = rows.K_T + n.law[9] * (rows.J - rows.K_T) if condition.directed else rows.J
            place.k = place.k + _at_node(along[:, block], dim)
        first = block.stop


def _at_node(J: np.ndarray, dim: int) -> Vector:
    """Rows of a part in all unknowns of its node, one row after the other."""
    out = zeros(len(J), dim)
    out[:, : J.shape[1]] = J
    return out.reshape(-1)


def climb(n: Any, place: Any, up: Any) -> None:
    """One row at one node on its way to the root; its place is empty afterwards."""
    u, above = forward_substitute(n.pivot, place.p)
    place.u, place.p = u, np.zeros(n.dim)
    if n.directed:
        w, above_k = forward_substitute(n.pivot, place.k)
        place.y, place.k = n.pivot.d_inv * w, np.zeros(n.dim)
        if not n.is_root:
            up.k = up.k + above_k
    else:
        place.y = n.pivot.d_inv * u
    if not n.is_root:
        up.p = up.p + above


# --- the program --------------------------------------------------------------------------------------------------------------
SCRATCH = ("d", "scale", "scaled_b", "scaled_lower", "scaled_upper", "scaled_x", "w", "answer", "inside")
GENERAL = ("rest", "pushed", "tableau", "pivots", "pushing", "basis")
PATHS = ("starts", "nodes", "places", "sizes")


def fields(e: Extent, kept: Kind) -> dict[str, Field]:
    """All but those that differ between laws and steps: q, v, t and law.

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
    found |= {"force": Field("work", "v", of="part")} if e.pulls else {}
    return found | (_row_fields(e, kept) if e.rows else {})


def _row_fields(e: Extent, kept: Kind) -> dict[str, Field]:
    directions = {"k": Field("work", "x", of="place")} if e.directed else {}
    spaces = dict(zip(GENERAL, ("row", "row", "tableau", "tableau", "row", "row"), strict=True))
    general = {name: Field("work", space, SCALAR) for name, space in spaces.items()}
    return {
        **{name: Field("work", "rows", of="auxiliary") for name in ("on", "wanted", "b", "lower", "upper")},
        "mu": Field("output", "rows", of="auxiliary"),
        "off": Field(kept, "rows", of="auxiliary"),
        "awake": Field("work", "node", SCALAR, of="auxiliary"),
        "p": Field("work", "x", of="place"),
        "u": Field("output", "x", of="place"),
        "y": Field("output", "x", of="place"),
        "busy": Field("work", "global", SCALAR),
        "left": Field("work", "global", SCALAR),
        "active": Field("work", "list", SCALAR),
        "A": Field("work", "pair", SCALAR),
        **directions,
        **(general if e.directed else {"factor": Field("work", "pair", SCALAR)}),
        **({} if e.directed else {name: Field("work", "row", SCALAR) for name in SCRATCH}),
    }


def sweeps(e: Extent, eliminate: Rule, watch: Rule) -> list[Step]:
    """The pass, with these of its rules."""
    steps: list[Step] = []
    if e.pulls:
        steps += [each(begin_forces, on="part"), each(interact, *ports(e.pulls), on="interaction")]
    if e.links:
        steps.append(over("links", linearise, *ports(e.links)))
    steps.append(Sweep(eliminate, "inward", ("own", "parent", "p0")))
    return [*steps, *(_row_steps(e, watch) if e.rows else []), Sweep(substitute, "outward", ("own", "parent", "p0"))]


def _row_steps(e: Extent, watch: Rule) -> list[Step]:
    own, condition = ("own", "awake") if e.one_sided else None, ("condition", "awake") if e.one_sided else None
    measured = ("active", "starts", "places", "sizes", "unknowns", "u", "scaled", "wanted")
    problem = ("active", "on", "b", "lower", "upper", "mu", "A", "left", "factor", *SCRATCH)
    solving = [
        Routine(gram, ("active", *PATHS, "u", "y", "A"), when="busy"),
        Routine(measure, (*measured, "b"), when="busy"),
        Routine(solve_boxes, problem, when="busy"),
    ]
    if e.directed:
        solving[0] = Routine(general_gram, ("active", *PATHS, "u", "y", "A"), when="busy")
        solving[2] = Routine(solve_mixed, (*problem[:1], "b", "lower", "mu", "A", *GENERAL), when="busy")
    return [
        each(watch, *ports(e.rows), on="auxiliary"),
        each(hold, *ports(e.rows), *(f"s{k}" for k in range(e.rows)), on="auxiliary", when=own),
        over("climbs", climb, "place", "up", when=condition),
        Routine(gather, ("rows", "on", "mu", "busy", "active")),
        *solving,
        Routine(spread, ("active", "starts", "places", "sizes", "unknowns", "y", "mu", "scaled"), when="busy"),
        Routine(leftover, (*measured, "lower", "on", "off"), when="busy"),
    ]


def state_fields(kind: Any) -> dict[str, Field]:
    """Coordinates and velocities of the parts."""
    return {"q": Field(kind, "q", of="part"), "v": Field(kind, "v", of="part")}


@functools.cache
def pass_algorithm(e: Extent) -> Algorithm:
    """One pass at given states by a given law."""
    given = {"t": Field("input", "global", SCALAR), "law": Field("input", "global", vector(LAW_SIZE))}
    steps = {"run": sweeps(e, eliminate_node, watch_afresh)}
    return Algorithm(f"assembly_pass_{e}", {**state_fields("input"), **given, **fields(e, "output")}, steps)


# --- what is measured at a state -----------------------------------------------------------------------------------------------
def measure_part(n: Any) -> None:
    """What acts on a part without being applied or exchanged: gravity less the bias."""
    (part,) = bound_parts(n)
    n.forces = gravity_force(part, n.q, n.gravity) - part.inertia(n.q, n.v)[1]


def measure_condition(n: Any, *at: Any) -> None:
    """A condition by itself."""
    rows = rows_at(n, at)
    n.J, n.loads, n.rate, n.residual = rows.J.reshape(-1), -rows.bias, rows.rate, rows.residual


@functools.cache
def measuring_algorithm(arity: int) -> Algorithm:
    """Rows of all conditions, on up to `arity` parts; the parts are the tree."""
    rows = {"J": "J", "loads": "rows", "rate": "rows", "residual": "rows"}
    fields = {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "t": Field("input", "global", SCALAR),
        "gravity": Field("input", "global", vector(3)),
        "forces": Field("output", "v"),
        **({name: Field("output", space, of="condition") for name, space in rows.items()} if arity else {}),
    }
    steps = [each(measure_part), *([each(measure_condition, *ports(arity), on="condition")] if arity else [])]
    return Algorithm(f"assembly_measure_{arity}", fields, {"run": steps})
