"""An MJCF file before MuJoCo reads it: all files that it names, and how much compiling them would make.

MuJoCo's parser takes what is no XML, expands without bound, and opens whatever a file names. Here everything is read once as
strict XML, included and attached files as the first one, so that what is refused for URDF is refused here, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ...errors import InputError, ModelError
from ..element import MAX_BYTES, Element, parse_bytes
from .files import FOLDERS, Files
from .sizes import Sizes, sizes_of

NAMES = {"name", "class", "childclass"}
MAX_FILES = 1000  # XML files of a model: each is counted as often as it is included
MAX_DEPTH = 480  # elements inside each other: MuJoCo's parser takes 500
COMMENTS = re.compile(
    rb"<!--(.*?)-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<[^<>\"']*(?:\"[^<\"]*\"[^<>\"']*|'[^<']*'[^<>\"']*)*>", re.DOTALL
)


def scan(path: Path, roots: Sequence[Path] = ()) -> Sizes:
    """How much compiling a file makes. Raises for what is not XML, document types and entities, numbers that are none, files that
    are too large, include themselves, or are outside of the folders that may be read."""
    return _Scan(roots).model(path, ())


class _Scan:
    """Reads the files of one model; attached models are read as models of their own."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = roots
        self._models: dict[Path, Sizes] = {}
        self._bytes = self._files = 0

    def model(self, main: Path, inside: tuple[Path, ...]) -> Sizes:
        """The sizes of a model that starts in a file; `inside` are the files that attach or include it."""
        key = main.resolve()
        if key in self._models:
            return self._models[key]
        files = Files(main, self._roots)
        root = self._tree(main, files, (*inside, key), ".")
        compilers = [e for e in root.walk() if e.tag.lower() == "compiler"]
        folders = [".", *dict.fromkeys(text for e in compilers for name in FOLDERS if (text := e.get(name)))]
        beside = [".", *dict.fromkeys(e.attributes["dir"] for e in root.walk() if e.tag.lower() == "include")]
        places = [Path(a) / b for a in beside for b in folders]
        attached: dict[str, Sizes] = {}
        used: list[tuple[Element, str, Path]] = []
        for e in list(root.walk()):
            for name in [name for name in e.attributes if name.startswith("file") and e.tag.lower() != "include"]:
                found = files.named(e, name, places)
                used += [(e, name, file) for file in found]
                if e.tag.lower() == "model":
                    for file in found:
                        self._check_once(e, file, (*inside, key))
                        attached[e.get("name") or file.stem] = self.model(file, (*inside, key))
        self._models[key] = sizes_of(root, attached, used)
        return self._models[key]

    def _tree(self, path: Path, files: Files, inside: tuple[Path, ...], folder: str) -> Element:
        """The root of a file; each <include> has as its children what it includes, and its folder as `dir`.

        MuJoCo looks in the folder of the model first, then in that of the file that includes: what is in both is read twice.
        """
        root = parse_bytes(_strict(self._read(path)), path.name, MAX_DEPTH - len(inside))
        if root.tag.lower() not in ("mujoco", "mujocoinclude"):
            raise root.error(f"the root element is <{root.tag}>, not <mujoco>; this is not MJCF")
        _check_numbers(root)
        for e in list(root.walk()):
            if "dir" in e.attributes and e.tag != "light":
                raise e.error(f"<{e.tag}> has the attribute 'dir', which MJCF has not; remove it")
            if e.tag.lower() != "include":
                continue
            if e.children or "file" not in e.attributes:
                raise e.error(f"<{e.tag}> needs the attribute 'file' and no elements inside")
            found = files.named(e, "file", (".", folder))
            if not found:
                raise e.error(f"<{e.tag} file={e.attributes['file']!r}> does not exist; it is looked for beside {path.name}")
            for file in [file for file in found if file.resolve() not in inside] or found:
                self._check_once(e, file, inside)
                e.attributes["dir"] = str(file.parent)
                e.children += self._tree(file, files, (*inside, file.resolve()), str(file.parent)).children
        return root

    def _check_once(self, element: Element, file: Path, inside: tuple[Path, ...]) -> None:
        if file.resolve() in inside:
            raise element.error(f"<{element.tag} file={element.attributes['file']!r}> includes itself")
        if len(inside) >= MAX_DEPTH:
            raise element.error(f"more than {MAX_DEPTH} files inside each other")

    def _read(self, path: Path) -> bytes:
        self._files += 1
        try:
            self._bytes += path.stat().st_size
            if self._bytes > MAX_BYTES or self._files > MAX_FILES:
                rule = f"files of more than {MAX_BYTES // 2**20} MiB, or {MAX_FILES} that include each other, are not read"
                raise InputError(f"load: {path.name}: {rule}")
            return path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def _strict(data: bytes) -> bytes:
    """The text with comments emptied, in which MJCF files often have what XML has not ("--"); lines stay where they are."""
    return COMMENTS.sub(lambda m: m[0] if m[1] is None else b"<!--" + b"\n" * m[1].count(b"\n") + b"-->", data)


def _check_numbers(root: Element) -> None:
    for e in root.walk():
        for name, text in e.attributes.items():
            if name not in NAMES and "nan" in text.lower() and any(w.lower().lstrip("+-") == "nan" for w in text.split()):
                raise ModelError(f"{e.file}, line {e.line}: <{e.tag}>: {name} = {text!r} is not finite")
