"""Deformables against point masses and springs written out with NumPy, and against what is known of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dense_steps import definite_slopes

import linkwork as lw
from linkwork.redmax.system import dynamics

G = np.array([0.0, 0.0, -9.81])


# --- point masses and springs, written out --------------------------------------------------------------------------------
def spring_forces(d: lw.MassSprings, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The force on every node (n, 3)."""
    f = np.zeros_like(x)
    for (i, j), k, c, L in zip(d.springs, d.stiffness, d.damping, d.rest_length, strict=True):
        e, length = x[j] - x[i], np.linalg.norm(x[j] - x[i])
        n = e / length
        tension = (k * (length - L) + c * n @ (v[j] - v[i])) / L
        f[i] += tension * n
        f[j] -= tension * n
    return f


def differences(function: Any, x: np.ndarray, h: float = 1e-6) -> np.ndarray:
    """The Jacobian of a function (n, 3) -> (n, 3), by central differences of order 4."""
    columns = []
    for k in range(x.size):
        d = np.zeros(x.size)
        d[k] = h
        d = d.reshape(x.shape)
        slope = 8 * (function(x + d) - function(x - d)) - function(x + 2 * d) + function(x - 2 * d)
        columns.append(slope.reshape(-1) / (12 * h))
    return np.transpose(columns)


def build(*parts: Any, gravity: Any = G) -> lw.Model:
    b = lw.ModelBuilder(gravity=gravity)
    for part in parts:
        b.add(part)
    return b.build()


NET = lw.MassSpringNet("net", (0, 0, 1), (1, 0, 0), (0, 0.8, 0.3), shape=(3, 4), mass=0.6, stiffness=30.0, shear=8.0, damping=0.4)
RNG = np.random.default_rng(3)
X, V = NET.points + 0.1 * RNG.normal(size=NET.points.shape), RNG.normal(size=NET.points.shape)
FREE_NET = build(NET)


def test_a_free_net_is_its_masses_and_springs() -> None:
    a = (spring_forces(NET, X, V) + NET.mass[:, None] * G) / NET.mass[:, None]
    assert lw.forward_dynamics(FREE_NET, X.reshape(-1), V.reshape(-1)) == pytest.approx(a.reshape(-1), abs=1e-10)
    assert FREE_NET.nq == FREE_NET.nv == 36
    assert len(NET.springs) == 3 * 3 + 2 * 4 + 2 * 2 * 3


@pytest.mark.parametrize("route", ["dense", "pcg"])
def test_an_implicit_step_of_a_net_is_one_newton_step(route: str) -> None:
    """(M + h D - h^2 K) v' = M v + h (f + D v) with K and D by finite differences, symmetrised: dampers turn with their nodes."""
    h, M = 0.02, np.repeat(NET.mass, 3)
    K = differences(lambda x: spring_forces(NET, x, V), X)
    D = -differences(lambda v: spring_forces(NET, X, v), V)
    K, D = 0.5 * (K + K.T), 0.5 * (D + D.T)
    f = (spring_forces(NET, X, V) + NET.mass[:, None] * G).reshape(-1)
    v = np.linalg.solve(np.diag(M) + h * D - h * h * K, M * V.reshape(-1) + h * (f + D @ V.reshape(-1)))
    end = lw.simulate(FREE_NET, lw.State(X.reshape(-1), V.reshape(-1)), h, h, "redmax", route=route)
    assert end.v[-1] == pytest.approx(v, abs=1e-7)
    assert end.q[-1] == pytest.approx(X.reshape(-1) + h * v, abs=1e-8)


def test_bdf1_solves_the_equations_of_a_net() -> None:
    h = 0.05
    end = lw.simulate(FREE_NET, lw.State(X.reshape(-1), V.reshape(-1)), h, h, "redmax", stepper="bdf1")
    x, v = end.q[-1].reshape(-1, 3), end.v[-1].reshape(-1, 3)
    assert x == pytest.approx(X + h * v, abs=1e-12)
    assert NET.mass[:, None] * (v - V) == pytest.approx(h * (spring_forces(NET, x, v) + NET.mass[:, None] * G), abs=1e-10)


