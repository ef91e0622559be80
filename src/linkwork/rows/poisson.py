"""Impacts by Poisson's law in steps: e of the impulse of compression is given back, with Coulomb friction in both of its phases.

A lane in whose step shapes meet and bounce solves two problems instead of one [Glocker, Pfeiffer 1995]:

    compression   u = A x_c + G v, with the rates where the step begins: u_n >= 0, x_c in the cones, as if nothing bounced
    expansion     u = A (x_c + x) + b, with all that the step adds: u_n >= what is asked without restitution, x_n >= e x_c,n, one
                  of them an equality; friction within mu x_n

Only what the impact itself compresses is given back: what rests elsewhere has x_c = 0, whatever it carries. For e of a row that
meets alone see `targets.hit_of`: a ball bounces as by Newton's law, to rounding.

In the expansion friction is bounded along two tangents, the first of which is that of friction in the compression: exact where a
body slips along one line, a pyramid otherwise. Lanes that hit nothing solve their problem as ever, with exact cones.
"""

from __future__ import annotations

from ..elements.collection import CONES, CROWD, IN_TURNS, ONE_PROGRAM, Collection
from ..errors import InputError
from ..kernel.loops import Ints, Lane, Table, loops, maximum, sqrt, where
from ..kernel.sweep import SCALAR, Field, Routine, Step
from ..solvers.boxes import solve_boxes, solve_soft_boxes
from ..solvers.coulomb import solve_packed_cones
from ..spatial.gate import meant

NEWTON, POISSON = "newton", "poisson"
LAWS = (NEWTON, POISSON)
COUPLED_IMPACTS = (
    "restitution='poisson' needs a step in which no force couples distant bodies (route='recursive'); take restitution='newton'"
)


def check_restitution(stepper: str, chosen: object) -> None:
    """Of the law of impacts."""
    if chosen not in LAWS:
        hint = meant(chosen, LAWS) if isinstance(chosen, str) else ""
        raise InputError(f"{stepper}: restitution must be 'newton' or 'poisson', not {chosen!r}{hint}")


def has_impacts(laws: Collection, restitution: str) -> bool:
    """Whether steps of a model need this law: some contacts have restitution."""
    if restitution == NEWTON or not laws.bounces:
        return False
    if laws.shape[3] in (IN_TURNS, CROWD, ONE_PROGRAM) or laws.rubs_inside:
        raise InputError(
            "restitution='poisson' needs contact='exact', 'pyramid' or 'frictionless', no friction inside joints, and no more "
            "contacts than are a dense matrix; take restitution='newton'"
        )
    return True


def require_derivatives(laws: Collection, stepper: object) -> None:
    """Raise where a step has impacts by this law: their derivatives are not known."""
    if getattr(stepper, "restitution", NEWTON) != NEWTON and laws.bounces:
        raise InputError("steps with restitution='poisson' have no derivatives; take restitution='newton'")


# --- routines -----------------------------------------------------------------------------------------------------------------
@loops
def begin_impact(
    active: Ints, on: Lane, hit: Lane, b: Lane, b_hit: Lane, b_calm: Lane, x: Lane, x_hit: Lane, hits: Lane, hit_left: Lane
) -> None:
    """Which lanes hit something; of the two problems that of the other lanes asks for nothing."""
    hits[0] = 0.0
    hit_left[0] = 0.0
    for i in range(active[0]):
        r = active[i + 1]
        hits[0] = where((on[r] > 0.0) & (hit[r] > 0.0), 1.0, hits[0])
    for i in range(active[0]):
        r = active[i + 1]
        b_calm[r] = where(hits[0] > 0.0, 0.0, b[r])
        b_hit[r] = where(hits[0] > 0.0, b_hit[r], 0.0)
        x[r] = where(hits[0] > 0.0, 0.0, x[r])
        x_hit[r] = 0.0


