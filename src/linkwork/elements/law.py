"""A law: something stated on ports, whose numbers are run-time data. Forces and constraints are laws.

A force says what loads it puts on its ports (`ForceLaw`), a constraint what rows it holds (`RowLaw`); see `derive` for the rest.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..geometry.contact_point import ContactPoint
from ..joints import Joint
from ..model.model import WORLD, Model
from ..solvers.problem import BOUNDS, FIRST, NORMAL, SECOND, is_bounded_by_another
from ..spatial.frozen import Frozen
from ..spatial.functions import Functions, run_time
from ..spatial.gate import meant, word
from ..spatial.scalar import Scalar, Vector, array
from ..spatial.se3 import SE3
from ..store.travelling import Travelling
from .ports import At, Port

EXACT, PYRAMID, STAGGERED, SINGLE_QP = FRICTION_MODELS = ("exact", "pyramid", "staggered", "single_qp")
"""Coulomb's cone; a pyramid around it; the same in turns; one quadratic program (`solvers.single_qp`)."""


class Law(Travelling, Frozen):
    """Base of elements that are compiled: a law of numbers that are run-time data.

    name              its own, by which messages, reactions, inputs and changes of its numbers find it; need not be given
    parameter_names   attributes that are numbers or arrays: run-time data, shared kernels
    directions        which of `numbers` are unit vectors
    """

    name: str = ""
    parameter_names: ClassVar[tuple[str, ...]] = ()
    directions: ClassVar[tuple[str, ...]] = ()
    _made_with: tuple[tuple[Any, ...], dict[str, Any]] | None

    def __new__(cls, *arguments: Any, **named: Any) -> Any:
        law = super().__new__(cls)
        vars(law)["_made_with"] = (arguments, named)
        return law

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Any:
        """The law that a file says: made anew with what it was made with."""
        made = state.get("_made_with")
        if not (
            isinstance(made, tuple) and [type(x) for x in made] == [tuple, dict] and all(isinstance(n, str) for n in made[1])
        ):
            raise ModelError(f"{cls.__name__}: the file does not say what it was made with; save the model again")
        return cls(*made[0], **made[1])

    def called(self, name: Any) -> str:
        """Take a name; what messages about the rest begin with."""
        owner = type(self).__name__
        self.name = word(owner, "name", name, empty=True)
        return f"{owner} {name!r}" if name else owner

    def numbers(self) -> dict[str, Any]:
        """What it was made with, by name, as far as it is neither a name nor a function: what `remade` takes."""
        given = self._arguments().arguments.items()
        return {what: x for what, x in given if what != "name" and not (isinstance(x, str) or callable(x))}

    def remade(self, values: Mapping[str, Any]) -> Any:
        """The same law made anew with other numbers, checked as they were."""
        known = self.numbers()
        for what in values:
            if what not in known:
                raise ModelError(f"{self!r}: {what!r} cannot be changed here; these can: {', '.join(known)}{meant(what, known)}")
        return self._made_anew(values)

    def _arguments(self) -> inspect.BoundArguments:
        if self._made_with is None:
            raise ModelError(f"{self!r}: it is no longer what it was made as; make a new one")
        bound = inspect.signature(type(self)).bind(*self._made_with[0], **self._made_with[1])
        bound.apply_defaults()
        return bound

    def _made_anew(self, values: Mapping[str, Any]) -> Any:
        bound = self._arguments()
        bound.arguments.update(values)
        return type(self)(*bound.args, **bound.kwargs)

    @property
    def ports(self) -> tuple[Port, ...]:
        """What it looks at and acts on."""
        raise TypeError(f"{type(self).__name__} must say its ports")

    def fitted_to(self, model: Model) -> Any:
        """The same law with its numbers as the joints of this model need them."""
        return self

    def code(self, joints: Sequence[Joint]) -> tuple[Any, ...]:
        """What identifies its machine code, on joint ports with these joints."""
        raise TypeError(f"{type(self).__name__} must say its code")

    @property
    def variant(self) -> tuple[Any, ...]:
        """What of the element is structure, not number: part of what identifies its machine code."""
        return ()

    @property
    def swept(self) -> tuple[Any, ...]:
        """Its two shapes, if it can act only where boxes that hold them overlap; else nothing."""
        return ()

    @property
    def built_in(self) -> bool:
        """Whether the sources of the package say all that the element computes."""
        return type(self).__module__.startswith("linkwork.")

    @property
    def same(self) -> tuple[Any, ...]:
        """Elements of which this is equal compute the same, from other numbers; found without looking at what they compute."""
        return (type(self), self.variant) if self.built_in else (id(self),)

    def parameters(self) -> dict[str, Any]:
        """The run-time data by name."""
        return {name: run_time(getattr(self, name)) for name in self.parameter_names}

    def bound(self, values: dict[str, Any]) -> Any:
        """The same element with other parameters."""
        return self.with_parts(**values, _made_with=None)

    def at_node(self, n: Any) -> Any:
        """The same element with the parameters of a node, in a rule."""
        return self.bound({name: getattr(n, f"own_{name}") for name in self.parameters()})


