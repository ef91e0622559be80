"""Runs that leave the domain of a joint, of the tree or of a closure; what joints have to do with motions that are not finite."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..constraints.closure_domains import ClosureCoordinates, bounded_closures
from ..constraints.rows import constraint_set
from ..errors import LinkworkError, SolverError
from ..forces.set import force_set
from ..joints import Joint
from ..model import Model
from ..model.kinematics import kinematics
from ..model.locked import joint_independence, may_lock
from ..model.model import Body
from ..model.parting import lost_contact, may_part, relative_curvatures

CLOSE = 1e-9  # s, and of the time: how far behind a state a law is looked at where no step from it is short enough
DIFFERENCE = 1e-5  # of the time between records: for the rate of relative curvatures
SPANS = 4.0  # times between records: within so many the curvatures of surfaces must agree, to be named
FLAT = 0.02  # of `relative_curvature`: steps that fail so close to 0 fail because of it
NEAR = 1e-4  # of `independence`, the square of the sine of an angle: so close to a loss of rank a joint is named


def bounded_joints(model: Model) -> list[tuple[Body, slice]]:
    """The joints that have a domain, and where their coordinates lie in q."""
    return model.keep_as(bounded_joints, lambda: [(b, model.q_index(b.name)) for b in model.bodies if b.joint.bounded])


def has_domains(model: Model) -> bool:
    """Whether some joint, or one that closes a loop, has a domain."""
    return bool(bounded_joints(model) or bounded_closures(model) or may_part(model))


class Domains:
    """The domains of joints, and of joints that close loops, along a run that goes on from call to call."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._closures = ClosureCoordinates(model) if bounded_closures(model) else None
        self._sides: np.ndarray | None = None  # signs of relative curvatures of surfaces that touch, at the first record

    def first_departure(self, q: np.ndarray, t: np.ndarray) -> tuple[int, str] | None:
        """The first record at which a joint is outside its domain or has lost its contact, and a line that says so; else None.

        q, t   records (batch, records, nq) and their times; what is not finite is not looked at
        """
        left, parted = self._first_outside(q, t), self._first_parted(q, t) if may_part(self.model) else None
        return min((found for found in (left, parted) if found), key=lambda found: found[0], default=None)

    def _first_parted(self, q: np.ndarray, t: np.ndarray) -> tuple[int, str] | None:
        """The first record at which curvatures of surfaces that touch differ the other way round than at the start."""
        with np.errstate(all="ignore"):
            sides = np.sign(relative_curvatures(self.model, q))
        if self._sides is None:
            self._sides = sides[:, 0]
        parted = sides * self._sides[:, None] < 0.0
        if not parted.any():
            return None
        record = int(np.argmax(parted.any(axis=(0, 2))))
        run, i = (int(k) for k in np.argwhere(parted[:, record])[0])
        who = f" in run {run} of {len(q)}" if len(q) > 1 else ""
        return record, f"at t = {t[record]:.9g}{who} {lost_contact(self.model.bodies[i])}"

    def _first_outside(self, q: np.ndarray, t: np.ndarray) -> tuple[int, str] | None:
        """The first record at which a joint is outside its domain."""
        looked = [(f"joint {b.joint_name!r}", b.joint, q[..., part]) for b, part in bounded_joints(self.model)]
        if self._closures is not None:
            x = self._closures.at(q, t)
            looked += [(repr(c), c.pair, x[..., part]) for c, part in self._closures.parts]
        first: tuple[int, int, str, Joint, np.ndarray] | None = None
        for name, joint, x in looked:
            out = ~joint.inside(x) & np.isfinite(x).all(axis=-1)
            if out.any():
                record = int(np.argmax(out.any(axis=0)))
                if first is None or record < first[0]:
                    first = (record, int(np.argmax(out[:, record])), name, joint, x)
        if first is None:
            return None
        record, run, name, joint, x = first
        who = f" in run {run} of {len(q)}" if len(q) > 1 else ""
        return record, f"{name} left its domain at t = {t[record]:.9g}{who}: {joint.checked(x[run, record][None])}"


def broken_laws(model: Model, q: np.ndarray, v: np.ndarray, t: float) -> list[Any]:
    """The forces and constraints that are not finite, or have no finite slope, at a state; none where it overflows by itself."""
    if not model.elements:
        return []
    try:
        at, rows = kinematics(model, q, v), constraint_set(model)
    except SolverError:
        return []
    with np.errstate(all="ignore"):
        forces = force_set(model).broken(at.poses, at.twists, q, v, t)
        found = rows.records(at.poses[None], at.twists[None], q[None], v[None], np.array([t]))
    good = np.all(np.isfinite(np.concatenate([found[name] for name in ("residual", "rate", "bias")])), axis=0)
    owners = [law for law, size in rows.sizes() for _ in range(size)]
    return [*forces, *{id(law): law for law, whole in zip(owners, good, strict=True) if not whole}.values()]


def suspects(model: Model, q: np.ndarray, v: np.ndarray, t: float, span: float) -> str:
    """What joints and laws have to do with a motion that goes wrong within a time after the state q (nq,), v (nv,), in words."""
    found = [f"what {law!r} computes is not finite at t = {t:.9g}" for law in broken_laws(model, q, v, t)]
    there, later = _ahead(model, q, v, span), t + span
    if not found and there is not None:
        found = [f"what {law!r} computes is not finite at t = {later:.9g}" for law in broken_laws(model, there, v, later)]
    for body, part in bounded_joints(model):
        next_q = q[part] if body.joint.nq != body.joint.nv else q[part] + span * v[model.v_index(body.name)]
        if not body.joint.inside(next_q[None])[0]:
            found.append(f"joint {body.joint_name!r} was about to leave its domain")
    lost = parting(model, q, v, span) if may_part(model) else []
    found += [lost_contact(model.bodies[i]) for i in lost]
    if may_lock(model) and not lost:
        near = joint_independence(model, q)
        found += [
            f"the motion subspace of joint {model.bodies[i].joint_name!r} was about to lose rank, at q = "
            f"{q[model.q_index(model.bodies[i].name)].tolist()}"
            for i in np.flatnonzero(~(near > NEAR))
        ]
    return "".join(f"; {line}" for line in found)


def _ahead(model: Model, q: np.ndarray, v: np.ndarray, span: float) -> np.ndarray | None:
    """Coordinates after a time at a velocity; None if they overflow."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return model.integrate(q, span * v)
    except LinkworkError:
        return None


def parting(model: Model, q: np.ndarray, v: np.ndarray, span: float) -> list[int]:
    """Numbers of the joints whose surfaces come to curvatures that agree within some times a time, or nearly have them.

    A relative curvature c vanishes like the root of the time that is left, which is -c / (2 c_dot).
    """
    there = _ahead(model, q, v, DIFFERENCE * span)
    if there is None:
        return []
    with np.errstate(all="ignore"):
        c, after = relative_curvatures(model, np.array([q, there]))
        spans = -0.5 * c * DIFFERENCE / (after - c)
    return [int(i) for i in np.flatnonzero((np.abs(c) < FLAT) | ((spans >= 0.0) & (spans < SPANS)))]


def reason_to_stop(model: Model, q: np.ndarray, v: np.ndarray, t: float) -> str:
    """Why no step from a state q (nq,), v (nv,) is short enough, to follow these words: a law that is not finite there or right
    behind it, constraints that are singular, a joint about to leave its domain; else what it may be."""
    found = suspects(model, q, v, t, CLOSE * (1.0 + abs(t)))
    return found or "; the motion is singular there, too stiff, or not finite"
