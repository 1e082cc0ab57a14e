"""Compares simulated runs (predicted) with live runs (measured) under the same failures."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path

import attrs
import orjson
from attrs import frozen

from actors.runtime import Record
from sims.audit.audit import audit
from sims.intervals import LEVEL, Estimate, mean_of, ratio_of
from sims.ledger import Use
from sims.ledger.accountant import account
from sims.live.live import live, playable
from sims.live.processes import Processes
from sims.log_writer import LogWriter
from sims.scenario import Scenario
from sims.telling import counted
from sims.world import run
from sims.writing import replacing

CALLS = 100
"""Number of calls over which the latency is averaged."""
STEPS = 1000
"""Number of steps over which the time of one is averaged."""
BYTES = 4_000_000
"""Size of the message by which the bandwidth is measured, bytes."""
SAME = 1e-9
"""Relative tolerance below which two makespans are the same."""


@frozen
class Outcome:
    """The measured values of one run, simulated or live."""

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


@frozen
class Calibration:
    """The costs of real processes, measured without failures, in seconds but for the bandwidth."""

    start: float
    """Time from a kill to the first answer of the fresh process, seconds."""
    detection: float
    """Time from a kill to the failure of a waiting call, seconds."""
    latency: float
    """Time of a call and its answer, seconds."""
    bandwidth: float
    """Bandwidth of a channel that is not throttled, megabytes per second."""
    step: float
    """Time of one step of the computation that is not paced, seconds."""

    def lines(self) -> Iterator[str]:
        """Yield one line of text for each cost."""
        for name, value in attrs.asdict(self).items():
            yield f"  {name:<11} {value:.4g} {'MB/s' if name == 'bandwidth' else 's'}"


def calibrate(processes: Processes) -> Calibration:
    """Measure the costs of these processes while no run is under way."""

    async def measure() -> Calibration:
        call, clock = processes.call, time.monotonic
        begun = clock()
        for _ in range(CALLS):
            await call(0, "pid")
        latency = (clock() - begun) / CALLS
        begun = clock()
        await call(0, "receive", -1, bytes(BYTES))
        bandwidth = BYTES / 1e6 / (clock() - begun)
        begun, state = clock(), b""
        for unit in range(STEPS):
            state = processes.advance(state, unit)
        step = (clock() - begun) / STEPS
        detection = await processes.detect(0)
        begun = clock()
        await call(0, "pid")
        return Calibration(detection + clock() - begun, detection, latency, bandwidth, step)

    return processes.post(measure()).result()


def predict(variants: Mapping[str, Scenario], seeds: Sequence[int], folder: Path) -> list[Outcome]:
    """Simulate each variant with each seed, and return the outcomes in that order."""
    found = []
    for name, scenario in variants.items():
        for seed in seeds:
            records: list[Record] = []
            run(seeded(scenario, seed), [records.append], folder)
            found.append(_outcome(name, scenario, seed, records))
    return found


def measure(
    variant: str,
    scenario: Scenario,
    seed: int,
    processes: Processes,
    folder: Path,
    log: Path | None = None,
) -> Outcome:
    """Carry out one live run, audit its log and return its outcome; `log`: file for the log."""
    records: list[Record] = []
    with ExitStack() as opened:
        writers = [opened.enter_context(LogWriter(log))] if log else []
        lived = live(seeded(scenario, seed), processes, folder, [records.append, *writers])
    return attrs.evolve(
        _outcome(variant, scenario, seed, records),
        right=all(lived.answers.values()),
        sound=not list(audit(iter(records))),
        missed=lived.missed,
    )


def seeded(scenario: Scenario, seed: int) -> Scenario:
    """Return the scenario as it is carried out, with this seed."""
    return playable(scenario.model_copy(update={"seed": seed}))


def _outcome(variant: str, scenario: Scenario, seed: int, records: list[Record]) -> Outcome:
    ledger = account(records, scenario.full_platform.size)
    uses = {use.value: float(amount) for use, amount in ledger.total.items()}
    return Outcome(variant, seed, ledger.end, uses)


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

    @property
    def _pairs(self) -> list[tuple[Outcome, Outcome]]:
        return list(zip(self.predicted, self.measured, strict=True))

    def makespans(self, variant: str) -> tuple[list[float], list[float]]:
        """Return the predicted and the measured makespans of a variant, seed by seed."""
        chosen = [(a.makespan, b.makespan) for a, b in self._pairs if b.variant == variant]
        return [a for a, _ in chosen], [b for _, b in chosen]

    def ratio(self, variant: str) -> Estimate:
        """Return mean measured / mean predicted makespan of a variant, with the interval of paired
        samples."""
        predicted, measured = self.makespans(variant)
        found = ratio_of(measured, predicted, LEVEL)
        assert found is not None
        return found

    def uses(self, variant: str) -> Iterator[tuple[str, float, Estimate]]:
        """Yield (use, mean predicted, measured) processor-time for each use that occurs."""
        chosen = [(a.uses, b.uses) for a, b in self._pairs if b.variant == variant]
        for use in (it.value for it in Use):
            theirs, ours = [a[use] for a, _ in chosen], [b[use] for _, b in chosen]
            if any(theirs) or any(ours):
                yield use, sum(theirs) / len(theirs), mean_of(ours, LEVEL)

    def ranks(self) -> tuple[list[str], list[str], list[tuple[str, str, bool]]]:
        """Return the variants by predicted and by measured mean makespan, and the pairs whose
        measured intervals do not overlap, each with whether the prediction ranks it alike."""
        predicted = {it: mean_of(self.makespans(it)[0], LEVEL) for it in self.variants}
        measured = {it: mean_of(self.makespans(it)[1], LEVEL) for it in self.variants}
        apart = [
            (a, b, (predicted[a].mean < predicted[b].mean) == (measured[a].mean < measured[b].mean))
            for a, b in combinations(self.variants, 2)
            if measured[a].high < measured[b].low or measured[b].high < measured[a].low
        ]
        orders = (sorted(by, key=lambda it: by[it].mean) for by in (predicted, measured))
        return *orders, apart  # type: ignore[return-value]

    def lines(self) -> Iterator[str]:
        """Yield the lines of text that report the comparison."""
        runs = self.measured
        yield f"{len(runs)} runs: {sum(it.right for it in runs)} with the right answers, "
        yield f"  {sum(it.sound for it in runs)} with logs that pass the audit"
        for it in self.variants:
            predicted, measured = (mean_of(them, LEVEL) for them in self.makespans(it))
            ratio = self.ratio(it)
            yield f"{it}: makespan {predicted.mean:.4g} {self.unit} predicted, "
            yield f"  {measured.mean:.4g} [{measured.low:.4g}, {measured.high:.4g}] measured: "
            yield f"  x {ratio.mean:.4f} [{ratio.low:.4f}, {ratio.high:.4f}]"
            for use, theirs, ours in self.uses(it):
                words = f"{ours.mean:>10.5g} [{ours.low:.5g}, {ours.high:.5g}]"
                yield f"    {use:<14} {theirs:>10.5g} predicted {words} measured"
        yield from self._explained()
        if len(self.variants) > 1:
            before, after, apart = self.ranks()
            yield f"predicted order: {', '.join(before)}"
            yield f"measured order:  {', '.join(after)}"
            alike = sum(same for *_, same in apart)
            yield f"pairs whose measured intervals do not overlap: {alike} of {len(apart)} alike"

    def _explained(self) -> Iterator[str]:
        """Yield a line for each run that differs from its prediction."""
        for theirs, ours in self._pairs:
            ratio = ours.makespan / theirs.makespan
            if ours.missed or abs(ratio - 1) > SAME:
                died = f"{counted(ours.missed, 'process', 'processes')} died by no command of ours"
                yield f"{ours.variant}, seed {ours.seed}: x {ratio:.4f}: {died}"


def write(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write the outcomes to a file, one JSON object a line."""
    with replacing(path) as new:
        new.write_bytes(b"".join(orjson.dumps(attrs.asdict(it)) + b"\n" for it in outcomes))


def read(path: Path) -> list[Outcome]:
    """Return the outcomes that `write` has written to this file."""
    return [Outcome(**orjson.loads(line)) for line in path.read_bytes().splitlines()]
