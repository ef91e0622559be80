"""Where the meshes that a file names are: inside its own package or folders that the caller gave, nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from ..errors import InputError
from ..spatial.gate import given_path, shown

SUFFIXES = (".stl", ".obj", ".dae", ".ply", ".off", ".glb", ".gltf")
SCHEMES = ("package://", "model://")


class MeshPaths:
    """Finds the meshes of one file.

    file    that names them
    roots   folders with packages, or packages themselves; with none, "package://name/..." is looked for in the folders above the
            file, and relative paths in its package (the folder above it with a package.xml) or else beside it
    """

    def __init__(self, file: Path, roots: Sequence[Path] = ()) -> None:
        self._folder, self._roots = file.resolve().parent, [root.resolve() for root in roots]
        self._home = home_of(file)

    def find(self, name: str) -> Path:
        """The mesh of a name; ValueError says why there is none."""
        text = unquote(name.strip())
        if not text.lower().endswith(SUFFIXES):
            raise ValueError(f"{shown(name)} is no mesh that is read: {', '.join(SUFFIXES)}")
        if text.startswith(("http:", "https:")):
            raise ValueError(f"{name!r} is not on this machine")
        try:
            given_path("its path", text)
            known = [(root, path.resolve()) for root, path in self._places(text)]
        except (OSError, RuntimeError, InputError) as error:  # too long, or a loop of links
            raise ValueError(f"{shown(name)} is no path of a file: {error}") from None
        inside = [path for root, path in known if path.is_relative_to(root)]
        found = next((path for path in inside if path.is_file()), None)
        if found is None:
            reason = "does not exist" if inside else "is outside of the folders that may be read"
            raise ValueError(f"{shown(name)} {reason}; name its folder in packages=[...]")
        return found

    def _places(self, text: str) -> Iterator[tuple[Path, Path]]:
        """Folders that may be read, and where in them the mesh would be."""
        scheme = next((s for s in SCHEMES if text.startswith(s)), None)
        if scheme is not None:
            package, _, rest = text.removeprefix(scheme).partition("/")
            for root in self._roots or (above for above in self._folder.parents if (above / package) in self._above):
                yield root / package, root / package / rest
                if root.name == package:
                    yield root, root / rest
            return
        path = self._folder / text.removeprefix("file://")
        for root in (self._home, *self._roots):
            yield root, path
            if not text.startswith(("file://", "/")):
                yield root, root / text

    @cached_property
    def _above(self) -> tuple[Path, ...]:
        return (self._folder, *self._folder.parents)


def home_of(file: Path) -> Path:
    """The folder whose files a file may name: its package, at most three folders above its own, or else its own folder."""
    folder = file.resolve().parent
    return next((above for above in (folder, *folder.parents)[:4] if (above / "package.xml").is_file()), folder)
