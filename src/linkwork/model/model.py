"""The frozen model: bodies in topological order, their joints, and the tables that the kernels run on."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError, ModelError, UnitWarning, warn
from ..geometry.shapes import Shape
from ..joints import Joint
from ..kernel.call import Factored
from ..kernel.function import Function
from ..kernel.plans import Plans
from ..kernel.sweep import Algorithm, Items, NodeClass, Packing, Tree, pattern
from ..spatial.gate import given_path, meant, reals, shown
from ..spatial.inertia import Inertia
from ..spatial.kinds import explained
from ..spatial.scalar import read_only
from ..spatial.se3 import SE3
from ..store.travelling import Travelling
from .arrays import Interface
from .degrees import angles_in_degrees
from .ground import UNTOUCHED, untouched_ground
from .one_chart import with_single_charts
from .properties import JointProperties, plain_properties

WORLD = "world"


def folded(name: str) -> bool:
    """Whether exact 0, 1 and -1 of a parameter become part of the class: of poses, axes and drives, those of joints too."""
    return name in ("R", "p", "armature", "damping") or name.endswith(("axis", "_R", "_p"))


FUNCTIONS: dict[str, Callable[[Model], Callable[..., np.ndarray]]] = {}  # prepared functions; filled by the layers below


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body and the joint to its parent (-1 is the world); its frame is the outboard side of that joint.

    shapes    what it touches others with, in its frame
    visuals   what it looks like, if that is not its shapes

    >>> model.bodies[0].name, model.bodies[1].parent
    ('upper', 0)
    """

    name: str
    parent: int
    joint: Joint
    joint_name: str
    placement: SE3
    inertia: Inertia
    properties: JointProperties = None  # pyright: ignore[reportAssignmentType]  (none given: see below)
    shapes: tuple[Shape, ...] = ()
    visuals: tuple[Shape, ...] = ()

    is_record: ClassVar[bool] = True

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Body:
        """The body that a file says; the model that has it looks at its parts, as a builder does."""
        if state.keys() != PARTS_OF_BODIES.keys():
            raise ModelError(f"a body has the attributes {', '.join(PARTS_OF_BODIES)}")
        for name, kind in PARTS_OF_BODIES.items():
            if not isinstance(state[name], kind) or state[name] is True or state[name] is False:
                raise ModelError(f"body {shown(state['name'])}: {name} must be a {kind.__name__}, not {shown(state[name])}")
        return cls(**state)

    def __post_init__(self) -> None:
        if self.properties is None:
            object.__setattr__(self, "properties", plain_properties(self.joint.nq, self.joint.nv))


PARTS_OF_BODIES = {"name": str, "parent": int, "joint": Joint, "joint_name": str, "placement": SE3, "inertia": Inertia}
PARTS_OF_BODIES |= {"properties": JointProperties, "shapes": tuple, "visuals": tuple}


@dataclass(frozen=True, eq=False)
class Frame:
    """A named frame on a body, or on the world."""

    body: str
    placement: SE3
    is_record: ClassVar[bool] = True

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Frame:
        """The frame that a file says."""
        if set(state) != {"body", "placement"} or not isinstance(state["placement"], SE3) or not isinstance(state["body"], str):
            raise ModelError("a frame has the name of a body and a placement")
        return cls(**state)


