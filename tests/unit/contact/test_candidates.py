"""Which shapes of a model may touch: the tree, welds, groups, excluded pairs, the world; what a pair is like."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact.candidates import candidates, pair_friction, pair_restitution
from linkwork.contact.pairs import PAIRS

BALL = lw.Sphere(0.1, mass=1.0)
BOX = lw.Box((0.2, 0.2, 0.2), density=1000.0)


def names(model: lw.Model) -> set[frozenset[str]]:
    return {frozenset((c.body_a, c.body_b)) for c in candidates(model)}


def chain(*, middle: lw.Joint | None = None) -> lw.ModelBuilder:
    """Four bodies in a row, and a free one."""
    b = lw.ModelBuilder().ground(friction=0.8)
    b.body("a", joint=lw.Revolute(), shapes=[BALL])
    b.body("b", parent="a", joint=middle or lw.Revolute(), shapes=[BALL])
    b.body("c", parent="b", joint=lw.Revolute(), shapes=[BOX])
    b.body("d", parent="c", joint=lw.Revolute(), shapes=[BALL, BOX])
    return b.body("free", joint=lw.Free(), shapes=[BOX])


def pairs(text: str) -> set[frozenset[str]]:
    return {frozenset(x.split("-")) for x in text.split()}


WORLD = "a-world b-world c-world d-world free-world "
FREE = "a-free b-free c-free d-free "


def test_neighbours_pass_through_each_other_and_all_touch_the_world() -> None:
    assert names(chain().build()) == pairs(WORLD + FREE + "a-c a-d b-d")


def test_welded_bodies_are_one() -> None:
    """b is welded to a: c is a neighbour of both, and a body welded to the world does not touch it."""
    assert names(chain(middle=lw.Fixed()).build()) == pairs(WORLD + FREE + "a-d b-d")
    b = lw.ModelBuilder().ground()
    b.body("post", joint=lw.Fixed(), shapes=[BOX])
    b.body("door", parent="post", joint=lw.Revolute(), shapes=[BOX])
    assert names(b.build()) == pairs("door-world door-post")


def test_excluded_pairs() -> None:
    model = chain().exclude("a", "c").exclude("free", "world").build()
    assert names(model) == pairs("a-world b-world c-world d-world " + FREE + "a-d b-d")
    with pytest.raises(lw.ModelError, match="exclude: there is no body 'nobody'"):
        chain().exclude("a", "nobody").build()


def test_groups_and_masks() -> None:
    """A pair touches where the group of one is in the mask of the other."""
    b = lw.ModelBuilder()
    b.body("x", joint=lw.Free(), shapes=[lw.Sphere(0.1, mass=1.0, group=1, mask=0)])
    b.body("y", joint=lw.Free(), shapes=[lw.Sphere(0.1, mass=1.0, group=1, mask=0)])
    b.body("z", joint=lw.Free(), shapes=[lw.Sphere(0.1, mass=1.0, group=2, mask=1)])
    b.world(lw.Plane(group=4, mask=2))
    assert names(b.build()) == pairs("x-z y-z z-world")


def test_pairs_stand_in_the_order_of_their_function() -> None:
    for c in candidates(chain().build()):
        assert c.compiled
        assert (c.shape_a.kind, c.shape_b.kind) in PAIRS
        assert c.body_a != "world"


def test_the_world_may_come_first_where_its_shape_does() -> None:
    b = lw.ModelBuilder().world(lw.Sphere(1.0))
    b.body("box", joint=lw.Free(), shapes=[BOX])
    (c,) = candidates(b.build())
    assert (c.body_a, c.body_b) == ("world", "box")


def test_shapes_that_are_not_compiled_are_listed_too() -> None:
    b = lw.ModelBuilder()
    b.body("can", joint=lw.Free(), shapes=[lw.Cylinder(0.1, 0.2, mass=1.0)])
    b.body("box", joint=lw.Free(), shapes=[BOX])
    (c,) = candidates(b.build())
    assert not c.compiled


@pytest.mark.parametrize(
    ("one", "other", "expected"), [(0.8, 0.2, 0.4), (None, 0.3, 0.3), (0.3, None, 0.3), (None, None, 0.0), (0.0, 1.0, 0.0)]
)
def test_friction_of_a_pair(one: float | None, other: float | None, expected: float) -> None:
    assert pair_friction(lw.Sphere(1.0, friction=one), lw.Plane(friction=other)) == pytest.approx(expected)


def test_restitution_of_a_pair() -> None:
    assert pair_restitution(lw.Sphere(1.0, restitution=0.3), lw.Plane(restitution=0.6)) == 0.6
    assert pair_restitution(lw.Sphere(1.0), lw.Plane(restitution=0.6)) == 0.6
    assert pair_restitution(lw.Sphere(1.0), lw.Plane()) == 0.0


# --- the builder ------------------------------------------------------------------------------------------------------------
def test_the_inertia_of_a_body_is_that_of_its_shapes() -> None:
    left, right = (lw.Sphere(0.2, (x, 0, 0), mass=2.0) for x in (-1.0, 1.0))
    b = lw.ModelBuilder().body("bell", joint=lw.Free(), shapes=[left, right, lw.Capsule(0.05, 2.0)])
    found = b.build().bodies[0].inertia
    assert found.mass == pytest.approx(4.0)
    np.testing.assert_allclose(found.com, 0.0, atol=1e-15)
    ball = 0.4 * 2.0 * 0.2**2
    np.testing.assert_allclose(found.tensor, np.diag([2 * ball, 2 * ball + 4.0, 2 * ball + 4.0]), atol=1e-12)


def test_a_given_inertia_counts() -> None:
    own = lw.Inertia.sphere(3.0, 0.1)
    model = lw.ModelBuilder().body("x", joint=lw.Free(), inertia=own, shapes=[BOX]).build()
    assert model.bodies[0].inertia is own
    assert model.bodies[0].shapes == (BOX,)


def test_variants_keep_their_shapes() -> None:
    model = chain().build()
    other = model.replace(bodies={"c": {"damping": 0.1}}).with_parameters({"a": {"mass": 3.0}})
    assert [b.shapes for b in other.bodies] == [b.shapes for b in model.bodies]
    assert other.world_shapes == model.world_shapes
    assert other.add().excluded == model.excluded
    assert model.replace(bodies={"c": {"shapes": [BALL]}}).bodies[2].shapes == (BALL,)


def test_the_ground_is_a_plane_of_the_world() -> None:
    (ground,) = chain().build().world_shapes
    assert (ground.kind, ground.name, ground.friction) == ("plane", "ground", 0.8)


REFUSED = {
    "no mass": (lambda: builder([lw.Sphere(0.1)]), "body 'x': give its inertia, or shapes with a density or a mass"),
    "no shape": (lambda: builder([lw.SE3()]), "body 'x': shapes must be Sphere, Box, Capsule or the like, not SE3"),
    "no list": (lambda: builder(BALL), "body 'x': shapes must be a list of shapes, not Sphere"),
    "plane": (lambda: builder([lw.Plane(density=1.0)]), "body 'x': Plane: a Plane encloses no volume"),
    "open": (
        lambda: builder([lw.Mesh(np.eye(3), [[0, 1, 2]], density=1.0)]),
        "body 'x': Mesh: the surface is not closed: 3 open",
    ),
    "world": (lambda: lw.ModelBuilder().world(3), "world: shapes must be Sphere, Box, Capsule or the like, not 3"),  # type: ignore[arg-type]
}


def builder(shapes: object) -> lw.ModelBuilder:
    return lw.ModelBuilder().body("x", joint=lw.Free(), shapes=shapes)  # type: ignore[arg-type]


@pytest.mark.parametrize("what", REFUSED)
def test_bad_shapes_of_bodies_are_refused(what: str) -> None:
    make, rule = REFUSED[what]
    with pytest.raises(lw.ModelError, match=rule):
        make()
