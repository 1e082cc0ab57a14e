"""Define the types of a file's keys: their bounds, and the words that messages use for them."""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import pairwise
from math import inf
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from attrs import field, frozen
from pydantic import (
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationInfo,
)
from pydantic_core import PydanticCustomError
from pydantic_core import core_schema as core

from sims.durations import TEXTS, TIME, units_sum
from sims.errors import InputError
from sims.tables.refusals import not_accepted

MOST_JOBS = 10**9
"""Largest number of jobs that is drawn for a scenario: a hundred times as many as were ever run
here."""

REFUSED, TEXT = "refused", "{accepted}"
"""Type and text of this project's validation errors; the text says what would be accepted."""

Json = dict[str, Any]


class Unacceptable(InputError):
    """Raised for a value that a key does not accept, although its type is right."""

    def __init__(self, key: str, value: object, accepted: str) -> None:
        super().__init__("", key, not_accepted(value, accepted), accepted)


@frozen(eq=False)
class Accepts:
    """Annotation that bounds the values of a type, and says in words which are accepted."""

    words: str
    """Description of the accepted values in messages."""
    bounds: Mapping[str, Any] = field(factory=dict)
    """Bounds in the form of pydantic's core schemas."""
    check: Callable[[Any], bool] | None = None
    """Function that returns whether a value within the bounds is accepted; a ValueError is a
    refusal with a reason."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core.CoreSchema:
        bounded: Any = {**handler(source), **self.bounds}
        context = {"accepted": self.words, "texts": OR_TEXT if annotated(source, Timed) else ""}
        schema = core.custom_error_schema(
            bounded, REFUSED, custom_error_message=TEXT, custom_error_context=context
        )
        if self.check is None:
            return schema
        return core.no_info_after_validator_function(self._checked, schema)

    def __get_pydantic_json_schema__(
        self, schema: core.CoreSchema, handler: GetJsonSchemaHandler
    ) -> Json:
        # JSON Schema cannot express all bounds. Other readers ignore the keyword `accepted`.
        return handler(schema) | {"accepted": self.words}

    def _checked(self, value: Any) -> Any:
        """Return the value unchanged if `check` accepts it. Raises PydanticCustomError
        otherwise."""
        try:
            reason = "" if self.check is None or self.check(value) else self.words
        except ValueError as error:
            reason = f"{self.words} ({error})"
        if reason:
            raise PydanticCustomError(REFUSED, TEXT, {"accepted": reason})
        return value


OR_TEXT = f", or, where the unit is s, {TEXTS}"
"""Words that a refusal of a text adds to the accepted numbers."""


def annotated(source: Any, kinds: type | UnionType) -> bool:
    """Return whether a type, or any type within it such as a member of a union, is `Annotated` with
    an object of one of the classes `kinds`."""
    own = getattr(source, "__metadata__", ())
    return any(isinstance(it, kinds) for it in own) or any(
        annotated(part, kinds) for part in get_args(source)
    )


COMPARED: Mapping[str, tuple[str, str]] = {
    ">": ("gt", "above {}"),
    ">=": ("ge", "{} or above"),
    "<": ("lt", "below {}"),
    "<=": ("le", "up to {}"),
}
"""Maps each comparison of attrs' validators to the bound of a core schema, and to its words."""
FINITE: Mapping[str, Any] = {"allow_inf_nan": False}
NOT_NEGATIVE = Accepts("a finite number, 0 or above", {"ge": 0, **FINITE})
POSITIVE = Accepts("a finite number above 0", {"gt": 0, **FINITE})
POSITIVE_OR_INF = Accepts("a number above 0, or inf", {"gt": 0})


def bounded(validator: Any) -> list[Accepts]:
    """Return the annotation that stands for the bounds of an attrs validator on a number, alone in
    a list; the list is empty where the validator has no bounds."""
    found = [
        (*COMPARED[each.compare_op], each.bound)
        for each in getattr(validator, "_validators", (validator,))
        if hasattr(each, "compare_op")
    ]
    words = ", ".join(("a finite number", *(text.format(bound) for _, text, bound in found)))
    bounds = {key: bound for key, _, bound in found}
    return [Accepts(words, {**bounds, **FINITE})] if found else []


Number = Annotated[float, Accepts("a finite number", FINITE)]
NotNegative = Annotated[float, NOT_NEGATIVE]
Positive = Annotated[float, POSITIVE]
Probability = Annotated[float, Accepts("a number from 0 to 1", {"ge": 0, "le": 1})]
Part = Annotated[float, Accepts("a number from 0 to below 1", {"ge": 0, "lt": 1})]
AboveOne = Annotated[float, Accepts("a finite number above 1", {"gt": 1, **FINITE})]
Natural = Annotated[int, Accepts("a whole number, 0 or above", {"ge": 0})]
Count = Annotated[int, Accepts("a whole number above 0", {"gt": 0})]
Drawn = Annotated[int, Accepts(f"a whole number, 1 to {MOST_JOBS:,}", {"ge": 1, "le": MOST_JOBS})]


def _is_name(text: str) -> bool:
    """Return whether the text can be the name of a file, without a folder."""
    return bool(text) and not {"/", "\0", os.sep, os.altsep} & set(text)


Name = Annotated[
    str,
    Accepts(
        "a word or more, without / and control characters, and no dot at its beginning "
        "(logs/NAME.jsonl)",
        check=lambda it: not it.startswith(".") and it.isprintable() and _is_name(it),
    ),
]
LOG_NAME = re.compile(r"[^.].*\.jsonl(\.gz|\.xz|\.zst)?", re.DOTALL)
LogName = Annotated[
    str,
    Accepts(
        "NAME.jsonl, of a file in logs/ (packed: .gz, .xz, .zst), or `none`; --log PATH writes it "
        "anywhere else",
        check=lambda it: it == "none" or (_is_name(it) and LOG_NAME.fullmatch(it) is not None),
    ),
]
NOT_EMPTY = Field(min_length=1)
RANGE = Accepts(
    "two finite numbers above 0, the lower first", check=lambda it: 0 < it[0] <= it[1] < inf
)


