"""Singular positions: flat parallelograms are passed on their branch, locks are named, redundant loops keep their energy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw

HINGE = lw.Revolute((0, 1, 0))
WAYS: dict[str, dict[str, Any]] = {
    "symplectic_euler": {},
    "rk4": {"stepper": "rk4"},
    "dop853": {"stepper": "dop853"},
    "ode45": {"stepper": "ode45"},
    "variational": {"stepper": "variational"},
    "maximal": {"method": "maximal"},
    "backward_euler": {"method": "maximal-implicit"},
    "redmax": {"method": "redmax"},
}
METHODS = pytest.mark.parametrize("method", ["reduced", "maximal"])


def rod(length: float) -> lw.Inertia:
    return lw.Inertia.cuboid(mass=1.0, size=(length, 0.05, 0.05), com=(0.5 * length, 0, 0))


def parallelogram(tilt: float) -> lw.Model:
    """Two cranks of 1 m on a base of 1 m that is tilted, and a coupler; no gravity."""
    b, base = lw.ModelBuilder(gravity=(0, 0, 0)), lw.SE3.rot_y(tilt)
    b.body("crank", joint=HINGE, placement=base, inertia=rod(1.0))
    b.body("coupler", parent="crank", joint=HINGE, placement=lw.SE3(p=(1, 0, 0)), inertia=rod(1.0))
    b.body("other", joint=HINGE, placement=base @ lw.SE3(p=(1, 0, 0)), inertia=rod(1.0))
    return b.add(lw.Loop("coupler", "other", (1, 0, 0), (1, 0, 0))).build()


@METHODS
@pytest.mark.parametrize("tilt", [0.0, 0.7])
def test_a_parallelogram_goes_through_flat(method: str, tilt: float) -> None:
    """One row, or a sum of two, answers nothing where all bars lie in line; the cranks stay parallel, and keep their speed."""
    model, turn = parallelogram(tilt), np.array([1.0, -1.0, 1.0])
    run = lw.simulate(model, lw.State(-turn, 2.0 * turn), 4.0, 1e-3, method, every=5)
    energy = run.energy
    assert np.abs(energy.total - energy.total[0]).max() < 1e-3 * energy.kinetic.max()
    assert np.abs(run.v - 2.0 * turn).max() < 1e-2
    assert np.abs(run.q[-1] - 7.0 * turn).max() < 1e-3
    times = [t for t, _ in run.health.singular]
    assert np.abs(np.array(times) - (0.5 + 0.5 * np.pi * np.arange(3))).max() < 6e-3
    assert run.health.singular[0][1] == ("Loop('coupler', 'other')",)
    assert "singular at t = 0.5 (Loop('coupler', 'other')) and 2 more" in str(run.health)


def windows(n: int) -> tuple[lw.Model, lw.State]:
    """n four-bar windows side by side, bars of 1 m and 1 kg, upright, moving to the right at 1 m/s (IFToMM benchmark A02)."""
    b, up = lw.ModelBuilder(), lw.SE3.rot_y(-0.5 * np.pi)
    b.body("r0", joint=HINGE, placement=up, inertia=rod(1.0))
    for i in range(1, n + 1):
        b.body(f"r{i}", joint=HINGE, placement=lw.SE3(p=(i, 0, 0)) @ up, inertia=rod(1.0))
        across = lw.SE3(p=(1, 0, 0)) @ lw.SE3.rot_y(0.5 * np.pi)
        b.body(f"k{i}", parent=f"r{i - 1}", joint=HINGE, placement=across, inertia=rod(1.0))
        b.add(lw.Loop(f"k{i}", f"r{i}", (1, 0, 0), (1, 0, 0)))
    model = b.build()
    return model, lw.State(np.zeros(model.nv), [1.0 if body.name[0] == "r" else -1.0 for body in model.bodies])


@METHODS
@pytest.mark.parametrize("n", [1, 3])
def test_windows_go_through_flat(method: str, n: int) -> None:
    """All posts turn alike; the energy swings by the error of a step, and does not leave."""
    model, start = windows(n)
    run = lw.simulate(model, start, 10.0, 1e-3, method, every=20)
    posts = [model.v_index(f"r{i}").start for i in range(n + 1)]
    energy = run.energy
    assert np.abs(energy.total - energy.total[0]).max() < 3e-3 * energy.kinetic.max()
    assert np.abs(run.v[:, posts] - run.v[:, posts[:1]]).max() < 0.1
    assert run.q[-1, posts[0]] > 25.0  # round and round


def test_variational_steps_go_through_flat() -> None:
    """They keep the energy there, too."""
    turn = np.array([1.0, -1.0, 1.0])
    for stepper in ("variational", "variational4"):
        run = lw.simulate(parallelogram(0.7), lw.State(-turn, 2.0 * turn), 4.0, 1e-3, stepper=stepper, every=5)
        assert np.abs(run.energy.total - run.energy.total[0]).max() < 1e-7 * run.energy.kinetic.max()
        assert np.abs(run.v - 2.0 * turn).max() < 1e-3
    model, start = windows(3)
    run = lw.simulate(model, start, 10.0, 1e-3, stepper="variational", every=20)
    posts = [model.v_index(f"r{i}").start for i in range(4)]
    assert np.abs(run.energy.total - run.energy.total[0]).max() < 1e-5 * run.energy.kinetic.max()
    assert np.abs(run.v[:, posts] - run.v[:, posts[:1]]).max() < 0.01
    assert run.health.constraint_residual < 1e-6


@pytest.mark.parametrize("speed", [1.0, 5.0])
@pytest.mark.parametrize("stepper", ["variational", "variational4"])
def test_variational_steps_over_flat_are_solved(stepper: str, speed: float) -> None:
    """Rows at both ends of a step differ most there: Newton's rounds swing, and were given up (at 1 m/s, 0.9 s)."""
    model, start = windows(1)
    run = lw.simulate(model, lw.State(start.q, speed * start.v), 3.0, 2e-3, stepper=stepper, every=20)
    assert np.abs(run.energy.total - run.energy.total[0]).max() < 2e-5 * run.energy.kinetic.max()
    first, last = (run.v[:, model.v_index(name).start] for name in ("r0", "r1"))
    assert np.abs(first - last).max() < 0.01 * np.abs(first).max()
    assert run.health.constraint_residual < 1e-5


