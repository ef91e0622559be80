"""URDF, element by element: everything that is wrong or doubtful, not the first thing alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ...errors import LinkworkError
from ..element import Element, parse
from ..urdf.records import JointRecord, Link, joint_of, link_of
from .findings import ERROR, Finding, found_in
from .urdf_joints import check_joint, check_mimics
from .urdf_links import check_link, check_meshes

LINK_ADVICE = "a link is <link name=...> with <inertial> <mass value=.../> <inertia ixx=... .../> </inertial>"
JOINT_ADVICE = "a joint is <joint name=... type=...> with <parent link=.../>, <child link=.../>, <axis xyz=.../>, <limit .../>"


def check_urdf(file: Path) -> list[Finding]:
    """All findings about a URDF file."""
    try:
        root = parse(file)
    except LinkworkError as error:
        return [found_in(str(error), "correct the XML")]
    if root.tag != "robot":
        return [Finding(ERROR, f"the root element is <{root.tag}>", "URDF begins with <robot name=...>", root.line)]
    expand = [e for e in root.walk() if e.tag.startswith("xacro:")]
    if expand:
        remedy = f"expand it first: xacro {file.name} > robot.urdf"
        return [Finding(ERROR, f"<{expand[0].tag}> is a macro of xacro, not URDF", remedy, expand[0].line)]
    found: list[Finding] = []
    links: dict[str, Link] = dict(_records(root, "link", link_of, LINK_ADVICE, found))
    joints: dict[str, JointRecord] = dict(_records(root, "joint", joint_of, JOINT_ADVICE, found))
    found += _tree(root, links, joints)
    moving = {j.child for j in joints.values() if j.kind != "fixed"}
    elements = {e.attributes.get("name", ""): e for e in root.children if e.tag == "link"}
    reach = {name: _reach(name, joints) for name in links}
    welded = _welded(links, joints)
    for name, link in links.items():
        found += check_link(link, elements[name], name in moving, welded[name], reach[name])
    for joint in joints.values():
        found += check_joint(joint)
    found += check_mimics(joints)
    return [*found, *check_meshes(root, file)]


def _records(
    root: Element, tag: str, read: Callable[[Element], Any], advice: str, found: list[Finding]
) -> Iterator[tuple[str, Any]]:
    """What can be read, by name; what cannot is a finding."""
    known: dict[str, int] = {}
    for element in root.all(tag):
        try:
            record = read(element)
        except LinkworkError as error:
            found.append(found_in(str(error), advice))
            continue
        if record.name in known:
            where = f"the first is in line {known[record.name]}"
            found.append(Finding(ERROR, f"there are two {tag}s {record.name!r}", f"rename one of them; {where}", element.line))
            continue
        known[record.name] = element.line
        yield record.name, record


def _tree(root: Element, links: dict[str, Link], joints: dict[str, JointRecord]) -> Iterator[Finding]:
    """One root, every other link on one joint, no cycles."""
    if not links:
        yield Finding(ERROR, "the robot has no links that can be read", LINK_ADVICE, root.line)
        return
    carriers: dict[str, JointRecord] = {}
    for joint in joints.values():
        line = joint.element.line
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                yield Finding(ERROR, f"joint {joint.name!r}: its {role} link {name!r} does not exist", "add or rename it", line)
        if joint.child in carriers:
            other = carriers[joint.child]
            what = f"link {joint.child!r} is the child of two joints, {other.name!r} and {joint.name!r}"
            yield Finding(ERROR, what, "URDF describes trees; close loops with lw.Loop on the model", line)
        carriers.setdefault(joint.child, joint)
    roots = [name for name in links if name not in carriers]
    if len(roots) > 1:
        for name in roots[1:]:
            what = f"link {name!r} hangs on no joint, as does {roots[0]!r}"
            yield Finding(ERROR, what, "connect it by a joint, or remove it", links[name].element.line)
    for name in links:
        seen, at = [name], name
        while at in carriers and carriers[at].parent in links:
            at = carriers[at].parent
            if at in seen:
                if at == name:
                    line = carriers[name].element.line
                    yield Finding(ERROR, f"link {name!r} hangs on itself through its parents", "one link must be the root", line)
                break
            seen.append(at)


def _reach(name: str, joints: dict[str, JointRecord]) -> float:
    """The distance from a link's origin to the farthest joint on it."""
    import numpy as np

    return max((float(np.linalg.norm(np.asarray(j.origin.p, float))) for j in joints.values() if j.parent == name), default=0.0)


def _welded(links: dict[str, Link], joints: dict[str, JointRecord]) -> dict[str, float]:
    """The mass of all links that are fixed to a link, itself included."""
    root = {name: name for name in links}
    for joint in joints.values():
        if joint.kind == "fixed" and joint.child in root and joint.parent in root:
            root[joint.child] = joint.parent

    def top(name: str) -> str:
        seen = set()
        while root[name] != name and name not in seen:
            seen.add(name)
            name = root[name]
        return name

    mass: dict[str, float] = {}
    for name, link in links.items():
        mass[top(name)] = mass.get(top(name), 0.0) + link.mass
    return {name: mass.get(top(name), 0.0) for name in links}
