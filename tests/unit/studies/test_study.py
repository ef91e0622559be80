"""Studies: every run is that of a model of its own, to the last bit, wherever and with whomever it is made."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw

STEPS, DT = 20, 2e-3
DURATION = STEPS * DT
START = lw.State(np.zeros(3), np.array([0.2, -0.5, 4.0]))  # the ball touches the floor, and spins


def arm() -> lw.Model:
    """Three links with springs, a user's force and joint; the last one is a ball that may meet the floor."""
    b = lw.ModelBuilder()
    link = lw.Inertia.cuboid(1.0, (0.3, 0.1, 0.05), com=(0.15, 0.02, 0.01))
    b.body("upper", joint=lw.Revolute((0, 1, 0)), inertia=link, damping=0.1, limits=(-2.0, 2.0))
    b.body("fore", parent="upper", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=np.array([0.3, 0, 0])), inertia=link)
    b.body(
        "tip",
        parent="fore",
        joint=lw.Revolute((1, 0, 0)),
        placement=lw.SE3(p=np.array([0.3, 0, 0])),
        inertia=lw.Inertia.sphere(0.5, 0.05),
        shapes=[lw.Sphere(0.05, friction=0.4, name="ball")],
    )
    b.world(lw.Plane((0, 0, -5.0), friction=0.9))
    model = b.build()
    return model.add(
        lw.JointSpring("upper", stiffness=30.0, damping=0.2, name="spring"),
        lw.joint_force("fore", force=lambda q, v, drag: -drag * v, parameters={"drag": 0.3}, name="wind"),
        lw.Contact("tip", lw.Sphere(0.05), "world", lw.Plane((0, 0, -0.05)), friction=0.4, name="floor"),
    )


@pytest.fixture(scope="module")
def model() -> lw.Model:
    return arm()


def alone(model: lw.Model, numbers: dict, q=None, v=None, gravity=None) -> np.ndarray:
    """The last q of the run of one variant."""
    own = model.with_parameters(numbers, gravity)
    q, v = (start if x is None else np.asarray(x, float) for x, start in ((q, START.q), (v, START.v)))
    return lw.simulate(own, lw.State(q, v), DURATION, DT).q[-1]


COLUMNS = {
    "spring.stiffness": (lambda x: ({"spring": {"stiffness": x}}, {}), (0.0, 200.0)),
    "wind.drag": (lambda x: ({"wind": {"drag": x}}, {}), (0.0, 3.0)),
    "floor.friction": (lambda x: ({"floor": {"friction": x}}, {}), (0.0, 1.0)),
    "fore.mass": (lambda x: ({"fore": {"mass": x}}, {}), (0.2, 3.0)),
    "fore.com[0]": (lambda x: ({"fore": {"com": [x, 0.02, 0.01]}}, {}), (0.1, 0.2)),
    "upper.damping": (lambda x: ({"upper": {"damping": [x]}}, {}), (0.05, 1.0)),
    "tip.armature": (lambda x: ({"tip": {"armature": [x]}}, {}), (0.1, 0.9)),
    "gravity[2]": (lambda x: ({}, {"gravity": [0, 0, x]}), (-10.0, 10.0)),
    "q[1]": (lambda x: ({}, {"q": [0, x, 0]}), (0.0, 0.5)),
    "upper.q": (lambda x: ({}, {"q": [x, 0, 0]}), (0.0, 0.5)),
    "tip.v": (lambda x: ({}, {"v": [0.2, -0.5, x]}), (-3.0, 3.0)),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_every_kind_of_column_is_what_single_runs_have(model: lw.Model, name: str) -> None:
    made, span = COLUMNS[name]
    design = lw.Design({name: np.linspace(*span, 5)})
    found = lw.study(model, design, duration=DURATION, dt=DT, state=START)
    for i, x in enumerate(design.columns[name]):
        numbers, more = made(float(x))
        expected = alone(model, numbers, **more)
        exact = not name.endswith((".mass", ".com[0]", ".armature"))  # sums in another order, and zeros that were left out
        assert np.abs(found["q"][i] - expected).max() <= (0.0 if exact else 1e-15)
    assert np.ptp(found["q"], axis=0).max() > 1e-6  # the column does something


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.floats(1.0, 100.0), st.floats(0.3, 3.0), st.floats(-0.4, 0.4)), min_size=1, max_size=9))
def test_columns_act_together(rows) -> None:
    model = arm()
    k, m, q = map(np.array, zip(*rows, strict=True))
    found = lw.study(model, {"spring.stiffness": k, "tip.mass": m, "q[0]": q}, duration=DURATION, dt=DT, state=START)
    for i in range(len(rows)):
        expected = alone(model, {"spring": {"stiffness": k[i]}, "tip": {"mass": m[i]}}, q=[q[i], 0, 0])
        assert np.abs(found["q"][i] - expected).max() <= 1e-11


