"""All kinds of bad input, by name."""

from __future__ import annotations

from bad_calls import CALLS
from bad_files import FILES
from bad_laws import LAWS
from bad_models import MODELS
from cases import Bad

TABLES: dict[str, dict[str, Bad]] = {"model": MODELS, "call": CALLS, "law": LAWS, "file": FILES}
KINDS = {f"{table}: {name}": kind for table, kinds in TABLES.items() for name, kind in kinds.items()}
