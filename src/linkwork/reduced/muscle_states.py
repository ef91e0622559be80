"""What can be measured on the muscles of a model at a state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..forces.muscle_set import muscle_set
from ..forces.set import force_set
from ..model.accepts import takes_model
from ..model.kinematics import kinematics
from ..model.model import Model
from ..spatial.gate import finite_reals, given_number
from .jacobian import jacobian_transpose_product
from .muscle_lapses import clamped_fibres


@dataclass(frozen=True, eq=False)
class MuscleStates:
    """Of one state or a batch, (..., muscles) each; muscles in the order in which they were added to the model.

    names                       of the muscles
    length, rate                of the whole path, m and m/s
    tension                     N
    activation                  0 to 1
    fibre_length, fibre_rate    m and m/s
    moment_arms                 (..., muscles, nv): -d length / d q; tension times it is the joint force of the muscle
    clamped                     whether the path is too short for the fibres, which are held at 0.01 of their optimal length

    >>> path = [("world", (0, 0, 0.1)), ("upper", (0.3, 0, 0.05))]
    >>> found = lw.muscle_states(model.add(lw.Muscle(path, 500.0, 0.15, 0.1, name="biceps")), q)
    >>> found.names, found.moment_arms.shape
    (('biceps',), (1, 2))
    """

    names: tuple[str, ...]
    length: np.ndarray
    rate: np.ndarray
    tension: np.ndarray
    activation: np.ndarray
    fibre_length: np.ndarray
    fibre_rate: np.ndarray
    moment_arms: np.ndarray
    clamped: np.ndarray

    @property
    def joint_forces(self) -> np.ndarray:
        """What all muscles together exert on the joints (..., nv)."""
        return np.einsum("...m,...mv->...v", self.tension, self.moment_arms)


@takes_model
def muscle_states(model: Model, q: Any, v: Any = None, t: Any = 0.0, u: Any = None) -> MuscleStates:
    """Lengths, tensions and moment arms of all muscles at q (..., nq) and v (..., nv).

    t   one time, or one for every state (...,)
    u   the inputs of all forces of the model; their initial ones if None

    >>> path = [("world", (0, 0, 0.1)), ("upper", (0.3, 0, 0.05))]
    >>> lw.muscle_states(model.add(lw.Muscle(path, 500.0, 0.15, 0.1)), q).length.shape
    (1,)
    """
    muscles, size = muscle_set(model), len(force_set(model).initial_inputs)
    times = finite_reals("muscle_states: t", t) if np.ndim(t) else np.array(given_number("muscle_states: t", t))
    if u is not None:
        u = finite_reals("muscle_states: u", u)
        if u.ndim < 1 or u.shape[-1] != size:
            raise InputError(f"muscle_states: u has shape {u.shape}; it must be (..., {size}), the inputs of all forces")
    at = kinematics(model, q, v)
    if times.ndim and times.shape != at.poses.shape[:-3]:
        raise InputError(
            f"muscle_states: t has shape {times.shape}; it must be one number, or one for every state, {at.poses.shape[:-3]}"
        )
    found, slopes = muscles.observe(at.poses, at.twists, times if times.ndim else float(times), u)
    lead, count = slopes.shape[:-3], len(muscles.muscles)
    flat_q = np.broadcast_to(np.asarray(q, float), (*lead, model.nq))
    many_q = np.repeat(flat_q.reshape(-1, model.nq), count, axis=0)
    pulled = jacobian_transpose_product(model, many_q, slopes.reshape(-1, model.nb, 6))
    arms = -pulled.reshape(*lead, count, model.nv)
    return MuscleStates(
        tuple(m.name for m in muscles.muscles), **found, moment_arms=arms, clamped=clamped_fibres(model, found["fibre_length"])
    )