def test_shapes_of_bodies_vary() -> None:
    """A ball dropped on the floor rests at its radius."""
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia.sphere(1.0, 0.1), shapes=[lw.Sphere(0.1, name="skin")])
    model = b.ground().build()
    radii = np.array([0.05, 0.1, 0.2])
    found = lw.study(model, {"ball.skin.radius": radii, "ball.q": radii + 0.01}, duration=0.5, dt=1e-3)
    assert np.abs(found["q"][:, 0] - radii).max() < 1e-6


def test_shapes_with_which_bodies_touch_one_another_vary() -> None:
    """A ball dropped on another one rests at its radius above it: which shapes are near is found with the sizes of the run."""
    b = lw.ModelBuilder()
    for name in ("lower", "upper"):
        skin = lw.Sphere(0.1, name="skin")
        b.body(name, joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia.sphere(1.0, 0.1), shapes=[skin])
    radii = np.array([0.05, 0.1, 0.2, 0.4])
    starts = {"lower.q": np.full(4, 0.1), "upper.q": 0.2 + radii + 0.01}
    found = lw.study(b.ground().build(), {"upper.skin.radius": radii, **starts}, duration=0.5, dt=1e-3)
    assert np.abs(found["q"] - np.stack([np.full(4, 0.1), 0.2 + radii], axis=1)).max() < 1e-6


def test_where_runs_are_made_does_not_matter(model: lw.Model) -> None:
    design = lw.Design.sobol({"spring.stiffness": (1.0, 100.0), "q[0]": (-0.5, 0.5)}, 37)
    ways = [{}, {"chunk": 5}, {"threads": 2}, {"chunk": 4, "processes": 2}]
    found = [lw.study(model, design, duration=DURATION, dt=DT, **way) for way in ways]
    for other in found[1:]:
        assert np.array_equal(found[0]["q"], other["q"])
        assert np.array_equal(found[0]["v"], other["v"])
        assert np.array_equal(other["run"], np.arange(37))


def test_measures(model: lw.Model) -> None:
    design = lw.Design({"spring.stiffness": [10.0, 20.0, 30.0]})
    number = lw.study(model, design, lambda run: run.q[-1, 0], duration=DURATION, dt=DT)
    named = lw.study(model, design, lambda run: {"end": run.q[-1], "energy": run.energy.total[-1]}, duration=DURATION, dt=DT)
    by_row = lw.study(model, design, lambda run, row: {"k": row["spring.stiffness"]}, duration=DURATION, dt=DT)
    together = lw.study(model, design, lambda runs: {"end": runs.q[:, -1]}, duration=DURATION, dt=DT, together=True)
    assert np.array_equal(number["measure"], named["end"][:, 0])
    assert np.array_equal(together["end"], named["end"])
    assert np.array_equal(by_row["k"], [10, 20, 30])
    one = lw.simulate(model.with_parameters({"spring": {"stiffness": 20.0}}), lw.State(np.zeros(3), np.zeros(3)), DURATION, DT)
    assert named["energy"][1] == one.energy.total[-1]


