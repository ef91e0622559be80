"""What describes a mechanism or a motion is finished when it is made: nobody can change it, by whatever way."""

from __future__ import annotations

import copy
import pickle
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from derivatives.test_forces import BODY_FORCES, JOINT_FORCES, two_bodies
from derivatives.test_joints import SAMPLES as JOINTS
from identities import loaded_kinds
from identities.test_constraint_rows import KINDS

import linkwork as lw
from linkwork.geometry import Convex, HeightField, Mesh
from linkwork.model.properties import plain_properties
from linkwork.spatial.frozen import FINISHED, frozen, is_frozen

CORNERS = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
SHAPES = (
    lw.Plane((0, 0, 0.2), (0.6, 0, 0.8)),
    lw.Sphere(0.3, (0.1, 0, 0)),
    lw.Box((1, 2, 3)),
    lw.Capsule(0.1, 0.5),
    lw.Cylinder(0.1, 0.5),
    lw.Ellipsoid((0.5, 0.4, 0.3)),
    lw.Torus(0.4, 0.15),
    Convex(CORNERS),
    Mesh(Convex(CORNERS).vertices, Convex(CORNERS).faces),
    HeightField(np.zeros((2, 2)), (1, 1)),
)
CURVE = lw.cubic_curve((0.0, 1.0), [(0.0, 0, 0.0), (0.0, 1, 0.0), (1.0, 0, 1.0), (1.0, 1, 0.0)])
MUSCLES = (
    CURVE,
    lw.Schedule((0.0, 1.0, 2.0), (0.0, 1.0, 0.5)),
    lw.WrapSphere("a", radius=0.03),
    lw.MusclePath(("world", (0, 0, 1)), ("a", (0.05, 0, 0))),
)
LAWS = [law for make in (*loaded_kinds.FORCES.values(), *loaded_kinds.ROWS.values()) for law in make()]
THINGS: list[Any] = [
    *JOINTS.values(),
    *KINDS.values(),
    *(two_bodies(case, 0)[1] for case in BODY_FORCES),
    *LAWS,
    *SHAPES,
    *MUSCLES,
]


def arrays(x: Any, path: str, seen: dict[int, Any]) -> Iterator[tuple[str, np.ndarray]]:
    """All arrays of numbers that can be reached from something of the library, and how."""
    if id(x) in seen or isinstance(x, (str, bytes, int, float, type, types.FunctionType, types.ModuleType, np.generic)):
        return
    seen[id(x)] = x
    if isinstance(x, np.ndarray):
        if x.dtype != object and x.size:
            yield path, x
    elif isinstance(x, dict):
        for k, e in x.items():
            yield from arrays(e, f"{path}[{k!r}]", seen)
    elif isinstance(x, (tuple, list)):
        for e in x:
            yield from arrays(e, f"{path}[.]", seen)
    elif type(x).__module__.startswith("linkwork") and "kernel" not in type(x).__module__:
        slots = [s for c in type(x).__mro__ for s in getattr(c, "__slots__", ())]
        for name in (*getattr(x, "__dict__", {}), *(s for s in slots if hasattr(x, s))):
            yield from arrays(getattr(x, name), f"{path}.{name}", seen)


def writable(x: Any) -> list[str]:
    return [path for path, a in arrays(x, type(x).__name__, {}) if a.flags.writeable]


@pytest.mark.parametrize("thing", THINGS, ids=lambda x: type(x).__name__)
def test_no_array_of_it_can_be_written_to(thing: Any) -> None:
    for same in (thing, copy.copy(thing), copy.deepcopy(thing)):
        assert not writable(same)


@pytest.mark.parametrize("thing", THINGS, ids=lambda x: type(x).__name__)
def test_no_attribute_of_it_can_be_set(thing: Any) -> None:
    before = dict(vars(thing))
    for name in (*before, "another"):
        with pytest.raises(lw.ModelError, match=f"{type(thing).__name__}.{name} cannot be set"):
            setattr(thing, name, 1.0)
    with pytest.raises(lw.ModelError, match="cannot be deleted"):
        del thing.another
    assert vars(thing) == before


