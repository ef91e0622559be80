"""Runs that leave the domain of a joint, and what a joint has to do with a motion that is not finite."""

from __future__ import annotations

import numpy as np

from ..model import Model
from ..model.locked import joint_independence, may_lock
from ..model.model import Body

NEAR = 1e-4  # of `independence`, the square of the sine of an angle: so close to a loss of rank a joint is named


def bounded_joints(model: Model) -> list[tuple[Body, slice]]:
    """The joints that have a domain, and where their coordinates lie in q."""
    return model.keep_as(bounded_joints, lambda: [(b, model.q_index(b.name)) for b in model.bodies if b.joint.bounded])


def first_departure(model: Model, q: np.ndarray, t: np.ndarray) -> tuple[int, str] | None:
    """The first record at which a joint is outside its domain, and a line that says so; None if all stay.

    q, t   records (batch, records, nq) and their times; what is not finite is not looked at
    """
    first: tuple[int, int, Body] | None = None
    for body, part in bounded_joints(model):
        x = q[..., part]
        out = ~body.joint.inside(x) & np.isfinite(x).all(axis=-1)
        if out.any():
            record = int(np.argmax(out.any(axis=0)))
            if first is None or record < first[0]:
                first = (record, int(np.argmax(out[:, record])), body)
    if first is None:
        return None
    record, run, body = first
    problem = body.joint.checked(q[run, record, model.q_index(body.name)][None])
    who = f" in run {run} of {len(q)}" if len(q) > 1 else ""
    return record, f"joint {body.joint_name!r} left its domain at t = {t[record]:.9g}{who}: {problem}"


def suspects(model: Model, q: np.ndarray, v: np.ndarray | None, span: float) -> str:
    """What the joints have to do with a motion that goes wrong within a time after the configuration q (nq,), in words."""
    found = []
    for body, part in bounded_joints(model):
        ahead = q[part] if v is None or body.joint.nq != body.joint.nv else q[part] + span * v[model.v_index(body.name)]
        if not body.joint.inside(ahead[None])[0]:
            found.append(f"joint {body.joint_name!r} was about to leave its domain")
    if may_lock(model):
        near = joint_independence(model, q)
        found += [
            f"the motion subspace of joint {model.bodies[i].joint_name!r} was about to lose rank, at q = "
            f"{q[model.q_index(model.bodies[i].name)].tolist()}"
            for i in np.flatnonzero(~(near > NEAR))
        ]
    return "".join(f"; {line}" for line in found)