def test_formulations_one_by_one(model: lw.Model) -> None:
    bare = model.replace(elements=[e for e in model.elements if e.name != "floor"])
    design = lw.Design({"spring.stiffness": [10.0, 40.0], "q[0]": [0.1, 0.2]})
    found = {m: lw.study(bare, design, duration=DURATION, dt=DT, method=m)["q"] for m in ("reduced", "maximal", "redmax")}
    assert np.abs(found["maximal"] - found["reduced"]).max() < 1e-2
    assert np.abs(found["redmax"] - found["reduced"]).max() < 1e-2
    one = lw.simulate(
        bare.with_parameters({"spring": {"stiffness": 40.0}}), lw.State([0.2, 0, 0], np.zeros(3)), DURATION, DT, "redmax"
    )
    assert np.array_equal(found["redmax"][1], one.q[-1])


def test_controllers_and_seeds(model: lw.Model) -> None:
    design = lw.Design({"gain": [0.0, 1e-3, 5e-3]}).repeated(2)

    def start(columns) -> lw.State:
        noise = [np.random.default_rng(int(seed)).normal(size=3) for seed in columns["seed"]]
        return lw.State(np.zeros((len(noise), 3)), np.array(noise))

    def control(columns):
        return lambda t, state: -columns["gain"][:, None] * state.v

    found = lw.study(model, design, duration=DURATION, dt=DT, state=start, control=control)
    for i, row in enumerate(design):
        v = np.random.default_rng(int(row["seed"])).normal(size=3)
        one = lw.simulate(model, lw.State(np.zeros(3), v), DURATION, DT, control=lambda t, s, g=row["gain"]: -g * s.v)
        assert np.array_equal(found["q"][i], one.q[-1])


def test_runs_that_fail_say_so(model: lw.Model) -> None:
    found = lw.study(model, {"wind.drag": [0.1, 1e6, 0.2]}, lambda run: {"end": run.q[-1]}, duration=2.0, dt=1e-2)
    assert found.failed.tolist() == [1]
    assert "not finite" in found["failure"][1]
    assert np.isnan(found["end"][1]).all()
    assert np.isfinite(found["end"][[0, 2]]).all()
    assert "1 of them failed" in repr(found)


