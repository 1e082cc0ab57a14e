"""What a scenario file may say, read off the very classes that the loader fills."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin

import attrs
from attrs import frozen

from sims.errors import InputError
from sims.scenario.attribute_docs import attribute_docs, one_line
from sims.scenario.jobs.section import KINDS, JobSection
from sims.scenario.scenario import Scenario
from sims.scenario.strict import is_enum, is_literal, tag_of
from sims.scenario.type_words import bounds, toml, type_words

TAG = "kind"
HEADING = re.compile(r"`\[[^:]*: ")
"""How the docstring of a section begins that stands in one place only."""


SECTIONS = {tag_of(section): section for section in get_args(JobSection)}
"""Kind of job -> what `[job]` is then."""


@frozen
class Key:
    """One key of a table."""

    name: str
    type: str
    """In words; `a | b` are values, or the kinds that a table can be."""
    accepted: tuple[str, ...]
    """Bounds beside the type; of a list's elements where it is a list."""
    required: bool
    default: str | None
    """As TOML; None: left out."""
    meaning: str
    choices: tuple[tuple[str, str], ...] = ()
    """(value, what it means) of each value that says so."""


@frozen
class KeyTable:
    """One table of a scenario file: of a section, or of one of its kinds."""

    place: str
    """Dotted path; empty: the top of the file."""
    repeated: bool
    """Whether it is one of a list, `[[place]]`."""
    kind: str | None
    """What its key `kind`, or that of the table around it, has to be; None: there are no kinds."""
    about: str
    keys: tuple[Key, ...]
    section: type
    """The class that the loader fills."""

    def heading(self) -> str:
        """As the file would have it."""
        if not self.place:
            return "top of the file"
        return f"[[{self.place}]]" if self.repeated else f"[{self.place}]"

    def as_json(self) -> dict[str, object]:
        """The same as data."""
        keys = [attrs.asdict(key) | {"choices": dict(key.choices)} for key in self.keys]
        return {"table": self.heading(), "kind": self.kind, "about": self.about, "keys": keys}


def tables(about: str | None = None) -> list[KeyTable]:
    """The tables of a scenario file, each before those within it: all of them, those of one
    section, or those of `[job]` for one kind of job.

    Raises InputError where `about` is neither.
    """
    found = _below("", Scenario, repeated=False, kind=None)
    if about in KINDS:
        found = _below("job", SECTIONS[about], repeated=False, kind=about)
    # What several tables may hold is told once.
    listed = list({(t.place, t.section, t.kind): t for t in found}.values())
    if about is None or about in KINDS:
        return listed
    chosen = [table for table in listed if table.place.partition(".")[0] == about]
    if not chosen:
        known = dict.fromkeys(table.place.partition(".")[0] for table in listed if table.place)
        accepted = ", ".join((*known, *KINDS))
        raise InputError("command line", "SECTION", f"{about!r} is none", accepted)
    return chosen


def _below(place: str, section: Any, repeated: bool, kind: str | None) -> Iterator[KeyTable]:
    fields = sorted(attrs.fields(attrs.resolve_types(section)), key=lambda each: each.name != TAG)
    docs = attribute_docs(section)
    keys = tuple(_key(field, docs.get(field.name, ""), kind) for field in fields)
    yield KeyTable(place, repeated, kind, _about(section), keys, section)
    for field in fields:
        inner = f"{place}.{field.name}" if place else field.name
        sections = _sections(field.type)
        for each in sections:
            picked = tag_of(each) if len(sections) > 1 else kind
            yield from _below(inner, each, get_origin(field.type) is tuple, picked)


def _sections(kind: Any) -> list[Any]:
    """The tables that a value of type `kind` can be, or hold, however deep."""
    return list(_within(kind, attrs.has))


def _within(kind: Any, wanted: Callable[[Any], bool]) -> Iterator[Any]:
    if wanted(kind):
        yield kind
    for member in get_args(kind):
        yield from _within(member, wanted)


def _key(field: Any, meaning: str, kind: str | None) -> Key:
    picks = kind is not None and field.name == TAG  # of several kinds one has to be named
    required = (picks and not meaning) or field.default is attrs.NOTHING
    default = None if required else _default(field.default)
    accepted = () if field.validator is None else tuple(bounds(field.validator))
    told = meaning or _implied(field)
    return Key(
        field.name, type_words(field.type), accepted, required, default, told, _choices(field.type)
    )


def _default(value: Any) -> str | None:
    made = value.factory() if isinstance(value, attrs.Factory) else value  # type: ignore[arg-type]
    return None if made is None else toml(made)


def _implied(field: Any) -> str:
    """The meaning of a key that needs no docstring: a tag, or a table that says what it is."""
    if is_literal(field.type):
        return "Picks these keys."
    return " ".join(_about(section) for section in _sections(field.type))


def _about(section: type) -> str:
    """What a section says of itself, without the heading that it begins with."""
    text = HEADING.sub("", one_line(section.__doc__ or ""))
    return text[:1].upper() + text[1:]


def _choices(kind: Any) -> tuple[tuple[str, str], ...]:
    return tuple(
        (str(member.value), docs[member.name])
        for each in _within(kind, is_enum)
        for docs in (attribute_docs(each),)
        for member in each
        if member.name in docs
    )
