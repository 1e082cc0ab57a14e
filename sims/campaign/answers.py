"""Says what a comparison shows in one sentence, what a scenario assumes in another, which notes a
reader of the figures needs, and how any answer is shown: printed, in a notebook, as a frame, in a
file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sims.campaign.axes import settings_text, unit_of
from sims.campaign.batches import RunStatus
from sims.campaign.comparing import UNJUDGED, Comparison, Line, Verdict, corrected
from sims.campaign.question import Question
from sims.campaign.results import Results, write_frame
from sims.errors import imported, visible
from sims.estimates import estimate_as_json, rounded, rounded_ratio
from sims.exports.tables import SUFFIXES, Library, library_or_default, polars_or_error
from sims.intervals import FEW, FEWEST_BLOCKS, Estimate, differing
from sims.telling import SECOND, amount_of, as_html, as_text, counted, units
from sims.writing import check_suffix

if TYPE_CHECKING:
    from sims.scenario import Scenario
    from sims.scenario.faults import AnyFault

MANY = 12
"""Largest number of variants that a note names one by one."""


class Answer(ABC):
    """An answer to a question about many runs: a table, and notes below it. A notebook shows it,
    and `print` prints it."""

    SUFFIXES: ClassVar[tuple[str, ...]] = SUFFIXES
    """Suffixes of files to which the table can be written."""

    @property
    @abstractmethod
    def notes(self) -> list[str]:
        """Sentences below the table."""

    @abstractmethod
    def grid(self) -> Any:
        """Return the answer's table for people, as an object that rich prints."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the table as data: a mapping from column names to values for each
        row."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """Return the answer as data of the types that JSON has."""

    @abstractmethod
    def plot(self, path: str | Path) -> Any:
        """Draw the answer, and return the picture's path. Raises InputError where matplotlib is
        missing."""

    def frame(self, library: Library | str | None = None) -> Any:
        """Return all of `rows` as a frame of `library`; by default of polars, or of pandas where
        polars is missing.

        Raises InputError where the library is missing, or both are.
        """
        if library_or_default(library) is Library.PANDAS:
            return imported("pandas", "tables", "pip install pandas").DataFrame(self.rows())
        polars = polars_or_error()
        frame = polars.DataFrame(self.rows(), infer_schema_length=None, strict=False)
        return frame.cast({polars.Null: polars.Float64})

    def write(self, path: Path) -> int:
        """Write all rows to a CSV or Parquet file, as the path's suffix says, and return their
        number.

        Raises InputError for another suffix, and where the file cannot be written.
        """
        check_suffix(path, "table", self.SUFFIXES)
        frame = self.frame(Library.POLARS)
        write_frame(frame, path)
        return len(frame)

    def saved(self, path: Path) -> str:
        """Write the table where the path's suffix is one of `SUFFIXES`, else the picture. Return
        the line by which a command reports the file."""
        if path.suffix in self.SUFFIXES:
            return f"table    {path}: {counted(self.write(path), 'row')}"
        return f"picture  {self.plot(path)}"

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.text import Text

        return Group(self.grid(), *(Text(visible(it)) for it in self.notes))

    def __str__(self) -> str:
        return as_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self.grid(), self.notes)


def ends(estimate: Estimate | None, *names: str) -> dict[str, float | None]:
    """Map three column names to an estimate's mean and to the lower and upper end of its interval.

    An end that is not finite is None. All three are None where the estimate is None or of no
    observation.
    """
    numbers = estimate_as_json(estimate) or {}
    return {name: numbers.get(it) for name, it in zip(names, ("mean", "low", "high"), strict=True)}


def answer(cells: Sequence[Comparison], baseline: str) -> str | None:
    """Return, in one sentence, which variants are shown to be better or worse than the baseline by
    one measure.

    `cells` has the measure's comparisons, one for each cell, and `baseline` is a variant's name.
    Return None where no variant has an interval from which a verdict follows.
    """
    tested = [line for cell in cells for line in cell.lines if line.tested]
    if not tested:
        return None
    many = [len(line.runs) for cell in cells for line in cell.lines]
    runs = f"{min(many):,} to " * (min(many) < max(many)) + counted(max(many), "run")
    runs += " of each variant"
    lacking = any(line.left_out for cell in cells for line in cell.lines)
    part = ", compared over the seeds on which both have a value" if lacking else ""
    if len(cells) > 1:
        return f"{_over_cells(cells, baseline)}; {runs} in each cell{part}."
    return f"{_in_one(cells[0], baseline)}; {runs}{part}."


def _in_one(cell: Comparison, baseline: str) -> str:
    better = [line for line in cell.lines if line.verdict is Verdict.BETTER]
    worse = [line.variant for line in cell.lines if line.verdict is Verdict.WORSE]
    name = cell.gauge.value
    if better:
        pick = max if cell.gauge.higher_is_better else min
        best = pick(better, key=lambda line: line.effect.mean if line.effect else 0.0)
        more = f", and so {'is' if len(better) == 2 else 'are'} "
        others = [line.variant for line in better if line is not best]
        text = f"{best.variant} is better than {baseline}: {name} {_beside(cell, best)}"
        return text + (more + ", ".join(others) if others else "")
    if worse:
        text = f"No variant is shown to be better than {baseline} by its {name}"
        return f"{text}; worse: {', '.join(worse)}"
    return f"Nothing shows that any variant's {name} differs from {baseline}'s"


def _beside(cell: Comparison, line: Line) -> str:
    if cell.effect == "ratio":
        return f"{rounded_ratio(line.effect)} of its"
    return f"differs by {rounded(line.effect)}"


def _over_cells(cells: Sequence[Comparison], baseline: str) -> str:
    """Return, as text, the numbers of cells in which each variant is better, is worse, and has no
    verdict. The text names the measure, since the table may have others."""
    found = Counter((line.variant, line.verdict) for cell in cells for line in cell.lines)
    variants = dict.fromkeys(line.variant for cell in cells for line in cell.lines if line.tested)
    many = counted(len(cells), "cell")
    clauses = [
        f"{name} is better than {baseline} in {found[name, Verdict.BETTER]:,} and worse in "
        f"{found[name, Verdict.WORSE]:,} of {many}"
        + (f" ({unknown:,} without a verdict)" if (unknown := found[name, Verdict.UNKNOWN]) else "")
        for name in variants
    ]
    return f"By {cells[0].gauge.value}, {'; '.join(clauses)}"


NAMED = 5
"""Largest number of classes of jobs that a sentence names as losing."""


def loss(cell: Comparison, line: Line) -> float:
    """Return by how much a variant's mean is worse than the baseline's, in the measure's unit; -inf
    where it is not known."""
    base = next(it for it in cell.lines if it.verdict is Verdict.BASELINE)
    more = line.mean.mean - base.mean.mean
    return (-more if cell.gauge.higher_is_better else more) if isfinite(more) else -inf


def losers(cells: Sequence[Comparison], by: str, unit: str) -> Iterator[str]:
    """Yield a sentence for each variant that says which classes of jobs lose under it, and by how
    much, all in one unit. `by` is what the classes are of, such as `user`, and `unit` is the
    scenario's."""
    for variant in dict.fromkeys(it.variant for it in cells[0].lines if it.verdict not in UNJUDGED):
        lines = [(cell, it) for cell in cells for it in cell.lines if it.variant == variant]
        lines.sort(key=lambda at: -loss(*at))
        worse = [at for at in lines if at[1].verdict is Verdict.WORSE]
        named = (worse or [at for at in lines if loss(*at) > 0])[:NAMED]
        size, word = (1.0, "")
        if cells[0].gauge.timed and named:
            size, word = unit_of(loss(*named[0])) if unit == SECOND else (1.0, units(unit))
        names = ", ".join(
            f"{_titled(by, cell)} ({amount_of(loss(cell, it) / size, 3)} {word}".rstrip() + " more)"
            for cell, it in named
        )
        found = Counter(it.verdict for _, it in lines)
        open_ = found[Verdict.UNKNOWN] + found[Verdict.NOT_SHOWN]
        counts = f"of {counted(len(lines), by)}, {found[Verdict.WORSE]:,} lose, "
        counts += f"{found[Verdict.BETTER]:,} gain, and of {open_:,} neither is shown"
        name = cells[0].gauge.value
        if worse:
            yield f"Under {variant} these lose by their {name}, the most first: {names}; {counts}."
        else:
            most = f"; the largest differences are {names}" if named else ""
            yield f"Under {variant} no {by} is shown to lose by its {name}{most}; {counts}."


