"""The pictures of the gallery: one of every scene and of four robots, small enough to be kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from linkwork.scenes import ALL_SCENES
from linkwork.scenes.shots import SHOTS

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
NAMES = [*ALL_SCENES, "panda", "g1", "anymal", "talos"]


@pytest.mark.parametrize("name", NAMES)
def test_there_is_a_picture_with_something_in_it(name: str) -> None:
    picture = Image.open(FOLDER / f"{name}.webp")  # missing: python tools/pictures.py
    assert 300 <= picture.width <= 480
    colours = np.asarray(picture.convert("RGB"), float).reshape(-1, 3)
    background = np.median(colours, axis=0)
    assert np.mean(np.abs(colours - background).max(axis=1) > 40) > 0.004
    assert name in (FOLDER.parent / "gallery.md").read_text()


def test_they_are_small_and_every_shot_has_a_scene() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 5e6
    assert set(SHOTS) <= set(ALL_SCENES)
