"""The real work of a job's run: its processes compute, exchange messages, and save and restore
checkpoints."""

from __future__ import annotations

import asyncio
from collections import ChainMap
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from attrs import define, field

from actors.events import TransferKind, TransferStarted
from actors.protection.buddies import buddies, groups
from policies.availability import WorkerState
from sims.history.reader import History, Run
from sims.live.carrier import Carrier, LiveError
from sims.live.holder import Peer, State, States, Work
from sims.live.processes import Gone, Processes
from sims.scenario.live import LiveSection

T = TypeVar("T")
CHUNK = 0.05
"""Seconds of a channel's bandwidth that one remote call carries."""
ORDER = {
    TransferKind.PROGRAM: 0,
    TransferKind.DATA: 1,
    TransferKind.IMAGE: 2,
    TransferKind.SAVE: 2,
}
"""Maps messages to the places of their rates in `live.rates`."""


@define(eq=False)
class Lineage:
    """The workers on which the runs of a job follow each other, each at its place among them, and
    the checkpoints that they keep in memory: each its own states and those of its buddies."""

    places: list[int]
    """Number of the worker at each place."""
    name: str = ""
    """Name of the last complete checkpoint; empty if there is none."""
    done: float = 0
    """Work done in that checkpoint."""
    taken: str = ""
    """Name of the checkpoint that is being taken."""
    names: int = 0
    """Number of checkpoints begun so far, which makes their names unique."""

    def buddies(self, worker: int) -> list[int]:
        """Return the workers that keep a copy of the states of `worker`, one of this lineage's, in
        the order of their places."""
        rings, place = groups(range(len(self.places))), self.places.index(worker)
        return [self.places[it] for it in sorted(buddies(rings, place))]


@define(eq=False)
class RunContext:
    """One run of a job in real processes, and where its states are.

    A job's work consists of chains: sequences of computing steps, each of which begins from the
    state that the one before has left. The run's processes divide the chains among themselves.
    """

    run: Run
    name: str
    work: Work
    shares: dict[int, list[int]]
    """Maps each member, a worker's number, to the chains that it computes."""
    lineage: Lineage
    label: str
    """Label of the data from which the run begins."""
    program: str = ""
    """Label of the program without which the run cannot compute; empty if it needs none."""
    restores: bool = False
    """Whether the run continues from its lineage's checkpoint and has not loaded that yet."""
    in_memory: bool = False
    """Whether members may keep that checkpoint in memory."""
    origin: States | Future[States] | None = None
    """States from which the run continues, unless its members keep them; None: there are none."""
    latest: dict[int, State] = field(factory=dict)
    """Last state of each chain that a member has reported."""
    sent: dict[int, State] = field(factory=dict)
    """Received states of the checkpoint that is being sent to the master."""
    saved: States | None = None
    """States of the last checkpoint that the master keeps, of this run or of those before it on
    the same workers; None: it keeps none."""
    frozen: str = ""
    """Name under which each member keeps the states that are saved while the run computes on; empty
    if it stands still meanwhile."""
    freezing: Future[Any] | None = None
    """Completes when all members keep them, before which none of them computes on."""


