"""The `[live]` section: how real processes carry a scenario out."""

from __future__ import annotations

from typing import Annotated, Literal

from sims.tables import Section
from sims.tables.fields import Accepts, Positive


class LiveSection(Section):
    """`[live]`: how `holdfast live` and `reality` carry the scenario out with real processes; other
    commands ignore it. Its times are seconds of the wall clock."""

    scale: Positive = 1.0
    """Seconds of the wall clock per time unit."""
    pace: Annotated[Positive | Literal["free"], Accepts("a finite number above 0, or `free`")] = (
        "free"
    )
    """Seconds between two steps of a computation at speed 1, most of which the process sleeps;
    `free`: a job's time is a number of steps, and steps, checkpoints and messages take what they
    take."""
    step: Positive | None = None
    """Seconds that a step is expected to last, only without a pace: times of jobs and periods are
    divided by it to give numbers of steps; default: a step for each time unit. `reality` measures
    it."""
    bandwidth: Positive = 1.0
    """Megabytes per second through one channel of the master."""
    rates: tuple[Positive, Positive, Positive] | None = None
    """Megabytes that a program, data and an image have for each second of their times in
    `[master]`; default: `bandwidth` for all three. `reality` sets them from its measurements."""
    tolerance: Positive = 0.05
    """Largest delay of completed work that still counts as on time, seconds; only with a pace."""
    patience: Positive | None = None
    """Seconds after which a run has failed: with a pace, those for which work is late, default 20;
    without, those for which a step lasts, default 600, or 100 times the longest answer so far."""
    function: str | None = None
    """`package.module:name` of the function (state, number of the step) -> state that computes one
    step, with both states as bytes; default: a hash."""