def test_every_joint_force_too() -> None:
    joint = lw.Revolute((0, 0, 1))
    for make in JOINT_FORCES.values():
        law = make(joint, np.random.default_rng(0))
        assert not writable(law)
        assert vars(law)[FINISHED]


# --- what is given stays the caller's ------------------------------------------------------------------------------------
def test_arrays_that_are_given_are_copied() -> None:
    """Changed afterwards, they change nothing, neither what is shown nor what is computed or made anew."""
    point, axis, placement, com = np.array([0.1, 0.2, 0.3]), np.array([0.0, 1.0, 0.0]), np.array([0.5, 0, 0]), np.zeros(3)
    listed = [0.1, 0.2, 0.3]
    spring = lw.PointSpring("a", "world", point, stiffness=3.0, name="spring")
    other = lw.PointSpring("a", "world", listed, stiffness=3.0)
    b = lw.ModelBuilder()
    inertia = lw.Inertia(1.0, com, np.eye(3))
    b.body("a", joint=lw.Revolute(axis), placement=lw.SE3(p=placement), inertia=inertia)
    model = b.build().add(spring)
    q = np.array([0.4])
    before = lw.forward_dynamics(model, q, q, q)
    for a in (point, axis, placement, com):
        a[:] = 7.0
    listed[:] = [7.0] * 3
    assert np.array_equal(lw.forward_dynamics(model, q, q, q), before)
    fresh = model.with_parameters({"spring": {"stiffness": 3.0}})
    assert np.array_equal(lw.forward_dynamics(fresh, q, q, q), before)
    assert np.array_equal(other.remade({"stiffness": 3.0}).point_a, [0.1, 0.2, 0.3])
    assert np.array_equal(spring.point_a, [0.1, 0.2, 0.3])
    assert axis.flags.writeable


def test_parts_of_a_model_cannot_be_written_to() -> None:
    """What could be written was shown, and not computed with; or it was that of every other model."""
    model = loaded_kinds.tree()
    body = model.bodies[1]
    for a in (body.properties.damping, body.inertia.com, body.inertia.tensor, body.placement.R, body.placement.p, model.gravity):
        with pytest.raises(ValueError, match="read-only"):
            a[...] = 5.0
    for a in (model.parents, model.armature, model.damping, plain_properties(1, 1).armature):
        assert not a.flags.writeable
    for holder, name in ((body.inertia, "mass"), (body.inertia, "com")):
        with pytest.raises(lw.ModelError, match=f"Inertia.{name} cannot be set"):
            setattr(holder, name, 3.0)
    for holder, name in ((body, "inertia"), (body.placement, "stages"), (model, "gravity"), (body.properties, "damping")):
        with pytest.raises(AttributeError):
            setattr(holder, name, 3.0)
    assert not writable(model)


