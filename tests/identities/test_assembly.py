"""Assemblies against one dense system of particles: every part, every kind of condition, the three laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from assembly_reference import Cloud, Dense
from hypothesis import example, given, settings
from hypothesis import strategies as st
from models import relative

import linkwork as lw
from linkwork.assembly.aim import acceleration_aim
from linkwork.assembly.condition import Condition, condition, derive
from linkwork.assembly.conditions import ALL_CONDITIONS, Above, Distance, Gear, Hinge, Pin, Rolling, TurnLimit
from linkwork.assembly.part import Framed, Part, hamel_bias
from linkwork.assembly.parts import ALL_PARTS, AffineBody, Body2D, Body3D, Particle, ScaledBody, StretchedBody
from linkwork.assembly.passes import pass_algorithm
from linkwork.kernel import eager

TOLERANCE = 1e-9


def cloud(rng: np.random.Generator, space: int) -> Cloud:
    return [(float(m), rng.normal(size=space) * 0.4) for m in rng.uniform(0.1, 0.5, size=6)]


def moments(points: Cloud) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre, and second moments about it."""
    m = sum(p[0] for p in points)
    com = np.sum([p[0] * p[1] for p in points], axis=0) / m
    return m, com, np.sum([p[0] * np.outer(p[1] - com, p[1] - com) for p in points], axis=0)


def inertia(points: Cloud) -> lw.Inertia:
    m, com, second = moments(points)
    return lw.Inertia(m, com, np.trace(second) * np.eye(3) - second)


def body_2d(points: Cloud) -> Body2D:
    m, com, second = moments(points)
    return Body2D(m, float(np.trace(second)), com)


class Bead(Part):
    """A part of one's own: a bead on a wire (cos s, s / 2), whose mass matrix depends on where it is."""

    nx = nv = 1
    space = 2
    parameter_names = ("weight",)

    def __init__(self, weight: float) -> None:
        self.weight = weight

    def mass(self, x: Any) -> np.ndarray:
        return lw.math.array([[self.weight * (np.sin(x[0]) ** 2 + 0.25)]])

    def point(self, x: Any, local: Any) -> np.ndarray:
        return lw.math.stack(np.cos(x[0]), 0.5 * x[0])

    def potential(self, x: Any, gravity: Any) -> Any:
        return -self.weight * lw.math.dot(gravity[:2], self.point(x, ()))


