"""Numbers of nodes that differ from state to state of a batch: masses, stiffnesses, sizes of shapes.

A kernel reads the parameters of its node from a record that all states share. Here some of them become an input of the
algorithm instead, a value in every lane: a thousand variants of one model are one batch. No rule knows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..spatial.scalar import array
from ..spatial.table import Table
from .sweep import Algorithm, Field, NodeClass, Repeat, Step, Sweep, Tree

VARIED = "varied_places"  # the space of a node's varied numbers, and the name of where those of each parameter begin
Names = Mapping[str, frozenset[str]]  # the parameters that vary, by the set of their nodes


def varied_field(of: str) -> str:
    """The input that holds the varied numbers of a set of nodes."""
    return f"varied_{of}" if of else "varied"


class _View:
    """A node, some parameters of which are read from a field; all else passes."""

    __slots__ = ("_field", "_node")

    def __init__(self, node: Any, field: str) -> None:
        object.__setattr__(self, "_node", node)
        object.__setattr__(self, "_field", field)

    def __getattr__(self, name: str) -> Any:
        place = getattr(self._node, VARIED).get(name)
        if place is None:
            return getattr(self._node, name)
        first, last, shape = place
        values = list(getattr(self._node, self._field))[first:last]
        return array(values).reshape(shape) if shape else values[0]

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._node, name, value)


def _varied_rule(rule: Callable[..., None], field: str) -> Callable[..., None]:
    @functools.wraps(rule)
    def on_views(own: Any, *nodes: Any) -> None:
        rule(_View(own, field), *nodes)

    return on_views


def varying(algorithm: Algorithm, names: Names) -> Algorithm:
    """The algorithm on a tree `with_varied` parameters of these names: inputs `varied_field` hold them."""

    def of_step(step: Step) -> Step:
        if isinstance(step, Repeat):
            return replace(step, steps=tuple(map(of_step, step.steps)))
        if isinstance(step, Sweep) and step.on in names:
            return replace(step, rule=_varied_rule(step.rule, varied_field(step.on)))
        return step

    phases: dict[str, Sequence[Step]] = {phase: [of_step(s) for s in steps] for phase, steps in algorithm.phases.items()}
    more = {varied_field(of): Field("input", VARIED, of=of) for of in names}
    told = "_".join([algorithm.name, "varying", *(f"{of or 'tree'}_{'_'.join(sorted(names[of]))}" for of in sorted(names))])
    return replace(algorithm, name=told, fields=algorithm.fields | more, phases=phases)


def with_varied(tree: Tree, names: Names) -> Tree:
    """The tree whose nodes know where their varied numbers are."""
    own = _varied(tree, names[""]) if "" in names else tree
    return replace(own, sets={of: _varied(nodes, names[of]) if of in names else nodes for of, nodes in tree.sets.items()})


def _varied(tree: Tree, names: frozenset[str]) -> Tree:
    made: dict[int, NodeClass] = {}
    for c in tree.classes:
        if id(c) not in made:
            places, at = {}, 0
            for name in sorted(names & set(c.patterns)):
                shape, entries = c.patterns[name]
                places[name] = (at, at + len(entries), shape)
                at += len(entries)
            attributes, sizes = {**c.attributes, VARIED: places}, {**c.sizes, VARIED: at}
            made[id(c)] = replace(c, signature=(*c.signature, VARIED, *places.items()), attributes=attributes, sizes=sizes)
    return replace(tree, classes=[made[id(c)] for c in tree.classes])


def varied_values(tree: Tree, names: frozenset[str]) -> np.ndarray:
    """The numbers of a set of nodes that vary, in the order of its field."""
    values = [np.zeros(0)]
    for c, own in zip(tree.classes, tree.parameters, strict=True):
        values += [np.reshape(np.asarray(own[name], float), -1) for name in sorted(names & set(c.patterns))]
    return np.concatenate(values)


def differing(first: Tree, second: Tree) -> frozenset[str] | None:
    """The parameters by which the nodes of two sets differ; None where they differ in more than numbers."""
    if len(first) != len(second) or first.numbers != second.numbers or not _same_arrays(first.roles, second.roles):
        return None
    found: set[str] = set()
    for c, d, x, y in zip(first.classes, second.classes, first.parameters, second.parameters, strict=True):
        if c is not d and _structure(c) != _structure(d):
            return None
        for name, value in x.items():
            other = y[name]
            if isinstance(value, Table) or isinstance(other, Table):
                if value is not other:
                    return None
            elif not np.array_equal(value, other):
                found.add(name)
    return frozenset(found)


def _structure(c: NodeClass) -> tuple[Any, ...]:
    """What identifies a class, whatever numbers are folded into it."""
    folded = tuple(c.patterns.items())
    return tuple(part for part in c.signature if part != folded), tuple((name, shape) for name, (shape, _) in folded)


def _same_arrays(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> bool:
    return first.keys() == second.keys() and all(np.array_equal(x, second[name]) for name, x in first.items())
