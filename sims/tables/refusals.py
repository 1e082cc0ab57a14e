"""A table read into its class; what pydantic says against it, as the one line that a user reads."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import attrs
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sims.errors import InputError
from sims.tables.fields import Unacceptable

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
    """What `read`, of pydantic, makes of a table. Raises InputError at `key`."""
    try:
        return read(table)
    except ValidationError as error:
        raise _refusal(error, table, source, key) from None


def _refusal(error: ValidationError, table: object, source: str, key: str) -> InputError:
    """The first thing that is wrong; a misspelt key, which is missing too, comes first."""
    first = min(error.errors(include_url=False), key=lambda it: it["type"] == "missing")
    place, value = first["loc"], _written(table, first["loc"], first["input"])
    if place and place[-1] == "[key]":  # of a table whose keys are numbers
        place = place[:-2]
    where = ".".join(filter(None, (key, *map(str, place))))
    if first["type"] == "missing":
        return InputError(source, where, "missing", "a value")
    if first["type"] == "value_error":
        return _of_check(first["ctx"]["error"], source, where, value)
    accepted = _accepted(first)
    return InputError(source, where, not_accepted(value, accepted), accepted)


def _written(table: Any, place: Sequence[str | int], read: object) -> object:
    """The value as the file has it; `read`: as it was read, where another stands for its table."""
    try:
        for step in place:
            table = table[step]
    except (KeyError, IndexError, TypeError):
        return read
    return table


def _of_check(error: Exception, source: str, key: str, value: object) -> InputError:
    """Of keys that do not go together, or of a class that does not take them."""
    inner = error.args[0] if error.args else None
    if isinstance(inner, InputError):
        place = ".".join(filter(None, (key, inner.key)))
        return attrs.evolve(inner, source=source, key=place)
    if isinstance(error, Unacceptable):
        place = ".".join(filter(None, (key, error.key)))
        return InputError(source, place, not_accepted(error.value), error.accepted)
    return InputError(source, key, f"{not_accepted(value)}: {error}")


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


def told(error: BaseException) -> tuple[str, str]:
    """The problem, and what is accepted instead, of an error that may say both in a sentence."""
    problem, _, accepted = str(error).partition("; accepted: ")
    return problem, accepted.rstrip(".")


def shown(value: object) -> str:
    """A value as a message has it: of long ones only how they begin."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def _listed(value: object) -> object:
    """Lists again, as they were written."""
    return [_listed(each) for each in value] if isinstance(value, tuple) else value