# --- results ------------------------------------------------------------------------------------------------------------------
def test_results_are_a_parquet_file(model: lw.Model, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    design = lw.Design({"spring.stiffness": [10.0, 20.0, 30.0]})
    out = tmp_path / "springs.parquet"
    found = lw.study(model, design, duration=DURATION, dt=DT, out=out, chunk=2)
    table = parquet.read_table(out)
    assert table.column_names == ["run", "spring.stiffness", "q", "v", "failure"]
    assert table.column("spring.stiffness").to_pylist() == [10, 20, 30]
    assert np.array_equal(np.array(table.column("q").to_pylist()), found["q"])
    about = json.loads(table.schema.metadata[b"linkwork"])
    assert about["linkwork"] == lw.__version__
    assert about["runs"] == 3
    assert about["dt"] == DT
    assert [file.name for file in tmp_path.iterdir()] == ["springs.parquet"]
    assert found.frame().shape == (3, 1 + 1 + 3 + 3 + 1)


def test_a_study_that_was_stopped_goes_on(model: lw.Model, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    design, out, made = lw.Design({"spring.stiffness": np.linspace(10.0, 60.0, 6)}), tmp_path / "s.parquet", []
    stop = [True]

    def measure(run: lw.Trajectory) -> float:
        if stop[0] and len(made) == 4:
            raise KeyboardInterrupt
        made.append(run.q[-1, 0])
        return run.q[-1, 0]

    with pytest.raises(KeyboardInterrupt):
        lw.study(model, design, measure, duration=DURATION, dt=DT, out=out, chunk=2)
    assert len(made) == 4
    assert not out.exists()
    stop[0] = False
    found = lw.study(model, design, measure, duration=DURATION, dt=DT, out=out, chunk=2)
    assert len(made) == 6  # no run was made twice
    assert np.array_equal(found["measure"], made)
    again = lw.study(model, design, measure, duration=DURATION, dt=DT, out=out, chunk=2)
    assert len(made) == 6
    assert np.array_equal(again["measure"], made)
    with pytest.raises(lw.InputError, match="another study: its design differ"):
        lw.study(model, {"spring.stiffness": np.ones(6)}, measure, duration=DURATION, dt=DT, out=out, chunk=2)
    with pytest.raises(lw.InputError, match="model"):
        lw.study(model.replace(gravity=(0, 0, -1)), design, measure, duration=DURATION, dt=DT, out=out, chunk=2)


def test_plot(model: lw.Model) -> None:
    found = lw.study(
        model, lw.Design.grid({"spring.stiffness": [1.0, 10.0, 1e3], "q[0]": [0.1, 0.2]}), lambda run: run.q[-1, 0], duration=0.1
    )
    figure = found.plot()
    assert [ax.get_xlabel() for ax in figure.axes] == ["spring.stiffness", "q[0]"]
    assert figure.axes[0].get_xscale() == "log"
    with pytest.raises(lw.InputError, match="no column 'heigth'"):
        found.plot("heigth")


# --- what is refused ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("columns", "options", "told"),
    [
        ({"sprin.stiffness": [1.0]}, {}, "did you mean 'spring'"),
        ({"spring.stifness": [1.0]}, {}, "did you mean 'stiffness'"),
        ({"spring.stiffness": [1.0, -2.0]}, {}, "stiffness"),
        ({"upper.mass": [0.0]}, {}, "mass"),
        ({"upper.masses": [1.0]}, {}, "masses"),
        ({"q[3]": [1.0]}, {}, r"the last is \[2\]"),
        ({"gravity[3]": [1.0]}, {}, r"the last is \[2\]"),
        ({"seed": [1.0]}, {}, "no function of the study"),
        ({"upper.mass[": [1.0]}, {}, "write"),
        ({"tip.skin.radius": [1.0]}, {}, "shapes"),
        ({"tip.ball.colour": [1.0]}, {}, "no number 'colour'"),
        ({"tip.ball.radius": [-1.0]}, {}, "positive"),
        ({"q": [[1.0, 2.0]]}, {}, "shape"),
        ({"q[0]": [1.0]}, {"every": 3}, "divides"),
        ({"q[0]": [1.0]}, {"processes": 0}, "processes"),
        ({"q[0]": [1.0]}, {"chunk": 0}, "chunk"),
        ({"q[0]": [1.0]}, {"out": "x.csv"}, "NAME.parquet"),
        ({"q[0]": [1.0]}, {"stepper": "rk5"}, "rk5"),
        ({"q[0]": [1.0]}, {"together": True}, "measure"),
        ({"q[0]": [1.0]}, {"measure": 3.0}, "function"),
        ({"q[0]": [1.0]}, {"measure": lambda run: "high"}, "number"),
        ({"q[0]": [1.0]}, {"dt": -1.0}, "dt"),
    ],
)
def test_what_is_wrong_is_said_at_once(model: lw.Model, columns, options, told: str) -> None:
    with pytest.raises(lw.LinkworkError, match=told):
        lw.study(model, columns, **({"duration": DURATION, "dt": DT} | options))


def test_shapes_of_joints_are_columns() -> None:
    """Entries of an axis, which is made a unit vector; displacements of a placement; each run is that of its own model."""
    b = lw.ModelBuilder()
    bone = lw.Inertia.cuboid(1.0, (0.1, 0.05, 0.4), com=(0.01, 0.02, -0.2))
    b.body("thigh", joint=lw.Revolute((0, 1, 0)), inertia=bone)
    b.body("shank", parent="thigh", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0, 0, -0.4)), inertia=bone)
    model, start = b.build(), lw.State([0.3, 0.2], [0, 0])
    design = lw.Design({"shank.axis[0]": [0.0, 0.1, 0.2], "shank.placement[3]": [0.0, 0.01, 0.02]})
    found = lw.study(model, design, lambda run: {"end": run.q[-1]}, duration=0.1, dt=1e-3, state=start)
    for k, own in enumerate(found["end"]):
        axis = np.array([0.1 * k, 1.0, 0.0]) / np.linalg.norm([0.1 * k, 1.0, 0.0])
        there = {"axis": axis, "placement": lw.SE3(p=(0.01 * k, 0, -0.4))}
        assert own == pytest.approx(lw.simulate(model.with_parameters({"shank": there}), start, 0.1, dt=1e-3).q[-1], rel=1e-13)
