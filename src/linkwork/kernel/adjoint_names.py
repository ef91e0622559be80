"""Names of the weights of an algorithm's fields (see `adjoint`)."""

from __future__ import annotations

from typing import Any

from .sweep import Field, vector

BACKWARDS = {"outward": "inward", "inward": "outward", "each": "each"}
BAR_KINDS = {"input": "output", "state": "state"}
PASSING, ROUNDS = "bar_passing", "bar_rounds"
PASSED = -1  # the number of a tape of all rules: where weights that pass are
ROUND = 1000  # numbers of the rules of rounds: more than there are in one
UPWARD = ("parent", "parameter")  # what is read there is added to
Key = tuple[str, str]  # role, name


def bar(name: str) -> str:
    """The name of the weight of a field."""
    return f"bar_{name}"


def end(name: str) -> str:
    """The input that holds the weight of a result."""
    return f"end_{name}"


def guard(step: int) -> str:
    """The field of what said, at every node, whether a step runs there."""
    return f"guard_{step}"


def bars_of(of: str) -> str:
    """The field of the weights of the parameters of a set of nodes."""
    return f"bar_parameters_{of}" if of else "bar_parameters"


def reversed_items(name: str) -> str:
    """The name of a list of items in the opposite order."""
    return f"{name}_backwards"


def bar_field(f: Field, kind: Any = "work") -> Field:
    codec = None if f.codec is None else vector(f.codec.size)
    return Field(kind, f.space, codec, of=f.of)


def has_weights(f: Field) -> bool:
    """Whether a field has weights at all: times and other globals have none, nor has what steers."""
    return f.space != "global" and not f.steers
