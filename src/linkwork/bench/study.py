"""Throughput of studies: runs a second beside a plain batch of the same runs, on one thread.

    batch        `simulate` of all states at once, one model
    states       a study over initial states
    numbers      a study over a stiffness, a mass, gravity and initial states: every run is another model

The model is an arm of seven joints with a spring at each, whose tip meets a plane.
"""

from __future__ import annotations

import json as encoder
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from ..contact import Contact
from ..forces import JointSpring
from ..geometry import Plane
from ..model import Model, State
from ..model.model import WORLD
from ..simulate import simulate
from ..studies import Design, study
from . import loaded_models

DT, SPREAD = 1e-3, 0.2


def sprung_arm() -> Model:
    """The arm with springs and a contact."""
    m = loaded_models.arm()
    body, sphere = m.spheres[-1]
    ground = Plane(m.point(body, sphere.center) - (0.0, 0.0, sphere.radius + 0.05))
    springs = [JointSpring(joint, stiffness=5.0, damping=0.1, name=f"spring{k}") for k, joint in enumerate(m.hinges)]
    return m.model.add(*springs, Contact(body, sphere, WORLD, ground, friction=0.5, name="floor"))


def designs(model: Model, runs: int) -> dict[str, Design]:
    """What differs between the runs."""
    start = loaded_models.arm().q
    angles = {f"q[{k}]": (float(x) - SPREAD, float(x) + SPREAD) for k, x in enumerate(start)}
    numbers = {"spring2.stiffness": (1.0, 10.0), f"{model.bodies[3].name}.mass": (0.5, 2.0), "floor.friction": (0.2, 1.0)}
    return {"states": Design.sobol(angles, runs), "numbers": Design.sobol(angles | numbers, runs)}


def run(json: Path | None, quick: bool) -> list[dict[str, Any]]:
    """Measure, print and return the rows."""
    runs, steps, rounds = (2048, 20, 1) if quick else (10_000, 200, 5)
    model = sprung_arm()
    made = designs(model, runs)
    columns = made["states"].columns
    q = np.stack([columns[f"q[{k}]"] for k in range(model.nq)], axis=1)
    every = {"duration": steps * DT, "dt": DT, "every": steps}
    contenders = {
        "batch": lambda: simulate(model, State(q, np.zeros((runs, model.nv))), **every),
        **{name: (lambda design=design: study(model, design, threads=1, **every)) for name, design in made.items()},
    }
    best = dict.fromkeys(contenders, np.inf)
    for _ in range(rounds + 1):  # the first round compiles
        for name, contender in contenders.items():
            begin = process_time()
            contender()
            best[name] = min(best[name], process_time() - begin)
    rows = [
        {"case": name, "runs": runs, "steps": steps, "runs_per_second": runs / t, "of_batch": best["batch"] / t}
        for name, t in best.items()
    ]
    print(f"{runs} runs of {steps} steps of an arm with springs and a contact, one thread")
    for row in rows:
        print(f"{row['case']:10} {row['runs_per_second']:12,.0f} runs/s  {row['of_batch']:6.1%} of the batch")
    if json is not None:
        json.write_text(encoder.dumps(rows, indent=1))
    return rows
