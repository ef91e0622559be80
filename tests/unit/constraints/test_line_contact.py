"""Surfaces that touch along a line: refused by name, with what to take instead, before anything is computed with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.geometry.bending import most_bending
from linkwork.geometry.surfaces import as_surface

TURNED = lw.SE3.exp(np.array([0.4, -0.3, 0.8, 0.1, 0.2, -0.1]))
SQUARE = ((-2.0, 2.0), (-2.0, 2.0))
BENT = {  # in how many directions
    "plane": (lw.Plane((0, 0, 0.3), (0.6, 0, 0.8)), 0),
    "plane of a function": (lw.ParametricSurface(lambda u: [u[0], u[1], u[0] + u[1]], SQUARE), 0),
    "plane as an equation": (lw.ImplicitSurface(lambda x: np.exp(x[0] + 0.3 * x[2]) - 1.0), 0),
    "cylinder": (lw.Cylinder(0.1, 0.4, TURNED), 1),
    "thin cylinder": (lw.Cylinder(0.01, 4.0), 1),
    "cone": (lw.ParametricSurface(lambda u: [u[1] * np.cos(u[0]), u[1] * np.sin(u[0]), u[1]], ((0, 6.28), (0.1, 1))), 1),
    "trough": (lw.ImplicitSurface(lambda x: x[2] - 0.1 * x[0] ** 2), 1),
    "sphere": (lw.Sphere(0.1), 2),
    "torus": (lw.Torus(0.3, 0.1), 2),
    "saddle": (lw.ParametricSurface(lambda u: [u[0], u[1], u[0] * u[1]], SQUARE), 2),
    "slight bowl": (lw.ImplicitSurface(lambda x: x[2] - 0.1 * x[0] ** 2 - 0.01 * x[1] ** 2), 2),
}


@pytest.mark.parametrize("kind", BENT)
def test_in_how_many_directions_surfaces_bend(kind: str) -> None:
    shape, directions = BENT[kind]
    assert most_bending(as_surface("test", shape)) == directions


def roller(law: lw.TangentSurfaces) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("roller", joint=lw.Free(), inertia=lw.Inertia.cuboid(1.0, (0.1, 0.1, 0.1)))
    return b.add(law).build()


@pytest.mark.parametrize("unilateral", [False, True])
@pytest.mark.parametrize("shape", ["cylinder", "cone", "plane"])
def test_what_never_touches_a_plane_at_a_point(shape: str, unilateral: bool) -> None:
    with pytest.raises(lw.ModelError, match=r"'roller', 'world'.*touch (along a line|over a face), not at a point; use shapes"):
        roller(lw.TangentSurfaces("roller", BENT[shape][0], lw.Plane(), unilateral=unilateral))


@pytest.mark.parametrize("unilateral", [False, True])
def test_parallel_cylinders(unilateral: bool) -> None:
    """Refused at every first call; crossed ones touch at a point."""
    model = roller(lw.TangentSurfaces("roller", lw.Cylinder(0.1, 0.4), lw.Cylinder(0.2, 0.4), unilateral=unilateral))
    calls: list[Any] = [
        lambda q: lw.simulate(model, lw.State(q, np.zeros(6)), 0.01, 1e-3),
        lambda q: lw.constrained_dynamics(model, q, np.zeros(6)),
        lambda q: lw.constraint_report(model, q),
        lambda q: lw.assemble(model, lw.State(q, np.zeros(6))),
    ]
    for call in calls:
        with pytest.raises(lw.SolverError, match=r"'roller', 'world'.*touch along a line, not at a point; start where"):
            call(np.array([0.3, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
        call(np.array([0.3, 0.0, 0.0, np.cos(0.4), np.sin(0.4), 0.0, 0.0]))


def test_joints_of_parallel_cylinders() -> None:
    rod = lw.Cylinder(0.1, 0.4)
    with pytest.raises(lw.ModelError, match="touch along a line where these directions agree: give an angle"):
        lw.SurfaceSurface(rod, rod)
    model = lw.ModelBuilder().body(
        "rod", joint=lw.SurfaceSurface(rod, rod, "spin"), inertia=lw.Inertia.cuboid(1.0, (0.1, 0.1, 0.1))
    )
    built = model.build()
    with pytest.raises(lw.InputError, match=r"'rod'.*touch along a line"):
        lw.simulate(built, lw.State(built.neutral(), np.zeros(5)), 0.1, 1e-3)
    lw.simulate(built, lw.State([0.0, 0.0, 0.5, 0.0, 0.0], np.zeros(5)), 0.01, 1e-3)
