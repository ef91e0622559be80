"""Files of blocks: each says how long it is and has a digest, so that a file that was cut short anywhere opens up to there.

    file     MAGIC, then blocks
    block    "LWKB", its kind (4 letters), the length of its content (64 bits), the SHA-256 of (digest of the block before, kind,
             length, content), 32 bytes; then the content
    content  the length of a text (64 bits), the text (JSON, filled up with spaces to a multiple of 8), then arrays, row by row,
             each from a multiple of 8 on. `text["arrays"][name]` is [dtype, shape, where in the content it begins]

All numbers are little-endian. As the digest of every block holds that of the one before, blocks cannot be left out, changed or
put elsewhere without notice.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import InputError, WriteError

MAGIC = b"LWKSTRM1"
MARK = b"LWKB"
NEW = ".new"
HEAD = struct.Struct("<4s4sQ32s")
LARGEST = 1 << 40  # bytes of a block: what claims to be larger is no block
KINDS = {"f": "<f8", "i": "<i8", "u": "|u1", "b": "|b1"}


@dataclass(frozen=True)
class Block:
    """A block of a file: its kind, what its text says, and its arrays.

    begin, end   where it lies in the file
    """

    kind: str
    text: dict[str, Any]
    arrays: dict[str, np.ndarray]
    begin: int
    end: int
    digest: bytes


def packed(text: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """The content of a block."""
    given = {name: stored(a) for name, a in arrays.items()}
    places, at = {}, 0
    for name, a in given.items():
        places[name] = [a.dtype.str, list(a.shape), at]
        at += -(-a.nbytes // 8) * 8
    blank = json.dumps({**text, "arrays": {n: [d, s, 0] for n, (d, s, _) in places.items()}}, separators=(",", ":"))
    room = -(-(len(blank.encode()) + 20 * len(places) + 8) // 8) * 8  # for the text: offsets have at most 20 digits
    shifted = {name: [d, s, at + 8 + room] for name, (d, s, at) in places.items()}
    written = json.dumps({**text, "arrays": shifted}, separators=(",", ":")).encode().ljust(room)
    parts = [struct.pack("<Q", room), written]
    for a in given.values():
        data = a.tobytes()
        parts += [data, b"\0" * (-len(data) % 8)]
    return b"".join(parts)


def stored(a: np.ndarray) -> np.ndarray:
    """An array as files have it: little-endian, row by row."""
    if a.dtype.kind not in KINDS:
        raise InputError(f"an array of {a.dtype} cannot be written")
    return np.ascontiguousarray(a, KINDS[a.dtype.kind])


def unpacked(content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Text and arrays of a content whose digest is right; raises ValueError, KeyError or the like if it is not one.

    Sizes are compared with the length of the content before anything is made of them; arrays do not overlap.
    """
    (room,) = struct.unpack_from("<Q", content)
    if room > len(content) - 8:
        raise ValueError("a text that goes beyond the block")
    text = json.loads(content[8 : 8 + room])
    arrays, used = {}, 8 + room
    for name, (kind, shape, at) in sorted(text.pop("arrays").items(), key=lambda entry: entry[1][2]):
        if kind not in KINDS.values() or not isinstance(shape, list) or not all(map(_is_size, (*shape, at))):
            raise ValueError(f"an array of {kind} of shape {shape}")
        size = math.prod(shape)
        if at < used or size > len(content) or at + size * np.dtype(kind).itemsize > len(content):
            raise ValueError(f"{size} numbers from {at} on, of {len(content)} bytes")
        used = at + size * np.dtype(kind).itemsize
        arrays[name] = np.frombuffer(content, kind, size, at).reshape(shape).copy()
    return text, arrays


def _is_size(x: Any) -> bool:
    return type(x) is int and x >= 0


def digest_of(before: bytes, kind: bytes, content: bytes) -> bytes:
    """That of a block."""
    return hashlib.sha256(before + kind + struct.pack("<Q", len(content)) + content).digest()


