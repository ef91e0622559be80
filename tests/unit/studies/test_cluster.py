"""A study on a Ray cluster: models travel as data, a node may be lost, every run arrives once and is what it is here."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.studies.work import Work

ray = pytest.importorskip("ray")


def sprung(drag: float = 0.3) -> lw.Model:
    """A pendulum with a spring and a user's own force."""
    b = lw.ModelBuilder()
    b.body("arm", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.cuboid(1.0, (0.3, 0.05, 0.05), com=(0.15, 0, 0)))
    return b.build().add(
        lw.JointSpring("arm", stiffness=5.0, name="spring"),
        lw.joint_force("arm", force=lambda q, v, drag: -drag * v, parameters={"drag": drag}, name="wind"),
    )


def test_the_work_of_a_study_travels() -> None:
    design = lw.Design({"spring.stiffness": [5.0, 20.0], "wind.drag": [0.1, 0.2]})
    work = Work(sprung(), design, None, None, None, False, 0.1, 1e-3, "reduced", None, 100, 1)
    here = work.chunk(np.arange(2))
    there = pickle.loads(pickle.dumps(work)).chunk(np.arange(2))
    assert np.array_equal(here["q"], there["q"])


@pytest.mark.slow
def test_a_node_that_is_killed_costs_time_only() -> None:
    from ray.cluster_utils import Cluster

    design = lw.Design.sobol({"spring.stiffness": (1.0, 50.0), "wind.drag": (0.0, 1.0), "q[0]": (-1.0, 1.0)}, 64)
    asked = {"duration": 0.2, "every": 200, "chunk": 4}

    def slowly(run: Any) -> dict[str, Any]:
        import time

        time.sleep(0.05)
        return {"end": run.q[-1]}

    here = lw.study(sprung(), design, slowly, **asked)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    second = cluster.add_node(num_cpus=1)
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
        done = []

        def measured(run: Any) -> dict[str, Any]:
            return slowly(run)

        def killing(number: int) -> None:
            done.append(number)
            if len(done) == 4:
                cluster.remove_node(second, allow_graceful=False)

        found = _watched(sprung(), design, measured, asked, killing)
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert len(done) == 16
    assert sorted(done) == list(range(16))  # every chunk once
    assert np.array_equal(found["run"], np.arange(64))
    assert np.array_equal(found["end"], here["end"])


def _watched(model: lw.Model, design: lw.Design, measure: Any, asked: dict, seen: Any) -> lw.Study:
    """A study on the cluster, with a look at every chunk that arrives."""
    from linkwork.studies import study as module
    from linkwork.studies.places import on_cluster

    def watched(work: Work, chunks: Any, address: str | None) -> Any:
        for number, found in on_cluster(work, chunks, address):
            seen(number)
            yield number, found

    with pytest.MonkeyPatch.context() as patch:
        import sys

        patch.setattr(sys.modules["linkwork.studies.study"], "on_cluster", watched)
        assert module is not None
        return lw.study(model, design, measure, cluster=True, **asked)
