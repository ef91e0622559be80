"""Streams hold what a run in memory holds; damage, full disks and folders that vanish lose nothing that was promised."""

from __future__ import annotations

import json
import os
import pickle
import resource
import shutil
import signal
import struct
import tracemalloc
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reliability.runs import builder, same, smooth, start, touching

import linkwork as lw
from linkwork.store.blocks import Block, BlockWriter, read_blocks
from linkwork.streams import writing

MODEL = touching()
MANY = 20 if os.environ.get("LINKWORK_FUZZ") else 1  # times as many examples of damage


@pytest.fixture(autouse=True)
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small blocks, as of a long run."""
    monkeypatch.setattr(writing, "SECONDS", 0.0)
    monkeypatch.setattr(writing, "ROOM", 20_000)


def run(out: Path | None = None, **given: Any) -> lw.Trajectory:
    state = start(MODEL, given.pop("batch", 0))
    return lw.simulate(MODEL, state, **({"duration": 0.2, "dt": 1e-3} | given), out=out)


def test_a_file_appears_with_its_first_block(tmp_path: Path) -> None:
    """So that one whose writer was killed as it began is none, and not one that holds no run."""
    path = tmp_path / "run.lwk"
    killed = BlockWriter(path)
    with pytest.raises(lw.InputError, match="is being written by another run"):
        BlockWriter(path)
    assert not path.exists()
    killed._file.close()  # as a kill leaves it
    writer = BlockWriter(path)
    writer.write("HEAD", {}, {})
    writer.close()
    assert [block.kind for block in read_blocks(path) if isinstance(block, Block)] == ["HEAD"]
    assert os.listdir(tmp_path) == [path.name]
    with pytest.raises(lw.WriteError, match="it exists"):
        BlockWriter(path)
    BlockWriter(tmp_path / "none.lwk").close()
    assert os.listdir(tmp_path) == [path.name]


WAYS: dict[str, dict[str, Any]] = {
    "single": {},
    "batch": {"batch": 3},
    "every": {"every": 10},
    "threads": {"batch": 9, "threads": 2},
    "maximal": {"method": "maximal"},
    "maximal batch": {"method": "maximal", "batch": 2},
    "implicit": {"method": "maximal-implicit", "dt": 2e-3},
    "redmax": {"method": "redmax"},
    "tau": {"tau": np.linspace(-0.1, 0.1, MODEL.nv)},
    "external": {"external": np.full((MODEL.nb, 6), 0.1)},
    "control": {"control": lambda t, s: -0.1 * s.v, "every": 5},
    "control of a batch": {"control": lambda t, s: -0.1 * s.v, "batch": 2},
    "compliant": {"contact": "compliant"},
    "dop853": {"stepper": "dop853", "contact": "frictionless"},
    "dop853 under a control": {"stepper": "dop853", "contact": "off", "control": lambda t, s: -0.1 * s.v + np.sin(9.0 * t)},
    "dop853 with events": {"stepper": "dop853", "contact": "off", "events": [lambda t, s: s.v[0]], "every": 4},
    "ode45 under a control, of a batch": {"stepper": "ode45", "contact": "off", "control": lambda t, s: -0.1 * s.v, "batch": 3},
    "ode45 of a batch": {"stepper": "ode45", "contact": "frictionless", "batch": 2, "tau": np.linspace(-0.1, 0.1, MODEL.nv)},
}


@pytest.mark.parametrize("way", WAYS)
def test_a_stream_holds_what_a_run_in_memory_does(tmp_path: Path, way: str) -> None:
    file = tmp_path / "run.lwk"
    alone, streamed = run(**WAYS[way]), run(file, **WAYS[way])
    loaded = lw.Trajectory.load(file)
    assert same(alone, streamed)
    assert same(alone, loaded)
    assert loaded.kind == alone.kind
    assert loaded.model.nb == MODEL.nb
    before, after = alone.final.memory or {}, loaded.final.memory or {}
    assert all(np.array_equal(before[name], after[name]) for name in before)
    cut(file)
    asked = {name: WAYS[way][name] for name in ("control", "events") if name in WAYS[way]}
    resumed = lw.resume(file, **asked)
    assert same(alone, resumed)
    for other in (streamed, loaded, resumed):
        assert [(e.index, e.t, e.state.q.tobytes()) for e in other.events] == [
            (e.index, e.t, e.state.q.tobytes()) for e in alone.events
        ]


def test_inputs_of_forces(tmp_path: Path) -> None:
    """Constant ones, and a function of time, which must be given again."""
    model = smooth()
    for inputs in (np.array([0.3, 0.1]), lambda t: [0.1 + t, 0.0]):
        file = tmp_path / "run.lwk"
        alone, streamed = (lw.simulate(model, start(model), 0.1, 1e-3, inputs=inputs, out=out) for out in (None, file))
        assert same(alone, streamed)
        assert same(alone, lw.Trajectory.load(file))


def test_fibres_that_move(tmp_path: Path) -> None:
    """A drive has a memory: it is in the file, and reading the file does not need it."""
    b = lw.ModelBuilder().body("mass", joint=lw.Prismatic((0, 0, -1)), inertia=lw.Inertia(5.0, tensor=np.eye(3)))
    path = [("world", (0, 0, 0)), ("mass", (0, 0, 0))]
    model = b.add(lw.FibreMuscle(path, 100.0, 0.2, 0.1, tendon=lw.tendon_curve(0.05))).build()
    state, file = lw.State([0.3], [0.0]), tmp_path / "run.lwk"
    alone, streamed = (lw.simulate(model, state, 0.1, 1e-3, inputs=lw.MuscleDrive(model, [0.5]), out=out) for out in (None, file))
    assert same(alone, streamed)
    cut(file)
    assert same(alone, lw.resume(file, inputs=lw.MuscleDrive(model, [0.5])))


def test_hyper_reduced_coordinates(tmp_path: Path) -> None:
    from linkwork.scenes import ALL_SCENES

    model, state = ALL_SCENES["hyper_chain"].build()
    alone, streamed = (lw.simulate(model, state, 0.05, 1e-3, out=out) for out in (None, tmp_path / "run.lwk"))
    assert same(alone, streamed)
    assert same(alone, lw.Trajectory.load(tmp_path / "run.lwk"))


def test_a_reader_of_twenty_lines(tmp_path: Path) -> None:
    """The reader that docs/reliability/streams.md shows."""
    text = Path(__file__).parents[2].joinpath("docs/reliability/streams.md").read_text()
    program = text.split("```python\n# reader")[1].split("```")[0]
    names: dict[str, Any] = {}
    exec("# reader" + program, names)
    assert len(program.splitlines()) <= 24
    for more in ({}, {"batch": 3}):
        file = tmp_path / f"run{len(more)}.lwk"
        found, alone = names["read"](run(file, **more).path), run(**more)  # type: ignore[attr-defined]
        for name in ("t", "q", "v"):
            assert found[name].tobytes() == (alone.arrays[name] if name != "t" else alone.t).tobytes()


def test_memory_stays_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a run of 25 MB no more is held than a few parts."""
    monkeypatch.setattr(writing, "SECONDS", 0.25)
    monkeypatch.setattr(writing, "ROOM", 1 << 20)
    run(tmp_path / "warm.lwk")
    tracemalloc.start()
    try:
        run(tmp_path / "run.lwk", batch=20, duration=4.0, dt=1e-3)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (tmp_path / "run.lwk").stat().st_size > 2.5e7
    assert most < 1.2e7


