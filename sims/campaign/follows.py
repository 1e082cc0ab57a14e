"""Read keys that follow from others: `platform.workers = 128 + spares` beside an axis of spares.

An expression is a sum of products of numbers, times such as `2 min`, and names. A name is a dotted
key of the scenario, its last part where only one varied key ends so, or a name of the user's own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from sims.durations import SCALES, Seconds, seconds
from sims.errors import COMMAND_LINE, InputError
from sims.tables.refusals import meant

WITH = re.compile(r"\s+with\s+(?=[\w.]+\s*=)")
"""Pattern of the word between the values of an axis and the keys that follow from them."""
AND = re.compile(r"\s*(?:,|\sand\s)\s*")
"""Pattern of what stands between two keys that follow."""
KEY = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
PART = re.compile(
    rf"\s*(?P<sign>[-+*/]?)\s*(?:(?P<number>\d+(?:\.\d+)?(?:e[-+]?\d+)?)"
    rf"(?:\s*(?P<unit>{'|'.join(SCALES)})\b)?|(?P<name>{KEY.pattern}))\s*"
)
"""Pattern of an operand with the sign before it."""
FORM = "KEY = EXPRESSION with sums and products of numbers and names, such as 128 + 2 * spares"

Quantity = tuple[float, int]
"""A number, and its power of time: 0 for a plain number, 1 for a time in seconds."""


def apart(words: Iterable[str], option: str) -> tuple[list[str], dict[str, str]]:
    """Return the words of a command line without what comes after ` with `, and the expressions
    that do: those of `KEY=0..8 with KEY = EXPRESSION and KEY = EXPRESSION`, by key.

    Raises InputError, naming `option`, for what is no such expression, and for a key that follows
    twice.
    """
    alone, found = list[str](), dict[str, str]()
    for word in words:
        head, *rest = WITH.split(word, maxsplit=1)
        alone.append(head)
        for clause in AND.split(rest[0]) if rest else ():
            key, equals, text = (it.strip() for it in clause.partition("="))
            if not equals or not KEY.fullmatch(key):
                raise InputError(COMMAND_LINE, option, f"{clause!r} is no expression", FORM)
            if key in found:
                raise InputError(COMMAND_LINE, option, f"{key} follows twice", "each key once")
            found[key] = text
    return alone, found


def names_in(expressions: Mapping[str, str]) -> set[str]:
    """Return all names that occur in expressions."""
    return {it["name"] for text in expressions.values() for it in PART.finditer(text) if it["name"]}


def followed(
    expressions: Mapping[str, str], varied: Sequence[tuple[str, Any]], table: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield (dotted key, value) for each expression, in order. Later ones may name the keys of
    earlier ones.

    `varied` has the settings of a case, and `table` maps the dotted keys of its scenario's file to
    their values. Raises ValueError, saying why, for an expression that has no value.
    """
    known = dict(table) | dict(varied)
    short = Counter(key.rpartition(".")[2] for key in dict(varied))
    for key, value in varied:
        name = key.rpartition(".")[2]
        if short[name] == 1:
            known[name] = value
    for key, text in expressions.items():
        try:
            known[key] = value = evaluated(text, known)
        except ValueError as error:
            raise ValueError(f"{key} = {text}: {error}") from None
        yield key, value


def evaluated(text: str, known: Mapping[str, Any]) -> int | float | str:
    """Return the value of an expression: a number to twelve digits, or a time as text, such as
    `300 s`. `known` maps names to values.

    Raises ValueError, saying why, for a text that is no expression, an unknown name, a value that
    is no number, and a sum of times and numbers.
    """
    terms, place = list[Quantity](), 0
    while place < len(text) or not terms:
        found = PART.match(text, place)
        # Only the first operand may lack a sign, and it can be neither a factor nor a divisor.
        if found is None or (found["sign"] == "" if terms else found["sign"] in ("*", "/")):
            raise ValueError(f"{text[place:].strip()!r} is not understood")
        number, power = _operand(found, known)
        if found["sign"] in ("*", "/"):
            terms[-1] = _product(terms[-1], (number, power), found["sign"])
        else:
            terms.append((-number if found["sign"] == "-" else number, power))
        place = found.end()
    powers = {power for _, power in terms}
    if len(powers) > 1:
        raise ValueError("it adds up times and plain numbers")
    total = float(f"{sum(number for number, _ in terms):.12g}")
    if not isfinite(total):
        raise ValueError("it is not finite")
    if powers == {1}:
        return f"{total:.12g} s"
    if powers != {0}:
        raise ValueError("it is neither a number nor a time")
    return int(total) if total == int(total) else total


def _product(one: Quantity, other: Quantity, sign: str) -> Quantity:
    if sign == "*":
        return one[0] * other[0], one[1] + other[1]
    if not other[0]:
        raise ValueError("it divides by 0")
    return one[0] / other[0], one[1] - other[1]


def _operand(found: re.Match[str], known: Mapping[str, Any]) -> Quantity:
    name, unit = found["name"], found["unit"]
    if not name:
        number = float(found["number"])
        return (number * SCALES[unit], 1) if unit else (number, 0)
    if name not in known:
        raise ValueError(f"there is no {name!r}{meant(name, [*known])}")
    value = known[name]
    try:
        read = seconds(value) if isinstance(value, str) else value
    except ValueError:
        read = None
    if isinstance(read, bool) or not isinstance(read, int | float):
        raise ValueError(f"{name} is {value!r}, which is no number")
    return float(read), int(isinstance(read, Seconds))
