"""The adjoint of any algorithm: from weights of its results to the weights of all that it was computed from, in O(n).

For every field x there is `bar_x`, the derivative of the weighted results with respect to x. The steps run as they are; then they
run backwards, each with its transpose. A rule is run once more on dual numbers whose derivatives are linear forms
(`spatial.forms`), from the values that it saw: what it assigned has weights, which go to what it read, and

    what a rule overwrites has no weight before it, but for what the rule itself reads of it;
    what it adds to through a role keeps its weight, and hands it on;
    children that read their parent add to its weight (`up_x`), on the way inward.

What a rule saw is kept at its node, where later rules overwrite it, and so is what says whether it runs there (`guard`); what it
reads once more over a list (`items`) must still be there. Weights of private values are private, but for those of rules that run
several times at a node, or not at all (lists, guards): these wait in a field (`PASSING`) for the rule that assigned the value.
Routines say themselves what the weights of what they read are (`adjoint_of`): a solver by the implicit function theorem. Numbers
of nodes have weights on a tree `with_slopes`, as in `directional`. Times and other globals have none, nor has what steers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import CompileError
from ..spatial.scalar import is_zero, zeros
from .adjoint_names import (
    BACKWARDS,
    BAR_KINDS,
    PASSING,
    ROUND,
    ROUNDS,
    bar,
    bar_field,
    bars_of,
    end,
    guard,
    has_weights,
    reversed_items,
)
from .adjoint_routines import routine_steps
from .adjoint_rules import Transpose, scalars_of
from .adjoint_solves import solved_backwards, solved_forwards
from .adjoint_tape import Recorder, States, later, tape_of, unwatched
from .directional import SLOPES
from .joined import joined
from .rounds_backwards import FIELDS, Rounds, flags, kept_going, rounds_backwards, rounds_of, times_of
from .shape import tree_items
from .solved_sweeps import SolvedBackwards, solved_pairs
from .sweep import SCALAR, Algorithm, Field, Items, NodeClass, Repeat, Routine, Step, Sweep, Tree, flat, vector


def _forwards(sweep: Sweep, step: int, states: States, sloped: bool) -> Sweep:
    rule = sweep.rule

    @functools.wraps(rule)
    def watched(*nodes: Any) -> None:
        rule(*(Recorder(node, step, states, sloped) for node in nodes))

    @functools.wraps(rule)
    def over_items(*nodes: Any) -> None:
        rule(*(_Sparing(node) for node in nodes))

    return replace(sweep, rule=watched if sweep.items is None else over_items)


class _Sparing:
    """A node for a rule over a list: what the rule would empty after use is kept for the way back."""

    __slots__ = ("_node",)

    def __init__(self, node: Any) -> None:
        object.__setattr__(self, "_node", node)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def __setattr__(self, name: str, value: Any) -> None:
        f = self._node._tracer.algorithm.fields.get(name)
        if f is None or self._node._role == "own" or not all(is_zero(x) for x in f.scalars(value)):
            setattr(self._node, name, value)


def _backwards(sweep: Sweep, step: int, fields: dict[str, Field], sloped: bool, rounds: Sequence[int] = ()) -> Sweep:
    rule = sweep.rule

    @functools.wraps(rule)
    def transposed(*nodes: Any) -> None:
        Transpose(fields, sweep, step, sloped, rounds).run(rule, nodes)

    items = None if sweep.items is None else reversed_items(sweep.items)
    order: Any = BACKWARDS[sweep.order]
    return replace(sweep, rule=transposed, order=order, items=items)


def _guarded(ahead: Sweep, back: Sweep, step: int) -> tuple[Sweep, Sweep]:
    """A rule that runs at some nodes only, and its transpose, which runs there: what says so is kept, as rules may overwrite it,
    and empty again after the way back."""
    assert ahead.when is not None
    rule, transpose, name, asked = ahead.rule, back.rule, guard(step), ahead.when[1]

    @functools.wraps(rule)
    def kept(*nodes: Any) -> None:
        n, said = nodes[0], getattr(nodes[0], asked)
        rule(*nodes)
        if tape_of(n, step).writes:
            setattr(n, name, said)

    @functools.wraps(rule)
    def cleared(*nodes: Any) -> None:
        transpose(*nodes)
        if tape_of(nodes[0], step).writes:
            setattr(nodes[0], name, 0.0)

    return replace(ahead, rule=kept), replace(back, rule=cleared, when=("own", name))


def _collecting(step: int) -> Sweep:
    """After rounds have run backwards: their weights of what was private before."""

    def collect(n: Any) -> None:
        places = tape_of(n, step).passing
        passed = list(getattr(n, ROUNDS))
        for name in dict.fromkeys(name for name, _ in places):
            known = f":bar:{name}" in n._tracer.memory
            total = list(getattr(n, f":bar:{name}")) if known else [0.0] * len(scalars_of(getattr(n, name)))
            for (own, k), at in places.items():
                if own == name:
                    total[k] = total[k] + passed[at]
            setattr(n, f":bar:{name}", total)
        if places:
            setattr(n, ROUNDS, zeros(len(passed)))

    return Sweep(collect, "each", ("own",), None, "")


def _beginning(on: str, bars: dict[str, tuple[str | None, bool]]) -> Sweep:
    """All weights of a set as they begin: those of results, or none; added to those of states."""

    def begin(n: Any) -> None:
        for name, (given, goes_on) in bars.items():
            now = getattr(n, name)
            more = zeros(len(now)) if given is None else getattr(n, given)
            setattr(n, name, now + more if goes_on else more)

    return Sweep(begin, "each", ("own",), None, on)


def adjoint(algorithm: Algorithm, sloped: Sequence[str] = (), writes: Mapping[str, int] | None = None) -> Algorithm:
    """The algorithm with the weights of all that it is computed from, given those of what it computes. On a tree
    `with_reversed_items`.

    Outputs `bar` of its inputs, where these are given; inputs `end` of its outputs and states. Weights of states are states: run
    once more, at the states of the pass before, they go on from there, and `end` is added. Where an output of
    `rounds_backwards.flags` is not zero, something was left unfinished, and weights mean nothing.

    sloped   the sets whose parameters have weights, too (states `bars_of`, sums over passes), on a tree `with_slopes`
    writes   of states that other nodes look at after they were assigned, the number of the step that does (`first_writes`)
    """
    own, writes = algorithm.fields, writes or {}
    states = frozenset(name for name, f in own.items() if f.kind == "state")
    results = {name for name in algorithm.results if has_weights(own[name]) and own[name].alias is None}
    more: dict[str, Field] = {}
    forwards: list[Step] = []
    backwards: list[Step] = []
    nodal: dict[str, dict[str, tuple[str | None, bool]]] = {}
    for name, f in own.items():
        if f.alias is not None or not has_weights(f) or not _is_nodal(f):
            continue
        more[bar(name)] = bar_field(f, BAR_KINDS.get(f.kind, "work"))
        if f.kind in ("input", "output", "state") or f.of not in algorithm.sets:  # others are overwritten, and empty again
            nodal.setdefault(f.of, {})[bar(name)] = end(name) if name in results else None, f.kind == "state"
        if name in results:
            more[end(name)] = bar_field(f, "input")
        if f.of == "" and f.codec is not None and f.kind in ("shared", "work", "state"):
            more[f"up_{name}"] = Field("gathered", codec=vector(f.codec.size))
    more[PASSING] = Field("work", PASSING)
    for of in sloped:
        more[bars_of(of)] = Field("state", SLOPES, of=of)
    unrolled = _unrolled(algorithm)
    plain = [step for _, step in unrolled if not isinstance(step, Rounds)]
    pairs = solved_pairs(plain) if len(plain) == len(unrolled) else {}
    more |= {later(name): replace(own[name], kind="work") for name in writes}
    for pair in pairs.values():
        more |= _solving_fields(pair)
    new: frozenset[str] = frozenset()  # states that were assigned by then
    for number, (_, step) in enumerate(unrolled):
        if number:
            new |= {name for name, first in writes.items() if unrolled[number - 1][0] >= first}
        if isinstance(step, Sweep) and number in pairs:
            pair = pairs[number]
            forwards.append(solved_forwards(step, number, pair))
            backwards[:0] = solved_backwards(step, number, pair, own, step.on in sloped)
        elif isinstance(step, Repeat):
            forwards.append(unwatched(step, States(states, frozenset(writes), new)))
        elif number + 1 in pairs and not isinstance(step, Rounds):
            forwards.append(step)
        elif isinstance(step, Sweep):
            ahead = _forwards(step, number, States(states, frozenset(writes), new), bool(sloped))
            back = _backwards(step, number, own, step.on in sloped)
            if step.when is not None and step.when[0] == "own" and step.items is None:
                more[guard(number)] = replace(own[step.when[1]], kind="work")
                ahead, back = _guarded(ahead, back, number)
            forwards.append(ahead)
            backwards.insert(0, back)
        elif isinstance(step, Rounds):
            had = f"had_rounds_{number}"
            more |= FIELDS | {ROUNDS: Field("work", ROUNDS), had: Field("work", "global", SCALAR)}
            numbers = [ROUND * (number + 1) + k for k in range(len(step.sweeps))]
            told = States(states, frozenset(writes), new)
            forwards += [unwatched(step.repeat, told), step.begin, kept_going(step, had)]
            forwards += [_forwards(rule, k, told, bool(sloped)) for k, rule in zip(numbers, step.sweeps, strict=True)]
            turned = zip(reversed(numbers), reversed(step.sweeps), strict=True)
            body: list[Step] = [_backwards(rule, k, own, rule.on in sloped, numbers) for k, rule in turned]
            more.setdefault(bar(step.carried), bar_field(own[step.carried]))
            backwards[:0] = [*rounds_backwards(step, body, bar, had), _collecting(numbers[0])]
        else:
            ahead, back = routine_steps(algorithm, step, more)
            forwards += ahead
            backwards[:0] = back
    kept = {name: replace(own[name], kind="input" if name in states else "work") for name in algorithm.results}
    told = flags([step for steps in algorithm.phases.values() for step in steps])
    kept |= {name: replace(own[name], kind="output") for name in told}
    begins: list[Step] = [_beginning(of, bars) for of, bars in nodal.items()]
    name = "_".join([algorithm.name, "adjoint", *(of or "tree" for of in sloped)])
    return Algorithm(name, own | kept | more, {"run": joined([*forwards, *begins, *backwards])})


Unrolled = Sweep | Routine | Rounds | Repeat  # the last of which steer


def _unrolled(algorithm: Algorithm) -> list[tuple[int, Unrolled]]:
    """All steps in order, with their numbers in the algorithm; what is repeated a known number of times stands so often.

    What rules over lists and routines read must still be there on the way back: they run once.
    """
    found = _unroll(algorithm, [step for steps in algorithm.phases.values() for step in steps], 0)
    lists = [step.items for _, step in found if isinstance(step, Sweep) and step.items is not None]
    if len(set(lists)) < len(lists):
        raise CompileError(f"{algorithm.name}: rows that are found several times in a step have no adjoint")
    return found


def _unroll(algorithm: Algorithm, steps: Sequence[Step], number: int) -> list[tuple[int, Unrolled]]:
    found: list[tuple[int, Unrolled]] = []
    for before, step in zip((None, *steps), steps, strict=False):
        if isinstance(step, Repeat) and step.steers:
            found.append((number, step))
        elif isinstance(step, Repeat) and step.again:
            for inner in step.steps:
                found += _unroll(algorithm, [inner], number) if inner in step.first_steps else []
                number += len(flat([inner]))
            continue
        elif isinstance(step, Repeat):
            rounds, times = rounds_of(before, step), times_of(step)
            if rounds is not None and rounds.simple():
                found.append((number, rounds))
            elif rounds is None and times is not None:
                found += times * _unroll(algorithm, step.steps, number)
            else:
                raise CompileError(f"{algorithm.name}: what is repeated until it converges has no adjoint")
        else:
            found.append((number, step))
        number += len(flat([step]))
    return found


def _solving_fields(pair: SolvedBackwards) -> dict[str, Field]:
    """Those of the rules of a pair, and of the weights that children add to what it moves outward."""
    shared = {name: f for name, f in pair.fields.items() if f.kind == "shared" and f.codec is not None}
    return dict(pair.fields) | {f"up_{name}": Field("gathered", codec=vector(f.size({}))) for name, f in shared.items()}


def _is_nodal(f: Field) -> bool:
    """Whether a field belongs to nodes; others are arrays of routines, whose weights they name."""
    return f.codec is None or f.space == "node"


def with_reversed_items(tree: Tree) -> Tree:
    """The tree with all its lists in the opposite order, too, and room at its nodes for weights of what rules over them read: a
    transform, and of its degrees of freedom columns of 12 numbers and a factor. What rules empty or overwrite stays for the way
    back, so no memory is common."""
    tree = replace(tree, items=tree.items | tree.apart, sets={name: replace(x, common={}) for name, x in tree.sets.items()})

    def backwards(name: str) -> Callable[[], Items]:
        def make() -> Items:
            found = tree_items(tree, name)
            roles = {role: np.ascontiguousarray(x[::-1]) for role, x in found.roles.items()}
            return Items(np.ascontiguousarray(found.nodes[::-1]), roles)

        return make

    made: dict[int, NodeClass] = {}
    for c in tree.classes:
        if id(c) not in made:
            nv = c.sizes.get("v", 0)
            sizes = {**c.sizes, PASSING: 48 + 14 * nv + nv * nv, ROUNDS: 96 + 40 * nv + 3 * nv * nv}
            made[id(c)] = replace(c, signature=(*c.signature, PASSING), sizes=sizes)
    lists = tree.items | {reversed_items(name): backwards(name) for name in tree.items}
    return replace(tree, classes=[made[id(c)] for c in tree.classes], items=lists)
