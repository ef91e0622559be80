"""Kernels know no machine: those of models with all kinds of laws compile for AArch64 and WebAssembly, in one lane and four."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from pages.live_models import MODELS

from linkwork.kernel import machine
from linkwork.kernel.driver import driver_ir
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.plan import Plan, variant
from linkwork.reduced.forward import FORWARD_DYNAMICS
from linkwork.simulate import chosen_stepper
from linkwork.steppers.stepper import program_of

TRIPLES = {"aarch64-unknown-linux-gnu": b"\x7fELF", "wasm32-unknown-unknown": b"\0asm"}
LANES = (Lanes(1), Lanes(4))
METHODS = {"springs": "maximal-implicit", "muscles": "redmax"}  # others: reduced


@functools.cache
def target(triple: str) -> Any:
    b = machine.llvm()
    b.initialize_all_targets()
    b.initialize_all_asmprinters()
    return b.Target.from_triple(triple).create_target_machine(opt=0, reloc="static")


class Elsewhere:
    """A machine that this process is not: kernels are compiled, and never run."""

    def __init__(self, triple: str) -> None:
        self.triple, self.compiled = triple, 0
        self.units: dict[str, Any] = {}

    def description(self) -> str:
        return self.triple

    def compile(self, ir: str, patient: bool) -> bytes:
        module = machine.parsed(ir, self.triple)
        module.triple, module.data_layout = self.triple, str(target(self.triple).target_data)
        found = target(self.triple).emit_object(module)
        assert found.startswith(TRIPLES[self.triple])
        self.compiled += 1
        return found

    def load(self, compiled: bytes) -> Any:
        return self

    def address(self, name: str) -> int:
        return 1

    def routine(self, function: Any, lanes: Lanes) -> int:
        self.compile(function.text(lanes)[1], False)
        return 1

    def driver(self, lanes: Lanes) -> Any:
        self.compile(driver_ir(lanes), False)
        self.repeat_at = 2
        return self


@pytest.mark.parametrize("triple", TRIPLES)
@pytest.mark.parametrize("name", MODELS)
def test_steps_compile(name: str, triple: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWORK_CACHE", "off")
    model, _ = MODELS[name]()
    method = METHODS.get(name, "reduced")
    program = program_of(chosen_stepper(model, method, None, {}), model, method)
    for lanes in LANES:
        elsewhere = Elsewhere(triple)
        Plan(program.algorithm, program.plans(model).tree, variant(lanes, ("run",), ("tau", "external")), None, elsewhere)
        assert elsewhere.compiled >= 3


def test_functions_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWORK_CACHE", "off")
    model, _ = MODELS["written_joint"]()
    for triple in TRIPLES:
        elsewhere = Elsewhere(triple)
        Plan(FORWARD_DYNAMICS, model.tree, variant(LANES[1], tuple(FORWARD_DYNAMICS.phases)), None, elsewhere)
        assert elsewhere.compiled >= 2
