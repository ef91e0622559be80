"""The short way for one state: the same bits as the long one, which takes whatever the short one does not."""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np
import pytest
from models import random_forces, random_state, random_tree

import linkwork as lw
from linkwork.kernel import python
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.plans import Plans, StateCall
from linkwork.kernel.sweep import Algorithm, Field, NodeClass, Tree, each, vector
from linkwork.model.kinematics import KINEMATICS, kinematics
from linkwork.reduced.mass_matrix import MASS_MATRIX
from linkwork.steppers import ALL_STEPPERS

MODEL = random_tree(3, 5)
STATE = random_state(MODEL, 3)


def long_way(monkeypatch: pytest.MonkeyPatch, call: Any) -> Any:
    with monkeypatch.context() as changed:
        changed.setattr(Plans, "of_state", lambda *_: None)
        return call()


def test_the_same_bits_as_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    tau, external = random_forces(MODEL, 3)
    calls = [
        lambda: [kinematics(MODEL, STATE.q, STATE.v).poses, kinematics(MODEL, STATE.q, STATE.v).twists],
        lambda: [lw.tree_dynamics(MODEL, STATE.q, STATE.v, tau, external), MODEL.integrate(STATE.q, STATE.v)],
    ]
    for call in calls:
        for short, long in zip(call(), long_way(monkeypatch, call), strict=True):
            assert short.tobytes() == long.tobytes()
            assert short.shape == long.shape


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
def test_whatever_is_unusual_goes_the_long_way(unusual: Any) -> None:
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


def test_steps_and_packed_results_are_refused() -> None:
    q, v = STATE.q, STATE.v
    step = ALL_STEPPERS["symplectic_euler"]().program("reduced", MODEL).algorithm
    assert not StateCall.fits(MODEL.plan(step, Lanes(1)), {"q": q, "v": v}, ("q", "v"))
    assert not StateCall.fits(MODEL.plan(MASS_MATRIX, Lanes(1)), {"q": q}, ("M",))
    assert not StateCall.fits(MODEL.plan(KINEMATICS, Lanes(1)), {}, ("poses",))
    assert StateCall.fits(MODEL.plan(KINEMATICS, Lanes(1)), {"q": q}, ("poses",)) == python.available()


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
