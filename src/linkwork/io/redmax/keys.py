"""The keys of scene files: one that nobody reads is said, one that is a known key misspelt is refused.

Files tell about themselves in keys of their own (`definition`, `force_law`, `note`), so a key that is not known may be meant for
readers alone; where it holds more than a text, it may not.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from .record import Record

ALIKE = 0.8  # of two keys, as difflib measures it: one is the other misspelt
TOLD = {"name", "definition", "force_law", "note", "notes"}
SCENE = {"schema", "id", "source", "units", "gravity", "bodies", "joints", "forces", "deformables", "constraints"}
SCENE |= {"time_functions", "integrators"} | TOLD
SHAPE = {
    "shape",
    "sides",
    "radius",
    "height",
    "cylinder_axis",
    "density",
    "parts",
    "mesh_file",
    "triangles",
    "volume",
    "E_mesh_body",
}
MOTION = {"motion", "equations"}
KEYS: dict[str, set[str]] = {
    "bodies": TOLD | SHAPE | {"mass", "inertia_diag", "E_ji", "damping"},
    "joints": TOLD
    | {"type", "parent", "body", "ndof", "axis", "E_pj0", "q0", "qd0", "stiffness", "damping", "geometry", "limits", "chart"}
    | {"control_frames", "control_values", "parts", "joints"},
    "forces": TOLD
    | {"type", "body", "x", "body1", "x1", "body2", "x2", "stiffness", "damping", "rest_length", "points"}
    | {"direction_world", "magnitude", "E_ground", "normal_stiffness", "tangential_stiffness", "mu"},
    "deformables": TOLD | {"type", "nodes", "stiffness", "mass", "damping", "body0", "r0", "body1", "r1"},
    "constraints": TOLD
    | MOTION
    | {"type", "joint", "joint_A", "joint_B", "factor", "body", "body_A", "body_B", "xA", "xB", "rows", "geometry"}
    | {"lower", "upper", "E_floor"},
    "time_functions": TOLD | {"type", "pieces"},
}
RUN = TOLD | {"tspan", "h", "steps", "expected_H", "pass_tolerance", "rel_tol", "abs_tol", "baumgarte"}
RUN |= {"friction", "mu_internal", "mu_external", "staggered_projection"}


def unread_keys(scene: Record) -> list[str]:
    """A line for every key with more than a text that nobody reads; raises where one is a known key misspelt."""
    found = [*_unknown(scene, SCENE)]
    for section, known in KEYS.items():
        found += [line for record in scene.records(section) for line in _unknown(record, known)]
    runs = scene.record("integrators")
    found += [line for name in runs.data if isinstance(runs.data[name], dict) for line in _unknown(runs.record(name), RUN)]
    return found


def _unknown(record: Record, known: set[str]) -> Iterator[str]:
    for key, value in record.data.items():
        if key in known:
            continue
        meant = [k for k in get_close_matches(key, known, 3, ALIKE) if k not in record.data]
        if meant:
            raise record.error(f"there is no key {key!r}; did you mean {meant[0]!r}?")
        if not isinstance(value, (str, bool, type(None))):
            yield f"{record.where}: the key {key!r} is not of the schema redmax-scene/1, and was not read"
