"""Assemblies of parts of any kind as pages: bodies that scale and shear move by whole matrices.

What lives in a plane stands upright.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..assembly import Assembly, conditions
from ..assembly.interactions import Spring
from ..assembly.motion import AssemblyRun
from ..assembly.part import Framed
from ..errors import InputError
from ..geometry import Capsule, Ellipsoid, Shape, Sphere
from ..look import Look
from ..spatial.se3 import SE3
from ..store.files import whole_file
from .bones import turned_to
from .bundle import assembled, script_of
from .description import VERSION, colors
from .packed import as_json, packed
from .recording import COORDINATES, chosen
from .solids import Solids

UPRIGHT = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])  # from a plane to space: (x, y) becomes (x, 0, y)
SLIM = 0.05  # radius of a bone, of its length
SMALL = 0.02  # radius of a particle, of the size of everything


def describe_assembly(assembly: Assembly, title: str = "assembly", look: Look | None = None) -> dict[str, Any]:
    """The scene description of an assembly; its bodies are its parts, in their order."""
    look = look or Look()
    for name, part in zip(assembly.names, assembly.parts, strict=True):
        if not isinstance(part, Framed):
            raise InputError(f"part {name!r}: only parts with a frame can be drawn, not a {type(part).__name__}")
    frames = part_frames(assembly, assembly.start.q[None])[0]
    size = float(np.ptp(frames[:, :, 3], axis=0).max()) or 1.0
    solids, ends = Solids(), _pins(assembly)
    for i, part in enumerate(assembly.parts):
        for shape in _shapes(part, ends[i], size):
            solids.add(i, shape)
    bodies = [
        {"name": name, "parent": -1, "com": [0.0, 0.0, 0.0], "color": color, "mass": float(part.moments[-1, -1])}  # pyright: ignore
        for (name, part), color in zip(zip(assembly.names, assembly.parts, strict=True), colors(len(frames)), strict=True)
    ]
    layers = dict.fromkeys(("shapes", "paths", "trails"), True) | {"frames": False}
    return {
        "version": VERSION,
        "title": title,
        "bodies": bodies,
        "shapes": solids.shapes,
        "meshes": solids.meshes(),
        "planes": [],
        "paths": _paths(assembly),
        "joints": [],
        "loops": [],
        "frames": [],
        "guides": [],
        "trails": [],
        "camera": look.camera.values(),
        "layers": layers,
        "theme": look.theme,
        "gravity": assembly.gravity.tolist(),
        "notes": [],
    }


def part_frames(assembly: Assembly, q: np.ndarray) -> np.ndarray:
    """The matrices (records, parts, 3, 4) that carry local points of all parts into space."""
    found = np.zeros((len(q), len(assembly.parts), 3, 4))
    for i, (name, part) in enumerate(zip(assembly.names, assembly.parts, strict=True)):
        for k, x in enumerate(q[:, assembly.q_index(name)]):
            F = np.asarray(part.frame(x), float)  # pyright: ignore[reportAttributeAccessIssue]
            A, p = F[:, :-1], F[:, -1]
            lift = UPRIGHT if part.space == 2 else np.eye(3)
            whole = np.eye(3)
            if A.shape[1] == 2:
                whole = np.column_stack([lift @ A[:, 0], [0.0, 1.0, 0.0], lift @ A[:, 1]])
            elif A.shape[1] == 3:
                whole = A
            found[k, i] = np.column_stack([whole, lift @ p])
    return found


def assembly_page(assembly: Assembly, run: AssemblyRun, title: str = "assembly", look: Look | None = None) -> str:
    """The text of the page of a single run."""
    if run.q.ndim != 2:
        raise InputError("assembly_page: give a single run, not a batch")
    k = chosen(run.times, len(assembly.parts))
    matrices = part_frames(assembly, run.q[k])
    energy = np.array([assembly.energy(run.state(int(i))) for i in k])
    names = [f"{name} {j}" for name, part in zip(assembly.names, assembly.parts, strict=True) for j in range(part.nx)]
    recording = {
        "t": packed(run.times[k]),
        "poses": packed(matrices.reshape(len(k), len(assembly.parts), 12)),
        "energy": [{"name": "total", "unit": "J", "values": packed(energy)}],
        "curves": [{"name": name, "unit": "", "values": packed(run.q[k, i])} for i, name in enumerate(names[:COORDINATES])],
        "levels": [],
        "lines": [],
        "contacts": None,
    }
    worst = {"name": "conditions", "value": f"{float(np.abs(run.residual).max(initial=0.0)):.3g}", "meaning": "largest residual"}
    summary = f"{len(assembly.parts)} parts, {len(assembly.conditions)} conditions, {run.times[-1] - run.times[0]:.6g} s"
    words = {"summary": summary, "notes": [], "health": [worst], "strobe": (look or Look()).strobe}
    scene = describe_assembly(assembly, title, look)
    data = {"scene": as_json(scene), "recording": as_json(recording), "words": as_json(words)}
    return assembled(title, script_of("recorded"), data)


def write_assembly(assembly: Assembly, run: AssemblyRun, path: str | Path, look: Look | None = None) -> Path:
    """Write `assembly_page`, titled after the file."""
    path = Path(path)
    with whole_file(path) as part:
        part.write_text(assembly_page(assembly, run, path.stem, look), encoding="utf-8")
    return path


def _pins(assembly: Assembly) -> list[list[np.ndarray]]:
    """For every part the points where it is pinned, in its axes."""
    found: list[list[np.ndarray]] = [[] for _ in assembly.parts]
    for c in assembly.conditions:
        if isinstance(c, (conditions.Pin, conditions.Distance)):
            for name, at in zip(c.parts, (c.at_a, c.at_b), strict=False):
                if len(at) and not any(np.allclose(at, x) for x in found[assembly.names[name]]):
                    found[assembly.names[name]].append(np.asarray(at, float))
    return found


def _shapes(part: Any, ends: list[np.ndarray], size: float) -> list[Shape]:
    """A ball for a particle; bones between pins; else the ellipsoid with the second moments."""
    if len(part.moments) == 1:
        return [Sphere(SMALL * size)]
    mass = part.moments[-1, -1]
    com = _in_space(part.moments[:-1, -1] / mass)
    points = [_in_space(x) for x in ends]
    if len(points) == 1:
        points.append(2.0 * com - points[0])
    if len(points) > 1 and np.linalg.norm(points[1] - points[0]) > 1e-9:
        return [_bone(points[0], x) for x in points[1:]]
    centre = part.moments[:-1, -1] / mass
    spread, axes = np.linalg.eigh(part.moments[:-1, :-1] / mass - np.outer(centre, centre))
    radii = np.sqrt(5.0 * np.maximum(spread, 1e-4 * max(float(spread.max()), 1e-12)))
    if len(radii) == 2:
        return [Ellipsoid((radii[0], 0.3 * radii.max(), radii[1]), SE3(p=com))]
    return [Ellipsoid(radii, SE3(R=axes * np.sign(np.linalg.det(axes)), p=com))]


def _bone(a: np.ndarray, b: np.ndarray) -> Shape:
    length = float(np.linalg.norm(b - a))
    return Capsule(SLIM * length, (1.0 - SLIM) * length, SE3(R=turned_to((b - a) / length), p=0.5 * (a + b)))


def _paths(assembly: Assembly) -> list[dict[str, Any]]:
    """Springs as coils, distances as strands."""
    found = []
    for kind, laws in (("spring", assembly.interactions), ("strand", assembly.conditions)):
        for law in laws:
            if isinstance(law, (Spring, conditions.Distance)):
                owners = [*(assembly.names[name] for name in law.parts), -1][:2]  # a lone part is tied to the world
                points = [[i, _in_space(at).tolist()] for i, at in zip(owners, (law.at_a, law.at_b), strict=True)]
                found.append({"kind": kind, "name": kind, "points": points})
    return found


def _in_space(x: Any) -> np.ndarray:
    """A local point: nothing for particles, two numbers in a plane."""
    x = np.asarray(x, float)
    return np.zeros(3) if not len(x) else UPRIGHT @ x if len(x) == 2 else x
