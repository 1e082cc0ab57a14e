"""Read a table into its class, and turn the errors of pydantic into the one line that a user
reads."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sims.errors import InputError

LONGEST_VALUE = 80
"""Largest number of characters of a value in a message."""

UNKNOWN_KEY = "unknown key"
"""Beginning of the problem with a key that a table does not have."""

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
"""Maps each type of error to a description of what would be accepted."""

Read = TypeVar("Read")
Section = TypeVar("Section", bound=BaseModel)


def section_of(
    kind: type[Section], table: object, source: str, key: str = "", times: list[str] | None = None
) -> Section:
    """Return the section of class `kind` that a table describes.

    Texts such as `2 h` are accepted for times only where a list `times` is given, and each such
    text is appended to it. Raises InputError, naming the file `source` and the place below `key`,
    for a key or value that does not fit.
    """
    return checked(partial(kind.model_validate, context=times), table, source, key)


def checked(read: Callable[[Any], Read], table: object, source: str, key: str) -> Read:
    """Return the result of `read`, a validating function of pydantic, for a table.

    Raises InputError, naming the file `source` and the place below `key`, for the first error. A
    missing key is reported only if there is no other error, since a misspelt key is missing, too.
    """
    try:
        return read(table)
    except ValidationError as error:
        first = min(error.errors(include_url=False), key=lambda it: it["type"] == "missing")
        refusal, place = _refusal(first, table), first["loc"]
        if place[-1:] == ("[key]",):  # a key is refused, in a table whose keys are numbers
            place = place[:-2]
        raise InputError(
            source,
            ".".join(filter(None, (key, *map(str, place), refusal.key))),
            refusal.problem,
            refusal.accepted,
        ) from None


def _refusal(error: ErrorDetails, table: object) -> InputError:
    """Return an InputError for an error that pydantic found in `table`, without the file and the
    error's place, which the caller adds.

    The refused value is shown as `table` has it. An InputError that a section's `check` raised is
    returned as it is; its key is one below the error's place.
    """
    if error["type"] == "missing":
        return InputError("", "", "missing", "a value")
    value, accepted = _written(table, error["loc"], error["input"]), _accepted(error)
    if error["type"] != "value_error":
        texts = error.get("ctx", {}).get("texts", "") if _has_text(value) else ""
        return InputError("", "", not_accepted(value, accepted), f"{accepted}{texts}")
    # Raised by a section's `check`, or by a class that does not take its arguments.
    reason = error["ctx"]["error"]
    inner = reason.args[0] if reason.args else None
    if isinstance(inner, InputError):
        return inner
    return InputError("", "", f"{not_accepted(value)}: {reason}")


def _has_text(value: object) -> bool:
    """Return whether a value is a text, or a list or tuple with a text at any depth."""
    return isinstance(value, str) or (
        isinstance(value, list | tuple) and any(map(_has_text, value))
    )


def _written(table: Any, place: Sequence[str | int], read: object) -> object:
    """Return the value at this place as the file has it; or `read`, the value that pydantic saw,
    where the file's table was replaced by another."""
    try:
        for step in place:
            table = table[step]
    except (KeyError, IndexError, TypeError):
        return read
    return table


def _accepted(error: ErrorDetails) -> str:
    """Return a description of what would be accepted in place of the value of an error."""
    context = error.get("ctx", {})
    if "expected" in context:
        return ", ".join(re.findall(r"'([^']*)'", context["expected"]))
    return str(context.get("accepted") or ACCEPTED.get(error["type"]) or error["msg"])


def not_accepted(value: object, accepted: str = "") -> str:
    """Return the problem with a value as text. For a word, the text suggests the word of
    `accepted`, a list with commas, that may be meant."""
    words = [word.split()[-1] for word in accepted.split(", ") if word]
    hint = meant(value, words)
    if not hint and "number" in accepted and isinstance(value, str) and _is_number(value):
        hint = QUOTED
    return f"{shown(_listed(value))} is not accepted{hint}"


QUOTED = " (a number has no quotation marks)"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def meant(word: object, known: Collection[str]) -> str:
    """Return a text such as ` (did you mean EASY?)` that suggests the known word closest to a
    misspelt one. It is empty where none is close, where the word is known, and for a value that is
    no text."""
    asked = isinstance(word, str) and word not in known
    close = difflib.get_close_matches(str(word), known, 1) if asked else ()
    return f" (did you mean {close[0]}?)" if close else ""


def shown(value: object) -> str:
    """Return a value as Python writes it, cut to 80 characters, for a message."""
    return cut(repr(value))


def cut(text: str) -> str:
    """Return a text as it is or, where it is longer than 80 characters, its first 76 and ` ...`."""
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 4]} ..."


def _listed(value: object) -> object:
    """Return tuples as lists, as they were written in the file."""
    return [_listed(each) for each in value] if isinstance(value, tuple) else value
