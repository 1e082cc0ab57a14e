"""What processes do for a run of a job: compute, keep and restore checkpoints, pass messages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from itertools import count
from typing import Any

from attrs import define, field

from actors.events import TransferKind, TransferStarted
from actors.protection.buddies import buddies, groups
from sims.live.carrier import Carrier, LiveError
from sims.live.holder import State, States, Work
from sims.live.processes import Processes

CHUNK = 0.05
"""Seconds of a channel that one call carries."""
Keepers = dict[int, list[tuple[int, int]]]
"""By place: (worker, generation) of the processes that keep its part of a checkpoint."""


@define(eq=False)
class Lineage:
    """Members that a job keeps from run to run, and the checkpoints that are among them."""

    places: list[int]
    """Workers, by place."""
    kept: Keepers = field(factory=dict)
    """By place: (worker, generation) of the processes that keep its part of the last checkpoint."""
    taking: Keepers = field(factory=dict)
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
class Deeds:
    """Work of runs, each coroutine what one entry stands for."""

    processes: Processes
    name: str
    """Sets this run's names apart from those of others on the same processes."""
    scale: float
    pace: float
    bandwidth: float
    """Bytes a second through a channel."""
    carrier: Carrier = field(init=False)
    tasks: dict[str, int] = field(init=False, factory=dict)
    """By iterative job: tasks of an iteration."""
    reclaimed: dict[int, bool] = field(init=False, factory=dict)
    """By worker that has changed its state."""
    messages: dict[int, tuple[int, int]] = field(init=False, factory=dict)
    """By worker: number of its incomplete message, and bytes of it that have passed."""
    numbers: Iterator[int] = field(init=False, factory=count)
    _data: dict[tuple[int, int, str], set[int]] = field(init=False, factory=dict)
    """By process and label: chains whose data it has."""
    _orders: int = field(init=False, default=0)
    """Even numbers are instructions to compute; the odd one after each halts it."""

    async def compute(self, crew: Crew, part: float, due: float) -> None:
        """Every member advances its chains to this part of the work."""
        if crew.restores:
            await self.recover(crew)
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
            held = self.holds(worker, crew.label)
        states = crew.work.begins if origin is None else await _known(origin)
        return {chain: states[chain] for chain in crew.shares[worker] if chain not in held}

    def holds(self, worker: int, label: str) -> set[int]:
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

    async def snapshot(self, crew: Crew) -> States:
        """All chains of a run as they are now; of a member that is stopped, as they were then."""
        for worker in crew.shares:
            if not self.reclaimed.get(worker):
                crew.latest.update(await self._call(worker, "states", crew.name))
        return {**crew.work.begins, **crew.latest}

    # --- checkpoints --------------------------------------------------------------------------

    async def share(self, crew: Crew) -> None:
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
        kept: Keepers,
    ) -> None:
        for other in (place, *lineage.neighbours(place)):
            worker = lineage.places[other]
            await self._call(worker, "keep", f"{name}@{place}", states)
            kept.setdefault(place, []).append(await self._process(worker))

    async def recover(self, crew: Crew) -> None:
        """Every member gets its part of the saved state again."""
        lineage = crew.lineage
        if not crew.restores:
            for worker in crew.shares:
                await self._load(crew, worker, await self._given(crew, worker))
            return
        kept: Keepers = {}
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

    async def save(self, crew: Crew) -> None:
        """All members' states, to the master without a link."""
        sent = [await self._call(worker, "states", crew.name) for worker in crew.shares]
        crew.sent = {chain: state for states in sent for chain, state in states.items()}

    async def look(self, crew: Crew) -> None:
        """A verification: the state is there, and as far as it should be."""
        for worker, chains in crew.shares.items():
            states = await self._call(worker, "states", crew.name)
            behind = [it for it in chains if states[it][0] < crew.latest[it][0]]
            if behind:
                raise LiveError(f"{crew.name}: worker {worker} has lost steps of {behind}")

    # --- messages -----------------------------------------------------------------------------

    async def transfer(self, event: TransferStarted, crew: Crew, number: int, due: float) -> None:
        """What is left of a message, at the channel's bandwidth; then what it brings is there."""
        await self._pass_bytes(event, number, due)
        await self._complete(event, number, crew)

    async def _pass_bytes(self, event: TransferStarted, number: int, due: float) -> None:
        """Chunk by chunk, asleep between."""
        whole = event.left * self.scale
        chunks = max(1, round(whole / CHUNK))
        size, worker = round(whole * self.bandwidth / chunks), event.worker
        for left in range(chunks - 1, -1, -1):
            if event.kind is TransferKind.SAVE:
                await self._call(worker, "send", size)
            else:
                await self._call(worker, "receive", number, bytes(size))
                known, passed = self.messages.get(worker, (-1, 0))
                if known == number:
                    self.messages[worker] = number, passed + size
            await asyncio.sleep(self.carrier.seconds(due - left * event.left / chunks))

    async def _complete(self, event: TransferStarted, number: int, crew: Crew) -> None:
        worker, kind = event.worker, event.kind
        if kind is TransferKind.SAVE:
            crew.sent.update(await self._call(worker, "states", crew.name))
            return
        _, size = self.messages.get(worker, (number, 0))
        about, chains = (worker, "complete", number, size), crew.shares[worker]
        if kind is TransferKind.PROGRAM:
            await self._call(*about, crew.program, None)
        elif kind is TransferKind.IMAGE:
            states = await self._given(crew, worker)
            await self._call(*about, crew.name, states)
            crew.held[await self._process(worker)] = set(states)
        else:
            held = self.holds(worker, crew.label)
            if event.job in self.tasks:  # a unit is a task's
                chains = [it for it in chains if it not in held][:1]
            states = {chain: crew.work.begins[chain] for chain in chains}
            await self._call(*about, crew.label, states)
            self.holds(worker, crew.label).update(states)

    # --- what nothing waits for ---------------------------------------------------------------

    async def stop(self, worker: int, crews: Iterable[Crew]) -> None:
        """An owner takes a worker back, or returns it; what it has computed is noted before."""
        self._orders += 2
        for crew in crews:
            await self._halt(crew, worker, self._orders - 1)
        await self.processes.stop(worker, self.reclaimed[worker])

    async def forget(self, crew: Crew) -> None:
        await asyncio.gather(
            *(self._call(worker, "forget", crew.name, ()) for worker in crew.shares)
        )

    async def _call(self, worker: int, method: str, *arguments: Any) -> Any:
        return await self.processes.call(worker, method, *arguments)


async def _known(origin: States | Future[States]) -> States:
    return await asyncio.wrap_future(origin) if isinstance(origin, Future) else origin
