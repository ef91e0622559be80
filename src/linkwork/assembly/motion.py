"""Assemblies in time: Runge-Kutta of order 4 on accelerations, then back to the conditions.

After a step, positions move to where the residuals vanish, by the shortest way in the metric of the mass; then impulses take from
the velocities what leaves the conditions, and let what has met bounce. Conditions are thus kept without changing the order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..errors import InputError, SolverError
from ..model.state import State

if TYPE_CHECKING:  # assemblies offer `simulate` as a method
    from .assembly import Assembly

Forces = Callable[[State], np.ndarray]  # what acts at a state (velocities,)


@dataclass(frozen=True, eq=False)
class AssemblyRun:
    """Times, coordinates and velocities, one row each; `residual` is the largest of the conditions on positions."""

    times: np.ndarray
    q: np.ndarray
    v: np.ndarray
    residual: np.ndarray

    def state(self, k: int = -1) -> State:
        """The state of one row."""
        return State(self.q[k], self.v[k], float(self.times[k]))


@dataclass(frozen=True)
class Options:
    """How to step: forces, what to do against drift, Baumgarte's (b, c), and the restitution of collisions."""

    forces: Forces | None
    stabilise: Literal["project", "baumgarte", "none"]
    baumgarte: tuple[float, float]
    restitution: float


def simulate(assembly: Assembly, state: State, duration: float, dt: float, every: int, options: Options) -> AssemblyRun:
    """The motion for `duration` in steps of dt; every so many steps are kept."""
    steps = round(duration / dt)
    if not (dt > 0 and steps >= 0 and every > 0 and abs(steps * dt - duration) <= 1e-9 * max(duration, dt)):
        raise InputError(f"simulate: {duration:g} s is no whole number of steps of {dt:g} s")
    if options.stabilise not in ("project", "baumgarte", "none"):
        raise InputError(f"simulate: stabilise={options.stabilise!r}; choose 'project', 'baumgarte' or 'none'")
    kept = [state]
    for k in range(1, steps + 1):
        state = step(assembly, state, dt, options)
        if k % every == 0:
            kept.append(state)
    residual = [_error(assembly, s) for s in kept]
    q, v = np.array([s.q for s in kept]), np.array([s.v for s in kept])
    return AssemblyRun(np.array([s.t for s in kept]), q, v, np.array(residual))


def step(assembly: Assembly, state: State, h: float, options: Options) -> State:
    """One step."""
    held = options.baumgarte if options.stabilise == "baumgarte" else (0.0, 0.0)

    def slope(t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at = State(q, v, t)
        forces = None if options.forces is None else options.forces(at)
        return assembly.rates(q, v), assembly.accelerations(at, forces, held).motion

    t, q, v = state.t, state.q, state.v
    q1, v1 = slope(t, q, v)
    q2, v2 = slope(t + h / 2, q + h / 2 * q1, v + h / 2 * v1)
    q3, v3 = slope(t + h / 2, q + h / 2 * q2, v + h / 2 * v2)
    q4, v4 = slope(t + h, q + h * q3, v + h * v3)
    new = assembly.normalised(q + h / 6 * (q1 + 2 * q2 + 2 * q3 + q4))
    moved = State(new, v + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4), t + h)
    if not np.all(np.isfinite(moved.q)) or not np.all(np.isfinite(moved.v)):
        raise SolverError(f"simulate: the motion is no longer finite at t = {moved.t:g} s; take smaller steps than {h:g} s")
    if options.stabilise == "project":
        moved = State(assembly.projected(moved), moved.v, moved.t)
    if options.stabilise == "project" or assembly.layout.unilateral.any():
        moved = State(moved.q, moved.v + assembly.impulses(moved, restitution=options.restitution).motion, moved.t)
    return moved


def _error(assembly: Assembly, state: State) -> float:
    """The largest residual; of conditions that only push, as far as it is negative."""
    r = assembly.system(state).residual
    return float(np.max(np.where(assembly.layout.unilateral, np.maximum(-r, 0.0), np.abs(r)), initial=0.0))
