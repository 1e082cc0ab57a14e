"""Reads, without the simulator's loader, what the scenario in a log's first line says that later
lines have to follow."""

from __future__ import annotations

import enum
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import inf
from typing import Any, TypeVar

from attrs import define, frozen

from actors.events import DeciderKind, ScenarioStarted, Struck
from actors.events.repair import RepairLaw
from sims.audit.law import framed, possible

DOWNTIME = 60.0
"""Downtime of the faults of a law that gives none, in the scenario's unit of time."""
TIMED = ("exponential", "weibull", "list")
"""Kinds of laws whose faults all have the downtime that the law gives."""
SPAN = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
"""Pattern of the number of a unit (`7`), or of a range of such numbers (`0-3`)."""
Table = Mapping[str, Any]
Member = TypeVar("Member", bound=enum.Enum)


@frozen
class GivenSaving:
    """How a job takes checkpoints and replaces members; by default standing still, on one level,
    and without replacement."""

    on_notice: bool = False
    """Whether a run takes a checkpoint at once when an owner gives notice."""
    blocking: bool = True
    """Whether a checkpoint stops the run."""
    slowdown: float = 0
    """Fraction of its rate that a run loses while a checkpoint is taken beside it."""
    images_every: int | None = None
    """Every so many checkpoints of buddies one goes to shared storage as well; None: none does."""
    image_cost: float = 0
    """Time in which such a checkpoint gets there without a master."""
    replace_after: float | None = None
    """Time for which a member is DOWN before it is replaced; None: it never is."""
    period: float | None = None
    """Work between two checkpoints; None where a formula gives it."""


@frozen
class Asked:
    """Mechanisms that the scenario asks for in a job's runs; by default it asks for none."""

    saving: GivenSaving = GivenSaving()
    stored: float | None = None
    """Bytes of a checkpoint on shared storage; None if none is kept there."""
    ready: int = 0
    """Largest number of workers that a copy holds ready besides its members."""
    of: Mapping[type, Any] = {}
    """Maps kinds of rules to what the job asks of their mechanism."""


@frozen
class Messages:
    """Sizes of the messages that members of a job's runs fetch, as times for which they use one of
    the master's channels."""

    program: float
    data: float
    """Size of a unit of data: iterative jobs have one for each task, others one in total."""
    image: float
    """Size of one worker's image, which is its part of a saved state."""
    label: str
    """Label of the job's program, which jobs of the same label share."""


@frozen
class GivenPlatform:
    """The platform, as the scenario describes it."""

    size: int
    """Number of workers."""
    node: int
    """Number of workers in a node: workers 0 to node - 1 are node 0, and so on."""
    spares: int
    """Number of spares, the workers with the highest numbers, on which no job starts."""
    detections: tuple[float, ...]
    """Delays after which the faults of each law are detected."""
    owned: tuple[range, ...]
    """Numbers of the workers whose owners may take them away at any time."""

    @property
    def late(self) -> bool:
        """Whether faults are detected late."""
        return any(self.detections)

    def has_owner(self, worker: int) -> bool:
        """Return whether worker number `worker` has an owner who may take it away at any
        time."""
        return any(worker in workers for workers in self.owned)


@frozen
class GivenRepair:
    """Repairs, as the scenario describes them: their stages, and the causes of faults that they
    remove."""

    laws: tuple[RepairLaw, ...]
    """Law of the time that each stage takes."""
    times: tuple[float, ...]
    """Mean time of a repair in each stage."""
    crews: tuple[int | None, ...]
    """Number of repairs that each stage can do at once; None: any number."""
    of: tuple[Struck, ...]
    """Kind of unit that each law of faults strikes, by number of the law."""
    curable: frozenset[int]
    """Numbers of the laws that no longer strike a unit once a repair of it has removed the cause of
    a fault."""
    certain: bool
    """Whether each fault is blamed on the unit that it has struck."""


NOTHING = Asked()
"""Mechanisms of a job that asks for none. Such jobs, of which there are many, share this object."""


