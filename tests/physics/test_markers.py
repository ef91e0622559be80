"""Inverse kinematics of markers: what is missing is left out and told, and what is wrong is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork import analysis
from linkwork.analysis import Target

ROD = lw.Inertia.cuboid(1.0, (0.4, 0.05, 0.05), com=(0.2, 0, 0))
BOTH = pytest.mark.parametrize("solve", [analysis.inverse_kinematics, analysis.inverse_kinematics_qp])


def arm(*elements: Any) -> lw.Model:
    b = lw.ModelBuilder()
    for k, axis in enumerate([(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 0)]):
        place = lw.SE3(p=(0.4 * (k > 0), 0, 0))
        b.body(f"l{k}", parent=f"l{k - 1}" if k else "world", joint=lw.Revolute(axis), placement=place, inertia=ROD)
    for element in elements:
        b.add(element)
    return b.build()


POINTS = {"l3": (0.4, 0.0, 0.05), "l2": (0.2, 0.03, 0.0), "l1": (0.3, 0.0, 0.04)}


def markers(model: lw.Model, q: np.ndarray) -> dict[str, np.ndarray]:
    """Where points of three links are in every state (states, 3)."""
    found = {}
    for name, point in POINTS.items():
        E = lw.frame_pose(model, q, name)
        found[name] = E[..., :3, 3] + E[..., :3, :3] @ np.array(point)
    return found


def motion(count: int = 12) -> np.ndarray:
    t = np.linspace(0.0, 1.0, count)[:, None]
    return 0.5 * np.sin(2.0 * t + np.arange(4)) + 0.2


@BOTH
def test_missing_markers_are_left_out_and_told(solve: Any) -> None:
    model, q = arm(), motion()
    seen = markers(model, q)
    seen["l3"][3, 1] = np.nan
    seen["l3"][7:9] = np.nan
    targets = [Target(name, x, point=POINTS[name]) for name, x in seen.items()]
    found = solve(model, targets, q + 0.05, restarts=0)
    assert found.missing.shape == (12, 3)
    assert np.flatnonzero(found.missing[:, 0]).tolist() == [3, 7, 8]
    assert not found.missing[:, 1:].any()
    assert np.isnan(found.misses[found.missing]).all()
    assert found.misses[~found.missing].max() < 1e-8
    assert found.reached.all()
    assert found.notes == ("target 0 for 'l3' is missing (NaN) in 3 of 12 states: 3, 7 to 8; it was left out",)
    complete = ~found.missing.any(axis=1)
    assert np.abs(found.q - q)[complete].max() < 1e-6  # the others are as they were without any marker missing


@BOTH
def test_one_missing_coordinate_of_one_state(solve: Any) -> None:
    """The guess is no answer: the markers that are left are reached."""
    model, q = arm(), motion()[4]
    seen = markers(model, q)
    targets = [Target("l3", [seen["l3"][0], np.nan, 0.0], point=POINTS["l3"]), Target("l2", seen["l2"], point=POINTS["l2"])]
    found = solve(model, targets, q + 0.1)
    assert found.rounds > 0
    assert found.reached
    assert found.misses[1] < 1e-8
    assert found.notes == ("target 0 for 'l3' is missing (NaN); it was left out",)
    turned = [Target("l1", rotation=np.full((3, 3), np.nan)), Target("l2", seen["l2"], point=POINTS["l2"])]
    assert solve(model, turned, q).missing.tolist() == [True, False]


def test_markers_at_many_moments_from_one_guess() -> None:
    model, q = arm(), motion()
    targets = [Target(name, x, point=POINTS[name]) for name, x in markers(model, q).items()]
    found = analysis.inverse_kinematics(model, targets, q[0])
    assert found.q.shape == (12, 4)
    assert found.reached.all()


def test_what_is_wrong_is_refused() -> None:
    model, x = arm(), np.array([0.5, 0.1, 0.2])
    nothing = np.full(3, np.nan)
    with pytest.raises(lw.InputError, match="all targets are missing"):
        analysis.inverse_kinematics(model, Target("l3", nothing), np.zeros(4))
    with pytest.raises(lw.InputError, match="all targets of states 1 are missing"):
        analysis.inverse_kinematics(model, Target("l3", np.array([x, nothing])), np.zeros((2, 4)))
    wrong: list[tuple[Any, str]] = [
        (lambda: Target("l3", (np.inf, 0, 0)), "position is infinite; it must be finite, or NaN"),
        (lambda: Target("l3", (1.0, 2.0)), r"position has shape \(2,\); it must be \(3,\)"),
        (lambda: Target("l3", rotation=2.0 * np.eye(3)), "rotation must be one"),
        (lambda: Target("l3", x, weight=np.nan), "weight must be positive"),
        (lambda: Target("l3", x, point=(0, np.nan, 0)), "point must be finite"),
        (lambda: analysis.inverse_kinematics(model, Target("l3", x), [0, np.nan, 0, 0]), "q must be finite"),
        (lambda: analysis.inverse_kinematics(model, Target("l3", x), np.zeros(3)), r"q has shape \(3,\)"),
        (lambda: analysis.inverse_kinematics(model, Target("l3", np.zeros((3, 3))), np.zeros((2, 4))), "they must agree"),
        (lambda: analysis.inverse_kinematics(model, Target("l3", x), np.zeros(4), rounds=0), "rounds must be"),
    ]
    for call, message in wrong:
        with pytest.raises(lw.InputError, match=message):
            call()


def test_constraints_that_take_no_part_are_told() -> None:
    model = arm(lw.Loop("l3", "world", (0.4, 0, 0), (1.2, 0.1, 0)))
    found = analysis.inverse_kinematics(model, Target("l1", (0.7, 0.1, 0.0)), np.zeros(4))
    assert "constraints take no part" in found.notes[0]