@pytest.mark.parametrize("same", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_finished_too(same: Any) -> None:
    for thing in (lw.Inertia(1.0, (1, 2, 3), np.eye(3)), lw.Revolute((0, 0, 1)), lw.Box((1, 2, 3)), CURVE):
        other = same(thing)
        assert not writable(other)
        with pytest.raises(lw.ModelError, match="cannot be set"):
            other.mass = 2.0
    state = same(lw.State([1.0], [2.0], 3.0, {"last": np.ones(2)}))
    assert (state.q.tolist(), state.v.tolist(), state.t) == ([1.0], [2.0], 3.0)
    assert not writable(state)


# --- motions -------------------------------------------------------------------------------------------------------------
def test_states_hold_copies() -> None:
    q, v, memory = np.zeros(3), np.ones(3), {"last": np.ones(2)}
    state = lw.State(q, v, memory=memory)
    q[:], v[:], memory["last"][:] = 7.0, 7.0, 7.0
    assert not state.q.any()
    assert (state.v == 1.0).all()
    assert state.memory is not None
    assert (state.memory["last"] == 1.0).all()
    poses = np.eye(4)[None].copy()
    maximal = lw.MaximalState(poses, np.zeros((1, 6)), np.zeros(1))
    poses[:] = 7.0
    assert np.array_equal(maximal.poses[0], np.eye(4))
    assert not writable(state) + writable(maximal)


@pytest.mark.parametrize("method", ["reduced", "maximal"])
@pytest.mark.parametrize("batch", [False, True])
def test_a_control_cannot_change_the_state_that_it_is_given(method: str, batch: bool) -> None:
    model = loaded_kinds.tree()
    q, v = (np.array([x, x]) if batch else x for x in (loaded_kinds.Q, loaded_kinds.V))
    start = lw.State(q, v) if method == "reduced" else lw.to_maximal(model, lw.State(q, v))
    refused = []

    def control(t: float, state: Any) -> np.ndarray:
        for name in ("q", "v") if method == "reduced" else ("poses", "twists", "q_fit"):
            try:
                getattr(state, name)[...] = 7.0
            except ValueError:
                refused.append(name)
        return np.zeros((*q.shape[:-1], model.nv))

    told = lw.simulate(model, start, 3e-3, 1e-3, method=method, control=control)
    alone = lw.simulate(model, start, 3e-3, 1e-3, method=method, tau=np.zeros(model.nv))
    assert len(refused) == 3 * (2 if method == "reduced" else 3)
    assert np.array_equal(told.q, alone.q)


def test_a_simulator_has_arrays_of_its_own() -> None:
    model = loaded_kinds.tree()
    q, v = loaded_kinds.Q.copy(), loaded_kinds.V.copy()
    sim = lw.Simulator(model, lw.State(q, v))
    first = sim.step().q
    q[:], v[:] = 7.0, 7.0
    kept = first.copy()
    sim.step()
    assert np.array_equal(first, kept)  # states that were seen do not go on
    sim.reset()
    assert np.array_equal(sim.step().q, first)
    assert not writable(sim.state)
    with pytest.raises(ValueError, match="read-only"):
        sim.state.q[0] = 1.0


@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_records_of_a_run_cannot_be_written_to(method: str) -> None:
    model = loaded_kinds.tree(*loaded_kinds.ROWS["loop"](), *loaded_kinds.FORCES["drive"]())
    start = lw.State(loaded_kinds.Q, np.zeros(model.nv))
    wrenches, tau = np.ones((model.nb, 6)), np.ones(model.nv)
    start = start if method == "reduced" else lw.to_maximal(model, start)
    run = lw.simulate(model, start, 5e-3, 1e-3, method=method, external=wrenches, tau=tau)
    for a in (run.q, run.v, run.t, run.poses, run.forces, run.work, run.energy.kinetic, run.tau, run.external):
        assert a is not None
        assert not a.flags.writeable
    for state in (run[2], run.final):
        assert not writable(state)
    assert wrenches.flags.writeable
    assert tau.flags.writeable


def test_what_functions_return_belongs_to_the_caller() -> None:
    model, q, v = loaded_kinds.BARE, loaded_kinds.Q, loaded_kinds.V
    for found in (lw.forward_dynamics(model, q, v, v), lw.mass_matrix(model, np.array([q, q])), model.neutral()):
        found[...] = 1.0


# --- the helper ----------------------------------------------------------------------------------------------------------
def test_frozen_values() -> None:
    a = np.arange(3.0)
    b = frozen(a)
    assert b is not a
    assert is_frozen(b)
    assert frozen(b) is b
    assert a.flags.writeable
    view = a[:2]
    view.setflags(write=False)
    assert not is_frozen(view)  # somebody can write to a
    kept = frozen(view)
    a[:] = 9.0
    assert kept.tolist() == [0.0, 1.0]
    nested = frozen(([a], {"x": (a, "text")}))
    assert is_frozen(nested[0][0])
    assert is_frozen(nested[1]["x"][0])