@define(eq=False)
class Given:
    """The scenario in a log's first line. Its methods raise Broken where it holds an impossible
    value."""

    table: Table
    """The whole scenario."""
    unit: str
    """Unit of all times: `s` or `slot`."""
    downtime: float | None
    """How long each fault keeps a worker DOWN, time units; None where the text alone does not say
    it."""
    own: Mapping[str, Table]
    """Maps the names of the jobs that the scenario lists to their tables."""

    @property
    def laws(self) -> Sequence[Table]:
        """The laws of faults, by number."""
        faults = self.table.get("faults", {})
        if isinstance(faults, dict) and "laws" in faults:
            faults = faults["laws"]
        found = faults if isinstance(faults, list) else [faults] if faults else []
        framed(all(isinstance(it, dict) for it in found), "its scenario's faults are no tables")
        return [it for it in found if it.get("kind") != "none"]

    @property
    def platform(self) -> GivenPlatform:
        """The platform that the scenario describes."""
        pool = _table(self.table, "platform")
        faults = (it for it in self.laws if it.get("effect") != "hang")
        node, spares = whole(pool, "node", 1), whole(pool, "spares", 0)
        possible(node >= 1, "a node has no worker")
        return GivenPlatform(
            sum(count for _, count in self._workers),
            *(node, spares),
            tuple(amount(it, "detection") for it in faults),
            tuple(self._owned()),
        )

    @property
    def _workers(self) -> list[tuple[Table, int]]:
        """The tables that describe workers, whose numbers follow on each other's, each with their
        number: [platform], the listed ones, and that of the drawn workers."""
        pool, drawn = _table(self.table, "platform"), _table(self.table, "random_workers")
        listed = ((it, whole(it, "count", 1)) for it in tables(self.table, "workers"))
        return [(pool, whole(pool, "workers", 0)), *listed, (drawn, whole(drawn, "count", 0))]

    def bounds(self, tasks: int) -> dict[int, int]:
        """Return, for each worker, the largest number of tasks of a job that it holds at once: its
        memory, without which it holds all `tasks` of an iteration."""
        each = ([whole(it, "memory", tasks)] * count for it, count in self._workers)
        return dict(enumerate(chain.from_iterable(each)))

    def _owned(self) -> Iterator[range]:
        """Yield the numbers of the workers that owners may take away."""
        first, drawn = 0, self._workers[-1][0]
        for section, count in self._workers:
            availability = section.get("availability", "always")
            if section is drawn or _kind(availability) != "always":
                yield range(first, first + count)
            first += count
        reclaims = self.table.get("reclaims", [])
        framed(isinstance(reclaims, list), "its scenario has no list of reclaims")
        for reclaim in reclaims:
            sound = isinstance(reclaim, list) and len(reclaim) == 3 and isinstance(reclaim[2], int)
            framed(sound, "its scenario has a reclaim of no worker")
            yield range(reclaim[2], reclaim[2] + 1)

    @property
    def repair(self) -> GivenRepair | None:
        """The repairs that the scenario describes; None if nothing is repaired."""
        section = _table(self.table, "repair")
        if not section:
            return None
        stages, laws = tables(section, "stages"), self.laws
        times = tuple(amount(it, "time") for it in stages)
        crews = tuple(whole(it, "crews", 1) if "crews" in it else None for it in stages)
        possible(stages and 0 not in (*times, *crews), "nothing can be repaired like that")
        return GivenRepair(
            tuple(_member(RepairLaw, it.get("law", "exponential")) for it in stages),
            *(times, crews),
            tuple(_member(Struck, it.get("of", "workers")) for it in laws),
            frozenset(k for k, it in enumerate(laws) if it.get("curable", "share" in it)),
            section.get("blamed", 1) == 1 and section.get("mistaken", 0) == 0,
        )

    @property
    def link(self) -> tuple[int, str] | None:
        """Number of the master's channels, and the order in which workers get them; None if there
        is no master."""
        section = _table(self.table, "master")
        if not section:
            return None
        channels = whole(section, "channels", 0)
        possible(channels >= 1, "{} channels", channels)
        order = "timetable" if section.get("timetable") else section.get("order", "started-first")
        return channels, str(order)

    def verification(self, job: str) -> float:
        """Return the time that the detector takes at the end of each run of a listed job."""
        own, section = self.own[job], _table(self.table, "job")
        return amount(own if "verification" in own else section, "verification")

    def estimate(self, job: str) -> float | None:
        """Return the run time that the user of a listed job requested; None if no time."""
        own = self.own[job]
        return amount(own, "estimate") if "estimate" in own else None

    def speedup(self, job: str) -> Table:
        """Return the speedup of a malleable job, empty for the usual one: its own if it is listed,
        else that of all."""
        table = self.own[job] if job in self.own else _table(self.table, "job")
        found = table.get("speedup", {})
        return {"kind": found} if isinstance(found, str) else _table(table, "speedup")

    def messages(self, job: str) -> Messages:
        """Return the messages of the job called `job`, where there is a master."""
        section = _table(self.table, "master")
        table = {**section, **self.own.get(job, {})}
        label = "program" if section.get("shared_program") else job
        program, data, image = (amount(table, key) for key in ("program", "data", "image"))
        return Messages(program, data, image, label)

    @property
    def storage(self) -> tuple[float, float] | None:
        """Bandwidths of the shared storage and of one worker, bytes per time unit; None if there is
        no storage."""
        section = _table(self.table, "storage")
        if not section:
            return None
        shared = amount(section, "bandwidth")
        each = amount(section, "worker_bandwidth") if "worker_bandwidth" in section else inf
        possible(shared > 0 and each > 0, "nothing could pass to the storage")
        return shared, each

    def section(self, name: str) -> Table:
        """Return the section of that name; empty where there is none."""
        return _table(self.table, name)

    def asked(self, own: Table, ready: int, of: Mapping[type, Any]) -> Asked:
        """Return the mechanisms for which a job asks: those of its own table, and what the sections
        say of all jobs. `ready` and `of` are what the mechanisms' rules find there."""
        guarded = _table(own, "protection") or _table(self.table, "protection")
        asked = Asked(_saving(guarded), self._stored(guarded), ready, of)
        return NOTHING if asked == NOTHING else asked

    def _stored(self, protection: Table) -> float | None:
        """Return the bytes of a checkpoint that a protection keeps on the shared storage; None if
        it keeps none there."""
        kind = protection.get("kind", "none")
        stores = kind == "images" or (kind == "buddies" and "images_every" in protection)
        if not stores or "bytes" not in protection or self.storage is None:
            return None
        return amount(protection, "bytes")


