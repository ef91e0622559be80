"""Calls of two trees of linkwork beside one another: processes of both in turn, the best of each, and the ratio.

    python benchmarks/beside.py OTHER/src SRC [rounds]

Times are CPU times of one thread; both trees need their kernels in their caches, so a first round is not counted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
    return {
        "forward_dynamics": (5000, lambda: lw.forward_dynamics(model, q, v, tau)),
        "inverse_dynamics": (5000, lambda: lw.inverse_dynamics(model, q, v, tau)),
        "mass_matrix": (5000, lambda: lw.mass_matrix(model, q)),
        "frame_jacobian": (5000, lambda: lw.frame_jacobian(model, q, name)),
        "com_jacobian": (5000, lambda: lw.com_jacobian(model, q)),
        "forward_dynamics_batch1024": (50, lambda: lw.forward_dynamics(model, *many)),
        "forward_dynamics_loaded": (2000, lambda: lw.forward_dynamics(sprung, q, v, tau)),
        "simulator_step": (3000, lambda: sim.step()),
        "simulate_10_steps": (300, lambda: lw.simulate(model, state, 0.01, 1e-3)),
        "simulate_1000_steps_springs": (5, lambda: lw.simulate(sprung, state, 1.0, 1e-3)),
        "simulate_1000_steps_limits": (5, lambda: lw.simulate(stopped, state, 1.0, 1e-3)),
        "simulate_100_steps_control": (20, lambda: lw.simulate(model, state, 0.1, 1e-3, control=lambda t, s: tau)),
        "simulate_10_steps_batch1024": (3, lambda: lw.simulate(model, states, 0.01, 1e-3)),
    }


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
    for k in range(rounds + 1):
        for tree, own in zip(trees, best, strict=True):
            environment = {**os.environ, "PYTHONPATH": tree, "OPENBLAS_NUM_THREADS": "1"}
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
