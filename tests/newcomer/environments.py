"""Fresh environments as users have them: a Python, what `pip install` brings, an empty kernel cache, no source tree."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

OLDEST = (3, 11)
NEWEST_TRIED = 30  # minor versions that are looked for


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and the folder in which its user works."""

    prefix: Path
    home: Path

    @staticmethod
    def made(python: str, folder: Path) -> Environment:
        """A new one of a Python, in a folder of its own."""
        subprocess.run([python, "-m", "venv", str(folder / "venv")], check=True, capture_output=True)
        return Environment(folder / "venv", folder)

    def call(self, command: str, within: Path | None = None, **more: str) -> str:
        """What a command line prints; it must succeed."""
        own = {
            "PATH": f"{self.prefix / 'bin'}:/usr/bin:/bin",
            "HOME": str(self.home),
            "LINKWORK_CACHE": str(self.home / "kernels"),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        kept = {name: x for name, x in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_"))}
        done = subprocess.run(
            ["bash", "-c", command], cwd=within or self.home, env=kept | own | more, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout


def pythons() -> dict[tuple[int, int], str]:
    """The Pythons of this machine that can run linkwork, by version: on the path, and those that pyenv keeps."""
    on_path = [shutil.which(f"python3.{minor}") for minor in range(OLDEST[1], NEWEST_TRIED)]
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: dict[tuple[int, int], str] = {}
    for python in (*filter(None, on_path), *map(str, sorted(kept.glob("3.*/bin/python")))):
        version = _version(python)
        if version is not None and version >= OLDEST:
            found.setdefault(version, python)
    return dict(sorted(found.items()))


def _version(python: str) -> tuple[int, int] | None:
    """The version of an interpreter that answers and can make environments."""
    asked = "import ensurepip, sys, venv; print(*sys.version_info[:2])"
    done = subprocess.run([python, "-c", asked], capture_output=True, text=True)
    if done.returncode:
        return None
    major, minor = done.stdout.split()
    return int(major), int(minor)
