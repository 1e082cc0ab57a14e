"""What lives in a worker's process: programs, data, the states that it computes and those that it
keeps for its buddies. A process that is killed forgets it all.

It computes chains of hashes, whose end tells whether any step was lost. The state of a job is that
of its chains, one for each processor that it asks for or for each task; members of a run divide
them among themselves. The k-th step of a chain is a function of its state and of k, and each
iteration's chains begin from all results of the last one: work that is lost, done in another order
or restored from a wrong state gives another answer.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import pickle
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256

from attrs import define, field, frozen

from sims.campaign.kit import Kit, unpack

DIES_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""


class Holder:
    """A Dask actor. Its methods are coroutines: they share the process's one thread."""

    def __init__(self, advance: bytes, mortal: bool) -> None:
        """`advance`: the step, pickled: only the process that computes it loads a user's code."""
        self._advance: Advance = pickle.loads(advance)
        self._programs: set[str] = set()
        self._passed: dict[int, int] = {}
        """By message: bytes that have come."""
        self._states: dict[str, dict[int, State]] = {}
        """By run, or by the label of its data."""
        self._kept: dict[str, States] = {}
        """Checkpoints, by what they are of."""
        self._orders: dict[str, int] = {}
        """By run: number of the last instruction."""
        if mortal:
            from distributed import get_worker

            _die_with_parent()
            get_worker().http_server.stop()

    async def pid(self) -> int:
        """Of its process."""
        return os.getpid()

    async def rest(self, seconds: float) -> None:
        """Answer after this time."""
        await asyncio.sleep(seconds)

    # --- messages -----------------------------------------------------------------------------

    async def receive(self, number: int, chunk: bytes) -> None:
        """A part of a message."""
        self._passed[number] = self._passed.get(number, 0) + len(chunk)

    async def complete(self, number: int, size: int, label: str, states: States | None) -> None:
        """The message has passed whole: a program if it brings no states."""
        passed = self._passed.pop(number, 0)
        if passed < size:
            raise AssertionError(f"message {number}: {passed} bytes of {size} have come")
        if states is None:
            self._programs.add(label)
        else:
            await self.load(label, states)

    async def send(self, size: int) -> bytes:
        """A part of an image."""
        return bytes(size)

    # --- states -------------------------------------------------------------------------------

    async def load(self, label: str, states: States) -> None:
        """Hold these."""
        self._states.setdefault(label, {}).update(states)

    async def states(self, run: str) -> States:
        """What the run has computed here so far."""
        return self._states.get(run, {})

    async def keep(self, name: str, states: States) -> None:
        """Keep a checkpoint."""
        self._kept[name] = states

    async def kept(self, name: str) -> States:
        """The checkpoint."""
        return self._kept[name]

    async def forget(self, run: str, names: Sequence[str]) -> None:
        """What a run has computed, and checkpoints that are not the last."""
        self._states.pop(run, None)
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
        given: States,
        label: str,
        program: str,
    ) -> States:
        """Advance the chains to `target` steps within this time, asleep between two steps; `given`:
        what they begin from where it is not here yet; `label`: of the data that is. A later
        instruction for the run ends it."""
        if program and program not in self._programs:
            raise AssertionError(f"{run} computes without its program")
        states = self._states.setdefault(run, {})
        for chain in chains:
            if chain not in states:
                states[chain] = given[chain] if chain in given else self._states[label][chain]
        if order > self._orders.get(run, 0):
            self._orders[run] = order
            await self._advance_all(run, order, chains, target, seconds)
        return {chain: states[chain] for chain in chains}

    async def _advance_all(
        self, run: str, order: int, chains: Sequence[int], target: int, seconds: float
    ) -> None:
        ends, states = time.monotonic() + seconds, self._states[run]
        left = target - min((states[chain][0] for chain in chains), default=target)
        while self._orders[run] == order:
            await asyncio.sleep(max(0.0, (ends - time.monotonic()) / max(1, left)))
            if self._orders[run] != order or left <= 0:
                break
            left -= 1
            for chain in chains:
                done, state = states[chain]
                if done < target - left:
                    states[chain] = done + 1, self._advance(state, done)

    async def halt(self, run: str, order: int) -> States:
        """Stop computing; what has been computed."""
        self._orders[run] = max(order, self._orders.get(run, 0))
        return self._states.get(run, {})


def _die_with_parent() -> None:
    """Also while it is stopped, when it could not see that its command is gone.

    Its parent is what forked it, which ends once nobody holds the pipe to it: a stopped process
    that had inherited that end would keep its parent, and itself, alive for ever.
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
        return  # not Linux: a stopped process lives until somebody lets it go on


# --- chains of hashes ----------------------------------------------------------------------------

State = tuple[int, bytes]
"""Steps done, and what a chain is then."""
States = Mapping[int, State]
"""By chain."""
Advance = Callable[[bytes, int], bytes]
"""(state, number of the step) -> the next state."""


@frozen
class Own:
    """A step of the user's own. It is pickled as its name and the modules that it needs, which
    travel along: no other process has to find them."""

    name: str
    kit: Kit
    function: Advance

    def __call__(self, state: bytes, unit: int) -> bytes:
        return self.function(state, unit)

    def __reduce__(self) -> tuple[Callable[[str, Kit], Advance], tuple[str, Kit]]:
        return _loaded, (self.name, self.kit)


def _loaded(name: str, kit: Kit) -> Advance:
    unpack(kit)
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]


def hashed(state: bytes, unit: int) -> bytes:
    """The default step."""
    return sha256(state + unit.to_bytes(8, "big")).digest()


def _following(results: States) -> States:
    """The chains of the next iteration, from one hash of all chains' ends."""
    answer = sha256(b"".join(state for _, (_, state) in sorted(results.items()))).digest()
    return {chain: (0, sha256(answer + str(chain).encode()).digest()) for chain in results}


@define(eq=False)
class Work:
    """The work of one job."""

    job: str
    chains: int
    steps: int
    """Of each chain, in each iteration."""
    begins: States = field(init=False)
    """The chains before the present iteration."""
    iteration: int = field(init=False, default=0)
    results: States = field(init=False, factory=dict)
    """Of the last run that completed."""
    saved: dict[int, States] = field(init=False, factory=dict)
    """Checkpoints that the master keeps, by the run that sent them."""

    def __attrs_post_init__(self) -> None:
        self.begins = self._beginning()

    def _beginning(self) -> States:
        """The chains before any work."""
        chains = range(self.chains)
        return {it: (0, sha256(f"{self.job}/{it}".encode()).digest()) for it in chains}

    def at(self, part: float) -> int:
        """Steps done where this part of the work is."""
        return self.steps if part >= 1 - 1e-9 else int(part * self.steps + 1e-9)

    def iterate(self) -> None:
        """The iteration is over."""
        self.begins, self.iteration = _following(self.results), self.iteration + 1
        self.saved.clear()

    def is_right(self, advance: Advance) -> bool:
        """Whether the results are those of one process that computes straight on."""
        states = self._beginning()
        for it in range(self.iteration or 1):
            states = _following(states) if it else states
            states = {chain: (self.steps, state) for chain, state in self._ends(states, advance)}
        return states == self.results

    def _ends(self, states: States, advance: Advance) -> Iterable[tuple[int, bytes]]:
        for chain, (_, state) in states.items():
            for unit in range(self.steps):
                state = advance(state, unit)
            yield chain, state