def test_a_trajectory_in_a_file_travels(tmp_path: Path) -> None:
    """As all that it holds: the file stays behind."""
    streamed = run(tmp_path / "run.lwk")
    other = pickle.loads(pickle.dumps(streamed))
    (tmp_path / "run.lwk").unlink()
    assert same(run(), other)


def test_an_event_that_ends_a_run(tmp_path: Path) -> None:
    """Its moment is the last record; a stream that lost its last block finds it again."""
    model, file = builder().build(), tmp_path / "run.lwk"

    def turns(t: float, state: Any) -> float:
        return state.v[0]

    turns.terminal = 2  # type: ignore[attr-defined]
    given: dict[str, Any] = {"stepper": "dop853", "events": [turns, lambda t, s: s.v[1]], "max_step": 0.05}
    alone, streamed = (lw.simulate(model, start(model), 2.0, 5e-2, out=out, **given) for out in (None, file))
    assert alone.t[-1] < 2.0
    assert sum(e.index == 0 for e in alone.events) == 2
    assert same(alone, streamed)
    data = file.read_bytes()
    for end in bounds(data)[2::7]:
        file.write_bytes(data[:end])
        resumed = lw.resume(file, events=given["events"])
        assert same(alone, resumed)
        assert [(e.index, e.t) for e in resumed.events] == [(e.index, e.t) for e in alone.events]
    file.write_bytes(data[: bounds(data)[2]])
    with pytest.raises(lw.InputError, match="looked for events; pass the same functions again as events="):
        lw.resume(file)


