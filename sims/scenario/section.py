"""What all tables of a file are: strict pydantic models, and unions of them by their `kind`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Self, get_args

import attrs
from pydantic import (
    BaseModel,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError
from pydantic_core import core_schema as core

from sims.errors import InputError
from sims.scenario.fields import REFUSED, TEXT, Documented, Json, as_in_toml
from sims.scenario.held import STRICT, TAG, Held, documented, told_by


class Section(BaseModel):
    """A table: its keys, their bounds and their defaults."""

    model_config = STRICT

    SHORT: ClassVar[tuple[tuple[type, ...], str]] = ((), "")
    """Types of values that stand for the table, and for which of its keys."""

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core.CoreSchema:
        schema = handler(source)
        as_in_toml(handler.resolve_ref_schema(schema), handler)
        return schema

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core.CoreSchema, handler: GetJsonSchemaHandler
    ) -> Json:
        found = handler.resolve_ref_schema(handler(schema))
        for key, told in found["properties"].items():
            made = cls.model_fields[key].default_factory
            if isinstance(made, type):
                told["default"] = {TAG: tag_of(made)} if tag_of(made) else {}
        return documented(cls, found)

    @model_validator(mode="after")
    def _checked(self) -> Self:
        try:
            self.check()
        except InputError as error:
            raise ValueError(error) from None  # which pydantic tells with its place
        return self

    def check(self) -> None:
        """Raises ValueError or InputError for keys that do not go together."""


# --- a table by its kind --------------------------------------------------------------------------

Table = Held | type[Section]
JSON_TYPES: Mapping[type, str] = {str: "string", int: "number", float: "number", list: "array"}


class OneOf:
    """Annotation of a union of sections: the one whose `kind` the table says. They are built when a
    file has one."""

    def __init__(self, named: bool = True) -> None:
        self.named = named
        """Whether each table says its kind itself; else it may be told by the table around."""
        self.members: dict[str, Table] = {}

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core.CoreSchema:
        self.members = {tag_of(it) or "": it for it in _members(source)}
        told: core.CoreSchema = told_by(self._chosen, self._dumped)
        return told

    def _chosen(self, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, tuple(map(_kind, self.members.values()))):
            return value
        table = self._table(value) or {}
        kind = table.get(TAG)
        if not isinstance(kind, str) or kind not in self.members:
            accepted = f"a table whose `kind` is one of {', '.join(self.members)}"
            raise PydanticCustomError(REFUSED, TEXT, {"accepted": accepted})
        member = self.members[kind]
        if isinstance(member, Held):
            return member.read(table, info)
        return member.model_validate(table, context=info.context)

    def _table(self, value: object) -> Mapping[str, Any] | None:
        """`"always"` for `{kind = "always"}`; other values stand for the kind whose `SHORT` says
        so."""
        if isinstance(value, Mapping):
            return value
        if isinstance(value, str) and value in self.members:
            return {TAG: value}
        for tag, member in self.members.items():
            types, key = member.SHORT
            if isinstance(value, types) and not isinstance(value, bool):
                return {TAG: tag, key: value}
        return None

    def _dumped(self, value: Any) -> Any:
        for member in self.members.values():
            if isinstance(member, Held) and isinstance(value, member.kind):
                return member.dumped(value)
        return value

    def __get_pydantic_json_schema__(
        self, schema: core.CoreSchema, handler: GetJsonSchemaHandler
    ) -> Json:
        return {"anyOf": [it for tag in self.members for it in self._written(tag)]}

    def _written(self, tag: str) -> list[Json]:
        """What the member may be written as."""
        member = self.members[tag]
        table = _json(member)
        short = [] if set(table.get("required", ())) - {TAG} else [{"const": tag}]
        types = {JSON_TYPES[each] for each in member.SHORT[0]}
        if not self.named:
            return [table]
        named = {"allOf": [table, {"required": [TAG]}]}
        return [named, *short, *({"type": each} for each in sorted(types))]


def _members(hint: Any) -> Iterator[Table]:
    """The tables that a value can be, or hold, however deep."""
    if isinstance(hint, type) and issubclass(hint, Section):
        yield hint
    inner = get_args(hint)
    held = [it.of(inner[0]) for it in inner if isinstance(it, Held)]
    yield from held or (it for each in inner for it in _members(each))


def _kind(member: Table) -> type:
    return member.kind if isinstance(member, Held) else member


@cache  # a listing of all keys asks for some of them a dozen times, each time all within
def _json(member: Table) -> Json:
    return member.schema() if isinstance(member, Held) else Documented.of(TypeAdapter(member))


def tag_of(section: Held | type) -> str | None:
    """What `kind` has to be in a table of `section`; None: it has no kinds."""
    if isinstance(section, Held):
        return section.tag
    field = section.model_fields.get(TAG) if issubclass(section, Section) else None
    tags = get_args(field.annotation) if field else ()
    return str(tags[0]) if tags else None


def tables_of(section: Table, key: str) -> Iterator[Table]:
    """The tables that a key's value can be, or hold."""
    if not isinstance(section, Held):
        field = section.model_fields[key]
        yield from _members(Annotated[field.annotation, *field.metadata, key])


def keys_of(section: Table) -> list[str]:
    """What a table may say."""
    if isinstance(section, Held):
        return [*((TAG,) if section.tag else ()), *(it.alias for it in attrs.fields(section.kind))]
    return list(section.model_fields)
