"""`[policy]`: who decides, and by which policy: one of the papers', or a user's own."""

from __future__ import annotations

import enum
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from actors.decisions import name_of
from actors.events import DeciderKind
from policies.interface.pack import LookAhead
from policies.maths.markov import Expectation
from policies.queue.lists import Reading
from policies.queue.names import AllotmentRule, default_order, is_strategy
from sims.errors import unfit
from sims.scenario.own_code import OWN, own
from sims.tables import Section
from sims.tables.fields import Accepts, Duration, Positive, Time

Parameters = dict[str, Any]
"""A TOML table; what may stand in it, the policy's own class says."""

FIXED = "FIXED"
"""Enrolment: always the same members, which its parameters name."""


QUEUE, ENROLMENT, PACK, COPIES, DEADLINE = DeciderKind
READERS: dict[str, tuple[DeciderKind, ...]] = {
    "order": (QUEUE,),
    "preemption": (QUEUE,),
    "estimates": (QUEUE,),
    "noise": (QUEUE,),
    "spread": (QUEUE,),
    "reading": (QUEUE,),
    "allocation": (QUEUE, PACK),
    "allotment": (QUEUE,),
    "eps": (QUEUE,),
    "placement": (QUEUE, COPIES),
    "expectation": (QUEUE, ENROLMENT),
    "reuse": (ENROLMENT,),
    "look": (PACK,),
    "changeover": (DEADLINE,),
    "every": (DEADLINE,),
}
"""Who reads each key of [policy]; what is not listed everyone does."""
SUGGESTED: Mapping[str, DeciderKind] = {"iterative": ENROLMENT, "malleable": PACK}
"""Kind of job -> whose policy an unknown one is, if not a queue's."""


class Believed(enum.Enum):
    """What a queue believes of its jobs' times."""

    USER = "user"
    """What users requested."""
    EXACT = "exact"
    """What jobs take."""
    NOISE = "noise"
    """What they take, times a random factor."""
    RECENT = "recent"
    """The mean of the user's last two jobs."""


class Noise(enum.Enum):
    """The law of the factor between what is believed and what is so."""

    LOGNORMAL = "lognormal"
    """e^(spread N(0, 1))."""
    UNIFORM = "uniform"
    """Between 1 and 1 + spread: requests are never too short (Mu'alem and Feitelson 2001)."""


Eps = Annotated[float, Accepts("a number above 0, up to 1", {"gt": 0, "le": 1})]


class PolicySection(Section):
    """`[policy]`: who decides. Beside `name`, each key is of some deciders only."""

    name: str = ""
    """A paper's name for it (`holdfast policies`), or `package.module:Name` of a class or function
    of yours; default: R-LIST-0, of a pack `none`."""
    parameters: Parameters = Field(default_factory=dict)
    """Fields of your policy's class; the papers' own policies take none unless they say so."""
    decider: DeciderKind | None = None
    """What a policy of yours decides; default: as its jobs' kind suggests."""
    order: str | None = None
    """Of a queue: LPT (the default of the papers' strategies), SPT or SJF, HPA, LPA, LA, SA,
    RANDOM, LJF, FCFS (the default of FCFS, EASY, conservative and greedy), PRIORITY, WFP3, UNICEP,
    F1, F2, F3, F4, FAIR-SHARE, or `package.module:Name`."""
    preemption: bool = False
    """Of a queue: whether its first job may have runs of jobs that the order puts behind it
    cancelled, of jobs protected by `images`, in order to start at once."""
    estimates: Believed = Believed.USER
    """Of a queue, the times that it believes: `user`, what users requested; `exact`, what jobs
    take; `noise`, what they take times a random factor; `recent`, the mean of the user's last two
    jobs, the request at most, made longer where it is exceeded."""
    noise: Noise = Noise.LOGNORMAL
    """Of `noise`: `lognormal`, a factor e^(spread N(0, 1)), or `uniform`, U(1, 1 + spread)."""
    spread: Positive = 1.0
    """Of `noise`."""
    reading: Reading = Reading.FRESH
    """Of R-LIST's reservations: `fresh`, `easy` or `kept`."""
    allocation: str | None = None
    """Of moldable jobs in a queue: `LPA` (the default), `BATCH`, `MINTIME`, `MINAREA`; of a pack:
    `Opt-NoRedistrib` (the default), `GreedySpeedupProfile`; or `package.module:Name`."""
    allotment: AllotmentRule = AllotmentRule.SCALED
    """Of BATCH: `scaled`, `programme`, `exact` or `mixed`."""
    eps: Eps = 0.1
    """Of `scaled` and `programme`: 0.1 reproduces moldable21's Table 1, which states 0.3."""
    placement: str | None = None
    """Of a queue, which free workers a run gets: `lowest` (the default), `compact`, `programmed`,
    `nodes`, `IP`, `IE`, `IY`, `IAY`; of copies: `uniform` (the default), `lowest`."""
    expectation: Expectation = Expectation.EXACT
    """Which E(S)(W) of volatile13, Theorem 5.1, enrolment computes with: `exact` or `printed`."""
    reuse: bool = True
    """Whether workers enrolled again at that very decision keep their data (volatile13,
    section III.C)."""
    changeover: Time = 0
    """Of deadlines, d: time that a run takes on other workers than its job had, before it recovers
    and computes."""
    every: Duration | None = None
    """Of deadlines: the policy is asked that often, and whenever something changes; default: the
    changeover, or a thousandth of the deadline."""
    look: LookAhead = LookAhead.ANY
    """When EndLocal and ShortestApplicationsFirst see an application as improvable: `any` number
    of pairs would help, or the `next-pair` alone."""

    def object_at(self, key: str) -> Any:
        """A program's own object at a key, if there is one."""
        return None

    def load(
        self, key: str, named: Callable[[str], Any], folder: Path, *serves: Any, default: str = ""
    ) -> Any:
        """The policy object that `key` asks for, or `default`; only the one at `name` takes
        parameters.

        `named` makes the papers' own (ValueError, with what is accepted, for others); `folder` is
        where a user's module is looked for first; it has to satisfy one of the Protocols `serves`.
        Raises InputError.
        """
        if (given := self.object_at(key)) is not None:
            return given
        name, place = getattr(self, key) or default, f"policy.{key}"
        parameters = self.parameters if key == "name" else {}
        if ":" in name:
            return own(name, parameters, folder, place, *serves)
        if parameters:
            problem = f"{name} takes none, not {', '.join(parameters)}"
            raise unfit("policy.parameters", problem, "no parameters")
        try:
            return named(name)
        except ValueError as error:
            problem, _, accepted = str(error).partition("; accepted: ")
            known = [accepted.rstrip("."), "" if OWN in accepted else OWN]
            raise unfit(place, problem, ", ".join(filter(None, known))) from None

    def idle(self, decider: DeciderKind, name: str) -> Iterator[tuple[str, str]]:
        """(key, why nothing reads it), where the policy of that name decides so."""
        for key, readers in READERS.items():
            if not self.differs(key):
                continue
            if decider not in readers:
                whose = " or ".join(reader.value for reader in readers)
                yield f"policy.{key}", f"{name} decides as {decider.value}, not as {whose}"
            elif ":" not in name and not self._read(name, key):
                yield f"policy.{key}", f"{name} does not read it"

    def _read(self, name: str, key: str) -> bool:
        """Whether one of the papers' policies, whose decider reads the key, does so itself."""
        match key:
            case "reading":
                return name.startswith("R-LIST") and name != "R-LIST-0"
            case "allotment" | "eps":
                return self.allocation == "BATCH"
            case "noise" | "spread":
                return self.estimates is Believed.NOISE
            case "look":
                return "EndLocal" in name or "ShortestApplicationsFirst" in name
        return True


