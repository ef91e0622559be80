"""Runs with friction as they were published, slip by slip.

What `redmax.bisp` does as it should be is here: reactions as the difference of two solves, each under the external constraints,
without J_dot (errata 27, 29); handed to the joint before in the list, not to the parent; and counted in the last solve, too (28).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ...constraints.rows import constraint_set
from ...model.model import WORLD, Model
from ...model.state import State
from ...redmax.bisp import Rubbing, Sliding, StaggeredStep, Stop
from ...redmax.system import dynamics
from ...solvers.kkt import constrained_solve
from ...spatial.se3 import SE3, Ad
from .bearings import along, rubbing_joint, rubbing_loop
from .places import Places
from .published_constraints import HingeLoop, ReversedRate, StrictFloor
from .record import Record


class PublishedStep(StaggeredStep):
    """Reactions of joints lack J_dot, hold a part of the external forces, go to the joint before, and act twice (friction).

    order    the bodies as the file's list of joints has them
    frames   twists of the file's frames of all bodies, in the joints'
    motors   rows of joints that turn as prescribed, and their bodies
    """

    order: list[int]
    frames: list[np.ndarray]
    motors: list[tuple[int, int]]

    @cached_property
    def G_m(self) -> np.ndarray:
        """Rows of motors act on bodies, too."""
        G = super().G_m
        for row, i in self.motors:
            joint_row = self.now.J[6 * i : 6 * i + 6, self.now.model.v_index(self.now.model.bodies[i].name)][:, 0]
            G[row] = self.spread(joint_row[None] / (joint_row @ joint_row), i, int(self.now.model.parents[i]))[0]
        return G

    @classmethod
    def slip(cls) -> str:
        """The slips in a line, see `slips.named`."""
        return f"{cls.__name__}: {(cls.__doc__ or '').splitlines()[0]}"

    def reactions(self, friction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        on = np.flatnonzero(np.abs(self.G_m).max(axis=1, initial=0.0) > 0.0)
        impulse, unilateral = self.momentum + self.h * friction, self.constraints.unilateral[on]
        loose, _ = constrained_solve(self.mass, impulse, self.G_m[on], self.target[on], unilateral)
        v, lam = self.solve(self.h * friction)
        return self.mass @ (self.now.J @ v - loose) / self.h, lam

    def joint_wrenches(self, reactions: np.ndarray) -> np.ndarray:
        w = reactions.reshape(-1, 6).copy()
        for to, i in reversed(list(pairwise(self.order))):
            parent = int(self.now.model.parents[i])
            if parent >= 0:
                w[to] += np.linalg.solve(self.frames[to].T, self.frames[parent].T @ self.handed(i, w[i]))
        return w

    def compared(self, reactions: np.ndarray, lam: np.ndarray) -> np.ndarray:
        return reactions

    def settled(self, change: np.ndarray, whole: np.ndarray) -> bool:
        return bool(change @ self._lighter(change) < self.stop.enough * (whole @ self._lighter(whole)))

    def pressed(self, reactions: np.ndarray, lam: np.ndarray) -> np.ndarray:
        return self.momentum + self.h * reactions

    def end(self, reactions: np.ndarray, friction: np.ndarray) -> np.ndarray:
        return self.solve(self.h * (reactions + friction))[0]


@dataclass(frozen=True, eq=False)
class Floor:
    """A floor under a ball of a body: its row, the ball, and the floor's axes."""

    row: int
    body: int
    center: np.ndarray
    radius: float
    axes: np.ndarray

    def sliding(self, poses: np.ndarray, row: int, mu: float) -> Sliding:
        """Friction along the floor's x and y at the lowest point of the ball."""
        R = poses[self.body][:3, :3].T @ self.axes
        T = np.zeros((2, len(poses), 6))
        T[:, self.body] = along(self.center - self.radius * R[:, 2], R[:, :2].T)
        return Sliding(row, T.reshape(2, -1), mu)


