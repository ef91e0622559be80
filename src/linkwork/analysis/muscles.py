"""Muscle redundancy by static optimisation: the least activations that exert given joint torques [Crowninshield & Brand 1981].

A tension is what the muscle has when passive plus its activation times what it adds at most: a quadratic program with as many
equations as joints, one of its own for every state of a batch. Reserves are ideal drives in joints beside the muscles: a torque
r costs (r / strength)^2 where an activation a costs a^2, so that weak reserves only give what muscles cannot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, SolverError
from ..forces.muscle import Muscle
from ..forces.muscle_set import muscle_set
from ..forces.muscle_tendon import TendonMuscle
from ..forces.set import force_set
from ..model.accepts import takes_model
from ..model.model import Model
from ..reduced.muscle_states import MuscleStates, muscle_states
from ..solvers.quadratic import QuadraticProgram
from ..spatial.gate import finite_reals, given_positive, meant
from .entrance import check_coordinates, check_some_states

EVEN = 1e-9  # of the largest tension: as far from the mean of passive and full as that at half activation may be


@dataclass(frozen=True, eq=False)
class Activations:
    """Of all muscles (..., muscles), in the order in which they were added: activation and tension (N); of all joints
    (..., nv): what of the torques muscles and reserves do not exert, zero to rounding, and the torque of the reserves.

    torque_left   of the chosen joints, in the order of their velocities
    reserve       torque (N m or N) of the reserves of all joints (..., nv); zero where there is none
    clamped       muscles (..., muscles) whose path is too short for their fibres: their tension there means little
    """

    names: tuple[str, ...]
    activation: np.ndarray
    tension: np.ndarray
    torque_left: np.ndarray
    reserve: np.ndarray
    clamped: np.ndarray

    @property
    def residual(self) -> float:
        """N m, the largest."""
        return float(np.abs(self.torque_left).max(initial=0.0))


@takes_model
def static_optimisation(
    model: Model, q: Any, v: Any, torques: Any, joints: Any = None, *, reserves: Any = None, t: Any = None
) -> Activations:
    """Activations from 0 to 1, with the least sum of their squares, with which all muscles together exert `torques` (..., nv).

    q, v       of one state, (nq,) and (nv,), or of a batch (..., nq), (..., nv)
    joints     names of those whose torques must be right; all if None
    reserves   strength (N m or N) of an ideal drive in every chosen joint, which costs (torque / strength)^2; or strengths by the
               name of the joint. None: muscles alone. Small strengths, 1 N m beside limbs, leave to muscles all that they can do
    t          times of the states, for messages

    Raises `SolverError` with joint and time where muscles are too weak, or pull the wrong way.

    >>> path = [("world", (0, 0, 0.1)), ("upper", (0.3, 0, 0.05))]
    >>> pulled = model.add(lw.Muscle(path, 500.0, 0.15, 0.1, name="biceps"))
    >>> found = lw.analysis.static_optimisation(pulled, q, v, [1.0, 0.2], reserves=1.0)
    >>> found.activation.shape, found.reserve.shape
    ((1,), (2,))
    """
    driven = _driven(model)
    q, v, torques = (finite_reals(name, x) for name, x in (("q", q), ("v", v), ("torques", torques)))
    check_coordinates(model, q)
    for name, x in (("v", v), ("torques", torques)):
        if x.ndim < 1 or x.shape[-1] != model.nv:
            raise InputError(f"{name} has shape {x.shape}; it must be (..., {model.nv})")
    try:
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], torques.shape[:-1])
    except ValueError:
        raise InputError(
            f"q {q.shape}, v {v.shape} and torques {torques.shape} are of different batches; they must agree"
        ) from None
    check_some_states(lead)
    q, v, torques = (np.broadcast_to(x, (*lead, x.shape[-1])).reshape(int(np.prod(lead)), x.shape[-1]) for x in (q, v, torques))
    times = _times(t, lead)
    rows = _chosen(model, joints)
    strengths = _strengths(model, reserves, rows)
    passive, gain = _tensions(driven, q, v)
    count, helped = gain.shape[1], np.flatnonzero(strengths)
    a, reserve = np.zeros((len(q), count)), np.zeros((len(q), model.nv))
    for k in range(len(q)):
        wanted = (torques[k] - passive.joint_forces[k])[rows]
        A = (gain[k][:, None] * passive.moment_arms[k]).T
        A = np.concatenate([A, np.diag(strengths)[:, helped]], axis=1)[rows]
        low, high = np.zeros(count + len(helped)), np.ones(count + len(helped))
        low[count:], high[count:] = -np.inf, np.inf
        size = len(low)
        program = QuadraticProgram(np.eye(size), np.zeros(size), np.r_[low, wanted], np.r_[high, wanted], A)
        try:
            x = program.solve()[0]
        except SolverError:
            when = _when(k, times, lead)
            raise SolverError(f"static_optimisation: {_short(model, rows, A, wanted, (low, high))}{when}") from None
        a[k], reserve[k, helped] = np.clip(x[:count], 0.0, 1.0), strengths[helped] * x[count:]
    tension = passive.tension + a * gain
    left = (torques - np.einsum("km,kmv->kv", tension, passive.moment_arms) - reserve)[:, rows]
    found = (x.reshape(*lead, x.shape[-1]) for x in (a, tension, left, reserve, passive.clamped))
    return Activations(passive.names, *found)


def _short(model: Model, rows: np.ndarray, A: np.ndarray, wanted: np.ndarray, bounds: Any) -> str:
    """The joint at which the muscles lack most, and how much."""
    from scipy.optimize import lsq_linear

    left = wanted - A @ lsq_linear(A, wanted, bounds).x
    worst = int(np.argmax(np.abs(left)))
    at = next(b.joint_name for b in model.bodies if rows[worst] in range(model.nv)[model.v_index(b.name)])
    return (
        f"no activations from 0 to 1 exert these torques: {abs(left[worst]):.3g} N m of {wanted[worst]:.3g} N m (after passive "
        f"forces) are out of reach at joint {at!r}; ask for less, leave the joint out of joints=, or give reserves="
    )


def _when(k: int, times: np.ndarray | None, lead: tuple[int, ...]) -> str:
    if times is not None:
        return f" (at t = {times[k]:g})"
    return f" (state {k} of the batch)" if lead else ""


def _times(t: Any, lead: tuple[int, ...]) -> np.ndarray | None:
    if t is None:
        return None
    given = finite_reals("t", t)
    try:
        return np.broadcast_to(given, lead).reshape(-1)
    except ValueError:
        raise InputError(f"t has shape {given.shape}; it must be that of the batch, {lead}") from None


def _chosen(model: Model, joints: Any) -> np.ndarray:
    """The velocities of the joints that are named."""
    if joints is None:
        return np.arange(model.nv)
    names = [joints] if isinstance(joints, str) else list(joints)
    if not names:
        raise InputError("static_optimisation: joints is empty; name those whose torques must be right, or leave it out")
    return np.concatenate([_velocities(model, name) for name in names])


def _velocities(model: Model, name: Any) -> np.ndarray:
    known = [b.joint_name for b in model.bodies if b.joint.nv]
    if name not in model.names:
        raise InputError(f"static_optimisation: there is no joint {name!r}{meant(name, known)}")
    return np.arange(model.nv)[model.v_index(name)]


def _strengths(model: Model, reserves: Any, rows: np.ndarray) -> np.ndarray:
    """The strength of the reserve of every velocity (nv,); zero where there is none."""
    found = np.zeros(model.nv)
    if isinstance(reserves, Mapping):
        for name, strength in reserves.items():
            found[_velocities(model, name)] = given_positive(f"the reserve of joint {name!r}", strength)
    elif reserves is not None:
        found[rows] = given_positive("reserves", reserves)
    return found


def _tensions(model: Model, q: np.ndarray, v: np.ndarray) -> tuple[MuscleStates, np.ndarray]:
    """What passive muscles do, and how much the tension of each grows with its activation (states, muscles)."""
    passive, half, full = (_at_level(model, q, v, level) for level in (0.0, 0.5, 1.0))
    off = np.abs(half.tension - 0.5 * (passive.tension + full.tension)).max(axis=0, initial=0.0)
    uneven = off > EVEN * np.abs(full.tension).max(initial=0.0)
    elastic = [isinstance(m, TendonMuscle) for m in muscle_set(model).muscles]
    for name, wrong in zip(passive.names, uneven | elastic, strict=True):
        if wrong:
            raise InputError(
                f"static optimisation needs muscles whose tension grows evenly with activation: rigid tendons; {name!r} is none"
            )
    return passive, full.tension - passive.tension


def _at_level(model: Model, q: np.ndarray, v: np.ndarray, level: float) -> MuscleStates:
    u = np.array(force_set(model).initial_inputs, float)
    for place in muscle_set(model).inputs:
        u[place] = level
    return muscle_states(model, q, v, u=u)


def _driven(model: Model) -> Model:
    """The same with all activations as inputs."""

    def make() -> Model:
        elements = []
        for element in model.elements:
            if isinstance(element, Muscle):
                own = element.inputs - (element.activation is None)  # fibres that move on their own
                element = element.with_parts(activation=None, inputs=1 + own, initial_activation=0.0)
            elements.append(element)
        return model.replace(elements=elements)

    return model.keep_as(_driven, make)
