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
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import attrs
from attrs import define

from sims.campaign.cells import CellResult, RunStatus
from sims.campaign.kit import digest
from sims.errors import InputError, imported
from sims.exports.tables import guarded
from sims.writing import refusing, replacing

if TYPE_CHECKING:
    import polars as pl

DESCRIPTION = "campaign.json"
COLUMNS = tuple(it.name for it in attrs.fields(CellResult) if it.name != "values")
"""Of every file, beside one for each measure."""


def polars_or_error() -> ModuleType:
    """Raises InputError, naming the pip command, where polars is missing."""
    polars: ModuleType = imported("polars", "results", "pip install 'holdfast[results]'")
    _hear_of_interrupts()
    return polars


def _hear_of_interrupts() -> None:
    """Polars brings a handler, when imported or when it first computes, under which a wait for a
    result goes on through Ctrl-C: ours takes its place again."""
    ours = signal.getsignal(signal.SIGINT)
    if ours is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, ours)


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """As CSV or Parquet, by its suffix. Raises InputError where it cannot be written."""
    with replacing(path) as new:
        try:
            csv = path.suffix == ".csv"
            (guarded(frame).write_csv if csv else frame.write_parquet)(new)
        except polars_or_error().exceptions.PolarsError as error:  # of a full disk, say
            raise OSError(str(error).splitlines()[0]) from None
        _hear_of_interrupts()


def frame_of(
    results: Sequence[CellResult], places: Iterable[dict[str, Any]] = repeat({})
) -> pl.DataFrame:
    """A row for each, with its place before it. Seeds are text: those from 2**63 on fit in no
    column of numbers."""
    rows = [
        place
        | {name: getattr(it, name) for name in COLUMNS}
        | {"seed": str(it.seed), "end": it.end.value, "blocks": json.dumps(it.blocks)}
        | it.values
        for it, place in zip(results, places, strict=False)
    ]
    polars = polars_or_error()
    types = {"time": polars.Float64, "error": polars.String}
    types |= {name: polars.Float64 for it in results for name in it.values}
    return polars.DataFrame(  # type: ignore[no-any-return]
        rows, schema_overrides=types, infer_schema_length=None, strict=False
    )


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
        return sorted(self.folder.glob("*.parquet"))

    def add(self, results: Sequence[CellResult]) -> None:
        """Keep a batch. Raises InputError where it cannot be written."""
        name = digest(" ".join(it.key for it in results).encode())
        write_frame(frame_of(results), self.folder / f"{name}.parquet")

    def results(self) -> dict[str, CellResult]:
        """All by key. What raised and was tried again is as it was then.

        Raises InputError for a file that holds something else.
        """
        found: dict[str, CellResult] = {}
        for it in chain.from_iterable(map(_read, self.files())):
            if it.key not in found or found[it.key].end is RunStatus.RAISED:
                found[it.key] = it
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
        before, now = (
            {"code": it["code"], **it["files"]} for it in (json.loads(path.read_text()), told)
        )
        return [name for name, own in now.items() if before.get(name, own) != own]

    def recent(self, seconds: float) -> int:
        """Cells that were finished within the last `seconds`."""
        since = time.time() - seconds
        return sum(len(list(_read(it))) for it in self.files() if it.stat().st_mtime >= since)


def _read(path: Path) -> Iterator[CellResult]:
    polars = polars_or_error()
    try:
        with refusing(path):
            frame = polars.read_parquet(path)
        rows = frame.select([*COLUMNS, *set(frame.columns).difference(COLUMNS)]).to_dicts()
    except polars.exceptions.PolarsError as error:
        problem = f"holds no results: {str(error).splitlines()[0]}"
        raise InputError(str(path), "", problem, "a file that a campaign wrote") from None
    for row in rows:
        own = {name: row.pop(name) for name in COLUMNS}
        own |= {"seed": int(own["seed"]), "end": RunStatus(own["end"])}
        yield CellResult(**own | {"blocks": json.loads(own["blocks"])}, values=row)
