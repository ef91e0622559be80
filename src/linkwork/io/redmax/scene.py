"""A scene file as problems for the simulator: one for every integrator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ModelError
from ...joints import Joint
from ...model.builder import ModelBuilder
from ...model.kinematics import kinematics
from ...model.model import WORLD, Model
from ...model.state import State
from .constraints import constraints_of
from .deformables import chains_of
from .expressions import piecewise
from .forces import forces_of
from .joints import RADIUS, joint_of, start_of
from .keys import unread_keys
from .places import Place, Places, inertia_of
from .published_forces import SoftStop
from .published_friction import PublishedStep, SceneFriction, friction_of
from .record import Record, is_scene, parsed
from .runs import Run, runs_of
from .slips import Slip, named, righted

WIDE = 2 * np.pi * (1 - 1e-6)  # ode45 does not change charts: only the singularity itself is avoided
Control = Callable[[float, State], np.ndarray]


@dataclass(frozen=True, eq=False)
class Problem:
    """A model, its start, its joint forces and where it rubs, as one run has them."""

    model: Model
    state: State
    control: Control | None
    friction: SceneFriction | None = None


class RedmaxScene:
    """A file of the schema `redmax-scene/1`: rigid bodies, forces and constraints with published energies.

    name     of the scene
    runs     the integrators with a published energy
    unread   a line for every key that is not of the schema and holds more than a text
    """

    def __init__(self, data: Any, file: str = "scene") -> None:
        if not is_scene(data):
            raise ModelError(f"{file}: this is no scene of the schema redmax-scene/1")
        self.record = Record(data, file)
        self.name = self.record.text("name", file)
        self.unread: list[str] = unread_keys(self.record)
        self.runs: list[Run] = runs_of(self.record)
        self._problems: dict[tuple[Run, bool], Problem] = {}

    def problem(self, run: Run, right: bool = False) -> Problem:
        """What a run is to simulate: as it was published, or with every slip of the original put right."""
        if (run, right) not in self._problems:
            self._problems[run, right] = self._righted(run) if right else self._made(run)
        return self._problems[run, right]

    def slips(self, run: Run) -> list[str]:
        """The slips on which the number of a run rests, each with what it does; none where the original is right."""
        problem = self.problem(run)
        parts = (*problem.model.elements, *(b.joint for b in problem.model.bodies))
        return [*named(parts, run.kind), *([PublishedStep.slip()] if problem.friction else [])]

    def _righted(self, run: Run) -> Problem:
        published = self.problem(run)
        model, stops = published.model, published.model.elements_of(SoftStop)
        changes: dict[str, dict[str, Any]] = {
            b.name: {"joint": b.joint.right()} for b in model.bodies if isinstance(b.joint, Slip)
        }
        for stop in stops:
            changes.setdefault(model.bodies[model.body_index(stop.joint)].name, {})["limits"] = (stop.lower, stop.upper)
        return replace(published, model=model.replace(bodies=changes, elements=righted(model.elements)))

    def _made(self, run: Run) -> Problem:
        if not run.kind:
            raise self.record.unsupported(f"the integrator {run.integrator!r}")
        places = Places(self.record.records("bodies"), self.record.records("joints"))
        bodies = _Tree(self.record, places, WIDE if run.kind == "ODE45" else RADIUS)
        builder = bodies.builder()
        nodes = chains_of(self.record, places, builder, bodies.position)
        if nodes and run.kind == "BDF":
            raise self.record.unsupported("deformables with BDF")
        for element in (*forces_of(self.record, places, run.kind, bodies.position), *constraints_of(self.record, places, run)):
            builder.add(element)
        units = self.record.get("units", {})
        if isinstance(units, dict) and (units.get("length"), units.get("mass")) not in ((None, None), ("m", "kg")):
            told = ", ".join(f"{what} in {unit}" for what, unit in units.items())
            builder.note(f"numbers are in the units of the file ({told}), also where a report says m, kg or J")
        model, friction = builder.build(), None
        if run.kind == "EULER" and run.friction:
            if nodes:
                raise self.record.unsupported("deformables with friction")
            friction = friction_of(self.record, places, model, self.record.record("integrators").record(run.integrator))
        return Problem(model, bodies.state(model, nodes), _control(self.record, places, model, run), friction)


class _Tree:
    """The bodies of a scene on their joints, and where they start."""

    def __init__(self, scene: Record, places: Places, radius: float) -> None:
        self.gravity, self.places = scene.vector("gravity"), places
        self.joints: dict[str, Joint] = {}
        self.start: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for record in places.joints.values():
            joint, name = joint_of(record, radius), places.body(record, "body").name
            if name in self.joints or name == WORLD:
                raise record.error(f"body {name!r} is carried by another joint already")
            if joint.nv and "ndof" in record and record.count("ndof") != joint.nv:
                raise record.error(f"'ndof' is {record.count('ndof')}; a {record.text('type')} joint has {joint.nv}")
            self.joints[name], self.start[name] = joint, start_of(record, joint)
        model = self.builder().build()
        self._poses = kinematics(model, self.state(model, {}).q).poses
        self._index = {b.name: i for i, b in enumerate(model.bodies)}

    def builder(self) -> ModelBuilder:
        """All bodies and joints."""
        builder = ModelBuilder(gravity=self.gravity)
        for record in self.places.joints.values():
            body = self.places.body(record, "body")
            assert body.record is not None
            parent = WORLD if record.get("parent") is None else self.places.joint(record, "parent")[0]
            damping = record.number("damping", 0.0)
            properties: dict[str, Any] = {"damping": damping} if damping and self.joints[body.name].nv else {}
            builder.body(
                body.name,
                parent=parent,
                joint=self.joints[body.name],
                placement=record.pose("E_pj0"),
                inertia=inertia_of(body.record),
                **properties,
            )
        return builder

    def position(self, place: Place, point: np.ndarray) -> np.ndarray:
        """The world position of a point of a body at the start."""
        if place.name == WORLD:
            return point
        E = self._poses[self._index[place.name]]
        return E[:3, :3] @ point + E[:3, 3]

    def state(self, model: Model, nodes: dict[str, np.ndarray]) -> State:
        """The start; nodes of deformables are at rest."""
        q, v = model.neutral(), np.zeros(model.nv)
        for name, (q0, v0) in self.start.items():
            q[model.q_index(name)], v[model.v_index(name)] = q0, v0
        for name, x in nodes.items():
            q[model.q_index(name)] = x
        return State(q, v)


def _control(scene: Record, places: Places, model: Model, run: Run) -> Control | None:
    """Joint torques; methods with fixed steps take them at the end of a step (scene 5)."""
    functions = []
    for record in scene.records("time_functions"):
        if record.text("type") != "joint_torque":
            raise record.unsupported(f"time functions of type {record.text('type')!r}; there is joint_torque")
        names = {name for piece in record.records("pieces") for name in piece.record("tau").data}
        spans = {name: model.v_index(places.joint(Record({"joint": name}, record.where), "joint")[0]) for name in names}
        functions.append((piecewise(record, ("tau",)), spans))
    if not functions:
        return None
    later = 0.0 if run.kind == "ODE45" else run.h

    def control(t: float, state: State) -> np.ndarray:
        tau = np.zeros(model.nv)
        for function, spans in functions:
            for name, value in function(t + later)[0].items():
                tau[spans[name]] += value
        return tau

    return control


def read_scene(path: Path, name: str | None = None) -> RedmaxScene:
    """The scene in a file; `name` is what messages call it."""
    return RedmaxScene(parsed(path), name or path.name)
