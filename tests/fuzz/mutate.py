"""Files and words spoilt at random, at the level of their tokens: most are still nearly right."""

from __future__ import annotations

import re
import tomllib
from math import isfinite
from pathlib import Path
from random import Random
from typing import Any

LISTS: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)
"""Words that cases are made of. Their order decides which case a number is."""
VALUES = LISTS["values"]
"""Of TOML and JSON, and near misses."""

WORDS = re.compile(r"[A-Za-z_][\w-]*|\d[\d._]*(?:e-?\d+)?|\"[^\"\n]*\"|[\[\]{}=,:.]|\s+|.")
VALUE = re.compile(r'(?<=[=,\[:\s])\s*(?:-?\d[\d._]*(?:e-?\d+)?|"[^"\n]*"|true|false)')
LINES = "\n"
BYTES = (b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xe9", b"\r", b"\t", b"\n\n", b"#", b"1e999", b"-")


def spoilt(text: str, rng: Random) -> bytes:
    """The text after one to three small changes."""
    content = text
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = rng.choice(CHANGES)(content, rng)
    spoilt = content.encode("utf-8", "surrogatepass")
    return _bytes(spoilt, rng) if rng.random() < 0.05 else spoilt


def _value(text: str, rng: Random) -> str:
    """Another value in the place of one."""
    found = list(VALUE.finditer(text))
    if not found:
        return text + rng.choice(VALUES)
    place = rng.choice(found)
    other = rng.choice(found)[0].strip() if rng.random() < 0.2 else rng.choice(VALUES)
    return f"{text[: place.start()]} {other}{text[place.end() :]}"


def _scaled(text: str, rng: Random) -> str:
    """A number, a little or much changed."""
    found = [it for it in VALUE.finditer(text) if it[0].strip().lstrip("-")[:1].isdigit()]
    if not found:
        return text
    place = rng.choice(found)
    try:
        number = float(place[0].replace("_", ""))
    except ValueError:
        return text
    number = rng.choice((number + 1, number - 1, -number, number * 2, number / 2, number * 1e3))
    whole = isfinite(number) and number == int(number)
    shown = str(int(number)) if whole and rng.random() < 0.8 else repr(number)
    return f"{text[: place.start()]} {shown}{text[place.end() :]}"


def _token(text: str, rng: Random) -> str:
    """A token left out, doubled, or swapped with another."""
    tokens = WORDS.findall(text)
    if not tokens:
        return text
    one, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    match rng.randrange(3):
        case 0:
            del tokens[one]
        case 1:
            tokens.insert(one, tokens[one])
        case _:
            tokens[one], tokens[other] = tokens[other], tokens[one]
    return "".join(tokens)


def _line(text: str, rng: Random) -> str:
    """A line left out, doubled, or swapped with another; or the end cut off."""
    lines = text.split(LINES)
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[one]
        case 1:
            lines.insert(other, lines[one])
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case _:
            return text[: rng.randrange(len(text) + 1)]
    return LINES.join(lines)


def _bytes(content: bytes, rng: Random) -> bytes:
    """Bytes that text does not have."""
    place = rng.randrange(len(content) + 1)
    return content[:place] + rng.choice(BYTES) + content[place:]


CHANGES = (_value, _value, _value, _scaled, _scaled, _token, _line)
