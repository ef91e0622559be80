"""One source, many machines: the rules run as they stand and compiled, in any width, batch and number of threads."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from functools import cache
from typing import Any

import numpy as np
import pytest
from models import ALL_KINDS, random_forces, random_state, random_tree, relative

import linkwork as lw
from linkwork.kernel import eager
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.plan import Plan, variant
from linkwork.kernel.sweep import Algorithm, Tree
from linkwork.maximal.implicit_laws import implicit_laws
from linkwork.maximal.implicit_program import implicit_program
from linkwork.reduced import hybrid
from linkwork.reduced.dof_tree import dof_tree
from linkwork.reduced.port_columns import PORT_COLUMNS, port_plans
from linkwork.reduced.ports_and_inverse import PORTS_AND_INVERSE
from linkwork.steppers.symplectic_euler import maximal_step, reduced_step

BATCH = 20
STEP = 1e-2


def _defined(module: str) -> dict[str, Algorithm]:
    return {x.name: x for x in vars(importlib.import_module(module)).values() if isinstance(x, Algorithm)}


def _algorithms() -> dict[str, Algorithm]:
    """Every algorithm that a module of the package defines, and the programs of some steppers."""
    found: dict[str, Algorithm] = {}
    for info in pkgutil.walk_packages(lw.__path__, "linkwork."):
        if info.name.split(".")[1] in (
            "model",
            "reduced",
            "maximal",
            "contact",
            "redmax",
            "energy",
        ):  # forces and constraints: see unit/forces and test_constraint_rows
            own_tree = info.name.endswith(("coordinate_map", "reduced.methods"))
            own_tree |= info.name.endswith("model.weights")  # backwards: see derivatives/test_gradients
            found |= {} if own_tree else _defined(info.name)
    bare = (-1, -1, False, False)
    steps = reduced_step(bare, 2), maximal_step(bare, 2), implicit_program(bare, False, False, 1)
    return found | {x.name: x for x in steps}  # loaded ones: see test_loaded_programs


ALGORITHMS = _algorithms()
REDUCED_STEP = "reduced_symplectic_euler_2_-1_-1_0_0"
IMPLICIT_STEP = "maximal_backward_euler_-1_-1_0_0_00_1"
IN_SINGLE_PRECISION = [
    name for part in ("forward", "inverse", "jacobian", "mass_matrix") for name in _defined(f"linkwork.reduced.{part}")
]
IN_ALL_WIDTHS = ("forward_dynamics", "inverse_dynamics", "maximal_dynamics")  # the library itself uses 1, 8 and 16
# Joints on which each algorithm runs; "mixed" is a forest with branches and four kinds (in it a free body carried by another).
MODELS = {"mixed": (67, 6, None), "custom": (4, 4, ("helix", "screw", "raw", "rot_exp")), "exp": (8, 1, ("exp",))}
# All algorithms run on the mixed model, those that read every part of a joint on the others too.
THOROUGH = ("kinematics", "forward_dynamics", "inverse_dynamics", "maximal_dynamics", "maximal_fit", "integrate", "difference")
BATCHED = (*THOROUGH, "mass_matrix", "reduced_response", "hybrid_dynamics", REDUCED_STEP, IMPLICIT_STEP)
IN_LANES = pytest.mark.parametrize(
    ("name", "which"), [*((name, "mixed") for name in BATCHED), *((name, "custom") for name in IN_ALL_WIDTHS)]
)
ALGORITHMS_ON_MODELS = pytest.mark.parametrize(
    ("name", "which"), [(name, which) for name in ALGORITHMS for which in MODELS if which == "mixed" or name in THOROUGH]
)


def test_the_algorithms_are_found() -> None:
    assert set(ALGORITHMS) >= {
        "forward_dynamics",
        "inverse_dynamics",
        "kinematics",
        "reduced_response",
        "maximal_dynamics",
        "maximal_response",
        "maximal_fit",
        "energy",
        "integrate",
        "difference",
        REDUCED_STEP,
        "maximal_symplectic_euler_2_-1_-1_0_0",
    }


@cache
def model(name: str) -> lw.Model:
    seed, n, kinds = MODELS[name]
    return random_tree(seed, n, kinds)


@cache
def values(name: str) -> dict[str, np.ndarray]:
    """A batch of everything that an algorithm may ask for: (BATCH, size), or (size,) for globals."""
    m = model(name)
    rows: list[dict[str, Any]] = []
    for seed in range(BATCH):
        rng = np.random.default_rng(seed)
        state = random_state(m, seed)
        if name != "mixed":  # far from 2 pi, where the exponential coordinates are singular
            state = lw.State(m.integrate(m.neutral(), rng.uniform(-1.5, 1.5, m.nv)), state.v)
        tau, external = random_forces(m, seed)
        k = lw.kinematics(m, state.q, state.v)
        L = rng.normal(size=(m.nb, 6, 6))
        rows.append(
            {
                "q": state.q,
                "v": state.v,
                "tau": tau,
                "external": external,
                "q_next": m.integrate(state.q, rng.normal(size=m.nv)),
                "q_fit": m.integrate(state.q, 1e-3 * rng.normal(size=m.nv)),
                "poses": k.poses,
                "twists": k.twists,
                "joint_terms": rng.uniform(0, 1, m.nv),
                "body_terms": L @ L.swapaxes(1, 2),
                "stiffness": rng.uniform(0, 50, m.nv),
                "joint_damping": rng.uniform(0, 1, m.nv),
                "round": np.zeros(m.nb),
                "part": np.zeros(m.nb),
                "t": np.zeros(m.nb),
                "u": np.zeros(0),
                "units": rng.normal(size=(m.nb, 36)),
                "q-space": rng.normal(size=m.nq),
                "v-space": rng.normal(size=m.nv),
                "node-space": rng.normal(size=(m.nb, 6)),
            }
        )
    batch = {key: np.array([r[key].reshape(-1) for r in rows]) for key in rows[0]}
    return batch | {"gravity": np.array(m.gravity), "h": np.array([STEP]), "d_gravity": np.array([0.3, -0.2, 0.1])}


def tree_of(m: lw.Model, algorithm: Algorithm) -> Tree:
    """Hybrid dynamics marks every other joint, implicit steps carry forces, columns of ports know where these are, matrices know
    pairs of degrees of freedom; the rest runs over the bodies."""
    if algorithm in (PORT_COLUMNS, PORTS_AND_INVERSE):
        return port_plans(m, range(m.nb)).tree
    if any(f.space == "square" for f in algorithm.fields.values()):
        return dof_tree(m)
    if algorithm.name == "hybrid_dynamics":
        return hybrid.with_prescribed(m.tree, frozenset(range(0, m.nb, 2)))
    if algorithm.name == IMPLICIT_STEP:
        return implicit_laws(m).tree
    return m.tree


def inputs_of(name: str, algorithm: Algorithm) -> dict[str, np.ndarray]:
    """By name where the values must fit together, else any vector of the field's space."""
    known, fields = values(name), algorithm.fields
    wanted = [*algorithm.of_kind("input"), *algorithm.of_kind("state")]
    known = known | {"correction": np.array([0.2])}
    if "t" in wanted and fields["t"].space == "global":
        known = known | {"t": np.zeros((BATCH, 1))}
    return {key: known[key if key in known else f"{fields[key].space}-space"] for key in wanted}


