"""MuJoCo: quaternions as ours; a free joint has (linear in world axes, angular in body axes).

    import mujoco
    peer = lw.interop.mujoco.build(model)                  # or the MjModel of an MJCF file: joints are found by name
    to = lw.interop.mujoco.converter(model, peer)
    data.qpos, data.qvel = to.to_q(q), to.to_v(q, v)
    data.ctrl = lw.interop.mujoco.controls(model)          # of inputs of forces, where they start by default

Accelerations are `qacc`, forces `qfrc_applied`, `qfrc_inverse`. Hinges and slides are written alike, and so are ball joints.
Joints with several turns and slides are several joints of one body.

`build` writes springs, dampers, drives, tendons, loops, welds, couplings, limits, dry friction, shapes, grounds and keyframes.
What MuJoCo cannot say is an error that names the elements; `allow` leaves them out. `notes(peer)` are lines about what means
something else there: its contacts, limits, equalities and dry friction are soft, those of linkwork are not.
"""

from __future__ import annotations

from .build import ALLOWED, Mjcf, build, controls, mjcf, notes
from .states import FreeJoint, converter, without_loads
from .tree import stages

__all__ = ["ALLOWED", "FreeJoint", "Mjcf", "build", "controls", "converter", "mjcf", "notes", "stages", "without_loads"]
