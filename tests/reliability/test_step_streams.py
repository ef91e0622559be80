"""Steps of a Simulator in a file: they are there after a kill, and `Simulator.resume` goes on to the same bits."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reliability.runs import builder, same, smooth, start, touching, wait_for

import linkwork as lw
from linkwork.streams import writing

MODEL = touching()
STEPS = 60
WAYS: dict[str, dict[str, Any]] = {
    "single": {},
    "batch": {"batch": 3},
    "maximal": {"method": "maximal"},
    "implicit": {"method": "maximal-implicit", "dt": 2e-3},
    "redmax": {"method": "redmax"},
    "one evaluation": {"evaluations": 1},
}


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block for every step."""
    monkeypatch.setattr(writing, "SECONDS", 0.0)


def made(out: Path | None, batch: int = 0, **options: Any) -> lw.Simulator:
    return lw.Simulator(MODEL, start(MODEL, batch), out=out, **options)


def drive(sim: lw.Simulator, first: int, last: int) -> None:
    """Steps with forces that depend on their number alone; some calls make several."""
    for k in range(first, last):
        sim.step(1 + k % 3, tau=np.full(MODEL.nv, 0.1 * np.sin(0.3 * k)))


@pytest.mark.usefixtures("short_parts")
@pytest.mark.parametrize("way", WAYS)
def test_a_simulator_goes_on_from_its_file(tmp_path: Path, way: str) -> None:
    file, cut = tmp_path / "steps.lwk", tmp_path / "cut.lwk"
    alone, sim = made(None, **WAYS[way]), made(file, **WAYS[way])
    drive(alone, 0, STEPS)
    drive(sim, 0, STEPS // 2)
    cut.write_bytes(file.read_bytes()[:-7])  # killed within a write
    drive(sim, STEPS // 2, STEPS)
    sim.close()
    whole = lw.Trajectory.load(file)
    assert len(whole) == STEPS + 1
    again = lw.Simulator.resume(cut)
    count = len(lw.Trajectory.load(cut))
    assert count == STEPS // 2  # of the start and the steps before the one that was cut
    assert again.t == whole.t[count - 1]
    drive(again, count - 1, STEPS)
    again.close()
    assert same(whole, lw.Trajectory.load(cut))
    for name in whole.arrays:
        ends = [np.asarray(getattr(s.state, name)) for s in (alone, sim, again)]
        assert ends[0].tobytes() == ends[1].tobytes() == ends[2].tobytes()
        last = np.take(whole.arrays[name], STEPS, axis=int("batch" in WAYS[way]))
        assert last.tobytes() == ends[0].tobytes()


def test_a_file_of_steps_is_that_of_a_run(tmp_path: Path) -> None:
    """Records, forces of rows, joint forces and health are those of `simulate` with a control that says the same."""
    forces = [np.full(MODEL.nv, 0.1 * np.sin(0.3 * k)) for k in range(STEPS)]
    with made(tmp_path / "steps.lwk") as sim:
        for tau in forces:
            sim.step(tau=tau)
    run = lw.simulate(MODEL, start(MODEL), STEPS * 1e-3, 1e-3, control=lambda t, s: forces[round(t / 1e-3)])
    found = lw.Trajectory.load(tmp_path / "steps.lwk")
    assert same(run, found)
    assert str(run.health) == str(found.health)


def test_inputs_of_forces_stay(tmp_path: Path) -> None:
    model = smooth()
    sims = [lw.Simulator(model, start(model), out=out) for out in (None, tmp_path / "steps.lwk")]
    for sim in sims:
        sim.step(3, inputs=[0.4, 0.2])
        sim.step(2)
    sims[1].flush()
    (tmp_path / "copy.lwk").write_bytes((tmp_path / "steps.lwk").read_bytes())
    again = lw.Simulator.resume(tmp_path / "copy.lwk")
    assert again.step(5).v.tobytes() == sims[0].step(5).v.tobytes()  # type: ignore[union-attr]
    again.close()
    assert lw.Trajectory.load(tmp_path / "copy.lwk").inputs.tolist() == [[0.4, 0.2]] * 4  # type: ignore[union-attr]


def test_efforts_that_were_clipped_are_counted_on(tmp_path: Path) -> None:
    model = builder(effort=1.0).build()
    sim = lw.Simulator(model, out=tmp_path / "steps.lwk")
    sim.step(tau=[5.0, 0.0, 0.0])
    sim.flush()
    (tmp_path / "copy.lwk").write_bytes((tmp_path / "steps.lwk").read_bytes())
    again = lw.Simulator.resume(tmp_path / "copy.lwk")
    again.step(tau=[5.0, 0.0, 0.0])
    assert list(again.clipped.values()) == [2]


KILLED = """
import sys, time
sys.path.insert(0, {folder!r})
from reliability.runs import start, touching
import linkwork as lw
from pathlib import Path
file, model = Path({file!r}), touching()
sim = lw.Simulator.resume(file) if file.exists() else lw.Simulator(model, start(model), out=file)
for k in range(round(sim.t / 1e-3), {steps}):
    sim.step()
    time.sleep(1e-4)
sim.close()
"""


def test_killed(tmp_path: Path) -> None:
    file, steps = tmp_path / "steps.lwk", 4000
    program = KILLED.format(folder=str(Path(__file__).parents[1]), file=str(file), steps=steps)
    sizes = [20_000, 300_000]
    for size in sizes:
        run = subprocess.Popen([sys.executable, "-c", program])
        wait_for(file, size)
        run.send_signal(signal.SIGKILL)
        run.wait()
        assert not lw.Trajectory.load(file).complete  # type: ignore[attr-defined]
    subprocess.run([sys.executable, "-c", program], check=True)
    found = lw.Trajectory.load(file)
    assert len(found) == steps + 1
    assert found.v.tobytes() == lw.simulate(MODEL, start(MODEL), steps * 1e-3, 1e-3).v.tobytes()


def test_what_a_process_leaves_at_its_end(tmp_path: Path) -> None:
    """Nobody closes the file: the last steps are there all the same, and it is not called whole."""
    file = tmp_path / "steps.lwk"
    sim = made(file)
    sim.step(5)
    sim.step(5)
    del sim
    found = lw.Trajectory.load(file)
    assert len(found) == 3
    assert not found.complete  # type: ignore[attr-defined]
    assert any("lw.Simulator.resume continues it" in note for note in found.notes)


def test_a_motion_that_is_lost_ends_the_file(tmp_path: Path) -> None:
    model = builder().build()
    sim = lw.Simulator(model, dt=0.5, out=tmp_path / "steps.lwk")
    sim.step()
    with pytest.raises(lw.SolverError, match="not finite") as lost:
        sim.step(100, tau=np.full(3, 1e300))
    found = lw.Trajectory.load(tmp_path / "steps.lwk")
    assert found.complete  # type: ignore[attr-defined]
    assert any(str(lost.value) in note for note in found.notes)
    assert np.isfinite(found.v).all()
    with pytest.raises(lw.InputError, match=r"steps\.lwk is at its end .*not finite"):
        lw.Simulator.resume(tmp_path / "steps.lwk")
    sim.reset()
    sim.step()


def test_what_is_refused(tmp_path: Path) -> None:
    file, run = tmp_path / "steps.lwk", tmp_path / "run.lwk"
    sim = made(file)
    sim.step()
    with pytest.raises(lw.InputError, match=r"steps\.lwk holds one run; close\(\) this Simulator first"):
        sim.reset()
    with pytest.raises(lw.InputError, match="is being written by another run"):
        lw.Simulator.resume(file)
    sim.flush()
    with pytest.raises(lw.InputError, match=r"lw\.Simulator\.resume\(path\) goes on from there"):
        lw.resume(file)
    with pytest.raises(lw.InputError, match="holds a run that is not at its end"):
        made(file)
    sim.close()
    sim.close()
    sim.step()
    assert len(lw.Trajectory.load(file)) == 2
    lw.simulate(MODEL, start(MODEL), 0.01, out=run)
    with pytest.raises(lw.InputError, match=r"run of simulate; lw\.resume\(path\) continues it"):
        lw.Simulator.resume(run)
    for bad in (tmp_path / "steps.txt", tmp_path / "nowhere" / "steps.lwk"):
        with pytest.raises(lw.InputError):
            made(bad)


def test_copies_write_nothing(tmp_path: Path) -> None:
    sim = made(tmp_path / "steps.lwk")
    sim.step()
    other = pickle.loads(pickle.dumps(sim))
    other.step(4)
    sim.step(4)
    assert isinstance(other.state, lw.State)
    assert isinstance(sim.state, lw.State)
    assert other.state.v.tobytes() == sim.state.v.tobytes()
    sim.close()
    assert len(lw.Trajectory.load(tmp_path / "steps.lwk")) == 3


@pytest.mark.usefixtures("short_parts")
def test_a_folder_that_vanishes(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    sim = made(folder / "steps.lwk")
    (folder / "steps.lwk").unlink()
    folder.rmdir()
    with pytest.raises(lw.WriteError, match=r"steps\.lwk"):
        sim.step()
    assert sim.t == pytest.approx(1e-3)
