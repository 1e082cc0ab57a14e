"""Several iterative jobs under one enrolment policy; and what else meets enrolment in one world."""

from __future__ import annotations

import pytest
from attrs import define, evolve, field, frozen
from numpy.random import Generator

from actors.events import CheckpointTaken, End, RunStarted
from actors.protection import ProtectionKind, Rules
from policies.enrolment import named
from policies.interface import Configuration, EnrolmentView, Reason, Wake
from policies.maths.markov import workers_of
from tests.actors.deciders.enrolment.worlds import (
    FREE,
    Application,
    Costs,
    Machine,
    Played,
    World,
    choice,
    fixed,
    play,
    play_with,
    workers,
    world,
)


@frozen
class Lowest:
    """One task on each of the lowest workers that are UP and free."""

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        up = workers_of(view.up)[: view.enrolment.tasks]
        return choice(*((q, 1) for q in up)) if len(up) == view.enrolment.tasks else None


@define
class Moving:
    """The first job moves to the highest worker at time 2; the others stay."""

    wake = Wake.EVERY_SLOT

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        if view.reason is not Reason.PROACTIVE:
            return Lowest()(view, rng)
        up = workers_of(view.up)
        return choice((up[-1], 1)) if view.elapsed == 2 and 0 in up else None


def jobs(*tasks: int, costs: Costs = FREE) -> tuple[Application, ...]:
    return tuple(Application(tasks=m, iterations=1, costs=costs) for m in tasks)


def of(states: list[str], *apps: Application, costs: Costs = FREE) -> World:
    platform = workers(states, speeds=[4] * len(states))
    return World(platform=platform, jobs=apps, policy=Lowest(), costs=costs)


def placed(played: Played) -> list[tuple[float, str, str]]:
    """(when, job, workers) of each run."""
    return [(t, it.job, it.processors) for t, it in played.told(RunStarted)]


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        # A worker belongs to one job.
        (["u"] * 4, [(0, "J0", "0-1"), (0, "J1", "2-3")]),
        # A job waits for workers that another holds.
        (["u"] * 3, [(0, "J0", "0-1"), (4, "J1", "0-1")]),
        # A lost job is asked for by itself.
        (["uud", *["u"] * 4], [(0, "J0", "0-1"), (0, "J1", "2-3"), (2, "J0", "1 4")]),
    ],
)
def test_jobs_of_two_tasks_share_the_workers(
    states: list[str], expected: list[tuple[float, str, str]]
) -> None:
    assert placed(play(of(states, *jobs(2, 2)))) == expected


def test_who_leaves_by_a_switch_is_free_for_the_next_job_at_once() -> None:
    played = play_with(Moving(), of(["u"] * 3, *jobs(1, 1, 1)))
    assert placed(played)[:3] == [(0, "J0", "0"), (0, "J1", "1"), (0, "J2", "2")]
    later = [evolve(job, submitted=k) for k, job in enumerate(jobs(1, 1))]
    moved = play_with(Moving(), of(["u"] * 2, *later))
    assert placed(moved)[:2] == [(0, "J0", "0"), (1, "J1", "1")]


def test_each_job_has_a_program_of_its_own() -> None:
    costs = Costs(channels=2, program=2)
    what = of(["u" * 20], *jobs(1, 1, costs=costs), costs=costs)
    assert play(what).rows() == ["PPCCCCPPCCCC"]


def test_without_reuse_whoever_is_enrolled_again_has_lost_its_data() -> None:
    """P2 goes DOWN at 3, when P1 has program and datum."""
    costs = Costs(channels=2, program=1, data=1)
    what = world(workers(["u" * 9, "uuuduuuuu"]), 2, costs, policy=fixed((0, 1), (1, 1)))
    platform = workers(["u" * 12, "uuuddddddddd", "u" * 12], speeds=[4, 4, 4])
    script = Switching()
    kept = evolve(what, platform=platform, policy=script)
    assert play(kept).rows()[0] == "PDCIICCCC"
    assert play(evolve(kept, reuse=False)).rows()[0] == "PDCDICCCC"


@frozen
class Switching:
    """P1 with P2, or with P3 when P2 is not UP."""

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        return choice((0, 1), (1, 1)) if view.up & 2 else choice((0, 1), (2, 1))


@pytest.mark.parametrize("name", ["IE", "Y-IE", "E-IAY", "RANDOM"])
@pytest.mark.parametrize("kind", ProtectionKind)
def test_every_protection_runs_under_enrolment(name: str, kind: ProtectionKind) -> None:
    rules = Rules(kind=kind, period=lambda members: 2.0, cost=1, recovery=1)
    costs = Costs(channels=2, program=2, data=1, image=1)
    states = ["u" * 7 + "r" + "u" * 9 + "d" + "u" * 20, *["u" * 60] * 3]
    played = play(
        world(workers(states, speeds=[3] * 4), 6, costs, 3, policy=named(name), rules=rules)
    )
    assert played.end is End.COMPLETED
    assert bool(played.times(CheckpointTaken)) == (kind is not ProtectionKind.NONE)


def test_another_configuration_continues_with_the_same_fraction() -> None:
    """P1 does 4 of 8 and saves; P2, twice as fast, needs 2 more of its 4."""
    rules = Rules(kind=ProtectionKind.IMAGES, period=lambda members: 4.0)
    platform = (Machine("uuuuud", 8), Machine("u" * 20, 4))
    what = world(platform, 1, Costs(image=0), policy=First(), rules=rules)
    [(_, first), (_, second)] = play(what).told(RunStarted)
    assert (first.work, second.work, second.begun, second.saved) == (8, 4, 2, 4)
    assert play(what).outcomes() == [(5, "lost"), (7, "completed")]


@frozen
class First:
    """All tasks on the lowest worker that is UP."""

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        up = workers_of(view.up)
        return choice((up[0], view.enrolment.tasks)) if up else None


@define
class Asking:
    """Gives each job its own pair of workers, and another partner once that is DOWN; notes what
    each worker would lack, with one task."""

    lacks: dict[tuple[str, Reason], list[int]] = field(factory=dict)

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        name = view.name  # type: ignore[attr-defined]
        self.lacks[name, view.reason] = [view.missing(q, 1) for q in range(6)]
        mine, other = (0, 1) if name == "J0" else (2, 3)
        return choice((mine, 1), (other if view.up >> other & 1 else 4 + mine // 2, 1))


def test_of_what_a_worker_holds_only_its_own_jobs_data_count_for_a_job() -> None:
    """P2 and P4 go DOWN at 5, when all four have a program (2 slots) and a datum (1 slot) of their
    own job: P1 and P3 hold them still, but each for one job."""
    costs = Costs(channels=4, program=2, data=1)
    states = [*["u", "uuuuud"] * 2, "u", "u"]
    policy = Asking()
    play_with(policy, of(states, *jobs(2, 2, costs=costs), costs=costs))
    assert policy.lacks == {
        ("J0", Reason.START): [3] * 6,
        ("J1", Reason.START): [3] * 6,
        ("J0", Reason.FAILURE): [0, 3, 3, 3, 3, 3],
        ("J1", Reason.FAILURE): [3, 3, 0, 3, 3, 3],
    }
