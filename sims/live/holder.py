"""The contents of a worker's process: programs, data, the states that the process computes, and the
checkpoints that it keeps for its buddies. All of them are lost when the process is killed.

A process computes chains of hashes, whose ends show whether any step was lost. A job has one chain
for each processor that it asks for or for each of its tasks; the members of a run divide the chains
among themselves. The k-th step of a chain is a function of its state and of k, and each iteration's
chains begin from all results of the last one: work that is lost, done in another order or restored
from a wrong state gives another answer.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from hashlib import sha256
from types import FrameType
from typing import Any

from attrs import define, field

from sims.errors import unfit
from sims.live.deaths import note_of
from sims.live.failures import StepFailed
from sims.packing import Packed, dumps

GRACE = 30.0
"""Seconds that a process lives on after a SIGTERM: as long as Slurm waits before it kills."""
DIES_WITH_PARENT = 1
"""Value of PR_SET_PDEATHSIG, an option of prctl(2) on Linux."""


class Holder:
    """The Dask actor in each worker's process, which computes chains (sequences of steps, each from
    the state that the one before has left) and keeps their states.

    All methods are coroutines, so that they share the process's one thread: a method that waits
    lets a later halt through.
    """

    def __init__(self, advance: Packed, mortal: bool, place: str = "") -> None:
        """Begin without any states, with the function that computes a step.

        `mortal`: whether the process dies with the command that started it; `place`: name of the
        worker's place, which the processes that follow each other there share; empty: none will
        ask for the steps of this one. Raises InputError where the function needs something that
        this process lacks.
        """
        self._advance: Advance = advance.open()
        self._states: dict[str, dict[int, State]] = {}
        """Maps each run, or the label of its data, to the states of its chains; the label of a
        program, which has none, shows that the program is here."""
        self._kept: dict[str, dict[int, State]] = {}
        """Maps names of checkpoints, and of states that are being saved while their run computes
        on, to those of the states that are kept here, as pickles."""
        self._notices: asyncio.Queue[bool] = asyncio.Queue()
        """Gets True for a SIGTERM, and False when the wait for one is over."""
        self._former: Any = None
        """Handler of SIGTERM that this one has taken the place of; None while it has not."""
        self._orders: dict[str, int] = {}
        """Maps each run to the number of its last instruction."""
        self._note = note_of(place)
        if mortal:
            from distributed import get_worker

            _die_with_parent()
            get_worker().http_server.stop()

    async def do(self, method: str, *arguments: Any) -> tuple[Any, float]:
        """Call the method of this name, and return (its result, seconds for which this process was
        busy with it)."""
        begun = time.monotonic()
        result = await getattr(self, method)(*arguments)
        return result, time.monotonic() - begun

    async def pid(self) -> int:
        """Return the id of the actor's process."""
        return os.getpid()

    async def former(self) -> int | None:
        """Return the number of the step within which the former process of this place died; None
        where it was within none, or where this is the first process here."""
        return self._note.former if self._note else None

    async def told_to_end(self) -> bool:
        """Wait for a SIGTERM or for `dismiss`, and return whether a SIGTERM came first.

        Batch systems send one some time before they kill. The process has time for a last
        checkpoint, and is killed after GRACE seconds at the latest.
        """
        loop = asyncio.get_running_loop()

        def told(number: int, _: FrameType | None) -> None:
            signal.signal(number, self._former)
            # Neither the loop nor its timers need be alive when the scheduler has ended as well: a
            # process whose end depended on them has outlived its SIGTERM.
            end = threading.Timer(GRACE, os.kill, (os.getpid(), signal.SIGKILL))
            end.daemon = True
            end.start()
            try:
                loop.call_soon_threadsafe(self._notices.put_nowait, True)
            except RuntimeError:  # the loop is closed: nothing is left to save
                os.kill(os.getpid(), number)

        former = signal.getsignal(signal.SIGTERM)
        try:
            signal.signal(signal.SIGTERM, told)
        except ValueError:  # the worker is a thread of some process
            return False
        self._former = former
        return await self._notices.get()

    async def dismiss(self) -> None:
        """Let a SIGTERM end this process at once again, because no task waits for the signal any
        more."""
        if self._former is not None:
            signal.signal(signal.SIGTERM, self._former)
        self._notices.put_nowait(False)
        if self._note:
            self._note.remove()

    async def rest(self, seconds: float) -> None:
        """Answer after so many seconds, for measurements of how fast a death is noticed."""
        await asyncio.sleep(seconds)

    # --- messages -----------------------------------------------------------------------------

    async def receive(self, chunk: bytes) -> None:
        """Receive a chunk of a message."""

    async def send(self, size: int) -> bytes:
        """Return `size` bytes, a part of a checkpoint that is sent to the master."""
        return bytes(size)

    # --- states -------------------------------------------------------------------------------

    async def load(self, label: str, states: States) -> None:
        """Add these states, pickled, to those of the run or data `label`, or note that the program
        `label` is here, which has no states."""
        self._states.setdefault(label, {}).update(opened(states))

    async def states(self, name: str) -> States:
        """Return the states that the run of this name has computed in this process so far, or those
        that are kept here under this name."""
        kept = self._kept.get(name)
        return sealed(self._states.get(name, {})) if kept is None else kept

    async def reached(self, name: str) -> int:
        """Return the number of steps that each chain of the run of this name has done in this
        process at least; 0 for a run that is not known here."""
        return min((done for done, _ in self._states.get(name, {}).values()), default=0)

    # --- checkpoints in memory ----------------------------------------------------------------

    async def keep(self, name: str, states: States) -> None:
        """Add these states to those that are kept here under this name."""
        self._kept.setdefault(name, {}).update(states)

    async def kept(self, name: str, chains: Sequence[int]) -> States:
        """Return the states of these chains, by their numbers, from those that are kept under this
        name.

        Raises KeyError unless all of them are.
        """
        return {chain: self._kept[name][chain] for chain in chains}

    async def share(self, source: str, name: str, others: Sequence[Peer]) -> bool:
        """Keep a copy of the states that have the name `source`, that of a run or of kept states,
        under `name`, here and in the processes `others`.

        Returns False if one of these has died meanwhile, else True.
        """
        states = await self.states(source)
        await self.keep(name, states)

        async def sent(other: Peer) -> bool:
            with suppress(OSError):
                await _ask(other, "keep", name, states)
                return True
            return False

        return all(await asyncio.gather(*map(sent, others)))

    async def restore(
        self, run: str, name: str, chains: Sequence[int], others: Sequence[Peer]
    ) -> bool:
        """Load the states of these chains that are kept under `name`, here or else by one of the
        processes `others`, as the states of the run `run`.

        Returns whether one of these keeps the states of all of the chains.
        """
        for peer in (None, *others):
            with suppress(KeyError, OSError):
                about = name, chains
                states = await (_ask(peer, "kept", *about) if peer else self.kept(*about))
                await self.load(run, states)
                return True
        return False

    async def forget(self, run: str, names: Sequence[str]) -> None:
        """Drop what is known of a run, and the states that are kept under these names."""
        self._states.pop(run, None)
        self._orders.pop(run, None)
        for name in names:
            self._kept.pop(name, None)

    # --- computing ----------------------------------------------------------------------------

    async def compute(
        self,
        run: str,
        order: int,
        chains: Sequence[int],
        target: int,
        seconds: float,
        label: str,
        program: str,
        whole: bool,
    ) -> States:
        """Advance the chains of a run to `target` steps, spread over `seconds`, and return their
        states, or their numbers of steps only unless `whole`.

        Instructions for a run are numbered: `order` is this one's number, one with a larger number
        ends it early, and nothing is computed if such a one has come before. Chains of which the
        run has no state here begin from the data `label`. Raises AssertionError if the process
        lacks `program`, the label of the run's program (empty: it needs none).
        """
        if program and program not in self._states:
            raise AssertionError(f"{run} computes without its program")
        states = self._states.setdefault(run, {})
        for chain in chains:
            if chain not in states:
                states[chain] = self._states[label][chain]
        if order > self._orders.get(run, 0):
            self._orders[run] = order
            await self._advance_all(run, order, chains, target, seconds)
        own = {chain: states[chain] for chain in chains}
        return sealed(own) if whole else {it: (done, b"") for it, (done, _) in own.items()}

    async def _advance_all(
        self, run: str, order: int, chains: Sequence[int], target: int, seconds: float
    ) -> None:
        # The sleeps spread the steps over the time, as if each took its nominal share of it.
        if self._note:
            self._note.clear()
        ends, states = time.monotonic() + seconds, self._states[run]
        first = min((states[chain][0] for chain in chains), default=target)
        for step in range(first, target + 1):
            await asyncio.sleep(max(0.0, (ends - time.monotonic()) / max(1, target - step)))
            if self._orders[run] != order:
                break
            for chain in chains:
                done, state = states[chain]
                if done <= step < target:
                    states[chain] = done + 1, self._next(state, done)

    def _next(self, state: Any, step: int) -> Any:
        """Return the state after the step of this number. Raises StepFailed where the function
        raises any error, even that of `sys.exit`."""
        if self._note:
            self._note.write(step)
        try:
            return self._advance(state, step)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failed = StepFailed.of(error, step)
        raise failed  # outside of the handler: the error travels by itself, not as a context

    async def halt(self, run: str, order: int) -> States:
        """Stop computing for this run, unless an instruction later than `order` asks for it, and
        return the states that the run has reached in this process."""
        self._orders[run] = max(order, self._orders.get(run, 0))
        return await self.states(run)


