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
from .head import part_of

HEAD, RECORDS, END = "HEAD", "RECS", "DONE"
KEPT = "kept."  # before the names of what the program keeps
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
        head: Block | None = None
        self.whole_to = (0, MAGIC)
        for block in read_blocks(path):
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
        if head is None:
            raise InputError(f"{path} holds no run: it was cut short within its head; simulate anew")
        self.head = head

    def _take(self, block: Block) -> None:
        self.count += int(block.text["count"])
        if not block.text["resumable"]:
            return
        kept = {name[len(KEPT) :]: a for name, a in block.arrays.items() if name.startswith(KEPT)}
        self.place = Place(int(block.text["record"]), int(block.text["steps"]), kept)
        self.clipped = block.arrays.get("clipped")
        self.states = {name: read(part_of(block.text, block.arrays, name)) for name in block.text["states"]}
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