def _titled(by: str, cell: Comparison) -> str:
    """Return the name of a class of jobs. A name that begins with a digit gets the fact by which
    jobs are divided in front of it, as in `size 16`."""
    name = str(cell.point[-1][1])
    return f"{by} {name}" if name[:1].isdigit() else name


def assumptions(scenario: Scenario) -> str:
    """Return what the scenario assumes of faults and their units' ages, silent errors, owners and
    mechanisms, and what it draws from a log or once for all runs, as a line such as `exponential
    faults of new units, no start-up`."""
    from sims.scenario.parts import PARTS  # a table of stored runs needs none

    laws = ", ".join(dict.fromkeys(map(_law, scenario.faults.laws))) or "no faults"
    errors = ", silent errors" if scenario.errors.given else ""
    owners = ", owners as given" if scenario.full_platform.owned else ""
    further = ", ".join(it for part in PARTS for it in part.conditions(scenario))
    again = getattr(scenario.job, "resample", None)
    drawn = f", {counted(again.blocks, 'block')} of one log drawn anew in each run" if again else ""
    kinds = {"jobs": getattr(scenario.job, "synthetic", None), "workers": scenario.random_workers}
    once = " and ".join(name for name, it in kinds.items() if it)
    same = f", the same drawn {once} for all seeds" if once else ""
    return f"{laws}{errors}{owners}, {further}{drawn}{same}"


