"""Compare variants of one scenario file on the same seeds: the short form of a campaign."""

from __future__ import annotations

import multiprocessing
import pickle
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, Literal

from attrs import evolve

from actors.decisions import name_of
from sims.campaign import Campaign, Precision, load_campaign
from sims.campaign.axes import Axis, Settings, as_toml, is_object, settings_text
from sims.campaign.comparing import Effect
from sims.campaign.engine import execute
from sims.campaign.executors import Workers, given
from sims.campaign.results import Results, Store
from sims.campaign.tables import Table
from sims.errors import COMMAND_LINE, InputError, chosen, naming
from sims.metrics.jobs import By
from sims.metrics.measures import Measure
from sims.packing import OWN
from sims.scenario.faults import FaultLaw
from sims.scenario.loader import parse, put, read
from sims.world import checked_seed


def question(
    file: Path,
    variants: Sequence[Settings],
    across: Sequence[Axis] = (),
    *,
    changes: Mapping[str, Any] | None = None,
    baseline: str | None = None,
    runs: int = 10,
    measure: Measure | str | Callable[[Any], float | None] = Measure.MAKESPAN,
    higher_is_better: bool = False,
    effect: Effect = "ratio",
    by: By | None = None,
    seed: int | None = None,
    until: float | None = None,
    precision: Precision | None = None,
) -> Campaign:
    """Return the campaign that compares variants with `baseline` (default: the first), separately
    at every combination of `across`; with `precision`, `runs` come before the first look.

    A measure of the user's own is a function, or a text `package.module:function`. Raises
    InputError where the arguments fit no campaign.
    """
    if not any(variants):
        problem, accepted = "nothing is varied", "--vary KEY=V1,V2; `holdfast run` runs the file"
        raise InputError(COMMAND_LINE, "--vary", problem, accepted)
    known_measure = measure if isinstance(measure, Measure) else None
    name = (
        known_measure.value
        if known_measure
        else measure
        if isinstance(measure, str)
        else name_of(measure)
    )
    if by and not (known_measure and known_measure.quantity):
        problem = f"{name} is none of each job's"
        known = ", ".join(it.value for it in Measure if it.quantity)
        raise InputError(COMMAND_LINE, "--by", problem, f"--measure {known}")
    table, changed = parse(file), dict(changes or {})
    for key, value in changed.items():
        if not is_object(key, value):
            put(table, key, value)
    scenario = read(table, str(file), file.parent)
    named = _named(variants)
    return Campaign(
        name=scenario.name,
        scenario=file.name,
        folder=str(file.parent),
        seed=checked_seed(scenario.seed if seed is None else seed, COMMAND_LINE, "--seed"),
        replications=runs,
        precision=precision,
        until=until,
        measures=(name,),
        higher_is_better=(name,) if higher_is_better else (),
        given={name: measure} if callable(measure) else {},
        set=changed,
        axes={it.key: it.values for it in across},
        variants=named,
        baseline=baseline and _baseline(baseline, named),
        effect=effect,
        by=by,
    )


MOST_RUNS = 1000
"""Largest number of runs of each variant where runs are added until an interval is narrow."""


def precision_of(
    word: float | str | None, first: int, most: int, of: Literal["mean", "effect"] = "effect"
) -> Precision | None:
    """Return the precision that a word asks of each mean or effect: `1%` is relative, a number is
    in the measure's unit; None if nothing is asked. Raises InputError for any other word.

    `first` and `most` are the least and the largest number of runs.
    """
    if word is None:
        return None
    text = str(word).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = 0.0
    if not 0 < number < inf:
        accepted = "a percentage such as 1%, or a number above 0 in the measure's unit"
        raise InputError(COMMAND_LINE, "--precision", f"{text!r} is not accepted", accepted)
    if most < first:
        accepted = f"at least the {first} runs before the first look"
        raise InputError(COMMAND_LINE, "--most", f"{most} is not accepted", accepted)
    if text.endswith("%"):
        return Precision(of=of, first=first, most=most, relative=number / 100)
    return Precision(of=of, first=first, most=most, absolute=number)


def combined(vary: Sequence[Axis], across: Sequence[Axis] = ()) -> list[Settings]:
    """Return all combinations of the values in `vary`, the last axis fastest. Raises InputError
    where a key is varied twice."""
    for key, count in Counter(axis.key for axis in (*vary, *across)).items():
        if count > 1:
            raise InputError(COMMAND_LINE, "--vary", f"{key} is varied twice", "each key once")
    return list(product(*([(axis.key, value) for value in axis.values] for axis in vary)))


def _named(variants: Sequence[Settings]) -> dict[str, dict[str, Any]]:
    """Return the variants by name; variants with the same settings are numbered."""
    found: dict[str, dict[str, Any]] = {}
    seen = Counter[str]()
    for settings in variants:
        name = settings_text(settings)
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name} ({seen[name]})"] = dict(settings)
    return found


