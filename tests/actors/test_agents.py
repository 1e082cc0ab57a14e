"""Agents hear of events once their instant is over, and act on workers and jobs by one door."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from attrs import define, field
from holdfast.agents import Act, Adversary, Agent, Autoscaler, ClosedLoopUser, Operator, Reminder

from actors.decisions import BadDecision
from actors.events import (
    AgentCalledReserve,
    AgentCancelledJob,
    AgentDescribed,
    AgentReturnedWorker,
    AgentSubmittedJob,
    AgentTookWorker,
    HangDetected,
    JobCompleted,
    JobDescribed,
    JobKilled,
    JobSubmitted,
    Outcome,
    RunEnded,
    RunHung,
    RunStarted,
    WorkerChanged,
    WorkerSpeedChanged,
    WorkloadEnded,
)
from actors.runtime import Deadlock, Event, Record, handles
from policies.availability import WorkerState
from sims.audit.audit import audit
from sims.errors import InputError
from sims.session import load
from sims.world import run, with_given

Table = dict[str, Any]
UP, RECLAIMED, DOWN = WorkerState
Plan = Callable[[Agent, int], None]


@define(eq=False)
class Planned(Agent):
    """Does at the start what it is told to plan."""

    plan: Plan = field(kw_only=True)

    def begin(self, cause: int) -> None:
        self.plan(self, cause)


def world(*jobs: Table, workers: int = 2, **more: Any) -> Table:
    job = {"kind": "rigid", "jobs": list(jobs or ({"processors": 2, "time": 10},))}
    platform = {"workers": workers} | more.pop("platform", {})
    return {"name": "w", "platform": platform, "job": job, "policy": {"name": "EASY"}} | more


def played(table: Table, *agents: Agent) -> list[Record]:
    records: list[Record] = []
    run(with_given(load(table), actors=agents), [records.append])
    assert [str(it) for it in audit(iter(records))] == []
    return records


def told(records: list[Record], *kinds: type[Event]) -> list[tuple[float, Event]]:
    return [(it.t, it.event) for it in records if isinstance(it.event, kinds)]


def by(records: list[Record], record: Record) -> Event:
    """The event that caused another one."""
    assert record.cause is not None
    return records[record.cause].event


def first(records: list[Record], kind: type[Event]) -> Record:
    return next(it for it in records if isinstance(it.event, kind))


# --- what it does to workers ----------------------------------------------------------------------


def test_a_worker_that_an_agent_takes_is_reclaimed_until_it_is_given_back() -> None:
    def plan(me: Agent, cause: int) -> None:
        me.take(1, cause, after=3)
        me.give_back(1, cause, after=7)

    records = played(world(), Planned(plan=plan))
    assert told(records, WorkerChanged, RunEnded) == [
        (3, WorkerChanged(1, RECLAIMED, UP, None)),
        (7, WorkerChanged(1, UP, RECLAIMED, None)),
        (14, RunEnded("J1", 0, Outcome.COMPLETED, 10)),
    ]
    assert by(records, first(records, WorkerChanged)) == AgentTookWorker("Planned", 1, RECLAIMED)


def test_a_worker_that_is_taken_down_loses_its_run() -> None:
    def plan(me: Agent, cause: int) -> None:
        me.take(0, cause, after=4, state=DOWN)
        me.give_back(0, cause, after=6)

    records = played(world(), Planned(plan=plan))
    ends = [(4, RunEnded("J1", 0, Outcome.LOST, 4)), (16, RunEnded("J1", 1, Outcome.COMPLETED, 10))]
    assert told(records, RunEnded) == ends


def test_what_the_owner_does_meanwhile_shows_once_the_worker_is_given_back() -> None:
    def plan(me: Agent, cause: int) -> None:
        me.take(0, cause, after=2)
        me.give_back(0, cause, after=6)

    records = played(world(reclaims=[[4, 9, 0]]), Planned(plan=plan))
    assert [(t, it.state) for t, it in told(records, WorkerChanged)] == [(2, RECLAIMED), (9, UP)]


def test_a_fault_by_an_agent_has_its_downtime_and_its_act_as_cause() -> None:
    records = played(world(), Planned(plan=lambda me, cause: me.inject_fault(1, 5, cause, after=4)))
    down, up = told(records, WorkerChanged)
    assert (down, up[0]) == ((4, WorkerChanged(1, DOWN, UP, 9)), 9)
    assert "AgentFailedWorker" in repr(by(records, first(records, WorkerChanged)))


def test_a_hang_by_an_agent_stops_the_run_until_it_is_detected() -> None:
    records = played(world(), Planned(plan=lambda me, cause: me.inject_hang(0, 3, cause, after=4)))
    assert told(records, RunHung, HangDetected) == [
        (4, RunHung("J1", 0, 0, 3)),
        (7, HangDetected("J1", 0, 0)),
    ]


def test_a_speed_by_an_agent_holds_until_the_next() -> None:
    def plan(me: Agent, cause: int) -> None:
        me.set_speed(0, 0.5, cause, after=4)
        me.set_speed(0, 1, cause, after=8)

    records = played(world(), Planned(plan=plan))
    assert [t for t, _ in told(records, WorkerSpeedChanged)] == [4, 8]
    assert told(records, JobCompleted) == [(12, JobCompleted("J1"))]


@pytest.mark.parametrize("protection", [{}, {"kind": "images", "period": 3, "cost": 1}])
def test_a_deadlock_names_the_jobs_whose_workers_have_no_speed(protection: Table) -> None:
    """Workers 0 and 2 have speed 0 from 1 on. J3 waits for one of the jobs that do not advance."""

    def stop(me: Agent, cause: int) -> None:
        for worker in (0, 2):
            me.set_speed(worker, 0, cause, after=1)

    wide = {"processors": 2, "time": 10}
    with pytest.raises(Deadlock) as caught:
        played(world(wide, wide, wide, workers=5, protection=protection), Planned(plan=stop))
    assert caught.value.waiting == (
        "scheduler waits for 3 of 3 jobs",
        "J1 waits for a speed above 0 of worker 0",
        "J2 waits for a speed above 0 of worker 2",
    )


def test_an_agent_calls_the_next_worker_of_the_reserve() -> None:
    reserve = {"reserve": 1, "reserve_delay": 2}
    table = world({"processors": 1, "time": 10}, workers=3, platform=reserve)
    records = played(table, Planned(plan=lambda me, cause: me.call_reserve(cause, after=4)))
    assert told(records, AgentCalledReserve) == [(4, AgentCalledReserve("Planned", 2))]
    assert (6, WorkerChanged(2, UP, RECLAIMED, None)) in told(records, WorkerChanged)


# --- jobs -----------------------------------------------------------------------------------------


def test_a_closed_loop_user_thinks_between_the_end_of_a_job_and_the_next() -> None:
    jobs: list[Table] = [{"processors": 2, "time": 10}, {"processors": 1, "time": 4, "release": 99}]
    records = played(world(*jobs), ClosedLoopUser(think=5, jobs=("*",)))
    assert [t for t, _ in told(records, JobSubmitted)] == [0, 15]
    last = [it for it in records if isinstance(it.event, JobSubmitted)][-1]
    assert by(records, last) == AgentSubmittedJob("ClosedLoopUser", "J2")
    assert last.cause is not None
    assert by(records, records[last.cause]) == JobCompleted("J1")


def test_a_job_that_its_agent_never_submits_is_named_in_the_deadlock() -> None:
    with pytest.raises(Deadlock, match="agents to submit J1"):
        played(world(), Planned(plan=lambda me, cause: None, jobs=("J1",)))


# --- what it cancels ------------------------------------------------------------------------------

OWN: list[Table] = [
    {"processors": 2, "time": 10, "name": "first"},
    {"processors": 2, "time": 10, "name": "own"},
    {"processors": 1, "time": 4, "name": "last"},
]


def cancelling(job: str, after: float, *, submits: float = 0) -> Planned:
    """An agent that submits a job and cancels it."""

    def plan(me: Agent, cause: int) -> None:
        me.submit(job, cause, after=submits)
        me.cancel_job(job, cause, after=after)

    return Planned(plan=plan, jobs=(job,))


def test_a_job_that_is_cancelled_as_it_waits_is_over_and_makes_way() -> None:
    records = played(world(*OWN, policy={"name": "FCFS"}), cancelling("own", 3))
    assert told(records, JobKilled) == [(3, JobKilled("own"))]
    assert by(records, first(records, JobKilled)) == AgentCancelledJob("Planned", "own")
    assert [it.job for _, it in told(records, RunStarted)] == ["first", "last"]
    ended = first(records, WorkloadEnded)
    assert (ended.t, ended.event) == (14, WorkloadEnded(2, 1, 2))


def test_a_job_that_is_cancelled_as_it_runs_frees_its_workers_at_once() -> None:
    records = played(world(*OWN[1:]), cancelling("own", 3))
    end = RunEnded("own", 0, Outcome.CANCELLED, 3)
    assert told(records, RunEnded)[0] == (3, end)
    assert by(records, first(records, RunEnded)) == AgentCancelledJob("Planned", "own")
    assert by(records, first(records, JobKilled)) == end
    assert told(records, RunStarted)[1][0] == 3


def test_a_job_that_ends_as_it_is_cancelled_is_completed() -> None:
    records = played(world(*OWN[1:]), cancelling("own", 10))
    assert told(records, AgentCancelledJob) == [(10, AgentCancelledJob("Planned", "own"))]
    assert not told(records, JobKilled)


def test_all_copies_of_a_cancelled_job_end() -> None:
    jobs: list[Table] = [{"processors": 1, "time": 10, "name": "own"}, OWN[2]]
    protection = {"copies": 2}
    records = played(world(*jobs, protection=protection, workers=3), cancelling("own", 4))
    ends = [it for t, it in told(records, RunEnded) if t == 4 and it.job == "own"]
    assert [(it.run, it.outcome) for it in ends] == [(k, Outcome.CANCELLED) for k in (0, 1)]


def test_a_job_that_follows_a_cancelled_one_is_submitted_after_that() -> None:
    follows = {"processors": 1, "time": 4, "name": "next", "after": ["own"], "think": 2}
    records = played(world(*OWN[:2], follows), cancelling("own", 3))
    submitted = [(t, it.job) for t, it in told(records, JobSubmitted)]
    assert (5, "next") in submitted


def test_a_reservation_that_a_cancelled_job_leaves_lets_others_start_earlier() -> None:
    jobs: list[Table] = [
        {"processors": 2, "time": 10, "name": "first"},
        {"processors": 2, "time": 10, "name": "own"},
        {"processors": 2, "time": 5, "name": "last"},
    ]
    for policy in (
        {"name": "conservative"},
        {"name": "R-LIST-2", "reading": "kept"},
        {"name": "EASY"},
    ):
        records = played(world(*jobs, policy=policy), cancelling("own", 3))
        starts = [(t, it.job) for t, it in told(records, RunStarted)]
        assert starts == [(0, "first"), (10, "last")], policy


def test_a_job_cannot_be_cancelled_before_it_is_submitted() -> None:
    asked = "agent Planned cancels own, which it has not submitted, at 3"
    with pytest.raises(BadDecision, match=asked):
        played(world(*OWN), cancelling("own", 3, submits=5))


def test_a_job_that_comes_before_its_release_is_placed_as_of_then() -> None:
    """A yield is work over the time since the submission, which would be below 0."""
    jobs: list[Table] = [{"processors": 1, "time": 3, "release": 7}]
    policy = {"name": "EASY", "placement": "IY"}
    records = played(world(*jobs, policy=policy), ClosedLoopUser(jobs=("J1",)))
    assert [t for t, _ in told(records, RunStarted)] == [0]


# --- what it hears --------------------------------------------------------------------------------


@define(eq=False)
class Listener(Agent):
    """Notes what it hears, and when; does nothing."""

    does: ClassVar = ()
    heard: list[tuple[float, str]] = field(init=False, factory=list)

    @handles(JobSubmitted, RunStarted, RunEnded, JobCompleted)
    def hear(self, event: Event, cause: int) -> None:
        self.heard.append((self.now, type(event).__name__))


def test_an_agent_hears_of_the_events_that_its_handlers_name_in_their_order() -> None:
    jobs: list[Table] = [{"processors": 2, "time": 10}, {"processors": 2, "time": 5}]
    listener = Listener()
    beside, alone = played(world(*jobs), listener), played(world(*jobs))
    assert listener.heard == [
        *((0, "JobSubmitted"), (0, "JobSubmitted"), (0, "RunStarted")),
        *((10, "RunEnded"), (10, "JobCompleted"), (10, "RunStarted")),
    ]  # what happens at the end is heard no more
    assert [it.event for it in beside if not isinstance(it.event, AgentDescribed)][1:] == [
        it.event for it in alone
    ][1:]


@pytest.mark.parametrize("slotted", [False, True])
def test_nothing_that_an_agent_does_changes_what_it_has_just_seen(slotted: bool) -> None:
    @define(eq=False)
    class Hasty(Agent):
        @handles(RunStarted)
        def hear(self, event: RunStarted, cause: int) -> None:
            self.take(0, cause, after=0)

    unit = {"unit": "slot"} if slotted else {}
    accepted = "whole slots, 1 or more" if slotted else "a finite time above 0"
    with pytest.raises(BadDecision, match=f"agent Hasty waits for 0; accepted: {accepted}"):
        played(world(**unit), Hasty())


def test_an_agent_that_submits_only_leaves_the_world_as_light_as_it_was() -> None:
    jobs: list[Table] = [{"processors": 2, "time": 10}, {"processors": 1, "time": 4}]
    records = played(world(*jobs), ClosedLoopUser(think=5, jobs=("J2",)))
    described = [it for _, it in told(records, JobDescribed)]
    assert [getattr(it, "failures", None) for it in described] == [0, 0]  # jobs of attempts


# --- what is refused ------------------------------------------------------------------------------

REFUSED: list[tuple[Plan, str]] = [
    (lambda me, cause: me.take(2, cause), "acts on worker 2, at 1; accepted: 0 to 1"),
    (lambda me, cause: me.take(0, cause, state=UP), "takes worker 0 UP"),
    (lambda me, cause: me.give_back(0, cause), "gives back worker 0, which it has not taken"),
    (lambda me, cause: me.inject_fault(0, 0, cause), "keeps worker 0 DOWN for 0"),
    (lambda me, cause: me.inject_hang(0, -1, cause), "hangs worker 0 for -1"),
    (lambda me, cause: me.set_speed(0, -1, cause), "sets the speed of worker 0 to -1"),
    (lambda me, cause: me.call_reserve(cause), "asks for call: there is no reserve to call"),
    (lambda me, cause: me.submit("J1", cause), "submits 'J1', which is none of its jobs"),
    (lambda me, cause: me.cancel_job("J1", cause), "cancels 'J1', which is none of its jobs"),
]
ODD: list[tuple[Callable[[Any, int], None], str]] = [
    (lambda me, cause: me.take(0, cause, state="DOWN"), "takes worker 0 'DOWN', at 1; accepted: W"),
    (lambda me, cause: me.take(True, cause), "acts on worker True, at 1; accepted: 0 to 1"),
    (lambda me, cause: me.take(1.0, cause), "acts on worker 1.0, at 1; accepted: 0 to 1"),
    (lambda me, cause: me.take("0", cause), "acts on worker '0', at 1; accepted: 0 to 1"),
    (lambda me, cause: me.take(0, 10**9), "asks for take because of event 1000000000; accepted: t"),
    (lambda me, cause: me.take(0, -1), "asks for take because of event -1; accepted: the `cause`"),
    (lambda me, cause: me.take(0, None), "asks for take because of event None; accepted: the `c"),
    (lambda me, cause: me.wait(1, "x"), "asks for a reminder because of event 'x'; accepted: the"),
    (lambda me, cause: me.wait("5", cause), "waits for '5'; accepted: a finite time above 0"),
    (lambda me, cause: me.wait(10**30, cause), "waits for 10000000000000000000000000000"),
    (lambda me, cause: me.take(0, cause, after=True), "waits for True; accepted: a finite time"),
    (lambda me, cause: me.submit(["J1"], cause), r"submits \['J1'\], which is none of its jobs"),
    (
        lambda me, cause: me.inject_fault(0, 10**400, cause),
        r"keeps worker 0 DOWN for 10+\.\.\., at 1",
    ),
    (
        lambda me, cause: me.inject_fault(0, 10**5000, cause),
        "keeps worker 0 DOWN for a value of int that cannot be shown",
    ),
    (lambda me, cause: me.inject_hang(0, "2", cause), "hangs worker 0 for '2', at 1"),
    (lambda me, cause: me.set_speed(0, None, cause), "sets the speed of worker 0 to None, at 1"),
    (
        lambda me, cause: setattr(me, "name", "other"),
        "changes its name to 'other'; accepted: `name`",
    ),
]


@pytest.mark.parametrize(("plan", "problem"), REFUSED + ODD)
def test_what_cannot_be_done_is_an_error_that_names_the_agent(plan: Plan, problem: str) -> None:
    with pytest.raises(BadDecision, match=f"agent Planned {problem}"):
        played(world(), Planned(plan=plan))


def test_two_acts_on_a_worker_at_one_instant_are_refused() -> None:
    def plan(me: Agent, cause: int) -> None:
        me.take(0, cause)
        me.inject_fault(0, 3, cause)

    with pytest.raises(BadDecision, match="acts on worker 0 a second time at this instant"):
        played(world(), Planned(plan=plan))


def test_an_act_that_a_class_does_not_name_is_refused() -> None:
    @define(eq=False)
    class Shy(Planned):
        does: ClassVar = (Act.SUBMIT,)

    with pytest.raises(BadDecision, match=r"asks for take; accepted: with `does = \(Act.TAKE"):
        played(world(), Shy(plan=lambda me, cause: me.take(0, cause)))


def test_faults_where_units_are_repaired_are_refused() -> None:
    repair = {"stages": [{"time": 2, "fixes": 1}]}
    faults = {"kind": "list", "strikes": [[50, 0]]}
    table = world(repair=repair, faults=faults)
    with pytest.raises(BadDecision, match=r"with \[repair\] a law of faults strikes units"):
        played(table, Planned(plan=lambda me, cause: me.inject_fault(0, 1, cause)))


def test_nobody_hears_of_what_nobody_knows() -> None:
    @define(eq=False)
    class Oracle(Agent):
        @handles(JobDescribed)
        def hear(self, event: JobDescribed, cause: int) -> None: ...

    with pytest.raises(InputError, match="hears of JobDescribed, of which nobody"):
        played(world(), Oracle())


def test_an_agent_lives_in_one_run() -> None:
    agent = Listener()
    played(world(), agent)
    with pytest.raises(InputError, match="Listener has been in a run; accepted: a new agent"):
        played(world(), agent)


# --- those that ship ------------------------------------------------------------------------------


def test_the_adversary_takes_a_worker_of_the_run_with_most_to_lose() -> None:
    jobs: list[Table] = [{"processors": 1, "time": 40}, {"processors": 2, "time": 40}]
    records = played(world(*jobs, workers=3), Adversary(every=10, keeps=3, strikes=1))
    taken = first(records, AgentTookWorker)
    assert (taken.t, taken.event) == (11, AgentTookWorker("Adversary", 1, DOWN))
    assert by(records, taken) == next(
        it.event for it in records if isinstance(it.event, RunStarted) and it.event.job == "J2"
    )
    assert told(records, RunEnded)[0] == (11, RunEnded("J2", 0, Outcome.LOST, 11))


def test_the_autoscaler_calls_workers_while_jobs_wait_and_returns_idle_ones() -> None:
    jobs: list[Table] = [{"processors": 1, "time": 10}, {"processors": 1, "time": 10}]
    records = played(
        world(*jobs, {"processors": 1, "time": 60}, workers=4),
        Autoscaler(least=1, step=1, boot=2, linger=5),
    )
    assert [(t, it.worker) for t, it in told(records, AgentReturnedWorker)][:3] == [
        *((2, 1), (2, 2), (2, 3)),
    ]
    taken = [(t, it.worker) for t, it in told(records, AgentTookWorker) if t]
    assert taken == [(8, 3), (18, 1)]


def test_the_operator_drains_a_node_after_its_second_fault() -> None:
    faults = {"kind": "list", "strikes": [[3, 0], [9, 1]], "downtime": 2}
    platform = {"node": 2}
    table = world({"processors": 1, "time": 90}, workers=4, platform=platform, faults=faults)
    records = played(table, Operator(service=20, window=100))
    assert [(t, it.worker) for t, it in told(records, AgentTookWorker)] == [(10, 0), (10, 1)]
    assert [(t, it.worker) for t, it in told(records, AgentReturnedWorker)] == [(31, 0), (31, 1)]


def test_the_operator_counts_a_fault_as_old_as_the_window() -> None:
    """In decimals, too: 0.8 - 0.2 is a little above 0.6."""
    faults = {"kind": "list", "strikes": [[0.2, 0], [0.8, 1]], "downtime": 2}
    platform = {"node": 2}
    table = world({"processors": 1, "time": 9}, workers=4, platform=platform, faults=faults)
    records = played(table, Operator(service=20, window=0.6))
    assert [(t, it.worker) for t, it in told(records, AgentTookWorker)] == [(1.8, 0), (1.8, 1)]


def test_an_agent_that_ships_is_a_file_of_at_most_sixty_lines() -> None:
    from pathlib import Path

    import actors.agents

    for name in ("adversary", "autoscaler", "operator", "user"):
        path = Path(actors.agents.__file__).with_name(f"{name}.py")
        assert len([it for it in path.read_text().splitlines() if it.strip()]) <= 60


def test_what_an_agent_draws_shifts_nobody_elses_draws() -> None:
    @define(eq=False)
    class Drawing(Agent):
        does: ClassVar = ()

        def begin(self, cause: int) -> None:
            self.rng.random(100)
            self.wait(1, cause)

        @handles(Reminder)
        def again(self, _: Reminder, cause: int) -> None:
            self.rng.random(100)

    faults = {"kind": "exponential", "mtbf": 30, "downtime": 2}
    alone, beside = played(world(faults=faults)), played(world(faults=faults), Drawing())
    assert told(alone, WorkerChanged) == told(beside, WorkerChanged)