def test_inputs_of_a_method_that_chooses_its_steps(tmp_path: Path) -> None:
    model, file = smooth(), tmp_path / "run.lwk"
    for inputs in (np.array([0.3, 0.1]), lambda t: [0.1 + t, 0.0]):
        alone, streamed = (
            lw.simulate(model, start(model), 0.2, 1e-2, stepper="ode45", inputs=inputs, out=out) for out in (None, file)
        )
        assert same(alone, streamed)
        data = file.read_bytes()
        file.write_bytes(data[: bounds(data)[-3]])
        assert same(alone, lw.resume(file, **({"inputs": inputs} if callable(inputs) else {})))


def test_a_control_that_raises_leaves_what_can_be_resumed(tmp_path: Path) -> None:
    model, file, most = builder().build(), tmp_path / "run.lwk", [0.1]

    def control(t: float, state: Any) -> np.ndarray:
        if t > most[0]:
            raise RuntimeError("the hand is tired")
        return -0.1 * state.v

    given: dict[str, Any] = {"stepper": "dop853", "max_step": 0.01, "control": control}
    with pytest.raises(RuntimeError, match="tired"):
        lw.simulate(model, start(model), 0.2, 1e-2, out=file, **given)
    most[0] = 1.0
    assert same(lw.simulate(model, start(model), 0.2, 1e-2, **given), lw.resume(file, control=control))


def test_a_method_that_finds_no_step_writes_what_it_found(tmp_path: Path) -> None:
    model, file = builder().build(), tmp_path / "run.lwk"

    def control(t: float, state: Any) -> np.ndarray:
        return np.full(3, 0.0 if t < 0.1 else np.nan)

    with pytest.raises(lw.SolverError, match="no step is short enough") as failed:
        lw.simulate(model, start(model), 0.2, 1e-3, stepper="dop853", max_step=0.01, control=control, out=file)
    found = lw.Trajectory.load(file)
    assert 50 < len(found) <= 101
    assert any(str(failed.value) in note for note in found.notes)
    with pytest.raises(lw.SolverError, match="no step is short enough"):
        lw.resume(file, control=control)


# --- damage -----------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Any, Path]:
    """A finished stream of many blocks, the run in memory, and a folder."""
    folder = tmp_path_factory.mktemp("damage")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "SECONDS", 0.0)
        patch.setattr(writing, "ROOM", 20_000)
        run(folder / "whole.lwk")
    return (folder / "whole.lwk").read_bytes(), run(), folder


def opened(data: bytes, alone: Any, folder: Path) -> int:
    """Open what is left of a stream, and go on from there: how many records are left. Nothing is garbage."""
    file = folder / "damaged.lwk"
    file.write_bytes(data)
    try:
        found = lw.Trajectory.load(file)
    except lw.InputError:
        return 0
    count = len(found)
    assert found.t.tobytes() == alone.t[:count].tobytes()
    for name, a in found.arrays.items():
        assert a.tobytes() == alone.arrays[name][:count].tobytes()
    resumed = lw.resume(file)
    assert same(alone, resumed)
    assert same(alone, lw.Trajectory.load(file))
    return count


def bounds(data: bytes) -> list[int]:
    """Where the blocks of a stream end."""
    at, found = 8, []
    while at < len(data):
        at += 48 + struct.unpack_from("<Q", data, at + 8)[0]
        found.append(at)
    return found


@settings(max_examples=15 * MANY, deadline=None, suppress_health_check=list(HealthCheck))
@given(part=st.floats(0.0, 1.0))
def test_cut_short_anywhere(whole: Any, part: float) -> None:
    data, alone, folder = whole
    size = int(part * len(data))
    records = opened(data[:size], alone, folder)
    blocks = sum(end <= size for end in bounds(data))
    assert (records > 0) == (blocks > 1)  # of every block that is whole the records are there
    if blocks == len(bounds(data)):
        assert records == len(alone)


@settings(max_examples=25 * MANY, deadline=None, suppress_health_check=list(HealthCheck))
@given(part=st.floats(0.0, 1.0), bit=st.integers(0, 7))
def test_a_bit_that_flips(whole: Any, part: float, bit: int) -> None:
    data, alone, folder = whole
    at = min(int(part * len(data)), len(data) - 1)
    broken = bytearray(data)
    broken[at] ^= 1 << bit
    records = opened(bytes(broken), alone, folder)
    before = sum(end <= at for end in bounds(data))
    assert (records > 0) == (before > 1)


