"""The policy test kit: bad policies of each sort are found out, all shipped ones pass."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from policies.copies import FIXED
from policies.copies import named as copies_named
from policies.enrolment import CATALOGUE
from policies.enrolment import named as enrolment_named
from policies.interface import Decision
from policies.pack import ALLOCATIONS, named, named_allocation
from policies.pack import CATALOGUE as REDISTRIBUTIONS
from policies.queue.lists import Reading
from policies.queue.names import (
    ORDERS,
    SHELVES,
    AllotmentRule,
    allocation_named,
    strategy_named,
)
from policies.service import LongestFirst, StartedFirst
from sims.errors import InputError
from sims.kit import Point
from sims.kit.trial import Finding, Trial, Wrong, recognised, tried
from tests.sims.cli.commands import Shell, ended, spawn, until, without
from tests.sims.kit import bad
from tests.sims.starters import starter

if sys.platform == "linux":
    import resource

ENROLMENT = Point.ENROLMENT


def only(policy: Any, point: Point, **more: Any) -> Finding:
    """The one thing that it does wrong, at a fourth of the questions that a command asks."""
    [finding] = Trial(policy, point, 50, **more).findings()
    return finding


CANNOT_BE: list[tuple[Callable[..., Any], Point, str, str]] = [
    (bad.offers_who_is_down, ENROLMENT, "worker 0 is not UP", "up=0"),
    (bad.starts_more_than_fit, Point.STRATEGY, "needs 1 processors, and 0 are left", "free=0"),
    (bad.gives_more_than_is_idle, Point.REDISTRIBUTION, "1 more processors, and 0", "idle=0"),
    (bad.serves_all, Point.SERVICE, "it serves 2; there are 1 channels", "index=1"),
    (bad.too_many_copies, Point.COPIES, "1 to 1 copies", "servers=1"),
    (bad.no_number, Point.ORDER, "a priority is a finite number", "processors=3"),
    (bad.no_processors, Point.ALLOCATION, "accepted: 1 to 1 processors", "name='J1'"),
    (bad.shares_beyond_the_platform, Point.PACK_ALLOCATION, "in all; there are 1", "processors=1"),
]


@pytest.mark.parametrize(("policy", "point", "told", "view"), CANNOT_BE)
def test_an_answer_that_cannot_be_carried_out_is_found_in_its_smallest_form(
    policy: Any, point: Point, told: str, view: str
) -> None:
    finding = only(policy, point)
    assert finding.wrong is Wrong.ANSWER
    assert told in finding.problem
    assert view in finding.view


def test_attempts_that_are_left_out_are_found() -> None:
    finding = only(bad.FewerAttempts(), Point.BATCH_ALLOCATION)
    assert (finding.wrong, "2 attempts in all" in finding.problem) == (Wrong.ANSWER, True)


def test_what_a_policy_raises_is_reported_with_its_place_and_the_smallest_view() -> None:
    finding = {it.wrong: it for it in Trial(bad.raises, Point.STRATEGY, 50).findings()}[
        Wrong.RAISES
    ]
    assert "KeyError: 'nothing' (bad.py, line" in finding.problem
    assert finding.view.count("Queued(") == 2 + finding.view.count("failed=[Queued(")


def test_a_change_of_the_view_is_found() -> None:
    finding = only(bad.pops_the_queue, Point.STRATEGY)
    assert finding.wrong is Wrong.MUTATES
    assert "afterwards it reads" in finding.problem


@pytest.mark.parametrize("policy", [bad.draws_by_itself, bad.Remembers()])
def test_another_answer_to_the_same_question_is_found(policy: Any) -> None:
    assert only(policy, Point.ORDER).wrong is Wrong.FICKLE


ENDLESS = [bad.never_ends, bad.sums_without_end, bad.matches_without_end, bad.ends_nowhere]


@pytest.mark.parametrize(
    ("policy", "point"),
    [(bad.sleeps, Point.ALLOCATION), *((policy, Point.SERVICE) for policy in ENDLESS)],
)
def test_who_answers_too_late_or_never_is_found(policy: Any, point: Point) -> None:
    result = tried(lambda: policy, point.value, patience=0.1)
    [finding] = result.findings
    assert finding.wrong is Wrong.SLOW
    assert "0.1 s" in finding.problem
    case = Trial(policy, point).cases()[result.views - 1]
    assert finding.view == repr(case)


def test_who_never_answers_is_known_by_its_signature_all_the_same() -> None:
    result = tried(lambda: bad.sums_without_end, patience=0.1)
    assert result.point is Point.SERVICE
    assert {it.wrong for it in result.findings} == {Wrong.SLOW}


def test_what_was_found_before_an_answer_that_never_comes_is_kept() -> None:
    result = tried(bad.ServesAllThenNeverEnds, "service", patience=0.1)
    assert [it.wrong for it in result.findings] == [Wrong.ANSWER, Wrong.SLOW]


@pytest.mark.parametrize(
    ("policy", "how"), [(bad.leaves, "with exit code 7"), (bad.kills_itself, "by signal 9")]
)
def test_who_ends_the_process_is_found(policy: Any, how: str) -> None:
    [finding] = tried(lambda: policy, "service").findings
    assert (finding.wrong, finding.problem) == (Wrong.ENDS, how)
    assert finding.view.count("Waiter(") > 1


def test_an_answer_without_an_end_ends_the_trial_at_once() -> None:
    trial = Trial(bad.serves_without_end, Point.SERVICE)
    [finding] = trial.findings()
    assert finding.wrong is Wrong.ENDLESS
    assert "more than 1,000,000 items" in finding.problem
    assert finding.view.count("Waiter(") > 1
    first = next(k for k, it in enumerate(trial.cases(), start=1) if len(it.arguments[0]) > 1)
    assert trial.views == first < trial.asked


def test_a_configuration_without_an_end_is_refused_before_it_takes_all_memory() -> None:
    assert only(bad.enrols_without_end, ENROLMENT, patience=20).wrong is Wrong.ENDLESS


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the data of a process")
def test_a_list_without_an_end_ends_the_trial_before_it_takes_all_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    status = Path("/proc/self/status").read_text()
    present = 1024 * int(status.partition("VmData:")[2].split()[0])
    monkeypatch.setattr("sims.kit.trial.MEMORY", present + 2**27)
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    finding = only(bad.lists_without_end, Point.SERVICE, patience=20)
    assert finding.wrong is Wrong.HUGE
    assert "MemoryError" in finding.problem
    assert resource.getrlimit(resource.RLIMIT_DATA) == limits


def test_who_starts_nothing_where_nothing_else_will_happen_is_found() -> None:
    finding = only(bad.starts_nothing, Point.STRATEGY)
    assert finding.wrong is Wrong.STALLS
    assert finding.view.count("job=") == 1 + finding.view.count("failed=[Queued(")


# --- what is sound --------------------------------------------------------------------------------

SHIPPED: list[tuple[Any, Point]] = [
    *((strategy_named(name, Reading.FRESH), Point.STRATEGY) for name in SHELVES),
    *(
        (strategy_named(name, reading), Point.STRATEGY)
        for name in ("R-LIST-0", "R-LIST-1", "R-LIST-2", "R-LIST-Q")
        for reading in Reading
    ),
    *((order, Point.ORDER) for order in ORDERS.values()),
    *(
        (allocation_named(name, AllotmentRule.SCALED, 0.1), Point.ALLOCATION)
        for name in ("LPA", "MINTIME", "MINAREA")
    ),
    *(
        (allocation_named("BATCH", rule, 0.1), Point.BATCH_ALLOCATION)
        for rule in AllotmentRule
        if rule is not AllotmentRule.MIXED  # which compares every chain
    ),
    *((enrolment_named(name), Point.ENROLMENT) for name in CATALOGUE),
    *((named_allocation(name), Point.PACK_ALLOCATION) for name in ALLOCATIONS),
    *((named(name), Point.REDISTRIBUTION) for name in REDISTRIBUTIONS),
    *((copies_named(name), Point.COPIES) for name in (*FIXED, "LAPS", "LAPS+R", "LAPS+R-onecopy")),
    *((order, Point.SERVICE) for order in (StartedFirst(), LongestFirst())),
]


@pytest.mark.parametrize(("policy", "point"), SHIPPED)
def test_every_shipped_policy_is_known_by_what_it_answers_and_sound(
    policy: Any, point: Point
) -> None:
    assert recognised(policy) is point
    assert Trial(policy, point, 15, patience=20).findings() == []


def policy_of(point: Point) -> Any:
    """The policy of a starting file."""
    module = starter(point.value)
    [own] = [it for it in vars(module).values() if getattr(it, "__module__", "") == module.__name__]
    return own() if isinstance(own, type) else own


@pytest.mark.parametrize("point", Point)
def test_every_starting_file_is_sound_and_known_by_its_protocol(point: Point) -> None:
    policy = policy_of(point)
    assert recognised(policy) is point
    assert Trial(policy, point, 60).findings() == []


# --- which point it is ----------------------------------------------------------------------------


def test_what_a_signature_leaves_open_is_tried() -> None:
    def bare(view):  # type: ignore[no-untyped-def]
        return Decision([it for it in view.queue if it.processors <= view.free][:1])

    assert recognised(bare) is Point.STRATEGY


def test_parameters_that_have_defaults_do_not_tell_the_point() -> None:
    def bare(view, depth=2):  # type: ignore[no-untyped-def]
        return Decision([it for it in view.queue if it.processors <= view.free][:1])

    assert recognised(bare) is Point.STRATEGY


@pytest.mark.parametrize(
    ("policy", "told"),
    [(7, "signature of no decision point"), (lambda: None, "signature of no decision point")],
)
def test_what_is_no_policy_is_refused(policy: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        recognised(policy)


def test_what_suits_several_points_has_to_be_named() -> None:
    with pytest.raises(InputError, match=r"--point: .*suits .* or .*"):
        recognised(lambda view: None)
    assert recognised(lambda view: None, "strategy") is Point.STRATEGY
    with pytest.raises(InputError, match="'queue' is none; accepted: strategy, order"):
        recognised(lambda view: None, "queue")


def test_a_partial_function_is_known_by_what_is_left_of_its_signature() -> None:
    def order(bonus, job, processors, time, platform, draw):  # type: ignore[no-untyped-def]
        return bonus

    assert recognised(partial(order, 1.0)) is Point.ORDER


# --- the command ----------------------------------------------------------------------------------

GREEDY = """\
from attrs import frozen
from policies.interface import Decision


