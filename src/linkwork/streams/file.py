"""What a stream holds: its head, the records up to where it is whole, and the last place to go on from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..steppers.recording import Place
from ..store.blocks import MAGIC, Block, read_blocks
from ..store.reading import read
from ..tally import Tally, from_data
from .head import ASKED, check_head, part_of, read_from

HEAD, RECORDS, END = "HEAD", "RECS", "DONE"
KEPT = "kept."  # before the names of what the program keeps
MAX_STEPS = 1 << 53  # of a run: more are not counted by floats
TALLY = "tally"  # what the steps of a block add up to, and before the names of its arrays


class StreamFile:
    """A stream, looked through once.

    head     the first block
    note     what of the file is not used, if anything
    count    of the records that are whole
    end      what its last block says, if the run came to an end; else None
    place    from which the run can go on, None: from the start
    states   of what is asked during the run, by name, at that place
    clipped  at that place: how many steps asked for more than an effort (nv,)
    whole_to   where in the file the block ends that says the place, and its digest
    """

    def __init__(self, path: Path) -> None:
        self.path, self.note, self.count = path, "", 0
        self.end: dict[str, Any] | None = None
        self.place: Place | None = None
        self.states: dict[str, Any] = {}
        self.clipped: np.ndarray | None = None
        self.head: Block
        self.whole_to = (0, MAGIC)
        with read_from(path):
            self._look_through()

    def _look_through(self) -> None:
        head: Block | None = None
        for block in read_blocks(self.path):
            if isinstance(block, str):
                self.note = block
            elif head is None:
                if block.kind != HEAD:
                    break
                head, self.whole_to = block, (block.end, block.digest)
            elif block.kind == RECORDS:
                self._take(block)
            elif block.kind == END:
                self.end = block.text
                if not isinstance(block.text.get("failure", 0), (str, type(None))):
                    raise InputError("its last block says how the run ended: a line, or nothing")
        if head is None:
            raise InputError(f"{self.path} holds no run: it was cut short within its head; simulate anew")
        check_head(self.path, head.text)
        self.head = head

    def _take(self, block: Block) -> None:
        count, record, steps = (block.text[name] for name in ("count", "record", "steps"))
        t, states = block.arrays.get("t"), block.text["states"]
        if not all(type(x) is int and -1 <= x <= MAX_STEPS for x in (count, record, steps)) or t is None or t.shape != (count,):
            raise InputError(f"a block has {str(count)[:20]} records, at as many times, after so many steps")
        self.count += count
        if not block.text["resumable"]:
            return
        if not isinstance(states, list) or not set(states) <= set(ASKED):
            raise InputError(f"a block keeps states of {' and '.join(ASKED)}, not of {str(states)[:80]}")
        kept = {name[len(KEPT) :]: a for name, a in block.arrays.items() if name.startswith(KEPT)}
        self.place = Place(record, steps, kept)
        self.clipped = block.arrays.get("clipped")
        self.states = {name: read(part_of(block.text, block.arrays, name)) for name in states}
        self.whole_to = (block.end, block.digest)

    def tally(self) -> Tally | None:
        """What the steps up to the last record add up to, as its blocks say; None if they do not."""
        found: Tally | None = None
        for block in self.blocks():
            if TALLY in block.text:
                start = f"{TALLY}."
                arrays = {name[len(start) :]: a for name, a in block.arrays.items() if name.startswith(start)}
                steps = from_data(block.text[TALLY], arrays)
                found = steps if found is None else found + steps
        return found

    def blocks(self) -> Iterator[Block]:
        """The blocks with records."""
        for block in read_blocks(self.path):
            if isinstance(block, Block) and block.kind == RECORDS:
                yield block
