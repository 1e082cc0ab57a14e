"""What README and the documentation show works."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from sims.cli import main
from sims.cli.commands import COMMANDS
from sims.docs.hooks import (
    FENCE,
    PAGES,
    PICTURE,
    ROOT,
    WRITTEN,
    CodeBlock,
    blocks,
    commands,
    files,
    picture,
    whole,
    written,
)
from sims.docs.renew import FIGURES, copies, outline, smaller, text_of
from sims.examples import CAMPAIGNS, examples
from sims.examples import FOLDER as SCENARIOS
from sims.metrics.measures import Measure
from sims.plots.figure import with_text
from tests.sims.cli.commands import ended
from tests.sims.cli.commands import python as start_python

pytestmark = pytest.mark.usefixtures("unchecked")

SHORT = {"--runs 30": "--runs 2", "--most 50": "--most 5"}
"""What a reader may wait for, and a test need not, unless the page shows what is printed."""
SHIPPED = examples()
DOCUMENTS = [ROOT / "README.md", *sorted(PAGES.rglob("*.md"))]
DRAWN = "figures/"
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


def prose(page: str) -> str:
    """The page without its blocks of code."""
    return FENCE.sub("", page)


def links(page: str) -> list[str]:
    """What it links to, pictures too."""
    return LINK.findall(prose(page))


def anchors(page: str) -> set[str]:
    """What a link to a heading of it may say behind `#`."""
    return {_slug(heading) for heading in HEADING.findall(prose(page))}


def _slug(heading: str) -> str:
    words = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
    return re.sub(r"[-\s]+", "-", words)


def typed(block: CodeBlock) -> list[str]:
    """Commands; of a block with output, what stands behind `$`."""
    lines = [line for line in block.text.splitlines() if line and not line.startswith("#")]
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")] or lines


def name_of(path: Path) -> str:
    """As the tests' reports have it."""
    return str(path.relative_to(PAGES) if path.is_relative_to(PAGES) else path.name)


every_document = pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty one, with the examples' folder where a clone has it."""
    (tmp_path / "sims").mkdir()
    for part in ("scenarios", "campaigns"):
        (tmp_path / "sims" / part).symlink_to(ROOT / "sims" / part)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]  # other tests have policies called so


