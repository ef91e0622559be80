"""Chromium for tests of pages: without a window, drawing by the processor, networking off."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
READY = "html[data-ready=yes]"
OWN = ("GPU stall due to ReadPixels", "Automatic fallback to software WebGL")  # what the browser itself says


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser; the test is skipped where there is none."""
    api = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not installed")
    with api.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=str(CHROMIUM), args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, path: Path, size: tuple[int, int] = (640, 420), hash: str = "") -> Iterator[Any]:
    """A page from the disk, once it is ready; it must not say anything to the console."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, offline=True)
    page, said = context.new_page(), []
    page.on("console", functools.partial(_note, said))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.resolve().as_uri() + hash)
    page.wait_for_selector(READY, state="attached", timeout=60_000)
    yield page
    context.close()
    assert not said


def _note(said: list[str], message: Any) -> None:
    if not any(own in message.text for own in OWN):
        said.append(f"{message.type}: {message.text}")
