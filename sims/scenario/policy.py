"""The `[policy]` section: the kind of decider and its policy, one of the papers' or a user's
own."""

from __future__ import annotations

import enum
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from actors.decisions import name_of
from actors.events import DeciderKind
from policies.interface.kinds import JobKind
from policies.interface.pack import LookAhead
from policies.maths.markov import Expectation
from policies.queue.lists import Reading
from policies.queue.names import AllotmentRule, default_order
from policies.queue.orders import MULTIFACTOR
from sims.errors import unfit
from sims.scenario.deciders import DECIDERS, readers
from sims.scenario.limits import LimitSection
from sims.scenario.multifactor import idle_factors, of_order, of_policy
from sims.scenario.own_code import OWN, own
from sims.tables import Section
from sims.tables.fields import Accepts, Duration, Positive, Time

Parameters = dict[str, Any]
"""A TOML table whose possible keys are those of the policy's own class."""

SUGGESTED: Mapping[JobKind, DeciderKind] = {
    JobKind.ITERATIVE: DeciderKind.ENROLMENT,
    JobKind.MALLEABLE: DeciderKind.PACK,
}
"""Maps a kind of job to the kind of decider that an unknown policy is taken for, where that is not
a queue's."""


class Believed(enum.Enum):
    """Run times that a queue's policy assumes for its jobs."""

    USER = "user"
    """The times that users requested."""
    EXACT = "exact"
    """The times that jobs take."""
    NOISE = "noise"
    """The times that jobs take, each multiplied by a random factor."""
    RECENT = "recent"
    """The mean run time of the user's last two jobs."""


class Noise(enum.Enum):
    """Law of the random factor by which an assumed time differs from the true one."""

    LOGNORMAL = "lognormal"
    """The factor is e^(spread N(0, 1))."""
    UNIFORM = "uniform"
    """The factor is between 1 and 1 + spread, so that requests are never too short (Mu'alem and
    Feitelson 2001)."""


ALIKE = (None, "lowest", "compact")
"""Placements that treat all workers alike."""
BY_RECORD = ("fewest-faults", "highest-score", "longest-back")
"""Placements that choose workers by their records."""
COPIES_ONLY = "uniform"
"""Placement that copies have and queues have not (`actors.deciders.copies.placement`)."""

Eps = Annotated[float, Accepts("a number above 0, up to 1", {"gt": 0, "le": 1})]


class Ties(enum.Enum):
    """Choice among workers that a placement finds equally good."""

    NUMBER = "number"
    """The workers with the lowest numbers."""
    RANDOM = "random"
    """Drawn, once for each start."""


