"""A child process that loads files and tells what they did: python -m robustness.watched_loads seeds first count [simulate]

Every event that Python tells its auditors is looked at while a file is loaded: files opened for writing (but in the cache),
sockets, processes, files removed, imports of what is neither of linkwork, nor of its dependencies, nor of Python.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from robustness.mutations import changed, written

import linkwork as lw
from linkwork.kernel.cache_folder import folder

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
KNOWN = {*sys.stdlib_module_names, "linkwork", "numpy", "scipy", "llvmlite", "coal", "trimesh", "robustness", "models"}
PROCESSES = ("subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "pty.")
FILES = (
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.truncate",
    "os.mkdir",
    "os.chmod",
    "os.chown",
    "os.link",
    "os.symlink",
    "shutil.",
)
NETS = ("socket.", "ftplib.", "urllib.", "http.", "smtplib.", "webbrowser.")
FORBIDDEN = (*PROCESSES, *FILES, *NETS, "pickle.find_class", "code.__new__")


class Watch:
    """What was done since it was last asked, as far as no file may."""

    def __init__(self) -> None:
        self.on, self.seen = False, list[str]()
        self.cache = str(folder() or "-")
        sys.addaudithook(self.look)

    def look(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            path, mode, flags = os.fsdecode(arguments[0]), arguments[1] or "", arguments[2] or 0
            if (set(str(mode)) & set("wax+") or int(flags) & WRITES) and not path.startswith(self.cache):
                self.seen.append(f"open {path} {mode}")
        elif event == "import" and str(arguments[0]).partition(".")[0] not in KNOWN:
            self.seen.append(f"import {arguments[0]}")
        elif event.startswith(FORBIDDEN) and not any(self.cache in str(a) for a in arguments):
            self.seen.append(f"{event} {arguments!r}"[:200])

    def load(self, file: Path) -> tuple[str, str, Any]:
        """How a load ended: "loaded", "refused", or the name of what else was raised; what it did, and the model."""
        self.seen, self.on = [], True
        try:
            model = lw.load(file) if file.suffix == ".lwm" else lw.Trajectory.load(file)
            return "loaded", "", model
        except lw.LinkworkError as error:
            return "refused", str(error), None
        except BaseException as error:
            return type(error).__name__, str(error), None
        finally:
            self.on = False


def simulated(model: Any) -> str:
    """How a few steps of a model that was loaded end."""
    try:
        lw.simulate(model, lw.State(model.neutral(), np.zeros(model.nv)), 3e-3, 1e-3, open_loops="allow")
    except lw.LinkworkError:
        return "refused to run"
    except Exception as error:
        return f"run: {type(error).__name__}: {error}"[:200]
    return "ran"


def main(seeds: list[str], first: int, count: int, runs: bool) -> None:
    """Load so many changed files, beginning with this number; print what came of them."""
    warnings.simplefilter("ignore")
    texts = [json.loads(Path(s).read_text()) for s in seeds]
    watch, ends, wrong = Watch(), Counter[str](), list[str]()
    for seed in seeds:
        watch.load(Path(seed))
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "changed.lwm"
        for number in range(first, first + count):
            try:
                file.write_text(written(changed(texts[number % len(texts)], np.random.default_rng(number))))
            except RecursionError:  # no writer gets so deep
                continue
            if not number % 20:
                gc.collect()  # models hold themselves; under guard every array takes two of 65530 mappings of a process
            print(number, file=sys.stderr, flush=True)  # the last one is that which crashed
            end, words, model = watch.load(file)
            ends[end] += 1
            wrong += [f"{number}: {x}" for x in watch.seen]
            if end not in ("loaded", "refused"):
                wrong.append(f"{number}: {end}: {words[:300]}")
            elif end == "refused" and ("\n" in words or len(words) > 2000):
                wrong.append(f"{number}: {len(words)} letters or more than a line: {words[:200]}")
            if runs and model is not None:
                found = simulated(model)
                ends[found] += 1
                wrong += [f"{number}: {found}"] if found.startswith("run:") else []
    print(json.dumps({"ends": ends, "wrong": wrong}))


if __name__ == "__main__":
    *given, start, many, mode = sys.argv[1:]
    main(given, int(start), int(many), mode == "simulate")
