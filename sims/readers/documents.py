"""JSON files as pydantic models, whose refusals name file, place and value."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, TypeVar

import orjson
from attrs import evolve
from pydantic import BaseModel, ConfigDict

from sims.errors import InputError
from sims.readers.files import content
from sims.tables.fields import Accepts
from sims.tables.refusals import section_of


class Document(BaseModel):
    """What is read of a JSON object; it may have more."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


Read = TypeVar("Read", bound=Document)
Word = Annotated[str, Accepts("a string that is not empty", {"min_length": 1})]


def document(kind: type[Read], path: Path) -> Read:
    """A file of JSON. Raises InputError where it cannot be read or is not JSON, and at the place,
    such as `jobs[3].res`, of what it is not."""
    try:
        return section_of(kind, orjson.loads(content(path)), str(path))
    except orjson.JSONDecodeError as error:
        raise InputError(str(path), f"line {error.lineno}", f"not JSON ({error.msg})") from error
    except InputError as error:
        raise evolve(error, key=re.sub(r"\.([0-9]+)", r"[\1]", error.key)) from None
