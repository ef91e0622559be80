"""Compiled objects on disk: private, checked before use, found again, and never a reason to fail."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import itertools
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkwork.cli import main
from linkwork.kernel import cache, cache_folder, cache_size, machine, sources, unit
from linkwork.kernel import driver as driver_module
from linkwork.kernel.host import HOST
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.plan import Plan, variant
from linkwork.kernel.sweep import SCALAR, Algorithm, Field, NodeClass, Tree, each

SCALAR64 = Lanes(1)
NAMES = (f"test_cache_{k}" for k in itertools.count())
POSIX = pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")


def scale(n: Any) -> None:
    n.y = n.x * 3.0


def algorithm(name: str) -> Algorithm:
    return Algorithm(name, {"x": Field("input", "node", SCALAR), "y": Field("output", "node", SCALAR)}, {"run": [each(scale)]})


def run(name: str, t: Lanes = SCALAR64, signature: tuple[Any, ...] = ("c",), parents: tuple[int, ...] = (-1,)) -> list[float]:
    """Three times 2.0 and so on, by a plan made anew."""
    n = len(parents)
    tree = Tree(np.array(parents), [NodeClass(signature)] * n, [{}] * n)
    plan = Plan(algorithm(name), tree, variant(t, ("run",)))
    out = np.empty((1, n), t.dtype)
    plan.run({"x": np.arange(2.0, 2.0 + n, dtype=t.dtype)}, {"y": out}, 1)
    return out[0].tolist()


class Compiler:
    """Counts what is compiled; `forget` stands for a new process: nothing is loaded any more."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.count, self._patch, self._compile = 0, patch, machine.compile_object
        patch.setattr(machine, "compile_object", self)
        self.forget()

    def __call__(self, ir: str, patient: bool = False) -> bytes:
        self.count += 1
        return self._compile(ir, patient)

    def forget(self) -> None:
        self._patch.setattr(HOST, "units", {})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache"
    monkeypatch.setenv("LINKWORK_CACHE", str(path))
    return path


@pytest.fixture
def compiler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    for t in (Lanes(1), Lanes(4)):
        driver_module.driver(t)  # compiled once per process: not what is counted here
    for file in folder.glob("*"):
        file.unlink()
    return Compiler(monkeypatch)


