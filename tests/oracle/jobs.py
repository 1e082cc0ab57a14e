"""Jobs, their runs, who holds processors for them, and messages."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

from attrs import define, field, frozen

from tests.oracle.tenths import exact
from tests.oracle.words import SPENT, Cargo, Outcome, Part, Protection, Source, Use

ZERO = Fraction(0)

Members = list[int]


class Job:
    """What a scenario says of a job, and what has become of it."""

    def __init__(self, index: int, said: dict[str, Any], scenario: dict[str, Any]) -> None:
        self.index, self.processors, self.copies = index, int(said["p"]), int(said["copies"])
        self.cloning = bool(said["cloning"])
        self.partition = int(said.get("partition", 0))
        partitions = scenario.get("partitions")
        self.exclusive = bool(partitions and partitions[self.partition].get("exclusive"))
        self.kind = str(said["kind"])
        self.iterative = self.kind == "iterative"
        self.iterations_left = int(said["iterations"]) if self.iterative else 1
        self.protection = Protection(said["protection"])
        protected = self.protection is not Protection.NONE
        self.verified = bool(said["verified"]) and protected
        period = said["period"] if protected else None
        self.always = period == "continuous"
        """Whether what a run has computed is saved without a checkpoint (P7)."""
        self.period = None if self.always or period is None else exact(period)
        self.earliest, self.verification = exact(said["release"]), exact(said["verification"])
        self.whose: dict[str, str] = {
            key: said[key] for key in ("user", "group", "queue") if key in said
        }
        self.after, self.think = list(said.get("after", ())), exact(said.get("think", 0))
        self.release: float | Fraction = inf if self.after else self.earliest
        """When it is submitted; inf: that is not known yet."""
        self.cost, self.recovery = exact(said["cost"]), exact(said["recovery"])
        self.startup, self.select = exact(said.get("startup", 0)), exact(said.get("select", 0))
        self.delay, self.program = exact(said["delay"]), exact(said["program"])
        self.data, self.image_size = exact(said["data"]), exact(said["image"])
        self.program_of = None if scenario["shared_program"] else index
        """Whose program it is: its own, or everybody's (None)."""
        self.node = int(scenario.get("node", 1))
        self.on_notice = "on_notice" in said and protected
        self.blocking, self.slowdown = said.get("blocking", True), exact(said.get("slowdown", 0))
        buddies = self.protection is Protection.BUDDIES
        self.images_every = said.get("images_every") if buddies else None
        self.image_cost = exact(said.get("image_cost", 0))
        after = said.get("replace_after") if buddies else None
        self.replace_after = None if after is None else exact(after)
        self.replicas, self.least = said.get("replicas", 1), said.get("least", 1)
        self.regroup, self.rejoin = exact(said.get("regroup", 0)), exact(said.get("rejoin", 0))
        self.bytes = exact(said.get("bytes", 0))
        """Of a checkpoint on shared storage; 0: it goes elsewhere (S1)."""
        self.standbys = said.get("standbys", 0)
        """Most that a copy of it holds."""
        self.called = False
        """Whether one of the reserve was called for it since it began to wait."""
        self._said = said
        self._failures = list(said["failures"])
        self.copies_held: list[Group] = []
        """In the order of their placement."""
        self.numbered = 0
        """Runs started."""
        self.image: State | None = None
        """What the master keeps."""
        self.completion: Fraction | None = None
        self.work_done = ZERO
        """Of all iterations that are complete."""

    @property
    def occupied(self) -> int:
        """Workers that others cannot have while a copy of it runs."""
        return -(-self.processors // self.node) * self.node if self.exclusive else self.processors

    @property
    def time(self) -> Fraction:
        """t_j(p) of a job that is not iterative."""
        if self.iterative:
            raise ValueError(f"job {self.index} is iterative: its work hangs on its members")
        if self.kind == "moldable":
            return exact(self._said["times"][self.processors - 1])
        return exact(self._said["t"])

    def units(self, members: Members) -> dict[int, int]:
        """x_q of each member: its tasks, dealt in turn; 1 of a job that is not iterative."""
        if not self.iterative:
            return dict.fromkeys(members, 1)
        tasks = dict.fromkeys(members, 0)
        for k in range(self._said["tasks"]):
            tasks[members[k % len(members)]] += 1
        return tasks

    def work(self, members: Members) -> Fraction:
        """Time units at speed 1."""
        if not self.iterative:
            return self.time
        task_times = self._said["w"]
        return max(tasks * exact(task_times[q]) for q, tasks in self.units(members).items())

    def keep(self, run: Run) -> None:
        """What a run has computed is the image, if it is further than that (P7)."""
        state, before = State(run, run.done), self.image.fraction if self.image else ZERO
        if self.always and state.fraction > before:
            self.image = state

    def finds_error(self) -> bool:
        """A verification ends: what the list says of it."""
        return bool(self._failures.pop(0)) if self._failures else False


@frozen(eq=False)
class State:
    """What a run had computed when it had done this work."""

    run: Run
    work: Fraction

    @property
    def fraction(self) -> Fraction:
        """Of the run's own work: what another configuration begins from."""
        return self.work / self.run.work


class Group:
    """Members held by one copy of a job: for one run, or with buddies for one after the other."""

    def __init__(self, job: Job, members: Members, standbys: Members) -> None:
        self.job, self.members, self.standbys = job, members, standbys
        self.rest: Members = []
        """Idle workers of the members' nodes (G6)."""
        self.run: Run | None = None
        """The one under way."""
        self.checkpoint: State | None = None
        """Kept among buddies."""
        self.saved = 0
        """Checkpoints complete."""
        self.image: State | None = None
        """Of its checkpoints, what the master keeps (P9)."""
        self.hits: set[int] = set()
        """Whose place has gone DOWN since the last recovery was over."""
        self.data = dict.fromkeys(members, 0)
        """Complete units held."""
        self.each = len(members) // job.replicas
        """Members of a replica: the first so many places are the first one's."""
        nodes = [q // job.node for q in members]
        self.rings = [
            {first + place for place in ring}
            for first in range(0, len(members), self.each)
            for ring in rings(nodes[first : first + self.each])
        ]
        """Of places among the members."""
        self.out: dict[int, str] = {}
        """Replicas that do not count: waiting, loading, loaded, or rejoining (E1)."""
        self.loads: dict[int, Fraction] = {}
        """Bytes that a replica has still to load."""
        self.pause: Fraction | None = None
        """What is left of the present one."""
        self.keepers = set(range(job.replicas))
        """Replicas that have the checkpoint."""

    def replica(self, q: int) -> int:
        """The one that a member is in."""
        return self.members.index(q) // self.each

    def of(self, replica: int) -> Members:
        """Its members."""
        return self.members[replica * self.each : (replica + 1) * self.each]

    @property
    def counting(self) -> Members:
        """Members of the replicas that are left."""
        if not self.out:
            return list(self.members)
        return [q for place, q in enumerate(self.members) if place // self.each not in self.out]

    def forget_hits(self) -> None:
        """All that count have the same checkpoint: a recovery is over, or one was taken."""
        self.hits.clear()
        self.keepers = set(range(self.job.replicas)) - self.out.keys()

    def replace(self, gone: int, newcomer: int) -> None:
        """It has the other's place."""
        self.members[self.members.index(gone)] = newcomer
        self.data[newcomer] = 0

    def hit(self, q: int) -> bool:
        """A member's place has gone DOWN; whether no replica has the checkpoint any more: two of
        one ring were hit, and a single member is a ring of its own."""
        self.hits.add(self.members.index(q))
        lost = {
            min(ring) // self.each
            for ring in self.rings
            if len(ring & self.hits) >= min(2, len(ring))
        }
        self.keepers -= lost
        return bool(lost) and not self.keepers


def rings(nodes: list[int]) -> list[set[int]]:
    """Places that keep each other's checkpoints: pairs, and where they are odd a ring of three."""
    places = list(range(len(nodes)))
    half, left = len(nodes) // 2, places[-1:] if len(nodes) % 2 else []
    if len(nodes) == 1:
        return [{0}]
    if len(set(nodes)) < len(nodes):
        pairs = [{k, half + k} for k in range(half)]
        pairs[0].update(left)
    else:
        pairs = [{2 * k, 2 * k + 1} for k in range(half)]
        pairs[-1].update(left)
    return pairs


@define(eq=False)
class Message:
    """One way over the link, between the master and a worker."""

    worker: int
    cargo: Cargo
    left: Fraction
    run: Run
    spans: list[list[Fraction]] = field(factory=list)
    """When it had a channel: starts, and ends of those that are over."""
    outcome: str = ""
    lost: bool = False
    """Its worker went DOWN, and nobody has heard."""

    @property
    def under_way(self) -> bool:
        """Whether it has a channel now."""
        return bool(self.spans) and len(self.spans[-1]) == 1

    def begin(self, now: Fraction) -> None:
        """It gets a channel."""
        self.spans.append([now])

    def stop(self, now: Fraction) -> None:
        """It gives its channel back, if it has one."""
        if self.under_way:
            self.spans[-1].append(now)


@define(eq=False)
class Saving:
    """A checkpoint that has begun; its messages are the run's."""

    state: State
    left: Fraction
    """Time; of its images too, without a master."""
    as_images: bool = False
    """Among buddies it is complete, and goes to the master."""


class Run:
    """One execution of (part of) a job's work on the members of a group."""

    def __init__(self, group: Group, now: Fraction, origin: State | None) -> None:
        self.group, self.job, self.number = group, group.job, group.job.numbered
        self.members = tuple(group.members)
        self.start, self.end = now, now
        self.outcome: Outcome | None = None
        self.work = self.job.work(group.members)
        self.origin = origin
        self.begun = origin.fraction * self.work if origin else ZERO
        """The work that it begins from."""
        self.done = self.begun
        self.part = Part.STARTUP
        self.left = ZERO
        """Time left of its part, unless that is messages, computing or a checkpoint."""
        self.base, self.target = self.done, self.work
        """Work since which the period counts, and at which a checkpoint is due, or the end."""
        self.saving: Saving | None = None
        self.due = False
        """Whether a checkpoint fell due while one was under way."""
        self.blind = False
        """Whether a member is gone, and nobody has heard."""
        self.found: Fraction | None = None
        """When its hang is detected; None while it does not hang (F6)."""
        self.source = Source.SCRATCH
        self.lead = ZERO
        """Recovery or delay, after the messages and what is loaded."""
        self.pending: dict[int, list[Message]] = {q: [] for q in group.members}
        self.computed: list[tuple[Fraction, Fraction]] = []
        """(work reached, its members' time since the entry before)."""
        self.ran = ZERO
        """Time for which it has computed."""
        self.hanging: int | None = None
        """The member that hangs."""
        self.useful: Fraction | None = None
        """Up to this work its computing is in what completed the job."""

    @property
    def still(self) -> bool:
        """Whether no part of it ends: a fault is unheard, or it hangs."""
        return self.blind or self.found is not None

    @property
    def fed(self) -> bool:
        """Whether no member waits for a message, or for one of its own to arrive."""
        return not any(self.pending[q] for q in self.group.counting)

    @property
    def part_is_over(self) -> bool:
        """Final verifications end in a step of their own, checkpoints apart: never here."""
        if self.part in (Part.FINAL, Part.CHECKPOINT):
            return False
        if self.part is Part.COMPUTING:
            return self.done >= self.target
        return self.left <= 0 and self.fed

    @property
    def saving_is_over(self) -> bool:
        """Whether it has spent its time, and all images have arrived."""
        return self.saving is not None and self.saving.left <= 0 and self.fed

    @property
    def to_save(self) -> Fraction:
        """Time, or bytes, left of its checkpoint."""
        return self.saving.left if self.saving else ZERO

    @property
    def to_do(self) -> Fraction:
        """Of its part."""
        return self.target - self.done if self.part is Part.COMPUTING else self.left

    def compute(self) -> None:
        """Up to the next checkpoint, or the end."""
        self.part, self.base, self.target = Part.COMPUTING, self.done, self.work
        if self.job.period is not None:
            self.target = min(self.work, self.done + self.job.period)

    def advance(
        self, rate: Fraction, saving_rate: Fraction, all_up: bool, time: Fraction
    ) -> Use | None:
        """What its members' time goes to; None for computing, whose use is known in the end."""
        use: Use | None = Use.WAITING
        pause = self.group.pause
        if pause is not None and all_up:
            self.group.pause = pause - time
            return Use.RECOVERY
        if self.saving and self.saving.left > 0 and saving_rate > 0:
            self.saving.left -= saving_rate * time
            use = Use.CHECKPOINT
        if rate == 0 or self.to_do <= 0:
            return use
        if self.part is Part.COMPUTING:
            self.done += rate * time
            self.ran += time
            self.computed.append((self.done, time * len(self.group.counting)))
            return None
        self.left -= rate * time
        return SPENT[self.part]