def decider_kind(
    section: PolicySection, kind: str, streamed: bool, due: bool = False
) -> DeciderKind:
    """Whose policy it is: as it says, as its name says, or as the kind of job suggests; `due`:
    jobs have deadlines."""
    name = section.name
    if section.decider is not None:
        return section.decider
    if not name:
        return PACK if kind == "malleable" else QUEUE
    suggested = COPIES if streamed else SUGGESTED.get(kind, QUEUE)
    suggested = DEADLINE if due else suggested
    return suggested if ":" in name else _by_name(name, suggested)


def _by_name(name: str, suggested: DeciderKind) -> DeciderKind:
    if suggested is DEADLINE:
        from policies.deadline import NAMED

        if name in NAMED:
            return suggested
    if is_strategy(name) and not (name == "FCFS" and suggested is COPIES):
        return QUEUE
    from policies import copies, enrolment, pack  # a queue's run does without them

    if name in enrolment.CATALOGUE or name == FIXED:
        return ENROLMENT
    if name in pack.CATALOGUE:
        return PACK
    try:
        copies.named(name)
    except ValueError:
        return suggested
    return COPIES


class GivenPolicies(PolicySection):
    """`[policy]` as a program may have it: what a file would name is there as an object."""

    given: Mapping[str, Any]
    """Key of `[policy]` -> the object; the key itself holds what logs and errors call it."""

    def object_at(self, key: str) -> Any:
        return self.given.get(key)


def with_objects(section: PolicySection, objects: Mapping[str, Any]) -> PolicySection:
    """`section`, with policies of a program's own at some of its keys (`name`, `order` ...)."""
    named = {key: name_of(policy) for key, policy in objects.items()}
    return GivenPolicies.model_construct(**dict(section) | named, given=dict(objects))


# --- as a log tells it ----------------------------------------------------------------------------


def settings(section: PolicySection) -> tuple[str, ...]:
    """`key=value` of each key of `[policy]` not at its default."""
    said = section.model_dump(exclude={"name", "given"}, exclude_defaults=True, warnings=False)
    if said.get("order") == default_order(section.name):
        said.pop("order", None)
    own = said.pop("parameters", {})
    told = {key: it.value if isinstance(it, enum.Enum) else it for key, it in said.items()}
    return tuple(f"{key}={value}" for key, value in (*own.items(), *told.items()))


def value_of(setting: str) -> tuple[str, object]:
    """Key and value of one that a log tells, as Python writes it."""
    key, _, text = setting.partition("=")
    try:
        return key, literal_eval(text)
    except (SyntaxError, ValueError):
        return key, text
