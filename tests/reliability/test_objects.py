"""Models, trajectories, states and simulators pickle, copy and go to other processes, used or not; so do functions of users."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from models import ALL_KINDS, JOINTS
from reliability.runs import builder, same, smooth, start, touching

import linkwork as lw
from linkwork.scenes import ALL_SCENES
from linkwork.store.data import Data
from linkwork.store.objects import decode, encode

WAYS = {"pickle": lambda x: pickle.loads(pickle.dumps(x)), "deepcopy": copy.deepcopy, "copy": copy.copy}


def of_functions() -> lw.Model:
    """Joints, forces and constraints of a user's functions."""
    b = lw.ModelBuilder()
    helix = lw.joint(lambda q, pitch: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0, 0, pitch * q[0])), nv=1, parameters={"pitch": 0.02})
    b.body("a", joint=helix, inertia=lw.Inertia.sphere(1.0, 0.1, com=(0.2, 0, 0)))
    swing = lw.joint(lambda q: lw.SE3.exp(np.array([0.0, 1.0, 0.3, 0.1, 0.0, 0.0]) * q[0]) @ lw.SE3.rot_x(np.sin(q[1])), nv=2)
    b.body("b", parent="a", joint=swing, placement=lw.SE3(p=(0.3, 0, 0)), inertia=lw.Inertia.sphere(1.0, 0.1))
    b.body("c", joint=lw.Free(), placement=lw.SE3(p=(0, 0.5, 0)), inertia=lw.Inertia.sphere(1.0, 0.1))
    b.add(
        lw.force(["b", "c"], energy=lambda E, k: 0.5 * k * lw.math.norm(E[0].p - E[1] @ (0.1, 0, 0)) ** 2, parameters={"k": 9.0})
    )
    curve = lw.samples([-1.0, 0.0, 1.0], [1.0, 0.0, -2.0], "pchip")
    b.add(lw.joint_force("a", force=lambda q, v, t, c: [lw.interp(q[0], c) - 0.1 * v[0] * np.cos(t)], parameters={"c": curve}))
    b.add(lw.constraint("c", lambda E: [E[0].p[2] - 0.1 * E[0].p[0] ** 2, (E[0].inverse() @ lw.SE3()).p[1] + 0.5]))
    b.add(lw.joint_constraint(["a", "b"], lambda q, t: q[0] - q[1] - lw.math.where(t > 0.05, 0.0, 0.0) * q[2]))
    b.add(lw.PointForce("b", (0, 0, 0), lambda t: (np.sin(t), 0.0, 0.1)))
    b.add(lw.TorqueCurve("a", lambda q: -np.tanh(q)))
    return b.build()


def state_of(model: lw.Model) -> lw.State:
    return lw.assemble(model, lw.State(model.neutral(), np.zeros(model.nv)))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("make", [smooth, touching], ids=lambda f: f.__name__)
def test_models(way: str, used: bool, make: Any) -> None:
    model = make()
    before = lw.simulate(model, start(model), 0.02, 1e-3) if used else None
    other = WAYS[way](model)
    assert other is not model
    assert encode(other).digest == encode(model).digest
    assert not other.gravity.flags.writeable
    assert not other.bodies[0].properties.damping.flags.writeable
    after = lw.simulate(other, start(other), 0.02, 1e-3)
    assert same(before or lw.simulate(model, start(model), 0.02, 1e-3), after)


@pytest.mark.parametrize("name", ALL_SCENES)
def test_every_scene(name: str) -> None:
    model, state = ALL_SCENES[name].build()
    other, then = pickle.loads(pickle.dumps((model, state)))
    assert encode(other).digest == encode(model).digest
    assert then.q.tobytes() == state.q.tobytes()


@pytest.mark.parametrize("name", ALL_KINDS)
def test_every_joint_has_the_same_machine_code(name: str) -> None:
    """What its functions compute is traced to the same digest after a journey."""
    joint = JOINTS[name](np.random.default_rng(0))
    other = pickle.loads(pickle.dumps(joint))
    assert other.signature == joint.signature
    assert np.array_equal(other.random(np.random.default_rng(0)), joint.random(np.random.default_rng(0)))


def test_functions_travel_as_what_they_compute() -> None:
    """Runs of the model that arrived are those of the model that was sent, to the bit, compiled from its tapes alone."""
    model = of_functions()
    state = state_of(model)
    alone = lw.simulate(model, state, 0.1, 1e-3)
    data = encode(model)
    other = decode(Data(data.tree, {name: a.copy() for name, a in data.arrays.items()}))
    assert encode(other).digest == data.digest
    assert [b.joint.signature for b in other.bodies] == [b.joint.signature for b in model.bodies]
    assert same(alone, lw.simulate(other, state, 0.1, 1e-3))
    assert same(alone, lw.simulate(pickle.loads(pickle.dumps(other)), state, 0.1, 1e-3))
    changed = other.with_parameters({"a": {"pitch": 0.05}})
    assert same(
        lw.simulate(changed, state, 0.01, 1e-3), lw.simulate(model.with_parameters({"a": {"pitch": 0.05}}), state, 0.01, 1e-3)
    )


