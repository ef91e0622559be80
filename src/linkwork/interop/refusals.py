"""Elements of a model that another engine cannot say: an error that names them, unless `allow` leaves them out."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..errors import ModelError
from ..spatial.gate import choice

SHOWN = 6  # elements that a message names


class Refusals:
    """What is found without counterpart while a model is converted.

    engine   its name, for messages
    where    the function that converts, for messages
    kinds    what `allow` may name, besides "all"
    allow    kinds that are left out with a note
    notes    lines about what was left out, or means something else there
    """

    def __init__(self, engine: str, where: str, kinds: Sequence[str], allow: Collection[str]) -> None:
        self.engine, self.where = engine, where
        known = (*kinds, "all")
        for what in [allow] if isinstance(allow, str) else allow:
            choice(f"{where}: allow has {{}}; it may have {', '.join(known)}", what, known)
        self.allow = {allow} if isinstance(allow, str) else set(allow)
        self.notes: list[str] = []
        self._found: dict[str, list[str]] = {}

    def refuse(self, kind: str, text: str) -> None:
        """Remember an element, or what of it, that the engine has not."""
        self._found.setdefault(kind, []).append(text)

    def note(self, text: str) -> None:
        """Keep a line about something that means something else there; each once."""
        if text not in self.notes:
            self.notes.append(text)

    def settle(self) -> None:
        """Raise for everything that was refused and is not allowed; a note for what is."""
        wrong = {kind: texts for kind, texts in self._found.items() if kind not in self.allow and "all" not in self.allow}
        if wrong:
            texts = [text for group in wrong.values() for text in group]
            more = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
            raise ModelError(
                f"{self.where}: {self.engine} has no counterpart of {'; '.join(texts[:SHOWN])}{more}; "
                f"take them out of the model, or leave them out by allow={sorted(wrong)}"
            )
        for texts in self._found.values():
            for text in texts:
                self.note(f"left out, as allowed: {text}")
