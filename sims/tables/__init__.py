"""Define the tables of a file: strict pydantic models, unions of them by their `kind`, and tables
for objects.

A table for an object has the fields of an attrs class, which need not know of tables, as its keys.
"""

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
from sims.tables.refusals import UNKNOWN_KEY, checked, cut, meant, not_accepted

TAG = "kind"
"""Key that names the kind of a table in a union."""

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
"""Types of values that may stand for a table, and the key of the table that has the value."""


class Section(BaseModel):
    """A table of a file as a pydantic model: its keys, their bounds and their defaults. A key that
    it does not have is refused."""

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
        """Return the table, if it has no key that the section does not have. Raises ValueError, of
        an InputError, otherwise."""
        return refuse_unknown(table, cls.model_fields)

    @model_validator(mode="after")
    def _checked(self) -> Self:
        """Run `check` after the keys themselves have been checked. Raises ValueError where it
        refuses."""
        try:
            self.check()
        except InputError as error:
            raise ValueError(error) from None  # pydantic adds the key's place
        return self

    def __dir__(self) -> list[str]:
        """Return the names that are the section's own, and none of pydantic's."""
        others = set(dir(BaseModel)) - type(self).model_fields.keys()
        names = [name for name in super().__dir__() if name[0].islower() and name not in others]
        return sorted(names)

    def differs(self, key: str) -> bool:
        """Return whether a key has another value than its default."""
        return bool(getattr(self, key) != type(self).model_fields[key].default)

    def check(self) -> None:
        """Raise ValueError or InputError where keys of the section do not go together. Sections
        override this method; here it accepts all."""


def refuse_unknown(table: Any, keys: Collection[str]) -> Any:
    """Return the table unchanged if all its keys are in `keys`, or if it is no table. Raises
    ValueError, of an InputError, for the first other key."""
    unknown = [key for key in table if key not in keys] if isinstance(table, Mapping) else ()
    if unknown:
        problem, known = f"{UNKNOWN_KEY}{meant(unknown[0], keys)}", ", ".join(keys)
        raise ValueError(InputError("", cut(str(unknown[0])), problem, known))
    return table


def documented(
    kind: type, node: Json, defaults: Mapping[str, Any], handler: GetJsonSchemaHandler
) -> Json:
    """Return `node`, the JSON schema of a table with the fields of `kind`, with the docstrings of
    the class and of its attributes as descriptions, and with `defaults` by key. `handler` resolves
    references within the schema.

    pydantic's `use_attribute_docstrings` would read the source whenever a class is made: each run
    would take 0.15 s longer.
    """
    from sims.tables.fields import attribute_docs, one_line

    docs, table = attribute_docs(kind), handler.resolve_ref_schema(node)
    table["description"] = one_line(kind.__doc__ or "")
    for key, description in table["properties"].items():
        description |= {"default": defaults[key]} if key in defaults else {}
        description |= {"description": docs[key]} if key in docs else {}
        if "$ref" in description and len(description) > 1:  # draft 7 ignores all beside `$ref`
            description["allOf"] = [{"$ref": description.pop("$ref")}]
    return node


def told_by(read: Callable[[Any, ValidationInfo], Any], dump: Callable[[Any], Any]) -> Any:
    """Return the pydantic schema of a value that `read` makes from a table, and `dump` turns into a
    table again."""
    dumped = core.plain_serializer_function_ser_schema(dump)
    return core.with_info_plain_validator_function(read, serialization=dumped)


# --- a table for an object ------------------------------------------------------------------------


