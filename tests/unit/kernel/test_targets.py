"""Kernels know no machine: those of scenes and of models with all kinds of laws compile for AArch64, WebAssembly and GPUs."""

from __future__ import annotations

import pytest
from pages.live_models import MODELS

from linkwork.bench.targets import compile_steps
from linkwork.errors import CompileError
from linkwork.kernel import ptx
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.plan import Plan, variant
from linkwork.kernel.targets import AARCH64, SM_80, TARGETS, WASM32, Elsewhere
from linkwork.reduced.forward import FORWARD_DYNAMICS
from linkwork.scenes import ALL_SCENES
from linkwork.simulate import chosen_stepper
from linkwork.steppers.stepper import program_of

METHODS = {"springs": "maximal-implicit", "muscles": "redmax"}  # others: reduced
LARGE = (
    "drag",
    "hand",
    "plant",
    "arch",
    "quadruped",
    "ragdoll",
    "grasp",
    "marble",
    "pile",
    "wall",
    "windmill",
)  # in the benchmark
ROBOTS = ("anymal", "g1", "panda", "talos")
REFUSED = b"//\n.version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { nonsense; }\n"
needs_assembler = pytest.mark.skipif(ptx.assembler() is None, reason="ptxas is not installed")


def compile_model(name: str, elsewhere: Elsewhere, lanes: Lanes) -> None:
    model, _ = MODELS[name]()
    method = METHODS.get(name, "reduced")
    program = program_of(chosen_stepper(model, method, None, {}), model, method)
    Plan(program.algorithm, program.plans(model).tree, variant(lanes, ("run",), ("tau", "external")), None, elsewhere)


@pytest.mark.slow
def test_scenes_compile() -> None:
    elsewhere = Elsewhere(AARCH64, WASM32)
    for name in ALL_SCENES:
        if name not in (*LARGE, *ROBOTS):
            compile_steps(name, elsewhere)
    assert all(len(pieces) > 130 for pieces in elsewhere.pieces.values())


@pytest.mark.parametrize("name", MODELS)
def test_lanes_side_by_side(name: str) -> None:
    """Four lanes, and more than registers hold: bodies in parts."""
    elsewhere = Elsewhere(AARCH64, WASM32)
    for lanes in (Lanes(4), Lanes(32)) if name == "written_joint" else (Lanes(4),):
        compile_model(name, elsewhere, lanes)
    assert len(elsewhere.pieces[WASM32.name]) >= 3


def test_functions_compile() -> None:
    model, _ = MODELS["written_joint"]()
    elsewhere = Elsewhere(*TARGETS.values())
    Plan(FORWARD_DYNAMICS, model.tree, variant(Lanes(1), tuple(FORWARD_DYNAMICS.phases)), None, elsewhere)
    assert all(len(pieces) >= 2 for pieces in elsewhere.pieces.values())


@pytest.mark.parametrize("name", MODELS)
def test_ptx(name: str) -> None:
    """A kernel is an entry; with libdevice at hand no function is left open."""
    elsewhere = Elsewhere(SM_80)
    compile_model(name, elsewhere, Lanes(1))
    text = b"".join(elsewhere.pieces[SM_80.name].values()).decode()
    assert text.count(".visible .entry k") >= 2
    assert ".target sm_80" in text
    assert ptx.assembler() is None or ".extern .func" not in text


@needs_assembler
def test_the_assembler_accepts_kernels() -> None:
    """Those of a step in reduced coordinates, of a loop and its rows; their registers are known, and none spills."""
    elsewhere = Elsewhere(SM_80)
    compile_model("loop", elsewhere, Lanes(1))
    used = [usage for piece in elsewhere.pieces[SM_80.name].values() for usage in ptx.assembled(piece)]
    assert len(used) > 20
    assert all(0 < x.registers <= 255 for x in used)
    assert not [x for x in used if x.stores]


@needs_assembler
def test_the_assembler_refuses_what_is_no_kernel() -> None:
    with pytest.raises(CompileError, match="ptxas refused"):
        ptx.assembled(REFUSED)


def test_what_is_kept_is_found_again() -> None:
    """Kernels that come from the cache are pieces like those that were compiled now."""
    found = []
    for _ in range(2):
        elsewhere = Elsewhere(WASM32, SM_80)
        compile_model("written_joint", elsewhere, Lanes(1))
        found.append({target: set(pieces) for target, pieces in elsewhere.pieces.items()})
    assert found[0] == found[1]
    assert all(found[0].values())
