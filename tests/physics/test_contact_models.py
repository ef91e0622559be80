"""Every model of contact against what is known by hand: what it gets right, and that it gets wrong what the docs say, no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact.compliant import bounce, damping_ratio
from linkwork.contact.formulations import CONTACT_MODELS, touching
from linkwork.elements.collection import collection
from linkwork.kernel import eager
from linkwork.steppers.symplectic_euler import SymplecticEuler

EVERY_METHOD = pytest.mark.parametrize("method", ["reduced", "maximal", "maximal-implicit", "redmax"])
IMPLICIT = pytest.mark.parametrize("method", ["maximal-implicit", "redmax"])
BOXED = pytest.mark.parametrize("contact", ["pyramid", "staggered"])
G, MU, H = 9.81, 0.5, 2e-3
SIZE = np.array([0.2, 0.2, 0.02])


def block(mu: float = MU, angle: float = 0.0, speed: float = 0.0, heading: float = 0.0) -> tuple[lw.Model, lw.State]:
    """A flat block on a floor under gravity that leans by an angle: it would slide along x. It moves along a heading."""
    b = lw.ModelBuilder(gravity=(G * np.sin(angle), 0.0, -G * np.cos(angle)))
    b.world(lw.Plane(friction=mu))
    b.body("block", joint=lw.Free(), inertia=lw.Inertia.cuboid(mass=2.0, size=SIZE), shapes=[lw.Box(SIZE)])
    q = np.array([0, 0, 0.5 * SIZE[2], 1, 0, 0, 0])
    return b.build(), lw.State(q, np.array([0, 0, 0, speed * np.cos(heading), speed * np.sin(heading), 0]))


def ball(restitution: float, height: float) -> tuple[lw.Model, lw.State]:
    b = lw.ModelBuilder(gravity=(0, 0, -G))
    b.world(lw.Plane(restitution=restitution))
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=0.5, radius=0.1), shapes=[lw.Sphere(0.1)])
    return b.build(), lw.State(np.array([0, 0, 0.1 + height, 1, 0, 0, 0]), np.zeros(6))


def turned(model: lw.Model, angle: float, heading: float) -> lw.Model:
    """The same on a slope that falls along a heading."""
    down = np.sin(angle) * np.array([np.cos(heading), np.sin(heading), 0.0])
    return model.replace(gravity=G * (down - np.array([0.0, 0.0, np.cos(angle)])))


def planar(run: lw.Trajectory) -> np.ndarray:
    """Velocities along the floor (T, 2)."""
    return np.einsum("tij,tj->ti", run.poses[:, 0, :3, :3], run.v[:, 3:6])[:, :2]


# --- frictionless -------------------------------------------------------------------------------------------------------------
@EVERY_METHOD
def test_without_friction_a_block_slides_as_it_falls(method: str) -> None:
    model, start = block(angle=0.3)
    run = lw.simulate(model, start, 0.2, H, method=method, contact="frictionless")
    assert np.allclose(planar(run)[-1], [0.2 * G * np.sin(0.3), 0.0], atol=1e-12)
    assert run.health.penetration is not None
    assert run.health.penetration < 1e-12


# --- pyramid and staggered ----------------------------------------------------------------------------------------------------
@EVERY_METHOD
@BOXED
@pytest.mark.parametrize("heading", [0.0, 0.3, np.pi / 4, 1.2])
def test_a_pyramid_brakes_every_tangent_by_itself(contact: str, method: str, heading: float) -> None:
    """Slip along (c, s) is braked by mu g (|c| + |s|) instead of mu g: too much by up to sqrt(2), on the diagonal."""
    model, start = block(speed=1.0, heading=heading)
    run = lw.simulate(model, start, 0.02, H, method=method, contact=contact)
    v = planar(run)
    along = np.array([np.cos(heading), np.sin(heading)])
    brakes = np.where(np.abs(along) > 1e-12, MU * G * np.sign(along), 0.0)
    assert np.allclose(v[-1], along - 0.02 * brakes, atol=1e-9)
    assert 1.0 - 1e-9 <= along @ brakes / (MU * G) <= np.sqrt(2.0) + 1e-9
    assert run.health.complementarity is not None
    assert run.health.complementarity < 1e-9


@EVERY_METHOD
@BOXED
@pytest.mark.parametrize("heading", [0.0, 0.3, np.pi / 4])
def test_the_slope_on_which_a_pyramid_holds(contact: str, method: str, heading: float) -> None:
    """A load along (c, s) is held up to tan(a) = mu / max(|c|, |s|): mu along a tangent, sqrt(2) mu between two."""
    model, start = block()
    most = np.arctan(MU / np.cos(heading))
    below = lw.simulate(turned(model, most - 0.002, heading), start, 0.5, H, method=method, contact=contact)
    above = lw.simulate(turned(model, most + 0.002, heading), start, 0.5, H, method=method, contact=contact)
    assert np.abs(planar(below)[-1]).max() < 1e-12
    assert np.linalg.norm(planar(above)[-1]) > 5e-3


def test_the_exact_law_has_no_directions() -> None:
    for heading in (0.0, 0.3, np.pi / 4, 1.2):
        model, start = block(speed=1.0, heading=heading)
        v = planar(lw.simulate(model, start, 0.02, H))[-1]
        assert np.allclose(v, (1.0 - 0.02 * MU * G) * np.array([np.cos(heading), np.sin(heading)]), atol=1e-12)


def test_staggered_projections_find_what_the_pyramid_asks_for() -> None:
    """A ball that slips and turns, a block that tips: the same motion by two routes."""
    model, start = block(speed=0.7, heading=0.4)
    b = lw.ModelBuilder()
    b.world(lw.Plane(friction=0.4))
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=1.0, radius=0.1), shapes=[lw.Sphere(0.1)])
    rolling = b.build(), lw.State(np.array([0, 0, 0.1, 1, 0, 0, 0]), np.array([3.0, -7.0, 1.0, 0.5, 0.2, 0]))
    for case in ((model, start), rolling):
        a, c = (lw.simulate(*case, 0.3, H, contact=name) for name in ("pyramid", "staggered"))
        assert np.abs(a.q - c.q).max() < 1e-9
        assert np.abs(a.v - c.v).max() < 1e-9


@BOXED
def test_batches_are_their_single_runs(contact: str) -> None:
    model, _ = block()
    starts = [block(speed=s, heading=a)[1] for s, a in ((0.0, 0.0), (0.4, 0.7), (1.0, 2.0), (0.02, 5.0), (0.3, 1.0))]
    together = lw.State(np.stack([s.q for s in starts]), np.stack([s.v for s in starts]))
    run = lw.simulate(turned(model, 0.2, 0.5), together, 0.1, H, contact=contact)
    for k, start in enumerate(starts):
        alone = lw.simulate(turned(model, 0.2, 0.5), start, 0.1, H, contact=contact)
        assert np.array_equal(run.q[k], alone.q)
        assert np.array_equal(run.v[k], alone.v)


@BOXED
def test_compiled_steps_are_the_python_ones(contact: str) -> None:
    model, start = block(speed=0.4, heading=0.7)
    acting = touching(model, contact)
    program = SymplecticEuler().program("reduced", acting)
    laws = collection(acting)
    given = program.given(acting, H) | program.entered(acting, {"q": start.q[None], "v": start.v[None]}, 0.0)
    found = eager.run(program.algorithm, laws.tree, {name: np.reshape(x, -1) for name, x in given.items()})
    compiled = lw.simulate(model, start, H, H, contact=contact)
    assert np.allclose(found["v"], compiled.v[-1], atol=1e-12)


# --- compliant ----------------------------------------------------------------------------------------------------------------
@IMPLICIT
@pytest.mark.parametrize("slip_speed", [0.05 * G * H, 0.01 * G * H])
def test_compliant_contact_creeps_as_derived(method: str, slip_speed: float) -> None:
    model, start = block(angle=np.arctan(0.8 * MU))
    run = lw.simulate(model, start, 1.0, H, method=method, contact="compliant", contact_slip_speed=slip_speed)
    assert np.isclose(planar(run)[-1, 0], slip_speed * 0.8 / 0.6, rtol=1e-6)


@IMPLICIT
def test_compliant_contact_sinks_as_derived(method: str) -> None:
    model, start = block()
    run = lw.simulate(model, start, 1.0, H, method=method, contact="compliant", contact_stiffness=1e4, contact_damping=200.0)
    assert np.isclose(0.5 * SIZE[2] - run.poses[-1, 0, 2, 3], 2.0 * G / 4e4, rtol=1e-6)


@IMPLICIT
def test_a_block_slides_on_compliant_contacts(method: str) -> None:
    """Friction lacks the part (s_0 / v)^2 / 2 of mu."""
    a = np.radians(40.0)
    model, start = block(angle=a)
    v = planar(lw.simulate(model, start, 1.0, H, method=method, contact="compliant"))[:, 0]
    assert np.isclose(v[-1] - v[250], 0.5 * G * (np.sin(a) - MU * np.cos(a)), rtol=1e-4)


@pytest.mark.parametrize("restitution", [0.3, 0.6, 0.9])
@pytest.mark.parametrize(("method", "stepper"), [("reduced", "dop853"), ("redmax", None), ("maximal-implicit", None)])
def test_compliant_contact_bounces_as_derived(restitution: float, method: str, stepper: str | None) -> None:
    """e = exp(-2 zeta acos(zeta) / sqrt(1 - zeta^2)), where weight counts for little; implicit Euler adds omega h / 2 to zeta."""
    h, mass, omega = 1e-5, 0.5, 2000.0
    zeta = damping_ratio(restitution)
    model, start = ball(0.0, 0.2)
    stiff: dict[str, Any] = {"contact_stiffness": mass * omega**2, "contact_damping": 2.0 * zeta * omega * mass}
    run = lw.simulate(model, start, 0.21, h, method, stepper=stepper, contact="compliant", **stiff)
    v = np.einsum("tij,tj->ti", run.poses[:, 0, :3, :3], run.v[:, 3:6])[:, 2]
    assert np.isclose(bounce(zeta), restitution, rtol=1e-9)
    lossy = zeta if stepper else zeta + 0.5 * omega * h
    assert np.isclose(v.max() / -v.min(), bounce(lossy), rtol=5e-3 if stepper else 0.5 * omega * h)


def test_declared_restitution_makes_the_damper() -> None:
    assert damping_ratio(1.0) < 1e-12
    assert damping_ratio(0.0) == damping_ratio(0.1) == 1.0
    assert np.isclose(bounce(1.0), np.exp(-2.0))
    model, start = ball(0.7, 0.2)
    run = lw.simulate(model, start, 0.3, 1e-4, contact="compliant")
    v = run.v[:, 5]
    assert np.isclose(v.max() / -v.min(), 0.7, rtol=0.03)


def test_compliant_contact_stores_energy() -> None:
    """Without damping and friction nothing is lost on the way down and up."""
    model, start = ball(0.0, 0.2)
    stiff: dict[str, Any] = {"contact_stiffness": 5e4, "contact_damping": 0.0}
    run = lw.simulate(model, start, 0.5, 1e-3, stepper="dop853", contact="compliant", rtol=1e-10, atol=1e-10, **stiff)
    assert run.health.energy_drift is not None
    assert run.health.energy_drift < 1e-7


def test_derivatives_of_compliant_contact_are_exact() -> None:
    """What steppers take is theirs; whoever asks for derivatives of the dynamics gets them, against differences."""
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=2.0, radius=0.1))
    numbers: dict[str, Any] = {"stiffness": 1e4, "damping": 50.0, "friction": 0.4, "slip_speed": 0.05}
    model = b.add(lw.CompliantContact("ball", lw.Sphere(0.1), **numbers)).build()
    q, v, e = np.array([0, 0, 0.098, 1, 0, 0, 0]), np.array([0.3, -0.5, 0.2, 0.04, 0.03, -0.01]), 1e-6
    by_q, by_v = lw.forward_dynamics_derivatives(model, q, v)
    for i, x in enumerate(e * np.eye(6)):
        ends = [lw.forward_dynamics(model, model.integrate(q, s * x), v) for s in (1.0, -1.0)]
        assert np.allclose(by_q[:, i], (ends[0] - ends[1]) / (2 * e), rtol=1e-6, atol=1e-5)
        ends = [lw.forward_dynamics(model, q, v + s * x) for s in (1.0, -1.0)]
        assert np.allclose(by_v[:, i], (ends[0] - ends[1]) / (2 * e), rtol=1e-6, atol=1e-5)


# --- all ----------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("contact", CONTACT_MODELS)
def test_a_simulator_takes_the_same(contact: str) -> None:
    model, start = block(angle=0.2, speed=0.3, heading=0.5)
    sim = lw.Simulator(model, start, H, contact=contact)
    sim.step(20)
    assert np.array_equal(sim.state.q, lw.simulate(model, start, 20 * H, H, contact=contact).q[-1])  # type: ignore[union-attr]


@pytest.mark.parametrize("contact", ["pyramid", "staggered", "single_qp", "compliant", "frictionless"])
def test_a_contact_of_the_model_itself_follows(contact: str) -> None:
    model, start = block(angle=0.2, speed=0.3, heading=0.5)
    own = lw.Contact("block", model.bodies[0].shapes[0], "world", model.world_shapes[0])
    one, other = (lw.simulate(m, start, 0.04, H, contact=contact) for m in (model, model.add(own)))
    assert np.array_equal(one.q, other.q)


def test_what_is_wrong_is_said() -> None:
    model, start = block()
    with pytest.raises(
        lw.InputError, match="'exact', 'pyramid', 'staggered', 'single_qp', 'compliant', 'frictionless', 'off', not 'sticky'"
    ):
        lw.simulate(model, start, H, H, contact="sticky")
    with pytest.raises(lw.InputError, match=r"'exact'.*not 'sticky'"):
        lw.Simulator(model, start, H, contact="sticky")
    with pytest.raises(lw.InputError, match="contact='compliant'"):
        lw.simulate(model, start, H, H, contact_stiffness=1e4)
    for number in ("stiffness", "damping", "slip_speed"):
        with pytest.raises(lw.ModelError, match=f"{number} must be"):
            lw.simulate(model, start, H, H, contact="compliant", **{f"contact_{number}": -1.0})  # type: ignore[arg-type]
    with pytest.raises(
        lw.ModelError, match="friction_model must be one of 'exact', 'pyramid', 'staggered', 'single_qp', not 'sticky'"
    ):
        lw.Contact("block", lw.Box(SIZE), friction_model="sticky")


def test_turns_that_do_not_settle_depend_on_no_other_lane() -> None:
    """A ball of 3 g under a rod of 30 kg jams: rows come and go one at a time, as often as its own rows allow."""
    b = lw.ModelBuilder(gravity=(0.3, 0, -G))
    b.ground(friction=0.5, restitution=0.3)
    b.body("box", joint=lw.Free(), shapes=[lw.Box((0.4, 0.3, 0.2), mass=3.0, friction=0.4)])
    arm = lw.Capsule(0.03, 0.2, lw.SE3(p=(0.2, 0, 0)) @ lw.SE3.rot_y(np.pi / 2), friction=0.6)
    bar = lw.Inertia.cuboid(0.5, (0.3, 0.05, 0.05), (0.15, 0, 0))
    place = lw.SE3(p=(0.3, 0, 0))
    b.body("arm", parent="box", joint=lw.Revolute((0, 1, 0)), placement=place, inertia=bar, shapes=[arm], limits=(-1, 1))
    b.body("ball", joint=lw.Free(), shapes=[lw.Sphere(0.1, mass=0.003, friction=0.4)])
    b.body("rod", joint=lw.Free(), shapes=[lw.Capsule(0.05, 0.3, mass=30.0, friction=0.4)])
    model = b.build()
    q, v = np.tile(model.neutral(), (5, 1)), np.zeros((5, model.nv))
    q[:, model.q_index("box")] = [0, 0, 0.3, 1, 0, 0, 0]
    q[:, model.q_index("ball")] = [0.05, 0.02, 0.7, 1, 0, 0, 0]
    q[:, model.q_index("rod")] = [0, 0.05, 1.1, np.cos(0.6), np.sin(0.6), 0, 0]
    q[:, 2] += [0.1, 0.0, 0.05, 0.2, 0.013]
    v[:, model.v_index("box")] = [1, 2, 3, 0.5, 0, 0]
    many = lw.simulate(model, lw.State(q, v), 0.6, 2e-3, "maximal", contact="staggered")
    assert many.health.complementarity is not None
    assert many.health.complementarity > 1e-3
    for k in range(5):
        one = lw.simulate(model, lw.State(q[k], v[k]), 0.6, 2e-3, "maximal", contact="staggered")
        assert np.array_equal(one.poses, many.poses[k])
