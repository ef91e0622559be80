"""Fitting: what was put into simulated motion comes out of it, as surely as the noise allows and no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw
from linkwork.studies.fit import _Search
from linkwork.studies.shooting import Shots
from linkwork.studies.unknowns import Unknowns, chart, rigid, rigid_slopes

SPACING, DT, RECORDS, NOISE = 0.02, 5e-3, 60, 2e-3
T = SPACING * np.arange(RECORDS + 1)
TAU = np.stack([2 * np.sin(3 * T), np.cos(5 * T)], axis=1)
START = lw.State(np.array([0.3, -0.2]), np.array([0.5, -1.0]))
DRAWS = 50
NAMES = ("upper.mass", "fore.mass", "shoulder.stiffness", "elbow.stiffness")


def arm(upper: float = 1.0, fore: float = 0.6, shoulder: float = 20.0, elbow: float = 5.0) -> lw.Model:
    b = lw.ModelBuilder()
    bone = lw.Inertia.cuboid(1.0, (0.3, 0.1, 0.05), com=(0.15, 0.01, 0.02))
    b.body("upper", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia(upper, bone.com, bone.tensor), damping=0.05)
    b.body(
        "fore",
        parent="upper",
        joint=lw.Revolute((0, 1, 0)),
        placement=lw.SE3(p=np.array([0.3, 0, 0])),
        inertia=lw.Inertia(fore, bone.com, 0.6 * bone.tensor),
        damping=0.05,
    )
    return b.build().add(
        lw.JointSpring("upper", stiffness=shoulder, damping=0.1, name="shoulder"),
        lw.JointSpring("fore", stiffness=elbow, damping=0.1, name="elbow"),
    )


def moved(
    model: lw.Model, start: lw.State = START, stepper: str = "rk4", records: int = RECORDS, **held
) -> tuple[np.ndarray, ...]:
    """The motion of a model, record by record under what is held."""
    q, v, steps = [start.q], [start.v], round(SPACING / DT)
    for k in range(records):
        own = {name: x[k] for name, x in held.items()}
        run = lw.simulate(model, lw.State(q[-1], v[-1]), SPACING, DT, stepper=stepper, every=steps, **own)
        q.append(run.q[-1])
        v.append(run.v[-1])
    return np.array(q), np.array(v)


@cache
def clean() -> tuple[np.ndarray, ...]:
    return moved(arm(), tau=TAU)


def crude() -> lw.Model:
    """The arm with poor guesses."""
    return arm(1.4, 0.4, 30.0, 2.0)


def recorded(rng: np.random.Generator, **more) -> lw.Recorded:
    q = clean()[0]
    return lw.Recorded(T, q=q + NOISE * rng.normal(size=q.shape), sigma={"q": NOISE}, tau=TAU, **more)


def test_without_noise_the_truth_is_found() -> None:
    q, v = clean()
    found = lw.fit(crude(), lw.Recorded(T, q=q, v=v, tau=TAU), NAMES, dt=DT)
    assert found.converged
    assert np.abs(found.values - (1.0, 0.6, 20.0, 5.0)).max() < 1e-7
    assert found.cost < 1e-15
    assert np.abs(found.start.v - START.v).max() < 1e-8


def cramer_rao(motion: Callable[[np.ndarray], np.ndarray], x: np.ndarray, h: np.ndarray | float = 1e-5) -> np.ndarray:
    """The least standard deviations of unknowns x, by differences of whole simulations; motion in units of its noise."""
    steps = np.diag(np.broadcast_to(h, x.shape))
    J = np.array([(motion(x + e) - motion(x - e)) / (2 * e.sum()) for e in steps]).T
    return np.sqrt(np.diagonal(np.linalg.inv(J.T @ J)))


def root_mean_square(errors: Sequence[float] | Sequence[np.ndarray]) -> np.ndarray:
    return np.sqrt(np.mean(np.square(errors), axis=0))


@pytest.mark.slow
def test_errors_are_those_that_the_noise_allows() -> None:
    """Over 50 draws at most 1.2 times the Cramer-Rao bound."""
    truth = np.array([1.0, 0.6, 20.0, 5.0, *START.q, *START.v])

    def motion(x: np.ndarray) -> np.ndarray:
        return moved(arm(*x[:4]), lw.State(x[4:6], x[6:]), tau=TAU)[0].reshape(-1) / NOISE

    bound = cramer_rao(motion, truth)[:4]
    rng = np.random.default_rng(5)
    found = [lw.fit(crude(), recorded(rng), dict.fromkeys(NAMES, (0.001, None)), dt=DT) for _ in range(DRAWS)]
    assert all(f.converged for f in found)
    rms = root_mean_square([f.values - truth[:4] for f in found])
    assert (rms <= 1.2 * bound).all()
    assert (rms >= 0.7 * bound).all()  # less would mean that something else was told
    assert np.abs(found[0].sigma / bound - 1).max() < 0.1


@pytest.mark.parametrize("windows", [1, 5])
def test_gradients_agree_with_differences(windows: int) -> None:
    """Of the cost by first states and numbers, where windows meet."""
    rng = np.random.default_rng(1)
    model, motion = arm(), recorded(rng)
    unknowns = Unknowns(model, [*NAMES, "fore.com[0]", "fore.tensor[1]", "upper.damping"])
    nothing = (np.zeros(0, int), np.zeros(0), np.zeros(0))
    free = (np.full(len(unknowns.names), -np.inf), np.full(len(unknowns.names), np.inf))

    def search(x: np.ndarray, start: lw.State) -> _Search:
        shots = Shots(unknowns.put(x), unknowns, motion, DT, start, windows, "rk4", {})
        own = _Search(unknowns, [shots], free, nothing)
        q, v = moved(unknowns.put(x), start, tau=TAU)
        own._take(x, [lw.State(q[shots.firsts], v[shots.firsts])])
        return own

    x = unknowns.of(model) * 1.01
    here = search(x, START)
    assert here.gap < 1e-10
    J, b, _ = here._linearised()
    gradient = J.T @ b
    h = 1e-6
    for k in range(4 + len(x)):
        e = np.eye(4 + len(x))[k] * h
        ends = [search(x + s * e[4:], lw.State(START.q + s * e[:2], START.v + s * e[2:4])).cost for s in (1.0, -1.0)]
        assert gradient[k] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6, abs=1e-4)


@pytest.mark.slow
def test_a_coefficient_of_friction() -> None:
    """Of a block that slides on a floor: within 1.2 times the bound over 50 draws; that it lies on the floor is known."""
    b = lw.ModelBuilder()
    light = lw.Inertia.cuboid(1e-3, (0.1, 0.1, 0.1))
    b.body("along", joint=lw.Prismatic((1, 0, 0)), inertia=light)
    b.body("block", parent="along", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia.cuboid(2.0, (0.1, 0.1, 0.1)))
    floor = lw.Contact("block", lw.Sphere(0.05), "world", lw.Plane((0, 0, -0.05)), friction=0.3, name="floor")
    model, noise = b.build().add(floor), 1e-3

    def motion(x: np.ndarray) -> np.ndarray:
        """Of (friction, first place, first speed)."""
        start = lw.State(np.array([x[1], 0.0]), np.array([x[2], 0.0]))
        return moved(model.with_parameters({"floor": {"friction": x[0]}}), start, "symplectic_euler", 20)[0]

    truth = np.array([0.3, 0.0, 2.0])
    q, bound = motion(truth), cramer_rao(lambda x: motion(x).reshape(-1) / noise, truth)[0]
    crude, rng = model.with_parameters({"floor": {"friction": 0.5}}), np.random.default_rng(2)
    start, errors = lw.State(np.zeros(2), np.array([2.0, 0.0])), []
    for _ in range(DRAWS):
        seen = lw.Recorded(T[:21], q=q + noise * rng.normal(size=q.shape), sigma={"q": noise})
        found = lw.fit(crude, seen, {"floor.friction": (0.0, 2.0)}, dt=DT, start=start)
        errors.append(found["floor.friction"] - truth[0])
        assert found.sigma[0] > 0.9 * bound  # what is said of the error is no less than the bound
    assert 0.7 * bound < root_mean_square(errors) <= 1.2 * bound


@pytest.mark.slow
def test_a_muscles_maximal_force() -> None:
    """Within 1.2 times the bound over 50 draws."""
    b = lw.ModelBuilder()
    b.body("fore", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.cuboid(1.0, (0.3, 0.05, 0.05), com=(0.15, 0, 0)), damping=0.2)
    path = [("world", (0.0, 0.0, 0.25)), ("fore", (0.05, 0.0, 0.0))]
    model = b.build().add(lw.Muscle(path, max_force=400.0, optimal_length=0.2, tendon_length=0.05, name="biceps"))
    inputs, noise = 0.2 + 0.3 * np.sin(4 * T)[:, None] ** 2, 1e-3

    def motion(x: np.ndarray) -> np.ndarray:
        """Of (force, first angle, first rate)."""
        stronger = model.with_parameters({"biceps": {"max_force": x[0]}})
        return moved(stronger, lw.State(x[1:2], x[2:3]), inputs=inputs)[0]

    truth = np.array([400.0, 0.0, 0.0])
    q, bound = motion(truth), cramer_rao(lambda x: motion(x).reshape(-1) / noise, truth, np.array([1e-2, 1e-5, 1e-5]))[0]
    crude, rng, errors = model.with_parameters({"biceps": {"max_force": 600.0}}), np.random.default_rng(3), []
    for _ in range(DRAWS):
        seen = lw.Recorded(T, q=q + noise * rng.normal(size=q.shape), sigma={"q": noise}, inputs=inputs)
        found = lw.fit(crude, seen, {"biceps.max_force": (1.0, None)}, dt=DT)
        errors.append(found["biceps.max_force"] - truth[0])
        assert found.sigma[0] == pytest.approx(bound, rel=0.02)
    assert 0.7 * bound < root_mean_square(errors) <= 1.2 * bound


def test_markers_with_gaps() -> None:
    """Positions of two points, some of them not seen, are enough."""
    model, (q, _) = arm(), clean()
    points = {("upper", (0.3, 0.0, 0.0)): None, ("fore", (0.3, 0.0, 0.05)): None}
    poses = lw.kinematics(model, q).poses
    rng = np.random.default_rng(4)
    for body, x in points:
        E = poses[:, model.body_index(body)]
        seen = E[:, :3, :3] @ np.array(x) + E[:, :3, 3] + 1e-4 * rng.normal(size=(len(q), 3))
        seen[rng.random(len(q)) < 0.2] = np.nan
        points[body, x] = seen
    motion = lw.Recorded(T, markers=points, sigma={"markers": 1e-4}, tau=TAU)
    found = lw.fit(crude(), motion, NAMES, dt=DT, start=START)
    assert found.converged
    assert (np.abs(found.values - (1.0, 0.6, 20.0, 5.0)) < 4 * found.sigma).all()


def test_an_inertia_is_that_of_a_body_that_can_exist() -> None:
    """The ten parameters of a tumbling body from motion under known wrenches, from a poor guess."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    true = lw.Inertia(1.3, (0.02, -0.01, 0.03), np.diag([0.02, 0.03, 0.04]))
    b.body("stone", joint=lw.Free(), inertia=true)
    model = b.build()
    rng = np.random.default_rng(6)
    wrenches = rng.normal(size=(RECORDS + 1, 1, 6)) * (0.3, 0.3, 0.3, 3, 3, 3)
    start = lw.State(model.neutral(), np.array([1.0, -2.0, 0.5, 0.1, 0.0, 0.2]))
    q, v = moved(model, start, external=wrenches)
    motion = lw.Recorded(T, q=q, v=v + 1e-3 * rng.normal(size=v.shape), sigma={"q": 1e-4, "v": 1e-3}, external=wrenches)
    other = lw.Inertia(2.0, (0, 0, 0), np.diag([0.05, 0.05, 0.05]))
    found = lw.fit(model.replace(bodies={"stone": {"inertia": other}}), motion, ["stone.inertia"], dt=DT)
    own = found.model.bodies[0].inertia
    assert found.converged
    assert own.mass == pytest.approx(1.3, rel=2e-3)
    assert np.abs(own.com - true.com).max() < 1e-3
    assert np.abs(own.tensor - true.tensor).max() < 1e-3
    lw.Inertia(own.mass, own.com, own.tensor)  # the constructor refuses what cannot exist


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1.5, 1.5), min_size=10, max_size=10))
def test_the_chart_of_inertias(x: list[float]) -> None:
    y = np.array(x)
    mass, com, tensor = rigid(y)
    assert mass > 0
    assert np.linalg.eigvalsh(tensor).min() > 0
    moments = np.linalg.eigvalsh(tensor)
    assert moments[0] + moments[1] >= moments[2] * (1 - 1e-9)
    assert np.abs(chart(lw.Inertia.unchecked(mass, com, tensor)) - y).max() < 1e-6
    ahead, behind = (
        [np.concatenate([[m], c, t.reshape(-1)]) for m, c, t in [rigid(y + s * 1e-6 * e) for e in np.eye(10)]] for s in (1, -1)
    )
    differences = (np.array(ahead) - np.array(behind)).T / 2e-6
    assert np.abs(rigid_slopes(y) - differences).max() < 1e-6 * (1 + np.abs(differences).max())


