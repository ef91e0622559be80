"""An object of WebAssembly as LLVM writes it, made a module that can be instantiated.

The object of one LLVM module is complete: numbers of functions and types are final, and what it does not define are imports. It
lacks what a linker would add: an export section, by which others find functions, and an element section, which puts functions
into the table through which they call one another.

    module    = magic version section*          section = id:u8 size:leb128 content
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..errors import CompileError

CUSTOM, EXPORT, ELEMENT, CODE, DATA, DATA_COUNT = 0, 7, 9, 10, 11, 12  # sections
SYMBOL_TABLE, OF_FUNCTION, OF_DATA, OF_SECTION = 8, 0, 1, 3  # in the section "linking"
UNDEFINED, NAMED = 0x10, 0x40  # flags of symbols
HEAD = 8  # bytes of magic and version


class Reader:
    """Numbers and texts, one after the other."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        """An unsigned integer in groups of seven bits, the lowest first."""
        found = shift = 0
        while True:
            x = self.byte()
            found |= (x & 0x7F) << shift
            shift += 7
            if x < 0x80:
                return found

    def bytes(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def text(self) -> str:
        return self.bytes(self.number()).decode()

    @property
    def more(self) -> bool:
        return self.at < len(self.data)


def number(x: int) -> bytes:
    """An unsigned integer as `Reader.number` reads it."""
    out = bytearray()
    while x >= 0x80:
        out.append(x & 0x7F | 0x80)
        x >>= 7
    return bytes([*out, x])


def text(x: str) -> bytes:
    return number(len(x.encode())) + x.encode()


def sections(module: bytes) -> Iterator[tuple[int, bytes]]:
    """The sections: their ids and contents."""
    reader = Reader(module, HEAD)
    while reader.more:
        kind = reader.byte()
        yield kind, reader.bytes(reader.number())


def functions(module: bytes) -> dict[str, int]:
    """The numbers of the functions that an object defines, by name."""
    found: dict[str, int] = {}
    for kind, content in sections(module):
        reader = Reader(content)
        if kind == CUSTOM and reader.text() == "linking":
            reader.number()  # its version
            while reader.more:
                part, inner = reader.byte(), Reader(reader.bytes(reader.number()))
                if part == SYMBOL_TABLE:
                    found |= dict(_defined(inner))
    return found


def _defined(reader: Reader) -> Iterator[tuple[str, int]]:
    for _ in range(reader.number()):
        kind, flags = reader.byte(), reader.number()
        if kind == OF_SECTION:
            reader.number()
        elif kind == OF_DATA:
            reader.text()
            if not flags & UNDEFINED:
                for _ in range(3):  # segment, offset, size
                    reader.number()
        else:
            index = reader.number()
            if not flags & UNDEFINED or flags & NAMED:
                name = reader.text()
                if kind == OF_FUNCTION and not flags & UNDEFINED:
                    yield name, index


def linked(module: bytes, exports: Mapping[str, str], table: Sequence[str]) -> bytes:
    """The object as a module.

    exports   names of functions by what they are called outside
    table     names of functions that stand in the table, from place 1 on
    """
    known, out, found = functions(module), bytearray(module[:HEAD]), dict(sections(module))
    if DATA in found or ELEMENT in found:
        raise CompileError("a kernel has data of its own, or takes the address of a function: neither has a place in the page")
    exported = b"".join(text(outside) + b"\0" + number(known[name]) for outside, name in exports.items())
    placed = b"".join(number(known[name]) for name in table)
    first = b"\x41\x01\x0b"  # i32.const 1, end
    added = {
        EXPORT: number(len(exports)) + exported,
        ELEMENT: number(1) + b"\0" + first + number(len(table)) + placed,
    }
    for kind, content in sections(module):
        if kind in (CODE, DATA_COUNT):
            for new, body in added.items():
                out += bytes([new]) + number(len(body)) + body
            added = {}
        if kind != CUSTOM:
            out += bytes([kind]) + number(len(content)) + content
    return bytes(out)


def imported(module: bytes) -> list[str]:
    """The names of the functions that a module imports."""
    found = []
    for kind, content in sections(module):
        if kind == 2:
            reader = Reader(content)
            for _ in range(reader.number()):
                reader.text()
                name, of = reader.text(), reader.byte()
                if of == 0:
                    reader.number()
                    found.append(name)
                elif of == 1:  # a table: type, limits
                    reader.byte()
                    _limits(reader)
                elif of == 2:
                    _limits(reader)
                else:
                    reader.bytes(2)
    return found


def _limits(reader: Reader) -> None:
    bounded = reader.byte() & 1
    reader.number()
    if bounded:
        reader.number()
