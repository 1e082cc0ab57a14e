"""Regenerate malleable17, malleable applications under faults: section 4's examples and figures 7
to 16."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from statistics import pstdev
from typing import Any

from attrs import define, field, frozen

from actors.events import EndExpected, JobCompleted, Outcome, RunEnded
from actors.runtime import Record
from policies.interface.pack import LookAhead
from sims.campaign.results import Results
from sims.durations import YEAR
from sims.papers.inputs import base
from sims.papers.values import Place, Value, estimated, exactly, ratios
from sims.plots import CYCLE
from sims.plots.figure import PLAIN, blank_figure, legend_below, save
from sims.scenario.loader import read
from sims.world import run

FAULT_FREE = "fault-free EndLocal"
"""Name of the optimistic bound in the figures: no faults, no checkpoints, redistribution at
ends."""


def pack(
    policy: str,
    seed: int,
    smallest: float = 1_500_000.0,
    applications: int = 100,
    processors: int = 1000,
    mtbf_years: float = 100.0,
    unit: float = 1.0,
    sequential: float = 0.08,
    faults: bool = True,
    look: str = LookAhead.NEXT_PAIR.value,
) -> dict[str, Any]:
    """Return the scenario of one pack in the setting of malleable17, section 6.1, with the paper's
    parameters by default.

    `smallest` is m_inf, the smallest size of an application in data units, `applications` n and
    `processors` p; `mtbf_years` is the MTBF of one processor, `unit` c in s per data unit, and
    `sequential` the sequential fraction f of the work. Without `faults`, or under FAULT_FREE, there
    are neither faults nor checkpoints. `look` says when an application counts as improvable
    (`LookAhead`).

    Each point of a curve has packs and faults of its own: with the same ones, scaled, a mean over
    the points would hardly be surer than a single point. All policies of a point share them.
    """
    place = (smallest, applications, processors, mtbf_years, unit, sequential, faults)
    first = int.from_bytes(blake2b(repr(place).encode(), digest_size=4).digest())
    own: dict[str, Any] = {
        "seed": first,
        "platform.workers": processors,
        "job.synthetic.count": applications,
        "job.synthetic.smallest": smallest,
        "job.synthetic.seed": first + seed,
        "job.speedup.fraction": sequential,
        "link.unit": unit,
        "policy.name": policy.removeprefix("fault-free "),
        "policy.look": look,
    }
    if faults and policy != FAULT_FREE:
        own["faults"] = {"kind": "exponential", "mtbf": mtbf_years * YEAR}
        own["protection"] = {"kind": "buddies", "period": "young"}
    return base("malleable17/base", own)


def example(which: str) -> dict[str, Any]:
    """Return the scenario of one of the examples of malleable17, section 4, by its name: `first` or
    `second`."""
    return base(f"malleable17/example-{which}")


# --- views ------------------------------------------------------------------------------------


def figure(results: Results) -> list[Value]:
    """Return mean makespans, each over that without redistribution, and the mean gain in per cent
    of each policy over the points of each part of the figure."""
    found = ratios(results)
    parts = dict.fromkeys((it.place[:1], it.who) for it in found)
    return found + [_gain(found, *part) for part in parts]


def figure10(results: Results) -> list[Value]:
    """Return the values of `figure`, and the mean gains over all parts of the figure for the two
    heuristics for which the paper states them."""
    found = figure(results)
    stated = ("IteratedGreedy", "ShortestApplicationsFirst-EndLocal")
    return found + [_gain(found, (), who) for who in stated]


def _gain(found: list[Value], part: Place, who: str) -> Value:
    """Return the mean gain in per cent, 100 (1 - ratio of makespans), over the points of `found`
    whose place begins with `part` and whose policy's name begins with `who`."""
    own = (it for it in found if it.what == "ratio" and it.place[: len(part)] == part)
    gains = [100 * (1 - it.ours.mean) for it in own if it.who.startswith(who)]
    return Value(part, who, "mean gain, %", estimated(gains))


# --- figure 11: one run, fault by fault ---------------------------------------------------------