@loops
def copy_matrix(active: Ints, A: Lane, A_hit: Lane) -> None:
    """A once more, to be used up."""
    m = active[0]
    for i in range(m * (m + 1) // 2):
        A_hit[i] = A[i]


@loops
def entry(i: int, k: int) -> int:
    """Where a packed matrix has its entry i, k."""
    found = i * (i + 1) // 2 + k
    if k > i:
        found = k * (k + 1) // 2 + i
    return found


@loops
def begin_expansion(
    active: Ints,
    lower: Lane,
    b: Lane,
    A: Lane,
    giving: Lane,
    x_hit: Lane,
    hits: Lane,
    b_give: Lane,
    lower_give: Lane,
    x_give: Lane,
) -> None:
    """b and the lower bounds after the compression; as they are where nothing is hit."""
    m = active[0]
    for i in range(m):
        r = active[i + 1]
        total = b[r] + 0.0 * hits[0]
        for k in range(m):
            total += A[entry(i, k)] * x_hit[active[k + 1]]
        b_give[r] = total
        gives = (hits[0] > 0.0) & (giving[r] > 0.0)
        lower_give[r] = where(gives, giving[r] * maximum(x_hit[r], 0.0), lower[r])
        x_give[r] = 0.0


@loops
def turn_tangents(
    active: Ints,
    cones: Table,
    A: Lane,
    x_hit: Lane,
    hits: Lane,
    b_give: Lane,
    lower_give: Lane,
    A_hit: Lane,
    along: Lane,
    across: Lane,
) -> None:
    """The problem of the expansion with the first tangent of every cone along its friction; none in lanes that hit nothing."""
    m = active[0]
    copy_matrix(active, A, A_hit)
    for i in range(m):
        r = active[i + 1]
        b_give[r] = where(hits[0] > 0.0, b_give[r], 0.0)
        if cones[r] == 1:
            t1 = x_hit[r + 1]
            t2 = x_hit[r + 2]
            t = sqrt(t1 * t1 + t2 * t2)
            c = where(t > 0.0, t1 / where(t > 0.0, t, 1.0), 1.0)
            s = where(t > 0.0, t2 / where(t > 0.0, t, 1.0), 0.0)
            along[r] = c
            across[r] = s
            b1 = b_give[r + 1]
            b2 = b_give[r + 2]
            b_give[r + 1] = c * b1 + s * b2
            b_give[r + 2] = c * b2 - s * b1
            p = A_hit[entry(i + 1, i + 1)]
            q = A_hit[entry(i + 2, i + 1)]
            w = A_hit[entry(i + 2, i + 2)]
            for k in range(m):
                if k != i + 1 and k != i + 2:
                    first = A_hit[entry(i + 1, k)]
                    second = A_hit[entry(i + 2, k)]
                    A_hit[entry(i + 1, k)] = c * first + s * second
                    A_hit[entry(i + 2, k)] = c * second - s * first
            A_hit[entry(i + 1, i + 1)] = c * c * p + 2.0 * c * s * q + s * s * w
            A_hit[entry(i + 2, i + 1)] = (c * c - s * s) * q + c * s * (w - p)
            A_hit[entry(i + 2, i + 2)] = s * s * p - 2.0 * c * s * q + c * c * w


@loops
def end_cones(
    active: Ints,
    cones: Table,
    hits: Lane,
    x_hit: Lane,
    x_give: Lane,
    along: Lane,
    across: Lane,
    hit_left: Lane,
    give_left: Lane,
    x: Lane,
    left: Lane,
) -> None:
    """The impulses of both phases, in lanes that hit something."""
    left[0] = where(hits[0] > 0.0, maximum(hit_left[0], give_left[0]), left[0])
    for i in range(active[0]):
        r = active[i + 1]
        if cones[r] == 1:
            first = x_give[r + 1]
            second = x_give[r + 2]
            x_give[r + 1] = along[r] * first - across[r] * second
            x_give[r + 2] = across[r] * first + along[r] * second
    for i in range(active[0]):
        r = active[i + 1]
        x[r] = where(hits[0] > 0.0, x_hit[r] + x_give[r], x[r])


@loops
def end_boxes(active: Ints, x_hit: Lane, x: Lane, hit_left: Lane, left: Lane) -> None:
    """The same without friction: what is given back is in x."""
    left[0] = maximum(left[0], hit_left[0])
    for i in range(active[0]):
        r = active[i + 1]
        x[r] = x[r] + x_hit[r]


# --- the program --------------------------------------------------------------------------------------------------------------
def impact_fields(kinds: int) -> dict[str, Field]:
    """Those besides the fields of rows."""
    own = {name: Field("work", "rows", of="constraint") for name in ("hit", "giving", "b_hit")}
    rows = ("b_calm", "b_give", "lower_give", "x_hit", "x_give", *(("hit_along", "hit_across") if kinds == CONES else ()))
    numbers = ("hits", "hit_left", *(("give_left",) if kinds == CONES else ()))
    found = own | {name: Field("work", "row", SCALAR) for name in rows}
    found |= {name: Field("work", "global", SCALAR) for name in numbers}
    return found | {"A_hit": Field("work", "pair", SCALAR)}


BEGIN = Routine(begin_impact, ("active", "on", "hit", "b", "b_hit", "b_calm", "x", "x_hit", "hits", "hit_left"))
EXPANSION = ("active", "lower", "b", "A", "giving", "x_hit", "hits", "b_give", "lower_give", "x_give")


def given(routine: Routine, names: dict[str, str], when: str) -> Routine:
    """A routine on other fields."""
    return Routine(routine.function, tuple(names.get(name, name) for name in routine.arguments), when=when)


def solved_impacts(solver: list[Step]) -> list[Step]:
    """The solver of a step without impacts, and what solves them."""
    (plain,) = solver
    assert isinstance(plain, Routine)
    if plain.function is not solve_packed_cones:
        boxes = Routine(solve_boxes, plain.arguments[: len(solve_boxes.parameters)])  # soft ones are given more
        assert plain.function in (solve_boxes, solve_soft_boxes)
        return [
            BEGIN,
            Routine(copy_matrix, ("active", "A", "A_hit"), when="hits"),
            given(boxes, {"b": "b_hit", "x": "x_hit", "A": "A_hit", "left": "hit_left"}, "hits"),
            Routine(begin_expansion, EXPANSION, when="busy"),
            given(plain, {"b": "b_give", "lower": "lower_give"}, "busy"),
            Routine(end_boxes, ("active", "x_hit", "x", "hit_left", "left"), when="busy"),
        ]
    compression = {"b": "b_hit", "x": "x_hit", "left": "hit_left"}
    expansion = {"cones": "pyramids", "b": "b_give", "lower": "lower_give", "x": "x_give", "A": "A_hit", "left": "give_left"}
    turned = ("active", "cones", "A", "x_hit", "hits", "b_give", "lower_give", "A_hit", "hit_along", "hit_across")
    ends = ("active", "cones", "hits", "x_hit", "x_give", "hit_along", "hit_across", "hit_left", "give_left", "x", "left")
    return [
        BEGIN,
        given(plain, {"b": "b_calm"}, "busy"),
        given(plain, compression, "hits"),
        Routine(begin_expansion, EXPANSION, when="hits"),
        Routine(turn_tangents, turned, when="hits"),
        given(plain, expansion, "hits"),
        Routine(end_cones, ends, when="hits"),
    ]
