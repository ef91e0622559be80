"""A chain of tori that slides along a Bezier curve of seven points, the first torus across the curve [Si & Guenter, Fig. 3]."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .links import whole
from .scene import Scene
from .scenery import wire
from .torus_chain import INNER, hooked, torus

POINTS = (
    (-2.0, 0.0, 2.4),
    (-1.6, 0.6, 1.2),
    (-0.8, -0.6, 0.9),
    (0.0, 0.0, 1.6),
    (0.8, 0.6, 0.9),
    (1.6, -0.6, 1.2),
    (2.0, 0.0, 2.4),
)


def tori_on_spline(links: int = 6) -> tuple[lw.Model, lw.State]:
    """The curve passes through the centre of the first torus along its axis; further tori hang on it one by one."""
    whole("the chain", "links", links)
    spline = lw.bezier_curve(POINTS)
    axis = lw.SE3(R=np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))  # x along z of the torus
    b = lw.ModelBuilder()
    b.world(wire(spline, 0.012))
    b.body("torus1", joint=lw.CurvePoint(spline, axis), shapes=[torus()])
    for k in range(1, links):
        b.body(f"torus{k + 1}", parent=f"torus{k}", joint=hooked(), shapes=[torus()])
    model = b.build()
    down = lw.kinematics(model, _start(links, 0.0), np.zeros(model.nv)).poses[0][:3, :3].T @ np.array([0.0, 0.0, -1.0])
    q = _start(links, float(np.arctan2(down[1], down[0])))
    return model, lw.State(q, np.zeros(model.nv))


def _start(links: int, bottom: float) -> np.ndarray:
    """Near one end of the curve; `bottom` is where on the first torus the second one hangs, all others hang straight."""
    pairs = [(bottom if k == 0 else np.pi, INNER, 0.0, INNER) for k in range(links - 1)]
    return np.concatenate([[0.1], *pairs])


TORI_ON_SPLINE = Scene(
    "tori_on_spline", "a chain of tori slides along a Bezier curve (option: links)", tori_on_spline, duration=4.0, dt=1e-3
)
