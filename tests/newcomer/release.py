"""The files that a release consists of, and what must work once one of them is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from newcomer.environments import Environment

ROOT = Path(__file__).parents[2]
QUICKLY = {"LINKWORK_LEVEL": "0"}  # to the same bits


def built(source: Path, folder: Path, *kinds: str) -> list[Path]:
    """Releases of a source tree (`-t wheel`, `-t sdist`; both by default), made by the backend that pyproject.toml names."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *(x for kind in kinds for x in ("-t", kind))]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    return sorted(folder.iterdir())


def smoke(user: Environment) -> None:
    """`pip check`, what smoke.py does in Python, and a scene by the command line, in a folder outside of the source tree."""
    folder = user.home / "elsewhere"
    folder.mkdir(exist_ok=True)
    script = folder / "smoke.py"
    script.write_text((Path(__file__).parent / "smoke.py").read_text(encoding="utf-8"), encoding="utf-8")
    user.call("python -m pip check")
    assert "works" in user.call("python smoke.py", folder, **QUICKLY)
    user.call("linkwork run pendulum --headless --out runs", folder, **QUICKLY)
    assert (folder / "runs" / "pendulum.html").stat().st_size > 50_000
