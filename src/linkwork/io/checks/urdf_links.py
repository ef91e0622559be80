"""Links of a URDF file: masses, inertias beside the shapes that they belong to, meshes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...errors import LinkworkError
from ..element import Element
from ..urdf.records import Link
from ..urdf.values import number, numbers, origin
from .findings import DOUBT, ERROR, NOTE, Finding

REPAIR = "correct it, or load with inertia='repair'"
HEAVY = 5000.0  # kg: rather grams
OFF = 20.0  # times the moments of the shape, or less than one part in as many
MESHES = (".stl", ".obj", ".dae", ".ply")


def check_link(link: Link, element: Element, moves: bool, mass: float, reach: float) -> Iterator[Finding]:
    """What is to be said of one link.

    moves   whether its joint moves
    mass    of all that is fixed to it, itself included
    reach   distance to the farthest joint on it
    """
    who = f"link {link.name!r}"
    inertial = next((c for c in element.children if c.tag == "inertial"), None)
    line = element.line if inertial is None else inertial.line
    if inertial is None:
        if moves and mass <= 0:
            remedy = "add <inertial> with mass and moments of inertia, or fix it to a link that has them"
            yield Finding(ERROR, f"{who} moves and has no <inertial>, so no mass", remedy, line)
        return
    if link.mass < 0:
        yield Finding(ERROR, f"{who} has the negative mass {link.mass:g}", "a mass is positive", line)
        return
    if link.mass == 0:
        if moves and mass <= 0:
            yield Finding(ERROR, f"{who} moves and has mass 0", "give it its mass", line)
        return
    if link.mass > HEAVY:
        yield Finding(DOUBT, f"{who} has {link.mass:g} kg", "masses are in kg; grams must be divided by 1000", line)
    yield from _tensor(link, element, who, line, reach, ERROR if moves else DOUBT)


def _tensor(link: Link, element: Element, who: str, line: int, reach: float, level: str) -> Iterator[Finding]:
    """Inertias that cannot be are errors where they move by themselves: fixed to others they may do no harm."""
    moments = np.linalg.eigvalsh(link.tensor)
    if moments[0] < 0:
        shown = ", ".join(f"{x:.3g}" for x in moments)
        yield Finding(level, f"{who}: its principal moments of inertia ({shown}) are not all positive", REPAIR, line)
        return
    if moments[2] > moments[:2].sum() * (1 + 1e-6) + 1e-15:
        shown = f"{moments[2]:.3g} > {moments[0]:.3g} + {moments[1]:.3g}"
        what = f"{who}: no body has these moments of inertia: one is above the sum of the others, {shown}"
        yield Finding(level, what, REPAIR, line)
        return
    if not moments[2]:
        yield Finding(DOUBT, f"{who} has mass and no moments of inertia: a point", "give those of its shape", line)
        return
    size = _size(element)
    if size is not None:
        like = np.sort(link.mass / 12.0 * (size @ size - size**2))
        ratio = float(moments[2] / like[2]) if like[2] else 0.0
        if ratio > OFF or ratio < 1.0 / OFF:
            what = f"{who}: its moments of inertia are {ratio:.2g} times those of a box of its mass with the size of its shape"
            yield Finding(DOUBT, what, f"a uniform box would have {like[2]:.3g} kg m^2; check units (m, kg)", line)
    elif reach:
        gyration = float(np.sqrt(moments[2] / link.mass))
        if gyration > 10.0 * reach:
            what = f"{who}: its radius of gyration {gyration:.3g} m is {gyration / reach:.0f} times the distance to its joints"
            yield Finding(DOUBT, what, "check units (kg m^2)", line)


def _size(link: Element) -> np.ndarray | None:
    """The edges (3,) of the box around the shapes of a link, where they are boxes, balls and cylinders; sorted."""
    ends: list[np.ndarray] = []
    for tag in ("collision", "visual"):
        for part in (c for c in link.children if c.tag == tag):
            pose = origin(next((c for c in part.children if c.tag == "origin"), None))
            R, p = np.abs(np.asarray(pose.R, float)), np.asarray(pose.p, float)
            shapes = [shape for geometry in part.children if geometry.tag == "geometry" for shape in geometry.children]
            halves = [R @ (0.5 * edges) for shape in shapes if (edges := _edges(shape)) is not None]
            ends += [end for half in halves for end in (p - half, p + half)]
        if ends:
            break
    return np.sort(np.ptp(ends, axis=0)) if ends else None


def _edges(shape: Element) -> np.ndarray | None:
    """The edges of the box around a shape, in its own axes; None of meshes."""
    try:
        if shape.tag == "box":
            return numbers(shape, "size", 3, "")
        if shape.tag == "sphere":
            return np.full(3, 2.0 * number(shape, "radius"))
        if shape.tag == "cylinder":
            r = 2.0 * number(shape, "radius")
            return np.array([r, r, number(shape, "length")])
    except LinkworkError:
        pass
    return None


def check_meshes(root: Element, file: Path) -> Iterator[Finding]:
    """Meshes that are named and are not there, and those that are there and nobody names."""
    named = [e for e in root.walk() if e.tag == "mesh" and e.attributes.get("filename")]
    missing = set()
    used = set()
    for element in named:
        name = element.attributes["filename"]
        plain = name.split("://", 1)[-1]
        used.add(Path(plain).name.lower())
        if "://" in name:
            continue  # a package may be anywhere
        if name not in missing and not (file.parent / plain).is_file():
            missing.add(name)
            remedy = f"paths are relative to {file.parent.name or '.'}/"
            yield Finding(DOUBT, f"the mesh {name!r} is not there", remedy, element.line)
    folders = {(file.parent / e.attributes["filename"]).parent for e in named if "://" not in e.attributes["filename"]}
    spare = [p.name for f in sorted(folders) if f.is_dir() for p in sorted(f.iterdir()) if p.suffix.lower() in MESHES]
    spare = [name for name in spare if name.lower() not in used]
    if spare:
        more = f" and {len(spare) - 3} more" if len(spare) > 3 else ""
        yield Finding(NOTE, f"meshes beside it that it does not use: {', '.join(spare[:3])}{more}")
