"""Files that campaigns read: scenarios beside them, and logs that `--input` names."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import sims
from sims.readers.job_log import JobLog
from sims.readers.swf import read_swf
from sims.scenario.loader import parse

SMALL = Path(str(sims.__file__)).parent / "scenarios" / "batch-small.swf"


@cache
def log_of(log: str) -> JobLog:
    """A log in SWF; without a name the small one that comes with Holdfast. Raises InputError."""
    return read_swf(Path(log or SMALL))


def base(name: str) -> dict[str, Any]:
    """The table of a paper's file, such as `moldable21/base`."""
    return parse(Path(__file__).parent / f"{name}.toml")
