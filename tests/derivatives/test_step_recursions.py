"""Derivatives of one step by recursions (`steppers.linear_step`) against the same step on dual numbers, a second
way to every number: random models with forces, loops, limits and contacts, in every mode of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from derivatives.step_cases import CONTACTS, ROD, STOPS, arm, close, coupled, differences, on_ground, pendulum, resting

import linkwork as lw
from linkwork.kernel.running import run_plan
from linkwork.reduced.port_columns import COLUMNS, PORT_COLUMNS, port_plans
from linkwork.step_derivatives import Acting
from linkwork.steppers.linear_step import is_linear_step

H = 1e-3
NONE = {"tau": None, "external": None, "u": None}


def acting(m: lw.Model, state: lw.State, contact: str = "exact", given: Any = None, **options: Any) -> Acting:
    return Acting(m, state, H, NONE | (given or {}), None, "hard", contact, 1, options)


def both(m: lw.Model, state: lw.State, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """The derivatives by recursions, and on dual numbers; both know the same edges."""
    here = acting(m, state, **options)
    assert is_linear_step(here.model, here.stepper)
    found, edges = here.jacobian(), here.edges
    other = here.along_units()
    assert np.array_equal(edges, here.edges)
    return found, other


def random_model(seed: int) -> tuple[lw.Model, lw.State]:
    """A tree of joints of many kinds on the ground, driven, sprung, with a loop, stops, dry friction and a coupling."""
    rng = np.random.default_rng(seed)
    joints = [
        lw.Revolute((0, 1, 0)),
        lw.Universal(),
        lw.Spherical(),
        lw.Prismatic((0, 0, 1)),
        lw.SphericalExp(),
        lw.Revolute((1, 0, 0)),
    ]
    b = lw.ModelBuilder()
    b.ground(friction=0.5)
    b.body("base", joint=lw.Free(), inertia=ROD, shapes=[lw.Sphere(0.05, (0.1, y, -0.1)) for y in (-0.2, 0.2)])
    for k in range(5):
        parent = rng.choice(["base", "base", *(f"b{i}" for i in range(k))])
        place = lw.SE3.rot_y(rng.uniform(-1, 1)) @ lw.SE3(p=rng.uniform(-0.3, 0.3, 3))
        joint = joints[rng.integers(len(joints))]
        b.body(f"b{k}", parent=str(parent), joint=joint, placement=place, inertia=ROD, armature=0.01, damping=0.02)
    b.body("stopped", parent="base", joint=lw.Revolute((0, 1, 0)), inertia=ROD, limits=(-0.5, 0.1))
    b.body("rubbed", parent="b0", joint=lw.Revolute((0, 0, 1)), inertia=ROD, friction=0.3)
    b.add(lw.SpringDamper("b1", "b3", (0.1, 0, 0), (0, 0.2, 0.1), stiffness=40.0, rest_length=0.2, damping=0.7))
    b.add(lw.SpringDamper("b2", "world", (0.2, 0, 0), (0, 0, 1.0), stiffness=30.0, rest_length=0.3, damping=0.2))
    b.add(lw.PDController("rubbed", 20.0, 0.5, target=[0.2]))
    m = b.build()
    q = m.random_configuration(seed)
    q[:3] = (0.0, 0.0, 0.1495 + 0.002 * rng.uniform())
    q[3:7] = (1.0, 0, 0, 0)
    q[m.q_index("stopped")] = 0.1003 if seed % 2 else 0.0
    v = rng.normal(size=m.nv)
    v[m.v_index("base")] = (0.3, 0.1, 0.2, *((0.8, -0.5, -0.1) if seed % 3 else (0.0, 0.0, -0.05)))
    poses = lw.kinematics(m, q).poses
    a, c = (poses[m.body_index(name)] for name in ("b4", "b1"))
    held = np.linalg.solve(c, a @ (0.3, 0.0, 0.1, 1.0))[:3]
    return m.add(lw.Loop("b4", "b1", point_a=(0.3, 0.0, 0.1), point_b=held)), lw.State(q=q, v=v)


@pytest.mark.parametrize("seed", [0, 1, 2, 4])
def test_random_models(seed: int) -> None:
    m, state = random_model(seed)
    given = {"tau": np.random.default_rng(seed).normal(size=m.nv)}
    assert close(*both(m, state, given=given), 1e-11)


def test_random_model_against_differences() -> None:
    m, state = random_model(1)
    found = lw.step_derivatives(m, state, H)
    assert close(np.concatenate([found.A, found.B], axis=1), differences(m, state.q, state.v, open_loops="allow"))


@pytest.mark.parametrize("evaluations", [0, 1, 2])
@pytest.mark.parametrize("make", [pendulum, coupled])
def test_evaluations(make: Any, evaluations: int) -> None:
    m = make()
    q = np.array([0.3, 0.2, 0.4, 0.8])[: m.nv]
    v = np.array([0.3, -0.4, 0.5, 1.0])[: m.nv]
    assert close(*both(m, lw.State(q=q, v=v), evaluations=evaluations), 1e-13)


def charted(joint: lw.Joint, *elements: object) -> tuple[lw.Model, lw.State]:
    """Two bodies on joints that change their charts, driven with inertia, on a hinge."""
    b, parent = lw.ModelBuilder(), "base"
    b.body("base", joint=lw.Revolute((0, 1, 0)), inertia=ROD)
    for name in ("one", "two"):
        place = lw.SE3(p=(0.2, 0.1, -0.1))
        b.body(name, parent=parent, joint=joint, placement=place, inertia=ROD, armature=0.3, damping=0.2)
        parent = name
    for element in elements:
        b.add(element)
    m = b.build()
    rng = np.random.default_rng(7)
    return m, lw.State(q=m.random_configuration(2), v=3.0 * rng.normal(size=m.nv))


CHARTED = [
    (lw.SphericalExp(3.2), 0),
    *((joint, 2) for joint in (lw.SphericalExp(3.2), lw.FreeExp(), lw.SphericalEuler("xyz", "xzx"))),
]


@pytest.mark.parametrize(("joint", "evaluations"), CHARTED, ids=str)
def test_joints_that_change_charts(joint: lw.Joint, evaluations: int) -> None:
    spring = lw.SpringDamper("two", "world", (0.1, 0, 0), (0, 0.2, 0.1), stiffness=40.0, rest_length=0.2, damping=0.7)
    m, state = charted(joint, spring, lw.constraint("two", lambda E, t: E[0].p[2] - 0.3 * E[0].R[0, 1]))
    found, other = both(m, state, evaluations=evaluations)
    assert close(found, other, 1e-11)
    if evaluations > 1:
        m, state = charted(joint)
        found, _ = both(m, state)
        assert close(found, differences(m, state.q, state.v))
        w = np.random.default_rng(1).normal(size=2 * m.nv)
        back = lw.step_gradient(m, state, H, w[: m.nv], w[m.nv :])
        assert close(np.concatenate([back.q, back.v, back.tau]), w @ found, 1e-11)


@pytest.mark.parametrize("case", STOPS)
def test_stops_and_dry_friction(case: str) -> None:
    q, v = STOPS[case]
    assert close(*both(arm(), lw.State(q=np.array(q), v=np.array(v))), 1e-13)


@pytest.mark.parametrize("case", CONTACTS)
def test_contacts(case: str) -> None:
    kind, v, contact = CONTACTS[case]
    assert close(*both(on_ground(kind), lw.State(q=resting(kind), v=np.array(v, float)), contact=contact), 1e-11)


@pytest.mark.parametrize("restitution", [0.0, 0.6])
@pytest.mark.parametrize(
    "v", [(0.0, 0.5, 0.0, 0.2, 0.0, -0.05), (0.3, 1.5, 0.1, 0.0, 0.1, -0.4), (0.0, 0.4, 0.0, 0.0, 0.0, 0.3)], ids=str
)
def test_corners_part_and_bounce_while_deep(v: tuple[float, ...], restitution: float) -> None:
    """Some rows hold, some part and are pushed out by a way that velocities shorten, some bounce."""
    corners = [(x, y, -0.05) for x in (-0.1, 0.1) for y in (-0.15, 0.15)]
    b = lw.ModelBuilder()
    b.ground(friction=0.4, restitution=restitution)
    shapes = [lw.Sphere(0.01, c, restitution=restitution) for c in corners]
    b.body("base", joint=lw.Free(), inertia=lw.Inertia.cuboid(1.0, (0.2, 0.3, 0.1)), shapes=shapes)
    b.body("arm", parent="base", joint=lw.Revolute((0, 1, 0)), inertia=ROD, damping=0.1)
    m = b.build()
    q = np.array([0, 0, 0.0595, 0.999999, 0.0008, -0.003, 0.0003, 0.3])
    q[3:7] /= np.linalg.norm(q[3:7])
    assert close(*both(m, lw.State(q=q, v=np.array([*v, 0.7]))), 1e-11)


@pytest.mark.parametrize("spin", [0.4, -2.0, 3.0])
def test_corners_that_slide_and_spin(spin: float) -> None:
    """Four corners of a box ask for more than six velocities can do as it turns: what misses least is the same by both ways."""
    q = np.array([0, 0, 0.0498, 1.0, 0.0003, -0.0004, 0.3])
    q[3:] /= np.linalg.norm(q[3:])
    assert close(*both(on_ground("box"), lw.State(q=q, v=np.array([0, 0, spin, 0.3, -0.5, -0.01]))), 1e-5)


def test_calls_leave_nothing_behind() -> None:
    """Memory is used again: what one state touches, the next one does not."""
    m = on_ground("box")
    states = [lw.State(q=resting("box"), v=np.array(CONTACTS[case][1], float)) for case in ("box slides", "flies", "box sticks")]
    first = [lw.step_derivatives(m, state, H) for state in states]
    for state, found in zip(reversed(states), reversed(first), strict=True):
        again = lw.step_derivatives(m, state, H)
        alone = lw.step_derivatives(m.add(), state, H)
        assert np.array_equal(again.A, found.A)
        assert np.array_equal(alone.A, found.A)
        assert np.array_equal(alone.B, found.B)


def test_what_a_caller_keeps_is_not_written_to() -> None:
    """Results of single states lie in memory that is used again once nobody has any part of them."""
    m = on_ground("box")
    states = [lw.State(q=resting("box"), v=np.array(CONTACTS[case][1], float)) for case in ("box slides", "box sticks")]
    wanted = [lw.step_derivatives(m.add(), state, H) for state in states]
    parts = (lambda x: x.A[1:, 2], lambda x: x.B.T, lambda x: x.marks, lambda x: memoryview(x.A))
    for part in parts:
        kept = [part(lw.step_derivatives(m, states[k], H)) for k in (0, 1, 0, 1)]
        for k, found in enumerate(kept):
            assert np.array_equal(found, part(wanted[k % 2]))
    again = lw.step_derivatives(m, states[0], H).A
    again.flags.writeable, again.shape = False, (1, *again.shape)
    del again
    assert lw.step_derivatives(m, states[0], H).A.flags.writeable
    assert np.array_equal(lw.step_derivatives(m, states[0], H).A, wanted[0].A)


def test_later_states_are_looked_at_too() -> None:
    m = on_ground("box")
    q, v = resting("box"), np.zeros(m.nv)
    wanted = lw.step_derivatives(m, lw.State(q=q, v=v), H)
    turned, lost = q.copy(), v.copy()
    turned[3:] *= 1.1
    lost[2] = np.nan
    for bad in (lw.State(q=turned, v=v), lw.State(q=q, v=lost), lw.State(q=q[1:], v=v)):
        with pytest.raises(lw.InputError):
            lw.step_derivatives(m, bad, H)
        assert np.array_equal(lw.step_derivatives(m, lw.State(q=q, v=v), H).A, wanted.A)


def test_batches_are_single_states() -> None:
    m, state = random_model(1)
    rng = np.random.default_rng(0)
    q = np.array([m.integrate(state.q, 1e-4 * k * rng.normal(size=m.nv)) for k in range(5)])
    v = state.v + 0.1 * rng.normal(size=(5, m.nv))
    tau = rng.normal(size=(5, m.nv))
    many = lw.step_derivatives(m, lw.State(q=q, v=v), H, tau)
    for k in range(5):
        one = lw.step_derivatives(m, lw.State(q=q[k], v=v[k]), H, tau[k])
        assert np.array_equal(many.A[k], one.A)
        assert np.array_equal(many.B[k], one.B)
        assert np.array_equal(many.edges[k], one.edges)


def test_other_steppers_run_on_dual_numbers() -> None:
    m, state = pendulum(), lw.State(q=np.array([0.3, 0.2, 0.4]), v=np.zeros(3))
    here = Acting(m, state, H, NONE, "rk4", "hard", "exact", 1, {})
    assert not is_linear_step(here.model, here.stepper)
    b = lw.ModelBuilder()
    for name in "ab":
        b.body(name, joint=lw.Free(), shapes=[lw.Sphere(0.1, mass=1.0)])
    here = acting(b.build(), lw.State(q=np.array([0, 0, 0, 1.0, 0, 0, 0, 0.3, 0, 0, 1.0, 0, 0, 0]), v=np.zeros(12)))
    assert not is_linear_step(here.model, here.stepper)
    held = coupled()
    assert not is_linear_step(
        held,
        Acting(held, lw.State(q=np.zeros(4), v=np.zeros(4)), H, NONE, None, "hard", "exact", 1, {"stabilise": "project"}).stepper,
    )


def test_muscles() -> None:
    from linkwork.scenes import ALL_SCENES

    m, state = ALL_SCENES["elbow"].build()
    assert close(*both(m, state), 1e-13)


def test_columns_at_ports() -> None:
    """What bodies see of displacements and velocities, against differences of `kinematics`."""
    m, state = random_model(0)
    nv, rng, bodies, e = m.nv, np.random.default_rng(0), [0, 3, 5], 1e-6
    w, a, *others = rng.normal(size=(6, nv))
    given = {"q": state.q, "v": w, "a": a} | dict(zip(("v_start", "v_free", "v_held", "v_out"), others, strict=True))
    found = run_plan(port_plans(m, bodies), PORT_COLUMNS, given, ("port_columns",), 1, 1, 1)["port_columns"]
    columns = dict(zip(COLUMNS, found.reshape(len(COLUMNS), 6 * len(bodies), nv), strict=True))

    def twists(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return lw.kinematics(m, q, v).twists[bodies].reshape(-1)

    ends = [(m.integrate(state.q, e * d), m.integrate(state.q, -e * d)) for d in np.eye(nv)]
    for name, v in zip(("N_v", "N_free", "N_held", "N_out"), others, strict=True):
        slopes = np.array([(twists(p, v) - twists(n, v)) / (2 * e) for p, n in ends]).T
        assert close(columns[name], slopes, 1e-8)
    assert close(columns["J"], np.array([twists(state.q, d) for d in np.eye(nv)]).T, 1e-14)
