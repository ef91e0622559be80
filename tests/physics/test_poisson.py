"""Poisson's law of impacts in steps: where it is Newton's, where it is not, and that it gives no energy."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw

METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")
RADIUS = 0.1


def balls(masses: list[float], contacts: list[tuple[str, str, float]], gravity: float = 0.0) -> lw.Model:
    """Balls beside one another along z, and (one, other, e) that may touch."""
    b = lw.ModelBuilder(gravity=(0, 0, -gravity))
    for k, mass in enumerate(masses):
        b.body(f"{k}", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia.sphere(mass=mass, radius=RADIUS))
    for one, other, e in contacts:
        if other == "world":
            b.add(lw.Contact(one, lw.Sphere(RADIUS), friction=0.0, restitution=e))
        else:
            b.add(lw.Contact(one, lw.Sphere(RADIUS), other, lw.Sphere(RADIUS), friction=0.0, restitution=e))
    return b.build()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_one_ball_bounces_as_by_newtons_law(method: str, mu: float) -> None:
    b = lw.ModelBuilder().body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=2.0, radius=RADIUS))
    model = b.add(lw.Contact("ball", lw.Sphere(RADIUS), friction=mu, restitution=0.8)).build()
    start = lw.State([0, 0, 0.5, 1, 0, 0, 0], [0, 0, 0, 1.0, 0, 0])
    newton, poisson = (lw.simulate(model, start, 1.2, 2e-3, method, restitution=r) for r in ("newton", "poisson"))
    np.testing.assert_allclose(poisson.poses, newton.poses, atol=1e-12)
    assert newton.poses[450:, 0, 2, 3].max() > 0.25


@pytest.mark.parametrize("method", METHODS)
def test_a_cradle_in_which_the_laws_differ(method: str) -> None:
    """Three equal balls, e = 1/2 where the first hits and 1 behind it. Of the compression (2/3, 1/3) v the parts (1/2, 1) are
    given back: v' = (0, 1/3, 2/3) v. Newton's law asks for parting at (1/2, 0) v: (0, 1/2, 1/2) v."""
    model = balls([1.0, 1.0, 1.0], [("0", "1", 0.5), ("1", "2", 1.0)])
    start = lw.State([0.0, 0.3, 0.5], [1.0, 0.0, 0.0])
    for law, expected in (("poisson", (0.0, 1 / 3, 2 / 3)), ("newton", (0.0, 0.5, 0.5))):
        run = lw.simulate(model, start, 0.2, 1e-3, method, restitution=law)
        z = run.poses[:, :, 2, 3]
        np.testing.assert_allclose((z[-1] - z[-51]) / 0.05, expected, atol=1e-9)


@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_two_stacked_balls(law: str) -> None:
    """A light ball on a heavy one, e = 1: from both laws the light one leaves with more than it came with, and energy is kept."""
    model = balls([1.0, 3.0], [("0", "world", 1.0), ("1", "0", 1.0)], gravity=0.0)
    run = lw.simulate(model, lw.State([0.15, 0.35], [-1.0, -1.0]), 0.3, 1e-3, restitution=law)
    kinetic = 0.5 * run.v[:, 0] ** 2 + 1.5 * run.v[:, 1] ** 2
    np.testing.assert_allclose(kinetic[-1], kinetic[0], rtol=1e-9)


def two_phases(A: np.ndarray, u: np.ndarray, mu: float, e: float) -> np.ndarray:
    """Impulses (normal, tangent) in the plane, by the closed forms of both phases; friction is against the slip at their ends."""
    x = np.linalg.solve(A, -u)
    if abs(x[1]) > mu * x[0]:
        slides = [-u[0] / (A[0, 0] - mu * s * A[0, 1]) * np.array([1.0, -mu * s]) for s in (1.0, -1.0)]
        (x,) = [y for y, s in zip(slides, (1.0, -1.0), strict=True) if s * (u + A @ y)[1] > 0.0]
    u = u + A @ x
    push = e * x[0]
    rub = -(u[1] + A[1, 0] * push) / A[1, 1]
    return x + np.array([push, np.clip(rub, -mu * push, mu * push)])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mu", [0.0, 0.1, 0.5, 1.5])
@pytest.mark.parametrize("slip", [4.0, 0.3])
def test_a_rod_that_falls_on_its_corner(method: str, mu: float, slip: float) -> None:
    """Sliding or sticking in either phase, by the closed forms."""
    e, angle, radius = 0.7, 1.0, 1e-3
    inertia = lw.Inertia(1.0, (0, 0, 0), np.diag([1 / 3, 1 / 3, 1e-2]))
    b = lw.ModelBuilder(gravity=(0, 0, 0)).body("rod", joint=lw.Free(), inertia=inertia)
    b.add(lw.Contact("rod", lw.Sphere(radius, (0, 0, -1.0)), friction=mu, restitution=e))
    turned = np.array([np.cos(angle / 2), 0, np.sin(angle / 2), 0])
    R = lw.SE3.rot_y(angle).R
    tip = R @ np.array([0, 0, -1.0]) - np.array([0, 0, radius])
    start = lw.State([0, 0, 1e-7 - tip[2], *turned], [0, 0, 0, *(R.T @ np.array([slip, 0, -1.0]))])
    run = lw.simulate(b.build(), start, 2e-5, 1e-5, method, restitution="poisson")
    J = np.array([[-tip[0], 0, 1.0], [tip[2], 1, 0]])  # of (turn about y, x, z)
    A = J @ np.diag([3.0, 1, 1]) @ J.T
    x = two_phases(A, np.array([-1.0, slip]), mu, e)
    v = np.array([0, slip, -1.0]) + np.diag([3.0, 1, 1]) @ J.T @ x
    found = (run.poses[2, 0, :3, 3] - run.poses[1, 0, :3, 3]) / 1e-5
    np.testing.assert_allclose(found[[0, 2]], v[1:], atol=2e-4)


@pytest.mark.parametrize("method", METHODS)
def test_energy_never_grows(method: str) -> None:
    """A box with e = 1 and friction that tumbles about; no gravity, so that every change is an impact."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.body("box", joint=lw.Free(), shapes=[lw.Box((0.3, 0.2, 0.1), mass=1.0)])
    for normal in ((0, 0, 1), (0, 0, -1)):
        b.add(
            lw.Contact(
                "box", lw.Box((0.3, 0.2, 0.1)), shape_b=lw.Plane((0, 0, -0.3 * normal[2]), normal), friction=0.5, restitution=1.0
            )
        )
    start = lw.State([0, 0, 0, 1, 0, 0, 0], [1.0, 2.0, 3.0, 1.0, 0.5, -2.0])
    run = lw.simulate(b.build(), start, 1.0, 1e-3, method, restitution="poisson")
    energy = run.energy.kinetic
    assert np.diff(energy).max() < 1e-3 * energy[0]
    assert energy[-1] < 0.999 * energy[0]
    assert energy[-1] > 0.1 * energy[0]


