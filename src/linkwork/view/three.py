"""three.js, out of the installed trimesh: its notebook viewer is one page with the whole library in it.

trimesh reads our meshes anyway, so that pages cost no further package; docs/view.md compares it with others that carry three.js.
"""

from __future__ import annotations

import re
import zipfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ..errors import InputError

ARCHIVE, PAGE = "resources/templates/viewer.zip", "viewer.html.template"
LIBRARY = re.compile(r"/\*\*\s*\* @license[^/]*Three\.js Authors.*?\}\)\);(?=\s*\(function)", re.DOTALL)


@cache
def three_js() -> str:
    """The library as a script that makes the global `THREE`. trimesh is looked into, not imported: that would take a second."""
    spec = find_spec("trimesh")
    folder = Path(spec.origin).parent if spec and spec.origin else Path()
    try:
        with zipfile.ZipFile(folder / ARCHIVE) as archive:
            found = LIBRARY.search(archive.read(PAGE).decode("utf-8"))
    except (KeyError, OSError, ValueError, zipfile.BadZipFile) as error:
        found, reason = None, str(error)
    else:
        reason = "it is not where it was in trimesh 4 and 5"
    if found is None:
        raise InputError(f"three.js was not found in the installed trimesh ({reason}); install trimesh 4 or 5")
    return found[0]
