"""The page that shows all scenes, and the pictures on it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ..store.files import whole_file

if TYPE_CHECKING:
    from ..scenes import Scene

PICTURES = (Path(__file__).parents[1] / "pictures", Path(__file__).parents[3] / "docs" / "pictures")  # of a wheel, of a clone
SUFFIXES = (".png", ".jpg", ".webp", ".svg")
STYLE = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-weight: 600; margin: 0 0 .3rem; } p.lead { margin: 0 0 1.5rem; opacity: .75; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1rem; }
a.card { color: inherit; text-decoration: none; border: 1px solid #8884; border-radius: .6rem; overflow: hidden; display: block; }
a.card:hover, a.card:focus { border-color: #3b82c4; box-shadow: 0 2px 12px #0003; }
a.card img { width: 100%; aspect-ratio: 4/3; object-fit: contain; background: #fff; display: block; }
a.card div { padding: .6rem .8rem .8rem; } a.card b { display: block; } code { font-size: .85em; opacity: .7; }
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>{head}<style>{style}</style></head><body>
{body}
</body></html>
"""


def write_gallery(scenes: Sequence[Scene], folder: Path) -> Path:
    """Write index.html with a card for every scene, and the pictures beside it."""
    cards = "\n".join(_card(scene, write_picture(scene, folder)) for scene in scenes)
    lead = (
        "Click a scene to see it run. On the command line: <code>linkwork run NAME</code>, <code>linkwork run NAME --live</code>"
    )
    body = f'<h1>linkwork: {len(scenes)} scenes</h1><p class="lead">{lead}</p><main>\n{cards}\n</main>'
    return _written(folder / "index.html", "linkwork scenes", body)


def write_waiting(scene: Scene, folder: Path) -> Path:
    """A page in the place of a scene that has not run yet; it looks again by itself."""
    body = f"<h1>{escape(scene.name)}</h1><p>{escape(scene.description)}</p><p>This scene is being prepared; please wait.</p>"
    return _written(folder / f"{scene.name}.html", scene.name, body, '<meta http-equiv="refresh" content="2">')


def write_picture(scene: Scene, folder: Path) -> Path:
    """The picture of a scene: that which comes with linkwork, or one that is drawn at once."""
    for place in PICTURES:
        for suffix in SUFFIXES:
            if (place / f"{scene.name}{suffix}").is_file():
                return Path(shutil.copy(place / f"{scene.name}{suffix}", folder / f"{scene.name}{suffix}"))
    from ..view.painter import picture
    from .problem import problem_of
    from .standing import standing

    path = folder / f"{scene.name}.png"
    with whole_file(path) as part:
        problem = problem_of(scene.name)
        picture(standing(problem), moments=1, size=4.0, look=problem.look).savefig(part, format="png", dpi=100)
    return path


def _card(scene: Scene, picture: Path) -> str:
    text = f"<b>{escape(scene.name)}</b>{escape(scene.description)}"
    image = f'<img src="{escape(picture.name)}" alt="{escape(scene.description)}" loading="lazy">'
    return f'<a class="card" href="{escape(scene.name)}.html">{image}<div>{text}</div></a>'


def _written(path: Path, title: str, body: str, head: str = "") -> Path:
    with whole_file(path) as part:
        part.write_text(PAGE.format(title=escape(title), head=head, style=STYLE, body=body), encoding="utf-8")
    return path
