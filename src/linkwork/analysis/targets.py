"""Targets of inverse kinematics: where frames are wanted, one state or a batch, and which of them are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import InputError
from ..lagrange.frames import frame_jacobian
from ..model.model import Model
from ..reduced.jacobian import frame_pose
from ..spatial.gate import finite_reals, given_positive, given_reals, rotation_problem
from ..spatial.scalar import read_only

SHOWN = 6  # ranges of states that a line lists at most


@dataclass(frozen=True, eq=False)
class Target:
    """Where a frame is wanted: a position (..., 3), a rotation (..., 3, 3), or both; `point` is an offset from the frame, in its
    axes. Leading axes are those of a batch: a marker at many moments, for example.

    A target with a NaN is missing there, as a whole, as markers of motion capture are: it is left out and told in the result.

    weight   of a metre or a radian of this target beside others that cannot be reached together with it

    >>> lw.analysis.Target("lower", position=(0.5, 0.0, -0.3)).frame
    'lower'
    """

    frame: str
    position: Any = None
    rotation: Any = None
    point: Any = (0.0, 0.0, 0.0)
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.position is None and self.rotation is None:
            raise InputError(f"a target for {self.frame!r} needs a position, a rotation, or both")
        owner = f"the target for {self.frame!r}"
        for what, tail in (("position", (3,)), ("rotation", (3, 3))):
            if getattr(self, what) is not None:
                object.__setattr__(self, what, _numbers(f"{owner}: its {what}", getattr(self, what), tail))
        if self.rotation is not None:
            problem = rotation_problem(self.rotation[np.isfinite(self.rotation).all(axis=(-1, -2))])
            if problem:
                raise InputError(f"{owner}: its rotation must be one; {problem}")
        point = finite_reals(f"{owner}: its point", self.point)
        if point.shape != (3,):
            raise InputError(f"{owner}: its point has shape {point.shape}; it must be (3,)")
        object.__setattr__(self, "point", read_only(point))
        object.__setattr__(self, "weight", given_positive(f"{owner}: its weight", self.weight))

    @property
    def lead(self) -> tuple[int, ...]:
        """The axes of its batch."""
        shapes = [a.shape[:tail] for a, tail in ((self.position, -1), (self.rotation, -2)) if a is not None]
        return np.broadcast_shapes(*shapes)

    def at(self, lead: tuple[int, ...]) -> tuple[Target, np.ndarray]:
        """The target for a flat batch (states,), with zeros and no turn where it is missing, and where that is (states,)."""
        count, found = int(np.prod(lead)), dict[str, np.ndarray]()
        missing = np.zeros(count, bool)
        for what, rest in (("position", np.zeros(3)), ("rotation", np.eye(3))):
            if getattr(self, what) is not None:
                a = np.broadcast_to(getattr(self, what), (*lead, *rest.shape)).reshape(count, *rest.shape)
                lost = np.isnan(a).reshape(count, -1).any(axis=1)
                found[what] = np.where(lost.reshape(count, *[1] * rest.ndim), rest, a)
                missing |= lost
        return replace(self, **found), missing

    def error(self, model: Model, q: np.ndarray) -> np.ndarray:
        """The error of a batch of states (batch, 3 or 6), in world axes: the rotation vector, then the way."""
        E = frame_pose(model, q, self.frame)
        parts = []
        if self.rotation is not None:
            parts.append(Rotation.from_matrix(self.rotation @ E[:, :3, :3].swapaxes(-1, -2)).as_rotvec())
        if self.position is not None:
            parts.append(self.position - E[:, :3, 3] - E[:, :3, :3] @ self.point)
        return np.concatenate(parts, axis=-1)

    def jacobian(self, model: Model, q: np.ndarray) -> np.ndarray:
        """How much of it joints bring (batch, 3 or 6, nv)."""
        J = frame_jacobian(model, q, self.frame, "aligned", self.point)
        first, last = 0 if self.rotation is not None else 3, 6 if self.position is not None else 3
        return J[:, first:last]


class Wanted:
    """The targets of a flat batch of states, with the weights with which they count.

    missing   whether a target is missing (batch, targets)
    """

    def __init__(self, model: Model, parts: Sequence[tuple[Target, np.ndarray]]) -> None:
        self.model, self.targets = model, [target for target, _ in parts]
        self.missing = np.stack([missing for _, missing in parts], axis=-1)
        self.weights = np.where(self.missing, 0.0, [t.weight for t in self.targets])

    def part(self, states: np.ndarray) -> Wanted:
        """The targets of some of the states."""
        parts = []
        for k, target in enumerate(self.targets):
            arrays = {what: a[states] for what in ("position", "rotation") if (a := getattr(target, what)) is not None}
            parts.append((replace(target, **arrays), self.missing[states, k]))
        return Wanted(self.model, parts)

    def errors(self, q: np.ndarray) -> np.ndarray:
        """Weighted errors of all targets (batch, rows)."""
        found = [self.weights[:, k, None] * t.error(self.model, q) for k, t in enumerate(self.targets)]
        return np.concatenate(found, axis=-1)

    def jacobians(self, q: np.ndarray) -> np.ndarray:
        """Weighted Jacobians of all targets (batch, rows, nv)."""
        found = [self.weights[:, k, None, None] * t.jacobian(self.model, q) for k, t in enumerate(self.targets)]
        return np.concatenate(found, axis=-2)

    def misses(self, q: np.ndarray) -> np.ndarray:
        """How far each is missed (batch, targets), the larger of metres and radians; 0 where it is missing."""
        missed = [t.error(self.model, q).reshape(len(q), -1, 3) for t in self.targets]
        return np.where(self.missing, 0.0, np.stack([np.linalg.norm(x, axis=-1).max(axis=-1) for x in missed], axis=-1))

    def check_some(self) -> None:
        """Raise if a state has no target."""
        without = np.flatnonzero(self.missing.all(axis=1))
        if len(without):
            where = f" of states {ranges(without)}" if len(self.missing) > 1 else ""
            raise InputError(f"all targets{where} are missing (NaN); leave these states out, or give one target that is known")

    def notes(self, batched: bool) -> tuple[str, ...]:
        """A line for every target that is missing somewhere."""
        lines = []
        for k, target in enumerate(self.targets):
            states = np.flatnonzero(self.missing[:, k])
            if len(states):
                where = f" in {len(states)} of {len(self.missing)} states: {ranges(states)}" if batched else ""
                lines.append(f"target {k} for {target.frame!r} is missing (NaN){where}; it was left out")
        return tuple(lines)


def ranges(numbers: np.ndarray) -> str:
    """Ascending whole numbers in words: 3, 7 to 12, ..."""
    parts = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    words = [f"{p[0]}" if len(p) == 1 else f"{p[0]} to {p[-1]}" for p in parts[:SHOWN]]
    return ", ".join(words) + (", ..." if len(parts) > SHOWN else "")


def _numbers(owner: str, given: Any, tail: tuple[int, ...]) -> np.ndarray:
    """Numbers (..., *tail), finite or NaN."""
    a = given_reals(owner, given)
    if a.shape[a.ndim - len(tail) :] != tail or a.ndim < len(tail):
        raise InputError(f"{owner} has shape {a.shape}; it must be {tail}, after the axes of a batch")
    if np.isinf(a).any():
        raise InputError(f"{owner} is infinite; it must be finite, or NaN if it is missing")
    return read_only(a)
