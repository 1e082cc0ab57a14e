"""Compares simulated runs (predicted) with live runs (measured) under the same failures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import TypeVar

import attrs
import numpy as np
import orjson
from attrs import frozen

from actors.runtime import Record
from sims.audit.audit import audit
from sims.campaign.batches import seeded
from sims.history.reader import History
from sims.history.rows import Use
from sims.history.saving import CheckpointRow, CheckpointStep
from sims.intervals import LEVEL, Estimate, Known, mean_of
from sims.ledger import account
from sims.live.calibration import Costs, calibrated, drawn
from sims.live.live import live
from sims.live.processes import Processes
from sims.log_writer import LogWriter
from sims.scenario import Scenario
from sims.telling import counted
from sims.world import run
from sims.writing import replacing

T = TypeVar("T")
AMOUNT = Known(low=0.0)
"""Knowledge of times and of numbers of checkpoints: none is below 0."""

DRAWS = 40
"""Number of draws of the costs for the interval of a prediction."""


@frozen
class Outcome:
    """The measured values of one run of a variant, simulated or live."""

    variant: str
    seed: int
    makespan: float
    uses: Mapping[str, float]
    """Maps each use of the ledger to its processor-time."""
    right: bool = True
    """Whether all answers equal those of one uninterrupted process."""
    sound: bool = True
    """Whether the log passes the audit."""
    missed: int = 0
    """Number of processes that died without a command of the run."""
    checkpoints: int = 0
    """Number of complete checkpoints."""
    draw: int = 0
    """Number of the draw of the costs that it was predicted with; 0: their means."""

    def figure(self, name: str) -> float:
        """Return the value of this name: `makespan`, `checkpoints` (their number), or a use of the
        ledger, such as `useful` (its processor-time)."""
        return {"makespan": self.makespan, "checkpoints": self.checkpoints, **self.uses}[name]


def predict(
    variants: Mapping[str, Scenario], costs: Costs, seeds: Sequence[int], folder: Path
) -> list[Outcome]:
    """Simulate each variant with each seed, once with the mean costs and DRAWS times with costs
    drawn about them; return the outcomes of all runs.

    Each draw has one set of costs for all variants and seeds. The variants' files are in `folder`.
    """
    found = []
    for draw in range(DRAWS + 1):
        for name, scenario in variants.items():
            expected = calibrated(scenario, drawn(costs, draw))
            seeding = (seeded(expected, it) for it in seeds)
            found += [simulate(name, it, folder, draw) for it in seeding]
    return found


def simulate(variant: str, scenario: Scenario, folder: Path, draw: int = 0) -> Outcome:
    """Simulate the scenario of a variant, and return the run's outcome under the variant's name.

    `folder` has the scenario's files. `draw` is the number of the draw from which the scenario's
    costs come; 0: they are the means.
    """
    records: list[Record] = []
    run(scenario, [records.append], folder)
    return _outcome(variant, scenario, records, draw)


def measure(
    variant: str,
    scenario: Scenario,
    processes: Processes,
    folder: Path,
    log: Path | None = None,
) -> Outcome:
    """Carry out one live run of a variant, audit its log and return its outcome.

    `folder` has the scenario's files; the log is written to `log`, or nowhere for None.
    """
    records: list[Record] = []
    with ExitStack() as opened:
        writers = [opened.enter_context(LogWriter(log))] if log else []
        lived = live(scenario, processes, folder, [records.append, *writers])
    return attrs.evolve(
        _outcome(variant, scenario, records),
        right=all(lived.answers.values()),
        sound=not list(audit(iter(records))),
        missed=lived.missed,
    )


def _outcome(variant: str, scenario: Scenario, records: list[Record], draw: int = 0) -> Outcome:
    ledger = account(records, scenario.full_platform.size)
    uses = {use.value: float(amount) for use, amount in ledger.total.items()}
    checkpoints, history = list[CheckpointRow](), History()
    history.take(CheckpointRow, checkpoints.append)
    history.read(records)
    saved = sum(it.step is CheckpointStep.TAKEN for it in checkpoints)
    return Outcome(variant, scenario.seed, ledger.end, uses, checkpoints=saved, draw=draw)


@frozen
class Comparison:
    """Predictions and measurements of the same variants and seeds, in the same order."""

    predicted: Sequence[Outcome]
    measured: Sequence[Outcome]
    unit: str
    """Unit of time of the scenarios."""

    @property
    def variants(self) -> list[str]:
        """Names of the variants, in the order of their first runs."""
        return list(dict.fromkeys(it.variant for it in self.measured))

    def _of(self, variant: str) -> tuple[list[Outcome], list[Outcome]]:
        """Return (outcomes predicted with mean costs, measured outcomes) of a variant, seed by
        seed."""
        means = [it for it in self.predicted if it.variant == variant and not it.draw]
        return means, [it for it in self.measured if it.variant == variant]

    def makespans(self, variant: str) -> tuple[list[float], list[float]]:
        """Return the predicted and the measured makespans of a variant, seed by seed."""
        predicted, measured = self._of(variant)
        return [it.makespan for it in predicted], [it.makespan for it in measured]

    def uses(self, variant: str) -> Iterator[tuple[str, float, Estimate]]:
        """Yield, for each use of processor-time that occurs, (its name, its mean in simulation, the
        estimate from live runs)."""
        for use in (it.value for it in Use):
            theirs, ours = ([it.uses[use] for it in them] for them in self._of(variant))
            if any(theirs) or any(ours):
                yield use, fmean(theirs), mean_of(ours, LEVEL, AMOUNT)

    def lines(self) -> Iterator[str]:
        """Yield the lines of text that report the comparison."""
        runs = self.measured
        yield f"{counted(len(runs), 'run')}: {sum(it.right for it in runs)} with right answers, "
        yield f"  {sum(it.sound for it in runs)} with logs that pass the audit"
        for variant in self.variants:
            yield f"{variant}: predicted (95 % of drawn costs), measured (95 %), error"
            predicted, measured = self._of(variant)
            yield self._line(variant, "makespan", f"makespan, {self.unit}")
            yield self._line(variant, "checkpoints", "checkpoints")
            whole = fmean(sum(it.uses.values()) for it in measured)
            for use, _, _ in self.uses(variant):
                yield self._line(variant, use, use, whole)
            for theirs, ours in zip(predicted, measured, strict=True):
                died = counted(ours.missed, "process", "processes")
                words = f"  seed {ours.seed}: {theirs.makespan:.4g}, {ours.makespan:.4g}"
                yield f"{words}" + (f"; {died} died by no command of ours" if ours.missed else "")
        if len(self.variants) > 1:
            yield from self._ranks()

    def _line(self, variant: str, figure: str, name: str, whole: float | None = None) -> str:
        """Return a line of text on a figure, headed by `name`: its predicted mean, its measured
        mean, and the error of the prediction.

        The error is relative to the predicted mean, or, where `whole` is given, to this
        processor-time of the whole platform. The prediction's interval holds 95 % of the means
        under drawn costs.
        """
        draws = defaultdict[int, list[float]](list)
        for it in self.predicted:
            if it.variant == variant:
                draws[it.draw].append(it.figure(figure))
        means = [fmean(draws[draw]) for draw in sorted(draws)]
        between = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        ours = mean_of([it.figure(figure) for it in self._of(variant)[1]], LEVEL, AMOUNT)
        of = whole or means[0]
        error = f"{(ours.mean - means[0]) / of:+.1%}" if of else "-"
        error += " of all time" if whole else ""
        theirs = f"{means[0]:.4g} [{between[0]:.4g}, {between[1]:.4g}]"
        measured = f"{ours.mean:.4g} [{ours.low:.4g}, {ours.high:.4g}]"
        if not ours.bounded:  # equal runs, or one, say nothing of others
            measured = f"{ours.mean:.4g}, no interval"
        return f"  {name:<14} {theirs:>28} {measured:>28}  {error}"

    def _ranks(self) -> Iterator[str]:
        """Yield the lines that compare the orders of the variants by their mean makespans, and the
        pairs whose measured intervals do not overlap."""
        pairs = {it: self.makespans(it) for it in self.variants}
        predicted = {it: fmean(theirs) for it, (theirs, _) in pairs.items()}
        measured = {it: mean_of(ours, LEVEL, AMOUNT) for it, (_, ours) in pairs.items()}
        order = sorted(measured, key=lambda it: measured[it].mean)
        yield f"predicted order: {', '.join(sorted(predicted, key=lambda it: predicted[it]))}"
        yield f"measured order:  {', '.join(order)}"
        apart = [
            predicted[a] < predicted[b]
            for a, b in combinations(order, 2)
            if measured[a].high < measured[b].low
        ]
        both = f"{sum(apart)} of {len(apart)} alike"
        yield f"pairs whose measured intervals do not overlap: {both}"


def write(results: Sequence[attrs.AttrsInstance], path: Path) -> None:
    """Write the results of runs to a file, one JSON object a line."""
    with replacing(path) as new:
        new.write_bytes(b"".join(orjson.dumps(attrs.asdict(it)) + b"\n" for it in results))


def read(kind: type[T], path: Path) -> list[T]:
    """Return the results, of the class `kind`, that `write` has written to a file."""
    return [kind(**orjson.loads(line)) for line in path.read_bytes().splitlines()]
