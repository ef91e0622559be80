"""How a scene is looked at: what the page starts with. Everything can be changed in the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Camera:
    """Where one looks from: angles in degrees, from the broad side and a little from above where nothing is said.

    azimuth     about z, from +x toward +y: 0 looks along -x, -90 along +y
    elevation   above the horizon
    zoom        how much larger than what shows the whole motion
    target      the point in the middle (3,); that of the motion if None
    still       frame the start of the motion alone, not all of it
    follow      go with the bodies; by default where they go farther than six times their size
    """

    azimuth: float | None = None
    elevation: float = 15.0
    zoom: float = 1.0
    target: tuple[float, float, float] | None = None
    still: bool = False
    follow: bool | None = None

    def values(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Look:
    """What of a scene is shown.

    camera   where one looks from
    show     further layers to start with: "joints" (axes), "limits", "frames", "collision", "contacts", ...
    hide     layers not to start with
    trails   names of bodies whose centres of mass leave a line behind; the last bodies of every branch if None
    strobe   how many moments of the motion are drawn at once, pale
    theme    "light", "dark", or "auto": as the browser asks
    """

    camera: Camera = Camera()
    show: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()
    trails: tuple[str, ...] | None = None
    strobe: int = 0
    theme: str = "auto"
