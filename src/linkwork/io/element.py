"""An XML file as a tree of elements that know their line, and what of them has been read.

What nobody read can be listed afterwards, so that a reader of a format cannot drop anything silently. Document types and
entities are refused where they begin: they are the way to external files and to texts that expand without bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from ..errors import InputError, ModelError

MAX_BYTES = 64 * 2**20
MAX_ELEMENTS = 1_000_000
MAX_DEPTH = 100
ENTITIES = (
    "document types and entities (<!DOCTYPE ...>, <!ENTITY ...>) are not read, as they can pull in other files or grow without "
    "bound; remove them"
)


class Element:
    """A tag with attributes and children.

    label   what to call it in messages: where it is, until its reader gives it a name
    kind    what to call all elements like this one
    """

    __slots__ = ("_read", "_read_attributes", "attributes", "children", "file", "kind", "label", "line", "tag")

    def __init__(self, tag: str, attributes: dict[str, str], file: str, line: int) -> None:
        self.tag, self.attributes, self.file, self.line = tag, attributes, file, line
        self.label = self.kind = f"<{tag}>"
        self.children: list[Element] = []
        self._read = False
        self._read_attributes: set[str] = set()

    def error(self, message: str) -> ModelError:
        """An error at this element's place in the file."""
        return ModelError(f"{self.file}, line {self.line}: {message}")

    def get(self, name: str) -> str | None:
        """An attribute, or None."""
        self._read_attributes.add(name)
        return self.attributes.get(name)

    def require(self, name: str) -> str:
        """An attribute that must be there and not be empty."""
        value = self.get(name)
        if value is None or not value.strip():
            raise self.error(f"{self.label} needs the attribute {name!r}")
        return value

    def all(self, tag: str) -> list[Element]:
        """All children with a tag, in order."""
        found = [c for c in self.children if c.tag == tag]
        for c in found:
            c._read, c.label = True, f"{self.label}, <{tag}>"
        return found

    def child(self, tag: str) -> Element | None:
        """The only child with a tag, or None."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].error(f"{self.label} has {len(found)} elements <{tag}>; it may have one")
        return found[0] if found else None

    def needed(self, tag: str) -> Element:
        """The only child with a tag, which must be there."""
        found = self.child(tag)
        if found is None:
            raise self.error(f"{self.label} needs an element <{tag}>")
        return found

    def walk(self) -> Iterator[Element]:
        """This element and all below it."""
        stack: list[Element] = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))

    def unread(self) -> Iterator[tuple[Element, Element | str]]:
        """Elements and attributes (by name) in here that nobody read, each with its owner; not what lies inside of them."""
        stack: list[Element] = [self]
        while stack:
            owner = stack.pop()
            for name in owner.attributes:
                if name not in owner._read_attributes and not name.startswith("xmlns"):
                    yield owner, name
            for c in reversed(owner.children):
                if c._read:
                    stack.append(c)
            for c in owner.children:
                if not c._read:
                    yield owner, c


def parse(path: Path) -> Element:
    """The root element of a file. Refused: files that are too large, document types, entities, and what is not XML."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputError(f"{path} has {size / 2**20:.0f} MiB; files of more than {MAX_BYTES // 2**20} MiB are not read")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    return parse_bytes(data, path.name)


def parse_bytes(data: bytes, file: str, max_depth: int = MAX_DEPTH) -> Element:
    """The root element of a text; `file` names it in messages. At most `max_depth` elements may be inside each other."""
    parser = expat.ParserCreate()
    top = Element("", {}, file, 0)
    stack, count = [top], 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        element = Element(tag, attributes, file, parser.CurrentLineNumber)
        if len(stack) > max_depth or count > MAX_ELEMENTS:
            raise element.error(f"more than {max_depth} elements inside each other, or more than {MAX_ELEMENTS} in all")
        stack[-1].children.append(element)
        stack.append(element)

    def refuse(*_: object) -> None:
        raise ModelError(f"{file}, line {parser.CurrentLineNumber}: {ENTITIES}")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: stack.pop()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise ModelError(f"{file}, line {error.lineno}, column {error.offset + 1}: this is not XML ({what})") from None
    except ModelError:
        raise
    except (LookupError, ValueError) as error:  # encodings that Python does not know
        raise ModelError(f"{file}, line {parser.CurrentLineNumber}: this is not XML ({error})") from None
    root = top.children[0]
    root._read = True
    return root