async def _ask(peer: Peer, method: str, *arguments: Any) -> Any:
    """Call a method of the holder in another process, without a detour by the command.

    A Dask actor's proxy would do, but opens a client of the cluster in each process that uses one.
    Raises OSError if the process has died.
    """
    from distributed import get_worker
    from distributed.protocol.serialize import to_serialize

    address, key = peer
    values = [to_serialize(it) for it in arguments]  # type: ignore[no-untyped-call]
    about = {"function": method, "actor": key, "args": values, "kwargs": {}}
    answer = await get_worker().rpc(address).actor_execute(**about)
    if answer["status"] != "OK":
        raise answer["exception"]
    return answer["result"]


def _die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends, even while it is stopped and could
    not notice that itself.

    The parent is the fork server, which ends once no process holds its pipe open: a stopped process
    that had inherited the pipe's end would keep the fork server, and itself, alive for ever.
    """
    import ctypes
    from multiprocessing import forkserver

    server = getattr(forkserver, "_forkserver", None)
    held = getattr(server, "_forkserver_alive_fd", None)
    if server is not None and held is not None:
        os.close(held)
        server._forkserver_alive_fd = None
    try:
        ctypes.CDLL(None).prctl(DIES_WITH_PARENT, int(signal.SIGKILL))
    except (AttributeError, OSError):
        return  # not Linux: a stopped process lives until it is continued


# --- chains of hashes ----------------------------------------------------------------------------

Peer = tuple[str, str]
"""Address of a process, and the key of its holder among Dask's actors."""
State = tuple[int, Any]
"""State of a chain: the number of steps done, and what they led to: a hash, or whatever a function
of the user's returns. On its way, and where it is kept, it is a pickle."""
States = Mapping[int, State]
"""Maps each chain to its state."""
Advance = Callable[[Any, int], Any]
"""Function from (state, number of the step) to the next state."""


