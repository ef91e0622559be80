"""Variants: the model that the builder would have made, without compiling anything again; what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from models import relative, rotation

import linkwork as lw
from linkwork.kernel import unit
from linkwork.kernel.host import HOST

NAN = float("nan")
ROD = lw.Inertia.cuboid(1.0, (1.0, 0.1, 0.1), (0.5, 0.0, 0.0))
DEFAULTS: dict[str, dict[str, Any]] = {
    "upper": {"joint": lw.Revolute((0, 1, 0)), "placement": lw.SE3(p=(0.1, 0.2, 0.3)), "inertia": ROD, "damping": 0.3},
    "lower": {
        "joint": lw.Revolute((0, 1, 0)),
        "placement": lw.SE3(p=(0.9, 0.2, 0.3)),
        "inertia": ROD,
        "damping": 0.2,
        "limits": (-2.0, 2.5),
        "effort": 40.0,
        "joint_name": "elbow",
    },
}


def built(changes: Mapping[str, Mapping[str, Any]] | None = None, gravity: Any = (0, 0, -9.81), loop: bool = True) -> lw.Model:
    """Two links, by the builder, with these changes of its arguments."""
    b = lw.ModelBuilder(gravity)
    parent = "world"
    for name, arguments in DEFAULTS.items():
        b.body(name, parent=parent, **(arguments | dict((changes or {}).get(name, {}))))
        parent = name
    b.frame("tip", body="lower", placement=lw.SE3(p=(1, 0, 0)))
    return (b.add(lw.Loop("lower", point_a=(1, 0, 0))) if loop else b).build()


BASE = built()


def assert_same(a: lw.Model, b: lw.Model) -> None:
    """The same tree, numbers and dynamics."""
    assert [(x.name, x.joint_name, x.parent) for x in a.bodies] == [(x.name, x.joint_name, x.parent) for x in b.bodies]
    for x, y in zip(a.bodies, b.bodies, strict=True):
        for what in ("lower", "upper", "armature", "damping", "friction", "effort", "speed"):
            np.testing.assert_array_equal(getattr(x.properties, what), getattr(y.properties, what))
    assert list(a.frames) == list(b.frames)
    rng = np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, a.nv))
    assert relative(lw.tree_dynamics(a, q, v, tau), lw.tree_dynamics(b, q, v, tau)) == 0.0


# --- replace ----------------------------------------------------------------------------------------------------------
OTHER = lw.Inertia.cylinder(2.0, 0.2, 0.6, (1, 0, 0), (0.3, 0, 0))
CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "nothing": {},
    "inertia": {"lower": {"inertia": OTHER}},
    "placement": {"upper": {"placement": lw.SE3(R=rotation((0.6, 0, 0.8), 0.5), p=(1, 2, 3))}},
    "axis": {"lower": {"joint": lw.Revolute((1, 0, 0))}},
    "kind": {"lower": {"joint": lw.Prismatic((1, 0, 0))}},
    "properties": {"lower": {"limits": (-1, 1), "armature": 0.4, "friction": 0.1, "effort": 5, "speed": 6, "damping": 0.25}},
    "both": {"upper": {"inertia": OTHER, "damping": 0.9}, "lower": {"damping": 0.8}},
}


@pytest.mark.parametrize("what", CHANGES)
def test_replace_is_what_the_builder_would_have_made(what: str) -> None:
    before = lw.tree_dynamics(BASE, [0.1, 0.2], [0.3, 0.4])
    assert_same(BASE.replace(bodies=CHANGES[what]), built(CHANGES[what]))
    assert relative(lw.tree_dynamics(BASE, [0.1, 0.2], [0.3, 0.4]), before) == 0.0


def test_replace_by_the_name_of_the_joint() -> None:
    assert_same(BASE.replace(bodies={"elbow": {"damping": 0.7}}), built({"lower": {"damping": 0.7}}))


def test_replace_a_joint_by_one_of_another_size() -> None:
    change = {"upper": {"joint": lw.Spherical(), "damping": 0.5}}
    model = BASE.replace(bodies=change)
    assert (model.nq, model.nv) == (5, 4)
    assert model.bodies[0].properties.damping.tolist() == [0.5] * 3
    expected = built(change)
    q, v = expected.random_configuration(1), np.ones(4)
    assert relative(lw.tree_dynamics(model, q, v), lw.tree_dynamics(expected, q, v)) == 0.0


def test_replace_gravity_and_elements() -> None:
    moon = BASE.replace(gravity=(0, 0, -1.62))
    assert_same(moon, built(gravity=(0, 0, -1.62)))
    assert moon.elements == BASE.elements
    free = BASE.replace(elements=())
    assert free.elements == ()
    q, v = [0.4, -0.3], [1.0, 2.0]
    np.testing.assert_array_equal(lw.forward_dynamics(free, q, v), lw.forward_dynamics(built(loop=False), q, v))
    coupled = free.replace(elements=[lw.Coupling("elbow", "upper")])
    a = lw.forward_dynamics(coupled, [0.1, 0.1], [1.0, 1.0])
    assert a[0] == pytest.approx(a[1])


def test_replace_keeps_an_order_that_the_builder_would_not_choose() -> None:
    """Breadth first: the bodies must not be sorted anew, or q would mean something else."""
    parents = {"a": -1, "b": -1, "c": 0}
    bodies = [lw.Body(n, p, lw.Revolute(), n, lw.SE3(), ROD, BASE.replace().bodies[0].properties) for n, p in parents.items()]
    model = lw.Model(tuple(bodies), BASE.gravity)
    assert [b.name for b in model.replace(bodies={"c": {"damping": 1.0}}).bodies] == ["a", "b", "c"]


# --- with_parameters ----------------------------------------------------------------------------------------------------
def test_parameters_are_set_as_given() -> None:
    E = lw.SE3(p=(0.5, 0.6, 0.7))
    model = BASE.with_parameters(
        {"upper": {"mass": 3.0, "damping": 0.6}, "elbow": {"com": (0.2, 0.1, 0), "tensor": np.eye(3), "placement": E}},
        gravity=(1, 2, 3),
    )
    changes = {
        "upper": {"inertia": lw.Inertia(3.0, ROD.com, ROD.tensor), "damping": 0.6},
        "lower": {"inertia": lw.Inertia(1.0, (0.2, 0.1, 0), np.eye(3)), "placement": E},
    }
    assert_same(model, built(changes, gravity=(1, 2, 3)))
    assert model.gravity.tolist() == [1, 2, 3]


def test_armature_enters_the_mass_matrix() -> None:
    model = BASE.with_parameters({"upper": {"armature": 0.7}})
    q = [0.3, 0.4]
    np.testing.assert_allclose(lw.mass_matrix(model, q) - lw.mass_matrix(BASE, q), np.diag([0.7, 0.0]), atol=1e-14)


def test_an_impossible_inertia_that_was_accepted_may_stay() -> None:
    odd = lw.Inertia.unchecked(1.0, (0, 0, 0), np.diag([1, 1, 5]))
    model = built({"lower": {"inertia": odd}}).with_parameters({"lower": {"damping": 1.0}})
    assert model.bodies[1].inertia is odd


# --- kernels ------------------------------------------------------------------------------------------------------------
LOADED: dict[int, dict[str, Any]] = {}  # machine code must live as long as the process: LLVM crashes when it is freed


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The classes that are compiled from here on; nothing is known from disk or from earlier."""
    calls: list[tuple[Any, ...]] = []
    original = unit._written

    def counted(algorithm: Any, node_class: Any, *others: Any) -> Any:
        calls.append(node_class.signature)
        return original(algorithm, node_class, *others)

    monkeypatch.setenv("LINKWORK_CACHE", "off")
    monkeypatch.setattr(HOST, "units", LOADED.setdefault(len(LOADED), {}))
    monkeypatch.setattr(unit, "_written", counted)
    return calls


