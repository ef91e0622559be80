"""Friction by one quadratic program: the closed form of its law, sticking, the same solved densely, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ModelError
from linkwork.kernel.lanes import Lanes
from linkwork.solvers.problem import Cones, Problem
from linkwork.solvers.pyramid import solve_pyramid
from linkwork.solvers.single_qp import RAYS, solve_single_qp

G, MU, H = 9.81, 0.5, 1e-2
METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")


def block(angle: float = 0.0, velocity: tuple[float, float] = (0.0, 0.0), restitution: float = 0.0) -> tuple[lw.Model, lw.State]:
    """A block on a floor, under gravity that leans by an angle along x."""
    b = lw.ModelBuilder(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    b.ground(friction=MU, restitution=restitution)
    b.body("block", joint=lw.Free(), shapes=[lw.Box((0.2, 0.2, 0.02), mass=2.0)])
    return b.build(), lw.State(np.array([0, 0, 0.01, 1, 0, 0, 0]), np.array([0, 0, 0, *velocity, 0]))


def after(case: tuple[lw.Model, lw.State], steps: int, method: str, contact: str = "single_qp") -> lw.Trajectory:
    return lw.simulate(*case, steps * H, H, method, contact=contact)


def velocity(run: lw.Trajectory, k: int) -> np.ndarray:
    """That of the origin of the block in record k, in the world."""
    return np.asarray(run.poses[k, 0, :3, 3] - run.poses[k - 1, 0, :3, 3]) / H


@pytest.mark.parametrize("method", METHODS)
def test_one_step_of_a_block_that_slides(method: str) -> None:
    """The free velocity goes to the nearest one with v_n >= mu |v_t|: v_t' = (v_t + mu v_n) / (1 + mu^2), v_n' = mu v_t'."""
    run = after(block(velocity=(1.2, 0.0)), 1, method)
    slid = (1.2 - MU * G * H) / (1.0 + MU * MU)
    assert np.allclose(velocity(run, 1), (slid, 0.0, MU * slid), atol=1e-12)
    assert run.health.complementarity is not None
    assert run.health.complementarity < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_a_slow_block_slides_as_by_coulomb_but_for_the_hop(method: str) -> None:
    """It hops while it is fast, comes to rest, and stands; not quite where Coulomb's law stops it."""
    case = block(velocity=(0.4, 0.0))
    run, exact = (after(case, 100, method, contact) for contact in ("single_qp", "exact"))
    assert run.poses[:, 0, 2, 3].max() > 0.0105
    assert np.abs(run.poses[-1, 0, :3, 3] - run.poses[-20, 0, :3, 3]).max() < 1e-12
    assert run.poses[-1, 0, 0, 3] == pytest.approx(exact.poses[-1, 0, 0, 3], rel=0.3)


@pytest.mark.parametrize("method", METHODS)
def test_a_block_sticks_below_the_friction_angle_and_slides_above(method: str) -> None:
    held = after(block(np.arctan(MU) - 0.01), 50, method)
    assert np.abs(held.poses[-1, 0, :3, 3] - held.poses[0, 0, :3, 3]).max() < 1e-12
    assert held.forces is not None
    assert np.sum(held.forces[-1][::3]) == pytest.approx(2.0 * G * np.cos(np.arctan(MU) - 0.01), rel=1e-9)
    assert after(block(np.arctan(MU) + 0.01), 50, method).poses[-1, 0, 0, 3] > 1e-3


def test_friction_along_two_tangents_at_once_is_less() -> None:
    """The pyramid is inside the cone: between the tangents it holds mu / sqrt(2)."""
    b = lw.ModelBuilder(gravity=(0, 0, -G))
    b.ground(friction=MU)
    model = b.body("block", joint=lw.Translational(), shapes=[lw.Box((0.2, 0.2, 0.02), mass=2.0)]).build()
    start = lw.State([0.0, 0.0, 0.01], np.zeros(3))
    for part, holds in ((0.70, True), (0.72, False)):
        pull = part * MU * 2.0 * G * np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)
        moved = lw.simulate(model, start, 0.2, H, tau=pull, contact="single_qp").q[-1]
        assert (np.abs(moved - start.q).max() < 1e-12) == holds


