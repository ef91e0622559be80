"""Compiled objects on disk: a private folder, one file per key, its digest checked before anything is executed.

A file is `magic, sha256 of the rest, length of the header, header (JSON), object code`. A file that does not match its
digest is deleted and compiled anew. The folder belongs to the user and nobody else may write there; otherwise it is not
used, and a warning says so. `LINKWORK_CACHE` names another folder, or `off`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

MAGIC = b"linkwork-object-1\n"


def folder() -> Path | None:
    """The cache folder, made private, or None if caching is off or the folder is not ours alone."""
    setting = os.environ.get("LINKWORK_CACHE", "")
    if setting == "off":
        return None
    path = Path(setting) if setting else _default()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = path.stat()
    except OSError as error:
        _warn(f"cannot use {path}: {error}")
        return None
    if os.name == "posix" and (info.st_uid != os.getuid() or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        _warn(f"{path} is writable by others or not yours; kernels are compiled anew each time. Run: chmod 700 {path}")
        return None
    return path


def _default() -> Path:
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", "") or Path.home() / ".cache")
    return base / "linkwork"


def _warn(message: str) -> None:
    warnings.warn(f"linkwork cache: {message}", RuntimeWarning, stacklevel=3)


def digest(*parts: Any) -> str:
    """A name for what is identified by these parts (by their repr)."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def load(key: str) -> tuple[dict[str, Any], bytes] | None:
    """Header and object code stored under a key, or None."""
    path = folder()
    if path is None:
        return None
    file = path / f"{key}.lwo"
    try:
        data = file.read_bytes()
    except OSError:
        return None
    body = data[len(MAGIC) + 32 :]
    if data[: len(MAGIC)] != MAGIC or hashlib.sha256(body).digest() != data[len(MAGIC) : len(MAGIC) + 32]:
        _warn(f"{file.name} is damaged; it is removed and compiled anew")
        with contextlib.suppress(OSError):
            file.unlink()
        return None
    length = int.from_bytes(body[:8], "little")
    return json.loads(body[8 : 8 + length]), body[8 + length :]


def store(key: str, header: dict[str, Any], obj: bytes) -> None:
    """Keep header and object code under a key; a full disk or a lost race is no error."""
    path = folder()
    if path is None:
        return
    text = json.dumps(header).encode()
    body = len(text).to_bytes(8, "little") + text + obj
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=path, prefix="new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(body).digest() + body)
            os.replace(name, path / f"{key}.lwo")
        finally:
            Path(name).unlink(missing_ok=True)  # there only if it could not be renamed
