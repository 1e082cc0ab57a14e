"""The short form of a campaign: variants of one scenario file on the same seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from sims.campaign.axes import Axis, Settings, as_toml, points, refuse_twice, told
from sims.campaign.campaign import Campaign, load_campaign
from sims.campaign.engine import execute
from sims.campaign.results import Results
from sims.campaign.store import Store
from sims.errors import COMMAND_LINE, InputError
from sims.metrics.measures import Measure
from sims.scenario.loader import parse, put, read
from sims.scenario.scenario import SEEDS


@frozen
class Question:
    """What was asked, checked."""

    campaign: Campaign
    variants: dict[str, Settings]

    @classmethod
    def of(
        cls,
        file: Path,
        vary: Sequence[Axis] = (),
        across: Sequence[Axis] = (),
        *,
        changes: Mapping[str, Any] | None = None,
        baseline: str | None = None,
        runs: int = 10,
        measure: Measure = Measure.MAKESPAN,
        seed: int | None = None,
        until: float | None = None,
    ) -> Question:
        """All combinations of `vary`, held against `baseline` (default: the first), anew at every
        combination of `across`. Raises InputError for what cannot be asked."""
        refuse_twice([*vary, *across])
        table, changed = parse(file), dict(changes or {})
        for key, value in changed.items():
            put(table, key, value)
        scenario, variants = read(table, str(file)), dict(_named(vary))
        first = scenario.seed if seed is None else seed
        for option, number in (("--seed", first), ("--runs", first + runs - 1)):
            if number not in SEEDS:
                accepted = "seeds of 0 or above, below 2**64"
                raise InputError(COMMAND_LINE, option, f"{number} is no seed", accepted)
        campaign = Campaign(
            name=scenario.name,
            scenario=str(file),
            seed=first,
            replications=runs,
            until=until,
            measures=(measure.value,),
            set=changed,
            axes={it.key: it.values for it in across},
            variants={name: dict(settings) for name, settings in variants.items()},
            baseline=_baseline(baseline, variants),
        )
        return cls(campaign, variants)

    @property
    def seeds(self) -> range:
        """Of every variant."""
        first = self.campaign.seed or 0
        return range(first, first + self.campaign.replications)

    @property
    def measure(self) -> Measure:
        """What is compared."""
        return Measure(self.campaign.measures[0])

    def unit(self, results: Results) -> str:
        """The measure's, or nothing."""
        return results.unit if self.measure.timed else ""


def _named(varied: Sequence[Axis]) -> Iterator[tuple[str, Settings]]:
    """All combinations; what is asked for twice has two names."""
    seen: list[str] = []
    for settings in points(varied):
        name = told(settings)
        seen.append(name)
        yield name if seen.count(name) == 1 else f"{name} ({seen.count(name)})", settings


def _baseline(word: str | None, variants: dict[str, Settings]) -> str | None:
    if word is None:
        return None
    for name, settings in variants.items():
        if word in (name, ",".join(as_toml(value) for _, value in settings)):
            return name
    raise InputError(COMMAND_LINE, "--baseline", f"{word!r} is no variant", "; ".join(variants))


# --- from Python ----------------------------------------------------------------------------------


def compare(
    file: str | Path,
    vary: Mapping[str, Sequence[Any]],
    *,
    across: Mapping[str, Sequence[Any]] | None = None,
    changes: Mapping[str, Any] | None = None,
    baseline: str | None = None,
    runs: int = 10,
    measure: str | Measure = Measure.MAKESPAN,
    seed: int | None = None,
    until: float | None = None,
    store: str | Path | None = None,
) -> Results:
    """Run variants of a scenario file on the same seeds, on this machine's cores.

    `vary`, `across`: dotted key -> its values; `changes`: keys of all variants; `store`: a folder
    of results to go on from. `.comparisons()` and `.frame()` of what is returned tell the rest.
    Raises InputError for what cannot be run.
    """
    question = Question.of(
        Path(file),
        [Axis(key, tuple(values)) for key, values in vary.items()],
        [Axis(key, tuple(values)) for key, values in (across or {}).items()],
        changes=changes,
        baseline=baseline,
        runs=runs,
        measure=Measure(measure),
        seed=seed,
        until=until,
    )
    return execute(question.campaign, store=None if store is None else Store(Path(store)))


def campaign(
    file: str | Path, *, size: str | None = None, store: str | Path | None = None
) -> Results:
    """Run a campaign file, on this machine's cores; `size`: one of its [sizes]; `store`: a folder
    of results to go on from. Raises InputError for what cannot be run."""
    return execute(
        load_campaign(Path(file), size), store=None if store is None else Store(Path(store))
    )