def sealed(states: States) -> States:
    """Return the states with the result of each chain's steps as a pickle, which only processes
    that compute with it open. Raises InputError, naming the step, for a state that cannot be
    pickled."""
    return {chain: (done, pickled(state, done)) for chain, (done, state) in states.items()}


def pickled(state: object, done: int) -> bytes:
    """Return the pickle of a state, the one after `done` steps. Raises InputError where there is
    none."""
    try:
        return dumps(state)
    except Exception as error:  # whatever a user's class raises
        which = f"the state after {done} steps" if done else "the start state"
        problem = f"{which} cannot be pickled: {type(error).__name__}: {error}"
    raise unfit("live.function", problem, "states that pickle")


def opened(states: States) -> dict[int, State]:
    """Return the states of chains with their pickles, made by `pickled`, opened.

    Raises InputError, naming the step, for a pickle that this process cannot open.
    """
    return {chain: (done, unpickled(state, done)) for chain, (done, state) in states.items()}


def unpickled(data: bytes, done: int) -> Any:
    """Return the state, the one after `done` steps, whose pickle is `data`. Raises InputError where
    this process cannot open it."""
    try:
        return pickle.loads(data)
    except Exception as error:
        which = f"the state after {done} steps" if done else "the start state"
        problem = f"{which} cannot be unpickled: {type(error).__name__}: {error}"
    raise unfit("live.function", problem, "states whose classes every process can import")


