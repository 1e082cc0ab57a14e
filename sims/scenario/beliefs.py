"""What traces say of a platform's workers, and what policies believe of them."""

from __future__ import annotations

from math import inf
from pathlib import Path

from policies.maths.markov import Belief, MarkovChain
from sims.errors import InputError
from sims.scenario.availability import Trace
from sims.scenario.platform import Platform
from sims.scenario.protection import ProtectionSection
from sims.scenario.scenario import Scenario
from sims.scenario.trace_files import TraceFile


def refuse_mixed(platform: Platform, folder: Path) -> None:
    """Raises InputError where the slots of two traces differ in length."""
    traces = [it.availability for it in platform.sections]
    files = [it for it in traces if isinstance(it, TraceFile)]
    lengths = dict.fromkeys(it.seconds(folder) for it in files)
    if len(lengths) > 1:
        problem = f"slots of {' and '.join(f'{it:g} s' for it in lengths)} in one scenario"
        accepted = f"slot = {min(lengths):g} for all of them: traces of other ticks are resampled"
        raise InputError("scenario", "workers.availability.slot", problem, accepted)


def measured_mtbf(platform: Platform, folder: Path) -> float:
    """Time that a worker is UP until it goes DOWN, over all traces; inf: it never does."""
    traces = [it.availability for it in platform.sections]
    seen = [it.failures(folder) for it in traces if isinstance(it, Trace)]
    downs = sum(it for _, it in seen)
    return sum(up for up, _ in seen) / downs if downs else inf


def belief(scenario: Scenario, folder: Path) -> Belief:
    """What policies believe of each worker. Raises InputError where nothing can be."""
    platform = scenario.full_platform
    chains = tuple(_chain(platform, k, folder) for k in range(platform.size))
    return Belief(chains, scenario.policy.expectation)


def _chain(platform: Platform, worker: int, folder: Path) -> MarkovChain:
    section = platform[worker]
    try:
        return (section.belief or section.availability).chain(folder)
    except ValueError as error:
        problem = f"{platform.name(worker)}: {error}"
        accepted = "a worker that is UP at times, or one with a belief"
        raise InputError("scenario", "workers.availability", problem, accepted) from None


def with_mtbf(scenario: Scenario, folder: Path) -> Scenario:
    """Where Young's or Daly's period has no MTBF but that of the workers' traces, with that one."""
    own = [it.protection for it in scenario.job.jobs if it.protection]
    asking = [it for it in (scenario.protection, *own) if it.mtbf is None and it.by_formula]
    if not asking or scenario.faults.mtbf < inf:
        return scenario
    mtbf = measured_mtbf(scenario.full_platform, folder)
    if mtbf == inf:
        return scenario

    def said(section: ProtectionSection | None) -> ProtectionSection | None:
        return section.model_copy(update={"mtbf": mtbf}) if section in asking else section

    jobs = tuple(
        it.model_copy(update={"protection": said(it.protection)}) for it in scenario.job.jobs
    )
    job = scenario.job.model_copy(update={"jobs": jobs})
    return scenario.model_copy(update={"protection": said(scenario.protection), "job": job})
