"""Records of points at which two shapes push each other, one by one or as arrays, from multipliers and positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..elements.collection import collection
from ..model.model import WORLD, Model
from .compliant import CompliantContact
from .contact import Contact
from .places import SLOT, ContactPlaces

POINT, NORMAL, FRAME, GAP, ON = slice(0, 3), slice(3, 6), slice(3, 12), 12, 13  # of the numbers of a slot


@dataclass(frozen=True, eq=False)
class ContactRecord:
    """A point at which two shapes push each other.

    bodies   names of the first and the second body; "world" for what stands still
    shapes   names of their shapes
    point    (3,), m, in the world
    normal   (3,), unit, in the world, from the second body to the first
    force    (3,), N, on the first body, in the world; the second gets its opposite
    torque   (3,), N m, on the first body: of spinning and rolling friction, else 0
    gap      m, between the shapes along the normal; negative where they overlap
    slip     (3,), m/s: the velocity of the first body against the second at the point, without what is along the normal
    name     of the `Contact`, if it has one

    >>> for c in run.contacts[-1]:  # doctest: +SKIP
    ...     print(c.bodies, c.point, c.force)
    """

    bodies: tuple[str, str]
    shapes: tuple[str, str]
    point: np.ndarray
    normal: np.ndarray
    force: np.ndarray
    torque: np.ndarray
    gap: float
    slip: np.ndarray
    name: str = ""

    @property
    def normal_force(self) -> float:
        """N, at least 0."""
        return float(self.force @ self.normal)


@dataclass(frozen=True, eq=False)
class ContactArrays:
    """Many contacts: of all runs of a batch, of many records. Entry i of every array belongs to one point.

    bodies, shapes, names   by the number of the pair
    pair     (n,): which of these
    run      (n,): number of the state in the batch; 0 where there is none
    record   (n,): number of the record
    point, normal, force, torque, slip   (n, 3), and gap (n,), as in `ContactRecord`

    >>> all_of_them = run.contacts.arrays()  # doctest: +SKIP
    >>> all_of_them.force[all_of_them.run == 3]  # doctest: +SKIP
    """

    bodies: tuple[tuple[str, str], ...]
    shapes: tuple[tuple[str, str], ...]
    names: tuple[str, ...]
    pair: np.ndarray
    run: np.ndarray
    record: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    force: np.ndarray
    torque: np.ndarray
    gap: np.ndarray
    slip: np.ndarray

    def __len__(self) -> int:
        return len(self.pair)

    def __getitem__(self, i: int) -> ContactRecord:
        k = int(self.pair[i])
        arrays = (self.point[i], self.normal[i], self.force[i], self.torque[i], float(self.gap[i]), self.slip[i])
        return ContactRecord(self.bodies[k], self.shapes[k], *arrays, self.names[k])

    def __iter__(self) -> Iterator[ContactRecord]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"ContactArrays({len(self)} contacts of {len(set(self.pair.tolist()))} pairs of shapes)"


@dataclass(frozen=True, eq=False)
class StepStarts:
    """Where steps began and how fast bodies were after them, seen from there; of many states at once.

    poses, twists     (states, bodies, 4, 4), (states, bodies, 6) of the positions at the start, the velocities after the step
    after             poses and twists at the end
    told              what contacts that Coal finds were told (states, inputs)
    h                 (states,), s: how long the step took; 0 where the state itself is looked at
    """

    poses: np.ndarray
    twists: np.ndarray
    after: tuple[np.ndarray, np.ndarray]
    told: np.ndarray
    h: np.ndarray


class ContactFinder:
    """The contacts of a model."""

    def __init__(self, model: Model) -> None:
        self.model, self.rows, first = model, [], 0
        for law, size in constraint_set(model).sizes():
            if isinstance(law, Contact):
                self.rows.append((law, slice(first, first + size)))
            first += size
        self.soft = [law for law in collection(model).forces if isinstance(law, CompliantContact)]
        self.laws = [*(law for law, _ in self.rows), *self.soft]
        self.places = ContactPlaces(model, self.laws) if self.laws else None
        self.bodies = [tuple(-1 if name == WORLD else model.body_index(name) for name in law.bodies) for law in self.laws]

    @property
    def numbers(self) -> int:
        """How many numbers the slots of one state have."""
        return SLOT * sum(self.places.slots) if self.places else 0

    def nothing(self) -> ContactArrays:
        """Arrays of no contacts."""
        nb, none = self.model.nb, np.zeros(0, int)
        poses, twists = np.zeros((0, nb, 4, 4)), np.zeros((0, nb, 6))
        return self.find(StepStarts(poses, twists, (poses, twists), np.zeros((0, 0)), np.zeros(0)), None, none, none)

    def at_state(self, poses: np.ndarray, twists: np.ndarray, forces: np.ndarray) -> tuple[ContactRecord, ...]:
        """The contacts of one state that push, by the forces (rows,) of all rows there."""
        one, still = (poses[None], twists[None]), np.zeros(1)
        starts = StepStarts(*one, one, self.told(*one, still), still)
        return tuple(self.find(starts, forces[None], np.zeros(1, int), np.zeros(1, int)))

    @cached_property
    def told_places(self) -> np.ndarray:
        """Which of the numbers that all constraints are told are those of contacts."""
        found, first = [np.zeros(0, int)], 0
        for law in collection(self.model).rows:
            found += [np.arange(first, first + law.inputs)] if isinstance(law, Contact) else []
            first += law.inputs
        return np.concatenate(found)

    def told(self, poses: np.ndarray, twists: np.ndarray, h: np.ndarray) -> np.ndarray:
        """What contacts that Coal finds are told at the start of steps; twists as they are there."""
        if self.places is None or not len(self.told_places):
            return np.zeros((len(poses), 0))
        return np.array([self.places.telling(0.0, E, phi, float(x)) for E, phi, x in zip(poses, twists, h, strict=True)])

    def find(self, starts: StepStarts, forces: np.ndarray | None, run: np.ndarray, record: np.ndarray) -> ContactArrays:
        """The contacts that push.

        forces        of all rows (states, rows); None without
        run, record   of every state, its numbers
        """
        parts: list[tuple[np.ndarray, ...]] = []
        if self.places is not None and len(starts.poses):
            acting = [] if forces is None else [np.any(forces[:, at] > 0.0) for _, at in self.rows]
            if any(acting):
                parts += self._of_rows(starts, forces, acting, run, record)  # pyright: ignore[reportArgumentType]
            if self.soft:
                parts += self._of_springs(starts, run, record)
        names = tuple(law.name for law in self.laws)
        pairs = tuple(law.bodies for law in self.laws), tuple(tuple(s.name for s in law.shapes) for law in self.laws)
        arrays = [np.concatenate(x) for x in zip(*parts, strict=True)] if parts else _no_arrays()
        order = np.lexsort((arrays[0], arrays[1], arrays[2]))
        return ContactArrays(*pairs, names, *(a[order] for a in arrays))

    def _of_rows(
        self, starts: StepStarts, forces: np.ndarray, acting: Sequence[Any], run: np.ndarray, record: np.ndarray
    ) -> Iterator[tuple[np.ndarray, ...]]:
        """Those that are rows, with the multipliers of the step."""
        assert self.places is not None
        slots = self.places.at(starts.poses, starts.told)
        for k, (law, at) in enumerate(self.rows):
            if not acting[k]:
                continue
            own, x = slots[k], forces[:, at].reshape(len(forces), -1, law.per_point)
            i, j = np.nonzero((x[..., 0] > 0.0) & np.isfinite(x[..., 0]))
            j_at = np.where(own[i, j, ON] > 0.5, j, np.argmin(np.where(own[i][..., ON] > 0.5, own[i][..., GAP], np.inf), axis=1))
            found, x = own[i, j_at], x[i, j]
            frame, torque = found[:, FRAME].reshape(-1, 3, 3), np.zeros((len(i), 3))
            force = np.einsum("na,nax->nx", x[:, : 3 if law.cones else 1], frame[:, : 3 if law.cones else 1])
            if law.spins:
                torque += x[:, 3, None] * frame[:, 0]
            if law.rolls:
                torque += np.einsum("na,nax->nx", x[:, -2:], frame[:, 1:])
            rate, slip = self._slip(k, starts.poses[i], starts.twists[i], found)
            gap = found[:, GAP] + starts.h[i] * rate
            yield np.full(len(i), k), run[i], record[i], found[:, POINT], found[:, NORMAL], force, torque, gap, slip

    def _of_springs(self, starts: StepStarts, run: np.ndarray, record: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
        """Those that are forces, by their law in the states at the end."""
        assert self.places is not None
        poses, twists = starts.after
        slots = self.places.at(poses, starts.told)
        for k, law in enumerate(self.soft, len(self.rows)):
            i, j = np.nonzero((slots[k][..., ON] > 0.5) & (slots[k][..., GAP] < 0.0))
            found = slots[k][i, j]
            rate, slip = self._slip(k, poses[i], twists[i], found)
            push = np.maximum(-law.stiffness * found[:, GAP] - law.damping * rate, 0.0)
            drag = law.friction * push / np.sqrt(np.sum(slip * slip, axis=1) + law.slip_speed**2)
            force = push[:, None] * found[:, NORMAL] - drag[:, None] * slip
            some = push > 0.0
            parts = run[i], record[i], found[:, POINT], found[:, NORMAL], force, np.zeros_like(force), found[:, GAP], slip
            yield tuple(x[some] for x in (np.full(len(i), k), *parts))

    def _slip(self, k: int, poses: np.ndarray, twists: np.ndarray, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rate of the gap (n,), and the velocity of the first body against the second across the normal (n, 3)."""
        seen = np.zeros((len(slots), 3))
        for body, sign in zip(self.bodies[k], (1.0, -1.0), strict=True):
            if body >= 0:
                R, p, phi = poses[:, body, :3, :3], poses[:, body, :3, 3], twists[:, body]
                w, v = (np.einsum("nij,nj->ni", R, x) for x in (phi[:, :3], phi[:, 3:]))
                seen += sign * (v + np.cross(w, slots[:, POINT] - p))
        rate = np.sum(seen * slots[:, NORMAL], axis=1)
        return rate, seen - rate[:, None] * slots[:, NORMAL]


def _no_arrays() -> list[np.ndarray]:
    none, three = np.zeros(0, int), np.zeros((0, 3))
    return [none, none, none, three, three, three, three, np.zeros(0), three]


def finder_of(model: Model) -> ContactFinder:
    """What finds the contacts of a model, kept with it."""
    return model.keep_as(ContactFinder, lambda: ContactFinder(model))
