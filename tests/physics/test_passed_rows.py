"""What the impulse of a row drives against a stop, or into a shape, within the same step is found, and solved with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.constraints.targets import RECOVERY, TOUCHING
from linkwork.contact.formulations import touching
from linkwork.elements import collection as collections
from linkwork.rows.push_out import SOFT

H, STOP = 1e-3, 1.0
CLOSING = 1e-6  # rad: joints of maximal coordinates close to third order in the step
TOLERANCE = {"reduced": TOUCHING, "redmax": TOUCHING, "maximal": CLOSING, "maximal-implicit": CLOSING}


def tree(seed: int, hinges: int, free: bool = True) -> lw.Model:
    """Hinges with stops, each on one of the last three bodies."""
    rng, b = np.random.default_rng(seed), lw.ModelBuilder()
    names = ["world"]
    if free:
        b.body("base", joint=lw.Free(), inertia=lw.Inertia.cuboid(10.0, (0.2, 0.3, 0.5)))
        names = ["base"]
    for k in range(hinges):
        axis, place = rng.normal(size=(2, 3))
        box = lw.Inertia.cuboid(rng.uniform(0.2, 2.0), (0.05, 0.06, 0.3))
        parent, placement = names[-1 - rng.integers(0, min(3, len(names)))], lw.SE3(p=0.2 * place)
        joint = lw.Revolute(axis / np.linalg.norm(axis))
        b.body(f"link{k}", parent=parent, joint=joint, placement=placement, inertia=box, limits=(-STOP, STOP))
        names.append(f"link{k}")
    return b.build()


def near_stops(m: lw.Model, hinges: int, seed: int, batch: int) -> lw.State:
    """Every second hinge is 1e-5 to 1e-3 rad before a stop; all move as after random impulses."""
    rng, size = np.random.default_rng(seed), (batch, hinges)
    gap, side = 10 ** rng.uniform(-5, -3, size), np.where(rng.random(size) < 0.5, 1.0, -1.0)
    q = np.tile(m.neutral(), (batch, 1))
    q[:, -hinges:] = np.where(rng.random(size) < 0.5, side * (STOP - gap), rng.uniform(-0.9, 0.9, size))
    return lw.State(q, 3.0 * rng.normal(size=(batch, m.nv)))


def beyond(run: Any, hinges: int) -> float:
    """By how much a stop is passed."""
    return float((np.abs(np.asarray(run.q)[..., -hinges:]) - STOP).max())


@pytest.mark.parametrize("method", TOLERANCE)
@pytest.mark.parametrize("distant", [False, True])
def test_random_stops(method: str, distant: bool) -> None:
    hinges = 12
    m = tree(0, hinges)
    if distant:  # of redmax a dense matrix
        m = m.add(lw.SpringDamper("link2", "link9", (0, 0, 0.1), (0.1, 0, 0), stiffness=50.0, rest_length=0.2, damping=0.5))
    run = lw.simulate(m, near_stops(m, hinges, 1, 256), 3 * H, H, method)
    assert beyond(run, hinges) < TOLERANCE[method]
    assert run.health.complementarity < 1e-8


def test_random_stops_of_mapped_models() -> None:
    hinges = 8
    m = tree(0, hinges, free=False)
    mapped, start = lw.HyperReduced(m, lambda r: r, m.nv), near_stops(m, hinges, 1, 16)
    for q, v in zip(start.q, start.v, strict=True):
        assert beyond(lw.simulate(mapped, lw.State(q, v), 3 * H, H), hinges) < TOUCHING


def test_neighbors_change_no_bit() -> None:
    hinges = 12
    m = tree(3, hinges)
    start = near_stops(m, hinges, 2, 37)
    many = lw.simulate(m, start, 4 * H, H)
    for k in (0, 5, 17, 36):
        one = lw.simulate(m, lw.State(start.q[k], start.v[k]), 4 * H, H)
        assert np.array_equal(one.q, many.q[k])
        assert np.array_equal(one.v, many.v[k])


# --- shapes --------------------------------------------------------------------------------------------------------------------
def row_of(shape: lw.Shape, count: int, gap: float, speed: float) -> tuple[lw.Model, lw.State]:
    """Bodies 0.1 m long at rest in a row without gravity, of which the first comes at the others."""
    b, q = lw.ModelBuilder(gravity=(0, 0, 0)), []
    for k in range(count):
        b.body(f"body{k}", joint=lw.Free(), shapes=[shape])
        q += [k * (0.1 + gap), 0, 0, 1, 0, 0, 0]
    m = b.build()
    v = np.zeros(m.nv)
    along = [lw.kinematics(m, np.array(q, float), e).twists[0, 3] for e in np.eye(m.nv)[:6]]
    v[int(np.argmax(along))] = speed
    return m, lw.State(np.array(q, float), v)


@pytest.mark.parametrize("crowd", [False, True])
@pytest.mark.parametrize("method", ["reduced", "maximal", "redmax", "maximal-implicit"])
@pytest.mark.parametrize("shape", [lw.Sphere(0.05, density=500), lw.Box((0.1, 0.1, 0.1), density=500)], ids=["balls", "boxes"])
def test_rows_of_bodies_do_not_pass_one_another(
    shape: lw.Shape, method: str, crowd: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An impact goes through seven gaps in one step."""
    if crowd:
        if method not in ("reduced", "maximal"):
            pytest.skip("crowds have steps of these two")
        monkeypatch.setattr(collections, "CROWD_ROWS", 10)
    m, start = row_of(shape, 8, 2e-4, 20.0)
    run = lw.simulate(m, start, 6 * H, H, method)
    gaps = np.diff(run.q.reshape(-1, 8, 7)[..., 0], axis=1) - 0.1
    assert gaps.min() > -TOUCHING
    assert run.health.penetration is not None
    assert run.health.penetration < TOUCHING
    momentum = [lw.kinematics(m, q, v).twists.reshape(8, 6)[:, 3].sum() for q, v in zip(run.q, run.v, strict=True)]
    assert np.ptp(momentum) < 1e-9


