"""The head of a stream: everything that a run begins with, as data, and what it ran on."""

from __future__ import annotations

import functools
import hashlib
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import InputError, LinkworkError, ModelError
from ..kernel import machine
from ..store.data import Data
from ..store.objects import encode, encode_for_file
from ..store.reading import read

FORMAT = 1
ASKED = ("control", "inputs")  # arguments that are asked during a run: functions, which do not go into a file
EVENTS = "events"  # an option of functions, which do not either
MODEL = "model"
BY_STEPS = "by_steps"  # in a head: a Simulator writes, which is told when to go on


@functools.cache
def ran_on() -> dict[str, str]:
    """What decides the bits of a run besides its arguments."""
    h, folder = hashlib.sha256(), Path(__file__).parent.parent
    for file in sorted(folder.rglob("*.py")):
        h.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    versions = {"linkwork": f"{__version__} {h.hexdigest()[:16]}", "numpy": np.__version__, "python": platform.python_version()}
    return versions | {"processor": machine.description().rpartition(" ")[0]}


def parts(data: Data, name: str) -> dict[str, np.ndarray]:
    """The arrays of some data, as they are called in a block."""
    return {f"{name}.{key}": a for key, a in data.arrays.items()}


def part_of(text: dict[str, Any], arrays: dict[str, np.ndarray], name: str) -> Data:
    """The data of a name in a block."""
    start = f"{name}."
    return Data(text[name], {key[len(start) :]: a for key, a in arrays.items() if key.startswith(start)})


def model_data(model: Any) -> tuple[Data | None, str, str]:
    """A model as data, its digest, and why it cannot be data, if so."""
    try:
        found = encode_for_file(model)
        return found, found.digest, ""
    except InputError as error:
        return None, encode(model, _described).digest, str(error)


def _described(x: Any, where: str) -> Any:
    """What is foreign, by its name and the code of its functions: to compare, not to make it anew."""
    code = getattr(x, "__code__", None)
    own = [] if code is None else [code.co_code.hex(), repr(code.co_consts), repr(code.co_names)]
    return {"described": [getattr(x, "__qualname__", type(x).__qualname__), *own]}


def head_of(call: dict[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Text and arrays of the head of a run with these arguments of `simulate`."""
    model, digest, why = model_data(call[MODEL])
    asked = {name: callable(call[name]) for name in ASKED} | {EVENTS: bool(call["options"].get(EVENTS))}
    given = {name: x for name, x in call.items() if name != MODEL and not asked.get(name)}
    given["options"] = {name: x for name, x in call["options"].items() if name != EVENTS}
    rest = encode_for_file(given)
    text = {"format": FORMAT, "ran_on": ran_on(), "model_digest": digest, "model_stays": why, "asked": asked, "call": rest.tree}
    text[MODEL] = None if model is None else model.tree
    return text, parts(rest, "call") | ({} if model is None else parts(model, MODEL))


@contextmanager
def read_from(path: Path) -> Iterator[None]:
    """Whatever goes wrong while a file is read says the file."""
    try:
        yield
    except (InputError, ModelError) as error:
        raise error if str(path) in str(error) else InputError(f"{path}: {error}") from error
    except LinkworkError:
        raise
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise InputError(f"{path}: it cannot be read as a run: {said}") from error


def check_head(path: Path, text: dict[str, Any]) -> None:
    """Raise unless a head says all that one says."""
    if text.get("format") != FORMAT:
        raise InputError(f"{path} has the format {str(text.get('format'))[:20]!r}; this version reads {FORMAT}")
    texts = [text.get("model_digest"), text.get("model_stays")]
    asked, versions = text.get("asked"), text.get("ran_on")
    if not all(isinstance(x, str) for x in texts) or MODEL not in text or "call" not in text:
        raise InputError(f"{path}: its head has no model, or no arguments")
    if not isinstance(asked, dict) or not set(ASKED) <= set(asked) <= {*ASKED, EVENTS}:
        raise InputError(f"{path}: its head does not say what was asked during the run")
    if not all(type(x) is bool for x in asked.values()) or not isinstance(versions, dict):
        raise InputError(f"{path}: its head does not say what was asked, or what it ran on")


def call_of(path: Path, text: dict[str, Any], arrays: dict[str, np.ndarray], model: Any = None, **asked: Any) -> dict[str, Any]:
    """The arguments of `simulate` that a head says; a model may be given in place of its own, and what is asked must be."""
    with read_from(path):
        call = read(part_of(text, arrays, "call"))
    stored = {name for name in ASKED if not text["asked"][name]}
    if not isinstance(call, dict) or not isinstance(call.get("options"), dict) or not stored <= set(call):
        raise InputError(f"{path}: its head does not hold the arguments of a run")
    if model is not None:
        found = model_data(model)[1]
        if found != text["model_digest"]:
            raise InputError(f"{path} was written by another model: its digest is {text['model_digest'][:12]}, not {found[:12]}")
    elif text[MODEL] is None:
        raise InputError(f"{path} does not hold its model ({text['model_stays']}): pass it as model=")
    else:
        with read_from(path):
            model = read(part_of(text, arrays, MODEL))
    if text["asked"].get(EVENTS) and asked.get(EVENTS) is not None:
        call["options"] = {**call["options"], EVENTS: asked[EVENTS]}
    return {**call, MODEL: model, **{name: asked.get(name) if text["asked"][name] else call[name] for name in ASKED}}


def check_versions(path: Path, before: dict[str, str], elsewhere: str) -> None:
    """Raise if a run began with other versions, or on another processor, unless that is allowed."""
    if elsewhere not in ("refuse", "allow"):
        raise InputError(f"elsewhere must be 'refuse' or 'allow', not {elsewhere!r}")
    for what, then in before.items() if elsewhere == "refuse" else ():
        now = ran_on().get(what)
        if now != then:
            raise InputError(
                f"{path} was begun with {what} {then}, here is {now}: its end would not be the same to the bit; "
                "elsewhere='allow' goes on all the same"
            )
