"""viser's server, as quiet and as closed as a session needs it."""

from __future__ import annotations

import contextlib
import hmac
import http
import threading
from collections.abc import Iterator
from typing import Any

from ...errors import InputError

SECRET_HEADER = "X-Linkwork-Session"  # of requests that came through the door of a session
_PATCH = threading.Lock()  # one server at a time starts with its own way of looking at requests


def closed_server(title: str, secret: str) -> Any:
    """viser's server on a loopback port that answers nobody but the session's door; it prints nothing and shares nothing.

    secret   the value of the header SECRET_HEADER that the door adds to each request; connections without it end without a byte
    """
    try:
        import viser
    except ImportError as error:
        raise InputError('live sessions need viser: pip install "linkwork[viser]"') from error
    with _quiet(), _only_with(secret) as used:
        server = viser.ViserServer(host="127.0.0.1", port=0, label=title, verbose=False)
    if not used:
        stop(server)
        raise InputError(f"viser {viser.__version__} serves in a way that a session cannot close to others; install viser 1.1")
    server.request_share_url = lambda *_, **__: None
    return server


@contextlib.contextmanager
def _only_with(secret: str) -> Iterator[list[bool]]:
    """viser's WebSocket servers that are started meanwhile look for the secret first; the list has an entry for each of them."""
    from websockets.asyncio import server as sockets

    used: list[bool] = []

    def serve(handler: Any, *place: Any, process_request: Any, **options: Any) -> Any:
        used.append(True)

        def look_first(connection: Any, request: Any) -> Any:
            given = request.headers.get_all(SECRET_HEADER)
            if len(given) != 1 or not hmac.compare_digest(given[0].encode(), secret.encode()):
                connection.transport.abort()
                return connection.respond(http.HTTPStatus.FORBIDDEN, "")
            return process_request(connection, request)

        return before(handler, *place, process_request=look_first, **options)

    with _PATCH:
        before, sockets.serve = sockets.serve, serve
        try:
            yield used
        finally:
            sockets.serve = before


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