def test_what_rests_is_not_thrown_up_by_impacts_elsewhere() -> None:
    """Only what the impact compresses is given back."""
    model = balls([1.0, 1.0], [("0", "world", 0.9), ("1", "world", 0.9)], gravity=9.81)
    run = lw.simulate(model, lw.State([0.1, 0.5], [0.0, 0.0]), 0.6, 1e-3, restitution="poisson")
    assert np.abs(run.q[:, 0] - 0.1).max() < 1e-12
    assert run.q[350:, 1].max() > 0.2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mu", [0.0, 0.4])
def test_batches_are_their_states_to_the_bit(method: str, mu: float) -> None:
    b = lw.ModelBuilder()
    for k in range(2):
        b.body(f"ball{k}", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=1.0 + k, radius=RADIUS))
        b.add(lw.Contact(f"ball{k}", lw.Sphere(RADIUS), friction=mu, restitution=0.8))
    model = b.build()
    q = np.array([[0, 0, 0.3 + 0.01 * k, 1, 0, 0, 0, 1, 0, 0.2 + 0.02 * k, 1, 0, 0, 0] for k in range(5)])
    v = np.tile([0, 0, 5.0, 1, 0.3, 0], (5, 2))
    together = lw.simulate(model, lw.State(q, v), 0.5, 2e-3, method, restitution="poisson")
    for k in range(5):
        alone = lw.simulate(model, lw.State(q[k], v[k]), 0.5, 2e-3, method, restitution="poisson")
        np.testing.assert_array_equal(together.poses[k], alone.poses)


def test_what_cannot_be_is_refused() -> None:
    model = balls([1.0], [("0", "world", 0.9)])
    start = lw.State([0.5], [0.0])
    with pytest.raises(lw.LinkworkError, match="'newton' or 'poisson'"):
        lw.simulate(model, start, 0.1, 1e-3, restitution="poison")
    with pytest.raises(lw.LinkworkError, match="no restitution='poisson'"):
        lw.simulate(model, start, 0.1, 1e-3, "maximal-implicit", newton=True, restitution="poisson")
    with pytest.raises(lw.LinkworkError):
        lw.simulate(model, start, 0.1, 1e-3, stepper="rk4", restitution="poisson")
    with pytest.raises(lw.LinkworkError, match="no derivatives"):
        lw.step_derivatives(model, start, 1e-3, restitution="poisson")
    rubbing = lw.ModelBuilder().body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=1.0, radius=RADIUS))
    touching = rubbing.add(lw.Contact("ball", lw.Sphere(RADIUS), friction=0.3, restitution=0.8)).build()
    high = lw.State([0, 0, 0.5, 1, 0, 0, 0], np.zeros(6))
    with pytest.raises(lw.LinkworkError, match="needs contact='exact'"):
        lw.simulate(touching, high, 0.1, 1e-3, contact="staggered", restitution="poisson")