def test_variants_share_kernels(compiled: list[tuple[Any, ...]]) -> None:
    q, v = np.array([0.1, 0.2]), np.array([0.3, 0.4])
    base = built()
    lw.inverse_dynamics(base, q, v, v)
    assert len(compiled) == 2  # the root and the leaf
    numbers = {"mass": 2.5, "com": (0.3, 0.1, 0), "tensor": np.eye(3), "placement": lw.SE3(p=(0.5, 0.6, 0.7)), "damping": 0.6}
    variants = [
        base.with_parameters({"upper": numbers, "lower": numbers}, gravity=(1, 2, 3)),
        base.replace(gravity=(0, 0, 0), bodies={"lower": {"inertia": OTHER, "limits": (-1, 1)}}, elements=[]),
    ]
    results = [lw.inverse_dynamics(model, q, v, v) for model in (base, *variants)]
    assert len(compiled) == 2
    assert np.abs(np.diff(results, axis=0)).min() > 1e-3  # and yet they differ


def test_a_new_pattern_of_zeros_compiles_only_its_own_class(compiled: list[tuple[Any, ...]]) -> None:
    q = np.array([0.1, 0.2])
    base = built()
    lw.inverse_dynamics(base, q, q, q)
    known = len(compiled)
    tilted = base.with_parameters({"lower": {"placement": lw.SE3(R=rotation((0.6, 0, 0.8), 0.5), p=(1.5, 2, 3))}})
    lw.inverse_dynamics(tilted, q, q, q)
    assert len(compiled) == known + 1
    lw.inverse_dynamics(tilted.with_parameters({"lower": {"mass": 7.0}}), q, q, q)
    assert len(compiled) == known + 1


