"""viser's server, as quiet and as closed as a session needs it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ...errors import InputError


def quiet_server(title: str) -> Any:
    """viser's server, on this machine alone, at any port; it says nothing, and nobody can share it with the world."""
    try:
        import viser
    except ImportError as error:
        raise InputError('live sessions need viser: pip install "linkwork[viser]"') from error
    with _quiet():
        server = viser.ViserServer(host="127.0.0.1", port=0, label=title, verbose=False)
    server.request_share_url = lambda *_, **__: None
    return server


def stop(server: Any) -> None:
    with _quiet():
        server.stop()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without viser's words on the terminal."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
