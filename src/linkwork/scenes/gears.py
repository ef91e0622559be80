"""A gear train: a weight unwinds a rope from a small wheel, two pairs of wheels speed the turning up, and a fan holds it back."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import Scene
from .scenery import gear

AXLE = (0.0, 1.0, 0.0)
HEIGHT = 1.5  # m, of all axles
LARGE, SMALL, THICK = 0.24, 0.08, 0.04  # m, radii and thickness of wheels: every axle but the last carries a large one
PAIRS = 2
DENSITY = 300.0  # kg/m^3: wheels have spokes
FAN = 1e-2  # N m s/rad
TEETH = 10  # of a small wheel


def gears(weight: float = 2.0) -> tuple[lw.Model, lw.State]:
    """Axles along y in a row along x; the large wheel of each drives the small one of the next. The weight is in kg.

    Each axle lies a thickness farther along y than the one before, so that wheels that mesh share a plane.
    """
    if not (isinstance(weight, (int, float)) and np.isfinite(weight) and weight > 0):
        raise lw.InputError(f"the weight must be above 0 kg, not {weight!r}")
    b = lw.ModelBuilder()
    for k in range(PAIRS + 1):
        at = lw.SE3(p=(k * (LARGE + SMALL), k * THICK, HEIGHT))
        b.body(f"axle{k + 1}", joint=lw.Revolute(AXLE), placement=at, inertia=_wheels(k == PAIRS), visuals=_looks(k, k == PAIRS))
    cube = lw.Inertia.cuboid(mass=float(weight), size=[0.1 * weight ** (1 / 3)] * 3)
    rope = lw.Capsule(0.004, 0.2 * HEIGHT, lw.SE3(p=(0, 0, 0.1 * HEIGHT)), color=(0.5, 0.4, 0.3))
    brick = [lw.Box([0.1 * weight ** (1 / 3)] * 3, color=(0.45, 0.47, 0.5)), rope]
    place = lw.SE3(p=(-SMALL, 0, 0.9 * HEIGHT))
    b.body("weight", joint=lw.Prismatic((0, 0, 1)), placement=place, inertia=cube, visuals=brick)
    b.add(lw.Coupling("weight", "axle1", ratio=SMALL))
    for k in range(PAIRS):
        b.add(lw.Gear(f"axle{k + 1}", f"axle{k + 2}", ratio=-LARGE / SMALL, axis_a=AXLE, axis_b=AXLE))
    b.add(lw.JointDamping(f"axle{PAIRS + 1}", FAN))
    model = b.build()
    return model, lw.State(q=model.neutral(), v=np.zeros(model.nv))


def _wheels(last: bool) -> lw.Inertia:
    """A small wheel and beside it a large one; the last axle has only the small one."""

    def wheel(radius: float, y: float) -> tuple[lw.Inertia, lw.SE3]:
        return lw.Inertia.cylinder(DENSITY * np.pi * radius**2 * THICK, radius, THICK, axis=AXLE, com=(0, y, 0)), lw.SE3()

    return lw.Inertia.combined([wheel(SMALL, 0.0), *([] if last else [wheel(LARGE, THICK)])])


def _looks(k: int, last: bool) -> list[lw.Shape]:
    """The wheels with teeth, so many that they mesh; the last axle carries a fan."""
    turned = lw.SE3.rot_x(-np.pi / 2)  # z along the axle
    brass, steel = (0.83, 0.66, 0.3), (0.55, 0.6, 0.66)
    found = gear(SMALL, THICK, TEETH, turned, steel, mark=k == 0)
    if not last:
        return [*found, *gear(LARGE, THICK, TEETH * round(LARGE / SMALL), lw.SE3(p=(0, THICK, 0)) @ turned, brass)]
    blade = lw.Box((0.3, 0.006, 0.05), color=(0.35, 0.5, 0.7))
    return [*found, *(blade.moved(lw.SE3(p=(0, 2 * THICK, 0)) @ lw.SE3.rot_y(angle)) for angle in (0.0, np.pi / 2))]


def top_speed(weight: float = 2.0) -> float:
    """The speed of the last axle (rad/s) at which the fan holds the weight."""
    return 9.81 * weight * SMALL * (SMALL / LARGE) ** PAIRS / FAN


GEARS = Scene(
    "gears", "a gear train driven by a falling weight, held back by a fan (option: weight)", gears, duration=4.0, dt=2e-3
)
