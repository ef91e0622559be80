"""Compiled objects on disk: what is executed was compiled here.

A file is `magic, signature, length of the header, header (JSON), object code`. The signature is an HMAC-SHA256 of the key and of
all that follows, with the secret of the folder: a file that was changed, cut, renamed, or made on another machine or by another
user does not have it. Such a file, or one that others may write to, is never executed: it is removed and compiled anew, and a
warning says so. Files appear whole, by renaming, so that processes may share the folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from . import cache_size
from .cache_folder import OTHERS_WRITE, folder, read_private, secret, warn

__all__ = ["digest", "folder", "load", "store"]

FAMILY, MAGIC = b"linkwork-object-", b"linkwork-object-2\n"
HEAD = len(MAGIC) + hashlib.sha256().digest_size


def digest(*parts: Any) -> str:
    """A name for what is identified by these parts (by their repr)."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def signature(own: bytes, key: str, body: bytes) -> bytes:
    """What binds a file to its key and to the secret of its folder."""
    return hmac.digest(own, key.encode() + b"\0" + body, "sha256")


def load(key: str) -> tuple[dict[str, Any], bytes] | None:
    """Header and object code stored under a key, or None."""
    place = folder()
    if place is None:
        return None
    file = place / f"{key}{cache_size.SUFFIX}"
    try:
        found = read_private(file, OTHERS_WRITE)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _refuse(file, f"cannot be read ({error.strerror})")
    if found is None:
        return _refuse(file, "is writable by others or not yours")
    data, info = found
    if data[: len(MAGIC)] != MAGIC and data.startswith(FAMILY) and data[len(FAMILY) : len(FAMILY) + 1].isdigit():
        return None  # of another version of linkwork
    own, body = secret(place), data[HEAD:]
    if own is None:
        return None
    if data[: len(MAGIC)] != MAGIC or not hmac.compare_digest(data[len(MAGIC) : HEAD], signature(own, key, body)):
        return _refuse(file, "is damaged, or was not compiled here")
    if time.time() - info.st_mtime > cache_size.LATELY:
        with contextlib.suppress(OSError):
            os.utime(file)  # it is used: see `cache_size`
    length = int.from_bytes(body[:8], "little")
    return json.loads(body[8 : 8 + length]), body[8 + length :]


def _refuse(file: Path, why: str) -> None:
    warn(f"{file.name} {why}; it is removed and compiled anew")
    with contextlib.suppress(OSError):
        file.unlink()


def store(key: str, header: dict[str, Any], obj: bytes) -> None:
    """Keep header and object code under a key; a full disk or a lost race is no error."""
    place = folder()
    own = None if place is None else secret(place)
    if place is None or own is None:
        return
    text = json.dumps(header).encode()
    body = len(text).to_bytes(8, "little") + text + obj
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=place, prefix=cache_size.UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + signature(own, key, body) + body)
            os.replace(name, place / f"{key}{cache_size.SUFFIX}")
        finally:
            Path(name).unlink(missing_ok=True)  # there only if it could not be renamed
        cache_size.grow(place, HEAD + len(body))
