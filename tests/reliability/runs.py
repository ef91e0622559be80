"""Models and runs that the tests of this folder share: forces, a loop, contact with friction, limits."""

from __future__ import annotations

import signal
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw

ROD = lw.Inertia.cuboid(mass=1.0, size=(0.4, 0.06, 0.05), com=(0.2, 0.01, 0.0))
START = np.array([0.4, 0.6, -0.5])


def builder(**properties: Any) -> lw.ModelBuilder:
    """Three links, hinges about y, y and z."""
    b, parent, place = lw.ModelBuilder(), "world", lw.SE3(p=(0, 0, 1))
    for name, axis in zip("abc", ((0, 1, 0), (0, 1, 0), (0, 0, 1)), strict=True):
        b.body(name, parent=parent, joint=lw.Revolute(axis), placement=place, inertia=ROD, **properties)
        parent, place = name, lw.SE3(p=(0.4, 0, 0))
    return b


@cache
def tip() -> np.ndarray:
    """The end of the last link at the start."""
    return (lw.kinematics(builder().build(), START).poses[2] @ np.array([0.4, 0, 0, 1.0]))[:3]


def smooth() -> lw.Model:
    """With springs, a drive and a loop: any stepper takes it."""
    b = builder()
    b.add(lw.SpringDamper("c", "world", (0.4, 0, 0), (0.5, 0, 0.5), stiffness=30.0, rest_length=0.3, damping=0.5))
    b.add(lw.PDController("a", 50.0, 2.0, target=[0.1]))
    b.add(lw.Loop("c", "world", (0.4, 0, 0), tip()))
    return b.build()


def touching(friction: float = 0.4) -> lw.Model:
    """With springs, a loop, and a ball that falls, rolls and slides on the ground."""
    b = builder()
    b.add(lw.SpringDamper("c", "ball", (0.4, 0, 0), (0.0, 0, 0.1), stiffness=30.0, rest_length=0.3, damping=0.5))
    b.add(lw.Loop("c", "world", (0.4, 0, 0), tip()))
    shapes = [lw.Sphere(0.1), lw.Box((0.3, 0.1, 0.1), lw.SE3(p=(0.1, 0, 0)))]
    b.body("ball", joint=lw.Free(), placement=lw.SE3(p=(0, 1.0, 0.3)), inertia=lw.Inertia.sphere(1.0, 0.1), shapes=shapes)
    b.ground(friction=friction)
    return b.build()


def start(model: lw.Model, batch: int = 0) -> lw.State:
    """A state, or a batch of states, in motion."""
    q, v = model.neutral(), np.zeros(model.nv)
    q[:3] = START
    if model.nv > 3:
        v[model.v_index("ball")] = [3.0, 1.0, 0.5, 1.0, -0.5, 0.0]
    if not batch:
        return lw.State(q, v)
    return lw.State(np.tile(q, (batch, 1)), v * np.linspace(0.5, 1.0, batch)[:, None])


def same(a: Any, b: Any) -> bool:
    """Whether all that two runs recorded is equal to the bit."""
    return all(_equal(_part(a, n), _part(b, n)) for n in ("t", "tau", "inputs", "left", "forces", *a.arrays))


def _part(run: Any, name: str) -> Any:
    return run.arrays[name] if name in run.arrays else getattr(run, name)


def _equal(x: Any, y: Any) -> bool:
    if x is None or y is None:
        return x is y
    return x.shape == y.shape and x.tobytes() == y.tobytes()


def wait_for(file: Path, size: int) -> None:
    """Wait until a run has written so much."""
    for _ in range(600):
        if file.exists() and file.stat().st_size > size:
            return
        time.sleep(0.05)
    raise AssertionError("nothing was written")


def heeds_ctrl_c() -> None:
    """In a new process, before Python starts: processes that a shell started in the background ignore the signal."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
