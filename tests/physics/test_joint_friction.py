"""Friction inside joints against closed forms and dense projections: torque under load, spin-down, sticking, losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.elements.collection import collection
from linkwork.errors import InputError, ModelError
from linkwork.kernel import eager
from linkwork.model import Model, State
from linkwork.redmax.joint_friction import PROJECTIONS, friction_step
from linkwork.steppers.rubbing import friction_run
from linkwork.steppers.symplectic_euler import SymplecticEuler

G = 9.81
METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")
ROUTES = (*METHODS, *(f"dense {name}" for name in PROJECTIONS))


def wheel(*laws: Any, gravity: Any = (0.0, 0.0, -G), com: Any = (0.0, 0.0, 0.0)) -> Model:
    """A wheel of 2 kg on a pin along y; its moment of inertia about its centre is 0.3 kg m^2."""
    b = lw.ModelBuilder(gravity=gravity)
    b.body("wheel", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia(2.0, com, 0.3 * np.eye(3)))
    for law in laws:
        b.add(law)
    return b.build()


def velocities(model: Model, state: State, steps: int, h: float, route: str, **given: Any) -> np.ndarray:
    """v (steps + 1, nv) of a run by a method of `simulate`, or by dense projections."""
    if route in METHODS:
        return lw.simulate(model, state, steps * h, h, route, **given).v
    tau = given.get("tau")
    control = None if tau is None else lambda t, s: tau
    return np.array([s.v for s in friction_run(model, state, steps, h, control=control, projections=route.split()[1])])


# --- revolute -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("h", [1e-3, 1e-4])
def test_torque_of_a_loaded_pin(h: float, route: str) -> None:
    """mu r |F|, from whichever side the load comes."""
    for angle in (0.0, 0.3, np.pi / 4, 2.0):
        model = wheel(lw.JointFriction("wheel", 0.2, radius=0.05), gravity=G * np.array([np.sin(angle), 0.0, -np.cos(angle)]))
        v = velocities(model, State([0.0], [5.0]), 1, h, route)[:, 0]
        assert 0.3 * (v[0] - v[1]) / h == pytest.approx(0.2 * 0.05 * 2.0 * G, rel=1e-9)


@pytest.mark.parametrize("route", ROUTES)
def test_torque_of_a_pin_under_thrust_and_tilt(route: str) -> None:
    """Radial forces at two ends, and an axial one: mu r (|F_1| + |F_2| + |F_axial|)."""
    model = wheel(lw.JointFriction("wheel", 0.1, radius=0.05, length=0.4), gravity=(0.0, -3.0, -4.0), com=(0, 0.5, 0))
    v = velocities(model, State([0.0], [1e-3]), 1, 1e-6, route)[:, 0]
    weight, arm = 2.0 * 4.0, 0.5
    ends = abs(weight / 2 + weight * arm / 0.4), abs(weight / 2 - weight * arm / 0.4)
    assert 0.3 * (v[0] - v[1]) / 1e-6 == pytest.approx(0.1 * 0.05 * (sum(ends) + 2.0 * 3.0), rel=1e-6)


@pytest.mark.parametrize("route", METHODS)
@pytest.mark.parametrize("h", [2e-4, 1e-4])
def test_an_unbalanced_wheel_presses_its_own_pin(h: float, route: str) -> None:
    """Without weight |F| = m c sqrt(w^4 + w_dot^2), so I w_dot = -mu r |F| has w = w_0 / (1 + K w_0 t), to 0.1 %.

    K = k / sqrt(I^2 - k^2) with k = mu r m c: what brakes presses, too.
    """
    model = wheel(lw.JointFriction("wheel", 0.5, radius=0.1), gravity=(0, 0, 0), com=(0.3, 0, 0))
    inertia, k = 0.3 + 2.0 * 0.3**2, 0.5 * 0.1 * 2.0 * 0.3
    v = velocities(model, State([0.0], [4.0]), round(1.0 / h), h, route)[:, 0]
    slowed = 4.0 / (1.0 + k / np.sqrt(inertia**2 - k**2) * 4.0)
    assert v[-1] == pytest.approx(slowed, rel=1e-3)


@pytest.mark.parametrize(("h", "route"), [*((h, m) for h in (1.7e-4, 1e-4) for m in METHODS), (1.7e-4, "dense joints")])
def test_spin_down_time(h: float, route: str) -> None:
    """I w / (mu r m g), to 0.1 %; then it stands."""
    expected = 0.3 * 0.13 / (0.2 * 0.05 * 2.0 * G)
    steps = int(1.05 * expected / h)
    v = velocities(wheel(lw.JointFriction("wheel", 0.2, radius=0.05)), State([0.0], [0.13]), steps, h, route)[:, 0]
    moving = v > 1e-12
    last = int(np.flatnonzero(moving)[-1])
    slope = (v[0] - v[last]) / (last * h)
    assert v[0] / slope == pytest.approx(expected, rel=1e-3)
    assert np.count_nonzero(moving) * h == pytest.approx(expected, rel=1e-3)
    assert np.abs(v[~moving]).max() < 1e-12


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(("part", "holds"), [(0.999, True), (1.001, False)])
def test_a_pin_holds_below_the_threshold(part: float, holds: bool, route: str) -> None:
    most = 0.2 * 0.05 * 2.0 * G
    model = wheel(lw.JointFriction("wheel", 0.2, radius=0.05))
    v = velocities(model, State([0.0], [0.0]), 20, 1e-3, route, tau=np.array([part * most]))[-1, 0]
    if holds:
        assert abs(v) < 1e-13
    else:
        assert v == pytest.approx(0.02 * 0.001 * most / 0.3, rel=1e-6)


# --- other joints ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("h", [1e-3, 2e-4])
def test_a_guide_under_its_load(h: float, route: str) -> None:
    """A slider on an incline: g (sin a - mu cos a), or nothing; with a length and without."""
    for mu, expected in ((0.3, G * (np.sin(0.6) - 0.3 * np.cos(0.6))), (0.7, 0.0)):
        for length in (0.0, 0.2):
            b = lw.ModelBuilder(gravity=(G * np.sin(0.6), 0.0, -G * np.cos(0.6)))
            b.body("slider", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia(3.0, tensor=0.1 * np.eye(3)))
            model = b.add(lw.JointFriction("slider", mu, length=length)).build()
            v = velocities(model, State([0.0], [0.0]), 10, h, route)[-1, 0]
            assert v == pytest.approx(10 * h * expected, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("route", METHODS)
def test_a_guide_that_is_pushed_off_its_axis_locks(route: str) -> None:
    """A force at a distance d presses the ends by F d / l each: it locks, however large F, where 2 mu d > l."""
    for mu, locks in ((0.26, True), (0.24, False)):
        b = lw.ModelBuilder(gravity=(0, 0, 0))
        b.body("slider", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia(1.0, tensor=0.1 * np.eye(3)))
        model = b.add(lw.JointFriction("slider", mu, length=0.1)).build()
        push = np.array([[0.0, 0.2 * 500.0, 0.0, 0.0, 0.0, 500.0]])
        v = lw.simulate(model, State([0.0], [0.0]), 0.01, 1e-3, route, external=push).v[-1, 0]
        assert v == pytest.approx(0.0 if locks else 0.01 * 500.0 * (1 - 2 * mu * 0.2 / 0.1), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("h", [1e-3, 2e-4])
def test_a_ball_in_a_socket(h: float, route: str) -> None:
    """A balanced ball spins down about any axis, with mu r m g."""
    b = lw.ModelBuilder(gravity=(0.0, 0.0, -G))
    b.body("ball", joint=lw.Spherical(), inertia=lw.Inertia(2.0, tensor=0.3 * np.eye(3)))
    model, spin = b.add(lw.JointFriction("ball", 0.2, radius=0.05)).build(), np.array([1.0, -2.0, 0.5])
    v = velocities(model, State(model.neutral(), spin), 100, h, route)[-1]
    assert np.allclose(v, spin * (1 - 100 * h * 0.2 * 0.05 * 2.0 * G / 0.3 / np.linalg.norm(spin)), rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_at_rest_begins_to_slip_in_no_direction_of_rounding(method: str) -> None:
    b = lw.ModelBuilder()
    b.body("rod", joint=lw.Spherical(), inertia=lw.Inertia.cuboid(1.0, (0.3, 0.06, 0.04), com=(0.15, 0.05, 0.0)))
    b.add(lw.JointFriction("rod", 0.3, radius=0.02))
    model = b.build()
    run, shaken = (lw.simulate(model, State(model.neutral(), v), 0.1, 1e-3, method) for v in (np.zeros(3), 1e-13 * np.arange(3)))
    assert np.abs(run.v[-1]).max() > 1.0
    assert np.abs(run.v - shaken.v).max() < 1e-10


@pytest.mark.parametrize("route", ROUTES)
def test_a_joint_with_surfaces_of_its_own(route: str) -> None:
    """A planar joint on four feet is a block on a table: mu g."""
    b = lw.ModelBuilder(gravity=(0.0, 0.0, -G))
    b.body("block", joint=lw.Planar(), inertia=lw.Inertia(2.0, tensor=0.3 * np.eye(3)))
    feet = [(x, y, 0.0) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    model = b.add(lw.JointFriction("block", 0.3, points=feet, normals=[(0, 0, 1)] * 4)).build()
    v = np.array([0.6, 0.8])
    assert np.allclose(velocities(model, State([0, 0], v), 10, 1e-3, route)[-1], v * (1 - 0.01 * 0.3 * G), rtol=1e-9)


@pytest.mark.parametrize("joint", ["screw", "universal"])
def test_surfaces_of_a_custom_joint(joint: str) -> None:
    """On a screw, whose nut rests on its thread, and on a joint whose freedoms turn: as the dense projections have it."""
    b = lw.ModelBuilder(gravity=(0.0, 0.0, -G))
    if joint == "screw":
        lead, r = 0.05, 0.1
        kind: Any = lw.joint(lambda q: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0, 0, lead * q[0])), nv=1)
        turns = np.linspace(0, 2 * np.pi, 5)[:4]
        points = [(r * np.cos(a), r * np.sin(a), 0.0) for a in turns]
        normals = [(lead * np.sin(a), -lead * np.cos(a), r) for a in turns]  # across (-r sin a, r cos a, lead)
    else:
        kind, points = lw.Universal(), np.concatenate([0.1 * np.eye(3), -0.1 * np.eye(3)])
        normals = points
    b.body("nut", joint=kind, inertia=lw.Inertia(2.0, (0.05, 0, 0), 0.02 * np.eye(3)))
    model = b.add(lw.JointFriction("nut", 0.2, points=points, normals=normals)).build()
    state = State(np.full(model.nq, 0.4), np.full(model.nv, 3.0))
    dense = velocities(model, state, 20, 1e-3, "dense joints")[-1]
    assert np.abs(velocities(model, state, 20, 1e-3, "redmax", evaluations=0)[-1] - dense).max() < 1e-8
    smooth = velocities(model.replace(elements=[]), state, 20, 1e-3, "redmax")[-1]
    assert np.abs(smooth - dense).max() > 0.1


# --- linkages -------------------------------------------------------------------------------------------------------------------
def linkage(mu: float, closing: str = "loop") -> tuple[Model, State]:
    """A parallelogram that swings, all four pins of which rub."""
    rod = lw.Inertia.cuboid(1.0, (0.02, 0.02, 1.0), (0, 0, -0.5))
    b = lw.ModelBuilder(gravity=(0.0, 0.0, -G))
    b.body("left", joint=lw.Revolute((0, 1, 0)), inertia=rod)
    bar = lw.Inertia.cuboid(1.0, (1.0, 0.02, 0.02), (0.5, 0, 0))
    b.body("bar", parent="left", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0, 0, -1)), inertia=bar)
    b.body("right", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(1, 0, 0)), inertia=rod)
    if closing == "loop":
        loop: Any = lw.Loop("bar", "right", (1, 0, 0), (0, 0, -1))
        b.add(lw.JointFriction(loop, mu, radius=0.02, axis=(0, 1, 0)))
    else:
        loop = lw.Closure(lw.Revolute((0, 1, 0)), "bar", "right", lw.SE3(p=(1, 0, 0)), lw.SE3(p=(0, 0, -1)))
        b.add(lw.JointFriction(loop, mu, radius=0.02))
    b.add(loop)
    for name in ("left", "bar", "right"):
        b.add(lw.JointFriction(name, mu, radius=0.02))
    model, q = b.build(), np.zeros(3)
    for name, value in (("left", 0.7), ("bar", -0.7), ("right", 0.7)):
        q[model.q_index(name)] = value
    return model, State(q, np.zeros(3))


@pytest.mark.parametrize("route", ["reduced", "maximal", "dense joints"])
def test_a_linkage_never_gains_energy(route: str) -> None:
    ends = []
    for mu in (0.5, 0.0):
        model, state = linkage(mu)
        if route in METHODS or not mu:
            found = lw.simulate(model, state, 0.75, 5e-3, route if route in METHODS else "redmax")
            q, v = found.q, found.v
        else:
            states = friction_run(model, state, 150, 5e-3)
            q, v = np.array([s.q for s in states]), np.array([s.v for s in states])
        energies = [float(lw.energy(model, State(*pair)).total) for pair in zip(q, v, strict=True)]
        ends.append(energies[-1])
        if mu and route != "maximal":
            assert np.diff(energies).max() <= 1e-9
    assert ends[0] < ends[1] - 1e-2


@pytest.mark.parametrize("closing", ["loop", "closure"])
def test_pins_of_a_linkage_in_every_formulation(closing: str) -> None:
    """All ways lead to one motion as steps get shorter; a pin that closes the loop rubs as those of the tree."""
    model, state = linkage(0.3, closing)
    truth = lw.simulate(model, state, 0.2, 1e-4).q[-1]
    for method in METHODS:
        off = [np.abs(lw.simulate(model, state, 0.2, h, method).q[-1] - truth).max() for h in (4e-3, 2e-3)]
        assert off[1] < 6e-3
        assert off[1] < 0.7 * off[0]
    smooth = model.replace(elements=[e for e in model.elements if not isinstance(e, lw.JointFriction)])
    assert np.abs(lw.simulate(smooth, state, 0.2, 1e-4).q[-1] - truth).max() > 2e-3


def test_both_projections_find_the_same_motion() -> None:
    model, state = linkage(0.3)
    ends = [friction_run(model, state, 20, 5e-3, projections=name)[-1].v for name in PROJECTIONS]
    assert np.allclose(ends[0], ends[1], rtol=1e-7)


@pytest.mark.parametrize("route", ROUTES)
def test_a_pin_under_a_body_that_rubs_on_a_floor(route: str) -> None:
    """A wheel on a sled that slides on the floor: contact and joint brake at once, each with its own law."""
    b = lw.ModelBuilder(gravity=(0.0, 0.0, -G))
    b.body("sled", joint=lw.Translational(), inertia=lw.Inertia(3.0, tensor=np.eye(3)))
    b.body("wheel", parent="sled", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia(2.0, tensor=0.3 * np.eye(3)))
    b.add(lw.Contact("sled", lw.Sphere(radius=0.1), shape_b=lw.Plane(normal=(0, 0, 1), point=(0, 0, -0.1)), friction=0.4))
    model = b.add(lw.JointFriction("wheel", 0.2, radius=0.05)).build()
    v = velocities(model, State(np.zeros(4), np.array([1.0, 0.0, 0.0, 5.0])), 20, 1e-3, route)[-1]
    assert v[0] == pytest.approx(1.0 - 0.02 * 0.4 * G, rel=1e-6)
    # the wheel's pin also carries what brakes it: m g and m mu g
    assert v[3] == pytest.approx(5.0 - 0.02 * 0.2 * 0.05 * 2.0 * G * np.hypot(1.0, 0.4) / 0.3, rel=1e-6)


# --- two routes -----------------------------------------------------------------------------------------------------------------
def chain(joints: str, *laws: Any) -> tuple[Model, State]:
    """Links on pins (r), balls (s) and guides (p) that all rub."""
    b, parent = lw.ModelBuilder(gravity=(0, 0, -G)), "world"
    for i, kind in enumerate(joints):
        joint = {"r": lw.Revolute((0.6, 0.8, 0) if i % 2 else (0, 1, 0)), "s": lw.Spherical(), "p": lw.Prismatic((0.8, 0, 0.6))}[
            kind
        ]
        link = lw.Inertia.cuboid(1.0, (0.05, 0.1, 0.5), (0.02, 0, -0.25))
        b.body(f"l{i}", parent=parent, joint=joint, placement=lw.SE3(p=(0, 0, -0.5 * (i > 0))), inertia=link)
        parent = f"l{i}"
        b.add(lw.JointFriction(parent, 0.3, **({"length": 0.3} if kind == "p" else {"radius": 0.05})))
    for law in laws:
        b.add(law)
    model, rng = b.build(), np.random.default_rng(2)
    return model, State(model.random_configuration(1), rng.normal(size=model.nv))


SPRINGS = {"stiffness": 200.0, "rest_length": 0.1, "damping": 2.0}
CHAINS: dict[str, Any] = {
    "pins": lambda: chain("rrrr"),
    "all kinds": lambda: chain("srpr", lw.JointSpring("l2", 300.0, damping=2.0)),
    "a spring to the world": lambda: chain("srp", lw.SpringDamper("l2", "world", (0, 0, -0.5), (0.5, 0, 0), **SPRINGS)),
    "springs between neighbours": lambda: chain("rsr", lw.SpringDamper("l1", "l2", (0.1, 0, 0), (0.1, 0, 0), **SPRINGS)),
    "springs that couple distant bodies": lambda: chain("rsr", lw.SpringDamper("l0", "l2", (0.1, 0, 0), **SPRINGS)),
}


@pytest.mark.parametrize("kind", CHAINS)
def test_programs_agree_with_dense_projections(kind: str) -> None:
    """To 1e-8 after twenty steps: linearly implicit ones always, explicit ones where there are no forces."""
    model, state = CHAINS[kind]()
    dense = friction_run(model, state, 20, 1e-3)[-1]
    for method in ("redmax", "reduced"):
        if method == "redmax" or kind == "pins":
            found = lw.simulate(model, state, 0.02, 1e-3, method, evaluations=0)
            assert np.abs(found.v[-1] - dense.v).max() < 1e-8
            assert found.health.complementarity is not None
            assert found.health.complementarity < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_what_rubs_is_what_is_carried(method: str) -> None:
    """The force at the rim of a sliding pin is mu |F| of the reaction that Newton and Euler tell at the records."""
    model, state = CHAINS["pins"]()
    found = lw.simulate(model, state, 0.05, 2e-5, method)
    assert found.forces is not None
    for k in range(4):
        F = found.reactions(f"l{k}", axes="body")[-1, 3:]
        axis = np.array([0.6, 0.8, 0]) if k % 2 else np.array([0, 1, 0])
        along = abs(F @ axis)
        slides = abs(found.v[-1, k]) > 0.05
        most = 0.3 * (np.sqrt(F @ F - along**2) + along)
        rim = abs(found.forces[-1, k])
        assert (rim == pytest.approx(most, rel=2e-2)) if slides else (rim <= 1.02 * most)


@pytest.mark.parametrize("method", METHODS)
def test_batches_to_the_bit(method: str) -> None:
    """For any neighbours and threads; with a contact on a floor, and joints that stick beside others that slide."""
    b = lw.ModelBuilder(gravity=(0.0, 0.0, -G))
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.cuboid(1.0, (0.5, 0.05, 0.05), (0.25, 0, 0)))
    b.body("b", parent="a", joint=lw.Spherical(), placement=lw.SE3(p=(0.5, 0, 0)), inertia=lw.Inertia.sphere(1.0, 0.1))
    b.add(lw.Contact("b", lw.Sphere(radius=0.1), shape_b=lw.Plane(normal=(0, 0, 1), point=(0, 0, -0.12)), friction=0.4))
    b.add(lw.JointFriction("a", 0.2, radius=0.05))
    model = b.add(lw.JointFriction("b", 0.2, radius=0.05)).build()
    v = np.random.default_rng(0).normal(size=(19, model.nv))
    v[3] = 0.0
    q = np.tile(model.neutral(), (19, 1))
    many = lw.simulate(model, State(q, v), 0.1, 5e-3, method, threads=2)
    for k in (0, 3, 18):
        one = lw.simulate(model, State(q[k], v[k]), 0.1, 5e-3, method)
        for name, x in one.arrays.items():
            assert np.array_equal(many.arrays[name][k], x), name


@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_rules_as_they_stand(method: str) -> None:
    """One step of the program, run as plain Python."""
    m, s = linkage(0.3)
    s, h = State(s.q, s.v), 1e-3
    state = s if method == "reduced" else lw.to_maximal(m, s)
    names = ("q", "v") if method == "reduced" else ("poses", "twists", "q_fit")
    program = SymplecticEuler().program(method, m)
    parts = {name: np.asarray(getattr(state, name), float).reshape(1, -1) for name in names}
    inputs = program.entered(m, parts, 0.0) | program.given(m, h)
    plain = eager.run(program.algorithm, collection(m).tree, {name: a.reshape(-1) for name, a in inputs.items()})
    compiled = lw.simulate(m, s, h, h, method)
    for name in names:
        assert np.abs(plain[name] - compiled.arrays[name][-1].reshape(-1)).max() < 1e-12, name


# --- bad input ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mu": -0.1}, "mu"),
        ({"mu": np.nan}, "mu"),
        ({"mu": 0.1, "radius": -1.0}, "radius"),
        ({"mu": 0.1, "points": [(0, 0, 0)]}, "normals"),
        ({"mu": 0.1, "points": [(0, 0, 0)], "normals": [(0, 0, 0)]}, "zero"),
        ({"mu": 0.1, "points": [(0, 0)], "normals": [(0, 0, 1)]}, "three"),
        ({"mu": 0.1, "points": [(0, 0, 1)] * 2, "normals": [(0, 0, 1)]}, "2 points"),
    ],
)
def test_bad_numbers_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        lw.JointFriction("wheel", **given)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (lambda: lw.JointFriction("door", 0.1, radius=0.1), "no joint or constraint 'door'"),
        (lambda: lw.JointFriction("wheel", 0.1), "radius"),
        (lambda: lw.JointFriction(lw.Loop("wheel"), 0.1, radius=0.1), "no joint or constraint Loop"),
        (lambda: lw.JointFriction(lw.DryFriction("wheel", 1.0), 0.1), "neither"),  # type: ignore[arg-type]
        (lambda: lw.JointFriction("wheel", 0.1, points=[(0.1, 0, 0)], normals=[(0, 0, 1)]), "leads point 0 off its surface"),
    ],
)
def test_what_does_not_fit_a_model_is_refused(law: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        wheel(law())


def test_what_does_not_take_it_says_so() -> None:
    model, state = wheel(lw.JointFriction("wheel", 0.1, radius=0.1)), State([0.0], [0.0])
    for stepper in ("rk4", "variational", "dop853", "rosenbrock"):
        with pytest.raises(InputError, match="inside joints"):
            lw.simulate(model, state, 0.1, 1e-3, stepper=stepper)
    with pytest.raises(InputError, match="inside joints"):
        lw.simulate(model, state, 0.1, 1e-3, "maximal-implicit", newton=True)
    with pytest.raises(InputError, match="accelerations do not say"):
        lw.forward_dynamics(model, state.q, state.v)
    with pytest.raises(InputError, match="projections"):
        friction_step(model, state, 1e-3, projections="none")
