"""Random jobs, with what all jobs of a scenario share."""

from __future__ import annotations

from random import Random
from typing import Any

from attrs import frozen

from tests.oracle.coincidences import pick
from tests.oracle.drawn_platform import LEVELS, Practice, draw_practices, draw_practised


@frozen
class Cell:
    """Which mechanisms meet in a scenario."""

    kind: str
    hazard: str
    third: str
    """Protection, or for copies whether they are cloned."""
    link: bool

    @property
    def name(self) -> str:
        """As the cases' are named."""
        return "/".join((self.kind, self.hazard, self.third, "link" if self.link else "free"))

    @property
    def of_copies(self) -> bool:
        return self.kind in ("copies-1", "copies-p")

    @property
    def mixed(self) -> bool:
        return self.kind == "mixed"

    @property
    def silent(self) -> bool:
        """Whether verifications may find errors."""
        return self.hazard in ("silent", "mixture")


@frozen
class Common:
    """What the jobs of a scenario share."""

    cell: Cell
    workers: int
    order: str
    protection: str | None
    """Of copies."""
    verified: bool
    """Where neither the cell nor the job says."""
    shared_program: bool
    program: int
    """Of a shared one."""
    small: bool
    """Short jobs, in which things happen close together."""
    wild: bool
    spares: int = 0
    practice: Practice = frozenset()


def draw_job(rng: Random, common: Common) -> dict[str, Any]:
    """In the neutral format."""
    cell = common.cell
    kind, copies, cloning = draw_kind(rng, common)
    protection = draw_protection(rng, common)
    verified = draw_verified(rng, common, protection)
    processors = draw_processors(rng, common, copies)
    longest = 18 if copies > 1 else 16
    time = rng.randint(2, 8) if common.small else rng.randint(3, longest)
    late = rng.random() >= 0.7
    release = rng.randint(1, 6 if common.small else 12) if late else 0
    return {
        "kind": kind,
        "release": release,
        "p": processors,
        **draw_work(rng, common, kind, time, protection),
        "verification": pick(rng, "verification"),
        "failures": draw_failures(rng) if cell.silent and rng.random() < 0.85 else [],
        "protection": protection,
        "verified": verified,
        **draw_costs(rng, common, protection),
        "copies": copies,
        "cloning": cloning,
        "delay": pick(rng, "delay") if cloning and not cell.link else 0,
        **draw_sizes(rng, common, protection, cloning),
        **draw_practices(rng, common.practice, protection),
    }


def draw_kind(rng: Random, common: Common) -> tuple[str, int, bool]:
    """Rigid, moldable or iterative; how many copies; whether they are cloned."""
    cell = common.cell
    if cell.of_copies:
        copies = rng.choice([2, 3])
        return pick(rng, "kind of copies"), copies, cell.third == "cloning"
    if not cell.mixed:
        return cell.kind, 1, False
    # No other order knows an iterative job's time.
    kind = pick(rng, "kind, FCFS" if common.order == "FCFS" else "kind")
    if kind != "iterative" and rng.random() < 0.5:
        copies = rng.choice([2, 3])
        return kind, copies, rng.random() < 0.5
    return kind, 1, False


def draw_protection(rng: Random, common: Common) -> str | None:
    """The cell's; a copy's is the scenario's; drawn where anything goes."""
    cell = common.cell
    if common.practice:
        return draw_practised(rng, common.practice)
    if cell.mixed or cell.third == "any":
        drawn: str | None = pick(rng, "protection")
        return drawn
    if cell.of_copies:
        return common.protection
    named = cell.third.split("-")[0]
    return None if named == "restart" else named


def draw_verified(rng: Random, common: Common, protection: str | None) -> bool:
    """Whether verifications precede checkpoints."""
    cell = common.cell
    if protection is None or not cell.silent:
        return False
    if cell.third.endswith(("-verified", "-unverified")):
        return cell.third.endswith("-verified")
    return rng.random() < 0.4 if cell.mixed else common.verified


def draw_processors(rng: Random, common: Common, copies: int) -> int:
    """Few for copies, of which several are to find room."""
    workers = common.workers - common.spares
    if common.cell.kind == "copies-1":
        return 1
    if common.cell.kind == "copies-p":
        return min(int(pick(rng, "processors of copies")), workers)
    return rng.randint(1, min(workers, 3) if copies > 1 else workers)


def draw_work(
    rng: Random, common: Common, kind: str, time: int, protection: str | None
) -> dict[str, Any]:
    """How long it takes."""
    if kind == "rigid":
        return {"t": time}
    if kind == "moldable":
        return {"times": draw_times(rng, common)}
    return {
        "tasks": rng.randint(1, 5 if common.small else 7),
        "iterations": rng.randint(1, 3),
        "w": draw_task_times(rng, common, protection),
    }


def draw_times(rng: Random, common: Common) -> list[int]:
    """By number of processors: shared out, with what every further one costs."""
    whole = rng.randint(4, 12) if common.small else rng.randint(3, 36)
    cost = rng.choice([0, 1, 2])
    return [max(2, -(-whole // p) + cost * (p - 1) // 4) for p in range(1, common.workers + 1)]


def draw_task_times(rng: Random, common: Common, protection: str | None) -> list[int]:
    """Equal ones for images, whose fractions would else be long numbers; wild ones a, 2a or 4a."""
    usual = rng.randint(2, 6)
    if protection == "images" and common.wild:
        usual = rng.randint(1, 3)
        return [usual * rng.choice([1, 2, 4]) for _ in range(common.workers)]
    if protection == "images" or rng.random() < 0.5:
        return [usual] * common.workers
    return [rng.randint(2, 6) for _ in range(common.workers)]


def draw_failures(rng: Random) -> list[int]:
    """What verifications find, in order."""
    often = rng.choice([0.3, 0.5, 0.7, 1])
    return [int(rng.random() < often) for _ in range(rng.randint(1, 8 if often < 1 else 3))]


def draw_costs(rng: Random, common: Common, protection: str | None) -> dict[str, Any]:
    """Of checkpoints; the link's images cost messages instead."""
    if protection is None:
        return {"period": None, "cost": 0, "recovery": 0}
    period = pick(rng, "period")
    if common.small and rng.random() < 0.2:
        period = 1
    if protection == "images" and common.cell.link:
        return {"period": period, "cost": 0, "recovery": 0}
    cost = pick(rng, "cost")
    return {"period": period, "cost": cost, "recovery": pick(rng, "recovery")}


def draw_sizes(
    rng: Random, common: Common, protection: str | None, cloning: bool
) -> dict[str, int]:
    """Of messages, where there is a link."""
    link = common.cell.link
    with_image = cloning or protection == "images" or LEVELS in common.practice
    program = common.program
    if not common.shared_program:
        program = pick(rng, "size") if link else 0
    data = pick(rng, "data") if link else 0
    image = pick(rng, "size") if link and with_image else 0
    return {"program": program, "data": data, "image": image}
