"""Options that the papers' commands share."""

from __future__ import annotations

import argparse
import enum
from typing import TypeVar

E = TypeVar("E", bound=enum.Enum)


def add_choice(command: argparse.ArgumentParser, option: str, default: E, help_text: str) -> None:
    """Add an option whose values are those of `default`'s enum; help and errors name them."""
    kind = type(default)

    def parse(word: str) -> E:
        try:
            return kind(word)
        except ValueError:
            accepted = ", ".join(str(member.value) for member in kind)
            raise argparse.ArgumentTypeError(f"{word!r} is not one of {accepted}") from None

    shown = "{" + ",".join(str(member.value) for member in kind) + "}"
    about = f"{help_text} (default: {default.value})"
    command.add_argument(option, type=parse, default=default, metavar=shown, help=about)
