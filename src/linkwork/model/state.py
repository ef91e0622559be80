"""States: what moves, and nothing that can be derived from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from ..errors import InputError
from ..joints import Free, Spherical
from ..kernel import python
from ..kernel.snapshot import snapshots
from ..kernel.soundness import sound
from ..spatial.frozen import FINISHED, Frozen, frozen, is_frozen
from ..spatial.gate import given_number, given_reals, rotation_problem
from .entrance import body_of, quaternions
from .locked import locked_joint, may_lock
from .model import Model

FLOAT64 = np.dtype(float)
LEFT_OPEN = "left_open"  # in the memory of a state: how far (m or rad) and how fast a run left its equality constraints open
STEPPED = 1e-4  # of rotations of maximal states: integrators of one's own leave the group between their stages


@dataclass(frozen=True, eq=False, init=False)
class State(Frozen, finishes_itself=True):
    """Reduced coordinates: time, q (nq,) and v (nv,); a batch has its axis first.

    memory   what the stepper that ended here hands to its own next step, by name; without it a run starts anew

    >>> lw.State(q=[0.1, 0.2], v=[0.0, 0.0])
    State(q=[0.1, 0.2], v=[0., 0.], t=0)
    """

    q: np.ndarray
    v: np.ndarray
    t: float = 0.0
    memory: Mapping[str, np.ndarray] | None = field(default=None, repr=False)

    def __init__(self, q: Any, v: Any, t: Any = 0.0, memory: Mapping[str, np.ndarray] | None = None) -> None:
        parts = self.__dict__  # what a frozen dataclass sets one by one takes half of the time of making one
        parts["q"], parts["v"] = _own("q", q), _own("v", v)
        parts["t"], parts["memory"], parts[FINISHED] = given_time(t), memory if memory is None else frozen(memory), True

    def __repr__(self) -> str:
        return f"State(q={_short(self.q)}, v={_short(self.v)}, t={self.t:g})"


@dataclass(frozen=True, eq=False, init=False)
class MaximalState(Frozen, finishes_itself=True):
    """Maximal coordinates: poses (bodies, 4, 4), body twists (bodies, 6), and the joint coordinates that fit best (nq,).

    `q_fit` only says where on its joint each body is (which turn, which sign of a quaternion); it is no second state.

    memory   as that of a `State`

    >>> lw.to_maximal(model, state)
    MaximalState(2 bodies, q_fit=[...], t=0)
    """

    poses: np.ndarray
    twists: np.ndarray
    q_fit: np.ndarray
    t: float = 0.0
    memory: Mapping[str, np.ndarray] | None = field(default=None, repr=False)

    def __init__(self, poses: Any, twists: Any, q_fit: Any, t: Any = 0.0, memory: Mapping[str, np.ndarray] | None = None) -> None:
        parts = self.__dict__
        parts["poses"], parts["twists"], parts["q_fit"] = _own("poses", poses), _own("twists", twists), _own("q_fit", q_fit)
        parts["t"], parts["memory"], parts[FINISHED] = given_time(t), memory if memory is None else frozen(memory), True

    def __repr__(self) -> str:
        lead, bodies = self.twists.shape[:-2], self.twists.shape[-2] if self.twists.ndim > 1 else 0
        many = f"{lead[0]} states of " if lead else ""
        return f"MaximalState({many}{bodies} bodies, q_fit={_short(self.q_fit)}, t={self.t:g})"


def _own(name: str, x: Any) -> np.ndarray:
    """Numbers of a state in float64 that nobody can write to: a copy, where somebody could."""
    if type(x) is not np.ndarray or (x.dtype is not FLOAT64 and x.dtype != FLOAT64):
        x = given_reals(f"state.{name}", x)
    elif not x.flags.writeable and is_frozen(x):
        return x
    else:
        x = x.copy()
    x.setflags(False)
    return x


def given_time(t: Any) -> float:
    """The time of a state: a finite number."""
    return t if type(t) is float and isfinite(t) else given_number("state.t", t)


def _short(a: np.ndarray) -> str:
    """An array in a line: its numbers to five digits if it is one row, else its shape."""
    if a.ndim != 1:
        return f"array of {' x '.join(map(str, a.shape))}"
    return np.array2string(a, precision=5, threshold=12, edgeitems=4, separator=", ", max_line_width=10**6)


def states_of(q: np.ndarray, v: np.ndarray) -> Callable[[float], State]:
    """A function that makes states of copies of these arrays of float64: nothing is looked at, for loops that make many."""
    new, q_now, v_now = object.__new__, snapshots(q), snapshots(v)

    def state(t: float) -> State:
        made = new(State)
        parts: Any = made.__dict__
        parts["q"], parts["v"], parts["t"] = q_now(), v_now(), t
        return made

    return state


FEW = 1000  # numbers: a product of more may start threads
ONES = np.ones(FEW)


def is_finite(a: np.ndarray) -> bool:
    """Whether every number is finite; of few numbers the sum is, which does not overflow as soon as squares do."""
    return (a.ndim == 1 and a.size < FEW and isfinite(a.dot(ONES[: a.size]))) or bool(np.isfinite(a).all())


def check_state(model: Model, state: State) -> None:
    """Raise with the first thing that is wrong: shapes, NaN, quaternions that are not unit, subspaces that lose rank."""
    if not isinstance(state, State):
        raise InputError(f"state must be a State, not a {type(state).__name__}")
    looks = model.keep_as(_Looks, lambda: _Looks(model))
    q = state.q
    quick = _fits(q, model.nq) and _fits(state.v, model.nv) and looks.sound(q, state.v) is True
    if not quick:
        _check_numbers(model, state)
    for body, part in looks.others if quick else looks.particular:
        problem = body.joint.checked(q[..., part])
        if problem:
            raise InputError(f"state.q at joint {body.joint_name!r}: {problem}")
    locked = locked_joint(model, q)
    if locked:
        raise InputError(f"state.q: {locked}; start elsewhere")


def has_plain_states(model: Model) -> bool:
    """Whether nothing can be wrong with states of the right size but numbers that are not finite, and quaternions not unit."""
    return not model.keep_as(_Looks, lambda: _Looks(model)).others and not may_lock(model)


def _fits(a: np.ndarray, size: int) -> bool:
    """Whether it is one state's numbers, or those of a batch, in one piece."""
    shape = a.shape
    return shape[-1:] == (size,) and (len(shape) == 1 or (len(shape) == 2 and shape[0] > 0)) and a.flags.c_contiguous


