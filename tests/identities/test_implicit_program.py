"""Implicit steps as programs: against dense systems written out, eagerly, in batches; and what a step costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from dense_steps import Middle, definite_slopes, implicit_step, linearly_implicit
from dense_steps import rosenbrock as dense_rosenbrock
from identities.trees import compact_state, random_forest
from models import with_elements

import linkwork as lw
from linkwork.elements.collection import collection
from linkwork.kernel import eager
from linkwork.kernel.widths import SCALAR64
from linkwork.redmax.laws import RECURSIVE, stiff_laws
from linkwork.steppers import ALL_STEPPERS
from linkwork.steppers.implicit_program import ImplicitStepper
from linkwork.steppers.post_stabilised import post_stabilised, project
from linkwork.steppers.stepping import Stepping

KINDS = ("revolute", "revolute y", "prismatic", "spherical", "universal", "cylindrical", "custom", "helical")
STEP = 0.01
SHORT = 2e-3
BODIES = 7


# --- models -----------------------------------------------------------------------------------------------------------
def hinges(model: lw.Model) -> list[str]:
    return [b.name for b in model.bodies if b.joint.nv == 1 and b.joint.nq == 1]


def on_joints(model: lw.Model, at: lw.State) -> list[Any]:
    names = hinges(model)
    ball = [b.name for b in model.bodies if b.joint.nv == 3]
    found = [lw.JointSpring(names[0], 200.0, damping=3.0), lw.PDController(names[-1], 500.0, 20.0)]
    return [*found, *(lw.JointDamping(name, 2.0) for name in ball)]


def on_bodies(model: lw.Model, at: lw.State) -> list[Any]:
    return [
        lw.BodyDamping("b2", 3.0),
        lw.PointSpring("b1", "world", (0.1, 0, 0), (0.3, 0.2, 0.1), stiffness=200.0),
        lw.SpringDamper("b0", "world", (0.1, 0, 0), (0.5, 0, 0), stiffness=2000.0, rest_length=0.2, damping=10.0),
    ]


def between_neighbours(model: lw.Model, at: lw.State) -> list[Any]:
    """Between every body and its parent, either way round."""
    found: list[Any] = []
    for i, p in enumerate(model.parents):
        if p >= 0:
            a, b = (model.bodies[k].name for k in ((i, p) if i % 2 else (p, i)))
            found.append(lw.SpringDamper(a, b, (0.1, 0, 0.2), (0, 0.2, 0), stiffness=300.0, rest_length=0.2, damping=5.0))
    return [*found, lw.Bushing(model.bodies[-1].name, _parent(model, -1), stiffness=40.0, damping=1.0)]


def _parent(model: lw.Model, i: int) -> str:
    p = int(model.parents[i])
    return "world" if p < 0 else model.bodies[p].name


def loop(model: lw.Model, at: lw.State) -> list[Any]:
    a, b, poses = model.nb - 1, 1, lw.kinematics(model, at.q).poses
    point = np.array([0.1, 0.2, 0.3, 1.0])
    meets = np.linalg.inv(poses[b]) @ poses[a] @ point
    return [lw.Loop(model.bodies[a].name, model.bodies[b].name, point[:3], meets[:3] + 1e-3)]


def coupling(model: lw.Model, at: lw.State) -> list[Any]:
    names = hinges(model)
    a, b = (float(at.q[model.q_index(name)][0]) for name in (names[-1], names[0]))
    return [lw.Coupling(names[-1], names[0], 0.5, a - 0.5 * b + 1e-3)]


def distant(model: lw.Model, at: lw.State) -> list[Any]:
    """Between bodies that are no neighbours."""
    found: list[Any] = []
    for i in range(model.nb):
        for j in range(i):
            if j not in (model.parents[i],) and (i + j) % 3 == 0:
                a, b = model.bodies[i].name, model.bodies[j].name
                found.append(lw.SpringDamper(a, b, (0.1, 0, 0.2), (0, 0.2, 0), stiffness=300.0, rest_length=0.4, damping=5.0))
    return found


LAWS = {
    "bare": (),
    "joints": (on_joints,),
    "bodies": (on_bodies,),
    "neighbours": (on_bodies, between_neighbours),
    "loop": (loop,),
    "all": (on_joints, on_bodies, between_neighbours, loop, coupling),
    "distant": (on_joints, distant),
    "distant rows": (on_joints, on_bodies, between_neighbours, distant, loop, coupling),
}
EVERYWHERE = pytest.mark.parametrize(("laws", "seed"), [(laws, seed) for laws in LAWS for seed in (1, 2)])


def loaded(seed: int, laws: str, kinds: Sequence[str] = KINDS) -> tuple[lw.Model, lw.State]:
    model = random_forest(seed, BODIES, kinds)
    state = compact_state(model, seed)
    return with_elements(model, *(law for make in LAWS[laws] for law in make(model, state))), state


Step = Callable[[lw.State, lw.State | None], tuple[lw.State, np.ndarray]]  # from a state and the one before


def off(found: lw.Trajectory, step: Step, start: lw.State) -> float:
    """The largest difference of velocities and forces from those of a step written out, relative to their size."""
    now, before, worst = start, None, 0.0
    for k in range(1, len(found.t)):
        (now, forces), before = step(now, before), now
        pairs = [(found.v[k], now.v)] + ([] if found.forces is None else [(found.forces[k], forces)])
        worst = max(worst, *(float(np.abs(a - b).max() / (1.0 + np.abs(b).max())) for a, b in pairs))
    return worst


# --- linearly implicit --------------------------------------------------------------------------------------------------
ROUTES = ("auto", "dense", "pcg")


@pytest.mark.parametrize("route", ROUTES)
@EVERYWHERE
def test_the_program_is_the_dense_step(laws: str, seed: int, route: str) -> None:
    model, state = loaded(seed, laws)
    tau, external = np.linspace(-1, 1, model.nv), np.linspace(-2, 3, 6 * model.nb).reshape(-1, 6)
    given: dict[str, Any] = {"tau": tau, "external": external, "open_loops": "allow"}
    run = lw.simulate(model, state, 3 * STEP, STEP, "redmax", route=route, **given)
    middle = Middle(model)
    assert off(run, lambda s, _: linearly_implicit(model, s, STEP, tau, external, middle=middle), state) < 1e-9


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("laws", LAWS)
def test_definite_slopes_are_those_without_positive_eigenvalues(laws: str, route: str) -> None:
    model, state = loaded(1, laws)
    run = lw.simulate(model, state, 3 * STEP, STEP, "redmax", route=route, stiffness="definite", open_loops="allow")
    middle = Middle(model)
    assert off(run, lambda s, _: linearly_implicit(model, s, STEP, slopes=definite_slopes, middle=middle), state) < 1e-9


@pytest.mark.parametrize("laws", ["joints", "all", "distant rows"])
def test_rates_of_correction_are_those_of_redmax(laws: str) -> None:
    """With a rate, everything that moves with time is asked at the end of a step."""
    model, state = loaded(1, laws)
    name = hinges(model)[1]
    start = float(state.q[model.q_index(name)][0])
    moved = lw.PrescribedJoint(name, lambda t: (start + np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)))
    model = with_elements(model, *model.elements, moved)
    run = lw.simulate(model, state, 3 * STEP, STEP, "redmax", baumgarte=7.0, open_loops="allow")
    assert off(run, lambda s, _: linearly_implicit(model, s, STEP, rate=7.0), state) < 1e-9


@pytest.mark.parametrize("laws", ["joints", "all", "distant rows"])
def test_eager_is_compiled(laws: str) -> None:
    model, state = loaded(2, laws)
    program = ALL_STEPPERS["linearly_implicit"]().program("redmax", model)
    given = program.entered(model, {"q": state.q[None], "v": state.v[None]}, 0.0)
    inputs = {name: np.reshape(a, -1) for name, a in (given | program.given(model, STEP)).items()}
    found = eager.run(program.algorithm, stiff_laws(model).plan.tree, inputs)
    run = lw.simulate(model, state, STEP, STEP, "redmax", open_loops="allow")
    np.testing.assert_allclose(found["v"], run.v[-1], atol=1e-10 * (1.0 + np.abs(run.v).max()))
    np.testing.assert_allclose(found["q"], run.q[-1], atol=1e-12)


@pytest.mark.parametrize("laws", ["joints", "all", "distant rows"])
@pytest.mark.parametrize("stepper", ["linearly_implicit", "rosenbrock"])
def test_a_batch_is_its_states(stepper: str, laws: str) -> None:
    options: dict[str, Any] = {"stepper": stepper, "open_loops": "allow"}
    model, state = loaded(1, laws)
    rng = np.random.default_rng(5)
    states = [lw.State(model.integrate(state.q, 0.1 * rng.normal(size=model.nv)), rng.normal(size=model.nv)) for _ in range(5)]
    batch = lw.State(np.array([s.q for s in states]), np.array([s.v for s in states]))
    together = lw.simulate(model, batch, 4 * STEP, STEP, **options)
    for k, s in enumerate(states):
        alone = lw.simulate(model, s, 4 * STEP, STEP, **options)
        assert np.array_equal(together.q[k], alone.q)
        assert np.array_equal(together.v[k], alone.v)


# --- rosenbrock -------------------------------------------------------------------------------------------------------------
@EVERYWHERE
def test_rosenbrock_is_its_two_dense_solves(laws: str, seed: int) -> None:
    """Joints on groups differ by the brackets that order 2 leaves out."""
    model, state = loaded(seed, laws)
    state, h = project(model, state), 1e-3
    run = lw.simulate(model, state, 3 * h, h, stepper="rosenbrock", stabilise="none")
    assert off(run, lambda s, _: dense_rosenbrock(model, s, h), state) < 1e-8


@pytest.mark.parametrize("laws", ["loop", "all", "distant rows"])
def test_rosenbrock_is_put_back_after_every_step(laws: str) -> None:
    model, state = loaded(1, laws)
    state, h = project(model, state), 1e-3
    run = lw.simulate(model, state, 3 * h, h, stepper="rosenbrock")

    def step(s: lw.State, before: lw.State | None) -> tuple[lw.State, np.ndarray]:
        end, forces = dense_rosenbrock(model, s, h)
        return post_stabilised(model, end), forces

    assert off(run, step, state) < 1e-8


# --- stages by Newton's method --------------------------------------------------------------------------------------------
ADDING = ("revolute", "revolute y", "prismatic", "spherical exp", "universal", "cylindrical", "custom", "helical")
IMPLICIT = ("bdf1", "bdf2", "sdirk2")


@pytest.mark.parametrize("laws", ["bare", "joints", "neighbours", "all", "distant", "distant rows"])
@pytest.mark.parametrize("stepper", IMPLICIT)
def test_stages_are_solved_to_rounding(stepper: str, laws: str) -> None:
    model, state = loaded(1, laws, ADDING)
    state, method = project(model, state), ALL_STEPPERS[stepper]
    run = lw.simulate(model, state, 4 * SHORT, SHORT, stepper=stepper)
    assert issubclass(method, ImplicitStepper)
    assert off(run, lambda s, before: implicit_step(method, model, s, before, SHORT), state) < 1e-8


@pytest.mark.parametrize("stepper", IMPLICIT)
def test_a_tolerance_saves_rounds(stepper: str) -> None:
    model, state = chain(7), lw.State(np.linspace(-0.5, 0.5, 7), np.linspace(-1, 1, 7))
    tight, loose = (lw.simulate(model, state, 0.1, 1e-2, stepper=stepper, tolerance=x) for x in (0.0, 1e-6))
    assert 1e-13 < np.abs(loose.q - tight.q).max() < 1e-6
    batch = lw.simulate(model, lw.State(np.array([state.q] * 3), state.v), 0.1, 1e-2, stepper=stepper, tolerance=1e-6)
    assert all(np.array_equal(q, loose.q) for q in batch.q)


@pytest.mark.parametrize("laws", ["joints", "all", "distant rows"])
@pytest.mark.parametrize("stepper", IMPLICIT)
def test_stages_eagerly_and_in_batches(stepper: str, laws: str) -> None:
    model, state = loaded(2, laws, ADDING)
    rng = np.random.default_rng(5)
    states = [
        project(model, lw.State(state.q + 1e-2 * rng.normal(size=model.nq), (k + 1) * 0.2 * rng.normal(size=model.nv)))
        for k in range(5)
    ]
    batch = lw.State(np.array([s.q for s in states]), np.array([s.v for s in states]))
    together = lw.simulate(model, batch, 4 * SHORT, SHORT, stepper=stepper)
    for k, s in enumerate(states):
        alone = lw.simulate(model, s, 4 * SHORT, SHORT, stepper=stepper)
        assert np.array_equal(together.q[k], alone.q)
        assert np.array_equal(together.v[k], alone.v)
    program = ALL_STEPPERS[stepper]().program("reduced", model)
    given = program.entered(model, {"q": states[0].q[None], "v": states[0].v[None]}, 0.0)
    inputs = {name: np.reshape(a, -1) for name, a in (given | program.given(model, SHORT)).items()}
    found = eager.run(program.algorithm, stiff_laws(model).plan.tree, inputs)
    np.testing.assert_allclose(found["q"], together.q[0, 1], atol=1e-11)


@pytest.mark.parametrize("stepper", IMPLICIT)
def test_rounds_are_few(stepper: str) -> None:
    """Every round of an arm on stiff springs takes one or two digits off the error."""
    model, rounds = chain(7), []
    state = lw.State(np.linspace(-0.5, 0.5, 7), np.linspace(-1, 1, 7))
    program = ALL_STEPPERS[stepper]().program("reduced", model)
    run = Stepping(model, program, program.entered(model, {"q": state.q[None], "v": state.v[None]}, 0.0), 1e-3)
    run.push(None)
    for _ in range(50):
        run.step(np.zeros(7))
        rounds.append(run.reports["rounds"][0, 0])
    stages = 2 if stepper == "sdirk2" else 1
    print(f"{stepper}: {np.mean(rounds):.1f} rounds a step")
    assert np.mean(rounds) < 7 * stages


# --- cost ---------------------------------------------------------------------------------------------------------------
def chain(n: int) -> lw.Model:
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(mass=1.0, size=(0.3, 0.06, 0.05), com=(0.15, 0.01, 0.0))
    place = lw.SE3(p=(0.3, 0, 0))
    for k in range(n):
        joint = lw.Revolute((0, 1, 0) if k % 2 else (0, 0, 1))
        b.body(f"b{k}", parent=f"b{k - 1}" if k else "world", joint=joint, placement=place, inertia=rod)
        b.add(lw.JointSpring(f"b{k}", 50.0, damping=1.0))
    return b.build()


def flops(model: lw.Model, stepper: str) -> int:
    program = ALL_STEPPERS[stepper]().program("reduced", model)
    return program.plan(model, SCALAR64, ("tau", "external")).flops


@pytest.mark.parametrize("stepper", ["linearly_implicit", "rosenbrock", *IMPLICIT])
def test_the_cost_is_linear(stepper: str) -> None:
    found = [flops(chain(n), stepper) for n in (10, 20, 40)]
    assert found[2] - found[1] == pytest.approx(2 * (found[1] - found[0]), rel=1e-12)
    assert found[2] < 4.5 * found[0]


def test_laws_are_shared_between_models() -> None:
    """A chain of other length compiles nothing: its classes are known."""
    assert collection(chain(5)).shape == collection(chain(6)).shape
    assert stiff_laws(chain(5)).softness == (False, False, RECURSIVE, False)
