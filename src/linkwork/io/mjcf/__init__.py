"""MJCF: a model of MuJoCo, read through MuJoCo's own compiler (extra `mujoco`): defaults, includes, inertias are as it has them.

Coordinates keep their order and meaning: q of the model is MuJoCo's qpos. Velocities of free joints differ: linkwork has the
twist (angular, linear) in body axes. Bodies without joints become part of what carries them. Contacts are hard here: settings of
soft ones are noted. What would change the motion and has no counterpart is an error, unless `allow=` names it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, ModelError
from ...geometry import Mesh, Shape
from ...model import Model, ModelBuilder, State
from ...model.model import WORLD
from ...spatial.gate import choice
from ...spatial.quaternion import to_rotation
from ...spatial.se3 import SE3
from ..options import Options
from ..starts import START
from .bodies import FREE, Tree, tree_of
from .child import check_memory, read_apart
from .laws import actuators, equalities, springs
from .scan import scan
from .shapes import exclusions, own_contacts, shapes_of
from .unsupported import ALLOWED, check_supported
from .visuals import visuals_of


def read_mjcf(path: Path, options: Options) -> Model:
    """The model of an MJCF file; a large one is read in a process of its own, with a budget."""
    for what in options.allow:
        choice(f"load: allow has {{}}; it may have {', '.join(ALLOWED)}", what, ALLOWED)
    sizes = scan(path, options.packages)
    if sizes.is_ordinary:
        return read_here(path, options)
    check_memory(path.name, sizes, options)
    return read_apart(path, sizes, options)


def read_here(path: Path, options: Options) -> Model:
    """The model of a file whose size has been looked at."""
    m = compiled(path)
    builder = ModelBuilder(np.array(m.opt.gravity) if options.gravity is None else options.gravity)
    check_supported(m, path.name, options.allow, builder.note)
    try:
        tree = tree_of(m, builder.note)
        if not tree.moving:
            raise ModelError("nothing in this model moves; it has no joints")
        shapes = shapes_of(m, tree, builder.note)
        _build(builder, m, tree, shapes, "actuators" in options.allow or "all" in options.allow)
    except ModelError as error:
        raise ModelError(f"{path.name}: {error}") from None
    builder.note("contacts are hard; the settings of MuJoCo's soft ones (solref, solimp, margin, impratio) are not used")
    model = builder.build()
    return model.add(*own_contacts(m, model, shapes))


def _build(builder: ModelBuilder, m: Any, tree: Tree, shapes: dict[str, dict[int, Shape]], without_actuators: bool) -> None:
    visuals = visuals_of(m, tree, shapes)
    for b in tree.moving:
        builder.body(
            b.name,
            parent=b.parent,
            joint=b.joint,
            placement=b.placement,
            inertia=b.inertia,
            joint_name=b.joint_name,
            shapes=shapes.get(b.name, {}).values(),
            visuals=visuals.get(b.name, ()),
            **b.properties,
        )
    builder.world(*shapes.get(WORLD, {}).values())
    builder.scenery(*(shape for shape in visuals.get(WORLD, ()) if isinstance(shape, Mesh)))
    for pair in exclusions(m, tree):
        builder.exclude(*pair)
    for name, (body, pose) in _frames(m, tree).items():
        builder.frame(name, body=body, placement=pose)
    for law in (*springs(m, tree), *(() if without_actuators else actuators(m, tree)), *equalities(m, tree)):
        builder.add(law)
    for name, state in _keyframes(m, tree).items():
        builder.keyframe(name, state)


def compiled(path: Path) -> Any:
    """What MuJoCo's compiler makes of a file."""
    try:
        import mujoco
    except ImportError:
        raise InputError('load: MJCF is read by MuJoCo\'s compiler; install it by `pip install "linkwork[mujoco]"`') from None
    try:
        return mujoco.MjModel.from_xml_path(str(path))  # pyright: ignore[reportAttributeAccessIssue]
    except (ValueError, RuntimeError, mujoco.FatalError) as error:  # pyright: ignore[reportAttributeAccessIssue]
        raise InputError(f"load: {path.name}: {' '.join(str(error).split())}") from None


def _frames(m: Any, tree: Tree) -> dict[str, tuple[str, SE3]]:
    """Sites, and bodies that are part of others, by names that nothing else has."""
    used = {WORLD, "", *(b.name for b in tree.moving), *(b.joint_name for b in tree.moving)}
    found = {m.site(i).name: tree.place(int(m.site_bodyid[i]), m.site_pos[i], m.site_quat[i]) for i in range(m.nsite)}
    found |= {m.body(i).name: (c.name, c.pose) for i, c in enumerate(tree.carried)}
    return {name: frame for name, frame in found.items() if name not in used}


def _keyframes(m: Any, tree: Tree) -> dict[str, State]:
    """States by name, `start` among them; velocities of free joints become twists in body axes."""
    found = {START: State(np.array(m.qpos0), np.zeros(m.nv))}
    for k in range(m.nkey):
        q, v = np.array(m.key_qpos[k]), np.array(m.key_qvel[k])
        for b in tree.moving:
            j = b.joints[0]
            if m.jnt_type[j] == FREE:
                at, on = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
                R = np.asarray(to_rotation(q[at + 3 : at + 7]), float)
                v[on : on + 6] = np.concatenate([v[on + 3 : on + 6], R.T @ v[on : on + 3]])
        found[m.key(k).name or f"key{k}"] = State(q, v, float(m.key_time[k]))
    return found