@define(eq=False)
class Activities:
    """The real work that timer entries of the simulation stand for, as coroutines.

    A method returns when the work is complete; the carrier then hands its entry back to the
    simulation. Cancelling `compute` also halts the computation on all members.
    """

    processes: Processes
    name: str
    """Prefix that sets this run's labels apart from those of other runs on the same processes."""
    settings: LiveSection
    keep: Callable[[str, State], Coroutine[Any, Any, None]] | None = None
    """Keeps a state of a job's chain that a checkpoint saves at the master, or that ends its work;
    the checkpoint is complete once it has. None: only this process does."""
    carrier: Carrier = field(init=False)
    history: History = field(init=False, factory=History)
    tasks: dict[str, int] = field(init=False, factory=dict)
    """Maps each iterative job to its number of tasks per iteration."""
    _orders: int = field(init=False, default=0)
    """Number of the last instruction. Even numbers start computing; the odd one after each halts
    it, so that a halt which overtakes its instruction still wins."""

    async def compute(self, context: RunContext, part: float, due: float) -> None:
        """Have the members' processes compute their chains of steps up to the fraction `part` of
        the run's work, from 0 to 1, by the time `due` of the simulation's clock, and return once
        all of them have answered.

        A run that continues from a checkpoint in members' memory loads it first. A cancelled call
        halts the processes.
        """
        if context.restores:
            await self.recover(context)
        if context.freezing is not None:
            await _finished(context.freezing)
        self._orders += 2
        order, target = self._orders, context.work.at(part)
        whole = target == context.work.at(1)

        async def one(worker: int, chains: Sequence[int]) -> None:
            if missing := await self._missing_states(context, worker):
                await self._give(worker, context.name, missing)
            about = context.name, order, chains, target, self.carrier.seconds(due)
            labels = context.label, context.program
            work = self.processes.call(worker, "compute", *about, *labels, whole)
            ends = await self.processes.heard(worker, context.work.job, context.name, work)
            context.latest.update(ends)

        try:
            await asyncio.gather(*(one(*share) for share in context.shares.items()))
            if whole:
                await self._keep_all(context.work.job, context.latest)
        except asyncio.CancelledError:
            # Members go on until they receive a halt: cancelling ends only this side's waiting.
            for worker in context.shares:
                self.carrier.aside(self._halt(context, worker, order + 1))
            raise

    async def _halt(self, context: RunContext, worker: int, order: int) -> None:
        context.latest.update(await self.processes.call(worker, "halt", context.name, order))

    async def _missing_states(self, context: RunContext, worker: int) -> States:
        """Return the states at the beginning of the run of those chains (sequences of computing
        steps) that this member has to compute and of which its process has received none."""
        await self.processes.present(worker)
        origin, held = context.origin, self.holds(worker, context.name)
        if origin is None and not held:
            held = self.holds(worker, context.label)
        if isinstance(origin, Future):
            origin = await _finished(origin)
        states = context.work.begins if origin is None else origin
        return {chain: states[chain] for chain in context.shares[worker] if chain not in held}

    def holds(self, worker: int, label: str) -> set[int]:
        """Return the numbers of the chains (sequences of computing steps) of which this worker's
        present process holds something: their data, if `label` names data, or their states, if it
        names a run.

        The set is the record itself: callers add the chains whose states they send.
        """
        return self.processes.seats[worker].held[label]

    async def _load(self, context: RunContext, worker: int) -> None:
        """Send a member the states at the beginning of the run that its process lacks."""
        await self._give(worker, context.name, await self._missing_states(context, worker))

    async def _give(self, worker: int, label: str, states: States) -> None:
        """Send a process the states of a run, or the data of a job, that `label` names; a program
        has no states."""
        held = self.holds(worker, label)  # before the call, in which the process may die
        await self.processes.call(worker, "load", label, states)
        held.update(states)

    async def snapshot(self, context: RunContext) -> States:
        """Return the present states of all chains (sequences of computing steps) of a run that goes
        on meanwhile. A clone of the run begins from them.

        The process of a reclaimed worker is stopped and cannot answer: its chains are as they were
        when it stopped.
        """
        there = [it for it in context.shares if not self.is_reclaimed(it)]
        context.latest |= await self._collect(there, context.name)
        return {**context.work.begins, **context.latest}

    # --- checkpoints --------------------------------------------------------------------------

    async def share(self, context: RunContext) -> None:
        """Take a checkpoint in memory: each member's states are kept in its own process and in
        those of its buddies."""
        lineage = self._begin(context)
        source = await self._source(context)
        await asyncio.gather(*(self._keep(lineage, source, it) for it in lineage.places))

    def _begin(self, context: RunContext) -> Lineage:
        """Begin a checkpoint in members' memory, under a name of its own; return the run's lineage,
        which records it.

        What members keep of a checkpoint that was interrupted is dropped.
        """
        lineage = context.lineage
        if lineage.taken != lineage.name:  # one that was interrupted
            self.drop(lineage.places, "", [lineage.taken])
        lineage.names += 1
        lineage.taken = f"{context.name}#{lineage.names}"
        return lineage

    def drop(self, workers: Iterable[int], run: str, names: Sequence[str]) -> None:
        """Have workers forget the states of the run of this name, and the checkpoints that they
        keep under `names`; do not wait for that."""
        self.carrier.aside(self._call_each(workers, "forget", run, names))

    async def _source(self, context: RunContext) -> str:
        """Return the name under which members know the states that a checkpoint saves.

        That is the name of the run, or, where the run computes on meanwhile, the name of the copy
        that members made of their states as the checkpoint began.
        """
        if context.freezing is None:
            return context.name
        await _finished(context.freezing)
        return context.frozen

    async def _keep(self, lineage: Lineage, source: str, worker: int) -> None:
        """Have a member keep the states that it has under the name `source` for the checkpoint that
        is being taken, and send them to its buddies.

        Raises Gone if a buddy's process has died.
        """
        if not await self.processes.call(
            worker, "share", source, lineage.taken, await self._peers(lineage, worker)
        ):
            raise Gone(worker)

    async def _peers(self, lineage: Lineage, worker: int) -> list[Peer]:
        return [await self.processes.peer(it) for it in lineage.buddies(worker)]

    async def recover(self, context: RunContext) -> None:
        """Load the saved states into all members.

        Where members keep checkpoints in memory, each first asks its own process and its buddies
        for its states, then gets them from the master; afterwards it sends them to its buddies
        again. Raises LiveError where no process and no master has them.
        """
        if not context.restores:
            for worker in context.shares:
                await self._load(context, worker)
            return
        former, lineage = context.lineage.name, self._begin(context)

        async def one(worker: int) -> None:
            held, chains = self.holds(worker, context.name), context.shares[worker]
            if not held and context.in_memory:
                peers = await self._peers(lineage, worker)
                if await self.processes.call(
                    worker, "restore", context.name, former, chains, peers
                ):
                    held.update(chains)
            if not held:
                if context.origin is None:
                    raise LiveError(f"{former}: no process keeps the states of worker {worker}")
                await self._load(context, worker)
            await self._keep(lineage, context.name, worker)

        await asyncio.gather(*map(one, lineage.places))
        self.drop(lineage.places, "", [former])
        lineage.name, context.restores = lineage.taken, False

    async def save(self, context: RunContext) -> None:
        """Collect the states of all members at the master at once, as their checkpoint.

        This is for platforms without a link; with one, messages carry a checkpoint.
        """
        context.sent = await self._collect(context.shares, await self._source(context))
        await self._keep_all(context.work.job, context.sent)

    async def _keep_all(self, job: str, states: States) -> None:
        if self.keep is not None:
            await asyncio.gather(*(self.keep(job, it) for it in states.values()))

    async def verify(self, context: RunContext) -> None:
        """Check that each member still has all steps that it has reported; raise LiveError if one
        has lost some."""
        for worker, chains in context.shares.items():
            states = await self.processes.call(worker, "states", context.name)
            behind = [it for it in chains if states[it][0] < context.latest[it][0]]
            if behind:
                raise LiveError(f"{context.name}: worker {worker} has lost steps of {behind}")

    # --- messages -----------------------------------------------------------------------------

    async def transfer(self, event: TransferStarted, context: RunContext, due: float) -> None:
        """Send what is left of a message at the channel's bandwidth, up to the time `due` of the
        simulation's clock; its receiver has the contents then.

        The contents are the program, data, or states from the master (an image), or the states of a
        member that the master keeps (a save).
        """
        await self._pass_bytes(event, due)
        worker, label = event.worker, context.label
        match event.kind:
            case TransferKind.SAVE:
                source = await self._source(context)
                context.sent.update(await self.processes.call(worker, "states", source))
            case TransferKind.IMAGE:
                await self._load(context, worker)
            case TransferKind.PROGRAM:
                await self._give(worker, context.program, {})
            case TransferKind.DATA:
                held, chains = self.holds(worker, label), context.shares[worker]
                if event.job in self.tasks:  # one unit of data serves one task, hence one chain
                    chains = [it for it in chains if it not in held][:1]
                begins = context.work.begins
                await self._give(worker, label, {chain: begins[chain] for chain in chains})

    async def _pass_bytes(self, event: TransferStarted, due: float) -> None:
        """Send the bytes of a message, without its contents, in chunks that are evenly spread over
        the time that is left until `due`."""
        about, worker = self.settings, event.worker
        rate = about.rates[ORDER[event.kind]] if about.rates else about.bandwidth
        whole = event.left * about.scale * rate
        chunks = max(1, round(whole / (about.bandwidth * CHUNK)))
        size = round(whole * 1e6 / chunks)
        for left in range(chunks - 1, -1, -1):
            if event.kind is TransferKind.SAVE:
                await self.processes.call(worker, "send", size)
            else:
                await self.processes.call(worker, "receive", bytes(size))
            await asyncio.sleep(self.carrier.seconds(due - left * event.left / chunks))

    # --- work that no entry waits for -------------------------------------------------------------

    async def stop(self, worker: int, contexts: Iterable[RunContext]) -> None:
        """Stop the process of a worker that is RECLAIMED now, or continue that of any other worker.

        A stopped process cannot answer, so the states that it has in the runs of `contexts` are
        collected first. If the simulation is over by then, the process is the next one's: nothing
        would continue it.
        """
        self._orders += 2
        for context in contexts:
            await self._halt(context, worker, self._orders - 1)
        if self.carrier.error is None:
            await self.processes.stop(worker, self.is_reclaimed(worker))

    def is_reclaimed(self, worker: int) -> bool:
        """Return whether the worker is RECLAIMED now."""
        known = self.history.workers.get(worker)
        return known is not None and known.state is WorkerState.RECLAIMED

    async def _collect(self, workers: Iterable[int], name: str) -> dict[int, State]:
        """Return the states of chains that these workers' processes have under a name, that of a
        run or of a checkpoint."""
        return dict(ChainMap(*await self._call_each(workers, "states", name)))

    async def _call_each(self, workers: Iterable[int], method: str, *arguments: Any) -> list[Any]:
        return await asyncio.gather(
            *(self.processes.call(it, method, *arguments) for it in workers)
        )


async def _finished(work: Future[T]) -> T:
    """Wait for work that others wait for, too: cancelling one waiter does not cancel the work."""
    return await asyncio.shield(asyncio.wrap_future(work))
