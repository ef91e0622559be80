"""How much compiling an MJCF file makes, counted from its elements.

A replicate multiplies what is inside it, nested ones multiply each other; a flexcomp or composite makes a body for every point.
Counts are upper bounds: they decide whether a file is compiled here, in a process with a budget, or not at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..element import Element

ELEMENTS = 2000  # bodies, joints, geoms, ... that are compiled without a budget: some seconds
NUMBERS = 8_000_000  # heights, pixels, ... without a budget
FILE_BYTES = 64 * 2**20  # of all meshes, height fields and textures without a budget
BYTES_OF_ELEMENT, BYTES_OF_NUMBER = 2000, 8  # that compiling takes at least
STEPS = 10_000  # rounds of solvers and of trials that MuJoCo makes while it compiles, without a budget
POINTS = 4  # elements of a point of a flexcomp: a body with three joints
ROUNDS = ("iterations", "ls_iterations", "noslip_iterations", "ccd_iterations", "sdf_iterations", "sdf_initpoints")
BIG = ("nuserdata", "njmax", "nconmax", "nstack")  # numbers of <size>; those of nkey and nuser_* are for every element
LISTS = ("sensor", "actuator", "equality", "tendon", "contact")  # their elements are replicated with what they refer to
OPEN_FORMATS = (".stl", ".obj", ".png", ".xml")  # files that can be no larger inside than outside, but PNG, whose head is read
UNITS = {unit: 1024**k for k, unit in enumerate("BKMGTPE")}


@dataclass(frozen=True)
class Sizes:
    """What compiling makes at most.

    elements   bodies, joints, geoms, sites, points of soft bodies, ...
    numbers    heights, pixels, memory that is asked for, in numbers of 8 bytes
    largest    what makes most of it
    long       what may take long though it is not large, or ""
    """

    elements: int
    numbers: int
    largest: str
    long: str = ""

    @property
    def bytes(self) -> int:
        """What it takes in memory, at least."""
        return BYTES_OF_ELEMENT * self.elements + BYTES_OF_NUMBER * self.numbers

    @property
    def is_ordinary(self) -> bool:
        """Whether it may be compiled without a budget."""
        return self.elements <= ELEMENTS and self.numbers <= NUMBERS and not self.long


def sizes_of(root: Element, attached: Mapping[str, Sizes], files: Sequence[tuple[Element, str, Path]]) -> Sizes:
    """The sizes of a model with all that it includes, attaches (by name), and reads from files."""
    counter = _Counter(attached)
    counter.count(root)
    counter.read(files)
    return counter.total()


class _Counter:
    def __init__(self, attached: Mapping[str, Sizes]) -> None:
        self._attached = attached
        self._parts: dict[str, list[int]] = {}  # elements and numbers, by what makes them
        self._long = next((sizes.long for sizes in attached.values() if sizes.long), "")
        self._sizes: list[Element] = []
        self._copies, self._why = 1, ""  # the largest factor of a replicate, for what refers to its elements

    def count(self, root: Element) -> None:
        """Count all elements of a model, first those of bodies."""
        later = [c for c in _children(root) if c.tag in LISTS]
        stack = [(c, 1, "") for c in _children(root) if c.tag not in LISTS]
        while stack:
            e, factor, why = stack.pop()
            if e.tag == "replicate":
                factor, why = factor * self._whole(e, "count", 1), f"{_label(e, 'count')}{' in ' * bool(why)}{why}"
                if factor > self._copies:
                    self._copies, self._why = factor, why
            self._one(e, factor, why)
            stack += [(c, factor, why) for c in e.children]
        stack = [(c, self._copies, self._why) for c in later]
        while stack:
            e, factor, why = stack.pop()
            self._one(e, factor, why)
            stack += [(c, factor, why) for c in e.children]

    def _one(self, e: Element, factor: int, why: str) -> None:
        """Count one element, of which there are `factor`."""
        elements, numbers, names = 1, sum(map(len, e.attributes.values())) // 2, ()
        match e.tag:
            case "flexcomp":
                typed = e.get("type") or "grid"
                points = self._product(e, "count", (10, 10, 10))
                points = len((e.get("point") or "").split()) // 3 if typed == "direct" else points
                elements, names = POINTS * points, ("count",)
            case "composite":
                elements, names = 2 * (1 + len(e.children)) * self._product(e, "count", (1,)), ("count",)
            case "hfield":
                numbers, names = numbers + self._whole(e, "nrow", 0) * self._whole(e, "ncol", 0), ("nrow", "ncol")
            case "texture":
                numbers += 6 * self._whole(e, "width", 0) * max(self._whole(e, "height", 0), 1)
                names = ("width", "height")
            case "mesh" if "builtin" in e.attributes:
                numbers, names = numbers + max(4**6, 50 * max(self._wholes(e, "params") or [0]) ** 2), ("builtin", "params")
            case "attach" | "model":
                name = e.get("model") if e.tag == "attach" else e.get("name") or Path(e.get("file") or "").stem
                own = self._attached.get(name or "")
                models = [own] if own else self._attached.values()
                elements, numbers = (1 + sum(sizes.elements for sizes in models)), sum(sizes.numbers for sizes in models)
                names = ("model", "file")
            case "size":
                self._sizes.append(e)
            case "option":
                for name in ROUNDS:
                    if self._whole(e, name, 0) > STEPS:
                        self._long = self._long or _label(e, name)
            case "lengthrange":
                self._check_length_range(e)
            case "plugin":
                self._long = self._long or _label(e)
            case "numeric":
                numbers, names = numbers + self._whole(e, "size", 0), ("size",)
            case "camera":
                numbers, names = numbers + 4 * self._product(e, "resolution", (1,)), ("resolution",)
            case _ if "nsample" in e.attributes or (e.tag in ("user", "contact") and {"dim", "num"} & set(e.attributes)):
                samples = self._whole(e, "nsample", 1)
                numbers += 40 * max(samples, 1) * max(self._whole(e, "dim", 1), 1) * max(self._whole(e, "num", 1), 1)
                names = ("nsample", "dim", "num")
                if samples > STEPS:
                    self._long = self._long or _label(e, "nsample")  # in a default it is for many
        if names:
            why = f"{_label(e, *names)}{' in ' * bool(why)}{why}"
        self._add(why or "its own elements", factor * elements, factor * numbers)

    def _of_size(self, e: Element, elements: int) -> int:
        """Numbers that <size> asks for, beside so many elements."""
        text = (e.get("memory") or "0").strip()
        unit = UNITS.get(text[-1:].upper(), 0)
        memory = self._read_whole(e, "memory", text[:-1] if unit else text) * (unit or 1)
        each = sum(self._whole(e, name, 0) for name in e.attributes if name == "nkey" or name.startswith("nuser_"))
        return max(memory, 0) // 8 + sum(self._whole(e, name, 0) for name in BIG) + each * elements

    def _check_length_range(self, e: Element) -> None:
        try:
            steps = float(e.get("inttotal") or 10.0) / float(e.get("timestep") or 0.01)
        except (ValueError, ZeroDivisionError):
            steps = math.inf
        if not 0.0 <= steps <= STEPS:
            self._long = self._long or _label(e, "inttotal", "timestep")

    def read(self, files: Sequence[tuple[Element, str, Path]]) -> None:
        """Count what files hold."""
        for e, name, path in files:
            if e.tag == "model":
                continue
            with path.open("rb") as file:
                head = file.read(24)
            size = path.stat().st_size
            if head.startswith(b"\x89PNG\r\n\x1a\n"):
                width, height = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
                self._add(_label(e, name), 1, 4 * width * height // (1 if e.tag == "hfield" else BYTES_OF_NUMBER))
            elif path.suffix.lower() not in OPEN_FORMATS or "content_type" in e.attributes:
                self._long = self._long or _label(e, name)
            self._add(_label(e, name), POINTS * size // 50 if e.tag == "flexcomp" else 1, size * NUMBERS // FILE_BYTES)

    def total(self) -> Sizes:
        """All that was counted."""
        elements = sum(part[0] for part in self._parts.values())
        for e in self._sizes:
            self._add(_label(e, *e.attributes), 0, self._of_size(e, elements))
        elements, numbers = (sum(part[k] for part in self._parts.values()) for k in (0, 1))
        most = max(self._parts, key=lambda label: _bytes(*self._parts[label]), default="")
        return Sizes(elements, numbers, most, self._long)

    def _add(self, label: str, elements: int, numbers: int) -> None:
        part = self._parts.setdefault(label, [0, 0])
        part[0] += elements
        part[1] += numbers

    def _product(self, e: Element, name: str, usual: Sequence[int]) -> int:
        return math.prod(max(n, 1) for n in self._wholes(e, name) or usual)

    def _wholes(self, e: Element, name: str) -> list[int]:
        return [self._read_whole(e, name, word) for word in (e.get(name) or "").split()]

    def _whole(self, e: Element, name: str, usual: int) -> int:
        """An attribute that is a whole number, at least 0; one that is none is an error of MuJoCo's."""
        text = e.get(name)
        return usual if text is None else max(self._read_whole(e, name, text), 0)

    def _read_whole(self, e: Element, name: str, text: str) -> int:
        digits = re.fullmatch(r"\s*([+-]?\d{1,18})\s*", text)
        if digits is None:
            self._long = self._long or _label(e, name)
            return 0
        return int(digits[1])


def _children(root: Element) -> list[Element]:
    """The children of a root and of what it includes."""
    found, stack = [], list(reversed(root.children))
    while stack:
        e = stack.pop()
        if e.tag.lower() == "include":
            stack += reversed(e.children)
        else:
            found.append(e)
    return found


def _bytes(elements: int, numbers: int) -> int:
    return BYTES_OF_ELEMENT * elements + BYTES_OF_NUMBER * numbers


def _label(e: Element, *names: str) -> str:
    given = "".join(f" {name}={e.attributes[name][:40]!r}" for name in names if name in e.attributes)
    return f"<{e.tag}{given}> ({e.file}, line {e.line})"
