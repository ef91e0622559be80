"""Where the chunks of a study are worked on: in this process, in others, on a Ray cluster.

Every place takes the work and lists of runs, and yields what was found of each list, once, in any order.
"""

from __future__ import annotations

import importlib
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from typing import Any

import numpy as np

from ..errors import InputError, SolverError
from .work import Work

Found = tuple[int, dict[str, np.ndarray]]
TRIES = 5  # of a chunk whose worker was lost
_WORK: list[Work] = []  # of a worker process


def here(work: Work, chunks: Sequence[tuple[int, np.ndarray]]) -> Iterator[Found]:
    """One chunk after the other in this process; the threads of the work share each."""
    for number, which in chunks:
        yield number, work.chunk(which)


def in_processes(work: Work, chunks: Sequence[tuple[int, np.ndarray]], processes: int) -> Iterator[Found]:
    """So many processes of this machine; for controls and measures that take their time in Python."""
    context = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn")
    with ProcessPoolExecutor(processes, context, _begin, (work,)) as pool:
        waiting = {pool.submit(_chunk, number, which) for number, which in chunks}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            for future in waiting:
                future.cancel()


def _begin(work: Work) -> None:
    _WORK[:] = [work]


def _chunk(number: int, which: np.ndarray) -> Found:
    return number, _WORK[0].chunk(which)


def on_cluster(work: Work, chunks: Sequence[tuple[int, np.ndarray]], address: str | None) -> Iterator[Found]:
    """A Ray cluster: that at an address, the one that this process is connected to, or a local one.

    The work is sent once to every node, as data; its kernels are compiled there once and kept in the node's cache. A chunk whose
    worker is lost is worked on again elsewhere; the first answer of a chunk counts, and no other is looked at.
    """
    try:
        ray: Any = importlib.import_module("ray")
    except ModuleNotFoundError:
        raise InputError('a study on a cluster needs Ray; install it with: pip install "linkwork[ray]"') from None
    mine = not ray.is_initialized()
    if mine:
        ray.init(address=address, log_to_driver=False, include_dashboard=False, logging_level="error")
    try:
        shared = ray.put(work)

        @ray.remote(max_retries=TRIES, num_cpus=1)
        def chunk(work: Work, number: int, which: np.ndarray) -> Found:
            return number, work.chunk(which)

        waiting: list[Any] = [chunk.remote(shared, number, which) for number, which in chunks]
        while waiting:
            done, waiting = ray.wait(waiting, num_returns=1)
            try:
                yield ray.get(done[0])
            except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError) as error:
                raise SolverError(f"a chunk of the study was lost {TRIES} times with its worker: {error}") from None
            except ray.exceptions.RayTaskError as error:
                raise error.cause if isinstance(error.cause, Exception) else error  # noqa: B904  as if it had been here
    finally:
        if mine:
            ray.shutdown()