@frozen
class CoursePoint:
    """State of the platform after the decision on one fault (malleable17, figure 11)."""

    time: float
    """Time of the fault, in s."""
    makespan: float
    """Latest expected end, in s."""
    spread: float
    """Standard deviation of the running applications' sizes, in processors."""


@define
class Course:
    """Listens to a run, and records its expected makespan and the spread of sizes after each fault
    that ended a run (malleable17, figure 11)."""

    wants: frozenset[type] = frozenset((JobCompleted, EndExpected, RunEnded))
    moments: list[CoursePoint] = field(factory=list)
    """Points so far, in order of time."""
    _running: dict[str, tuple[int, float]] = field(factory=dict)
    """Maps each application to its size and expected end."""
    _ended: float = 0.0
    """Time of the last completion."""
    _fault: float | None = None
    """Time of a fault whose decisions are not complete, or None."""

    def __call__(self, record: Record) -> None:
        # Decisions on a fault are logged at its instant; the state is complete once time passes.
        if self._fault is not None and record.t > self._fault:
            sizes, ends = zip(*self._running.values(), strict=True)
            point = CoursePoint(self._fault, max(self._ended, *ends), pstdev(sizes))
            self.moments.append(point)
            self._fault = None
        match record.event:
            case RunEnded(outcome=Outcome.LOST):
                self._fault = record.t
            case EndExpected(job=job, processors=size, expected=expected):
                # An event without an expected end changes the size only.
                _, before = self._running.get(job, (0, 0.0))
                self._running[job] = size, before if expected is None else expected
            case JobCompleted(job=job):
                self._ended = record.t
                del self._running[job]


POLICIES = ("none", "IteratedGreedy-EndLocal", "ShortestApplicationsFirst-EndLocal")
TITLE = "malleable17, figure 11: a single run, at each fault that counted"
PICTURES = {
    "makespan": "expected makespan, s",
    "spread": "standard deviation of sizes, processors",
}
"""Maps each fact of a moment that is drawn to the title of its axis."""

Courses = dict[str, list[CoursePoint]]


def courses(seed: int = 1, mtbf_years: float = 50.0, **setting: Any) -> Courses:
    """Simulate each of `POLICIES` on the same pack and faults; return, for each, the points that
    `Course` records.

    `setting` are further arguments of `pack`. The paper's setting is n = 100, p = 1000 and an MTBF
    of 50 years.
    """
    found = {}
    for name in POLICIES:
        fold = Course()
        run(read(pack(name, seed, mtbf_years=mtbf_years, **setting), "figure 11"), [fold])
        found[name] = fold.moments
    return found


def figure11() -> Iterator[Value]:
    """Yield, for each of `POLICIES`, the number of faults that ended a run, and after the last such
    fault the expected makespan and the spread of sizes."""
    for name, moments in courses().items():
        last = moments[-1]
        yield Value((), name, "faults that counted", exactly(len(moments)))
        yield Value((), name, "expected makespan, s", exactly(last.makespan))
        yield Value((), name, "standard deviation of sizes", exactly(last.spread))


def pictures(folder: Path, found: Courses | None = None) -> Iterator[Path]:
    """Draw the two pictures of malleable17, figure 11, in `folder`, and yield their paths: expected
    makespan and spread of sizes over time.

    `found` has the points to draw; None: they are simulated in the paper's setting.
    """
    found = found or courses()
    for what, label in PICTURES.items():
        figure = blank_figure(9, 5.6)
        axes = figure.add_subplot()
        for (name, moments), color in zip(found.items(), CYCLE, strict=False):
            times, values = [it.time for it in moments], [getattr(it, what) for it in moments]
            axes.plot(times, values, label=name, color=color, marker=".")
        axes.xaxis.set_major_formatter(PLAIN)
        axes.yaxis.set_major_formatter(PLAIN)
        axes.set(title=TITLE, xlabel="time of the fault, s", ylabel=label)
        axes.grid(alpha=0.3)
        legend_below(figure, "redistribution at faults and ends")
        yield save(figure, folder / f"figure11-{what}.png")
