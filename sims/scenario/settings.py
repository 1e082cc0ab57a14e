"""What a scenario sets beside the names in it, as its log tells it."""

from __future__ import annotations

import enum
from ast import literal_eval
from collections.abc import Iterator
from typing import Any

import attrs

from policies.queue.names import default_order


def settings(section: Any) -> tuple[str, ...]:
    """`key=value` of each key of `[policy]` not at its default; `section`: an attrs object."""
    return tuple(
        f"{name}={_plain(value)}"
        for field in attrs.fields(type(section))
        if field.name != "name" and field.kw_only  # as all that a file can say is
        for name, value in _told(field, getattr(section, field.name), section.name)
    )


def _told(field: Any, value: object, policy: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        yield from value.items()
    elif value != field.default and not (field.name == "order" and value == default_order(policy)):
        yield field.name, value


def value_of(setting: str) -> tuple[str, object]:
    """Key and value of one that a log tells, as Python writes it."""
    key, _, text = setting.partition("=")
    try:
        return key, literal_eval(text)
    except (SyntaxError, ValueError):
        return key, text


def _plain(value: object) -> object:
    return value.value if isinstance(value, enum.Enum) else value
