"""What a program waits for before its first step: `python -m linkwork.bench.cold`

CPU seconds after `import linkwork, numpy`, in a process of its own, of the first step of a batch of humanoids with a drive on
every joint: with an empty cache of machine code, and with the one that this left behind. Then the time to build a chain of
100000 links.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from .loaded_models import G1, robot_file

LINKS, BATCH = 100_000, 1024

FIRST_STEP = """
import time, linkwork as lw, numpy as np
start = time.process_time()
model = lw.load({file!r}, floating=True)
hinges = [b.name for b in model.bodies if b.joint.nv == 1]
model = model.with_parameters({{name: {{"armature": 0.05}} for name in hinges}})
model = model.replace(elements=[lw.PDController(name, 50.0, 2.0) for name in hinges])
made = time.process_time()
q, v = np.tile(model.neutral(), ({batch}, 1)), np.zeros(({batch}, model.nv))
try:
    lw.simulate(model, lw.State(q=q, v=v), 1e-3, 1e-3)
    what = "a batch of {batch}"
except lw.InputError as error:
    lw.simulate(model, lw.State(q=q[0], v=v[0]), 1e-3, 1e-3)
    what = f"one state, as batches are refused ({{error}})"
done = time.process_time()
print(f"{{done - start:.2f}} s: {{made - start:.2f}} s for the model, {{done - made:.2f}} s for the first step of {{what}}")
"""

LONG_CHAIN = """
import time, linkwork as lw, numpy as np
start = time.process_time()
b, parent = lw.ModelBuilder(), "world"
rod, hinge, place = lw.Inertia.cuboid(1.0, (0.1, 0.01, 0.01), com=(0.05, 0, 0)), lw.Revolute((0, 1, 0)), lw.SE3(p=(0.1, 0, 0))
for i in range({links}):
    b.body(f"link{{i}}", parent=parent, joint=hinge, placement=place, inertia=rod)
    parent = f"link{{i}}"
model = b.build()
made = time.process_time()
lw.forward_dynamics(model, np.zeros({links}), np.zeros({links}))
print(f"{{made - start:.2f}} s; {{time.process_time() - made:.2f}} s for its first accelerations")
"""


def measured(code: str, cache: str) -> str:
    """What a program prints in a process of its own, with a cache of its own."""
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    env = {**os.environ, **threads, "LINKWORK_CACHE": cache}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    return done.stdout.strip() if done.returncode == 0 else f"failed: {done.stderr.strip().splitlines()[-1]}"


def main(batch: int = BATCH, links: int = LINKS) -> None:
    """Print a line for each."""
    with tempfile.TemporaryDirectory() as cache:
        first_step = FIRST_STEP.format(batch=batch, file=str(robot_file(G1)))
        for name in ("empty", "warm"):
            print(f"g1+pd, {name} cache: {measured(first_step, cache)}", flush=True)
        print(f"chain of {links} links built: {measured(LONG_CHAIN.format(links=links), cache)}", flush=True)


if __name__ == "__main__":
    main()
