"""Colours against simulated colour vision deficiencies (Machado, Oliveira, Fernandes 2009)."""

from __future__ import annotations

import tomllib
from itertools import combinations

import numpy as np
import pytest

from sims.plots import CLASSES, GREY, RUN_PAINTS, USE_PAINTS, WAITS, Paint
from sims.plots.boxes import rgb

PUBLISHED = """
normal = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
protanopia = [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
]
deuteranopia = [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.011820, 0.042940, 0.968881],
]
tritanopia = [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.303900],
]
"""
SEEN_BY = {vision: np.array(rows) for vision, rows in tomllib.loads(PUBLISHED).items()}
"""Linear RGB -> linear RGB as seen, at full severity."""

OWNERS = tuple(Paint(colour, colour) for colour in (*CLASSES, GREY))
TOLD_APART = 10
"""CIE76 difference; 2.3 is just noticeable, and areas side by side need several times that."""


def lab(colour: str, vision: np.ndarray) -> np.ndarray:
    """CIE L*a*b* (D65) of an sRGB colour as seen."""
    s = rgb(colour)
    linear = np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    seen = np.clip(vision @ linear, 0, 1)
    x, y, z = np.cbrt(to_xyz @ seen / np.array([0.9505, 1, 1.089]))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", SEEN_BY)
@pytest.mark.parametrize("paints", [USE_PAINTS, RUN_PAINTS, OWNERS, (*WAITS.values(),)])
def test_all_colours_can_be_told_apart_with_any_colour_vision(
    paints: tuple[Paint, ...], vision: str
) -> None:
    seen = {paint.label: lab(paint.colour, SEEN_BY[vision]) for paint in paints}
    close = {
        (one, other): float(np.linalg.norm(seen[one] - seen[other]))
        for one, other in combinations(seen, 2)
    }
    assert min(close.values()) >= TOLD_APART, min(close, key=lambda pair: close[pair])