@settings(max_examples=25 * MANY, deadline=None, suppress_health_check=list(HealthCheck))
@given(junk=st.binary(max_size=200), keep=st.sampled_from([0, 8, 56, 3000]))
def test_files_of_anything(whole: Any, junk: bytes, keep: int) -> None:
    data, _, folder = whole
    file = folder / "junk.lwk"
    file.write_bytes(data[:keep] + junk)
    with pytest.raises(lw.InputError, match=r"junk\.lwk"):
        lw.Trajectory.load(file)
    with pytest.raises(lw.InputError, match=r"junk\.lwk"):
        lw.resume(file)


def test_a_head_with_a_right_digest_that_says_nonsense(whole: Any) -> None:
    """No class that is not of this package is made, and no function called."""
    data, _, folder = whole
    first = bounds(data)[0]
    (room,) = struct.unpack_from("<Q", data, 8 + 48)
    text = json.loads(data[64 : 64 + room])
    for name in (
        "os:system",
        "linkwork.cli:main",
        "linkwork.nowhere:Model",
        "linkwork.store.objects:__builtins__",
        "builtins:eval",
    ):
        text["model"]["of"] = name
        written = json.dumps(text).encode().ljust(room)
        content = struct.pack("<Q", len(written)) + written + data[64 + room : first]
        kind = data[12:16]
        digest = sha256(b"LWKSTRM1" + kind + struct.pack("<Q", len(content)) + content).digest()
        file = folder / "nonsense.lwk"
        block = struct.pack("<4s4sQ32s", b"LWKB", kind, len(content), digest) + content
        file.write_bytes(b"LWKSTRM1" + block)
        with pytest.raises(lw.InputError):
            lw.resume(file)


# --- disks ------------------------------------------------------------------------------------------------------------------
def test_a_full_disk(tmp_path: Path) -> None:
    """One line says so; what was written opens, and goes on when there is room again."""
    file, alone = tmp_path / "run.lwk", run()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, limits[1]))
    try:
        with pytest.raises(lw.WriteError, match=r"cannot write .*run\.lwk: File too large") as full:
            run(file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert "\n" not in str(full.value)
    kept = full.value.trajectory
    assert 1 < len(kept) < len(alone)
    assert kept.v.tobytes() == alone.v[: len(kept)].tobytes()
    assert same(alone, lw.resume(file))


@pytest.mark.parametrize("suffix", [".npz", ".html", ".png"])
def test_a_full_disk_leaves_no_half_file(tmp_path: Path, suffix: str) -> None:
    alone, file = run(), tmp_path / f"run{suffix}"
    file.write_text("from before")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, limits[1]))
    try:
        with pytest.raises(lw.WriteError, match=f"cannot write .*run\\{suffix}: File too large"):
            alone.save(file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert file.read_text() == "from before"
    assert os.listdir(tmp_path) == [file.name]


def test_a_folder_that_vanishes(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()

    def control(t: float, state: Any) -> np.ndarray:
        if t > 0.1 and folder.exists():
            shutil.rmtree(folder)
        return np.zeros(MODEL.nv)

    with pytest.raises(lw.WriteError, match=r"cannot write .*run\.lwk: No such file or directory"):
        run(folder / "run.lwk", control=control)
    with pytest.raises(lw.LinkworkError, match="there is no folder"):
        run(folder / "run.lwk")
    with pytest.raises(lw.LinkworkError, match="there is no folder"):
        run().save(folder / "run.npz")


def test_a_file_that_is_replaced_while_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "run.lwk"

    def control(t: float, state: Any) -> np.ndarray:
        if t > 0.1 and file.stat().st_size > 3:
            file.unlink()
            file.write_text("new")
        return np.zeros(MODEL.nv)

    with pytest.raises(lw.WriteError, match="another file has taken its place"):
        run(file, control=control)
    assert file.read_text() == "new"


@pytest.mark.parametrize("out", ["/sys/run.lwk", "/proc/run.lwk"])
def test_a_folder_that_cannot_be_written(out: str) -> None:
    if not Path(out).parent.is_dir():
        pytest.skip("no such system")
    with pytest.raises(lw.WriteError, match=f"cannot write {out}: "):
        run(Path(out))
    with pytest.raises(lw.WriteError, match="cannot write"):
        run().save(Path(out).with_suffix(".npz"))


def test_files_that_are_not_lost(tmp_path: Path) -> None:
    other = tmp_path / "thesis.lwk"
    other.write_text("chapter one")
    with pytest.raises(lw.InputError, match="exists and is no stream"):
        run(other)
    assert other.read_text() == "chapter one"
    with pytest.raises(lw.InputError, match=r"out must be a file \.lwk, not 'run\.npz'"):
        run(tmp_path / "run.npz")
    with pytest.raises(lw.InputError, match=r"cannot read .*nothing"):
        lw.Trajectory.load(tmp_path / "nothing.lwk")
    run(tmp_path / "run.lwk")
    assert len(run(tmp_path / "run.lwk", duration=0.01)) == 11  # a run that is at its end is replaced, as by `save`


# --- going on ---------------------------------------------------------------------------------------------------------------
def cut(file: Path, part: float = 0.5) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: int(part * len(data))])


