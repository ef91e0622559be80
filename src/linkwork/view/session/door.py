"""The door of a session: a port before viser's own that lets in who may come in.

viser serves everybody who reaches its port, and pages of any site may open WebSockets to it. So it listens on the loopback
device, at a port that answers only requests with a secret of this session, and here, at the port that is printed, every
connection is looked at first:

    Host      on the loopback device it must name it, with or without a port: other names lead here by tricks with DNS
    Origin    where a browser says one, the page must be from here; where it says only that another page asks (Sec-Fetch-Site),
              the request must open a page: what other pages include is refused
    token     where a token is asked for, the first address has it (?token=...), and a cookie from then on

A request that passes gets the secret as one more header, and all else is passed on byte by byte. A connection is looked at once:
viser's server answers one request on each.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import re
import threading
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from ...errors import InputError
from .server import SECRET_HEADER

LONGEST = 1 << 16  # bytes of the head of a request
PATIENCE = 10.0  # s until it is there
CHUNK = 1 << 16
LOOPBACK_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?", re.IGNORECASE)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Door:
    """Listens at a host and port (0: any) until it is closed, in a thread of its own.

    inside   the port on the loopback device to which it leads
    token    that is asked for; None: everybody on this machine may come in
    secret   the header SECRET_HEADER of requests that are passed on (see `server.closed_server`)
    port     at which it listens
    """

    def __init__(self, host: str, port: int, inside: int, token: str | None, secret: str) -> None:
        self.host, self.inside, self.token, self.port, self._secret = host, inside, token, port, secret
        self._loop, self._ready, self._failure = asyncio.new_event_loop(), threading.Event(), ""
        self._thread = threading.Thread(target=self._serve, name="linkwork door", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure:
            self._thread.join()
            raise InputError(f"a session cannot listen at {host}:{port}: {self._failure}")

    @property
    def address(self) -> str:
        """What to open in a browser."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    def close(self) -> None:
        """Listen no more; all connections end."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join(5.0)

    def _serve(self) -> None:
        self._loop.run_until_complete(self._listen())
        self._loop.close()

    async def _listen(self) -> None:
        self._end, self._guests = asyncio.Event(), set[asyncio.Task[None]]()
        try:
            server = await asyncio.start_server(self._come_in, self.host, self.port, limit=LONGEST)
        except (OSError, OverflowError) as error:
            self._failure = str(error)
            self._ready.set()
            return
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._end.wait()
        server.close()
        for guest in self._guests:
            guest.cancel()
        await asyncio.gather(*self._guests, return_exceptions=True)

    async def _come_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        guest = asyncio.current_task()
        assert guest is not None
        self._guests.add(guest)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
                answer = self.answer(head)
                if answer:
                    writer.write(answer)
                    await writer.drain()
                else:
                    await self._pass_on(head, reader, writer)
        finally:
            self._guests.discard(guest)
            writer.close()

    def answer(self, head: bytes) -> bytes:
        """What to answer to a request with this head; nothing if it may come in."""
        first, _, rest = head.decode("latin-1").partition("\r\n")
        pairs = [(name.strip().lower(), value.strip()) for name, _, value in (e.partition(":") for e in rest.split("\r\n") if e)]
        headers = dict(pairs)
        words = first.split(" ")
        if len(words) != 3 or any(sum(name == once for name, _ in pairs) > 1 for once in ("host", "origin")):
            return _reply("400 Bad Request", "this is no request")
        host, origin = headers.get("host", ""), headers.get("origin")
        if is_loopback(self.host) and not LOOPBACK_HOST.fullmatch(host):
            return _reply("403 Forbidden", f"this session is for this machine alone, not for {host!r}")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return _reply("403 Forbidden", "pages of other sites may not come in")
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate":
            return _reply("403 Forbidden", "pages of other sites may not read from here")
        if self.token is None or self._known(headers.get("cookie", "")):
            return b""
        given = parse_qs(words[1].partition("?")[2]).get("token", [""])[0]
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return _reply("403 Forbidden", "open the address that was printed: it has a token")
        cookie = f"Set-Cookie: {self._cookie}={self.token}; Path=/; HttpOnly; SameSite=Lax\r\n"
        return _reply("303 See Other", "come in", f"Location: /\r\n{cookie}")

    @property
    def _cookie(self) -> str:
        return f"linkwork-{self.port}"  # all ports of a host share their cookies

    def _known(self, cookies: str) -> bool:
        try:
            found = SimpleCookie(cookies).get(self._cookie)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), (self.token or "").encode())

    async def _pass_on(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, here = await asyncio.open_connection("127.0.0.1", self.inside)
        try:
            here.write(head[:-2] + f"{SECRET_HEADER}: {self._secret}\r\n\r\n".encode())
            await asyncio.gather(_copied(reader, here), _copied(there, writer))
        finally:
            here.close()


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """All bytes, until one side ends."""
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


def _reply(status: str, words: str, more: str = "") -> bytes:
    body = f"{words}\n".encode()
    plain = f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
    return f"HTTP/1.1 {status}\r\n{more}{plain}\r\n".encode() + body