def _check_numbers(model: Model, state: State) -> None:
    for name, a, size in (("q", state.q, model.nq), ("v", state.v, model.nv)):
        if a.shape[-1:] != (size,) or a.ndim > 2:
            raise InputError(f"state.{name} has shape {a.shape}; this model needs ({size},) or (batch, {size})")
        if a.ndim == 2 and not len(a):
            raise InputError(f"state.{name} is a batch of 0 states; give at least one")
        if not is_finite(a):
            body = model.bodies[body_of(model, name, int(np.argwhere(~np.isfinite(a))[0][-1]))]
            raise InputError(f"state.{name} is not finite at joint {body.joint_name!r}")


class _Looks:
    """How states of a model are looked at.

    sound        of q and v, (n,) or (batch, n) in one piece: True if they are finite and quaternions unit
    particular   bodies whose joints have coordinates that cannot take any value, and where these lie in q
    others       those of them whose coordinates are not just quaternions
    """

    def __init__(self, model: Model) -> None:
        units = [(0, at) for at in quaternions(model)]
        self.sound = sound(FLOAT64, units, range(2)) if python.available() else _nothing
        bodies = [b for b in model.bodies if not b.joint.takes_any]
        self.particular = [(b, model.q_index(b.name)) for b in bodies]
        self.others = [(b, part) for b, part in self.particular if type(b.joint).checked not in (Free.checked, Spherical.checked)]


def _nothing(*_: np.ndarray) -> None:
    """What a look says where compiled code does not know NumPy's arrays."""


