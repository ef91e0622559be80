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

from linkwork import LinkworkError, Model, ModelError, Revolute, Spherical
from linkwork.bench import BENCHMARKS, dynamics, models, report, step, timing
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


MODELS: dict[str, Callable[[], Model]] = {
    "arm7": models.arm7,
    "chain": lambda: models.chain(12),
    "skewed": skewed,
}


@pytest.mark.parametrize("name", MODELS)
def test_pinocchio_agrees(name: str) -> None:
    pytest.importorskip("pinocchio")
    model = MODELS[name]()
    models.require_agreement(model, "pinocchio", models.pinocchio_dynamics(models.to_pinocchio(model)))


@pytest.mark.parametrize("name", MODELS)
def test_mujoco_agrees(name: str) -> None:
    pytest.importorskip("mujoco")
    model = MODELS[name]()
    models.require_agreement(model, "mujoco", models.mujoco_dynamics(models.to_mujoco(model)))


def test_mujoco_walks_the_same_path() -> None:
    mujoco = pytest.importorskip("mujoco")
    model = models.arm7()
    step.require_same_path(model, mujoco, models.to_mujoco(model, step.DT))


def test_another_model_is_refused() -> None:
    model = models.arm7()
    with pytest.raises(LinkworkError, match="differ by"):
        models.require_agreement(model, "a wrong peer", lambda q, v, tau: np.zeros(7))


def test_only_revolute_joints_go_to_peers() -> None:
    b = models.chain(1).bodies[0]
    model = Model((Body(b.name, -1, Spherical(), b.joint_name, b.placement, b.inertia),), np.zeros(3))
    with pytest.raises(ModelError, match="revolute"):
        models.mjcf(model)


def test_models_are_reproducible() -> None:
    for build in (models.arm7, lambda: models.chain(3)):
        for a, b in zip(build().bodies, build().bodies, strict=True):
            np.testing.assert_array_equal(a.inertia.matrix, b.inertia.matrix)


def check(rows: list[dict[str, Any]], file: Path) -> None:
    assert json.loads(file.read_text()) == rows
    for row in rows:
        assert set(row) == KEYS
        assert np.isfinite(row["us"])
        assert row["us"] > 0


def test_dynamics_writes_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dynamics, "QUICK", TINY)
    file = tmp_path / "rows.json"
    rows = dynamics.run(file, True, (dynamics.Case("chain3", lambda: models.chain(3), 20),))
    check(rows, file)
    ours = {(r["quantity"], r["mode"]) for r in rows if r["engine"] == "linkwork"}
    assert ours == {(q, m) for q in dynamics.FUNCTIONS for m in ("batch64", "batch32", "native", "single", "prepared")}


def test_step_writes_rows(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    rows = step.run(file, True, arms=9, fewer=2, steps=20)
    check(rows, file)
    assert {r["mode"] for r in rows if r["engine"] == "linkwork"} == {"native", "batch64"}


def test_a_missing_peer_is_a_note(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(models, "peer", lambda name: None)
    monkeypatch.setattr(dynamics, "QUICK", TINY)
    rows = dynamics.run(None, True, (dynamics.Case("chain2", lambda: models.chain(2), 8),))
    assert {r["engine"] for r in rows} == {"linkwork"}
    assert "linkwork[peers]" in capsys.readouterr().out


def test_large_models_go_without_peers() -> None:
    n = dynamics.PINOCCHIO_LIMIT + 1
    group, _, notes = dynamics.contenders(dynamics.Case("large", lambda: models.chain(n), 1))
    assert {c.engine for c in group} == {"linkwork"}
    assert len(notes) == 2


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
    assert set(BENCHMARKS) == {"dynamics", "step"}
