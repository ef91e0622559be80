"""Implicit maximal coordinates at dt = 1/60: no drift, no explosion, no freezing; any stiffness; limits; momentum; handles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.studies.implicit_chains import DT, driven, limited, released, stiff, unstabilised
from linkwork.studies.implicit_chains import links as chain_of

WAYS = pytest.mark.parametrize("options", [{}, {"newton": True}], ids=["one solve", "newton"])


# --- chains -----------------------------------------------------------------------------------------------------------
def test_a_chain_let_go_stays_together() -> None:
    one, converged = released(6.0), released(3.0, newton=True)
    assert one["gap"] < 0.5
    assert converged["gap"] < 1e-9
    assert one["energy"] <= 0.0
    assert converged["energy"] <= 0.0


def test_short_links_stay_together() -> None:
    """Ten centimetres at 1/60: printed without the derivative of the joints' forces, the method explodes here."""
    one = released(5.0, 0.1)
    assert one["gap"] < 0.5
    assert one["energy"] <= 0.0


def test_acceleration_constraints_drift() -> None:
    model = chain_of(20, (1, 0, 0)).build()
    start = lw.State(model.neutral(), np.zeros(model.nv))
    drift = unstabilised(model, start, 2.0).joint_gaps
    held = lw.simulate(model, start, 2.0, DT, "maximal-implicit").joint_gaps
    assert drift[-1] > 5 * held[-1]
    assert drift[-1] > 0.05


def test_a_driven_chain_answers_as_the_linear_one() -> None:
    """The step damps the first mode by w h / 2 of the critical damping: 6 % of the swing at a damping of 5 %."""
    found = driven(15000, 25)
    assert found["gap"] < 1e-3
    assert 0.9 < found["swing"] < 1.0


# --- stiffness --------------------------------------------------------------------------------------------------------
@WAYS
@pytest.mark.parametrize("stiffness", [1e2, 1e10])
def test_stiff_beams(stiffness: float, options: dict[str, Any]) -> None:
    found = stiff(stiffness, **options)
    assert found["energy"] <= 0.0
    assert found["deflection"] < 1e-6


@WAYS
@pytest.mark.parametrize("drop", [0.0, 0.5])
def test_stiff_limits(drop: float, options: dict[str, Any]) -> None:
    found = limited(drop=drop, **options)
    assert found["beyond"] < 1e-4
    assert 0.0 < found["at rest"] < 1e-5
    assert found["energy"] <= 0.0


# --- momentum, handles, loops -------------------------------------------------------------------------------------------
def flying(count: int = 4) -> lw.Model:
    """A chain on no support."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    link = lw.Inertia.cuboid(mass=1.0, size=(0.4, 0.1, 0.2), com=(0.2, 0.05, 0))
    for k in range(count):
        parent, joint = (f"b{k - 1}", lw.Spherical()) if k else ("world", lw.Free())
        b.body(f"b{k}", parent=parent, joint=joint, placement=lw.SE3(p=(0.4, 0, 0) if k else (0, 0, 0)), inertia=link)
    return b.build()


def momentum(model: lw.Model, state: Any) -> np.ndarray:
    """Angular, about the origin, and linear momentum in world axes, of a maximal state."""
    total = np.zeros(6)
    for body, E, phi in zip(model.bodies, state.poses, state.twists, strict=True):
        I, R, p = body.inertia, E[:3, :3], E[:3, 3]
        v = R @ (phi[3:] + np.cross(phi[:3], I.com)) * I.mass
        total += np.concatenate([R @ I.tensor @ phi[:3] + np.cross(p + R @ I.com, v), v])
    return total


@WAYS
def test_momentum_is_kept(options: dict[str, Any]) -> None:
    """Linear momentum to rounding, angular momentum to first order: forces act where the bodies are at the end of the step."""
    model = flying()
    v, errors = np.random.default_rng(0).normal(size=model.nv), []
    for n in (50, 100):
        run = lw.simulate(model, lw.State(model.neutral(), v), 0.5, 0.5 / n, "maximal-implicit", **options)
        first, last = (momentum(model, run[k]) for k in (0, n))
        assert np.abs(last - first)[3:].max() < 1e-11
        errors.append(np.abs(last - first)[:3].max())
    assert errors[0] < 0.01
    assert 1.8 < errors[0] / errors[1] < 2.2


def test_a_handle_holds_a_chain() -> None:
    """Pulled up at its end, a chain comes to rest with the end below the target by weight over stiffness."""
    b = lw.ModelBuilder()
    link = lw.Inertia.cuboid(mass=0.1, size=(0.02, 0.02, 0.2), com=(0, 0, -0.1))
    b.body("first", joint=lw.Free(), inertia=link)
    b.body("second", parent="first", joint=lw.Spherical(), placement=lw.SE3(p=(0, 0, -0.2)), inertia=link, damping=0.05)
    b.add(lw.Handle("first", target=(0.3, 0.2, 1.0), stiffness=1e6, damping=1e4))
    model = b.build()
    run = lw.simulate(model, lw.State(model.neutral(), np.zeros(model.nv)), 60.0, DT, "maximal-implicit", every=3600)
    sag = 0.2 * 9.81 / 1e6
    assert np.allclose(run.poses[-1, 0, :3, 3], (0.3, 0.2, 1.0 - sag), rtol=0, atol=1e-7)


@WAYS
def test_a_loop_is_closed_beside_the_tree(options: dict[str, Any]) -> None:
    """Three links, the end of the last on a point, against reduced coordinates."""
    b = chain_of(3, (1, 0, 0), 0.5)
    b.add(lw.Loop("link3", "world", (0.5, 0, 0), (0.8, 0, -0.6)))
    model = b.build()
    start = lw.project(model, lw.State(np.array([-0.58, 1.43, 0.61]), np.zeros(3)))
    exact = lw.simulate(model, start, 0.2, 0.2, stepper="dop853").q[-1]
    run = lw.simulate(model, start, 0.2, 2e-3, "maximal-implicit", **options)
    assert np.abs(run.q[-1] - exact).max() < 1e-2
    assert (run.health.constraint_residual or 0.0) < (1e-9 if options else 1e-4)
