"""Pictures of all scenes and of some robots, by a headless Chromium out of their own pages: docs/pictures, docs/gallery.md.

    python tools/pictures.py              # all of them
    python tools/pictures.py leg panda    # some

Robots with meshes need `pip install "linkwork[peers]"`; the browser is Debian's `chromium`, driven by `playwright`.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import linkwork as lw
from linkwork.scenes import ALL_SCENES
from linkwork.view import Camera, Look
from linkwork.view.html import still, write_page

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
SIZE = {"width": 480, "height": 360}
QUALITY = 82
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run"]


def scene_run(name: str) -> tuple[lw.Trajectory, Look]:
    """A scene up to the moment of its picture."""
    scene, shot = ALL_SCENES[name], ALL_SCENES[name].shot
    model, state = scene.build(**shot.options)
    inputs = scene.inputs(model) if scene.inputs and isinstance(model, lw.Model) else None
    duration = scene.dt * max(1, round(shot.moment / scene.dt))
    return lw.simulate(model, state, duration, scene.dt, scene.methods[0], inputs=inputs), shot.look


def robot(path: str, posture: dict[str, float], height: float | None, camera: Camera) -> tuple[lw.Trajectory, Look]:
    """A robot of example-robot-data, standing still."""
    package = distribution("example-robot-data")
    folder = Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    model = lw.load(folder / path, floating=height is not None, inertia="repair")
    q = model.neutral()
    if height is not None:
        q[2] = height
    for body in model.bodies:
        for part, angle in posture.items():
            if part in body.joint_name and body.joint.nq == 1:
                q[model.q_index(body.joint_name)] = angle
    return still(model, q), Look(camera)


def robots() -> dict[str, Callable[[], tuple[lw.Trajectory, Look]]]:
    front = Camera(azimuth=35, elevation=12)
    bent = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3, "shoulder_pitch": 0.3, "elbow": 0.8}
    dog = {f"{end}_HFE": x for end, x in (("LF", 0.4), ("RF", 0.4), ("LH", -0.4), ("RH", -0.4))}
    dog |= {f"{end}_KFE": x for end, x in (("LF", -0.8), ("RF", -0.8), ("LH", 0.8), ("RH", 0.8))}
    arm = {"joint2": -0.5, "joint4": -2.2, "joint6": 1.8, "joint7": 0.8, "finger": 0.03}
    tall = {f"leg_{side}_{k}": x for side in ("left", "right") for k, x in ((3, -0.45), (4, 0.9), (5, -0.45))}
    tall |= {"arm_left_2": 0.3, "arm_right_2": -0.3, "arm_left_4": -1.2, "arm_right_4": -1.2}
    return {
        "panda": lambda: robot("panda_description/urdf/panda.urdf", arm, None, Camera(azimuth=-50, elevation=12)),
        "g1": lambda: robot("g1_description/urdf/g1_29dof_rev_1_0.urdf", bent, 0.76, front),
        "anymal": lambda: robot("anymal_b_simple_description/robots/anymal.urdf", dog, 0.5, Camera(azimuth=40, elevation=16)),
        "talos": lambda: robot("talos_data/robots/talos_full_v2.urdf", tall, 1.02, front),
    }


def pages(names: list[str], folder: Path) -> Iterator[tuple[str, Path]]:
    """Every page as it is written."""
    makers = robots()
    for name in names or [*ALL_SCENES, *makers]:
        run, look = makers[name]() if name in makers else scene_run(name)
        path = folder / f"{name}.html"
        write_page(run, path, look)
        yield name, path


def taken(browser: Any, path: Path) -> Image.Image:
    """The picture of the last moment of a page, as near as it fits, the trails with it."""
    page = browser.new_page(viewport=SIZE, device_scale_factor=2, offline=True)
    page.goto(path.as_uri() + "#still")
    page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=120_000)
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    page.evaluate("document.body.classList.add('picture')")
    page.evaluate("linkwork.show(linkwork.film.end); linkwork.scene.lookAtNow()")
    shot = page.locator("#stage canvas").screenshot()
    page.close()
    return Image.open(io.BytesIO(shot)).convert("RGB").resize((SIZE["width"], SIZE["height"]), Image.Resampling.LANCZOS)


ROBOTS = {"panda": "Franka's arm", "g1": "Unitree's humanoid", "anymal": "ANYbotics' quadruped", "talos": "PAL's humanoid"}


def gallery() -> str:
    """The page of all pictures."""
    scenes = [(name, scene.description, f"`linkwork run {name}`") for name, scene in ALL_SCENES.items()]
    robots = [(name, text, "`linkwork view FILE.urdf`") for name, text in ROBOTS.items()]
    lines = [
        "# All scenes",
        "",
        "Made by `python tools/pictures.py` out of the pages that `linkwork run SCENE` writes ([what is drawn](view.md)).",
        "",
        *_table(scenes),
        "",
        "Robots of the package example-robot-data, with the meshes of their files:",
        "",
        *_table(robots),
    ]
    return "\n".join(lines) + "\n"


def _table(entries: list[tuple[str, str, str]], columns: int = 3) -> list[str]:
    rows = [f"| {' | '.join([' '] * columns)} |", f"|{' --- |' * columns}"]
    for k in range(0, len(entries), columns):
        cells = [
            f"![{name}](pictures/{name}.webp)<br>**{name}**: {text}<br>{how}" for name, text, how in entries[k : k + columns]
        ]
        rows.append(f"| {' | '.join(cells + [' '] * (columns - len(cells)))} |")
    return rows


def main(names: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as play, tempfile.TemporaryDirectory() as folder:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, path in pages(names, Path(folder)):
            picture = taken(browser, path)
            file = FOLDER / f"{name}.webp"
            picture.save(file, quality=QUALITY, method=6)
            spread = float(np.asarray(picture, float).std())
            print(f"{name:16} {file.stat().st_size / 1e3:5.1f} kB, contrast {spread:.0f}", flush=True)
        browser.close()
    (FOLDER.parent / "gallery.md").write_text(gallery(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
