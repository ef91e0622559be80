"""The program of an assembly: one state or many, compiled or as it stands, on the forest or beside it, always the same motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from models import relative

import linkwork as lw
from linkwork.assembly.conditions import Above, Distance, Gear, Pin, TurnLimit, condition
from linkwork.assembly.interactions import Spring
from linkwork.assembly.parts import Body2D, Body3D, Particle
from linkwork.assembly.passes import pass_algorithm
from linkwork.assembly.stepping import MEMORY, PASSES, step_algorithm
from linkwork.kernel import eager
from linkwork.kernel.lanes import Lanes
from linkwork.scenes import baraff


def linkage() -> lw.Assembly:
    """A loop of rods with a stop, a spring, a damper, and a foot that stays above the ground."""
    a = lw.Assembly((0.2, -9.81))
    places = {"a": (0.5, 0.0, 0.1), "b": (1.4, 0.3, 0.7), "c": (1.2, 1.0, 2.0), "d": (0.3, 0.6, -1.0)}
    for name, x in places.items():
        a.add(name, Body2D(1.0, 0.1, (0.05, -0.02)), x, (0.1, -0.2, 0.3))
    a.connect(Pin("a", at_a=(-0.5, 0.0), at_b=(0.0, 0.0), space=2))
    for one, other in (("b", "a"), ("c", "b"), ("d", "a")):
        a.connect(Pin(one, other, (-0.4, 0.0), (0.5, 0.1), space=2))
    a.connect(Distance("c", "d", 0.9, (0.3, 0.0), (0.2, 0.1)))
    a.connect(TurnLimit("b", "a", -0.8, 0.8))
    a.connect(Above("c", (0.3, 0.1), (0.0, 1.0), -0.5))
    a.attach(Spring("d", "world", 40.0, 0.3, 2.0, (0.1, 0.0), (0.0, 1.0)))
    a.attach(Spring("c", "a", 15.0))
    return a


def spatial() -> lw.Assembly:
    """Rods in space on a wire, the last one tied to the world, and a ball that hits the ground."""
    a = lw.Assembly((0.0, 0.0, -9.81))
    rod = Body3D(lw.Inertia.cuboid(1.0, (1.0, 0.1, 0.2), (0.5, 0.0, 0.0)))
    for k in range(3):
        a.add(f"rod{k}", rod, rod.coordinates(lw.SE3(p=(float(k), 0.0, 0.0))), (0.3 * k, 0.1, 0.0, 0.0, 0.0, 0.0))
        a.connect(Pin("rod0", at_a=(0, 0, 0), at_b=(0, 0, 0)) if k == 0 else Pin(f"rod{k}", f"rod{k - 1}", (0, 0, 0), (1, 0, 0)))
    a.connect(condition(lambda rod, t: [rod.point((1.0, 0.0, 0.0))[1] - 0.1 * t * t], ["rod2"], 1))
    a.add("ball", Particle(0.5), (0.0, 1.0, 0.05), (1.0, 0.0, -1.0))
    a.connect(Above("ball"))
    return a


def rubbing() -> lw.Assembly:
    """A contact whose force is inclined: the matrix of the multipliers is not symmetric."""
    a = lw.Assembly((0.0, -9.81))
    a.add("a", Body2D(1.0, 0.1), (0.0, 0.1, 0.4), (1.0, -0.1, 0.0))
    a.add("b", Body2D(1.0, 0.1), (1.0, 0.3, -0.4))
    a.connect(Pin("b", "a", (-0.5, 0.0), (0.5, 0.0), space=2))
    for name in "ab":
        at = (0.0, -0.1)
        along = lambda p, at=at: [p.velocity(at)[1] - 0.3 * p.velocity(at)[0]]  # noqa: E731
        a.connect(condition(lambda p, at=at: [p.point(at)[1]], [name], 1, unilateral=True, along=along))
    return a


SYSTEMS: dict[str, Callable[[], lw.Assembly]] = {
    "linkage": linkage,
    "spatial": spatial,
    "rubbing": rubbing,
    "closed flower": baraff.closed_flower,
}


def scattered(a: lw.Assembly, count: int) -> lw.State:
    """States around the start, on the conditions as far as a step of Newton leads."""
    rng = np.random.default_rng(4)
    q = np.array([a.normalised(a.start.q + 0.02 * rng.normal(size=a.start.q.shape)) for _ in range(count)])
    v = a.start.v + 0.2 * rng.normal(size=(count, len(a.start.v)))
    return lw.State(np.array([a.projected(lw.State(x, u)) for x, u in zip(q, v, strict=True)]), v, 0.3)


@pytest.mark.parametrize("name", SYSTEMS)
def test_many_runs_are_single_runs_to_the_bit(name: str) -> None:
    a = SYSTEMS[name]()
    states = scattered(a, 19)
    many = a.simulate(0.04, 5e-3, state=states, restitution=0.3, every=2)
    assert many.q.shape == (19, 5, len(a.start.q))
    assert many.residual[:, -1].max() < 1e-5  # what has just met is a step of Newton away
    np.testing.assert_array_equal(a.simulate(0.04, 5e-3, state=states, restitution=0.3, every=2, threads=2).q, many.q)
    solved = a.accelerations(states)
    for k in range(19):
        one = a.simulate(0.04, 5e-3, state=lw.State(states.q[k], states.v[k], states.t), restitution=0.3, every=2)
        np.testing.assert_array_equal(one.q, many.q[k])
        np.testing.assert_array_equal(one.v, many.v[k])
        alone = a.accelerations(lw.State(states.q[k], states.v[k], states.t))
        np.testing.assert_array_equal(alone.motion, solved.motion[k])
        np.testing.assert_array_equal(alone.multipliers, solved.multipliers[k])


@pytest.mark.parametrize("name", ["linkage", "spatial", "rubbing"])
def test_the_compiled_step_is_the_step_as_it_stands(name: str) -> None:
    """Every pass of two steps, run on floats without compiling anything."""
    a = SYSTEMS[name]()
    layout, state, h = a.layout, a.start, 1e-2
    given = {
        "gravity": a.gravity,
        "begin": np.zeros(1),
        "h": np.array([h]),
        "scheme": np.array([1.0, 1.0, 0.0, 0.0, 0.5]),
        "f": np.ones_like(state.v),
    }
    kept = {"q": state.q, "v": state.v, "steps": np.zeros(1), "passing": np.zeros(1), "growth": np.zeros(int(layout.dims.sum()))}
    kept |= {"off": np.zeros(len(layout.auxiliary_rows))}
    kept |= {name: np.zeros_like(state.q if name[0] == "q" else state.v) for name in MEMORY}
    for _ in range(2 * PASSES):
        found = eager.run(step_algorithm(layout.extent), layout.tree, {**given, **kept})
        kept |= {name: found[name] for name in kept if name in found}
    run = a.simulate(2 * h, h, np.ones_like(state.v), restitution=0.5)
    assert kept["steps"] == 2.0
    assert relative(run.q[-1], kept["q"]) < 1e-10
    assert relative(run.v[-1], kept["v"]) < 1e-9


def test_forces_from_python_go_through_the_same_program() -> None:
    """Forces that do not change, told at every stage or once."""
    a = linkage()
    f = np.linspace(-1.0, 1.0, 12)
    told, once = a.simulate(0.05, 1e-2, lambda state: f), a.simulate(0.05, 1e-2, f)
    np.testing.assert_array_equal(told.q, once.q)
    np.testing.assert_array_equal(told.v, once.v)
    many = a.simulate(0.05, 1e-2, lambda state: f, state=lw.State(np.tile(a.start.q, (3, 1)), np.tile(a.start.v, (3, 1))))
    np.testing.assert_array_equal(many.q[2], once.q)


def dense(a: lw.Assembly, state: lw.State) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations and multipliers of the whole matrix."""
    s, n = a.system(state), len(state.v)
    M = np.zeros((n, n))
    for name, part in zip(a.names, a.parts, strict=True):
        M[a.v_index(name), a.v_index(name)] = np.asarray(part.mass(state.q[a.q_index(name)]), float)
    H = np.block([[M, -s.J.T], [s.J, np.zeros((len(s.J), len(s.J)))]])
    x = np.linalg.solve(H, np.concatenate([s.forces, s.loads]))
    return x[:n], x[n:]


