"""Defines actors: each has state of its own, receives messages as its only input, and handles one
message at a time.

An actor's handlers are plain functions that the loop calls with one message each; nothing can
interleave with a handler. An activity that really waits (a stream of arrivals, for example) is a
coroutine that the actor starts as a task of its own.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping
from inspect import iscoroutinefunction
from itertools import chain
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    ParamSpec,
    Protocol,
    TypeVar,
    dataclass_transform,
)

import attrs
from attrs import define, field

from actors.runtime.entries import Phase, Timer
from actors.runtime.errors import IllegalTransition, UnexpectedMessage

if TYPE_CHECKING:
    from numpy.random import Generator

    from actors.runtime.draws import UnitDraws
    from actors.runtime.journal import Event, Journal
    from actors.runtime.loop import VirtualTimeLoop

Table = Mapping[type, Callable[[Any, Any, int], None]]
"""Maps a message class to the function that handles it, called with the actor, the message and the
number of the event that caused it."""

Steps = Mapping[enum.Enum, tuple[Table, Any]]
"""Maps the states that may follow one state to their handlers and to what may follow them in turn,
so that a change of state costs one look-up."""

A = TypeVar("A", bound="Actor")
C = TypeVar("C")
P = ParamSpec("P")
Method = TypeVar("Method", bound=Callable[..., None])


class Recorder(Protocol):
    """Signature of the function that records an event in the journal.

    It takes the number of the event that is the cause, the class of the new event, and the
    arguments of that class. It returns the number of the new event. If the class is one of those
    for debugging only and the journal is not at that level, no event is made, and the cause's own
    number is returned.
    """

    def __call__(
        self, cause: int, kind: Callable[P, Event], *args: P.args, **kwargs: P.kwargs
    ) -> int: ...


class Home(Protocol):
    """The part of its system that an actor may use: the loop, the journal, `origin` (the number of
    the event that is the cause of external events), and calls to start tasks, to report that an
    actor has stopped, to end the run, to get a random generator by name, or the random numbers of
    many units, to add actors, to find one by its name, and to make the queue of a mailbox."""

    loop: VirtualTimeLoop
    journal: Journal
    origin: int

    def start(self, actor: Actor, life: Coroutine[Any, Any, None]) -> None: ...
    def stopped(self, actor: Actor) -> None: ...
    def finish(self, cause: int, result: object = None) -> None: ...
    def stream(self, name: str) -> Generator: ...
    def unit_draws(self, name: str) -> UnitDraws: ...
    def spawn(self, actor: A) -> A: ...
    def find(self, name: str) -> Actor: ...
    def letters(self) -> deque[Any]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(attrs.field,))
def message(cls: type[C]) -> type[C]:
    """Turn a class with annotated fields into a message class, whose instances have slots and are
    equal only to themselves. They are frozen for the type checker alone, not at run time.

    Really frozen instances take 2.2 times as long to make (attrs 26, Python 3.11), those that weak
    references can refer to 1.3 times, and one is made for every step of every actor.
    """
    return attrs.define(cls, eq=False, weakref_slot=False)


def constants_as_arguments(
    _: type, fields: list[attrs.Attribute[Any]]
) -> list[attrs.Attribute[Any]]:
    """Return the fields of a class, changed so that each that is no argument and begins with a
    constant is an argument whose default is that constant. A class whose instances are made often
    has `define` call this, as its `field_transformer`; nobody gives such an argument.

    Otherwise attrs looks each constant up in a table, for each instance: one of 30 fields takes
    twice as long to make.
    """
    return [
        it
        if it.init or it.default is attrs.NOTHING or isinstance(it.default, attrs.Factory)  # type: ignore[arg-type]
        else it.evolve(init=True, kw_only=True)
        for it in fields
    ]


def handles(*kinds: type, during: tuple[enum.Enum, ...] = ()) -> Callable[[Method], Method]:
    """Mark a method `(self, message, cause)` as the handler of messages of these classes. `cause`
    is the number of the event that led to the message; the handler passes it on to what it records
    and sends.

    `during` names the states of the actor in which the message can come; without it, in all. In any
    other state the message raises `UnexpectedMessage`. Raises TypeError for a coroutine function,
    which nobody would await, and, as the class is defined, for two handlers of one message.
    """

    def mark(method: Method) -> Method:
        if iscoroutinefunction(method):
            what = f"{method.__qualname__} is a handler, which cannot be `async def`"
            raise TypeError(f"{what}: a CoroutineActor's `run` can wait")
        method.__handles__ = [(kind, during) for kind in kinds]  # type: ignore[attr-defined]
        return method

    return mark


class Handlers(dict[type, Callable[[Any, Any, int], None]]):
    """Maps a message class to its handler, for one class of actors (`owner` is its name) in one
    state. Looking up a class that has no handler raises UnexpectedMessage."""

    def __init__(self, owner: str, state: enum.Enum | None) -> None:
        super().__init__()
        self.where = owner if state is None else f"{owner} that is {state.name}"

    def __missing__(self, kind: type) -> Callable[[Any, Any, int], None]:
        raise UnexpectedMessage(f"a {self.where} does not expect {kind.__name__}")


class _Stopped(dict[type, Callable[[Any, Any, int], None]]):
    """Handler table of a stopped actor, by which it ignores every message."""

    def __missing__(self, kind: type) -> Callable[[Any, Any, int], None]:
        return _ignore


def _ignore(_: object, __: object, ___: int) -> None:
    """Ignore a message: a stopped actor's timers may still be under way."""


