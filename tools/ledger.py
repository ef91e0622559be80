"""A ledger of what the package computes, offers and costs, by which a change of the code alone is proved to be one.

    python tools/ledger.py make FILE [--source SRC] [--part NAME ...]     write the ledger of a source tree (default: this one)
    python tools/ledger.py check FILE [--source SRC] [--part NAME ...]    make one now, compare, exit 1 if bits or names differ
    python tools/ledger.py diff OLD NEW                                   compare two files
    python tools/ledger.py bench OTHER/src SRC [NAME ...] [--rounds 3]    rows of benchmarks of two trees, in processes turn about

Parts: `bits` (digests of motions, derivatives and functions; runs that are refused keep the kind of their error), `names` (public
names with their signatures), `tree` (files and lines of every folder), `times` (CPU seconds of first calls with an empty and with
a warm cache of machine code, and of calls after them), `walks` (functions, files and changes of package in a first step and in a
first step derivative), `bench` (rows of `linkwork bench all --quick`; only if asked for, as it takes long).
Bits hold for one kind of processor and the same versions of NumPy and LLVM: make both ledgers on one machine.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CODE = Path(__file__).with_name("ledger_parts.py")
PARTS = ("bits", "names", "tree", "times", "walks")
PROCESSES = 2  # of bits, side by side
BENCH_ROW_MAX = 1.08  # a row slower than this is listed
BENCH_MEAN_MAX = 1.03  # of the geometric mean over rows

Ledger = dict[str, Any]


# --- making ---------------------------------------------------------------------------------------------------------------------
def environment(source: Path, cache: str | None = None, **more: str) -> dict[str, str]:
    """Of a process that imports a tree, with one thread for each library."""
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    return {**os.environ, **threads, **more, "PYTHONPATH": str(source), **({"LINKWORK_CACHE": cache} if cache else {})}


def told(source: Path, *arguments: str, cache: str | None = None, **more: str) -> Any:
    """What `ledger_parts.py` prints last, in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(CODE), *arguments], capture_output=True, text=True, env=environment(source, cache, **more)
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def bits(source: Path) -> dict[str, str]:
    """Digests of all runs, by as many processes as `PROCESSES`; quick compilation gives the same bits."""
    env = environment(source, LINKWORK_LEVEL="0")
    command = [sys.executable, str(CODE), "bits"]
    jobs = [
        subprocess.Popen([*command, str(k), str(PROCESSES)], stdout=subprocess.PIPE, text=True, env=env) for k in range(PROCESSES)
    ]
    found: dict[str, str] = {}
    for job in jobs:
        out = job.communicate()[0]
        if job.returncode:
            raise SystemExit("bits: a process failed")
        found |= json.loads(out.splitlines()[-1])
    return dict(sorted(found.items()))


def times(source: Path) -> dict[str, dict[str, float]]:
    """CPU seconds of every first call: cold, warm, and again in the same process; the best of two processes each."""
    found: dict[str, dict[str, float]] = {}
    for name in told(source, "calls"):
        rows = []
        for _ in range(2):
            with tempfile.TemporaryDirectory() as cache:
                cold, warm = (told(source, "call", name, cache=cache) for _ in range(2))
                rows.append({"cold": cold["first"], "warm": warm["first"], "again": min(cold["again"], warm["again"])})
        found[name] = {key: min(row[key] for row in rows) for key in rows[0]}
    return found


def walks(source: Path) -> dict[str, Any]:
    """Functions, files and changes of package of first calls, cold and warm, and of second ones."""
    found = {}
    for name in ("first_step", "first_derivative"):
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = (told(source, "walk", name, cache=cache) for _ in range(2))
        found[name] = {"cold": cold["first"], "warm": warm["first"], "second": warm["second"]}
    return found


def tree(source: Path) -> dict[str, list[int]]:
    """Files and lines of every folder of the package."""
    base, found = source / "linkwork", {}
    for file in sorted([*base.rglob("*.py"), *base.rglob("*.js")]):
        row = found.setdefault(str(file.parent.relative_to(source)), [0, 0])
        row[0] += 1
        row[1] += len(file.read_text(encoding="utf-8").splitlines())
    return found