@pytest.mark.parametrize("kept_out", [0, 3, 10])
def test_rows_beside_the_forest_are_those_of_the_whole_matrix(kept_out: int) -> None:
    """Whichever conditions are kept from the tree, along their ways to the root."""
    a = lw.Assembly((0.3, -9.81))
    rng = np.random.default_rng(8)
    for k in range(12):
        a.add(f"b{k}", Body2D(*rng.uniform(0.5, 1.5, 2), rng.normal(size=2)), rng.normal(size=3), rng.normal(size=3))
    a.connect(Pin("b0", at_a=rng.normal(size=2), at_b=rng.normal(size=2), space=2))
    for k in range(1, 12):
        pin = Pin(f"b{k}", f"b{(k - 1) // 2}", rng.normal(size=2), rng.normal(size=2), 2)
        a.connect(pin, auxiliary=k > 11 - kept_out)
    a.connect(Distance("b11", "b4", 0.8, (0.1, 0.2), (0.3, -0.1)))
    assert len(a.layout.auxiliary) == max(1, kept_out)
    z, lam = dense(a, a.start)
    found = a.accelerations(a.start)
    assert relative(found.motion, z) < 1e-10
    assert relative(found.multipliers, lam) < 1e-10


# --- conditions on a part alone, and on many ---------------------------------------------------------------------------------
def train(wheels: int) -> lw.Assembly:
    """Wheels in a row, each held by the ground and geared to the one before."""
    a, r = lw.Assembly((0.0, -9.81)), 0.1
    for k in range(wheels):
        a.add(f"w{k}", Body2D(1.0, 0.5 * r * r), (2 * r * k, 0.0, 0.3 * k))
        a.connect(Pin(f"w{k}", at_a=(0.0, 0.0), at_b=(2 * r * k, 0.0), space=2))
    for k in range(1, wheels):
        a.connect(Gear(f"w{k}", f"w{k - 1}", -1.0))
    return a


