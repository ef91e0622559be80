"""The loaded tree in maximal coordinates: one program against reduced coordinates, against Baraff's elimination node by node, and
against dense systems with all joints as rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from identities.trees import compact_state, random_forest
from models import with_elements
from scipy.linalg import null_space

import linkwork as lw
from linkwork.elements.collection import collection
from linkwork.elements.derive import derive
from linkwork.elements.nodes import STILL
from linkwork.elements.ports import BodyAt, JointAt, starts
from linkwork.joints import Joint
from linkwork.kernel import eager
from linkwork.kernel.sweep import SCALAR, Algorithm, Field, Routine, outward
from linkwork.kernel.widths import lanes_for
from linkwork.maximal import program as maximal
from linkwork.maximal.carried import carried, carried_fields
from linkwork.maximal.convert import to_maximal
from linkwork.maximal.dynamics import maximal_dynamics
from linkwork.reduced import program as reduced
from linkwork.solvers.gram import gram
from linkwork.spatial.se3 import SE3, Ad
from linkwork.steppers.symplectic_euler import advance_time

KINDS = ("revolute", "revolute y", "prismatic", "spherical", "universal", "cylindrical", "custom", "helical")
PARTS = ("poses", "twists", "q_fit")
Arrays = dict[str, np.ndarray]


# --- models -----------------------------------------------------------------------------------------------------------
def hinges(model: lw.Model) -> list[str]:
    return [b.name for b in model.bodies if b.joint.nv == 1 and b.joint.nq == 1]


def springs(model: lw.Model, poses: np.ndarray) -> list[Any]:
    names = hinges(model)
    return [
        lw.JointSpring(names[0], 20.0, damping=0.3),
        lw.PDController(names[-1], 50.0, 2.0),
        lw.SpringDamper("b0", "world", (0.1, 0, 0), (0.5, 0, 0), stiffness=20.0, rest_length=0.2, damping=0.1),
        lw.SpringDamper(f"b{model.nb - 1}", "b1", (0.1, 0, 0), (0, 0.2, 0), stiffness=20.0, rest_length=0.2, damping=0.1),
    ]


def loop(model: lw.Model, poses: np.ndarray) -> list[Any]:
    a, b = model.body_index(f"b{model.nb - 1}"), model.body_index("b1")
    point = np.array([0.1, 0.2, 0.3, 1.0])
    meets = np.linalg.inv(poses[b]) @ poses[a] @ point
    return [lw.Loop(f"b{model.nb - 1}", "b1", point[:3], meets[:3])]


def coupling(model: lw.Model, poses: np.ndarray) -> list[Any]:
    names = hinges(model)
    return [lw.Coupling(names[-1], names[0], 0.5, 0.1)]


def contact(model: lw.Model, poses: np.ndarray) -> list[Any]:
    """One a millimetre deep, one that is far away."""
    low = poses[model.body_index("b2"), 2, 3] - 0.1
    deep, far = lw.Plane((0, 0, low + 1e-3), (0, 0, 1)), lw.Plane((0, 0, -50.0), (0, 0, 1))
    return [lw.Contact("b2", lw.Sphere(0.1), "world", deep), lw.Contact("b1", lw.Sphere(0.1), "world", far)]


LAWS = {
    "bare": (),
    "springs": (springs,),
    "loop": (loop,),
    "coupling": (coupling,),
    "contact": (contact,),
    "all": (springs, loop, coupling, contact),
}


def loaded(seed: int, n: int, laws: str) -> tuple[lw.Model, lw.State]:
    """A model with laws, and a state in which its loop is closed and one of its contacts too."""
    model = random_forest(seed, n, KINDS)
    state = compact_state(model, seed)
    poses = to_maximal(model, state).poses
    return with_elements(model, *(law for make in LAWS[laws] for law in make(model, poses))), state


def apart(model: lw.Model, state: lw.State, seed: int, size: float) -> lw.MaximalState:
    """The bodies of a state, somewhat off their joints."""
    s, rng = to_maximal(model, state), np.random.default_rng(seed)
    poses = np.array([E @ np.asarray(SE3.exp(size * rng.normal(size=6)).matrix, float) for E in s.poses])
    return lw.MaximalState(poses, s.twists + size * rng.normal(size=s.twists.shape), s.q_fit)


# --- programs ---------------------------------------------------------------------------------------------------------
def in_maximal(model: lw.Model) -> Algorithm:
    shape = collection(model).shape
    fields = {**maximal.fields(shape), **carried_fields(), "free_v": Field("output", "v")}
    fields |= {"free": Field("output", "node", maximal.vector(6))}
    steps = [outward(maximal.fit), *maximal.dynamics(shape, "acceleration"), *carried(shape, "acceleration")]
    return Algorithm(f"maximal_accelerations_{shape}", fields, {"run": steps})


def in_reduced(model: lw.Model) -> Algorithm:
    shape = collection(model).shape
    fields = {**reduced.fields(shape), "q": Field("input", "q"), "v": Field("input", "v"), "free_v": Field("output", "v")}
    return Algorithm(f"reduced_accelerations_{shape}", fields, {"run": reduced.dynamics(shape, "acceleration")})


def a_step(model: lw.Model) -> Algorithm:
    shape = collection(model).shape
    steps = [*maximal.step(shape, 2), Routine(advance_time, ("t", "h"))]
    return Algorithm(f"maximal_step_{shape}", maximal.step_fields(shape), {"run": steps})


def given(model: lw.Model, state: lw.State | lw.MaximalState, batch: int = 1) -> Arrays:
    kept = {"q": state.q, "v": state.v} if isinstance(state, lw.State) else {k: getattr(state, k) for k in PARTS}
    found = {k: np.tile(np.reshape(a, -1), (batch, 1)) for k, a in kept.items()}
    return {**found, "gravity": model.gravity, "t": np.zeros((batch, 1)), **laws_of(model, batch)}


def laws_of(model: lw.Model, batch: int) -> Arrays:
    c, found = collection(model), {}
    if c.forces:
        found["u"] = c.initial_inputs
    return found


def of_step(model: lw.Model, state: lw.MaximalState, h: float, batch: int = 1) -> Arrays:
    further = {"h": np.array([h]), "correction": np.array([0.2]), "last": np.zeros((batch, 6 * model.nb))}
    further |= {"pull": further["last"]} if collection(model).rows else {}
    return given(model, state, batch) | further


def run(model: lw.Model, algorithm: Algorithm, inputs: Arrays, wanted: tuple[str, ...], records: int = 1) -> Arrays:
    """The results (batch, records, size) of the compiled program."""
    batch = len(inputs["t"])
    wanted = tuple(name for name in wanted if name in algorithm.fields)
    absent = ("tau", "external", *(name for name in algorithm.of_kind("output") if name not in wanted))
    plan = collection(model).plan(algorithm, lanes_for(batch, np.float64), ("run",), absent)
    out = {name: np.empty((batch, records, plan.sizes[name])) for name in wanted}
    plan.run(inputs, out, batch, records)
    return out


def one(model: lw.Model, algorithm: Algorithm, inputs: Arrays, *wanted: str) -> Arrays:
    return {name: a[0, 0] for name, a in run(model, algorithm, inputs, wanted).items()}


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max(initial=0.0) / (1.0 + np.abs(b).max(initial=0.0)))


# --- the dense system -------------------------------------------------------------------------------------------------
class Dense:
    """All bodies, joints and rows of a maximal state: matrices of the whole system, nothing eliminated.

    M, J     inertia of the bodies; the rows T^T (phi_j - pull phi_p) of all joints
    F        maps joint forces to wrenches on bodies
    G        the rows of all constraints
    H        of (rates of twists, drives, joints)
    """

    def __init__(self, model: lw.Model, state: lw.MaximalState) -> None:
        self.model, nb = model, model.nb
        q = state.q_fit
        poses = [SE3(R=E[:3, :3], p=E[:3, 3]) for E in state.poses]
        size, rows, forces = 6 * nb, [], np.zeros((6 * nb, model.nv))
        M = np.zeros((size, size))
        self.v = np.zeros(model.nv)
        for i, b in enumerate(model.bodies):
            own, at = slice(6 * i, 6 * i + 6), model.v_index(b.name)
            M[own, own] = b.inertia.matrix
            S = np.array(b.joint.motion(q[model.q_index(b.name)], np.zeros(b.joint.nv)).tangent.S, float)
            relative = np.zeros((6, size))
            relative[:, own] = np.eye(6)
            if b.parent >= 0:
                relative[:, 6 * b.parent : 6 * b.parent + 6] = -np.array(Ad(poses[i].inverse() @ poses[b.parent]), float)
            rows.append(null_space(S.T).T @ relative)
            forces[:, at] = relative.T @ S @ np.linalg.inv(S.T @ S)
            self.v[at] = forces[:, at].T @ state.twists.reshape(-1)
        self.J, self.F, A = np.concatenate(rows), forces, np.diag(model.armature)
        self.H = np.block([[M + forces @ A @ forces.T, self.J.T], [self.J, np.zeros((len(self.J), len(self.J)))]])
        self.G = self._rows(poses, state)

    def _rows(self, poses: list[SE3], state: lw.MaximalState) -> np.ndarray:
        m, c = self.model, collection(self.model)
        out = [np.zeros((0, 6 * m.nb))]
        for law, bodies, kinds in zip(c.rows, c.row_nodes.bodies, c.row_nodes.kinds, strict=True):
            at: list[Any] = []
            for i, kind in zip(bodies, kinds, strict=True):
                b = m.bodies[i]
                if isinstance(kind, Joint):
                    at.append(JointAt(kind, state.q_fit[m.q_index(b.name)], self.v[m.v_index(b.name)]))
                else:
                    at.append(BodyAt(SE3(), np.zeros(6)) if kind == STILL else BodyAt(poses[i], state.twists[i]))
            block, first = np.array(derive(law, at, 0.0, np.zeros(0)).G, float), starts(at)
            G = np.zeros((law.size, 6 * m.nb))
            for k, (i, kind) in enumerate(zip(bodies, kinds, strict=True)):
                part = block[:, first[k] : first[k + 1]]
                if isinstance(kind, Joint):
                    G += part @ self.F[:, m.v_index(m.bodies[i].name)].T
                elif kind != STILL:
                    G[:, 6 * i : 6 * i + 6] += part
            out.append(G)
        return np.concatenate(out)

    @property
    def delassus(self) -> np.ndarray:
        """G H^-1 G^T."""
        size = 6 * self.model.nb
        right = np.concatenate([self.G.T, np.zeros((len(self.J), len(self.G)))])
        return self.G @ np.linalg.solve(self.H, right)[:size]


# --- tests ------------------------------------------------------------------------------------------------------------
CASES = [(seed, 8 + seed, laws) for seed in (0, 1, 3, 4) for laws in LAWS]  # the loop of 2 is in a singular position
NAMES = [f"{seed}-{laws}" for seed, _, laws in CASES]


@pytest.mark.parametrize(("seed", "n", "laws"), CASES, ids=NAMES)
def test_accelerations_and_multipliers_are_those_of_reduced_coordinates(seed: int, n: int, laws: str) -> None:
    model, state = loaded(seed, n, laws)
    ours = one(model, in_maximal(model), given(model, to_maximal(model, state)), "free_v", "x", "growth", "left")
    theirs = one(model, in_reduced(model), given(model, state), "free_v", "x")
    assert relative(ours["free_v"], theirs["free_v"]) < 1e-9
    if collection(model).rows:
        assert relative(ours["x"], theirs["x"]) < 1e-9
    assert 1.0 <= ours["growth"][0] < 1e6


@pytest.mark.parametrize("seed", range(6))
def test_bodies_off_their_joints_are_those_of_the_elimination_node_by_node(seed: int) -> None:
    model = random_forest(seed, 9, KINDS)
    state = apart(model, compact_state(model, seed), seed, 0.02)
    ours = one(model, in_maximal(model), given(model, state), "free_v", "free", "lam", "wrench", "q_fit")
    theirs = maximal_dynamics(model, lw.MaximalState(state.poses, state.twists, ours["q_fit"]))
    assert relative(ours["free_v"], theirs.a) < 1e-10
    assert relative(ours["free"], theirs.twists_dot.reshape(-1)) < 1e-10
    assert relative(ours["lam"], theirs.lam) < 1e-10
    assert relative(ours["wrench"], theirs.wrenches.reshape(-1)) < 1e-10


@pytest.mark.parametrize("laws", ["loop", "coupling", "all"])
@pytest.mark.parametrize("seed", range(3))
def test_the_matrix_of_the_rows_is_that_of_the_dense_system(seed: int, laws: str) -> None:
    model, state = loaded(seed, 8, laws)
    state = apart(model, state, seed, 0.02)
    shape = collection(model).shape
    steps = maximal.dynamics(shape, "acceleration")
    last = next(k for k, s in enumerate(steps) if isinstance(s, Routine) and s.function is gram)
    fields = {**maximal.fields(shape), "A": Field("output", "pair", SCALAR), "on": Field("output", "rows", of="constraint")}
    algorithm = Algorithm(f"maximal_matrix_{shape}", fields, {"run": steps[: last + 1]})
    found = one(model, algorithm, given(model, state), "A", "on")
    on = found["on"] > 0.0
    A = Dense(model, state).delassus[np.ix_(on, on)]
    packed = found["A"][: on.sum() * (on.sum() + 1) // 2]
    assert np.abs(packed - A[np.tril_indices(on.sum())]).max() < 1e-12 * np.abs(A).max()


@pytest.mark.parametrize("laws", ["springs", "all"])
def test_the_motion_solves_the_dense_system(laws: str) -> None:
    """What laws change: H (da, ...) = (forces + G^T x, 0); x as the program finds it."""
    model, start = loaded(1, 9, laws)
    state = apart(model, start, 1, 0.02)
    found = one(model, in_maximal(model), given(model, state), "free", "x", "q_fit")
    state = lw.MaximalState(state.poses, state.twists, found["q_fit"])
    dense, size = Dense(model, state), 6 * model.nb
    bare = with_elements(model)
    without = one(bare, in_maximal(bare), given(bare, state), "free")
    rows = np.zeros(0) if "x" not in found else found["x"]
    forces = forces_of(model, state, dense)
    right = np.concatenate([forces + dense.G.T @ rows, np.zeros(len(dense.J))])
    change = np.linalg.solve(dense.H, right)[:size]
    assert relative(found["free"] - without["free"], change) < 1e-9


def forces_of(model: lw.Model, state: lw.MaximalState, dense: Dense) -> np.ndarray:
    """The wrenches of all forces on all bodies (6 bodies,), one force at a time."""
    c, out = collection(model), np.zeros(6 * model.nb)
    for law, bodies, kinds in zip(c.forces, c.force_nodes.bodies, c.force_nodes.kinds, strict=True):
        at: list[Any] = []
        for i, kind in zip(bodies, kinds, strict=True):
            b, E = model.bodies[i], state.poses[i]
            if isinstance(kind, Joint):
                at.append(JointAt(kind, state.q_fit[model.q_index(b.name)], dense.v[model.v_index(b.name)]))
            else:
                still = kind == STILL
                at.append(BodyAt(SE3(), np.zeros(6)) if still else BodyAt(SE3(R=E[:3, :3], p=E[:3, 3]), state.twists[i]))
        for i, kind, load in zip(bodies, kinds, law.loads(at, 0.0, law.initial_inputs()), strict=True):
            if isinstance(kind, Joint):
                out += dense.F[:, model.v_index(model.bodies[i].name)] @ np.asarray(load, float)
            elif kind != STILL:
                out[6 * i : 6 * i + 6] += np.asarray(load, float)
    return out


@pytest.mark.parametrize("laws", list(LAWS))
def test_eager_is_compiled(laws: str) -> None:
    model, state = loaded(4, 10, laws)
    inputs = of_step(model, to_maximal(model, state), 1e-3)
    algorithm = a_step(model)
    compiled = one(model, algorithm, inputs, "poses", "twists", "q_fit", "last", "x", "t", "growth")
    first = {k: a[0] if a.ndim > 1 else a for k, a in inputs.items()}
    reference = eager.run(algorithm, collection(model).tree, first)
    for name, a in compiled.items():
        assert relative(a, reference[name]) < 1e-9, name


@pytest.mark.parametrize("laws", list(LAWS))
def test_lanes_of_a_batch_are_single_states(laws: str) -> None:
    """Bitwise, with neighbours that do something else."""
    model, start = loaded(3, 9, laws)
    rng = np.random.default_rng(3)
    near = [lw.State(model.integrate(start.q, 1e-3 * rng.normal(size=model.nv)), start.v) for _ in range(11)]
    states = [to_maximal(model, s) for s in near]
    algorithm, names = a_step(model), ("poses", "twists", "q_fit", "x")
    singles = [run(model, algorithm, of_step(model, s, 1e-3), names, 5) for s in states]
    together = [of_step(model, s, 1e-3) for s in states]
    shared = ("gravity", "u", "h", "correction")
    inputs = {k: a if k in shared else np.concatenate([t[k] for t in together]) for k, a in together[0].items()}
    batch = run(model, algorithm, inputs, names, 5)
    for name, a in batch.items():
        for lane, single in zip(a, singles, strict=True):
            assert np.array_equal(lane, single[name][0]), name


# --- steps ------------------------------------------------------------------------------------------------------------
def body(tensor: Any, w: Any, gravity: float, com: Any = (0, 0, 0)) -> tuple[lw.Model, lw.MaximalState]:
    b = lw.ModelBuilder(gravity=(0, 0, -gravity))
    b.body("a", joint=lw.Free(), inertia=lw.Inertia(1.0, com, np.diag(tensor)))
    model = b.build()
    return model, to_maximal(model, lw.State(q=model.neutral(), v=np.array([*w, 0, 0, 0], float)))


def test_a_spinning_body_keeps_its_energy() -> None:
    model, state = body((1, 1, 0.2), (1, 0, 50), 0.0)
    w = run(model, a_step(model), of_step(model, state, 1e-3), ("twists",), 60_000)["twists"][0, :, :3]
    energy = 0.5 * np.sum(w * w * (1, 1, 0.2), axis=1)
    assert np.abs(energy / 250.5 - 1.0).max() < 1e-3


@pytest.mark.parametrize("com", [(0, 0, 0), (0.1, 0.2, 0.3)])
def test_a_turning_body_falls_on_a_parabola(com: Any) -> None:
    model, state = body((0.04, 0.04, 0.02), (2, 4, 6), 9.81, com)
    poses = run(model, a_step(model), of_step(model, state, 1e-3), ("poses",), 10_000)["poses"][0, -1].reshape(4, 4)
    centre = np.asarray(com, float)
    expected = centre + 10.0 * np.cross((2, 4, 6), centre) + (0, 0, -490.5)
    assert np.linalg.norm((poses @ [*centre, 1.0])[:3] - expected) < 0.1


@pytest.mark.parametrize("armature", [0.0, 5.0])
def test_drives_in_a_turning_frame_keep_their_energy(armature: float) -> None:
    """A slide on a spring swings in and out of an arm that turns; most of the energy of the slide is in its drive."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.body("arm", joint=lw.Revolute((0, 0, 1)), inertia=lw.Inertia.cuboid(mass=1.0, size=(1, 0.1, 0.1)))
    box = lw.Inertia.cuboid(mass=0.3, size=(0.1, 0.1, 0.1))
    b.body("s", parent="arm", joint=lw.Prismatic((1, 0, 0)), placement=lw.SE3(p=(0.3, 0, 0)), inertia=box, armature=armature)
    model = b.add(lw.JointSpring("s", 200.0)).build()
    start = to_maximal(model, lw.State(np.zeros(2), np.array([10.0, 0.0])))
    out = run(model, a_step(model), of_step(model, start, 1e-3), ("twists", "q_fit"), 20_000)
    twists, q = out["twists"][0].reshape(-1, 2, 6), out["q_fit"][0, :, 1]
    kinetic = sum(np.einsum("ki,ij,kj->k", twists[:, i], b.inertia.matrix, twists[:, i]) for i, b in enumerate(model.bodies))
    energy = 0.5 * (kinetic + armature * twists[:, 1, 3] ** 2 + 200.0 * q * q)
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-2
    assert abs(energy[-3000:].mean() / energy[:3000].mean() - 1.0) < 1e-3