def hashed(state: bytes, unit: int) -> bytes:
    """Return the SHA-256 of the state and of the step's number `unit`: the default function for a
    step."""
    return sha256(state + unit.to_bytes(8, "big")).digest()


def _following(results: States) -> States:
    """Return the first states of the next iteration, which depend on one hash of the last states of
    all chains, `results`."""
    answer = sha256(b"".join(state for _, (_, state) in sorted(opened(results).items()))).digest()
    return sealed({it: (0, sha256(answer + str(it).encode()).digest()) for it in results})


@define(eq=False)
class Work:
    """The work of one job: `chains` sequences of steps, each of which begins from the state that
    the one before has left, where they begin, and what the last completed run has reached."""

    job: str
    chains: int
    steps: int
    """Number of steps of each chain in each iteration."""
    given: State | None = None
    """State that every chain begins from: steps done before, and a pickle; default: a hash."""
    begins: States = field(init=False)
    """States of the chains at the beginning of the present iteration."""
    iteration: int = field(init=False, default=0)
    results: States = field(init=False, factory=dict)
    """States at the end of the last completed run."""

    @begins.default
    def _beginning(self) -> States:
        """Return the state of each chain before any work on the job."""
        chains = range(self.chains)
        if self.given is not None:
            return dict.fromkeys(chains, self.given)
        return sealed({it: (0, sha256(f"{self.job}/{it}".encode()).digest()) for it in chains})

    def at(self, part: float) -> int:
        """Return the number of the step that each chain has reached when the fraction `part` of the
        work, from 0 to 1, is done; steps done before (`given`) count."""
        # 1e-9 absorbs the rounding of sums of parts, which could cost the last step.
        done = self.steps if part >= 1 - 1e-9 else int(part * self.steps + 1e-9)
        return done + (self.given[0] if self.given is not None else 0)

    def iterate(self) -> None:
        """Begin the next iteration: its chains start from the results of the one that has ended."""
        self.begins, self.iteration = _following(self.results), self.iteration + 1

    def is_right(self, advance: Advance, known: dict[object, States]) -> bool:
        """Return whether the results equal those that one process computes without interruption.

        `advance` computes a step. `known` keeps the right results for the next run of the same
        work: computing them may take longer than the run.
        """
        key = self.job, self.chains, self.steps, self.iteration
        if key not in known:
            states = self._ends(self._beginning(), advance)
            for _ in range(1, self.iteration):
                states = self._ends(_following(states), advance)
            known[key] = states
        return opened(known[key]) == opened(self.results)

    def _ends(self, states: States, advance: Advance) -> States:
        """Return the states of the chains after all steps of an iteration that begins from
        `states`; `advance` computes a step."""
        steps = range(self.steps)
        ends = {
            chain: reduce(advance, steps, state) for chain, (_, state) in opened(states).items()
        }
        return sealed({chain: (self.steps, state) for chain, state in ends.items()})
