"""The folder of compiled objects: it belongs to the user alone, and so does everything in it that is believed.

`LINKWORK_CACHE` names another folder, or `off`. The folder has a secret: 32 random bytes that only its owner can read. Files are
signed with it, so that what was compiled elsewhere, by anybody, is never taken for our own.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
import tempfile
import warnings
from pathlib import Path

SECRET, SIZE = "secret", 32
READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
OTHERS_WRITE, OTHERS = stat.S_IWGRP | stat.S_IWOTH, stat.S_IRWXG | stat.S_IRWXO
TRIES = 3

_known: dict[tuple[str, int, int], bytes] = {}  # secrets that were read, by file and time


def warn(message: str) -> None:
    """Say what is wrong; nothing that is wrong with the cache is an error."""
    warnings.warn(f"linkwork cache: {message}", RuntimeWarning, stacklevel=4)


def folder() -> Path | None:
    """The cache folder, made private, or None if caching is off or the folder is not ours alone."""
    setting = os.environ.get("LINKWORK_CACHE", "")
    if setting == "off":
        return None
    try:
        path = Path(setting).expanduser() if setting else _default()
        info = _made(path)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home
        warn(f"cannot use {setting or 'the default folder'}: {error}")
        return None
    if not is_private(info, OTHERS_WRITE):
        warn(f"{path} is writable by others or not yours; kernels are compiled anew each time. Run: chmod 700 {path}")
        return None
    return path


def _made(path: Path) -> os.stat_result:
    """Of a folder, which is made if it is not there."""
    try:
        info = os.stat(path)
    except FileNotFoundError:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = os.stat(path)
    if not stat.S_ISDIR(info.st_mode):
        raise NotADirectoryError(20, "not a folder")
    return info


def _default() -> Path:
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", "") or Path.home() / ".cache")
    return base / "linkwork"


def is_private(info: os.stat_result, refused: int) -> bool:
    """Whether a file is ours, and others have none of the refused rights; systems without such rights have no such others."""
    return os.name != "posix" or (info.st_uid == os.getuid() and not info.st_mode & refused)


def read_private(file: Path, refused: int) -> tuple[bytes, os.stat_result] | None:
    """What a file of ours holds, which is no link; None if others have rights to it. OSError if it cannot be read."""
    handle = os.open(file, READ)
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode) or not is_private(info, refused):
            return None
        return os.read(handle, info.st_size), info
    finally:
        os.close(handle)


def secret(place: Path) -> bytes | None:
    """The secret of a folder, made when it has none; None where it cannot be kept, and then nothing is believed."""
    file = place / SECRET
    for _ in range(TRIES):
        try:
            info = os.lstat(file)
            key = (str(file), info.st_ino, info.st_mtime_ns)
            if key in _known and is_private(info, OTHERS):
                return _known[key]
            found = read_private(file, OTHERS)
        except FileNotFoundError:
            if not _make(file):
                return None
            continue
        except OSError:  # a link, a folder
            found = None
        if found is not None and len(found[0]) == SIZE:
            _known[str(file), found[1].st_ino, found[1].st_mtime_ns] = found[0]
            return found[0]
        warn(f"{file} is no secret that only you can read; it is made anew, and so are all kernels")
        try:
            file.unlink()
        except OSError:
            return None
    return None


def _make(file: Path) -> bool:
    """Write a secret, whole or not at all; another process may have been first. Whether there is one now."""
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix="new-")  # of mode 600
        try:
            with os.fdopen(handle, "wb") as opened:
                opened.write(secrets.token_bytes(SIZE))
            with contextlib.suppress(FileExistsError):
                os.link(name, file)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError:
        return False
    return True
