"""The papers: their three lists are one, and the site links to it."""

from __future__ import annotations

import re

import pytest

from sims.docs.hooks import BIBLIOGRAPHY, PAGES, ROOT, keys, linked
from sims.papers import ITEMS

Papers = dict[str, tuple[str, str, str | None]]
"""By key: title, year, DOI."""


def of_bibtex() -> Papers:
    return {
        key: (field("title", text) or "", field("year", text) or "", field("doi", text))
        for key, text in re.findall(
            r"^@\w+\{(\w+),\n(.+?)\n\}$", BIBLIOGRAPHY.read_text(encoding="utf-8"), re.M | re.S
        )
    }


def field(name: str, entry: str) -> str | None:
    found = re.search(rf"^  {name} = \{{(.+)\}},?$", entry, re.M)
    return found[1] if found else None


def of_the_page() -> Papers:
    text = (PAGES / "bibliography.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (\w+)\n\n(.+?)\n\n", text, re.M | re.S)
    return {key: (title(text), year(text), doi(text)) for key, text in sections}


def title(entry: str) -> str:
    return " ".join(re.findall(r"\*(.+?)\.\*", entry, re.S)[0].split())


def year(entry: str) -> str:
    return re.findall(r"\((\d{4})\)\.", entry)[0]


def doi(entry: str) -> str | None:
    """The paper's; not that of another version of it."""
    found = re.search(r"\[doi:(.+)\]", re.split("preliminary|successor", entry)[0])
    return found[1] if found else None


def of_the_citation_file() -> Papers:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8").partition("\nreferences:\n")[2]
    return {
        value("abbreviation", it): (value("title", it).strip('"'), value("year", it), own_doi(it))
        for it in text.split("  - type: ")[1:]
    }


def value(key: str, reference: str) -> str:
    return re.findall(rf"^    {key}: (.+)$", reference, re.M)[0]


def own_doi(reference: str) -> str | None:
    return value("doi", reference) if "    doi: " in reference else None


def test_the_bibliography_its_page_and_the_citation_file_name_the_same_papers() -> None:
    papers = of_bibtex()
    assert len(papers) == 5
    assert of_the_page() == papers
    assert of_the_citation_file() == papers


def test_every_doi_of_the_page_is_in_bibtex_as_an_address() -> None:
    """The paper's own is its `url`; those of other versions stand in its `note`."""
    entries = BIBLIOGRAPHY.read_text(encoding="utf-8")
    page = (PAGES / "bibliography.md").read_text(encoding="utf-8")
    for key, (_, _, own) in of_bibtex().items():
        [entry] = re.findall(rf"^@\w+\{{{key},\n.+?\n\}}$", entries, re.M | re.S)
        [section] = re.findall(rf"^## {key}\n.+?(?=^## |\Z)", page, re.M | re.S)
        assert field("url", entry) == (own and f"https://doi.org/{own}")
        assert all(it in entry for it in re.findall(r"\((https://doi\.org/[^)]+)\)", section))


def test_the_tables_and_figures_are_those_of_the_papers() -> None:
    groups = {it.name.partition("/")[0] for it in ITEMS}
    assert groups - {"study", "published"} == set(keys()) == set(of_bibtex())


def test_the_first_mention_of_a_paper_leads_to_the_bibliography() -> None:
    html = "<p>As rigid21, section 3, and rigid21; volatile13 too.</p>"
    assert linked(html, "../b.html") == (
        '<p>As <a href="../b.html#rigid21">rigid21</a>, section 3, and rigid21;'
        ' <a href="../b.html#volatile13">volatile13</a> too.</p>'
    )


@pytest.mark.parametrize(
    "html",
    [
        "<code>holdfast papers run rigid21/table1</code>",
        "<pre><span>rigid21</span></pre>",
        '<h2 id="rigid21">Jobs (rigid21)</h2>',
        '<a href="x.html">rigid21</a>',
        '<img alt="rigid21">',
        "<p>rigid213</p>",
    ],
)
def test_code_headings_and_links_stay_as_they_are(html: str) -> None:
    assert linked(html, "b.html") == html


def test_no_page_cites_a_paper_by_number() -> None:
    for page in PAGES.rglob("*.md"):
        if page.name != "changes.md":
            assert not re.search(r"(?<![\d.,])00[0-4](?!\d)", page.read_text(encoding="utf-8")), (
                page
            )
