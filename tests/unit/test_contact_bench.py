"""The generator of contact problems repeats itself, and the benchmark of their solvers runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from linkwork.bench import contact, models
from linkwork.bench.contact_models import CASES
from linkwork.bench.contact_problems import FAMILIES, problems
from linkwork.bench.contact_quality import Quality, as_ours, in_mujoco
from linkwork.bench.contact_solvers import run
from linkwork.errors import InputError
from linkwork.solvers.coulomb import solve


@pytest.mark.parametrize("family", FAMILIES)
def test_problems_are_the_same_each_time(family: str) -> None:
    first, again = problems(family, 2), problems(family, 3)
    for p, q in zip(first, again, strict=False):
        assert np.array_equal(p.A, q.A)
        assert np.array_equal(p.b, q.b)
        assert np.linalg.eigvalsh(p.A)[0] > -1e-10 * np.trace(p.A)


@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "wedged"])
def test_the_default_solver_solves_them(family: str) -> None:
    for p in problems(family, 8, seed=1):
        assert p.residual(solve(p)[0]) < 1e-10


def test_the_benchmark_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.json"
    rows = run(file, True, ("landing",))
    assert json.loads(file.read_text()) == rows
    assert "opens all contacts in 8 of 8" in capsys.readouterr().out
    by_solver = {(r["engine"], r["quantity"], r["mode"]): r for r in rows}
    assert by_solver["linkwork", "exact", "single"]["solved_1e-10"] == 1.0
    assert by_solver["linkwork", "exact", "batch8"]["solved_1e-10"] == 1.0
    with pytest.raises(InputError, match="no case"):
        run(None, True, ("nowhere",))


def test_steps_in_contact_are_timed_and_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    if models.robots_folder() is None:
        pytest.skip("example-robot-data is not installed")
    monkeypatch.setattr(contact, "BATCH", 16)
    monkeypatch.setattr(contact, "THEIR_BATCH", 4)
    file = tmp_path / "rows.json"
    rows = contact.run(file, True, ("anymal",))
    assert json.loads(file.read_text()) == rows
    assert {(r["engine"], r["mode"]) for r in rows} == {(e, m) for e in ("linkwork", "mujoco") for m in ("single", contact.MANY)}
    (ours,) = [r for r in rows if r["engine"] == "linkwork" and r["mode"] == "single"]
    assert set(Quality._fields) <= set(ours)
    assert ours["contacts"] == 4.0
    assert ours["complementarity"] < 1e-12
    assert ours["penetration"] < 1e-6
    with pytest.raises(InputError, match="no case"):
        contact.run(None, True, ("nowhere",))


def test_states_of_mujoco_come_back() -> None:
    pytest.importorskip("mujoco")
    pytest.importorskip("gymnasium")
    case = CASES["ant"]()
    rng = np.random.default_rng(0)
    q = np.array([case.model.random_configuration(rng) for _ in range(3)])
    v = rng.normal(size=(3, case.model.nv))
    back = as_ours(case, *in_mujoco(case, q, v))
    np.testing.assert_array_equal(back[0], q)
    np.testing.assert_allclose(back[1], v, atol=1e-12)
