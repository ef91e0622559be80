"""The links of a file as a tree: one root, every other link on one joint, no cycles."""

from __future__ import annotations

from ...errors import ModelError
from ...spatial.gate import meant
from ..element import Element
from .records import JointRecord, Link, joint_of, link_of


def records(root: Element) -> tuple[dict[str, Link], dict[str, JointRecord]]:
    """Links and joints by name, in the order of the file."""
    links: dict[str, Link] = {}
    joints: dict[str, JointRecord] = {}
    for element in root.all("link"):
        link = link_of(element)
        if link.name in links:
            raise element.error(f"there are two links {link.name!r}; rename one of them")
        links[link.name] = link
    for element in root.all("joint"):
        joint = joint_of(element)
        if joint.name in joints:
            raise element.error(f"there are two joints {joint.name!r}; rename one of them")
        joints[joint.name] = joint
    return links, joints


def ordered(file: str, links: dict[str, Link], joints: dict[str, JointRecord]) -> list[tuple[Link, JointRecord | None]]:
    """Links with the joints that carry them (None for the root): parents first, depth first, children as in the file."""
    carriers: dict[str, JointRecord] = {}
    children: dict[str, list[JointRecord]] = {}
    for joint in joints.values():
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                what = f"joint {joint.name!r}: its {role} link {name!r} does not exist; add or rename it"
                raise joint.element.error(f"{what}{meant(name, links)}")
        if joint.child in carriers:
            other = carriers[joint.child].name
            what = f"link {joint.child!r} is the child of two joints, {other!r} and {joint.name!r}"
            raise joint.element.error(f"{what}; URDF describes trees: remove one, and close the loop with lw.Loop")
        carriers[joint.child] = joint
        children.setdefault(joint.parent, []).append(joint)
    roots = [name for name in links if name not in carriers]
    if len(roots) > 1:
        raise ModelError(f"{file}: the links {', '.join(map(repr, roots))} have no parent; connect them to one tree")
    order: list[tuple[Link, JointRecord | None]] = []
    stack: list[tuple[str, JointRecord | None]] = [(name, None) for name in roots]
    while stack:
        name, joint = stack.pop()
        order.append((links[name], joint))
        stack.extend((j.child, j) for j in reversed(children.get(name, [])))
    if len(order) < len(links):
        reached = {link.name for link, _ in order}
        lost = next(carriers[name] for name in links if name not in reached)
        raise lost.element.error(f"joint {lost.name!r}: its links hang on each other in a cycle; URDF describes trees")
    return order
