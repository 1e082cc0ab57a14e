"""What the audit notices when one thing in a log is wrong.

Per kind of job and of change at least 95 of 100 mutants that change the meaning are noticed. What
is not, and why (run with `-s` for the list of a run):

- a worker's last change of state, or a server's change of speed while it serves nobody: no later
  event contradicts it, and a world in which it did not happen is as lawful;
- when a failed server comes back at speed 0: it delivers nothing before and after;
- which of two copies that came equally far is the furthest;
- a release at the very end of the log, after which nothing could show that it is missing;
- an enrolment or a release moved across the edge of an instant with nothing else about that worker
  between: it comes with the time of its new place, and what was chosen is still what is enrolled;
- the shelf that opened when an attempt failed at that very instant and nothing else started alone:
  SHELFFILL restarts such a job without a shelf;
- a rigid job's estimate where nobody is killed for it: only policies act on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest
from numpy.random import default_rng

from actors.runtime import Record
from sims.audit.families import audit
from sims.log import LogFile
from tests.golden.regenerate import GOLDEN, path_of
from tests.sims.audit.mutants import Change, Mutant, mutants

TRIED = 300
LEAST = 0.95


def records_of(kind: str) -> list[Record]:
    return list(LogFile(path_of(kind)))


def unnoticed(tried: Iterator[Mutant]) -> list[str]:
    return [mutant.what for mutant in tried if next(audit(mutant.records), None) is None]


@pytest.mark.parametrize("change", Change)
@pytest.mark.parametrize("kind", GOLDEN)
def test_nearly_every_mutant_is_noticed(kind: str, change: Change) -> None:
    missed = unnoticed(islice(mutants(records_of(kind), change, default_rng(1)), TRIED))
    print(
        f"{kind}, {change.value}: {1 - len(missed) / TRIED:.1%} of {TRIED} noticed",
        *missed,
        sep="\n  ",
    )
    assert len(missed) <= (1 - LEAST) * TRIED


@pytest.mark.parametrize("kind", GOLDEN)
def test_a_log_without_its_end_or_with_two_beginnings_is_noticed(kind: str) -> None:
    records = records_of(kind)
    assert [v.law.name for v in audit(records[:-1])][-1] == "FRAME"
    assert next(audit([records[0], *records]), None) is not None
