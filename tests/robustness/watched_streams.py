"""A child process that loads and resumes changed streams: python -m robustness.watched_streams streams first count

Blocks are changed (text, arrays, or both) and written anew with digests that hold, one after the other.
"""

from __future__ import annotations

import copy
import gc
import json
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from robustness.mutations import NUMBERS, changed_tree
from robustness.watched_loads import Watch

import linkwork as lw
from linkwork.errors import LinkworkError, RunInterrupted
from linkwork.store.blocks import HEAD, MAGIC, MARK, Block, digest_of, packed, read_blocks

Rng = np.random.Generator
Parts = list[tuple[str, dict[str, Any], dict[str, np.ndarray]]]


def blocks_of(file: Path) -> Parts:
    return [(b.kind, b.text, b.arrays) for b in read_blocks(file) if isinstance(b, Block)]


def write(file: Path, blocks: Parts, rng: Rng | None = None) -> None:
    """Write blocks with digests; with `rng` the content of one may be changed below what a writer writes."""
    digest, data = MAGIC, MAGIC
    broken = int(rng.integers(len(blocks))) if rng is not None and rng.integers(4) == 0 else -1
    for k, (kind, text, arrays) in enumerate(blocks):
        content = packed(text, arrays)
        if k == broken and rng is not None:
            content = _with_other_places(content, rng)
        digest = digest_of(digest, kind.encode()[:4].ljust(4), content)
        data += HEAD.pack(MARK, kind.encode()[:4].ljust(4), len(content), digest) + content
    file.write_bytes(data)


def _with_other_places(content: bytes, rng: Rng) -> bytes:
    """Sizes, types and places of arrays that the block does not have."""
    room = int.from_bytes(content[:8], "little")
    text = json.loads(content[8 : 8 + room])
    for entry in text["arrays"].values():
        if rng.integers(3) == 0:
            entry[rng.integers(3)] = [2**62, -1, [2**31, 2**31], [2**30, 3], [-1], "<f8", "|O", 0, [[1]], None][rng.integers(10)]
    new = json.dumps(text).encode()
    return (len(new)).to_bytes(8, "little") + new + content[8 + room :]


def changed(blocks: Parts, rng: Rng) -> Parts:
    made = copy.deepcopy(blocks)
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        k, what = int(rng.integers(len(made))), rng.integers(8)
        kind, text, arrays = made[k]
        if what < 3 and arrays:
            name = str(rng.choice(list(arrays)))
            arrays[name] = _other_array(arrays[name], rng)
        elif what == 3 and arrays:
            arrays[str(rng.choice(["t", "q", "kept.q", "x", "report.modes", "tau", "clipped", "events"]))] = np.zeros((3, 2))
        elif what == 4:
            made.insert(k, made[rng.integers(len(made))])
        elif what == 5 and len(made) > 1:
            del made[k]
        elif what == 6:
            made[k] = (str(rng.choice(["HEAD", "RECS", "DONE", "XXXX"])), text, arrays)
        else:
            made[k] = (kind, changed_tree(text, rng), arrays)
    return made


def _other_array(a: np.ndarray, rng: Rng) -> np.ndarray:
    what = rng.integers(7)
    if what == 0:
        return a.reshape(-1)[: int(rng.integers(a.size + 1))]
    if what == 1:
        return np.concatenate([a.reshape(-1), np.ones(5, a.dtype)])
    if what == 2:
        return a.astype(rng.choice(["<i8", "|u1", "|b1"]))
    if what == 3:
        return a[None]
    if what == 4:
        return np.tile(a, (2,) * a.ndim)
    b = a.astype(float).copy()
    if b.size:
        x = NUMBERS[rng.integers(len(NUMBERS))]
        b.reshape(-1)[rng.integers(b.size)] = float(x)
    return b


def resumed(file: Path) -> str:
    """How it ends to go on from a stream."""
    try:
        lw.resume(file, elsewhere="allow")
    except (RunInterrupted, LinkworkError):
        return "refused to resume"
    except Exception as error:
        return f"resume: {type(error).__name__}: {error}"[:300]
    return "resumed"


def main(streams: list[str], first: int, count: int) -> None:
    warnings.simplefilter("ignore")
    originals = [blocks_of(Path(s)) for s in streams]
    for s in streams:
        lw.Trajectory.load(s)
    watch, ends, wrong = Watch(), Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "changed.lwk"
        for number in range(first, first + count):
            rng = np.random.default_rng(number)
            try:
                write(file, changed(originals[number % len(originals)], rng), rng)
            except (RecursionError, ValueError, TypeError, lw.LinkworkError):  # no writer writes it
                continue
            if not number % 20:
                gc.collect()  # models hold themselves; under guard every array takes two of 65530 mappings of a process
            print(number, file=sys.stderr, flush=True)
            end, words, run = watch.load(file)
            if run is not None:
                try:
                    str(run.health), run.energy, run.v
                except LinkworkError:
                    end = "refused later"
                except Exception as error:
                    wrong.append(f"{number}: asked: {type(error).__name__}: {error}"[:300])
            ends[end] += 1
            wrong += [f"{number}: {x}" for x in watch.seen]
            if end not in ("loaded", "refused", "refused later"):
                wrong.append(f"{number}: {end}: {words[:300]}")
            if number % 4 == 0:
                found = resumed(file)
                ends[found.partition(":")[0]] += 1
                wrong += [f"{number}: {found}"] if ":" in found else []
    print(json.dumps({"ends": ends, "wrong": wrong}))


if __name__ == "__main__":
    *given, start, many = sys.argv[1:]
    main(given, int(start), int(many))
