"""Runs in which nothing is simulated: a model as it stands, or with one joint after the other moved through its range."""

from __future__ import annotations

import numpy as np

from ..model import MaximalState, Model, State
from ..trajectory import Trajectory
from .problem import Problem

SECONDS, FRAMES = 1.5, 46  # for each joint
SWING = {True: 0.8, False: 0.1}  # rad, m: of joints without limits that turn, and that slide


def standing(problem: Problem, move: bool = False) -> Trajectory:
    """The start of a problem as a run."""
    model, state = problem.model, problem.state
    if not isinstance(model, Model):
        model, state = model.model, model.full(state)
    if isinstance(state, MaximalState):
        return Trajectory(
            model, np.array([state.t]), "maximal", {n: getattr(state, n)[None] for n in ("poses", "twists", "q_fit")}
        )
    q = _moved(model, state) if move else state.q[None]
    t = np.arange(len(q)) * SECONDS / (FRAMES - 1) if len(q) > 1 else np.zeros(1)
    return Trajectory(model, t, "reduced", {"q": q, "v": np.zeros((len(q), model.nv))})


def _moved(model: Model, state: State) -> np.ndarray:
    """From the start to the lower end, to the upper end and back, coordinate after coordinate."""
    rows = [state.q]
    wave = -np.sin(2.0 * np.pi * np.linspace(0.0, 1.0, FRAMES))[1:]
    for body in model.bodies:
        part = model.v_index(body.name)
        if body.joint.nv not in (1, 2, 3) or body.joint.nq != body.joint.nv:
            continue
        for k in range(body.joint.nv):
            at = state.q[model.q_index(body.name).start + k]
            low, high = body.properties.lower[k] - at, body.properties.upper[k] - at
            turns = bool(np.any(_column(model, body.name, k)[:3]))
            down = low if np.isfinite(low) else -SWING[turns]
            up = high if np.isfinite(high) else SWING[turns]
            dv = np.zeros((len(wave), model.nv))
            dv[:, part.start + k] = np.where(wave < 0, -wave * down, wave * up)
            rows += [model.integrate(state.q, step) for step in dv]
    return np.array(rows)


def _column(model: Model, name: str, k: int) -> np.ndarray:
    joint = model.bodies[model.body_index(name)].joint
    return np.asarray(joint.motion(joint.neutral(), np.zeros(joint.nv)).tangent.S, float)[:, k]
