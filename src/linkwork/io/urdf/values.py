"""Numbers and poses out of attributes, checked."""

from __future__ import annotations

import numpy as np

from ...spatial.quaternion import to_rotation
from ...spatial.se3 import SE3
from ..element import Element

SNAP = 1e-10  # an angle of 1.57079632679 leaves 5e-12 where a zero was meant


def numbers(element: Element, name: str, count: int, default: str) -> np.ndarray:
    """An attribute of `count` finite numbers."""
    text = element.get(name)
    words = (default if text is None else text).split()
    if len(words) != count:
        raise element.error(f"{element.label}: {name} = {text!r} must be {count} numbers")
    return np.array([_number(element, name, word) for word in words])


def number(element: Element, name: str, default: float | None = None, infinite: bool = False) -> float:
    """An attribute of one number; without a default it must be there."""
    text = element.require(name) if default is None else element.get(name)
    return float(default or 0.0) if text is None else _number(element, name, text, infinite)


def _number(element: Element, name: str, text: str, infinite: bool = False) -> float:
    try:
        value = float(text if "_" not in text and text.isascii() else "")
    except ValueError:
        raise element.error(f"{element.label}: {name} = {text!r} is not a number") from None
    if np.isnan(value) or (np.isinf(value) and not (infinite and "inf" in text.lower())):  # 1e400 is no way to write infinity
        raise element.error(f"{element.label}: {name} = {text!r} is not finite")
    return value


def snapped(x: np.ndarray, tolerance: float = SNAP) -> np.ndarray:
    """The array with entries closer than the tolerance to 0, 1 or -1 made exact."""
    nearest = np.round(x)
    return np.where((np.abs(x - nearest) < tolerance) & (np.abs(nearest) <= 1.0), nearest, x) + 0.0  # + 0.0: no -0.0


def clean_rotation(R: np.ndarray) -> np.ndarray:
    """The rotation with entries snapped by 1e-10 if it then still is one to rounding, and only by rounding otherwise.

    Kernels fold exact entries. An angle of 1.5708, for one, is 4e-6 off a quarter turn; two of them leave single entries
    within 1e-10 of 0 and 1 that cannot be made exact without the others.
    """
    clean = snapped(R)
    return clean if np.abs(clean @ clean.T - np.eye(3)).max() < 1e-14 else snapped(R, 1e-15)


def placed(R: np.ndarray, p: np.ndarray) -> SE3:
    """A constant pose, its rotation cleaned."""
    return SE3(R=clean_rotation(R), p=p + 0.0)


def composed(A: SE3, B: SE3) -> SE3:
    """The product of constant poses, its rotation cleaned."""
    R, p = np.asarray(A.R, float), np.asarray(A.p, float)
    return placed(R @ np.asarray(B.R, float), R @ np.asarray(B.p, float) + p)


def origin(element: Element | None) -> SE3:
    """The pose of an `<origin xyz rpy>`, the identity if there is none: turns about fixed x, y, z by roll, pitch, yaw."""
    if element is None:
        return SE3()
    p = numbers(element, "xyz", 3, "0 0 0")
    if element.get("quat_xyzw") is not None:
        return placed(_of_quaternion(element), p)
    (cr, cp, cy), (sr, sp, sy) = (f(numbers(element, "rpy", 3, "0 0 0")) for f in (np.cos, np.sin))
    R = np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
    return placed(R, p)


def _of_quaternion(element: Element) -> np.ndarray:
    if element.get("rpy") is not None:
        raise element.error(f"{element.label} has both rpy and quat_xyzw; give one")
    x, y, z, w = quat = numbers(element, "quat_xyzw", 4, "")
    length = float(np.linalg.norm(quat))
    if abs(length - 1.0) > 1e-6:
        raise element.error(f"{element.label}: quat_xyzw has norm {length:.6g}, not 1")
    return np.asarray(to_rotation(np.array([w, x, y, z]) / length), float)
