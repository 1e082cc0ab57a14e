"""What the audit notices when something in the log is wrong.

Of 100 mutants at least 95 are noticed, by mechanism, by kind of job and decider, and by what was
done to the log. The others (run with `-s` for the list of a run) say what no other event
contradicts, so that a world in which it was so is as lawful:

- two events of one instant told in the other order, where the laws do not say which comes first: a
  run that is lost, and what its buddies had saved; workers' messages that begin together;
- when a worker was reclaimed whose run waited for others anyway;
- another decision that could be carried out as well: decisions are what the audit starts from.

Not counted are altered logs that are the true logs of other scenarios, which no law may call wrong:
that is tried, not argued (tests.sims.audit.elsewhere). One worker or channel more than was ever
asked for; a recovery that no run spends; copies for which no worker was free; an estimate that
nobody acted on. Nor are, as they mean nothing, what befalls a worker that no run and no decision
meets (tests.sims.audit.felt), and what is told of costs of a protection that there is not
(tests.sims.audit.meaning; that this is so is tried here too).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import islice

import pytest
from attrs import evolve
from numpy.random import default_rng

from actors.runtime import Record
from sims.audit.audit import audit
from tests.sims.audit.anything import Table, cell, enrolled, pack, queue, runs, shares
from tests.sims.audit.anything import records_of as records_of_table
from tests.sims.audit.elsewhere import (
    Alteration,
    Source,
    alter_one_world,
    alter_table,
    is_true_elsewhere,
)
from tests.sims.audit.meaning import meaningless
from tests.sims.audit.mutants import Change, Mutant, mutants, with_another
from tests.sims.audit.oneworld import cases, mechanisms, records_of

pytestmark = pytest.mark.filterwarnings("ignore:.*no buddy")
ONE_WORLD = (
    *("owner", "faults", "speeds", "link", "iterative"),
    *("buddies", "images", "copies", "cloning", "errors"),
)
TABLES: dict[str, Callable[[int], Table]] = {
    "queue": queue,
    "pack": pack,
    "shares": shares,
    "runs": runs,
    "enrolment": enrolled,
    **{f"{kind} cells": partial(cell, kind) for kind in ("rigid", "moldable")},
    **{f"{kind} cells": partial(cell, kind) for kind in ("malleable", "iterative")},
}
MECHANISMS = (*ONE_WORLD, *TABLES)
LOGS = 10
"""Scenarios a mechanism."""
TRIED = 20
"""Mutants of each."""
SEEDS = range(20, 20 + LOGS)
MOST = 5
"""Of 100 that may go unnoticed."""


@cache
def sources(mechanism: str) -> list[Source]:
    if mechanism in TABLES:
        make = TABLES[mechanism]
        return [Source(make(seed), records_of_table, alter_table) for seed in SEEDS]
    fitting = [it["scenario"] for it in cases() if mechanism in mechanisms(it["scenario"])]
    some = fitting[:: max(len(fitting) // LOGS, 1)][:LOGS]
    return [Source(scenario, records_of, alter_one_world) for scenario in some]


@cache
def logs(mechanism: str) -> list[list[Record]]:
    return [source.run(dict(source.scenario)) for source in sources(mechanism)]


def is_noticed(records: list[Record]) -> bool:
    return next(audit(records), None) is not None


def unnoticed(source: Source, tried: Iterable[Mutant]) -> tuple[int, list[str]]:
    """How many were wrong, and those that were not noticed."""
    wrong, missed = 0, []
    for it in tried:
        if is_noticed(it.records):
            wrong += 1
        elif it.altered is None or not is_true_elsewhere(source, it.records, it.altered):
            wrong += 1
            missed.append(it.what)
    return wrong, missed


@pytest.mark.parametrize("change", Change)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_nearly_every_mutant_is_noticed(mechanism: str, change: Change) -> None:
    rng = default_rng(1)
    found = [
        unnoticed(source, islice(mutants(log, change, rng), TRIED))
        for source, log in zip(sources(mechanism), logs(mechanism), strict=True)
    ]
    tried = sum(count for count, _ in found)
    missed = [what for _, whats in found for what in whats]
    print(f"{mechanism}, {change.value}: {len(missed)} of {tried} not noticed", *missed, sep="\n  ")
    assert 100 * len(missed) <= tried * MOST


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_log_without_its_end_or_with_two_beginnings_is_noticed(mechanism: str) -> None:
    records = logs(mechanism)[0]
    assert [v.law.name for v in audit(records[:-1])][-1] == "FRAME"
    assert next(audit([records[0], *records]), None) is not None


def test_a_log_whose_first_record_names_no_format_or_unit_is_noticed() -> None:
    first, *rest = logs("queue")[0]
    for other in ({"schema": 2}, {"unit": "h"}):
        assert is_noticed([evolve(first, event=evolve(first.event, **other)), *rest])


@pytest.mark.parametrize("mechanism", ["copies", "images", "buddies", "errors", "speeds"])
def test_a_log_altered_in_what_means_nothing_is_the_true_log_of_another_scenario(
    mechanism: str,
) -> None:
    rng, tried = default_rng(1), 0
    for source, log in zip(sources(mechanism), logs(mechanism), strict=True):
        for record in log:
            for name in sorted(meaningless(record.event, log)):
                told = with_another(record, name, log, rng)
                assert told is not None
                altered = [*log[: record.seq], told, *log[record.seq + 1 :]]
                tried += 1
                assert is_true_elsewhere(source, altered, Alteration(record, told, name))
    assert tried > 10


def test_a_log_with_a_worker_that_nobody_asked_for_is_the_true_log_of_another_scenario() -> None:
    source, log = sources("rigid cells")[4], logs("rigid cells")[4]
    for workers, true in ((5, True), (1, False)):
        told = evolve(log[0], event=evolve(log[0].event, processors=workers))
        altered = [told, *log[1:]]
        assert is_true_elsewhere(source, altered, Alteration(log[0], told, "processors")) is true
        assert is_noticed(altered) is not true
