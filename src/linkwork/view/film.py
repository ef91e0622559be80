"""The run as a film (`.mp4`, where ffmpeg is) or an animated picture (`.gif`)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..look import Look
from ..store.files import whole_file
from .painter import painter_of

if TYPE_CHECKING:
    from ..trajectory import Trajectory

RATE = 30  # frames a second
FRAMES = 900  # at most: longer runs are shown faster
PIXELS = 640
GIF_FRAMES, GIF_RATE, GIF_PIXELS = 200, 20, 360


def images(
    trajectory: Trajectory, rate: int = RATE, pixels: int = PIXELS, most: int = FRAMES, look: Look | None = None
) -> Iterator[np.ndarray]:
    """Pictures (pixels, pixels, 3) at even times, as many a second as `rate`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    painter = painter_of(trajectory, look)
    t = trajectory.t[: len(painter.poses)]
    count = min(most, max(2, round(rate * float(t[-1] - t[0])) + 1)) if len(t) > 1 else 1
    at = np.clip(np.searchsorted(t, np.linspace(t[0], t[-1], count)), 0, len(t) - 1)
    figure = Figure(figsize=(pixels / 100, pixels / 100), dpi=100)
    canvas = FigureCanvasAgg(figure)
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    for k in at:
        ax.clear()
        painter.paint(ax, np.array([k]))
        canvas.draw()
        yield np.asarray(canvas.buffer_rgba())[..., :3].copy()


def write_film(trajectory: Trajectory, path: Path, look: Look | None = None) -> None:
    """Write an `.mp4` (H.264) through ffmpeg."""
    ffmpeg = shutil.which("ffmpeg")
    if ffmpeg is None:
        raise InputError(f"cannot write {path.name}: films are made by ffmpeg, which is not installed; a .gif needs nothing")
    with whole_file(path) as part:
        command = [ffmpeg, "-loglevel", "error", "-y", "-f", "rawvideo", "-pixel_format", "rgb24"]
        command += ["-video_size", f"{PIXELS}x{PIXELS}", "-framerate", str(RATE), "-i", "-"]
        command += ["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", str(part)]
        pipe = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        assert pipe.stdin is not None
        try:
            for image in images(trajectory, look=look):
                pipe.stdin.write(image.tobytes())
        except BrokenPipeError:
            pass  # ffmpeg says why
        _, said = pipe.communicate()
        if pipe.returncode:
            raise InputError(f"cannot write {path.name}: ffmpeg says {said.decode(errors='replace').strip()[-200:]!r}")


def write_gif(trajectory: Trajectory, path: Path, look: Look | None = None) -> None:
    """Write a `.gif`."""
    from PIL import Image

    frames = [Image.fromarray(x) for x in images(trajectory, GIF_RATE, GIF_PIXELS, GIF_FRAMES, look)]
    with whole_file(path) as part:
        frames[0].save(part, format="GIF", save_all=True, append_images=frames[1:], duration=1000 // GIF_RATE, loop=0)