@frozen
class Greedy:
    most: int = 3

    def __call__(self, view) -> Decision:
        return Decision(view.queue[: self.most])
"""


def test_the_command_shows_faults_with_their_views_and_fails(shell: Shell) -> None:
    shell.write(GREEDY, "greedy.py")
    said = shell("check-policy", "greedy:Greedy", "--views", "40")
    assert "greedy" not in sys.modules
    assert said.code == 1
    assert "needs 1 processors, and 0 are left" in said.out
    assert said.out.splitlines()[-1] == "greedy:Greedy as strategy: 40 views, 1 fault"


def test_the_command_passes_parameters_and_what_is_sound(shell: Shell) -> None:
    shell("new", "policy", "strategy", "-o", "sound.py")
    words = ("sound:SmallestFit", "--set", "patience=5", "--views", "20")
    said = shell("check-policy", *words)
    assert (said.code, said.err) == (0, "")
    assert said.out == "sound:SmallestFit as strategy: 20 views, no fault\n"


BARE = """\
from attrs import frozen
from policies.interface import Decision


@frozen
class Bare:
    most = 1

    def __call__(self, view):
        return Decision([it for it in view.queue if it.processors <= view.free][: self.most])
"""


def test_the_command_tells_how_many_views_it_showed_where_a_fault_ends_the_test(
    shell: Shell,
) -> None:
    shell.write("def never(view):\n    while True:\n        pass\n", "loops.py")
    words = ("--point", "strategy", "--within", "0.1")
    said = shell("check-policy", "loops:never", *words)
    assert said.code == 1
    assert said.out.splitlines()[-1] == "loops:never as strategy: 1 view, 1 fault"


UNENDING = """\
import itertools
import re
import time
from pathlib import Path


