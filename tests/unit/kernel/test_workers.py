"""Batches shared by threads: the same bits whoever computes them, however many callers there are."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import linkwork as lw
from linkwork.bench.models import arm7

THREADS = (2, 3, 5)


@pytest.fixture(scope="module")
def states() -> tuple[lw.Model, list[np.ndarray]]:
    model = arm7()
    rng = np.random.default_rng(3)
    q = np.array([model.random_configuration(seed=k) for k in range(203)])
    return model, [q, rng.normal(size=(203, model.nv)), rng.normal(size=(203, model.nv))]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("rows", [2, 8, 9, 203])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_as_many_threads_as_one_likes(states: tuple, threads: int, rows: int, dtype: type) -> None:
    model, arrays = states
    some = [np.ascontiguousarray(x[:rows], dtype) for x in arrays]
    for function, given in ((lw.forward_dynamics, some), (lw.inverse_dynamics, some), (lw.mass_matrix, some[:1])):
        alone, shared = function(model, *given), function(model, *given, threads=threads)
        assert shared.dtype == dtype
        assert shared.tobytes() == alone.tobytes()


def test_unusual_arrays_are_shared_too(states: tuple) -> None:
    model, (q, v, tau) = states
    alone = lw.forward_dynamics(model, q, v, tau)
    assert np.array_equal(lw.forward_dynamics(model, q[::2], v[::2], tau[::2], threads=2), alone[::2])
    assert np.array_equal(lw.forward_dynamics(model, q.tolist(), v, tau, threads=None), alone)
    wrenches = np.zeros((model.nb, 6))
    assert np.array_equal(lw.forward_dynamics(model, q, v, tau, wrenches, threads=2), alone)


def test_a_late_thread_finds_its_work(states: tuple) -> None:
    model, arrays = states
    alone = lw.forward_dynamics(model, *arrays)
    for pause in (0.0, 1e-4, 1e-3, 2e-2):  # the other thread still looks for work, or sleeps
        for _ in range(20):
            time.sleep(pause)
            assert np.array_equal(lw.forward_dynamics(model, *arrays, threads=2), alone)


def test_many_callers(states: tuple) -> None:
    model, arrays = states
    alone = lw.forward_dynamics(model, *arrays)
    wrong: list[int] = []

    def call(k: int) -> None:
        for _ in range(100):
            if not np.array_equal(lw.forward_dynamics(model, *arrays, threads=2), alone):
                wrong.append(k)

    callers = [threading.Thread(target=call, args=(k,)) for k in range(4)]
    for c in callers:
        c.start()
    for c in callers:
        c.join()
    assert not wrong


FIRST_CALLS = """
import sys, threading
import numpy as np
import linkwork as lw
from linkwork.bench.models import arm7

sys.setswitchinterval(1e-6)
model, rng = arm7(), np.random.default_rng(3)
q = np.array([model.random_configuration(seed=k) for k in range(40)])
v, tau = rng.normal(size=(2, 40, model.nv))
given = (q, v, tau, np.zeros((model.nb, 6)))
alone, start, found = lw.forward_dynamics(model, *given), threading.Barrier(8), []

def call():
    start.wait()
    for _ in range(50):
        found.append(np.array_equal(lw.forward_dynamics(model, *given, threads=2), alone))

callers = [threading.Thread(target=call) for _ in range(8)]
for c in callers:
    c.start()
for c in callers:
    c.join()
sys.exit(0 if len(found) == 400 and all(found) else 3)
"""


def test_first_calls_at_once() -> None:
    """Each round is a process of its own: threads are made once in its life."""
    ends = [subprocess.run([sys.executable, "-c", FIRST_CALLS], timeout=120, check=False).returncode for _ in range(8)]
    assert ends == [0] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(states: tuple) -> None:
    model, arrays = states
    alone = lw.forward_dynamics(model, *arrays, threads=2)
    child = os.fork()
    if not child:
        same = np.array_equal(lw.forward_dynamics(model, *arrays, threads=2), alone)
        same = same and np.array_equal(lw.inverse_dynamics(model, *arrays, threads=2), lw.inverse_dynamics(model, *arrays))
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two"])
def test_threads_are_counted(states: tuple, threads: object) -> None:
    model, arrays = states
    with pytest.raises(lw.InputError, match="threads must be a positive whole number"):
        lw.forward_dynamics(model, *arrays, threads=threads)
