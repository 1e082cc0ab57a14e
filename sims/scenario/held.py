"""Tables that stand for an object of somebody else's attrs class, whose fields are their keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NotRequired, Self

import attrs
from pydantic import (
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationInfo,
)
from pydantic_core import core_schema as core
from pydantic_core import to_jsonable_python
from typing_extensions import TypedDict

from sims.attribute_docs import attribute_docs, one_line
from sims.scenario.fields import FINITE, Accepts, Documented, Json, Timed, as_in_toml

TAG = "kind"

STRICT = ConfigDict(
    strict=True,
    extra="forbid",
    frozen=True,
    defer_build=True,  # a run builds the tables that its file has: all would take 0.1 s
    arbitrary_types_allowed=True,
    protected_namespaces=(),
    ser_json_inf_nan="constants",
)


COMPARED: Mapping[str, tuple[str, str]] = {
    ">": ("gt", "above {}"),
    ">=": ("ge", "{} or above"),
    "<": ("lt", "below {}"),
    "<=": ("le", "up to {}"),
}
"""How attrs' validators compare -> the bound of a core schema, and its words."""


class AsInToml:
    """Annotation: a field of an attrs class, read as those of sections are."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core.CoreSchema:
        schema = handler(source)
        as_in_toml(schema, handler)
        return schema


def _bounds(validator: Any) -> list[Accepts]:
    found = [
        (*COMPARED[each.compare_op], each.bound)
        for each in getattr(validator, "_validators", (validator,))
        if hasattr(each, "compare_op")
    ]
    words = ", ".join(("a finite number", *(text.format(bound) for _, text, bound in found)))
    limits = {key: bound for key, _, bound in found}
    return [Accepts(words, {**limits, **FINITE})] if found else []


@cache
def table_of(kind: type, tag: str | None = None, times: tuple[str, ...] = ()) -> TypeAdapter[Any]:
    """What an attrs class takes, as a table; `tag`: its `kind`; `times`: those that are times."""
    keys: dict[str, Any] = {TAG: NotRequired[Literal[tag]]} if tag else {}
    for it in attrs.fields(attrs.resolve_types(kind)):
        timed = [Timed()] if it.alias in times else []
        key: Any = Annotated[it.type or Any, *_bounds(it.validator), *timed, AsInToml()]
        keys[it.alias] = key if it.default is attrs.NOTHING else NotRequired[key]
    make: Any = TypedDict
    made = make(kind.__name__, keys)
    made.__pydantic_config__ = STRICT
    return TypeAdapter(made)


def told_by(read: Callable[[Any, ValidationInfo], Any], dump: Callable[[Any], Any]) -> Any:
    """A value that `read` makes, and `dump` writes as a table again."""
    dumped = core.plain_serializer_function_ser_schema(dump)
    return core.with_info_plain_validator_function(read, serialization=dumped)


class Held:
    """Annotation of an attrs class that is no section: its fields are a table's keys, the value is
    the object itself. `tag`: its `kind` in a union; `times`: the fields that are times."""

    SHORT: ClassVar[tuple[tuple[type, ...], str]] = ((), "")

    def __init__(self, tag: str | None = None, *times: str) -> None:
        self.tag, self.times = tag, times
        self.kind: type = object

    def of(self, kind: type) -> Self:
        """The same, now that its class is known."""
        self.kind = kind
        return self

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core.CoreSchema:
        self.kind = source
        told: core.CoreSchema = told_by(self.read, self.dumped)
        return told

    def read(self, value: Any, info: ValidationInfo) -> Any:
        """The object that a table stands for."""
        if isinstance(value, self.kind):
            return value
        table = table_of(self.kind, self.tag, self.times)
        found = table.validate_python(value, context=info.context)
        return self.kind(**{key: it for key, it in found.items() if key != TAG})

    def dumped(self, value: Any) -> dict[str, Any]:
        """The table again."""
        return {**({TAG: self.tag} if self.tag else {}), **attrs.asdict(value)}

    def __get_pydantic_json_schema__(
        self, schema: core.CoreSchema, handler: GetJsonSchemaHandler
    ) -> Json:
        return {"allOf": [self.schema()]}  # whose description is not the key's

    def schema(self) -> Json:
        """Of the table."""
        found = Documented.of(table_of(self.kind, self.tag, self.times))
        for it in attrs.fields(self.kind):
            if not isinstance(it.default, attrs.Factory) and it.default is not attrs.NOTHING:  # type: ignore[arg-type]
                found["properties"][it.alias]["default"] = to_jsonable_python(it.default)
        return documented(self.kind, found)


def documented(kind: type, schema: Json) -> Json:
    """With what its source says of each key. `use_attribute_docstrings` would read it whenever a
    class is made: each run would take 0.15 s longer."""
    docs = attribute_docs(kind)
    for key, told in schema["properties"].items():
        told |= {"description": docs[key]} if key in docs else {}
    return {**schema, "title": kind.__name__, "description": one_line(kind.__doc__ or "")}
