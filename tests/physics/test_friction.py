"""Contacts with Coulomb friction and restitution against what is known by hand, in every formulation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact.formulations import touching
from linkwork.elements.collection import collection
from linkwork.kernel import eager
from linkwork.steppers.symplectic_euler import SymplecticEuler

METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")
EVERY_METHOD = pytest.mark.parametrize("method", METHODS)
STEPS = pytest.mark.parametrize("h", [5e-3, 1e-3])
G = 9.81
SIZE = np.array([0.2, 0.2, 0.1])
RADIUS = 0.1


def slope(angle: float) -> tuple[lw.Plane, np.ndarray, np.ndarray]:
    """A plane that falls along x, its normal and the quaternion of axes that lie in it."""
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    return lw.Plane((0, 0, 0), normal), normal, np.array([np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0])


def block_on_slope(angle: float, mu: float, speed: float = 0.0, **options: float) -> tuple[lw.Model, lw.State]:
    plane, normal, quaternion = slope(angle)
    b = lw.ModelBuilder()
    b.body("block", joint=lw.Free(), inertia=lw.Inertia.cuboid(mass=1.0, size=SIZE))
    b.add(lw.Contact("block", lw.Box(SIZE), "world", plane, friction=mu, **options))
    return b.build(), lw.State(np.array([*(0.5 * SIZE[2] * normal), *quaternion]), np.array([0, 0, 0, speed, 0, 0]))


def ball_on_slope(angle: float, mu: float, speed: float = 0.0, spin: float = 0.0) -> tuple[lw.Model, lw.State]:
    plane, normal, quaternion = slope(angle)
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=2.0, radius=RADIUS))
    b.add(lw.Contact("ball", lw.Sphere(RADIUS), "world", plane, friction=mu))
    return b.build(), lw.State(np.array([*(RADIUS * normal), *quaternion]), np.array([0, spin, 0, speed, 0, 0]))


def world_velocities(run: lw.Trajectory) -> np.ndarray:
    """Linear velocities (T, 3) of the first body's origin, in the world."""
    return np.einsum("tij,tj->ti", run.poses[:, 0, :3, :3], run.v[:, 3:6])


def contact_work(run: lw.Trajectory, h: float) -> np.ndarray:
    """Impulses times the mean of the velocities before and after every step (T - 1,)."""
    assert run.forces is not None
    rates = run._rows["rate"]
    return h * np.sum(run.forces[1:] * 0.5 * (rates[:-1] + rates[1:]), axis=-1)


def check_contact(run: lw.Trajectory) -> None:
    health = run.health
    assert health.finite
    assert health.complementarity is not None
    assert health.complementarity < 1e-12
    assert health.penetration is not None
    assert health.penetration < 1e-12


# --- a block on a slope -------------------------------------------------------------------------------------------------------
@EVERY_METHOD
@STEPS
@pytest.mark.parametrize("below", [0.1, 5.0])
def test_a_block_below_the_friction_angle_does_not_creep(method: str, h: float, below: float) -> None:
    mu = 0.5
    model, start = block_on_slope(np.arctan(mu) - np.radians(below), mu)
    run = lw.simulate(model, start, 2.0, h, method=method)
    middle = len(run) // 2
    assert np.abs(run.poses[middle:, 0] - run.poses[middle, 0]).max() < 1e-12
    check_contact(run)


@EVERY_METHOD
@STEPS
def test_blocks_on_many_slopes_stick_or_slide(method: str, h: float) -> None:
    """Eight slopes by six coefficients."""
    for angle in np.radians([2.0, 8.0, 14.0, 20.0, 26.0, 32.0, 38.0, 44.0]):
        for mu in (0.05, 0.2, 0.35, 0.5, 0.65, 0.8):
            model, start = block_on_slope(angle, mu)
            run = lw.simulate(model, start, 0.5, h, method=method)
            expected = max(0.0, G * (np.sin(angle) - mu * np.cos(angle))) * run.t[-1]
            speed = np.linalg.norm(world_velocities(run)[-1])
            assert speed == pytest.approx(expected, rel=1e-4, abs=1e-12)
            assert contact_work(run, h).max() < 1e-14
            check_contact(run)