def test_joints_stay_closed() -> None:
    """Gaps shrink at least with h^3, and what follows the bodies is what fits them."""
    model, state = loaded(0, 8, "springs")
    gaps = []
    for h in (2e-3, 1e-3):
        out = run(model, a_step(model), of_step(model, to_maximal(model, state), h), ("poses", "twists", "q_fit"), int(0.2 / h))
        end = lw.MaximalState(out["poses"][0, -1].reshape(-1, 4, 4), out["twists"][0, -1].reshape(-1, 6), out["q_fit"][0, -1])
        gaps.append(largest_gap(model, end.poses, end.q_fit))
        assert np.abs(lw.to_reduced(model, end).q - end.q_fit).max() < 1e-10
    assert gaps[1] < 1e-6
    assert gaps[0] / gaps[1] > 6.0


def test_steps_are_of_first_order() -> None:
    model, state = loaded(0, 8, "springs")
    exact = lw.simulate(model, state, 0.1, 0.1, stepper="dop853", rtol=1e-11, atol=1e-12).final.q
    errors = []
    for h in (1e-3, 5e-4, 2.5e-4):
        out = run(model, a_step(model), of_step(model, to_maximal(model, state), h), ("q_fit",), round(0.1 / h))
        errors.append(np.abs(out["q_fit"][0, -1] - exact).max())
    assert np.diff(np.log2(errors)) == pytest.approx(-1.0, abs=0.15)


