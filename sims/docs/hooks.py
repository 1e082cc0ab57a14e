"""What MkDocs calls as it builds the site: pictures are drawn of runs of the pages' scenarios, and
citations lead to the bibliography."""

from __future__ import annotations

import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from sims.campaign.question import campaign
from sims.docs.blocks import PICTURE, ROOT, files, linked
from sims.examples import copy, example, examples
from sims.plots.figure import Framing
from sims.session import run

ROW = 0.16
"""Inches of a worker's name."""


def on_files(files_: Files, config: Any) -> Files:
    """Add `figures/NAME.WHAT.svg`, wherever a page shows it: NAME.toml is a block of that page, or
    an example that ships."""
    schema = (ROOT / "logs" / "line.schema.json").read_bytes()
    files_.append(File.generated(config, "api/line.schema.json", content=schema))
    for page in list(files_.documentation_pages()):
        text = page.content_string
        for name, what in sorted(set(PICTURE.findall(text))):
            place = f"figures/{name}.{what}.svg"
            if files_.get_file_from_path(place) is None:
                content = _picture(name, what, files(text))
                files_.append(File.generated(config, place, content=content))
    return files_


def on_page_content(html: str, page: Page, config: Any, files: Files) -> str:
    """Link papers that are cited."""
    place = "bibliography.html"
    return html if page.url == place else linked(html, get_relative_url(place, page.url))


def _picture(name: str, what: str, shown: dict[str, str]) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "picture.svg")
        if what == "campaign":
            copy(name.partition("-")[0], Path(folder))  # with the files that it names
            campaign(Path(folder, f"{name}.toml")).plot(path)
            return path.read_bytes()
        if f"{name}.toml" in shown:
            result = run(tomllib.loads(shown[f"{name}.toml"]))
        else:
            result = run(example(name) if name in examples() else name)
        # names of many workers want room
        scenario = result.scenario if what == "gantt" else None
        rows = scenario.full_platform.size if scenario else 0
        framing = Framing(title="", size=(8, max(3.0, 1.5 + ROW * rows)))
        result.plot(what, str(path), framing=framing)
        return path.read_bytes()