@dataclass(frozen=True, eq=False)
class Model(Travelling):
    """Bodies in topological order (parents first), gravity, and further elements (constraints, contacts).

    frames         named frames on bodies, or on the world
    notes          what a reader of files changed, ignored or assumed: a line each
    world_shapes   what stands in the world to be touched
    excluded       pairs of bodies, by name, whose shapes pass through each other
    keyframes      states by name, to start from
    world_visuals  what stands in the world to be looked at only

    >>> model.nb, model.nq, model.nv
    (2, 2, 2)
    >>> print(model)
    Model of 2 bodies, 2 degrees of freedom, 2 kg
    ...
    """

    bodies: tuple[Body, ...]
    gravity: np.ndarray
    elements: tuple[Any, ...] = ()
    frames: dict[str, Frame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    world_shapes: tuple[Shape, ...] = ()
    excluded: frozenset[frozenset[str]] = frozenset()
    keyframes: dict[str, Any] = field(default_factory=dict)
    world_visuals: tuple[Shape, ...] = ()

    is_record: ClassVar[bool] = True

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Model:
        """The model that a file says, checked as a builder checks what it is given."""
        from .stored import model_of

        return model_of(state)

    def __post_init__(self) -> None:
        if not _is_gravity(self.gravity):
            object.__setattr__(self, "gravity", read_only(gravity_vector(self.gravity)))
        fitting: set[tuple[int, int, int]] = set()  # properties, many joints may share them, and the sizes that they have
        for i, body in enumerate(self.bodies):
            if not -1 <= body.parent < i:
                raise ModelError(f"body {body.name!r}: its parent has number {body.parent}; parents stand before their children")
            key = (id(body.properties), body.joint.nq, body.joint.nv)
            if key not in fitting:
                body.properties.check_sizes(body.joint, body.joint_name)
                fitting.add(key)
        bodies, notes = with_single_charts(self.bodies, self.elements)
        if bodies is not self.bodies:
            object.__setattr__(self, "bodies", bodies)
            object.__setattr__(self, "notes", (*self.notes, *notes))
        for element in self.elements:
            if isinstance(element, type) or not hasattr(element, "check"):
                raise ModelError(f"an element must be a law, as lw.Limit('knee', 0.0, 1.0), not {shown(element)}")
            element.check(self)
        degrees = [line for line in angles_in_degrees(self.bodies, self.elements) if line not in self.notes]
        if degrees:
            object.__setattr__(self, "notes", (*self.notes, *degrees))
            warn(degrees, UnitWarning)
        if self.world_shapes or self.notes:
            kept = [line for line in self.notes if not line.startswith(UNTOUCHED)]
            object.__setattr__(self, "notes", (*kept, *untouched_ground(self.bodies, self.world_shapes, self.elements)))

    # --- sizes and names -----------------------------------------------------------------------------------------------
    @cached_property
    def nq(self) -> int:
        """Number of coordinates."""
        return sum(b.joint.nq for b in self.bodies)

    @cached_property
    def nv(self) -> int:
        """Number of velocities (degrees of freedom)."""
        return sum(b.joint.nv for b in self.bodies)

    def _repr_html_(self) -> str:
        """The model in its neutral configuration, in a notebook."""
        html = importlib.import_module("linkwork.view.html")  # no kernel depends on it

        return html.framed(html.page(html.still(self), "model"))

    def space_shape(self, space: str) -> tuple[int, ...]:
        """The shape of all values in a space: "q", "v", "rows" (constraint rows of all joints), "M" (nv, nv)."""
        return {"q": (self.nq,), "v": (self.nv,), "rows": (6 * self.nb - self.nv,), "M": (self.nv, self.nv)}[space]

    @property
    def nb(self) -> int:
        """Number of bodies."""
        return len(self.bodies)

    @cached_property
    def parents(self) -> np.ndarray:
        """Index of every body's parent; -1 is the world."""
        return read_only(np.array([b.parent for b in self.bodies], dtype=np.int64))

    @cached_property
    def _starts(self) -> tuple[np.ndarray, np.ndarray]:
        return self.tree.offsets("q"), self.tree.offsets("v")

    @cached_property
    def _index(self) -> dict[str, int]:
        names = {b.joint_name: i for i, b in enumerate(self.bodies)}
        return {**names, **{b.name: i for i, b in enumerate(self.bodies)}}

    @property
    def names(self) -> Iterable[str]:
        """The names of all bodies and joints."""
        return self._index.keys()

    def body_index(self, name: str) -> int:
        """Index of a body, by its name or its joint's."""
        try:
            return self._index[name]
        except (KeyError, TypeError):
            known = ", ".join(list(self._index)[:8])
            raise InputError(
                f"the model has no body or joint {shown(name)}; it has {known}{' ...' if len(self._index) > 8 else ''}"
                f"{meant(name, self._index)}"
            ) from None

    def q_index(self, name: str) -> slice:
        """Where a joint's coordinates lie in q."""
        i = self.body_index(name)
        return slice(int(self._starts[0][i]), int(self._starts[0][i + 1]))

    def v_index(self, name: str) -> slice:
        """Where a joint's velocities lie in v."""
        i = self.body_index(name)
        return slice(int(self._starts[1][i]), int(self._starts[1][i + 1]))

    @cached_property
    def armature(self) -> np.ndarray:
        """Inertia of the drives (nv,)."""
        return read_only(np.concatenate([np.zeros(0), *(b.properties.armature for b in self.bodies)]))

    @cached_property
    def has_armature(self) -> bool:
        """Whether any joint has armature."""
        return bool(self.armature.any())

    @cached_property
    def damping(self) -> np.ndarray:
        """Damping of the joints (nv,)."""
        return read_only(np.concatenate([np.zeros(0), *(b.properties.damping for b in self.bodies)]))

    # --- configurations ------------------------------------------------------------------------------------------------
    def neutral(self) -> np.ndarray:
        """The zero position of every joint."""
        return np.concatenate([b.joint.neutral() for b in self.bodies])

    def random_configuration(self, seed: int | np.random.Generator = 0) -> np.ndarray:
        """A random position of every joint; the same for the same seed."""
        try:
            rng = np.random.default_rng(seed)
        except (TypeError, ValueError) as error:
            raise InputError(f"seed must be a whole number, at least 0, or a generator of NumPy, not {shown(seed)}") from error
        return np.concatenate([b.joint.random(rng) for b in self.bodies])

    def integrate(self, q: np.ndarray, dv: np.ndarray) -> np.ndarray:
        """The configurations reached from q by moving along dv on the manifold; batches broadcast."""
        from .manifold import integrate

        return integrate(self, q, dv)

    def difference(self, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
        """The dv with integrate(q0, dv) = q1; batches broadcast."""
        from .manifold import difference

        return difference(self, q0, q1)

    # --- kernels ---------------------------------------------------------------------------------------------------------
    @cached_property
    def tree(self) -> Tree:
        """The bodies as the kernels see them."""
        classes: dict[Any, NodeClass] = {}
        known: dict[Any, tuple[NodeClass, dict[str, np.ndarray]]] = {}  # bodies made of the same parts
        node_classes, parameters = [], []
        for body in self.bodies:
            parts = (id(body.joint), id(body.placement), id(body.inertia), id(body.properties))
            if parts not in known:
                values = node_parameters(body)
                patterns = {name: pattern(x, folded(name)) for name, x in values.items()}
                signature = (body.joint.signature, tuple(patterns.items()))
                if signature not in classes:
                    nq, nv = body.joint.nq, body.joint.nv
                    sizes = {
                        "q": nq,
                        "v": nv,
                        "vv": nv * nv,
                        "qv": nq * nv,
                        "rows": 6 - nv,
                        "columns": 6 * nv,
                        "points": 3 * nv,
                        "p": 6,
                    }
                    classes[signature] = NodeClass(signature, {"joint": body.joint}, patterns, sizes)
                known[parts] = (classes[signature], values)
            node_class, values = known[parts]
            node_classes.append(node_class)
            parameters.append(values)
        items, packings = {"below": lambda: dofs_below(self)}, {"M": lambda: mass_matrix_entries(self)}
        return Tree(self.parents, node_classes, parameters, {}, {"dof": self.nv}, items, packings, numbers={"bodies": self.nb})

    @cached_property
    def plan(self) -> Plans:
        """Algorithms bound to this model: `model.plan(algorithm, lanes, phases, absent, uniform)` is compiled, and kept."""
        return Plans(self.tree)

    @cached_property
    def _interfaces(self) -> dict[str, Interface]:
        return {}

    def call(
        self, algorithm: Algorithm, inputs: dict[str, Any], threads: int | None = 1, wanted: tuple[str, ...] | None = None
    ) -> Any:
        """Run an algorithm on arrays; see `Interface`."""
        interface = self._interfaces.get(algorithm.name)
        if interface is None:
            interface = self._interfaces[algorithm.name] = Interface(self, algorithm)
        return interface(inputs, threads, wanted)

    def quick(self, algorithm: Algorithm, given: tuple[str, ...], wanted: tuple[str, ...]) -> Function:
        """An algorithm as a function of some inputs that returns some outputs; other inputs are zero, gravity is the model's."""
        key = (algorithm.name, given, wanted)
        found = self.usual_functions.get(key)
        if found is None:
            gravity = {"gravity": self.gravity} if "gravity" in algorithm.fields else {}
            absent = tuple(n for n, f in algorithm.fields.items() if f.kind == "input" and n not in (*given, "gravity"))
            found = self.usual_functions[key] = Interface(self, algorithm).function(given, wanted, absent, gravity)
        return found

    @cached_property
    def usual_functions(self) -> dict[Any, Function]:
        """Those that most calls want, by the names of their algorithms (and what else they need); see `usual_function`."""
        return {}

    @cached_property
    def shortest_calls(self) -> dict[Any, Callable[..., Any]]:
        """Of functions that take less time than a call of Python's, by what they are; see `Function.shortest`."""
        return {}

    @cached_property
    def _kept(self) -> dict[Any, Any]:
        return {}

    def keep_as(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make()` returns, made once per key: tables that belong to the model but to another layer of the code."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def frame(self, name: str) -> tuple[int, SE3]:
        """The body that carries a frame (-1 is the world), and the frame's pose in it; a body's name is its own frame."""
        if isinstance(name, str) and name in self.frames:
            frame = self.frames[name]
            return (-1 if frame.body == WORLD else self.body_index(frame.body)), frame.placement
        return self.body_index(name), SE3()

    def factored(self, algorithm: Algorithm, inputs: dict[str, np.ndarray]) -> Factored:
        """The algorithm's factor phase, run on one state; see `Factored`."""
        return Factored(lambda lanes, phase, uniform: self.plan(algorithm, lanes, (phase,), (), uniform), inputs)

    def function(self, name: str) -> Callable[..., np.ndarray]:
        """A prepared function ("forward_dynamics", ...) of one state: own buffers, least overhead.

        It takes contiguous float64 arrays and nothing else. The array that it returns is overwritten by the next call; keep a
        copy if you need it. Each thread needs a function of its own.
        """
        reduced = importlib.import_module("linkwork.reduced")  # functions asked for there come into the table; no kernel needs it
        getattr(reduced, str(name), None)
        if name not in FUNCTIONS:
            for other in reduced.__all__:
                getattr(reduced, other)
            raise InputError(
                f"there is no prepared function {name!r}; choose one of {', '.join(FUNCTIONS)}{meant(name, FUNCTIONS)}"
            )
        return FUNCTIONS[name](self)

    def casadi(self, name: str) -> Any:
        """A `casadi.Function` ("forward_dynamics", "integrate", ...) for optimal control; see `doors.casadi`."""
        return importlib.import_module("linkwork.doors.casadi").casadi_function(self, name)

    def compile(self, method: str = "fastest") -> Any:
        """Forward dynamics compiled for this model in one of three ways, a function of (q, v, tau): see `reduced.methods`.

        method   "whole", "mixed", "classes", or "fastest", which chooses by size
        """
        return importlib.import_module("linkwork.reduced.methods").compiled(self, method)

    @explained
    def replace(
        self,
        *,
        gravity: Any = None,
        bodies: Mapping[str, Mapping[str, Any]] | None = None,
        elements: Iterable[Any] | None = None,
        world: Iterable[Shape] | None = None,
    ) -> Model:
        """A variant with other parts: gravity, all elements, all shapes of the world, or of named bodies the joint, placement,
        inertia, shapes, visuals or properties.

        >>> model.replace(bodies={"upper": {"joint": Universal(), "damping": 0.1}})

        A joint with as many coordinates as the old one keeps the properties that are not given; names and tree stay.
        """
        from .variants import replaced

        return replaced(self, gravity, bodies, elements, world)

    @explained
    def add(self, *parts: Any) -> Model:
        """A variant with further forces, constraints or contacts, after those that it has, and with further shapes that stand in
        the world to be touched, in world axes; it shares kernels.

        >>> model.add(SpringDamper("upper", "world", stiffness=200.0), Limit("lower", -1.0, 1.0))
        >>> model.add(lw.Plane(friction=0.8), lw.Box((1, 1, 0.2), lw.SE3(p=(2, 0, 0.1))))  # doctest: +SKIP
        """
        from .variants import with_elements

        return with_elements(self, parts)

    def with_parameters(self, parameters: Mapping[str, Mapping[str, Any]], gravity: Any = None) -> Model:
        """A variant with other numbers: of named bodies mass, com, tensor, placement, armature or damping; of forces and
        constraints that have a name what they were made with; gravity.

        >>> model.with_parameters({"upper": {"mass": 2.0, "com": (0.4, 0, 0)}, "spring": {"stiffness": 3.0}}, gravity=(0, 0, -1))

        It shares the kernels of the model. Every number is set as given: a new mass does not scale the tensor. A body comes first
        where a law has its name and both have such a number.
        """
        from .variants import with_parameters

        return with_parameters(self, parameters, gravity)

    def elements_of(self, kind: type) -> Sequence[Any]:
        """The elements of a class, in order."""
        return [e for e in self.elements if isinstance(e, kind)]

    def plot(self, q: Any = None, *, moment_arms: str | None = None, path: Any = None) -> Any:
        """A matplotlib figure of the model at a configuration (neutral by default); written to a file if a path is given.

        moment_arms   the name of a joint of one coordinate: moment arms and fibre lengths of its muscles over its range instead
        """
        view = importlib.import_module("linkwork.view.model_plots")
        figure = view.model_picture(self, q) if moment_arms is None else view.plot_moment_arms(self, moment_arms, q)
        if path is not None:
            view.write_figure(figure, path)
        return figure

    @explained
    def save(self, path: Any, state: Any = None) -> Path:
        """Write the model to a file, `.lwm`, which `lw.load` and the commands read; functions of joints and laws are in it as
        what they compute.

        state   to start from, kept as the keyframe "start"

        >>> file = model.save("arm.lwm", state)
        >>> lw.load(file)
        Model(2 bodies, nq=2, nv=2)
        """
        return importlib.import_module("linkwork.io.saved").save_model(self, given_path("Model.save: path", path), state)

    def describe(self, name: str | None = None) -> str:
        """What a joint, body, frame or law is, where its numbers lie and what acts on it; without a name, the whole tree.

        >>> print(model.describe("upper"))
        """
        from .printing import describe, tree

        return tree(self, None) if name is None else describe(self, name)

    def __str__(self) -> str:
        """The tree of bodies with joints, places in q and v, masses and laws; large ones in short."""
        from .printing import tree

        return tree(self)

    def __repr__(self) -> str:
        return f"Model({self.nb} bodies, nq={self.nq}, nv={self.nv})"


def _is_gravity(x: Any) -> bool:
    """Whether this is what `gravity_vector` makes, and nobody can write to it."""
    return (
        isinstance(x, np.ndarray)
        and not x.flags.writeable
        and x.dtype == float
        and x.shape == (3,)
        and bool(np.isfinite(x).all())
    )


def gravity_vector(x: Any) -> np.ndarray:
    """Gravity as three finite numbers, a copy."""
    try:
        a = reals(x)
    except ValueError:
        a = np.full(0, np.nan)
    if a.shape != (3,) or not np.all(np.isfinite(a)):
        raise ModelError(f"gravity must be three finite numbers, not {shown(x)}")
    return a


def dofs_below(model: Model) -> Items:
    """Every body with every degree of freedom of its subtree, leaves first.

    Roles: `dof` is the degree of freedom; `e0`, ... are the entries of the mass matrix where it meets the body's own degrees of
    freedom, in the packing `mass_matrix_entries`.
    """
    nodes, dof, own = _body_dofs(model)
    starts, first = model.tree.offsets("v"), mass_matrix_entries(model)
    roles = {"dof": dof}
    for k in range(6):
        other = np.where(k < own, starts[nodes] + k, dof)
        roles[f"e{k}"] = np.asarray(first.index[dof * model.nv + other], np.int64)
    return Items(nodes, roles)


def _body_dofs(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bodies with the degrees of freedom of their subtrees, leaves first, and how many the body itself has."""
    nb = model.nb
    end = np.arange(1, nb + 1)
    for i in range(nb - 1, -1, -1):
        if model.parents[i] >= 0:
            end[model.parents[i]] = max(end[model.parents[i]], end[i])
    starts = model.tree.offsets("v")
    order = np.arange(nb)[::-1]
    counts = starts[end[order]] - starts[order]
    nodes = np.repeat(order, counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return nodes, starts[nodes] + np.arange(len(nodes)) - first, np.diff(starts)[nodes]


def mass_matrix_entries(model: Model) -> Packing:
    """The entries of the mass matrix that are not zero, each pair (i, j), (j, i) once; all zeros share the last place."""
    nodes, dof, own = _body_dofs(model)
    starts, nv = model.tree.offsets("v"), model.nv
    places = [dof[k < own] * nv + starts[nodes[k < own]] + k for k in range(6)]  # row below or equal column's body
    rows, columns = np.divmod(np.unique(np.concatenate(places)), nv) if nv else (np.zeros(0, int), np.zeros(0, int))
    lower = np.unique(np.maximum(rows, columns) * nv + np.minimum(rows, columns))
    rows, columns = np.divmod(lower, nv) if nv else (rows, columns)
    index = np.full(nv * nv, len(lower), np.int32)
    index[rows * nv + columns] = index[columns * nv + rows] = np.arange(len(lower))
    return Packing(index, len(lower) + 1)


def node_parameters(body: Body) -> dict[str, np.ndarray]:
    """What the rules read of a body: placement, inertia about the origin, the joint's own data."""
    J = body.inertia.about_origin
    values = {
        "R": np.asarray(body.placement.R, float),
        "p": np.asarray(body.placement.p, float),
        "mass": np.asarray(body.inertia.mass, float),
        "first_moment": body.inertia.first_moment,
        "J": np.array([J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]]),
    }
    values |= {"armature": body.properties.armature, "damping": body.properties.damping}
    for name, value in body.joint.parameters().items():
        values[f"joint_{name}"] = value
    return values
