"""What the audit notices when something in the log is wrong.

Of 100 mutants at least 97 are noticed, by mechanism and by what was done to the log. The others say
what no other event contradicts, so that a world in which it was so is as lawful: when a worker was
reclaimed whose run waited for others anyway, another decision that could be carried out as well
(decisions are what the audit starts from), a verification of a job that has no other.

Not counted are altered logs that are the true logs of other scenarios, which no law may call wrong:
that is tried, not argued (tests.sims.audit.elsewhere). Nor are, as they mean nothing, what befalls
a worker that no run and no decision meets (tests.sims.audit.felt), and what is told of costs of a
protection that there is not (tests.sims.audit.meaning; that this is so is tried here too).

    python -m tests.sims.audit.test_mutants 10 20    # so many logs a mechanism, mutants of each
    python -m tests.sims.audit.events 10 20          # the same by kind of line (event)
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice

import pytest
from attrs import evolve
from numpy.random import default_rng

from actors.runtime import Event, Record
from sims.audit.audit import audit
from tests.sims.anything import TABLES
from tests.sims.audit.altered import changed, told_of
from tests.sims.audit.elsewhere import (
    Alteration,
    is_true_elsewhere,
)
from tests.sims.audit.meaning import meaningless
from tests.sims.audit.mutants import Change, mutants, with_another
from tests.sims.oneworld import Table, as_file, cases, records_of

pytestmark = [pytest.mark.filterwarnings("ignore:.*no buddy"), pytest.mark.usefixtures("unchecked")]
ONE_WORLD = (
    *("owner", "faults", "speeds", "link", "iterative"),
    *("buddies", "images", "copies", "cloning", "errors"),
)
DRAWN = (
    *("queue", "pack", "shares", "runs", "enrolled", "practised"),
    *("rigid cells", "moldable cells", "malleable cells", "iterative cells"),
)
MECHANISMS = (*ONE_WORLD, *DRAWN)
LOGS = 4
"""Scenarios a mechanism."""
TRIED = 2
"""Mutants of each, of each change."""
FIRST = 20
"""Seed of the first scenario."""
MOST = 3
"""Of 100 that may go unnoticed."""
ONE = 1
"""That may in any case, of few."""


def mechanisms(scenario: Table) -> Sequence[str]:
    """What occurs in it."""
    jobs = scenario["jobs"]
    found = {
        "owner": bool(scenario["owner"]),
        "faults": bool(scenario["faults"]),
        "speeds": bool(scenario["speeds"]),
        "link": bool(scenario["master"]),
        "iterative": any(job["kind"] == "iterative" for job in jobs),
        "buddies": any(job["protection"] == "buddies" for job in jobs),
        "images": any(job["protection"] == "images" for job in jobs),
        "copies": any(job["copies"] > 1 for job in jobs),
        "cloning": any(job["copies"] > 1 and job["cloning"] for job in jobs),
        "errors": any(any(job["failures"]) for job in jobs),
    }
    return [name for name, there in found.items() if there]


@cache
def scenarios(mechanism: str, logs: int = LOGS) -> list[Table]:
    if mechanism in TABLES:
        make = TABLES[mechanism]
        return [make(seed) for seed in range(FIRST, FIRST + logs)]
    fitting = [it["scenario"] for it in cases() if mechanism in mechanisms(it["scenario"])]
    return [as_file(it) for it in fitting[:: max(len(fitting) // logs, 1)][:logs]]


@cache
def logs(mechanism: str, count: int = LOGS) -> list[list[Record]]:
    return [records_of(scenario) for scenario in scenarios(mechanism, count)]


def is_noticed(records: list[Record]) -> bool:
    return next(audit(records), None) is not None


def tried(mechanism: str, change: Change, count: int, each: int) -> tuple[int, list[str]]:
    """How many were wrong, and those that were not noticed."""
    pairs = zip(scenarios(mechanism, count), logs(mechanism, count), strict=True)
    return tried_of(pairs, change, each)


def tried_of(
    pairs: Iterable[tuple[Table, list[Record]]],
    change: Change,
    each: int,
    of: type[Event] = Event,
) -> tuple[int, list[str]]:
    """The same of these scenarios and their logs, and of lines of one kind."""
    judged = list(judged_of(pairs, change, each, of))
    missed = [what for verdict, what in judged if verdict is Verdict.MISSED]
    return len(missed) + sum(verdict is Verdict.NOTICED for verdict, _ in judged), missed


class Verdict(enum.Enum):
    """What the audit makes of a mutant."""

    NOTICED = enum.auto()
    MISSED = enum.auto()
    TRUE = enum.auto()
    """It finds nothing wrong, as it should: the log is that of another scenario."""


def judged_of(
    pairs: Iterable[tuple[Table, list[Record]]], change: Change, each: int, of: type[Event]
) -> Iterator[tuple[Verdict, str]]:
    """Yield what the audit makes of each mutant, and what is wrong with it."""
    rng = default_rng(1)
    for scenario, log in pairs:
        for it in islice(mutants(log, change, rng, of), each):
            verdict = Verdict.NOTICED
            if not is_noticed(it.records):
                true = it.altered and is_true_elsewhere(scenario, it.records, it.altered)
                verdict = Verdict.TRUE if true else Verdict.MISSED
            yield verdict, f"{change.value}: {it.what}"


@cache
def all_tried(mechanism: str) -> dict[Change, tuple[int, list[str]]]:
    return {change: tried(mechanism, change, LOGS, TRIED) for change in Change}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_nearly_every_mutant_of_a_log_is_noticed(mechanism: str) -> None:
    few_enough(list(all_tried(mechanism).values()))


@pytest.mark.parametrize("change", Change)
def test_nearly_every_change_of_a_log_is_noticed(change: Change) -> None:
    few_enough([all_tried(mechanism)[change] for mechanism in MECHANISMS])


def few_enough(found: list[tuple[int, list[str]]]) -> None:
    missed = [what for _, whats in found for what in whats]
    assert len(missed) <= max(sum(wrong for wrong, _ in found) * MOST / 100, ONE), missed


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_log_without_its_end_or_with_two_beginnings_is_noticed(mechanism: str) -> None:
    records = logs(mechanism)[0]
    assert [violation.law.name for violation in audit(records[:-1])] == ["END"]
    assert next(audit([records[0], *records]), None) is not None


def test_a_log_whose_first_record_names_no_format_or_unit_is_noticed() -> None:
    first, *rest = logs("queue")[0]
    for other in ({"schema": 2}, {"unit": "h"}):
        assert is_noticed([evolve(first, event=evolve(first.event, **other)), *rest])


def test_a_log_altered_in_what_means_nothing_is_the_true_log_of_another_scenario() -> None:
    rng, tried = default_rng(1), 0
    asked = ("copies", "images", "buddies", "errors", "speeds")
    for scenario, log in ((it, records_of(it)) for each in asked for it in scenarios(each)):
        for record in log:
            for name in sorted(meaningless(record.event, log)):
                told = with_another(record, name, log, rng)
                assert told is not None
                altered = [*log[: record.seq], told, *log[record.seq + 1 :]]
                tried += 1
                assert is_true_elsewhere(scenario, altered, Alteration(record, told, name))
    assert tried >= 50


def test_a_log_with_a_worker_that_nobody_asked_for_is_the_true_log_of_another_scenario() -> None:
    scenario, log = scenarios("rigid cells", 5)[4], logs("rigid cells", 5)[4]
    for workers, true in ((5, True), (1, False)):
        altered = told_of(
            changed(log, 0, processors=workers), "workers = 4", f"workers = {workers}"
        )
        told = altered[0]
        assert is_true_elsewhere(scenario, altered, Alteration(log[0], told, "processors")) is true
        assert is_noticed(altered) is not true


def main(count: int, each: int) -> None:
    """Tells of all that goes unnoticed."""
    for mechanism in MECHANISMS:
        for change in Change:
            wrong, missed = tried(mechanism, change, count, each)
            print(f"{mechanism}: {len(missed)} of {wrong}", *missed, sep="\n  ", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
