"""Conditions that are not on the forest: their rows, the matrix of their answers, their multipliers [Baraff, section 8].

watch      which rows take part
hold       rows and targets; J^T goes to the nodes of the parts
climb      rows go up to the root (`ways`): u = L^-1 J^T and y = D^-1 u at every node
routines   A_rs, the sum of u_r . y_s over the nodes on both ways, D being negative at conditions; what the rows lack; the
           multipliers of the problem (`solvers.boxes`, `solvers.lemke`); and their answer, which joins D^-1 L^-1 b
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.sweep import SCALAR, Field, Kind, Routine, Step, each, over
from ..solvers.boxes import gather, solve_boxes
from ..solvers.elimination import forward_substitute
from ..solvers.gram import PATHS as ALONG
from ..solvers.gram import gram, spread
from ..solvers.lemke import general_gram, solve_mixed
from ..spatial.scalar import Vector, array, maximum, where, zeros
from .aim import Aim, rows_at, target_of
from .extent import Extent, Rule, part_roles
from .ways import leftover, measure

SCRATCH = ("d", "scale", "scaled_b", "scaled_lower", "scaled_upper", "scaled_x", "w", "answer", "inside", "remaining", "some")
GENERAL = ("rest", "pushed", "tableau", "pivots", "pushing", "basis")
PATHS = ("starts", "nodes", "places", "sizes")


def watch(n: Any, *at: Any) -> None:
    """Which rows take part."""
    if n.laws[0].unilateral:
        rows, aim = rows_at(n, at), Aim(*n.aim)
        pairs = zip(rows.residual, rows.rate, strict=True)
        n.on = array([where((r <= aim.near) & (rate <= aim.slow), 1.0, 0.0) for r, rate in pairs])
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
            along = rows.K_T + Aim(*n.aim).straight * (rows.J - rows.K_T) if condition.directed else rows.J
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


def row_fields(e: Extent, kept: Kind) -> dict[str, Field]:
    """Those of rows and of their places; see `passes.fields`."""
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
        "columns": Field("work", "column", SCALAR),
        "A": Field("work", "pair", SCALAR),
        **directions,
        **(general if e.directed else {"factor": Field("work", "pair", SCALAR)}),
        **({} if e.directed else {name: Field("work", "row", SCALAR) for name in SCRATCH}),
        **({} if e.directed else {"some": Field("work", "list", SCALAR)}),
    }


def row_steps(e: Extent, watch: Rule) -> list[Step]:
    """From a factor and D^-1 L^-1 b to the same with the answer to all multipliers."""
    own, condition = ("own", "awake") if e.one_sided else None, ("condition", "awake") if e.one_sided else None
    measured = ("active", "starts", "places", "sizes", "unknowns", "u", "scaled", "wanted")
    problem = ("active", "on", "b", "lower", "upper", "mu", "A", "left", "factor", *SCRATCH)
    solving = [
        Routine(gram, (*ALONG, "on", "u", "y", "columns", "A"), when="busy"),
        Routine(measure, (*measured, "b"), when="busy"),
        Routine(solve_boxes, problem, when="busy"),
    ]
    if e.directed:
        solving[0] = Routine(general_gram, ("active", *PATHS, "u", "y", "A"), when="busy")
        solving[2] = Routine(solve_mixed, (*problem[:1], "b", "lower", "mu", "A", *GENERAL), when="busy")
    return [
        each(watch, *part_roles(e.rows), on="auxiliary"),
        each(hold, *part_roles(e.rows), *(f"s{k}" for k in range(e.rows)), on="auxiliary", when=own),
        over("climbs", climb, "place", "up", when=condition),
        Routine(gather, ("rows", "on", "mu", "busy", "left", "active")),
        *solving,
        Routine(spread, (*ALONG, "y", "mu", "scaled"), when="busy"),
        Routine(leftover, (*measured, "lower", "on", "off"), when="busy"),
    ]
