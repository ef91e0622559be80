"""How coordinates and displacements of joints change with one another, block by block: for whoever differentiates coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..joints import Joint
from ..kernel.sweep import Algorithm, Field, each
from ..spatial.dual import split, variables
from ..spatial.scalar import stack, zeros
from .rules import joint_of


def _charts(n: Any) -> None:
    joint = joint_of(n)
    nq, nv = joint.nq, joint.nv
    n.from_displacements = stack(*split(joint.integrate(n.q, variables(zeros(nv), nv)), nv)[1].flat) if nv else zeros(0)
    n.to_displacements = stack(*split(joint.difference(n.q, variables(n.q, nq)), nq)[1].flat) if nv else zeros(0)


CHARTS = Algorithm(
    "charts",
    {"q": Field("input", "q"), "from_displacements": Field("output", "qv"), "to_displacements": Field("output", "qv")},
    {"run": [each(_charts)]},
)
"""Per joint T = dq/d(displacement) (nq, nv) and P = d(displacement)/dq (nv, nq), row by row; P T = 1."""


def chart_places(model: Any) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Where the numbers of all T stand in a matrix (nq, nv), and those of all P in one (nv, nq): rows and columns."""
    q, v = model.tree.offsets("q"), model.tree.offsets("v")
    T: list[tuple[int, int]] = []
    P: list[tuple[int, int]] = []
    for i in range(model.nb):
        rows, columns = range(q[i], q[i + 1]), range(v[i], v[i + 1])
        T += [(r, c) for r in rows for c in columns]
        P += [(c, r) for c in columns for r in rows]
    both = [np.array(x, np.int64).reshape(-1, 2).T for x in (T, P)]
    return (both[0][0], both[0][1]), (both[1][0], both[1][1])


def is_flat(model: Any) -> bool:
    """Whether all displacements are changes of coordinates, one by one."""
    return all(b.joint.nq == b.joint.nv and type(b.joint).integrate is Joint.integrate for b in model.bodies)
