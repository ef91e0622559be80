"""Problems of contact along runs: of the repository's scenes, and of models of gymnasium and dm_control (extras).

Every run starts from a posture and a motion of its own (every second one from limbs thrown about, so that bodies collide and
collapse) under controls of its own, fixed and random. Of the steps in which contacts take part, evenly spaced ones are taken as
they are; nothing is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..contact.formulations import touching
from ..declared import declared
from ..errors import InputError
from ..model import Model, State
from ..scenes import ALL_SCENES
from ..simulate import simulate
from ..solvers.problem import NORMAL, Problem
from ..steppers.symplectic_euler import SymplecticEuler
from . import peers
from .contact_models import CASES
from .step_problems import pose

EACH = 25  # problems of one run
SCENES = ("stack", "arch", "dominoes", "wall", "chains", "slide", "quadruped", "ragdoll", "grasp", "tippe_top")
PACKAGES = {"ant": "gymnasium", "humanoid": "gymnasium", "dm_humanoid": "dm_control"}
SHAKE, THROW = 0.01, 0.3  # spread of starts: of coordinates (rad, m) and of velocities
LONGEST = 2.0  # s


@dataclass(frozen=True, eq=False)
class Start:
    """What runs of one family share; `low` and `high` bound the inputs of the forces."""

    model: Model
    q: np.ndarray
    v: np.ndarray
    dt: float
    duration: float
    low: np.ndarray | None = None
    high: np.ndarray | None = None


@cache
def scene_start(name: str) -> Start:
    """Of a scene, with all that touches and stops."""
    scene = ALL_SCENES[name]
    model, state = scene.build()
    return Start(acting(touching(model, "exact")), state.q, state.v, scene.dt, min(scene.duration, LONGEST))


@cache
def model_start(name: str) -> Start:
    """Of a model of another package; the whole range of its controls."""
    case = CASES[name]()
    low, high = case.mujoco.actuator_ctrlrange.T
    return Start(acting(case.model), case.start, np.zeros(case.model.nv), case.dt, LONGEST, low, high)


def acting(model: Model) -> Model:
    """The model with the stops of its joints as rows."""
    return declared(model, "hard", SymplecticEuler()).model


@cache
def run_states(start: Start, seed: int, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """q, v (EACH, n) of evenly spaced steps of a run in which contacts take part, and the inputs of the run."""
    rng = np.random.default_rng((seed, number))
    spread = THROW if number % 2 else SHAKE
    nv, model = start.model.nv, start.model
    q = model.integrate(start.q, spread * rng.normal(size=nv))
    bounds: Any = (start.low, start.high)
    inputs = None if start.low is None else rng.uniform(*bounds)
    state = State(q=q, v=start.v + spread * rng.normal(size=nv))
    run = simulate(model, state, round(start.duration / start.dt) * start.dt, start.dt, inputs=inputs, open_loops="allow")
    touched = [k for k in range(len(run.q)) if in_contact(pose(model, run.q[k], run.v[k], start.dt, inputs))]
    if not touched:
        raise InputError("a run without contacts")
    chosen = np.array(touched)[np.linspace(0, len(touched) - 1, EACH).round().astype(int)]
    return run.q[chosen], run.v[chosen], inputs


def in_contact(problem: Problem | None) -> bool:
    """Whether contacts take part, not only stops or loops."""
    return problem is not None and bool(np.any(problem.cones.rows == NORMAL))


def along(start: Callable[[], Start]) -> Callable[[int, int], Problem]:
    """A family: of a seed and a number the problem."""

    def problem(seed: int, number: int) -> Problem:
        begin = start()
        q, v, inputs = run_states(begin, seed, number // EACH)
        k = number % EACH
        found = pose(begin.model, q[k], v[k], begin.dt, inputs)
        assert found is not None
        return found

    return problem


def scene_family(name: str) -> Callable[[int, int], Problem]:
    return along(lambda: scene_start(name))


def model_family(name: str) -> Callable[[int, int], Problem]:
    return along(lambda: model_start(name))


RUNS: dict[str, Callable[[int, int], Problem]] = {f"run:{name}": scene_family(name) for name in SCENES}
RUNS |= {f"run:{name}": model_family(name) for name in PACKAGES}


def lacking(family: str) -> str:
    """The package that a family needs and that is not installed, or nothing."""
    own = PACKAGES.get(family.removeprefix("run:"))
    needed = () if own is None else ("mujoco", own)
    return next((name for name in needed if peers.module(name) is None), "")
