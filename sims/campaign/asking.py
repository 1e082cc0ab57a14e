"""Answer questions that vary a scenario in cases: run them all, and compare variants."""

from __future__ import annotations

from sims.campaign.engine import check, execute
from sims.campaign.indifferent import warn_of_indifference
from sims.campaign.plan import Cases
from sims.campaign.question import Question
from sims.campaign.results import Results, refuse_raised, store_in
from sims.campaign.tables import Table
from sims.errors import naming


def ran(question: Question) -> Results:
    """Run all cases of a question, and return the results. Raises InputError where a run raised an
    error: an answer without that run would be meaningless."""
    where = question.where
    with naming(question.subject.called):
        found = execute(question, question.workers, store_in(where.store), watch=where.watch)
    refuse_raised(found)
    return found


def compare(question: Question) -> Table:
    """Run variants of a scenario on the same seeds, and compare them.

    Raises InputError where there is only one, and where they cannot be run.
    """
    with naming(question.subject.called):
        cases, names = Cases(question), list(question.varied.variants)
        if len(names) == 1:
            check(question, Cases.of(question))  # another mistake is told first
            problem = f"{names[0]} is one variant: there is nothing to compare with"
            raise question.door.refused("vary", problem, "two values or more")
        warn_of_indifference(cases, question.varied.keys)
    return Table(ran(question))
