"""Blame: which unit a fault is put down to once it is known (rules.md, R7).

A fault of a unit whose workers no run held is put down to that unit. Where a run held them, the
fault can be put down to another unit of that run by mistake, or to none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import define, field

from actors.chance import Chance
from actors.events.repair import Struck
from actors.intervals import Intervals, Members, intervals_of, without
from actors.repair_messages import RunStruck, Unit, Units
from actors.runtime.draws import UnitDraws


@define(eq=False)
class Blame:
    """Chances that a fault is blamed on a unit at all, and that it is blamed on another unit than
    the one that it has struck; with the runs that this instant's faults have ended."""

    blamed: Chance
    """Decides whether a fault is blamed on any unit."""
    mistaken: Chance
    """Decides whether a fault that is blamed is blamed on another unit than it has struck."""
    others: Iterator[int] = field(factory=lambda: iter(()))
    """Positions of the units that are blamed by mistake, among the units that may be, in order;
    once all are used, positions are drawn."""
    certain: bool = field(init=False)
    """Whether each fault is blamed on the unit that it has struck, so that nothing is drawn."""
    _runs: dict[int, RunStruck] = field(init=False, factory=dict)
    """Maps each copy whose run a fault has ended at the instant `_at` to the report with the run's
    members."""
    _at: float = field(init=False, default=-1)

    def __attrs_post_init__(self) -> None:
        self.certain = self.blamed.asked == 1 and self.mistaken.asked == 0

    def note_run(self, run: RunStruck, now: float) -> None:
        """Keep the report on a run that a fault has ended at the time `now`."""
        if self._at != now:
            self._at = now
            self._runs.clear()
        self._runs.setdefault(run.copy, run)

    def choose(
        self, struck: Unit, copies: Mapping[int, int], units: Units, draws: UnitDraws, now: float
    ) -> Unit | None:
        """Draw the unit that a fault of `struck` is blamed on at the time `now`, and return it;
        None if it is blamed on none. If no run held the struck unit, or no other unit could be
        blamed, it is the struck one. `copies` maps each worker of the unit to the copy that held it
        when the fault became known on it, -1 where none did."""
        if self.certain:
            return struck
        runs = self._runs if self._at == now else {}
        held = ((worker, runs.get(copy)) for worker, copy in sorted(copies.items()))
        run = next((run for worker, run in held if run and worker in run.members), None)
        others = _others(struck, run, units) if run is not None else ()
        count = sum(last - first + 1 for first, last in others)
        if not count:
            return struck
        worker = struck.turn[0]
        if not self.blamed.comes(draws, worker):
            return None
        if not self.mistaken.comes(draws, worker):
            return struck
        place = next(self.others, None)
        place = draws.integers(worker, count) if place is None else min(place, count - 1)
        for first, last in others:
            if place <= last - first:
                return units.unit(struck.of, first + place)
            place -= last - first + 1
        raise AssertionError("the place is below the number of units")


def _others(unit: Unit, run: RunStruck, units: Units) -> Intervals:
    """Return, as intervals, the numbers of the units that could be blamed by mistake for a fault of
    `unit`: the other units that have members of the run which the fault ended. Members that were
    DOWN before this instant do not count."""
    if unit.of is Struck.WORKERS and isinstance(run.members, Members):
        return without(run.members.intervals, {unit.number, *run.away})
    each = units.sizes[unit.of]
    numbers = {member // each for member in run.members if member not in run.away}
    return intervals_of(sorted(numbers - {unit.number}))
