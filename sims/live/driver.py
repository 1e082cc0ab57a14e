"""What the world decides, told to processes: what each entry that takes real time stands for, and
what each event changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from attrs import define, field

from actors.attempts import AttemptOver
from actors.events import (
    CheckpointTaken,
    IterationCompleted,
    LinkDescribed,
    MemberReplaced,
    MessagesDescribed,
    Outcome,
    ProtectionKind,
    RunEnded,
    RunStarted,
    Stage,
    TasksDealt,
    TasksDescribed,
    TransferDropped,
    TransferEnded,
    TransferKind,
    TransferStarted,
    WorkerChanged,
)
from actors.intervals import count_in, numbers_in
from actors.messages import PartDue
from actors.protection.buddies import buddies, groups
from actors.runtime import Record, Timer
from policies.availability import WorkerState
from sims.history import History, Run
from sims.live.carrier import Carrier, LiveError
from sims.live.chains import State, States, Work
from sims.live.processes import Processes

CHUNK = 0.05
"""Seconds of a channel that one call carries."""
Deed = Coroutine[Any, Any, None]


@define(eq=False)
class Lineage:
    """Members that a job keeps from run to run, and the checkpoints that are among them."""

    places: list[int]
    """Workers, by place."""
    kept: dict[int, list[tuple[int, int]]] = field(factory=dict)
    """By place: (worker, generation) of the processes that keep its part of the last checkpoint."""
    taking: dict[int, list[tuple[int, int]]] = field(factory=dict)
    """The same of the one that is being taken."""
    name: str = ""
    """Of the last checkpoint."""
    taken: str = ""
    """Of the one that is being taken."""
    names: int = 0

    def neighbours(self, place: int) -> list[int]:
        """Places that keep a copy of this one's part."""
        rings = groups(range(len(self.places)))
        return sorted(buddies(rings, place))


@define(eq=False)
class Crew:
    """The processes of one run."""

    name: str
    work: Work
    shares: dict[int, list[int]]
    """Chains by member."""
    lineage: Lineage
    label: str
    """Of the data that it begins from."""
    program: str = ""
    restores: bool = False
    """Whether it continues from what its lineage keeps, and has not fetched that yet."""
    origin: States | Future[States] | None = None
    """Another state that it continues from; None: the beginning."""
    held: dict[tuple[int, int], set[int]] = field(factory=dict)
    """By process: chains whose state it has."""
    latest: dict[int, State] = field(factory=dict)
    """What members have told of their chains last."""
    sent: dict[int, State] = field(factory=dict)
    """What has come of the checkpoint that is being sent to the master."""


