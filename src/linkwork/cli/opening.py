"""Pages in the browser."""

from __future__ import annotations

import sys
from pathlib import Path


def open_page(page: Path) -> None:
    """Open a page in the browser, or say that there is none."""
    open_address(page.resolve().as_uri(), str(page))


def open_address(address: str, called: str = "") -> None:
    """The same of an address, which may be called otherwise."""
    import webbrowser

    try:
        opened = webbrowser.open(address)
    except (webbrowser.Error, OSError):
        opened = False
    if not opened:
        print(f"no browser was found; open {called or address} in one, or use --headless", file=sys.stdout)