def test_what_does_not_show_is_said() -> None:
    """Without gravity and in free swing only ratios of stiffness to inertia show."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.body("disc", joint=lw.Revolute((0, 0, 1)), inertia=lw.Inertia(1.0, (0.1, 0, 0), np.diag([0.02, 0.02, 0.02])))
    model = b.build().add(lw.JointSpring("disc", stiffness=4.0, name="coil"))
    q, _ = moved(model, lw.State(np.array([0.5]), np.zeros(1)))
    found = lw.fit(model, lw.Recorded(T, q=q, sigma={"q": 1e-3}), ["disc.mass", "coil.stiffness"], dt=DT)
    assert np.isinf(found.sigma).all()
    assert "not identifiable" in found.report()
    assert "coil.stiffness" in found.report()
    known = lw.fit(
        model, lw.Recorded(T, q=q, sigma={"q": 1e-3}), ["disc.mass", "coil.stiffness"], dt=DT, priors={"disc.mass": (1.0, 0.01)}
    )
    assert np.isfinite(known.sigma).all()
    assert "not identifiable" not in known.report()


def test_bounds_and_priors_hold() -> None:
    motion = recorded(np.random.default_rng(7))
    bounded = lw.fit(crude(), motion, {"fore.mass": (0.1, 0.5), "elbow.stiffness": (0.0, None)}, dt=DT)
    assert bounded["fore.mass"] == pytest.approx(0.5, abs=1e-9)
    sure = lw.fit(crude(), motion, ["fore.mass", "elbow.stiffness"], dt=DT, priors={"fore.mass": (0.45, 1e-6)})
    assert sure["fore.mass"] == pytest.approx(0.45, abs=1e-4)


def test_several_recordings_say_more_than_one() -> None:
    rng = np.random.default_rng(8)
    motions = [recorded(rng) for _ in range(4)]
    one, all_of = lw.fit(crude(), motions[0], NAMES, dt=DT), lw.fit(crude(), motions, NAMES, dt=DT)
    assert np.abs(all_of.sigma / one.sigma - 0.5).max() < 0.05


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"numbers": []}, "nothing is to be fitted"),
        ({"numbers": ["uper.mass"]}, "did you mean 'upper'"),
        ({"numbers": ["q[0]"]}, "cannot be fitted"),
        ({"numbers": {"upper.mass": 3.0}}, "least, most"),
        ({"numbers": {"upper.mass": (2.0, 1.0)}}, "nothing to fit"),
        ({"priors": {"elbow.mass": (1.0, 1.0)}}, "not fitted"),
        ({"priors": {"upper.mass": (1.0, -1.0)}}, "priors"),
        ({"dt": 0.03}, "whole number of steps"),
        ({"windows": 0}, "windows"),
        ({"windows": 1000}, "windows"),
        ({"rounds": 0}, "rounds"),
        ({"motion": []}, "no recorded motion"),
        ({"motion": 3.0}, "Recorded"),
    ],
)
def test_what_is_wrong_is_said(change: dict, told: str) -> None:
    asked = {"motion": recorded(np.random.default_rng(0)), "numbers": ["upper.mass"], "dt": DT} | change
    with pytest.raises(lw.InputError, match=told):
        lw.fit(arm(), **asked)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: lw.Recorded([0.0], q=np.zeros((1, 2))), "at least two"),
        (lambda: lw.Recorded([0.0, 1.0, 3.0], q=np.zeros((3, 2))), "evenly"),
        (lambda: lw.Recorded(T), "nothing was recorded"),
        (lambda: lw.Recorded(T, q=np.zeros((3, 2))), "a row for each"),
        (lambda: lw.Recorded(T, q="x"), "numbers"),
        (lambda: lw.Recorded(T, q=clean()[0], sigma={"p": 1.0}), "sigma"),
        (lambda: lw.Recorded(T, q=clean()[0], sigma={"q": 0.0}), "positive"),
        (lambda: lw.Recorded(T, q=np.zeros((len(T), 3))).check(arm()), "shape"),
        (lambda: lw.Recorded(T, markers={("hand", (0, 0, 0)): np.zeros((len(T), 3))}).check(arm()), "hand"),
    ],
)
def test_wrong_recordings_are_refused(make, told: str) -> None:
    with pytest.raises(lw.InputError, match=told):
        make()


# --- shapes of joints -----------------------------------------------------------------------------------------------------------
TILTED = np.array([0.1, 1.0, 0.15]) / np.linalg.norm([0.1, 1.0, 0.15])
AHEAD = lw.SE3.rot_x(0.1) @ lw.SE3(p=np.array([0.02, 0.01, -0.41]))
BELOW = lw.SE3(p=np.array([0.0, 0.0, -0.4]))


def rail() -> lw.SplineCurve:
    frames = [lw.SE3.rot_y(k * np.pi / 3) @ lw.SE3(p=np.array([0.05, 0.02 * np.cos(2 * k), 0.0])) for k in range(6)]
    return lw.SplineCurve(frames, cyclic=True)


def sliding(q: np.ndarray, a: float) -> lw.SE3:
    return lw.SE3.rot_y(q[0]) @ lw.SE3(p=np.array([a * q[0], 0.0, 0.0]))


def leg(knee: lw.Joint, placement: lw.SE3 = BELOW) -> lw.Model:
    bone = lw.Inertia.cuboid(1.0, (0.1, 0.05, 0.4), com=(0.01, 0.02, -0.2))
    b = lw.ModelBuilder()
    b.body("thigh", joint=lw.Revolute((0, 1, 0)), inertia=bone)
    b.body("shank", parent="thigh", joint=knee, joint_name="knee", placement=placement, inertia=bone, damping=0.05)
    return b.build()


JOINTS = {  # what moves, the guess, what is fitted
    "axis": (leg(lw.Revolute(TILTED)), leg(lw.Revolute((0, 1, 0))), ["knee.axis"]),
    "placement": (leg(lw.Revolute((0, 1, 0)), AHEAD), leg(lw.Revolute((0, 1, 0))), ["knee.placement"]),
    "parameter": (
        leg(lw.joint(sliding, 1, parameters={"a": 0.08})),
        leg(lw.joint(sliding, 1, parameters={"a": 0.03})),
        ["knee.a"],
    ),
    "frame": (leg(rail()), leg(rail()), ["knee.frames[9]", "knee.frames[16]"]),
}


def start_of(model: lw.Model) -> lw.State:
    return lw.State(np.array([0.5, 0.8]), np.zeros(2))


@pytest.mark.parametrize("kind", ["axis", "placement", "parameter"])
def test_shapes_of_joints_are_found(kind: str) -> None:
    """An axis has two free coordinates; a placement six, of which turns about the axis do not show beside the angle."""
    truth, guess, names = JOINTS[kind]
    q, v = moved(truth, start_of(truth))
    found = lw.fit(guess, lw.Recorded(T, q=q, v=v), names, dt=DT)
    assert found.converged
    assert len(found.names) == {"axis": 2, "placement": 6, "parameter": 1}[kind]
    assert found.cost < 1e-15
    knee, other = found.model.bodies[1], truth.bodies[1]
    if kind == "axis":
        assert np.abs(knee.joint.axis - TILTED).max() < 1e-8
    elif kind == "parameter":
        assert found["knee.a"] == pytest.approx(0.08, abs=1e-8)
    else:
        along = np.eye(3)[1]  # of the axis: a shift along it moves the shank, a turn about it is one of the angle
        assert np.abs(knee.placement.R @ along - other.placement.R @ along).max() < 1e-6


@pytest.mark.parametrize("kind", JOINTS)
def test_gradients_by_shapes_of_joints(kind: str) -> None:
    _, model, names = JOINTS[kind]
    q, v = moved(JOINTS[kind][0], start_of(model), records=20)
    motion = lw.Recorded(T[:21], q=q, v=v + 0.1)
    unknowns = Unknowns(model, names)
    nothing = (np.zeros(0, int), np.zeros(0), np.zeros(0))
    free = (np.full(len(unknowns.names), -np.inf), np.full(len(unknowns.names), np.inf))

    def search(x: np.ndarray) -> _Search:
        shots = Shots(unknowns.put(x), unknowns, motion, DT, start_of(model), 1, "rk4", {})
        own = _Search(unknowns, [shots], free, nothing)
        own._take(x, [lw.State(np.array([[0.5, 0.8]]), np.zeros((1, 2)))])
        return own

    x = unknowns.of(model) + 0.01 * np.arange(1.0, len(unknowns.names) + 1)
    assert unknowns.of(unknowns.put(x)) == pytest.approx(x, abs=1e-12)
    J, b, _ = search(x)._linearised()
    gradient = (J.T @ b)[4:]
    for k, e in enumerate(1e-5 * np.eye(len(x))):
        ends = [search(x + s * e).cost for s in (1.0, -1.0)]
        assert gradient[k] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-6)


def test_entries_of_an_axis_are_not_free() -> None:
    with pytest.raises(lw.InputError, match=r"name the axis, knee\.axis"):
        Unknowns(JOINTS["axis"][1], ["knee.axis[0]"])
