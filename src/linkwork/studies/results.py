"""What a study found, as it is written: parts of a Parquet file, one a chunk, made whole at the end.

A part appears under its name only when it is complete, so what is there counts; a study that was killed goes on with the rest.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import InputError
from ..store.files import whole_file
from ..streams.head import model_data
from .work import FAILURE, Work

RUN = "run"
KEY = b"linkwork"  # of the metadata


def arrow() -> Any:
    """PyArrow, or how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise InputError('results of studies are Parquet files; install pyarrow with: pip install "linkwork[studies]"') from None
    return pyarrow


def described(work: Work, chunk: int) -> dict[str, Any]:
    """What a study is, for the metadata and to recognise it."""
    digest = hashlib.sha256()
    for name, x in work.design.columns.items():
        digest.update(name.encode() + np.ascontiguousarray(x).tobytes())
    asked = {name: getattr(work, name) for name in ("measure", "state", "control")}
    return {
        "linkwork": __version__,
        "numpy": np.__version__,
        "machine": platform.machine(),
        "model": model_data(work.model)[1][:16],
        "design": digest.hexdigest()[:16],
        "runs": work.design.runs,
        "chunk": chunk,
        "duration": work.duration,
        "dt": work.dt,
        "method": work.method,
        "stepper": work.stepper,
        "every": work.every,
        "options": {name: repr(x) for name, x in work.options.items()},
        "functions": {name: getattr(f, "__qualname__", repr(type(f))) for name, f in asked.items() if callable(f)},
    }


class Store:
    """The parts of one study on disk.

    path   of the whole, NAME.parquet; its parts are in NAME.parquet.parts until it is done
    """

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path, self.about, self.folder = path, about, path.with_name(path.name + ".parts")
        if path.suffix != ".parquet":
            raise InputError(f"results of a study are a Parquet file: name it NAME.parquet, not {path.name!r}")
        self._arrow = arrow()
        if path.exists():
            self._refuse(json.loads(self._arrow.parquet.read_schema(path).metadata.get(KEY, b"{}")), path)
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        known = self.folder / "study.json"
        if known.exists():
            self._refuse(json.loads(known.read_text()), self.folder)
        else:
            with whole_file(known) as part:
                part.write_text(json.dumps(about, indent=1))

    def _refuse(self, other: dict[str, Any], where: Path) -> None:
        """Another study must not be mixed with this one."""
        differ = [name for name in self.about if json.loads(json.dumps(self.about[name])) != other.get(name)]
        if differ:
            raise InputError(f"{where} holds another study: its {', '.join(differ)} differ; choose another name, or delete it")

    @property
    def finished(self) -> bool:
        return self.path.exists()

    def done(self) -> set[int]:
        """The chunks that are there."""
        return {int(file.stem) for file in self.folder.glob("*.parquet")}

    def add(self, number: int, columns: Mapping[str, np.ndarray]) -> None:
        """Keep what was found of a chunk."""
        table = _table(self._arrow, columns, self.about)
        with whole_file(self.folder / f"{number:08d}.parquet") as part:
            self._arrow.parquet.write_table(table, part)

    def finish(self) -> None:
        """Make the whole of the parts."""
        files = sorted(self.folder.glob("*.parquet"))
        tables = [self._arrow.parquet.read_table(file) for file in files]
        widest = max(tables, key=lambda t: t.num_columns).schema
        whole = self._arrow.concat_tables([_like(self._arrow, t, widest) for t in tables]).combine_chunks()
        with whole_file(self.path) as part:
            self._arrow.parquet.write_table(whole, part)
        shutil.rmtree(self.folder)

    def columns(self) -> dict[str, np.ndarray]:
        """All that is there, in the order of the runs."""
        table = self._arrow.parquet.read_table(self.path)
        return {name: _array(table.column(name)) for name in table.column_names}


def _table(pa: Any, columns: Mapping[str, np.ndarray], about: dict[str, Any]) -> Any:
    arrays = {}
    for name, x in columns.items():
        if x.ndim > 1:
            arrays[name] = pa.FixedSizeListArray.from_arrays(pa.array(x.reshape(-1)), int(np.prod(x.shape[1:])))
        else:
            arrays[name] = pa.array(x.tolist() if x.dtype == object else x)
    return pa.table(arrays).replace_schema_metadata({KEY: json.dumps(about).encode()})


def _like(pa: Any, table: Any, schema: Any) -> Any:
    """A table with the columns of another: all runs of a chunk may have failed, and have no measures."""
    columns = [table.column(f.name) if f.name in table.column_names else pa.nulls(table.num_rows, f.type) for f in schema]
    return pa.table(columns, schema=schema)


def _array(column: Any) -> np.ndarray:
    if column.null_count:
        column = column.fill_null(float("nan")) if not str(column.type).startswith("fixed") else column
    joined = column.combine_chunks()
    if str(column.type).startswith("fixed_size_list"):
        size = column.type.list_size
        return np.array([[np.nan] * size if row is None else row for row in joined.to_pylist()], float).reshape(-1, size)
    return np.asarray(joined.to_pylist(), object) if str(column.type) == "string" else joined.to_numpy(zero_copy_only=False)


__all__ = ["FAILURE", "RUN", "Store", "described"]
