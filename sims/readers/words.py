"""Numbers in text formats, refused in words that a user understands."""

from __future__ import annotations

import math


def whole(word: str) -> int:
    """A whole number; ValueError that quotes the word otherwise."""
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"{word!r} is not a whole number") from None


def finite(word: str) -> float:
    """A finite number; ValueError that quotes the word otherwise."""
    try:
        number = float(word)
    except ValueError:
        raise ValueError(f"{word!r} is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{word!r} is not finite")
    return number
