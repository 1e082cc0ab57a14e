"""The classes that a scenario is built from, one a table of the file: `Scenario` holds them all."""

from sims.scenario.availability import AlwaysUp, FtaFile, Letters, Markov, SimGridFile, SpotFile
from sims.scenario.errors import ErrorSection
from sims.scenario.faults import ExponentialFaults, ListedFaults, NoFaults, Weibull
from sims.scenario.header import Unit
from sims.scenario.jobs import speedups, stream
from sims.scenario.jobs.files import WorkloadFile
from sims.scenario.jobs.iterative import IterativeEntry
from sims.scenario.jobs.malleable import DrawnApplications, MalleableEntry
from sims.scenario.jobs.moldable import MoldableJob
from sims.scenario.jobs.rigid import RigidJob, UniformJobs
from sims.scenario.jobs.section import (
    IterativeSection,
    MalleableSection,
    MoldableSection,
    RigidSection,
)
from sims.scenario.jobs.stream import StreamSection
from sims.scenario.link import LinkSection
from sims.scenario.master import MasterSection
from sims.scenario.platform import PlatformSection, RandomWorkers, WorkerSection
from sims.scenario.policy import PolicySection
from sims.scenario.protection import ProtectionSection
from sims.scenario.scenario import Scenario

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
