"""Move modules of the package, or join several into one, and rewrite what imports them in `src`, `tests`, `docs` and `tools`.

    python tools/move.py TABLE [--dry-run]       lines `old.module > new.module`; `a.one, a.two > b.both` joins in this order
    python tools/move.py old.module new.module

Modules are named from the package on (`kernel.sweep` is linkwork/kernel/sweep.py). A module that is moved keeps its text but for
its imports. Where several modules have one new name, their texts follow one another under one docstring (that of the first; each
of the others becomes a comment above its part), their imports are merged, and imports of one another go. Two parts that define
one name, or import two things under one name, are an error, and nothing is written. Paths such as `kernel/sweep.py` in prose
follow. Afterwards: `ruff check --fix`, `ruff format`, and the ledger.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "linkwork"
CODE = ("src", "tests", "tools", "benchmarks", "docs")
PROSE = (".md", ".py", ".toml", ".js", ".yml")

Moves = dict[str, str]  # old absolute module name -> new one


class ConflictError(Exception):
    """Two parts of a joined module do not go together."""


# --- names and files ------------------------------------------------------------------------------------------------------------
def absolute(name: str) -> str:
    """The absolute name of a module that a table names from the package on."""
    return name if name == PACKAGE or name.startswith(f"{PACKAGE}.") else f"{PACKAGE}.{name}"


def file_of(module: str, root: Path = ROOT) -> Path:
    """Where a module lies; a package is its `__init__.py`."""
    path = root / "src" / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def home_of(file: Path, root: Path = ROOT) -> list[str] | None:
    """The package that relative imports of a file start from; None outside of `src`."""
    try:
        return list(file.relative_to(root / "src").parent.parts)
    except ValueError:
        return None


def table(text: str) -> list[tuple[list[str], str]]:
    """Lines `old, old > new` as (old modules, new module)."""
    found = []
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if line:
            old, arrow, new = line.partition(">")
            if not arrow:
                raise SystemExit(f"no arrow in {line!r}; write: old.module > new.module")
            found.append(([absolute(x.strip()) for x in old.split(",")], absolute(new.strip())))
    return found


# --- imports --------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Place:
    """What an import statement of a file is seen from: its package before and after the moves."""

    before: tuple[str, ...] | None
    after: tuple[str, ...] | None


def target_of(node: ast.ImportFrom, place: Place) -> str | None:
    """The absolute module of an import, or None outside of the package."""
    if not node.level:
        return node.module
    if place.before is None:
        return None
    home = place.before[: len(place.before) - node.level + 1]
    return ".".join([*home, *([node.module] if node.module else [])])


def spelled(module: str, relative: bool, place: Place) -> str:
    """A module as an import names it: with dots from where the file lies then, or in full."""
    if not relative or place.after is None:
        return module
    parts, home = module.split("."), list(place.after)
    common = 0
    while common < min(len(parts), len(home)) and parts[common] == home[common]:
        common += 1
    if not common:
        return module
    return "." * (len(home) - common + 1) + ".".join(parts[common:])


def moved(module: str, moves: Moves) -> str:
    """Where a module is after the moves; modules inside a package that is moved go with it."""
    parts = module.split(".")
    for k in range(len(parts), 0, -1):
        new = moves.get(".".join(parts[:k]))
        if new is not None:
            return ".".join([new, *parts[k:]])
    return module


def rewritten(node: ast.ImportFrom | ast.Import, place: Place, moves: Moves) -> list[str]:
    """The statements that an import becomes."""
    if isinstance(node, ast.Import):
        return [f"import {', '.join(_as(moved(a.name, moves), a.asname) for a in node.names)}"]
    target = target_of(node, place)
    if target is None:
        return [ast.unparse(node)]
    groups: dict[str, list[str]] = defaultdict(list)
    for a in node.names:
        inner = f"{target}.{a.name}"
        if inner in moves:  # a module by its name: from .. import sweep
            home, _, own = moves[inner].rpartition(".")
            groups[home].append(_as(own, a.asname or (a.name if own != a.name else None)))
        else:
            groups[moved(target, moves)].append(_as(a.name, a.asname))
    return [f"from {spelled(module, bool(node.level), place)} import {', '.join(names)}" for module, names in groups.items()]


def _as(name: str, other: str | None) -> str:
    return f"{name} as {other}" if other else name


def with_imports(text: str, place: Place, moves: Moves) -> str:
    """A file's text with its imports as they are after the moves; statements that stay as they are keep their layout."""
    lines = text.splitlines(keepends=True)
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import | ast.ImportFrom)]
    for node in sorted(nodes, key=lambda n: -n.lineno):
        stays = Place(place.before, place.before)
        if rewritten(node, place, moves) == rewritten(node, stays, {}):
            continue
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        rest = lines[node.end_lineno - 1][node.end_col_offset :].rstrip("\n")  # a comment
        indent = " " * node.col_offset
        new = [f"{indent}{statement}{rest}\n" for statement in rewritten(node, place, moves)]
        lines[node.lineno - 1 : node.end_lineno] = new
    return "".join(lines)


