"""The classes that a scenario is built from, one a table of the file: `Scenario` holds them all."""

from sims.scenario.availability import AlwaysUp, Letters, Markov
from sims.scenario.faults import ErrorSection, ExponentialFaults, ListedFaults, NoFaults, Weibull
from sims.scenario.jobs import (
    IterativeEntry,
    IterativeSection,
    MalleableEntry,
    MalleableSection,
    MoldableJob,
    MoldableSection,
    RigidJob,
    RigidSection,
    speedups,
)
from sims.scenario.jobs import sources as stream
from sims.scenario.jobs.drawn import DrawnApplications, UniformJobs
from sims.scenario.jobs.sources import StreamSection, WorkloadFile
from sims.scenario.platform import LinkSection, MasterSection
from sims.scenario.policy import PolicySection
from sims.scenario.protection import ProtectionSection
from sims.scenario.scenario import Scenario, Unit
from sims.scenario.trace_files import FtaFile, SimGridFile, SpotFile
from sims.scenario.workers import PlatformSection, RandomWorkers, WorkerSection

__all__ = [
    "AlwaysUp",
    "DrawnApplications",
    "ErrorSection",
    "ExponentialFaults",
    "FtaFile",
    "IterativeEntry",
    "IterativeSection",
    "Letters",
    "LinkSection",
    "ListedFaults",
    "MalleableEntry",
    "MalleableSection",
    "Markov",
    "MasterSection",
    "MoldableJob",
    "MoldableSection",
    "NoFaults",
    "PlatformSection",
    "PolicySection",
    "ProtectionSection",
    "RandomWorkers",
    "RigidJob",
    "RigidSection",
    "Scenario",
    "SimGridFile",
    "SpotFile",
    "StreamSection",
    "UniformJobs",
    "Unit",
    "Weibull",
    "WorkerSection",
    "WorkloadFile",
    "speedups",
    "stream",
]
