"""The same to the bit: in another run, thread, process, under another hash seed, at another place in a batch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from reliability.repeating import BATCH, KINDS, STEPS, digest, motions, one, run, start

import linkwork as lw

TESTS = Path(__file__).parent.parent
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


@EVERY_KIND
def test_runs(kind: str) -> None:
    """Of the same model, whose memory was used, and of another that is made alike."""
    model, states = start(kind)
    first, again, other = run(model, states), run(model, states), run(*start(kind))
    assert digest(first.q, first.v) == digest(again.q, again.v) == digest(other.q, other.v)


@EVERY_KIND
def test_threads(kind: str) -> None:
    model, states = start(kind)
    alone = run(model, states)
    for threads in (2, 3, None):
        shared = run(model, states, threads)
        assert digest(shared.q, shared.v) == digest(alone.q, alone.v)


@EVERY_KIND
def test_places_in_a_batch(kind: str) -> None:
    """In another order, and alone."""
    model, states = start(kind)
    whole = run(model, states)
    order = np.random.default_rng(2).permutation(BATCH)
    turned = run(model, lw.State(states.q[order], states.v[order]))
    assert digest(turned.q, turned.v) == digest(whole.q[order], whole.v[order])
    for k in (0, BATCH - 1):
        alone = run(model, one(states, k))
        assert digest(alone.q, alone.v) == digest(whole.q[k], whole.v[k])


@pytest.mark.parametrize("kind", ["drag", "friction in a loop"])
def test_sizes_of_batches(kind: str) -> None:
    """Batches of other sizes go side by side in other numbers."""
    model, states = start(kind)
    whole = run(model, states)
    for size in (2, 5, 17):
        some = run(model, lw.State(states.q[:size], states.v[:size]))
        assert digest(some.q, some.v) == digest(whole.q[:size], whole.v[:size])


@EVERY_KIND
def test_simulators(kind: str) -> None:
    """Step by step from Python as all at once."""
    model, states = start(kind)
    sim = lw.Simulator(model, one(states, 4), open_loops="allow")
    steps = [sim.state, *(sim.step() for _ in range(STEPS))]
    whole = run(model, one(states, 4))
    assert digest(*(s.q for s in steps if isinstance(s, lw.State))) == digest(whole.q)


def test_processes_and_hash_seeds(tmp_path: Path) -> None:
    """Kernels are compiled anew under another seed: the order of sets and dictionaries decides nothing."""
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    some = ("muscle", "beside limits")
    own = {"PYTHONHASHSEED": "4242", "LINKWORK_CACHE": str(tmp_path), "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(TESTS / "reliability" / "repeating.py"), *some]
    done = subprocess.run(command, env={**os.environ, **own}, stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    assert json.loads(done.stdout) == {kind: motions(kind) for kind in some}
