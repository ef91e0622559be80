"""Forces compiled together: the same numbers as the rules give as they stand, one kernel per class, batches, inputs by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from derivatives.force_cases import BODY_FORCES, JOINT_CASES, JOINT_FORCES, JOINTS

import linkwork as lw
from linkwork.elements.evaluate import LAWS
from linkwork.elements.loads import LoadEvaluation, act, act_fields, differentiate, slope_fields
from linkwork.forces import ALL_FORCES, ALL_JOINT_FORCES
from linkwork.kernel import eager


def free_bodies(*names: str) -> lw.ModelBuilder:
    b = lw.ModelBuilder()
    for name in names:
        b.body(name, joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    return b


def motion(model: lw.Model, seed: int = 0, batch: tuple[int, ...] = ()) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """q, v, poses and twists of random states."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(batch))
    q = np.array([model.random_configuration(rng) for _ in range(count)]).reshape(*batch, model.nq)
    v = rng.normal(size=(*batch, model.nv))
    k = lw.kinematics(model, q.reshape(-1, model.nq), v.reshape(-1, model.nv))
    return q, v, k.poses.reshape(*batch, model.nb, 4, 4), k.twists.reshape(*batch, model.nb, 6)


def as_they_stand(forces: LoadEvaluation, given: dict[str, np.ndarray]) -> dict[str, Any]:
    """What the rules give, run in Python."""
    found = {}
    for algorithm in (forces.algorithm(act, act_fields), forces.algorithm(differentiate, slope_fields)):
        found |= eager.run(algorithm, forces.tree, {name: given[name].reshape(-1) for name in algorithm.of_kind("input")})
    return found


def kernels(forces: LoadEvaluation) -> set[int]:
    """How many kernels its plans have for laws."""
    return {len(plan.units_of[LAWS]) for plan in forces.plans.made.values()}


def close(x: Any, y: Any) -> bool:
    x, y = np.asarray(x), np.asarray(y)
    return bool(np.abs(x - y).max(initial=0.0) <= 1e-13 * max(1.0, np.abs(y).max(initial=0.0)))


@pytest.mark.parametrize("case", BODY_FORCES)
def test_compiled_forces_are_the_rules_as_they_stand(case: str) -> None:
    model = free_bodies("a", "b").add(BODY_FORCES[case](np.random.default_rng(0))).build()
    forces = lw.force_set(model)
    _, _, poses, twists = motion(model)
    given = {"pose": poses, "twist": twists, "t": np.array([0.3]), "u": forces.initial_inputs}
    expected, compiled = as_they_stand(forces.on_bodies, given), forces.on_bodies
    loads = compiled.run(compiled.algorithm(act, act_fields), ("loads",), given)["loads"]
    assert close(loads, expected["loads"])
    assert close(forces.energies(poses, twists, 0.3), expected["energy"])
    for slopes, name in zip(compiled.slopes(given), ("df_dx", "df_dv"), strict=True):
        assert close(slopes, expected[name])


@pytest.mark.parametrize("case", JOINT_FORCES)
def test_compiled_joint_forces_are_the_rules_as_they_stand(case: str) -> None:
    kind = next(k for c, k in reversed(JOINT_CASES) if c == case)
    joint = JOINTS[kind]()
    limits = {"limits": (-0.3, 0.2)} if joint.one_chart().coordinates_add else {}
    b = lw.ModelBuilder().body("j", joint=joint, inertia=lw.Inertia(1.0, tensor=np.eye(3)), **limits)
    model = b.add(JOINT_FORCES[case](joint, np.random.default_rng(0))).build()
    forces = lw.force_set(model)
    q, v, _, _ = motion(model)
    given = {"q": q, "v": v, "t": np.array([0.3]), "u": forces.initial_inputs}
    expected = as_they_stand(forces.on_joints, given)
    assert close(forces.joint_forces(q, v, 0.3), expected["loads"])
    assert close(forces.joint_energies(q, v, 0.3), expected["energy"])
    for A, name in zip(forces.joint_derivatives(q, v, 0.3), ("df_dx", "df_dv"), strict=True):
        assert close(A.dense().reshape(-1), expected[name])


def test_a_thousand_instances_share_one_kernel() -> None:
    rng = np.random.default_rng(0)
    b = free_bodies("a", "b")
    for _ in range(1000):
        b.add(lw.SpringDamper("a", "b", *rng.normal(size=(2, 3)), stiffness=rng.uniform(1, 2), rest_length=rng.uniform(1, 2)))
    model = b.build()
    forces = lw.force_set(model)
    _, _, poses, twists = motion(model)
    total = forces.wrenches(poses, twists)
    df_dq, _ = forces.derivatives(poses, twists)
    assert kernels(forces.on_bodies) == {1}
    parts = [lw.force_set(model.replace(elements=[f])).wrenches(poses, twists) for f in model.elements[:3]]
    assert total.shape == parts[0].shape == (2, 6)
    assert len(df_dq.row) == 4000