def test_what_must_be_given_again(tmp_path: Path) -> None:
    file, model = tmp_path / "run.lwk", smooth()

    def control(t: float, state: Any) -> np.ndarray:
        return -0.1 * state.v

    alone = lw.simulate(model, start(model), 0.2, 1e-3, control=control, inputs=lambda t: [t, 0.0])
    lw.simulate(model, start(model), 0.2, 1e-3, control=control, inputs=lambda t: [t, 0.0], out=file)
    cut(file)
    with pytest.raises(lw.InputError, match="asked a function for its control; pass the same again as control="):
        lw.resume(file, inputs=lambda t: [t, 0.0])
    with pytest.raises(lw.InputError, match="asked a function for its inputs"):
        lw.resume(file, control=control)
    assert same(alone, lw.resume(file, control=control, inputs=lambda t: [t, 0.0]))
    run(file.with_name("free.lwk"))
    cut(file.with_name("free.lwk"))
    with pytest.raises(lw.InputError, match="asked no function for its control"):
        lw.resume(file.with_name("free.lwk"), control=control)


def test_versions_and_processors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from linkwork.streams import head as module

    file, alone = tmp_path / "run.lwk", run()
    run(file)
    cut(file)
    monkeypatch.setattr(module, "ran_on", lambda: {"linkwork": "9.9"})
    with pytest.raises(lw.InputError, match=r"was begun with linkwork .*, here is 9\.9: its end would not be the same"):
        lw.resume(file)
    assert same(alone, lw.resume(file, elsewhere="allow"))


class Wobbly(lw.Joint):
    """A joint of a user."""

    nq = nv = 1

    def transform(self, q: Any) -> lw.SE3:
        return lw.SE3.rot_y(q[0]) @ lw.SE3(p=(0.0, 0.0, 0.1 * q[0]))


def test_laws_of_classes_that_are_not_ours(tmp_path: Path) -> None:
    """The model is given again, and is the same: its digest says so."""

    def made(mass: float = 1.0) -> lw.Model:
        b = builder()
        b.body("d", parent="c", joint=Wobbly(), inertia=lw.Inertia.sphere(mass, 0.1))
        return b.build()

    file, model, q = tmp_path / "run.lwk", made(), np.zeros(4)
    alone = lw.simulate(model, lw.State(q, q + 0.1), 0.2, 1e-3)
    assert same(alone, lw.simulate(model, lw.State(q, q + 0.1), 0.2, 1e-3, out=file))
    cut(file)
    with pytest.raises(lw.InputError, match=r"does not hold its model .*Wobbly is not part of linkwork.*pass it as model="):
        lw.resume(file)
    with pytest.raises(lw.InputError, match="was written by another model"):
        lw.resume(file, model=made(2.0))
    assert same(alone, lw.resume(file, model=made()))
    assert same(alone, lw.Trajectory.load(file, made()))


def test_a_motion_that_is_lost_is_written_up_to_there(tmp_path: Path) -> None:
    file, state = tmp_path / "run.lwk", lw.State(np.array([0.4, 0.6, -0.5]), np.array([0.0, 1e11, 0.0]))
    model = builder().build()
    with pytest.raises(lw.SolverError, match="not finite at t = ") as alone:
        lw.simulate(model, state, 1.0, 1e-3)
    for attempt in (lambda: lw.simulate(model, state, 1.0, 1e-3, out=file), lambda: lw.resume(file)):
        with pytest.raises(lw.SolverError, match="not finite at t = ") as lost:
            attempt()
        assert str(lost.value) == str(alone.value)
        assert lost.value.trajectory.v.tobytes() == alone.value.trajectory.v.tobytes()
    assert "not finite" in str(lw.Trajectory.load(file).health)