def chain(n: int, reach: float) -> lw.Model:
    """Bars of half a metre from the origin, the last end pinned at this distance."""
    b = lw.ModelBuilder()
    for i in range(n):
        parent, place = (f"l{i - 1}", lw.SE3(p=(0.5, 0, 0))) if i else ("world", lw.SE3())
        b.body(f"l{i}", parent=parent, joint=HINGE, placement=place, inertia=rod(0.5))
    return b.add(lw.Loop(f"l{n - 1}", "world", (0.5, 0, 0), (reach, 0, 0))).build()


@METHODS
@pytest.mark.parametrize("n", [2, 3])
def test_bars_that_are_pinned_straight(method: str, n: int) -> None:
    """No motion leads away, and no finite force holds the weight: that is said; whoever goes on sees it give way a little."""
    model, start = chain(n, 0.5 * n), lw.State(np.zeros(n), np.zeros(n))
    with pytest.raises(lw.SolverError, match=rf"singular position: Loop\('l{n - 1}', 'world'\) locks it"):
        lw.simulate(model, start, 1.0, 1e-3, method)
    run = lw.simulate(model, start, 1.0, 1e-3, method, open_loops="allow")
    assert np.abs(run.q).max() < 1e-3


@pytest.mark.parametrize("gravity", [(0, 0, 0), (9.81, 0, 0), (-9.81, 0, 0), (0, 9.81, 0)])
@pytest.mark.parametrize("way", WAYS)
def test_bars_pinned_straight_bear_what_acts_along_them(way: str, gravity: tuple[float, float, float]) -> None:
    """Nothing pulls them where the loop answers nothing: they rest, under gravity along them, too; if they move, they lock."""
    for n in (2, 3):
        model = chain(n, 0.5 * n).replace(gravity=gravity)
        run = lw.simulate(model, lw.State(np.zeros(n), np.zeros(n)), 0.1, 1e-3, every=10, **WAYS[way])
        assert np.abs(run.q).max() < 1e-12
        assert run.health.ok
        with pytest.raises(lw.SolverError, match="locks it to second order only"):
            lw.simulate(model, lw.State(np.zeros(n), [1.0, -1.0, 0.0][:n]), 0.1, 1e-3, **WAYS[way])


