"""malleable17: malleable applications under faults: section 4's examples, figures 7 to 16."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from actors.events import EndExpected, JobCompleted, Outcome, RunEnded
from actors.runtime import Record
from policies.pack import LookAhead
from sims.campaign.results import Results
from sims.durations import YEAR
from sims.papers.inputs import base
from sims.papers.values import Place, Value, estimated, exactly, ratios
from sims.plots.figure import PLAIN, blank_figure, legend_below, save
from sims.plots.palette import CYCLE
from sims.scenario.loader import read
from sims.world import run

FAULT_FREE = "fault-free EndLocal"
"""The optimistic bound of the figures: no fault, no checkpoint, redistribution at ends."""
LARGEST = 2_500_000.0
"""m_sup, data units."""


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
    """Section 6.1's setting: the defaults are the paper's; `unit` is c in s per data unit.

    Points of a curve get packs and faults of their own: with the same ones, scaled, a mean over the
    points would hardly be surer than a single point. Policies of a point share them.
    """
    place = (smallest, applications, processors, mtbf_years, unit, sequential, faults)
    first = int.from_bytes(blake2b(repr(place).encode(), digest_size=4).digest())
    drawn = {"count": applications, "smallest": smallest, "largest": LARGEST, "seed": first + seed}
    faulty = {
        "faults": {"kind": "exponential", "mtbf": mtbf_years * YEAR},
        "protection": {"kind": "buddies", "period": "young"},
    }
    return {
        "name": "malleable17",
        "seed": first,
        "platform": {"workers": processors},
        "job": {
            "kind": "malleable",
            "synthetic": drawn,
            "speedup": {"kind": "synthetic", "fraction": sequential},
        },
        "link": {"unit": unit},
        **(faulty if faults and policy != FAULT_FREE else {}),
        "policy": {"name": policy.removeprefix("fault-free "), "look": look},
    }


def example(which: str) -> dict[str, Any]:
    """One of section 4's."""
    return base(f"malleable17/example-{which}")


# --- views ------------------------------------------------------------------------------------


def figure(results: Results) -> list[Value]:
    """Makespans over those without redistribution, and each part's mean gain over its points."""
    found = ratios(results)
    parts = dict.fromkeys((it.place[:1], it.who) for it in found)
    return found + [_gain(found, *part) for part in parts]


def figure10(results: Results) -> list[Value]:
    """The same, with the mean gains that the paper states over all parts."""
    found = figure(results)
    stated = ("IteratedGreedy", "ShortestApplicationsFirst-EndLocal")
    return found + [_gain(found, (), who) for who in stated]


def _gain(found: list[Value], part: Place, who: str) -> Value:
    """Over the points of a part and the policies whose names begin so."""
    own = (it for it in found if it.what == "ratio" and it.place[: len(part)] == part)
    gains = [100 * (1 - it.ours.mean) for it in own if it.who.startswith(who)]
    return Value(part, who, "mean gain, %", estimated(gains))


# --- figure 11: one run, fault by fault ---------------------------------------------------------


@frozen
class CoursePoint:
    """The platform after the decision on one fault (malleable17, figure 11)."""

    time: float
    makespan: float
    """The latest expected end, in s."""
    spread: float
    """Standard deviation of the running applications' sizes, in processors."""


@define
class Course:
    """Expected makespan and spread of sizes after each fault that counted (malleable17,
    figure 11)."""

    wants: frozenset[type] = frozenset((JobCompleted, EndExpected, RunEnded))
    moments: list[CoursePoint] = field(factory=list)
    _expected: dict[str, float] = field(factory=dict)
    _sizes: dict[str, int] = field(factory=dict)
    _ended: float = 0.0
    _fault: float | None = None

    def __call__(self, record: Record) -> None:
        if self._fault is not None and record.t > self._fault:
            self._take(self._fault)
        match record.event:
            case RunEnded(outcome=Outcome.LOST):
                self._fault = record.t
            case EndExpected(job=job, processors=size, expected=expected):
                self._sizes[job] = size
                if expected is not None:
                    self._expected[job] = expected
            case JobCompleted(job=job):
                self._ended = record.t
                del self._expected[job], self._sizes[job]

    def _take(self, time: float) -> None:
        self._fault = None
        sizes = list(self._sizes.values())
        mean = sum(sizes) / len(sizes)
        variance = sum((size - mean) ** 2 for size in sizes) / len(sizes)
        latest = max(self._ended, *self._expected.values())
        self.moments.append(CoursePoint(time, latest, variance**0.5))


POLICIES = ("none", "IteratedGreedy-EndLocal", "ShortestApplicationsFirst-EndLocal")
TITLE = "malleable17, figure 11: a single run, at each fault that counted"
PICTURES = {
    "makespan": "expected makespan, s",
    "spread": "standard deviation of sizes, processors",
}
"""What is drawn of each moment."""

Courses = dict[str, list[CoursePoint]]


def courses(seed: int = 1, mtbf_years: float = 50.0, **setting: Any) -> Courses:
    """Each policy's moments, on the same pack and faults; the paper's setting is n = 100, p = 1000,
    an MTBF of 50 years."""
    found = {}
    for name in POLICIES:
        fold = Course()
        run(read(pack(name, seed, mtbf_years=mtbf_years, **setting), "figure 11"), [fold])
        found[name] = fold.moments
    return found


def figure11() -> list[Value]:
    """The last moment of each policy."""
    return [
        Value((), name, what, exactly(value))
        for name, moments in courses().items()
        for what, value in (
            ("faults that counted", len(moments)),
            ("expected makespan, s", moments[-1].makespan),
            ("standard deviation of sizes", moments[-1].spread),
        )
    ]


def pictures(folder: Path) -> list[Path]:
    """The paper's two, in `folder`."""
    return list(draw(courses(), folder))


def draw(found: Courses, folder: Path) -> Iterator[Path]:
    """A picture of each quantity over time."""
    for what, told in PICTURES.items():
        figure = blank_figure(9, 5.6)
        axes = figure.add_subplot()
        for (name, moments), color in zip(found.items(), CYCLE, strict=False):
            points = [(it.time, getattr(it, what)) for it in moments]
            axes.plot(*zip(*points, strict=True), label=name, color=color, marker=".")
        axes.xaxis.set_major_formatter(PLAIN)
        axes.yaxis.set_major_formatter(PLAIN)
        axes.set(title=TITLE, xlabel="time of the fault, s", ylabel=told)
        axes.grid(alpha=0.3)
        legend_below(figure, "redistribution at faults and ends")
        yield save(figure, folder / f"figure11-{what}.png")