def test_loops_stay_closed_to_second_order() -> None:
    model, state = loaded(0, 8, "loop")
    law, at, gaps = collection(model).rows[0], [model.body_index(name) for name in ("b7", "b1")], []
    for h in (2e-3, 1e-3):
        poses = run(model, a_step(model), of_step(model, to_maximal(model, state), h), ("poses",), int(0.2 / h))["poses"][0, -1]
        E = [SE3(R=X[:3, :3], p=X[:3, 3]) for X in poses.reshape(-1, 4, 4)[at]]
        gaps.append(np.abs(np.asarray(law.gap_of(E, 0.0, np.zeros(0)), float)).max())
    assert gaps[1] < 1e-4
    assert gaps[0] / gaps[1] > 3.0


def test_rows_move_with_time() -> None:
    """A point of a body is led along a line."""
    led = lw.ModelBuilder()
    led.body("a", joint=lw.Free(), inertia=lw.Inertia.sphere(1.0, 0.2))
    led.add(lw.constraint(("a",), lambda E, t: E[0] @ np.array([0.1, 0.0, 0.0]) - np.array([0.1, 0.0, 0.0]) - t * np.ones(3)))
    model = led.build()
    start = to_maximal(model, lw.State(q=model.neutral(), v=np.array([0, 0, 0, 1.0, 1.0, 1.0])))
    out = run(model, a_step(model), of_step(model, start, 1e-3), ("poses", "t"), 500)
    point = out["poses"][0, -1].reshape(4, 4) @ [0.1, 0, 0, 1]
    assert out["t"][0, -1, 0] == pytest.approx(0.5)
    assert np.abs(point[:3] - (0.6, 0.5, 0.5)).max() < 1e-4