def test_a_function_that_cannot_travel_is_named() -> None:
    b = builder()
    b.add(lw.PrescribedJoint("a", lambda t: (0.1 if t > 1 else 0.0, 0.0, 0.0)))
    with pytest.raises(lw.InputError, match=r"PrescribedJoint: motion: the function '.*<lambda>' is not part of linkwork"):
        pickle.dumps(b.build())


@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
@pytest.mark.parametrize("used", [False, True])
def test_trajectories_and_states(way: str, used: bool) -> None:
    model = touching()
    run = lw.simulate(model, start(model), 0.05, 1e-3)
    said = str(run.health) if used else None
    other, final = WAYS[way](run), WAYS[way](run.final)
    assert same(run, other)
    assert said in (None, str(other.health))
    a, b = (lw.simulate(m, s, 0.05, 1e-3) for m, s in ((model, run.final), (other.model, final)))
    assert a.v.tobytes() == b.v.tobytes()


@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
@pytest.mark.parametrize("steps", [0, 30])
@pytest.mark.parametrize("batch", [0, 3])
def test_simulators(way: str, steps: int, batch: int) -> None:
    model = touching()
    sim = lw.Simulator(model, start(model, batch))
    for _ in range(steps):
        sim.step(tau=np.full(model.nv, 0.1))
    other = WAYS[way](sim)
    assert other.t == sim.t
    for _ in range(20):
        a, b = sim.step(), other.step()
        assert a.q.tobytes() == b.q.tobytes()
    other.reset()
    assert other.t == 0.0
    assert sim.t > 0.0


def test_a_simulator_that_was_lost_stays_so() -> None:
    model = smooth()
    sim = lw.Simulator(model, lw.State([0.4, 0.6, -0.5], [0.0, 1e11, 0.0]))
    with pytest.raises(lw.SolverError):
        sim.step(50)
    with pytest.raises(lw.SolverError, match="cannot go on"):
        pickle.loads(pickle.dumps(sim)).step()


def _elsewhere(things: Any, out: Any) -> None:
    """What another process computes of a model, a trajectory and a simulator."""
    model, state, run, sim = things
    found = lw.simulate(model, state, 0.02, 1e-3)
    for _ in range(5):
        sim.step()
    out.put((found.v.tobytes(), float(run.energy.total[-1]), sim.state.q.tobytes()))


def test_spawned_processes() -> None:
    model = of_functions()
    state, sim = state_of(model), lw.Simulator(model, state_of(model))
    sim.step(3)
    run = lw.simulate(model, state, 0.02, 1e-3)
    method = multiprocessing.get_context("spawn")
    out = method.Queue()
    process = method.Process(target=_elsewhere, args=((model, state, run, sim), out))
    process.start()
    v, energy, q = out.get(timeout=120)
    process.join()
    assert v == run.v.tobytes()
    assert energy == float(run.energy.total[-1])
    for _ in range(5):
        sim.step()
    assert q == sim.state.q.tobytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_of_a_busy_process() -> None:
    """Threads compute on two threads each while the process forks; the children compute the same, and end."""
    model = touching()
    state = start(model, 64)
    wanted = lw.simulate(model, state, 0.005, 1e-3, threads=2).v.tobytes()
    busy = threading.Event()

    def work() -> None:
        while not busy.is_set():
            lw.simulate(model, state, 0.005, 1e-3, threads=2)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    try:
        for _ in range(8):
            child = os.fork()
            if not child:
                ok = lw.simulate(model, state, 0.005, 1e-3, threads=2).v.tobytes() == wanted
                os._exit(0 if ok else 1)
            assert _ended(child) == 0
    finally:
        busy.set()
        for t in threads:
            t.join()


def _ended(child: int) -> int:
    """The exit code of a process, or -1 if it hangs."""
    import time

    for _ in range(600):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return -1


def test_arrays_from_pickles_are_arrays_like_others() -> None:
    """NumPy gives them a dtype that equals float64 and is another object: compiled code must not pass them over."""
    model = touching()
    state = start(model, 51)
    q, v = state.q + np.linspace(0.0, 0.1, 51)[:, None] * (np.arange(model.nq) < 3), state.v
    own = lw.kinematics(model, q, v).twists.copy(), lw.forward_dynamics(model, q, v).copy()
    p, w = pickle.loads(pickle.dumps((q, v)))
    assert p.dtype is not q.dtype
    for a, b in ((p, w), (q, v), (p, v), (q, w), (p, w)):
        assert np.array_equal(lw.kinematics(model, a, b).twists, own[0])
        assert np.array_equal(lw.forward_dynamics(model, a, b), own[1])
