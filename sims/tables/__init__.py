"""What all tables of a file are: strict pydantic models, unions of them by their `kind`, and tables
that stand for an object of somebody else's attrs class, whose fields are their keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from typing import Annotated, Any, ClassVar, Literal, NotRequired, Self, get_args

import attrs
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError, to_jsonable_python
from pydantic_core import core_schema as core
from typing_extensions import TypedDict

from sims.errors import InputError
from sims.tables.fields import REFUSED, TEXT, AsInToml, Json, Timed, bounded
from sims.tables.refusals import checked, cut, meant, not_accepted

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

Short = tuple[tuple[type, ...], str]
"""Types of values that stand for a table, and for which of its keys."""


class Section(BaseModel):
    """A table: its keys, their bounds and their defaults."""

    model_config = STRICT

    SHORT: ClassVar[Short] = ((), "")

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core.CoreSchema:
        return AsInToml().__get_pydantic_core_schema__(source, handler)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core.CoreSchema, handler: GetJsonSchemaHandler
    ) -> Json:
        made = {key: it.default_factory for key, it in cls.model_fields.items()}
        defaults = {
            key: {TAG: tag} if (tag := tag_of(it)) else {}
            for key, it in made.items()
            if isinstance(it, type)
        }
        return documented(cls, handler(schema), defaults, handler)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, table: Any) -> Any:
        return refuse_unknown(table, cls.model_fields)

    @model_validator(mode="after")
    def _checked(self) -> Self:
        try:
            self.check()
        except InputError as error:
            raise ValueError(error) from None  # which pydantic tells with its place
        return self

    def differs(self, key: str) -> bool:
        """Whether a key has another value than its default."""
        return bool(getattr(self, key) != type(self).model_fields[key].default)

    def check(self) -> None:
        """Raises ValueError or InputError for keys that do not go together."""


def refuse_unknown(table: Any, keys: Collection[str]) -> Any:
    """The table. Raises ValueError, of an InputError, for the first key that is none of `keys`."""
    unknown = [key for key in table if key not in keys] if isinstance(table, Mapping) else ()
    if unknown:
        problem, known = f"unknown key{meant(unknown[0], keys)}", ", ".join(keys)
        raise ValueError(InputError("", cut(str(unknown[0])), problem, known))
    return table


def documented(
    kind: type, node: Json, defaults: Mapping[str, Any], handler: GetJsonSchemaHandler
) -> Json:
    """With what its source says of each key. `use_attribute_docstrings` would read it whenever a
    class is made: each run would take 0.15 s longer."""
    from sims.tables.fields import attribute_docs, one_line

    docs, table = attribute_docs(kind), handler.resolve_ref_schema(node)
    table["description"] = one_line(kind.__doc__ or "")
    for key, told in table["properties"].items():
        told |= {"default": defaults[key]} if key in defaults else {}
        told |= {"description": docs[key]} if key in docs else {}
        if "$ref" in told and len(told) > 1:  # which in draft 7 stands alone
            told["allOf"] = [{"$ref": told.pop("$ref")}]
    return node


def told_by(read: Callable[[Any, ValidationInfo], Any], dump: Callable[[Any], Any]) -> Any:
    """A value that `read` makes, and `dump` writes as a table again."""
    dumped = core.plain_serializer_function_ser_schema(dump)
    return core.with_info_plain_validator_function(read, serialization=dumped)


# --- a table for an object ------------------------------------------------------------------------


@cache
def table_of(kind: type, tag: str | None = None, times: tuple[str, ...] = ()) -> TypeAdapter[Any]:
    """What an attrs class takes, as a table; `tag`: its `kind`; `times`: those that are times."""
    keys: dict[str, Any] = {TAG: NotRequired[Literal[tag]]} if tag else {}
    for it in attrs.fields(attrs.resolve_types(kind)):
        about = [*bounded(it.validator), *([Timed()] if it.alias in times else [])]
        key: Any = Annotated[it.type or Any, *about] if about else it.type or Any
        keys[it.alias] = key if it.default is attrs.NOTHING else NotRequired[key]
    make: Any = TypedDict
    made = make(kind.__name__, keys)
    made.__pydantic_config__ = STRICT
    known = BeforeValidator(partial(refuse_unknown, keys=keys))
    read: Any = Annotated[made, AsInToml(), known]
    return TypeAdapter(read)


def arguments_of(kind: type, table: Mapping[str, Any], source: str, key: str) -> dict[str, Any]:
    """What an attrs class that is no section is called with. Raises InputError."""
    found: dict[str, Any] = checked(table_of(kind).validate_python, dict(table), source, key)
    return found


class Held:
    """Annotation of an attrs class that is no section: its fields are a table's keys, the value is
    the object itself. `tag`: its `kind` in a union; `times`: the fields that are times."""

    def __init__(self, tag: str | None = None, *times: str) -> None:
        self.tag, self.times = tag, times
        self.kind: type = object

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core.CoreSchema:
        self.kind = source
        told: core.CoreSchema = told_by(self._read, self.dumped)
        return told

    def _read(self, value: Any, info: ValidationInfo) -> Any:
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
        defaults = {
            it.alias: to_jsonable_python(it.default)
            for it in attrs.fields(self.kind)
            if not isinstance(it.default, attrs.Factory | type(attrs.NOTHING) | None)
        }
        node = handler(table_of(self.kind, self.tag, self.times).core_schema)
        return documented(self.kind, node, defaults, handler)


# --- a table by its kind --------------------------------------------------------------------------

JSON_TYPES: Mapping[type, str] = {str: "string", int: "number", float: "number", list: "array"}


class OneOf:
    """Annotation of a union of sections and held objects: the one whose `kind` the table says. They
    are built when a file has one."""

    def __init__(self, named: bool = True) -> None:
        self.named = named
        """Whether each table says its kind itself; else it may be told by the table around."""
        self.members: dict[str, Any] = {}
        self.kinds: tuple[type, ...] = ()

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core.CoreSchema:
        self.members = {tag_of(it): it for it in get_args(source)}
        self.kinds = tuple(getattr(it, "__origin__", it) for it in self.members.values())
        told: core.CoreSchema = told_by(self._chosen, self._dumped)
        return told

    def _chosen(self, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, self.kinds):
            return value
        table, known = self._table(value), ", ".join(self.members)
        kind = table.get(TAG)
        if isinstance(kind, str) and kind in self.members:
            return _built(self.members[kind]).validate_python(table, context=info.context)
        if not isinstance(value, Mapping):
            accepted = f"a table whose `kind` is one of {known}: {{ kind = ..., KEY = VALUE }}"
            raise PydanticCustomError(REFUSED, TEXT, {"accepted": accepted})
        problem = not_accepted(kind, known) if TAG in value else "missing"
        raise ValueError(InputError("", TAG, problem, known))

    def _table(self, value: object) -> Mapping[str, Any]:
        """`"always"` for `{kind = "always"}`; other values stand for the kind whose `SHORT` says
        so."""
        if isinstance(value, Mapping):
            if TAG in value and value[TAG] not in self.members:
                return {**value, **self._short_for(value[TAG], (str,))}
            return value
        if isinstance(value, str) and value in self.members:
            return {TAG: value}
        return self._short_for(value)

    def _short_for(self, value: object, only: tuple[type, ...] = ()) -> Mapping[str, Any]:
        """The table for which a value stands by some member's `SHORT`; empty: there is none.
        `only`: the types that may stand for one."""
        for tag, member in self.members.items():
            types, key = _short(member)
            stands = getattr(member, "stands_for", lambda _: True)
            if isinstance(value, only or types) and isinstance(value, types) and stands(value):
                return {} if isinstance(value, bool) else {TAG: tag, key: value}
        return {}

    def _dumped(self, value: Any) -> Any:
        for member, kind in zip(self.members.values(), self.kinds, strict=True):
            if isinstance(value, kind) and not isinstance(value, Section):
                return held(member).dumped(value)
        return value

    def __get_pydantic_json_schema__(
        self, schema: core.CoreSchema, handler: GetJsonSchemaHandler
    ) -> Json:
        return {"anyOf": [it for tag in self.members for it in self._written(tag, handler)]}

    def _written(self, tag: str, handler: GetJsonSchemaHandler) -> list[Json]:
        """What the member may be written as."""
        member = self.members[tag]
        # Within another schema it is told as it tells itself.
        table = handler(core.definitions_schema(_built(member).core_schema, []))
        if not self.named:
            return [table]
        required = set(handler.resolve_ref_schema(table).get("required", ())) - {TAG}
        types = sorted({JSON_TYPES[each] for each in _short(member)[0]})
        pattern = getattr(member, "PATTERN", {})
        named = {"allOf": [table, {"required": [TAG]}]}
        return [
            named,
            *(() if required else [{"const": tag}]),
            *({"type": it, **pattern} for it in types),
        ]


@cache
def _built(member: Any) -> TypeAdapter[Any]:
    return TypeAdapter(member)


def held(member: Any) -> Held:
    """How an object of somebody else's class is annotated."""
    found: Held = member.__metadata__[0]
    return found


def _short(member: Any) -> Short:
    return getattr(member, "SHORT", ((), ""))


def tag_of(member: Any) -> str:
    """What `kind` has to be in a member's table; empty: it has no kinds."""
    if not isinstance(member, type):
        return held(member).tag or ""
    field = member.model_fields.get(TAG) if issubclass(member, Section) else None
    return str(*get_args(field.annotation)) if field else ""
