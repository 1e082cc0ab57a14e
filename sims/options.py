"""What command lines share: a parser whose errors fit on one line, and the kinds of values.

A kind is a function from an option's word to its value, for argparse's `type`. Its error names
the word and what is accepted; the parser adds the option.
"""

from __future__ import annotations

import argparse
import enum
import math
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NoReturn, TypeVar

from sims.errors import InputError

E = TypeVar("E", bound=enum.Enum)

COMMAND_LINE = "command line"
ACCEPTED = "; accepted: "
CHOICE = re.compile(r"invalid choice: (?P<word>.*) \(choose from (?P<choices>.*)\)$")
"""How argparse refuses a word that is none of an option's."""


class Help(argparse.HelpFormatter):
    """Says what an option's default is, where it has one and its text does not say so itself."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        text, default = action.help, action.default
        silent = default is None or default is False or default in ([], argparse.SUPPRESS)
        if text is None or silent or "default:" in text:
            return text
        listed = isinstance(default, Collection) and not isinstance(default, str)
        shown = " ".join(map(str, default)) if listed else str(default)
        return f"{text} (default: {shown.replace('%', '%%')})"


class Parser(argparse.ArgumentParser):
    """argparse, with errors that fit on one line, and defaults in its help."""

    def __init__(self, *, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, formatter_class=Help)

    def error(self, message: str) -> NoReturn:
        """Raises InputError, naming the option, the value and what is accepted."""
        told = CHOICE.sub(rf"\g<word> is not accepted{ACCEPTED}\g<choices>", message)
        problem, _, accepted = told.partition(ACCEPTED)
        see = f"see `{self.prog} --help`"
        raise InputError(COMMAND_LINE, self.prog, problem, accepted or see)


# --- numbers ----------------------------------------------------------------------------------


def _refused(word: str, accepted: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"{word!r} is not accepted{ACCEPTED}{accepted}")


def whole_from(least: int) -> Callable[[str], int]:
    """The kind of whole numbers from `least` on."""

    def parse(word: str) -> int:
        try:
            number = int(word)
        except ValueError:
            number = least - 1
        if number < least:
            raise _refused(word, f"a whole number from {least}")
        return number

    return parse


def positive_int(word: str) -> int:
    """1, 2, 3, ..."""
    return whole_from(1)(word)


def natural(word: str) -> int:
    """0, 1, 2, ..."""
    return whole_from(0)(word)


def _number(word: str, fits: Callable[[float], bool], accepted: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and fits(number)):
        raise _refused(word, accepted)
    return number


def positive(word: str) -> float:
    """A finite number above 0."""
    return _number(word, lambda number: number > 0, "a number above 0")


def not_negative(word: str) -> float:
    """A finite number, 0 or above."""
    return _number(word, lambda number: number >= 0, "a number from 0")


def probability(word: str) -> float:
    """At least 0, below 1: what happens for certain, again and again, never ends."""
    return _number(word, lambda number: 0 <= number < 1, "a number from 0 to below 1")


# --- words ------------------------------------------------------------------------------------


def picture(word: str) -> Path:
    """A file that a picture can be written to, by its suffix."""
    from sims.plots.figure import SUFFIXES

    path = Path(word)
    if path.suffix not in SUFFIXES:
        raise _refused(word, ", ".join(f"NAME{suffix}" for suffix in SUFFIXES))
    return path


def add_choice(command: argparse.ArgumentParser, option: str, default: E, help_text: str) -> None:
    """Add an option whose values are those of `default`'s enum; help and errors name them."""
    kind = type(default)
    names = [str(member.value) for member in kind]

    def parse(word: str) -> E:
        try:
            return kind(word)
        except ValueError:
            raise _refused(word, ", ".join(names)) from None

    about = f"{help_text} (default: {default.value})"
    shown = "{" + ",".join(names) + "}"
    command.add_argument(option, type=parse, default=default, metavar=shown, help=about)
