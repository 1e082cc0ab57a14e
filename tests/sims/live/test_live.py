"""Real processes carry out what the world decides, and their answers are right."""

from __future__ import annotations

import asyncio
import inspect
import pkgutil
from collections.abc import Sequence
from concurrent.futures import Future, wait
from importlib import import_module
from typing import Any

import attrs
import pytest

import sims.live
from actors.events import (
    CheckpointLost,
    CheckpointStored,
    PartMeasured,
    RunStarted,
    WorkerChanged,
)
from actors.runtime import ActorFailed, Record, Sink
from sims.audit.audit import audit
from sims.errors import InputError
from sims.history.rows import Use
from sims.live.activities import Activities
from sims.live.carrier import Carrier
from sims.live.holder import Work, hashed, opened, sealed
from sims.live.live import LiveResult, live, playable
from sims.live.processes import Processes
from sims.live.reality import Comparison, Outcome
from tests.sims.cli.commands import PATIENCE
from tests.sims.live.worlds import FREE, MECHANISMS, UNPACED, scenario


def lived(
    cluster: Processes, mechanism: str, sinks: Sequence[Sink] = (), **sections: Any
) -> tuple[LiveResult, list[Record]]:
    records: list[Record] = []
    it = playable(scenario(mechanism, **sections))
    return live(it, cluster, sinks=[records.append, *sinks]), records


def murder_later(cluster: Processes, seconds: float) -> None:
    """Have the process of worker 0 die unannounced, after so many seconds."""

    async def later() -> None:
        await asyncio.sleep(seconds)
        await cluster.murder(0)

    cluster.post(later())


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_answers_are_right_under_all_hazards_and_the_log_is_sound(
    cluster: Processes, mechanism: str
) -> None:
    found, records = lived(cluster, mechanism)
    assert found.answers
    assert all(found.answers.values())
    assert list(audit(iter(records))) == []


@pytest.mark.parametrize("mechanism", MECHANISMS | UNPACED)
def test_real_work_takes_what_it_takes_and_the_log_follows_from_its_lengths(
    at_work: Processes, mechanism: str
) -> None:
    found, records = lived(at_work, mechanism, live=FREE)
    assert found.answers
    assert all(found.answers.values())
    assert list(audit(iter(records))) == []
    lengths = [it.event.length for it in records if isinstance(it.event, PartMeasured)]
    assert not any(it == round(it) for it in lengths)


def test_work_without_a_pace_that_loses_its_process_is_done_again(at_work: Processes) -> None:
    murder_later(at_work, 0.1)
    found, records = lived(at_work, "images at the master", live=FREE, faults={"kind": "none"})
    assert found.missed == 1
    assert all(found.answers.values())
    assert list(audit(iter(records))) == []
    down = next(it for it in records if isinstance(it.event, WorkerChanged) and it.event.until)
    # DOWN for as long as a new process takes to start: no fault law says anything else.
    seconds = (down.event.until - down.t) * FREE["scale"]
    assert any(seconds == pytest.approx(it) for it in at_work.starts)


@pytest.mark.parametrize("mechanism", ["buddies and a spare", "images at the master"])
def test_a_process_that_dies_unannounced_is_missed_and_its_work_done_again(
    cluster: Processes, mechanism: str
) -> None:
    murder_later(cluster, 0.4)
    found, records = lived(cluster, mechanism)
    assert found.missed == 1
    assert all(found.answers.values())
    assert list(audit(iter(records))) == []