def bench(source: Path, names: list[str] | None = None) -> dict[str, float]:
    """Microseconds of every row of the benchmarks."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names or ["all"]:
            file = Path(folder) / f"{name}.json"
            command = [sys.executable, "-m", "linkwork", "bench", name, "--quick", "--json", str(file)]
            subprocess.run(command, check=True, env=environment(source), stdout=subprocess.DEVNULL)
            report = json.loads(file.read_text())
            tables = {name: report} if isinstance(report, list) else report["benchmarks"]
            for bench_name, table in tables.items():
                rows = table["rows"] if isinstance(table, dict) else table
                for row in rows:
                    if row.get("engine") == "linkwork" and "us" in row:
                        found[" ".join(map(str, (bench_name, row["case"], row["quantity"], row["mode"], row["threads"])))] = row[
                            "us"
                        ]
    return found


def made(source: Path, parts: list[str]) -> Ledger:
    """The ledger of a tree."""
    by_name = {"bits": bits, "tree": tree, "times": times, "walks": walks, "bench": bench}
    found: Ledger = {}
    for part in parts:
        print(f"{part} ...", file=sys.stderr, flush=True)
        found[part] = told(source, "names") if part == "names" else by_name[part](source)
    return found


# --- comparing ------------------------------------------------------------------------------------------------------------------
def compare(old: Ledger, new: Ledger) -> bool:
    """Print what changed; whether bits and names are as they were."""
    sound = True
    for part in (p for p in (*PARTS, "bench") if p in old and p in new):
        sound &= {"times": _times, "bench": _bench}.get(part, _values)(part, old[part], new[part])
    return sound


def _values(part: str, old: dict[str, Any], new: dict[str, Any]) -> bool:
    gone, more = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    other = [name for name in old if name in new and old[name] != new[name]]
    print(f"{part}: {len(old)} before, {len(new)} now; {len(other)} differ, {len(gone)} gone, {len(more)} new")
    for word, names in (("differs", other), ("gone", gone), ("new", more)):
        for name in names:
            values = f"{old.get(name, '')} -> {new.get(name, '')}" if part != "bits" else ""
            print(f"  {word:8}{name} {values}"[:220])
    return part not in ("bits", "names") or not (other or gone)


def _times(part: str, old: dict[str, dict[str, float]], new: dict[str, dict[str, float]]) -> bool:
    print(f"{part}: CPU seconds before -> now (ratio)")
    for name in (n for n in old if n in new):
        cells = [
            f"{key} {old[name][key]:.3g} -> {new[name][key]:.3g} ({new[name][key] / old[name][key]:.2f})" for key in old[name]
        ]
        print(f"  {name:28}{'   '.join(cells)}")
    return True


def _bench(part: str, old: dict[str, float], new: dict[str, float]) -> bool:
    ratios = {name: new[name] / old[name] for name in old if name in new and old[name] > 0}
    mean = math.exp(sum(map(math.log, ratios.values())) / max(1, len(ratios)))
    slow = {name: r for name, r in ratios.items() if r > BENCH_ROW_MAX}
    print(f"{part}: {len(ratios)} rows, geometric mean {mean:.3f}, {len(slow)} above {BENCH_ROW_MAX}")
    for name, ratio in sorted(slow.items(), key=lambda pair: -pair[1]):
        print(f"  {ratio:.2f}  {name}  {old[name]:.4g} -> {new[name]:.4g} us")
    return mean <= BENCH_MEAN_MAX


def beside(other: Path, own: Path, names: list[str], rounds: int) -> bool:
    """Benchmarks of two trees in processes turn about; the best of every row."""
    best: list[dict[str, float]] = [{}, {}]
    for _ in range(rounds):
        for k, source in enumerate((other, own)):
            for name, us in bench(source, names).items():
                best[k][name] = min(us, best[k].get(name, math.inf))
    return _bench("bench", *best)


# --- the command ----------------------------------------------------------------------------------------------------------------
def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("make", "check"):
        one = commands.add_parser(name)
        one.add_argument("file", type=Path)
        one.add_argument("--source", type=Path, default=ROOT / "src")
        one.add_argument("--part", nargs="+", choices=[*PARTS, "bench"], default=list(PARTS))
    two = commands.add_parser("diff")
    two.add_argument("files", type=Path, nargs=2)
    turns = commands.add_parser("bench")
    turns.add_argument("trees", type=Path, nargs=2)
    turns.add_argument("names", nargs="*")
    turns.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if given.command == "bench":
        return not beside(*(path.resolve() for path in given.trees), given.names, given.rounds)
    if given.command == "diff":
        return not compare(*(json.loads(file.read_text()) for file in given.files))
    if given.command == "check":
        old = json.loads(given.file.read_text())
        parts = [part for part in given.part if part in old]
        return not compare(old, made(given.source.resolve(), parts))
    ledger = made(given.source.resolve(), given.part)
    known = json.loads(given.file.read_text()) if given.file.exists() else {}
    given.file.write_text(json.dumps(known | ledger, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
