"""Implicit maximal coordinates: one solve against a dense system of all unknowns, a converged step against Newton and Euler."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from models import CUSTOM, random_inertia, relative
from scipy.linalg import null_space

import linkwork as lw
from linkwork.elements.collection import collection
from linkwork.kernel import eager
from linkwork.kernel.sweep import Algorithm, Field, vector
from linkwork.maximal.implicit_laws import implicit_laws
from linkwork.maximal.implicit_program import fields, implicit_step
from linkwork.maximal.implicit_rules import pull_stiffness
from linkwork.steppers import BackwardEuler
from linkwork.steppers.stepper import Program

H = 1 / 60
SPRINGS = {"hinge": 500.0}
ARMATURE = {"hinge": 0.2}
NEAR = ("JointSpring('hinge')", "SpringDamper('ball', 'tip')", "Handle('tip')")
FAR = "SpringDamper('hinge', 'tip')"


@cache
def tree(*more: Any) -> lw.Model:
    """A ball joint that carries a hinge with a spring, and a tip on a joint of the user's own."""
    rng = np.random.default_rng(3)
    b = lw.ModelBuilder(gravity=(1.0, 2.0, -9.0))
    joints = {"ball": lw.Spherical(), "hinge": lw.Revolute((0, 1, 0)), "tip": CUSTOM["helix"]}
    for name, joint in joints.items():
        drive: dict[str, Any] = {"armature": ARMATURE.get(name, 0.0), "damping": 0.1}
        placement, inertia = lw.SE3.exp(rng.normal(size=6) * 0.4), random_inertia(rng)
        b.body(name, parent="world" if name == "ball" else "ball", joint=joint, placement=placement, inertia=inertia, **drive)
    for name, k in SPRINGS.items():
        b.add(lw.JointSpring(name, k))
    b.add(lw.SpringDamper("ball", "tip", (0.2, 0, 0), (0, 0, 0.1), stiffness=300.0, rest_length=0.2, damping=4.0))
    b.add(lw.Handle("tip", target=(0.3, 0.2, 0.1), stiffness=50.0, damping=2.0))
    for element in more:
        b.add(element)
    return b.build()


@cache
def far() -> lw.Model:
    """The same with a spring between bodies that are no neighbours."""
    return tree(lw.SpringDamper("hinge", "tip", (0.1, 0, 0), (0, 0.1, 0), stiffness=400.0, rest_length=0.4, damping=3.0))


def moving(model: lw.Model, gap: float = 0.0) -> lw.MaximalState:
    """A state in motion whose joints are open by a gap."""
    rng = np.random.default_rng(5)
    q = model.integrate(model.neutral(), rng.normal(size=model.nv) * 0.4)
    s = lw.to_maximal(model, lw.State(q, rng.normal(size=model.nv)))
    poses = np.array([E @ lw.SE3.exp(rng.normal(size=6) * gap).matrix for E in s.poses])
    twists = s.twists + rng.normal(size=s.twists.shape) * gap
    s = lw.MaximalState(poses, twists, s.q_fit, 0.3)
    return lw.MaximalState(poses, twists, lw.to_reduced(model, s).q, 0.3)