class BlockWriter:
    """Appends blocks to a file, each whole or not at all; one writer at a time.

    A new file has another name, NEW behind its own, until its first block is in it: whoever finds a file finds what it is for.

    end      where the file ends
    digest   of its last block
    """

    def __init__(self, path: Path, end: int = 0, digest: bytes = MAGIC) -> None:
        self.path, self.end, self.digest = path, end, digest
        hides = not end and os.name == "posix"  # elsewhere open files keep their names
        self._at = path.with_name(path.name + NEW) if hides else path
        try:
            if hides:
                self._check_free()
            way = os.O_RDWR | getattr(os, "O_BINARY", 0) | (0 if end else os.O_CREAT if hides else os.O_CREAT | os.O_EXCL)
            self._file: BinaryIO = os.fdopen(os.open(self._at, way, 0o666), "r+b", buffering=0)
        except OSError as error:
            raise WriteError.of(path, error) from error
        try:
            _lock(self._file, path)
            self._check_place()  # as another writer may have finished this very file
            self._file.truncate(end)
            self._file.seek(end)
        except BaseException as error:
            self._file.close()
            raise (WriteError.of(path, error) if isinstance(error, OSError) else error) from None

    def write(self, kind: str, text: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Append a block; after an error the file ends as before."""
        content = packed(text, arrays)
        digest = digest_of(self.digest, kind.encode(), content)
        self._write((b"" if self.end else MAGIC) + HEAD.pack(MARK, kind.encode(), len(content), digest) + content)
        self.digest = digest
        if self._at != self.path:
            self._appear()

    def _appear(self) -> None:
        """Give a new file its name, which no other writer takes while this one holds its lock; what has it by now stays."""
        try:
            self._check_free()
            os.rename(self._at, self.path)
        except OSError as error:
            raise WriteError.of(self.path, error) from error
        self._at = self.path

    def _check_free(self) -> None:
        if self.path.exists():
            raise FileExistsError(errno.EEXIST, "it exists", str(self.path))

    def _write(self, data: bytes) -> None:
        try:
            self._check_place()
            left = memoryview(data)
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            self._take_back()
            raise WriteError.of(self.path, error) from error
        except BaseException:  # Ctrl-C within a write
            self._take_back()
            raise
        self.end += len(data)

    def _take_back(self) -> None:
        try:
            self._file.truncate(self.end)
            self._file.seek(self.end)
        except OSError:  # its digest tells
            pass

    def _check_place(self) -> None:
        """Raise if the file is no longer where it was made: what is written to it would be lost."""
        here, there = os.fstat(self._file.fileno()), os.stat(self._at)
        if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino):
            raise FileNotFoundError(2, "another file has taken its place", str(self.path))

    def close(self) -> None:
        """Let go of the file; of a new one without blocks nothing stays."""
        self._file.close()
        if self._at != self.path:
            self._at.unlink(missing_ok=True)


def _lock(file: BinaryIO, path: Path) -> None:
    """Raise if another process writes the file."""
    try:
        import fcntl
    except ImportError:  # not a POSIX system: two writers are not told apart
        return
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"{path} is being written by another run; wait for its end, or choose another file") from None
    except OSError:  # a file system without locks
        return


def read_blocks(path: Path) -> Iterator[Block | str]:
    """The blocks of a file, as far as they are whole; a line that says what follows them, if that is more than nothing."""
    try:
        size = path.stat().st_size
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    with file:
        if file.read(len(MAGIC)) != MAGIC:
            raise InputError(f"{path} is no stream of a run: it does not begin as one")
        at, before = len(MAGIC), MAGIC
        while at < size:
            block = _block(file, at, size, before)
            if isinstance(block, str):
                yield f"{block}: its last {size - at} bytes, from {at} on, are not used"
                return
            yield block
            at, before = block.end, block.digest


def _block(file: BinaryIO, at: int, size: int, before: bytes) -> Block | str:
    """The block at a place, or what is wrong with it."""
    cut = "the file was cut short"
    head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        return cut
    mark, kind, length, digest = HEAD.unpack(head)
    if mark != MARK or length > LARGEST:
        return "the file is damaged"
    if at + HEAD.size + length > size:
        return cut
    content = file.read(length)
    if len(content) < length:
        return cut
    if digest_of(before, kind, content) != digest:
        return "the file is damaged"
    try:
        text, arrays = unpacked(content)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, MemoryError, struct.error) as error:
        return f"the file holds a block that cannot be read ({type(error).__name__})"
    return Block(kind.decode("latin-1"), text, arrays, at, at + HEAD.size + length, digest)
