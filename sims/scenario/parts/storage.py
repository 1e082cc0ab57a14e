"""Storage that all runs share, and what it takes the place of (rules.md, S1). Its table is
`[storage]`; the sizes of checkpoints are `protection.bytes`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from math import inf
from typing import TYPE_CHECKING, ClassVar

from actors.events import DeciderKind
from actors.parts.storage import Storage as StorageActor
from actors.parts.storage import StorageUse
from actors.protection import ProtectionKind, Rules
from actors.runtime import Actor
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.jobs import STORAGE
from sims.scenario.parts.part import Advice, Made, MakingOfJob, ScenarioPart, Site, Timed
from sims.scenario.protection import ProtectionSection
from sims.scenario.submissions import Submissions, work_end
from sims.telling import about, amount_of

if TYPE_CHECKING:
    from sims.scenario.planned import Planned

REPLACED = {
    ProtectionKind.IMAGES: ("cost", "recovery", "delay"),
    ProtectionKind.BUDDIES: ("image_cost",),
}
"""Maps a kind of protection to the keys in whose place `bytes` comes."""


class Storage(ScenarioPart):
    """The storage, with the jobs that save to it."""

    unplayable: ClassVar[str] = "storage"

    def check(self, scenario: Scenario) -> None:
        """Raise InputError, naming the key, where checkpoints go to the storage without a size
        (`bytes`), where they have a size and do not go there, or where the time of a checkpoint or
        image is set that the storage determines."""
        if scenario.storage is None:
            for place, section in scenario.protections.items():
                if section.bytes is not None:
                    problem = f"{section.bytes!r}, and there is no storage that keeps them"
                    raise unfit(f"{place}.bytes", problem, "[storage], or no bytes")
            return
        for place, section in scenario.protections.items():
            _check_protection(place, section)
        images = {f"job.jobs.{k}.image": job.image for k, job in enumerate(scenario.job.jobs)}
        images["master.image"] = scenario.master.image if scenario.master is not None else 0
        for key, image in images.items():
            if image:
                problem = f"{image!r}, and with [storage] no image is on the master's link"
                raise unfit(key, problem, "0, or no [storage]")

    def after(self, site: Site) -> Iterator[Actor]:
        section = site.scenario.storage
        if section is not None:
            yield StorageActor(STORAGE, section.bandwidth)

    def of_job(self, scenario: Scenario, rules: Rules, made: Made) -> Iterator[MakingOfJob]:
        storage = made.of(StorageActor)
        if storage is not None and rules.bytes is not None:
            yield partial(StorageUse, storage=storage)

    def simulated(self, scenario: Scenario) -> Iterator[str]:
        if scenario.storage is not None:
            yield "storage"

    def lengths(self, scenario: Scenario) -> Iterator[Timed]:
        """Yield, for each protection that saves to the storage, the least time in which its
        checkpoint passes."""
        for key, section in scenario.protections.items():
            if scenario.storage is not None and section.bytes is not None:
                yield section.bytes / scenario.storage.bandwidth, f"{key}.bytes"

    def load_lines(
        self, scenario: Scenario, submissions: Submissions, planned: Iterable[Planned]
    ) -> Iterator[str]:
        """Yield a line that says how busy the storage is at least, over the least time that the
        work of all `submissions` takes, and a second one where it needs longer than that."""
        if scenario.storage is None:
            return
        total = 0.0
        for it in planned:
            if it.rules.bytes is not None:
                total += it.rules.bytes * it.images
        until, unit = work_end(scenario, submissions), scenario.times.value
        if not 0 < until < inf or not total:
            return
        least = total / scenario.storage.bandwidth
        share, saved = f"{amount_of(100 * least / until, 3)} %", f"{amount_of(total, 6)} bytes"
        told = f"at least {share} busy if nothing fails: {saved} within {about(until, unit)}"
        if scenario.decider is DeciderKind.PACK:  # whose end is as little known as its sizes
            more = f"at least {saved} if nothing fails and no application is resized"
            told = f"{more}, {share} of what passes within {about(until, unit)}, the least time"
        yield f"  storage     {told}"
        if least > until:
            bound = "the storage, not the workers, bounds the end"
            yield f"              {bound}: {about(least, unit)}"

    def idle(self, scenario: Scenario) -> Iterator[Advice]:
        stored = any(it.stores for it in scenario.protections.values())
        if scenario.storage is not None and not stored:
            yield "storage", "no job saves anything to it"


def _check_protection(place: str, section: ProtectionSection) -> None:
    kind = section.kind
    if not section.stores:
        if section.bytes is not None:
            problem = f"{section.bytes!r}, and no checkpoint goes to the storage"
            raise unfit(f"{place}.bytes", problem, "kind = 'images', or buddies with images_every")
        return
    if section.bytes is None:
        problem = "missing: checkpoints go to the storage, and their size is not known"
        raise unfit(f"{place}.bytes", problem, "a number of bytes, 0 or above")
    for key in REPLACED[kind]:
        if section.differs(key):
            problem = f"{getattr(section, key)!r}, and with [storage] bytes take their own time"
            raise unfit(f"{place}.{key}", problem, "no such key, or no [storage]")