def sums(view):
    print("asked")
    return sum(itertools.count())


def searches(view):
    return re.match("(a+)+b", "a" * 100)


def sleeps(view):
    Path("asked").touch()
    time.sleep(1000)
"""


@pytest.mark.parametrize("name", ["sums", "searches"])
@pytest.mark.slow
def test_the_command_ends_where_an_answer_never_returns_to_the_interpreter(
    shell: Shell, name: str
) -> None:
    shell.write(UNENDING, "unending.py")
    words = ("check-policy", f"unending:{name}", "--point", "strategy", "--within", "0.1")
    said = ended(spawn(*words))
    assert (said.code, said.err) == (1, "")
    first, *_, last = said.out.removeprefix("asked\n").splitlines()
    assert first == "it takes too long: no answer within 0.1 s"
    assert last == f"unending:{name} as strategy: 1 view, 1 fault"
    assert ("asked" in said.out) == (name == "sums")


@pytest.mark.usefixtures("hears_ctrl_c")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.slow
def test_a_signal_ends_the_command_in_one_line_whatever_the_policy_does(
    shell: Shell, number: signal.Signals
) -> None:
    shell.write(UNENDING, "unending.py")
    words = ("check-policy", "unending:sleeps", "--point", "strategy", "--within", "1000")
    process = spawn(*words, start_new_session=True)
    until(Path("asked").exists, process)
    os.killpg(process.pid, number)
    said = ended(process)
    how = "interrupted" if number == signal.SIGINT else "terminated"
    assert (said.code, said.complaint()) == (128 + number, f"holdfast: {how}")
    with pytest.raises(ProcessLookupError):  # its group is empty
        os.killpg(process.pid, 0)


@pytest.mark.parametrize("name", ["Never", "Sleeps", "Sums"])
def test_a_policy_that_is_never_made_is_refused_in_one_line(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("sims.kit.trial.LOADING", 0.3)
    shell.write(UNMADE, "unmade.py")
    line = shell.refused("check-policy", f"unmade:{name}", "--within", "0.1")
    assert f"POLICY: 'unmade:{name}' is not imported and made within 0.3 s" in line


UNMADE = """\
import itertools
import os
import time