def _saving(protection: Table) -> GivenSaving:
    """Return how a protection takes checkpoints and replaces members; keys without meaning for its
    kind have no effect."""
    kind = protection.get("kind", "none")
    if kind == "none":
        return GivenSaving()
    slowdown, notice = amount(protection, "slowdown"), protection.get("on_notice") == "save"
    possible(slowdown <= 1, "its scenario has slowdown = {}", slowdown)
    beside = notice, bool(protection.get("blocking", True)), slowdown
    period = protection.get("period", "")
    period = (
        None if isinstance(period, str) else inf if period == inf else amount(protection, "period")
    )
    if kind != "buddies":
        return GivenSaving(*beside, period=period)
    every = after = None
    if "images_every" in protection:
        every = whole(protection, "images_every", 1)
        possible(every > 0, "no checkpoint is the 0th")
    if "replace_after" in protection:
        after = amount(protection, "replace_after")
    return GivenSaving(*beside, every, amount(protection, "image_cost"), after, period)


def given(head: ScenarioStarted) -> Given:
    """Return what the scenario in the log's first line gives. Raises Broken if it is no TOML, or a
    table is none."""
    try:
        table = tomllib.loads(head.text)
    except ValueError:
        framed(False, "its scenario is no TOML")
    unit = "slot" if head.decider is DeciderKind.ENROLMENT else "s"
    listed = tables(_table(table, "job"), "jobs")
    own = {str(it.get("name", f"J{k}")): it for k, it in enumerate(listed, 1)}
    return Given(table, table.get("unit", unit), _downtime(table.get("faults", {})), own)


def _table(table: Table, key: str) -> Table:
    """Return the table `key` of a table, empty where there is none. Raises Broken where it is no
    table."""
    found = table.get(key, {})
    framed(isinstance(found, dict), "its scenario has no table {}", key)
    return found  # type: ignore[no-any-return]


def tables(table: Table, key: str) -> Sequence[Table]:
    """Return the tables that the list `key` of a table has, none where there is no such list.
    Raises Broken where it is no list of tables."""
    found = table.get(key, [])
    tables = isinstance(found, list) and all(isinstance(it, dict) for it in found)
    framed(tables, "its scenario has no list of tables {}", key)
    return found  # type: ignore[no-any-return]


def _kind(value: Any) -> Any:
    """Return the kind of a table, or of a word that stands for a table with no other key."""
    return value.get("kind") if isinstance(value, dict) else value


def _member(kind: type[Member], word: Any) -> Member:
    """Return the member of an enum that a word names. Raises Broken where there is none."""
    found = next((it for it in kind if it.value == word), None)
    possible(found is not None, "its scenario has {}", word)
    return found  # type: ignore[return-value]


def spans_in(text: Any, size: int) -> frozenset[int]:
    """Return the numbers that a text names, such as `0-3, 8`. Raises Broken where they are not all
    below `size`."""
    found = [(int(first), int(last or first)) for first, last in SPAN.findall(str(text))]
    possible(all(last < size for _, last in found), "its scenario names {} of {}", text, size)
    return frozenset(number for first, last in found for number in range(first, last + 1))


def amount(table: Table, key: str, usual: float = 0) -> float:
    """Return the number `key` of a table, `usual` where there is none. Raises Broken where it is
    no number from 0 on."""
    found = table.get(key, usual)
    number = isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found < inf
    possible(number, "its scenario has {} = {}", key, found)
    return float(found)


def whole(table: Table, key: str, usual: int) -> int:
    """Return the whole number `key` of a table, `usual` where there is none. Raises Broken where it
    is none from 0 on."""
    found = amount(table, key, usual)
    possible(found == int(found), "its scenario has {} = {}", key, found)
    return int(found)


def _downtime(faults: Any) -> float | None:
    """Return the downtime that all faults have; None where several laws, a log or a user's own law
    give it, and for hangs, which take no worker DOWN."""
    if not isinstance(faults, dict) or {"laws", "name"} & faults.keys():
        return None
    timed = faults.get("kind", TIMED[0]) in TIMED
    asked = faults.get("downtime", DOWNTIME)
    if not timed or faults.get("effect") == "hang" or not isinstance(asked, int | float):
        return None
    return float(asked)
