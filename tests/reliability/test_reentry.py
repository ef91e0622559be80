"""Calls do not meet: a signal handler, another thread or a caller that is gone leaves no trace in anybody's numbers."""

from __future__ import annotations

import gc
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.bench.models import arm7
from linkwork.kernel.workspace import Workspace

ALARM = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
SECONDS, INTERVAL = 0.15, 1e-4
Call = Callable[[lw.Model, np.ndarray, np.ndarray, np.ndarray], Any]


def seven(model: lw.Model) -> tuple[np.ndarray, ...]:
    """Seven states, beside one another."""
    rng = np.random.default_rng(5)
    q = np.array([model.random_configuration(seed=k) for k in range(7)])
    return q, *rng.normal(size=(2, 7, model.nv))


CALLS: dict[str, Call] = {
    "forward dynamics": lambda m, q, v, tau: lw.forward_dynamics(m, q, v, tau),
    "with wrenches": lambda m, q, v, tau: lw.forward_dynamics(m, q, v, tau, np.ones((m.nb, 6))),
    "inverse dynamics": lambda m, q, v, tau: lw.inverse_dynamics(m, q, v, tau),
    "mass matrix": lambda m, q, v, tau: lw.mass_matrix(m, q),
    "lists": lambda m, q, v, tau: lw.forward_dynamics(m, q.tolist(), v, tau),
    "float32": lambda m, q, v, tau: lw.mass_matrix(m, q.astype(np.float32)),
    "frame": lambda m, q, v, tau: lw.frame_jacobian(m, q, m.bodies[-1].name),
    "centre of mass": lambda m, q, v, tau: lw.com_jacobian(m, q),
    "momentum": lambda m, q, v, tau: lw.centroidal_momentum_matrix(m, q),
    "several results": lambda m, q, v, tau: np.concatenate([np.ravel(x) for x in lw.forward_dynamics_derivatives(m, q, v, tau)]),
    "batch": lambda m, q, v, tau: lw.forward_dynamics(m, np.array([q, q]), np.array([v, -v]), np.array([tau, tau])),
    "one for all": lambda m, q, v, tau: lw.forward_dynamics(m, np.array([q, q]), v, tau),
    "two threads": lambda m, q, v, tau: lw.forward_dynamics(m, np.array([q] * 20), v, tau, threads=2),
    "run": lambda m, q, v, tau: lw.simulate(m, lw.State(q, v), 2e-3, 1e-3, tau=tau).q,
    "controlled run": lambda m, q, v, tau: lw.simulate(m, lw.State(q, v), 2e-3, 1e-3, control=lambda t, s: tau).q,
    "derivatives of a step": lambda m, q, v, tau: np.concatenate(lw.step_derivatives(m, lw.State(q, v), 1e-3, tau), axis=-1),
    "of a free step": lambda m, q, v, tau: np.concatenate(lw.step_derivatives(m, lw.State(q, v), 1e-3), axis=-1),
}


@pytest.fixture
def alarm() -> Iterator[Callable[[Callable[[], None]], None]]:
    """`alarm(handler)`: call it again and again, in the midst of what this thread does, but not in the midst of itself."""

    def start(handler: Callable[[], None]) -> None:
        def once(*_: Any) -> None:
            handler()
            signal.setitimer(signal.ITIMER_REAL, INTERVAL)

        signal.signal(signal.SIGALRM, once)
        signal.setitimer(signal.ITIMER_REAL, INTERVAL)

    yield start
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 0.0)


@ALARM
@pytest.mark.parametrize("name", CALLS)
def test_a_signal_handler_does_not_disturb_the_call_that_it_interrupts(name: str, alarm: Callable) -> None:
    model, call = arm7(), CALLS[name]
    q, v, tau = seven(model)
    alone, other = call(model, q[0], v[0], tau[0]).copy(), call(model, q[1], v[1], tau[1]).copy()
    wrong, asked = [], []

    def handler() -> None:
        asked.append(1)
        if not np.array_equal(call(model, q[1], v[1], tau[1]), other):
            wrong.append("handler")

    alarm(handler)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if not np.array_equal(call(model, q[0], v[0], tau[0]), alone):
            wrong.append("interrupted")
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    assert asked
    assert not wrong


@ALARM
def test_a_simulator_refuses_a_handler_in_the_midst_of_a_step(alarm: Callable) -> None:
    """Whether or not a handler was let in between two steps: each state is of its own time."""
    model = arm7()
    q, v, _ = seven(model)
    reference = lw.Simulator(model, lw.State(q[0], v[0]))
    right = [reference.state, *(reference.step() for _ in range(40))]
    sim, refused, seen = lw.Simulator(model, lw.State(q[0], v[0])), [], []

    def handler() -> None:
        try:
            seen.append(sim.step())
        except lw.InputError as error:
            refused.append(str(error))

    alarm(handler)
    end = time.monotonic() + 2.0 * SECONDS
    while time.monotonic() < end:
        sim.reset()
        for _ in range(20):
            seen.append(sim.step())
        if len(refused) > 3 and len(seen) > 4000:
            break
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    for state in seen:
        k = round(state.t / 1e-3)
        assert k >= len(right) or np.array_equal(state.q, right[k].q)
    assert not refused or "in the midst of a step" in refused[0]


def test_a_simulator_refuses_a_step_within_a_step() -> None:
    """The same without chance: a constraint's motion that only Python can compute steps the Simulator that asks it."""
    b = lw.ModelBuilder()
    b.body("rod", joint=lw.Revolute((1, 0, 0)), inertia=lw.Inertia.sphere(1.0, 0.2))
    sims: list[lw.Simulator] = []
    said: list[str] = []

    def motion(t: float) -> tuple[float, float, float]:
        x = math.sin(t)
        for sim in sims:
            for act in (sim.step, sim.reset):
                with pytest.raises(lw.InputError, match="in the midst of a step"):
                    act()
                said.append(act.__name__)
        return x, math.cos(t), -x

    model = b.build().add(lw.PrescribedJoint("rod", motion))
    sim = lw.Simulator(model)
    sims.append(sim)
    assert sim.step().t == 1e-3
    assert {*said} == {"step", "reset"}


# --- threads that end ---------------------------------------------------------------------------------------------------
def workspaces() -> int:
    gc.collect()
    return sum(type(x) is Workspace for x in gc.get_objects())


def test_threads_leave_no_memory_behind() -> None:
    """Thousands of threads that call, one after the other, need the memory of one."""
    model = arm7()
    q, v, tau = seven(model)

    def work() -> None:
        lw.forward_dynamics(model, q[0], v[0], tau[0])
        lw.forward_dynamics(model, q, v, tau)
        lw.frame_jacobian(model, q[0], model.bodies[-1].name)
        lw.com_jacobian(model, q)
        lw.step_derivatives(model, lw.State(q[0], v[0]), 1e-3)

    work()
    before = workspaces()
    for _ in range(250):
        some = [threading.Thread(target=work) for _ in range(4)]
        for thread in some:
            thread.start()
        for thread in some:
            thread.join()
    assert workspaces() - before <= 4 * 20  # not more than four calls at a time
    assert threading.active_count() < 20


def test_models_leave_no_memory_behind() -> None:
    """Nor do models that are gone."""

    def work() -> None:
        model = arm7()
        q, v, tau = seven(model)
        lw.forward_dynamics(model, q, v, tau)
        lw.com_jacobian(model, q[0])
        lw.simulate(model, lw.State(q[0], v[0]), 2e-3, 1e-3)

    work()
    before = workspaces()
    for _ in range(10):
        work()
    assert workspaces() <= before
