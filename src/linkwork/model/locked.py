"""Positions where a joint's motion subspace S loses rank: its coordinates do not say there how the body moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..joints.independence import LOCKED, independence
from ..kernel.sweep import SCALAR, Algorithm, Field, each
from ..spatial.scalar import dot, stack
from .drivable import lost_rank
from .model import Body, Model
from .rules import joint_of


def _measure(n: Any) -> None:
    if not n.joint.may_lock:
        n.independence, n.lengths = 1.0, np.ones(n.joint.nv)
        return
    S = joint_of(n).motion(n.q, np.zeros(n.joint.nv)).tangent.S
    n.independence, n.lengths = independence(S), stack(*(dot(x, x) for x in S.T))


INDEPENDENCE = Algorithm(
    "joint_independence",
    {"q": Field("input", "q"), "independence": Field("output", "node", SCALAR), "lengths": Field("output", "v")},
    {"run": [each(_measure)]},
)


def _locks(body: Body) -> bool:
    """Whether coordinates of its joint may not say how the body moves; armature on all of them says it even there."""
    return body.joint.may_lock and not np.all(body.properties.armature > 0.0)


def may_lock(model: Model) -> bool:
    """Whether some joint may have a subspace that loses rank where nobody has said so."""
    return model.keep_as(may_lock, lambda: any(map(_locks, model.bodies)))


def joint_independence(model: Model, q: np.ndarray) -> np.ndarray:
    """Of every joint that may lock how independent its coordinates are, see `independence`; 1 of others. (..., bodies)."""
    return model.call(INDEPENDENCE, {"q": q})["independence"][..., 0]


def locking(model: Model, q: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Names of joints, and numbers along records q (records, nq) that vanish where their subspaces lose rank: the length of every
    column of S, and the sine of the least angle between one and those before."""
    found = model.call(INDEPENDENCE, {"q": q})
    out: list[tuple[str, np.ndarray]] = []
    for i, body in enumerate(model.bodies):
        if _locks(body):
            columns = found["lengths"][:, model.v_index(body.name)].T
            out += [(body.joint_name, np.sqrt(x)) for x in (*columns, found["independence"][:, i, 0])]
    return [(name, x) for name, x in out if np.all(np.isfinite(x)) and x.max(initial=0.0) > 0.0]


def locked_joint(model: Model, q: np.ndarray) -> str | None:
    """What is wrong at configurations (..., nq), with the first joint whose subspace loses rank in one of them; or None."""
    if not may_lock(model):
        return None
    found = np.atleast_2d(joint_independence(model, q))
    bad = ~(found > LOCKED) & [_locks(body) for body in model.bodies]
    if not bad.any():
        return None
    state, i = (int(k) for k in np.argwhere(bad)[0])
    body = model.bodies[i]
    at = np.atleast_2d(q)[state, model.q_index(body.name)]
    return lost_rank(body, at)
