"""What an algorithm is: fields over the nodes of a tree, and sweeps of local rules.

A *rule* is a plain function `rule(n, parent)` of two namespaces: it reads `n.q`, `parent.twist`, ... and assigns
`n.pose = ...`, `parent.force = parent.force + ...`. A *sweep* applies one rule at every node: `outward` (root to leaves),
`inward` (leaves to root) or `each` (any order). An *algorithm* is a list of sweeps, grouped in phases, with its fields declared.

Names that a rule reads or assigns are, in this order: `n.is_root`, attributes and parameters of the node's class, declared
fields, and otherwise *private* values, which only the node itself sees in later rules. Private values may be of any structure
(arrays, transforms, inertias); only what varies in them is ever stored. What a rule reads through a role is what was there
before the rule began, except what it has assigned through the same role; roles that point to one node are one (`same_roles`).

Besides the tree there may be other *sets* of nodes (forces, constraints, places on the way of a row to the root), with rules of
their own. All sets lie in one memory: a rule on one looks at others through roles, reads what they have declared, and may add
to it: `body.load = body.load + ...` through any role is a sum in the order of the set. Between sweeps, *routines* work on whole
arrays: plain functions with loops, of which only the run knows how long they are (`loops`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import CompileError
from ..spatial.inertia import Articulated
from ..spatial.scalar import array
from ..spatial.se3 import SE3
from ..spatial.table import Table
from .sources import modules_of

if TYPE_CHECKING:
    from .loops import LoopFunction


@dataclass(frozen=True)
class Codec:
    """How a value lies in memory: `size` scalars, to and from a flat list."""

    size: int
    pack: Callable[[Any], list[Any]]
    unpack: Callable[[list[Any]], Any]


def vector(size: int) -> Codec:
    """A vector of scalars."""
    return Codec(size, list, array)


def matrix(rows: int, columns: int) -> Codec:
    """A matrix, row by row."""
    return Codec(rows * columns, lambda A: list(np.asarray(A).flat), lambda x: array(x).reshape(rows, columns))


SCALAR = Codec(1, lambda x: [x], lambda x: x[0])
POSE = Codec(12, lambda E: [*E.R.flat, *E.p], lambda x: SE3(R=array(x[:9]).reshape(3, 3), p=array(x[9:])))
MATRIX = Codec(
    16, lambda E: list(E.matrix.flat), lambda x: SE3(R=array(x).reshape(4, 4)[:3, :3], p=array(x).reshape(4, 4)[:3, 3])
)
INERTIA = Codec(21, Articulated.packed, Articulated.unpacked)

Kind = Literal["input", "output", "state", "work", "shared", "gathered"]


@dataclass(frozen=True)
class Field:
    """A declared field.

    kind     input: given by the caller; output: returned; state: given, updated in place and returned; work: kept in between;
             shared: what children may read through `parent`;
             gathered: sums that children add to their parent (`parent.x = parent.x + ...`), alive only until the parent reads it.
    space    "node": `codec.size` scalars per node; "global": one value for all nodes; a name in the tree's `counts`
             ("body"): `codec.size` scalars per thing; anything else ("q", "v", ...): as many scalars as the node's class
             says in `sizes`.
    alias    the name of another field of the same memory, seen through another space
    world    the value that roots see in `parent`, a function of the node (it may read globals).
    of       the set of nodes that has it; the tree itself by default
    steers   whether it does no more than say where rules run: derivatives have no part in it
    """

    kind: Kind
    space: str = "node"
    codec: Codec | None = None
    world: Callable[[Any], Any] | None = None
    alias: str | None = None
    of: str = ""
    steers: bool = False

    def size(self, sizes: dict[str, int]) -> int:
        """Scalars at a node whose class has these sizes."""
        return self.codec.size if self.codec is not None else sizes[self.space]

    def unpack(self, scalars: list[Any]) -> Any:
        return array(scalars) if self.codec is None else self.codec.unpack(scalars)

    def scalars(self, value: Any) -> list[Any]:
        """The scalars of a value, one after the other."""
        return list(value) if self.codec is None else self.codec.pack(value)

    def packed(self, value: Any, name: str, size: int) -> list[Any]:
        """The scalars of a value, as many as there must be."""
        scalars = self.scalars(value)
        if len(scalars) != size:
            raise CompileError(f"a rule writes {len(scalars)} scalars to {name!r}, which holds {size}")
        return scalars


@dataclass(frozen=True)
class Sweep:
    """One rule at every node of a set, in an order; or at every item of a list of the set (`items`), in the order of the list.

    on     the set; the tree itself by default
    when   (role, field): nodes where the first scalar of this is zero in every lane are passed over; role "global" asks once
    under  (role, field): the same, asked once for all nodes of which it is the same, before any `when` of theirs. Sweeps that
           follow one another under one field run together, all of them at such nodes before the next ones: what they do there
           must not depend on others
    """

    rule: Callable[..., None]
    order: Literal["outward", "inward", "each"]
    roles: tuple[str, ...] = ("own", "parent")
    items: str | None = None
    on: str = ""
    when: tuple[str, str] | None = None
    under: tuple[str, str] | None = None


@dataclass(frozen=True)
class Routine:
    """A function of whole arrays, see `loops`; its arguments by name: fields, and numbers and tables of the tree.

    when   a global field: nothing is done where its first scalar is zero in every lane
    """

    function: LoopFunction
    arguments: tuple[str, ...]
    when: str | None = None


@dataclass(frozen=True)
class Repeat:
    """Steps that run several times.

    most    how often
    until   a global field: no more once its first scalar is zero in every lane. What lanes that are done keep, rules say
    again   a global field that is zero the first time: steps under it, or under `until`, are for further times alone. As a rule
            there are none; derivatives of the first time say by `until` where there would be more
    steers  whether the steps do no more than say where rules run: derivatives have no part in them
    when    a global field: nothing is done where its first scalar is zero in every lane
    """

    steps: tuple[Step, ...]
    most: int
    until: str | None = None
    again: str | None = None
    steers: bool = False
    when: str | None = None

    @property
    def first_steps(self) -> tuple[Step, ...]:
        """The steps of the first time."""
        return tuple(step for step in self.steps if guard_of(step) not in (self.again, self.until))


Step = Sweep | Routine | Repeat


def guard_of(step: Step) -> str:
    """The global field without which nothing of a step is done; none: ""."""
    if not isinstance(step, Sweep):
        return step.when or ""
    return step.when[1] if step.when is not None and step.when[0] == "global" else ""


def flat(steps: Sequence[Step]) -> list[Sweep | Routine]:
    """The sweeps and routines, those that are repeated among them."""
    out: list[Sweep | Routine] = []
    for step in steps:
        out += flat(step.steps) if isinstance(step, Repeat) else [step]
    return out


def outward(rule: Callable[..., None], *, when: str | None = None) -> Sweep:
    """Root to leaves; `when` names a global field without which nothing is done."""
    return Sweep(rule, "outward", when=None if when is None else ("global", when))


def inward(rule: Callable[..., None]) -> Sweep:
    """Leaves to root."""
    return Sweep(rule, "inward")


def each(
    rule: Callable[..., None],
    *roles: str,
    on: str = "",
    when: tuple[str, str] | None = None,
    under: tuple[str, str] | None = None,
) -> Sweep:
    """Every node of a set by itself; `roles` name further nodes that the rule may look at."""
    return Sweep(rule, "each", ("own", *roles), None, on, when, under)


def over(
    items: str,
    rule: Callable[..., None],
    *roles: str,
    on: str = "",
    when: tuple[str, str] | None = None,
    under: tuple[str, str] | None = None,
) -> Sweep:
    """Every item of a list of a set: its node is `own`, the roles point to what else it concerns."""
    return Sweep(rule, "each", ("own", *roles), items, on, when, under)


@dataclass(frozen=True)
class Algorithm:
    """Named fields and phases of sweeps. A later phase sees what earlier ones computed.

    patient   kernels of any size are compiled as well as can be, however long it takes
    alone   one state at a time, as what is found in it steers the loops of routines
    """

    name: str
    fields: dict[str, Field]
    phases: dict[str, Sequence[Step]]
    patient: bool = False
    alone: bool = False

    def steps(self) -> list[tuple[str, Sweep | Routine]]:
        """All sweeps and routines in order, each once, with the name of their phase."""
        return [(phase, step) for phase, steps in self.phases.items() for step in flat(steps)]

    @cached_property
    def sets(self) -> tuple[str, ...]:
        """The sets of nodes that rules run on, the tree first."""
        return tuple(dict.fromkeys(["", *(step.on for _, step in self.steps() if isinstance(step, Sweep))]))

    @cached_property
    def looks_around(self) -> bool:
        """Whether some rule looks at other nodes than its own and the parent: then all that they share is stored."""
        return any(set(step.roles) - {"own", "parent"} for _, step in self.steps() if isinstance(step, Sweep))

    @cached_property
    def results(self) -> tuple[str, ...]:
        """The names of outputs and states."""
        return tuple(name for name, f in self.fields.items() if f.kind in ("output", "state"))

    def of_kind(self, kind: Kind) -> list[str]:
        return [name for name, f in self.fields.items() if f.kind == kind]

    def check_write(self, node_class: NodeClass, role: str, name: str) -> None:
        """Refuse what a rule may not assign."""
        f = self.fields.get(name)
        if role == "own" and (name in node_class.attributes or name in node_class.patterns):
            wrong = "a parameter or attribute of the node's class; give the new value another name"
        elif f is None:
            wrong = None if role == "own" else "a private value of another node; declare a field for it"
        elif f.kind == "input":
            wrong = "an input"
        elif (f.kind == "gathered") != (role == "parent"):
            wrong = "of the parent only gathered fields may be written, and gathered fields only of the parent"
        elif f.kind == "shared" and role != "own":
            wrong = "a shared field, which only its own node writes"
        else:
            wrong = None
        if wrong:
            raise CompileError(f"a rule of {self.name!r} writes {role}.{name}: {wrong}")

    @cached_property
    def modules(self) -> frozenset[str]:
        """The modules of this package where rules and fields come from."""
        return modules_of(self.fields, self.phases)

    @cached_property
    def foreign(self) -> bool:
        """Whether some rule is not part of this package, so that its code is not in the digest of the package's sources."""
        package = __name__.partition(".")[0] + "."
        rules = (step.rule for _, step in self.steps() if isinstance(step, Sweep))
        return not all((rule.__module__ or "").startswith(package) for rule in rules)


