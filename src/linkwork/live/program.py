"""The step program of a model as WebAssembly: a module, the memory it starts with, and where in it everything is.

A page knows numbers in memory and two programs: the step, run so often as `count` says, and kinematics, which puts the poses and
twists of all bodies where the page reads them. Everything else (which law a number belongs to) is in the manifest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..elements.collection import collection
from ..kernel.plan import Plan, variant
from ..kernel.trace import own_array
from ..kernel.wasm import LANES, WebAssembly
from ..kernel.wasm_object import imported
from ..model.kinematics import KINEMATICS
from .memory import STACK, Memory, Placed
from .start import Start

NUMBER = 8  # bytes
SETS = ("force", "constraint")


@dataclass(frozen=True, eq=False)
class LiveProgram:
    """A module, what lies in its memory from `manifest["start"]` on, and where."""

    module: bytes
    image: bytes
    manifest: dict[str, Any]


def live_program(start: Start) -> LiveProgram:
    """Compile the steps of a model, and its kinematics."""
    model, program, machine, memory = start.model, start.program, WebAssembly(), Memory()
    parts = {name: np.reshape(getattr(start.state, name), (1, -1)) for name in program.recorded if hasattr(start.state, name)}
    values = program.given(model, start.dt) | {"u": start.u} | ({} if start.tau is None else {"tau": start.tau})
    values |= program.resumed(program.entered(model, parts, start.state.t), getattr(start.state, "memory", None))
    absent = ("external",) if start.tau is not None else ("tau", "external")
    plan = Plan(program.algorithm, program.plans(model).tree, variant(LANES, ("run",), absent), None, machine)
    step = Placed(memory, plan, {name: x for name, x in values.items() if name in plan.arrays})
    reduced = "q" in parts
    manifest: dict[str, Any] = {}
    if reduced:
        place = Plan(KINEMATICS, model.tree, variant(LANES, ("run",), ("a",)), None, machine)
        shown = Placed(memory, place, {})
        manifest["step"] = step.put()
        manifest["kinematics"] = shown.put({name: step.at[name] for name in ("q", "v")})
    else:
        shown = step
        manifest["step"] = step.put()
    module = machine.module()
    at = {name: step.at[name] for name in ("t", "gravity", "h") if name in step.at}
    state = {name: [step.at[name], x.size] for name, x in parts.items()}
    manifest |= {
        "memory": {"start": memory.start, "pages": memory.pages, "stack": STACK},
        "table": machine.table_size,
        "imports": imported(module),
        "passes": program.passes,
        "dt": start.dt,
        "at": at,
        "state": state,
        "tau": [step.at["tau"], model.nv] if start.tau is not None else None,
        "poses": shown.at["poses"],
        "twists": shown.at["twists"],
        "bodies": [b.name for b in model.bodies],
        "laws": laws_in(start, step),
        "inputs": inputs_in(start, step),
        "handles": handles_in(start, step),
    }
    return LiveProgram(module, memory.image, manifest)


def laws_in(start: Start, step: Placed) -> list[dict[str, Any]]:
    """The laws with the addresses of their numbers: `numbers` by name, [address, how many]."""
    laws, own, found = collection(start.model), {id(h) for h in start.handles}, []
    for of, members in zip(SETS, (laws.forces, laws.rows), strict=True):
        if own_array("parameters", of) in step.at:
            for k, law in enumerate(members):
                if id(law) not in own:
                    numbers = numbers_in(step, of, k)
                    found.append({"name": getattr(law, "name", ""), "kind": type(law).__name__, "set": of, "numbers": numbers})
    return found


def numbers_in(step: Placed, of: str, node: int) -> dict[str, list[int]]:
    """Where the parameters of a node of a set are: address and how many, as far as they are numbers in one piece."""
    plan, array = step.plan, own_array("parameters", of)
    node_class, first = plan.tree.of(of).classes[node], int(plan.offsets[array][node])
    found = {}
    for name in node_class.patterns:
        slots = node_class.parameter_slots(name)
        whole = [s for s in slots if isinstance(s, int)]
        if name.startswith("own_") and whole and len(whole) == len(slots):
            found[name.removeprefix("own_")] = [step.at[array] + NUMBER * (first + whole[0]), len(whole)]
    return found


def inputs_in(start: Start, step: Placed) -> list[dict[str, Any]]:
    """The inputs of forces, handles aside: address, and how many."""
    own, found, first = {id(h) for h in start.handles}, [], 0
    for law in collection(start.model).forces:
        if law.inputs and id(law) not in own:
            place = [step.at["u"] + NUMBER * first, law.inputs]
            found.append({"name": law.name, "kind": type(law).__name__, "at": place})
        first += law.inputs
    return found


def handles_in(start: Start, step: Placed) -> list[dict[str, Any]]:
    """Of every handle its body, and where its numbers and its target are."""
    laws, by_handle, first = collection(start.model).forces, {id(h): h for h in start.handles}, 0
    index, found = {b.name: i for i, b in enumerate(start.model.bodies)}, []
    for k, law in enumerate(laws):
        handle = by_handle.get(id(law))
        if handle is not None:
            numbers = {name: place[0] for name, place in numbers_in(step, "force", k).items()}
            found.append({"body": index[handle.bodies[0]], "target": step.at["u"] + NUMBER * first, **numbers})
        first += law.inputs
    return found