def given(model: lw.Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Joint forces, wrenches, and forces that the joints carry."""
    rng = np.random.default_rng(7)
    return rng.normal(size=model.nv), rng.normal(size=(model.nb, 6)), rng.normal(size=(model.nb, 6)) * 30.0


def hat(x: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def positive(A: np.ndarray) -> np.ndarray:
    w, V = np.linalg.eigh(A)
    return (V * np.maximum(w, 0.0)) @ V.T


@dataclass
class Dense:
    """The matrix of twists and joint rows, and its right-hand side."""

    A: np.ndarray
    b: np.ndarray
    bodies: int

    def solve(self, wrenches: np.ndarray | None = None) -> np.ndarray:
        """Twists (bodies, 6) of the step, or those that impulses cause."""
        b = self.b if wrenches is None else np.concatenate([wrenches.reshape(-1), np.zeros(len(self.b) - wrenches.size)])
        return np.linalg.solve(self.A, b)[: 6 * self.bodies].reshape(-1, 6)


def unforced_rates(model: lw.Model, s: lw.MaximalState, i: int, v: np.ndarray) -> np.ndarray:
    """Rates of a joint whose drive feels nothing, as differences of twists in the axes of the start see them: v + H S^+ Z.

    Z = S_dot v + [phi, phi_rel] + (0, w x v_c)_rel; the drive's energy has no term in H^2.
    """
    body, A = model.bodies[i], model.armature[model.v_index(model.bodies[i].name)]
    phi, E = s.twists[i], s.poses[i] if body.parent < 0 else np.linalg.solve(s.poses[body.parent], s.poses[i])
    above = np.zeros(6) if body.parent < 0 else s.twists[body.parent]
    turns = np.cross(phi[:3], phi[3:] + np.cross(phi[:3], body.inertia.com))
    if body.parent >= 0:
        com = model.bodies[body.parent].inertia.com
        turns = turns - E[:3, :3].T @ np.cross(above[:3], above[3:] + np.cross(above[:3], com))
    relative_twist = phi - lw.Ad(lw.SE3(R=E[:3, :3], p=E[:3, 3]).inverse()) @ above
    tangent = body.joint.motion(lw.to_reduced(model, s).q[model.q_index(body.name)], v).tangent
    S = np.asarray(tangent.S, float)
    Z = np.asarray(tangent.bias, float) + lw.ad(phi) @ relative_twist + np.concatenate([np.zeros(3), turns])
    change = H * np.linalg.pinv(S) @ Z
    length = (v + change) @ (A * (v + change))
    return v if length == 0.0 else np.sqrt(max(0.0, 1.0 - change @ (A * change) / length)) * (v + change)


def dense(model: lw.Model, s: lw.MaximalState, tau: np.ndarray, external: np.ndarray, held: np.ndarray) -> Dense:
    """The equations of one solve, assembled body by body."""
    nb, joints, forces = model.nb, lw.to_reduced(model, s), lw.force_set(model)
    df_dq, df_dv = (x.dense(nb) for x in forces.derivatives(s.poses, s.twists, s.t + H, symmetrised=True))
    wrenches = forces.wrenches(s.poses, s.twists, s.t + H).reshape(-1)
    A = -H * df_dv - H * H * df_dq
    b = H * (wrenches - df_dv @ s.twists.reshape(-1) + external.reshape(-1))
    rows, targets = [], []
    for i, body in enumerate(model.bodies):  # between neighbours the coupling is symmetrised too, in child axes
        if body.parent >= 0:
            me, above = slice(6 * i, 6 * i + 6), slice(6 * body.parent, 6 * body.parent + 6)
            E = np.linalg.solve(s.poses[body.parent], s.poses[i])
            Ad_pj = lw.Ad(lw.SE3(R=E[:3, :3], p=E[:3, 3]))
            coupling = A[me, above] @ Ad_pj
            A[me, above] = 0.5 * (coupling + coupling.T) @ np.linalg.inv(Ad_pj)
            A[above, me] = A[me, above].T
    for i, body in enumerate(model.bodies):
        me, inertia, R = slice(6 * i, 6 * i + 6), body.inertia, s.poses[i, :3, :3]
        w, I = s.twists[i, :3], inertia.tensor
        slope = I + H * (hat(w) @ I - hat(I @ w))
        free = w - np.linalg.solve(slope, H * np.cross(w, I @ w))
        twist = np.concatenate([free, s.twists[i, 3:] + np.cross(w - free, inertia.com)])
        g = R.T @ model.gravity * inertia.mass
        A[me, me] += inertia.matrix
        b[me] += inertia.matrix @ twist + H * np.concatenate([np.cross(inertia.com, g), g])
        E = s.poses[i] if body.parent < 0 else np.linalg.solve(s.poses[body.parent], s.poses[i])
        Ad_jp = lw.Ad(lw.SE3(R=E[:3, :3], p=E[:3, 3]).inverse())
        relative_twist = np.zeros((6, 6 * nb))
        relative_twist[:, me] = np.eye(6)
        above = slice(6 * body.parent, 6 * body.parent + 6)
        if body.parent >= 0:
            relative_twist[:, above] = -Ad_jp
        q, v = joints.q[model.q_index(body.name)], joints.v[model.v_index(body.name)]
        Q = body.joint.motion(q, np.zeros(body.joint.nv))
        S = np.asarray(Q.tangent.S, float)
        k, at = SPRINGS.get(body.name, 0.0), model.v_index(body.name)
        resistance = model.armature[at] + H * model.damping[at] + H * H * k
        J = np.linalg.pinv(S) @ relative_twist
        A += J.T @ np.diag(resistance) @ J
        b += J.T @ (H * (tau[at] - (k * q if k else 0.0)) + model.armature[at] * unforced_rates(model, s, i, v))
        T = null_space(S.T)
        rows.append(T.T @ relative_twist)
        place = Q.with_tangent(None).inverse() @ body.placement.inverse() @ lw.SE3(R=E[:3, :3], p=E[:3, 3])
        targets.append(-T.T @ np.asarray(place.log(), float) / H)
        f = held[i, 3:]
        pulls = [(me, -inertia.com, f)]
        if body.parent >= 0:
            pulls.append((above, E[:3, 3] - model.bodies[body.parent].inertia.com, -E[:3, :3] @ f))
        for where, r, pull in pulls:
            turn = slice(where.start, where.start + 3)
            A[turn, turn] += H * H * positive(r @ pull * np.eye(3) - 0.5 * (np.outer(r, pull) + np.outer(pull, r)))
    G = np.concatenate(rows)
    return Dense(np.block([[A, G.T], [G, np.zeros((len(G), len(G)))]]), np.concatenate([b, *targets]), nb)


def inputs_of(
    model: lw.Model, program: Program, s: lw.MaximalState, tau: np.ndarray, external: np.ndarray, held: np.ndarray
) -> dict[str, np.ndarray]:
    """All that the program of a step takes, of one state."""
    parts = {name: np.reshape(getattr(s, name), (1, -1)) for name in ("poses", "twists", "q_fit")}
    kept = program.entered(model, parts, s.t) | {"held": held.reshape(1, -1)}
    found = kept | program.given(model, H) | {"tau": tau, "external": external.reshape(-1)}
    return {name: np.asarray(x, float).reshape(-1) for name, x in found.items()}


def step(model: lw.Model, stepper: BackwardEuler, s: lw.MaximalState, tau: Any, held: Any) -> tuple[lw.MaximalState, np.ndarray]:
    """The state after a step, and what the joints carried; a step that is not solved is refused."""
    program = stepper.program("maximal-implicit", model)
    inputs = inputs_of(model, program, s, tau, np.zeros((model.nb, 6)), held)
    out = implicit_laws(model).plan.run(program.algorithm, inputs, program.states, (1,))
    parts: Any = program.left(model, out)
    end = {name: parts[name].reshape(getattr(s, name).shape) for name in ("poses", "twists", "q_fit")}
    return lw.MaximalState(**end, t=float(out["t"][0, 0])), out["held"].reshape(-1, 6)


# --- one solve --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("model", [tree(), far()], ids=["neighbours", "far"])
def test_one_solve_is_that_of_the_dense_system(model: lw.Model) -> None:
    s, (tau, external, held) = moving(model, gap=1e-3), given(model)
    expected = dense(model, s, tau, external, held)
    shape, distant = collection(model).shape, implicit_laws(model).distant
    known = fields(shape, distant) | {"y": Field("output", "node", vector(6))}
    once = Algorithm(f"one_solve_{shape}_{distant}", known, {"run": implicit_step(shape, True, distant, 1, False)})
    program = BackwardEuler().program("maximal-implicit", model)
    inputs = inputs_of(model, program, s, tau, external, held)
    inputs = {name: inputs[name] for name, f in known.items() if f.kind in ("input", "state")}
    y = implicit_laws(model).plan.run(once, inputs, ("y",), (1,))["y"]
    assert relative(y.reshape(-1, 6), expected.solve()) < (1e-8 if distant else 1e-9)


def test_the_stiffness_of_a_pull_is_the_positive_part() -> None:
    rng = np.random.default_rng(0)
    for r, f in [*rng.normal(size=(5, 2, 3)), ([0, 0, 2.0], [0, 0, 3.0]), ([0, 0, 2.0], [0, 0, -3.0]), ([0, 0, 0], [1.0, 0, 0])]:
        r, f = np.asarray(r, float), np.asarray(f, float)
        expected = positive(r @ f * np.eye(3) - 0.5 * (np.outer(r, f) + np.outer(f, r)))
        assert np.abs(np.asarray(pull_stiffness(r, f), float) - expected).max() < 1e-12


def test_what_is_done_with_each_force() -> None:
    said = lw.force_report(far())
    assert {name for name, how in said.items() if "in the factor" in how} == set(NEAR)
    assert "beside the factor" in said[FAR]


# --- a converged step ---------------------------------------------------------------------------------------------------
def balance(model: lw.Model, s: lw.MaximalState, end: lw.MaximalState, held: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """What is left of momentum minus impulses, about the centres of mass in world axes (bodies, 6)."""
    before, after, forces = lw.to_reduced(model, s), lw.to_reduced(model, end), lw.force_set(model)
    wrenches = forces.wrenches(end.poses, end.twists, end.t)
    v = model.difference(s.q_fit, after.q) / H
    along = forces.joint_forces(after.q, v, end.t) + tau - model.damping * v - model.armature * (after.v - before.v) / H
    left = np.zeros((model.nb, 6))
    for i, body in enumerate(model.bodies):
        S = np.asarray(body.joint.motion(after.q[model.q_index(body.name)], np.zeros(body.joint.nv)).tangent.S, float)
        joint = held[i] + np.linalg.pinv(S).T @ along[model.v_index(body.name)]
        for at, W in ((i, wrenches[i] + joint), (body.parent, -joint)):
            if at >= 0:
                R, c = end.poses[i, :3, :3], end.poses[at] @ [*model.bodies[at].inertia.com, 1.0]
                f = R @ W[3:]
                left[at] -= H * np.concatenate([R @ W[:3] + np.cross(end.poses[i, :3, 3] - c[:3], f), f])
        m, com, I = body.inertia.mass, body.inertia.com, body.inertia.tensor
        for state, sign in ((end, 1.0), (s, -1.0)):
            R, w, u = state.poses[i, :3, :3], state.twists[i, :3], state.twists[i, 3:]
            left[i] += sign * np.concatenate([R @ I @ w, m * R @ (u + np.cross(w, com))])
        left[i, 3:] -= H * m * model.gravity
    return left


@pytest.mark.parametrize("model", [tree(), far()], ids=["neighbours", "far"])
def test_a_converged_step_obeys_newton_and_euler(model: lw.Model) -> None:
    s, (tau, _, held) = moving(model), given(model)
    stepper = BackwardEuler(newton=True, iterations=9 if model is tree() else 25)
    end, held = step(model, stepper, s, tau, held)
    assert np.abs(balance(model, s, end, held, tau)).max() < 1e-9
    closed = lw.kinematics(model, lw.to_reduced(model, end).q).poses
    assert np.abs(closed - end.poses).max() < 1e-12
    for i, body in enumerate(model.bodies):  # turned and moved by the twist of the end
        turn = s.poses[i, :3, :3].T @ end.poses[i, :3, :3]
        assert np.abs(np.asarray(lw.SE3.exp(H * np.array([*end.twists[i, :3], 0, 0, 0])).R) - turn).max() < 1e-10
        place, before = (x.poses[i] @ [*body.inertia.com, 1.0] for x in (end, s))
        u = end.poses[i, :3, :3] @ (end.twists[i, 3:] + np.cross(end.twists[i, :3], body.inertia.com))
        assert np.abs(place[:3] - before[:3] - H * u).max() < 1e-10


def test_rounds_converge_quadratically() -> None:
    """Without dampers on the ball joint, whose velocity turns with it, derivatives are exact."""
    model = lw.ModelBuilder().body("a", joint=CUSTOM["helix"], inertia=random_inertia(np.random.default_rng(1))).build()
    state = lw.to_maximal(model, lw.State(np.array([0.4]), np.array([3.0])))
    run = lw.simulate(model, state, 0.05, 0.05, "maximal-implicit", newton=True, iterations=5, tolerance=1e-12)
    assert run.health.joint_gap is not None
    assert run.health.joint_gap < 1e-12
    parts = lw.simulate(model, state, 0.05, 0.025, "maximal-implicit", newton=True)
    assert np.abs(parts.poses[-1] - run.poses[-1]).max() > 1e-6  # it was solved at once, not in parts


def test_a_step_that_is_not_solved_is_refused() -> None:
    with pytest.raises(lw.SolverError, match=r"step at t = 0\.3 is not solved.*halved 8 times"):
        lw.simulate(tree(), moving(tree()), H, H, "maximal-implicit", newton=True, iterations=1)
    with pytest.raises(lw.SolverError, match=r"not finite at t = 0\.3"):
        lw.Simulator(tree(), moving(tree()), H, "maximal-implicit", newton=True, iterations=1).step()
    with pytest.raises(lw.InputError, match="solves must be from 1"):
        lw.simulate(tree(), moving(tree()), H, H, "maximal-implicit", solves=0)


@pytest.mark.parametrize("model", [tree(), far()], ids=["neighbours", "far"])
def test_a_step_runs_as_it_stands(model: lw.Model) -> None:
    s, (tau, external, held) = moving(model), given(model)
    program = BackwardEuler(newton=True).program("maximal-implicit", model)
    inputs = inputs_of(model, program, s, tau, external, held)
    expected = eager.run(program.algorithm, implicit_laws(model).tree, inputs)
    out = implicit_laws(model).plan.run(program.algorithm, inputs, program.states, (1,))
    for name in program.states:
        assert relative(out[name][0], expected[name]) < 1e-9 or np.abs(out[name] - expected[name]).max() < 1e-9, name
