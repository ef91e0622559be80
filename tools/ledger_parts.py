"""What `ledger.py` asks of one source tree, in a process of its own: the last line printed is JSON. Public names alone are used.

ledger_parts.py bits K N       digests of every N-th run from the K-th on
ledger_parts.py names          public names and signatures
ledger_parts.py calls          names of the timed first calls;   call NAME: its CPU seconds;   walk NAME: what it goes through
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib
import inspect
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw

METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")
STEPPERS = {
    "reduced": ("symplectic_euler", "rk4", "variational", "variational4", "rosenbrock", "dop853", "ode45"),
    "maximal": ("symplectic_euler", "rk4", "variational", "rosenbrock"),
    "maximal-implicit": ("backward_euler",),
    "redmax": ("linearly_implicit", "bdf1", "bdf2", "sdirk2", "ode45"),
}
CONTACTS = ("exact", "frictionless", "pyramid", "staggered", "single_qp", "compliant", "off")
SCENE_STEPS, STEPS = 12, 20
ROD = lw.Inertia.cuboid(mass=1.0, size=(0.05, 0.05, 0.4), com=(0, 0, -0.2))
Made = tuple[lw.Model, lw.State]


# --- models ---------------------------------------------------------------------------------------------------------------------
def chain(links: int = 4) -> lw.ModelBuilder:
    """Rods that hang from hinges, across one another, each from the end of the last."""
    b = lw.ModelBuilder()
    for i in range(links):
        parent, place = (f"rod{i - 1}", (0, 0, -0.4)) if i else ("world", (0, 0, 2.0))
        b.body(f"rod{i}", parent=parent, joint=lw.Revolute((i % 2, 1 - i % 2, 0)), placement=lw.SE3(p=place), inertia=ROD)
    return b


def moving(model: lw.Model) -> lw.State:
    """A state that moves, the same in every tree."""
    v = 0.5 * np.sin(np.arange(model.nv) + 1.0)
    return lw.State(model.integrate(model.neutral(), 0.3 * np.cos(np.arange(model.nv))), v)


def bare() -> Made:
    model = chain().build()
    return model, moving(model)


def springs() -> Made:
    """Forces of joints and bodies, and one that is written here."""
    b = chain()
    b.add(lw.SpringDamper("rod1", "world", (0, 0, -0.4), (1, 0, 1), stiffness=30.0, damping=1.0, rest_length=0.5))
    b.add(lw.JointSpring("rod2", stiffness=4.0, rest=0.4, damping=0.1), lw.PDController("rod3", 20.0, 1.0, target=0.2))
    well = lambda E, depth: -depth * np.exp(-4.0 * lw.math.dot(E[0].p, E[0].p))  # noqa: E731
    model = b.add(lw.force("rod2", energy=well, parameters={"depth": 2.0})).build()
    return model, moving(model)


def limited() -> Made:
    """Hinges that reach their stops, with dry friction."""
    b = lw.ModelBuilder()
    for i in range(4):
        parent, place = (f"rod{i - 1}", (0, 0, -0.4)) if i else ("world", (0, 0, 2.0))
        b.body(
            f"rod{i}",
            parent=parent,
            joint=lw.Revolute((0, 1, 0)),
            placement=lw.SE3(p=place),
            inertia=ROD,
            limits=(-0.3, 0.31),
            friction=0.1,
        )
    model = b.build()
    return model, moving(model)


def four_bar() -> Made:
    b = lw.ModelBuilder()
    for i in range(3):
        parent, place = (f"bar{i - 1}", (0, 0, -0.4)) if i else ("world", (0, 0, 2.0))
        b.body(f"bar{i}", parent=parent, joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=place), inertia=ROD)
    model = b.add(lw.Loop("bar2", "world", (0, 0, -0.4), (0.4, 0, 2.0))).build()
    start = lw.State(np.array([0.0, -np.pi / 2, -np.pi / 2]), np.zeros(3))
    return model, lw.assemble(model, start)


def balls() -> Made:
    """Ball and free joints with springs and damping."""
    b = lw.ModelBuilder().body("base", joint=lw.Free(), inertia=ROD)
    b.body("ball", parent="base", joint=lw.Spherical(), placement=lw.SE3(p=(0, 0, -0.4)), inertia=ROD)
    b.body("universal", parent="ball", joint=lw.Universal(), placement=lw.SE3(p=(0, 0, -0.4)), inertia=ROD)
    model = b.add(lw.JointSpring("ball", stiffness=3.0, damping=0.1)).build()
    return model, moving(model)


def contacts() -> Made:
    """A box, a ball and a capsule that fall on the ground and on one another, with friction and restitution."""
    b = lw.ModelBuilder().ground(friction=0.5)
    shapes = {"box": lw.Box((0.2, 0.3, 0.2), density=500.0), "ball": lw.Sphere(0.1, density=500.0, restitution=0.3)}
    shapes["capsule"] = lw.Capsule(0.05, 0.2, density=500.0)
    for name, shape in shapes.items():
        b.body(name, joint=lw.Free(), shapes=[shape])
    model = b.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[2], q[7:10], q[14:17] = 0.101, (0.05, 0.02, 0.302), (0.5, 0.1, 0.06)
    v[:] = 0.2 * np.sin(np.arange(model.nv))
    return model, lw.State(q, v)


def written() -> Made:
    """A joint that is written here, and a rod that hangs on what slides in it."""
    slot = lw.joint(lambda q, a: lw.SE3(p=(q[0], 0.0, 1.0 + a * q[0] ** 2)), nv=1, name="slot", parameters={"a": 0.7})
    b = lw.ModelBuilder().body("bead", joint=slot, inertia=lw.Inertia.sphere(0.3, 0.05))
    model = b.body("rod", parent="bead", joint=lw.Spherical(), inertia=ROD).build()
    return model, moving(model)


def muscle() -> Made:
    b = chain(2)
    around = lw.WrapCylinder("rod0", (0, 0, -0.4), axis=(1, 0, 0), radius=0.02, turn=1)
    model = b.add(
        lw.Muscle([("rod0", (0, 0.03, -0.1)), around, ("rod1", (0, 0.02, -0.1))], 100.0, 0.2, 0.1, activation=0.4)
    ).build()
    return model, moving(model)


MODELS: dict[str, Callable[[], Made]] = {
    f.__name__: f for f in (bare, springs, limited, four_bar, balls, contacts, written, muscle)
}


# --- bits -----------------------------------------------------------------------------------------------------------------------
def digest(*arrays: Any) -> str:
    """Of all bits of some arrays."""
    found = hashlib.sha256()
    for array in arrays:
        a = np.ascontiguousarray(array)
        found.update(f"{a.dtype}{a.shape}".encode() + a.tobytes())
    return found.hexdigest()[:16]


def motion(model: lw.Model, state: Any, dt: float, steps: int, method: str, **options: Any) -> str:
    """Digest of a run: poses or coordinates, velocities, rows' forces and energies."""
    run = lw.simulate(model, state, steps * dt, dt, method, **options)
    e = run.energy
    maximal = method.startswith("maximal")
    return digest(run.t, *((run.poses,) if maximal else (run.q, run.v)), e.kinetic, e.potential)