@cache
def table_of(kind: type, tag: str | None = None, times: tuple[str, ...] = ()) -> TypeAdapter[Any]:
    """Return a type adapter that reads a table whose keys are the fields of the attrs class `kind`.

    `tag` is the value that its key `kind` may have; None: it has no such key. `times` names the
    fields that are times, for which texts such as `2 h` may stand.
    """
    keys: dict[str, Any] = {TAG: NotRequired[Literal[tag]]} if tag else {}
    for it in attrs.fields(attrs.resolve_types(kind)):
        if not it.init:
            continue
        annotations = [*bounded(it.validator), *([Timed()] if it.alias in times else [])]
        key: Any = Annotated[it.type or Any, *annotations] if annotations else it.type or Any
        keys[it.alias] = key if it.default is attrs.NOTHING else NotRequired[key]
    make: Any = TypedDict
    made = make(kind.__name__, keys)
    made.__pydantic_config__ = STRICT
    known = BeforeValidator(partial(refuse_unknown, keys=keys))
    read: Any = Annotated[made, AsInToml(), known]
    return TypeAdapter(read)


def arguments_of(kind: type, table: Mapping[str, Any], source: str, key: str) -> dict[str, Any]:
    """Return a table as the arguments by name of an attrs class that is no section.

    Raises InputError, naming the file `source` and the table's place `key`, for keys and values
    that do not fit.
    """
    found: dict[str, Any] = checked(table_of(kind).validate_python, dict(table), source, key)
    return found


class Held:
    """Annotation for an attrs class that is no section: a table has its fields as keys, and the
    value is the object itself.

    `tag` is its `kind` in a union; `times` are the fields that are times.
    """

    def __init__(self, tag: str | None = None, *times: str) -> None:
        self.tag, self.times = tag, times
        self.kind: type = object

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core.CoreSchema:
        self.kind = source
        result: core.CoreSchema = told_by(self._read, self.dumped)
        return result

    def _read(self, value: Any, info: ValidationInfo) -> Any:
        """Return the object that a table describes; an object of the class is returned as it is."""
        if isinstance(value, self.kind):
            return value
        table = table_of(self.kind, self.tag, self.times)
        found = table.validate_python(value, context=info.context)
        return self.kind(**{key: it for key, it in found.items() if key != TAG})

    def dumped(self, value: Any) -> dict[str, Any]:
        """Return the object as a table: its fields, and its `kind` where it has a tag."""
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
"""Maps types of Python to types of JSON Schema."""


