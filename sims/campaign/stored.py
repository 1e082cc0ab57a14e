"""Read and check the files in a folder of results: each row, and what the folder notes about its
campaign.

The name of a file with results is the digest of its bytes. A file that was cut, damaged or made by
others is therefore known before anything of it is used.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
import orjson
from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from sims.campaign.batches import RunResult, RunStatus
from sims.errors import InputError
from sims.exports.tables import polars_or_error
from sims.packing import digest
from sims.readers.documents import Document, document
from sims.scenario import SEEDS

if TYPE_CHECKING:
    import polars as pl

COLUMNS = tuple(it.name for it in attrs.fields(RunResult) if it.name != "values")
"""Columns of every file, beside one for each measure."""
OPTIONAL = "time", "error", "drew", "sampled", "expected", "struck"
LATER = "sampled"
"""Column that earlier files lack: what it says of their runs is not known."""
REQUIRED = tuple(it for it in COLUMNS if it not in OPTIONAL)
"""Columns without empty cells."""
MORE = "a file that a campaign wrote; `holdfast campaign run` runs again what is missing"

Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Blocks(TypedDict):
    """The value of a measure for one class of jobs, over all jobs and by block of time."""

    value: Finite | None
    blocks: list[Finite | None]
    informed: list[bool]


BLOCKS = TypeAdapter(dict[str, dict[str, _Blocks]])


class Noted(Document):
    """Note in a folder of results about its campaign: the campaign's name and file, its number of
    runs, and the digests of Holdfast's code and of the files that it read."""

    campaign: str
    source: str
    cells: int
    code: str
    files: dict[str, str]


def types_of(columns: Iterable[str]) -> dict[str, Any]:
    """Return the type of polars that each of these columns of a file with results has; measures are
    numbers."""
    polars = polars_or_error()
    texts = dict.fromkeys(
        ("key", "seed", "end", "work", "error", "blocks", "speaks"), polars.String
    )
    types = texts | dict.fromkeys(("jobs", "left_out", "struck"), polars.Int64)
    types |= dict.fromkeys(("drew", "sampled"), polars.Boolean)
    return {name: types.get(name, polars.Float64) for name in columns}


def results_in(path: Path) -> list[RunResult]:
    """Return the results in a file. Raises InputError, naming the file and what is wrong with it,
    where it cannot be read, or is not as a campaign wrote it."""
    try:
        data = path.read_bytes()
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise InputError(str(path), "", problem, MORE) from None
    if digest(data) != path.stem:
        problem = "is damaged: its name is not the digest of what it holds"
        raise InputError(str(path), "", problem, MORE)
    polars = polars_or_error()
    try:
        frame = polars.read_parquet(io.BytesIO(data))
        _check(frame)
        return [_result(row) for row in frame.to_dicts()]
    except (polars.exceptions.PolarsError, ValueError) as error:
        problem = f"holds no results: {str(error).splitlines()[0]}"
        raise InputError(str(path), "", problem, MORE) from None


def _check(frame: pl.DataFrame) -> None:
    """Raise ValueError for a frame that lacks a column, has one of another type, or has an empty
    cell or a number that is not finite where there can be none."""
    if lacking := [it for it in COLUMNS if it not in frame.columns and it != LATER]:
        raise ValueError(f"no column {', '.join(lacking)}")
    for name, kind in types_of(frame.columns).items():
        column = frame[name]
        if column.dtype != kind:
            raise ValueError(f"column {name!r} holds {column.dtype}, not {kind}")
        if name in REQUIRED and column.null_count():
            raise ValueError(f"column {name!r} has an empty cell")
        if kind.is_float() and not column.drop_nulls().is_finite().all():
            raise ValueError(f"column {name!r} has a number that is not finite")


def _result(row: dict[str, Any]) -> RunResult:
    """Return the result in a row. Raises ValueError for a seed, an end or blocks that no run
    has."""
    own = {name: row.pop(name, None) for name in COLUMNS}
    seed = int(own["seed"]) if own["seed"].isdecimal() and len(own["seed"]) <= 20 else -1
    if seed not in SEEDS:
        raise ValueError(f"{own['seed']!r:.40} is no seed")
    if min(own["jobs"], own["left_out"], own["seconds"], own["time"] or 0) < 0:
        raise ValueError("a number of jobs, or a time, below 0")
    try:
        blocks = BLOCKS.validate_python(orjson.loads(own["blocks"]), strict=True)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise ValueError(f"column 'blocks': {place or 'no table'}") from None
    own |= {"seed": seed, "end": RunStatus(own["end"]), "blocks": blocks}
    return RunResult(**own, values=row)


def noted_in(path: Path) -> Noted:
    """Return what a folder of results notes about its campaign. Raises InputError where the file is
    not as a campaign wrote it."""
    return document(Noted, path)