def test_a_run_that_is_over_stops_no_process_of_the_next_one(
    cluster: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run ends as its worker 0 is RECLAIMED, whose process halts only after that."""
    over, aside, asides = asyncio.Event(), Carrier.aside, list[Future[Any]]()

    async def halt(self: Activities, *_: object) -> None:
        await over.wait()

    def end(record: Record) -> None:
        if isinstance(record.event, WorkerChanged):
            raise InterruptedError

    monkeypatch.setattr(Activities, "_halt", halt)
    monkeypatch.setattr(
        Carrier, "aside", lambda self, work: asides.append(aside(self, work)) or asides[-1]
    )
    with pytest.raises(ActorFailed, match="InterruptedError"):
        lived(cluster, "owners take workers back", [end])
    cluster.client.loop.asyncio_loop.call_soon_threadsafe(over.set)
    assert len(asides) > 0
    assert not wait(asides, PATIENCE).not_done
    assert not cluster.seats[0].stopped


def test_a_run_begins_when_the_processes_that_the_one_before_has_killed_are_back(
    cluster: Processes,
) -> None:
    there: list[bool] = []
    cluster.post(cluster.kill(0)).result()
    lived(
        cluster,
        "owners take workers back",
        [lambda _: there.append(all(it.ready.is_set() for it in cluster.seats.values()))],
    )
    assert there[0]


def test_after_the_death_of_two_buddies_a_run_goes_on_from_the_image_at_the_master(
    at_work: Processes,
) -> None:
    """Both processes are killed as the master has an image."""
    stored: list[float] = []

    def kill(record: Record) -> None:
        if isinstance(record.event, CheckpointStored) and not stored:
            stored.append(record.event.done)
            for worker in (0, 1):
                at_work.post(at_work.murder(worker))

    found, records = lived(
        at_work,
        "two levels beside the work",
        [kill],
        live=FREE,
        faults={"kind": "none"},
        protection={**UNPACED["two levels beside the work"]["protection"], "period": 20},
        job={"kind": "rigid", "jobs": [{"processors": 2, "time": 150}]},
    )
    assert all(found.answers.values())
    events = [it.event for it in records]
    lost = next(k for k, it in enumerate(events) if isinstance(it, CheckpointLost))
    again = next(it for it in events[lost:] if isinstance(it, RunStarted))
    images = [it.done for it in events[:lost] if isinstance(it, CheckpointStored)]
    assert again.begun == images[-1] >= stored[0] > 0


def test_runs_and_ledgers_are_compared_with_the_error_of_each_figure() -> None:
    """Of two seeds, 100 and 200 are predicted (90 and 190, or 110 and 210, with drawn costs) and
    102 and 204 measured, of which 3 are lost in each where 1 was foreseen."""
    uses = {use.value: 0.0 for use in Use} | {"useful": 49.0, "lost": 1.0}
    said = [Outcome("EASY", seed, 100.0 * seed, uses, checkpoints=4) for seed in (1, 2)]
    drawn = [
        attrs.evolve(it, makespan=it.makespan + more, draw=draw)
        for draw, more in enumerate((-10.0, 10.0), start=1)
        for it in said
    ]
    more = uses | {"useful": 47.0, "lost": 3.0}
    done = [attrs.evolve(it, makespan=1.02 * it.makespan, uses=more) for it in said]
    done[1] = attrs.evolve(done[1], missed=1)
    lines = list(Comparison([*said, *drawn], done, "s").lines())
    told = {line.split("  ")[1].strip(" :"): line for line in lines if line.startswith("  ")}
    assert "150 [140.5, 159.5]" in told["makespan, s"]
    assert told["makespan, s"].endswith("+2.0%")
    assert told["checkpoints"].endswith(" 4, no interval  +0.0%")  # equal runs say nothing
    assert " 153 [0, " in told["makespan, s"]  # no time is below 0
    assert told["lost"].endswith("+4.0% of all time")
    assert "  seed 2: 200, 204; 1 process died by no command of ours" in lines


def test_work_that_is_lost_shows_in_the_answer() -> None:
    work = Work("J1", chains=2, steps=5)
    state = {0: (5, b"?"), 1: (5, b"?")}
    for chain, (_, it) in opened(work.begins).items():
        for unit in range(5):
            it = hashed(it, unit)
        state[chain] = 5, it
    work.results = sealed(state)
    assert work.is_right(hashed, {})
    work.results = sealed({**state, 1: (5, hashed(state[1][1], 5))})
    assert not work.is_right(hashed, {})


def test_what_processes_cannot_carry_out_is_refused() -> None:
    with pytest.raises(InputError, match="errors: live processes do not carry that out"):
        playable(scenario("buddies and a spare", errors={"rate": 0.1}))


def test_no_module_of_the_world_is_subclassed_for_it() -> None:
    """Policies, scheduler, jobs, master and protections are those of a simulation."""
    for found in pkgutil.iter_modules(sims.live.__path__):
        module = import_module(f"sims.live.{found.name}")
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if kind.__module__.startswith("sims.live"):
                bases = [it.__module__ for it in kind.__mro__]
                assert not [it for it in bases if it.startswith(("actors", "policies"))]
