"""three.js, out of the installed trimesh: its notebook viewer is one page with the whole library in it.

trimesh reads our meshes anyway, so that pages cost no further package; docs/view.md compares it with others that carry three.js.
"""

from __future__ import annotations

import io
import re
import zipfile
from functools import cache

from ..errors import InputError

ARCHIVE, PAGE = "templates/viewer.zip", "viewer.html.template"
LIBRARY = re.compile(r"/\*\*\s*\* @license[^/]*Three\.js Authors.*?\}\)\);(?=\s*\(function)", re.DOTALL)


@cache
def three_js() -> str:
    """The library as a script that makes the global `THREE`."""
    from trimesh import resources

    try:
        with zipfile.ZipFile(io.BytesIO(resources.get_bytes(ARCHIVE))) as archive:
            found = LIBRARY.search(archive.read(PAGE).decode("utf-8"))
    except (KeyError, OSError, ValueError, zipfile.BadZipFile) as error:
        found, reason = None, str(error)
    else:
        reason = "it is not where it was in trimesh 4 and 5"
    if found is None:
        raise InputError(f"three.js was not found in the installed trimesh ({reason}); install trimesh 4 or 5")
    return found[0]
