"""Files that an MJCF file names: where MuJoCo looks for them, and which of them may be read."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...errors import InputError
from ..element import Element
from ..mesh_paths import home_of

FOLDERS = ("meshdir", "texturedir", "assetdir")  # attributes of <compiler>


class Files:
    """The files of one model: those below the folder of its package or of its own, and below the roots.

    folder   of the main file, from which names count
    """

    def __init__(self, main: Path, roots: Sequence[Path]) -> None:
        self.folder = main.absolute().parent
        self._roots = (home_of(main), self.folder.resolve(), *(root.resolve() for root in roots))

    def named(self, element: Element, attribute: str, folders: Sequence[str | Path]) -> list[Path]:
        """All files that a name may mean, as it stands in one of the folders (relative to the main file); an error if one of them
        is outside of what may be read, or is a device or pipe. None exist if the file is missing: MuJoCo says so.
        """
        name = element.attributes[attribute]
        found, outside = [], []
        for path in self._places(name, folders):
            try:
                inside = any(path.resolve().is_relative_to(root) for root in self._roots)
                kind = path.stat().st_mode
            except (OSError, RuntimeError, ValueError):  # missing, a loop of links, a name that no file has
                inside, kind = self._is_below(path), None
            if not inside:
                outside.append(kind)
            elif kind is not None and not stat.S_ISREG(kind):
                raise _refused(element, attribute, "is no ordinary file; give one")
            elif kind is not None:
                found.append(path)
        if ":" in name.partition("/")[0][2:] or (outside and (not found or any(kind is not None for kind in outside))):
            rule = (
                "is outside of the folders that may be read (that of the file, or its package); name its folder in packages=[...]"
            )
            raise _refused(element, attribute, rule)
        return list(dict.fromkeys(found))

    def _places(self, name: str, folders: Sequence[str | Path]) -> Iterator[Path]:
        """Every path that a name can stand for: as it is, in the folders, and without its own folders (`strippath`)."""
        for text in dict.fromkeys((name, name.replace("\\", "/"))):
            for folder in folders:
                yield self.folder / folder / text
                if "/" in text:
                    yield self.folder / folder / Path(text).name

    def _is_below(self, path: Path) -> bool:
        """Whether a path that cannot be followed is below a root as it is written."""
        parts: list[str] = []
        for part in path.parts:
            if part == "..":
                parts = parts[: max(len(parts) - 1, 1)]
            else:
                parts.append(part)
        return any(Path(*parts).is_relative_to(root) for root in (*self._roots, self.folder))


def _refused(element: Element, attribute: str, rule: str) -> InputError:
    name = element.attributes[attribute]
    return InputError(f"load: {element.file}, line {element.line}: <{element.tag} {attribute}={name!r}> {rule}")
