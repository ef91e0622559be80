"""Live pages: how long they take to make, how large they are, and how fast they run: `python -m linkwork.bench.live [case ...]`

CPU seconds of the first page of a model in a process of its own, with an empty cache of machine code, and of the next one; size
of the module and of the file; microseconds per step in this process, in node and in Chromium, as far as they are installed.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..contact import Contact
from ..forces import PDController
from ..geometry.shapes import Plane
from ..live.program import LiveProgram, live_program
from ..live.save import live_page, page_source
from ..live.start import Start, start_of
from ..model import Model, State
from ..scenes import ALL_SCENES
from ..simulate import simulate
from .cold import measured
from .loaded_models import MECHANISMS

SECONDS = 2.0  # of timing, for each case and engine
STEPS = 100  # that are timed together: those of every round are the same
CHROMIUM = "/usr/bin/chromium"
FLAGS = ("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run")
Case = tuple[Any, State, float, str]  # model, state, step, method

MEASURE = """async (d) => {
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const s = await makeSimulation(bytes(d.module), bytes(d.image), d.manifest);
  const times = [], end = performance.now() + d.milliseconds;
  const repeats = Math.ceil(5 / (d.us * d.steps / 1000)); // clocks of browsers count tenths of milliseconds
  while (performance.now() < end || times.length < 5) {
    let spent = 0;
    for (let k = 0; k < repeats; k++) {
      s.reset();
      const begin = performance.now();
      s.go(d.steps);
      spent += performance.now() - begin;
    }
    times.push(spent / repeats / d.steps);
  }
  return 1000 * Math.min(...times);
}"""
COLD = """
import time
from linkwork.bench.live import start
begin = time.process_time()
case = start({case!r})
made = time.process_time()
from linkwork.live.program import live_program
from linkwork.live.save import live_page
for _ in range(2):
    text = live_page(case, live_program(case), "page")
    print(f"{{time.process_time() - made:.2f}}", end=" ")
    made = time.process_time()
"""


def humanoid() -> Case:
    """The G1 on its feet: controllers on all hinges, eight contacts with friction."""
    m = MECHANISMS["g1"]()
    drives = [PDController(name, 150.0, 4.0, [m.at(name)]) for name in m.hinges]
    contacts = [Contact(body, sphere, "world", Plane(), friction=0.7) for body, sphere in m.spheres]
    model = m.model.replace(elements=[*drives, *contacts])
    return model, State(m.q, np.zeros(model.nv)), 1e-3, "reduced"


def chain100() -> Case:
    """A chain of a hundred links, released."""
    m = MECHANISMS["chain100"]()
    return m.model, State(m.q, np.zeros(m.model.nv)), 1e-3, "reduced"


def _scene(name: str) -> Callable[[], Case]:
    def made() -> Case:
        scene = ALL_SCENES[name]
        return (*scene.build(), scene.dt, scene.methods[0])

    return made


CASES: dict[str, Callable[[], Case]] = {
    "pendulum": _scene("pendulum"),
    "elbow": _scene("elbow"),
    "chain100": chain100,
    "g1": humanoid,
    "stack": _scene("stack"),
    "drag": _scene("drag"),
}


def start(name: str) -> Start:
    """Where the page of a case begins."""
    model, state, dt, method = CASES[name]()
    return start_of(model, state, dt, method, None, None, None, "refuse", "hard", "exact", {})


def native_us(name: str) -> float:
    """Microseconds per step in this process, without handles."""
    model, state, dt, method = CASES[name]()
    times, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times) < 3:
        begin = time.perf_counter()
        simulate(model, state, STEPS * dt, dt, method, every=STEPS)
        times.append(time.perf_counter() - begin)
    return 1e6 * min(times) / STEPS


def _data(live: LiveProgram, us: float) -> dict[str, Any]:
    encoded = {name: base64.b64encode(x).decode() for name, x in (("module", live.module), ("image", live.image))}
    return encoded | {"manifest": live.manifest, "milliseconds": 1e3 * SECONDS, "steps": STEPS, "us": us}


def _engine() -> str:
    return page_source("simulation.js").replace("export ", "")


def node_us(live: LiveProgram, us: float) -> float | None:
    """The same in node; None where there is none."""
    if shutil.which("node") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.json"
        data.write_text(json.dumps(_data(live, us)))
        text = f"{_engine()}; ({MEASURE})(JSON.parse(require('fs').readFileSync({str(data)!r}))).then(console.log)"
        return float(subprocess.run(["node", "-e", text], capture_output=True, text=True, check=True).stdout)


def chromium_us(live: LiveProgram, us: float) -> float | None:
    """The same in Chromium; None where it or playwright is not installed."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if not Path(CHROMIUM).exists():
        return None
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page()
        page.add_script_tag(content=_engine())
        found = page.evaluate(MEASURE, _data(live, us))
        browser.close()
    return float(found)


HEAD = "case       bodies  first s  next s module KB  file KB  here us  node us Chromium us"


def rows(names: list[str]) -> None:
    """Print a line for every case."""
    print(HEAD)
    for name in names:
        with tempfile.TemporaryDirectory() as cache:
            cold = measured(COLD.format(case=name), cache)
        begun = start(name)
        live, us = live_program(begun), native_us(name)
        size = len(live_page(begun, live, name))
        model: Model = begun.given
        times = [f"{x:8.2f}" if x is not None else "       -" for x in (us, node_us(live, us), chromium_us(live, us))]
        first, _, then = cold.partition(" ")
        figures = f"{first:>8} {then:>7} {len(live.module) / 1e3:9.0f} {size / 1e3:8.0f}"
        print(f"{name:10} {model.nb:6} {figures} {' '.join(times)}", flush=True)


if __name__ == "__main__":
    rows(sys.argv[1:] or list(CASES))
