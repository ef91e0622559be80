"""Assemblies in time: exact motions, order, conserved energy, conditions kept, collisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.assembly.conditions import Above, Distance, Gear, Pin, Rolling
from linkwork.assembly.parts import Body2D, Body3D, Particle

G = 9.81
HOW: Any = ("project", "baumgarte", "none")


def test_a_disc_rolls_down_a_slope() -> None:
    """x = t^2 g sin(slope) / (1 + k^2 / r^2) / 2, and it turns as it rolls."""
    slope, r = 0.3, 0.4
    a = lw.Assembly((G * np.sin(slope), -G * np.cos(slope)))
    a.add("disc", Body2D(2.0, 0.5 * 2.0 * r * r), (0.0, r, 0.0))
    a.connect(Rolling("disc", r))
    run = a.simulate(1.0, 0.1)
    x = 0.5 * G * np.sin(slope) / 1.5
    assert run.q[-1] == pytest.approx([x, r, -x / r], abs=1e-12)


def test_gears_turn_against_each_other() -> None:
    """A moment m on one turns both, w_a = ratio w_b: (I_a + I_b / ratio^2) w_a' = m."""
    a = lw.Assembly()
    a.add("a", Body2D(1.0, 0.2), np.zeros(3))
    a.add("b", Body2D(1.0, 0.5), np.zeros(3))
    a.connect(Gear("a", "b", -2.0))
    moment = np.array([0.0, 0.0, 3.0, 0.0, 0.0, 0.0])
    spin = a.accelerations(a.start, moment).motion[[2, 5]]
    alpha = 3.0 / (0.2 + 0.5 / 4.0)
    assert spin == pytest.approx([alpha, -alpha / 2.0], rel=1e-12)


def pendulum(**options: Any) -> tuple[lw.Assembly, Any]:
    a = lw.Assembly((0.0, 0.0, -G))
    rod = Body3D(lw.Inertia.cuboid(1.0, (1.0, 0.1, 0.2), (0.5, 0.0, 0.0)))
    for k in range(3):
        a.add(f"rod{k}", rod, rod.coordinates(lw.SE3(p=(float(k), 0.0, 0.0))), (0.3 * k, 0.0, 0.0, 0.0, 0.0, 0.0))
        a.connect(Pin("rod0", at_a=(0, 0, 0), at_b=(0, 0, 0)) if k == 0 else Pin(f"rod{k}", f"rod{k - 1}", (0, 0, 0), (1, 0, 0)))
    return a, a.simulate(0.4, **options)


def test_the_order_is_four_and_energy_is_kept() -> None:
    a, fine = pendulum(dt=2.5e-3)
    errors = []
    for dt in (2e-2, 1e-2):
        _, run = pendulum(dt=dt)
        errors.append(np.abs(run.q[-1] - fine.q[-1]).max())
        assert run.residual.max() < 1e-6
    assert 3.6 < np.log2(errors[0] / errors[1]) < 4.6
    assert a.energy(fine.state()) == pytest.approx(a.energy(a.start), abs=1e-6)


def test_what_holds_the_conditions() -> None:
    """A gap at the start: projection closes it at once, Baumgarte's terms in time, nothing lets it stay."""
    a, _ = pendulum(dt=0.1)
    q = a.start.q.copy()
    q[a.q_index("rod2")][2] += 1e-2
    left = {how: a.simulate(0.4, 1e-2, state=lw.State(q, a.start.v), stabilise=how).residual[-1] for how in HOW}
    assert left["project"] < 1e-7
    assert left["baumgarte"] == pytest.approx(1e-2 * 5.0 * np.exp(-4.0), rel=0.1)  # (1 + c t) exp(-c t), c = 10 / s
    assert left["none"] == pytest.approx(1e-2, rel=0.1)
    with pytest.raises(lw.InputError, match="stabilise"):
        a.simulate(0.1, 0.1, stabilise="hope")  # pyright: ignore[reportArgumentType]


def test_a_particle_swings_on_a_string() -> None:
    """Small swings have the period 2 pi sqrt(l / g)."""
    a = lw.Assembly((0.0, -G))
    length = 0.5
    period = 2 * np.pi * np.sqrt(length / G)
    a.add("hook", Particle(1e9, 2), (0.0, 0.0))
    a.add("bob", Particle(1.0, 2), (1e-4 * length, -length * np.sqrt(1 - 1e-8)))
    a.connect(Pin("hook", at_b=(0.0, 0.0), space=2))
    a.connect(Distance("bob", "hook", length))
    run = a.simulate(period, period / 100)
    assert run.q[-1, 2:] == pytest.approx(run.q[0, 2:], abs=1e-9)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_ball_bounces(restitution: float) -> None:
    """From 1 m it meets the ground after sqrt(2 / g); then it rises to restitution^2 m, or stays."""
    a = lw.Assembly((0.0, 0.0, -G))
    a.add("ball", Particle(1.0), (0.0, 0.0, 1.0))
    a.connect(Above("ball"))
    run = a.simulate(0.8, 4e-3, restitution=restitution)
    height = run.q[:, 2]
    after = height[run.times > np.sqrt(2 / G) + 8e-3]
    assert run.residual.max() < 1e-12
    assert after.max() == pytest.approx(restitution**2, abs=2e-2)


def test_a_hand_is_dragged_to_a_target() -> None:
    """f = m v: a chain without inertia follows a spring at its end; the other end stays where it is held."""
    a = lw.Assembly()
    for k in range(4):
        a.add(f"b{k}", Body2D(1.0, 0.1), (k + 0.5, 0.0, 0.1 * k))
    a.connect(Pin("b0", at_a=(-0.5, 0), at_b=(0, 0), space=2))
    for k in range(3):
        a.connect(Pin(f"b{k + 1}", f"b{k}", (-0.5, 0), (0.5, 0), space=2))
    state, target, h = a.start, np.array([1.0, 2.5]), 0.1
    for _ in range(200):
        pull = 5.0 * (target - a.point(state, "b3", (0.5, 0)))
        v = a.velocities(state, a.point_force(state, "b3", pull, (0.5, 0)), correction=1.0 / h).motion
        state = lw.State(a.normalised(state.q + h * a.rates(state.q, v)), state.v)
    assert a.point(state, "b3", (0.5, 0)) == pytest.approx(target, abs=1e-3)
    assert np.abs(a.system(state).residual).max() < 1e-3