@every_document
def test_the_blocks_of_a_page_run_one_after_the_other_and_print_what_it_shows(
    path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = list(blocks(path.read_text(encoding="utf-8")))
    shown = [line for it in found if it.language == "text" for line in it.text.splitlines()]
    for block in found:
        if block.file is not None:
            (folder / block.file).write_text(block.text)
        if block.language == "sh":
            shell(block, {} if shown else SHORT)
        elif block.language == "python" and block.file is None:
            compile(block.text, str(path), "exec")
            if not block.not_run:
                python(block.text, folder)
        elif block.language == "toml" and block.file and "\nscenario = " not in block.text:
            assert main(["check", block.file]) == 0, block.text
        elif (
            block.language == "toml" and (name := tomllib.loads(block.text).get("name")) in SHIPPED
        ):
            shipped = (SCENARIOS / f"{name}.toml").read_text(encoding="utf-8")
            assert tomllib.loads(block.text) == tomllib.loads(shipped)
    printed = words_of(capsys.readouterr().out)
    assert [line for line in shown if words_of(line) not in printed] == []


def words_of(text: str) -> str:
    return " ".join(text.split())


def shell(block: CodeBlock, shorter: Mapping[str, str]) -> None:
    """Run what a reader would type, or see that a shell could read it."""
    subprocess.run(["bash", "-n"], input=block.text, text=True, check=True)
    for line in () if block.not_run else typed(block):
        for long, short in shorter.items():
            line = line.replace(long, short)
        program, *words = shlex.split(f"{line} {block.more}", comments=True)
        if program == "python":
            python_script(words)
        else:
            assert program == "holdfast", f"{line}: say why it is not run"
            assert main(words) == 0, line


def python(code: str, folder: Path) -> None:
    """Run a block as a program of its own."""
    (folder / "block.py").write_text(code)
    python_script(["block.py"])


def python_script(words: list[str]) -> None:
    places = os.pathsep.join((str(Path.cwd()), str(ROOT), str(ROOT / "sims" / "python")))
    done = ended(start_python(*words, env=os.environ | {"PYTHONPATH": places}))
    assert done.code == 0, done.err


def test_the_table_that_readme_shows_is_what_its_command_prints(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [block] = [it for it in blocks(readme) if "holdfast compare" in it.text]
    [command] = typed(block)
    assert main(shlex.split(command)[1:]) == 0
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    shown = [line.split() for line in block.text.splitlines()[1:]]
    assert len(shown) == 4
    assert all(row in printed for row in shown)


@every_document
def test_the_links_within_the_documentation_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for link in links(text):
        place, _, anchor = link.partition("#")
        if "://" in place or place.startswith("mailto:"):
            continue
        target = path.parent / place if place else path
        if DRAWN in place:
            if drawn := WRITTEN.search(place):
                assert sum(drawn[1] in words for words in commands(text)) == 1, link
                continue
            found = PICTURE.search(place)
            assert found, link
            campaign = (CAMPAIGNS / f"{found[1]}.toml").exists()
            assert campaign or found[1] in SHIPPED or f"{found[1]}.toml" in files(text), link
        else:
            assert target.exists(), link
            assert not anchor or anchor in anchors(whole(target.read_text(encoding="utf-8"))), link


def test_a_picture_that_a_command_of_a_page_writes_is_drawn_for_the_site() -> None:
    page = """
<!-- not run: takes long -->
```sh
holdfast examples batch-easy
holdfast compare batch-easy.toml --vary policy.name=EASY,FCFS --runs 1 -o answer.svg
holdfast nothing
```
"""
    assert b"policy.name=FCFS" in written("answer.svg", page)


@every_document
def test_a_page_holds_the_text_of_the_files_that_it_shows(path: Path) -> None:
    """Else: python -m sims.docs.renew --texts."""
    page = path.read_text(encoding="utf-8")
    assert [file for file, text in copies(page) if text != text_of(file)] == []
    assert page.count("<!-- text of ") == len(list(copies(page)))
    assert "--8<--" not in page


def pictures_of(path: Path) -> set[str]:
    """The names of the pictures of the folder `figures` that a page shows."""
    return {Path(it).name for it in links(path.read_text(encoding="utf-8")) if DRAWN in it}


def test_the_repository_keeps_the_pictures_of_the_pages_and_no_others() -> None:
    """Else: python -m sims.docs.renew PAGE.md."""
    assert {it.name for it in FIGURES.iterdir()} == set().union(*map(pictures_of, DOCUMENTS))


def test_the_pictures_of_the_pages_take_one_and_a_half_megabytes_at_most() -> None:
    assert sum(path.stat().st_size for path in FIGURES.iterdir()) <= 1_500_000


PAGE_OF = {
    shown: page
    for page in sorted(PAGES.rglob("*.md"))
    for shown in PICTURE.findall(page.read_text(encoding="utf-8"))
    if shown[1] != "campaign"
}
"""Maps each picture of a run to a page that shows it."""


@pytest.mark.parametrize(("name", "what"), sorted(PAGE_OF), ids=".".join)
def test_a_picture_of_a_page_is_what_its_run_draws(name: str, what: str) -> None:
    """Else: python -m sims.docs.renew PAGE.md. Versions of matplotlib place texts differently."""
    page = PAGE_OF[name, what].read_text(encoding="utf-8")
    ours = (FIGURES / f"{name}.{what}.svg").read_bytes()
    with with_text():
        drawn = picture(name, what, files(page))
    assert outline(smaller(drawn)) == outline(ours)


def test_no_two_pages_show_pictures_of_one_name_that_their_commands_write() -> None:
    shown = [name for path in DOCUMENTS for name in set(WRITTEN.findall(path.read_text()))]
    assert "answer.svg" in shown
    assert len(shown) == len(set(shown))


@every_document
def test_every_command_module_and_example_it_names_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for command in re.findall(r"`holdfast ([a-z-]+)", text):
        assert command in COMMANDS
    for module in re.findall(r"python -m (sims[\w.]*)", text):
        place = ROOT / module.replace(".", "/")
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists()
    for name in re.findall(r"sims/((?:scenarios|campaigns)/[\w-]+\.toml)", text):
        assert (ROOT / "sims" / name).exists()


def test_the_page_on_comparing_says_of_each_measure_what_it_counts() -> None:
    rows = (PAGES / "comparing.md").read_text(encoding="utf-8").split("## What is measured")[1]
    names = {it.value for it in Measure if it.statistic == "mean"}
    for name in names:
        short = name.removeprefix("overhead")
        assert re.search(rf"^\|[^|]*`({name}|{short})`", rows, re.MULTILINE), name


def test_the_gallery_shows_every_example_with_its_file() -> None:
    gallery = (PAGES / "gallery.md").read_text()
    for name in SHIPPED:
        assert re.search(rf"## {name}\n(?:.*\n)+?!.*figures/{name}\.", gallery), name
        assert f"<!-- text of sims/scenarios/{name}.toml -->" in gallery


@pytest.mark.parametrize("word", ["sacct", "Slurm", "spot", "storage", "backfilling", "DataFrame"])
def test_a_search_for_a_word_of_the_field_finds_a_page(word: str) -> None:
    assert "  - offline " in (PAGES.parent / "mkdocs.yml").read_text()
    assert any(word in prose(page.read_text()) for page in PAGES.rglob("*.md"))


def test_the_site_has_every_page(tmp_path: Path) -> None:
    nav = (PAGES.parent / "mkdocs.yml").read_text()
    for page in PAGES.rglob("*.md"):
        assert f": {page.relative_to(PAGES)}\n" in nav
    for page in re.findall(r": ([\w/-]+\.md)\n", nav):
        assert (PAGES / page).exists()