def check_maximal_state(model: Model, state: MaximalState) -> None:
    """Raise with the first thing that is wrong: shapes, NaN, poses that are not rigid."""
    if not isinstance(state, MaximalState):
        raise InputError(f"state must be a MaximalState, not a {type(state).__name__}")
    batch = state.twists.shape[:-2]
    for name, tail in (("poses", (model.nb, 4, 4)), ("twists", (model.nb, 6)), ("q_fit", (model.nq,))):
        a = getattr(state, name)
        if a.shape != batch + tail or len(batch) > 1:
            raise InputError(
                f"state.{name} has shape {a.shape}; this model needs {tail}, or a batch of them, for all parts alike"
            )
        if not np.all(np.isfinite(a)):
            raise InputError(f"the maximal state is not finite: state.{name}")
    if 0 in batch:
        raise InputError("the maximal state is a batch of 0 states; give at least one")
    for i, body in enumerate(model.bodies):
        E = state.poses[..., i, :, :]
        problem = rotation_problem(E[..., :3, :3], STEPPED)
        if problem:
            raise InputError(f"state.poses of body {body.name!r}: its rotation is not a rotation ({problem})")
        if np.abs(E[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(initial=0.0) > 0.0:
            raise InputError(f"state.poses of body {body.name!r}: the last row must be (0, 0, 0, 1), not {E[..., 3, :].tolist()}")


@dataclass(frozen=True, eq=False)
class Motion:
    """Rates of all bodies and joints together: twists or accelerations (bodies, 6), joint rates (nv,).

    >>> lw.factor(model, q, v).free.joints.shape
    (2,)
    """

    bodies: np.ndarray
    joints: np.ndarray

    @staticmethod
    def of_rows(lead: tuple[int, ...], bodies: np.ndarray, joints: np.ndarray) -> Motion:
        """From flat rows (batch, 6 bodies) and (batch, nv), with the batch axes `lead`."""
        return Motion(bodies.reshape(*lead, bodies.shape[-1] // 6, 6), joints.reshape(*lead, joints.shape[-1]))

    def __add__(self, other: Motion) -> Motion:
        return Motion(self.bodies + other.bodies, self.joints + other.joints)

    def __mul__(self, factor: float) -> Motion:
        return Motion(self.bodies * factor, self.joints * factor)

    __rmul__ = __mul__


@dataclass(frozen=True, eq=False)
class Rows:
    """k sparse rows G that act on a motion: a few bodies (6 entries each) and joint velocities per row.

    body entries    row `body_row[e]` has `body_block[e]` (6,) at body `body_index[e]`
    joint entries   row `joint_row[e]` has `joint_value[e]` at velocity `joint_index[e]`

    >>> rows = lw.Rows(1, joint_row=np.array([0]), joint_index=np.array([1]), joint_value=np.array([1.0]))
    >>> lw.factor(model, q, v).delassus(rows).shape
    (1, 1)
    """

    count: int
    body_row: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    body_index: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    body_block: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))
    joint_row: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    joint_index: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    joint_value: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @staticmethod
    def stacked(parts: list[Rows]) -> Rows:
        """The rows of all parts, one below the other."""
        starts = np.concatenate([[0], np.cumsum([p.count for p in parts])]).astype(int)

        def joined(name: str, shift: bool = False) -> np.ndarray:
            arrays = [getattr(p, name) + (s if shift else 0) for p, s in zip(parts, starts[:-1], strict=True)]
            return np.concatenate(arrays) if arrays else getattr(Rows(0), name)

        return Rows(
            int(starts[-1]),
            joined("body_row", True).astype(int),
            joined("body_index").astype(int),
            joined("body_block"),
            joined("joint_row", True).astype(int),
            joined("joint_index").astype(int),
            joined("joint_value"),
        )

    def __matmul__(self, motion: Motion) -> np.ndarray:
        """G motion: (k,), or (batch, k) for a batch of motions."""
        parts = np.einsum("ei,...ei->...e", self.body_block, motion.bodies[..., self.body_index, :])
        out = _scattered(parts, self.body_row, self.count)
        return out + _scattered(self.joint_value * motion.joints[..., self.joint_index], self.joint_row, self.count)

    def transposed(self, weights: np.ndarray, nb: int, nv: int) -> tuple[np.ndarray, np.ndarray]:
        """G^T weights: body wrenches (..., bodies, 6) and joint forces (..., nv) for weights (..., k)."""
        blocks = np.moveaxis(weights[..., self.body_row, None] * self.body_block, -1, 0)
        wrenches = np.stack([_scattered(x, self.body_index, nb) for x in blocks], axis=-1)
        return wrenches, _scattered(weights[..., self.joint_row] * self.joint_value, self.joint_index, nv)


def _scattered(values: np.ndarray, index: np.ndarray, size: int) -> np.ndarray:
    """Sums of the last axis by index: out[..., index[e]] += values[..., e]."""
    out = np.zeros((size, *values.shape[:-1]))
    np.add.at(out, index, np.moveaxis(values, -1, 0))
    return np.moveaxis(out, 0, -1)


class Response:
    """How a formulation answers forces: an affine map that every constraint and contact method works on.

    free        the motion without auxiliary forces
    symmetric   whether `apply` is a symmetric operator
    apply       the change of motion that forces cause, in O(n); leading axes of the forces are a batch

    At acceleration level (no time step given) forces cause accelerations. At velocity level `free` is the velocity after
    the step and impulses cause changes of velocity; for explicit formulations the operator is the same.

    >>> response = lw.factor(model, q, v)
    >>> response.apply(joint_forces=np.array([1.0, 0.0])).joints.shape
    (2,)
    """

    model: Model
    free: Motion
    symmetric: bool = True

    def apply(self, body_wrenches: Any = None, joint_forces: Any = None) -> Motion:
        """The change of motion caused by wrenches (..., bodies, 6) and joint forces (..., nv)."""
        raise TypeError(f"{type(self).__name__} must define apply")

    def delassus(self, rows: Rows) -> np.ndarray:
        """G apply(G^T): the k x k matrix of how constraint k answers force l [Baraff, section 8]."""
        wrenches, forces = rows.transposed(np.eye(rows.count), self.model.nb, self.model.nv)
        return (rows @ self.apply(wrenches, forces)).T

    def corrected(self, rows: Rows, multipliers: np.ndarray) -> Motion:
        """free + apply(G^T multipliers)."""
        return self.free + self.apply(*rows.transposed(multipliers, self.model.nb, self.model.nv))


def force_arrays(model: Model, body_wrenches: Any, joint_forces: Any) -> tuple[dict[str, np.ndarray], tuple[int, ...]]:
    """Forces as flat batches {"wrench", "tau"}, zeros where not given, and the leading axes they came with."""
    wrenches = None if body_wrenches is None else np.ascontiguousarray(body_wrenches, float)
    forces = None if joint_forces is None else np.ascontiguousarray(joint_forces, float)
    if wrenches is not None and wrenches.shape[-2:] != (model.nb, 6):
        raise InputError(f"body wrenches have shape {wrenches.shape}; expected (..., {model.nb}, 6)")
    if forces is not None and forces.shape[-1:] != (model.nv,):
        raise InputError(f"joint forces have shape {forces.shape}; expected (..., {model.nv})")
    lead = wrenches.shape[:-2] if wrenches is not None else forces.shape[:-1] if forces is not None else ()
    if forces is not None and forces.shape[:-1] != lead:
        raise InputError(f"body wrenches and joint forces have different leading axes: {lead} and {forces.shape[:-1]}")
    batch = int(np.prod(lead))
    flat_wrenches = np.zeros((batch, model.nb * 6)) if wrenches is None else wrenches.reshape(batch, model.nb * 6)
    flat_forces = np.zeros((batch, model.nv)) if forces is None else forces.reshape(batch, model.nv)
    return {"wrench": flat_wrenches, "tau": flat_forces}, lead