def compiled(p: Problem) -> tuple[np.ndarray, float]:
    """x of a problem by the compiled solver, in two lanes that are alike."""
    m, n, W = len(p.b), sum(RAYS if kind == 1 else kind == 0 for kind in p.cones.rows), 2

    def lanes(x: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(np.repeat(np.asarray(x, float)[:, None], W, axis=1))

    packed = p.A[np.tril_indices(m)]
    active = np.arange(-1, m)
    active[0] = m
    rows = [lanes(x) for x in (p.cones.mu, np.ones(m), p.b, p.cones.lower, p.cones.upper, np.zeros(m))]
    left, scratch = np.zeros((1, W)), [np.zeros((n, W)) for _ in range(10)]
    ints, pair = [np.zeros(n + 1, np.int64) for _ in range(4)], [np.zeros((n * (n + 1) // 2, W)) for _ in range(2)]
    rays = [np.zeros((n, W)) for _ in range(5)]
    kinds = np.ascontiguousarray(p.cones.rows, np.int32)
    solve_single_qp.call(
        Lanes(W), active, kinds, *rows, lanes(packed), left, ints[0], ints[1], ints[2], *rays, *pair, *scratch[:10], ints[3]
    )
    assert np.array_equal(rows[-1][:, 0], rows[-1][:, 1])
    return rows[-1][:, 0], float(left[0, 0])


@pytest.mark.parametrize("seed", range(10))
def test_the_compiled_program_is_that_of_the_registry(seed: int) -> None:
    """Random contacts beside equalities and stops: the same motion as a dense quadratic program leaves."""
    rng = np.random.default_rng(seed)
    contacts = int(rng.integers(1, 4))
    cones = (
        Cones.equal(2) + Cones.coulomb(rng.uniform(0.1, 1.0, contacts)) if seed % 2 else Cones.coulomb(rng.uniform(0.1, 1.0, 3))
    )
    m = len(cones.rows)
    B = rng.normal(size=(m, m + 2))
    p = Problem(B @ B.T, rng.normal(size=m), cones)
    x, left = compiled(p)
    dense, _ = solve_pyramid(p)
    assert left < 1e-12
    assert np.allclose(p.A @ x, p.A @ dense, atol=1e-8)


def test_the_simulator_takes_it() -> None:
    model, start = block(velocity=(1.2, 0.0))
    sim = lw.Simulator(model, start, H, contact="single_qp")
    sim.step(3)
    assert np.array_equal(sim.state.q, after((model, start), 3, "reduced").q[-1])  # type: ignore[union-attr]


def test_batches_to_the_bit() -> None:
    model, start = block()
    v = np.random.default_rng(0).normal(size=(9, 6))
    many = lw.simulate(model, lw.State(np.tile(start.q, (9, 1)), v), 0.2, H, contact="single_qp")
    for k in (0, 8):
        one = lw.simulate(model, lw.State(start.q, v[k]), 0.2, H, contact="single_qp")
        assert np.array_equal(many.q[k], one.q)


def test_what_it_cannot_do_it_refuses() -> None:
    model, start = block(restitution=0.5)
    with pytest.raises(InputError, match="restitution='poisson' needs"):
        lw.simulate(model, start, 0.1, H, contact="single_qp", restitution="poisson")
    with pytest.raises(InputError, match="does not know friction of contacts"):
        lw.simulate(model, start, 0.1, H, contact="single_qp", stepper="rk4")
    ball, floor = lw.Sphere(0.1), lw.Plane()
    with pytest.raises(ModelError, match="spinning and rolling friction are no part of one quadratic program"):
        lw.Contact("ball", ball, "world", floor, friction=0.5, rolling=0.01, friction_model="single_qp")
    b = lw.ModelBuilder().body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(1.0, 0.1))
    for friction_model in ("single_qp", "pyramid"):
        b.add(lw.Contact("ball", lw.Sphere(0.1), "world", floor, friction=0.5, friction_model=friction_model))
    with pytest.raises(InputError, match="a row that another one bounds is no part of one quadratic program"):
        lw.simulate(b.build(), lw.State([0, 0, 0.1, 1, 0, 0, 0], np.zeros(6)), 0.1, H)
    with pytest.raises(InputError, match="contact='single_qp' has none; take 'exact'"):
        lw.step_derivatives(*block(), H, contact="single_qp")
