"""Pages in the browser."""

from __future__ import annotations

import sys
from pathlib import Path


def open_page(page: Path) -> None:
    """Open a page in the browser, or say that there is none."""
    import webbrowser

    try:
        opened = webbrowser.open(page.resolve().as_uri())
    except (webbrowser.Error, OSError):
        opened = False
    if not opened:
        print(f"no browser was found; open {page} in one, or use --headless", file=sys.stdout)