@cache
def plan(name: str, algorithm_name: str, lanes: Lanes) -> Plan:
    algorithm, m = ALGORITHMS[algorithm_name], model(name)
    return Plan(algorithm, tree_of(m, algorithm), variant(lanes, tuple(algorithm.phases)))


def compiled(
    name: str, algorithm_name: str, inputs: dict[str, np.ndarray], lanes: Lanes, threads: int = 1
) -> dict[str, np.ndarray]:
    """The results (batch, size) for inputs (batch, size) or (size,)."""
    return results(plan(name, algorithm_name, lanes), inputs, threads)


def results(p: Plan, inputs: dict[str, np.ndarray], threads: int = 1) -> dict[str, np.ndarray]:
    lanes = p.lanes
    count = max(len(x) if x.ndim == 2 else 1 for x in inputs.values())
    given = {key: np.ascontiguousarray(x, lanes.dtype) for key, x in inputs.items()}
    out = {key: np.full((count, p.sizes[key]), np.nan, lanes.dtype) for key in p.algorithm.results}
    p.run(given, out, count, threads=threads)
    return out


def rows(inputs: dict[str, np.ndarray], at: slice) -> dict[str, np.ndarray]:
    return {key: x[at] if x.ndim == 2 else x for key, x in inputs.items()}