def _law(law: AnyFault) -> str:
    kind = "listed" if law.kind == "list" else law.kind
    what = f"{kind} {'hangs' if law.hangs else 'faults'}"
    return f"{what} of {law.starts.value} units" if law.ages else what


# --- notes below a comparison ---------------------------------------------------------------------


def notes_on(
    results: Results, cells: Sequence[Comparison], shown: Sequence[Comparison]
) -> Iterator[str]:
    """Yield the notes that explain the comparisons `cells` of a campaign's first measure. `shown`
    are those of all measures whose intervals hold together; empty where the table shows none."""
    yield from lacking(cells, results.question)
    yield from _of_blocks(cells, results.question.measured.names[0])
    yield from _levels(results.question, shown)
    yield from _looks(results.question, cells)
    if results.question.varied.follows:
        yield f"With {expressions(results.question)}."
    if wide := results.wide():
        most = counted(results.question.surely.most, "run")
        where = f" in {counted(wide, 'cell')}" if results.plan.places > 1 else ""
        yield f"{most} were not enough for intervals as narrow as asked{where}."
    missing, raised = results.left(), sum(1 for _ in results.raised())
    if missing:
        yield f"Unfinished: {counted(missing, 'run')} of {results.asked():,} to go."
    if raised:
        yield f"{counted(raised, 'run')} raised an error, and are in no figure."


def expressions(asked: Question) -> str:
    """Return the settings that follow from the varied keys in each case of a campaign, as text."""
    return ", ".join(f"{key} = {text}" for key, text in asked.varied.follows.items())


def _of_blocks(cells: Sequence[Comparison], measure: str) -> Iterator[str]:
    """Yield notes on the evidence behind intervals over blocks of time, and on why some intervals
    are missing. `measure` is the compared measure's name."""
    over = [cell for cell in cells if cell.speaks]
    yield from dict.fromkeys(cell.speaks for cell in over)
    lines = [line for cell in over for line in cell.lines]
    few = any(it.verdict is Verdict.UNKNOWN and it.informed < it.needed for it in lines)
    short = [cell for cell in cells if cell.too_short]
    if few or (over and short):
        yield (
            f"A verdict needs {FEWEST_BLOCKS} blocks with information, in which some job has a "
            f"{measure} above {cells[0].gauge.least} in either variant; the last column says how "
            "many have it. A shorter `measures.block` gives more of them, which are less "
            "independent."
        )
    elif short:
        yield (
            f"No intervals, no verdict{_at(short, cells)}: the run has fewer than 2 whole blocks "
            "(`measures.block`) after its warm-up (`measures.warm_up`)."
        )
    if any(line.otherwise for line in lines):
        yield (
            "`all jobs: better` or `worse`: over all jobs, those of the warm-up and of the last "
            "block among them, the variant is on the other side of the baseline than over the "
            "blocks. The verdict is about the blocks."
        )


def _levels(asked: Question, cells: Sequence[Comparison]) -> Iterator[str]:
    """Yield a note on the confidence level at which the intervals of comparisons hold, and on what
    the variants' runs are paired by: seed, block or both."""
    if (many := corrected(cells)) and not all(cell.exact for cell in cells):
        tested = [it for it in cells if any(line.tested for line in it.lines)]
        pairs = " or ".join(sorted({"block" if it.speaks else "seed" for it in tested}))
        none = "1" if asked.measured.effect == "ratio" else "0"
        yield (
            f"Intervals of {asked.measured.effect}s to {asked.varied.reference}, paired by "
            f"{pairs}, hold all together at 95 % ({counted(many, 'comparison')}, Bonferroni): "
            f"better or worse is one that excludes {none}."
        )


def _looks(asked: Question, cells: Sequence[Comparison]) -> Iterator[str]:
    """Yield a note on the looks at intervals that `precision` takes; `cells` has the comparisons of
    the first measure."""
    precision, first = asked.surely.precision, asked.measured.names[0]
    if precision is None:
        return
    if precision.measure in (None, first) and all(it.alike for it in cells):
        yield (
            "No runs were added: those of each variant are all alike, so that none could tell how "
            "narrow an interval is."
        )
    else:
        yield (
            "Runs were added until intervals were narrow enough: all are at "
            f"{asked.surely.level:.2%}, for {len(precision.looks())} looks to hold "
            "at 95 % (Bonferroni)."
        )


