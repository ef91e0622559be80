"""The step program of a model as WebAssembly: a module, the memory it starts with, and where in it everything is.

A page knows numbers in memory and two programs: the step, run so often as `count` says, and kinematics, which puts the poses and
twists of all bodies where the page reads them. Everything else (which law a number belongs to) is in the manifest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernel.plan import Plan, variant
from ..kernel.wasm import LANES, WebAssembly
from ..kernel.wasm_object import imported
from ..model.kinematics import KINEMATICS
from ..view.firmness import firmness
from .controls import Ranges, controls
from .memory import STACK, Memory, Placed
from .places import LawNumbers, Places
from .start import Start


@dataclass(frozen=True, eq=False)
class LiveProgram:
    """A module, what lies in its memory from `manifest["start"]` on, and where."""

    module: bytes
    image: bytes
    manifest: dict[str, Any]


def live_program(start: Start, sliders: Ranges | None = None) -> LiveProgram:
    """Compile the steps of a model, and its kinematics.

    sliders   see `controls`
    """
    model, program, machine, memory = start.model, start.program, WebAssembly(), Memory()
    parts = {name: np.reshape(getattr(start.state, name), (1, -1)) for name in program.recorded if hasattr(start.state, name)}
    values = program.given(model, start.dt) | {"u": start.u} | ({} if start.tau is None else {"tau": start.tau})
    values |= program.resumed(program.entered(model, parts, start.state.t), getattr(start.state, "memory", None), start.dt)
    absent = ("external",) if start.tau is not None else ("tau", "external")
    plan = Plan(program.algorithm, program.plans(model).tree, variant(LANES, ("run",), absent), None, machine)
    step = Placed(memory, plan, {name: x for name, x in values.items() if name in plan.arrays})
    reduced = "q" in parts
    manifest: dict[str, Any] = {}
    if reduced:
        shown = Placed(memory, Plan(KINEMATICS, model.tree, variant(LANES, ("run",), ("a",)), None, machine), {})
        manifest["step"] = step.put()
        shared = ("q", "v", *(["parameters"] if plan.tree.classes == model.tree.classes else []))
        manifest["kinematics"] = shown.put({name: step.at[name] for name in shared})
    else:
        shown = step
        manifest["step"] = step.put()
    module, places = machine.module(), Places(start, step)
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
        "laws": [_law(x) for x in places.laws],
        "handles": [_handle(start, x) for x in places.handles],
        "controls": controls(places, sliders or {}),
    }
    return LiveProgram(module, memory.image, manifest)


def _law(x: LawNumbers) -> dict[str, Any]:
    """A law with the addresses of its numbers, [address, how many] each."""
    numbers = {name: n.written() for name, n in x.parameters.items()}
    named = {"name": x.name, "kind": type(x.law).__name__, "numbers": numbers}
    return named if x.inputs is None else named | {"inputs": x.inputs.written()}


def _handle(start: Start, x: LawNumbers) -> dict[str, Any]:
    """A handle: its body, the addresses of its numbers and of its target, and how it pulls when it does."""
    stiffness, damping = firmness(start.model, x.law.bodies[0], start.dt, start.stiff)
    assert x.inputs is not None
    at = {name: n.at for name, n in x.parameters.items()} | {"target": x.inputs.at}
    return {"body": start.model.body_index(x.law.bodies[0]), "at": at, "stiffness": stiffness, "damping": damping}
