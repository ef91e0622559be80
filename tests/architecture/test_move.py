"""The tool that moves and joins modules: on a small tree, imports of every form lead to where things are then."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "move.py"
FILES = {
    "src/linkwork/__init__.py": "",
    "src/linkwork/a/__init__.py": "from .one import first\n",
    "src/linkwork/a/one.py": """\
'''Firsts.'''

from __future__ import annotations

import math

BASE = 1


def first() -> int:
    return math.floor(BASE)
""",
    "src/linkwork/a/two.py": """\
'''Seconds.'''

from .one import first as f
from ..b.deep import third


def second() -> int:
    return f() + third()
""",
    "src/linkwork/a/six.py": """\
'''Sixths.'''

from .one import first


def sixth() -> int:
    return 6 * first()
""",
    "src/linkwork/b/__init__.py": "",
    "src/linkwork/b/deep.py": """\
'''Thirds.'''


def third() -> int:
    from ..a.one import first  # when asked

    return 2 + first()
""",
    "tests/test_it.py": """\
from linkwork.a import one
from linkwork.a.two import second
import linkwork.b.deep as d

assert one.first() + second() + d.third() == 8
""",
    "docs/page.md": "See `a/one.py` and `linkwork.a.one`; not a/onetwo.py.\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def tool() -> Any:
    spec = importlib.util.spec_from_file_location("move", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["move"] = module
    spec.loader.exec_module(module)
    return module


def runs(tree: Path) -> None:
    code = (tree / "tests" / "test_it.py").read_text()
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(tree / "src")})


def test_a_module_moves_with_all_that_imports_it(tree: Path) -> None:
    move = tool()
    runs(tree)
    move.carry_out(move.table("a.one > b.other.first_things"), tree)
    (tree / "src/linkwork/b/other/__init__.py").write_text("")
    assert not (tree / "src/linkwork/a/one.py").exists()
    runs(tree)
    assert (
        tree / "docs/page.md"
    ).read_text() == "See `b/other/first_things.py` and `linkwork.b.other.first_things`; not a/onetwo.py.\n"
    assert "from .other.first_things import first  # when asked" in (tree / "src/linkwork/b/deep.py").read_text()


def test_modules_are_joined(tree: Path) -> None:
    move = tool()
    move.carry_out(move.table("a.one, a.six > a.both"), tree)
    text = (tree / "src/linkwork/a/both.py").read_text()
    assert text.startswith('"""Firsts.')
    assert text.count("import math") == 1
    assert "import first" not in text
    assert "# --- Sixths" in text
    runs(tree)


def test_what_does_not_go_together_is_refused_and_nothing_is_written(tree: Path) -> None:
    move = tool()
    before = {f: f.read_text() for f in tree.rglob("*.py")}
    with pytest.raises(move.ConflictError, match="'first' is known as 'f'"):
        move.carry_out(move.table("a.one, a.two > a.both"), tree)
    (tree / "src/linkwork/a/six.py").write_text("BASE = 2\n")
    before[tree / "src/linkwork/a/six.py"] = "BASE = 2\n"
    with pytest.raises(move.ConflictError, match=r"'BASE' stands in linkwork\.a\.one and in linkwork\.a\.six"):
        move.carry_out(move.table("a.one, a.six > a.both"), tree)
    assert {f: f.read_text() for f in tree.rglob("*.py")} == before