@EVERY_METHOD
@STEPS
def test_stopping_distance(method: str, h: float) -> None:
    mu, speed = 0.4, 3.0
    model, start = block_on_slope(0.0, mu, speed)
    run = lw.simulate(model, start, 1.5, h, method=method)
    assert run.q[-1, 0] == pytest.approx(speed**2 / (2 * mu * G), abs=h * speed)
    assert np.abs(run.v[-1]).max() < 1e-12
    assert contact_work(run, h).max() < 1e-14
    check_contact(run)


# --- a ball -------------------------------------------------------------------------------------------------------------------
@EVERY_METHOD
@pytest.mark.parametrize("h", [1e-3, 5e-4])
@pytest.mark.parametrize("mu", [0.5, 0.08])
def test_a_ball_rolls_or_slips(method: str, h: float, mu: float) -> None:
    """a = 5/7 g sin where it rolls; beyond tan = 7/2 mu it slips, and spins up by 5/2 mu g cos / r.

    RedMax takes the velocity terms of a turning body at the start of a step, an error of the order h w.
    """
    angle = np.radians(20.0)
    model, start = ball_on_slope(angle, mu)
    run = lw.simulate(model, start, 0.5, h, method=method)
    rolls = np.tan(angle) <= 3.5 * mu
    a = 5.0 / 7.0 * G * np.sin(angle) if rolls else G * (np.sin(angle) - mu * np.cos(angle))
    spin = a / RADIUS if rolls else 2.5 * mu * G * np.cos(angle) / RADIUS
    down = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    error = 1e-4 + (0.6 * h * spin * 0.5 if method == "redmax" else 0.0)
    assert world_velocities(run)[-1] @ down == pytest.approx(a * 0.5, rel=error)
    assert run.v[-1, 1] == pytest.approx(spin * 0.5, rel=error)
    assert run.health.complementarity < 1e-12


@EVERY_METHOD
def test_slide_to_roll(method: str) -> None:
    """A ball thrown without spin rolls after 2 v / (7 mu g), at 5/7 of its speed."""
    mu, speed, h = 0.3, 2.0, 1e-4
    model, start = ball_on_slope(0.0, mu, speed)
    run = lw.simulate(model, start, 0.3, h, method=method)
    slip = world_velocities(run)[:, 0] - RADIUS * run.v[:, 1]
    first = int(np.argmax(slip < 1e-4 * speed))
    assert run.t[first] == pytest.approx(2 * speed / (7 * mu * G), rel=1e-3, abs=h)
    assert world_velocities(run)[first, 0] == pytest.approx(5 / 7 * speed, rel=1e-3)


# --- impacts ------------------------------------------------------------------------------------------------------------------
def ball_above(
    height: float, radius: float = RADIUS, e: float = 0.0, ground: lw.Shape | None = None
) -> tuple[lw.Model, lw.State]:
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=1.0, radius=radius))
    b.add(lw.Contact("ball", lw.Sphere(radius), "world", ground or lw.Plane(), friction=0.3, restitution=e))
    model = b.build()
    q = model.neutral()
    q[2] = height + radius
    return model, lw.State(q, np.zeros(6))


@EVERY_METHOD
@pytest.mark.parametrize("e", [0.9, 0.8])
def test_ten_bounces_follow_the_restitution(method: str, e: float) -> None:
    model, start = ball_above(1.0, e=e)
    run = lw.simulate(model, start, 6.5 if e > 0.85 else 4.0, 1e-4, method=method)
    height = run.q[:, 2] - RADIUS
    tops = np.flatnonzero((height[1:-1] > height[:-2]) & (height[1:-1] >= height[2:])) + 1
    found = np.array([height[k] for k in tops[:10]])
    assert len(found) == 10
    assert found == pytest.approx(e ** (2.0 * np.arange(1, 11)), rel=1e-3)


@EVERY_METHOD
@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize("mu", [0.05, 0.9])
@pytest.mark.parametrize("h", [1 / 60, 1e-3])
def test_a_ball_that_spins_bounces_as_it_must(method: str, law: str, mu: float, h: float) -> None:
    """It slips through the impact, or rolls after it; nothing else than the impact changes its motion."""
    e, spin, v = 0.8, 30.0, np.array([1.0, 0.0, -3.0])
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.ground(friction=mu, restitution=e)
    b.body("ball", joint=lw.Free(), shapes=[lw.Sphere(RADIUS, mass=2.0)])
    start = lw.State([0, 0, RADIUS + 0.0505, 1, 0, 0, 0], [0, spin, 0, *v])
    run = lw.simulate(b.build(), start, 6 * h if h > 0.01 else 0.05, h, method=method, restitution=law)
    slip = v[0] - spin * RADIUS
    change = -np.sign(slip) * min(mu * (1 + e) * -v[2], abs(slip) / 3.5)  # of the velocity, by friction
    assert world_velocities(run)[-1] == pytest.approx((v[0] + change, 0.0, -e * v[2]), abs=1e-9)
    assert run.v[-1, :3] == pytest.approx((0.0, spin - change / (0.4 * RADIUS), 0.0), abs=1e-9)


