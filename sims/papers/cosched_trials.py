"""One trial of the co-scheduling study: every heuristic on the same pack and the same faults."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from attrs import frozen

from actors.protection import Kind
from actors.runtime import System
from policies.pack import LookAhead
from sims.metrics.makespan import Makespan
from sims.scenario.build import populate
from sims.scenario.faults import YEAR, Exponential, NoFaults
from sims.scenario.jobs.malleable import Draw
from sims.scenario.jobs.malleable_profiles import Synthetic
from sims.scenario.jobs.section import MalleableSection
from sims.scenario.link import LinkSection
from sims.scenario.platform import PlatformSection
from sims.scenario.policy import PolicySection
from sims.scenario.protection import ProtectionSection
from sims.scenario.scenario import Scenario

BUDDIES = ProtectionSection(kind=Kind.BUDDIES, period="young")

NONE = "none"
"""The reference: the same faults, no redistribution."""
FAULT_FREE = "fault-free EndLocal"
"""The optimistic bound of 003's figures: no fault, no checkpoint, redistribution at ends."""
LARGEST = 2_500_000.0
"""m_sup, data units."""


@frozen
class Setting:
    """One point of one curve (003, section 6.1); the defaults are the paper's."""

    smallest: float = 1_500_000.0
    """m_inf, data units."""
    applications: int = 100
    processors: int = 1000
    mtbf_years: float = 100.0
    unit: float = 1.0
    """c, s per data unit."""
    sequential: float = 0.08
    """f."""
    faults: bool = True
    """False: no faults and no checkpoints."""


@frozen
class Trial:
    """A setting with one draw of its pack and faults."""

    setting: Setting
    policies: tuple[str, ...]
    look: LookAhead
    seed: int


def seed_of(setting: Setting, repeat: int) -> int:
    """The seed of a setting's `repeat`-th draw.

    Points of a curve get draws of their own: with the same ones, scaled, a mean over the points
    would hardly be surer than a single point.
    """
    return int.from_bytes(blake2b(repr((setting, repeat)).encode(), digest_size=4).digest())


def makespans(trial: Trial) -> dict[str, float]:
    """Makespan in s by policy, `none` included."""
    names = (NONE, *trial.policies)
    return {name: makespan(scenario(trial, name)) for name in names}


def scenario(trial: Trial, policy: str) -> Scenario:
    """What `policy` is run on; pack and faults hang on the trial's seed only."""
    setting = trial.setting
    faulty = setting.faults and policy != FAULT_FREE
    name = policy.removeprefix("fault-free ")
    return Scenario(
        name=policy,
        seed=trial.seed,
        platform=PlatformSection(workers=setting.processors),
        job=MalleableSection(
            kind="malleable",
            draw=Draw(
                count=setting.applications,
                smallest=setting.smallest,
                largest=LARGEST,
                seed=trial.seed,
            ),
            profile=Synthetic(sequential=setting.sequential),
        ),
        link=LinkSection(unit=setting.unit),
        faults=_faults(setting) if faulty else NoFaults(),
        protection=BUDDIES if faulty else ProtectionSection(),
        policy=PolicySection(name=name, look=trial.look),
    )


def _faults(setting: Setting) -> Exponential:
    return Exponential(kind="exponential", mtbf=setting.mtbf_years * YEAR)


def makespan(scenario: Scenario) -> float:
    """Run it without a log."""
    fold = Makespan()
    system = System(scenario.seed, [fold])
    populate(scenario, system, Path())
    system.run()
    return fold.value
