"""Bodies that roll, slide and bounce, beside the school's formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import Box, Contact, Free, Inertia, Model, ModelBuilder, Plane, Sphere, State, Trajectory, Translational, simulate
from .item import Family, Outcome
from .pictures import curves
from .states import state

TOUCHING = Family(
    "contact",
    "Rolling, sliding, bouncing",
    "Contacts with Coulomb friction and restitution, known in closed form. Friction acts in steps of fixed length: speeds are "
    "exact, ways have errors of the order of a step, so those of two step sizes are extrapolated.",
)
GRAVITY, RADIUS, SIZE = 9.81, 0.1, np.array([0.2, 0.2, 0.1])
METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")
EXACT = {"stepper": "dop853", "rtol": 1e-11, "atol": 1e-12}


def slope(angle: float) -> tuple[Plane, np.ndarray, np.ndarray]:
    """A plane that falls along x, its normal, and the quaternion of axes that lie in it."""
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    return Plane((0, 0, 0), normal), normal, np.array([np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0])


def ball_on_slope(angle: float, friction: float, speed: float = 0.0) -> tuple[Model, State]:
    plane, normal, quaternion = slope(angle)
    b = ModelBuilder().body("ball", joint=Free(), inertia=Inertia.sphere(mass=2.0, radius=RADIUS))
    b.add(Contact("ball", Sphere(RADIUS), "world", plane, friction=friction))
    return b.build(), state([*(RADIUS * normal), *quaternion], [0, 0, 0, speed, 0, 0])


def block_on_slope(angle: float, friction: float, speed: float = 0.0) -> tuple[Model, State]:
    plane, normal, quaternion = slope(angle)
    b = ModelBuilder().body("block", joint=Free(), inertia=Inertia.cuboid(mass=1.0, size=SIZE))
    b.add(Contact("block", Box(SIZE), "world", plane, friction=friction))
    return b.build(), state([*(0.5 * SIZE[2] * normal), *quaternion], [0, 0, 0, speed, 0, 0])


def way(made: tuple[Model, State], angle: float, duration: float, h: float, **options: Any) -> tuple[Trajectory, np.ndarray]:
    """A run with records every 10 ms, and ways down the slope extrapolated from steps h and h / 2."""
    runs = [simulate(*made, duration, step, every=round(0.01 / step), **options) for step in (h, h / 2)]
    coarse, fine = (along(run, angle) for run in runs)
    return runs[1], 2.0 * fine - coarse


def along(run: Trajectory, angle: float) -> np.ndarray:
    """Distances down the slope."""
    return (run.q[:, :3] - run.q[0, :3]) @ np.array([np.cos(angle), 0.0, -np.sin(angle)])


@TOUCHING.item(
    "rolling",
    "A ball thrown along a floor without spin slides, then rolls: its way over 1 s",
    "v - mu g t until 2 v / (7 mu g), 5/7 v afterwards; 0.2 and 0.1 ms",
)
def rolling(quick: bool) -> Outcome:
    mu, speed = 0.25, 2.0
    run, found = way(ball_on_slope(0.0, mu, speed), 0.0, 1.0, 2e-4)
    change = 2 * speed / (7 * mu * GRAVITY)
    slid = np.minimum(run.t, change)
    exact = speed * slid - 0.5 * mu * GRAVITY * slid**2 + 5 / 7 * speed * np.maximum(run.t - change, 0.0)
    error = np.abs(found - exact).max() / exact[-1]
    spin = abs(run.v[-1, 1] * RADIUS / speed - 5 / 7)
    picture = curves({"computed": (run.t, found)}, "t / s", "way / m", points={"exact": (run.t[::5], exact[::5])})
    return Outcome(max(error, spin), 1e-6, f"way {error:.1e}, last spin {spin:.1e}, relative", picture)


@TOUCHING.item(
    "rolling_down",
    "A ball that rolls down a slope of 20 degrees (friction 0.5), and one that slips on it (0.08), after 0.5 s",
    "5/7 g sin; g (sin - mu cos) and 5/2 mu g cos / r of spin; 0.2 and 0.1 ms",
)
def rolling_down(quick: bool) -> Outcome:
    angle, errors = np.radians(20.0), []
    for mu in (0.5, 0.08):
        run, found = way(ball_on_slope(angle, mu), angle, 0.5, 2e-4)
        rolls = np.tan(angle) <= 3.5 * mu
        a = 5 / 7 * GRAVITY * np.sin(angle) if rolls else GRAVITY * (np.sin(angle) - mu * np.cos(angle))
        spin = a / RADIUS if rolls else 2.5 * mu * GRAVITY * np.cos(angle) / RADIUS
        errors += [np.abs(found / (0.125 * a) - 4.0 * run.t**2).max(), abs(run.v[-1, 1] / (0.5 * spin) - 1.0)]
    return Outcome(max(errors), 1e-6, "largest relative error of way and spin")


@TOUCHING.item(
    "sliding",
    "A block thrown along a floor comes to rest: its way over 1.5 s",
    "v t - mu g t^2 / 2 until v / (mu g); 0.2 and 0.1 ms",
)
def sliding(quick: bool) -> Outcome:
    mu, speed = 0.4, 3.0
    run, found = way(block_on_slope(0.0, mu, speed), 0.0, 1.5, 2e-4)
    moving = np.minimum(run.t, speed / (mu * GRAVITY))
    exact = speed * moving - 0.5 * mu * GRAVITY * moving**2
    error = np.abs(found - exact).max() / exact[-1]
    picture = curves({"computed": (run.t, found)}, "t / s", "way / m", points={"exact": (run.t[::8], exact[::8])})
    return Outcome(error, 1e-6, "error of the way beside the stopping distance", picture)


@TOUCHING.item(
    "steps",
    "Blocks on slopes of 2 to 44 degrees, friction from 0.05 to 0.8, in steps of 5 ms: speeds after 0.5 s, all four formulations",
    "max(0, g (sin - mu cos) t): what should stick stands still, what should slide has its speed",
)
def steps(quick: bool) -> Outcome:
    errors, sizes = [], (2, 3) if quick else (8, 6)
    for angle in np.radians(np.linspace(2.0, 44.0, sizes[0])):
        for mu in np.linspace(0.05, 0.8, sizes[1]):
            for method in METHODS:
                run = simulate(*block_on_slope(angle, mu), 0.5, 5e-3, method)
                exact = max(0.0, GRAVITY * (np.sin(angle) - mu * np.cos(angle))) * 0.5
                errors.append(abs(np.linalg.norm(run.v[-1, 3:]) - exact))
    return Outcome(max(errors), 1e-9, f"m/s, largest of {len(errors)} runs")


@TOUCHING.item(
    "creep",
    "Ways in 2 s of a block 0.1 degrees below the angle of friction, in steps of 5 ms, all four formulations",
    "It does not move",
)
def creep(quick: bool) -> Outcome:
    ways = []
    for method in METHODS:
        run = simulate(*block_on_slope(np.arctan(0.5) - np.radians(0.1), 0.5), 2.0, 5e-3, method)
        ways.append(np.abs(run.q[:, :3] - run.q[1, :3]).max())
    return Outcome(max(ways), 1e-12, "m, largest of four")


@TOUCHING.item(
    "bouncing",
    "Height of a ball dropped from 1 m with restitution 0.8 over its first ten bounces",
    "Parabolas, heights e^2 of the last; stepper dop853",
)
def bouncing(quick: bool) -> Outcome:
    e, fall = 0.8, np.sqrt(2.0 / GRAVITY)
    b = ModelBuilder().body("ball", joint=Translational(), inertia=Inertia.sphere(mass=1.0, radius=RADIUS))
    b.add(Contact("ball", Sphere(RADIUS), "world", Plane(), friction=0.0, restitution=e))
    hits = fall + 2 * fall * np.concatenate([[0.0], np.cumsum(e ** np.arange(1.0, 11.0))])
    end = float(hits[-1])
    run = simulate(b.build(), state([0, 0, 1.0 + RADIUS], np.zeros(3)), end, end / 1000, **EXACT)
    k = np.searchsorted(hits, run.t, side="right")  # bounces so far
    since = run.t - np.where(k > 0, hits[np.maximum(k - 1, 0)], 0.0)
    up = np.where(k > 0, e**k * GRAVITY * fall, 0.0)
    exact = np.where(k > 0, 0.0, 1.0) + up * since - 0.5 * GRAVITY * since**2
    height = run.q[:, 2] - RADIUS
    before = np.arange(len(run)) < len(run) - 1  # the last record is on the floor
    error = np.abs(height - exact)[before].max()
    picture = curves({"computed": (run.t, height)}, "t / s", "height / m", points={"exact": (run.t[::15], exact[::15])})
    return Outcome(error, 1e-6, f"m; {int(k.max())} bounces", picture)
