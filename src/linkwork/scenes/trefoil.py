"""A bead that slides along a trefoil knot: a joint made of the user's own curve."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from ..spatial.scalar import Scalar, Vector, stack
from .scene import Scene
from .scenery import wire

SIZE, HEIGHT = 0.4, 1.2  # m
RATE = 2.0  # of the parameter, per second, at the start


def knot(u: Scalar, size: Scalar) -> Vector:
    """The knot about a level axis, once round for u from -pi to pi."""
    x, y, z = np.sin(u) + 2.0 * np.sin(2.0 * u), np.sin(3.0 * u), np.cos(u) - 2.0 * np.cos(2.0 * u)
    return stack(size * x, size * y, size * z)


def trefoil() -> tuple[lw.Model, lw.State]:
    """The bead's long side stays along the knot; it has enough speed to go round and round."""
    curve = lw.Curve(knot, (-np.pi, np.pi), {"size": SIZE})
    b = lw.ModelBuilder()
    b.world(_moved(wire(curve, 0.012)))
    bead = lw.Box((0.16, 0.08, 0.08), mass=1.0, group=0, mask=0)
    b.body("bead", joint=lw.CurvePoint(curve), placement=lw.SE3(p=(0, 0, HEIGHT)), shapes=[bead])
    model = b.build()
    return model, lw.State(np.zeros(1), np.array([RATE]))


def _moved(mesh: lw.Mesh) -> lw.Mesh:
    """Up to where the knot is."""
    raised = mesh.vertices + np.array([0.0, 0.0, HEIGHT])
    return lw.Mesh(raised, mesh.faces, mesh.name, group=0, mask=0, color=mesh.color)


TREFOIL = Scene("trefoil", "a bead slides along a trefoil knot, a curve of one's own", trefoil, duration=5.0, dt=1e-3)
