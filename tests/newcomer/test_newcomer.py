"""A newcomer follows the README word by word, in a fresh environment with nothing but what `pip install` brings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LARGEST = 600e6  # bytes of an environment
COLD = 60.0  # seconds of the first command after installation


def blocks(kind: str) -> list[str]:
    """The blocks of code of the README, in order."""
    return re.findall(rf"```{kind}\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone's files and a fresh environment, set up by the first command of the README."""
    folder = tmp_path_factory.mktemp("newcomer")
    clone = folder / "linkwork"
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in names:
        if not name.startswith("tests/") and (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, clone / name)
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    return folder


def inside(fresh: Path, command: str, timeout: float = 600) -> subprocess.CompletedProcess[str]:
    """A command line of a user of the fresh environment."""
    environment = {
        "PATH": f"{fresh / 'venv' / 'bin'}:/usr/bin:/bin",
        "HOME": str(fresh),
        "LINKWORK_CACHE": str(fresh / "kernels"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    kept = {name: x for name, x in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_"))}
    done = subprocess.run(
        ["bash", "-c", command], cwd=fresh / "linkwork", env=kept | environment, capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done


@pytest.mark.slow
def test_the_readme_word_by_word(fresh: Path) -> None:
    install, _, run = blocks("sh")[0].strip().partition(" && ")
    inside(fresh, install)
    size = sum(f.stat().st_size for f in (fresh / "venv").rglob("*") if f.is_file() and not f.is_symlink())
    assert size < LARGEST, f"{size / 1e6:.0f} MB"
    inside(fresh, "python -m pip check")
    begin = time.monotonic()
    inside(fresh, f"{run} --headless")
    assert time.monotonic() - begin < COLD
    page = fresh / "linkwork" / "runs" / "pendulum.html"
    assert page.stat().st_size > 50_000
    (fresh / "linkwork" / "readme.py").write_text("\n".join(blocks("python")), encoding="utf-8")
    told = inside(fresh, "python readme.py").stdout
    assert "bead" in told
    for name in ("run.html", "live.html"):
        _opened(fresh / "linkwork" / name)


def _opened(page: Path) -> None:
    """Open a page as a browser does, without a network, and look for errors."""
    sync = pytest.importorskip("playwright.sync_api")
    browser_path = shutil.which("chromium")
    if browser_path is None:
        pytest.skip("chromium is not installed")
    flags = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_path, args=flags)
        context = browser.new_context()
        context.set_offline(True)
        tab, errors = context.new_page(), []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(page.as_uri())
        tab.wait_for_selector("canvas", timeout=60_000)
        tab.wait_for_timeout(1500)
        browser.close()
    assert not errors
