"""`linkwork cache`: the folder of compiled objects."""

from __future__ import annotations

import datetime

from .app import Flag, app, print_json


@app.command
def cache(*, clear: Flag = False, json: Flag = False) -> None:
    """Show where compiled objects are kept, how many there are and how large they may grow together.

    LINKWORK_CACHE names another folder, or off; LINKWORK_CACHE_SIZE how much it may hold (500M, 2G; 1G by default).

    Examples:
        linkwork cache
        linkwork cache --clear

    Parameters
    ----------
    clear
        Remove them all. They are compiled again when they are needed.
    json
        Print folder, number and bytes as JSON.
    """
    from ..kernel import cache_size

    found = cache_size.usage()
    if json:
        if clear and found is not None:
            cache_size.clear()
        print_json(
            None if found is None else {"folder": found.folder, "files": found.files, "size": found.size, "limit": found.limit}
        )
        return
    if found is None:
        print("compiled objects are not kept: LINKWORK_CACHE is off, or its folder cannot be used")
        return
    held = f"{found.files} compiled objects, {megabytes(found.size)}"
    if clear:
        cache_size.clear()
        print(f"{found.folder}: removed {held}")
        return
    print(f"{found.folder}: {held} of at most {megabytes(found.limit)}")
    if found.oldest is not None:
        print(f"not used for longest: since {datetime.datetime.fromtimestamp(found.oldest):%Y-%m-%d}")


def megabytes(size: int) -> str:
    """A size for people."""
    return f"{size / (1 << 20):.1f} MiB"
