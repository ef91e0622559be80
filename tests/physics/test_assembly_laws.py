"""Assemblies whose conditions depend on time, and whose parts interact: exact motions, orders, energies."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.assembly.conditions import Pin, condition
from linkwork.assembly.interactions import Spring, interaction
from linkwork.assembly.parts import Body2D, Particle

G = 9.81


@pytest.mark.parametrize("stabilise", ["project", "baumgarte", "none"])
def test_a_condition_that_moves_is_followed(stabilise: str) -> None:
    """A hook goes up and down, (1 - cos 3 t) / 10: what hangs on it follows to rounding if projected, and with order 4 anyway."""
    off = []
    for dt in (2e-2, 1e-2):
        a = lw.Assembly((0.0, -G))
        a.add("hook", Particle(2.0, 2), (0.0, 0.0))
        lift = condition(lambda p, t, high: [p.x[0], p.x[1] - high * (1.0 - np.cos(3.0 * t))], ["hook"], 2, high=0.1)
        a.connect(lift)
        run = a.simulate(1.0, dt, stabilise=stabilise)  # pyright: ignore[reportArgumentType]
        asked = 0.1 * (1.0 - np.cos(3.0 * run.times))
        off.append(np.abs(run.q[:, 1] - asked).max())
        np.testing.assert_allclose(run.v[:, 1], 0.3 * np.sin(3.0 * run.times), atol=1e-12 if stabilise == "project" else 1e-5)
        force = a.accelerations(run.state()).multipliers
        assert force[1] == pytest.approx(2.0 * (G + 0.9 * np.cos(3.0)), rel=1e-6)
    assert off[0] < (1e-15 if stabilise == "project" else 1e-5)
    assert stabilise == "project" or 3.7 < np.log2(off[0] / off[1]) < 4.3


def test_a_speed_that_is_told_is_followed() -> None:
    """A wheel on the forest's other end turns as fast as the time says: w = t."""
    a = lw.Assembly()
    a.add("wheel", Body2D(1.0, 0.1), (0.0, 0.0, 0.0))
    a.connect(Pin("wheel", at_a=(0.0, 0.0), at_b=(0.0, 0.0), space=2))
    a.connect(condition(lambda w, t: [w.spin - t], ["wheel"], 1, level="velocity"))
    assert len(a.layout.auxiliary) == 0
    run = a.simulate(1.0, 0.1)
    assert run.v[-1, 2] == pytest.approx(1.0, abs=1e-14)
    assert run.q[-1, 2] == pytest.approx(0.5, abs=1e-14)
    assert a.accelerations(run.state()).multipliers[-1] == pytest.approx(0.1)
    assert a.velocities(run.state(), None).motion[2] == pytest.approx(1.0)


def test_a_mass_on_a_spring() -> None:
    """x = 0.7 + 0.3 cos(w t): to order 4, with its energy kept."""
    a = lw.Assembly()
    a.add("mass", Particle(2.0), (1.0, 0.0, 0.0))
    a.attach(Spring("mass", "world", 8.0, 0.7, at_b=(0.0, 0.0, 0.0)))
    off = []
    for dt in (0.1, 0.05):
        run = a.simulate(2.0, dt)
        off.append(np.abs(run.q[:, 0] - 0.7 - 0.3 * np.cos(2.0 * run.times)).max())
    assert 3.7 < np.log2(off[0] / off[1]) < 4.3
    assert a.energy(a.start) == pytest.approx(0.36)
    assert a.energy(run.state()) == pytest.approx(0.36, abs=1e-5)


def test_a_damped_spring_between_two_parts_loses_energy_and_keeps_momentum() -> None:
    a = lw.Assembly()
    a.add("one", Body2D(1.0, 0.1), (0.0, 0.0, 0.3), (0.3, 0.0, 0.0))
    a.add("other", Body2D(2.0, 0.2), (1.0, 0.5, 0.0), (0.0, 0.4, 1.0))
    a.attach(Spring("one", "other", 30.0, 0.4, 1.5, (0.2, 0.1), (-0.3, 0.0)))
    run = a.simulate(1.0, 1e-3, every=100)
    energy = [a.energy(run.state(k)) for k in range(len(run.times))]
    assert np.all(np.diff(energy) < 0.0)
    momentum = run.v[:, :2] + 2.0 * run.v[:, 3:5]
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(momentum), 1)), atol=1e-12)
    turning = 0.1 * run.v[:, 2] + 0.2 * run.v[:, 5]
    for mass, k in ((1.0, 0), (2.0, 3)):
        turning = turning + mass * (run.q[:, k] * run.v[:, k + 1] - run.q[:, k + 1] * run.v[:, k])
    np.testing.assert_allclose(turning, turning[0], atol=1e-9)


def test_an_interaction_of_ones_own_that_knows_the_time() -> None:
    """A force 3 t along x, and drag: m v' = 3 t - c v."""
    a = lw.Assembly()
    a.add("p", Particle(1.0), np.zeros(3))
    push = interaction(lambda p, t, rise: -rise * t * p.x[0], ["p"], rise=3.0)
    a.attach(push)
    a.attach(interaction(None, ["p"], dissipation=lambda p, c: 0.5 * c * sum(p.v * p.v), c=2.0))
    run = a.simulate(1.0, 1e-2)
    t = 1.0
    assert run.v[-1, 0] == pytest.approx(1.5 * t - 0.75 + 0.75 * np.exp(-2.0 * t), rel=1e-8)
    np.testing.assert_allclose(a.system(run.state()).forces, a.accelerations(run.state()).motion, rtol=1e-12)


def test_what_cannot_interact_is_refused() -> None:
    a = lw.Assembly()
    a.add("p", Particle(1.0), np.zeros(3))
    with pytest.raises(lw.ModelError, match="no part 'q'"):
        a.attach(Spring("p", "q", 1.0))
    with pytest.raises(lw.ModelError, match="at_b"):
        Spring("p", "world", 1.0)
    with pytest.raises(lw.ModelError, match="negative"):
        Spring("p", "q", -1.0)
    with pytest.raises(lw.ModelError, match="an energy or a dissipation"):
        interaction(None, ["p"])
