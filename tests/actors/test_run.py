"""A run as a table of states: what each of its steps expects."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from actors.copy import Copy
from actors.protection import Rules
from actors.protection.plan import Plan
from actors.protection.saving import Saving
from actors.run import ENDED, NOTICE, OVER, SAVED, STAGING_IN, Run, Step
from actors.runtime import Actor, UnexpectedMessage


def run() -> Run:
    """Return a run on one worker that has just begun to stage in."""
    plan, job = Plan(Rules()), cast(Actor, SimpleNamespace(name="J1"))
    found = Run(
        *(job, 3, Copy(0, (0,), "0", (1,)), 10.0, plan),
        saving=Saving(plan),
        needs=None,
        finds_error=lambda exposed: False,
        logs_exposure=False,
        saved=lambda *_: None,
        recovered=lambda _: None,
        over=lambda *_: 0,
    )
    found.step = STAGING_IN
    return found


def test_a_stimulus_that_a_step_does_not_expect_raises_and_names_both() -> None:
    staging_in = run()
    assert staging_in.step is STAGING_IN
    with pytest.raises(UnexpectedMessage, match="run 3 of J1 in STAGING_IN does not expect SAVED"):
        staging_in.react(SAVED, 0)


def test_a_run_that_has_ended_expects_nothing() -> None:
    assert not any(step is ENDED for step, _ in Run.answers)


def test_every_step_before_the_end_answers_the_end_of_its_part_and_a_notice() -> None:
    steps = [step for step in Step if step is not ENDED]
    assert all((step, OVER) in Run.answers and (step, NOTICE) in Run.answers for step in steps)
