"""What stiff chains keep of their energy at 60 steps a second, beside MuJoCo and DART. `python -m linkwork.bench.stiff_energy`

The hanging chain of `linkwork bench stiff`, 100 links released bent by 0.01 rad per joint, without damping. Energies are above
those of the chain at rest, relative to the start. An argument is the length of the runs in seconds, 60 if there is none.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from ..energy import energy
from ..model import Model, State
from ..simulate import simulate
from . import peers
from .stiff import BEND, DT, PEERS, bent, stiff_chain

LINKS = 100
OURS = {  # stiffness: method and stepper
    1e4: (("reduced", "rosenbrock"), ("redmax", "sdirk2"), ("maximal-implicit", "backward_euler")),
    1e8: (("redmax", "sdirk2"), ("maximal-implicit", "backward_euler")),
}
SHOWN = (1, 10, 60)  # seconds


def relative(model: Model, total: np.ndarray) -> np.ndarray:
    """Energies above that of the chain at rest, relative to the first."""
    rest = float(energy(model, State(np.zeros(model.nv), np.zeros(model.nv))).total)
    return (total - rest) / (total[0] - rest)


def ours(method: str, stepper: str, stiffness: float, seconds: float, links: int = LINKS) -> np.ndarray:
    """After every step."""
    model = stiff_chain(links, stiffness)
    run = simulate(model, bent(links), seconds, DT, method, stepper=stepper)
    return relative(model, run.energy.total)


def theirs(engine: str, stiffness: float, seconds: float, links: int = LINKS) -> np.ndarray | None:
    """A peer's, at the start and at the times that are shown; None if it is not installed."""
    package, make = PEERS[engine]
    peer = peers.module(package)
    if peer is None:
        return None
    chain = make(peer, links, stiffness)
    states = [np.array([np.full(links, BEND), np.zeros(links)])]
    states += [chain(round(t / DT), 1)() for t in SHOWN if t <= seconds]
    q, v = np.array(states).swapaxes(0, 1)
    model = stiff_chain(links, stiffness)
    return relative(model, energy(model, State(q, v)).total)


def main(seconds: float = 60.0) -> None:
    """Print a line for every engine and stiffness."""
    times = [t for t in SHOWN if t <= seconds]
    print(f"{'k':>6}  {'':34}" + "".join(f"{f'at {t} s':>12}" for t in times))
    for stiffness, methods in OURS.items():
        for method, stepper in methods:
            begin = time.perf_counter()
            e = ours(method, stepper, stiffness, seconds)
            values = "".join(f"{e[round(t / DT)]:12.4g}" for t in times)
            name, took = f"{method} {stepper}", time.perf_counter() - begin
            print(f"{stiffness:6.0e}  {name:34}{values}   never above {e.max():.4f}; {took:.0f} s", flush=True)
        for engine in PEERS:
            found = theirs(engine, stiffness, seconds)
            values = "not installed" if found is None else "".join(f"{x:12.4g}" for x in found[1:])
            print(f"{stiffness:6.0e}  {engine:34}{values}", flush=True)


if __name__ == "__main__":
    main(*(float(x) for x in sys.argv[1:]))