# --- times ----------------------------------------------------------------------------------------


class Timed:
    """Annotation for a time: a number in the file's unit, or a text such as `2 h 30 min`."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core.CoreSchema:
        inner = handler(source)
        numbers = inner.get("custom_error_context", {}).get("accepted", "a number")
        read = partial(_in_seconds, accepted=numbers)
        return core.with_info_before_validator_function(read, inner)

    def __get_pydantic_json_schema__(
        self, schema: core.CoreSchema, handler: GetJsonSchemaHandler
    ) -> Json:
        return {"anyOf": [handler(schema), {"type": "string", "pattern": TIME.pattern}]}


def _in_seconds(value: Any, info: ValidationInfo, accepted: str) -> Any:
    """Return the seconds that a text such as `2 min` states; return any other value as it is.

    Texts are read only where pydantic's context `info` holds a list, to which the text is appended.
    Raises PydanticCustomError for a text that is no time; `accepted` describes the numbers that are
    accepted.
    """
    if not (isinstance(value, str) and isinstance(info.context, list)):
        return value
    if not TIME.match(value):
        raise PydanticCustomError(REFUSED, TEXT, {"accepted": accepted, "texts": OR_TEXT})
    info.context.append(value)
    time = units_sum(value)
    return int(time) if time.is_integer() else time


class Measured:
    """Annotation for a number that measures something other than time, such as bytes or prices."""


Amount = Annotated[float, NOT_NEGATIVE, Measured()]
PositiveAmount = Annotated[float, POSITIVE, Measured()]
Time = Annotated[float, NOT_NEGATIVE, Timed()]
Duration = Annotated[float, POSITIVE, Timed()]
DurationOrInf = Annotated[float, POSITIVE_OR_INF, Timed()]
TimeRange = Annotated[tuple[Duration, Duration], RANGE]


# --- as in TOML -----------------------------------------------------------------------------------

MOST_WHOLE = 2**40
"""Largest whole number that stays one if it is a time: sums and products of larger ones could be
more than a log's line holds."""


class AsInToml:
    """Annotation for a value that is read strictly, but by the types that TOML has. Its lists stand
    for tuples, and its words for members of enums and for integer keys, also within the value."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core.CoreSchema:
        schema = handler(source)
        _as_in_toml(handler.resolve_ref_schema(schema), handler)
        return schema


def _as_in_toml(node: Any, handler: GetCoreSchemaHandler) -> None:
    """Relax a strict core schema in place, at all depths: TOML's lists are accepted for tuples,
    words for members of enums and for integer keys, and whole numbers stay whole."""
    if isinstance(node, list):
        for inner in node:
            _as_in_toml(inner, handler)
    elif isinstance(node, dict):
        kind = node.get("type")
        _relax(kind, node, handler)
        for key, inner in node.items():
            if kind != "float" and key not in ("metadata", "serialization", "default"):
                _as_in_toml(inner, handler)


def _relax(kind: object, node: Any, handler: GetCoreSchemaHandler) -> None:
    """Relax one node of a schema, in place, as `_as_in_toml` does."""
    match kind:
        case "definition-ref":
            found: Any = handler.resolve_ref_schema(node)
            found |= {"strict": False} if found["type"] == "enum" else {}
        case "tuple" | "enum":
            node["strict"] = False
        case "dict" if node["keys_schema"]["type"] == "int":
            node["keys_schema"]["strict"] = False
        case "float":
            inner = dict(node)
            node.clear()
            node |= core.no_info_wrap_validator_function(_whole, inner)


def _whole(value: Any, handler: core.ValidatorFunctionWrapHandler) -> Any:
    """Return a number as pydantic reads it by `handler`, but keep a whole number up to MOST_WHOLE
    as it is."""
    found = handler(value)
    return value if type(value) is int and abs(value) <= MOST_WHOLE else found


# --- what classes say of their attributes ---------------------------------------------------------


def attribute_docs(kind: type) -> dict[str, str]:
    """Map each attribute of a class, or of its base classes, that has a docstring to this on one
    line; the class's own docstring replaces that of a base class."""
    classes = [each for each in reversed(kind.__mro__) if each.__module__ != "builtins"]
    return {name: text for each in classes for name, text in _own_docs(each)}


def one_line(text: str) -> str:
    """Return a docstring's words on one line."""
    return " ".join(text.split())


def _own_docs(kind: type) -> Iterator[tuple[str, str]]:
    """Yield (attribute, docstring on one line) for each attribute that has a docstring in the
    class's own source."""
    # A class made at run time has no source, and so no such docstrings.
    definition = _classes(kind.__module__).get(kind.__qualname__.rpartition(".")[2])
    for statement, following in pairwise(definition.body if definition else ()):
        match statement, following:
            case (
                ast.AnnAssign(target=ast.Name(name)) | ast.Assign(targets=[ast.Name(name)]),
                ast.Expr(ast.Constant(str(text))),
            ):
                yield name, one_line(text)


@cache  # to take a module apart takes 10 ms, and a listing of all keys asks for a hundred classes
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """Return the syntax trees of a module's classes, by name; empty where it has no source."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):
        return {}
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def members_of(kind: Any) -> list[Any]:
    """Return the members of a union without None; any other type alone in a list."""
    if get_origin(kind) not in (Union, UnionType):
        return [kind]
    return [member for member in get_args(kind) if member is not NoneType]
