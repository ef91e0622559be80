"""Where a model that was read from a file starts, if nobody says otherwise."""

from __future__ import annotations

import numpy as np

from ..forces.joint import is_flat
from ..model import Model, State

START = "start"  # the name of the keyframe of files that say where they start


def usual_start(model: Model) -> State:
    """At rest where the file says, or at the zero of every joint; at the nearest limit where that is beyond one."""
    q = np.array(model.keyframes[START].q) if START in model.keyframes else model.neutral()
    for body in model.bodies:
        if is_flat(body.joint):
            part = model.q_index(body.name)
            q[part] = np.clip(q[part], body.properties.lower, body.properties.upper)
    return State(q, np.zeros(model.nv))