class World:
    """An assembly and the particles that its parts are made of; states need not satisfy the conditions."""

    def __init__(self, gravity: Any, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.assembly = lw.Assembly(gravity)
        self.clouds: dict[str, Cloud] = {}

    def add(self, name: str, part: Part, points: Cloud, x: Any = None) -> None:
        self.clouds[name] = points
        rng = self.rng
        self.assembly.add(name, part, rng.normal(size=part.nx) if x is None else x, rng.normal(size=part.nv))

    def body(self, name: str, kind: type, *sizes: float) -> None:
        points = cloud(self.rng, 3)
        pose = lw.SE3(p=self.rng.normal(size=3)) @ lw.SE3.rot_exp(self.rng.normal(size=3))
        part = kind(inertia(points))
        self.add(name, part, points, part.coordinates(pose, *sizes))

    def flat(self, *names: str) -> None:
        for name in names:
            points = cloud(self.rng, 2)
            self.add(name, body_2d(points), points)

    def connect(self, *conditions: Condition, auxiliary: bool = False) -> None:
        for c in conditions:
            self.assembly.connect(c, auxiliary)

    def dense(self, state: lw.State | None = None) -> Dense:
        return Dense(self.assembly, self.clouds, state or self.assembly.start)

    def check(self, auxiliary: int, prepared: bool = True) -> None:
        """Accelerations and multipliers of the dense system, with so many auxiliary conditions."""
        a = self.assembly
        state, forces = a.start, self.rng.normal(size=len(a.start.v))
        d = self.dense()
        assert len(a.layout.auxiliary) == auxiliary
        z, lam = d.solve(d.force + forces, -d.c)
        found = a.accelerations(state, forces)
        assert relative(found.motion, z) < TOLERANCE
        assert relative(found.multipliers, lam) < TOLERANCE
        if prepared:
            assert relative(a.acceleration_function()(state.q, state.v, forces), z) < TOLERANCE


def pin(a: str, b: str = "world", *, space: int = 2) -> Pin:
    rng = np.random.default_rng([*map(ord, a + b)])
    return Pin(a, b, rng.normal(size=space), rng.normal(size=space), space)


def planar(seed: int = 0) -> World:
    """A tree of bodies in the plane, held at one end."""
    w = World((0.3, -9.81), seed)
    w.flat("a", "b", "c", "d")
    w.connect(pin("a"), pin("a", "b"), pin("b", "c"), pin("b", "d"))
    return w


# --- parts --------------------------------------------------------------------------------------------------------------
def test_parts_in_space() -> None:
    """Rigid, scaled, stretched and affine bodies and a particle: pins, a hinge and a distance between them."""
    w = World((0.1, -0.3, -9.81))
    w.body("rigid", Body3D)
    w.body("scaled", ScaledBody, 1.3)
    w.body("stretched", StretchedBody, 1.2, 0.7, 0.9)
    w.body("affine", AffineBody)
    w.body("link", Body3D)
    w.add("dot", Particle(0.7), [(0.7, np.zeros(0))])
    w.connect(pin("rigid", space=3), pin("rigid", "scaled", space=3), pin("scaled", "stretched", space=3))
    w.connect(Hinge("rigid", "link", *w.rng.normal(size=(4, 3))), pin("link", "affine", space=3))
    w.connect(Distance("dot", "affine", 0.8, (), (0.1, 0.2, 0.3)))
    w.check(auxiliary=0, prepared=False)


def test_parts_in_the_plane() -> None:
    """Bodies, a particle, and a part of one's own with a mass matrix that depends on its coordinate."""
    w = planar()
    w.add("dot", Particle(0.7, 2), [(0.7, np.zeros(0))])
    w.add("bead", Bead(1.4), [(1.4, np.zeros(0))])
    w.connect(Distance("d", "dot", 0.9, (0.3, 0.1)), Distance("dot", "bead", 1.1))
    w.check(auxiliary=0)


@pytest.mark.parametrize("kind", [k for k in ALL_PARTS if k not in (Particle, Body2D)])
def test_closed_forms_are_those_of_the_frame_and_of_the_energy(kind: Any) -> None:
    w = World((0, 0, 0), 3)
    sizes = {ScaledBody: (1.4,), StretchedBody: (1.4, 0.8, 0.6)}.get(kind, ())
    w.body("b", kind, *sizes)
    part, x, v = w.assembly.parts[0], w.assembly.start.q, w.assembly.start.v
    M, h = part.inertia(x, v)
    M_frame, h_frame = Framed.inertia(part, x, v)  # pyright: ignore[reportArgumentType]
    assert relative(M, M_frame) < 1e-12
    assert np.abs(np.asarray(h - h_frame, float)).max() < 1e-12
    assert np.abs(np.asarray(h - hamel_bias(part, x, v), float)).max() < 1e-12


# --- conditions ---------------------------------------------------------------------------------------------------------
SAMPLES: dict[type[Condition], tuple[Condition, tuple[type, ...]]] = {
    Pin: (Pin("a", "b", (0.1, 0.2, 0.3), (0.3, -0.2, 0.1)), (Body3D, ScaledBody)),
    Distance: (Distance("a", "b", 0.8, (0.1, 0.2, 0.3), (0.3, -0.2, 0.1)), (AffineBody, StretchedBody)),
    Hinge: (Hinge("a", "b", *np.random.default_rng(0).normal(size=(4, 3))), (Body3D, AffineBody)),
    Gear: (Gear("a", "b", 2.5, (0.6, 0.0, 0.8), (0.0, 1.0, 0.0)), (Body3D, ScaledBody)),
    Rolling: (Rolling("a", 0.4, (0.6, 0.0, 0.8)), (Body3D,)),
    TurnLimit: (TurnLimit("a", "b", -1.0, 1.0), (Body2D, Body2D)),
    Above: (Above("a", (0.1, 0.2, 0.3), (0.0, 0.6, 0.8), 0.2), (StretchedBody,)),
}


@pytest.mark.parametrize("kind", ALL_CONDITIONS)
def test_rows_of_every_condition(kind: type[Condition]) -> None:
    """Of the derived and the differentiated residual, without compiling anything."""
    sample, kinds = SAMPLES[kind]
    w = World((0, 0, 0), 15)
    for name, part in zip("ab", kinds, strict=False):
        if part is Body2D:
            w.flat(name)
        else:
            w.body(name, part, *{ScaledBody: (1.4,), StretchedBody: (1.4, 0.8, 0.6)}.get(part, ()))
    w.connect(sample)
    a, d = w.assembly, w.dense()
    xs, vs = ([x[index(name)] for name in sample.parts] for x, index in ((a.start.q, a.q_index), (a.start.v, a.v_index)))
    rows = derive(sample, a.parts, xs, vs)
    assert relative(rows.J, d.J) < 1e-12
    assert relative(rows.rate, d.rate) < 1e-12
    assert np.abs(np.asarray(rows.bias - d.c, float)).max() < 1e-9 * max(1.0, np.abs(d.c).max())


def test_compiled_is_eager() -> None:
    """The rules as they stand, on floats, against their machine code."""
    w = planar(16)
    layout, state = w.assembly.layout, w.assembly.start
    inputs = {"q": state.q, "v": state.v, "gravity": w.assembly.gravity, "f": np.ones(12), "aim": acceleration_aim().numbers}
    found = eager.run(pass_algorithm(layout.extent), layout.tree, inputs)["z"]
    assert relative(w.assembly.accelerations(state, np.ones(12)).motion, found) < 1e-12


def test_a_ratio_of_spins_and_rolling_are_primary() -> None:
    w = World((0.3, -9.81), 1)
    w.flat("disc", "wheel")
    w.connect(Rolling("disc", 0.4), Gear("disc", "wheel", 2.5))
    w.check(auxiliary=0)


def test_a_disc_rolls_in_space_and_drives_another() -> None:
    w = World((0.1, -0.3, -9.81), 2)
    w.body("disc", Body3D)
    w.body("wheel", Body3D)
    axis = np.array([0.6, 0.0, 0.8])
    w.connect(Rolling("disc", 0.4, axis), Gear("disc", "wheel", -1.5, axis, (0.0, 1.0, 0.0)))
    w.check(auxiliary=0)


def test_loops_and_further_conditions_on_one_part_are_auxiliary() -> None:
    w = planar(3)
    w.connect(pin("d", "c"), condition(lambda c: [c.point((0.1, 0.2))[1]], ["c"], 1))
    w.check(auxiliary=2)


def middle(a: Any, b: Any, c: Any, at: Any) -> Any:
    return a.point(at) + b.point(at) - 2.0 * c.point(at)


def test_a_condition_on_three_parts_of_two_trees() -> None:
    """A point halfway between two others; its parts belong to trees that nothing else connects."""
    w = planar(4)
    w.flat("e", "f")
    w.connect(pin("e", "f"), condition(middle, ["a", "e", "d"], 2, at=(0.2, 0.1)))
    w.check(auxiliary=1)
    assert sum(n.parent < 0 for n in w.assembly.layout.nodes) == 2


def test_a_condition_across_two_trees() -> None:
    """Kept from the tree, it stays auxiliary and joins what elimination sees as two."""
    w = planar(5)
    w.flat("e", "f")
    w.connect(pin("e", "f"))
    w.connect(pin("d", "e"), auxiliary=True)
    w.check(auxiliary=1)


def test_forces_along_other_directions_than_the_rows() -> None:
    """Two points are held at the same height by a moment on one of their bodies."""
    w = planar(6)
    w.connect(
        condition(
            lambda c, d: [c.point((0.3, 0.1))[1] - d.point((0.2, 0.4))[1]],
            ["c", "d"],
            1,
            along=lambda c, d: [c.spin + 0.1 * d.velocity((0.2, 0.4))[0]],
        )
    )
    w.connect(pin("d", "c"))
    w.check(auxiliary=2)


links = st.lists(st.tuples(st.integers(0, 9), st.integers(-1, 9)), min_size=1, max_size=9)


@settings(deadline=None, max_examples=15)
@given(pairs=links, count=st.integers(1, 6), seed=st.integers(0, 1000))
@example(pairs=[(0, -1), (0, -1)], count=1, seed=366)  # two pins that differ almost only in height
def test_random_mechanisms(pairs: list[tuple[int, int]], count: int, seed: int) -> None:
    """Any bodies, pinned to each other or to the ground in any way: trees, loops, several trees, too many pins."""
    w = World((0.3, -9.81), seed)
    w.flat(*(f"b{k}" for k in range(count)))
    for a, b in pairs:
        one, other = f"b{a % count}", "world" if b < 0 else f"b{b % count}"
        if one != other:
            w.connect(Pin(one, other, w.rng.normal(size=2), w.rng.normal(size=2), 2))
    a, state = w.assembly, lw.State(w.assembly.start.q, np.zeros(3 * count))
    d = w.dense(state)
    rank = np.linalg.matrix_rank(d.J) if len(d.J) else 0
    forces = w.rng.normal(size=3 * count)
    # At rest all conditions agree, even where there are more of them than freedoms.
    H = np.block([[d.M, -d.J.T], [d.J, np.zeros((len(d.J), len(d.J)))]])
    z = np.linalg.lstsq(H, np.concatenate([d.force + forces, np.zeros(len(d.J))]), rcond=1e-12)[0][: 3 * count]
    assert np.abs(a.accelerations(state, forces).motion - z).max() < 1e-8 * max(1.0, np.abs(d.force).max())
    assert bool(a.redundant(state)) == (rank < len(d.J))


# --- inequalities, impulses, f = m v ------------------------------------------------------------------------------------
def complementary(w: World, found: Any, force: np.ndarray, target: np.ndarray, d: Dense, active: np.ndarray) -> None:
    """The dense system with the rows that push; those that do not, move away."""
    push = active & (~w.assembly.layout.unilateral | (found.multipliers > 0))
    z, lam = d.solve(force, target, push)
    assert relative(found.motion, z) < TOLERANCE
    assert relative(found.multipliers, lam) < TOLERANCE
    one_sided = w.assembly.layout.unilateral
    assert np.all(found.multipliers[one_sided] >= 0)
    assert np.all((d.J @ found.motion - target)[one_sided & active] > -1e-9)


@pytest.mark.parametrize("spin", [-1.0, 1.0])
def test_limits_and_contacts_only_push(spin: float) -> None:
    """A body at its stop is held if it is pushed against it, and let go otherwise; so is one on the ground."""
    w = planar(7)
    a = w.assembly
    q = a.start.q
    angle = q[a.q_index("c")][2] - q[a.q_index("b")][2]
    height = a.point(a.start, "d", (0.1, 0.3))[1]
    w.connect(TurnLimit("c", "b", angle, angle + 1.0), Above("d", (0.1, 0.3), (0.0, 1.0), height))
    state = lw.State(q, np.zeros(len(a.start.v)))
    forces = np.zeros(len(state.v))
    forces[a.v_index("c")] = 0.0, 0.0, 40.0 * spin
    d = w.dense(state)
    found = a.accelerations(state, forces)
    rows = a.row_index(a.conditions[-2])
    assert (found.multipliers[rows][0] > 0) == (spin < 0)
    active = np.ones(len(d.c), bool)
    active[rows.stop - 1] = False  # the upper stop is far
    complementary(w, found, d.force + forces, -d.c, d, active)


def test_a_loop_and_a_limit_together() -> None:
    w = planar(8)
    a = w.assembly
    angle = a.start.q[a.q_index("c")][2] - a.start.q[a.q_index("b")][2]
    w.connect(Distance("a", "d", 0.7, (0.1, 0.2), (0.3, 0.1)), TurnLimit("c", "b", angle, angle + 1.0))
    state = lw.State(a.start.q, np.zeros(len(a.start.v)))
    forces = np.zeros(len(state.v))
    forces[a.v_index("c")] = 0.0, 0.0, -40.0
    d = w.dense(state)
    found = a.accelerations(state, forces)
    assert found.multipliers[-2] > 0
    complementary(w, found, d.force + forces, -d.c, d, np.array([True] * (len(d.c) - 1) + [False]))


def test_a_stop_and_a_force_of_another_direction_together() -> None:
    """The matrix is not symmetric: Lemke's method."""
    w = planar(17)
    a = w.assembly
    angle = a.start.q[a.q_index("c")][2] - a.start.q[a.q_index("b")][2]
    w.connect(condition(lambda d: [d.point((0.2, 0.4))[1]], ["d"], 1, along=lambda d: [d.spin]))
    w.connect(TurnLimit("c", "b", angle, angle + 1.0))
    state, forces = lw.State(a.start.q, np.zeros(12)), np.zeros(12)
    forces[a.v_index("c")] = 0.0, 0.0, -40.0
    d = w.dense(state)
    found = a.accelerations(state, forces)
    assert found.multipliers[-2] > 0
    complementary(w, found, d.force + forces, -d.c, d, np.array([True] * (len(d.c) - 1) + [False]))


@pytest.mark.parametrize("restitution", [0.0, 0.7, 1.0])
def test_collisions_are_impulses(restitution: float) -> None:
    w = planar(9)
    a = w.assembly
    height = a.point(a.start, "d", (0.1, 0.3))[1]
    w.connect(Above("d", (0.1, 0.3), (0.0, 1.0), height))
    rest = lw.State(a.start.q, np.zeros(len(a.start.v)))
    push = a.point_force(rest, "d", (0.0, -3.0), (0.1, 0.3))
    free = w.dense(rest).solve(push, np.zeros(9), np.array([True] * 8 + [False]))[0]  # approaches, on the conditions
    state = lw.State(rest.q, free)
    d = w.dense(state)
    assert d.rate[-1] < -0.1
    found = a.impulses(state, restitution=restitution)
    target = -d.rate
    target[-1] *= 1.0 + restitution
    z, lam = d.solve(np.zeros(len(free)), target)
    assert relative(found.motion, z) < TOLERANCE
    assert relative(found.multipliers, lam) < TOLERANCE
    assert found.multipliers[-1] > 0
    speed = d.J @ (free + found.motion)
    assert abs(speed[-1] + restitution * d.rate[-1]) < 1e-9
    if restitution == 1.0:
        after = lw.State(rest.q, free + found.motion)
        assert a.energy(after) == pytest.approx(a.energy(state), rel=1e-12)


def test_applied_impulses_move_a_tree() -> None:
    w = planar(10)
    state, kick = w.assembly.start, w.rng.normal(size=12)
    d = w.dense(state)
    z, _ = d.solve(kick, -d.rate)
    assert relative(w.assembly.impulses(state, kick).motion, z) < TOLERANCE


def test_dragging_in_a_world_without_inertia() -> None:
    """f = m v: what is pulled at follows, and the rest with it; residuals decay as asked."""
    w = planar(11)
    w.connect(pin("d", "c"))
    a = w.assembly
    pull = a.point_force(a.start, "d", (3.0, 1.0), (0.1, 0.3))
    d = w.dense(lw.State(a.start.q, np.zeros(12)))
    residual = a.system(a.start).residual
    z, lam = d.solve(pull, -0.5 * residual)
    found = a.velocities(a.start, pull, correction=0.5)
    assert relative(found.motion, z) < TOLERANCE
    assert relative(found.multipliers, lam) < TOLERANCE
    assert found.motion @ pull > 0


# --- what cannot be -----------------------------------------------------------------------------------------------------
def test_conditions_that_repeat_one_another_are_named() -> None:
    w = World((0.3, -9.81), 12)
    w.flat("a", "b")
    w.connect(condition(lambda a, b: [a.x[0] - b.x[0], 2.0 * (a.x[0] - b.x[0])], ["a", "b"], 2))
    with pytest.raises(lw.SolverError, match=r"FunctionCondition\('a', 'b'\).*depend on one another"):
        w.assembly.accelerations(w.assembly.start)


def test_conditions_that_contradict_one_another_are_named() -> None:
    w = planar(13)
    w.connect(condition(lambda a: [a.v[2] - 1.0], ["a"], 1, level="velocity"))
    w.connect(condition(lambda a: [2.0 * a.v[2]], ["a"], 1, level="velocity"))
    with pytest.raises(lw.SolverError, match="contradicts"):
        w.assembly.impulses(w.assembly.start)


def test_redundant_loops_share_their_force() -> None:
    """A loop closed twice moves as if it were closed once."""
    w = planar(14)
    w.connect(pin("d", "c"))
    once = w.assembly.accelerations(w.assembly.start).motion
    assert not w.assembly.redundant(w.assembly.start)
    w.connect(pin("d", "c"))
    assert relative(w.assembly.accelerations(w.assembly.start).motion, once) < TOLERANCE
    assert w.assembly.redundant(w.assembly.start) == w.assembly.conditions[-1:]


def rubbing(part: str, height: float, friction: float = 0.4) -> Condition:
    """A point stays above a height; what pushes it up also pulls it along x."""
    at = (0.1, 0.3)
    return condition(
        lambda p: [p.point(at)[1] - height],
        [part],
        1,
        unilateral=True,
        along=lambda p: [p.velocity(at)[1] - friction * p.velocity(at)[0]],
    )


def test_a_redundant_loop_and_a_contact_with_friction() -> None:
    """The matrix is not symmetric, and singular: the loop closed twice moves as if it were closed once."""
    found = []
    for times in (1, 2):
        w = planar(14)
        a = w.assembly
        w.connect(*[pin("d", "c")] * times, rubbing("d", a.point(a.start, "d", (0.1, 0.3))[1]))
        state, forces = lw.State(a.start.q, np.zeros(12)), np.zeros(12)
        forces[a.v_index("d")] = 3.0, -40.0, 0.0
        found.append(a.accelerations(state, forces))
    assert found[0].multipliers[-1] > 0
    assert relative(found[1].motion, found[0].motion) < TOLERANCE
    assert found[1].multipliers[-1] == pytest.approx(found[0].multipliers[-1])


def test_a_redundant_loop_that_contradicts_is_refused_with_friction_too() -> None:
    w = planar(13)
    w.connect(condition(lambda a: [a.v[2] - 1.0], ["a"], 1, level="velocity"))
    w.connect(condition(lambda a: [2.0 * a.v[2]], ["a"], 1, level="velocity"))
    w.connect(rubbing("d", w.assembly.point(w.assembly.start, "d", (0.1, 0.3))[1] + 1.0))
    with pytest.raises(lw.SolverError, match="contradict"):
        w.assembly.impulses(w.assembly.start)


def test_projection_is_the_shortest_way_whatever_the_forces() -> None:
    """M z = J^T lam, J z = -residual; a contact with friction is left along its normal, not along its force."""
    w = planar(15)
    a = w.assembly
    w.connect(pin("d", "c"), rubbing("d", a.point(a.start, "d", (0.1, 0.3))[1] + 0.2))
    d, residual = w.dense(), a.system(a.start).residual
    d.K_T = d.J
    z, lam = d.solve(np.zeros(12), -residual)
    assert lam[-1] > 0
    expected = a.normalised(a.start.q + a.rates(a.start.q, z))
    assert relative(a.projected(a.start) - a.start.q, expected - a.start.q) < TOLERANCE
    dot = lw.Assembly((0.0, -9.81))
    dot.add("dot", Particle(1.0, 2), (0.5, -0.1))
    along = lambda p: [p.velocity()[1] - 0.4 * p.velocity()[0]]  # noqa: E731
    dot.connect(condition(lambda p: [p.point()[1]], ["dot"], 1, unilateral=True, along=along))
    np.testing.assert_allclose(dot.projected(dot.start), [0.5, 0.0], rtol=0, atol=1e-15)


@pytest.mark.parametrize("sag", [0.0, 0.3])
def test_a_straight_chain_held_at_both_ends_is_reported(sag: float) -> None:
    a = lw.Assembly((0.0, -9.81))
    angles = np.arctan(sag * np.linspace(-1.0, 1.0, 6))
    at, links = np.zeros(2), []
    for k, angle in enumerate(angles):
        along = np.array([np.cos(angle), np.sin(angle)])
        a.add(f"b{k}", Body2D(1.0, 1.0 / 12.0), (*(at + 0.5 * along), angle))
        links.append(Pin(f"b{k}", f"b{k - 1}" if k else "world", (-0.5, 0.0), (0.5, 0.0) if k else (0.0, 0.0), 2))
        at = at + along
    for link in links:
        a.connect(link)
    a.connect(Pin("b5", at_a=(0.5, 0.0), at_b=at, space=2))
    assert a.redundant(a.start) == (a.conditions[-1:] if sag == 0.0 else [])


def test_wrong_parts_and_states_are_refused() -> None:
    a = lw.Assembly()
    with pytest.raises(lw.ModelError, match="no parts"):
        _ = a.layout
    a.add("p", Particle(1.0), np.zeros(3))
    for wrong in (lambda: a.add("p", Particle(1.0), np.zeros(3)), lambda: a.add("q", Particle(1.0), np.zeros(2))):
        with pytest.raises(lw.ModelError):
            wrong()
    with pytest.raises(lw.ModelError, match="no part 'q'"):
        a.connect(Distance("p", "q", 1.0))
    with pytest.raises(lw.ModelError, match="twice"):
        a.connect(Distance("p", "p", 1.0))
    with pytest.raises(lw.ModelError, match="space 2"):
        a.connect(Pin("p", at_b=(0.0, 0.0), space=2))
    with pytest.raises(lw.ModelError, match="normal has 2 entries"):
        a.connect(Above("p", normal=(0.0, 1.0)))
    with pytest.raises(lw.ModelError, match="a disc in space needs its axis"):
        a.connect(Rolling("p", 0.1))
    with pytest.raises(lw.ModelError, match="direction"):
        Above("p", normal=(0.0, 0.0, 0.0))
    with pytest.raises(lw.ModelError, match="cannot be called 'check'"):
        condition(lambda p, check: p.x, ["p"], 3, check=1.0)
    b = lw.Assembly()
    b.add("p", Particle(1.0), np.zeros(3))
    b.connect(condition(lambda p: p.x, ["p"], 2))
    with pytest.raises(lw.ModelError, match="must return 2 numbers"):
        b.accelerations(b.start)
    with pytest.raises(lw.InputError):
        a.accelerations(lw.State(np.zeros(4), np.zeros(3)))
    with pytest.raises(lw.InputError):
        a.accelerations(a.start, np.zeros(2))
