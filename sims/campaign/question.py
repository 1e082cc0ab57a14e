"""Compare variants of one scenario file on the same seeds: the short form of a campaign."""

from __future__ import annotations

import multiprocessing
import pickle
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from math import inf, nan
from pathlib import Path
from typing import Any, Literal

from attrs import evolve

from actors.decisions import name_of
from sims.campaign import Campaign, Precision, load_campaign
from sims.campaign.axes import Axis, Settings, as_toml, each_once, is_object, settings_text
from sims.campaign.batches import AnyMeasure, OwnMeasure
from sims.campaign.engine import Watch, check, execute, unwatched
from sims.campaign.executors import Workers, given
from sims.campaign.indifferent import warn_of_indifference
from sims.campaign.plan import Cases
from sims.campaign.results import Results, store_in
from sims.campaign.tables import Table
from sims.durations import in_unit
from sims.errors import COMMAND_LINE, InputError, chosen, naming
from sims.metrics.jobs import By
from sims.metrics.measures import Measure
from sims.packing import OWN
from sims.scenario.faults import FaultLaw
from sims.scenario.loader import parse, read
from sims.scenario.tables import put
from sims.world import checked_seed


def campaign_of(
    file: Path,
    changes: Mapping[str, Any],
    gauge: AnyMeasure,
    runs: int,
    seed: int | None,
    until: float | None,
) -> Campaign:
    """Return the campaign that runs a scenario file, with the keys of `changes` set to their
    values, as its one variant.

    It has `runs` replications from `seed` on (default: the scenario's), each ended at `until` if
    not before, and measures `gauge`. Raises InputError where the changes fit no scenario, and for
    an `until` with a unit of time where the scenario counts slots.
    """
    scenario = read(changed(file, changes), str(file), file.parent)
    return Campaign(
        name=scenario.name,
        scenario=file.name,
        folder=str(file.parent),
        seed=checked_seed(scenario.seed if seed is None else seed, COMMAND_LINE, "--seed"),
        replications=runs,
        until=in_unit(until, "--until", lambda: scenario.times.value),
        measures=(gauge.value,),
        given={gauge.value: gauge},
        set=dict(changes),
    )


def changed(file: Path, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario file's table with the dotted keys of `changes` set to their values. Values
    that are objects of a program, such as policies, are left out.

    Raises InputError where the file is no table, or a key has no place.
    """
    table = parse(file)
    for key, value in changes.items():
        if not is_object(key, value):
            put(table, key, value)
    return table


OneMeasure = str | Measure | Callable[[Any], float | None]
"""A measure as a program gives it: its name, or a function of a run's `Report`."""
MOST_RUNS = 1000
"""Largest number of runs of each variant where runs are added until an interval is narrow."""


def percentage(word: float | str) -> tuple[float, bool]:
    """Return the number that a word such as `1%` or `0.01` states, and whether it is a percentage,
    of which the fraction (0.01) is returned. Any other word gives nan."""
    text = str(word).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        return nan, False
    return (number / 100, True) if text.endswith("%") else (number, False)


def precision_of(
    word: float | str | None, first: int, most: int, of: Literal["mean", "effect"] = "effect"
) -> Precision | None:
    """Return the precision that a word asks of each mean, or of each effect: a half-width of at
    most `1%` of it, or of a number in the measure's unit; None where `word` is None.

    `first` and `most` are the least and the largest number of runs. Raises InputError for any other
    word, and for a `most` below `first`.
    """
    if word is None:
        return None
    number, relative = percentage(word)
    if not 0 < number < inf:
        accepted = "a percentage such as 1%, or a number above 0 in the measure's unit"
        raise InputError(COMMAND_LINE, "--precision", f"{str(word)!r} is not accepted", accepted)
    if most < first:
        accepted = f"at least the {first} runs before the first look"
        raise InputError(COMMAND_LINE, "--most", f"{most} is not accepted", accepted)
    half = (number, None) if relative else (None, number)
    return Precision(of=of, first=first, most=most, relative=half[0], absolute=half[1])


def combined(vary: Sequence[Axis], across: Sequence[Axis] = ()) -> list[Settings]:
    """Return all combinations of the values of the axes in `vary`, each as settings; the last axis
    varies fastest.

    Raises InputError where `vary` and `across` together name a key twice; `across` has no other
    use.
    """
    each_once((key for key, _ in (*vary, *across)), "--vary")
    return list(product(*([(key, value) for value in values] for key, values in vary)))


def named(variants: Sequence[Settings]) -> dict[str, dict[str, Any]]:
    """Map a name to each of the variants: the text of its settings, numbered from the second of the
    same text on, such as `policy.name=IE (2)`. A variant without settings is called `as it is`.

    Raises InputError where no variant has any settings, or there is no variant.
    """
    if not any(variants):
        problem, accepted = "nothing is varied", "--vary KEY=V1,V2; `holdfast run` runs the file"
        raise InputError(COMMAND_LINE, "--vary", problem, accepted)
    found: dict[str, dict[str, Any]] = {}
    seen = Counter[str]()
    for settings in variants:
        name = settings_text(settings)
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name} ({seen[name]})"] = dict(settings)
    return found