STOPPED = _Stopped()


class _StepsOfStopped(dict[enum.Enum, "tuple[Table, _StepsOfStopped]"]):
    """Maps the states that may follow the present one of a stopped actor, as `steps` has them, to
    the handlers of a stopped actor and to what may follow in turn."""

    def __init__(self, steps: Steps) -> None:
        super().__init__()
        self._steps = steps

    def __missing__(self, state: enum.Enum) -> tuple[Table, _StepsOfStopped]:
        _, following = self._steps[state]
        return STOPPED, _StepsOfStopped(following)


@define(eq=False)
class Actor:
    """Base class of everything that lives in a simulation.

    A subclass with several states names them in an enum, sets `transitions` (the whole table, state
    -> states that may follow; a state without a row is final) and `initial`, and calls `become`.
    """

    transitions: ClassVar[Mapping[Any, frozenset[Any]]] = {}
    initial: ClassVar[enum.Enum | None] = None
    _unhandled: ClassVar[type[Handlers]] = Handlers
    """Class of the tables of handlers, which says what becomes of a message without a handler."""
    _tables: ClassVar[Mapping[enum.Enum | None, Table]] = {}
    """Maps each state to the handlers of the messages that it expects."""
    _steps: ClassVar[Mapping[enum.Enum | None, Steps]] = {None: {}}
    """Maps each state to the states that may follow."""

    part_kinds: ClassVar[Mapping[type, Callable[[Any], Any]]] = {}
    """Maps classes of the actor's parts, objects within it whose methods handle some of its
    messages, to functions that return the actor's part of that class."""

    name: str
    """Name of the actor in logs and errors, unique in its system."""
    system: Home = field(init=False, repr=False)
    record: Recorder = field(init=False, repr=False)
    """Function `record(cause, Kind, *args)` that records the event `Kind(*args)` and returns its
    number, which is the cause of what follows from it.

    The event is built only where a sink wants it. The attribute is the journal's own method and not
    one of the actor's, so that a run without a log pays one call per event.
    """
    handlers: Table = field(init=False, repr=False)
    state: Any = field(init=False, default=None)
    _following: Steps = field(init=False, repr=False)
    """The states that may follow the present one."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _check_handlers(cls)
        # Tables are made once for each class, not looked up along its bases for each message.
        cls._tables = {state: _table(cls, state) for state in _states(cls)}
        steps: dict[enum.Enum | None, dict[enum.Enum, Any]] = {state: {} for state in cls._tables}
        for state, following in steps.items():
            for after in cls.transitions.get(state, ()):
                following[after] = cls._tables[after], steps[after]
        cls._steps = steps

    def __attrs_post_init__(self) -> None:
        self.state = self.initial
        self.handlers, self._following = self._tables[self.initial], self._steps[self.initial]

    # --- what an actor can do -----------------------------------------------------------------

    @property
    def now(self) -> float:
        """The current virtual time, in the scenario's unit."""
        return self.system.loop.now

    @property
    def due_by(self) -> float:
        """The latest time that still belongs to the present instant: times that differ by less than
        1e-12 of their value are one instant."""
        return self.system.loop.due_by

    def send(self, target: Actor, message: object, cause: int) -> None:
        """Deliver `message` to `target` at this instant, after all that was sent before; `cause` is
        the number of the event that leads to it."""
        # Appended to the loop's queue directly: a method of the loop would cost a call per message.
        self.system.loop._queue.append((target, message, cause))

    def after(
        self, delay: float, message: object, cause: int, phase: Phase = Phase.WORK_ENDS
    ) -> Timer:
        """Send `message` to this actor itself `delay` time units from now, in the given phase of
        that instant. `cause` is the number of the event that leads to it. Return the timer, which
        `cancel` takes."""
        loop = self.system.loop
        return loop.schedule(loop.now + delay, phase, self, message, cause)

    def at(self, time: float, message: object, cause: int, phase: Phase = Phase.WORK_ENDS) -> Timer:
        """Send `message` to this actor itself at exactly `time`, in the given phase of that
        instant. `cause` is the number of the event that leads to it. Return the timer, which
        `cancel` takes."""
        return self.system.loop.schedule(time, phase, self, message, cause)

    def later(self, message: object, cause: int, phase: Phase) -> None:
        """Send `message` to this actor itself in a later `phase` of this instant; it cannot be
        cancelled.

        Such messages are in order with the timers `at` this instant, but bypass their heap: a
        scheduler that decides by a timer makes an attempt of a rigid or moldable job take 6 to 8 %
        longer.
        """
        loop = self.system.loop
        loop._later.append((next(loop._orders[phase]), self, message, cause))

    @property
    def is_last(self) -> bool:
        """Whether nothing else is left to happen at this instant, as far as it is known yet: no
        message is under way, and no timer ends."""
        loop = self.system.loop
        heap = loop._heap
        if loop._queue or loop._later or loop._overdue:
            return False
        return not (heap and heap[0][0] <= loop.due_by)

    def then(self, message: object, cause: int, phase: Phase) -> None:
        """Do as `later` does, or handle the message at once where it is the next one anyway, as
        nothing else is left to happen at this instant before it. A handler may call this only as
        the last thing that it does.

        Most faults and repairs of a fleet are alone at their instants.
        """
        loop = self.system.loop
        heap = loop._heap  # `is_last`, inlined for speed
        if loop._queue or loop._later or loop._overdue or (heap and heap[0][0] <= loop.due_by):
            loop._later.append((next(loop._orders[phase]), self, message, cause))
        else:
            self.handlers[message.__class__](self, message, cause)

    def cancel(self, timer: Timer) -> None:
        """Cancel a delayed message; this has no effect where it has come already."""
        self.system.loop.cancel(timer)

    def become(self, state: enum.Enum) -> None:
        """Change this actor's state to `state`, and its handlers with it.

        Raises IllegalTransition, which names both states, where the table `transitions` has no such
        step.
        """
        try:
            self.handlers, self._following = self._following[state]
        except KeyError:
            why = f"{self.name} cannot go from {self.state} to {state}"
            raise IllegalTransition(why) from None
        self.state = state

    def start(self, life: Coroutine[Any, Any, None]) -> None:
        """Run the coroutine `life` as a task of this actor. If it raises an error, the whole run
        ends with ActorFailed."""
        self.system.start(self, life)

    def stop(self) -> None:
        """End this actor: its tasks are cancelled, and its timers and messages are ignored from now
        on."""
        if self.handlers is not STOPPED:
            self.silence()
            self.system.stopped(self)

    def silence(self) -> None:
        """Ignore all messages from now on, whatever state this actor goes to."""
        self.handlers, self._following = STOPPED, _StepsOfStopped(self._following)

    # --- what an actor may define ------------------------------------------------------------

    def started(self) -> None:
        """Begin the actor's life: the system calls this once, when the actor has joined it."""

    def waits_for(self) -> str | None:
        """Return what this actor still waits for, for the report on a deadlock; None if it waits
        for nothing."""
        return None


