"""Where in an XML file the parts of a model stand."""

from __future__ import annotations

from pathlib import Path

from ...errors import LinkworkError
from ..element import parse


def lines_of_names(file: Path) -> dict[str, int]:
    """The line of the first element of every name; nothing of files that are no XML."""
    try:
        root = parse(file)
    except LinkworkError:
        return {}
    found: dict[str, int] = {}
    for element in root.walk():
        name = element.attributes.get("name")
        if name and element.tag in ("link", "joint", "body", "geom"):
            found.setdefault(name, element.line)
    return found
