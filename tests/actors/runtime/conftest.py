"""Async tests of this folder run on the loop that their mark names: ours or the standard."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping

import pytest

from actors.runtime import System, VirtualTimeLoop
from tests.actors.runtime.worlds import Diary, Doer


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loops that `@pytest.mark.asyncio(loop_factories=[...])` can name here."""
    return {"virtual": VirtualTimeLoop, "standard": asyncio.SelectorEventLoop}


@pytest.fixture(params=[VirtualTimeLoop, asyncio.SelectorEventLoop], ids=["virtual", "standard"])
def any_loop(request: pytest.FixtureRequest) -> Iterator[asyncio.AbstractEventLoop]:
    """The virtual-time loop and the standard one: what holds for both is asyncio's own promise."""
    loop: asyncio.AbstractEventLoop = request.param()
    yield loop
    loop.close()


@pytest.fixture
def loop() -> Iterator[VirtualTimeLoop]:
    """A virtual-time loop, closed after the test."""
    loop = VirtualTimeLoop()
    yield loop
    loop.close()


@pytest.fixture
def system() -> Iterator[System]:
    """A system of actors, whose loop is closed after the test even where it never ran."""
    system = System()
    yield system
    system.loop.close()


@pytest.fixture
def diary(system: System) -> Diary:
    """An actor that writes down what it is told."""
    return system.spawn(Diary("diary"))


@pytest.fixture
def doer(system: System) -> Doer:
    """An actor that does what it is told."""
    return system.spawn(Doer("doer"))
