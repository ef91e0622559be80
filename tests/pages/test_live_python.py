"""Sessions of viser in a browser: a drag moves the body, buttons and sliders act on what runs in Python, nothing complains."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import re
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages.conftest import OWN, READY
from pages.live_models import chain

import linkwork as lw
from linkwork.view.session.door import Door
from linkwork.view.session.server import SECRET_HEADER

pytest.importorskip("viser")
THEIRS = ("THREE.Clock: This module has been deprecated", "Unable to preventDefault inside passive event")  # viser's client
HERE = re.compile(r"https?://127\.0\.0\.1:|wss?://127\.0\.0\.1:|data:|blob:")
Opened = Callable[..., tuple[Any, Any]]


def hanging() -> tuple[lw.Model, lw.State]:
    """Three rods that hang almost straight down, damped."""
    model = chain().build()
    return model.add(*(lw.JointDamping(b.name, 0.4) for b in model.bodies)), lw.State(np.full(3, 0.01), np.zeros(3))


@pytest.fixture
def watched(browser: Any) -> Iterator[Opened]:
    """Opens the page of a session, runs it in a thread, and sees that nothing complains or asks another host."""
    context = browser.new_context(viewport={"width": 700, "height": 480})
    context.set_default_timeout(READY)
    complaints: list[str] = []
    opened: list[tuple[lw.view.Session, threading.Thread]] = []

    def heard(message: Any) -> None:
        if message.type in ("error", "warning") and not any(own in message.text for own in (*OWN, *THEIRS)):
            complaints.append(message.text)

    def open_page(session: lw.view.Session, control: Any = None) -> tuple[Any, Any]:
        thread = threading.Thread(target=session.run, args=(control,), kwargs={"duration": 120.0})
        opened.append((session, thread))
        thread.start()
        page = context.new_page()
        page.on("console", heard)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda r: None if "//127.0.0.1:" in r.url or r.url.startswith(("data:", "blob:")) else complaints.append(r.url),
        )
        page.goto(session.address)
        until(page, lambda: session.server.get_clients())
        page.get_by_role("button", name="Pause").wait_for()
        page.wait_for_timeout(500)  # the scene is drawn
        return page, next(iter(session.server.get_clients().values()))

    yield open_page
    context.close()
    for session, thread in opened:
        session.end()
        thread.join(20.0)
        session.close()
        assert not thread.is_alive()
    assert complaints == []


def until(page: Any, condition: Callable[[], Any]) -> None:
    """Wait for something that comes by itself."""
    for _ in range(600):
        if condition():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it never came")


def press_until_held(page: Any, session: lw.view.Session, begin: tuple[float, float], end: tuple[float, float]) -> None:
    """Press the mouse and drag until a body is held; again if the press came before the page had drawn the body there."""
    for _ in range(20):
        page.mouse.move(*begin)
        page.mouse.down()
        page.mouse.move(0.5 * (begin[0] + end[0]), 0.5 * (begin[1] + end[1]), steps=4)
        page.mouse.move(*end, steps=4)
        for _ in range(30):
            if session.hands.held:
                return
            page.wait_for_timeout(100)
        page.mouse.up()
    raise AssertionError("no press took hold of a body")


def on_screen(client: Any, point: Any) -> tuple[float, float]:
    """Where the camera of a client sees a point, in pixels."""
    from scipy.spatial.transform import Rotation

    camera = client.camera
    w, x, y, z = camera.wxyz
    right, down, ahead = Rotation.from_quat([x, y, z, w]).inv().apply(np.asarray(point, float) - camera.position)
    scale = 0.5 * camera.image_height / np.tan(0.5 * camera.fov) / ahead
    return 0.5 * camera.image_width + scale * right, 0.5 * camera.image_height + scale * down


def place(session: lw.view.Session, body: int, point: Any) -> np.ndarray:
    E = lw.kinematics(session.sim.model, session.sim.state.q).poses[body]
    return E[:3, :3] @ point + E[:3, 3]


def test_the_panel_says_what_is_not_drawn(watched: Opened, tmp_path: Path) -> None:
    lost = lw.MeshFile(tmp_path / "{1 + 1} <b>.stl")
    b = lw.ModelBuilder().body("arm", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.sphere(1.0, 0.1), visuals=[lost])
    page, _ = watched(lw.view.live(lw.Simulator(b.build())))
    page.get_by_text("not drawn: ?1 + 1? ?b?.stl: cannot read").wait_for()


def test_a_drag_moves_the_body(watched: Opened) -> None:
    """The last rod follows the mouse, and the chain follows the rod; let go, it swings back."""
    model, state = hanging()
    session = lw.view.live(lw.Simulator(model, state), plot=("rod0", "rod2"))
    page, client = watched(session)
    tip = (0.0, 0.0, -0.2)
    before, upper = place(session, 2, tip), place(session, 0, (0, 0, -0.4))
    x, y = on_screen(client, before)
    press_until_held(page, session, (x, y), (x - 120, y - 110))
    hold = next(iter(session.hands.held.values()))
    assert hold.body == 2
    assert np.abs(hold.point - tip).max() < 0.08
    begin = session.sim.t
    until(page, lambda: session.sim.t > begin + 1.0)
    after = place(session, 2, tip)
    assert session.pull is not None
    assert session.pull[0] == "rod2"
    assert session.pull[1] > 1.0
    page.get_by_text("the hand pulls rod2 with").wait_for()
    assert np.linalg.norm(after - before) > 0.15
    assert np.linalg.norm(after - hold.target) < 0.15
    assert np.linalg.norm(place(session, 0, (0, 0, -0.4)) - upper) > 0.03
    page.mouse.up()
    until(page, lambda: not session.hands.held)
    begin = session.sim.t
    until(page, lambda: session.sim.t > begin + 1.0)
    assert np.linalg.norm(place(session, 2, tip) - after) > 0.05


def test_buttons_sliders_and_recordings(watched: Opened) -> None:
    """Pause stands still, Step goes one step, Reset returns bitwise; gravity off leaves the energy of motion alone."""
    model, state = hanging()
    asked: list[float] = []
    session = lw.view.live(lw.Simulator(model, state, 2e-3), sliders={"rod2.mass": (0.1, 5.0)})
    gain = session.slider("gain", 0.0, 10.0, 4.0)
    goal = session.target("goal", (0.3, 0.0, 0.5))

    def control(t: float, state: Any) -> np.ndarray:
        asked.append(gain.value)
        return gain.value * np.array([goal.p[0], 0.0, 0.0])

    page, _ = watched(session, control)
    until(page, lambda: session.sim.t > 0.3)
    assert asked[-1] == 4.0
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Run", exact=True).wait_for()
    t, q = session.sim.t, session.sim.state.q
    page.get_by_role("button", name="Step").click()
    until(page, lambda: session.sim.t > t)
    page.wait_for_timeout(200)
    assert session.sim.t == pytest.approx(t + 2e-3)
    assert not np.array_equal(session.sim.state.q, q)
    page.get_by_role("button", name="Reset").click()
    until(page, lambda: session.sim.t == 0.0)
    assert np.array_equal(session.sim.state.q, state.q)
    for label, value in (("gravity, m/s²", 0.0), ("rod2.mass", 2.0)):
        session.panel.numbers[label].value = value
    until(page, lambda: not session.sim.model.gravity.any())
    until(page, lambda: session.sim.given.bodies[2].inertia.mass == 2.0)
    session.ask(session.record)
    page.get_by_role("button", name="Run", exact=True).click()
    until(page, lambda: session.recorded > 100)
    session.ask(lambda: session.record(False))
    until(page, lambda: session.recordings)
    run = session.recordings[-1]
    expected = lw.simulate(run.model, run[0], run.t[-1] - run.t[0], 2e-3, tau=run.tau[0])
    assert np.array_equal(run.q, expected.q)
    page.get_by_role("button", name="End").click()
    until(page, lambda: not session._busy)


def test_a_door_asks_for_its_token() -> None:
    """Beyond this machine nobody comes in without the token, nor pages of other sites; bytes go through."""
    session = lw.view.live(lw.Simulator(*hanging()), host="0.0.0.0")
    try:
        token, port = session.address.partition("token=")[2], session._door.port
        assert len(token) >= 32
        ours = {"Cookie": f"linkwork-{port}={token}"}
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        upgrade["Sec-WebSocket-Key"] = "dGVzdHRlc3R0ZXN0dGVzdA=="
        cases: list[tuple[str, dict[str, str], int]] = [
            ("/", {}, 403),
            ("/?token=wrong", {}, 403),
            ("/", {"Cookie": f"linkwork-{port}=wrong"}, 403),
            (f"/?token={token}", {}, 303),
            ("/", ours, 200),
            ("/", upgrade, 403),
            ("/", {**ours, **upgrade, "Origin": "http://elsewhere.example"}, 403),
            ("/", {**ours, **upgrade, "Origin": f"http://127.0.0.1:{port}"}, 101),
        ]
        for path, headers, status in cases:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            assert answer.status == status, (path, headers, answer.read())
            if status == 303:
                assert f"linkwork-{port}={token}" in (answer.getheader("Set-Cookie") or "")
            connection.close()
    finally:
        session.close()


STRANGE_HOSTS = (
    "evil.com@127.0.0.1",
    "127.0.0.1@evil.com",
    "localhost.evil.com",
    "[::1",
    "[::1]x",
    "127.0.0.1:port",
    "127.0.0.1:1:2",
    "localhost#",
    "localhost/",
    "local\u00adhost",
    "0x7f.1",
    "127.1",
    "",
)


def listening() -> set[int]:
    """TCP ports on which this process listens."""
    tables = (Path(f"/proc/self/net/{name}").read_text().splitlines()[1:] for name in ("tcp", "tcp6"))
    rows = [row.split() for table in tables for row in table]
    sockets = {link.readlink().name if link.exists() or link.is_symlink() else "" for link in Path("/proc/self/fd").iterdir()}
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets}


def received(port: int, request: bytes) -> bytes:
    """All that a port answers to a request until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        found = b""
        with contextlib.suppress(ConnectionResetError):
            while data := connection.recv(65536):
                found += data
        return found


UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGVzdHRlc3R0ZXN0dGVzdA==\r\n"
)


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="reads open ports from /proc")
def test_ports_behind_the_door_answer_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    before = listening()
    session = lw.view.live(lw.Simulator(*hanging()))
    try:
        inner = listening() - before - {session._door.port}
        assert inner
        for port in inner:
            host = f"Host: 127.0.0.1:{port}\r\n"
            guess = f"{SECRET_HEADER}: guess\r\n"
            for more in ("", UPGRADE, guess, guess + guess, UPGRADE + "Origin: null\r\n"):
                assert received(port, f"GET / HTTP/1.1\r\n{host}{more}\r\n".encode()) == b"", more
        door = session._door.port
        assert received(door, f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{door}\r\n\r\n".encode()).startswith(b"HTTP/1.1 200")
        for host in STRANGE_HOSTS:
            assert b"403" in received(door, f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode("latin-1"))
    finally:
        session.close()
    assert "Traceback" not in "".join(capfd.readouterr())


ELSEWHERE = """<script>
async function get(port) {
  let bytes = 0;
  const address = "127.0.0.1:" + port;
  for (const mode of ["cors", "no-cors"])
    try { bytes += (await (await fetch("http://" + address, {mode})).arrayBuffer()).byteLength; } catch (e) {}
  await new Promise(done => {
    const s = new WebSocket("ws://" + address);
    s.onopen = () => { bytes += 1; done(); };
    s.onmessage = m => { bytes += 1; done(); };
    s.onerror = s.onclose = done;
  });
  await new Promise(done => {
    const s = document.createElement("script");
    s.src = "http://" + address + "/index.html"; s.onload = () => { bytes += 1; done(); }; s.onerror = done;
    document.head.append(s);
  });
  return bytes;
}
</script>"""


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="reads open ports from /proc")
def test_a_page_of_another_origin_gets_no_byte_from_any_port(browser: Any) -> None:
    before = listening()
    session = lw.view.live(lw.Simulator(*hanging()))
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    page = browser.new_page()
    try:
        page.goto(f"http://localhost:{site.server_port}/")
        for port in listening() - before - {site.server_port}:
            assert page.evaluate("get", port) == 0
    finally:
        page.close()
        site.shutdown()
        site.server_close()
        session.close()


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """A page of another origin that reads from ports of this machine."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(ELSEWHERE.encode())

    def log_message(self, *_: object) -> None:
        pass


def test_a_door_on_this_machine_is_for_this_machine() -> None:
    door = Door("127.0.0.1", 0, 1, None, "secret")
    try:
        assert door.answer(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:5000\r\n\r\n") == b""
        assert door.answer(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") == b""
        assert b"403" in door.answer(b"GET / HTTP/1.1\r\nHost: rebound.example\r\n\r\n")
        assert b"403" in door.answer(b"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://elsewhere.example\r\n\r\n")
        assert b"400" in door.answer(b"nonsense\r\n\r\n")
        for host in STRANGE_HOSTS:
            assert b"403" in door.answer(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode("latin-1")), host
            assert b"403" in door.answer(f"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://{host}\r\n\r\n".encode("latin-1"))
        assert b"400" in door.answer(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: rebound.example\r\n\r\n")
        included = b"Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Site: cross-site"
        assert b"403" in door.answer(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + included + b"\r\n\r\n")
        opened = b"Sec-Fetch-Mode: navigate\r\nSec-Fetch-Site: cross-site"
        assert door.answer(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + opened + b"\r\n\r\n") == b""
        with pytest.raises(lw.InputError, match=r"cannot listen at 127\.0\.0\.1"):
            Door("127.0.0.1", door.port, 1, None, "secret")
    finally:
        door.close()
