"""Shapes that lie along one another, as nearly as can be: edges cross at next to no angle, points run away, normals turn over.

Whatever a step makes of it, contacts without restitution give no energy.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwork as lw

ALONG_X = lw.SE3.rot_y(np.pi / 2)
SHAPES = {
    "box": (lw.Box((0.2, 0.2, 0.2), density=1000, friction=0.5), 0.1),
    "slab": (lw.Box((0.4, 0.3, 0.05), density=1000, friction=0.5), 0.025),
    "capsule": (lw.Capsule(0.1, 0.3, ALONG_X, density=1000, friction=0.5), 0.1),
    "cylinder": (lw.Cylinder(0.1, 0.2, density=1000, friction=0.5), 0.1),
    "coin": (lw.Cylinder(0.1, 0.02, density=1000, friction=0.5), 0.01),
    "disc": (lw.Ellipsoid((0.15, 0.12, 0.01), density=1000, friction=0.5), 0.01),
    "plane": (lw.Plane(friction=0.5), 0.0),
}  # and half of their heights
PAIRS = [("box", "box"), ("slab", "slab"), ("capsule", "capsule"), ("capsule", "box")]
ON_PLANES = [("plane", "cylinder"), ("plane", "coin"), ("plane", "disc")]  # whose lowest points run around their rims
BY_COAL = [("box", "disc"), ("coin", "disc")]
CASES = [(pair, held) for pair in PAIRS + BY_COAL for held in (False, True)] + [(pair, True) for pair in ON_PLANES]
DRAWS = 150
GAINED = 1.05  # times the energy before: what a rough step may have more (5 % at 10 ms and 20 rad/s), and not thousands of times


@cache
def two(lower: str, upper: str, held: bool) -> lw.Model:
    """One over the other, which is free or held."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    if held:
        b.world(SHAPES[lower][0])
    else:
        b.body("lower", joint=lw.Free(), shapes=[SHAPES[lower][0]])
    return b.body("upper", joint=lw.Free(), shapes=[SHAPES[upper][0]]).build()


def quaternion(R: np.ndarray) -> list[float]:
    w = 0.5 * np.sqrt(1.0 + np.trace(R))
    return [w, *((R[(k + 2) % 3, (k + 1) % 3] - R[(k + 1) % 3, (k + 2) % 3]) / (4 * w) for k in range(3))]


@pytest.mark.parametrize(("pair", "held"), CASES)
@pytest.mark.parametrize("method", ["reduced", "maximal", "maximal-implicit", "redmax"])
def test_no_energy_comes_from_shapes_along_one_another(pair: tuple[str, str], held: bool, method: str) -> None:
    if pair in BY_COAL:
        pytest.importorskip("coal")
    model, rng, height = two(*pair, held), np.random.default_rng(3), sum(SHAPES[name][1] for name in pair)
    for _ in range(DRAWS):
        angles = 10.0 ** rng.uniform(-9, -0.5, 3) * rng.choice([-1, 1], 3) + [rng.choice([0, np.pi / 2]), 0, 0]
        turned = lw.SE3.rot_z(angles[0]) @ lw.SE3.rot_x(angles[1]) @ lw.SE3.rot_y(angles[2])
        gap, aside = rng.choice([0.0, 1e-6, 1e-4, 3e-3, -1e-6, -1e-4]), rng.choice([1e-6, 1e-4, 1e-2, 0.1])
        q = np.array([*(aside * rng.uniform(-1, 1, 2)), height + gap, *quaternion(np.asarray(turned.R, float))])
        w, speed, h = rng.choice([0.1, 1.0, 10.0]), rng.choice([0.01, 0.3, 3.0]), float(rng.choice([1e-3, 4e-3, 1e-2]))
        v = np.concatenate([w * rng.normal(size=3), speed * rng.normal(size=3)])
        state = lw.State(q, v) if held else lw.State(np.array([0, 0, 0, 1, 0, 0, 0, *q]), np.array([*np.zeros(6), *v]))
        kinetic = lw.simulate(model, state, h, h, method).energy.kinetic
        assert kinetic[1] < GAINED * kinetic[0], (angles.tolist(), q.tolist(), v.tolist(), h)


@pytest.mark.parametrize("h", [5e-3, 1e-3])
@pytest.mark.parametrize("method", ["reduced", "maximal", "maximal-implicit", "redmax"])
def test_a_cylinder_that_slides_and_spins_comes_to_rest_on_its_cap(method: str, h: float) -> None:
    b = lw.ModelBuilder().ground()
    model = b.body("b", joint=lw.Free(), shapes=[lw.Cylinder(0.05, 0.2, density=800, friction=0.0)]).build()
    start = lw.State([0, 0, 0.11, np.cos(0.02), np.sin(0.02), 0, 0], [0.1, -0.2, 0.3, 0.7, 0.3, 0.0])
    run = lw.simulate(model, start, 1.5, h, method)
    energy = run.energy.total
    gained = np.diff(energy).max() / energy[0]
    assert gained < 2e-3, "from a lowest point that runs around the rim"
    w, v = run.v[-1, :3], run.v[-1, 3:]
    assert np.abs([*w[:2], v[2]]).max() < 1e-7, "it wobbles"
    assert np.hypot(*v[:2]) == pytest.approx(np.hypot(0.7, 0.3), rel=1e-2), "nothing brakes it but its falls"
    spin = np.cos(0.04) * 0.3 - np.sin(0.04) * 0.2 * (3 * 0.05**2 + 0.2**2) / (6 * 0.05**2)
    assert w[2] == pytest.approx(spin, rel=5e-3), "nothing turns it about the vertical"