def test_momentum_is_kept_and_energy_only_lost() -> None:
    """Symplectic Euler keeps both momenta of central forces exactly; dampers take energy, and springs alone keep it."""
    model, state = build(NET, gravity=(0, 0, 0)), lw.State(X.reshape(-1), V.reshape(-1))
    run = lw.simulate(model, state, 0.5, 1e-3, every=10)
    x, p = run.q.reshape(len(run), -1, 3), run.v.reshape(len(run), -1, 3) * NET.mass[:, None]
    assert np.ptp(p.sum(axis=1), axis=0).max() < 1e-13
    assert np.ptp(np.cross(x, p).sum(axis=1), axis=0).max() < 1e-13
    assert np.all(np.diff(run.energy.total) < 0.0)
    undamped = lw.MassSprings(
        "net",
        NET.points,
        NET.springs,
        mass=0.6,
        stiffness=NET.stiffness,
        rest_length=NET.rest_length,
        attached={0: ("world", (0, 0, 1))},
    )
    q = undamped.placed(build(undamped)) + 0.05 * RNG.normal(size=33)
    kept = lw.simulate(build(undamped), lw.State(q, np.zeros(33)), 0.25, 1e-3, stepper="rk4")
    assert (kept.health.energy_drift or 1.0) < 1e-5


# --- attached nodes -------------------------------------------------------------------------------------------------------
ROD = lw.Inertia.cuboid(mass=1.0, size=(0.5, 0.1, 0.1), com=(0.25, 0, 0))
POINT = np.array([0.4, 0.05, -0.02])


def two_arms(*parts: Any) -> lw.Model:
    b = lw.ModelBuilder(gravity=G)
    b.body("upper", joint=lw.Revolute((0, 1, 0)), inertia=ROD)
    b.body("lower", parent="upper", joint=lw.Revolute((0, 0, 1)), placement=lw.SE3(p=(0.5, 0, 0)), inertia=ROD)
    for part in parts:
        b.add(part)
    return b.build()


