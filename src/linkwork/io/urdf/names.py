"""Names: a file has one space of them for links and one for joints, a model one for all."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.model import WORLD
from .bodies import Carrier, Weld
from .joints import Note

ROOT_JOINT = "root_joint"


class Names:
    """What bodies, joints and frames are called: who comes first keeps his name, who follows gets a suffix and a note.

    Joints that move come first, then bodies, then welded links, then fixed joints. A body may share the name of its joint,
    and a welded link that of its fixed joint.
    """

    def __init__(self, bodies: Sequence[Carrier], welds: Sequence[Weld], note: Note) -> None:
        self._note = note
        self._taken = {WORLD: "the world"}
        named = [b for b in bodies if b.record is not None]
        self.joints = {b: self._claim(b.record.name, "joint") for b in named if b.record is not None}
        self.joints |= {b: self._claim(ROOT_JOINT, "joint") for b in bodies if b.record is None}
        self.bodies = {b: b.link.name if b.link.name == self.joints[b] else self._claim(b.link.name, "link") for b in bodies}
        self.frames: list[tuple[str, Weld]] = []
        for weld in welds:
            if weld.record is not None or weld.link.name != WORLD:
                self.frames.append((self._claim(weld.link.name, "link"), weld))
        for weld in welds:
            if weld.record is not None and weld.record.name != weld.link.name:
                self.frames.append((self._claim(weld.record.name, "joint"), weld))

    def _claim(self, name: str, what: str) -> str:
        new = name
        while new in self._taken:
            new = f"{new}_{what}"
        if new != name:
            self._note(f"{what} {name!r} has the name of {self._taken[name]}; it is called {new!r}")
        self._taken[new] = f"a {what}"
        return new
