"""Changes of stored models that keep their digest valid: of types, sizes, names, nesting and numbers."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from linkwork.io.saved import _data
from linkwork.store.kinds import ALL_FUNCTIONS, ALL_KINDS

Rng = np.random.Generator
NUMBERS = [
    0,
    0.0,
    -0.0,
    1,
    -1,
    -3,
    -3.0,
    1e-300,
    1e308,
    float("inf"),
    float("nan"),
    2**30,
    2**31,
    2**40,
    -(2**63),
    2**70,
    0.5,
    True,
]
WORDS = ["", "world", "nan", "x" * 10_000, "\ud800", "../../etc/passwd", "__class__", "_made_with", "__del__", "a", "0", "None"]
FOREIGN = [
    "linkwork.store.blocks:BlockWriter", "linkwork.view.session.door:Door", "linkwork.streams.steps:StepStream", "os:system",
    "linkwork.kernel.workers:Workers", "linkwork.simulator:Simulator", "linkwork.geometry.mesh:Mesh.load", "builtins:eval",
    "linkwork.io.saved:save_model", "linkwork.store.kinds:importlib.import_module", "linkwork.trajectory:Trajectory",
]  # fmt: skip
WRAPS: list[Callable[[Any], Any]] = [
    lambda x: [x], lambda x: {"tuple": [x]}, lambda x: {"dict": [["a", x]]}, lambda x: {"set": [x]}, lambda x: {"frozenset": [x]},
    lambda x: {}, lambda x: {"range": [0, 2**62, 1]}, lambda x: {"slice": [0, x, 1]}, lambda x: {"scalar": ["<f8", 1.0]},
    lambda x: {"scalar": ["|O", 1]}, lambda x: {"float": "nan"}, lambda x: {"float": "1e400"}, lambda x: {"tuple": x},
    lambda x: {"class": "linkwork.model.model:Model"}, lambda x: {"foreign": 0}, lambda x: {"again": 0}, lambda x: {"again": -1},
]  # fmt: skip


def changed(text: dict[str, Any], rng: Rng) -> dict[str, Any]:
    """A stored model with one to three changes, and the digest of what it says now."""
    made = copy.deepcopy(text)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        places = list(_places(made, "model"))
        kind = rng.integers(10)
        if kind < 2 and made["arrays"]:
            _change_array(made["arrays"], rng)
        elif kind < 3:
            _swap(places, rng)
        else:
            owner, key = places[rng.integers(len(places))]
            _change_entry(owner, key, made, places, rng)
    made["digest"] = digest(made)
    return made


def changed_tree(text: dict[str, Any], rng: Rng) -> dict[str, Any]:
    """A tree of JSON with one change."""
    made = {"tree": copy.deepcopy(text), "arrays": {}}
    places = list(_places(made, "tree"))
    owner, key = places[rng.integers(1, len(places))] if len(places) > 1 else places[0]
    _change_entry(owner, key, made, places, rng)
    return made["tree"] if isinstance(made["tree"], dict) else text


def digest(text: dict[str, Any]) -> str:
    """What a file must say to be read on."""
    try:
        return _data(text).digest
    except Exception:  # no reader gets as far as the digest
        return "none"


def _places(owner: Any, key: Any) -> Iterator[tuple[Any, Any]]:
    """Every entry of a tree, by what holds it."""
    stack = [(owner, key)]
    while stack:
        owner, key = stack.pop()
        yield owner, key
        x = owner[key]
        if isinstance(x, (list, dict)):
            stack += [(x, k) for k in (range(len(x)) if isinstance(x, list) else list(x))]


def _change_entry(owner: Any, key: Any, made: dict[str, Any], places: list[tuple[Any, Any]], rng: Rng) -> None:
    old = owner[key]
    what = rng.integers(12)
    if what < 4:
        owner[key] = _other_value(old, rng)
    elif what == 4:
        owner[key] = WRAPS[rng.integers(len(WRAPS))](old)
    elif what == 5 and isinstance(owner, (dict, list)) and len(owner) and owner is not made:
        del owner[key]
    elif what == 6 and isinstance(owner, dict) and owner is not made:
        owner[str(rng.choice(WORDS[3:]))] = owner[key] if rng.integers(2) else 1.0
    elif what == 7 and isinstance(owner, list):
        owner.insert(key, copy.deepcopy(old))
    elif what == 8:
        owner[key] = _named(rng)
    elif what == 9:
        owner[key] = _nested(old, rng)
    elif what == 10:
        from_owner, from_key = places[rng.integers(len(places))]
        owner[key] = copy.deepcopy(from_owner[from_key])
    else:
        owner[key] = {"again": int(rng.integers(400))}


def _other_value(old: Any, rng: Rng) -> Any:
    if isinstance(old, str) and old.startswith("linkwork."):
        return str(rng.choice([*FOREIGN, *sorted(ALL_KINDS), *sorted(ALL_FUNCTIONS)]))
    if isinstance(old, str):
        return str(rng.choice(WORDS)) if rng.integers(3) else old + "x"
    if isinstance(old, (bool, int, float)) and rng.integers(3):
        return NUMBERS[rng.integers(len(NUMBERS))]
    return [None, [], "text", 7, -3.5, {"tuple": []}, True][rng.integers(7)]


def _named(rng: Rng) -> Any:
    name = str(rng.choice([*FOREIGN, *sorted(ALL_KINDS)]))
    victim = ["/tmp/linkwork-victim", 1]
    shapes: list[Any] = [
        {"named": name, "members": victim},
        {"object": 0, "of": name, "state": {"path": victim[0], "end": 1, "_at": victim[0], "_finished": True}},
        {"object": 0, "of": name, "state": {}},
        {"function": name},
        {"class": name},
    ]
    return shapes[rng.integers(len(shapes))]


def _nested(x: Any, rng: Rng) -> Any:
    for _ in range(int(rng.choice([3, 50, 150, 400]))):
        x = [x] if rng.integers(2) else {"tuple": [x]}
    return x


def _swap(places: list[tuple[Any, Any]], rng: Rng) -> None:
    if len(places) < 2:
        return
    (a, i), (b, j) = (places[rng.integers(1, len(places))] for _ in range(2))
    x, y = copy.deepcopy(a[i]), copy.deepcopy(b[j])
    a[i] = y
    if b is not a:
        b[j] = x


def _change_array(arrays: dict[str, Any], rng: Rng) -> None:
    a = arrays[str(rng.choice(list(arrays)))]
    what, numbers = rng.integers(7), a["numbers"]
    if what == 0:
        a["shape"] = [[], [0], [2**30], [-1], [3, 3], [len(numbers), 1], "3"][rng.integers(7)]
    elif what == 1:
        a["type"] = str(rng.choice(["<f8", "<f4", "<i8", "|b1", "|O", "<u2", "<c16", "<M8[s]"]))
    elif what == 2 and numbers:
        numbers[rng.integers(len(numbers))] = [*NUMBERS, "inf", "-inf", "nan", None, [1]][rng.integers(len(NUMBERS) + 5)]
    elif what == 3 and numbers:
        numbers[rng.integers(len(numbers))] = float(rng.normal())
    elif what == 4:
        keep = int(rng.integers(len(numbers) + 1))
        a["numbers"], a["shape"] = numbers[:keep], [keep]
    elif what == 5:
        more = int(rng.integers(1, 40))
        a["numbers"], a["shape"] = [*numbers, *[0.1] * more], [len(numbers) + more]
    else:
        a["numbers"] = [x * 3 if isinstance(x, (int, float)) and not isinstance(x, bool) else x for x in numbers]


def written(text: dict[str, Any]) -> str:
    """The text of a file; numbers that are not finite as JSON has them."""
    return json.dumps(text).replace("Infinity", "1e400")