# --- joining --------------------------------------------------------------------------------------------------------------------
def defined(node: ast.stmt) -> list[str]:
    """The names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]


def joined(new: str, parts: list[tuple[str, str]], moves: Moves) -> str:
    """One module of several: (name, text) each, in their order."""
    merged: dict[tuple[str, str], None] = {}
    typed: dict[tuple[str, str], None] = {}
    owner: dict[str, str] = {}
    bodies, first = [], ""
    home = tuple(new.split(".")[:-1])
    for name, text in parts:
        place = Place(tuple(name.split(".")[:-1]), home)
        tree, lines = ast.parse(text), text.splitlines(keepends=True)
        title = ast.get_docstring(tree, clean=False) or ""
        body, end = tree.body, 0
        if title:
            end = body[0].end_lineno or 0
            body = body[1:]
        first = first or title
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                _merge(node, place, moves, new, merged, owner)
                end = max(end, node.end_lineno or 0)
            elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                for inner in node.body:
                    assert isinstance(inner, ast.Import | ast.ImportFrom)
                    _merge(inner, place, moves, new, typed, owner)
                end = max(end, node.end_lineno or 0)
            else:
                break
        for node in body:
            for own in defined(node):
                if owner.setdefault(own, name) != name:
                    raise ConflictError(f"{new}: {own!r} stands in {owner[own]} and in {name}")
        rest = "".join(lines[end:]).strip("\n")
        rest = with_imports(rest, place, moves) if rest else rest
        heading = "" if not bodies else _heading(title)
        bodies.append(f"{heading}{rest}\n")
    head = [f'"""{first}"""\n', "from __future__ import annotations\n"]
    statements = [f"from {m} import {n}" if n else f"import {m}" for m, n in merged if m != "__future__"]
    inner = [f"    from {m} import {n}" if n else f"    import {m}" for m, n in typed]
    if inner:
        inner = ["", "if TYPE_CHECKING:", *inner]
    return "\n".join([*head, *statements, *inner, "", "", "\n\n".join(bodies)])


def _merge(
    node: ast.Import | ast.ImportFrom,
    place: Place,
    moves: Moves,
    new: str,
    into: dict[tuple[str, str], None],
    owner: dict[str, str],
) -> None:
    """Add what a statement imports, unless it comes from the joined module itself."""
    for statement in rewritten(node, place, moves):
        tree = ast.parse(statement).body[0]
        if isinstance(tree, ast.Import):
            into |= {(_as(a.name, a.asname), ""): None for a in tree.names}
            continue
        assert isinstance(tree, ast.ImportFrom)
        here = target_of(tree, Place(place.after, place.after))
        for a in tree.names:
            if here == new:
                if a.asname:
                    raise ConflictError(f"{new}: {a.name!r} is known as {a.asname!r} in a part")
                continue
            source, called = f"{here}.{a.name}", a.asname or a.name
            if owner.setdefault(called, source) != source:
                raise ConflictError(f"{new}: {called!r} is {owner[called]} and {source}")
            into[spelled(here or "", bool(tree.level), place), _as(a.name, a.asname)] = None


def _heading(title: str) -> str:
    line = title.strip().splitlines()[0] if title.strip() else ""
    return f"# --- {line.rstrip('.')}\n" if line else ""


# --- the whole tree -------------------------------------------------------------------------------------------------------------
def carry_out(rows: list[tuple[list[str], str]], root: Path = ROOT, dry: bool = False) -> list[Path]:
    """Move and join, and rewrite who imports what; the files that change."""
    moves: Moves = {old: new for olds, new in rows for old in olds}
    written: dict[Path, str] = {}
    for olds, new in rows:
        texts = [(old, file_of(old, root).read_text(encoding="utf-8")) for old in olds]
        target = file_of(new, root)
        if len(texts) > 1 or (target.exists() and new not in olds):
            if target.exists() and new not in olds:
                texts.insert(0, (new, target.read_text(encoding="utf-8")))
            written[target] = joined(new, texts, moves)
        else:
            written[target] = with_imports(texts[0][1], Place(tuple(olds[0].split(".")[:-1]), tuple(new.split(".")[:-1])), moves)
    gone = {file_of(old, root) for old in moves} - written.keys()
    paths = {f"{'/'.join(old.split('.')[1:])}.py": f"{'/'.join(new.split('.')[1:])}.py" for old, new in moves.items()}
    dotted = dict(moves)
    for folder in CODE:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in (".py", ".pyi", *PROSE) or file in gone or not file.is_file():
                continue
            before = file.read_text(encoding="utf-8")
            text = written.get(file, before)
            if file.suffix in (".py", ".pyi") and file not in written:
                home = home_of(file, root)
                at = tuple(home) if home is not None else None
                text = with_imports(text, Place(at, at), moves)
            for names in (paths, dotted):
                for old, new in sorted(names.items(), key=lambda pair: -len(pair[0])):
                    text = re.sub(rf"(?<![\w.]){re.escape(old)}(?![\w/])", new, text) if old in text else text
            if text != before:
                written[file] = text
    if not dry:
        for file, text in written.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for file in gone:
            file.unlink()
        subprocess.run(["git", "add", "-A", "--", *CODE], cwd=root, check=False)
    return sorted([*written, *gone])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", help="a table, or an old and a new module")
    parser.add_argument("--dry-run", action="store_true")
    given = parser.parse_args()
    if len(given.what) == 2:
        rows = [([absolute(given.what[0])], absolute(given.what[1]))]
    else:
        rows = table(Path(given.what[0]).read_text(encoding="utf-8"))
    try:
        changed = carry_out(rows, dry=given.dry_run)
    except ConflictError as conflict:
        print(conflict, file=sys.stderr)
        return 1
    for file in changed:
        print(file.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