def test_attached_nodes_move_with_their_bodies() -> None:
    """J^T M J a = J^T (f - M J_dot v) over bodies, attached and free nodes [Sueda, 2.89-2.92; errata 004-17]."""
    place = ("lower", POINT)
    given = {"mass": [0.3, 0.2, 0.1, 0.2], "stiffness": 25.0, "damping": 0.3}
    chain = lw.MassSpringChain("chain", (0.9, 0.05, 0), (0.9, 0.05, -0.9), nodes=4, attached={0: place}, **given)
    model, arms = two_arms(chain), two_arms()
    q, v = chain.placed(model, RNG.normal(size=model.nq)), RNG.normal(size=model.nv)
    i, j = (np.r_[arms_part(model, name)] for name in ("v", "nodes"))
    k = lw.kinematics(arms, q[i], v[i])
    R, w = k.poses[1, :3, :3], k.twists[1, :3]
    gamma = np.hstack([-skew(POINT), np.eye(3)])
    J_mr = lw.body_jacobian(arms, q[i])
    J_am = np.zeros((3, 12))
    J_am[:, 6:] = R @ gamma
    J = np.block([[J_mr, np.zeros((12, 9))], [J_am @ J_mr, np.zeros((3, 9))], [np.zeros((9, 2)), np.eye(9)]])
    J_dot_v = np.concatenate(
        [k.twists_dot.reshape(-1), R @ skew(w) @ gamma @ k.twists[1] + J_am @ k.twists_dot.reshape(-1), np.zeros(9)]
    )
    masses = [np.asarray(b.inertia.matrix, float) for b in arms.bodies] + [m * np.eye(3) for m in chain.mass]
    M = np.zeros((24, 24))
    at = 0
    for block in masses:
        M[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    x = np.concatenate([(k.poses[1] @ np.r_[POINT, 1.0])[:3], q[j]]).reshape(-1, 3)
    x_dot = np.concatenate([J_am @ k.twists.reshape(-1), v[j]]).reshape(-1, 3)
    f_nodes = spring_forces(chain, x, x_dot) + chain.mass[:, None] * G
    f_bodies = []
    for E, phi, body in zip(k.poses, k.twists, arms.bodies, strict=True):
        weight = body.inertia.mass * E[:3, :3].T @ G
        momentum = np.asarray(body.inertia.matrix, float) @ phi
        gyration = np.concatenate(
            [np.cross(momentum[:3], phi[:3]) + np.cross(momentum[3:], phi[3:]), np.cross(momentum[3:], phi[:3])]
        )
        f_bodies.append(gyration + np.concatenate([np.cross(body.inertia.com, weight), weight]))
    f = np.concatenate([*f_bodies, f_nodes.reshape(-1)])
    a = np.linalg.solve(J.T @ M @ J, J.T @ (f - M @ J_dot_v))
    assert lw.forward_dynamics(model, q, v)[np.r_[i, j]] == pytest.approx(a, abs=1e-9)


def arms_part(model: lw.Model, what: str) -> list[int]:
    """The velocities of the arms, or of the free nodes of the chain."""
    names = ("upper", "lower") if what == "v" else tuple(f"chain {k}" for k in (1, 2, 3))
    return [k for name in names for k in range(model.nv)[model.v_index(name)]]


def skew(x: np.ndarray) -> np.ndarray:
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


# --- at rest --------------------------------------------------------------------------------------------------------------
def test_a_hanging_chain_is_stretched_by_what_hangs_below() -> None:
    chain = lw.MassSpringChain(
        "rope", (0, 0, 2), (0, 0, 1), nodes=6, mass=1.2, stiffness=60.0, damping=2.0, attached={0: ("world", (0, 0, 2))}
    )
    model = build(chain)
    below = np.cumsum(chain.mass[:0:-1])[::-1] * 9.81
    z = 2.0 - np.cumsum(chain.rest_length * (1.0 + below / 60.0))
    q = np.stack([np.zeros(5), np.zeros(5), z], axis=1).reshape(-1)
    assert np.abs(lw.forward_dynamics(model, q, np.zeros(15))).max() < 1e-11
    run = lw.simulate(model, lw.State(chain.placed(model), np.zeros(15)), 20.0, 0.05, "redmax", every=400)
    assert run.q[-1] == pytest.approx(q, abs=1e-9)


def test_a_slack_chain_hangs_in_equilibrium_between_its_ends() -> None:
    """The same horizontal pull everywhere, and vertical pulls that carry the weight of every node."""
    ends = {0: ("world", (0, 0, 1)), -1: ("world", (1, 0, 1))}
    chain = lw.MassSpringChain(
        "rope", (0, 0, 1), (1, 0, 1), nodes=8, mass=0.8, stiffness=200.0, damping=5.0, rest_length=0.2, attached=ends
    )
    model = build(chain)
    q = chain.placed(model) + np.tile([0, 0, -0.1], 6)
    run = lw.simulate(model, lw.State(q, np.zeros(18)), 30.0, 0.05, "redmax", every=600)
    x = chain.positions(model, run.poses[-1])
    e = np.diff(x, axis=0)
    length = np.linalg.norm(e, axis=1)
    pull = (200.0 * (length / 0.2 - 1.0) / length)[:, None] * e
    assert np.ptp(pull[:, 0]) < 1e-8
    assert np.diff(pull[:, 2]) == pytest.approx(chain.mass[1:-1] * 9.81, abs=1e-8)
    assert x[3, 2] < 0.7


def stiff_net() -> tuple[lw.Model, lw.State]:
    """Its fastest mode turns by 70 radians in a step of 1/60 s, where explicit steps bear 2."""
    net = lw.MassSpringNet(
        "net", (0, 0, 1), (1, 0, 0), (0, 1, 0), shape=(4, 5), mass=0.2, stiffness=1e4, attached={(0, 0): ("world", (0, 0, 1))}
    )
    model = build(net)
    return model, lw.State(net.placed(model), np.zeros(model.nv))


def test_stiff_nets_take_long_steps() -> None:
    """Energy is only lost; conjugate gradients find what a dense solve does."""
    model, state = stiff_net()
    ways = [{"route": route, "stiffness": "definite"} for route in ("dense", "pcg")]
    dense, pcg = (lw.simulate(model, state, 0.3, 1 / 60, "redmax", **way) for way in ways)
    assert np.abs(dense.q - pcg.q).max() < 1e-8
    assert dense.energy.total.max() <= dense.energy.total[0] + 1e-9
    assert dense.q[-1].reshape(-1, 3)[-1, 2] < 0.7


def test_exact_stiffness_is_indefinite_where_springs_are_compressed() -> None:
    """Conjugate gradients say so, and what helps: the same stiffness along a spring, and none that destabilises across it."""
    model, state = stiff_net()
    squeezed = lw.State(0.98 * state.q, state.v)
    with pytest.raises(lw.SolverError, match=r"not positive definite.*stiffness='definite'"):
        lw.simulate(model, squeezed, 1 / 60, 1 / 60, "redmax", route="pcg")
    spring = lw.MassSpringChain("it", (0, 0, 0), (0.9, 0, 0), nodes=2, mass=1.0, stiffness=50.0, rest_length=1.0)
    now = dynamics(build(spring), lw.State(spring.points.reshape(-1), np.zeros(6)))
    (K, _), (exact, _) = definite_slopes(now), now.stiffness_and_damping
    along, across = np.array([1.0, 0, 0, -1, 0, 0]), np.array([0, 1.0, 0, 0, -1, 0])
    assert exact @ along == pytest.approx(-100.0 * along, abs=1e-12)
    assert exact @ across == pytest.approx(100.0 * (0.1 / 0.9) * across, abs=1e-12)
    assert K @ along == pytest.approx(-100.0 * along, abs=1e-12)
    assert np.linalg.eigvalsh(K).max() < 1e-12
    assert np.linalg.eigvalsh(K - exact).max() < 1e-12


# --- what is refused ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mass": 0.0}, "mass must be above 0"),
        ({"stiffness": -1.0}, "stiffness must be at least 0"),
        ({"nodes": 1}, "nodes must be a whole number, at least 2"),
        ({"end": (0, 0, 0)}, "spring 0 between nodes \\[0, 1\\] has no length"),
        ({"attached": {7: ("world", (0, 0, 0))}}, "attached names node 7"),
        ({"attached": {0: "world"}}, "attached to \\(body, point\\)"),
        ({"radius": -1}, "radius must be at least 0"),
        ({"mass": [1.0, 2.0]}, "mass must be a number or three finite numbers"),
    ],
)
def test_chains_refuse_what_makes_no_sense(changes: dict[str, Any], message: str) -> None:
    given = {"start": (0, 0, 0), "end": (1, 0, 0), "nodes": 3, "mass": 1.0, "stiffness": 1.0} | changes
    with pytest.raises(lw.ModelError, match=message):
        lw.MassSpringChain("rope", **given)


