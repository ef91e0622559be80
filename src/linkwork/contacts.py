"""What touches in a run: bodies, shapes, points, normals, forces and slip of every contact that pushes.

Contacts of a record are those of the step that ends there. Points and normals are where that step found them, at its start, and
forces are its impulses over dt, so that they are what moved the bodies; slip and gap are those after it. A `CompliantContact` is
looked at in the recorded state itself, and so are contacts of dop853 and ode45. Those of the first record are the ones at the
start. Where bodies meet within a step, normals are those before they meet, right to first order in dt. With `every` above 1, the
start of a step is found from its end, to second order in dt; points of one pair that Coal finds may be exchanged there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from .contact.records import ContactArrays, ContactFinder, ContactRecord, StepStarts, finder_of
from .model import MaximalState, Model, State
from .model.kinematics import kinematics
from .model.steady import advance, seen_from
from .spatial import so3
from .steppers.row_forces import RowForces

AT_ONCE = 4_000_000  # numbers of slots that are looked at together
__all__ = ["ContactArrays", "ContactFinder", "ContactRecord", "RunContacts", "contacts_after_step", "step_back"]


def step_back(
    model: Model, poses: np.ndarray, twists: np.ndarray, q: np.ndarray | None, v: np.ndarray | None, h: float
) -> tuple[np.ndarray, np.ndarray]:
    """Poses of states before a step of length h that led to them, and the twists after it as they are seen from there.

    q, v   of steps in joint coordinates; None of those in maximal coordinates
    """
    if q is not None and v is not None:
        before = np.asarray(advance(model, q, -h * v))
        k = kinematics(model, before, seen_from(model, before, q, v))
        return k.poses, k.twists
    R, w, u = poses[..., :3, :3], twists[..., :3], np.einsum("...ij,...j->...i", poses[..., :3, :3], twists[..., 3:])
    turn = np.array([[so3.exp(-h * x) for x in state] for state in w], float).reshape(R.shape)
    earlier = poses.copy()
    earlier[..., :3, :3], earlier[..., :3, 3] = R @ turn, poses[..., :3, 3] - h * u
    back = np.einsum("...ji,...j->...i", earlier[..., :3, :3], u)
    return earlier, np.concatenate([w, back], axis=-1)


class RunContacts(Sequence[Any]):
    """The contacts of every record of a run: `run.contacts[k]` is a tuple of `ContactRecord`, of a batch `ContactArrays`."""

    def __init__(self, run: Any, twists: Callable[[], np.ndarray]) -> None:
        """A `Trajectory`, and what finds the twists (..., records, bodies, 6) of its bodies."""
        self._run, self._twists, self._finder = run, twists, finder_of(run.model)

    def __len__(self) -> int:
        return len(self._run)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        if not -len(self) <= k < len(self):
            raise IndexError(f"contacts: record {k} of a run that has {len(self)}")
        k = int(k) % len(self)
        found = self._found(slice(k, k + 1))
        return found if len(self._run.poses.shape) > 4 else tuple(found)

    def arrays(self) -> ContactArrays:
        """Those of all records, in the order of records, runs and pairs."""
        numbers = max(1, self._finder.numbers * int(np.prod(self._run.poses.shape[:-4])))
        size = max(1, AT_ONCE // numbers)
        parts = [self._found(slice(a, min(a + size, len(self)))) for a in range(0, len(self), size)]
        names = [f.name for f in fields(ContactArrays)]
        joined = {n: np.concatenate([getattr(p, n) for p in parts]) for n in names[3:]} if parts else {}
        if not joined:
            return self._finder.nothing()
        return ContactArrays(parts[0].bodies, parts[0].shapes, parts[0].names, **joined)

    def __repr__(self) -> str:
        return f"RunContacts({len(self)} records, {len(self._finder.laws)} pairs of shapes)"

    def _found(self, span: slice) -> ContactArrays:
        run, finder = self._run, self._finder
        records = np.arange(span.start, span.stop)
        count = int(np.prod(run.poses.shape[:-4]))
        states = np.repeat(np.arange(count), len(records))
        if not finder.laws:
            return finder.nothing()
        return finder.find(self._starts(records), self._forces(span), states, np.tile(records, count))

    def _forces(self, span: slice) -> np.ndarray | None:
        """Of all rows (states, rows), states being those of all runs at these records."""
        run = self._run
        if not self._finder.rows or run.rows is None:
            return None
        if isinstance(run.rows, RowForces) and span.start > 0:
            found = run.rows.found(span)
        else:
            assert run.forces is not None
            found = run.forces[..., span, :]
        return found.reshape(-1, found.shape[-1])

    def _starts(self, records: np.ndarray) -> StepStarts:
        """Where the steps that ended at some records began."""
        run, model = self._run, self._run.model
        begun = (records > 0) & run.held
        earlier = np.where(begun, records - 1, records)
        step = np.where(begun, run.t[records] - run.t[earlier], 0.0) / run.every

        def at(x: np.ndarray, k: np.ndarray, tail: int) -> np.ndarray:
            return np.take(x, k, axis=x.ndim - tail - 1).reshape(-1, *x.shape[x.ndim - tail :])

        twists = self._twists()
        after = at(run.poses, records, 3), at(twists, records, 2)
        h = np.tile(step, len(after[0]) // len(records))
        ahead = h  # what contacts are told holds for the step that found forces; those of the first record are its first step's
        if run.held and len(run) > 1:
            ahead = np.where(h > 0.0, h, (run.t[1] - run.t[0]) / run.every)
        reduced = run.kind == "reduced"
        q, v = (at(x, records, 1) for x in (run.q, run.v))
        if run.every == 1:
            poses, slow, q0 = at(run.poses, earlier, 3), at(twists, earlier, 2), at(run.q, earlier, 1)
            if reduced:
                moving = kinematics(model, q0, seen_from(model, q0, q, v)).twists
            else:
                turn = np.einsum("...ji,...jk->...ik", poses[..., :3, :3], after[0][..., :3, :3])
                halves = after[1].reshape(*after[1].shape[:-1], 2, 3)
                moving = np.einsum("...jk,...sk->...sj", turn, halves).reshape(after[1].shape)
        else:
            poses, moving = after[0].copy(), after[1].copy()
            for size in np.unique(h[h > 0.0]):
                some = h == size
                back = step_back(
                    model, poses[some], moving[some], *((q[some], v[some]) if reduced else (None, None)), float(size)
                )
                poses[some], moving[some] = back
            slow = moving
        return StepStarts(poses, moving, after, self._finder.told(poses, slow, ahead), h)


def contacts_after_step(
    model: Model, state: State | MaximalState, forces: np.ndarray | None, h: float, told: np.ndarray | None
) -> tuple[ContactRecord, ...] | ContactArrays:
    """The contacts of the step that led to a state, or of a batch.

    forces   of all rows (..., rows), means over that step
    h        s, its length
    told     what constraints were told in it, (inputs,) or (states, inputs)
    """
    finder = finder_of(model)
    if isinstance(state, State):
        q, v = state.q.reshape(-1, model.nq), state.v.reshape(-1, model.nv)
        k = kinematics(model, q, v)
        poses, twists = k.poses.reshape(-1, model.nb, 4, 4), k.twists.reshape(-1, model.nb, 6)
        lone = state.q.ndim == 1
    else:
        q = v = None
        poses, twists, lone = (
            state.poses.reshape(-1, model.nb, 4, 4),
            state.twists.reshape(-1, model.nb, 6),
            state.poses.ndim == 3,
        )
    count = len(poses)
    before, moving = step_back(model, poses, twists, q, v, h)
    own = (
        np.zeros((count, 0)) if told is None else np.broadcast_to(told[..., finder.told_places], (count, len(finder.told_places)))
    )
    starts = StepStarts(before, moving, (poses, twists), np.ascontiguousarray(own), np.full(count, h))
    rows = None if forces is None else forces.reshape(count, -1)
    found = finder.find(starts, rows, np.arange(count), np.zeros(count, int))
    return tuple(found) if lone else found