@define(eq=False)
class Driver:
    """Listens to a run's events, and makes the deeds of its entries; all but the deeds themselves
    are called by the world, at the instants of the log."""

    processes: Processes
    name: str
    """Sets this run's names apart from those of others on the same processes."""
    scale: float
    pace: float
    bandwidth: float
    """Bytes a second through a channel."""
    carrier: Carrier = field(init=False)
    history: History = field(init=False, factory=History)
    works: dict[str, Work] = field(init=False, factory=dict)
    crews: dict[tuple[str, int], Crew] = field(init=False, factory=dict)
    _tasks: dict[str, int] = field(init=False, factory=dict)
    """By job: how many an iteration has."""
    _labels: dict[str, str] = field(init=False, factory=dict)
    """By job: what its program is known by, if it has one."""
    _data: dict[tuple[int, int, str], set[int]] = field(init=False, factory=dict)
    """By process and label: chains whose data it has."""
    _passed: dict[int, int] = field(init=False, factory=dict)
    """By worker: bytes of its incomplete message that have passed."""
    _channels: int = field(init=False, default=0)
    _reclaimed: dict[int, bool] = field(init=False, factory=dict)
    _orders: int = field(init=False, default=0)
    """Even numbers are instructions to compute; the odd one after each halts it."""
    _handlers: Mapping[type, Callable[[Record, Any], None]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._handlers = {
            TasksDescribed: lambda _, it: self._tasks.update({it.job: it.tasks}),
            MessagesDescribed: self._describe,
            RunStarted: self._start,
            TasksDealt: self._deal,
            CheckpointTaken: self._commit,
            MemberReplaced: self._replace,
            RunEnded: self._end,
            IterationCompleted: lambda _, it: self.works[it.job].iterate(),
            WorkerChanged: self._turn,
            TransferDropped: self._pass,
            TransferEnded: self._pass,
            LinkDescribed: self._link,
        }

    def __call__(self, record: Record) -> None:
        """A sink of the run's events."""
        self.history.apply(record)
        handler = self._handlers.get(type(record.event))
        if handler is not None:
            handler(record, record.event)

    def _link(self, _: Record, event: LinkDescribed) -> None:
        self._channels = event.channels

    # --- what events change -------------------------------------------------------------------

    def _describe(self, _: Record, event: MessagesDescribed) -> None:
        if event.program:
            self._labels[event.job] = f"{self.name}{event.label}"

    def _start(self, _: Record, event: RunStarted) -> None:
        members, before = list(numbers_in(event.processors)), event.keeps
        work = self.works.get(event.job)
        if work is None:
            steps = max(1, round(event.work * self.scale / self.pace))
            chains = self._tasks.get(event.job) or count_in(event.processors)
            work = self.works[event.job] = Work(event.job, chains, steps)
        kept = None if before is None else self.crews[event.job, before].lineage
        lineage = kept or Lineage(members)
        shares = {
            worker: list(range(place, work.chains, len(lineage.places)))
            for place, worker in enumerate(lineage.places)
        }
        crew = Crew(
            *(f"{self.name}{event.job}/{event.run}", work, shares, lineage),
            label=f"{self.name}{event.job}:{work.iteration}",
            program=self._labels.get(event.job, ""),
        )
        self.crews[event.job, event.run] = crew
        crew.restores = bool(event.source is not None and kept and kept.name)
        if event.source is not None and not crew.restores:
            crew.origin = self._state_of(event.job, event.source)

    def _state_of(self, job: str, run: int) -> States | Future[States]:
        """Of a run that is under way as it is now, or as the master has saved it."""
        under_way = self.history.runs.get((job, run))
        if under_way is not None and under_way.end is None:
            return self.carrier.aside(self._snapshot(self.crews[job, run]))
        return self.works[job].saved[run]

    def _deal(self, _: Record, event: TasksDealt) -> None:
        crew = self.crews[event.job, event.run]
        free = dict.fromkeys(range(crew.work.chains))
        shares: dict[int, list[int]] = {}
        for worker, count in event.tasks:  # those whose data it holds already
            own = [it for it in sorted(self._holds(worker, crew.label)) if it in free][:count]
            shares[worker] = own
            for chain in own:
                del free[chain]
        left = iter(list(free))
        for worker, count in event.tasks:
            shares[worker] += [next(left) for _ in range(count - len(shares[worker]))]
        crew.shares, crew.lineage.places = shares, list(shares)

    def _commit(self, _: Record, event: CheckpointTaken) -> None:
        crew = self.crews[event.job, event.run]
        if crew.sent:
            crew.work.saved[event.run], crew.sent = crew.sent, {}
            return
        lineage = crew.lineage
        if not lineage.taking:
            raise LiveError(f"{event.job}: a live checkpoint takes time; accepted: a cost above 0")
        lineage.name, lineage.kept, lineage.taking = lineage.taken, lineage.taking, {}

    def _replace(self, _: Record, event: MemberReplaced) -> None:
        places = self.crews[event.job, event.run].lineage.places
        places[places.index(event.worker)] = event.replacement

    def _end(self, _: Record, event: RunEnded) -> None:
        crew = self.crews[event.job, event.run]
        if event.outcome is Outcome.COMPLETED:
            crew.work.results = dict(crew.latest)
        self.carrier.aside(self._forget(crew))

    def _turn(self, _: Record, event: WorkerChanged) -> None:
        worker = event.worker
        self._reclaimed[worker] = event.state is WorkerState.RECLAIMED
        if event.state is WorkerState.DOWN:
            self.processes.kill(worker)
        runs = self.history.holders(worker) if self._reclaimed[worker] else ()
        crews = [self.crews[run.key] for run in runs if run.end is None]
        self.carrier.aside(self._stop(worker, crews))

    def _pass(self, _: Record, event: TransferDropped | TransferEnded) -> None:
        self._passed.pop(event.worker, None)

    # --- what takes real time -----------------------------------------------------------------

    def deed(self, entry: Timer) -> Deed:
        """What is complete at the entry's due time."""
        due, target, message = entry[0], entry[2], entry[3]
        if isinstance(message, PartDue):
            run = self.history.runs[target.name, message.run]
            return self._part(run, self.crews[run.key], due)
        if isinstance(message, AttemptOver):
            (run,) = (it for it in self.history.runs.values() if it.job.name == target.name)
            return self._compute(self.crews[run.key], 1, due)
        passing = [it for it in self.history.workers.values() if it.transfer is not None]
        if len(passing) > self._channels:
            raise LiveError(f"{len(passing)} messages at once on {self._channels} channels")
        transfer = self.history.workers[target.index].transfer
        assert transfer is not None
        return self._transfer(transfer, due)

    def _part(self, run: Run, crew: Crew, due: float) -> Deed:
        stage, kind = run.stage, run.job.protection and run.job.protection.kind
        if stage is Stage.COMPUTING:
            done = run.done + run.rate * (due - self.history.now)
            return self._compute(crew, done / run.event.work, due)
        if stage is Stage.RECOVERING:
            return self._recover(crew)
        if stage is Stage.CHECKPOINTING:
            return self._share(crew) if kind is ProtectionKind.BUDDIES else self._save(crew)
        return self._look(crew)

    async def _compute(self, crew: Crew, part: float, due: float) -> None:
        """Every member advances its chains to this part of the work."""
        if crew.restores:
            await self._recover(crew)
        self._orders += 2
        order, target = self._orders, crew.work.at(part)

        async def one(worker: int, chains: Sequence[int]) -> None:
            given = await self._given(crew, worker)
            about = crew.name, order, chains, target, self.carrier.seconds(due)
            states = await self._call(worker, "compute", *about, given, crew.label, crew.program)
            crew.latest.update(states)

        try:
            await asyncio.gather(*(one(*share) for share in crew.shares.items()))
        except asyncio.CancelledError:
            for worker in crew.shares:
                self.carrier.aside(self._halt(crew, worker, order + 1))
            raise

    async def _halt(self, crew: Crew, worker: int, order: int) -> None:
        crew.latest.update(await self._call(worker, "halt", crew.name, order))

    async def _given(self, crew: Crew, worker: int) -> States:
        """What this member's process has not been sent of the state that the run begins from."""
        process, origin = await self._process(worker), crew.origin
        held = crew.held.get(process, set())
        if origin is None and not held:
            held = self._holds(worker, crew.label)
        states = crew.work.begins if origin is None else await _known(origin)
        return {chain: states[chain] for chain in crew.shares[worker] if chain not in held}

    def _holds(self, worker: int, label: str) -> set[int]:
        """Chains whose data this worker's process holds."""
        seat = self.processes.seats[worker]
        return self._data.setdefault((worker, seat.generation, label), set())

    async def _load(self, crew: Crew, worker: int, states: States) -> None:
        await self._call(worker, "load", crew.name, states)
        crew.held[await self._process(worker)] = set(states)

    async def _process(self, worker: int) -> tuple[int, int]:
        """The worker's present process, once there is one."""
        seat = self.processes.seats[worker]
        await seat.ready.wait()
        return worker, seat.generation

    async def _snapshot(self, crew: Crew) -> States:
        """All chains of a run as they are now; of a member that is stopped, as they were then."""
        for worker in crew.shares:
            if not self._reclaimed.get(worker):
                crew.latest.update(await self._call(worker, "states", crew.name))
        return {**crew.work.begins, **crew.latest}

    # --- checkpoints --------------------------------------------------------------------------

    async def _share(self, crew: Crew) -> None:
        """Every member's part of a checkpoint, in its own process and in its neighbours'."""
        lineage = crew.lineage
        lineage.names, lineage.taking = lineage.names + 1, {}
        lineage.taken = f"{crew.name}#{lineage.names}"
        for place, worker in enumerate(lineage.places):
            states = await self._call(worker, "states", crew.name)
            await self._keep(lineage, lineage.taken, place, states, lineage.taking)

    async def _keep(
        self,
        lineage: Lineage,
        name: str,
        place: int,
        states: States,
        kept: dict[int, list[tuple[int, int]]],
    ) -> None:
        for other in (place, *lineage.neighbours(place)):
            worker = lineage.places[other]
            await self._call(worker, "keep", f"{name}@{place}", states)
            kept.setdefault(place, []).append(await self._process(worker))

    async def _recover(self, crew: Crew) -> None:
        """Every member gets its part of the saved state again."""
        lineage = crew.lineage
        if not crew.restores:
            for worker in crew.shares:
                await self._load(crew, worker, await self._given(crew, worker))
            return
        kept: dict[int, list[tuple[int, int]]] = {}
        for place, worker in enumerate(lineage.places):
            states = await self._fetch(lineage, place)
            await self._load(crew, worker, states)
            await self._keep(lineage, lineage.name, place, states, kept)
        lineage.kept, crew.restores = kept, False

    async def _fetch(self, lineage: Lineage, place: int) -> States:
        seats = self.processes.seats
        for worker, generation in lineage.kept[place]:
            if seats[worker].generation == generation:
                states: States = await self._call(worker, "kept", f"{lineage.name}@{place}")
                return states
        raise LiveError(f"{lineage.name}: no process keeps the part of place {place}")

    async def _save(self, crew: Crew) -> None:
        """All members' states, to the master without a link."""
        sent = [await self._call(worker, "states", crew.name) for worker in crew.shares]
        crew.sent = {chain: state for states in sent for chain, state in states.items()}

    async def _look(self, crew: Crew) -> None:
        """A verification: the state is there, and as far as it should be."""
        for worker, chains in crew.shares.items():
            states = await self._call(worker, "states", crew.name)
            behind = [it for it in chains if states[it][0] < crew.latest[it][0]]
            if behind:
                raise LiveError(f"{crew.name}: worker {worker} has lost steps of {behind}")

    # --- messages -----------------------------------------------------------------------------

    async def _transfer(self, event: TransferStarted, due: float) -> None:
        await self._pass_bytes(event, due)
        await self._complete(event, self.crews[event.job, event.run])

    async def _pass_bytes(self, event: TransferStarted, due: float) -> None:
        """At the channel's bandwidth: chunk by chunk, asleep between."""
        whole = event.left * self.scale
        count = max(1, round(whole / CHUNK))
        size, worker = round(whole * self.bandwidth / count), event.worker
        for left in range(count - 1, -1, -1):
            if event.kind is TransferKind.SAVE:
                await self._call(worker, "send", size)
            else:
                first = worker not in self._passed
                await self._call(worker, "receive", bytes(size), first)
                self._passed[worker] = self._passed.get(worker, 0) + size
            await asyncio.sleep(self.carrier.seconds(due - left * event.left / count))

    async def _complete(self, event: TransferStarted, crew: Crew) -> None:
        """The last byte has passed: what the message brings is there."""
        worker, kind = event.worker, event.kind
        if kind is TransferKind.SAVE:
            crew.sent.update(await self._call(worker, "states", crew.name))
            return
        size, chains = self._passed.get(worker, 0), crew.shares[worker]
        if kind is TransferKind.PROGRAM:
            await self._call(worker, "complete", size, crew.program, None)
        elif kind is TransferKind.IMAGE:
            states = await self._given(crew, worker)
            await self._call(worker, "complete", size, crew.name, states)
            crew.held[await self._process(worker)] = set(states)
        else:
            held = self._holds(worker, crew.label)
            if event.job in self._tasks:  # a unit is a task's
                chains = [it for it in chains if it not in held][:1]
            states = {chain: crew.work.begins[chain] for chain in chains}
            await self._call(worker, "complete", size, crew.label, states)
            self._holds(worker, crew.label).update(states)

    # --- what nothing waits for ---------------------------------------------------------------

    async def _stop(self, worker: int, crews: Iterable[Crew]) -> None:
        """An owner takes a worker back, or returns it; what it has computed is noted before."""
        self._orders += 2
        for crew in crews:
            await self._halt(crew, worker, self._orders - 1)
        await self.processes.stop(worker, self._reclaimed[worker])

    async def _forget(self, crew: Crew) -> None:
        await asyncio.gather(
            *(self._call(worker, "forget", crew.name, ()) for worker in crew.shares)
        )

    async def _call(self, worker: int, method: str, *arguments: Any) -> Any:
        return await self.processes.call(worker, method, *arguments)


async def _known(origin: States | Future[States]) -> States:
    return await asyncio.wrap_future(origin) if isinstance(origin, Future) else origin
