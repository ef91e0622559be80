"""Batches in which states whose rows act alike go side by side: the order, and runs that do not depend on it."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.steppers import alike, pace, recording, stepping
from linkwork.steppers.alike import MOST, Order, order_alike


def union(acts: np.ndarray, order: np.ndarray, width: int) -> float:
    """The mean number of rows that act in some of so many neighbours."""
    return float(acts[order].reshape(-1, width, acts.shape[1]).any(axis=1).sum(axis=1).mean())


def test_states_of_a_kind_are_neighbours() -> None:
    rng = np.random.default_rng(0)
    kinds = rng.random((8, 100)) < 0.2
    acts = kinds[rng.integers(0, 8, 256)]
    order = order_alike(acts.astype(float), 4)
    assert order is not None
    assert sorted(order) == list(range(256))
    blocks = acts[order].reshape(-1, 4, acts.shape[1])
    mixed = (blocks != blocks[:, :1]).any(axis=(1, 2)).sum()
    assert mixed <= 7  # at the borders of eight kinds


@pytest.mark.parametrize("rows", [3, MOST, MOST + 37])
def test_neighbours_have_more_in_common(rows: int) -> None:
    """States of some kinds, each of which differs from its kind a little."""
    rng = np.random.default_rng(rows)
    kinds = rng.random((16, rows)) < 0.2
    acts = kinds[rng.integers(0, 16, 512)] ^ (rng.random((512, rows)) < 0.02)
    order = order_alike(acts.astype(float), 4)
    assert order is not None
    assert union(acts, order, 4) < 0.8 * union(acts, np.arange(512), 4)


def test_nothing_to_tell_states_apart() -> None:
    assert order_alike(np.zeros((16, 5)), 4) is None
    assert order_alike(np.ones((16, 5)), 4) is None
    assert order_alike(np.zeros((16, 0)), 4) is None


def test_an_order_is_made_after_the_first_step_and_anew_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    monkeypatch.setattr(alike, "order_alike", lambda x, width: made.append(len(x)))
    order = Order(np.zeros((8, 3)), 4)
    for _ in range(1 + 2 * alike.AGAIN):
        order.go_on(1)
    assert len(made) == 3
    for _ in range(alike.AGAIN):
        order.go_on(1, alike.WORTH - 1)
    assert len(made) == 3  # for so few steps none is worth its time


def balls(batch: int) -> tuple[lw.Model, lw.State]:
    """Three balls over a floor and a rod with a stop: in every state others touch."""
    b = lw.ModelBuilder()
    b.ground(friction=0.5)
    for k in range(3):
        ball = lw.Sphere(0.1, density=500.0)
        b.body(f"ball{k}", joint=lw.Free(), shapes=[ball])
    b.body(
        "rod",
        joint=lw.Revolute((0, 1, 0)),
        limits=(-0.2, 0.3),
        placement=lw.SE3(p=(5, 0, 2)),
        inertia=lw.Inertia.cuboid(1.0, (0.1, 0.1, 1.0)),
    )
    model = b.build()
    rng = np.random.default_rng(1)
    q = np.tile(model.neutral(), (batch, 1))
    for k in range(3):
        at = model.q_index(f"ball{k}").start
        q[:, at] = 0.5 * k
        q[:, at + 2] = 0.1 + 0.02 * rng.random(batch) * rng.integers(0, 2, batch)
    v = rng.normal(size=(batch, model.nv))
    return model, lw.State(q=q, v=v)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("every", [1, 6])
def test_runs_do_not_depend_on_the_order(monkeypatch: pytest.MonkeyPatch, every: int, threads: int) -> None:
    """With new orders on the way, of some states at a time, and in the order given: the same to the bit, as is a state alone."""
    model, state = balls(75)  # of which the last block of lanes is not full
    orders: list[Any] = []
    monkeypatch.setattr(pace, "PIECE", 1e-12)
    monkeypatch.setattr(recording, "LONG", 0.0)
    asked = recording.Order

    class Noted(asked):
        def go_on(self, steps: int, ahead: float = inf) -> None:
            super().go_on(steps, ahead)
            orders.append(self.numbers)

    monkeypatch.setattr(recording, "Order", Noted)
    found = lw.simulate(model, state, 0.06, 2e-3, every=every, threads=threads)
    assert any(order is not None and (order != np.arange(75)).any() for order in orders)
    monkeypatch.setattr(recording, "taking_part", lambda *given: None)
    model, state = balls(75)  # with memory of its own
    count = len(orders)
    plain = lw.simulate(model, state, 0.06, 2e-3, every=every, threads=threads)
    assert len(orders) == count
    for name in ("q", "v"):
        assert np.array_equal(getattr(found, name), getattr(plain, name))
    assert np.array_equal(found.forces, plain.forces)
    assert all(np.array_equal(found.memory[name], plain.memory[name]) for name in plain.memory)
    alone = lw.simulate(model, lw.State(q=state.q[41], v=state.v[41]), 0.06, 2e-3, every=every)
    assert np.array_equal(alone.q, found.q[41])


@pytest.mark.parametrize("threads", [1, 2])
def test_controlled_batches_do_not_depend_on_the_order(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    model, state = balls(75)

    def push(t: float, s: Any) -> np.ndarray:
        return np.full(model.nv, 0.1)

    orders: list[Any] = []
    monkeypatch.setattr(stepping, "SLOW", -1.0)  # as if steps took long
    monkeypatch.setattr(alike, "order_alike", lambda x, width: orders.append(order_alike(x, width)) or orders[-1])
    found = lw.simulate(model, state, 0.06, 2e-3, control=push, threads=threads)
    assert any(order is not None and (order != np.arange(75)).any() for order in orders)
    made = len(orders)
    monkeypatch.setattr(stepping, "SLOW", 1e9)
    model, state = balls(75)  # with memory of its own
    plain = lw.simulate(model, state, 0.06, 2e-3, control=push, threads=threads)
    assert len(orders) == made
    assert np.array_equal(found.q, plain.q)
    assert np.array_equal(found.v, plain.v)
    assert np.array_equal(found.forces, plain.forces)


def test_a_run_that_fits_into_a_piece_is_sorted_if_it_takes_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    model, state = balls(75)
    orders: list[Any] = []
    monkeypatch.setattr(alike, "order_alike", lambda x, width: orders.append(order_alike(x, width)) or orders[-1])
    monkeypatch.setattr(pace, "PIECE", 1e3)
    monkeypatch.setattr(recording, "SLOW", 0.0)
    monkeypatch.setattr(recording, "LONG", 1e9)
    plain = lw.simulate(model, state, 0.02, 2e-3)
    assert not orders
    monkeypatch.setattr(recording, "LONG", 0.0)
    found = lw.simulate(model, state, 0.02, 2e-3)
    assert len(orders) == 1
    assert np.array_equal(found.q, plain.q)
    few = lw.simulate(model, state, alike.WORTH * 2e-3, 2e-3)
    assert len(orders) == 1  # too few steps to be worth it
    assert np.array_equal(few.q[:, -1], found.q[:, alike.WORTH])
