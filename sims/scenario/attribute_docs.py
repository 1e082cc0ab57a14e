"""What classes say of their attributes: the strings below them in the source."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from textwrap import dedent


def attribute_docs(kind: type) -> dict[str, str]:
    """Attribute -> its docstring on one line; those of base classes too, where not said anew."""
    classes = [each for each in reversed(kind.__mro__) if each.__module__ != "builtins"]
    return {name: text for each in classes for name, text in _own(each)}


def one_line(text: str) -> str:
    """A docstring's words on one line."""
    return " ".join(text.split())


@cache
def _own(kind: type) -> tuple[tuple[str, str], ...]:
    # To read a class's source takes 4 ms, and a listing of all keys asks a thousand times.
    return tuple(_read(kind))


def _read(kind: type) -> Iterator[tuple[str, str]]:
    try:
        [definition] = ast.parse(dedent(inspect.getsource(kind))).body
    except (OSError, TypeError):  # made at run time: nothing is written below its attributes
        return
    assert isinstance(definition, ast.ClassDef)
    for statement, following in pairwise(definition.body):
        match statement, following:
            case (
                ast.AnnAssign(target=ast.Name(name)) | ast.Assign(targets=[ast.Name(name)]),
                ast.Expr(ast.Constant(str(text))),
            ):
                yield name, one_line(text)
