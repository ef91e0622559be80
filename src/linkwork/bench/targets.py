"""The kernels of scenes for other machines: how many there are, how large, and what those of a GPU take of it.

Steps of every scene are compiled for AArch64 and WebAssembly, and as PTX for sm_80. Where `ptxas` is installed (extra `ptx`), it
assembles them and says how many registers a thread takes, and how many bytes of values that found no place in them: spills.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.table import Table

from ..errors import InputError
from ..kernel import ptx
from ..kernel.lanes import Lanes
from ..kernel.plan import Plan, variant
from ..kernel.targets import SM_80, TARGETS, Elsewhere
from ..live.start import start_of
from ..scenes import ALL_SCENES
from .report import Progress, missing, publish, require_known

LANES = Lanes(1)  # a thread of a GPU and a page have one
QUICK = ("pendulum", "loop", "elbow", "ball")
MOST_REGISTERS = 255  # of a thread, on all GPUs of NVIDIA: kernels that need more spill


def compile_steps(name: str, elsewhere: Elsewhere, lanes: Lanes = LANES) -> None:
    """Compile what a step of a scene runs for the machines of a backend."""
    scene = ALL_SCENES[name]
    model, state = scene.build()
    start = start_of(model, state, scene.dt, scene.methods[0], None, None, None, "refuse", "hard", "exact", {})
    tree = start.program.plans(start.model).tree
    Plan(start.program.algorithm, tree, variant(lanes, ("run",), ("tau", "external")), None, elsewhere)


def assembled(pieces: Sequence[bytes]) -> list[ptx.Usage]:
    """What the assembler says of all entries; two assemblers work side by side."""
    with ThreadPoolExecutor(2) as pool:
        return [usage for found in pool.map(ptx.assembled, pieces) for usage in found]


def measure(name: str, elsewhere: Elsewhere) -> dict[str, Any]:
    """A row of the table: what a scene adds to what was compiled before it."""
    before = {target: set(made) for target, made in elsewhere.pieces.items()}
    begin = time.process_time()
    compile_steps(name, elsewhere)
    new = {target: [made[x] for x in made.keys() - before[target]] for target, made in elsewhere.pieces.items()}
    row: dict[str, Any] = {"case": name, "modules": len(new[SM_80.name]), "seconds": round(time.process_time() - begin, 2)}
    row |= {f"{target}_bytes": sum(map(len, made)) for target, made in new.items()}
    if ptx.assembler() is not None:
        used = assembled(new[SM_80.name])
        row |= {"entries": len(used), "registers": max((x.registers for x in used), default=0)}
        row |= {"spilling": sum(x.stores > 0 for x in used), "spilled_bytes": max((x.stores for x in used), default=0)}
    return row


def run(json: Path | None = None, quick: bool = False, cases: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Compile, print the table and return its rows."""
    require_known(cases, ALL_SCENES)
    elsewhere, progress, rows, notes = Elsewhere(*TARGETS.values()), Progress(), [], []
    for name in cases or (QUICK if quick else ALL_SCENES):
        with progress.line(name):
            progress.say("compiling")
            try:
                rows.append(measure(name, elsewhere))
            except InputError as error:  # a robot's file is missing
                notes.append(f"{name}: {error}")
    if ptx.assembler() is None:
        notes.append(missing("ptxas", "registers and spills are not known").replace("[peers]", "[ptx]"))
    elif rows:
        worst = max(rows, key=lambda row: row["spilled_bytes"])
        entries, spilling = sum(row["entries"] for row in rows), sum(row["spilling"] for row in rows)
        notes.append(
            f"ptxas accepts all {entries} entries for {SM_80.name}; {spilling} of them need more than {MOST_REGISTERS} registers "
            f"and spill, at most {worst['spilled_bytes']} bytes ({worst['case']})"
        )
    notes.append("a module that an earlier scene needs, too, is compiled and counted there")
    return publish("kernels for other machines", rows, json, notes, parts={}, tables=[_table(rows)])


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    out = Table(title="Kernels for other machines", caption="bytes of objects and of PTX text; registers and spills of threads")
    names = list(dict.fromkeys(key for row in rows for key in row))
    for name in names:
        out.add_column(name, justify="left" if name == "case" else "right")
    for row in rows:
        out.add_row(*(str(row.get(name, "")) for name in names))
    return out