@METHODS
def test_bars_stretched_to_their_limit(method: str) -> None:
    """Three bars, 0.1 micrometre short of straight: their weight is held by forces of a hundred kilonewton."""
    model = chain(3, 1.4999999)
    start = lw.assemble(model, lw.State([0.01, -0.01, -0.01], np.zeros(3)), weights="mass")
    run = lw.simulate(model, start, 2.0, 1e-3, method)
    assert np.abs(run.q - start.q).max() < 1e-5


def bricard() -> tuple[lw.Model, lw.State]:
    """Six bars of a cube, hinges alternately across: five rows of rank 4 close it."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], float)
    bars = np.roll(corners, -1, axis=0) - corners
    axes = [np.cross(bars[i - 1], bars[i]) for i in range(6)]
    b = lw.ModelBuilder()
    for i in range(5):
        inertia = lw.Inertia.cuboid(mass=1.0, size=np.where(np.abs(bars[i]) > 0.5, 1.0, 0.1), com=0.5 * bars[i])
        place = lw.SE3(p=bars[i - 1] if i else corners[0])
        b.body(f"b{i}", parent=f"b{i - 1}" if i else "world", joint=lw.Revolute(axes[i]), placement=place, inertia=inertia)
    last = lw.Closure(lw.Revolute(axes[5]), "b4", "world", lw.SE3(p=bars[4]), lw.SE3(p=corners[5]))
    return b.add(last).build(), lw.State(np.zeros(5), np.zeros(5))


@METHODS
def test_bricard(method: str) -> None:
    """The error is that of a step of 5 ms."""
    model, start = bricard()
    assert lw.constraint_report(model, start.q).rank == 4
    exact = lw.simulate(model, start, 4.0, 0.1, stepper="dop853", rtol=1e-9, atol=1e-10)
    run = lw.simulate(model, start, 4.0, 5e-3, method, every=20)
    energy = run.energy
    assert np.abs(run.q - exact.q).max() < 0.03
    assert np.abs(energy.total - energy.total[0]).max() < 0.02 * energy.kinetic.max()
    assert not run.health.singular


@pytest.mark.parametrize("friction", [0.0, 0.05])
@pytest.mark.parametrize("method", ["reduced", "maximal", "maximal-implicit", "redmax"])
def test_drift_does_not_stress_bricard(method: str, friction: float) -> None:
    """Rows that drifted apart contradict one another: forces stay those of the closed loop, and errors fall with the step."""
    model, start = bricard()
    model = model.add(lw.DryFriction("b2", friction)) if friction else model
    exact = lw.simulate(model, start, 1.0, 0.1, stepper="dop853", rtol=1e-10, atol=1e-11)
    rough, fine = (lw.simulate(model, start, 1.0, dt, method, every=round(0.1 / dt)) for dt in (1e-3, 5e-4))
    assert np.abs(rough.q - exact.q).max() < 0.08
    assert np.abs(fine.q - exact.q).max() < 0.6 * np.abs(rough.q - exact.q).max()
    for run in (rough, fine):
        assert run.forces is not None
        assert np.abs(run.forces[1:]).max() < 70.0  # 67 N of the closed loop; the least norm is that of other units
        assert np.abs(run.reactions("b0") - exact.reactions("b0")).max() < 0.1 * np.abs(exact.reactions("b0")).max()
