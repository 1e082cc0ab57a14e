"""Events put at instants at which something happens.

The scenario is run, and an event put at such an instant; then it is run again from the result, and
so on forward in time. What is put at t changes nothing before t, so that the coincidences stay.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.oracle.jobs import ZERO, Members
from tests.oracle.words import Protection
from tests.oracle.world import World

Scenario = dict[str, Any]


WHOLE, EIGHTH, TENTH = 1, 8, 10
"""One over the finest part of a time unit at which events are put."""


class Held(NamedTuple):
    """Members that are held, for a run or for the next one."""

    members: Members
    protection: Protection


Instant = tuple[Fraction, list[Held]]


class TooLong(Exception):
    """More instants than a random scenario is worth."""


class Recorder(World):
    """Notes every instant, and who is held then."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self.seen: list[Instant] = []

    def instant(self) -> None:
        super().instant()
        if len(self.seen) > 3000:
            raise TooLong
        groups = [group for job in self.jobs for group in job.copies_held]
        self.seen.append((self.now, [Held(it.members, it.job.protection) for it in groups]))


WEIGHTS = json.loads(Path(__file__).with_name("weights.json").read_text())


def pick(rng: Random, what: str) -> Any:
    """One of the values of `weights.json`, as often as it says."""
    values, weights = zip(*WEIGHTS[what], strict=True)
    return rng.choices(values, weights)[0]


def coincide(rng: Random, scenario: Scenario, with_faults: bool, themed: bool, finest: int) -> None:
    """Puts some events of the kinds that the scenario has, in time's order."""
    kinds = [
        *(["fault"] * 3 if with_faults else []),
        *(["owner"] * 2 if scenario["owner"] is not None else []),
        *(["speed"] * 2 if scenario["speeds"] is not None else []),
    ]
    if not kinds:
        return
    cursor = Fraction(-1)
    for _ in range(rng.randint(3, 16 if themed else 10)):
        found = next_instant(rng, scenario, cursor, finest)
        if found is None:
            return
        put(rng, scenario, found, kinds)
        cursor = found[0]
        if rng.random() < 0.15:  # leave the next instants in peace
            cursor += rng.randint(1, 10)


def next_instant(rng: Random, scenario: Scenario, after: Fraction, finest: int) -> Instant | None:
    """One soon after; of short numbers only. With 1 as the finest part, of whole ones."""
    world = Recorder(scenario)
    world.run()
    later = [it for it in world.seen if it[0] > max(after, ZERO)]
    if finest != EIGHTH:
        later = [it for it in later if finest % it[0].denominator == 0]
    if not later:
        return None
    found = later[min(int(rng.expovariate(0.45)), len(later) - 1)]
    return found if found[0].denominator <= finest else None


def put(rng: Random, scenario: Scenario, instant: Instant, kinds: list[str]) -> None:
    """One event there, or two of different kinds."""
    exact, held = instant
    time = int(exact) if exact.denominator == 1 else float(exact)
    # Sorted: a set of strings has another order in every process, and draws come in that order.
    for kind in sorted(set(rng.choices(kinds, k=pick(rng, "events at once")))):
        if kind == "fault":
            put_fault(rng, scenario, time, held)
        elif kind == "speed":
            put_speed(rng, scenario, time, held)
        elif isinstance(time, int):  # owners' letters are whole time units
            put_owner(rng, scenario, time, held)


def put_fault(rng: Random, scenario: Scenario, time: float, held: list[Held]) -> None:
    """One or two, aimed at members that are held, buddies first."""
    if held and rng.random() < 0.85:
        buddies = [it for it in held if it.protection is Protection.BUDDIES]
        members = rng.choice(buddies if buddies and rng.random() < 0.6 else held).members
        targets = [target(rng, scenario, members)]
        if len(members) > 1 and rng.random() < 0.25:
            targets.append(rng.choice(members))
    else:
        targets = [rng.randrange(scenario["workers"])]
    for worker in targets:
        place = struck_by(scenario, worker)
        if [time, place] not in scenario["faults"]:
            scenario["faults"].append([time, place])


def struck_by(scenario: Scenario, worker: int) -> int:
    """What a fault names that strikes this worker: it, or its node."""
    return int(worker // scenario["node"] if scenario.get("faults_of") == "nodes" else worker)


def target(rng: Random, scenario: Scenario, members: Members) -> int:
    """Near the last one struck, where that is a member."""
    last = [worker for _, worker in scenario["faults"][-2:] if worker in members]
    if last and rng.random() < 0.6:
        near = members.index(last[-1]) + rng.choice([-1, 0, 1])
        return members[min(max(near, 0), len(members) - 1)]
    return rng.choice(members)


def anyone(rng: Random, scenario: Scenario, held: list[Held]) -> int:
    """A worker, mostly one that is held."""
    workers = [worker for it in held for worker in it.members]
    if workers and rng.random() < 0.8:
        return rng.choice(workers)
    return rng.randrange(int(scenario["workers"]))


def put_owner(rng: Random, scenario: Scenario, time: int, held: list[Held]) -> None:
    """A stretch of one state that begins then."""
    owners, worker = scenario["owner"], anyone(rng, scenario, held)
    length = len(owners[worker]) or max(21, *map(len, owners))
    if time >= length - 1:
        return
    letters = list(owners[worker] or "u" * length)
    span = rng.randint(1, 6)
    state = pick(rng, "state")
    for k in range(time, min(time + span, length - 1)):
        letters[k] = state
    owners[worker] = "".join(letters)


def put_speed(rng: Random, scenario: Scenario, time: float, held: list[Held]) -> None:
    """A change then; a speed of 0 does not last for ever."""
    speeds, worker = scenario["speeds"], anyone(rng, scenario, held)
    before = [change for change in speeds[worker] if change[0] < time]
    after = [change for change in speeds[worker] if change[0] > time]
    speed = pick(rng, "speed from then on")
    if speed == 0 and not after:
        after = [[time + rng.randint(1, 6), rng.choice([1, 2])]]
    speeds[worker] = [*before, [time, speed], *after]