class PolicySection(Section):
    """`[policy]`: the policy that decides. Each key but `name` concerns some kinds of policies
    only."""

    name: str = ""
    """Name of a paper's policy (`holdfast policies`), or `package.module:Name` of a class or
    function of your own; default: R-LIST-0, for a pack `none`."""
    parameters: Parameters = Field(default_factory=dict)
    """Fields of your policy's class; under `order = "MULTIFACTOR"` its weights `age`, `fair_share`,
    `size` and `tier` (0), `age_max` and `half_life` (7 d), and `favour` (`large` or `small`). The
    papers' own policies have none unless their description says so."""
    decider: DeciderKind | None = None
    """Kind of decision that your own policy makes; default: the kind that its jobs suggest."""
    order: str | None = None
    """Order of a queue: LPT (the default of the papers' strategies), SPT or SJF, HPA, LPA, LA, SA,
    RANDOM, LJF, FCFS (the default of FCFS, EASY, conservative and greedy), PRIORITY, WFP3, UNICEP,
    F1, F2, F3, F4, FAIR-SHARE, MULTIFACTOR, or `package.module:Name`."""
    preemption: bool = False
    """Whether the first job of a queue may have runs cancelled in order to start at once: runs of
    jobs that are behind it in the order and protected by `images`."""
    estimates: Believed = Believed.USER
    """Run times that a queue's policy assumes: `user`, what users requested; `exact`, what jobs
    take; `noise`, what jobs take times a random factor; `recent`, the mean of the user's last two
    jobs, at most the request, and lengthened where a job exceeds it."""
    noise: Noise = Noise.LOGNORMAL
    """Law of the random factor under `noise`: `lognormal`, a factor e^(spread N(0, 1)), or
    `uniform`, U(1, 1 + spread)."""
    spread: Positive = 1.0
    """Parameter of the random factor under `noise`; larger is noisier."""
    reading: Reading = Reading.FRESH
    """Interpretation of R-LIST's reservations: `fresh`, `easy` or `kept`."""
    allocation: str | None = None
    """Allocation of moldable jobs in a queue: `LPA` (the default), `BATCH`, `MINTIME`,
    `MINAREA`; or of a pack: `Opt-NoRedistrib` (the default), `GreedySpeedupProfile`; or
    `package.module:Name`."""
    allotment: AllotmentRule = AllotmentRule.SCALED
    """Allotment rule of BATCH: `scaled`, `programme`, `exact` or `mixed`."""
    eps: Eps = 0.1
    """Precision of `scaled` and `programme`, from 0 to 1: 0.1 reproduces moldable21's Table 1,
    which states 0.3."""
    placement: str | None = None
    """Rule that chooses the free workers of a queue's run: `lowest` (the default), `compact`,
    `programmed`, `nodes`, `random`, `fewest-faults`, `highest-score`, `longest-back`, `IP`, `IE`,
    `IY`, `IAY`, or `package.module:Name`; or of a copy: `uniform` (the default), `lowest`."""
    ties: Ties = Ties.NUMBER
    """Choice among workers whose records a placement finds equally good: the lowest `number`, or at
    `random`."""
    expectation: Expectation = Expectation.EXACT
    """Formula for E(S)(W) of volatile13, Theorem 5.1, that enrolment uses: `exact` or `printed`."""
    reuse: bool = True
    """Whether workers that a decision enrols again at the same instant keep their data (volatile13,
    section III.C)."""
    changeover: Time = 0
    """d, for deadlines: time that a run takes on other workers than its job's last ones, before it
    recovers and computes, time units."""
    every: Duration | None = None
    """Time between two regular questions to a deadline policy, time units; it is also asked at
    every change. Default: the changeover, or a thousandth of the deadline."""
    limits: tuple[LimitSection, ...] = ()
    """Limits by user, group or queue, each with the keys `per`, `jobs`, `processors` and `only`:
    what its jobs may run and hold at once."""
    look: LookAhead = LookAhead.ANY
    """Condition under which EndLocal and ShortestApplicationsFirst see an application as
    improvable: `any` number of pairs would help, or the `next-pair` alone."""

    def object_at(self, key: str) -> Any:
        """Return the object that a Python program gives in place of the name at this key of
        `[policy]`; None where it gives none, as in a file's section."""
        return None

    def load(
        self, key: str, named: Callable[[str], Any], folder: Path, *serves: Any, default: str = ""
    ) -> Any:
        """Return the policy object that the key `key` of this section names, or else the one called
        `default`; only the policy at `name` takes parameters.

        `named` makes the papers' own objects, and raises ValueError, with what is accepted, for
        other names; a user's module is looked for in `folder` first. The object must satisfy one of
        the Protocols `serves`. Raises InputError where the object cannot be made.
        """
        if (given := self.object_at(key)) is not None:
            return given
        name, place = getattr(self, key) or default, f"policy.{key}"
        parameters = of_policy(self.order, self.parameters) if key == "name" else {}
        if ":" in name:
            return own(name, parameters, folder, place, *serves)
        if parameters:
            problem = f"{name} takes none, not {', '.join(parameters)}"
            raise unfit("policy.parameters", problem, of_order(self.order) or "no parameters")
        try:
            return named(name)
        except ValueError as error:
            problem, _, accepted = str(error).partition("; accepted: ")
            known = [accepted.rstrip("."), "" if OWN in accepted else OWN]
            raise unfit(place, problem, ", ".join(filter(None, known))) from None

    def idle(self, decider: DeciderKind, name: str) -> Iterator[tuple[str, str]]:
        """Yield (dotted key, reason) for each key that differs from its default but has no effect:
        the kind of decider `decider`, or the policy called `name`, does not read it."""
        for key in type(self).model_fields:
            if not self.differs(key):
                continue
            if decider not in (kinds := readers(key)):
                names = " or ".join(kind.value for kind in kinds)
                yield f"policy.{key}", f"{name} decides as {decider.value}, not as {names}"
            elif ":" not in name and not self._read(name, key):
                yield f"policy.{key}", f"{name} does not read it"
        if self.order == MULTIFACTOR and decider in readers("order"):
            for key, why in idle_factors(self.parameters):
                yield f"policy.parameters.{key}", why

    def _read(self, name: str, key: str) -> bool:
        """Return whether the key has an effect with the paper's policy called `name`, given that
        its kind of decider reads the key."""
        match key:
            case "reading":
                return name.startswith("R-LIST") and name != "R-LIST-0"
            case "allotment" | "eps":
                return self.allocation == "BATCH"
            case "noise" | "spread":
                return self.estimates is Believed.NOISE
            case "ties":
                return self.placement in BY_RECORD
            case "look":
                return "EndLocal" in name or "ShortestApplicationsFirst" in name
        return True