class Never:
    def __init__(self):
        while True:
            pass


class Sleeps:
    def __init__(self):
        time.sleep(1000)


class Sums:
    def __init__(self):
        self.all = sum(itertools.count())


class Leaves:
    def __init__(self):
        os._exit(0)
"""


def test_a_policy_that_ends_the_process_as_it_is_made_is_refused_in_one_line(shell: Shell) -> None:
    shell.write(UNMADE, "unmade.py")
    line = shell.refused("check-policy", "unmade:Leaves")
    assert "POLICY: 'unmade:Leaves' ends the process, with exit code 0, as it is imported" in line


def test_a_starter_without_annotations_passes_and_its_constant_is_no_parameter(
    shell: Shell,
) -> None:
    shell.write(BARE, "bare.py")
    assert shell("check-policy", "bare:Bare", "--views", "20").code == 0
    line = shell.refused("check-policy", "bare:Bare", "--set", "most=2")
    assert "policy.parameters.most: Bare.most has no annotation" in line
    assert "`most: float = 1`" in line


def test_a_policy_that_there_is_not_is_refused(shell: Shell) -> None:
    for name in ("nowhere:Mine", "IE"):
        said = shell("check-policy", name)
        assert (said.code, name in said.complaint()) == (2, True)


def test_without_hypothesis_the_command_names_what_to_install() -> None:
    assert "pip install 'holdfast[kit]'" in without("hypothesis", "check-policy", "greedy:Greedy")