def many(state: lw.State, count: int) -> lw.State:
    """A batch of states that differ in their velocities."""
    v = np.asarray(state.v) * (1.0 + 0.01 * np.arange(count)[:, None])
    return lw.State(np.tile(state.q, (count, 1)), v)


def functions(made: Callable[[], Made]) -> str:
    """Digest of what is computed of one state and of a batch."""
    model, state = made()
    batch, found = many(state, 8), []
    tau = 0.1 * np.cos(np.arange(model.nv))
    for q, v in ((state.q, state.v), (batch.q, batch.v)):
        a = lw.forward_dynamics(model, q, v, tau)
        found += [a, lw.inverse_dynamics(model, q, v, a), lw.mass_matrix(model, q), lw.com_jacobian(model, q)]
    return digest(*found)


def slopes(made: Callable[[], Made], **options: Any) -> str:
    model, state = made()
    A, B = lw.step_derivatives(model, state, dt=1e-3, **options)
    return digest(A, B)


LIVE_RUN = """
const d = JSON.parse(require("fs").readFileSync(0)), bytes = (x) => Uint8Array.from(Buffer.from(x, "base64"));
makeSimulation(bytes(d.wasm), bytes(d.image), d.manifest).then((s) => {
  s.step(20);
  console.log(JSON.stringify([...s.poses, ...s.twists].map(String)));
});"""


