"""Methods I and II of [Si & Guenter] and class kernels give the same accelerations, single and batched, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from identities.trees import KINDS, compact_state, random_forest
from models import PAIRS, random_inertia, relative

import linkwork as lw
from linkwork.kernel.eager import EagerRun
from linkwork.reduced.methods import METHODS, MIXED, SMALL, _one_node
from linkwork.reduced.recursions import forward_dynamics_of_the_paper


def small_tree() -> lw.Model:
    """Branches, several roots, drives, and subspaces that depend on q."""
    rng = np.random.default_rng(4)
    b = lw.ModelBuilder(gravity=(1.0, -2.0, -9.0))
    joints = (lw.Spherical(), PAIRS["torus on torus"], lw.Revolute((0, 0.6, 0.8)), lw.Fixed(), lw.Universal(), lw.Prismatic())
    parents = ("world", "b0", "b0", "b2", "b3", "world")
    for i, (joint, parent) in enumerate(zip(joints, parents, strict=True)):
        drive = rng.uniform(0.1, 0.3, joint.nv)
        place = lw.SE3.exp(rng.normal(size=6) * 0.4)
        b.body(f"b{i}", parent=parent, joint=joint, placement=place, inertia=random_inertia(rng), armature=drive, damping=drive)
    return b.build()


@pytest.mark.parametrize("method", ["whole", "mixed", "classes"])
def test_methods_agree(method: str) -> None:
    model = small_tree()
    rng = np.random.default_rng(1)
    q = np.array([model.random_configuration(rng) for _ in range(5)])
    v, tau = rng.normal(size=(2, 5, model.nv))
    compiled = model.compile(method)
    expected = lw.forward_dynamics(model, q, v, tau)
    found = compiled(q, v, tau)
    assert compiled.method == method
    assert compiled.seconds > 0
    assert relative(found, expected) < 1e-11
    for k in range(5):
        assert np.array_equal(compiled(q[k], v[k], tau[k]), found[k])
    assert relative(compiled(q[0], v[0]), lw.forward_dynamics(model, q[0], v[0])) < 1e-11


@pytest.mark.parametrize("seed", range(4))
def test_recursions_of_the_paper_on_numbers(seed: int) -> None:
    model = random_forest(seed, 8, tuple(KINDS))
    state = compact_state(model, seed)
    tau = np.random.default_rng(seed).normal(size=model.nv)
    found = forward_dynamics_of_the_paper(model, state.q, state.v, tau, model.gravity)
    assert relative(np.asarray(found, float), lw.forward_dynamics(model, state.q, state.v, tau)) < 1e-10


def test_the_numeric_half_runs_as_it_stands() -> None:
    """Loops over dense matrices, as Python runs them."""
    model = small_tree()
    state, tau = lw.State(model.random_configuration(3), np.ones(model.nv)), np.linspace(-1.0, 1.0, model.nv)
    inputs = {"q": state.q, "v": state.v, "tau": tau, "gravity": model.gravity, "drive": model.armature}
    inputs["inertias"] = np.concatenate([b.inertia.matrix.reshape(-1) for b in model.bodies])
    found = EagerRun(MIXED, _one_node(model), inputs).run()["a"]
    assert relative(found, lw.forward_dynamics(model, state.q, state.v, tau)) < 1e-11


def test_the_fastest_is_chosen_by_size() -> None:
    def chain(n: int) -> lw.Model:
        b = lw.ModelBuilder()
        for i in range(n):
            b.body(f"l{i}", parent=f"l{i - 1}" if i else "world", joint=lw.Revolute(), inertia=lw.Inertia.sphere(1.0, 0.1))
        return b.build()

    assert chain(2).compile().method == "whole"
    assert chain(SMALL + 1).compile().method == "classes"


def test_what_cannot_be_compiled_is_named() -> None:
    model = lw.ModelBuilder().body("a", joint=lw.Revolute(), inertia=lw.Inertia(1.0)).build()
    with pytest.raises(lw.InputError, match=f"the method must be one of {', '.join(METHODS)}, not 'III'"):
        model.compile("III")
    loaded = model.add(lw.JointSpring("a", stiffness=1.0))
    with pytest.raises(lw.ModelError, match="has its own program; use forward_dynamics"):
        loaded.compile()