def lacking(cells: Sequence[Comparison], asked: Question, ranked: bool = True) -> Iterator[str]:
    """Yield notes on why figures, intervals and verdicts of a question's measure, the one of all
    these cells, are missing; `ranked` says that variants are compared with each other, and that the
    table tells on how many seeds each is best."""
    measure = cells[0].gauge.value
    lines = [line for cell in cells for line in cell.lines]
    if out := _by_variant((it.variant, it.left_out) for it in lines):
        paired, seeds = sum(len(it.paired) for it in cells), sum(it.seeds for it in cells)
        whole = any(RunStatus.COMPLETED in counts for counts in out.values())
        head = "In no mean" if whole else "Not completed, and in no mean"
        best = f", best is over the {paired} of {seeds} on which all have" if ranked else ""
        yield (
            f"{head}: {_ends(out, measure)}. Variants are compared over the seeds on which both "
            f"have a value{best}."
        )
    if partly := _by_variant((it.variant, it.partly) for it in lines):
        lost = any(cell.gauge.counts_lost for cell in cells)
        why = " What unfinished jobs had computed when a run ended counts as lost." if lost else ""
        yield f"Not completed, but in the mean: {_ends(partly, measure)}.{why}"
    if unlike := dict.fromkeys(it.variant for it in lines if it.verdict is Verdict.UNLIKE):
        yield (
            f"Unlike, and not compared: {'; '.join(unlike)}: other jobs than the baseline's, as "
            "some are left out, say."
        )
    if any(it.verdict is Verdict.BASELINE and it.as_asked and not it.effect for it in lines):
        compares = f" `{asked.door('difference')}` compares such means." if ranked else ""
        yield f"No ratio where the baseline's mean {measure} is 0.{compares}"
    exact = [cell for cell in cells if cell.exact]
    open_ = [cell for cell in cells if not (cell.exact or cell.speaks or cell.too_short)]
    if any(cell.seeds == 1 for cell in open_):
        yield "One run each: no intervals, no verdict."
    if exact:
        once = " One run of each variant says as much." if max(it.seeds for it in exact) > 1 else ""
        yield f"The runs draw nothing at random{_at(exact, cells)}: each figure is exact.{once}"
    if alike := [cell for cell in cells if cell.alike and not cell.exact]:
        where = f": the seed does not change it in these runs{_at(alike, cells)}"
        once = "they are one observation, without an interval and a verdict"
        blocks = all(cell.speaks or cell.lines[0].mean.bounded for cell in alike)
        why = "" if blocks else f"; {once}"
        yield f"All runs of a variant have the same {measure}{where}{why}."
    yield from _too_few(cells, measure)


def _too_few(cells: Sequence[Comparison], measure: str) -> Iterator[str]:
    """Yield a note on the variants of whose runs so few have another value than the rest that their
    mean has no interval; the number of runs in which enough of them are to be expected is said."""
    few, runs, enough = [], 0, 0
    for line in (it for cell in cells if not cell.speaks for it in cell.lines):
        values = [run.value for run in line.runs if run.value is not None]
        if len(values) > 1 and not line.mean.bounded and not line.alike:
            other = differing(np.array(values))
            few.append(f"{line.variant}: {other:.0f}")
            runs = max(runs, len(values))
            if other:  # else they differ by rounding alone
                enough = max(enough, ceil(FEW * len(values) / other))
    if few:
        do = f"; with {enough} runs, {FEW} are to be expected" if enough else ""
        yield (
            f"Too few of the {runs} runs have another {measure} than the rest "
            f"({', '.join(dict.fromkeys(few))}) for an interval{do}."
        )


def _at(some: Sequence[Comparison], cells: Sequence[Comparison]) -> str:
    """Return words that name these cells, where they are not all."""
    points = "; ".join(settings_text(cell.point) for cell in some)
    return "" if len(some) == len(cells) else f" at {points}"


def _by_variant(runs: Iterable[tuple[str, Counter[RunStatus]]]) -> dict[str, Counter[RunStatus]]:
    """Sum up the numbers of runs of each variant, by status; variants without any are left out."""
    found: dict[str, Counter[RunStatus]] = {}
    for variant, counts in runs:
        if counts:
            found.setdefault(variant, Counter()).update(counts)
    return found


def _ends(runs: Mapping[str, Counter[RunStatus]], measure: str) -> str:
    """Return, as text, how many runs of each variant, or of all variants if these are more than
    MANY, ended in which way; a run that completed lacks the measure."""
    if len(runs) > MANY:
        runs = {f"{len(runs)} variants": sum(runs.values(), Counter())}
    without = {RunStatus.COMPLETED: f"without a {measure}"}
    return "; ".join(
        f"{name}: {', '.join(f'{n} {without.get(it, it.value)}' for it, n in counts.items())}"
        for name, counts in runs.items()
    )