Pattern = tuple[tuple[Any, ...], tuple[float | None, ...]]


@dataclass(frozen=True, eq=False)
class NodeClass:
    """Nodes that share kernels: what rules may read besides fields, and how much of it is known in advance.

    signature    identifies the class for good: equal signatures mean equal machine code
    attributes   objects that rules use (`n.joint`)
    patterns     for every parameter its shape (of a table its `TableShape`) and, entry by entry, a number that is folded in or
                 None for run-time data
    sizes        number of scalars in the spaces of fields ("q", "v", ...)
    role_sizes   the same of nodes that a role points to, where they are not our own
    same_roles   roles that point to the node of an earlier one: with that they are one, so sums through both add up
    """

    signature: tuple[Any, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    patterns: dict[str, Pattern] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    role_sizes: dict[str, dict[str, int]] = field(default_factory=dict)
    same_roles: dict[str, str] = field(default_factory=dict)

    def sizes_of(self, role: str) -> dict[str, int]:
        """The sizes of the node that a role points to."""
        return self.role_sizes.get(role, self.sizes)

    def role(self, name: str) -> str:
        """The first role that points to the same node."""
        return self.same_roles.get(name, name)

    @cached_property
    def modules(self) -> frozenset[str]:
        """The modules of this package where the attributes come from."""
        return modules_of(self.attributes)

    @property
    def parameter_count(self) -> int:
        """Run-time scalars per node."""
        return sum(entry is None for _, entries in self.patterns.values() for entry in entries)

    def parameter_slots(self, name: str) -> list[int | float]:
        """For each entry of a parameter: an int, its place in the node's record, or a float, its folded value."""
        at = 0
        for other, (_, entries) in self.patterns.items():
            if other == name:
                slots: list[int | float] = []
                for entry in entries:
                    slots.append(at if entry is None else entry)
                    at += entry is None
                return slots
            at += sum(e is None for e in entries)
        raise KeyError(name)


FOLDABLE = (0.0, 1.0, -1.0)


def pattern(values: Any, fold: bool) -> Pattern:
    """The pattern of a parameter: entries that are exactly 0, 1 or -1 become part of the class if `fold`; of a table its shape
    and header."""
    if isinstance(values, Table):
        return values.shape, (None,) * values.shape.header
    a = np.asarray(values, dtype=float)
    return a.shape, tuple(float(x) + 0.0 if fold and x in FOLDABLE else None for x in a.flat)  # + 0.0: no -0.0


@dataclass(frozen=True, eq=False)
class Items:
    """A list of things to do: the node of each, and for every role the index it points to."""

    nodes: np.ndarray
    roles: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Packing:
    """An output whose numbers are not all different: `index` is the place of each among the `count` that are stored.

    The last place is that of all zeros.
    """

    index: np.ndarray
    count: int


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes in topological order: parents (-1 for roots), classes and parameter values.

    roles    further nodes or other things that rules look at, by name: the index for every node
    counts   how many things there are in the spaces that such indices point into ("body")
    items    lists that sweeps may run over, made when first needed
    packings spaces of outputs that are stored with fewer numbers, made when first needed
    sets     other sets of nodes, by name
    tables   whole numbers that routines read, by name
    numbers  numbers that routines are given, by name
    common   spaces in which nodes that are never in use at the same time have the same memory: as `offsets` says it
    apart    lists in place of those of the same names, for programs in which no memory is common
    usual    of spaces of which programs touch the beginning: how much, as a rule
    """

    parent: np.ndarray
    classes: Sequence[NodeClass]
    parameters: Sequence[dict[str, Any]]
    roles: dict[str, np.ndarray] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    items: dict[str, Callable[[], Items]] = field(default_factory=dict)
    packings: dict[str, Callable[[], Packing]] = field(default_factory=dict)
    sets: dict[str, Tree] = field(default_factory=dict)
    tables: dict[str, np.ndarray] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    common: dict[str, np.ndarray] = field(default_factory=dict)
    apart: dict[str, Callable[[], Items]] = field(default_factory=dict)
    usual: dict[str, int] = field(default_factory=dict)

    def of(self, name: str) -> Tree:
        """A set of nodes; the tree itself has no name."""
        return self.sets[name] if name else self

    def __len__(self) -> int:
        return len(self.parent)

    def offsets(self, space: str) -> np.ndarray:
        """Start of every node's range in a space ("q", "v", ...); one more entry holds the total."""
        if space in self.common:
            return self.common[space]
        sizes = [c.sizes.get(space, 0) for c in self.classes]
        return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