def same_bits(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    assert all(np.all(np.isfinite(x)) for x in a.values())
    return all(np.ascontiguousarray(a[k]).tobytes() == np.ascontiguousarray(b[k]).tobytes() for k in a)


def invariant(which: str, algorithm: Algorithm, key: str, x: np.ndarray) -> np.ndarray:
    """What does not depend on the basis of a joint's complement: of multipliers only the length, joint by joint.

    The basis T reflects by the sign of an entry of S. Where that entry is zero but for rounding, the sign is an accident.
    """
    if algorithm.fields[key].space != "rows":
        return x
    starts = model(which).tree.offsets("rows")
    return np.array([np.linalg.norm(x[i:j]) for i, j in itertools.pairwise(starts)])


@ALGORITHMS_ON_MODELS
def test_eager_equals_compiled(name: str, which: str) -> None:
    algorithm = ALGORITHMS[name]
    inputs = inputs_of(which, algorithm)
    found = compiled(which, name, inputs, Lanes(1))
    for k in range(3):
        one = {key: x[k] if x.ndim == 2 else x for key, x in inputs.items()}
        expected = eager.run(algorithm, tree_of(model(which), algorithm), one)
        assert set(expected) == set(algorithm.results)
        for key, x in expected.items():
            assert relative(*(invariant(which, algorithm, key, y) for y in (found[key][k], x))) < 1e-13, (key, k)


@IN_LANES
def test_widths_are_bitwise_equal(name: str, which: str) -> None:
    inputs = inputs_of(which, ALGORITHMS[name])
    single = compiled(which, name, inputs, Lanes(1))
    for width in (8, 16) if name in IN_ALL_WIDTHS and which == "mixed" else (16,):
        assert same_bits(single, compiled(which, name, inputs, Lanes(width)))


@pytest.mark.parametrize("name", [*IN_ALL_WIDTHS, "kinematics", "mass_matrix", "reduced_response", "maximal_response"])
def test_levels_are_bitwise_equal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests compile quickly computes what users have."""
    inputs = inputs_of("mixed", ALGORITHMS[name])
    for lanes in (Lanes(1), Lanes(16)) if name in IN_ALL_WIDTHS else (Lanes(1),):
        found = []
        for level in ("0", "1"):
            monkeypatch.setenv("LINKWORK_LEVEL", level)
            found.append(plan.__wrapped__("mixed", name, lanes))
        assert set(found[0].segments[:, 0]).isdisjoint(found[1].segments[:, 0])  # other code
        assert same_bits(*(results(p, inputs) for p in found))


@pytest.mark.parametrize("name", IN_SINGLE_PRECISION)
def test_single_precision(name: str) -> None:
    inputs = inputs_of("mixed", ALGORITHMS[name])
    rounded = {key: x.astype(np.float32).astype(float) for key, x in inputs.items()}
    single = compiled("mixed", name, rounded, Lanes(1, single=True))
    assert same_bits(single, compiled("mixed", name, rounded, Lanes(32, single=True)))
    for key, x in compiled("mixed", name, rounded, Lanes(1)).items():
        for k in range(BATCH):
            assert relative(single[key][k], x[k]) < 1e-4, (key, k)


@pytest.mark.parametrize("name", BATCHED)
def test_any_place_in_any_batch(name: str) -> None:
    inputs = inputs_of("mixed", ALGORITHMS[name])
    alone = compiled("mixed", name, inputs, Lanes(1))
    for count in range(1, BATCH + 1):
        for start in {0, BATCH - count}:
            at = slice(start, start + count)
            found = compiled("mixed", name, rows(inputs, at), Lanes(16))
            assert same_bits(found, rows(alone, at)), (count, start)


@pytest.mark.parametrize("name", BATCHED)
def test_threads_and_repetitions_change_nothing(name: str) -> None:
    inputs = inputs_of("mixed", ALGORITHMS[name])
    for lanes in (Lanes(1), Lanes(16)):
        first = compiled("mixed", name, inputs, lanes)
        for threads in (1, 2, 3):
            assert same_bits(first, compiled("mixed", name, inputs, lanes, threads)), (lanes, threads)


# --- through the public functions --------------------------------------------------------------------------------------
def test_one_configuration_with_many_forces() -> None:
    m, x = model("mixed"), values("mixed")
    q, v = x["q"][0], x["v"][0]
    many = lw.tree_dynamics(m, q, v, x["tau"])
    assert many.shape == (BATCH, m.nv)
    for k in range(BATCH):
        assert np.array_equal(many[k], lw.tree_dynamics(m, q, v, x["tau"][k]))
    assert np.array_equal(many, lw.tree_dynamics(m, np.tile(q, (BATCH, 1)), np.tile(v, (BATCH, 1)), x["tau"]))
    assert np.array_equal(many, lw.tree_dynamics(m, q[None], v, x["tau"]))  # a batch of one broadcasts too
    assert np.array_equal(many[:1], lw.tree_dynamics(m, q[None], v[None], x["tau"][:1]))


def test_many_configurations_with_one_force() -> None:
    m, x = model("mixed"), values("mixed")
    tau, external = x["tau"][0], x["external"][0].reshape(m.nb, 6)
    many = lw.tree_dynamics(m, x["q"], x["v"], tau, external)
    for k in range(BATCH):
        assert np.array_equal(many[k], lw.tree_dynamics(m, x["q"][k], x["v"][k], tau, external))


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_public_functions_do_not_depend_on_threads(threads: int | None) -> None:
    m, x = model("mixed"), values("mixed")
    q, v, a = x["q"], x["v"], x["v-space"]
    external = x["external"].reshape(BATCH, m.nb, 6)
    for k in (0, 7, BATCH - 1):
        one = external[k]
        assert np.array_equal(lw.tree_dynamics(m, q, v, a, external, threads)[k], lw.tree_dynamics(m, q[k], v[k], a[k], one))
        assert np.array_equal(
            lw.inverse_dynamics(m, q, v, a, external, threads)[k], lw.inverse_dynamics(m, q[k], v[k], a[k], one)
        )
        assert np.array_equal(lw.joint_wrenches(m, q, v, a, external, threads)[k], lw.joint_wrenches(m, q[k], v[k], a[k], one))
        many, single = lw.kinematics(m, q, v, a, threads), lw.kinematics(m, q[k], v[k], a[k])
        assert np.array_equal(many.poses[k], single.poses)
        assert np.array_equal(many.twists[k], single.twists)
        assert np.array_equal(many.twists_dot[k], single.twists_dot)


@pytest.mark.parametrize("count", [1, 2, 17])
def test_float32_in_float32_out(count: int) -> None:
    m, x = model("mixed"), values("mixed")
    q, v, tau = (x[k][:count].astype(np.float32) for k in ("q", "v", "tau"))
    a = lw.tree_dynamics(m, q, v, tau)
    assert a.dtype == np.float32
    assert a.shape == (count, m.nv)
    assert np.array_equal(a[0], lw.tree_dynamics(m, q[0], v[0], tau[0]))
    for k in range(count):
        wide = lw.tree_dynamics(m, q[k].astype(float), v[k].astype(float), tau[k].astype(float))
        assert relative(a[k], wide) < 1e-4


def test_an_empty_batch_is_empty() -> None:
    m = model("mixed")
    assert lw.tree_dynamics(m, np.zeros((0, m.nq)), np.zeros((0, m.nv))).shape == (0, m.nv)


def test_inputs_are_not_changed() -> None:
    m, x = model("mixed"), values("mixed")
    q, v, tau = (x[k][:3].copy() for k in ("q", "v", "tau"))
    kept = [a.copy() for a in (q, v, tau)]
    lw.tree_dynamics(m, q, v, tau)
    lw.simulate(random_tree(*MODELS["mixed"]), lw.State(q, v), 0.01, tau=tau)
    for a, b in zip((q, v, tau), kept, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_prepared_functions_equal_the_general_ones(kind: str) -> None:
    m = random_tree(1, 2, [kind])
    state, (tau, _) = random_state(m, 1), random_forces(m, 1)
    a = m.function("forward_dynamics")(state.q, state.v, tau).copy()
    assert np.array_equal(a, lw.tree_dynamics(m, state.q, state.v, tau))
    assert np.array_equal(m.function("inverse_dynamics")(state.q, state.v, a), lw.inverse_dynamics(m, state.q, state.v, a))
