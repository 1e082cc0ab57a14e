"""Actors share nothing but messages: over the matrix, no handler reads or writes another actor, no
attribute of an actor is set from outside, and none holds a method of another."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import walk_packages
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import pytest
from attrs import define, field

import actors
from actors.runtime import NOTHING, Actor, ActorFailed, System, VirtualTimeLoop, handles
from actors.runtime.journal import Journal
from sims import world
from sims.examples import cells
from sims.scenario.loader import load, read
from tests.golden.regenerate import SCENARIOS
from tests.sims.kinds import of_cell

PUBLIC = frozenset(("name", "__class__"))
"""What belongs to an actor's address."""


LIMITS = (Actor, System, VirtualTimeLoop, Journal, type, ModuleType, FunctionType)
"""What belongs to no actor: other actors are found on their own."""


class Intrusion(Exception):
    """An actor looked into another one."""


@define
class Guard:
    """Knows whose handler runs, and raises where that touches another actor.

    An actor's parts (a job's runs, a scheduler's decider and pool) act for it: they run in its
    handlers. The runtime and whatever builds worlds may touch any.
    """

    acting: list[Actor] = field(factory=list)

    def handler(self, method: Callable[..., None]) -> Callable[..., None]:
        def act(actor: Actor, message: object, cause: int) -> None:
            self.acting.append(actor)
            try:
                method(actor, message, cause)
            finally:
                self.acting.pop()

        return act

    def own(self, actor: Actor, attribute: str) -> None:
        """Raise unless it is the actor itself, or the runtime as it takes it in or stops it, that
        sets the attribute."""
        frame = sys._getframe(2)
        module = frame.f_globals["__name__"]
        if frame.f_locals.get("self") is not actor and not module.startswith("actors.runtime"):
            raise Intrusion(f"{module} sets {actor.name}.{attribute}")

    def check(self, actor: Actor, attribute: str) -> None:
        if not self.acting or actor is self.acting[-1] or attribute in PUBLIC:
            return
        frame = sys._getframe(2)
        module = frame.f_globals["__name__"]
        if module.startswith("actors.runtime") or not module.startswith(("actors.", "tests.")):
            return
        if frame.f_locals.get("self") is not actor and not is_born(actor, frame):
            who = self.acting[-1].name
            raise Intrusion(f"{who} touches {actor.name}.{attribute} in {module}")


def is_born(actor: Actor, frame: FrameType | None) -> bool:
    """Whether it begins its life, in another one's handler, and its parts with it."""
    while frame is not None:
        if frame.f_code is type(actor).started.__code__ and frame.f_locals["self"] is actor:
            return True
        frame = frame.f_back
    return False


def import_all() -> None:
    """Deciders are imported where they are asked for; all kinds of actors have to be known."""
    for module in walk_packages(actors.__path__, "actors."):
        import_module(module.name)


def kinds(base: type[Actor]) -> Iterator[type[Actor]]:
    yield base
    for kind in base.__subclasses__():
        yield from kinds(kind)


@pytest.fixture
def guard(monkeypatch: pytest.MonkeyPatch) -> Guard:
    guard = Guard()

    def read(actor: Actor, attribute: str) -> Any:
        guard.check(actor, attribute)
        return object.__getattribute__(actor, attribute)

    def write(actor: Actor, attribute: str, value: object) -> None:
        guard.check(actor, attribute)
        guard.own(actor, attribute)
        object.__setattr__(actor, attribute, value)

    import_all()
    monkeypatch.setattr(Actor, "__getattribute__", read)
    monkeypatch.setattr(Actor, "__setattr__", write)
    for kind in kinds(Actor):
        for table in kind._tables.values():
            for message, method in table.items():
                monkeypatch.setitem(table, message, guard.handler(method))
    return guard


@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy")
def test_over_the_whole_matrix_no_actor_reads_or_writes_another(guard: Guard) -> None:
    for cell in cells():
        world.run(of_cell(cell))
    assert guard.acting == []


def foreign_methods(actor: Actor) -> Iterator[str]:
    """Bound methods of other actors that an actor or its parts hold."""
    seen, todo = {id(actor)}, [actor]
    while todo:
        for it in gc.get_referents(todo.pop()):
            if id(it) in seen or isinstance(it, LIMITS):
                continue
            seen.add(id(it))
            if isinstance(it, MethodType) and isinstance(it.__self__, Actor):
                if it.__self__ is not actor:
                    yield f"{actor.name} holds {it.__self__.name}.{it.__name__}"
                continue
            todo.append(it)


@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy")
def test_over_the_whole_matrix_no_actor_holds_a_method_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, run = set[str](), System.run

    def looked(system: System, contained: bool = False) -> None:
        actors = list(system.actors.values())
        found.update(it for actor in actors for it in foreign_methods(actor))
        run(system, contained)
        actors += [it for it in system.actors.values() if it not in actors]
        found.update(it for actor in actors for it in foreign_methods(actor))

    monkeypatch.setattr(System, "run", looked)
    for cell in cells():
        world.run(of_cell(cell))
    assert found == set()


ROWS = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.2, 0.1, 0.7]]
DECIDERS = {
    "enrolment": ("volatile20", "job.iterations=2", 'policy.name="P-IE"'),
    "pack": ("malleable10", "faults.mtbf=94608000", "job.synthetic.count=4"),
    "vectorised copies": ("redundant-laps", "job.stream.count=10"),
    "queue": ("batch-faults", "job.synthetic.count=10"),
}


@pytest.mark.parametrize("decider", DECIDERS)
def test_no_decider_reads_or_writes_jobs_and_workers(guard: Guard, decider: str) -> None:
    name, *overrides = DECIDERS[decider]
    world.run(load(SCENARIOS / f"{name}.toml", overrides), folder=SCENARIOS)
    assert guard.acting == []


def test_a_copy_of_a_job_that_saves_images_is_decided_on_by_what_is_reported(guard: Guard) -> None:
    pool = {"workers": 3, "availability": {"kind": "markov", "rows": ROWS}}
    table = {
        "name": "copies",
        "unit": "slot",
        "master": {"channels": 2, "program": 1, "data": 1, "image": 1},
        "platform": pool,
        "job": {"kind": "rigid", "jobs": [{"processors": 1, "time": 9}] * 3},
        "policy": {"name": "SRPT+R"},
        "protection": {"kind": "images", "period": 3},
    }
    world.run(read(table, "copies"))
    assert guard.acting == []


@define(eq=False)
class Nosy(Actor):
    """Looks into another actor, as soon as it is told."""

    other: Actor | None
    write: bool

    @handles(str)
    def look(self, message: str, cause: int) -> None:
        assert self.other is not None
        if self.write:
            self.other.state = 1
        else:
            assert self.other.state is None


def test_an_attribute_that_is_set_from_outside_is_caught(guard: Guard) -> None:
    nosy = Nosy("nosy", None, False)
    with pytest.raises(Intrusion, match=r"sets nosy\.other"):
        nosy.other = nosy


@pytest.mark.parametrize("write", [False, True])
def test_an_actor_that_looks_into_another_is_caught(guard: Guard, write: bool) -> None:
    system = System()
    nosy = system.spawn(Nosy("nosy", system.spawn(Nosy("other", None, False)), write))
    nosy.send(nosy, "look", NOTHING)
    with pytest.raises(ActorFailed, match=r"nosy touches other\.state"):
        system.run()