class OneOf:
    """Annotation for a union of sections and of attrs classes annotated by `Held`, of which a table
    chooses one by its `kind`.

    A member's schema is built when a file has such a table.
    """

    def __init__(self, named: bool = True) -> None:
        self.named = named
        """Whether each table has its own `kind`; otherwise the table around it may set it."""
        self.members: dict[str, Any] = {}
        self.kinds: tuple[type, ...] = ()

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core.CoreSchema:
        self.members = {tag_of(it): it for it in get_args(source)}
        self.kinds = tuple(getattr(it, "__origin__", it) for it in self.members.values())
        result: core.CoreSchema = told_by(self._chosen, self._dumped)
        return result

    def _chosen(self, value: Any, info: ValidationInfo) -> Any:
        """Return the section or object of the union's member that a table, or a value that stands
        for a table, chooses.

        A section or object of a member is returned as it is. Raises ValueError, of an InputError,
        for a `kind` that is missing or unknown, and PydanticCustomError for a value that stands for
        no table.
        """
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
        """Return the table that a value stands for; empty if it stands for none.

        A word stands for its kind, `"always"` for `{kind = "always"}`. Another value stands for a
        table of the first member whose `SHORT` accepts it, and so does a word as the `kind` of a
        table if it is no member's. To a table without a `kind`, the one that its keys tell is
        added.
        """
        if isinstance(value, Mapping):
            if isinstance(kind := value.get(TAG), str) and kind not in self.members:
                return {**value, **self._short_for(kind, (str,))}
            return value if TAG in value else {**value, **self._told_by(value)}
        if isinstance(value, str) and value in self.members:
            return {TAG: value}
        return self._short_for(value)

    def _told_by(self, table: Mapping[str, Any]) -> Mapping[str, str]:
        """Return `{kind: NAME}` for a table that does not state its kind: the member of which it
        has all of the `TOLD_BY` keys and, of several, the one with most of these keys. Empty if
        there is none."""
        fits = (tag for tag, it in self.members.items() if _telling(it) <= table.keys())
        told = [tag for tag in fits if _telling(self.members[tag])]
        most = max(told, key=lambda tag: len(_telling(self.members[tag])), default=None)
        return {} if most is None else {TAG: most}

    def _short_for(self, value: object, only: tuple[type, ...] = ()) -> Mapping[str, Any]:
        """Return the table for which a value stands: `{kind: NAME, KEY: value}` of the first member
        whose `SHORT` has the value's type and whose `stands_for`, if it has one, accepts the value.
        Empty if there is no such member, and for a truth value.

        `only`, if not empty, restricts the types further.
        """
        for tag, member in self.members.items():
            types, key = _short(member)
            stands = getattr(member, "stands_for", lambda _: True)
            if isinstance(value, only or types) and isinstance(value, types) and stands(value):
                return {} if isinstance(value, bool) else {TAG: tag, key: value}
        return {}

    def _dumped(self, value: Any) -> Any:
        """Return an object of a member that is no section as a table, and a section with its kind
        set, which one that a program has made may lack."""
        if isinstance(value, Section):
            kind = getattr(value, TAG, None)
            told = kind is None or TAG in value.model_fields_set
            return value if told else value.model_copy(update={TAG: kind})
        for member, kind in zip(self.members.values(), self.kinds, strict=True):
            if isinstance(value, kind):
                return held(member).dumped(value)
        return value

    def __get_pydantic_json_schema__(
        self, schema: core.CoreSchema, handler: GetJsonSchemaHandler
    ) -> Json:
        return {"anyOf": [it for tag in self.members for it in self._written(tag, handler)]}

    def _written(self, tag: str, handler: GetJsonSchemaHandler) -> list[Json]:
        """Return the JSON schemas of all forms in which the member `tag` may be written in a file:
        as a table, as its name where no other key is required, and as a value that stands for a
        table."""
        member = self.members[tag]
        # Wrapped in another schema, the member generates its JSON Schema itself.
        table = handler(core.definitions_schema(_built(member).core_schema, []))
        if not self.named:
            return [table]
        required = set(handler.resolve_ref_schema(table).get("required", ())) - {TAG}
        types = sorted({JSON_TYPES[each] for each in _short(member)[0]})
        pattern = getattr(member, "PATTERN", {})
        telling = sorted(_telling(member))
        named = {"allOf": [table, {"required": [TAG]}]}
        if telling:
            named = {"allOf": [table, {"anyOf": [{"required": [TAG]}, {"required": telling}]}]}
        return [
            named,
            *(() if required else [{"const": tag}]),
            *({"type": it, **pattern} for it in types),
        ]


@cache
def _built(member: Any) -> TypeAdapter[Any]:
    """Return the type adapter of a union's member. It is built once for each member."""
    return TypeAdapter(member)


def held(member: Any) -> Held:
    """Return the `Held` annotation of a union's member that is no section."""
    found: Held = member.__metadata__[0]
    return found


def _short(member: Any) -> Short:
    """Return the `SHORT` of a union's member: types of values that may stand for its table, and the
    key that gets the value. Without a `SHORT` there are no types."""
    return getattr(member, "SHORT", ((), ""))


def _telling(member: Any) -> frozenset[str]:
    """Return the `TOLD_BY` keys of a union's member: a table without a `kind` that has all of them
    is of this member. Empty if such a table has to state its kind."""
    return frozenset(getattr(member, "TOLD_BY", ()))


def tag_of(member: Any) -> str:
    """Return the value that `kind` has in the table of a section or of a union's member; empty if
    that table has no `kind`."""
    if not isinstance(member, type):
        return held(member).tag or ""
    field = member.model_fields.get(TAG) if issubclass(member, Section) else None
    return str(*get_args(field.annotation)) if field else ""
