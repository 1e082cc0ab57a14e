"""Advice on settings that may mislead their author: settings without effect, and costs that only
one side of a comparison pays.

`holdfast check` prints both; a run warns of settings without effect.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator

from actors.events import DeciderKind
from actors.protection import ProtectionKind
from policies.interface.kinds import JobKind
from sims.scenario import Scenario, Unit
from sims.scenario.availability import AlwaysUp
from sims.scenario.faults import NoFaults, Struck, placed_laws
from sims.scenario.jobs import Overrun, RigidSection
from sims.scenario.parts import PARTS
from sims.scenario.platform import LinkSection
from sims.scenario.protection import OnNotice, ProtectionSection
from sims.scenario.trace_files import TraceFile
from sims.scenario.workers import WorkerFields

Advice = Iterator[tuple[str, str]]
"""Pairs of a dotted key and what its author should know."""

OF_BUDDIES = ("images_every", "image_cost", "replace_after")
OF_CHECKPOINTS = (
    *("period", "cost", "recovery", "verified", "mtbf"),
    *("on_notice", "blocking", "slowdown"),
)
OF_SAVING = ("cost", "verified", "blocking", "slowdown", "images_every", "image_cost")
"""Keys of [protection] that only buddies (OF_BUDDIES), only checkpoints of any kind
(OF_CHECKPOINTS), and only the saving of a checkpoint (OF_SAVING) give a meaning."""


def idle(scenario: Scenario) -> Advice:
    """Yield (key, reason) of each setting that has no effect, though it differs from its default
    and its author may think that it has one."""
    yield from scenario.policy.idle(scenario.decider, scenario.policy_name)
    for place, section in scenario.protections.items():
        reasons = _idle_protection(section, scenario)
        yield from ((f"{place}.{key}", why) for key, why in reasons.items() if section.differs(key))
    yield from _idle_faults(scenario)
    yield from _idle_workers(scenario)
    yield from _idle_jobs(scenario)
    if scenario.link != LinkSection() and scenario.decider is not DeciderKind.PACK:
        name = scenario.policy_name
        yield "link", f"only a pack moves data between workers, and {name} is none"
    if (master := scenario.master) and master.image and not _images_sent(scenario):
        yield "master.image", "no job keeps images at the master, and none is cloned"
    for part in PARTS:
        yield from part.idle(scenario)
    measures = scenario.measures
    if measures and measures.warm_up is not None and measures.blocks(scenario.times) is None:
        yield "measures.warm_up", "the unit is a slot, and measures.block is missing"


def warn_of_idle(scenario: Scenario) -> None:
    """Warn of each setting without effect, in one line each."""
    for key, reason in idle(scenario):
        warnings.warn(f"{key} has no effect: {reason}", stacklevel=2)


def warnings_of(scenario: Scenario) -> Advice:
    """Yield (key, explanation) of each setting whose effect may differ from what its author
    thinks."""
    for place, section in scenario.protections.items():
        yield from _one_sided_costs(place, section, scenario)
    for part in PARTS:
        yield from part.warnings(scenario)
    yield from _beyond(scenario)
    yield from _unseen(scenario)


def _beyond(scenario: Scenario) -> Advice:
    """Yield an explanation of numbers of spares and channels beyond what the jobs can use."""
    from sims.scenario.saturation import saturation  # a run has no use for it

    channels = scenario.master.channels if scenario.master else 0
    counts = ("platform.spares", scenario.full_platform.pool.spares), ("master.channels", channels)
    for key, value in counts:
        limit = saturation(scenario, key) if value else None
        if limit and value > limit[0]:
            yield key, limit[1]


def _unseen(scenario: Scenario) -> Advice:
    """Yield an explanation if slots miss times at which the workers of traces are away."""
    owners = (section.availability for section in scenario.full_platform.sections)
    # Where the unit is a second, what begins and ends within one is not worth reading files twice.
    traces = [it for it in owners if isinstance(it, TraceFile) and scenario.times is Unit.SLOT]
    times = [it.away() for it in traces]
    every, unseen = (sum(it[k] for it in times) for k in (0, 1))
    if unseen:
        text = f"{unseen:,} of {every:,} times at which the traces' workers are away begin and end "
        text += f"between the starts of two slots of {traces[0].seconds():g} s, and are left out"
        yield "workers.availability.slot", text


def _one_sided_costs(place: str, section: ProtectionSection, scenario: Scenario) -> Advice:
    """Yield (key, explanation) for each cost that a run pays if it continues from saved work, and
    does not pay if it starts from scratch: comparisons of the two would be unfair.

    `place` is the dotted key of the protection `section`. Nothing is yielded where no run can end
    early, or where all of the protection's jobs pay a cost in every run.
    """
    kind, master, cloned = section.kind, scenario.master, section.copies > 1 and section.cloning
    free = "a run that starts from scratch pays nothing: saving less may look better than it is"
    every = {key for part in PARTS for _, key in part.each_run(scenario.job, None)}
    free += f" ({' and '.join(sorted(every))} is a cost of every run)"
    if not _can_end_early(scenario) or not _starts_free(place, scenario):
        return
    if section.recovery and kind is ProtectionKind.NONE:
        yield f"{place}.recovery", f"under kind none {free}"
    if master is None and cloned and section.delay:
        yield f"{place}.delay", f"a clone pays {section.delay:g}, and {free}"
    if kind is not ProtectionKind.IMAGES or not _takes_checkpoints(section, scenario):
        return
    if section.stores and scenario.storage is not None:
        text = f"a run that continues from a checkpoint loads {section.bytes:g} bytes"
        yield f"{place}.bytes", f"{text}, and {free}"
    if master is None and section.recovery:
        text = f"a run that continues from a checkpoint pays {section.recovery:g}"
        yield f"{place}.recovery", f"{text}, and {free}"
    if master is not None and master.image and not (master.program or master.data):
        yield "master.image", f"a run that continues from an image fetches it, and {free}"


def _starts_free(place: str, scenario: Scenario) -> bool:
    """Return whether the protection at this dotted place (`protection` or `job.jobs.K.protection`)
    applies to a job whose runs can begin at no cost."""
    section = scenario.job
    jobs = [
        job
        for k, job in enumerate(section.jobs)
        if place == ("protection" if job.protection is None else f"job.jobs.{k}.protection")
    ]
    costs = [
        sum(time for part in PARTS for time, _ in part.each_run(section, own))
        for own in (jobs if section.jobs else (None,))
    ]
    return not all(costs)


# --- settings without effect ----------------------------------------------------------------------


NO_CHECKPOINT = "protection.period is inf: no checkpoint is taken"
BY_IMAGE = "with a [master] an image takes master.image"


def _idle_protection(section: ProtectionSection, scenario: Scenario) -> dict[str, str]:
    """Map each key of this protection that has no effect in the scenario, whether it is set or not,
    to the reason; of several reasons, the first in the list of rules counts."""
    kind, alone, linked = section.kind, section.copies == 1, scenario.master is not None
    none, images = kind is ProtectionKind.NONE, kind is ProtectionKind.IMAGES
    unsaved, pack = not _takes_checkpoints(section, scenario), scenario.decider is DeciderKind.PACK
    rules: tuple[tuple[bool, str, tuple[str, ...]], ...] = (
        (none, "protection.kind is none: no checkpoint is taken", OF_CHECKPOINTS),
        (kind is not ProtectionKind.BUDDIES, "members are kept only under buddies", OF_BUDDIES),
        (unsaved, NO_CHECKPOINT, OF_SAVING),
        # Under buddies a run from scratch spends `recovery`, too.
        (unsaved and images, NO_CHECKPOINT, ("recovery",)),
        (alone, "protection.copies is 1: there is nothing to clone from", ("cloning", "delay")),
        (not section.cloning, "protection.cloning is false: no copy is a clone", ("delay",)),
        (linked, BY_IMAGE, ("delay", "image_cost")),
        (linked and images, BY_IMAGE, ("recovery",)),
        (linked and images and not section.by_formula, BY_IMAGE, ("cost",)),
        (section.images_every is None, "protection.images_every is missing", ("image_cost",)),
        (section.blocking, "protection.blocking is true: checkpoints stop the run", ("slowdown",)),
        (not (section.by_formula or pack), "protection.period is no formula", ("mtbf",)),
        (
            not _gives_notice(scenario),
            "no owner gives notice (availability.notice)",
            ("on_notice",),
        ),
        (not scenario.can_go_down, "no worker ever goes DOWN", ("replace_after",)),
    )
    reasons = dict[str, str]()
    # Earlier rules win: what `reasons` already holds overrides the new keys.
    for _, why, keys in (rule for rule in rules if rule[0]):
        reasons = dict.fromkeys(keys, why) | reasons
    return reasons


def _idle_faults(scenario: Scenario) -> Advice:
    faults = scenario.faults
    if isinstance(faults, NoFaults):
        keys = (key for key in ("of", "effect", "downtime", "detection") if faults.differs(key))
        yield from ((f"faults.{key}", "faults.kind is none") for key in keys)
    for place, law in placed_laws(scenario.faults):
        platform = scenario.full_platform
        if law.of is Struck.NODES and platform.node == 1 and not law.spread:
            yield f"{place}.of", "platform.node is 1: each worker is a node"
        if law.of is Struck.RACKS and platform.rack == 1:
            yield f"{place}.of", "platform.rack is 1: each node is a rack"
        if law.differs("spread") and (law.of is not Struck.NODES or platform.rack == 1):
            yield f"{place}.spread", "only the fault of a node spreads, within its rack"


def _idle_workers(scenario: Scenario) -> Advice:
    pool, iterative = scenario.platform, JobKind.ITERATIVE in scenario.kinds
    listed = ((f"workers.{k}", it) for k, it in enumerate(scenario.workers))
    sections: Iterable[tuple[str, WorkerFields]] = [
        *([("platform", pool)] if pool else []),
        *listed,
    ]
    for place, section in sections:
        for key in ("task_time", "memory"):
            if section.differs(key) and not iterative:
                yield f"{place}.{key}", "only iterative jobs have tasks"
    if pool and not pool.multitasking and scenario.decider is not DeciderKind.COPIES:
        yield "platform.multitasking", "only policies of copies share workers"


def _idle_jobs(scenario: Scenario) -> Advice:
    job, queued = scenario.job, scenario.decider is DeciderKind.QUEUE
    if scenario.policy.preemption and queued and not _keeps_images(scenario):
        yield "policy.preemption", "only jobs under images are preempted, and there are none"
    if job.overrun is not Overrun.KILL:
        return
    log = job.log if isinstance(job, RigidSection) else None
    drawn = isinstance(job, RigidSection) and job.lublin is not None
    estimated = log.estimates if log else drawn or any(it.estimate for it in job.jobs)
    if not estimated:
        yield "job.overrun", "no job has an estimate"


# --- what there is --------------------------------------------------------------------------------


def _takes_checkpoints(section: ProtectionSection, scenario: Scenario) -> bool:
    """Return whether jobs under this protection take checkpoints: after each period, or at the
    notice of an owner who gives one."""
    kept, asked = section.kind is not ProtectionKind.NONE, section.on_notice is OnNotice.SAVE
    return section.periodic or (kept and asked and _gives_notice(scenario))


def _keeps_images(scenario: Scenario) -> bool:
    """Return whether any job is protected by images: the file's protection is, and some job has
    none of its own, or a job's own is."""
    kept = {place for place, it in scenario.protections.items() if it.kind is ProtectionKind.IMAGES}
    listed = scenario.job.jobs
    if listed and all(it.protection for it in listed):
        kept -= {"protection"}
    return bool(kept)


def _images_sent(scenario: Scenario) -> bool:
    """Return whether checkpoint images can be sent over the master's link: copies are scheduled, or
    some protection keeps images or clones copies."""
    return scenario.decider is DeciderKind.COPIES or any(
        it.kind is ProtectionKind.IMAGES or it.images_every or (it.copies > 1 and it.cloning)
        for it in scenario.protections.values()
    )


def _gives_notice(scenario: Scenario) -> bool:
    """Return whether some worker has an owner who gives notice before taking it DOWN."""
    owners = (it.availability for it in scenario.full_platform.sections)
    return any(it.notice and not isinstance(it, AlwaysUp) for it in owners)


def _can_end_early(scenario: Scenario) -> bool:
    """Return whether a run can end before its work is done: a worker can go DOWN, silent errors can
    strike, or the policy preempts runs."""
    errors = bool(scenario.errors.given) or any(it.failures for it in scenario.job.jobs)
    return scenario.can_go_down or errors or scenario.policy.preemption
