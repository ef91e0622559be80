"""Runs with forces, a loop and contact that are killed at any moment: they open, and go on to the same end, to the bit."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from reliability.killed import begun, continued
from reliability.runs import heeds_ctrl_c, same, wait_for

import linkwork as lw
from linkwork.store.blocks import Block, read_blocks

SCRIPT = Path(__file__).with_name("killed.py")
LAST_SECOND = 1.0


def started(file: Path, duration: float, kind: str) -> subprocess.Popen[str]:
    """The run in a process of its own, when Python is up."""
    command = [sys.executable, str(SCRIPT), str(file), str(duration), kind]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=heeds_ctrl_c)
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n"
    return run


def lasting(seconds: float, kind: str) -> float:
    """How long a motion keeps one processor busy for some seconds, on the machine at hand."""
    trial = 10.0
    begun(None, trial, kind)  # what is compiled is ready
    start = time.process_time()
    begun(None, trial, kind)
    return round(trial * seconds / (time.process_time() - start))


def killed_again_and_again(file: Path, duration: float, kind: str, kills: int, longest: float) -> int:
    """Kill a run at random moments, each time going on in a new process; how often it was killed before its end."""
    rng, count = random.Random(kind), 0
    for _ in range(kills):
        before = file.stat().st_size if file.exists() else 0
        run = started(file, duration, kind)
        time.sleep(rng.uniform(0.0, longest))
        over = run.poll() is not None
        run.kill()
        at = time.time()
        run.wait()
        if over:
            break
        count += 1
        if file.exists() and file.stat().st_size > before:
            assert_opens(file, at)
    return count


def assert_opens(file: Path, at: float) -> None:
    """What was computed until a second before a moment can be read."""
    if sum(isinstance(block, Block) for block in read_blocks(file)) < 2:
        return  # the head, or less
    crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))  # others that share the processors
    assert at - file.stat().st_mtime < LAST_SECOND * crowd
    assert len(lw.Trajectory.load(file)) >= 1


def whole(file: Path, kind: str, duration: float) -> None:
    """Continue to the end, and compare with a run that nobody killed."""
    resumed = continued(str(file), kind) if file.exists() else begun(str(file), duration, kind)
    alone = begun(None, duration, kind)
    assert same(alone, resumed)
    assert same(alone, lw.Trajectory.load(file))
    assert alone.clipped == resumed.clipped
    assert str(alone.health) == str(resumed.health)


@pytest.mark.parametrize("kind", ["single", "controlled", "rare", "chosen steps"])
def test_killed_a_few_times(tmp_path: Path, kind: str) -> None:
    file, duration = tmp_path / "run.lwk", lasting(1.2, kind)
    assert killed_again_and_again(file, duration, kind, 2, 0.6) > 0
    whole(file, kind, duration)


@pytest.mark.slow
def test_killed_at_twenty_moments(tmp_path: Path) -> None:
    file, duration = tmp_path / "run.lwk", lasting(5.0, "single")
    assert killed_again_and_again(file, duration, "single", 20, 0.25) >= 15
    whole(file, "single", duration)


def processor_time(pid: int) -> float:
    """The seconds that a process has worked: what else the machine does is not its fault."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="tells processor times in /proc")
@pytest.mark.parametrize("kind", ["single", "controlled", "batch"])
def test_ctrl_c_ends_a_run_at_once(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "run.lwk"
    run = started(file, 1e4, kind)
    wait_for(file, 50_000)
    assert run.poll() is None
    at = processor_time(run.pid)
    run.send_signal(signal.SIGINT)
    said, _ = run.communicate(timeout=60.0)
    assert float(said) - at < 0.3
    assert run.returncode not in (0, None)
    assert len(lw.Trajectory.load(file)) > 100


def test_what_ctrl_c_leaves_of_a_run_in_memory() -> None:
    """The signal comes while compiled code runs: the run ends within a piece, and what was computed is in the exception."""
    program = f"""
import os, signal, sys, threading, time
sys.path.insert(0, {str(SCRIPT.parents[1])!r})
from reliability.runs import start, touching
import linkwork as lw
model = touching()
lw.simulate(model, start(model), 0.1, 1e-3)
sent = []
def interrupt():
    time.sleep(0.8)
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    lw.simulate(model, start(model), 1e4, 1e-3)
except KeyboardInterrupt as stop:
    late = time.process_time() - sent[0]
    kept = stop.trajectory
    again = lw.simulate(model, start(model), 1e-3 * (len(kept) - 1), 1e-3)
    print(type(stop).__name__, late < 0.3, len(kept) > 1000, again.v.tobytes() == kept.v.tobytes())
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, preexec_fn=heeds_ctrl_c)
    assert said.stdout.split() == ["RunInterrupted", "True", "True", "True"], said.stderr


def test_a_file_that_is_written_is_not_written_by_another(tmp_path: Path) -> None:
    file = tmp_path / "run.lwk"
    run = started(file, 1e4, "single")
    try:
        wait_for(file, 20_000)
        with pytest.raises(lw.InputError, match="is being written by another run"):
            continued(str(file), "single")
        with pytest.raises(lw.InputError, match=r"not at its end; lw\.resume continues it"):
            begun(str(file), 1.0, "single")
        assert len(lw.Trajectory.load(file)) > 0
    finally:
        run.kill()
        run.wait()