def largest_gap(model: lw.Model, poses: np.ndarray, q: np.ndarray) -> float:
    """Between a body and where its joint, at the coordinate that fits, would have it."""
    found = []
    for i, b in enumerate(model.bodies):
        above = np.eye(4) if b.parent < 0 else poses[b.parent]
        joint = np.asarray((b.placement @ b.joint.transform(q[model.q_index(b.name)])).matrix, float)
        found.append(np.abs(above @ joint - poses[i]).max())
    return max(found)


def euler(angle: float) -> tuple[lw.Model, np.ndarray]:
    b = lw.ModelBuilder().body("a", joint=lw.SphericalEuler("zyx"), inertia=lw.Inertia.sphere(1.0, 0.1))
    return b.build(), np.array([0.2, angle, 0.1])


def pendulum(height: float) -> tuple[lw.Model, np.ndarray]:
    """A point of mass at this distance from its hinge."""
    b = lw.ModelBuilder().body("a", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia(1.0, (0, 0, height)))
    return b.build(), np.zeros(1)


@pytest.mark.parametrize(
    ("case", "sound"),
    [(euler(0.3), True), (euler(np.pi / 2), False), (pendulum(0.5), True), (pendulum(0.0), False)],
    ids=["turned", "gimbal lock", "point of mass", "on its hinge"],
)
def test_a_pivot_that_vanishes_is_reported(case: tuple[lw.Model, np.ndarray], sound: bool) -> None:
    model, q = case
    state = to_maximal(model, lw.State(q=q, v=np.zeros(model.nv)))
    growth = one(model, in_maximal(model), given(model, state), "growth")["growth"][0]
    assert bool(growth < 1e12) == sound