def test_elastic_balls_keep_their_energy() -> None:
    """Two, of 1 and 1000 kg, that spin in a box for ten seconds."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    for axis in (*np.eye(3), *-np.eye(3)):
        b.world(lw.Plane(-0.5 * axis, axis, restitution=1.0))
    b.body("light", joint=lw.Free(), shapes=[lw.Sphere(0.1, mass=1.0)])
    b.body("heavy", joint=lw.Free(), shapes=[lw.Sphere(0.07, mass=1000.0, restitution=1.0)])
    q, v = [0, 0, 0, 1, 0, 0, 0, 0.3, 0.2, 0.1, 1, 0, 0, 0], [3, 1, 0, 2, 1.3, 0.7, 0, 5, 0, 0.1, 0.5, -0.3]
    run = lw.simulate(b.build(), lw.State(q, v), 10.0, 1e-3)
    assert np.ptp(run.energy.total) < 1e-12 * run.energy.total[0]


@EVERY_METHOD
def test_a_fast_ball_does_not_cross_a_thin_plate(method: str) -> None:
    plate = lw.Box((2.0, 2.0, 0.01))
    model, start = ball_above(3.0, 0.05, ground=plate)
    start = lw.State(start.q, [0, 0, 0, 0, 0, -100.0])
    run = lw.simulate(model, start, 1.0, 1 / 60, method=method)
    assert run.q[:, 2].min() > 0.055 - 1e-9
    assert run.q[-1, 2] == pytest.approx(0.055, abs=1e-9)


@EVERY_METHOD
@pytest.mark.parametrize("ground", [lw.Box((200.0, 200.0, 0.01)), lw.Plane((0, 0, 0.005))], ids=["plate", "plane"])
@pytest.mark.parametrize("spin", [(3.0, 4.0, 0.0), (-120.0, 30.0, 60.0)])
@pytest.mark.parametrize("aside", [0.0, 40.0])
def test_nor_does_one_that_spins(method: str, ground: lw.Shape, spin: tuple[float, ...], aside: float) -> None:
    model, start = ball_above(1.4, 0.05, ground=ground)
    run = lw.simulate(model, lw.State(start.q, [*spin, aside, 0, -100.0]), 1.0, 1 / 60, method=method)
    assert run.health.penetration is not None
    assert run.health.penetration < 1e-9
    assert run.q[-1, 2] == pytest.approx(0.055, abs=1e-9)
    assert run.health.account is not None
    assert run.health.account.came_in == {}


@EVERY_METHOD
@pytest.mark.parametrize("h", [1 / 60, 1e-3])
def test_a_smooth_plate_does_not_turn_a_ball(method: str, h: float) -> None:
    """The push goes through its centre wherever in the step they meet: neither spin nor a motion aside."""
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=1.0, radius=0.05))
    model = b.add(lw.Contact("ball", lw.Sphere(0.05), "world", lw.Box((2.0, 2.0, 0.01)))).build()
    run = lw.simulate(model, lw.State([0, 0, 1.0, 1, 0, 0, 0], [5.0, 0, 0, 0, 0, -100.0]), 0.05, h, method=method)
    assert np.abs(run.v[:, :3] - (5.0, 0, 0)).max() < 1e-9
    assert np.abs(run.poses[:, 0, :2, 3]).max() < 1e-9


@EVERY_METHOD
def test_a_marble_rolls_with_the_analytic_acceleration(method: str) -> None:
    """1 cm, up to 0.9 rad a step."""
    slope, r = 0.35, 0.01
    b = lw.ModelBuilder(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    b.ground(friction=0.3)
    b.body("marble", joint=lw.Free(), shapes=[lw.Sphere(r, mass=0.01)])
    run = lw.simulate(b.build(), lw.State([0, 0, r, 1, 0, 0, 0], np.zeros(6)), 0.5, 4e-3, method=method)
    speed = np.diff(run.poses[:, 0, 0, 3]) / 4e-3
    assert speed == pytest.approx(5 / 7 * G * np.sin(slope) * run.t[1:], rel=1e-9)


@EVERY_METHOD
def test_a_fast_ball_passes_beside_a_plate(method: str) -> None:
    """1 mm beside its edge: no force acts."""
    plate = lw.Box((2.0, 2.0, 0.01))
    model, start = ball_above(3.0, 0.05, ground=plate)
    q = start.q.copy()
    q[0] = 1.051
    run = lw.simulate(model, lw.State(q, np.array([0, 0, 0, 0, 0, -100.0])), 0.1, 1 / 60, method=method)
    assert run.forces is not None
    assert np.abs(run.forces).max() == 0.0


@EVERY_METHOD
@pytest.mark.parametrize("h", [1 / 60, 1e-3])
def test_balls_that_meet_beside_their_line(method: str, h: float) -> None:
    """Elastic and smooth: the one that was hit leaves along the line of centres at which they met, whatever the step."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    for name in ("a", "b"):
        b.body(name, joint=lw.Free(), inertia=lw.Inertia.sphere(mass=1.0, radius=RADIUS))
    b.add(lw.Contact("a", lw.Sphere(RADIUS), "b", lw.Sphere(RADIUS), restitution=1.0))
    q = np.array([-1.0, 0.12, 0.0, 1, 0, 0, 0, 0.0, 0, 0, 1, 0, 0, 0])
    v = np.array([0, 0, 0, 20.0, 0, 0, *[0.0] * 6])
    run = lw.simulate(b.build(), lw.State(q, v), 12 * h if h > 0.01 else 0.2, h, method=method)
    normal = np.array([np.sqrt(1.0 - 0.6**2), -0.6, 0.0])
    left = 20.0 * normal[0] * normal
    assert run.v[-1, 9:] == pytest.approx(left, abs=1e-8)
    assert run.v[-1, 3:6] == pytest.approx(np.array([20.0, 0, 0]) - left, abs=1e-8)


