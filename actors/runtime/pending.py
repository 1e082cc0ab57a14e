"""Says where in the code an unfinished asyncio task waits, and what it awaits there."""

from __future__ import annotations

import asyncio
import gc
import inspect
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

SHIELDING = "shield.<locals>._outer_done_callback"
"""Name of the function that a future of `shield` calls when it has ended."""
SHOWN = 4
"""Number of what `gather` waits for that is named."""


class Driver:
    """Base class of what runs a coroutine of its own, step by step, on behalf of a task."""

    __slots__ = ("coroutine",)
    coroutine: Coroutine[Any, Any, None]


def waits_of(task: asyncio.Task[Any]) -> str:
    """Return the function, file and line of the program's own code in which the task waits, and
    what it awaits: a function of asyncio, a message, another task, or a future.

    A task of a function of asyncio alone, as `gather` makes them, waits in that function.
    """
    frames = list(_frames(task.get_coro()))
    if not frames:
        return "its first step"
    own = [it for it in frames if not _of_library(it)]
    if not own and _package(frames[0]) == "asyncio":
        return _short(frames[0])
    place = own[-1] if own else frames[0]
    code = place.f_code
    where = f"{code.co_name} ({Path(code.co_filename).name}, line {place.f_lineno})"
    awaited = _awaited(task, frames[1 + frames.index(place) :])
    return f"{where} for {awaited}"


def _frames(coroutine: Any) -> Iterator[FrameType]:
    """Yield the frames of a suspended coroutine, and of the coroutines and generators that it
    awaits, the outermost first."""
    while coroutine is not None:
        frame = _first_of(coroutine, "cr_frame", "gi_frame", "ag_frame")
        if frame is None:
            # A step of an `async for` hides the generator, which only the garbage collector knows.
            held = gc.get_referents(coroutine)
            coroutine = next((it for it in held if inspect.isasyncgen(it)), None)
            continue
        yield frame
        inner = _first_of(coroutine, "cr_await", "gi_yieldfrom", "ag_await")
        driver = frame.f_locals.get("self")
        coroutine = driver.coroutine if not inner and isinstance(driver, Driver) else inner


def _first_of(it: Any, *names: str) -> Any:
    """Return the first of these attributes of an object that it has, and that is not None."""
    return next((found for name in names if (found := getattr(it, name, None)) is not None), None)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def _of_library(frame: FrameType) -> bool:
    return _package(frame) in LIBRARIES


def _short(frame: FrameType) -> str:
    """Return the name of a frame's function, of a function within another that one's."""
    return frame.f_code.co_qualname.partition(".<locals>")[0]


def _awaited(task: asyncio.Task[Any], inner: Sequence[FrameType]) -> str:
    """Return what a task awaits, of whose frames `inner` are those of libraries."""
    waiter = getattr(task, "_fut_waiter", None)
    if isinstance(waiter, asyncio.Task):
        return _named(waiter)
    names = [_short(it) for it in inner]
    # The functions of base classes and of `async with` say less than those that they call.
    public = [name for name in names if name in INSTEAD or "_" not in (name[0], name[-1])]
    return INSTEAD.get(public[0], public[0]) if public else _named(waiter)


def _named(waiter: Any) -> str:
    """Return a future in words: a task by its name, and what `gather` and `shield` return with
    those of its tasks and futures that have not ended."""
    if isinstance(waiter, asyncio.Task):
        return f"task {waiter.get_name()}"
    children = getattr(waiter, "_children", None)
    if children is not None:
        left = list(dict.fromkeys(_named(it) for it in children if not it.done()))
        more = f" and {len(left) - SHOWN} more" if len(left) > SHOWN else ""
        return f"gather of {', '.join(left[:SHOWN])}{more}"
    callbacks = [it for it, _ in getattr(waiter, "_callbacks", None) or ()]
    shields = any(getattr(it, "__qualname__", "") == SHIELDING for it in callbacks)
    return "shield" if shields else "a future"