def test_nets_and_patterns_refuse_what_makes_no_sense() -> None:
    with pytest.raises(lw.ModelError, match="2 rows and 3 columns"):
        lw.MassSpringNet(
            "net", (0, 0, 0), (1, 0, 0), (0, 1, 0), shape=(2, 3), mass=1, stiffness=1, attached={3: ("world", (0, 0, 0))}
        )
    with pytest.raises(lw.ModelError, match="two different nodes"):
        lw.MassSprings("it", [(0, 0, 0), (1, 0, 0)], [(0, 2)], mass=1, stiffness=1)
    with pytest.raises(lw.ModelError, match="'arm' does not exist"):
        build(lw.MassSpringChain("rope", (0, 0, 0), (1, 0, 0), nodes=3, mass=1, stiffness=1, attached={0: ("arm", (0, 0, 0))}))


# --- nodes that touch -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["reduced", "maximal", "maximal-implicit", "redmax"])
@pytest.mark.parametrize("ground", ["plane", "box"])
def test_a_strand_on_a_slope_sticks_and_slides_as_a_block_does(method: str, ground: str) -> None:
    slope, r, dt = 0.35, 0.02, 2e-3
    tilt = lw.SE3.rot_y(slope)
    down, up = np.array([np.cos(slope), 0, -np.sin(slope)]), np.array([np.sin(slope), 0, np.cos(slope)])
    for mu in (0.5, 0.2):  # tan 0.35 = 0.37
        b = lw.ModelBuilder(gravity=G)
        slab = lw.Box((20.0, 20.0, 1.0), tilt @ lw.SE3(p=(0, 0, -0.5)), friction=mu)
        b.world(lw.Plane((0, 0, 0), up, friction=mu) if ground == "plane" else slab)
        rope = lw.MassSpringChain(
            "rope", r * up, r * up + 0.6 * down, nodes=7, mass=0.1, stiffness=20.0, radius=r, shapes=[lw.Sphere(r, group=0)]
        )
        model = b.add(rope).build()
        run = lw.simulate(model, lw.State(rope.placed(model), np.zeros(model.nv)), 0.5, dt, method)
        x = rope.positions(model, run.poses)
        assert x.shape == (len(run), 7, 3)
        if mu > 0.4:
            assert np.abs(x[-1] - x[0]).max() < 1e-12
            continue
        wanted = -G[2] * (np.sin(slope) - mu * np.cos(slope)) * run.t[-1]
        assert (x[-1] - x[-2]) @ down / dt == pytest.approx(wanted, rel=1e-9)


def test_what_nodes_touch_with_must_be_shapes() -> None:
    bad: list[Any] = [[0.1], lw.Sphere(0.1), ["ball"]]
    for shapes in bad:
        with pytest.raises(lw.ModelError, match=r"rope.*shapes must be"):
            lw.MassSpringChain("rope", (0, 0, 0), (1, 0, 0), nodes=3, mass=0.1, stiffness=1.0, shapes=shapes)
