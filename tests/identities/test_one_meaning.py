"""Forward, inverse and hybrid dynamics, the response and maximal dynamics speak of one model: its forces and equality rows too.

Oracles: one another, dense systems, the bare tree under the forces of the model as `force_set` has them, and eager runs.
"""

from __future__ import annotations

import numpy as np
import pytest
from identities.loaded_kinds import BARE, EXTERNAL, FORCES, FRICTION, KINDS, TAU, TIME, A, Q, V, dense, model, moving, tree

import linkwork as lw
from linkwork.constraints.rows import constraint_set
from linkwork.elements.collection import collection
from linkwork.kernel import eager
from linkwork.reduced.hybrid import with_prescribed
from linkwork.reduced.loaded_hybrid import loaded_hybrid
from linkwork.reduced.loaded_inverse import loaded_inverse

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def close(x: np.ndarray, y: np.ndarray, tolerance: float = 1e-9) -> bool:
    return bool(np.abs(x - y).max(initial=0.0) <= tolerance * (1.0 + np.abs(y).max(initial=0.0)))


def acting(m: lw.Model, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joint forces and wrenches of the model's forces."""
    k, forces = lw.kinematics(m, Q, v), lw.force_set(m)
    return forces.joint_forces(Q, v, TIME), forces.wrenches(k.poses, k.twists, TIME)


# --- inverse dynamics -------------------------------------------------------------------------------------------------
@EVERY_KIND
def test_inverse_dynamics_undoes_forward_dynamics(kind: str) -> None:
    """For accelerations that the rows allow; the other way, tau is another that causes the same motion."""
    m, v = model(kind), moving(kind)
    a = lw.forward_dynamics(m, Q, v, TAU, EXTERNAL, t=TIME)
    tau = lw.inverse_dynamics(m, Q, v, a, EXTERNAL, t=TIME)
    assert close(lw.forward_dynamics(m, Q, v, tau, EXTERNAL, t=TIME), a)
    if kind in FORCES:
        assert close(tau, TAU)
        assert close(lw.forward_dynamics(m, Q, v, lw.inverse_dynamics(m, Q, v, A, t=TIME), t=TIME), A)


@EVERY_KIND
def test_inverse_dynamics_is_that_of_the_tree_less_the_forces(kind: str) -> None:
    m, v = model(kind), moving(kind)
    joints, wrenches = acting(m, v)
    expected = lw.tree_inverse_dynamics(m, Q, v, A, EXTERNAL + wrenches) - joints
    found = lw.inverse_dynamics(m, Q, v, A, EXTERNAL, t=TIME)
    slipping = np.zeros(m.nv)  # dry friction is against the motion
    for law in m.elements:
        if isinstance(law, lw.DryFriction):
            slipping[m.v_index(law.joint)] += law.fitted_to(m).friction * np.sign(v[m.v_index(law.joint)])
    assert close(found, expected + slipping, 1e-12)


def test_friction_that_sticks() -> None:
    """At rest it is overcome only where the joint is told to move."""
    m, still = tree(lw.DryFriction("a", 0.5), lw.DryFriction("b", 0.5)), np.zeros(BARE.nv)
    a = 0.0 * A
    a[BARE.v_index("a")] = -1.0
    extra = lw.inverse_dynamics(m, Q, still, a) - lw.tree_inverse_dynamics(m, Q, still, a)
    assert close(extra, -0.5 * (np.arange(BARE.nv) == BARE.v_index("a").start), 1e-13)
    assert close(lw.forward_dynamics(m, Q, still, lw.inverse_dynamics(m, Q, still, a)), a)


@EVERY_KIND
def test_inverse_dynamics_of_batches_and_eager(kind: str) -> None:
    m, v = model(kind), moving(kind)
    rng = np.random.default_rng(1)
    q = np.array([m.integrate(Q, 0.1 * k * rng.normal(size=m.nv)) for k in range(9)])
    many = lw.inverse_dynamics(m, q, v, A, EXTERNAL, t=TIME)
    for k in range(9):
        assert np.array_equal(many[k], lw.inverse_dynamics(m, q[k], v, A, EXTERNAL, t=TIME))
    if m.elements and kind not in FRICTION:
        laws = collection(m)
        given = {"q": Q, "v": v, "a": A, "external": EXTERNAL, "gravity": m.gravity, "t": TIME, "u": laws.initial_inputs}
        given |= {"unknown": laws.first_unknowns(Q[None]), "told": laws.told_at(TIME)}
        found = eager.run(loaded_inverse(laws.shape), laws.tree, given)["tau"]
        assert close(found, lw.inverse_dynamics(m, Q, v, A, EXTERNAL, t=TIME), 1e-11)


def test_inputs_and_times() -> None:
    """One for all, or one for every state."""
    m = model("muscle").add(lw.force("a", wrenches=lambda E, w, t: [np.array([1.0, 2, 3, 4, 5, 6]) * np.sin(3 * t)]))
    u, t, q, v = np.linspace(0.1, 0.9, 4)[:, None], np.linspace(0, 1, 4), np.tile(Q, (4, 1)), np.tile(V, (4, 1))
    tau = lw.inverse_dynamics(m, q, v, A, inputs=u, t=t)
    a = lw.forward_dynamics(m, q, v, tau, inputs=u, t=t)
    assert close(a, np.tile(A, (4, 1)))
    for k in range(4):
        assert np.array_equal(tau[k], lw.inverse_dynamics(m, Q, V, A, inputs=u[k], t=t[k]))
    assert np.abs(tau[0] - tau[1]).max() > 0.1
    dq, dv, da = lw.inverse_dynamics_derivatives(m, q, v, A, inputs=u, t=t)
    for k in range(4):
        one = lw.inverse_dynamics_derivatives(m, Q, V, A, inputs=u[k], t=t[k])
        assert all(np.array_equal(x[k], y) for x, y in zip((dq, dv, da), one, strict=True))


def test_prepared_functions_mean_the_same_model() -> None:
    for kind in ("bare", "joint springs", "all"):
        m, v = model(kind), moving(kind)
        assert close(m.function("forward_dynamics")(Q, v, TAU), lw.forward_dynamics(m, Q, v, TAU), 0.0)
        assert close(m.function("inverse_dynamics")(Q, v, A), lw.inverse_dynamics(m, Q, v, A), 0.0)
        assert close(m.function("tree_dynamics")(Q, v, TAU), lw.tree_dynamics(m, Q, v, TAU), 0.0)


# --- hybrid dynamics --------------------------------------------------------------------------------------------------
@EVERY_KIND
@pytest.mark.parametrize("names", [("a",), ("slide", "c"), ("base",)], ids="-".join)
def test_hybrid_dynamics(kind: str, names: tuple[str, ...]) -> None:
    """The dense system in which accelerations of prescribed joints are known, and their forces are not."""
    m, v = model(kind), moving(kind)
    told = np.zeros(m.nv, bool)
    for name in names:
        told[m.v_index(name)] = True
    a, tau = lw.hybrid_dynamics(m, Q, v, TAU, A, names, EXTERNAL, t=TIME)
    assert np.array_equal(a[told], A[told])
    assert np.array_equal(tau[~told], TAU[~told])
    G, _, bias, held = dense(kind, v) if constraint_set(m).count else (np.zeros((0, m.nv)), *[np.zeros(0)] * 2, np.zeros(0, bool))
    G, bias = G[held], bias[held]
    M, rest = lw.mass_matrix(m, Q), lw.inverse_dynamics(m, Q, v, 0.0 * A, EXTERNAL, t=TIME)
    free = ~told
    push = TAU[free] - rest[free] - M[np.ix_(free, told)] @ A[told]
    answer = np.linalg.solve(M[np.ix_(free, free)], np.column_stack([push, G[:, free].T]))
    target = -bias - G[:, told] @ A[told] - G[:, free] @ answer[:, 0]
    x = np.linalg.lstsq(G[:, free] @ answer[:, 1:], target, rcond=1e-10)[0]
    expected = A.copy()
    expected[free] = answer[:, 0] + answer[:, 1:] @ x
    assert close(a, expected, 1e-8)
    assert close(tau[told], (rest + M @ a - G.T @ x)[told], 1e-8)
    if kind != "twice":
        assert close(lw.forward_dynamics(m, Q, v, tau, EXTERNAL, t=TIME), a, 1e-8)
    many = lw.hybrid_dynamics(m, np.tile(Q, (3, 1)), v, TAU, A, names, EXTERNAL, t=TIME)
    assert np.array_equal(many[0], np.tile(a, (3, 1)))
    assert np.array_equal(many[1], np.tile(tau, (3, 1)))


def test_hybrid_dynamics_of_all_and_of_no_joints() -> None:
    m, v = model("all"), moving("all")
    a, tau = lw.hybrid_dynamics(m, Q, v, TAU, A, [])
    assert close(a, lw.forward_dynamics(m, Q, v, TAU))
    assert np.array_equal(tau, TAU)
    again, tau = lw.hybrid_dynamics(m, Q, v, None, a, [b.name for b in m.bodies])
    assert np.array_equal(again, a)
    assert close(tau, lw.inverse_dynamics(m, Q, v, a))
    overruled, _ = lw.hybrid_dynamics(m, Q, v, TAU, A, ["a", "b"])
    uncoupled = m.replace(elements=[e for e in m.elements if not isinstance(e, lw.Coupling)])
    assert close(overruled, lw.hybrid_dynamics(uncoupled, Q, v, TAU, A, ["a", "b"])[0])
    with pytest.raises(lw.SolverError, match="the constraints cannot all hold with the accelerations that are told"):
        lw.hybrid_dynamics(m, Q, v, TAU, A, ["ball", "c"])
    laws = collection(m)
    given = {"q": Q, "v": v, "tau": TAU, "a_given": a, "gravity": m.gravity, "u": laws.initial_inputs}
    found = eager.run(loaded_hybrid(laws.shape), with_prescribed(laws.tree, frozenset([1, 2])), given)["accelerations"]
    assert close(found, lw.hybrid_dynamics(m, Q, v, TAU, a, ["a", "b"])[0], 1e-10)


# --- maximal coordinates, the response --------------------------------------------------------------------------------
@EVERY_KIND
def test_maximal_dynamics_are_those_of_reduced_coordinates(kind: str) -> None:
    m, v = model(kind), moving(kind)
    state = lw.to_maximal(m, lw.State(Q, v, TIME))
    found = lw.maximal_dynamics(m, state, TAU, EXTERNAL)
    a, x = lw.constrained_dynamics(m, Q, v, TAU, EXTERNAL, t=TIME)
    assert not x[constraint_set(m).count :].any()  # stops that the slide declares
    x, pushes = x[: constraint_set(m).count], constraint_set(m).unilateral
    assert close(found.a, a)
    assert kind == "twice" or close(found.multipliers, x[~pushes])
    assert close(found.twists_dot, lw.kinematics(m, Q, v, a).twists_dot)
    assert close(found.a, lw.forward_dynamics(m, Q, v, TAU, EXTERNAL, t=TIME))
    _, wrenches = acting(m, v)
    if constraint_set(m).count:
        k = lw.kinematics(m, Q, v)
        rows = constraint_set(m).look(k.poses, k.twists, Q, v, TIME).rows
        wrenches = wrenches + rows.transposed(x, m.nb, m.nv)[0]
    assert close(found.wrenches, lw.joint_wrenches(m, Q, v, a, EXTERNAL + wrenches))
    many = lw.MaximalState(*(np.stack([y] * 3) for y in (state.poses, state.twists, state.q_fit)), t=TIME)
    assert np.array_equal(lw.maximal_dynamics(m, many, TAU, EXTERNAL).a, np.tile(found.a, (3, 1)))


@pytest.mark.parametrize("kind", FORCES | {"loop": 0, "all": 0})
@pytest.mark.parametrize("formulation", ["reduced", "maximal"])
def test_the_response_is_free_under_every_force_and_rows_complete_it(formulation: str, kind: str) -> None:
    m, v = model(kind), moving(kind)
    at = (Q, v) if formulation == "reduced" else (lw.to_maximal(m, lw.State(Q, v, TIME)), None)
    response = lw.factor(m, *at, TAU, EXTERNAL, t=TIME)
    free = lw.forward_dynamics(m.replace(elements=[e for e in m.elements if hasattr(e, "loads")]), Q, v, TAU, EXTERNAL, t=TIME)
    assert close(response.free.joints, free)
    assert close(lw.tree_factor(m, *at, TAU, EXTERNAL).free.joints, lw.tree_dynamics(m, Q, v, TAU, EXTERNAL))
    later = lw.factor(m, *at, TAU, EXTERNAL, 0.01, t=TIME)
    assert close(later.free.joints, v + 0.01 * free)
    if constraint_set(m).count:
        k = lw.kinematics(m, Q, v)
        c = constraint_set(m).look(k.poses, k.twists, Q, v, TIME)
        x = np.linalg.solve(response.delassus(c.rows), -c.bias - c.rows @ response.free)
        assert close(response.corrected(c.rows, x).joints, lw.forward_dynamics(m, Q, v, TAU, EXTERNAL, t=TIME))


def test_the_bare_tree() -> None:
    """tree_* do not see laws, and are the same functions where there are none."""
    m = model("all")
    state = lw.to_maximal(m, lw.State(Q, V))
    assert np.array_equal(lw.tree_inverse_dynamics(m, Q, V, A), lw.inverse_dynamics(BARE, Q, V, A))
    assert np.array_equal(lw.tree_dynamics(m, Q, V, TAU), lw.forward_dynamics(BARE, Q, V, TAU))
    assert np.array_equal(lw.tree_maximal_dynamics(m, state, TAU).a, lw.maximal_dynamics(BARE, state, TAU).a)
    for pair in (
        (lw.tree_hybrid_dynamics(m, Q, V, TAU, A, "a"), lw.hybrid_dynamics(BARE, Q, V, TAU, A, "a")),
        (lw.tree_dynamics_derivatives(m, Q, V, TAU), lw.forward_dynamics_derivatives(BARE, Q, V, TAU)),
        (lw.tree_inverse_dynamics_derivatives(m, Q, V, A), lw.inverse_dynamics_derivatives(BARE, Q, V, A)),
    ):
        assert all(np.array_equal(x, y) for x, y in zip(*pair, strict=True))


@pytest.mark.parametrize("kind", ["spring dampers", "loop", "dry friction", "prescribed"])
def test_arguments_that_are_left_out_are_zero_and_batches_may_be_empty(kind: str) -> None:
    m, none, zero = model(kind), (None, None), (np.zeros(BARE.nv), np.zeros(BARE.nv))
    functions = (lw.inverse_dynamics, lw.inverse_dynamics_derivatives, lw.forward_dynamics_derivatives)
    for function in functions:
        for x, y in zip(*(np.atleast_3d(function(m, Q, *given, t=TIME)) for given in (none, zero)), strict=True):
            assert close(x, y)
        empty = function(m, np.zeros((0, m.nq)), *np.zeros((2, 0, m.nv)), t=TIME)
        assert all(len(x) == 0 for x in (empty if isinstance(empty, tuple) else [empty]))
    assert lw.hybrid_dynamics(m, np.zeros((0, m.nq)), *np.zeros((3, 0, m.nv)), ["c"])[0].shape == (0, m.nv)


def test_a_model_without_freedoms() -> None:
    m = lw.ModelBuilder().body("w", joint=lw.Fixed(), inertia=lw.Inertia(2.0, tensor=np.eye(3))).build()
    m, e = m.add(lw.SpringDamper("w", "world", (1, 0, 0), stiffness=1.0, rest_length=0.5)), np.zeros(0)
    assert lw.inverse_dynamics(m, e, e, e).shape == lw.forward_dynamics(m, e, e).shape == (0,)
    assert all(
        x.shape == (0, 0) for x in (*lw.inverse_dynamics_derivatives(m, e, e, e), *lw.forward_dynamics_derivatives(m, e, e))
    )
    carried = lw.maximal_dynamics(m, lw.to_maximal(m, lw.State(e, e))).wrenches
    np.testing.assert_allclose(carried, [[0, 0, 0, 1.0, 0, 2 * 9.81]], atol=1e-13)