class FunctionLaw(Law):
    """A law that users state by functions; mixed into the classes of `force`, `constraint` and their like."""

    _given: Functions

    @property
    def built_in(self) -> bool:
        return False

    @property
    def same(self) -> tuple[Any, ...]:
        return (type(self), self._given.same)

    def numbers(self) -> dict[str, Any]:
        return dict(self._given.values)

    def _made_anew(self, values: Mapping[str, Any]) -> Any:
        return super()._made_anew({"parameters": self._given.values | dict(values)})

    def parameters(self) -> dict[str, Any]:
        return self._given.parameters()

    def bound(self, values: dict[str, Any]) -> Any:
        return super().bound({"_given": self._given.bound(values)})


class ForceLaw(Law):
    """Base of all forces.

    inputs   what drives the force from outside at run time (activation, a target pose): as many numbers, 0 by default
    """

    inputs: int = 0

    def loads(self, at: Sequence[At], t: Scalar, u: Vector) -> Sequence[Vector]:
        """The wrench on every body port, the force along every joint port; t is time, u are the inputs."""
        raise TypeError(f"{type(self).__name__} must say its loads")

    def implicit_loads(self, at: Sequence[At], t: Scalar, u: Vector) -> Sequence[Vector]:
        """The same loads, as implicit steppers differentiate them: with the slopes that they should take."""
        return self.loads(at, t, u)

    def stored_energy(self, at: Sequence[At], t: Scalar, u: Vector) -> Scalar:
        """The energy that it stores at the values of its ports."""
        return 0.0

    def initial_inputs(self) -> np.ndarray:
        """The inputs where nothing else is said."""
        return np.zeros(self.inputs)

    @property
    def same(self) -> tuple[Any, ...]:
        return (*super().same, self.inputs)