def stretched(E: Any, k: float) -> Any:
    x = E[0] @ np.array([0.1, 0.0, 0.0])
    return 0.5 * k * lw.math.dot(x, x)


def test_a_hundred_forces_from_one_function_share_one_kernel_and_one_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    b = free_bodies("a").body("j", joint=lw.Revolute(), inertia=lw.Inertia(1.0))
    for k in range(100):
        b.add(lw.force("a", energy=stretched, parameters={"k": 1.0 + k}))
        b.add(lw.joint_force("j", force=lambda_of(k), parameters={"c": 1.0 * k}))
    model, traced = b.build(), []
    digest = lw.Force.digest
    monkeypatch.setattr(lw.Force, "digest", lambda self: traced.append(1) or digest(self))
    forces = lw.force_set(model)
    q, v, poses, twists = motion(model)
    expected = lw.force_set(model.replace(elements=[lw.PointSpring("a", point_a=(0.1, 0, 0), stiffness=5050.0)]))
    assert close(forces.wrenches(poses, twists), expected.wrenches(poses, twists))
    assert forces.joint_forces(q, v)[-1] == pytest.approx(-4950.0 * v[-1])
    assert len(traced) == 1
    assert kernels(forces.on_bodies) == kernels(forces.on_joints) == {1}


def lambda_of(k: int) -> Any:
    """Another function every time, which computes the same."""
    return lambda q, v, c: [-c * v[0]]


def test_joints_that_differ_in_numbers_only_share_kernels() -> None:
    b = lw.ModelBuilder()
    for i, axis in enumerate([(1, 0, 0), (0.6, 0.8, 0), (0, 0, 1)]):
        b.body(f"j{i}", joint=lw.Revolute(axis), inertia=lw.Inertia(1.0)).add(lw.JointSpring(f"j{i}", 1.0 + i, 0.2 * i))
    forces = lw.force_set(b.build())
    q = np.array([0.1, 0.4, -0.3])
    assert close(forces.joint_forces(q, np.zeros(3)), -np.array([1.0, 2.0, 3.0]) * (q - [0.0, 0.2, 0.4]))
    assert kernels(forces.on_joints) == {1}


