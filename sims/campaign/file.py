"""Read a campaign file: the question that it asks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from sims.campaign.axes import axes_of, flat
from sims.campaign.certainty import MOST_RUNS, Certainty, precision_of
from sims.campaign.door import Door
from sims.campaign.measured import Measured, gauge_of
from sims.campaign.question import Question
from sims.campaign.sections import CampaignFile, TuneSection
from sims.campaign.subject import Subject
from sims.campaign.varied import Ranges, Variants
from sims.errors import InputError
from sims.packing import OWN
from sims.scenario.loader import parse
from sims.tables.refusals import not_accepted, section_of

NAMES = {
    "vary": "set, axes or variants",
    "across": "axes",
    "changes": "set",
    "difference": 'effect = "difference"',
    "measure": "measures",
    # Replications are a number of 1 or more: what is left is that their seeds may end too high.
    "runs": "seed",
}
"""Maps keys of a question to those of a campaign file, where these differ."""
SEARCHED = {"changes": "set"} | {key: f"tune.{key}" for key in TuneSection.model_fields}
"""Maps keys of a search to those of a campaign file with `[tune]`, where these differ."""


def load_campaign(
    path: Path, size: str | None = None, changes: Mapping[str, Any] | None = None
) -> Question:
    """Read a campaign file, and return what it asks.

    `size` names a table of its `[sizes]`, whose keys replace the file's own (axes and other tables
    merge); `changes` are applied after it in the same way. Raises InputError, naming file, key,
    value and what would be accepted.
    """

    def check(first: dict[str, Any]) -> None:
        section_of(CampaignFile, {key: it for key, it in first.items() if key != "sizes"}, "")

    try:
        table = parse(path, check=check)
    except InputError as error:
        if error.key:
            raise
        raise evolve(error, accepted="a campaign file") from None
    if "job" in table and "scenario" not in table:
        accepted = "a campaign file; `holdfast run FILE` runs a scenario"
        raise InputError(str(path), "job", "it is a key of scenario files", accepted)
    sizes = table.pop("sizes", {})
    if not isinstance(sizes, dict) or not all(isinstance(it, dict) for it in sizes.values()):
        accepted = "a table of tables: `[sizes.small]` and keys of the campaign"
        raise InputError(str(path), "sizes", not_accepted(sizes), accepted)
    if size is not None and size not in sizes:
        known = ", ".join(sizes) or "none: the file has no [sizes]"
        raise InputError(str(path), "sizes", f"{size!r} is not there", known)
    _merge(table, sizes.get(size, {}))
    _merge(table, changes or {})
    _flatten(table, str(path))
    return _asked(section_of(CampaignFile, table, str(path)), path)


def _asked(file: CampaignFile, path: Path) -> Question:
    """Return the question of a campaign file at `path`."""
    home = path.parent
    source = file.scenario if OWN.fullmatch(file.scenario) else home / file.scenario
    subject = Subject(source, home, file.set)
    if file.tune is not None:
        return _searching(file, file.tune, subject, Door(str(path), SEARCHED, filed=True))
    door = Door(str(path), NAMES, filed=True)
    varied = Variants(file.variants, file.axes, file.baseline, file.follows)
    varied.refuse_seed(door)
    gauges = (gauge_of(it, door, home, it in file.higher_is_better) for it in file.measures)
    measured = Measured(tuple(dict.fromkeys(gauges)), file.effect, file.by)
    surely = Certainty(file.replications, file.seed, file.until, file.precision)
    return Question(
        subject, varied, measured, surely, door=door, name=file.name, picture=file.picture
    )


def _searching(file: CampaignFile, tune: TuneSection, subject: Subject, door: Door) -> Question:
    """Return the question of a campaign file with the section `tune`."""
    varied = Ranges.of(tune.over, door, follows=file.follows, each=tune.each, within=tune.within)
    measured = Measured.best(
        door, minimise=tune.minimise, maximise=tune.maximise, subject_to=tune.subject_to
    )
    precision = precision_of(tune.precision, tune.runs, MOST_RUNS, door, of="mean")
    surely = Certainty(tune.runs, file.seed, file.until, precision)
    return Question(subject, varied, measured, surely, door=door, name=file.name)


def _flatten(table: dict[str, Any], source: str) -> None:
    """Replace nested tables of settings in a campaign file's table by dotted keys, in place: those
    of `axes`, `set`, `follows`, each variant and `tune.over`.

    The values of each axis become a tuple. Other entries of a wrong type stay, to be refused later.
    Raises InputError, naming the file `source`, for an axis that is neither a list nor a range.
    """
    if isinstance(table.get("axes"), dict):
        table["axes"] = dict(axes_of(table["axes"], source))
    variants = table.get("variants")
    named = variants if isinstance(variants, dict) else ()
    own = (table, "set"), (table, "follows"), (table.get("tune"), "over")
    places = *own, *((variants, it) for it in named)
    for place, key in places:
        if isinstance(place, dict) and isinstance(place.get(key), dict):
            place[key] = dict(flat(place[key]))


def _merge(table: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Merge `changes` into `table`, in place: a table within `changes` is merged into the table of
    the same key, any other value replaces what `table` has."""
    for key, value in changes.items():
        if isinstance(value, Mapping) and isinstance(table.get(key), dict):
            _merge(table[key], value)
        else:
            table[key] = value
