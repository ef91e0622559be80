"""The generator of contact problems repeats itself, and the benchmark of their solvers runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from linkwork.bench import contact, contact_solvers, models
from linkwork.bench.contact_models import CASES
from linkwork.bench.contact_problems import DRAWN, FAMILIES, problems
from linkwork.bench.contact_quality import Quality, as_ours, in_mujoco
from linkwork.bench.contact_runs import PACKAGES, RUNS, lacking, run_states, scene_start
from linkwork.bench.contact_solvers import run
from linkwork.bench.step_problems import pose
from linkwork.cli.bench import bench
from linkwork.errors import InputError
from linkwork.model import State
from linkwork.simulate import simulate
from linkwork.solvers.coulomb import solve


@pytest.mark.parametrize("family", DRAWN)
def test_problems_are_the_same_each_time(family: str) -> None:
    first, again = problems(family, 2), problems(family, 3)
    for p, q in zip(first, again, strict=False):
        assert np.array_equal(p.A, q.A)
        assert np.array_equal(p.b, q.b)
        assert np.linalg.eigvalsh(p.A)[0] > -1e-10 * np.trace(p.A)


@pytest.mark.parametrize("family", [f for f in DRAWN if f != "wedged"])
def test_the_default_solver_solves_them(family: str) -> None:
    for p in problems(family, 8, seed=1):
        assert p.residual(solve(p)[0]) < 1e-10


def test_the_benchmark_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.json"
    rows = run(file, True, ("landing",))
    assert json.loads(file.read_text()) == rows
    assert "opening against friction 8 of 8" in capsys.readouterr().out
    by_solver = {(r["engine"], r["quantity"], r["mode"]): r for r in rows}
    assert by_solver["linkwork", "exact", "single"]["solved_1e-10"] == 1.0
    assert by_solver["linkwork", "exact", "batch8"]["solved_1e-10"] == 1.0
    with pytest.raises(InputError, match="no case"):
        run(None, True, ("nowhere",))


QUICK = ("run:chains", "run:slide", "run:ant", "run:humanoid")


@pytest.mark.parametrize("family", QUICK)
def test_problems_along_runs_are_those_of_steps(family: str) -> None:
    """They repeat themselves, and are solved to rounding; the bench says which it cannot make."""
    if lacking(family):
        pytest.skip(f"needs {lacking(family)}")
    first = problems(family, 27)  # of two runs
    run_states.cache_clear()
    for p, q in zip(first, problems(family, 2), strict=False):
        assert np.array_equal(p.A, q.A)
        assert np.array_equal(p.b, q.b)
    for p in first:
        assert p.residual(solve(p)[0]) < 1e-8


def test_a_posed_problem_is_that_of_the_step() -> None:
    """Its solution moves a model as `simulate` does."""
    start = scene_start("slide")
    q, v = (x[3] for x in run_states(start, 0, 0)[:2])
    p = pose(start.model, q, v, start.dt)
    assert p is not None
    run = simulate(start.model, State(q, v), start.dt, start.dt, evaluations=0, stabilise="none")
    assert run.forces is not None
    forces = run.forces[1]
    x = solve(p)[0] / start.dt
    np.testing.assert_allclose(np.sort(np.abs(x)), np.sort(np.abs(forces[forces != 0.0])), rtol=1e-8, atol=1e-10)


def test_families_without_their_package_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(contact_solvers, "lacking", lambda family: PACKAGES.get(family.removeprefix("run:"), ""))
    assert contact_solvers.run(None, True, ("run:ant",)) == []
    assert "gymnasium is not installed" in capsys.readouterr().out
    assert sum(map(contact_solvers.count_of, FAMILIES)) >= 2000
    assert set(PACKAGES) <= {name.removeprefix("run:") for name in RUNS}


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


def test_other_solvers_have_a_budget() -> None:
    """At least one problem of every family, from all over it; the default solver has all."""
    given = problems("landing", 30, seed=2)
    some = contact_solvers.in_python(contact_solvers.EXACT["admm"])(given, 0.0)
    assert len(some) == 1
    assert len(contact_solvers.compiled(contact_solvers.solve_cones, 1)(given, np.inf)) == 30
    first = contact_solvers.spread(250)[:5]
    assert sorted(contact_solvers.spread(250)) == list(range(250))
    assert max(first) - min(first) > 150


def test_full_runs_are_for_benchmarks_that_are_cut_short() -> None:
    with pytest.raises(InputError, match="--full is for contact-problems"):
        bench("step", full=True)
    with pytest.raises(InputError, match="without --quick"):
        bench("contact-problems", full=True, quick=True)
