"""A run as a table of states: what each of its steps expects."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from actors.copy import Copy
from actors.protection import Rules
from actors.protection.plan import Plan
from actors.protection.saving import Saving
from actors.run import Owner, Run
from actors.runtime import Actor, UnexpectedMessage
from actors.standstill import Halt
from actors.steps import (
    ANSWERS,
    ENDED,
    FREED,
    HANGS,
    NOTICE,
    OVER,
    PAUSES,
    SAVED,
    STAGING_IN,
    Step,
)


def run() -> Run:
    """Return a run on one worker that has just begun to stage in."""
    plan, job = Plan(Rules()), cast(Actor, SimpleNamespace(name="J1"))
    found = Run(cast(Owner, job), 3, Copy(job, 0, (0,), "0", (1,)), 10.0, plan, saving=Saving(plan))
    found.step = STAGING_IN
    return found


def test_a_stimulus_that_a_step_does_not_expect_raises_and_names_both() -> None:
    staging_in = run()
    assert staging_in.step is STAGING_IN
    with pytest.raises(UnexpectedMessage, match="run 3 of J1 in STAGING_IN does not expect SAVED"):
        staging_in.react(SAVED, 0)


def test_a_run_that_has_ended_expects_nothing() -> None:
    assert not any(step is ENDED for step, _ in ANSWERS)


def test_every_step_before_the_end_answers_the_end_of_its_part_and_a_notice() -> None:
    steps = [step for step in Step if step is not ENDED]
    assert all((step, OVER) in ANSWERS and (step, NOTICE) in ANSWERS for step in steps)


def test_a_run_that_hangs_in_a_pause_goes_on_only_once_both_are_over() -> None:
    halted = run()
    for stimulus, halt in ((PAUSES, Halt.PAUSED), (HANGS, Halt.HUNG_PAUSED), (FREED, Halt.PAUSED)):
        halted.standstill.turn(stimulus)
        assert halted.standstill.halt is halt and not halted.passes


def test_a_run_that_hangs_expects_no_second_hang() -> None:
    hung = run()
    hung.standstill.turn(HANGS)
    with pytest.raises(UnexpectedMessage, match="run 3 of J1 in HUNG does not expect HANGS"):
        hung.standstill.turn(HANGS)


def test_the_last_message_of_a_halted_run_does_not_make_it_go_on() -> None:
    halted = run()
    halted.missing.add(0)
    halted.standstill.turn(HANGS)
    assert not halted.member_ready(0)
    assert not halted.missing