def live(made: Callable[[], Made]) -> str:
    """Digest of what the module of a live page computes in 20 steps, run by node."""
    program = importlib.import_module("linkwork.live.program").live_program
    package = importlib.import_module("linkwork.live.start")
    model, state = made()
    given: dict[str, Any] = {"stepper": None, "tau": None, "inputs": None, "open_loops": "refuse", "limit_model": "hard"}
    found = program(package.start_of(model, state, 1e-3, "reduced", **given, contact="exact", options={}), None)
    engine = (Path(str(package.__file__)).parent / "page" / "simulation.js").read_text().replace("export ", "")
    data = {"wasm": base64.b64encode(found.module).decode(), "image": base64.b64encode(found.image).decode()}
    text = json.dumps(data | {"manifest": found.manifest})
    node = shutil.which("node") or "node"
    done = subprocess.run([node, "-e", engine + LIVE_RUN], input=text, capture_output=True, text=True, check=True)
    return hashlib.sha256(done.stdout.encode()).hexdigest()[:16]


def scenes() -> dict[str, Any]:
    for place in ("linkwork.scenes", "linkwork.lab.scenes"):
        try:
            return importlib.import_module(place).ALL_SCENES
        except ModuleNotFoundError:
            continue
    raise SystemExit("the scenes are not found")


def runs() -> Iterator[tuple[str, Callable[[], str]]]:
    """Every run by its name."""
    for name, scene in scenes().items():
        for method in scene.methods:
            yield f"scene {name} {method}", lambda s=scene, m=method: motion(*s.build(), s.dt, SCENE_STEPS, m)
    for name, made in MODELS.items():
        for method, steppers in STEPPERS.items():
            for stepper in steppers:
                yield (
                    f"stepper {name} {method} {stepper}",
                    lambda f=made, m=method, s=stepper: motion(*f(), 2e-3, STEPS, m, stepper=s),
                )
        for method in METHODS:
            for count in (8, 13):

                def batch(f: Callable[[], Made] = made, m: str = method, n: int = count) -> str:
                    model, state = f()
                    return motion(model, many(state, n), 2e-3, STEPS, m)

                yield f"batch{count} {name} {method}", batch
        yield f"functions {name}", functools.partial(functions, made)
        yield f"derivatives {name}", functools.partial(slopes, made)
        yield f"derivatives {name} maximal", functools.partial(slopes, made, method="maximal")
        yield f"live {name}", functools.partial(live, made)
    for method in METHODS:
        for contact in CONTACTS:
            yield f"contact {method} {contact}", lambda m=method, c=contact: motion(*contacts(), 2e-3, STEPS, m, contact=c)
        for model in ("spring", "off"):
            yield f"limits {method} {model}", lambda m=method, k=model: motion(*limited(), 2e-3, STEPS, m, limit_model=k)


def bits(k: int, of: int) -> dict[str, str]:
    """Digests of every `of`-th run from the k-th on; of what is refused, the kind of the error."""
    found = {}
    for i, (name, run) in enumerate(runs()):
        if i % of == k:
            try:
                found[name] = run()
            except lw.LinkworkError as error:
                found[name] = f"refused: {type(error).__name__}"
    return found


