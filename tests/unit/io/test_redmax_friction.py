"""Friction of scene files: contact geometry of joints, and runs by three routes."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.io.redmax import RedmaxScene, Run
from linkwork.io.redmax.bearings import ball, box, cylinder
from linkwork.model import State
from linkwork.studies.friction_runs import friction_run
from linkwork.studies.verify_redmax import energy_change, right_routes, run

FOLDER = Path(__file__).parents[2] / "data" / "redmax"
AXES = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]


def rubbing(name: str, mu: float, external: float = 0.0, steps: int | None = None) -> tuple[RedmaxScene, Run]:
    """A scene of the folder with friction in its joints and loops, and on its floors."""
    scene: dict[str, Any] = copy.deepcopy(json.loads((FOLDER / f"{name}.json").read_text()))
    for record in (*scene["joints"], *scene["constraints"]):
        record["geometry"] = {"radius": 0.05, "height": 0.1, "sides": [0.1, 0.1, 0.1]}
    own = scene["integrators"]["REDMAX_EULER"]
    own |= {"friction": True, "mu_internal": mu, "mu_external": external}
    read = RedmaxScene(scene, f"{name}.json")
    wanted = next(r for r in read.runs if r.integrator == "REDMAX_EULER")
    return read, wanted if steps is None else replace(wanted, steps=steps)


# --- geometry -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("axis", AXES)
def test_a_pin_rubs_about_its_axis_alone(axis: tuple[float, float, float]) -> None:
    N, T, pressing = cylinder(0.3, 0.8, np.array(axis))
    turn = np.concatenate([axis, np.zeros(3)])
    assert np.abs(N @ turn).max() < 1e-15
    assert np.allclose(np.abs(T @ turn), 0.3, atol=1e-15)
    assert np.linalg.matrix_rank(N) == 5
    assert pressing.shape == (8, 16)
    assert np.all(pressing.sum(axis=1) == 2.0)


@pytest.mark.parametrize("axis", AXES[:3])
def test_a_slider_rubs_along_its_axis_alone(axis: tuple[float, float, float]) -> None:
    N, T, pressing = box(np.array([0.2, 0.3, 0.4]), np.array(axis))
    move = np.concatenate([np.zeros(3), axis])
    assert np.abs(N @ move).max() == 0.0
    assert np.array_equal(T @ move, np.ones(8))
    assert np.linalg.matrix_rank(N) == 5
    assert np.all(pressing.sum(axis=1) == 2.0)


def test_a_ball_rubs_as_it_turns() -> None:
    N, T, pressing = ball(0.5)
    assert np.abs(N[:, :3]).max() == 0.0
    assert np.linalg.matrix_rank(T[:, :3]) == 3
    assert np.allclose(np.linalg.norm(T[:, :3], axis=1), 0.5)
    assert np.all(pressing.sum(axis=1) == 1.0)


# --- runs ---------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("route", ["staggered", "reduced"])
@pytest.mark.parametrize("name", ["swing", "parallelogram", "floor", "stops"])
def test_without_friction_a_run_is_that_of_the_stepper(name: str, route: str) -> None:
    scene, wanted = rubbing(name, 0.0, steps=10)
    p = scene.problem(wanted, right=True)
    options: dict[str, Any] = {
        "control": p.control,
        "method": "redmax",
        "stepper": "linearly_implicit",
        "baumgarte": wanted.baumgarte[2],
        "open_loops": "allow",
    }
    plain = lw.simulate(p.model, p.state, 10 * wanted.h, wanted.h, **options).final
    end = friction_run(p, wanted, route)
    assert isinstance(plain, State)
    assert np.allclose(end.q, plain.q, rtol=0.0, atol=1e-9)
    assert np.allclose(end.v, plain.v, rtol=0.0, atol=1e-9)


def test_a_joint_with_a_spring_by_two_routes() -> None:
    scene, wanted = rubbing("swing", 0.3, steps=10)
    ends = [friction_run(scene.problem(wanted, right=True), wanted, route).v for route in ("staggered", "reduced")]
    assert np.allclose(ends[0], ends[1], rtol=1e-7)


def test_friction_in_a_loop_by_two_routes() -> None:
    """A linkage whose pins rub, the one that closes it too: it loses energy, the same by both routes."""
    scene, wanted = rubbing("parallelogram", 0.2, steps=8)
    smooth, plain = rubbing("parallelogram", 0.0, steps=8)
    energies = [energy_change(scene, wanted, end(), right=True) for end in right_routes(scene, wanted).values()]
    lossless = energy_change(smooth, plain, friction_run(smooth.problem(plain, True), plain, "reduced"), right=True)
    assert energies[0] == pytest.approx(energies[1], rel=1e-6)
    assert energies[0] < lossless


@pytest.mark.parametrize("route", ["published", "staggered", "reduced"])
def test_a_body_slides_on_a_floor(route: str) -> None:
    """mu g against its velocity until it stands."""
    scene, wanted = rubbing("floor", 0.0, 0.5, steps=1)
    p = scene.problem(wanted)
    assert p.friction is not None
    start = State(p.state.q, np.array([0.3, 0.0, 0.0]))
    down = replace(p, state=replace(start, q=resting(p)))
    v = [friction_run(down, replace(wanted, steps=n), route).v for n in (1, 2, 15)]
    assert v[1][0] - v[0][0] == pytest.approx(-0.5 * 9.81 * wanted.h, rel=0.2)
    assert abs(v[2][0]) < 1e-9


def resting(p: Any) -> np.ndarray:
    """Where the ball of the floor scene touches it."""
    floor = p.friction.floors[0]
    q = p.state.q.copy()
    q[2] += -p.model.elements[0].residual(lw.SE3(p=q), lw.SE3())[0] - 1e-9
    assert floor.radius > 0.0
    return q


def test_slips_are_named_and_verified_runs_take_them() -> None:
    scene, wanted = rubbing("parallelogram", 0.2, steps=5)
    assert [slip.split(":")[0] for slip in scene.slips(wanted)] == ["HingeLoop", "PublishedStep"]
    assert np.array_equal(run(scene, wanted).v, friction_run(scene.problem(wanted), wanted, "published").v)