def test_an_arm_is_pressed_into_no_wall() -> None:
    """A ball that flies at an arm drives it toward a wall, which it would reach only through the impact."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.body("wall", joint=lw.Fixed(), shapes=[lw.Box((0.1, 1.0, 1.0), lw.SE3(p=(-0.05, 0.0, 0.0)), density=500)])
    arm = lw.Capsule(0.02, 0.4, lw.SE3(p=(0.0, 0.0, -0.2)), density=500)
    b.body("arm", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.02 + 5e-4, 0.0, 0.3)), shapes=[arm])
    b.body("ball", joint=lw.Free(), shapes=[lw.Sphere(0.05, density=3000)])
    m = b.build()
    q, v = m.neutral(), np.zeros(m.nv)
    places = np.array([0.02 + 5e-4 + 0.02 + 0.05 + 2e-3, 0.0, -0.05])
    q[np.r_[m.q_index("ball")][:3]] = places
    at = np.r_[m.v_index("ball")]
    along = [lw.kinematics(m, q, e).twists[m.body_index("ball"), 3] for e in np.eye(m.nv)[at]]
    v[at[int(np.argmax(along))]] = -10.0
    run = lw.simulate(m, lw.State(q, v), 8 * H, H)
    assert run.health.penetration is not None
    assert run.health.penetration < 1e-7  # the arm turns


def test_stacks_with_stops_between() -> None:
    """Boxes on sliders above one another, with gaps of all sizes and stops; a fast one falls on them."""
    rng, count = np.random.default_rng(5), 6
    for _ in range(4):
        b, z = lw.ModelBuilder(), 0.0
        gaps = 10 ** rng.uniform(-5, -3, count)
        for k in range(count):
            z += 0.1 + gaps[k]
            low = -(10 ** rng.uniform(-5, -3)) if k == count // 2 else -1.0
            place = lw.SE3(p=(0.0, 0.0, z - 0.05))
            b.body(
                f"box{k}",
                joint=lw.Prismatic((0, 0, 1)),
                placement=place,
                shapes=[lw.Box((0.1, 0.1, 0.1), density=500, friction=0.0)],
                limits=(low, 1.0),
            )
        m = b.ground(friction=0.0).build()
        v = np.zeros(count)
        v[-1] = -8.0
        run = lw.simulate(m, lw.State(np.zeros(count), v), 10 * H, H)
        lows = np.array([touching(m, "exact").bodies[k].properties.lower[0] for k in range(count)])
        assert (np.asarray(run.q) - lows).min() > -TOUCHING
        assert run.health.penetration is not None
        assert run.health.penetration < TOUCHING


@pytest.mark.parametrize("method", ["reduced", "redmax", "maximal"])
def test_what_is_pushed_out_passes_no_body(method: str) -> None:
    """A box deep in the ground is pushed out against one that hangs just above it, and that against a stop further up."""
    b = lw.ModelBuilder().ground(friction=0.0)
    slider = lw.Prismatic((0, 0, 1))
    b.body("box", joint=slider, shapes=[lw.Box((0.1, 0.1, 0.1), density=500, friction=0.0)])
    cover = lw.Box((0.1, 0.1, 0.1), lw.SE3(p=(0.0, 0.0, 0.1 + 1e-4)), density=500, friction=0.0)
    b.body("cover", joint=slider, shapes=[cover], limits=(-1.0, 0.05 + 1e-3))
    run = lw.simulate(b.build(), lw.State(np.full(2, 0.05 - 4e-3), np.zeros(2)), 12 * H, H, method)
    box, cover_q = np.asarray(run.q).T
    assert (cover_q - box).min() > -1e-4 - SOFT * RECOVERY * H
    assert cover_q.max() < 0.05 + 1e-3 + TOUCHING
    assert box[-1] > 0.05 - 1e-3
