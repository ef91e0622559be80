"""Points of one body that stick ask for motions that a rigid body has, also where some of them still fall."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.constraints.targets import TOUCHING
from linkwork.model.steady import seen_from
from linkwork.spatial import so3

RADIUS, LENGTH, H = 0.05, 0.4, 5e-3


def rod() -> lw.Model:
    b = lw.ModelBuilder()
    inertia = lw.Inertia.cylinder(mass=1.0, radius=RADIUS, length=LENGTH)
    b.body("rod", joint=lw.Free(), inertia=inertia)
    b.add(lw.Contact("rod", lw.Capsule(RADIUS, LENGTH), "world", lw.Plane(), friction=1.0))
    return b.build()


def tilted(gap: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q of a rod along x whose first end touches, the other `gap` above; and the centres of its ends."""
    angle = 0.5 * np.pi - np.arcsin(gap / LENGTH)
    R = np.asarray(so3.exp(np.array([0.0, angle, 0.0])), float)
    half = 0.5 * LENGTH * R[:, 2]
    center = np.array([0.0, 0.0, RADIUS]) + half
    turn = np.array([np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0])
    return np.concatenate([center, turn]), center - half, center + half


def slips(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Velocities along the plane of the points of the rod where its ends are over it."""
    E = lw.kinematics(rod(), q).poses[0]
    R, p = np.asarray(E)[:3, :3], np.asarray(E)[:3, 3]
    w, u = R @ v[:3], R @ v[3:]
    ends = [p + s * 0.5 * LENGTH * R[:, 2] for s in (-1.0, 1.0)]
    return np.array([(u + np.cross(w, np.array([e[0], e[1], 0.0]) - p))[:2] for e in ends])


@pytest.mark.parametrize("gap", [1e-3, 1e-4, 1e-6])
def test_both_ends_stick_in_the_step_in_which_one_lands(gap: float) -> None:
    model = rod()
    q, first, _ = tilted(gap)
    R = np.asarray(lw.kinematics(model, q).poses[0])[:3, :3]
    w = np.array([0.0, 2.0 * gap / (LENGTH * H), 0.0])  # about the end that touches: the other one crosses the plane in a step
    foot = np.array([first[0], first[1], 0.0])
    v = np.concatenate([R.T @ w, R.T @ np.cross(w, q[:3] - foot)])
    run = lw.simulate(model, lw.State(q, v), H, H, evaluations=0)
    assert np.abs(slips(q, seen_from(model, q, run.q[-1], run.v[-1]))).max() < 1e-13
    assert run.health.complementarity is not None
    assert run.health.complementarity < 1e-13


def test_gaps_that_rounding_leaves_ask_for_nothing() -> None:
    """A rod at rest whose ends are not quite on the plane stays where it is."""
    q, _, _ = tilted(0.5 * TOUCHING)
    run = lw.simulate(rod(), lw.State(q, np.zeros(6)), 1.0, H)
    assert np.abs(run.v).max() < 1e-14
    assert np.abs(run.q - q).max() < 1e-14
