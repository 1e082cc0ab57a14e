"""Papers that a page of the site cites: the first mention of each leads to the bibliography."""

from __future__ import annotations

import re

from sims.docs.blocks import PAGES

BIBLIOGRAPHY = PAGES / "bibliography.bib"


def keys() -> list[str]:
    """Of the papers, as they are cited."""
    return re.findall(r"^@\w+\{(\w+),", BIBLIOGRAPHY.read_text(encoding="utf-8"), re.MULTILINE)


def linked(html: str, bibliography: str) -> str:
    """The page with links to the entries of `bibliography`, an address relative to the page's own.
    Code, headings and links stay as they are."""
    mention = rf"<(a|code|pre|h\d)\b.*?</\1>|<[^>]*>|\b(?P<key>{'|'.join(keys())})\b"
    cited = set[str | None]({None})

    def link(found: re.Match[str]) -> str:
        key = found["key"]
        if key in cited:
            return found[0]
        cited.add(key)
        return f'<a href="{bibliography}#{key}">{key}</a>'

    return re.sub(mention, link, html, flags=re.DOTALL)
