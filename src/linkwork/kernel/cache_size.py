"""How large the folder of compiled objects may grow: what was not used for longest goes first.

`LINKWORK_CACHE_SIZE` says how many bytes it may hold (500M, 2G, ...). The time of a file is when it was last used, to a day:
systems do not all note when files are read. To look takes some microseconds a file, so processes look at most every ten minutes,
and besides whenever they have added a part of what it may hold.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from .cache_folder import folder, warn

SUFFIX, UNFINISHED, LOOKED = ".lwo", "new-", "looked"
USUAL = 1 << 30
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
LATELY, HOUR, SOON = 86400.0, 3600.0, 600.0  # s
LEFT = 0.8  # of what it may hold, after some had to go
PARTS = 32  # a process that has added one of so many parts looks

_added: dict[str, int] = {}  # bytes since the last look, by folder


@dataclass(frozen=True)
class Usage:
    """What a folder of compiled objects holds."""

    folder: Path
    files: int
    size: int
    limit: int
    oldest: float | None  # when the one that was not used for longest was used


def limit() -> int:
    """How many bytes the folder may hold."""
    setting = os.environ.get("LINKWORK_CACHE_SIZE", "").strip().upper()
    if not setting:
        return USUAL
    found = re.fullmatch(r"(\d+)\s*([KMGT]?)I?B?", setting)
    if found is None:
        warn(f"LINKWORK_CACHE_SIZE is {setting!r}; it must be a number of bytes such as 500M or 2G, and is taken as 1G")
        return USUAL
    return int(found[1]) * UNITS[found[2]]


def grow(place: Path, size: int) -> None:
    """A file of this size was added: now and then, look whether the folder is too large."""
    name = str(place)
    first = name not in _added and not _looked_lately(place)
    _added[name] = _added.get(name, 0) + size
    if first or _added[name] > limit() // PARTS:
        _added[name] = 0
        prune(place)


def _looked_lately(place: Path) -> bool:
    try:
        return time.time() - (place / LOOKED).stat().st_mtime < SOON
    except OSError:
        return False


def prune(place: Path) -> None:
    """Remove what was not used for longest if there is too much, and what processes that were killed left unfinished."""
    with contextlib.suppress(OSError):
        (place / LOOKED).touch(mode=0o600)
    objects, unfinished = _files(place)
    for path, info in unfinished:
        if time.time() - info.st_mtime > HOUR:
            _remove(path)
    total, most = sum(info.st_size for _, info in objects), limit()
    if total <= most:
        return
    for path, info in sorted(objects, key=lambda entry: entry[1].st_mtime):
        if total <= LEFT * most:
            return
        _remove(path)
        total -= info.st_size


def usage() -> Usage | None:
    """What the folder holds; None if there is none."""
    place = folder()
    if place is None:
        return None
    objects, _ = _files(place)
    times = [info.st_mtime for _, info in objects]
    return Usage(place, len(objects), sum(info.st_size for _, info in objects), limit(), min(times, default=None))


def clear() -> None:
    """Remove all compiled objects; the secret of the folder stays."""
    place = folder()
    if place is not None:
        for some in _files(place):
            for path, _ in some:
                _remove(path)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # another process was first
        path.unlink()


Found = list[tuple[Path, os.stat_result]]


def _files(place: Path) -> tuple[Found, Found]:
    """Compiled objects, and files that were begun."""
    objects: Found = []
    unfinished: Found = []
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            of = objects if entry.name.endswith(SUFFIX) else unfinished if entry.name.startswith(UNFINISHED) else None
            if of is not None:
                with contextlib.suppress(OSError):
                    of.append((Path(entry.path), entry.stat(follow_symlinks=False)))
    return objects, unfinished
