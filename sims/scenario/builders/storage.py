"""Builder of the shared storage, and what it takes the place of (rules.md, S1)."""

from __future__ import annotations

from actors.events import StorageDescribed
from actors.parts.storage import Storage
from actors.protection import ProtectionKind
from actors.runtime import System
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.jobs import STORAGE
from sims.scenario.protection import ProtectionSection

REPLACED = {
    ProtectionKind.IMAGES: ("cost", "recovery", "delay"),
    ProtectionKind.BUDDIES: ("image_cost",),
}
"""Maps a kind of protection to the keys in whose place `bytes` comes."""


def spawn_storage(scenario: Scenario, system: System) -> Storage | None:
    """Make the actor of the storage that the scenario's runs share, and describe the storage in the
    log; return the actor, or None where the scenario has no storage."""
    section = scenario.storage
    if section is None:
        return None
    system.describe(StorageDescribed, section.bandwidth, section.worker_bandwidth)
    return system.spawn(Storage(STORAGE, section.bandwidth))


def check_storage(scenario: Scenario) -> None:
    """Raise InputError, naming the key, where checkpoints go to the shared storage without a size
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