# --- many contacts ------------------------------------------------------------------------------------------------------------
def stack(count: int) -> tuple[lw.Model, lw.State]:
    b, q = lw.ModelBuilder(), []
    for k in range(count):
        b.body(f"b{k}", joint=lw.Free(), inertia=lw.Inertia.cuboid(mass=1.0, size=SIZE))
        below = ("world", lw.Plane()) if k == 0 else (f"b{k - 1}", lw.Box(SIZE))
        b.add(lw.Contact(f"b{k}", lw.Box(SIZE), *below, friction=0.5))
        q += [0.0, 0.0, SIZE[2] * (k + 0.5), 1.0, 0.0, 0.0, 0.0]
    return b.build(), lw.State(q, np.zeros(6 * count))


@EVERY_METHOD
def test_a_stack_stands(method: str) -> None:
    model, start = stack(4)
    run = lw.simulate(model, start, 1.0, 5e-3, method=method)
    assert np.abs(run.poses - run.poses[:1]).max() < 1e-6
    check_contact(run)


@EVERY_METHOD
def test_a_batch_is_bitwise_its_members(method: str) -> None:
    """Blocks that stick, slide, tumble and fall."""
    model, start = block_on_slope(np.radians(20), 0.3, restitution=0.4)
    rng = np.random.default_rng(3)
    q, v = np.tile(start.q, (11, 1)), np.zeros((11, 6))
    q[1:, 2] += rng.uniform(0, 0.3, 10)
    v[1:] = rng.normal(size=(10, 6)) * 2.0
    batch = lw.simulate(model, lw.State(q, v), 0.5, 5e-3, method=method)
    for k in range(11):
        alone = lw.simulate(model, lw.State(q[k], v[k]), 0.5, 5e-3, method=method)
        assert np.array_equal(alone.q, batch.q[k])
        assert np.array_equal(alone.v, batch.v[k])


@EVERY_METHOD
def test_penetration_is_pushed_out_without_velocity(method: str) -> None:
    model, start = block_on_slope(0.0, 0.5)
    q = start.q.copy()
    q[2] -= 1e-3
    run = lw.simulate(model, lw.State(q, start.v), 0.1, 5e-3, method=method)
    assert abs(run.q[-1, 2] - 0.05) < 1e-9
    assert np.abs(run.v).max() < 1e-12


