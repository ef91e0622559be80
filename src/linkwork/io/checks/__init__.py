"""What is wrong or doubtful in a model file, in plain words: `check_file`."""

from __future__ import annotations

from pathlib import Path

from ...errors import InputError, LinkworkError
from .findings import ERROR, NOTE, Finding, found_in
from .json_scenes import check_scene
from .models import check_model
from .names import lines_of_names
from .urdf import check_urdf

__all__ = ["Finding", "check_file"]


def check_file(path: str | Path) -> list[Finding]:
    """All findings about a model file, in the order of its lines; those about the whole come last."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"check: there is no file {str(path)!r}")
    kinds = {".urdf": _urdf, ".xml": _mjcf, ".json": check_scene}
    if file.suffix.lower() not in kinds:
        raise InputError(f"check: {file.name!r} has the suffix {file.suffix!r}; linkwork checks {', '.join(kinds)}")
    found = {(f.line, f.message): f for f in kinds[file.suffix.lower()](file)}
    return sorted(found.values(), key=lambda f: f.line or 10**9)


def _urdf(file: Path) -> list[Finding]:
    """What its elements say, then what the model says that they make."""
    found = check_urdf(file)
    return found + _loaded(file, found, inertia="accept")


def _mjcf(file: Path) -> list[Finding]:
    return _loaded(file, [], allow="all")


def _loaded(file: Path, known: list[Finding], **options: object) -> list[Finding]:
    """What is to be said of the model; a file that cannot be read has an error, unless it is known already."""
    from .. import load

    try:
        model = load(file, **options)  # type: ignore[arg-type]
    except LinkworkError as error:
        return [] if any(f.level == ERROR for f in known) else [found_in(str(error), "correct the file")]
    lines = lines_of_names(file)
    notes = [Finding(NOTE, f"its reader says: {note}") for note in model.notes]
    return [*check_model(model, lines), *notes]
