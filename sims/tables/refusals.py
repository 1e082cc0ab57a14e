"""A table read into its class; what pydantic says against it, as the one line that a user reads."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sims.errors import InputError

LONGEST = 80
"""Characters of a value in a message."""

ACCEPTED: Mapping[str, str] = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "string_type": "a string",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "too_short": "at least one element",
}
"""Type of an error -> what it lacks."""

Read = TypeVar("Read")
Section = TypeVar("Section", bound=BaseModel)


def section_of(
    kind: type[Section], table: object, source: str, key: str = "", times: list[str] | None = None
) -> Section:
    """The section that `table` is; `times` gets the texts that were read as seconds. Raises
    InputError at `key` for what it is not."""
    return checked(partial(kind.model_validate, context=times), table, source, key)


def checked(read: Callable[[Any], Read], table: object, source: str, key: str) -> Read:
    """What `read`, of pydantic, makes of a table. Raises InputError at `key`, for the first thing
    that is wrong; a misspelt key, which is missing too, comes first."""
    try:
        return read(table)
    except ValidationError as error:
        first = min(error.errors(include_url=False), key=lambda it: it["type"] == "missing")
        refusal, place = _refusal(first, table), first["loc"]
        if place[-1:] == ("[key]",):  # of a table whose keys are numbers
            place = place[:-2]
        raise InputError(
            source,
            ".".join(filter(None, (key, *map(str, place), refusal.key))),
            refusal.problem,
            refusal.accepted,
        ) from None


def _refusal(error: ErrorDetails, table: object) -> InputError:
    """What is wrong at the error's place."""
    if error["type"] == "missing":
        return InputError("", "", "missing", "a value")
    value, accepted = _written(table, error["loc"], error["input"]), _accepted(error)
    if error["type"] != "value_error":
        return InputError("", "", not_accepted(value, accepted), accepted)
    # Of keys that do not go together, or of a class that does not take them.
    reason = error["ctx"]["error"]
    inner = reason.args[0] if reason.args else None
    if isinstance(inner, InputError):
        return inner
    return InputError("", "", f"{not_accepted(value)}: {reason}")


def _written(table: Any, place: Sequence[str | int], read: object) -> object:
    """The value as the file has it; `read`: as it was read, where another stands for its table."""
    try:
        for step in place:
            table = table[step]
    except (KeyError, IndexError, TypeError):
        return read
    return table


def _accepted(error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    if "expected" in context:
        return ", ".join(re.findall(r"'([^']*)'", context["expected"]))
    return str(context.get("accepted") or ACCEPTED.get(error["type"]) or error["msg"])


def not_accepted(value: object, accepted: str = "") -> str:
    """The problem with a value; of a word, with the one that may be meant."""
    words = [word.split()[-1] for word in accepted.split(", ") if word]
    return f"{shown(_listed(value))} is not accepted{meant(value, words)}"


def meant(word: object, known: Collection[str]) -> str:
    """The one of the known words that another may stand for, as a message says it."""
    asked = isinstance(word, str) and word not in known
    close = difflib.get_close_matches(str(word), known, 1) if asked else ()
    return f" (did you mean {close[0]}?)" if close else ""


def shown(value: object) -> str:
    """A value as a message has it."""
    return cut(repr(value))


def cut(text: str) -> str:
    """Of a long text only how it begins."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def _listed(value: object) -> object:
    """Lists again, as they were written."""
    return [_listed(each) for each in value] if isinstance(value, tuple) else value