@pytest.mark.parametrize("method", ["maximal", "maximal-implicit"])
def test_collisions_keep_the_momentum(method: str) -> None:
    """Of two balls that hit one another off centre, with friction and restitution."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    for name, mass in (("a", 1.0), ("b", 3.0)):
        b.body(name, joint=lw.Free(), shapes=[lw.Sphere(RADIUS, mass=mass, friction=0.4, restitution=0.5)])
    q = np.array([-1.0, 0.05, 0.02, 1, 0, 0, 0, 0.0, 0, 0, 1, 0, 0, 0])
    v = np.array([3.0, 5.0, -9.0, 10.0, 0, 0, 0, 0, 4.0, -1.0, 0.2, 0])
    run = lw.simulate(b.build(), lw.State(q, v), 0.3, 1e-3, method=method)
    velocity = np.einsum("tbij,tbj->tbi", run.poses[..., :3, :3], run.v.reshape(-1, 2, 6)[..., 3:])
    momentum = np.einsum("b,tbi->ti", [1.0, 3.0], velocity)
    assert np.abs(velocity[-1] - velocity[0]).max() > 1.0
    assert momentum == pytest.approx(np.tile(momentum[0], (len(run), 1)), abs=1e-12)


def quadruped() -> tuple[lw.Model, lw.State]:
    """Legs of two links under PD control, feet with round ends above the ground."""
    b = lw.ModelBuilder().ground(friction=0.8)
    b.body("base", joint=lw.Free(), shapes=[lw.Box((0.4, 0.3, 0.1), mass=5.0)])
    link, foot = lw.Inertia.cuboid(mass=0.4, size=(0.05, 0.05, 0.2)), lw.Capsule(0.03, 0.17, lw.SE3(p=np.array([0, 0, -0.1])))
    for i, (x, y) in enumerate([(-0.2, -0.15), (-0.2, 0.15), (0.2, -0.15), (0.2, 0.15)]):
        hip, knee = (lw.SE3(p=np.array(p)) for p in ((x, y, -0.05), (0.0, 0.0, -0.2)))
        b.body(f"u{i}", parent="base", joint=lw.Revolute((0, 1, 0)), inertia=link, placement=hip)
        b.body(f"l{i}", parent=f"u{i}", joint=lw.Revolute((0, 1, 0)), inertia=link, placement=knee, shapes=[foot])
        b.add(lw.PDController(f"u{i}", 60.0, 1.0, target=0.5)).add(lw.PDController(f"l{i}", 60.0, 1.0, target=-1.0))
    model = b.build()
    q = model.neutral()
    q[2], q[7:] = 0.55, np.tile([0.5, -1.0], 4)
    return model, lw.State(q, np.zeros(model.nv))


def test_a_quadruped_lands_in_every_formulation() -> None:
    model, start = quadruped()
    ends = []
    for method in METHODS:
        run = lw.simulate(model, start, 1.0, 1e-3, method=method, every=10)
        assert run.health.complementarity is not None
        assert run.health.complementarity < 1e-9
        assert run.health.penetration is not None
        assert run.health.penetration < 1e-4
        ends.append(run.q[-1, :3])
    for end in ends:
        assert end == pytest.approx(ends[0], abs=4e-3)  # they differ by what a step of 1 ms makes of springs
        assert 0.38 < end[2] < 0.45


@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_eager_is_compiled(method: str) -> None:
    """One step in which a block that is too deep slides and is hit by a ball."""
    model, start = block_on_slope(np.radians(20), 0.3, 1.0)
    b = lw.ModelBuilder().world(slope(np.radians(20))[0])
    b.body("block", joint=lw.Free(), shapes=[lw.Box(SIZE, mass=1.0, friction=0.3)])
    b.body("ball", joint=lw.Free(), shapes=[lw.Sphere(RADIUS, mass=0.5, friction=0.3, restitution=0.5)])
    model = touching(b.build(), "exact")
    q = np.array([*start.q, start.q[0] + 0.05, 0.01, start.q[2] + 0.17, 1, 0, 0, 0])
    q[2] -= 1e-4
    state, h = lw.State(q, np.array([*start.v, 1.0, 2.0, 3.0, -0.4, 0.1, -6.0])), 5e-3
    names = ("q", "v") if method == "reduced" else ("poses", "twists", "q_fit")
    given = state if method == "reduced" else lw.to_maximal(model, state)
    program = SymplecticEuler().program(method, model)
    parts = {name: np.asarray(getattr(given, name), float).reshape(1, -1) for name in names}
    inputs = program.entered(model, parts, 0.0) | program.given(model, h)
    plain = eager.run(program.algorithm, collection(model).tree, {name: a.reshape(-1) for name, a in inputs.items()})
    run = lw.simulate(model, state, h, h, method)
    assert run.forces is not None
    assert run.forces[-1, 24] > 0.0 or run.forces[-1].max() > 100.0  # the ball acts
    for name in names:
        found = run.arrays[name][-1].reshape(-1)
        assert np.abs(plain[name] - found).max() < 1e-9 * (1.0 + np.abs(found).max()), name


RUNS: list[Callable[[], tuple[lw.Model, lw.State]]] = [
    lambda: block_on_slope(np.radians(30), 0.3),
    lambda: block_on_slope(0.0, 0.3, 2.0),
    lambda: stack(3),
]


@EVERY_METHOD
@pytest.mark.parametrize("made", RUNS)
def test_contacts_do_no_work(method: str, made: Callable[[], tuple[lw.Model, lw.State]]) -> None:
    model, start = made()
    run = lw.simulate(model, start, 0.5, 5e-3, method=method)
    assert contact_work(run, 5e-3).max() < 1e-14


def test_rows_come_three_by_three() -> None:
    model, _ = block_on_slope(0.1, 0.5)
    law = collection(model).rows[0]
    assert law.size == 24
    assert law.row_kinds[:6] == (1, 2, 3, 1, 2, 3)


# --- around it ----------------------------------------------------------------------------------------------------------------
def test_shapes_of_bodies_touch_by_themselves() -> None:
    """The same run from shapes and from contacts; and shapes that are switched off."""
    b = lw.ModelBuilder().ground(friction=0.5)
    b.body("block", joint=lw.Free(), shapes=[lw.Box(SIZE, mass=1.0, friction=0.32)])
    shaped, (model, start) = b.build(), block_on_slope(0.0, 0.4, 2.0)
    run, same = (lw.simulate(m, start, 0.5, 5e-3) for m in (shaped, model))
    assert np.array_equal(run.q, same.q)
    again = lw.simulate(run.model, start, 0.5, 5e-3)
    assert again.forces is not None
    assert again.forces.shape == same.forces.shape
    free = lw.simulate(shaped, start, 0.5, 5e-3, contact="off")
    assert free.q[-1, 2] < -1.0
    sim = lw.Simulator(shaped, start, 5e-3)
    for _ in range(100):
        sim.step()
    assert np.array_equal(sim.state.q, run.q[-1])


def test_reactions_and_work_of_a_sliding_block() -> None:
    """The slope carries the weight, and friction takes the energy."""
    angle = np.radians(30)
    model, start = block_on_slope(angle, 0.3)
    run = lw.simulate(model, start, 0.5, 5e-3)
    wrench = run.reactions(model.elements[0])
    expected = G * np.cos(angle) * np.array([np.sin(angle) - 0.3 * np.cos(angle), 0.0, np.cos(angle) + 0.3 * np.sin(angle)])
    assert wrench[1:, 3:] == pytest.approx(np.tile(expected, (len(run) - 1, 1)), abs=1e-9)
    assert run.work_of == ("dry friction",)
    assert run.health.energy_drift is not None
    assert run.health.energy_drift < 2e-2


def test_what_is_wrong_is_said() -> None:
    box, plane = lw.Box(SIZE), lw.Plane()
    for options in ({"friction": -0.1}, {"friction": np.nan}, {"restitution": 1.5}, {"restitution": -0.1}):
        with pytest.raises(lw.ModelError, match=next(iter(options))):
            lw.Contact("block", box, "world", plane, **options)
    with pytest.raises(lw.ModelError, match="shape"):
        lw.Contact("block", "box", "world", plane)  # type: ignore[arg-type]
    model, start = block_on_slope(0.1, 0.5)
    with pytest.raises(lw.InputError, match="friction"):
        lw.simulate(model, start, 0.1, 5e-3, stepper="rk4")
    with pytest.raises(lw.InputError, match="contact"):
        lw.simulate(model, start, 0.1, 5e-3, contact="sticky")
