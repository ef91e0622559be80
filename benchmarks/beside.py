"""Calls of two trees of linkwork beside one another: processes of both in turn, the best of each, and the ratio.

    python benchmarks/beside.py OTHER/src SRC [rounds]

Times are CPU times of one thread; both trees need their kernels in their caches, so a first round is not counted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any


def calls() -> dict[str, tuple[int, Callable[[], Any]]]:
    """What is timed, and how often it is repeated."""
    import numpy as np

    import linkwork as lw
    from linkwork.bench.models import arm7

    model, rng = arm7(), np.random.default_rng(0)
    q, name = model.random_configuration(seed=1), model.bodies[-1].name
    v, tau = rng.normal(size=(2, model.nv))
    many = [np.tile(x, (1024, 1)) for x in (q, v, tau)]
    sprung = model.add(*(lw.JointSpring(b.joint_name, 5.0, damping=0.1) for b in model.bodies))
    stopped = model.add(*(lw.Limit(b.joint_name, -3.0, 3.0) for b in model.bodies))
    sim, state, states = lw.Simulator(model), lw.State(q, v), lw.State(*many[:2])
    base = [lw.Free(), *(b.joint for b in model.bodies[1:])]
    free, lone, balls = (batch_of(rejointed(model, x)) for x in (base, base[:1], [lw.Spherical()] * 7))
    return {
        "forward_dynamics": (5000, lambda: lw.forward_dynamics(model, q, v, tau)),
        "inverse_dynamics": (5000, lambda: lw.inverse_dynamics(model, q, v, tau)),
        "mass_matrix": (5000, lambda: lw.mass_matrix(model, q)),
        "frame_jacobian": (5000, lambda: lw.frame_jacobian(model, q, name)),
        "com_jacobian": (5000, lambda: lw.com_jacobian(model, q)),
        "forward_dynamics_batch1024": (50, lambda: lw.forward_dynamics(model, *many)),
        "mass_matrix_batch1024": (50, lambda: lw.mass_matrix(model, many[0])),
        "kinematics_batch1024": (20, lambda: lw.kinematics(model, many[0])),
        "free_base_batch1024": (20, lambda: lw.forward_dynamics(*free)),
        "free_body_batch1024": (50, lambda: lw.forward_dynamics(*lone)),
        "balls_batch1024": (20, lambda: lw.forward_dynamics(*balls)),
        "forward_dynamics_loaded": (2000, lambda: lw.forward_dynamics(sprung, q, v, tau)),
        "state": (5000, lambda: lw.State(q, v)),
        "simulator_step": (3000, lambda: sim.step()),
        "simulate_1_step": (300, lambda: lw.simulate(model, state, 1e-3, 1e-3)),
        "simulate_10_steps": (300, lambda: lw.simulate(model, state, 0.01, 1e-3)),
        "simulate_1000_steps_springs": (5, lambda: lw.simulate(sprung, state, 1.0, 1e-3)),
        "simulate_1000_steps_limits": (5, lambda: lw.simulate(stopped, state, 1.0, 1e-3)),
        "simulate_100_steps_control": (20, lambda: lw.simulate(model, state, 0.1, 1e-3, control=lambda t, s: tau)),
        "simulate_10_steps_batch1024": (3, lambda: lw.simulate(model, states, 0.01, 1e-3)),
    }


def batch_of(model: Any) -> tuple[Any, ...]:
    """A model, and arguments of its dynamics in 1024 states."""
    import numpy as np

    q = np.array([model.random_configuration(seed=k) for k in range(1024)])
    return model, q, *np.random.default_rng(0).normal(size=(2, 1024, model.nv))


def rejointed(model: Any, joints: list[Any]) -> Any:
    """The model with other joints in its first bodies; what follows is left away if they are fewer."""
    import linkwork as lw

    pairs = zip(model.bodies, joints, strict=False)
    bodies = [lw.Body(b.name, b.parent, j, b.joint_name, b.placement, b.inertia) for b, j in pairs]
    return lw.Model(tuple(bodies), model.gravity)


def times(repeats: int = 8) -> dict[str, float]:
    """Microseconds a call, the best of several."""
    found = {}
    for name, (count, call) in calls().items():
        call()
        best = float("inf")
        for _ in range(repeats):
            start = time.process_time()
            for _ in range(count):
                call()
            best = min(best, (time.process_time() - start) / count)
        found[name] = 1e6 * best
    return found


def main(trees: list[str], rounds: int) -> None:
    best: list[dict[str, float]] = [{}, {}]
    caches = [f"{os.environ.get('LINKWORK_CACHE') or tempfile.mkdtemp()}-{k}" for k in range(2)]  # a tree may not know another's
    for k in range(rounds + 1):
        for tree, cache, own in zip(trees, caches, best, strict=True):
            environment = {**os.environ, "PYTHONPATH": tree, "LINKWORK_CACHE": cache, "OPENBLAS_NUM_THREADS": "1"}
            done = subprocess.run([sys.executable, __file__], env=environment, stdout=subprocess.PIPE, text=True, check=True)
            if k:
                for name, t in json.loads(done.stdout).items():
                    own[name] = min(own.get(name, t), t)
    for name in best[0]:
        a, b = best[0][name], best[1][name]
        print(f"{name:32} {a:10.2f} {b:10.2f} us   {b / a:.3f}")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(json.dumps(times()))
    else:
        main(sys.argv[1:3], int(sys.argv[3]) if len(sys.argv) > 3 else 10)
