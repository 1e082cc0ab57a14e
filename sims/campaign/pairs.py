"""Answer how two numbers of a scenario change a measure together: `holdfast sensitivity
--pairs`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import define

from sims.campaign.answers import AnswerOfChanges
from sims.campaign.comparing import Line, Verdict
from sims.intervals import Estimate, estimate_as_json, rounded
from sims.plots.maps import Dot, draw_maps
from sims.telling import counted, grid

STEPS = -1.0, -0.5, 0.0, 0.5, 1.0
"""Parts of the change at which each of the two numbers is looked at."""
Pair = tuple[float, float]
"""Values of the two numbers."""


@define(repr=False)
class PairMap(AnswerOfChanges):
    """Answer to how a measure changes with two numbers of a scenario: its mean for each pair of
    values, over its mean for the scenario as it is."""

    keys: tuple[str, str]
    points: Mapping[Pair, Line]
    """Maps the values of the two numbers to what they do."""

    @property
    def _known(self) -> dict[Pair, Estimate]:
        return {at: it.effect for at, it in self.points.items() if it.effect is not None}

    @property
    def sentence(self) -> str:
        first, second = self.keys
        runs = f"{counted(self.comparison.seeds, 'run')} each"
        shown = {at: it for at, it in self._known.items() if self._shown(at)}
        if not shown:
            return f"Nothing shows that {first} or {second}, within {self.part}, matters; {runs}."
        means = {at: it.mean for at, it in shown.items()}
        ends = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
        clauses = [
            f"{rounded(shown[at])} at {first} = {at[0]:g} and {second} = {at[1]:g}"
            for at in dict.fromkeys(ends)
        ]
        text = f"Within {self.part} of both, {self.measure} over its mean as it is becomes "
        return f"{text}{', '.join(clauses)}; {runs}."

    def _shown(self, at: Pair) -> bool:
        return self.points[at].verdict in (Verdict.BETTER, Verdict.WORSE)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each pair of values."""
        first, second = self.keys
        return [
            {first: at[0], second: at[1]}
            | {end: (estimate_as_json(it.effect) or {}).get(end) for end in ("mean", "low", "high")}
            | {"matters": self._shown(at)}
            for at, it in self.points.items()
        ]

    def grid(self) -> Any:
        """Return the table of the answer for people: a row for each value of the first number, a
        column for each of the second."""
        first, second = self.keys
        down = dict.fromkeys(at[0] for at in self.points)
        across = dict.fromkeys(at[1] for at in self.points)
        rows = [(f"{x:,.6g}", *(rounded(self.points[x, y].effect) for y in across)) for x in down]
        return grid([first], [f"{second} = {y:,.6g}" for y in across], rows, self.title)

    def as_json(self) -> dict[str, Any]:
        """Return the answer as plain data for JSON."""
        about = {"measure": self.measure, "by": self.by, "keys": list(self.keys)}
        return about | {"points": self.rows(), "sentence": self.sentence}

    def plot(self, path: str | Path) -> Path:
        """Draw a map: a dot for each pair of values, with a ring where intervals show that it
        matters. Return its path.

        Raises InputError where matplotlib is missing.
        """
        dots = [Dot(*at, it.mean, self._shown(at), False) for at, it in self._known.items()]
        names = *self.keys, f"{self.measure}, ratio"
        foot = "ring: an interval shows that it matters"
        return draw_maps({"": dots}, Path(path), self.sentence, names, foot=foot)
