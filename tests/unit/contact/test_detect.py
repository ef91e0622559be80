"""All contacts of a model, against MuJoCo on a heap of shapes."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from contact_cases import MUJOCO

import linkwork as lw
from linkwork.contact.candidates import candidates
from linkwork.contact.detect import detect

KINDS = ("sphere", "box", "capsule")


def heap(seed: int, count: int = 14) -> tuple[lw.Model, np.ndarray]:
    """Free bodies on the ground, some of them in each other."""
    rng = np.random.default_rng(seed)
    b = lw.ModelBuilder().ground()
    q = []
    for i in range(count):
        size = rng.uniform(0.1, 0.3, 3)
        shape = {
            "sphere": lw.Sphere(size[0], mass=1.0),
            "box": lw.Box(2 * size, mass=1.0),
            "capsule": lw.Capsule(0.5 * size[0], 2 * size[1], mass=1.0),
        }[KINDS[i % 3]]
        b.body(f"body{i}", joint=lw.Free(), shapes=[shape])
        quat = rng.normal(size=4)
        q += [*rng.uniform([-0.5, -0.5, 0.0], [0.5, 0.5, 0.8]), *(quat / np.linalg.norm(quat))]
    return b.build(), np.array(q)


def in_mujoco(model: lw.Model, q: np.ndarray) -> dict[frozenset[str], float]:
    """The least distance of every pair of bodies that MuJoCo says are in contact."""
    bodies = []
    for k, body in enumerate(model.bodies):
        shape = body.shapes[0]
        pos, quat = (" ".join(map(repr, x.tolist())) for x in (q[7 * k : 7 * k + 3], q[7 * k + 3 : 7 * k + 7]))
        geom = f'<geom type="{shape.kind}" size="{MUJOCO[shape.kind](shape)}"/>'
        bodies.append(f'<body name="{body.name}" pos="{pos}" quat="{quat}"><freejoint/>{geom}</body>')
    text = f'<mujoco><worldbody><geom type="plane" size="5 5 1"/>{"".join(bodies)}</worldbody></mujoco>'
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    found: dict[frozenset[str], float] = {}
    for c in d.contact[: d.ncon]:
        names = frozenset(mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_BODY, m.geom_bodyid[g]) for g in c.geom)
        found[names] = min(found.get(names, np.inf), c.dist)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_the_contacts_of_a_heap_are_those_of_mujoco(seed: int) -> None:
    model, q = heap(seed)
    points = detect(model, lw.kinematics(model, q, np.zeros(model.nv)).poses)
    ours: dict[frozenset[str], float] = {}
    for p in points:
        names = frozenset((p.candidate.body_a, p.candidate.body_b))
        ours[names] = min(ours.get(names, np.inf), float(p.at.gap))
    theirs = in_mujoco(model, q)
    assert ours.keys() == theirs.keys()
    assert len(ours) > 5
    shallow = [names for names in ours if theirs[names] > -0.03]
    for names in shallow:
        assert ours[names] == pytest.approx(theirs[names], abs=2e-3)


def test_a_margin_adds_pairs_that_are_near() -> None:
    model, q = heap(1)
    poses = lw.kinematics(model, q, np.zeros(model.nv)).poses
    touching, around = detect(model, poses), detect(model, poses, 0.1)
    ids = {(p.pair, p.slot) for p in around}
    assert {(p.pair, p.slot) for p in touching} < ids
    assert all(p.at.gap <= 0.1 for p in around)


def test_shapes_of_coal_are_found_too() -> None:
    b = lw.ModelBuilder().ground()
    b.body("can", joint=lw.Free(), shapes=[lw.Cylinder(0.1, 0.4, mass=1.0)])
    b.body(
        "stone",
        joint=lw.Free(),
        shapes=[lw.Convex(np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.2, mass=1.0)],
    )
    model = b.build()
    q = model.neutral()
    q[2], q[9] = 0.2 - 1e-4, 0.6 - 2e-4  # the stone lies on the can
    points = detect(model, lw.kinematics(model, q, np.zeros(model.nv)).poses)
    pairs = candidates(model)
    by_pair = {frozenset((pairs[p.pair].body_a, pairs[p.pair].body_b)) for p in points}
    assert by_pair == {frozenset(("can", "world")), frozenset(("can", "stone"))}
    assert all(-1.1e-4 <= p.at.gap <= 0 for p in points)
