"""The one way to call: the same bits for all forms of arguments, one state or a batch, any thread."""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np
import pytest
from models import random_forces, random_state, random_tree

import linkwork as lw
from linkwork.kernel import python
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.plans import Plans
from linkwork.kernel.sweep import Algorithm, Field, NodeClass, Tree, each, vector
from linkwork.model.kinematics import kinematics

MODEL = random_tree(3, 5)
STATE = random_state(MODEL, 3)


def test_the_same_bits_without_compiled_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where compiled code does not know Python's arrays, plans are run."""
    tau, external = random_forces(MODEL, 3)
    q, v = np.stack([STATE.q] * 3), np.random.default_rng(0).normal(size=(3, MODEL.nv))

    def results(m: lw.Model) -> list[np.ndarray]:
        one, many = kinematics(m, STATE.q, STATE.v), kinematics(m, q, v)
        found = [one.poses, one.twists, many.twists, lw.tree_dynamics(m, STATE.q, STATE.v, tau, external)]
        found += [m.integrate(STATE.q, STATE.v), lw.tree_dynamics(m, q, v, tau), lw.mass_matrix(m, q), lw.mass_matrix(m, STATE.q)]
        return [*found, m.function("forward_dynamics")(STATE.q, STATE.v, tau)]

    short = results(MODEL)
    with monkeypatch.context() as changed:
        changed.setattr(python, "available", lambda: False)
        long = results(random_tree(3, 5))
    for x, y in zip(short, long, strict=True):
        assert x.tobytes() == y.tobytes()
        assert x.shape == y.shape


def test_results_belong_to_the_caller() -> None:
    first = kinematics(MODEL, STATE.q)
    kept = first.poses.copy()
    q = STATE.q.copy()
    kinematics(MODEL, MODEL.neutral())
    assert np.array_equal(first.poses, kept)
    assert np.array_equal(STATE.q, q)
    first.poses[:] = 0.0
    assert np.array_equal(kinematics(MODEL, STATE.q).poses, kept)


@pytest.mark.parametrize(
    "unusual",
    [lambda q: q.tolist(), lambda q: np.repeat(q, 2)[::2], lambda q: q[None], lambda q: q.astype(">f8")],
    ids=["list", "strided", "batch of one", "other byte order"],
)
def test_whatever_is_unusual_is_made_usual(unusual: Any) -> None:
    usual = kinematics(MODEL, STATE.q).poses
    assert np.array_equal(kinematics(MODEL, unusual(STATE.q)).poses.reshape(usual.shape), usual)


def test_wrong_arrays_are_named() -> None:
    for q in (STATE.q[:-1], np.zeros((MODEL.nq, 1, 1)), np.array(["a"] * MODEL.nq)):
        with pytest.raises(lw.InputError, match="kinematics: q"):
            kinematics(MODEL, q)


def test_read_only_arrays_will_do() -> None:
    q = STATE.q.copy()
    q.flags.writeable = False
    assert np.array_equal(kinematics(MODEL, q).poses, kinematics(MODEL, STATE.q).poses)


@pytest.mark.parametrize("function", [lw.tree_dynamics, lw.inverse_dynamics])
def test_all_forms_of_arguments_mean_the_same(function: Any) -> None:
    rng = np.random.default_rng(5)
    q, v, x = np.stack([STATE.q] * 9), rng.normal(size=(9, MODEL.nv)), rng.normal(size=(9, MODEL.nv))
    expected = np.array([function(MODEL, *row) for row in zip(q, v, x, strict=True)])
    assert np.array_equal(function(MODEL, q, v, x), expected)
    assert np.array_equal(function(MODEL, q.tolist(), v, x), expected)
    assert np.array_equal(function(MODEL, STATE.q, v, x), expected)  # one for all
    assert np.array_equal(function(MODEL, STATE.q[None], v, x, threads=2), expected)
    assert np.array_equal(function(MODEL, q, v, x[0]), [function(MODEL, STATE.q, w, x[0]) for w in v])
    assert np.array_equal(function(MODEL, q, v, x), expected)  # what was one for all is not remembered
    assert np.array_equal(function(MODEL, q[:1], v[:1], x[:1]), expected[:1])
    assert np.array_equal(function(MODEL, q[::2], v[::2], x[::2]), expected[::2])
    assert np.array_equal(function(MODEL, q[0].tolist(), v[0], x[0]), expected[0])
    single = [a.astype(np.float32) for a in (q, v, x)]
    few = function(MODEL, *(a[0] for a in single))
    assert few.dtype == np.float32
    assert np.array_equal(function(MODEL, *single)[0], few)
    assert np.allclose(few, expected[0], rtol=1e-2, atol=1e-2)
    assert function(MODEL, q[:0], v[:0], x[:0]).shape == (0, MODEL.nv)


def test_what_nobody_calls_is_not_compiled() -> None:
    """Batches need no scalar code."""
    model = random_tree(3, 5)
    lw.tree_dynamics(model, np.stack([STATE.q] * 20), np.zeros((20, model.nv)), np.zeros(model.nv))
    lw.mass_matrix(model, np.stack([STATE.q] * 20))
    assert {plan.lanes.width for plan in model.plan.made.values()} == {16}


def test_threads_do_not_share_memory() -> None:
    states = [random_state(MODEL, k) for k in range(4)]
    expected = [kinematics(MODEL, s.q, s.v).twists for s in states]
    wrong = []

    def work(k: int) -> None:
        for _ in range(200):
            if not np.array_equal(kinematics(MODEL, states[k].q, states[k].v).twists, expected[k]):
                wrong.append(k)

    threads = [Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize("width", [1, 8])
def test_constants_are_in_the_lanes_even_if_a_thread_found_no_work(width: int) -> None:
    """A call that is described and never run, as of a thread that comes late to a shared batch, leaves nothing undone."""
    field = {
        "g": Field("input", "global", vector(2)),
        "x": Field("input", "node", vector(2)),
        "y": Field("output", "node", vector(2)),
    }

    def add(n: Any) -> None:
        n.y = n.x + n.g

    tree = Tree(np.array([-1]), [NodeClass(("one",))], [{}])
    work = Plans(tree)(Algorithm("add_constant", field, {"run": [each(add)]}), Lanes(width)).workspace()
    g, x, y = np.array([3.0, 4.0]), np.array([[1.0, 2.0], [5.0, 6.0]]), np.empty((2, 2))
    g.flags.writeable = False
    work.job({"g": g, "x": x}, {"y": y}, 2)
    work.plan.driver.batch(work.job({"g": g, "x": x}, {"y": y}, 2))
    np.testing.assert_array_equal(y, x + g)
    each_its_own = np.array([[1.0, 0.0], [0.0, 1.0]])
    each_its_own.flags.writeable = False
    for _ in range(2):  # of many states it is no constant
        work.plan.driver.batch(work.job({"g": each_its_own, "x": x}, {"y": y}, 2))
        np.testing.assert_array_equal(y, x + each_its_own)