def decider_kind(
    section: PolicySection, kind: JobKind, streamed: bool, due: bool = False
) -> DeciderKind:
    """Return the kind of decider: as the section's `decider` says, else the kind that knows the
    policy's name, else, for an unknown name, the one that the jobs suggest.

    Jobs of the kind `kind` suggest one by that kind, jobs with deadlines (`due`) that of deadlines,
    and jobs that come as a stream (`streamed`) that of copies, but for names that a queue knows. Of
    several kinds that know the name, the suggested one comes first. Without a name a pack decides
    for malleable jobs, a queue for all others.
    """
    name = section.name
    if section.decider is not None:
        return section.decider
    usual = SUGGESTED.get(kind, DeciderKind.QUEUE)
    if not name:
        return DeciderKind.PACK if kind is JobKind.MALLEABLE else DeciderKind.QUEUE
    # FCFS makes no copies: a queue decides it in a quarter of the time, unless the placement is
    # one that only copies have.
    queued = DECIDERS[DeciderKind.QUEUE].knows(name) and section.placement != COPIES_ONLY
    copied = streamed and not queued
    suggested = DeciderKind.DEADLINE if due else DeciderKind.COPIES if copied else usual
    # Kinds share names (FCFS, greedy): the jobs decide where the kind that they suggest knows it.
    kinds = () if ":" in name else (suggested, *DECIDERS)
    return next((it for it in kinds if DECIDERS[it].knows(name)), suggested)


class GivenPolicies(PolicySection):
    """`[policy]` of a Python program that gives objects where a file would name them."""

    given: Mapping[str, Any]
    """Maps a key of `[policy]` to its object; the key itself holds the object's name in logs and
    errors."""

    def object_at(self, key: str) -> Any:
        return self.given.get(key)


def with_objects(section: PolicySection, objects: Mapping[str, Any]) -> PolicySection:
    """Return a copy of `section` that uses a program's own policies.

    `objects` maps keys (`name`, `order` ...) to policies. Each of these keys then has its policy's
    name, for messages and the log; `object_at` returns the policy itself.
    """
    named = {key: name_of(policy) for key, policy in objects.items()}
    keys = section.model_fields_set | named.keys()
    return GivenPolicies.model_construct(keys, **dict(section) | named, given=dict(objects))


# --- settings in the log --------------------------------------------------------------------------


def settings(section: PolicySection) -> tuple[str, ...]:
    """Return `key=value` for each key of `[policy]` that is not at its default, the parameters of
    the policy first; the name is left out, as the log has it elsewhere."""
    changed = section.model_dump(exclude={"name", "given"}, exclude_defaults=True, warnings=False)
    if changed.get("order") == default_order(section.name):
        changed.pop("order", None)
    if section.limits:
        changed["limits"] = [it.told() for it in section.limits]
    own = changed.pop("parameters", {})
    plain = {key: it.value if isinstance(it, enum.Enum) else it for key, it in changed.items()}
    return tuple(f"{key}={value}" for key, value in (*own.items(), *plain.items()))


def value_of(setting: str) -> tuple[str, object]:
    """Return (key, value) of one setting `key=value` in the log; the value is read as a Python
    literal, or stays a text where it is none."""
    key, _, text = setting.partition("=")
    try:
        return key, literal_eval(text)
    except (SyntaxError, ValueError):
        return key, text