def objects(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.lwo"))


# --- finding again --------------------------------------------------------------------------------------------------------
def test_a_unit_is_compiled_once_and_then_loaded(folder: Path, compiler: Compiler) -> None:
    name = next(NAMES)
    assert run(name) == [6.0]
    assert (compiler.count, len(objects(folder))) == (1, 1)
    run(name)
    assert compiler.count == 1  # still in memory
    compiler.forget()
    assert run(name) == [6.0]
    assert (compiler.count, len(objects(folder))) == (1, 1)  # from disk


def test_a_file_serves_other_trees_of_the_same_class(folder: Path, compiler: Compiler) -> None:
    """Positions are compiled apart; the number of nodes is not compiled in."""
    name = next(NAMES)
    run(name, parents=(-1, 0, 1))
    assert compiler.count == len(objects(folder)) == 3  # root, middle, leaf
    compiler.forget()
    assert run(name, parents=(-1, 0, 1, 2, 3, -1, 5)) == [3.0 * x for x in range(2, 9)]
    assert compiler.count == 3


SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
import test_cache
from linkwork.kernel import machine
compiled = []
original = machine.compile_object
machine.compile_object = lambda ir, patient=False: compiled.append(ir) or original(ir, patient)
print(test_cache.run("test_cache_script"), len(compiled))
"""


def test_a_second_process_compiles_nothing(folder: Path) -> None:
    """Neither the kernels nor the driver."""
    script = SCRIPT.format(folder=str(Path(__file__).parent))
    said = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split("]")
        for _ in range(2)
    ]
    assert said == [["[6.0", " 2\n"], ["[6.0", " 0\n"]]


def test_the_driver_is_kept_too(folder: Path, compiler: Compiler) -> None:
    for _ in range(2):
        driver_module.Driver(Lanes(4))
    assert (compiler.count, len(objects(folder))) == (1, 1)


KEYS: dict[str, Callable[[str], Any]] = {
    "name": lambda name: run(name + "_other"),
    "signature": lambda name: run(name, signature=("d",)),
    "longer signature": lambda name: run(name, signature=("c", ("c",))),
    "width": lambda name: run(name, Lanes(4)),
    "precision": lambda name: run(name, Lanes(1, single=True)),
    "position": lambda name: run(name, parents=(-1, 0)),
}


@pytest.mark.parametrize("what", KEYS)
def test_the_key_depends_on(what: str, folder: Path, compiler: Compiler) -> None:
    name = next(NAMES)
    driver_module.driver(Lanes(1, single=True))
    for file in objects(folder):
        file.unlink()
    compiler.count = 0
    run(name)
    before = set(objects(folder))
    KEYS[what](name)
    assert compiler.count > 1
    assert before < set(objects(folder))


@pytest.mark.parametrize("what", ["uniform", "absent", "machine", "sources"])
def test_the_key_depends_on_the_variant_and_the_surroundings(
    what: str, folder: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, c, position = algorithm(next(NAMES)), NodeClass(("c",)), unit.Position(True, True, False)
    variants = {"uniform": variant(Lanes(1), ("run",), (), ("x",)), "absent": variant(Lanes(1), ("run",), ("x",))}
    plain = variant(Lanes(1), ("run",))
    unit.unit(a, c, position, plain, HOST)
    if what == "machine":
        monkeypatch.setattr(machine, "description", lambda: "another machine")
    if what == "sources":
        monkeypatch.setattr(sources, "digest", lambda modules: "other sources")
    unit.unit(a, c, position, variants.get(what, plain), HOST)
    assert compiler.count == len(objects(folder)) == 2


def test_parts_of_a_key_cannot_run_into_one_another() -> None:
    keys = [
        cache.digest(*parts)
        for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("a", "b", "c"), (("a", "b"), "c"), (1, 2), ("12",))
    ]
    assert len(set(keys)) == len(keys)
    assert cache.digest("a", 1) == cache.digest("a", 1)
    assert all(len(k) == 64 and k.isalnum() for k in keys)


# --- the folder -----------------------------------------------------------------------------------------------------------
@POSIX
def test_the_folder_is_made_for_its_user_alone(folder: Path) -> None:
    before = os.umask(0)
    try:
        assert cache.folder() == folder
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@POSIX
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o722])
def test_a_folder_that_others_may_write_to_is_not_used(mode: int, folder: Path, compiler: Compiler) -> None:
    name = next(NAMES)
    run(name)
    assert len(objects(folder)) == 1
    folder.chmod(mode)
    compiler.forget()
    with pytest.warns(RuntimeWarning, match=f"linkwork cache: .*writable by others.*chmod 700 {folder}"):
        assert run(name) == [6.0]
    assert compiler.count == 2  # what lies there is not trusted
    assert len(objects(folder)) == 1  # nor is anything added
    folder.chmod(0o755)
    compiler.forget()
    run(name)
    assert compiler.count == 2


@POSIX
def test_a_folder_of_somebody_else_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(mode=0o700)
    owner = folder.stat().st_uid
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    with pytest.warns(RuntimeWarning, match="not yours"):
        assert cache.folder() is None


def test_off_means_off(folder: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWORK_CACHE", "off")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.folder() is None
        name = next(NAMES)
        run(name)
        compiler.forget()
        run(name)
    assert compiler.count == 2
    assert not objects(folder)
    assert not Path("off").exists()


def test_a_home_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` is what the shell takes it for, also where no shell has seen it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LINKWORK_CACHE", "~/kernels")
    cache.store("key", {}, b"code")
    assert (tmp_path / "kernels" / "key.lwo").exists()
    assert not Path("~").exists()
    monkeypatch.setenv("LINKWORK_CACHE", "~nobody-of-this-name/kernels")
    with pytest.warns(RuntimeWarning, match="cannot use ~nobody"):
        assert cache.load("key") is None


def test_a_folder_that_cannot_be_made_is_told(folder: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = folder.parent / "file"
    blocked.write_text("")
    for path in (blocked, blocked / "inner"):
        monkeypatch.setenv("LINKWORK_CACHE", str(path))
        compiler.forget()
        with pytest.warns(RuntimeWarning, match=f"linkwork cache: cannot use {path}"):
            assert run(next(NAMES)) == [6.0]
    assert compiler.count == 2


DEFAULTS: dict[str, tuple[str, dict[str, str], tuple[str, ...]]] = {
    "linux": ("linux", {}, (".cache", "linkwork")),
    "linux, empty setting": ("linux", {"XDG_CACHE_HOME": ""}, (".cache", "linkwork")),
    "linux, other cache": ("linux", {"XDG_CACHE_HOME": "{home}/elsewhere"}, ("elsewhere", "linkwork")),
    "mac": ("darwin", {}, ("Library", "Caches", "linkwork")),
    "windows": ("win32", {"LOCALAPPDATA": "{home}/local"}, ("local", "linkwork")),
    "windows, no setting": ("win32", {}, ("linkwork",)),
}


@pytest.mark.parametrize("case", DEFAULTS)
def test_default_places(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    platform, settings, parts = DEFAULTS[case]
    for name in ("LINKWORK_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value.format(home=tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cache.folder() == tmp_path.joinpath(*parts)
    assert tmp_path.joinpath(*parts).is_dir()


# --- files ----------------------------------------------------------------------------------------------------------------
def test_what_is_stored_is_loaded(folder: Path) -> None:
    header = {"operands": [[["x", "own"]]], "private": {"run": 3}, "flops": [1]}
    cache.store("key", header, b"\0object\xff")
    assert cache.load("key") == (header, b"\0object\xff")
    assert cache.load("other") is None
    cache.store("key", {}, b"")
    assert cache.load("key") == ({}, b"")


def test_a_file_is_what_its_text_says(folder: Path) -> None:
    cache.store("key", {"a": 1}, b"code")
    data = (folder / "key.lwo").read_bytes()
    magic, signed, body = data[: len(cache.MAGIC)], data[len(cache.MAGIC) :][:32], data[len(cache.MAGIC) + 32 :]
    assert magic == cache.MAGIC
    assert signed == hmac.new((folder / "secret").read_bytes(), b"key\0" + body, hashlib.sha256).digest()
    length = int.from_bytes(body[:8], "little")
    assert json.loads(body[8 : 8 + length]) == {"a": 1}
    assert body[8 + length :] == b"code"


@POSIX
def test_files_are_private(folder: Path) -> None:
    cache.store("key", {}, b"code")
    assert stat.S_IMODE((folder / "key.lwo").stat().st_mode) == 0o600


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "short": lambda data: data[:20],
    "cut": lambda data: data[:-1],
    "longer": lambda data: data + b"\0",
    "magic": lambda data: flipped(data, 3),
    "digest": lambda data: flipped(data, len(cache.MAGIC) + 5),
    "length": lambda data: flipped(data, len(cache.MAGIC) + 32),
    "code": lambda data: flipped(data, len(data) - 40),
    "other file": lambda data: b"something else entirely" * 10,
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_removed_and_compiled_anew(kind: str, folder: Path, compiler: Compiler) -> None:
    name = next(NAMES)
    run(name)
    (file,) = objects(folder)
    good = file.read_bytes()
    file.write_bytes(DAMAGE[kind](good))
    compiler.forget()
    with pytest.warns(
        RuntimeWarning, match=f"linkwork cache: {file.name} is damaged, or was not compiled here; it is removed and compiled anew"
    ):
        assert run(name) == [6.0]
    assert compiler.count == 2
    assert file.read_bytes() == good
    file.write_bytes(DAMAGE[kind](good))
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert cache.load(file.stem) is None
    assert not file.exists()


def test_replacement_is_atomic(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file under its final name is complete: it was written under another and then renamed."""
    seen: list[tuple[Path, Path, bool]] = []
    replace = os.replace

    def watched(source: Any, target: Any) -> None:
        written = Path(source).read_bytes()
        body = written[len(cache.MAGIC) + 32 :]
        own = (folder / "secret").read_bytes()
        complete = cache.signature(own, "key", body) == written[len(cache.MAGIC) :][:32] and body.endswith(b"code")
        seen.append((Path(source), Path(target), complete))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watched)
    cache.store("key", {}, b"old code")
    cache.store("key", {}, b"new code")
    assert [(target, complete) for _, target, complete in seen] == [(folder / "key.lwo", True)] * 2
    assert {source.parent for source, _, _ in seen} == {folder}  # the same file system
    assert all(source.name.startswith("new-") for source, _, _ in seen)
    assert cache.load("key") == ({}, b"new code")
    assert sorted(file.name for file in folder.iterdir()) == ["key.lwo", "looked", "secret"]


