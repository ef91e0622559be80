"""URDF: links and joints of a robot, as a model.

The frame of a link is the outboard frame of its joint, as in linkwork; a joint's `<origin>` is its placement. Rotations
within 1e-10 of simpler ones are made exact (`values.clean_rotation`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...errors import ModelError
from ...joints import Fixed
from ...model import Model, ModelBuilder
from ...model.model import WORLD
from ..element import Element, parse
from ..inertias import with_mass
from ..mesh_paths import MeshPaths
from ..options import Options
from .bodies import Carrier, Weld, carried
from .ignored import note_ignored, note_turns
from .joints import properties_of
from .looks import Looks, of_parts
from .masses import inertias
from .mimic import couplings, note_independent
from .names import Names
from .records import Link
from .tree import ordered, records


def read_urdf(path: Path, options: Options) -> Model:
    """The model of a URDF file."""
    builder = ModelBuilder() if options.gravity is None else ModelBuilder(options.gravity)
    root = _root(path)
    links, joints = records(root)
    if not links:
        raise root.error("the robot has no links")
    looks = Looks(root, MeshPaths(path, options.packages), options.collisions == "touch", builder.note)
    bodies, welds = carried(ordered(path.name, links, joints), options, builder.note)
    if not bodies:
        raise root.error("nothing in this robot moves, all its links are fixed to the world; load it with floating=True")
    names = Names(bodies, welds, builder.note)
    _add_bodies(builder, bodies, welds, names, links, options, looks)
    still = [(weld.link.whole, weld.pose) for weld in welds if weld.body is None]
    builder.scenery(*of_parts(looks.visuals, still)).world(*of_parts(looks.collisions, still))
    note_ignored(root, builder.note)
    note_turns(root, builder.note)
    for name, weld in names.frames:
        builder.frame(name, body=WORLD if weld.body is None else names.bodies[weld.body], placement=weld.pose)
    _note_welds(builder, welds)
    if options.mimic == "independent":
        note_independent(joints, builder.note)
    else:
        for coupling in couplings(joints, {b.record.name: names.joints[b] for b in bodies if b.record is not None}):
            builder.add(coupling)
    return builder.build()


def _root(path: Path) -> Element:
    root = parse(path)
    if root.tag != "robot":
        raise root.error(f"the root element is <{root.tag}>, not <robot>; this is not URDF")
    for element in root.walk():
        if element.tag.startswith("xacro:"):
            raise element.error(f"<{element.tag}> must be expanded first: run `xacro {path.name} > robot.urdf`")
    for name in ("name", "version"):
        root.get(name)
    return root


def _add_bodies(
    builder: ModelBuilder,
    bodies: Sequence[Carrier],
    welds: Sequence[Weld],
    names: Names,
    links: dict[str, Link],
    options: Options,
    looks: Looks,
) -> None:
    robot_mass = sum(link.mass for link in links.values())
    found = inertias(bodies, welds, options.inertia, builder.note)
    masses: dict[Carrier | None, float] = {}
    for b in bodies:
        masses[b.rigid_root] = masses.get(b.rigid_root, 0.0) + found[b].mass
    for b in bodies:
        parts = [(link.whole, pose) for link, pose in b.parts]
        element = b.link.element if b.record is None else b.record.element
        try:
            inertia = found[b]
            if not isinstance(b.joint, Fixed) and masses[b] == 0:
                inertia = with_mass(b.link.name, inertia, robot_mass, options.inertia, builder.note)
            builder.body(
                names.bodies[b],
                parent=WORLD if b.parent is None else names.bodies[b.parent],
                joint=b.joint,
                inertia=inertia,
                placement=b.placement,
                joint_name=names.joints[b],
                shapes=of_parts(looks.collisions, parts),
                visuals=of_parts(looks.visuals, parts),
                **({} if b.record is None else properties_of(b.record, builder.note)),
            )
        except ModelError as error:
            raise element.error(str(error)) from None


def _note_welds(builder: ModelBuilder, welds: Sequence[Weld]) -> None:
    """A line for the links that are part of bodies, and one for those that are part of the world."""
    merged = [weld.link for weld in welds if weld.body is not None]
    if merged:
        builder.note(f"merged into the bodies that carry them, and frames there: {_listed(merged)}")
    still = [weld.link for weld in welds if weld.body is None]
    if still:
        builder.note(f"part of the world, {sum(link.mass for link in still):.6g} kg that do not move: {_listed(still)}")


def _listed(links: Sequence[Link], most: int = 6) -> str:
    names = ", ".join(repr(link.name) for link in links[:most])
    return names if len(links) <= most else f"{names} and {len(links) - most} more links"
