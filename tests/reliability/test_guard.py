"""Guard pages: what compiled code touches beyond an array is reported, and nothing of the library does."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
POSIX = pytest.mark.skipif(os.name != "posix", reason="pages are protected by POSIX functions")
pytestmark = POSIX


def python(code: str, guard: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run some code in a process of its own, with or without guards."""
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "LINKWORK_GUARD": guard, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(code)
        command = [sys.executable, str(script), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


BEYOND = """
import sys
import numpy as np
import linkwork
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.loops import Lane, loops

@loops
def total(first: int, end: int, x: Lane, out: Lane) -> None:
    out[0] = 0.0
    for i in range(first, end):
        out[0] = out[0] + x[i]

@loops
def fill(first: int, end: int, x: Lane, out: Lane) -> None:
    for i in range(first, end):
        x[i] = 1.0

def touch(first, end):
    {{"read": total, "write": fill}}["{kind}"].call(Lanes(1), first, end, x, out)

x, out = np.ones(12)[:], np.zeros(1)
touch(0, 12)
print("within", flush=True)
touch({first}, {end})
print("beyond", flush=True)
"""
TOUCHES = {
    "within": ("read", 0, 12, ()),
    "reads one after": ("read", 0, 13, ("1",)),
    "writes one after": ("write", 0, 13, ("1",)),
    "reads one before": ("read", -1, 12, ("start",)),
    "writes one before": ("write", -1, 12, ("start",)),
    "reads far after": ("read", 510, 520, ("1", "start")),
}


@pytest.mark.parametrize("what", TOUCHES)
def test_what_is_beyond_an_array_is_reported(what: str) -> None:
    """The fault names the line of Python that called compiled code; without guards nothing is noticed."""
    kind, first, end, caught = TOUCHES[what]
    for guard in ("1", "start"):
        done = python(BEYOND.format(kind=kind, first=first, end=end), guard)
        if guard in caught:
            assert done.stdout.split() == ["within"]
            assert done.returncode < 0
            assert "Fatal Python error: Segmentation fault" in done.stderr or "Bus error" in done.stderr
            assert "in touch" in done.stderr
        elif not caught:
            assert (done.stdout.split(), done.returncode) == (["within", "beyond"], 0)


def test_without_guards_one_number_too_many_is_not_noticed() -> None:
    done = python(BEYOND.format(kind="read", first=0, end=13), "")
    assert (done.stdout.split(), done.returncode) == (["within", "beyond"], 0)


WORKSPACE = """
import numpy as np
import linkwork
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.plan import Plan, variant
from linkwork.kernel.sweep import SCALAR, Algorithm, Field, NodeClass, Tree, each

def scale(n):
    n.y = n.x * 3.0

fields = {"x": Field("input", "node", SCALAR), "y": Field("output", "node", SCALAR)}
tree = Tree(np.array([-1, -1]), [NodeClass(("guarded",))] * 2, [{}] * 2)
plan = Plan(Algorithm("guarded", fields, {"run": [each(scale)]}), tree, variant(Lanes(1), ("run",)))
table = next(t for t in plan.entries if t.shape == (2, 2))
x, y = np.ones((1, 2)), np.empty((1, 2))
plan.run({"x": x}, {"y": y}, 1)
print("within", flush=True)
table[1, :] = 2  # the third of two
plan.run({"x": x}, {"y": y}, 1)
print("beyond", flush=True)
"""


def test_every_part_of_a_workspace_has_guards() -> None:
    done = python(WORKSPACE, "1")
    assert done.stdout.split() == ["within"]
    assert done.returncode < 0
    assert "in run" in done.stderr
    assert python(WORKSPACE, "").stdout.split() == ["within", "beyond"]


def test_settings_that_are_none_are_refused() -> None:
    assert (
        "LINKWORK_GUARD is '2'; it is 1 (guards after arrays), start (before them) or 0" in python("import linkwork", "2").stderr
    )


MODELS = """
import hashlib, sys
import numpy as np
import linkwork as lw
from identities import loaded_kinds
from linkwork.kernel import guard

found = hashlib.sha256()
for kind in sys.argv[1:]:
    model = loaded_kinds.model(kind)
    q, v, tau = loaded_kinds.Q, loaded_kinds.V, loaded_kinds.TAU
    some = [np.array([x] * 5) for x in (q, v, tau)]
    found.update(lw.forward_dynamics(model, q, v, tau).tobytes())
    found.update(lw.forward_dynamics(model, *some, threads=2).tobytes())
    for state in (lw.State(q, v), lw.State(*some[:2])):
        run = lw.simulate(model, state, 3e-3, 1e-3, open_loops="allow")
        found.update(run.q.tobytes() + run.v.tobytes())
    run = lw.simulate(model, lw.State(q, v), 2e-3, 1e-3, control=lambda t, s: tau, open_loops="allow")
    found.update(run.q.tobytes())
print(guard.ON, found.hexdigest())
"""
SOME = ("muscle", "beside limits", "friction in a loop")


def test_loaded_models_stay_within_their_arrays() -> None:
    """With guards, all that is computed is the same to the bit, and nothing is reported."""
    said = {guard: python(MODELS, guard, *SOME) for guard in ("", "1", "start")}
    assert [done.returncode for done in said.values()] == [0, 0, 0]
    (off, plain), *guarded = (done.stdout.split() for done in said.values())
    assert off == "False"
    assert guarded == [["True", plain], ["True", plain]]


KERNEL = ("test_call.py", "test_python.py", "test_rules.py")


def test_kernel_tests_stay_within_their_arrays() -> None:
    files = [str(TESTS / "unit" / "kernel" / name) for name in KERNEL]
    code = "import sys, linkwork, pytest; sys.exit(pytest.main(sys.argv[1:]))"
    done = python(code, "1", "-q", "-x", "-p", "no:cacheprovider", *files)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
