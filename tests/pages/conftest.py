"""A headless Chromium for the real pages: opened from file://, networking off, every complaint on the console an error."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
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
OWN = ("GPU stall due to ReadPixels", "Automatic fallback to software WebGL")  # what the browser says about itself
LOCAL = ("file:", "data:", "blob:", "about:")
READY = 60_000  # ms; the machine may be busy


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if BROWSER is None:
        pytest.skip("there is no Chromium on this machine: install Debian's `chromium`")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as play:
        started = play.chromium.launch(executable_path=BROWSER, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page from disk, and waits until it is drawn; at the end nothing may have complained."""
    context = browser.new_context(viewport={"width": 600, "height": 420}, offline=True)
    context.set_default_timeout(READY)
    complaints: list[str] = []

    def heard(message: Any) -> None:
        if message.type in ("error", "warning") and not any(own in message.text for own in OWN):
            complaints.append(message.text)

    def open_page(path: Path, fragment: str = "") -> Any:
        page = context.new_page()
        page.on("console", heard)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request", lambda r: None if r.url.startswith(("file:", "data:", "blob:", "about:")) else complaints.append(r.url)
        )
        page.goto(path.resolve().as_uri() + fragment)
        page.wait_for_selector("html[data-ready=yes]", state="attached")
        return page

    yield open_page
    context.close()
    assert complaints == []
