"""Benchmarks run and write their rows; the peers' models are ours. No test asserts a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork import SE3, Free, InputError, LinkworkError, Model, ModelError, Prismatic, Revolute, SphericalExp
from linkwork.bench import (
    BENCHMARKS,
    analysis,
    cold,
    dynamics,
    loaded,
    models,
    multipliers,
    peers,
    preconditioning,
    report,
    step,
    stiff,
    timing,
)
from linkwork.bench.blas import one_blas_thread
from linkwork.bench.loaded_models import CASES, equality_rows
from linkwork.bench.multiplier_chains import stiff as stiffened
from linkwork.bench.multiplier_claims import claims
from linkwork.bench.multiplier_frames import assemble_factor_solve, factor_solve, frames
from linkwork.bench.quantities import QUANTITIES
from linkwork.cli import main
from linkwork.interop.mujoco import build, mjcf
from linkwork.model import Body

KEYS = {"case", "quantity", "engine", "mode", "threads", "us"}
TINY = timing.Effort(2, 0.1)


def skewed() -> Model:
    """A tree with two branches and hinges that no axis of coordinates is parallel to."""
    hinge = Revolute(np.array([1.0, -2.0, 2.0]) / 3.0)
    bodies = [
        Body(b.name, parent, hinge, b.joint_name, b.placement, b.inertia)
        for b, parent in zip(models.chain(4).bodies, (-1, 0, 1, 0), strict=True)
    ]
    return Model(tuple(bodies), np.array([1.0, 2.0, -9.0]))


def floating() -> Model:
    """Two free bodies, one with a tree of slides and hinges on it: layouts of peers differ in the middle of q and v, too."""
    joints = (Free(), Prismatic((0.0, 1.0, 0.0)), Revolute(), Prismatic(np.array([2.0, 1.0, -2.0]) / 3.0), Free())
    bodies = [
        Body(b.name, parent, joint, b.joint_name, b.placement if parent >= 0 else SE3(), b.inertia)
        for b, parent, joint in zip(models.chain(5).bodies, (-1, 0, 1, 0, -1), joints, strict=True)
    ]
    return Model(tuple(bodies), np.array([1.0, 2.0, -9.0]))


MODELS: dict[str, Callable[[], Model]] = {
    "arm7": models.arm7,
    "chain": lambda: models.chain(12),
    "skewed": skewed,
    "floating": floating,
}


def installed(kind: Any) -> Any:
    """A kind of peer, if its library is here."""
    pytest.importorskip(kind.name)
    return kind


@pytest.mark.parametrize("kind", peers.PEERS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("name", MODELS)
def test_peers_agree(name: str, kind: Any) -> None:
    model = MODELS[name]()
    peers.require_agreement(model, installed(kind)(model))


@pytest.mark.parametrize("kind", peers.PEERS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("name", models.ROBOTS)
def test_peers_agree_on_robots(name: str, kind: Any) -> None:
    if models.robots_folder() is None:
        pytest.skip("example-robot-data is not installed")
    model = models.robot(name)
    assert not model.damping.any()
    peers.require_agreement(model, installed(kind)(model))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("quantity", QUANTITIES[:2], ids=lambda quantity: quantity.name)
def test_batches_of_pinocchio_are_ours(quantity: Any, threads: int) -> None:
    model = floating()
    peer, states, out = installed(peers.Pinocchio)(model), models.random_states(model, 5), np.empty((5, model.nv))
    run = peer.batch(quantity.name, quantity.of(peer.layout(states)), out, threads)
    assert run is not None
    run()
    ours = quantity.function(model, *quantity.of(states))
    np.testing.assert_allclose(out, peer.layout({**states, quantity.result: ours})[quantity.result], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda quantity: quantity.name)
def test_the_native_loop_computes_the_quantity(quantity: Any) -> None:
    model = floating()
    states = models.random_states(model, 3)
    expected = quantity.function(model, *quantity.of(states))
    np.testing.assert_array_equal(quantity.native(model, states)().reshape(expected.shape), expected)
    assert quantity.plan(model).flops > 0


def test_mujoco_walks_the_same_path() -> None:
    mujoco = pytest.importorskip("mujoco")
    model = models.arm7()
    step.require_same_path(model, mujoco, build(model, step.DT))


class Wrong(peers.Peer):
    """A peer with one answer."""

    name = "a wrong peer"

    def __init__(self, answer: float) -> None:
        self.functions = {"forward_dynamics": lambda q, v, tau: np.full(7, answer)}

    def layout(self, states: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return states


@pytest.mark.parametrize("answer", [0.0, np.nan])
def test_another_model_is_refused(answer: float) -> None:
    with pytest.raises(LinkworkError, match="differ by"):
        peers.require_agreement(models.arm7(), Wrong(answer))


def test_other_joints_do_not_go_to_peers() -> None:
    b = models.chain(1).bodies[0]
    model = Model((Body(b.name, -1, SphericalExp(), b.joint_name, b.placement, b.inertia),), np.zeros(3))
    with pytest.raises(ModelError, match="no joint that moves"):
        mjcf(model)


def test_a_placed_free_joint_does_not_go_to_mujoco() -> None:
    b = models.chain(1).bodies[0]
    model = Model((Body(b.name, -1, Free(), b.joint_name, SE3(p=(1.0, 0.0, 0.0)), b.inertia),), np.zeros(3))
    with pytest.raises(ModelError, match="origin"):
        mjcf(model)


def test_models_are_reproducible() -> None:
    for made in (models.arm7, lambda: models.chain(3)):
        for a, b in zip(made().bodies, made().bodies, strict=True):
            np.testing.assert_array_equal(a.inertia.matrix, b.inertia.matrix)


def check(rows: list[dict[str, Any]], file: Path) -> None:
    assert json.loads(file.read_text()) == rows
    for row in rows:
        assert set(row) == KEYS
        assert np.isfinite(row["us"])
        assert row["us"] > 0


def test_dynamics_writes_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(dynamics, "QUICK", TINY)
    file = tmp_path / "rows.json"
    rows = dynamics.run(file, True, (dynamics.Case("chain3", lambda: models.chain(3), 20),))
    check(rows, file)
    ours = {(r["quantity"], r["mode"]) for r in rows if r["engine"] == "linkwork"}
    assert ours >= {(q.name, mode) for q in QUANTITIES for mode in ("batch64", "batch32", "native", "single")}
    assert ours >= {(name, "prepared") for name in ("forward_dynamics", "inverse_dynamics")}
    streams = capsys.readouterr()
    assert "how many times faster" in streams.out
    assert streams.err.startswith("chain3: building ...")
    assert streams.err.count("\n") == 1


def test_step_writes_rows(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    rows = step.run(file, True, arms=9, fewer=2, steps=20)
    check(rows, file)
    assert {r["mode"] for r in rows if r["engine"] == "linkwork"} == {"native", "batch64"}


def test_a_missing_peer_is_a_note(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(peers, "module", lambda name: None)
    monkeypatch.setattr(dynamics, "QUICK", TINY)
    rows = dynamics.run(None, True, (dynamics.Case("chain2", lambda: models.chain(2), 8),))
    assert {r["engine"] for r in rows} == {"linkwork"}
    assert "linkwork[peers]" in capsys.readouterr().out


def test_missing_robots_are_a_note(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(models, "robots_folder", lambda: None)
    assert BENCHMARKS["dynamics"](None, True, ["panda", "talos"]) == []
    assert "example-robot-data is not installed" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(InputError, match="not installed"):
        models.robot("panda")


def test_large_models_go_without_peers_and_matrices() -> None:
    n = dynamics.MATRIX_LIMIT + 1
    group, _, notes = dynamics.contenders(dynamics.Case("large", lambda: models.chain(n), 2))
    assert {c.engine for c in group} == {"linkwork"}
    assert {c.quantity for c in group} == {"forward_dynamics", "inverse_dynamics"}
    assert len(notes) == 1 + sum(1 for _ in peers.PEERS)


def test_batches_of_mass_matrices_are_bounded() -> None:
    model = models.chain(100)
    tasks, notes = dynamics.tasks_of(dynamics.Case("chain100", lambda: model, 512), model)
    assert [t.batch for t in tasks] == [512, 512, 16]
    assert not notes


def test_cases_are_chosen_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert [c.name for c in dynamics.chosen(["chain7", "panda", "chain7"], quick=True)] == ["chain7", "panda"]
    assert [c.name for c in dynamics.chosen([], quick=True)] == list(dynamics.SMALL)
    assert dynamics.chosen([], quick=False) == list(dynamics.CASES)
    for name, known in (("dynamics", "panda, solo12"), ("step", "arm7")):
        with pytest.raises(SystemExit):
            main(["bench", name, "--case", "chain8", "--case", "chain7"])
        error = capsys.readouterr().err
        assert "no case 'chain8'" in error
        assert known in error


def test_a_summary_divides_what_was_measured() -> None:
    def row(quantity: str, engine: str, mode: str, threads: int, us: float) -> dict[str, Any]:
        return {"case": "c", "quantity": quantity, "engine": engine, "mode": mode, "threads": threads, "us": us}

    rows = [
        row("a", "linkwork", "batch64", 1, 2.0),
        row("a", "linkwork", "batch64", 2, 1.0),
        row("a", "linkwork", "batch32", 1, 0.5),
        row("a", "pinocchio", "batch64", 1, 30.0),
        row("b", "linkwork", "single", 1, 2.0),
    ]
    found = report.summary(rows, report.PINOCCHIO_RATIOS)
    assert dict(zip(report.PINOCCHIO_RATIOS, found["c", "a"], strict=True)) == {
        "batch64": 15.0,
        "native": None,
        "single": None,
        "prepared": None,
        "float32": 4.0,
        "2 threads": 2.0,
    }
    assert set(found["c", "b"]) == {None}
    assert report.summary_table("t", rows, report.PINOCCHIO_RATIOS).row_count == 2


def test_rivals_are_matched_by_mode() -> None:
    def row(engine: str, mode: str, us: float) -> dict[str, Any]:
        return {"case": "c", "quantity": "q", "engine": engine, "mode": mode, "threads": 1, "us": us}

    rows = [row("linkwork", "prepared", 1.0), row("linkwork", "native", 2.0), row("p", "single", 3.0), row("p", "batch64", 4.0)]
    assert report.rival(rows, rows[0], "p") == rows[2]
    assert report.rival(rows, rows[1], "p") == rows[3]
    assert report.rival(rows, {**rows[0], "threads": 2}, "p") is None
    assert report.table("t", rows, {("c", "q"): 10}).row_count == 2


def test_affinity_is_restored_even_after_a_failure() -> None:
    before = timing.cores()

    def fail() -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        timing.measure([timing.Contender("c", "q", "e", "m", 1, fail, 1)], TINY)
    assert timing.cores() == before


def test_the_package_is_cheap_to_import() -> None:
    code = "import sys; before = set(sys.modules); import linkwork.bench; new = set(sys.modules) - before; print(*new)"
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout.split()
    assert "linkwork.bench.dynamics" not in out
    assert "pinocchio" not in out
    names = {
        "dynamics",
        "derivatives",
        "step",
        "stiff",
        "multipliers",
        "loaded",
        "contact",
        "contact-problems",
        "bisp",
        "analysis",
        "study",
        "table1",
        "targets",
    }
    assert set(BENCHMARKS) == names


def test_stiff_chains_are_timed_at_equal_error(capsys: pytest.CaptureFixture[str]) -> None:
    group, notes = stiff.contenders("chain10", 10, 8)
    assert {(c.engine, c.mode) for c in group} >= {("linkwork", "native"), ("linkwork", "batch64"), ("mujoco", "native")}
    assert any("chain10: mujoco is" in note for note in notes)
    model = stiff.stiff_chain(10)
    public = lw.simulate(model, stiff.bent(10), 5 / 60, 1 / 60, stepper="rosenbrock").q[-1]
    np.testing.assert_array_equal(stiff.program(model, np.full((1, 10), stiff.BEND), 5)()[0], public)
    with pytest.raises(lw.InputError, match="there is no case 'rope'; choose from chain10"):
        stiff.run(None, True, ("rope",))


def test_preconditioning_saves_products() -> None:
    chain = stiff.stiff_chain(20)
    with_it, without = preconditioning.products(preconditioning.across(chain), stiff.bent(20), 1 / 60)
    assert without is not None
    assert with_it < without
    assert f"{with_it} products" in preconditioning.note("chain20", chain, stiff.BEND, 1 / 60)


def test_multipliers_writes_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(multipliers, "QUICK", TINY)
    monkeypatch.setitem(multipliers.CASES, "chain2", lambda case: multipliers.chain(case, 2, springs=True))
    file = tmp_path / "rows.json"
    rows = BENCHMARKS["multipliers"](file, True, ("chain2", "plane108", "plane96+12"))
    check(rows, file)
    found = {(r["case"], r["quantity"], r["engine"], r["mode"]) for r in rows}
    assert found >= {("chain2", "implicit_frame", "linkwork", mode) for mode in ("native", "batch64")}
    assert found >= {("chain2", "factor_solve", "linkwork", mode) for mode in ("native", "prepared")}
    assert found >= {("chain2", "factor_solve", engine, "single") for engine in ("scipy", "scipy in order")}
    engines = ("linkwork", "dense", "conjugate gradients", "published")
    assert found >= {(case, "accelerations", e, "single") for case in ("plane108", "plane96+12") for e in engines}
    assert found >= {("plane108", quantity, "linkwork", "prepared") for quantity in ("accelerations", "factor", "solve")}
    out = " ".join(capsys.readouterr().out.split())
    assert "96 primary and 12 auxiliary multipliers / 108 primary, prepared:" in out
    with pytest.raises(InputError, match="there is no case 'rope'; choose from chain10"):
        multipliers.run(None, True, ("rope",))


def test_frames_are_those_of_simulate_and_their_system_is_that_of_the_first() -> None:
    model = stiffened(models.chain(2))
    state = lw.State(np.array([0.3, -0.4]), np.zeros(2))
    public = lw.simulate(model, state, 3 / 60, 1 / 60, "maximal-implicit").poses[-1]
    for batch in (1, 2):
        np.testing.assert_array_equal(frames(model, state, batch, 3)()["poses"][-1], public.reshape(-1))
    whole = frames(model, state, 1, 1)()["twists"].reshape(-1, 6)
    for run in (factor_solve(model, state), assemble_factor_solve(model, state)):
        np.testing.assert_allclose(
            run()[:, :3], whole[:, :3], rtol=1e-12, atol=1e-12
        )  # linear velocities are in other axes by then
        np.testing.assert_array_equal(run(), run())


def test_a_chain_is_compared_with_its_bands() -> None:
    group = multipliers.accelerations("chain", lambda: multipliers.baraff.chain(5), bands=True)
    assert {c.engine for c in group} == {"linkwork", "dense", "conjugate gradients", "banded"}


@pytest.mark.parametrize("wrong", [1.0, np.nan])
def test_another_solution_is_refused(wrong: float) -> None:
    multipliers.require_same("chain", np.ones(3), np.ones(3), "scipy")
    with pytest.raises(LinkworkError, match="chain: the solutions of linkwork and scipy differ"):
        multipliers.require_same("chain", np.ones(3), np.array([1.0, 2.0, 1.0]) * wrong, "scipy")


def test_claims_divide_what_was_measured() -> None:
    def row(case: str, engine: str, mode: str, us: float) -> dict[str, Any]:
        return {"case": case, "quantity": "implicit_frame", "engine": engine, "mode": mode, "threads": 1, "us": us}

    rows = [row("chain1000", "linkwork", "native", 500.0), row("chain10000", "linkwork", "native", 6000.0)]
    assert list(claims(rows)) == ["chain1000 to chain10000: growth of a frame: 12"]
    rows.append(row("chain1000", "published", "native", 22000.0))
    assert "chain1000: published / linkwork, implicit_frame: 44" in list(claims(rows))


def test_linear_algebra_gets_its_threads_back() -> None:
    A = np.random.default_rng(0).normal(size=(40, 40))
    with one_blas_thread(), pytest.raises(ZeroDivisionError), one_blas_thread():
        _ = 1 // 0
    np.testing.assert_allclose(A @ np.linalg.inv(A), np.eye(40), atol=1e-9)


def test_loaded_writes_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(loaded, "QUICK", TINY)
    monkeypatch.setattr(loaded, "RUN", 2e-3)
    file = tmp_path / "rows.json"
    rows = BENCHMARKS["loaded"](file, True, ("arm+spring_dampers", "arm+lo", "simulator"))
    check(rows, file)
    found = {(r["case"], r["quantity"], r["engine"], r["mode"]) for r in rows}
    steps = ("step", "step_one_evaluation")
    assert found >= {(case, q, "linkwork", "single") for case in ("arm+spring_dampers", "arm+loop") for q in steps}
    assert found >= {("arm", q, "linkwork", "single") for q in ("simulator_step", "controlled_step", "simulate_call")}
    if peers.module("mujoco") is not None:
        assert found >= {("arm+loop", "step", "mujoco", mode) for mode in ("single", "batch1024")}
    if peers.module("pinocchio") is not None:
        assert ("arm+loop", "step", "pinocchio", "single") in found
    assert "x\nbatch1024" in loaded.COLUMNS
    assert "arm+spring_dampers" in capsys.readouterr().out
    with pytest.raises(InputError, match="no case that begins with 'rope'; choose from arm"):
        loaded.run(None, True, ("rope",))


@pytest.mark.parametrize("case", [*(name for name in CASES if name.startswith("arm")), "elbow", "elbow+muscles", "leg+muscles"])
def test_mujoco_has_the_same_loads(case: str) -> None:
    pytest.importorskip("mujoco")
    from linkwork.bench.loaded_peers import LoadedMuJoCo

    model = CASES[case]()
    peer = LoadedMuJoCo(model.model, model.q, loaded.DT)
    assert loaded.mujoco_note(case, model, peer).startswith("bare tree")
    if case.endswith("active"):
        assert peer.after(model.q, model.v, 20)[0] > 0
    if "idle" in case:
        assert peer.after(model.q, model.v, 20)[0] == 0
    if case.endswith("muscles"):
        data = peer.mj.MjData(peer.model)
        data.qpos[:] = 0.2  # bent little: there MuJoCo's paths go around the same obstacles
        peer.mj.mj_forward(peer.model, data)
        np.testing.assert_allclose(data.ten_length, lw.muscle_states(model.model, data.qpos, data.qvel).length, rtol=1e-9)


def test_another_load_is_refused() -> None:
    with pytest.raises(LinkworkError, match="arm: under load differs by nan"):
        loaded.require("arm", "under load", float("nan"), 1e-8)


@pytest.mark.parametrize("case", ["arm+loop", "arm+coupling", "arm+prescribed"])
def test_loaded_states_obey_their_constraints(case: str) -> None:
    model = CASES[case]()
    q, v = model.states(3)
    assert np.abs(equality_rows(model.model, model.q) @ v.T).max() < 1e-12
    assert np.abs(v).max() > 0.01
    np.testing.assert_array_equal(q[0], model.q)
    step = lw.simulate(model.model, lw.State(q=model.q, v=model.v), 1e-3, 1e-3)
    assert np.abs(step.v[-1] - model.v).max() < 1.0  # nothing had to jump


def test_loaded_cases_without_robots_are_a_note(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(models, "robots_folder", lambda: None)
    assert loaded.run(None, True, ("panda", "g1")) == []
    assert "example-robot-data is not installed" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_cold_starts_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    if models.robots_folder() is None:
        pytest.skip("example-robot-data is not installed")
    cold.main(batch=4, links=20)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["g1+pd, empty cache", "g1+pd, warm cache", "chain of 20 links built"]
    assert not any("failed" in line for line in lines)


def test_analysis_writes_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every quantity in both engines, which agree."""
    pytest.importorskip("pinocchio")
    if models.robots_folder() is None:
        pytest.skip("no robots")
    monkeypatch.setattr(analysis, "QUICK", timing.Effort(1, 0.01))
    rows = analysis.run(tmp_path / "rows.json", True, ["panda"])
    assert json.loads((tmp_path / "rows.json").read_text()) == rows
    assert all(set(row) == KEYS for row in rows)
    assert {r["quantity"] for r in rows} >= {"centroidal_momentum_matrix", "coriolis_matrix", "regressor"}
    assert {(r["engine"], r["mode"]) for r in rows} >= {("linkwork", "batch64"), ("pinocchio", "single")}
