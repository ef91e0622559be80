"""The builder: what it refuses and how it says so; names, order, and that the order of insertion does not matter."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw

NAN, INF = float("nan"), float("inf")
ROD = lw.Inertia.cuboid(1.0, (1.0, 0.1, 0.1), (0.5, 0.0, 0.0))


def builder(**changes: Any) -> lw.ModelBuilder:
    """One body "arm", with these changes."""
    return lw.ModelBuilder().body("arm", **({"joint": lw.Revolute(), "inertia": ROD} | changes))


def linked(*pairs: tuple[str, str]) -> lw.ModelBuilder:
    """Bodies (name, parent) in the order given."""
    b = lw.ModelBuilder()
    for name, parent in pairs:
        b.body(name, parent=parent, joint=lw.Revolute(), inertia=ROD)
    return b


def of_several(joint: lw.Joint, limits: Any) -> Callable[[], object]:
    return lambda: builder(joint=joint, limits=limits)


SLIDING_BALL = lw.Composite(lw.Prismatic((1, 0, 0)), lw.Spherical())
WOULD_NOT_ACT = "joint 'arm': limits=.* would not act; .*SwingTwistLimit"

# --- what is refused --------------------------------------------------------------------------------------------------
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    # inertia
    "mass zero": (lambda: builder(inertia=lw.Inertia(0.0)), "mass 0 must be positive"),
    "mass negative": (lambda: builder(inertia=lw.Inertia(-2.0)), "mass -2 must be positive"),
    "mass nan": (lambda: builder(inertia=lw.Inertia(NAN)), "mass = nan is not finite"),
    "tensor": (lambda: builder(inertia=lw.Inertia(1.0, tensor=np.diag([1, 1, 3]))), "triangle inequality; no body has them"),
    "no inertia": (lambda: builder(inertia=None), "body 'arm': give its inertia, or shapes with a density or a mass"),
    # joint
    "limits of a ball": (of_several(lw.Spherical(), (-1, 1)), WOULD_NOT_ACT),
    "limits of a ball on one side": (of_several(lw.Spherical(), (-INF, [INF, 1, INF, INF])), WOULD_NOT_ACT),
    "limits of exponential coordinates": (of_several(lw.SphericalExp(), (-1, 1)), WOULD_NOT_ACT),
    "limits of a free body": (of_several(lw.Free(), (-1, 1)), WOULD_NOT_ACT),
    "limits of a free body by exponentials": (of_several(lw.FreeExp(), (-1, 1)), WOULD_NOT_ACT),
    "limits beside a ball": (of_several(SLIDING_BALL, ([-1] + [-INF] * 4, INF)), WOULD_NOT_ACT),
    "a stop in charts": (lambda: builder(joint=lw.SphericalExp()).add(lw.Limit("arm", -1, 1)).build(), "change charts"),
    "axis zero": (lambda: builder(joint=lw.Revolute((0, 0, 0))), "Revolute: the axis .* has length 0"),
    "axis nan": (lambda: builder(joint=lw.Revolute((0, NAN, 1))), "Revolute: the axis .* is not finite"),
    "axis long": (lambda: builder(joint=lw.Prismatic((0, 1, 1))), "Prismatic: the axis .* has length 1.41421; give a unit"),
    "joint class": (lambda: builder(joint=lw.Revolute), "body 'arm': joint must be a Joint, not type"),
    # placement
    "placement kind": (lambda: builder(placement=(0, 0, 1)), "body 'arm': placement must be a SE3, not tuple"),
    "placement stretched": (lambda: builder(placement=lw.SE3(R=2 * np.eye(3))), "body 'arm': .* not a rotation .* off by 3"),
    "placement sheared": (
        lambda: builder(placement=lw.SE3(R=np.eye(3) + 0.01 * np.eye(3, k=1))),
        "body 'arm': the rotation of its placement is not a rotation",
    ),
    "placement mirrored": (lambda: builder(placement=lw.SE3(R=-np.eye(3))), "body 'arm': .* is not a rotation"),
    "placement nan": (lambda: builder(placement=lw.SE3(p=(0, 0, NAN))), "body 'arm': its placement is not finite"),
    # names and tree
    "name world": (lambda: lw.ModelBuilder().body("world", joint=lw.Fixed(), inertia=ROD), "a name other than 'world'"),
    "name empty": (lambda: lw.ModelBuilder().body("", joint=lw.Fixed(), inertia=ROD), "needs a name"),
    "name number": (lambda: lw.ModelBuilder().body(3, joint=lw.Fixed(), inertia=ROD), "needs a name"),  # type: ignore[arg-type]
    "twice": (lambda: linked(("a", "world"), ("a", "world")), "the name 'a' is used twice"),
    "two parents": (lambda: linked(("a", "world"), ("b", "world"), ("c", "a"), ("c", "b")), "the name 'c' is used twice"),
    "joint twice": (
        lambda: builder(joint_name="elbow").body("hand", joint=lw.Fixed(), inertia=ROD, joint_name="elbow"),
        "the name 'elbow' is used twice",
    ),
    "joint as body": (
        lambda: builder(joint_name="elbow").body("elbow", joint=lw.Fixed(), inertia=ROD),
        "the name 'elbow' is used twice",
    ),
    "no parent": (lambda: linked(("a", "world"), ("b", "z")).build(), "body 'b': its parent 'z' does not exist"),
    "parent is joint": (
        lambda: builder(joint_name="elbow").body("hand", parent="elbow", joint=lw.Fixed(), inertia=ROD).build(),
        "body 'hand': its parent 'elbow' does not exist",
    ),
    "own parent": (lambda: linked(("a", "a")).build(), r"bodies \['a'\] hang on each other in a cycle"),
    "cycle": (
        lambda: linked(("root", "world"), ("a", "c"), ("b", "a"), ("c", "b")).build(),
        r"bodies \['a', 'b', 'c'\] hang on each other in a cycle; close loops with a constraint instead",
    ),
    "no bodies": (lambda: lw.ModelBuilder().build(), "no bodies"),
    # properties
    "limits order": (lambda: builder(limits=(1, -1)), r"joint 'arm': its lower limit \[1.0\] is above the upper \[-1.0\]"),
    "limits order of one": (
        lambda: builder(joint=lw.Universal(), limits=([-1, 2], [1, 1])),
        r"joint 'arm': its lower limit \[-1.0, 2.0\] is above",
    ),
    "limits number": (lambda: builder(limits=3.0), r"limits must be \(lower, upper\), not 3.0"),
    "limits three": (lambda: builder(limits=(1, 2, 3)), r"limits must be \(lower, upper\)"),
    "limits shape": (lambda: builder(limits=([0, 0], [1, 1])), r"limits = \[0, 0\] must be a number or 1 numbers"),
    "limits nan": (lambda: builder(limits=(NAN, 1)), "limits = .* is not a number"),
    "damping shape": (lambda: builder(damping=[1, 2]), r"joint 'arm': damping = \[1, 2\] must be a number or 1 numbers"),
    "damping word": (lambda: builder(damping="much"), "damping = 'much' must be a number or 1 numbers"),
    "damping nan": (lambda: builder(damping=NAN), "damping = .* is not a number"),
    "damping infinite": (lambda: builder(damping=INF), "damping = .* must be finite and not negative"),
    "armature negative": (lambda: builder(armature=-0.1), r"armature = \[-0.1\] must be finite and not negative"),
    "friction infinite": (lambda: builder(friction=INF), "friction = .* must be finite and not negative"),
    "effort negative": (lambda: builder(effort=-1), "effort = .* not negative"),
    "speed negative": (lambda: builder(speed=-1), "speed = .* not negative"),
    "named after joint": (lambda: builder(joint_name="elbow", damping=-1), "joint 'elbow': damping"),
    "property unknown": (
        lambda: builder(stifness=1.0),
        "body 'arm': there is no property 'stifness'; there are armature, damping",
    ),
    # gravity
    "gravity nan": (lambda: lw.ModelBuilder(gravity=(0, 0, NAN)), "gravity must be three finite numbers"),
    "gravity number": (lambda: lw.ModelBuilder(gravity=-9.81), "gravity must be three finite numbers, not -9.81"),
    "gravity two": (lambda: lw.ModelBuilder(gravity=(0, -9.81)), "gravity must be three finite numbers"),
    # frames and elements
    "frame taken": (lambda: builder().frame("arm", body="arm"), "a frame needs a name of its own, not 'arm'"),
    "frame body": (lambda: builder().frame("tip", body="leg").build(), "frame 'tip': its body 'leg' does not exist"),
    "frame stretched": (lambda: builder().frame("tip", body="arm", placement=lw.SE3(R=2 * np.eye(3))), "'tip'.* not a rotation"),
    "loop": (lambda: builder().add(lw.Loop("arm", "leg")).build(), "Loop between .* there is no body 'leg'"),
    "loop to itself": (lambda: builder().add(lw.Loop("arm", "arm")).build(), "Loop: it connects 'arm' with itself"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_names_the_rule(what: str) -> None:
    make, rule = REFUSED[what]
    with pytest.raises(lw.ModelError, match=rule):
        make()


# What is refused with whatever linkwork error fits best.
ALSO_REFUSED: dict[str, Callable[[], object]] = {
    "gravity word": lambda: lw.ModelBuilder(gravity="down"),
    "mirror that keeps an axis": lambda: builder(placement=lw.SE3(R=np.diag([1.0, 1.0, -1.0]))),
    "sheared turn about x": lambda: builder(placement=lw.SE3(R=[[1, 0, 0], [0, 0.6, 5], [0, 0.8, 9]])),
    "rotation 2x2": lambda: builder(placement=lw.SE3(R=np.eye(2))),
    "position of four": lambda: builder(placement=lw.SE3(p=(1, 2, 3, 4))),
    "frame placement kind": lambda: builder().frame("tip", body="arm", placement=(0, 0, 1)),  # type: ignore[arg-type]
    "frame named world": lambda: builder().frame("world", body="arm"),
    "joint named world": lambda: builder(joint_name="world"),
    "joint named 3": lambda: builder(joint_name=3),
    "element of no kind": lambda: builder().add(42).build(),
}


@pytest.mark.parametrize("what", ALSO_REFUSED)
def test_nonsense_is_refused_in_our_own_words(what: str) -> None:
    with pytest.raises(lw.LinkworkError):
        ALSO_REFUSED[what]()


def test_a_refused_body_leaves_no_trace() -> None:
    b = builder()
    with pytest.raises(lw.ModelError):
        b.body("hand", parent="arm", joint=lw.Revolute(), inertia=ROD, damping=-1)
    b.body("hand", parent="arm", joint=lw.Revolute(), inertia=ROD)
    assert [x.name for x in b.build().bodies] == ["arm", "hand"]


# --- what is built ------------------------------------------------------------------------------------------------------
def test_depth_first_with_children_in_the_order_added() -> None:
    b = linked(("tail", "spine"), ("base", "world"), ("left", "base"), ("spine", "base"), ("other", "world"), ("tip", "tail"))
    model = b.build()
    assert [x.name for x in model.bodies] == ["base", "left", "spine", "tail", "tip", "other"]
    assert model.parents.tolist() == [-1, 0, 0, 2, 3, -1]


def test_any_order_of_insertion_gives_the_same_model() -> None:
    """A chain has one order only; the model and its dynamics do not depend on how it was said."""
    rng = np.random.default_rng(0)
    parts = [
        {
            "name": f"b{i}",
            "parent": f"b{i - 1}" if i else "world",
            "joint": lw.Revolute((0, 1, 0)),
            "inertia": lw.Inertia.cuboid(1.0 + i, (1, 0.1, 0.1), (0.5, 0, 0)),
            "placement": lw.SE3(p=(0.3 + i, 0, 0)),
            "damping": 0.1 * (i + 1),
        }
        for i in range(4)
    ]
    q, v = rng.normal(size=(2, 4))
    found = []
    for order in itertools.permutations(parts):
        b = lw.ModelBuilder()
        for part in order:
            b.body(**part)  # type: ignore[arg-type]
        model = b.build()
        assert [x.name for x in model.bodies] == ["b0", "b1", "b2", "b3"]
        found.append(lw.forward_dynamics(model, q, v))
    assert np.ptp(found, axis=0).max() == 0.0


def test_names_of_joints_and_bodies_find_the_same() -> None:
    model = builder(joint=lw.Free(), joint_name="root").body("hand", parent="arm", joint=lw.Universal(), inertia=ROD).build()
    assert model.body_index("root") == model.body_index("arm") == 0
    assert (model.q_index("hand"), model.v_index("hand")) == (slice(7, 9), slice(6, 8))
    assert model.q_index("root") == slice(0, 7)
    with pytest.raises(lw.InputError, match="no body or joint 'leg'; it has"):
        model.q_index("leg")


def test_properties_are_spread_over_coordinates() -> None:
    given = {"limits": (-1, 2), "damping": 0.5, "effort": [1, 2, 3]}
    properties = builder(joint=lw.Free2D(), **given).build().bodies[0].properties
    assert properties.lower.tolist() == [-1] * 3
    assert properties.upper.tolist() == [2] * 3
    assert properties.damping.tolist() == [0.5] * 3
    assert properties.effort.tolist() == [1, 2, 3]
    assert properties.speed.tolist() == [INF] * 3


def test_arguments_are_copied_and_the_model_is_frozen() -> None:
    gravity = np.array([0, 0, -9.81])
    model = lw.ModelBuilder(gravity).body("arm", joint=lw.Revolute(), inertia=ROD).build()
    gravity[2] = 0.0
    assert model.gravity[2] == -9.81
    with pytest.raises(ValueError, match="read-only"):
        model.gravity[2] = 0.0
    with pytest.raises(AttributeError):
        model.bodies = ()  # type: ignore[misc]


ARRAYS = ("lower", "upper", "armature", "damping", "friction", "effort", "speed")


@pytest.mark.parametrize("given", [{}, {"damping": 0.1, "effort": 3.0, "limits": (-1, 1)}], ids=["plain", "given"])
def test_arrays_of_a_model_cannot_be_written_to(given: dict) -> None:
    """Bodies without properties share one set of them: a number written there would be in every later model."""
    body = builder(placement=lw.SE3(R=np.diag([1.0, -1.0, -1.0]), p=(0, 0, 1)), **given).build().bodies[0]
    arrays = [getattr(body.properties, name) for name in ARRAYS]
    assert len({a.ctypes.data for a in arrays}) == len(ARRAYS)
    arrays += [body.inertia.com, body.inertia.tensor, body.placement.R, body.placement.p, body.joint.axis]  # type: ignore[attr-defined]
    for a in arrays:
        with pytest.raises(ValueError, match="read-only"):
            a[0] = 5.0
    for name in ("parents", "armature", "damping"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(builder(**given).build(), name)[0] = 1


def test_arrays_of_a_user_stay_writable() -> None:
    limits, damping, com, tensor = np.array([[-1.0], [1.0]]), np.array([0.5]), np.array([0.1, 0, 0]), np.eye(3)
    p, R, axis, gravity = np.array([0, 0, 1.0]), np.eye(3)[[1, 2, 0]], np.array([0, 1.0, 0]), np.array([0, 0, -9.81])
    given = (limits, damping, com, tensor, p, R, axis, gravity)
    inertia, joint = lw.Inertia(1.0, com, tensor), lw.Revolute(axis)
    b = lw.ModelBuilder(gravity)
    b.body("arm", joint=joint, inertia=inertia, placement=lw.SE3(R, p), limits=limits, damping=damping)
    models = [b.build(), lw.Model(b.build().bodies, gravity)]
    for a in given:
        a[:] = 7.0
    for model in models:
        body = model.bodies[0]
        held = (body.properties.upper, body.properties.damping, body.inertia.com, body.inertia.tensor, body.placement.p)
        for a in (*held, body.joint.axis, model.gravity, body.placement.R):  # type: ignore[attr-defined]
            assert not np.any(a == 7.0)


def test_a_builder_can_go_on_after_build() -> None:
    b = builder()
    small = b.build()
    large = b.body("hand", parent="arm", joint=lw.Revolute(), inertia=ROD).build()
    assert (small.nb, large.nb) == (1, 2)
