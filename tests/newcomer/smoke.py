"""What must work in any environment that linkwork was installed into, run outside of the source tree by its own Python.

All modules import, public names are there, a model with a spring and a stop runs compiled, forward and inverse dynamics undo one
another, its live page is written, and an item of `linkwork verify` passes.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import warnings
from pathlib import Path

import numpy as np

import linkwork as lw

EXTRAS = {"casadi", "jax", "torch"}  # doors to them import them
assert Path(lw.__file__).is_relative_to(sys.prefix), lw.__file__

warnings.simplefilter("error")
for module in pkgutil.walk_packages(lw.__path__, "linkwork."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
assert all(getattr(lw, name) is not None for name in lw.__all__)

arm = lw.ModelBuilder().body("upper", joint=lw.Spherical(), inertia=lw.Inertia.cuboid(1.0, (0.3, 0.1, 0.05), com=(0.15, 0, 0)))
arm.body(
    "fore", parent="upper", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.3, 0, 0)), inertia=lw.Inertia(0.5, (0.1, 0, 0))
)
model = arm.build().add(lw.JointSpring("fore", stiffness=5.0, damping=0.1), lw.Limit("fore", -1.0, 1.0))
start = lw.State(model.neutral(), np.array([0.5, -1.0, 0.2, 2.0]))
run = lw.simulate(model, start, 0.5, 1e-3)
assert run.health.finite
a = lw.forward_dynamics(model, start.q, start.v)
balance = lw.inverse_dynamics(model, start.q, start.v, a)
assert np.abs(balance).max() < 1e-10, balance
page = lw.save_live(model, start, "live.html")
assert page.stat().st_size > 100_000
(row,) = importlib.import_module("linkwork.verify").verify(["analytic.stiff_steps"], quick=True)
assert row.verdict == "pass", row
print(f"Python {sys.version_info.major}.{sys.version_info.minor}: linkwork {lw.__version__} works")
