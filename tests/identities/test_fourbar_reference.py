"""A crank-rocker against other engines (tests/data/four_bar.json): positions, accelerations, forces of all pins, motion."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.spatial.quaternion import from_rotation

CASE: dict[str, Any] = json.loads((Path(__file__).parent.parent / "data" / "four_bar.json").read_text())
POINTS: list[dict[str, Any]] = CASE["points"]
TORQUE, LOOP, NAMES = CASE["torque"], CASE["loop"], ("crank", "coupler", "rocker")
POINT = pytest.mark.parametrize("point", POINTS, ids=lambda p: f"t={p['t']}")
FORMULATION = pytest.mark.parametrize("formulation", ["reduced", "maximal"])


@cache
def linkage() -> lw.Model:
    """Two arms on hinges, closed by a pin between coupler and rocker."""
    b = lw.ModelBuilder(gravity=CASE["gravity"])
    for x in CASE["bodies"]:
        inertia, place = lw.Inertia(x["mass"], x["com"], x["tensor"]), lw.SE3(p=x["p"])
        b.body(x["name"], parent=x["parent"], joint=lw.Revolute((0, 0, 1)), placement=place, inertia=inertia)
    return b.add(lw.Loop("coupler", "rocker", LOOP["coupler"], LOOP["rocker"])).build()


@cache
def loose() -> lw.Model:
    """Three free bodies, every pin a constraint: its forces are those on the body named first."""
    b = lw.ModelBuilder(gravity=CASE["gravity"])
    for x in CASE["bodies"]:
        b.body(x["name"], joint=lw.Free(), inertia=lw.Inertia(x["mass"], x["com"], x["tensor"]))
    pins = {x["name"]: (x["parent"], x["p"]) for x in CASE["bodies"]}
    for name, (parent, place) in pins.items():
        b.add(lw.Loop(name, parent, (0, 0, 0), place))
    return b.add(lw.Loop("rocker", "coupler", LOOP["rocker"], LOOP["coupler"])).build()


def reduced(point: dict[str, Any]) -> lw.State:
    """The joint angles and rates of a point: the coupler's are those against the crank."""
    q, v = (relative_to_crank(point[name]) for name in ("angles", "rates"))
    return lw.State(q, v, point["t"])


def relative_to_crank(x: Any) -> np.ndarray:
    crank, coupler, rocker = x
    return np.array([crank, coupler - crank, rocker])


def accelerated(model: lw.Model, state: lw.State, formulation: str, tau: Any, external: Any) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations of the joints and the forces of all rows."""
    if formulation == "maximal":
        found = lw.maximal_dynamics(model, lw.to_maximal(model, state), tau, external)
        return found.a, found.multipliers
    return lw.constrained_dynamics(model, state.q, state.v, tau, external)


def centres(model: lw.Model, q: np.ndarray) -> np.ndarray:
    """Centres of mass in the plane."""
    poses = lw.kinematics(model, q).poses
    return np.array([E[:2, :3] @ b.inertia.com + E[:2, 3] for E, b in zip(poses, model.bodies, strict=True)])


@POINT
def test_positions_and_rates(point: dict[str, Any]) -> None:
    model, state = linkage(), reduced(point)
    k = lw.kinematics(model, state.q, state.v)
    assert np.abs(centres(model, state.q) - point["centres"]).max() < 1e-10
    for name in ("coupler", "rocker"):
        E = k.poses[model.body_index(name)]
        assert np.abs((E @ [*LOOP[name], 1.0])[:2] - point["pin_c"]).max() < 1e-10
    assert np.abs(k.twists[:, 2] - point["rates"]).max() < 1e-10
    assert lw.energy(model, state).total == pytest.approx(point["energy"], rel=1e-10)


@POINT
@FORMULATION
def test_accelerations_and_pin_forces(point: dict[str, Any], formulation: str) -> None:
    """The loop's force is its multiplier; the hinges transmit what the tree needs under that force."""
    model, state = linkage(), reduced(point)
    a, pin = accelerated(model, state, formulation, np.array([TORQUE, 0, 0]), None)
    assert np.abs(a - relative_to_crank(point["accelerations"])).max() < 1e-8
    assert np.abs(-pin[:2] - point["coupler_on_rocker"]).max() < 1e-8
    R = lw.kinematics(model, state.q).poses[:, :3, :3]
    wrenches = np.zeros((3, 6))
    for name, force in (("coupler", pin), ("rocker", -pin)):
        i, f = model.body_index(name), R[model.body_index(name)].T @ force
        wrenches[i] = np.concatenate([np.cross(LOOP[name], f), f])
    joints = lw.joint_wrenches(model, state.q, state.v, a, wrenches)
    forces = np.einsum("bij,bj->bi", R, joints[:, 3:])
    for force, name in zip(forces, ("ground_on_crank", "crank_on_coupler", "ground_on_rocker"), strict=True):
        assert np.abs(force[:2] - point[name]).max() < 1e-8, name
    assert np.abs(joints[:, 2] - [TORQUE, 0, 0]).max() < 1e-8


@POINT
@FORMULATION
def test_pins_as_constraints(point: dict[str, Any], formulation: str) -> None:
    """Free bodies: all four forces are multipliers."""
    bodies = lw.kinematics(linkage(), reduced(point).q, reduced(point).v)
    q = np.concatenate([[*E[:3, 3], *from_rotation(E[:3, :3])] for E in bodies.poses])
    model, state = loose(), lw.State(q, bodies.twists.reshape(-1), point["t"])
    torque = np.zeros((3, 6))
    torque[0, 2] = TORQUE
    a, forces = accelerated(model, state, formulation, None, torque)
    assert np.abs(a.reshape(3, 6)[:, 2] - point["accelerations"]).max() < 1e-8
    order = ("ground_on_crank", "crank_on_coupler", "ground_on_rocker", "coupler_on_rocker")
    for force, name in zip(forces.reshape(4, 3), order, strict=True):
        assert np.abs(force - [*point[name], 0.0]).max() < 1e-8, name


def test_motion() -> None:
    """Two seconds from the first point; the loop drifts like the error of the method."""
    model = linkage()
    run = lw.simulate(
        model, reduced(POINTS[0]), 2.0, 0.05, stepper="dop853", rtol=1e-12, atol=1e-13, tau=np.array([TORQUE, 0.0, 0.0])
    )
    assert run.forces is not None
    for point in POINTS:
        k = int(np.abs(run.t - point["t"]).argmin())
        assert run.t[k] == pytest.approx(point["t"], abs=1e-12)
        expected = reduced(point)
        assert np.abs(run.q[k] - expected.q).max() < 1e-10
        assert np.abs(run.v[k] - expected.v).max() < 1e-9
        assert np.abs(centres(model, run.q[k]) - point["centres"]).max() < 1e-10
        assert np.abs(-run.forces[k, :2] - point["coupler_on_rocker"]).max() < 1e-7
    assert run.health.constraint_residual is not None
    assert run.health.constraint_residual < 1e-11
