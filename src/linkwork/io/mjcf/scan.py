"""What is looked at in an MJCF file before MuJoCo reads it: what it takes silently, or expands without bound."""

from __future__ import annotations

from pathlib import Path
from xml.parsers import expat

from ...errors import InputError, ModelError
from ..element import ENTITIES, MAX_BYTES

NAMES = {"name", "class", "childclass"}


def scan(path: Path) -> None:
    """Raise for files that are too large, document types and entities, and numbers that are none. What is not XML, the compiler
    says itself: it is less strict."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"load: {path.name}: files of more than {MAX_BYTES // 2**20} MiB are not read")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise ModelError(f"{path.name}, line {parser.CurrentLineNumber}: {ENTITIES}")

    def look(tag: str, attributes: dict[str, str]) -> None:
        for name, text in attributes.items():
            if name not in NAMES and any(word.lower().lstrip("+-") == "nan" for word in text.split()):
                where = f"{path.name}, line {parser.CurrentLineNumber}: <{tag}>"
                raise ModelError(f"{where}: {name} = {text!r} is not finite")

    parser.StartElementHandler = look
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except ModelError:
        raise
    except (expat.ExpatError, LookupError, ValueError):
        return