def mixed_model() -> lw.Model:
    b = free_bodies("a", "b").body("j", parent="a", joint=lw.Spherical(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    rng = np.random.default_rng(3)
    for case in ("SpringDamper", "Bushing", "Handle", "Drag with flow", "PointSpring to the world"):
        b.add(BODY_FORCES[case](rng))
    b.add(lw.JointSpring("j", 2.0, damping=0.1)).add(lw.PDController("j", 3.0, 0.2, name="servo")).add(lw.JointDamping("j", 0.3))
    return b.build()


@pytest.mark.parametrize("batch", [(1,), (9,), (2, 3)])
def test_batches_are_their_states(batch: tuple[int, ...]) -> None:
    model = mixed_model()
    forces = lw.force_set(model)
    q, v, poses, twists = motion(model, 1, batch)
    u = forces.initial_inputs + 0.1 * np.random.default_rng(2).normal(size=(*batch, len(forces.initial_inputs)))
    wrenches, energies = forces.wrenches(poses, twists, 0.1, u), forces.energies(poses, twists, 0.1, u)
    on_joints, stored = forces.joint_forces(q, v, 0.1, u), forces.joint_energies(q, v, 0.1, u)
    assert wrenches.shape == (*batch, model.nb, 6)
    assert (energies.shape, stored.shape) == ((*batch, 5), (*batch, 3))
    for i in np.ndindex(batch):
        assert np.array_equal(wrenches[i], forces.wrenches(poses[i], twists[i], 0.1, u[i]))
        assert np.array_equal(energies[i], forces.energies(poses[i], twists[i], 0.1, u[i]))
        assert np.array_equal(on_joints[i], forces.joint_forces(q[i], v[i], 0.1, u[i]))
        assert np.array_equal(stored[i], forces.joint_energies(q[i], v[i], 0.1, u[i]))


def test_one_configuration_goes_with_many_velocities() -> None:
    model = mixed_model()
    q, v, _, _ = motion(model, 1, (4,))
    forces = lw.force_set(model)
    assert np.array_equal(forces.joint_forces(q[0], v), forces.joint_forces(np.tile(q[0], (4, 1)), v))


def test_inputs_are_found_by_name() -> None:
    b = free_bodies("a").body("j", joint=lw.Revolute(), inertia=lw.Inertia(1.0))
    b.add(lw.Handle("a", target=(1, 2, 3), stiffness=1.0)).add(lw.PDController("j", 2.0, target=0.5, name="servo"))
    b.add(lw.PoseHandle("a", target=lw.SE3(p=(4, 5, 6)), stiffness=1.0, name="grip"))
    forces = lw.force_set(b.build())
    assert forces.input_index("grip") == slice(6, 24)
    assert forces.input_index("servo") == slice(24, 26)
    assert forces.initial_inputs[:6].tolist() == [1, 2, 3, 0, 0, 0]
    assert forces.initial_inputs[forces.input_index("servo")].tolist() == [0.5, 0]
    assert len(forces) == 3
    with pytest.raises(lw.InputError, match="no force is named 'hand'; named forces: grip, servo"):
        forces.input_index("hand")
    with pytest.raises(lw.InputError, match=r"the inputs of the forces have shape \(3,\); expected \(..., 26\)"):
        forces.joint_forces(np.zeros(8), np.zeros(7), u=np.zeros(3))


def test_inputs_move_their_forces() -> None:
    b = free_bodies("a").body("j", joint=lw.Revolute(), inertia=lw.Inertia(1.0))
    b.add(lw.Handle("a", target=(0, 0, 0), stiffness=2.0, name="hand")).add(lw.PDController("j", 3.0, name="servo"))
    model = b.build()
    forces, u = lw.force_set(model), lw.force_set(model).initial_inputs.copy()
    u[forces.input_index("hand")][:3] = (0.0, 0.0, 0.5)
    u[forces.input_index("servo")][0] = 0.25
    q = model.neutral()
    k = lw.kinematics(model, q, np.zeros(model.nv))
    assert forces.wrenches(k.poses, k.twists, u=u)[0].tolist() == [0, 0, 0, 0, 0, 1.0]
    assert forces.joint_forces(q, np.zeros(model.nv), u=u).tolist() == [0.0] * 6 + [0.75]


def test_two_forces_of_one_name_are_refused() -> None:
    b = free_bodies("a").add(lw.BodyDamping("a", 1.0, name="x")).add(lw.PointSpring("a", stiffness=1.0, name="x"))
    with pytest.raises(lw.ModelError, match="two forces are named 'x'"):
        lw.force_set(b.build())


def test_a_model_without_forces_has_none() -> None:
    model = free_bodies("a", "b").build()
    forces = lw.force_set(model)
    q, v, poses, twists = motion(model)
    assert len(forces) == 0
    assert not forces.wrenches(poses, twists).any()
    assert not forces.joint_forces(q, v).any()
    assert forces.energies(poses, twists).shape == forces.joint_energies(q, v).shape == (0,)
    assert not forces.derivatives(poses, twists)[0].dense(2).any()
    assert not forces.joint_derivatives(q, v)[1].dense().any()


def test_blocks_of_joints_are_a_matrix() -> None:
    model = mixed_model()
    q, v, _, _ = motion(model)
    forces = lw.force_set(model)
    for A, B in zip(forces.joint_derivatives(q, v), forces.joint_derivatives(q, v, symmetrised=True), strict=True):
        D = A.dense()
        x = np.random.default_rng(0).normal(size=(2, model.nv))
        assert D.shape == (model.nv, model.nv)
        assert close(A @ x, x @ D.T)
        assert close(A.diagonal(), np.diagonal(D))
        assert close(B.dense(), 0.5 * (D + D.T))


def test_arrays_of_the_wrong_shape_are_refused() -> None:
    model = mixed_model()
    forces = lw.force_set(model)
    q, v, poses, twists = motion(model)
    with pytest.raises(lw.InputError, match=r"poses of shape \(2, 4, 4\) do not fit the model: expected \(3, 4, 4\)"):
        forces.wrenches(poses[:2], twists)
    with pytest.raises(lw.InputError, match=r"twists of shape \(2, 6\) do not fit the model: expected \(3, 6\)"):
        forces.derivatives(poses, twists[:2])
    with pytest.raises(lw.InputError, match=r"q of shape \(3,\) does not fit the model: expected \(..., 18\)"):
        forces.joint_forces(q[:3], v)
    with pytest.raises(lw.InputError, match=r"v of shape \(3,\) does not fit the model: expected \(..., 15\)"):
        forces.joint_derivatives(q, v[:3])


def test_every_force_has_a_page() -> None:
    pages = {p.name: p.read_text() for p in (Path(__file__).parents[3] / "docs" / "forces").glob("*.md")}
    for name in {*ALL_FORCES, *ALL_JOINT_FORCES} - {"CustomForce", "CustomJointForce"}:
        assert name in pages["README.md"], name
        assert any(text.startswith("# ") and name in text.splitlines()[0] for text in pages.values()), name