# --- names ----------------------------------------------------------------------------------------------------------------------
def names() -> dict[str, str]:
    """Public names of the package and of its public modules, with the signatures of what can be called."""
    found: dict[str, str] = {}
    for name in sorted(n for n in dir(lw) if not n.startswith("_")):
        value = getattr(lw, name)
        found[name] = signature(value)
        if inspect.isclass(value) and value.__module__.startswith("linkwork"):
            for member in sorted(m for m in vars(value) if not m.startswith("_")):
                found[f"{name}.{member}"] = signature(inspect.getattr_static(value, member))
    return found


def signature(value: Any) -> str:
    value = getattr(value, "__func__", value)
    if isinstance(value, property):
        return "property"
    if not callable(value):
        return type(value).__name__
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return "callable"


# --- first calls ----------------------------------------------------------------------------------------------------------------
def _step(made: Callable[[], Made], **options: Any) -> Callable[[], Any]:
    model, state = made()
    return lambda: lw.simulate(model, state, 1e-3, 1e-3, **options)


def _scene(name: str) -> Callable[[], Any]:
    scene = scenes()[name]
    model, state = scene.build()
    return lambda: lw.simulate(model, state, scene.dt, scene.dt, scene.methods[0])


def _derivative() -> Callable[[], Any]:
    model, state = springs()
    return lambda: lw.step_derivatives(model, state, dt=1e-3)


def _accelerations() -> Callable[[], Any]:
    model, state = springs()
    return lambda: lw.forward_dynamics(model, state.q, state.v)


def _simulator() -> Callable[[], Any]:
    model, state = springs()
    sim = lw.Simulator(model, dt=1e-3)
    sim.reset(state)
    return sim.step


CALLS: dict[str, Callable[[], Callable[[], Any]]] = {
    "first_step": functools.partial(_step, springs),
    "first_derivative": _derivative,
    "forward_dynamics": _accelerations,
    "limits": functools.partial(_step, limited),
    "loop": functools.partial(_step, four_bar),
    "contacts": functools.partial(_step, contacts),
    "maximal": functools.partial(_step, springs, method="maximal"),
    "maximal_implicit": functools.partial(_step, springs, method="maximal-implicit"),
    "redmax": functools.partial(_step, springs, method="redmax"),
    "simulator": _simulator,
    "quadruped": functools.partial(_scene, "quadruped"),
    "muscles": functools.partial(_step, muscle),
}


def call(name: str) -> dict[str, float]:
    """CPU seconds of a first call, and the least of ten after it."""
    run = CALLS[name]()
    seconds = []
    for _ in range(11):
        begin = time.process_time()
        run()
        seconds.append(time.process_time() - begin)
    return {"first": seconds[0], "again": min(seconds[1:])}


def walk(name: str) -> dict[str, Any]:
    """Functions, files and changes of package that a first and a second call go through."""
    run, found = CALLS[name](), {}
    for which in ("first", "second"):
        seen: set[tuple[str, str, int]] = set()
        crossings = 0

        def look(frame: Any, event: str, _: Any) -> None:
            nonlocal crossings
            code = frame.f_code
            if event == "call" and "/linkwork/" in code.co_filename:
                seen.add((code.co_filename, code.co_name, code.co_firstlineno))  # noqa: B023
                back = frame.f_back.f_code.co_filename if frame.f_back else ""
                if "/linkwork/" in back:
                    crossings += package(back) != package(code.co_filename)

        sys.setprofile(look)
        run()
        sys.setprofile(None)
        files = {file for file, _, _ in seen}
        found[which] = {"functions": len(seen), "files": len(files), "crossings": crossings}
    return found


def package(file: str) -> str:
    """The folder of a file below the package."""
    return file.rpartition("/linkwork/")[2].partition("/")[0]


def main() -> None:
    what, *given = sys.argv[1:]
    if what == "bits":
        found: Any = bits(int(given[0]), int(given[1]))
    elif what == "names":
        found = names()
    elif what == "calls":
        found = list(CALLS)
    else:
        found = {"call": call, "walk": walk}[what](given[0])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