def test_readers_never_see_half_a_file(folder: Path) -> None:
    codes = [bytes([k]) * 50000 for k in range(2)]
    cache.store("key", {}, codes[0])
    stop = threading.Event()

    def write() -> None:
        for code in itertools.cycle(codes):
            cache.store("key", {}, code)
            if stop.is_set():
                return

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = [cache.load("key") for _ in range(100)]
    finally:
        stop.set()
        writer.join()
    assert all(f is not None and f[1] in codes for f in found)


@pytest.mark.parametrize("failing", ["replace", "fdopen"])
def test_a_full_disk_is_no_error(failing: str, folder: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, full)
    name = next(NAMES)
    assert run(name) == [6.0]
    assert compiler.count == 1
    assert not [file for file in folder.iterdir() if file.name != "secret"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_nothing_is_left_of_a_file_half_written(
    error: type[BaseException], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        assert len(list(folder.iterdir())) == 2
        raise error

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt) if error is KeyboardInterrupt else contextlib.nullcontext():
        cache.store("key", {}, b"code")
    assert [file.name for file in folder.iterdir()] == ["secret"]


def test_a_file_that_cannot_be_removed_is_no_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.store("key", {}, b"code")
    (folder / "key.lwo").write_bytes(b"damaged")

    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert cache.load("key") is None


# --- what is executed was compiled here -----------------------------------------------------------------------------------
def copied_elsewhere(folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A file of the same key and code, made by the same program in another folder: whole, and foreign."""
    other = folder.parent / "other"
    header, code = cache.load(file.stem) or ({}, b"")
    monkeypatch.setenv("LINKWORK_CACHE", str(other))
    cache.store(file.stem, header, code)
    monkeypatch.setenv("LINKWORK_CACHE", str(folder))
    return (other / file.name).read_bytes()


def test_a_file_of_another_folder_is_not_run(folder: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(NAMES)
    run(name)
    (file,) = objects(folder)
    own, foreign = file.read_bytes(), copied_elsewhere(folder, file, monkeypatch)
    assert own[len(cache.MAGIC) + 32 :] == foreign[len(cache.MAGIC) + 32 :]  # the same body
    file.write_bytes(foreign)
    compiler.forget()
    with pytest.warns(RuntimeWarning, match="was not compiled here; it is removed and compiled anew"):
        assert run(name) == [6.0]
    assert compiler.count == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiler.forget()
        assert run(name) == [6.0]  # told once, not at every start
    assert compiler.count == 2


def test_a_file_under_another_name_is_not_run(folder: Path, compiler: Compiler) -> None:
    """Two files of ours that have changed places: each is signed for its key."""
    names = [next(NAMES) for _ in range(2)]
    for k, name in enumerate(names):
        run(name, signature=(k,))
    first, second = objects(folder)
    a, b = first.read_bytes(), second.read_bytes()
    first.write_bytes(b)
    second.write_bytes(a)
    compiler.forget()
    for k, name in enumerate(names):
        with pytest.warns(RuntimeWarning, match="was not compiled here"):
            assert run(name, signature=(k,)) == [6.0]
    assert compiler.count == 4


def test_a_file_that_is_signed_without_the_secret_is_not_run(folder: Path) -> None:
    """Whoever knows the format but not the secret cannot make a file that is believed."""
    cache.store("key", {}, b"code")
    for own in (b"", b"guess", bytes(32)):
        body = (2).to_bytes(8, "little") + b"{}" + b"evil"
        (folder / "key.lwo").write_bytes(cache.MAGIC + cache.signature(own, "key", body) + body)
        with pytest.warns(RuntimeWarning, match="was not compiled here"):
            assert cache.load("key") is None


def test_a_file_of_another_version_is_passed_over_in_silence(folder: Path) -> None:
    cache.store("key", {}, b"code")
    (folder / "key.lwo").write_bytes(b"linkwork-object-1\n" + bytes(100))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.load("key") is None
        cache.store("key", {}, b"new")
        assert cache.load("key") == ({}, b"new")


@POSIX
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_to_is_not_run(mode: int, folder: Path) -> None:
    cache.store("key", {}, b"code")
    (folder / "key.lwo").chmod(mode)
    with pytest.warns(RuntimeWarning, match="key.lwo is writable by others or not yours; it is removed"):
        assert cache.load("key") is None
    assert not (folder / "key.lwo").exists()


@POSIX
def test_a_link_is_not_followed(folder: Path) -> None:
    cache.store("key", {}, b"code")
    moved = folder.parent / "elsewhere"
    (folder / "key.lwo").rename(moved)
    (folder / "key.lwo").symlink_to(moved)
    with pytest.warns(RuntimeWarning, match=r"key.lwo cannot be read"):
        assert cache.load("key") is None
    assert moved.exists()


@POSIX
def test_a_file_of_somebody_else_is_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.store("key", {}, b"code")
    fstat, wrong = os.fstat, (folder / "key.lwo").stat().st_ino

    def foreign(handle: int) -> os.stat_result:
        info = fstat(handle)
        return os.stat_result((*info[:4], info.st_uid + 1, *info[5:])) if info.st_ino == wrong else info

    monkeypatch.setattr(os, "fstat", foreign)
    with pytest.warns(RuntimeWarning, match="not yours"):
        assert cache.load("key") is None


@POSIX
def test_the_secret_is_private(folder: Path) -> None:
    before = os.umask(0)
    try:
        cache.store("key", {}, b"code")
    finally:
        os.umask(before)
    info = (folder / "secret").stat()
    assert stat.S_IMODE(info.st_mode) == 0o600
    assert info.st_size == 32
    (folder.parent / "b").mkdir(mode=0o700)
    assert cache_folder.secret(folder.parent / "b") != cache_folder.secret(folder)


SPOILT: dict[str, Callable[[Path], Any]] = {
    "readable by others": lambda file: file.chmod(0o640),
    "short": lambda file: file.write_bytes(bytes(31)),
    "long": lambda file: file.write_bytes(bytes(33)),
    "empty": lambda file: file.write_bytes(b""),
    "link": lambda file: (file.rename(file.with_name("moved")), file.symlink_to(file.with_name("moved"))),
}


@POSIX
@pytest.mark.parametrize("what", SPOILT)
def test_a_secret_that_is_none_is_made_anew(what: str, folder: Path, compiler: Compiler) -> None:
    name = next(NAMES)
    run(name)
    SPOILT[what](folder / "secret")
    compiler.forget()
    with pytest.warns(RuntimeWarning) as told:
        assert run(name) == [6.0]
    messages = [str(w.message) for w in told]
    assert any("no secret that only you can read" in m for m in messages)
    assert any("was not compiled here" in m for m in messages)
    compiler.forget()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(name) == [6.0]
    assert compiler.count == 2


@POSIX
def test_a_folder_that_cannot_be_written_to_is_read(folder: Path, compiler: Compiler) -> None:
    name = next(NAMES)
    run(name)
    folder.chmod(0o500)
    compiler.forget()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert run(name) == [6.0]
    finally:
        folder.chmod(0o700)
    assert compiler.count == 1


# --- many processes ----------------------------------------------------------------------------------------------------------
TOGETHER = """
import sys, warnings
warnings.simplefilter("error")
sys.path.insert(0, {folder!r})
import test_cache
for k in range(12):
    assert test_cache.run(f"test_cache_shared_{{k}}") == [6.0]
"""


def test_processes_that_start_together_share_a_folder(folder: Path) -> None:
    """All of them find no secret, make one, and compile the same kernels: none sees a file that is not whole or not signed."""
    script = TOGETHER.format(folder=str(Path(__file__).parent))
    together = [subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [(p.communicate(timeout=120)[1], p.returncode) for p in together] == [("", 0)] * 4
    assert not list(folder.glob("new-*"))


def test_a_folder_that_vanishes_is_no_error(folder: Path, compiler: Compiler) -> None:
    name = next(NAMES)
    run(name)
    shutil.rmtree(folder)
    compiler.forget()
    assert run(name) == [6.0]
    compiler.forget()
    assert run(name) == [6.0]
    assert compiler.count == 2


# --- how large it may grow ------------------------------------------------------------------------------------------------
def fill(folder: Path, count: int, size: int = 1000) -> None:
    for k in range(count):
        cache.store(f"key{k}", {}, bytes(size))
        os.utime(folder / f"key{k}.lwo", (1e9 + k, 1e9 + k))


def test_what_was_not_used_for_longest_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(folder, 20)
    assert cache.load("key3") is not None  # used now
    monkeypatch.setenv("LINKWORK_CACHE_SIZE", "10K")
    cache.store("last", {}, bytes(1000))
    left = {file.stem for file in objects(folder)}
    assert sum(file.stat().st_size for file in objects(folder)) <= 10240
    assert left == {"key3", "last", *(f"key{k}" for k in range(15, 20))}


def test_the_folder_stays_small_however_much_is_stored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWORK_CACHE_SIZE", "100K")
    for k in range(300):
        cache.store(f"key{k}", {}, bytes(2000))
        assert sum(file.stat().st_size for file in objects(folder)) <= 110 * 1024


def test_processes_do_not_look_again_and_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Path] = []
    monkeypatch.setattr(cache_size, "prune", lambda place: looks.append(place) or (place / "looked").touch())
    for _ in range(3):
        monkeypatch.setattr(cache_size, "_added", {})  # as in a new process
        fill(folder, 5)
    assert len(looks) == 1


def test_what_killed_processes_left_goes(folder: Path) -> None:
    cache.store("key", {}, b"code")
    old, new = folder / "new-old", folder / "new-new"
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (1e9, 1e9))
    cache_size.prune(folder)
    assert (old.exists(), new.exists(), cache.load("key") is not None) == (False, True, True)


SIZES = {"": 1 << 30, "1000": 1000, "10k": 10240, "500M": 500 << 20, "2 GiB": 2 << 30, "1T": 1 << 40}


@pytest.mark.parametrize("text", SIZES)
def test_sizes_are_read(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWORK_CACHE_SIZE", text)
    assert cache_size.limit() == SIZES[text]


@pytest.mark.parametrize("text", ["much", "-1", "1.5G", "G", "1e9"])
def test_sizes_that_are_none_are_told(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWORK_CACHE_SIZE", text)
    with pytest.warns(RuntimeWarning, match="LINKWORK_CACHE_SIZE is .* must be a number of bytes such as 500M"):
        assert cache_size.limit() == 1 << 30


def test_the_command_shows_and_clears(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def said(*arguments: str) -> str:
        with pytest.raises(SystemExit) as end:
            main(["cache", *arguments])
        assert not end.value.code
        return capsys.readouterr().out

    fill(folder, 3, 100_000)
    assert f"{folder}: 3 compiled objects, 0.3 MiB of at most 1024.0 MiB" in said()
    assert "since 2001-09-0" in said()
    assert f"{folder}: removed 3 compiled objects, 0.3 MiB" in said("--clear")
    assert not objects(folder)
    assert (folder / "secret").exists()
    assert "0 compiled objects" in said()
    monkeypatch.setenv("LINKWORK_CACHE", "off")
    assert "not kept" in said()


# --- whatever lies there ----------------------------------------------------------------------------------------------------
@given(cuts=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 3), st.binary(max_size=9)), min_size=1, max_size=4))
@settings(
    max_examples=4000 if os.environ.get("LINKWORK_FUZZ") else 200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_mutated_file_is_whole_or_refused(cuts: list[tuple[int, int, bytes]], folder: Path) -> None:
    cache.store("key", {"a": [1, 2]}, b"object code" * 20)
    good = data = (folder / "key.lwo").read_bytes()
    for at, kind, new in cuts:
        end = (at, at + len(new), at + 1, len(data))[kind]  # insert, replace, change one, cut
        data = data[:at] + new + data[end:]
    (folder / "key.lwo").write_bytes(data)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = cache.load("key")
    assert (found == ({"a": [1, 2]}, b"object code" * 20)) == (data == good)
    assert (found is None) == (data != good)
    other_version = data.startswith(b"linkwork-object-") and not data.startswith(cache.MAGIC)
    assert len(told) == (data != good and not (other_version and data[16:17].isdigit()))
