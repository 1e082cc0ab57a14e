"""Says what a comparison shows in one sentence, what a scenario assumes in another, and how any
answer is shown: printed, in a notebook, as a frame, in a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sims.campaign.comparing import Comparison, Line, Verdict
from sims.campaign.results import write_frame
from sims.errors import imported, visible
from sims.exports.tables import SUFFIXES, Library, library_or_default, polars_or_error
from sims.intervals import Estimate, estimate_as_json, rounded, rounded_ratio
from sims.telling import about, as_html, as_text, counted
from sims.writing import check_suffix

if TYPE_CHECKING:
    from sims.scenario import Scenario
    from sims.scenario.faults import AnyFault


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
    runs = f"{counted(max(cell.seeds for cell in cells), 'run')} of each variant"
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
    verdict."""
    found = Counter((line.variant, line.verdict) for cell in cells for line in cell.lines)
    variants = dict.fromkeys(line.variant for cell in cells for line in cell.lines if line.tested)
    many = counted(len(cells), "cell")
    clauses = [
        f"{name} is better than {baseline} in {found[name, Verdict.BETTER]:,} and worse in "
        f"{found[name, Verdict.WORSE]:,} of {many}"
        + (f" ({unknown:,} without a verdict)" if (unknown := found[name, Verdict.UNKNOWN]) else "")
        for name in variants
    ]
    return "; ".join(clauses)


def assumptions(scenario: Scenario) -> str:
    """Return what the scenario assumes of faults and their units' ages, silent errors, owners and
    start-ups, as a line such as `exponential faults of new units, no start-up`."""
    laws = ", ".join(dict.fromkeys(map(_law, scenario.faults.laws))) or "no faults"
    errors = ", silent errors" if scenario.errors.given else ""
    owners = ", owners as given" if scenario.full_platform.owned else ""
    startup = scenario.job.startup or 0
    start = f"a start-up of {about(startup, scenario.times.value)}" if startup else "no start-up"
    return f"{laws}{errors}{owners}, {start}"


def _law(law: AnyFault) -> str:
    kind = "listed" if law.kind == "list" else law.kind
    what = f"{kind} {'hangs' if law.hangs else 'faults'}"
    return f"{what} of {law.starts.value} units" if law.ages else what
