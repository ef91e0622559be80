"""`linkwork scenes`: what there is to run."""

from __future__ import annotations

from .app import app


@app.command
def scenes() -> None:
    """List the scenes with what they show."""
    from ..scenes import ALL_SCENES

    width = max(map(len, ALL_SCENES))
    for scene in ALL_SCENES.values():
        print(f"{scene.name:{width}}  {scene.description} ({scene.duration:g} s)")
