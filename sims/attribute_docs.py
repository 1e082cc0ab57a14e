"""What classes say of their attributes: their types, and the strings below them in the source."""

from __future__ import annotations

import ast
import enum
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin


def attribute_docs(kind: type) -> dict[str, str]:
    """Attribute -> its docstring on one line; those of base classes too, where not said anew."""
    classes = [each for each in reversed(kind.__mro__) if each.__module__ != "builtins"]
    return {name: text for each in classes for name, text in _own(each)}


def one_line(text: str) -> str:
    """A docstring's words on one line."""
    return " ".join(text.split())


def _own(kind: type) -> Iterator[tuple[str, str]]:
    # One made at run time is in no source: nothing is written below its attributes.
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
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):
        return {}
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def is_enum(kind: Any) -> bool:
    """Whether a value is one of an enum's."""
    return isinstance(kind, type) and issubclass(kind, enum.Enum)


def members_of(kind: Any) -> list[Any]:
    """What a value can be: a union's members but None."""
    if get_origin(kind) not in (Union, UnionType):
        return [kind]
    return [member for member in get_args(kind) if member is not NoneType]
