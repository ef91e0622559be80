"""Runs of variants of a model, packed: those that differ in numbers only go side by side in lanes.

Numbers of laws, and masses, centres and tensors of bodies are put into lanes as they are, column by column; some rows are also
built as models of their own, and must agree to the last bit. All else (placements, shapes, limits) is built row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..elements.collection import Collection, collection
from ..errors import InputError, LinkworkError
from ..kernel.varying import Names, differing, varied_field, varied_values
from ..model import Model
from .columns import Column, variant

SETS = ("", "force", "constraint", "shape")
RIGID = ("mass", "com", "tensor")
OF_RIGID = frozenset(("mass", "first_moment", "J"))  # what the rules read of them
Rows = Mapping[str, np.ndarray]
Place = tuple[str, int, str, int | None]  # set of nodes, node, parameter, entry


@dataclass(frozen=True, eq=False)
class Pack:
    """Runs that differ in numbers only.

    which    their rows
    model    the model of one of them, as it acts
    names    the parameters that differ, by the set of their nodes
    varied   the inputs that hold them, (runs, size)
    """

    which: np.ndarray
    model: Model
    names: Names
    varied: dict[str, np.ndarray]


class Packer:
    """The variants of a model by some columns.

    acting   makes the model that runs of one that is declared
    rows     the whole design
    """

    def __init__(self, model: Model, columns: Sequence[Column], acting: Callable[[Model], Model], rows: Rows) -> None:
        self.model, self.acting = model, acting
        self.columns = [c for c in columns if c.kind in ("number", "gravity", "shape")]
        self._base = acting(model)
        self._places: dict[str, Place | None] = {c.name: self._place(c) for c in self.columns if c.kind == "number"}
        self._direct = bool(self.columns) and self._agrees({c.name: rows[c.name][self._ends(rows)] for c in self.columns})

    def model_of(self, rows: Rows, i: int) -> Model:
        """The model of one run, as it is declared."""
        row = {c.name: rows[c.name][i] for c in self.columns}
        try:
            return variant(self.model, self.columns, row)
        except LinkworkError as error:
            told = ", ".join(f"{name} = {x}" for name, x in row.items())
            raise InputError(f"a run of the design cannot be made ({told}): {error}") from None

    def packs(self, rows: Rows, count: int) -> Iterator[Pack]:
        """All runs of some rows, in packs."""
        if not self.columns:
            yield Pack(np.arange(count), self._base, {}, {})
        elif self._direct:
            yield self._copied(rows, count)
        else:
            yield from self._built(rows, count)

    # --- column by column ----------------------------------------------------------------------------------------------------
    def _place(self, c: Column) -> Place | None:
        """Where the number of a law stands as it is; None where it does not, and for bodies."""
        laws = collection(self._base)
        for of, some in (("force", laws.forces), ("constraint", laws.rows)):
            for k, law in enumerate(some):
                if getattr(law, "name", "") == c.owner and c.what in law.parameters():
                    return of, k, f"own_{c.what}", c.entry
        return None

    @property
    def _rigid(self) -> list[Column]:
        """The columns that are numbers of bodies."""
        return [c for c in self.columns if c.kind == "number" and self._places[c.name] is None]

    def _copied(self, rows: Rows, count: int) -> Pack:
        """All runs as one pack, made column by column."""
        rigid = self._rigid
        places = [(c, self._places[c.name]) for c in self.columns if c.kind == "number"]
        names: dict[str, frozenset[str]] = {"": OF_RIGID} if rigid else {}
        for _, place in places:
            if place is not None:
                names[place[0]] = names.get(place[0], frozenset()) | {place[2]}
        laws = collection(self._base)
        varied = {varied_field(of): np.tile(varied_values(laws.tree.of(of), own), (count, 1)) for of, own in names.items()}
        for c, place in places:
            if place is not None:
                _put(varied[varied_field(place[0])], laws.tree.of(place[0]), names[place[0]], place[1:], rows[c.name])
        for name in dict.fromkeys(c.owner for c in rigid):
            self._put_rigid(varied[varied_field("")], name, [c for c in rigid if c.owner == name], rows, count)
        if any(c.kind == "gravity" for c in self.columns):
            varied["gravity"] = self._gravities(rows, count)
        return Pack(np.arange(count), self._base, names, varied)

    def _put_rigid(self, out: np.ndarray, name: str, columns: Sequence[Column], rows: Rows, count: int) -> None:
        """Mass, first moment and inertia about the origin of a body, by the parallel axis theorem, as `Inertia` has them."""
        i = self.model.body_index(name)
        own = self.model.bodies[i].inertia
        values = {what: np.array(np.broadcast_to(getattr(own, what), (count, *np.shape(getattr(own, what))))) for what in RIGID}
        for c in columns:
            flat = values[c.what].reshape(count, -1)
            if c.entry is None:
                flat[...] = rows[c.name].reshape(count, -1)
            else:
                flat[:, c.entry] = rows[c.name]
                if c.what == "tensor":
                    flat[:, 3 * (c.entry % 3) + c.entry // 3] = rows[c.name]
        m, com, tensor = values["mass"], values["com"], values["tensor"]
        first = m[:, None] * com
        tree = self._base.tree
        square = np.einsum("ni,ni->n", com, com)
        about = tensor + m[:, None, None] * (square[:, None, None] * np.eye(3) - com[:, :, None] * com[:, None, :])
        J = np.stack([about[:, a, b] for a, b in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))], axis=1)
        for parameter, x in (("mass", m), ("first_moment", first), ("J", J)):
            _put(out, tree, OF_RIGID, (i, parameter, None), x)

    def _gravities(self, rows: Rows, count: int) -> np.ndarray:
        out = np.tile(self.model.gravity, (count, 1))
        for c in self.columns:
            if c.kind == "gravity":
                out[:, slice(None) if c.entry is None else c.entry] = rows[c.name]
        return out

    def _ends(self, rows: Rows) -> list[int]:
        """The first run, and those with the least and largest values of every column."""
        columns = [rows[c.name].reshape(len(rows[c.name]), -1) for c in self.columns]
        ends = {int(i) for x in columns for f in (np.argmin, np.argmax) for i in np.atleast_1d(f(x, axis=0))}
        return sorted({0} | ends)

    def _agrees(self, rows: Rows) -> bool:
        """Whether these runs, built as models, have the numbers of the pack that is made column by column.

        To the last bit; inertias to rounding, which depends on the order of sums. Also checks that these values are allowed.
        """
        count = len(next(iter(rows.values())))
        built = [collection(self.acting(self.model_of(rows, i))) for i in range(count)]
        copied = all(c.kind != "shape" for c in self.columns)
        if not copied or any(c.what not in RIGID or c.owner not in self.model.names for c in self._rigid):
            return False
        base, pack = collection(self._base), self._copied(rows, count)
        return all(self._has_numbers(base, laws, pack, i) for i, laws in enumerate(built))

    @staticmethod
    def _has_numbers(base: Collection, built: Collection, pack: Pack, i: int) -> bool:
        """Whether what was built of a row is what the pack has."""
        if not np.array_equal(built.initial_inputs, base.initial_inputs) or _sets(base) != _sets(built):
            return False
        for of in _sets(base):
            other = built.tree.of(of)
            differ = differing(base.tree.of(of), other)
            if differ is None or not differ <= pack.names.get(of, frozenset()):
                return False
            if of in pack.names:
                x, y = pack.varied[varied_field(of)][i], varied_values(other, pack.names[of])
                if not (np.allclose(x, y, rtol=1e-14, atol=1e-15 * np.abs(y).max()) if of == "" else np.array_equal(x, y)):
                    return False
        return True

    # --- row by row -------------------------------------------------------------------------------------------------------------
    def _built(self, rows: Rows, count: int) -> Iterator[Pack]:
        """Packs of models that are built."""
        groups: list[tuple[Model, list[int], list[Model]]] = []
        known: dict[bytes, Model] = {}
        for i in range(count):
            key = b"".join(np.ascontiguousarray(rows[c.name][i]).tobytes() for c in self.columns)
            if key not in known:
                known[key] = self.acting(self.model_of(rows, i))
            model = known[key]
            for first, which, members in groups:
                if model is first or alike(first, model):
                    which.append(i)
                    members.append(model)
                    break
            else:
                groups.append((model, [i], [model]))
        for first, which, members in groups:
            yield _pack(first, which, members)


def alike(first: Model, second: Model) -> bool:
    """Whether two models differ in numbers only."""
    a, b = collection(first), collection(second)
    return _sets(a) == _sets(b) and all(differing(a.tree.of(of), b.tree.of(of)) is not None for of in _sets(a))


def _pack(first: Model, which: list[int], members: list[Model]) -> Pack:
    base, distinct = collection(first), list({id(m): collection(m) for m in members}.values())
    names: dict[str, frozenset[str]] = {}
    for of in _sets(base):
        own = base.tree.of(of)
        differ = frozenset().union(*(differing(own, laws.tree.of(of)) or () for laws in distinct))
        if differ:
            names[of] = differ
    found = [collection(m) for m in members]
    varied = {varied_field(of): np.array([varied_values(laws.tree.of(of), own) for laws in found]) for of, own in names.items()}
    gravity, inputs = np.array([m.gravity for m in members]), np.array([laws.initial_inputs for laws in found])
    if (gravity != first.gravity).any():
        varied["gravity"] = gravity
    if (inputs != base.initial_inputs).any():
        varied["u"] = inputs
    return Pack(np.array(which), first, names, varied)


def _sets(laws: Collection) -> list[str]:
    return [of for of in SETS if not of or of in laws.tree.sets]


def _put(out: np.ndarray, tree: Any, names: frozenset[str], place: tuple[int, str, int | None], x: np.ndarray) -> None:
    """Write a column into the numbers of a set of nodes, in the order of `varied_values`."""
    node, parameter, entry = place
    at = 0
    for k, c in enumerate(tree.classes):
        for name in sorted(names & set(c.patterns)):
            size = len(c.patterns[name][1])
            if k == node and name == parameter:
                out[:, at : at + size] = x.reshape(len(x), -1) if entry is None else out[:, at : at + size]
                if entry is not None:
                    out[:, at + entry] = x
                return
            at += size