def _states(cls: type[Actor]) -> dict[enum.Enum | None, None]:
    following = chain.from_iterable(cls.transitions.values())
    return dict.fromkeys((None, cls.initial, *cls.transitions, *following))


def _marks(
    cls: Any,
) -> Iterator[tuple[type, tuple[enum.Enum, ...], Callable[[Any, Any, int], None]]]:
    # Base classes first, so that an override replaces the handler that it overrides.
    for name in dict.fromkeys(name for base in reversed(cls.__mro__) for name in vars(base)):
        method: Any = getattr(cls, name, None)  # an abstract class lacks its list of methods yet
        for kind, during in getattr(method, "__handles__", ()):
            yield kind, during, method
    for part, find in getattr(cls, "part_kinds", {}).items():
        for kind, during, method in _marks(part):
            yield kind, during, _of_part(find, method)


def _check_handlers(cls: type[Actor]) -> None:
    """Raise TypeError where two methods of a class handle one message in one state."""
    known: dict[type, list[tuple[str, frozenset[enum.Enum]]]] = {}
    for name, method in vars(cls).items():
        for kind, during in getattr(method, "__handles__", ()):
            states = frozenset(during)
            for other, others in known.setdefault(kind, []):
                if not (states and others) or states & others:
                    both = f"{other} and {name} both handle {kind.__name__}"
                    raise TypeError(f"{cls.__qualname__}: {both}: a message has one handler")
            known[kind].append((name, states))


def _of_part(
    find: Callable[[Any], Any], method: Callable[[Any, Any, int], None]
) -> Callable[[Any, Any, int], None]:
    def handle(actor: Actor, message: object, cause: int) -> None:
        method(find(actor), message, cause)

    return handle


def _table(cls: type[Actor], state: enum.Enum | None) -> Handlers:
    table = cls._unhandled(cls.__name__, state)
    for kind, during, method in _marks(cls):
        if not during or state in during:
            table[kind] = method
    return table
