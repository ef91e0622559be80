"""When an algorithm first overwrites its states: found by a trace of its rules, of which no code is made."""

from __future__ import annotations

from .sweep import Algorithm, Sweep, Tree, flat
from .trace import Position, Tracer


class _Watcher(Tracer):
    """Notes at which step a field is first assigned."""

    def __init__(self, algorithm: Algorithm, tree: Tree, on: str) -> None:
        super().__init__(algorithm, tree.of(on).classes[0], Position(False, False, False), frozenset(), on)
        self.found: dict[str, int] = {}
        mine = [k for k, (_, step) in enumerate(algorithm.steps()) if isinstance(step, Sweep) and step.on == on]
        self.numbers = iter(mine)

    def _commit(self) -> None:
        number = next(self.numbers)
        for _, name in self.written:
            self.found.setdefault(name, number)
        super()._commit()


_KNOWN: dict[str, dict[str, int]] = {}


def first_writes(algorithm: Algorithm, tree: Tree) -> dict[str, int]:
    """For states that rules assign, the number of the first step that does, where a later one looks at other nodes.

    Where none does, new values are needed at their own nodes only, and nothing is said of them.
    """
    known = _KNOWN.get(algorithm.name)
    if known is None:
        states = {name for name, f in algorithm.fields.items() if f.kind == "state"}
        found: dict[str, int] = {}
        for of in algorithm.sets:
            if len(tree.of(of)):
                found |= {name: k for name, k in _watched(algorithm, tree, of).items() if name in states}
        looks = [k for k, step in enumerate(flat([s for steps in algorithm.phases.values() for s in steps])) if _looks(step)]
        known = _KNOWN[algorithm.name] = {name: k for name, k in found.items() if looks and looks[-1] > k}
    return known


def _watched(algorithm: Algorithm, tree: Tree, on: str) -> dict[str, int]:
    watcher = _Watcher(algorithm, tree, on)
    watcher.run()
    return watcher.found


def _looks(step: object) -> bool:
    """Whether a rule looks at other nodes than its own."""
    return isinstance(step, Sweep) and len(step.roles) > 1
