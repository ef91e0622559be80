"""Which equality constraints of a model are redundant at a configuration, and which contradict one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.accepts import takes_model
from ..model.kinematics import kinematics
from ..model.model import Model
from ..model.state import Motion
from ..spatial.gate import given_number, given_reals
from .rows import ConstraintSet, constraint_set
from .singular import check_slopes

DEPENDENT = 1e-9  # of a row's length: less than this outside the span of the rows before it
CONTRADICTION = 1e-9  # of a residual or a rate, in the units of its row


@dataclass(frozen=True)
class ConstraintReport:
    """The equality rows at one configuration.

    rows           how many
    rank           how many are independent
    redundant      names of rows that those before them imply, or that no joint can change
    inconsistent   names of rows whose residual or prescribed rate no motion can meet to first order, together with the others
    residual       the largest part of a residual that no motion removes

    >>> closed = model.add(lw.Loop("lower", "world", (1, 0, 0), (2, 0, 0)))
    >>> report = lw.constraint_report(closed, np.zeros(2))
    >>> report.rows, report.rank
    (3, 1)
    """

    rows: int
    rank: int
    redundant: tuple[str, ...]
    inconsistent: tuple[str, ...]
    residual: float


@takes_model
def constraint_report(model: Model, q: Any, t: float = 0.0) -> ConstraintReport:
    """The rank of G (rows, nv) at q, rows that others imply, and what of the residuals lies outside the range of G.

    >>> closed = model.add(lw.Coupling("lower", "upper", ratio=-0.5))
    >>> lw.constraint_report(closed, [0.2, -0.1]).rank
    1
    """
    q, t, constraints = given_reals("constraint_report: q", q), given_number("constraint_report: t", t), constraint_set(model)
    still = kinematics(model, q, np.zeros(model.nv))
    c = constraints.look(still.poses, still.twists, q, np.zeros(model.nv), t)
    equal = ~c.unilateral
    names = [name for name, keep in zip(row_names(constraints), equal, strict=True) if keep]
    units = np.eye(model.nv)
    G = (c.rows @ Motion(kinematics(model, q, units).twists, units)).T[equal]
    check_slopes(G, names)
    dependent, rank = _dependent(G)
    left = [np.abs(x[equal] - _reached(G, x[equal])) for x in (c.residual, c.given)]
    wrong = np.maximum(*left) > CONTRADICTION
    redundant, inconsistent = (_chosen(names, hits) for hits in (dependent, wrong))
    return ConstraintReport(len(names), rank, redundant, inconsistent, float(left[0].max(initial=0.0)))


def _chosen(names: list[str], hits: np.ndarray) -> tuple[str, ...]:
    return tuple(name for name, hit in zip(names, hits, strict=True) if hit)


def row_names(constraints: ConstraintSet) -> list[str]:
    """A name for every row, in their order: the constraint, what it connects, and the number of the row in it."""
    return [f"{c!r} row {k}" for c, size in constraints.sizes() for k in range(size)]


def _dependent(G: np.ndarray) -> tuple[np.ndarray, int]:
    """Which rows lie in the span of those before them (Gram-Schmidt, twice for rounding), and the rank."""
    basis = np.zeros((0, G.shape[1]))
    dependent = np.zeros(len(G), dtype=bool)
    longest = np.linalg.norm(G, axis=1).max(initial=0.0)
    for k, row in enumerate(G):
        size = np.linalg.norm(row)
        rest = row - basis.T @ (basis @ row)
        rest = rest - basis.T @ (basis @ rest)
        dependent[k] = size <= 1e-12 * longest or np.linalg.norm(rest) <= DEPENDENT * size
        if not dependent[k]:
            basis = np.vstack([basis, rest / np.linalg.norm(rest)])
    return dependent, len(basis)


def _reached(G: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The part of x in the range of G."""
    return G @ np.linalg.lstsq(G, x, rcond=DEPENDENT)[0] if G.size else np.zeros_like(x)
