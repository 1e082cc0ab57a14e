"""Renews what the pages of the documentation have from elsewhere: the text of files that they show,
and their pictures.

`python -m sims.docs.renew` does so for all pages, `python -m sims.docs.renew NAME.md ...` for some,
and `python -m sims.docs.renew --texts` leaves the pictures as they are; `make docs` renews all
before it builds the site. Pages hold text and pictures themselves, so that they read well wherever
Markdown is shown.
"""

from __future__ import annotations

import base64
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from PIL import Image

from sims.docs.hooks import PAGES, ROOT, pictures
from sims.plots.figure import with_text

FIGURES = PAGES / "figures"
"""Folder of the pages' pictures."""
TEXTS = "--texts"
"""Option that leaves pictures as they are."""
COPY = re.compile(
    r"(?P<before><!-- text of (?P<file>[\w./-]+) -->\n```\w+\n(?:# [\w.-]+\n)?)"
    r"(?P<text>.*?)(?P<after>^```$)",
    re.MULTILINE | re.DOTALL,
)
"""A copy of a file in a page: the block of code below a comment that names the file, without a
first line `# NAME`."""


SHOWN = re.compile(r'<g id="(\w+)"|<text[^>]*>(.*?)</text>')
"""A group of shapes or a text of a picture."""


PLACES = re.compile(r' (?:d|x|y|x1|y1|x2|y2|width|height|points|transform)="[^"]*"')
"""An attribute that has coordinates."""
DECIMALS = re.compile(r"\d+\.\d{2,}")
LOOK = re.compile(r'<path d="([^"]*)"')
"""The beginning of a shape, up to its look."""
STYLE = re.compile(r'(?: clip-path="([^"]*)")? style="([^"]*)"')
"""The look of a shape or text."""
CIRCLE = re.compile(
    r"M ?(\S+) (\S+?)\s*(?:C[^A-Za-z]*){3}C ?(?:\S+ ){4}\1 (\S+?)\s*"
    r"(?:C[^A-Za-z]*){3}C ?(?:\S+ ){4}\1 \2\s*z\s*"
)
"""A circle as matplotlib draws it, in eight curves: from its lowest point over its highest."""
RASTER = re.compile(r"(?<=data:image/png;base64,)[\w+/=\s]+")
"""Pixels of shapes that are too many to be drawn one by one."""
STEP = re.compile(r"([A-Za-z])([^A-Za-z]*)")
"""A command of a path, with its numbers."""


def copies(page: str) -> Iterator[tuple[str, str]]:
    """Yield (file, text) for each copy of a file in a page, given as Markdown."""
    for found in COPY.finditer(page):
        yield found["file"], found["text"]


def text_of(file: str) -> str:
    """Return the text of a file of the repository, as a page has it."""
    return (ROOT / file).read_text(encoding="utf-8").rstrip("\n") + "\n"


def renewed(page: str) -> str:
    """Return a page, given as Markdown, with each copy of a file replaced by the file's text."""
    return COPY.sub(lambda it: it["before"] + text_of(it["file"]) + it["after"], page)


def smaller(svg: bytes) -> bytes:
    """Return a picture with coordinates of one decimal, with lines between them that are across or
    down written as such, in the viewer's own font, with at most 256 colours in its pixels, and
    without its metadata."""
    text = re.sub(r"<metadata>.*?</metadata>", "", svg.decode(), flags=re.DOTALL)
    text = re.sub(r"font-family: [^;\"]*", "font-family: sans-serif", text)
    text = RASTER.sub(lambda it: _of_few_colours(it[0]), text)
    text = PLACES.sub(lambda it: DECIMALS.sub(_rounded, it[0]), text)
    text = re.sub(r'(?<= d=")[^"]*', lambda it: _shorter(it[0]), text)
    lines = re.sub(r"\s*\n\s*", "\n", text).splitlines()
    return _styled("".join(f"{line}\n" for line in _together(lines))).encode()


def _styled(text: str) -> str:
    """Return a picture in which the looks that several shapes share are named once, as classes."""
    counts = Counter(STYLE.findall(text))
    classes = {look: f"c{k}" for k, look in enumerate(it for it, n in counts.items() if n > 2)}

    def named(found: re.Match[str]) -> str:
        name = classes.get((found[1] or "", found[2]))
        return found[0] if name is None else f' class="{name}"'

    rules = "".join(
        f".{name}{{{f'clip-path: {clip}; ' if clip else ''}{style}}}\n"
        for (clip, style), name in classes.items()
    )
    return STYLE.sub(named, text).replace("</style>", f"{rules}</style>", 1)


def _of_few_colours(png: str) -> str:
    """Return pixels, given as PNG in base64, with at most 256 colours."""
    pixels = Image.open(io.BytesIO(base64.b64decode(png)))
    content = io.BytesIO()
    pixels.quantize(256, method=Image.Quantize.FASTOCTREE).save(content, "PNG", optimize=True)
    return base64.b64encode(content.getvalue()).decode()


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")


def _together(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a picture, with shapes of one look that follow each other as one."""
    for look, them in groupby(lines, key=lambda it: LOOK.sub("", it) if LOOK.match(it) else None):
        if look is None:
            yield from them
        else:
            paths = "".join(found[1] for found in map(LOOK.match, them) if found is not None)
            yield f'<path d="{paths}"{look}'


def _shorter(path: str) -> str:
    """Return the path of a picture with H and V for lines that are across or down, without those of
    no length, and with arcs for a circle."""
    found, x, y = [], "", ""
    if (circle := CIRCLE.fullmatch(path)) is not None:
        up = float(circle[3]) - float(circle[2])
        half = f"a{abs(up) / 2:.2f} {abs(up) / 2:.2f} 0 1 0 0 "
        return f"M{circle[1]} {circle[2]}{half}{up:.1f}{half}{-up:.1f}z"
    for step in STEP.finditer(path):
        command, numbers = step[1], step[2].split()
        if command == "L" and len(numbers) == 2:
            if (across := numbers[0]) != x and numbers[1] == y:
                found.append(f"H{across}")
            elif numbers[0] == x and (down := numbers[1]) != y:
                found.append(f"V{down}")
            elif numbers != [x, y]:
                found.append(f"L{' '.join(numbers)}")
        else:
            found.append(command + " ".join(numbers))
        x, y = numbers[-2:] if len(numbers) > 1 else ("", "")
    return "".join(found)


def outline(svg: bytes) -> list[str]:
    """Return what a picture shows, in order: its groups of shapes, and its texts."""
    return [group or text for group, text in SHOWN.findall(svg.decode())]


def main(words: Sequence[str]) -> None:
    """Renew the pages that these words of a command line name, by default all of them: the text of
    files, and pictures."""
    FIGURES.mkdir(exist_ok=True)
    names = [word for word in words if word != TEXTS]
    for path in sorted(PAGES.rglob("*.md")):
        if names and path.name not in names:
            continue
        page = path.read_text(encoding="utf-8")
        if page != (new := renewed(page)):
            path.write_text(new, encoding="utf-8")
        for name, draw in pictures(new) if TEXTS not in words else ():
            with with_text():
                content = draw()
            (FIGURES / name).write_bytes(smaller(content))


if __name__ == "__main__":
    main(sys.argv[1:])
