"""Random trees and forests with every kind of joint that there is, custom ones among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from models import (
    CUSTOM,
    EGG,
    HELIX,
    HOOP,
    PAIRS,
    PLACEMENTS,
    SPLINES,
    Rng,
    positions,
    random_inertia,
    random_parents,
    random_state,
    some_kinds,
    unit,
)

import linkwork as lw


def ring(rng: Rng) -> lw.Torus:
    """A torus of random size."""
    return lw.Torus(rng.uniform(0.3, 0.5), rng.uniform(0.1, 0.2))


# Each kind of joint has one kind of placement: they share kernels across all trees.
KINDS: dict[str, tuple[Callable[[Rng], lw.Joint], str]] = {
    "fixed": (lambda rng: lw.Fixed(), "general"),
    "revolute": (lambda rng: lw.Revolute(unit(rng)), "general"),
    "revolute y": (lambda rng: lw.Revolute((0, 1, 0)), "turn_x"),
    "prismatic": (lambda rng: lw.Prismatic(unit(rng)), "shift"),
    "cylindrical": (lambda rng: lw.Cylindrical(unit(rng)), "general"),
    "helical": (lambda rng: lw.Helical(unit(rng), pitch=rng.uniform(-0.3, 0.3)), "turn_z"),
    "planar": (lambda rng: lw.Planar(), "permutation"),
    "free2d": (lambda rng: lw.Free2D(), "turn_y"),
    "translational": (lambda rng: lw.Translational(), "rotation"),
    "universal": (lambda rng: lw.Universal(), "along_x"),
    "spherical": (lambda rng: lw.Spherical(), "shift"),
    "spherical exp": (lambda rng: lw.SphericalExp(), "general"),
    "euler zyx": (lambda rng: lw.SphericalEuler("zyx"), "shift"),
    "euler xyz or xzx": (lambda rng: lw.SphericalEuler("xyz", "xzx"), "general"),
    "free": (lambda rng: lw.Free(), "general"),
    "free exp TR": (lambda rng: lw.FreeExp("TR"), "identity"),
    "free exp RT": (lambda rng: lw.FreeExp("RT"), "shift"),
    "slide and ball": (lambda rng: lw.Composite(lw.Prismatic(unit(rng)), lw.Spherical()), "general"),
    "slide and universal": (lambda rng: lw.Composite(lw.Prismatic((0, 0, 1)), lw.Universal()), "turn_x"),
    "custom": (lambda rng: CUSTOM["helix"], "general"),
    "torus pair": (lambda rng: lw.SurfaceSurface(ring(rng), ring(rng)), "identity"),
    "on ellipsoid": (lambda rng: lw.SurfacePoint(EGG, turning="spin"), "shift"),
    "hoop on ring": (lambda rng: lw.SurfaceCurve(ring(rng), HOOP), "general"),
    "hoop on helix": (lambda rng: lw.CurveCurve(HELIX, HOOP), "turn_x"),
    "along helix": (lambda rng: lw.CurvePoint(HELIX, turning="roll"), "shift"),
    "four-bar": (lambda rng: PAIRS["four-bar"], "general"),
    "torus": (lambda rng: CUSTOM["torus"], "general"),
    "rail": (lambda rng: CUSTOM["rail"], "general"),
    "spline curve": (lambda rng: SPLINES["spline" if rng.integers(2) else "spline of four frames"], "shift"),
    "closed spline curve": (lambda rng: SPLINES["closed spline"], "shift"),
    "spline surface": (lambda rng: SPLINES["surface of two"], "general"),
}
HIGHER_PAIRS = ("torus pair", "on ellipsoid", "hoop on ring", "hoop on helix", "along helix", "four-bar")
DRIVEN = {"revolute", "spherical", "cylindrical", "helical", "custom"}  # with armature and damping


def random_forest(seed: int, n: int, kinds: Sequence[str], roots: Sequence[str] = ()) -> lw.Model:
    """Bodies "b0", "b1", ... on joints of the kinds named, added in any order; those on the world may be of further kinds.

    "b0" moves.
    """
    rng = np.random.default_rng([seed, n, 7])
    parents = random_parents(rng, n)
    builder = lw.ModelBuilder(gravity=rng.normal(size=3) * 5.0)
    order = rng.permutation(n)
    places = positions(parents, order)
    for i in order:
        names = some_kinds([*kinds, *roots] if parents[i] < 0 else kinds, places[i])
        kind = names[rng.integers(i == 0 and names[0] == "fixed", len(names))]
        make, placement = KINDS[kind]
        joint = make(rng)
        drives = ("armature", "damping") if kind in DRIVEN else ()
        properties: dict[str, Any] = {name: rng.uniform(0.05, 0.3, joint.nv) for name in drives}
        builder.body(
            f"b{i}",
            parent="world" if parents[i] < 0 else f"b{parents[i]}",
            joint=joint,
            placement=PLACEMENTS[placement](rng),
            inertia=random_inertia(rng),
            **properties,
        )
    return builder.build()


def lengths(joint: lw.Joint) -> list[int]:
    """Which coordinates of a joint are lengths."""
    if isinstance(joint, lw.Composite):
        return lengths(joint.first) + [joint.first.nq + k for k in lengths(joint.second)]
    known: dict[type, list[int]] = {lw.Cylindrical: [1], lw.Free2D: [0, 1], lw.Free: [0, 1, 2]}
    every = isinstance(joint, lw.Prismatic | lw.Planar | lw.Translational)
    return list(range(joint.nq)) if every else known.get(type(joint), [])


def compact_state(model: lw.Model, seed: int) -> lw.State:
    """Joints that slide stay within a third of a metre, as far as bodies are apart: the mass matrix is well conditioned."""
    state = random_state(model, seed)
    q = state.q.copy()
    for body in model.bodies:
        q[[model.q_index(body.name).start + k for k in lengths(body.joint)]] *= 0.1
    return lw.State(q, state.v)
