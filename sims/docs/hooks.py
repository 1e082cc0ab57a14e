"""Hooks that MkDocs calls while it builds the site, and functions that read a page's code blocks
and draw its pictures.

The hooks bring the text of files that pages refer to, and link citations to the bibliography.
"""

from __future__ import annotations

import re
import runpy
import shlex
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from attrs import frozen

from sims.campaign.engine import execute
from sims.campaign.file import load_campaign
from sims.campaign.tables import Table
from sims.examples import copy, example, examples
from sims.plots.figure import Framing
from sims.session import run

if TYPE_CHECKING:
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROW = 0.16
"""Height of a worker's name in a picture, in inches."""
DPI = 60
"""Resolution of what is too fine to be drawn as shapes, so that the file is small."""


def on_files(files_: Files, config: Any) -> Files:
    """Return `files_` with the log's schema added; MkDocs calls this hook with the site's files."""
    from mkdocs.structure.files import File

    schema = (ROOT / "logs" / "line.schema.json").read_bytes()
    files_.append(File.generated(config, "api/line.schema.json", content=schema))
    return files_


def pictures(page: str) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield (name, function that draws it as SVG) for each picture that a page, given as Markdown,
    shows: of a run or a campaign, or written by a command of the page."""
    for name, what in sorted(set(PICTURE.findall(page))):
        yield f"{name}.{what}.svg", partial(picture, name, what, files(page))
    for name in sorted(set(WRITTEN.findall(page))):
        yield name, partial(written, name, page)


def on_page_markdown(markdown: str, page: Page, config: Any, files: Files) -> str:
    """Return the Markdown of a page with the files of the repository to which it refers in its
    place; MkDocs calls this hook for each page."""
    return whole(markdown)


def on_page_content(html: str, page: Page, config: Any, files: Files) -> str:
    """Return a page's HTML with a link from each paper that it cites to the paper's entry in the
    bibliography; MkDocs calls this hook for each page."""
    from mkdocs.utils import get_relative_url

    place = "bibliography.html"
    return html if page.url == place else linked(html, get_relative_url(place, page.url))


def picture(name: str, what: str, shown: dict[str, str]) -> bytes:
    """Run the scenario or campaign `name`, and return its picture `what` as SVG.

    The scenario is that of `shown`, which maps the names of files that are code blocks of the page
    to their texts, or else an example.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, "picture.svg")
        if what == "campaign":
            copy(name.partition("-")[0], Path(folder))  # with the files that it names
            Table(execute(load_campaign(Path(folder, f"{name}.toml")))).plot(path)
            return path.read_bytes()
        if f"{name}.toml" in shown:
            result = run(tomllib.loads(shown[f"{name}.toml"]))
        else:
            result = run(example(name) if name in examples() else name)
        # each worker's name needs its own height
        scenario = result.scenario if what == "gantt" else None
        rows = scenario.full_platform.size if scenario else 0
        framing = Framing(title="", size=(8, max(3.0, 1.5 + ROW * rows)), dpi=DPI)
        result.plot(what, str(path), framing=framing)
        return path.read_bytes()


def written(name: str, page: str) -> bytes:
    """Return the picture `name` that a command of a page, given as Markdown, writes.

    The command runs beside the page's files, and those that `holdfast examples`, `holdfast new`,
    the page's Python scripts, and runs whose log the command reads bring there. Raises ValueError
    where it fails.
    """
    from sims.cli import main

    with TemporaryDirectory() as folder, chdir(folder), redirect_stdout(StringIO()):
        for file, text in files(page).items():
            Path(file).write_text(text, encoding="utf-8")
        wanted = next((it for it in commands(page) if name in it), [])
        logs = {word for word in wanted if word.endswith(".jsonl")}
        for program, *words in commands(page, ("holdfast", "python")):
            makes = words[0] in ("examples", "new") or name in words
            makes = makes or (words[0] == "run" and not logs.isdisjoint(words))
            if program == "python" and words[0].endswith(".py"):
                runpy.run_path(words[0], run_name="__main__")
            elif makes and main(words) != 0:
                raise ValueError(f"holdfast {shlex.join(words)}")
        return Path(name).read_bytes()


# --- what a page shows -------------------------------------------------------------------------


ROOT = Path(__file__).parents[2]
PAGES = Path(__file__).parent / "pages"
BIBLIOGRAPHY = PAGES / "bibliography.bib"

FENCE = re.compile(
    r"^(?:<!-- (?:not run: (?P<reason>[^\n]+)|tests add: (?P<more>[^\n]+)) -->\n)?"
    r"(?P<indent> *)```(?P<language>\w+)[^\n]*\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
FILE = re.compile(r"^# ([\w-]+\.(?:py|toml|csv|json))$", re.MULTILINE)
REFERENCE = re.compile(r"^<!-- the site has here: (.+) -->\n.+$", re.MULTILINE)
"""A sentence that refers to a file whose text the site has in its place."""
PICTURE = re.compile(r"figures/([\w-]+)\.(gantt|jobs|ledger|bandwidth|queue|campaign)\.svg")
WRITTEN = re.compile(r"figures/([\w-]+\.svg)")


@frozen
class CodeBlock:
    """A block of code on a page of the guide."""

    language: str
    text: str
    not_run: str | None
    """Reason why tests do not run the block, from a comment above it; None: they run it."""
    more: str = ""
    """Options that tests add to each command of the block, so that it is shorter."""

    @property
    def file(self) -> str | None:
        """Name of the file to save the block as, from its first line `# NAME`; None without one."""
        found = FILE.match(self.text)
        return found[1] if found else None


def blocks(page: str) -> Iterator[CodeBlock]:
    """Yield the blocks of code of a page, given as Markdown, in order."""
    for found in FENCE.finditer(page):
        text = re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE)
        yield CodeBlock(found["language"], text, found["reason"], found["more"] or "")


def whole(page: str) -> str:
    """Return the Markdown of a page with the texts of the files to which it refers in the places of
    the sentences that do."""
    return REFERENCE.sub(lambda it: (ROOT / it[1]).read_text(encoding="utf-8").rstrip("\n"), page)


def files(page: str) -> dict[str, str]:
    """Map the name of each file as which a block of the page is to be saved to the block's text."""
    return {block.file: block.text for block in blocks(page) if block.file is not None}


def commands(page: str, programs: Sequence[str] = ("holdfast",)) -> Iterator[list[str]]:
    """Yield the words of each command of a page, given as Markdown, that runs one of `programs`,
    which is the first word."""
    for block in blocks(page):
        for line in block.text.splitlines() if block.language == "sh" else ():
            if line.partition(" ")[0] in programs and " " in line:
                yield shlex.split(line, comments=True)


# --- citations --------------------------------------------------------------------------------


def keys() -> list[str]:
    """Return the keys under which pages cite the papers of the bibliography."""
    return re.findall(r"^@\w+\{(\w+),", BIBLIOGRAPHY.read_text(encoding="utf-8"), re.MULTILINE)


def linked(html: str, bibliography: str) -> str:
    """Return a page's HTML with a link at the first mention of each paper's key.

    `bibliography` is the address of the bibliography, relative to the page. Code, headings and
    existing links stay unchanged.
    """
    mention = rf"<(a|code|pre|h\d)\b.*?</\1>|<[^>]*>|\b(?P<key>{'|'.join(keys())})\b"
    cited = set[str | None]({None})

    def link(found: re.Match[str]) -> str:
        key = found["key"]
        if key in cited:
            return found[0]
        cited.add(key)
        return f'<a href="{bibliography}#{key}">{key}</a>'

    return re.sub(mention, link, html, flags=re.DOTALL)