def _baseline(word: str, variants: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the name of the variant that `word` names, by its whole name or by its values with
    commas between them. Raises InputError where it names none."""
    for name, settings in variants.items():
        if word in (name, ",".join(map(as_toml, settings.values()))):
            return name
    raise InputError(COMMAND_LINE, "--baseline", f"{word!r} is no variant", "; ".join(variants))


# --- from Python ------------------------------------------------------------------------------


def compare(
    file: str | Path,
    vary: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    *,
    across: Mapping[str, Sequence[Any]] | None = None,
    follows: Mapping[str, str] | None = None,
    changes: Mapping[str, Any] | None = None,
    policy: Any = None,
    hazard: FaultLaw | None = None,
    baseline: str | None = None,
    runs: int = 10,
    measure: OneMeasure | Sequence[OneMeasure] = Measure.MAKESPAN,
    higher_is_better: bool = False,
    difference: bool = False,
    by: str | By | None = None,
    seed: int | None = None,
    until: float | None = None,
    precision: float | str | None = None,
    most: int = MOST_RUNS,
    store: str | Path | None = None,
    workers: Workers | None = None,
    watch: Watch = unwatched,
) -> Table:
    """Run variants of a scenario file on the same seeds, on this machine's cores.

    `vary`: dotted keys with their values, all combinations of which are compared, or a list of
    variants, each a mapping from dotted keys to values. Values of `policy.name`, `policy.order`,
    `faults` and others may be objects, as `run` takes them. `across`: compare separately at each of
    these; `follows`: keys that follow from those, such as `{"platform.workers": "128 + spares"}`;
    `changes`, `policy`, `hazard`: settings of all variants; `measure`: a name, or your
    function of a run's `Report`, which returns a finite number or None, or a list of several, of
    which `precision` and pictures are about the first; `higher_is_better`: whether more of your
    measure is better; `difference`: compare by the difference of means, not by their
    ratio; `precision`: half-width of the printed interval at which no more runs are added, such as
    "1%" or a number in its unit, with at most `most` runs of each variant; `by`: `user`, `group`,
    `queue`, `partition`, `size` or `time`, to compare the jobs of each; `store`: a folder of
    results to go on from; `workers` and `watch` are as for `engine.execute`.

    Raises TypeError, naming the argument, for an argument of a wrong type, and InputError for a
    campaign that cannot be run.
    """
    _expect("file", file, str | Path, "a path")
    _expect("runs", runs, int, "a whole number from 1")
    if runs < 1:
        raise InputError("call", "runs", f"{runs} is not accepted", "a whole number from 1")
    axes = _axes("across", across or {})
    variants = _variants(vary, axes)
    for name, value in (("policy", policy), ("hazard", hazard)):
        if isinstance(value, int | float | list):
            raise TypeError(f"{name}: {value!r} is not accepted; accepted: a name, or an object")
    keys = {"policy.name": policy, "faults": hazard}
    changes = {**(changes or {}), **{key: it for key, it in keys.items() if it is not None}}
    gauges = _gauges(measure, higher_is_better, by)
    by_name = named(variants)
    alone = campaign_of(Path(file), changes, next(iter(gauges.values())), runs, seed, until)
    asked = alone.model_copy(
        update={
            "measures": tuple(gauges),
            "given": gauges,
            "precision": precision_of(precision, runs, most),
            "axes": dict(axes),
            "follows": dict(follows or {}),
            "variants": by_name,
            "baseline": baseline and _baseline(baseline, by_name),
            "effect": "difference" if difference else "ratio",
            "by": None if by is None else chosen(By, by),
        }
    )
    set_by_us = [*changes.items(), *(pair for it in variants for pair in it)]
    mine = [value for key, value in set_by_us if is_object(key, value)]
    mine += [it.given for it in gauges.values() if isinstance(it, OwnMeasure) and it.given]
    if mine and store:
        problem = "results of objects are not known again"
        raise InputError("call", "store", problem, "policies and measures as package.module:Name")
    varied = dict.fromkeys(key for it in (*variants, axes) for key, _ in it)
    with naming(Path(file)):
        if len(by_name) == 1:
            check(asked, Cases.of(asked))  # another mistake is told first
            problem = f"{next(iter(by_name))} is one variant: there is nothing to compare with"
            raise InputError(COMMAND_LINE, "--vary", problem, "two values or more")
        warn_of_indifference(Cases(asked), varied)
        ready = workers or _workers_for(mine)
        results = execute(asked, ready, store_in(store), watch=watch)
    refuse_raised(results)
    return Table(results)


def refuse_raised(found: Results) -> None:
    """Raise InputError for the first run that an error ended, if there is one: a comparison without
    that run would be meaningless."""
    for (case, _), result in found.raised():
        raise InputError(f"{case}, seed {result.seed}", "", str(result.error))


def gauge_of(measure: object, higher: bool = False) -> AnyMeasure:
    """Return a measure of Holdfast, given by its name or as a `Measure`, or a measure of the
    user's, given as a function or as `package.module:function`.

    `higher` says whether more of a user's measure is better. Raises InputError for anything else.
    """
    if callable(measure):
        return OwnMeasure(name_of(measure), higher, measure)
    if isinstance(measure, str) and OWN.fullmatch(measure):
        return OwnMeasure(measure, higher)
    try:
        return chosen(Measure, measure)
    except InputError as error:
        accepted = f"{error.accepted}, package.module:function, or a function of a Report"
        raise evolve(error, accepted=accepted) from None


def _gauges(
    measure: OneMeasure | Sequence[OneMeasure], higher: bool, by: str | By | None
) -> dict[str, AnyMeasure]:
    """Map the name of each measure that the argument `measure` of `compare` asks for to it.

    Raises InputError where there is none, where two have the same name, and for one that jobs do
    not have where classes of them are compared `by` something.
    """
    many = measure if isinstance(measure, list | tuple) else [measure]
    found = dict[str, AnyMeasure]()
    for gauge in (gauge_of(it, higher) for it in many):
        if found.setdefault(gauge.value, gauge) != gauge:
            problem = f"two are called {gauge.value}"
            raise InputError("call", "measure", problem, "functions of different names")
    if not found:
        raise InputError("call", "measure", "no measure is given", "a measure, or several")
    for name, gauge in found.items():
        if by and gauge.quantity is None:
            problem = f"{name} is none of each job's"
            known = ", ".join(it.value for it in Measure if it.quantity)
            raise InputError(COMMAND_LINE, "--by", problem, f"--measure {known}")
    return found


def _variants(
    vary: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]], across: Sequence[Axis]
) -> list[Settings]:
    """Return the settings of each variant that the argument `vary` of `compare` asks for: all
    combinations of a mapping's values, or those that a list names.

    Raises TypeError for an argument of another type, and InputError where a key is varied twice, in
    `across` or in a mapping.
    """
    if isinstance(vary, Mapping):
        return combined(_axes("vary", vary), across)
    _expect("vary", vary, list | tuple, "{key: values}, or a list of {key: value}")
    for it in vary:
        _expect("vary", it, Mapping, "a list of {key: value}")
    return [tuple(it.items()) for it in vary]


def _axes(name: str, asked: Mapping[str, Sequence[Any]]) -> list[Axis]:
    """Return the axes of a mapping from keys to lists of values. Raises TypeError, naming the
    argument `name`, for another type."""
    _expect(name, asked, Mapping, "{key: values}")
    for key, values in asked.items():
        _expect(f"{name}[{key!r}]", values, list | tuple | range, "a list of values")
    return [(key, tuple(values)) for key, values in asked.items()]


def _expect(name: str, value: object, kind: Any, accepted: str) -> None:
    """Raise TypeError, naming the argument and what would be accepted, where a value is not of the
    type `kind`. A truth value is never accepted, not even as a number."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{name}: {value!r} is not accepted; accepted: {accepted}")


def _workers_for(mine: Sequence[Any]) -> Workers | None:
    """Return workers that can run a program's own objects, or None for the processes of this
    machine.

    New processes know the objects if they begin as copies of this one and can import them; else a
    thread of this process runs them.
    """
    try:
        forked = pickle.dumps(mine) and multiprocessing.get_start_method() == "fork"
    except Exception:  # of what is no module's: a lambda, say
        forked = False
    return None if forked or not mine else given(ThreadPoolExecutor(1), slots=1)


def campaign(
    file: str | Path, *, size: str | None = None, store: str | Path | None = None
) -> Table:
    """Run a campaign file on this machine's cores, and return its table.

    `size` is one of its [sizes]; `store` is a folder of results to go on from. Raises InputError
    for a campaign that cannot be run.
    """
    return Table(execute(load_campaign(Path(file), size), store=store_in(store)))
