"""Results on disk: a folder of Parquet files, one for each finished batch of cells.

A file is there as a whole or not at all, and its name is that of its content, as each row's `key`
is that of all that the row follows from. So nothing is ever wrong here: a campaign takes the rows
whose keys it asks for, and what it does not ask for, since a file has changed say, is not taken.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import attrs
from attrs import define

from sims.campaign.cells import CellResult, RunStatus
from sims.campaign.kit import digest
from sims.errors import InputError
from sims.writing import refusing, replacing

if TYPE_CHECKING:
    import polars as pl

DESCRIPTION = "campaign.json"
SUFFIX = ".parquet"
COLUMNS = {
    "key": str,
    "seed": str,
    "end": str,
    "time": float,
    "jobs": int,
    "left_out": int,
    "work": str,
    "seconds": float,
    "error": str,
    "blocks": str,
    "speaks": str,
}
"""Of every file, beside one for each measure; seeds beyond 2^63 fit in no column of numbers."""


def polars_or_error() -> ModuleType:
    """Raises InputError, naming the pip command, where polars is missing."""
    try:
        import polars
    except ImportError:
        accepted = "pip install 'holdfast[results]'"
        raise InputError("results", "", "polars is missing", accepted) from None
    _hear_of_interrupts()
    return polars


def _hear_of_interrupts() -> None:
    """Polars brings a handler, when imported or when it first computes, under which a wait for a
    result goes on through Ctrl-C: ours takes its place again."""
    ours = signal.getsignal(signal.SIGINT)
    if ours is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, ours)


@define
class Store:
    """A folder of results."""

    folder: Path

    def __attrs_post_init__(self) -> None:
        polars_or_error()
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(str(self.folder), "", "is no folder", "a folder, or a new one")

    def files(self) -> list[Path]:
        """Those of finished batches."""
        return sorted(self.folder.glob(f"*{SUFFIX}"))

    def add(self, results: Sequence[CellResult]) -> None:
        """Keep a batch. Raises InputError where it cannot be written."""
        frame = _frame(results)
        name = digest(" ".join(it.key for it in results).encode())
        with replacing(self.folder / f"{name}{SUFFIX}") as new:
            frame.write_parquet(new)
            _hear_of_interrupts()

    def results(self) -> dict[str, CellResult]:
        """All by key. What raised and was tried again is as it was then.

        Raises InputError for a file that holds something else.
        """
        found: dict[str, CellResult] = {}
        for path in self.files():
            for row in _rows(path):
                known = found.get(row["key"])
                if known is None or known.end is RunStatus.RAISED:
                    found[row["key"]] = _result(row)
        return found

    def describe(self, told: dict[str, Any]) -> None:
        """Note what the campaign is and which files it read."""
        with replacing(self.folder / DESCRIPTION) as new:
            new.write_text(json.dumps(told, indent=1))

    def changed(self, told: dict[str, Any]) -> list[str]:
        """Which of those files are others now; `code`: Holdfast itself is."""
        path = self.folder / DESCRIPTION
        if not path.exists():
            return []
        before = json.loads(path.read_text())
        code = ["code"] if before["code"] != told["code"] else []
        files: dict[str, str] = told["files"]
        return code + [it for it, own in files.items() if before["files"].get(it, own) != own]

    def recent(self, seconds: float) -> int:
        """Cells that were finished within the last `seconds`."""
        polars, since = polars_or_error(), time.time() - seconds
        fresh = [path for path in self.files() if path.stat().st_mtime >= since]
        return sum(polars.scan_parquet(path).select("key").collect().height for path in fresh)


def _frame(results: Sequence[CellResult]) -> pl.DataFrame:
    polars = polars_or_error()
    rows = [
        attrs.asdict(it, filter=lambda field, _: field.name != "values")
        | {"seed": str(it.seed), "end": it.end.value, "blocks": json.dumps(it.blocks)}
        | it.values
        for it in results
    ]
    values = dict.fromkeys((name for it in results for name in it.values), float)
    return polars.DataFrame(rows, schema=COLUMNS | values)  # type: ignore[no-any-return]


def _rows(path: Path) -> Iterable[dict[str, Any]]:
    polars = polars_or_error()
    try:
        with refusing(path):
            frame = polars.read_parquet(path)
        rows: list[dict[str, Any]] = frame.select([*COLUMNS, *rest(frame)]).to_dicts()
    except polars.exceptions.PolarsError as error:
        problem = f"holds no results: {str(error).splitlines()[0]}"
        raise InputError(str(path), "", problem, "a file that a campaign wrote") from None
    return rows


def rest(frame: pl.DataFrame) -> list[str]:
    """Columns of measures."""
    return [name for name in frame.columns if name not in COLUMNS]


def _result(row: dict[str, Any]) -> CellResult:
    own = {name: row[name] for name in COLUMNS}
    values = {name: value for name, value in row.items() if name not in COLUMNS}
    own |= {
        "seed": int(row["seed"]),
        "end": RunStatus(row["end"]),
        "blocks": json.loads(row["blocks"]),
    }
    return CellResult(**own, values=values)