def _baseline(word: str, variants: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the name of the variant that `word` names as the baseline, by its name or by its
    values. Raises InputError where it names none."""
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
    changes: Mapping[str, Any] | None = None,
    policy: Any = None,
    hazard: FaultLaw | None = None,
    baseline: str | None = None,
    runs: int = 10,
    measure: str | Measure | Callable[[Any], float | None] = Measure.MAKESPAN,
    higher_is_better: bool = False,
    difference: bool = False,
    by: str | By | None = None,
    seed: int | None = None,
    until: float | None = None,
    precision: float | str | None = None,
    most: int = MOST_RUNS,
    store: str | Path | None = None,
) -> Table:
    """Run variants of a scenario file on the same seeds, on this machine's cores.

    `vary`: dotted keys with their values, all combinations of which are compared, or a list of
    variants, each a mapping from dotted keys to values. Values of `policy.name`, `policy.order`,
    `faults` and others may be objects, as `run` takes them. `across`: compare separately at each of
    these; `changes`, `policy`, `hazard`: settings of all variants; `measure`: a name, or your
    function of a run's `Report`, which returns a finite number or None; `higher_is_better`: whether
    more of your measure is better; `difference`: compare by the difference of means, not by their
    ratio; `precision`: half-width of the printed interval at which no more runs are added, such as
    "1%" or a number in its unit, with at most `most` runs of each variant; `by`: `user`, `group`,
    `queue`, `size` or `time`, to compare the jobs of each; `store`: a folder of results to go on
    from.

    Raises TypeError, naming the argument, for an argument of a wrong type, and InputError for a
    campaign that cannot be run.
    """
    _expect("file", file, str | Path, "a path")
    _expect("runs", runs, int, "a whole number from 1")
    if runs < 1:
        raise InputError("call", "runs", f"{runs} is not accepted", "a whole number from 1")
    axes = _axes("across", across or {})
    if isinstance(vary, Mapping):
        variants = combined(_axes("vary", vary), axes)
    else:
        _expect("vary", vary, list | tuple, "{key: values}, or a list of {key: value}")
        for it in vary:
            _expect("vary", it, Mapping, "a list of {key: value}")
        variants = [tuple(it.items()) for it in vary]
    for name, value in (("policy", policy), ("hazard", hazard)):
        if isinstance(value, int | float | list):
            raise TypeError(f"{name}: {value!r} is not accepted; accepted: a name, or an object")
    keys = {"policy.name": policy, "faults": hazard}
    changed = {**(changes or {}), **{key: it for key, it in keys.items() if it is not None}}
    asked_campaign = question(
        Path(file),
        variants,
        axes,
        changes=changed,
        baseline=baseline,
        runs=runs,
        measure=measure_named(measure),
        higher_is_better=higher_is_better,
        effect="difference" if difference else "ratio",
        by=None if by is None else chosen(By, by),
        seed=seed,
        until=until,
        precision=precision_of(precision, runs, most),
    )
    given = [*changed.items(), *(pair for it in variants for pair in it)]
    mine = [value for key, value in given if is_object(key, value)]
    mine += [measure] if callable(measure) else []
    if mine and store:
        problem = "results of objects are not known again"
        raise InputError("call", "store", problem, "policies and measures as package.module:Name")
    with naming(Path(file)):
        results = execute(asked_campaign, _workers_for(mine), Store(Path(store)) if store else None)
    refuse_raised(results)
    return Table(results)


def refuse_raised(found: Results) -> None:
    """Raise InputError for the first run that an error ended, if any, since a comparison without it
    would be meaningless."""
    for (case, _), result in found.raised():
        raise InputError(f"{case}, seed {result.seed}", "", str(result.error))


def measure_named(measure: Any) -> Any:
    """Return a measure of Holdfast by its name, and a function or `package.module:function` of the
    user's as it is.

    Raises InputError for anything else.
    """
    if OWN.fullmatch(measure) if isinstance(measure, str) else callable(measure):
        return measure
    try:
        return chosen(Measure, measure)
    except InputError as error:
        accepted = f"{error.accepted}, package.module:function, or a function of a Report"
        raise evolve(error, accepted=accepted) from None


def _axes(name: str, asked: Mapping[str, Sequence[Any]]) -> list[Axis]:
    """Return the axes of a mapping from keys to lists of values. Raises TypeError for another
    type."""
    _expect(name, asked, Mapping, "{key: values}")
    for key, values in asked.items():
        _expect(f"{name}[{key!r}]", values, list | tuple | range, "a list of values")
    return [Axis(key, tuple(values)) for key, values in asked.items()]


def _expect(name: str, value: object, kind: Any, accepted: str) -> None:
    """Raise TypeError where an argument is not of this type."""
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
    asked = load_campaign(Path(file), size)
    return Table(execute(asked, store=Store(Path(store)) if store else None))
