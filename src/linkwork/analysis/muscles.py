"""Muscle redundancy by static optimisation: the least activations that exert given joint torques [Crowninshield & Brand 1981]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, SolverError
from ..forces.muscle import Muscle
from ..forces.muscle_set import muscle_set
from ..forces.set import force_set
from ..model.accepts import takes_model
from ..model.model import Model
from ..reduced.muscle_states import muscle_states
from ..solvers.quadratic import QuadraticProgram


@dataclass(frozen=True, eq=False)
class Activations:
    """Of all muscles, in the order in which they were added: activation, tension (N), and what of the torques they do not
    exert."""

    names: tuple[str, ...]
    activation: np.ndarray
    tension: np.ndarray
    torque_left: np.ndarray

    @property
    def residual(self) -> float:
        """N m, the largest."""
        return float(np.abs(self.torque_left).max(initial=0.0))


@takes_model
def static_optimisation(model: Model, q: Any, v: Any, torques: Any, joints: Any = None) -> Activations:
    """Activations from 0 to 1, with the least sum of their squares, with which all muscles together exert `torques` (nv,).

    joints   names of those whose torques must be right; all if None

    A tension is what the muscle has when passive plus its activation times what it adds at most: a quadratic program with
    as many equations as joints. Raises `SolverError` where muscles are too weak, or pull the wrong way.
    """
    driven = _driven(model)
    count, torques = len(muscle_set(driven).muscles), np.asarray(torques, float)
    passive, active = (_tensions(driven, q, v, level) for level in (0.0, 1.0))
    half = _tensions(driven, q, v, 0.5).tension
    if np.abs(half - 0.5 * (passive.tension + active.tension)).max() > 1e-9 * np.abs(active.tension).max():
        raise InputError("static optimisation needs muscles whose tension grows evenly with activation: rigid tendons")
    gain = active.tension - passive.tension
    rows = slice(None) if joints is None else np.concatenate([np.arange(model.nv)[model.v_index(j)] for j in joints])
    A = (gain[:, None] * passive.moment_arms).T[rows]
    wanted = (torques - passive.joint_forces)[rows]
    program = QuadraticProgram(np.eye(count), np.zeros(count), np.r_[np.zeros(count), wanted], np.r_[np.ones(count), wanted], A)
    try:
        a = np.clip(program.solve()[0], 0.0, 1.0)
    except SolverError:
        raise SolverError(f"no activations from 0 to 1 exert these torques; {_short(A, wanted)} N m are out of reach") from None
    tension = passive.tension + a * gain
    left = (torques - tension @ passive.moment_arms)[rows]
    return Activations(passive.names, a, tension, left)


def _short(A: np.ndarray, wanted: np.ndarray) -> str:
    """How much the strongest muscles leave, joint by joint."""
    from scipy.optimize import lsq_linear

    return f"{np.abs(A @ lsq_linear(A, wanted, (0.0, 1.0)).x - wanted).max():.3g}"


def _tensions(model: Model, q: Any, v: Any, level: float) -> Any:
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
                element = element.with_parts(activation=None, inputs=1, initial_activation=0.0)
            elements.append(element)
        return model.replace(elements=elements)

    return model.keep_as(_driven, make)
