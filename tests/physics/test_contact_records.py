"""`run.contacts`, `sim.contacts`: which shapes touch, where, and with what force; they are what moved the bodies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw

H = 1e-3


def scene(name: str, gravity: Any = (0.0, 0.0, -9.81)) -> tuple[lw.Model, lw.State]:
    """A body or two on a ground, or on each other, sliding and turning."""
    b = lw.ModelBuilder(gravity).ground(friction=0.6)
    shapes = {
        "box": (lw.Box((0.2, 0.3, 0.1), mass=1.0, name="crate"), 0.05),
        "sphere": (lw.Sphere(0.1, mass=0.5, name="ball"), 0.1),
        "capsule": (lw.Capsule(0.05, 0.2, lw.SE3.rot_y(np.pi / 2), mass=0.4, name="rod"), 0.05),
        "cylinder": (lw.Cylinder(0.1, 0.1, mass=0.4, name="can"), 0.05),
        "hull": (lw.Convex(np.random.default_rng(0).normal(size=(12, 3)) * 0.1, "stone", density=500.0), 0.2),
    }
    if name in shapes:
        shape, height = shapes[name]
        height = -shape.vertices[:, 2].min() if isinstance(shape, lw.Convex) else height
        b.body("one", joint=lw.Free(), shapes=[shape])
        state = lw.State([0, 0, height, 1, 0, 0, 0], [0.3, 0.2, 1.0, 0.7, 0.2, 0])
        return b.build(), state
    if name == "rolling":
        ball = lw.Sphere(0.1, mass=1.0)
        b.body("one", joint=lw.Free(), shapes=[ball])
        b.add(lw.Contact("one", ball, friction=0.6, spinning=0.01, rolling=0.005, name="grip"))
        bare = lw.Model(b.build().bodies, np.array(gravity, float), tuple(b.build().elements))
        return bare, lw.State([0, 0, 0.1, 1, 0, 0, 0], [3.0, 1.0, 5.0, 1.0, 0, 0])
    first = lw.Box((0.3, 0.3, 0.1), mass=1.0, name="low") if name == "stack" else lw.Ellipsoid((0.3, 0.2, 0.1), mass=1.0)
    second = lw.Box((0.2, 0.2, 0.1), mass=0.5, name="high") if name == "stack" else lw.Box((0.1, 0.1, 0.1), mass=0.5)
    low = 0.05 if name == "stack" else 0.1
    b.body("one", joint=lw.Free(), shapes=[first])
    b.body("two", joint=lw.Free(), shapes=[second])
    return b.build(), lw.State([0, 0, low, 1, 0, 0, 0, 0.02, 0, 2 * low + 0.05, 1, 0, 0, 0], [0, 0, 0, 0.3, 0, 0, *np.zeros(6)])


SCENES = ["box", "sphere", "capsule", "cylinder", "hull", "rolling", "stack", "coal"]


def momenta(model: lw.Model, run: lw.Trajectory) -> np.ndarray:
    """Linear and angular momentum of every body at every record, about its centre of mass (records, bodies, 6)."""
    R, phi = run.poses[..., :3, :3], lw.kinematics(model, run.q, run.v).twists
    masses = np.array([b.inertia.mass for b in model.bodies])
    tensors = np.array([b.inertia.tensor for b in model.bodies])
    com = np.array([b.inertia.com for b in model.bodies])
    v = phi[..., 3:] + np.cross(phi[..., :3], com)
    linear = masses[:, None] * np.einsum("tbij,tbj->tbi", R, v)
    angular = np.einsum("tbij,bjk,tbk->tbi", R, tensors, phi[..., :3])
    return np.concatenate([linear, angular], axis=-1)


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_forces_of_contacts_are_what_changes_the_momentum(name: str, method: str) -> None:
    """Linear momentum of every step to rounding."""
    model, start = scene(name)
    run = lw.simulate(model, start, 0.06, H, method)
    p = momenta(model, run)
    assert sum(len(c) for c in run.contacts[1:]) > 20
    for k in range(1, len(run)):
        for i, body in enumerate(model.bodies):
            force = body.inertia.mass * model.gravity
            for c in run.contacts[k]:
                force = force + c.force * ((c.bodies[0] == body.name) - (c.bodies[1] == body.name))
            np.testing.assert_allclose((p[k, i, :3] - p[k - 1, i, :3]) / H, force, atol=2e-8)


@pytest.mark.parametrize("name", ["box", "sphere", "cylinder", "hull", "rolling"])
def test_points_and_torques_are_what_changes_the_angular_momentum(name: str) -> None:
    """To first order in the step, as the step itself is."""
    model, start = scene(name)
    errors = []
    for h in (H, H / 4):
        run = lw.simulate(model, start, 0.02, h)
        com = run.poses[..., :3, 3] + np.einsum("tbij,bj->tbi", run.poses[..., :3, :3], [b.inertia.com for b in model.bodies])
        p, turned = momenta(model, run), np.zeros((model.nb, 3))
        for k in range(1, len(run)):
            for c in run.contacts[k]:
                for i, body in enumerate(model.bodies):
                    sign = (c.bodies[0] == body.name) - (c.bodies[1] == body.name)
                    turned[i] += h * sign * (np.cross(c.point - com[k - 1, i], c.force) + c.torque)
        errors.append(np.abs(p[-1, :, 3:] - p[0, :, 3:] - turned).max() / np.abs(turned).max())
    assert errors[1] < 0.02
    assert errors[1] < 0.4 * errors[0] + 1e-9


def test_records_name_bodies_shapes_and_laws() -> None:
    model, start = scene("stack")
    run = lw.simulate(model, start, 0.05, H)
    found = {(c.bodies, c.shapes) for c in run.contacts[-1]}
    assert found == {(("one", "world"), ("low", "ground")), (("one", "two"), ("low", "high"))}
    for c in run.contacts[-1]:
        assert np.linalg.norm(c.normal) == pytest.approx(1.0)
        assert c.normal_force >= 0.0
        assert np.linalg.norm(c.force - c.normal_force * c.normal) <= 0.6 * c.normal_force + 1e-9
        assert abs(c.slip @ c.normal) < 1e-12
        assert abs(c.gap) < 1e-9
        assert c.name == ""
    up = [c for c in run.contacts[-1] if c.bodies == ("one", "two")]
    assert all(c.normal[2] < -0.99 for c in up)  # from the second to the first, which is below
    assert sum(c.force[2] for c in up) == pytest.approx(-0.5 * 9.81)
    grip, start = scene("rolling")
    (c,) = lw.simulate(grip, start, 0.05, H).contacts[-1]
    assert (c.name, c.bodies, c.torque[2] < 0.0) == ("grip", ("one", "world"), True)
    assert abs(c.torque[2]) == pytest.approx(0.01 * c.normal_force)


def test_what_slides_slips_and_what_sticks_does_not() -> None:
    model, start = scene("box")
    run = lw.simulate(model, lw.State(start.q, [0, 0, 0, 1.0, 0, 0]), 0.3, H)
    sliding, still = run.contacts[50], run.contacts[-1]
    assert all(c.slip[0] == pytest.approx(run.v[50, 3]) for c in sliding)
    assert sum(c.force for c in sliding) == pytest.approx([-0.6 * 9.81, 0, 9.81])
    assert all(np.abs(c.slip).max() < 1e-12 for c in still)
    assert sum(c.force for c in still) == pytest.approx([0, 0, 9.81], abs=1e-9)
    assert run.contacts[0]
    falling = lw.simulate(model, lw.State([0, 0, 1.0, 1, 0, 0, 0], np.zeros(6)), 0.01, H)
    assert list(falling.contacts) == [()] * 11
    assert len(falling.contacts.arrays()) == 0


@pytest.mark.parametrize("method", ["reduced", "maximal", "maximal-implicit", "redmax"])
@pytest.mark.parametrize("name", ["box", "rolling", "coal"])
def test_a_simulator_has_the_contacts_of_the_run(name: str, method: str) -> None:
    model, start = scene(name)
    run, sim = lw.simulate(model, start, 0.03, H, method), lw.Simulator(model, start, H, method)
    assert sim.contacts == ()
    for k in range(1, 31):
        sim.step()
        here, there = sim.contacts, run.contacts[k]
        assert [(c.bodies, c.shapes) for c in here] == [(c.bodies, c.shapes) for c in there]
        for a, b in zip(here, there, strict=True):
            for what in ("point", "normal", "force", "torque", "gap", "slip"):
                most = 1e-5 if name == "coal" else 1e-6 if what in ("point", "gap") else 1e-9  # deep ones were displaced besides
                np.testing.assert_allclose(getattr(a, what), getattr(b, what), atol=most, err_msg=f"{k} {what}")


def test_batches_come_as_arrays() -> None:
    model, start = scene("box")
    v = np.array([[0, 0, 0, speed, 0, 0] for speed in (0.0, 0.5, 1.0)])
    many = lw.simulate(model, lw.State(np.tile(start.q, (3, 1)), v), 0.05, H)
    everything = many.contacts.arrays()
    sim = lw.Simulator(model, lw.State(np.tile(start.q, (3, 1)), v), H)
    sim.step(50)
    for k in range(3):
        one = lw.simulate(model, lw.State(start.q, v[k]), 0.05, H)
        for of_batch in (many.contacts[-1], everything, sim.contacts):
            assert isinstance(of_batch, lw.ContactArrays)
            some = of_batch.run == k
            if of_batch is everything:
                some &= of_batch.record == 50
            np.testing.assert_allclose(of_batch.force[some], [c.force for c in one.contacts[-1]], atol=1e-9)
            np.testing.assert_allclose(of_batch.point[some], [c.point for c in one.contacts[-1]], atol=1e-9)
    first = everything[0]
    assert (first.bodies, first.shapes) == (("one", "world"), ("crate", "ground"))
    assert len(list(everything)) == len(everything) == sum(len(c) for c in many.contacts)
    assert np.all(np.diff(everything.record) >= 0)


@pytest.mark.parametrize("method", ["reduced", "maximal"])
@pytest.mark.parametrize("name", ["box", "cylinder", "stack"])
def test_records_do_not_depend_on_how_many_steps_are_recorded(name: str, method: str) -> None:
    model, start = scene(name)
    every, tenth = (lw.simulate(model, start, 0.05, H, method, every=n) for n in (1, 10))
    for k in range(1, 6):
        one, other = every.contacts[10 * k], tenth.contacts[k]
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a.force, b.force, atol=1e-6)
            np.testing.assert_allclose(a.point, b.point, atol=1e-6)


def test_compliant_contacts_are_evaluated_where_they_are() -> None:
    model, start = scene("box")
    run = lw.simulate(model, start, 0.3, H / 4, contact="compliant")
    assert sum(c.force for c in run.contacts[-1]) == pytest.approx([0, 0, 9.81], abs=0.02)
    assert all(c.gap < 0.0 and c.shapes == ("crate", "ground") for c in run.contacts[-1])
    sim = lw.Simulator(model, start, H / 4, contact="compliant")
    sim.step(1200)
    np.testing.assert_allclose([c.force for c in sim.contacts], [c.force for c in run.contacts[-1]], atol=1e-9)


def test_other_runs_have_contacts_too(tmp_path: Path) -> None:
    model, start = scene("box")
    plain = lw.simulate(model, start, 0.05, H)
    streamed = lw.simulate(model, start, 0.05, H, out=tmp_path / "run.lwk")
    assert [c.force.tolist() for c in streamed.contacts[-1]] == [c.force.tolist() for c in plain.contacts[-1]]
    smooth = lw.simulate(model, lw.State(start.q, np.zeros(6)), 0.05, H, stepper="dop853", contact="frictionless")
    assert sum(c.force for c in smooth.contacts[-1]) == pytest.approx([0, 0, 9.81])
    assert lw.simulate(model, start, 0.05, H, contact="off").contacts[-1] == ()
    with pytest.raises(IndexError, match="record 51 of a run that has 51"):
        _ = plain.contacts[51]
    assert [len(c) for c in plain.contacts[-3:]] == [len(plain.contacts[k]) for k in (48, 49, 50)]
    found = lw.contact_forces(model, start.q, np.zeros(6))
    assert sum(c.force for c in found.contacts) == pytest.approx([0, 0, 9.81])
    assert found.contacts[0].shapes == ("crate", "ground")
    a, forces, v, jumps = found
    assert (a is found.accelerations, forces is found.forces, v is found.v, jumps) == (True, True, True, 0)