def test_a_train_of_gears_is_linear() -> None:
    """Every wheel keeps its bearing in its own pivot: four times the wheels, four times the work."""
    work = []
    for wheels in (50, 200):
        a = train(wheels)
        assert not a.layout.auxiliary
        plan = a.layout.plans(pass_algorithm(a.layout.extent), Lanes(1))
        work.append((plan.flops, len(plan.segments)))
        moment = np.zeros(3 * wheels)
        moment[2] = 1.0
        found = a.accelerations(a.start, moment)
        alpha = 1.0 / (wheels * 0.5 * 0.1**2)
        np.testing.assert_allclose(found.motion.reshape(-1, 3)[:, 2], alpha * (-1.0) ** np.arange(wheels), rtol=1e-9)
        np.testing.assert_allclose(found.multipliers.reshape(-1)[: 2 * wheels : 2], 0.0, atol=1e-9)
        np.testing.assert_allclose(found.multipliers.reshape(-1)[1 : 2 * wheels : 2], 9.81, rtol=1e-9)
    assert work[1][0] == pytest.approx(4.0 * work[0][0], rel=0.02)
    assert work[1][1] <= 4.1 * work[0][1]


def test_rank_that_may_be_lost_is_kept_from_pivots() -> None:
    """A rod pinned to another whose end slides on a rail: upright, the rail no longer holds what the pin leaves."""
    a = lw.Assembly((0.0, -9.81))
    for k, x in enumerate(((0.5, 0.0, 0.0), (1.3, 0.4, 1.0))):
        a.add(f"rod{k}", Body2D(1.0, 0.1), x)
    a.connect(Pin("rod0", at_a=(-0.5, 0.0), at_b=(0.0, 0.0), space=2))
    a.connect(Pin("rod1", "rod0", (-0.5, 0.0), (0.5, 0.0), space=2))
    rail = condition(lambda rod: [rod.point((0.5, 0.0))[1]], ["rod1"], 1)
    a.connect(rail)
    assert [a.conditions[k] for k in a.layout.auxiliary] == [rail]


def bevel(*wheels: Any) -> Any:
    """The mean of the spins of some wheels is that of the last."""
    return [sum(w.spin for w in wheels[:-1]) - (len(wheels) - 1) * wheels[-1].spin]


@pytest.mark.parametrize("count", [3, 12])
def test_a_condition_on_any_number_of_parts(count: int) -> None:
    """A differential, on the forest as every part could bear it alone; and beside it."""
    found = []
    for auxiliary in (False, True):
        a = lw.Assembly()
        names = [f"w{k}" for k in range(count)]
        for k, name in enumerate(names):
            a.add(name, Body2D(1.0, 0.1 * (k + 1)), (k, 0.0, 0.0))
            a.connect(Pin(name, at_a=(0.0, 0.0), at_b=(float(k), 0.0), space=2))
        a.connect(condition(bevel, names, 1, level="velocity"), auxiliary=auxiliary)
        assert bool(a.layout.auxiliary) == auxiliary
        moment = np.zeros(3 * count)
        moment[2] = 1.0
        found.append(a.accelerations(a.start, moment))
        inertia = 0.1 * np.arange(1.0, count + 1)
        row = np.append(np.ones(count - 1), 1.0 - count)
        lam = -(row[0] / inertia[0]) / np.sum(row * row / inertia)
        spin = (np.eye(count)[0] + lam * row) / inertia
        np.testing.assert_allclose(found[-1].motion.reshape(-1, 3)[:, 2], spin, rtol=1e-10)
    assert relative(found[0].multipliers, found[1].multipliers) < 1e-10
