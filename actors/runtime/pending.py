"""Says where in the code an unfinished asyncio task waits, and what it awaits there."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

LIBRARIES = ("asyncio", "actors")
"""Packages whose functions are what a program awaits, rather than places where it waits."""
INSTEAD = {
    "CoroutineActor.receive": "a message",
    "TaskGroup.__aexit__": "the tasks of its TaskGroup",
}
"""Words for what a function of a library awaits, where its name says less."""


class Driver:
    """Base class of what runs a coroutine of its own, step by step, on behalf of a task."""

    __slots__ = ("coroutine",)
    coroutine: Coroutine[Any, Any, None]


def waits_of(task: asyncio.Task[Any]) -> str:
    """Return the function, file and line of the program's own code in which the task waits, and
    what it awaits: a function of asyncio, a message, or another task."""
    frames = list(_frames(task.get_coro()))
    if not frames:
        return "its first step"
    own = [it for it in frames if not _of_library(it)]
    place = own[-1] if own else frames[0]
    code = place.f_code
    where = f"{code.co_name} ({Path(code.co_filename).name}, line {place.f_lineno})"
    awaited = _awaited(task, frames[1 + frames.index(place) :])
    return f"{where} for {awaited}" if awaited else where


def _frames(coroutine: Any) -> Iterator[FrameType]:
    """Yield the frames of a suspended coroutine and of those that it awaits, the outermost
    first."""
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
        if frame is None:
            return
        yield frame
        inner = getattr(coroutine, "cr_await", None) or getattr(coroutine, "gi_yieldfrom", None)
        driver = frame.f_locals.get("self")
        coroutine = driver.coroutine if not inner and isinstance(driver, Driver) else inner


def _of_library(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__"))
    return module.partition(".")[0] in LIBRARIES


def _awaited(task: asyncio.Task[Any], inner: Sequence[FrameType]) -> str:
    """Return what a task awaits, of whose frames `inner` are those of libraries; the text is empty
    for a bare future, which has no name."""
    waiter = getattr(task, "_fut_waiter", None)
    if isinstance(waiter, asyncio.Task):
        return f"task {waiter.get_name()}"
    names = [it.f_code.co_qualname for it in inner]
    # The functions of base classes and of `async with` say less than those that they call.
    public = [name for name in names if name in INSTEAD or "_" not in (name[0], name[-1])]
    return INSTEAD.get(public[0], public[0]) if public else ""