@dataclass(frozen=True, eq=False)
class SceneFriction:
    """Where a scene rubs: in joints, loops and on floors.

    mu       of the floors
    stop     of the published runs
    others   see `PublishedStep`
    """

    rubbing: tuple[Rubbing, ...]
    floors: tuple[Floor, ...]
    mu: float
    stop: Stop
    order: list[int]
    frames: list[np.ndarray]
    motors: list[tuple[int, int]]

    def step(
        self, kind: type[StaggeredStep], model: Model, state: State, tau: Any, h: float, rate: float, stop: Stop
    ) -> StaggeredStep:
        """A step of a kind from a state; constraints are corrected at a rate."""
        now = dynamics(model, state, tau, t=state.t + h)
        rows = now.constraints
        acts = ~rows.unilateral | (rows.residual <= 0.0)
        index, acting = np.cumsum(acts) - 1, rows.restricted(acts)
        rubbing = [replace(r, rows=tuple(int(index[k]) for k in r.rows)) for r in self.rubbing]
        floors = [floor.sliding(now.motion.poses, int(index[floor.row]), self.mu) for floor in self.floors if acts[floor.row]]
        step = kind(now, h, acting, acting.given - rate * acting.residual, rubbing, floors, stop)
        if isinstance(step, PublishedStep):
            step.order, step.frames = self.order, self.frames
            step.motors = [(int(index[row]), i) for row, i in self.motors]
        return step


def friction_of(scene: Record, places: Places, model: Model, record: Record) -> SceneFriction:
    """The friction of a run that has it, from the scene, the bodies, the model and the run's own record."""
    mu, found = record.number("mu_internal"), record.get("staggered_projection", {})
    numbers = Record(found, f"{record.where}, staggered_projection")
    stop = Stop(
        numbers.count("max_iterations") if "max_iterations" in numbers else 100,
        numbers.number("relative_tolerance", 1e-3),
        numbers.number("regularisation", 1e-6),
        numbers.number("multiplier_threshold", 1e-10),
    )
    rubbing = []
    for joint in places.joints.values():
        i = model.body_index(places.body(joint, "body").name)
        rubbing.append(rubbing_joint(joint, i, int(model.parents[i]), mu))
    loops, floors = ([r for r in scene.records("constraints") if r.text("type") == name] for name in ("loop", "floor"))
    at = _rows_of(model)
    for r, rows in zip(loops, at[HingeLoop], strict=True):
        rubbing.append(_loop(r, places, model, rows, mu))
    return SceneFriction(
        tuple(r for r in rubbing if r is not None),
        tuple(_floor(r, places, model, rows[0]) for r, rows in zip(floors, at[StrictFloor], strict=True)),
        record.number("mu_external"),
        stop,
        [model.body_index(places.body(joint, "body").name) for joint in places.joints.values()],
        [np.asarray(Ad(places.bodies[b.name].frame), float) if b.name in places.bodies else np.eye(6) for b in model.bodies],
        [(first, model.body_index(law.joint)) for first, law in _laws(model) if isinstance(law, ReversedRate)],
    )


def _laws(model: Model) -> list[tuple[int, Any]]:
    """All constraints with their first rows."""
    sizes = constraint_set(model).sizes()
    return [(first, law) for first, (law, _) in zip(np.cumsum([0, *(n for _, n in sizes)]).tolist(), sizes, strict=False)]


def _rows_of(model: Model) -> dict[type, list[tuple[int, int]]]:
    """The rows of loops and floors, each the first and one past the last, in their order."""
    laws = _laws(model)
    return {kind: [(k, k + law.size) for k, law in laws if isinstance(law, kind)] for kind in (HingeLoop, StrictFloor)}


def _loop(record: Record, places: Places, model: Model, rows: tuple[int, int], mu: float) -> Rubbing | None:
    if "geometry" not in record:
        return None
    a, b = places.body(record, "body_A"), places.body(record, "body_B")
    if a.name == WORLD:
        raise record.unsupported("friction of a loop whose first body is the world")
    bodies = model.body_index(a.name), -1 if b.name == WORLD else model.body_index(b.name)
    place = SE3(R=a.frame.R, p=a.point(record.vector("xA")))
    return rubbing_loop(record, places.carrier(a), bodies, place, rows, mu)


def _floor(record: Record, places: Places, model: Model, row: int) -> Floor:
    body = places.body(record, "body")
    assert body.record is not None
    axes = np.asarray(record.pose("E_floor").R, float)
    return Floor(row, model.body_index(body.name), np.asarray(body.frame.p, float), body.record.number("radius"), axes)
