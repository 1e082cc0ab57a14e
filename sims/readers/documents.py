"""Read JSON files into pydantic models; an error names the file, the place in it and the value."""

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
    """Base class of the models of a JSON object; keys that a model does not name are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


Read = TypeVar("Read", bound=Document)
Word = Annotated[str, Accepts("a string that is not empty", {"min_length": 1})]


def document(kind: type[Read], path: Path) -> Read:
    """Read a JSON file into an object of the model `kind`.

    Raises InputError where the file cannot be read or is not JSON, and for a value that the model
    refuses, which it names by its place, such as `jobs[3].res`.
    """
    try:
        return section_of(kind, orjson.loads(content(path)), str(path))
    except orjson.JSONDecodeError as error:
        raise InputError(str(path), f"line {error.lineno}", f"not JSON ({error.msg})") from error
    except InputError as error:
        # pydantic counts entries with dots (`jobs.3.res`), Python programmers with brackets.
        raise evolve(error, key=re.sub(r"\.([0-9]+)", r"[\1]", error.key)) from None