class RowLaw(Law):
    """Base of all constraints.

    size         number of rows
    unilateral   False: residual = 0.  True: residual >= 0, with forces that only push
    holonomic    True: it is the residual `gap`.  False: it is the rate `slip`, and has no residual
    timed        whether it depends on time
    unknowns     how many numbers of its own it has, determined by `conditions` (where a point is nearest to a curve)
    inputs       how many numbers it must be told at run time (`inputs_at`), as Python alone can compute them
    looks        whether these follow from where its bodies are (`asker`); `inputs_at` says then that nothing is there
    bounded      whether `bounds` are more than what `unilateral` says
    by_reaction  whether its bounds follow from what a joint, or another constraint, carries (`largest`)
    by_whole     of such a law whether it looks at the whole wrench through a joint, with drives along its freedoms
    by_coordinates   and whether at those of that joint: it is its second port
    discs        of such a law how many rows, one after the other, every disc has: the length of its force is bounded
    unseen       errors that are not fed back, of "residual" and "rate": zero for whoever solves
    cones        whether its rows are Coulomb cones, `per_point` after the other: a normal that only pushes, two tangents, and
                 those of spinning and rolling friction
    spins, rolls whether points resist spinning about their normal (one row), and rolling (two)
    friction_model   how friction of its cones is solved: see FRICTION_MODELS
    touches      whether it says where shapes touch (`touch`), from which gaps and rows follow
    lies_along   whether these may lie along one another, where points of contact run away (`touch.bent`)
    on_plane     whether the second of these is a plane
    part_of      rows of the law of whose points it has some (`of_points`), else 0
    curved       whether its normals turn as bodies pass one another: then they are looked for where the bodies meet
    """

    size: int
    unilateral: bool = False
    holonomic: bool = True
    timed: bool = False
    unknowns: int = 0
    inputs: int = 0
    looks: bool = False
    bounded: bool = False
    by_reaction: bool = False
    by_whole: bool = False
    by_coordinates: bool = False
    discs: tuple[int, ...] = ()
    cones: bool = False
    spins: bool = False
    rolls: bool = False
    friction_model: str = EXACT
    touches: bool = False
    lies_along: bool = False
    on_plane: bool = False
    part_of: int = 0
    curved: bool = False
    unseen: ClassVar[tuple[str, ...]] = ()

    @property
    def groups(self) -> tuple[int, ...]:
        """A number for every row, the same for rows that are of one kind and size: points of a loop in x, y and z."""
        return tuple(range(self.size))

    @property
    def row_kinds(self) -> tuple[int, ...]:
        """Of every row whether it has bounds of its own (BOUNDS), is the normal of a cone, or its first or second tangent; those
        of a pyramid are a push, and two that it bounds, as spinning and rolling are bounded (see `solvers.problem`)."""
        if not self.cones:
            return (BOUNDS,) * self.size
        first = (BOUNDS, -1, -2) if self.friction_model == PYRAMID else (NORMAL, FIRST, SECOND)
        return (*first, *(-k for k in range(3, self.per_point))) * (self.size // self.per_point)

    @property
    def per_point(self) -> int:
        """How many rows a point of contact has."""
        return 3 + self.spins + 2 * self.rolls if self.cones else 1

    @property
    def together(self) -> int:
        """How many rows, one after the other, are on or off together."""
        return self.per_point if self.cones or self.unilateral else max(self.size, 1)

    def per_row(self, x: Vector) -> Vector:
        """Numbers of cones, or of rows where there are none, as those of all their rows."""
        return array([value for value in x for _ in range(self.per_point)])

    def touch(self, x: Sequence[Any]) -> Sequence[ContactPoint]:
        """Where its shapes may touch, at the poses x of its bodies: one for every cone, or every row."""
        raise TypeError(f"{type(self).__name__} must say where it touches")

    @property
    def usual(self) -> int:
        """How many of the points at which its shapes may touch, the first ones, are not for special positions alone."""
        return self.size // self.per_point

    def of_points(self, first: int, last: int) -> Any:
        """The same law of some of its points."""
        some = {"size": self.per_point * (last - first), "part_of": self.size, "_made_with": None}
        return self.with_parts(touch=lambda x: self.touch(x)[first:last], **some)

    def rub_at(self, x: Sequence[Any], t: Scalar, unknown: Vector) -> Vector:
        """Where in the world friction of a gap acts, if the law does not say where shapes touch."""
        raise TypeError(f"{type(self).__name__} must say where it rubs")

    def near(self, x: Sequence[Any], speeds: Sequence[Vector], time: Scalar) -> Scalar:
        """0 where its shapes are too far apart to touch within a time, else 1; of its bodies at poses x these are |v| and |w|."""
        return 1.0

    def closing_bound(self, x: Sequence[Any], motion: Sequence[Vector]) -> Scalar:
        """How fast gaps of its shapes close at most, whose bodies at poses x have such twists."""
        raise TypeError(f"{type(self).__name__} must say how fast its shapes are")

    def grip(self) -> tuple[Scalar, Scalar]:
        """The coefficients of friction and restitution of rows that only push."""
        return 0.0, 0.0

    def row_friction(self) -> Vector:
        """The coefficient of every row of cones that another one bounds, 0 of the others."""
        friction = self.grip()[0]
        return array([friction if is_bounded_by_another(kind) else 0.0 for kind in self.row_kinds])

    def gap_of(self, x: Sequence[Any], t: Scalar, unknown: Vector) -> Vector:
        """The residual at the values x of its ports."""
        raise TypeError(f"{type(self).__name__} must say its residual")

    def slip_of(self, x: Sequence[Any], v: Sequence[Vector], t: Scalar) -> Vector:
        """What must vanish where only velocities are constrained: affine in the velocities v of its ports."""
        raise TypeError(f"{type(self).__name__} must say its rate")

    def conditions_of(self, x: Sequence[Any], t: Scalar, unknown: Vector) -> Vector:
        """As many equations as unknowns."""
        raise TypeError(f"{type(self).__name__} must say the conditions on its unknowns")

    def bounds(self) -> tuple[Vector, Vector]:
        """The least and the largest force of every row: what it may do to hold its target."""
        least = 0.0 if self.unilateral else -np.inf
        return np.array([-np.inf if is_bounded_by_another(k) else least for k in self.row_kinds]), np.full(self.size, np.inf)

    def closure(self, model: Model) -> Any:
        """Of one whose bounds follow from what another constraint carries, that constraint; else None: its first body's joint."""
        return None

    def largest(self, wrench: Vector, q: Vector, x: Vector) -> Vector:
        """The largest force of every row, alike in a disc, where bounds follow from a wrench.

        wrench   on the first body, about its origin in its axes; see `by_whole`
        q, x     the coordinates of the joint, if `by_coordinates`, and the forces of the rows
        """
        raise TypeError(f"{type(self).__name__} must say its largest forces")

    def first_unknowns(self, poses: Sequence[np.ndarray]) -> np.ndarray:
        """Where Newton's method for the unknowns begins; poses (4, 4) of its bodies."""
        return np.zeros(0)

    def inputs_at(self, t: float) -> np.ndarray:
        """What it must be told at a time (inputs,)."""
        return np.zeros(0)

    def asker(self) -> Callable[[Sequence[SE3], Sequence[Vector], float], np.ndarray]:
        """Of one that looks, a function that finds its inputs: of poses of its bodies, their |v| and |w|, and a time ahead."""
        raise TypeError(f"{type(self).__name__} must say who finds its inputs")

    def radii(self) -> Sequence[Scalar]:
        """Of balls that hold the shapes that touch; of planes 0."""
        raise NotImplementedError

    def with_inputs(self, told: Vector) -> Any:
        """The same law, told its inputs: what residual and rate are asked of, in rules too."""
        return self


def known_bodies(model: Model) -> set[str]:
    """The names by which laws may mean a body, the world's among them."""
    return model.keep_as(known_bodies, lambda: {b.name for b in model.bodies} | {WORLD})


def guessed_unknowns(laws: Sequence[RowLaw], bodies: Sequence[Sequence[int]], poses: np.ndarray) -> np.ndarray:
    """Where Newton's method for the unknowns of constraints on some bodies begins (..., unknowns).

    poses   of all bodies of a model (..., bodies, 4, 4); the number after theirs is the world's
    """
    lead, pairs = poses.shape[:-3], list(zip(laws, bodies, strict=True))
    poses = np.concatenate([poses, np.broadcast_to(np.eye(4), (*lead, 1, 4, 4))], axis=-3)
    flat = poses.reshape(-1, *poses.shape[-3:])
    found = [np.concatenate([c.first_unknowns([E[i] for i in at]) for c, at in pairs]) for E in flat]
    return np.reshape(found, (*lead, sum(c.unknowns for c in laws)))
