"""The nearest closed configuration: no joint winds, and nothing that is closed is nearer."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import linkwork as lw
from linkwork.constraints.rows import constraint_set
from linkwork.constraints.singular import equality_rows

LOOPS = range(int(os.environ.get("LINKWORK_LOOPS", "10")))


def random_loop(seed: int) -> tuple[lw.Model, np.ndarray]:
    """A chain of hinges, in a plane or in space, pinned where its end can be, and a configuration anywhere."""
    rng = np.random.default_rng(seed)
    n, planar = int(rng.integers(3, 8)), seed % 2 == 0
    b = lw.ModelBuilder()
    for i in range(n):
        axis = (0.0, 1.0, 0.0) if planar else rng.normal(size=3)
        link = lw.Inertia.cuboid(10 ** rng.uniform(-2, 1), (0.5, 0.05, 0.05), com=(0.25, 0, 0))
        parent, place = (f"l{i - 1}", lw.SE3(p=(0.5, 0, 0))) if i else ("world", lw.SE3())
        b.body(f"l{i}", parent=parent, joint=lw.Revolute(axis / np.linalg.norm(axis)), placement=place, inertia=link)
    model, q = b.build(), rng.uniform(-np.pi, np.pi, n)
    E = lw.frame_pose(model, q, f"l{n - 1}")
    closed = model.add(lw.Loop(f"l{n - 1}", "world", (0.5, 0, 0), E[:3, 3] + 0.5 * E[:3, 0]))
    return closed, rng.uniform(-np.pi, np.pi, n)


def residual(model: lw.Model, q: np.ndarray) -> np.ndarray:
    return constraint_set(model).residuals(lw.kinematics(model, q[None]).poses, q[None], 0.0)[0]


def least_distance(model: lw.Model, q0: np.ndarray, starts: int = 15) -> float:
    """By sequential quadratic programs from many starts."""

    def slope(q: np.ndarray) -> np.ndarray:
        G, _, lengths = equality_rows(model, q[None], np.zeros(1))
        return G[0] * lengths[:, None]

    some = np.abs(slope(q0)).max(axis=1) > 1e-12  # loops in a plane ask nothing across it
    rule = {"type": "eq", "fun": lambda q: residual(model, q)[some], "jac": lambda q: slope(q)[some]}
    rng, best = np.random.default_rng(0), np.inf
    for k in range(starts):
        first = q0 + (k > 0) * rng.uniform(0.2, 2.5) * rng.normal(size=len(q0))
        options = {"maxiter": 200, "ftol": 1e-14}
        found = minimize(
            lambda q: np.sum((q - q0) ** 2), first, jac=lambda q: 2 * (q - q0), constraints=rule, method="SLSQP", options=options
        )
        if np.abs(residual(model, found.x)).max() < 1e-7:
            best = min(best, float(np.sqrt(found.fun)))
    return best


@pytest.mark.parametrize("seed", LOOPS)
def test_nothing_closed_is_nearer(seed: int) -> None:
    model, q0 = random_loop(seed)
    found = lw.assemble(model, lw.State(q0, np.zeros(model.nv)))
    assert np.abs(residual(model, found.q)).max() < 1e-10
    assert np.abs(found.q - q0).max() < np.pi
    assert np.linalg.norm(found.q - q0) < least_distance(model, q0) * (1.0 + 1e-6)


def test_joints_do_not_wind() -> None:
    """Chains that used to wind by 20 to 80 rad, and one that did not close at all."""
    for seed in (2, 11, 41, 47, 49, 57):
        model, q0 = random_loop(seed)
        q = np.array([q0, q0 + 0.3, q0 - 0.7])
        found = lw.assemble(model, lw.State(q, np.zeros(q.shape)))
        assert np.abs(found.q - q).max() < np.pi


def test_a_far_batch_is_its_states() -> None:
    model, q0 = random_loop(4)
    q = q0 + np.linspace(-1.0, 1.0, 7)[:, None]
    found = lw.assemble(model, lw.State(q, np.zeros(q.shape)))
    for k in range(7):
        assert np.abs(lw.assemble(model, lw.State(q[k], np.zeros(model.nv))).q - found.q[k]).max() < 1e-7


def no_move_is_nearer(model: lw.Model, q0: np.ndarray, q: np.ndarray, W: np.ndarray, moves: int = 30) -> None:
    """Closed configurations around are farther, whatever the joints."""

    def distance(x: np.ndarray) -> float:
        d = model.difference(q0, x)
        return float(d @ W @ d)

    rng, at = np.random.default_rng(1), distance(q)
    for _ in range(moves):
        trial = model.integrate(q, 0.05 * rng.normal(size=model.nv))
        near = lw.assemble(model, lw.State(trial, np.zeros(model.nv)))
        assert distance(near.q) > at * (1.0 - 1e-9)


@pytest.mark.parametrize("weights", [None, "mass", "own"])
def test_any_joints_in_any_metric(weights: Any) -> None:
    """A floating base, a ball, a slide and hinges, pinned to the world."""
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(1.0, (0.4, 0.05, 0.05), com=(0.2, 0, 0))
    joints = [lw.Free(), lw.Spherical(), lw.Prismatic((0, 0, 1)), lw.Revolute((0, 1, 0))]
    for k, joint in enumerate(joints):
        place = lw.SE3(p=(0.4 * (k > 0), 0, 0))
        b.body(f"b{k}", parent=f"b{k - 1}" if k else "world", joint=joint, placement=place, inertia=rod)
    b.add(lw.Loop("b3", "world", (0.4, 0, 0), (1.0, 0.6, 0.3)))
    b.add(lw.Loop("b1", "world", (0.4, 0, 0), (0.5, 0.2, 0.4)))
    model = b.build()
    closed = lw.assemble(model, lw.State(model.random_configuration(3), np.zeros(model.nv))).q
    q0 = model.integrate(closed, 0.4 * np.random.default_rng(2).normal(size=model.nv))
    own = np.linspace(0.5, 2.0, model.nv) if weights == "own" else weights
    found = lw.assemble(model, lw.State(q0, np.zeros(model.nv)), weights=own)
    turns = np.array([1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 1], bool)
    size = np.ptp(lw.kinematics(model, q0).poses[:, :3, 3], axis=0).max()
    W = {None: np.diag(np.where(turns, 1.0, size**-2)), "mass": lw.mass_matrix(model, q0)}.get(weights)
    no_move_is_nearer(model, q0, found.q, np.diag(own) if W is None else W)


def test_stops_and_limits_are_kept() -> None:
    """A hinge that would be nearest beyond its stop ends at it; one that declares limits is not unwound past them."""
    model, q0 = random_loop(8)
    free = lw.assemble(model, lw.State(q0, np.zeros(model.nv))).q
    k = int(np.argmax(np.abs(free - q0)))
    middle = 0.5 * (free[k] + q0[k])
    low, high = (-np.inf, middle) if free[k] > q0[k] else (middle, np.inf)
    stopped = model.add(lw.Limit(f"l{k}", low, high))
    found = lw.assemble(stopped, lw.State(q0, np.zeros(model.nv))).q
    assert low - 1e-9 <= found[k] <= high + 1e-9
    assert abs(found[k] - middle) < 1e-8
    assert np.linalg.norm(found - q0) > np.linalg.norm(free - q0)
    no_move_is_nearer(stopped, q0, found, np.eye(model.nv))


def test_what_is_closed_stays_and_what_is_wrong_is_refused() -> None:
    model, q0 = random_loop(2)
    found = lw.assemble(model, lw.State(q0, np.zeros(model.nv)))
    assert np.array_equal(lw.assemble(model, found).q, found.q)
    for weights in (0.0, "lightest", np.ones(2), -np.ones(model.nv), np.full(model.nv, np.nan)):
        with pytest.raises(lw.InputError, match="weights must be"):
            lw.assemble(model, found, weights=weights)