# --- what is refused ------------------------------------------------------------------------------------------------------
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "body": (lambda: BASE.replace(bodies={"leg": {}}), "no body or joint 'leg'; it has"),
    "frame": (lambda: BASE.with_parameters({"tip": {"mass": 1.0}}), "no body or joint 'tip'"),
    "world": (lambda: BASE.with_parameters({"world": {"mass": 1.0}}), "no body or joint 'world'"),
    "twice": (lambda: BASE.replace(bodies={"lower": {}, "elbow": {}}), "'lower' and 'elbow' are the same body and its joint"),
    "part": (lambda: BASE.replace(bodies={"upper": {"parent": "lower"}}), "body 'upper': 'parent' cannot be changed here"),
    "mass in replace": (lambda: BASE.replace(bodies={"upper": {"mass": 1}}), "'mass' cannot be changed here; these can: joint"),
    "joint in numbers": (
        lambda: BASE.with_parameters({"upper": {"joint": 1}}),
        "'joint' cannot be changed here; these can: mass",
    ),
    "limits in numbers": (lambda: BASE.with_parameters({"upper": {"limits": (0, 1)}}), "'limits' cannot be changed here"),
    "not a mapping": (lambda: BASE.with_parameters([1.0]), "name of a body.*not list"),  # type: ignore[arg-type]
    "no mapping inside": (lambda: BASE.with_parameters({"upper": 2.0}), "body 'upper': its changes must be"),  # type: ignore[dict-item]
    "mass": (lambda: BASE.with_parameters({"upper": {"mass": -1}}), "body 'upper': inertia: the mass -1 must be positive"),
    "mass nan": (lambda: BASE.with_parameters({"upper": {"mass": NAN}}), "body 'upper': inertia: mass = nan is not finite"),
    "mass list": (lambda: BASE.with_parameters({"upper": {"mass": [1, 2]}}), r"body 'upper': inertia: mass must have shape \(\)"),
    "com": (lambda: BASE.with_parameters({"upper": {"com": (1, 2)}}), "body 'upper': inertia: com must have shape"),
    "tensor": (lambda: BASE.with_parameters({"upper": {"tensor": np.diag([1, 1, 3])}}), "body 'upper': .* triangle inequality"),
    "placement": (lambda: BASE.with_parameters({"upper": {"placement": (0, 0, 1)}}), "body 'upper': placement must be a SE3"),
    "rotation": (
        lambda: BASE.with_parameters({"upper": {"placement": lw.SE3(R=1.1 * np.eye(3))}}),
        "body 'upper': the rotation of its placement is not a rotation",
    ),
    "damping": (lambda: BASE.with_parameters({"elbow": {"damping": -1}}), "joint 'elbow': damping = .* not negative"),
    "armature": (lambda: BASE.with_parameters({"upper": {"armature": [1, 2]}}), "joint 'upper': armature .* 1 numbers"),
    "limits": (lambda: BASE.replace(bodies={"upper": {"limits": (1, -1)}}), "joint 'upper': its lower limit .* above the upper"),
    "inertia": (lambda: BASE.replace(bodies={"upper": {"inertia": 1.0}}), "body 'upper': inertia must be a Inertia, not float"),
    "joint": (lambda: BASE.replace(bodies={"lower": {"joint": "hinge"}}), "body 'lower': joint must be a Joint, not str"),
    "properties lost": (
        lambda: BASE.replace(bodies={"lower": {"joint": lw.Spherical(), "damping": 0.1}}),
        "body 'lower': the new joint has other coordinates than the old, which had effort, limits; give them anew",
    ),
    "gravity": (lambda: BASE.replace(gravity=(0, 0, NAN)), "gravity must be three finite numbers"),
    "gravity number": (lambda: BASE.with_parameters({}, gravity=9.81), "gravity must be three finite numbers, not 9.81"),
    "gravity word": (lambda: BASE.with_parameters({}, gravity="down"), "gravity must be three finite numbers, not 'down'"),
    "element": (lambda: BASE.replace(elements=[lw.Loop("leg")]), "Loop between .* there is no body 'leg'"),
    "element does not fit": (
        lambda: built({"upper": {"damping": 0.0}}).replace(
            bodies={"upper": {"joint": lw.Spherical()}}, elements=[lw.Coupling("elbow", "upper")]
        ),
        "Coupling: joint 'upper' has 3 degrees of freedom",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_names_the_rule(what: str) -> None:
    make, rule = REFUSED[what]
    with pytest.raises(lw.ModelError, match=rule):
        make()


# --- laws -----------------------------------------------------------------------------------------------------------------
FREE = built().replace(elements=())
SPRING = lw.PointSpring("lower", point_b=(1.0, 0.2, 0.3), stiffness=5.0, name="spring")


def test_laws_are_added_after_those_there_are() -> None:
    once = FREE.add(SPRING)
    twice = once.add(lw.JointDamping("upper", 0.3), lw.Limit("lower", -1.0, 1.0))
    assert [type(e).__name__ for e in twice.elements] == ["PointSpring", "JointDamping", "Limit"]
    assert len(FREE.elements) == 0
    q, v = np.array([0.1, 0.2]), np.array([0.3, 0.4])
    same = FREE.replace(elements=twice.elements)
    np.testing.assert_array_equal(lw.forward_dynamics(twice, q, v), lw.forward_dynamics(same, q, v))
    with pytest.raises(lw.ModelError, match="cannot add a str to a model: it is no force"):
        FREE.add("spring")
    with pytest.raises(lw.ModelError, match="there is no body 'hand'"):
        FREE.add(lw.PointSpring("hand", stiffness=1.0))


def test_numbers_of_laws_are_reached_by_name() -> None:
    drag = lw.force(["lower"], wrenches=lambda E, phi, c: [-c * phi[0]], parameters={"c": 0.1}, name="drag")
    model = FREE.add(SPRING, drag, lw.JointSpring("upper", 2.0, name="upper"))
    new = model.with_parameters(
        {"spring": {"stiffness": 7.0, "point_a": (0.5, 0, 0)}, "drag": {"c": 0.4}, "lower": {"mass": 3.0}}
    )
    spring = new.elements[0]
    assert (spring.stiffness, spring.point_a.tolist(), spring.point_b.tolist()) == (7.0, [0.5, 0, 0], [1.0, 0.2, 0.3])
    assert float(new.elements[1].parameters()["c"]) == 0.4
    assert new.bodies[1].inertia.mass == 3.0
    assert model.elements[0].stiffness == 5.0
    of_both = model.with_parameters({"upper": {"stiffness": 4.0}})
    assert of_both.elements[2].stiffness == 4.0
    assert model.with_parameters({"upper": {"damping": 4.0}}).bodies[0].properties.damping == 4.0


def test_numbers_of_laws_are_checked() -> None:
    model = FREE.add(SPRING)
    for changes, message in (
        ({"stiffness": -1.0}, "stiffness must be at least 0"),
        ({"rate": 1.0}, "'rate' cannot be changed here; these can: point_a, point_b, stiffness"),
        ({"body_a": "upper"}, "'body_a' cannot be changed here"),
    ):
        with pytest.raises(lw.ModelError, match=message):
            model.with_parameters({"spring": changes})
    with pytest.raises(lw.ModelError, match="2 laws of the model are named 'spring'"):
        model.add(SPRING).with_parameters({"spring": {"stiffness": 1.0}})
    with pytest.raises(lw.ModelError, match=r"no body or joint or law 'sprig'; it has .*and laws spring; did you mean 'spring'"):
        model.with_parameters({"sprig": {"stiffness": 1.0}})


def test_other_numbers_of_laws_compile_nothing(compiled: list[tuple[Any, ...]]) -> None:
    model, q = FREE.add(SPRING), np.array([0.1, 0.2])
    first = lw.forward_dynamics(model, q, q)
    count = len(compiled)
    assert np.abs(lw.forward_dynamics(model.with_parameters({"spring": {"stiffness": 7.0}}), q, q) - first).max() > 1e-3
    assert len(compiled) == count > 0
