"""Scenes of contact against what is known of them: what stands stands, what is held is held, and contacts never give energy."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linprog

import linkwork as lw
from linkwork.bench.models import robots_folder
from linkwork.constraints.rows import constraint_set
from linkwork.contact.detect import detect
from linkwork.scenes import ALL_SCENES
from linkwork.scenes.arch import INNER, OUTER
from linkwork.solvers.problem import NORMAL
from linkwork.studies.contact_work import contact_work

G = 9.81
METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")


def drift(run: lw.Trajectory) -> float:
    """The largest change of an entry of a pose."""
    return float(np.abs(run.poses - run.poses[:1]).max())


def check(run: lw.Trajectory, complementarity: float = 1e-12, penetration: float = 1e-12) -> None:
    health = run.health
    assert health.finite
    assert health.complementarity is not None
    assert health.complementarity < complementarity
    assert health.penetration is not None
    assert health.penetration < penetration


def normals(model: lw.Model) -> np.ndarray:
    """The rows of the normals of all contacts with friction; two tangents follow each."""
    return np.flatnonzero([kind == NORMAL for law in constraint_set(model).laws for kind in law.row_kinds])


def slips(run: lw.Trajectory) -> np.ndarray:
    """The largest tangential velocity (T,) at points that carry a force."""
    assert run.forces is not None
    rows = normals(run.model)
    speeds = np.hypot(run._rows["rate"][:, rows + 1], run._rows["rate"][:, rows + 2])
    return np.max(np.where(run.forces[:, rows] > 0.0, speeds, 0.0), axis=1)


# --- what stands ----------------------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_a_stack_of_ten_boxes_stands_for_a_minute() -> None:
    model, state = ALL_SCENES["stack"].build(boxes=10, gap=0.0)
    run = lw.simulate(model, state, 60.0, 1e-2, every=50)
    assert drift(run) < 1e-6
    check(run)


@pytest.mark.parametrize("method", METHODS)
def test_boxes_fall_to_a_stack_that_rests(method: str) -> None:
    model, state = ALL_SCENES["stack"].build(boxes=4)
    run = lw.simulate(model, state, 1.0, 5e-3, method)
    assert np.abs(run.v[-1]).max() < 1e-12
    assert run.poses[-1, :, 2, 3] == pytest.approx([0.05, 0.15, 0.25, 0.35], abs=1e-12)
    check(run)


def least_friction(model: lw.Model, state: lw.State) -> float:
    """Below which no forces within the cones of the contact points hold a model that is symmetric to the plane y = 0.

    By limit analysis: with the cones given, whether equilibrium is possible is a linear program. Forces along y are of no use, as
    the mean of a solution and its mirror image is one without, so that each cone is the span of its two edges.
    """
    poses = lw.kinematics(model, state.q, state.v).poses
    points, index = detect(model, poses, margin=1e-9), {b.name: i for i, b in enumerate(model.bodies)}
    weights = np.zeros((model.nb, 6))
    weights[:, 5] = [body.inertia.mass * G for body in model.bodies]

    def stands(mu: float) -> bool:
        A = np.zeros((model.nb, 6, 2 * len(points)))
        for k, found in enumerate(points):
            along = np.cross((0.0, 1.0, 0.0), found.at.normal)
            for edge, side in enumerate((-mu, mu)):
                f = found.at.normal + side * along
                for name, sign in ((found.candidate.body_a, 1.0), (found.candidate.body_b, -1.0)):
                    if name in index:
                        r = found.at.point - poses[index[name]][:3, 3]
                        A[index[name], :, 2 * k + edge] += sign * np.r_[np.cross(r, f), f]
        scale = weights.max()
        answer = linprog(np.ones(2 * len(points)), A_eq=A.reshape(6 * model.nb, -1), b_eq=weights.reshape(-1) / scale)
        return answer.status == 0

    low, high = 0.0, 2.0
    assert stands(high)
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if stands(middle) else (middle, high)
    return high


def test_limit_analysis_of_two_stones() -> None:
    """They lean on one another: H z = W (x - c) for the thrust H at the height z of the crown, and weight W on the ground at x, c
    of the centre of mass. The least H/W is at the inner edge of the foot and the outer one of the crown."""
    model, state = ALL_SCENES["arch"].build(stones=2)
    assert least_friction(model, state) == pytest.approx((INNER - abs(state.q[0])) / OUTER, rel=1e-6)


@pytest.mark.slow
def test_an_arch_stands_with_a_little_more_friction_than_it_needs() -> None:
    scene = ALL_SCENES["arch"]
    model, state = scene.build(friction=1.05 * least_friction(*scene.build()))
    run = lw.simulate(model, state, 60.0, 2e-2, every=50)
    assert drift(run) < 1e-9
    check(run)


def test_an_arch_stands_or_falls_as_limit_analysis_says() -> None:
    scene = ALL_SCENES["arch"]
    least = least_friction(*scene.build())
    model, state = scene.build(friction=1.05 * least)
    run = lw.simulate(model, state, 0.5, 1e-2)
    assert drift(run) < 1e-9
    check(run)
    model, state = scene.build(friction=0.95 * least)
    run = lw.simulate(model, state, 2.0, 1e-2, every=10)
    assert run.poses[-1, 3, 2, 3] < 0.5 * run.poses[0, 3, 2, 3]  # the keystone


# --- what is held ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", METHODS)
def test_a_hand_holds_a_capsule(method: str) -> None:
    model, state = ALL_SCENES["grasp"].build()
    run = lw.simulate(model, state, 2.0, 2e-3, method)
    late = run.t > 1.0
    assert slips(run)[late].max() < 1e-9
    assert np.ptp(run.q[late, :3], axis=0).max() < 1e-9
    assert abs(run.q[-1, 2]) < 0.01


@pytest.mark.slow
def test_a_hand_holds_a_capsule_for_a_minute() -> None:
    model, state = ALL_SCENES["grasp"].build()
    run = lw.simulate(model, state, 60.0, 2e-3, every=50)
    late = run.t > 1.0
    assert slips(run)[late].max() < 1e-9
    assert np.ptp(run.q[late, :3], axis=0).max() < 1e-9


def pinch(margin: float) -> tuple[lw.Model, lw.State]:
    """Three fingers with round pads press on an upright capsule from three sides; they could carry `margin` times its weight."""
    mu, mass, radius, pad = 0.5, 0.4, 0.03, 0.012
    stiffness, weight = 2e3, mass * G
    press = margin * weight / (3.0 * mu)
    b = lw.ModelBuilder()
    b.body("capsule", joint=lw.Free(), shapes=[lw.Capsule(radius, 0.1, mass=mass, friction=mu)])
    for k in range(3):
        placement = lw.SE3.rot_z(2.0 * np.pi / 3.0 * k) @ lw.SE3(p=(radius + pad, 0, 0))
        finger = lw.Sphere(pad, mass=0.05, friction=mu)
        b.body(f"finger{k}", joint=lw.Prismatic((-1, 0, 0)), placement=placement, shapes=[finger])
        b.add(lw.PDController(f"finger{k}", kp=stiffness, kd=40.0, target=press / stiffness))
    model = b.build()
    return model, lw.State(model.neutral(), np.zeros(model.nv))


@pytest.mark.parametrize("method", METHODS)
def test_a_pinch_of_three_fingers_holds_with_twice_the_friction_it_needs_and_slips_with_less(method: str) -> None:
    model, state = pinch(2.0)
    run = lw.simulate(model, state, 2.0, 2e-3, method)
    assert slips(run)[run.t > 1.0].max() < 1e-9
    assert abs(run.q[-1, 2]) < 1e-4
    check(run, penetration=1e-6)
    model, state = pinch(0.9)
    run = lw.simulate(model, state, 0.2, 2e-3, method)
    assert run.q[-1, 2] < -0.01


# --- what lands -----------------------------------------------------------------------------------------------------------------
ROBOTS = {
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", 0.03, "_FOOT", 300.0, 8.0),
    "go1": ("go1_description/urdf/go1.urdf", 0.02, "_foot", 100.0, 2.5),
}
POSTURES = {  # out, hip and knee, of legs in the order of the file
    "anymal": [(0.0, 0.7, -1.4), (0.0, 0.7, -1.4), (0.0, -0.7, 1.4), (0.0, -0.7, 1.4)],
    "go1": [(0.0, 0.8, -1.6)] * 4,
}


def robot(name: str) -> tuple[lw.Model, lw.State, list[str]]:
    """A quadruped with round feet 0.3 m above the ground, held by PD drives."""
    folder = robots_folder()
    if folder is None:
        pytest.skip("needs example-robot-data")
    file, radius, foot, kp, kd = ROBOTS[name]
    model = lw.load(folder / file, floating=True, inertia="accept")
    angles = np.array(POSTURES[name]).reshape(-1)
    drives = [lw.PDController(b.name, kp, kd, target=a) for b, a in zip(model.bodies[1:], angles, strict=True)]
    feet = [(frame.body, np.asarray(frame.placement.p, float)) for n, frame in model.frames.items() if n[2:] == foot]
    assert len(feet) == 4
    ground = lw.Plane()
    model = model.add(*drives, *(lw.Contact(body, lw.Sphere(radius, p), "world", ground, friction=0.8) for body, p in feet))
    q = np.concatenate([model.neutral()[:7], angles])
    poses = lw.kinematics(model, q, np.zeros(model.nv)).poses
    q[2] = 0.3 + radius - min((poses[model.body_index(body)] @ np.r_[p, 1.0])[2] for body, p in feet)
    return model, lw.State(q, np.zeros(model.nv)), [body for body, _ in feet]


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("method", METHODS)
def test_quadrupeds_land_and_settle(name: str, method: str) -> None:
    model, state, _ = robot(name)
    run = lw.simulate(model, state, 3.0, 1e-3, method, every=10)
    weight = sum(body.inertia.mass for body in model.bodies) * G
    assert np.abs(run.v[-1]).max() < 1e-3
    assert run.poses[-1, 0, 2, 2] > 0.97  # upright
    assert run.poses[-1, 0, 2, 3] > 0.2
    assert run.forces is not None
    rows = normals(run.model)
    assert np.all(run.forces[-1, rows] > 0.05 * weight)
    assert run.forces[-1, rows].sum() == pytest.approx(weight, rel=1e-3)
    check(run, 1e-12 if name == "anymal" else 1e-11, penetration=1e-3)  # contradictions that the solver leaves (JAM)


def test_contacts_and_dry_friction_of_joints_are_solved_to_rounding() -> None:
    """The joints of this robot rub: 12 such rows and 12 of its feet share 18 degrees of freedom."""
    model, state, _ = robot("go1")
    check(lw.simulate(model, state, 1.0, 1e-3), penetration=1e-3)


# --- what contacts may not do ---------------------------------------------------------------------------------------------------
SCENES = {
    "stack": {"boxes": 4},
    "arch": {"friction": 0.25},
    "dominoes": {"count": 4},
    "wall": {"courses": 3},
    "chains": {},
    "slide": {},
    "quadruped": {},
    "ragdoll": {},
    "grasp": {},
    "tippe_top": {},
}


@pytest.mark.parametrize("name", SCENES)
def test_contacts_never_give_energy(name: str) -> None:
    """Impulses times the mean of the velocities before and after them is never above rounding; what push-out gives is little."""
    scene = ALL_SCENES[name]
    model, state = scene.build(**SCENES[name])
    run = lw.simulate(model, state, round(0.6 / scene.dt) * scene.dt, scene.dt, evaluations=0)
    work, push_out = contact_work(run)
    moved = float(np.ptp(run.energy.kinetic) + np.ptp(run.energy.potential))
    assert work.max() < 1e-13 * moved + 1e-15
    assert work.sum() < 0.0
    assert push_out.sum() < 1e-2 * moved


def test_the_work_of_contacts_is_told_for_one_reduced_run() -> None:
    model, state = ALL_SCENES["stack"].build(boxes=1)
    with pytest.raises(lw.InputError, match="one run"):
        contact_work(lw.simulate(model, state, 0.01, 5e-3, "maximal"))


def test_a_ball_that_bounces_gives_energy_back() -> None:
    """With restitution an impulse works against the loss of speed: e - 1 times the momentum, times the mean of -s and e s."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=2.0, radius=0.1))
    b.add(lw.Contact("ball", lw.Sphere(0.1), friction=0.5, restitution=0.5))
    state = lw.State(np.array([0, 0, 0.1, 1, 0, 0, 0]), np.array([0, 0, 0, 0, 0, -3.0]))
    work, _ = contact_work(lw.simulate(b.build(), state, 1e-3, 1e-3, evaluations=0))
    assert work[0] == pytest.approx(0.5 * 2.0 * 3.0**2 * (0.5**2 - 1.0), rel=1e-9)


@pytest.mark.parametrize(
    "velocity", [(0, 0, 0, 1, 0, 0), (0, 0, 3, 1, 0.2, 0), (0, 0, 5, 0, 0, 0), (0, 0, 1, 1, 0.3, -2), (0,) * 6]
)
def test_a_step_does_not_depend_on_the_order_of_contacts(velocity: tuple[float, ...]) -> None:
    """A block on four points slides, turns, lands, rests: how they share its weight is not determined, and yet the same."""
    corners = [(x, y, -0.04) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    ends = []
    for order in permutations(corners):
        b = lw.ModelBuilder()
        b.body("block", joint=lw.Free(), inertia=lw.Inertia.cuboid(mass=1.0, size=(0.2, 0.2, 0.1)))
        for corner in order:
            b.add(lw.Contact("block", lw.Sphere(0.01, corner), "world", lw.Plane(), friction=0.4))
        state = lw.State(np.array([0, 0, 0.05, 1, 0, 0, 0]), np.array(velocity, float))
        ends.append(lw.simulate(b.build(), state, 5e-3, 5e-3).v[-1])
    assert np.ptp(ends, axis=0).max() < 1e-9
