"""Expressions as text and as LaTeX."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..spatial.trigonometric import Angle, Powers, terms_of

ORDER = "mIblcqg"  # of symbols in a product, by their first letters


@dataclass(frozen=True)
class Style:
    """How products, powers, names and functions look."""

    equation: str
    times: str
    power: str
    brackets: tuple[str, str]
    is_latex: bool

    def entry(self, name: str, *at: int) -> str:
        """An entry of a matrix or vector."""
        index = "".join(str(k + 1) for k in at) if max(at) < 9 else ",".join(str(k + 1) for k in at)
        return f"{name}_{{{index}}}" if self.is_latex else f"{name}[{', '.join(str(k + 1) for k in at)}]"

    def name(self, symbol: str) -> str:
        """A symbol: rates have dots, indices are subscripts."""
        if not self.is_latex:
            return re.sub(r"^v(\d+)$", r"q\1'", symbol)
        if rate := re.fullmatch(r"([qv])(\d+)", symbol):
            return f"{chr(92)}dot q_{{{rate[2]}}}" if rate[1] == "v" else f"q_{{{rate[2]}}}"
        head, _, tail = symbol.partition("_")
        indices = ",".join(f"\\mathrm{{{part}}}" if len(part) > 1 else part for part in tail.split("_") if part)
        return f"{head}_{{{indices}}}" if indices else head

    def wave(self, function: str, angle: Angle) -> str:
        """A cosine or sine."""
        parts = []
        for name, k in angle:
            size = "" if abs(k) == 1.0 else f"{abs(k):g}{self.times}"
            parts.append(("- " if k < 0 else "+ ") + size + self.name(name))
        inside = " ".join(parts).removeprefix("+ ")
        if not self.is_latex:
            return f"{function}({inside})"
        return f"\\{function} {inside}" if len(angle) == 1 and abs(angle[0][1]) == 1.0 else f"\\{function}({inside})"


def text_style() -> Style:
    """Plain text."""
    return Style("M(q) q'' + C(q, q') + g(q) + d(q') = tau", "*", "^", ("(", ")"), False)


def latex_style() -> Style:
    """LaTeX."""
    return Style("M(q) \\ddot q + C(q, \\dot q) + g(q) + d(\\dot q) = \\tau", "\\,", "^", ("\\left(", "\\right)"), True)


def sum_in(style: Style, x: Any) -> str:
    """An expression: terms with the same wave and velocities together."""
    groups: dict[tuple[Any, ...], list[tuple[Powers, float]]] = {}
    for (powers, f, angle), c in terms_of(x).items():
        moving = tuple(p for p in powers if re.fullmatch(r"v\d+", p[0]))
        still = tuple(p for p in powers if p not in moving)
        groups.setdefault((moving, f, angle), []).append((still, c))
    if not groups:
        return "0"
    parts = []
    for (moving, f, angle), members in sorted(groups.items(), key=lambda g: (len(g[0][0]), g[0][1] != "", str(g[0]))):
        tail = [_power(style, p) for p in moving] + ([style.wave(f, angle)] if f else [])
        parts += _group(style, sorted(members, key=lambda m: (-len(m[0]), str(m))), tail)
    return _signed(parts)


def _group(style: Style, members: list[tuple[Powers, float]], tail: list[str]) -> list[tuple[bool, str]]:
    """One group: its sum in brackets before what all have in common."""
    written = [_product(style, still, c, bool(tail)) for still, c in members]
    if not tail:
        return written
    if len(members) == 1:
        negative, head = written[0]
        return [(negative, style.times.join([x for x in (head, *tail) if x]))]
    inside = _signed(written)
    return [(False, style.times.join([f"{style.brackets[0]}{inside}{style.brackets[1]}", *tail]))]


def _product(style: Style, powers: Powers, c: float, hidden_one: bool) -> tuple[bool, str]:
    size = abs(c)
    shown = [] if size == 1.0 and (powers or hidden_one) else [f"{size:.6g}"]
    ordered = sorted(powers, key=lambda p: (ORDER.find(p[0][0]), p))
    return c < 0, style.times.join([*shown, *(_power(style, p) for p in ordered)])


def _power(style: Style, p: tuple[str, int]) -> str:
    name = style.name(p[0])
    return name if p[1] == 1 else f"{name}{style.power}{{{p[1]}}}" if style.is_latex else f"{name}{style.power}{p[1]}"


def _signed(parts: list[tuple[bool, str]]) -> str:
    first = ("-" if parts[0][0] else "") + (parts[0][1] or "1")
    return first + "".join(f" {'-' if negative else '+'} {x or '1'}" for negative, x in parts[1:])
