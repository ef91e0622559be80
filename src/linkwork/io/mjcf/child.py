"""A large MJCF file is read in a process of its own, with a budget of time and memory."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ...errors import InputError, LinkworkError, ModelError
from ...model import Model
from ..options import Options
from .sizes import Sizes

CODE = "from linkwork.io.mjcf.child import main; main()"
GIB = 2**30


def check_memory(file: str, sizes: Sizes, options: Options) -> None:
    """Raise for a file that cannot be compiled with the memory of its budget."""
    _, memory = options.budget
    if sizes.bytes > memory * GIB:
        raise InputError(f"load: {_of(file, sizes)} needs at least {sizes.bytes / GIB:.3g} GiB; {_rule(options)}")


def read_apart(path: Path, sizes: Sizes, options: Options) -> Model:
    """The model of a file, read in another process; an error if that takes longer or more memory than its budget."""
    seconds, _ = options.budget
    path_of_modules = os.pathsep.join(p for p in (str(Path(__file__).parents[3]), *sys.path) if p)
    task = pickle.dumps((path.absolute(), replace(options, ground=False)))
    try:
        done = subprocess.run(
            [sys.executable, "-c", CODE],
            input=task,
            capture_output=True,
            timeout=seconds,
            env={**os.environ, "PYTHONPATH": path_of_modules, "LINKWORK_GUARD": ""},
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"load: {_of(path.name, sizes)} takes more than {seconds:g} s; {_rule(options)}") from None
    try:
        kind, found = pickle.loads(done.stdout)
    except Exception:  # it ended before it answered
        ending = "it ran out of memory" if done.returncode > 0 else "the process that read it was ended by a signal"
        raise InputError(f"load: {_of(path.name, sizes)} cannot be read: {ending}; {_rule(options)}") from None
    if kind == "model":
        return found
    if kind == "memory":
        raise InputError(f"load: {_of(path.name, sizes)} takes too much memory; {_rule(options)}")
    raise (ModelError if kind == "ModelError" else InputError)(found)


def main() -> None:
    """Read the file that stdin names, and write the model, or what is wrong, to stdout."""
    from . import read_here

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what MuJoCo prints is no answer
    path, options = pickle.loads(sys.stdin.buffer.read())
    with suppress(ImportError):
        import mujoco  # noqa: F401  # before memory is limited
    _limit(*options.budget)
    try:
        answer: tuple[str, object] = "model", read_here(path, options)
        text = pickle.dumps(answer)
    except LinkworkError as error:
        no_room = "allocate memory" in str(error)
        text = pickle.dumps(("memory" if no_room else type(error).__name__, str(error)))
    except MemoryError:
        text = pickle.dumps(("memory", ""))
    answers.write(text)
    answers.close()


def _limit(seconds: float, memory: float) -> None:
    """Let this process take no more time and memory than this, where the system can: the clock of who waits holds anyway."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 10, int(seconds) + 10))
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        most = taken + int(memory * GIB)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _of(file: str, sizes: Sizes) -> str:
    """What is large in a file."""
    return f"{file}: {sizes.long or sizes.largest}{f', with others {sizes.elements:.3g} elements' * (not sizes.long)}"


def _rule(options: Options) -> str:
    seconds, memory = options.budget
    return f"a file may take {seconds:g} s and {memory:g} GiB; make it smaller, or allow more by load(..., budget=(seconds, GiB))"
