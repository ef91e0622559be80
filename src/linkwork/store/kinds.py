"""The closed list of what a file may contain: kinds of parts, and functions of this package, by module and name.

Nothing else is imported, looked up or made for a file. A kind is made anew by its public constructor, with all of its checks,
or, if it has `from_state`, as that says (see `reading`).
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

PACKAGE = "linkwork."
KINDS = {
    "constraints.closure": "Closure",
    "constraints.coupling": "Coupling",
    "constraints.custom": "CustomConstraint CustomJointConstraint",
    "constraints.friction": "DryFriction",
    "constraints.gear": "Gear",
    "constraints.joint_friction": "JointFriction",
    "constraints.limits": "Limit",
    "constraints.loop": "Loop",
    "constraints.on_plane": "TangentCurves",
    "constraints.on_shape": "PointOnCurve PointOnSurface TangentSurfaces",
    "constraints.prescribed": "PrescribedJoint PrescribedTwist",
    "contact.compliant": "CompliantContact",
    "contact.contact": "Contact",
    "forces.actuator": "Actuator",
    "forces.bushing": "Bushing",
    "forces.cable": "Cable",
    "forces.controllers": "PDController",
    "forces.custom": "CustomForce CustomJointForce",
    "forces.damping": "BodyDamping Drag",
    "forces.handle": "Grip Handle PoseHandle",
    "forces.joint_springs": "JointDamping JointSpring",
    "forces.limits": "LimitSpring SwingTwistLimit",
    "forces.muscle": "Muscle",
    "forces.muscle_activation": "ActivationDynamics Schedule",
    "forces.muscle_curves": "FunctionCurve PiecewiseCurve",
    "forces.muscle_path": "MusclePath",
    "forces.muscle_tendon": "ElasticMuscle FibreMuscle",
    "forces.muscle_wrap": "WrapCylinder WrapSphere",
    "forces.point_force": "PointForce",
    "forces.springs": "PointSpring SpringDamper",
    "forces.torque_curve": "TorqueCurve",
    "geometry.charts": "Chart Coordinate",
    "geometry.convex": "Convex",
    "geometry.curves": "Curve",
    "geometry.height_field": "HeightField",
    "geometry.mesh": "Mesh",
    "geometry.shapes": "Plane Sphere",
    "geometry.solids": "Box Capsule Cylinder Ellipsoid Torus",
    "geometry.surfaces": "ImplicitSurface ParametricSurface",
    "io.redmax.elements": "CoordinateSpring CornersOnGround Multiple PointOnHinge StretchedCable",
    "io.redmax.published_constraints": (
        "HingeLoop NoFeedback NoTwistFeedback NoVelocityFeedback OneWayLimit ReversedRate StrictFloor Unfed"
    ),
    "io.redmax.published_forces": (
        "AddedMassDamper ExplicitPointForce ExplicitStrainSpring GroundCuboid ReversedDamper SoftStop StrainSpring "
        "UncountedPointForce"
    ),
    "io.redmax.published_joints": "PublishedSplineCurve PublishedSplineSurface",
    "joints.composite": "Composite FreeExp",
    "joints.curve_curve": "CurveCurve",
    "joints.curve_point": "CurvePoint",
    "joints.custom": "CustomJoint",
    "joints.cylindrical": "Cylindrical",
    "joints.euler_charts": "EulerCharts",
    "joints.fixed": "Fixed",
    "joints.four_bar": "FourBar",
    "joints.free": "Free",
    "joints.helical": "Helical",
    "joints.pairs_by_name": "BezierCurve BezierSurface SurfacePair",
    "joints.planar": "Free2D Planar Translational",
    "joints.prismatic": "Prismatic",
    "joints.revolute": "Revolute",
    "joints.running": "Carrying Running",
    "joints.spherical": "Spherical",
    "joints.spherical_euler": "SphericalEuler",
    "joints.spherical_exp": "SphericalExp",
    "joints.spline_basis": "SplineBasis",
    "joints.spline_curve": "SplineCurve",
    "joints.spline_surface": "SplineSurface",
    "joints.surface_curve": "SurfaceCurve",
    "joints.surface_point": "SurfacePoint",
    "joints.surface_surface": "SurfaceSurface",
    "joints.universal": "Universal",
    "model.model": "Body Frame Model",
    "model.properties": "JointProperties",
    "model.state": "MaximalState State",
    "redmax.coordinate_map": "CoordinateMap",
    "redmax.hyper_reduced": "HyperReduced",
    "spatial.functions": "Functions",
    "spatial.inertia": "Inertia",
    "spatial.se3": "SE3",
    "spatial.stage": "Rotation Shift Turn",
    "spatial.table": "Table TableShape",
}
FUNCTIONS = {
    "geometry.charts": "_cylinder _ellipsoid _ellipsoid_of_two _plane _sphere _sphere_of_two _torus",
    "geometry.surfaces": "_cylinder _ellipsoid _plane _quadric _torus",
    "scenes.assembling": "hanging meeting",
    "scenes.marble": "inside",
    "scenes.plant": "gust",
    "scenes.shoulder": "gliding",
}


def _names(places: dict[str, str]) -> frozenset[str]:
    return frozenset(f"{PACKAGE}{module}:{name}" for module, names in places.items() for name in names.split())


ALL_KINDS, ALL_FUNCTIONS = _names(KINDS), _names(FUNCTIONS)


@cache
def _found(name: str) -> Any:
    module, _, own = name.partition(":")
    return vars(importlib.import_module(module))[own]


def kind_of(name: Any) -> type | None:
    """The kind of parts of a name; None if files do not contain it."""
    return _found(name) if isinstance(name, str) and name in ALL_KINDS else None


def function_of(name: Any) -> Any:
    """The function of a name; None if files do not contain it."""
    return _found(name) if isinstance(name, str) and name in ALL_FUNCTIONS else None


def is_stored(x: Any) -> bool:
    """Whether a file may contain parts of this kind, or this function, by its name."""
    return f"{x.__module__}:{x.__qualname__}" in (ALL_KINDS if isinstance(x, type) else ALL_FUNCTIONS)
