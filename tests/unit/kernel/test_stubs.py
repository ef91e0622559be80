"""Kernels behind guards are compiled when one first runs, once, to the same bits; what goes wrong then is raised."""

from __future__ import annotations

import ctypes
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.kernel import loop_keys
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.loops import LoopFunction
from linkwork.kernel.plan import Plan
from linkwork.kernel.stubs import KERNEL, Stubs
from linkwork.kernel.sweep import Algorithm
from linkwork.kernel.unit import CompiledUnit


def kernel(calls: list[int]) -> tuple[object, int]:
    """A kernel that notes how many nodes it was called for."""
    function = KERNEL(lambda entries, nodes, bases: calls.append(nodes))
    return function, ctypes.cast(function, ctypes.c_void_p).value or 0


def test_the_first_call_compiles_and_runs_and_is_no_detour_afterwards() -> None:
    stubs, calls, made = Stubs(), [], []
    _alive, address = kernel(calls)
    at = stubs.add(lambda: made.append(1) or address)
    other = stubs.add(lambda: address)
    table = np.array([[at, 1, 2], [7, 1, 2], [at, 5, 6], [other, 1, 2]], np.int64)
    stubs.tables.append(table)
    KERNEL(at)(0, 3, 0)
    KERNEL(at)(0, 4, 0)  # a thread that has read the address of the stub before
    assert calls == [3, 4]
    assert made == [1]
    assert table[:, 0].tolist() == [address, 7, address, other]
    stubs.complete()
    assert table[:, 0].tolist() == [address, 7, address, address]
    stubs.check()


def test_what_goes_wrong_is_raised_in_the_thread_that_called_and_tried_again() -> None:
    stubs, calls, alive = Stubs(), [], []

    def make() -> int:
        if len(alive) < 2:
            alive.append(None)
            raise KeyboardInterrupt if alive == [None] else lw.CompileError("refused")
        alive.append(kernel(calls))
        return alive[-1][1]

    at = stubs.add(make)
    KERNEL(at)(0, 3, 0)
    thread = Thread(target=stubs.check)  # another one knows nothing of it
    thread.start()
    thread.join()
    with pytest.raises(KeyboardInterrupt):
        stubs.check()
    KERNEL(at)(0, 3, 0)
    with pytest.raises(lw.CompileError, match="refused"):
        stubs.check()
    KERNEL(at)(0, 3, 0)
    stubs.check()
    assert calls == [3]


def test_threads_that_come_at_once_compile_once() -> None:
    stubs, calls, made, together = Stubs(), [], [], Barrier(4)
    _alive, address = kernel(calls)
    at = stubs.add(lambda: made.append(1) or address)

    def call() -> None:
        together.wait()
        KERNEL(at)(0, 1, 0)

    threads = [Thread(target=call) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert (len(calls), len(made)) == (4, 1)


def pendulum() -> lw.Model:
    """With a limit that it reaches within a second."""
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(1.0, (0.1, 0.1, 0.1), com=(0.5, 0, 0))
    b.body("a", parent="world", joint=lw.Revolute((0, 1, 0)), inertia=rod, limits=(-1.0, 0.3))
    return b.build()


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """The plans of steps that are made, in a process that has loaded nothing yet."""
    made, make = [], Plan.__init__

    def noted(plan: Plan, algorithm: Algorithm, *rest: Any) -> None:
        make(plan, algorithm, *rest)
        made.extend([plan] if "symplectic" in algorithm.name else [])

    monkeypatch.setattr(Plan, "__init__", noted)
    for kind in (CompiledUnit, LoopFunction):
        monkeypatch.setattr(kind, "is_loaded", lambda *_: False)
    return made


START = lw.State(q=np.zeros(1), v=np.zeros(1))


def test_solvers_of_limits_are_compiled_when_one_acts(steps: list[Plan]) -> None:
    model, complete = pendulum(), pendulum()
    lw.simulate(model, START, 1e-3, 1e-3)
    waiting = steps[0].stubs.waiting
    assert waiting > 0
    first = lw.simulate(model, START, 1.0, 1e-3)
    assert steps[0].stubs.waiting < waiting
    assert abs(first.q).max() > 0.29
    lw.simulate(complete, START, 1e-3, 1e-3)
    steps[-1].complete()
    assert steps[-1].stubs.waiting == 0
    again = lw.simulate(complete, START, 1.0, 1e-3)
    assert first.q.tobytes() == again.q.tobytes() == lw.simulate(model, START, 1.0, 1e-3).q.tobytes()


def test_an_error_while_one_is_compiled_ends_the_run(steps: list[Plan], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(function: LoopFunction, lanes: Lanes) -> int:
        raise lw.CompileError("no room")

    model = pendulum()
    lw.simulate(model, START, 1e-3, 1e-3)
    with monkeypatch.context() as changed:
        changed.setattr(loop_keys, "address", refuse)
        with pytest.raises(lw.CompileError, match="no room"):
            lw.simulate(model, START, 1.0, 1e-3)
    assert np.isfinite(lw.simulate(model, START, 1.0, 1e-3).q).all()


def test_code_that_python_must_not_enter_is_complete(steps: list[Plan]) -> None:
    lw.Simulator(pendulum(), START, 1e-3).step()
    assert [plan.stubs.waiting for plan in steps] == [0]
