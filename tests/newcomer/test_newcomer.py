"""A newcomer follows the README word by word, in a fresh environment with nothing but what `pip install` brings."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from newcomer.environments import Environment
from newcomer.release import ROOT, built, smoke

LARGEST = 600e6  # bytes of an environment
COLD = 60.0  # seconds of the first command after installation


def blocks(kind: str) -> list[str]:
    """The blocks of code of the README, in order."""
    return re.findall(rf"```{kind}\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A clone's files beside a fresh environment."""
    folder = tmp_path_factory.mktemp("newcomer")
    clone = folder / "linkwork"
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in names:
        if not name.startswith("tests/") and (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, clone / name)
    return Environment.made(sys.executable, folder)


@pytest.mark.slow
def test_the_readme_word_by_word(fresh: Environment, tmp_path: Path) -> None:
    clone = fresh.home / "linkwork"
    install, _, run = blocks("sh")[0].strip().partition(" && ")
    fresh.call(install, clone)
    size = sum(f.stat().st_size for f in fresh.prefix.rglob("*") if f.is_file() and not f.is_symlink())
    assert size < LARGEST, f"{size / 1e6:.0f} MB"
    fresh.call("python -m pip check")
    begin = time.monotonic()
    fresh.call(f"{run} --headless", clone)
    assert time.monotonic() - begin < COLD
    page = clone / "runs" / "pendulum.html"
    assert page.stat().st_size > 50_000
    (clone / "readme.py").write_text("\n".join(blocks("python")), encoding="utf-8")
    told = fresh.call("python readme.py", clone)
    assert "bead" in told
    for name in ("run.html", "live.html"):
        _opened(clone / name)
    (sdist,) = built(ROOT, tmp_path, "sdist")  # the same environment with what users of a release get
    fresh.call(f"python -m pip uninstall -y linkwork && python -m pip install --no-compile {sdist}")
    smoke(fresh)


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
