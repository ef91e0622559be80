"""Files of runs do nothing: whatever they say they are loaded, or refused in one line, and nothing else happens."""

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
from robustness.stored_streams import write_streams
from robustness.watched_streams import Parts, blocks_of, write

import linkwork as lw
from linkwork.store.blocks import HEAD, MAGIC, MARK, digest_of

TESTS = Path(__file__).parent.parent
COUNT = int(os.environ.get("LINKWORK_CHANGED_FILES", "120"))  # a sample; thousands by hand


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_streams(tmp_path_factory.mktemp("streams"))


def test_changed_streams_do_nothing(streams: list[Path]) -> None:
    """No file is written, no socket opened, no process started, nothing else imported; no error but the library's own."""
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "LINKWORK_LEVEL": "0"}
    command = [sys.executable, "-m", "robustness.watched_streams", *map(str, streams), "0", str(COUNT)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500, check=False, cwd=TESTS)
    assert done.returncode == 0, f"ended with {done.returncode} at {done.stderr[-2000:]}"
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == []
    assert found["ends"]["refused"] > COUNT / 4


def head(change: Callable[[dict[str, Any]], None]) -> Callable[[Parts, str], None]:
    return lambda blocks, victim: change(blocks[0][1])


def array(block: int, name: str, a: Any) -> Callable[[Parts, str], None]:
    return lambda blocks, victim: blocks[block][2].update({name: np.asarray(a)})


def writer(blocks: Parts, victim: str) -> None:
    """An argument of the run that a constructor makes, which truncates a file."""
    named = {"named": "linkwork.store.blocks:BlockWriter", "members": [victim, 1]}
    blocks[0][1]["call"]["dict"].append(["extra", named])


def state_of_a_control(blocks: Parts, victim: str) -> None:
    """What a control is said to have remembered, which nobody reads before it is asked to go on."""
    named = {"object": 0, "of": "linkwork.view.session.door:Door", "state": {}}
    blocks[1][1].update(states=["control"], control=named)


ATTACKS: dict[str, tuple[Callable[[Parts, str], None], str]] = {
    "a constructor truncates a file": (writer, "no tuple that files contain"),
    "a state that is an object": (state_of_a_control, "no kind of part that files contain"),
    "another format": (head(lambda text: text.update(format=[1])), "has the format"),
    "no model": (head(lambda text: text.update(model=7)), "run.lwk"),
    "an argument that there is not": (head(lambda text: text["call"]["dict"].append(["file", "x"])), "file"),
    "a step of no length": (head(lambda text: _call(text, "dt", 0.0)), "dt"),
    "more records than memory": (head(lambda text: _call(text, "dt", 1e-15)), "run.lwk"),
    "a duration that is a text": (head(lambda text: _call(text, "duration", "long")), "duration"),
    "records of another size": (array(1, "q", np.zeros((1, 2))), "'q' has blocks of shapes"),
    "a batch that is none": (array(1, "v", np.zeros((3, 1, 9))), "run.lwk"),
    "times that go back": (array(1, "t", [9.0]), "increase"),
    "times of another run": (array(1, "t", [-1.0]), "times are not those"),
    "more times than records": (array(1, "t", np.zeros(7)), "records"),
    "an array that no run has": (array(1, "secret", np.zeros(3)), "have no 'secret'"),
    "counts of clipped efforts of another size": (array(-1, "clipped", np.zeros(2)), "clipped"),
    "a count that is no number": (lambda blocks, victim: blocks[1][1].update(count="1"), "records"),
    "a place beyond the file": (lambda blocks, victim: blocks[1][1].update(record=2**80), "steps"),
}


def _call(text: dict[str, Any], name: str, value: Any) -> None:
    entries = text["call"]["dict"]
    entries[[k for k, _ in entries].index(name)][1] = value


@pytest.mark.parametrize("what", ATTACKS)
def test_what_no_run_says_is_refused_in_one_line(what: str, streams: list[Path], tmp_path: Path) -> None:
    change, words = ATTACKS[what]
    victim, file = tmp_path / "victim", tmp_path / "run.lwk"
    victim.write_text("precious")
    blocks = blocks_of(streams[0])
    change(blocks, str(victim))
    write(file, blocks)
    for read in (lw.Trajectory.load, lambda path: lw.resume(path, elsewhere="allow").v):
        with pytest.raises(lw.LinkworkError) as error:
            read(file)
        assert "\n" not in str(error.value)
    with pytest.raises(lw.LinkworkError, match=words):
        lw.Trajectory.load(file)
    assert victim.read_text() == "precious"


SIZES: list[Any] = [["<f8", [2**31, 2**31], 0], ["<f8", [2**62], 0], ["<f8", [-1], 0], ["|O", [1], 0]]
SIZES += [["<f8", "3", 0], ["<f8", [3], -8]]


@pytest.mark.parametrize("entry", [*SIZES, None])
def test_arrays_that_a_block_does_not_hold_are_not_made(entry: Any, tmp_path: Path) -> None:
    """Neither are arrays that share the bytes of others, of which a small file could hold very many."""
    file = tmp_path / "run.lwk"
    text = {"arrays": {"a": entry}} if entry else {"arrays": {f"a{k}": ["|u1", [1000], 5000] for k in range(9)}}
    body = json.dumps(text).encode().ljust(5000)
    content = len(body).to_bytes(8, "little") + body + bytes(1000)
    file.write_bytes(MAGIC + HEAD.pack(MARK, b"HEAD", len(content), digest_of(MAGIC, b"HEAD", content)) + content)
    with pytest.raises(lw.InputError, match="holds no run"):
        lw.Trajectory.load(file)


def test_a_place_of_other_sizes_is_not_resumed(streams: list[Path], tmp_path: Path) -> None:
    """What a program keeps goes to compiled code: shapes are compared before."""
    file = tmp_path / "run.lwk"
    for change in ({"kept.q": np.zeros((1, 2))}, {"kept.more": np.zeros(3)}, {"kept.v": np.zeros((2, 9), int)}):
        blocks = blocks_of(streams[0])
        blocks[-1][2].update(change)
        write(file, blocks)
        with pytest.raises(lw.InputError, match=r"keep|kept|'q'|'v'"):
            lw.resume(file, elsewhere="allow")


def test_a_stream_that_keeps_less_is_read(streams: list[Path], tmp_path: Path) -> None:
    """As those of versions that remembered less from step to step."""
    file, blocks = tmp_path / "run.lwk", blocks_of(streams[0])
    for _, _, arrays in blocks:
        for name in [n for n in arrays if n.startswith("kept.") and n not in ("kept.q", "kept.v")]:
            del arrays[name]
    write(file, blocks)
    assert lw.Trajectory.load(file).v.tobytes() == lw.Trajectory.load(streams[0]).v.tobytes()
    with pytest.raises(lw.InputError, match="goes on from"):
        lw.resume(file, elsewhere="allow")


def test_what_is_not_changed_goes_on(streams: list[Path], tmp_path: Path) -> None:
    file = tmp_path / "run.lwk"
    write(file, blocks_of(streams[0]))
    assert np.isfinite(lw.resume(file, elsewhere="allow").v).all()
