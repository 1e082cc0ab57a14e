"""How a run starts, goes from part to part, and ends."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from attrs import define, field

from tests.oracle.jobs import ZERO, Group, Job, Message, Run, Saving, State
from tests.oracle.timeline import Timeline
from tests.oracle.words import Cargo, Outcome, Part, Protection, Source

BY_THE_MASTER = frozenset((Source.IMAGE, Source.CLONE, Source.KEPT_IMAGE))
"""What comes over the link, where there is one, or from shared storage."""


class Worker:
    """Who holds it, and what it holds."""

    def __init__(self, index: int, timeline: Timeline) -> None:
        self.index, self.timeline = index, timeline
        self.group: Group | None = None
        self.rest_of: Group | None = None
        """Who holds it because members are of its node (G6)."""
        self.programs: set[int | None] = set()
        """Complete ones: a job's own, or everybody's (None)."""
        self.until = ZERO
        """Until when a fault keeps it DOWN."""
        self.struck: Fraction | None = None
        """When a fault struck it last."""
        self.mended: Fraction | None = None
        """When the downtime of the fault that took it DOWN is over."""
        self.down_since: Fraction | None = None
        """When it went DOWN first since it was UP; None while it is."""
        self.first_heard = ZERO
        """When they hear of the first fault since it was UP."""
        self.heard = ZERO
        """When those who hold it hear of that."""


@define
class Parts:
    """All that runs change: workers' memories, jobs' states, and what is told in the end."""

    workers: list[Worker]
    jobs: list[Job]
    channels: int | None
    """None: communication takes no time."""
    now: Fraction = ZERO
    runs: list[Run] = field(factory=list)
    """All that ever started."""
    checkpoints: list[tuple[int, int, Fraction, Fraction]] = field(factory=list)
    """(job, run, end, work)."""
    images: list[tuple[int, int, Fraction, Fraction]] = field(factory=list)
    """The same of those of P9."""
    transfers: list[Message] = field(factory=list)
    """Those over that ever had a channel."""

    # --- its start ---

    def start(self, group: Group, origin: State | None, source: Source, kept: bool = False) -> None:
        """What has length 0 is passed at once."""
        run = Run(group, self.now, origin)
        group.job.numbered += 1
        group.run = run
        self.runs.append(run)
        run.lead = self._lead(group.job, source)
        run.left = group.job.startup + (ZERO if kept else group.job.select)
        run.source = source
        self.pass_parts(run)

    def _feed(self, run: Run) -> None:
        """It has started up, and fetches what its members lack."""
        run.part = Part.MESSAGES
        if self.channels is not None:
            for member, units in run.job.units(run.group.members).items():
                run.pending[member] = list(self.needs(run, member, units, run.source))

    def _lead(self, job: Job, source: Source) -> Fraction:
        """Time spent between the messages and computing."""
        if source in (Source.KEPT, Source.KEPT_IMAGE):
            return job.recovery
        if self.channels is not None:
            return ZERO
        return {Source.IMAGE: job.recovery, Source.CLONE: job.delay}.get(source, ZERO)

    def start_kept(self, group: Group) -> None:
        """From the buddies' checkpoint, or the copy's image where that is lost."""
        if group.checkpoint is None and group.image is not None:
            self.start(group, group.image, Source.KEPT_IMAGE, kept=True)
        else:
            self.start(group, group.checkpoint, Source.KEPT, kept=True)

    def needs(self, run: Run, member: int, units: int, source: Source) -> Iterator[Message]:
        """What it lacks, in the order in which it is sent; what has size 0 is held."""
        job = run.job
        if job.program and job.program_of not in self.workers[member].programs:
            yield Message(member, Cargo.PROGRAM, job.program, run)
        if job.data:
            for _ in range(units - run.group.data[member]):
                yield Message(member, Cargo.DATA, job.data, run)
        if source in BY_THE_MASTER and job.image_size:
            yield Message(member, Cargo.IMAGE, job.image_size, run)

    # --- its parts ---

    def pass_parts(self, run: Run) -> None:
        """All that are over, up to the final verification."""
        while run.outcome is None and not run.still:
            if run.saving_is_over:
                self._saved(run)
            elif run.part_is_over:
                self._next_part(run)
            else:
                return

    def _next_part(self, run: Run) -> None:
        match run.part:
            case Part.STARTUP:
                self._feed(run)
            case Part.MESSAGES:
                run.part, run.left = Part.LOADING, run.job.bytes if loads(run) else ZERO
            case Part.LOADING:
                run.part, run.left = Part.RECOVERY, run.lead
            case Part.RECOVERY:
                self._recovered(run)
            case Part.COMPUTING:
                self._stop_computing(run)
            case Part.VERIFICATION if run.job.finds_error():
                self.finish(run, Outcome.FAILED)
            case Part.VERIFICATION:
                self._begin_checkpoint(run)

    def _recovered(self, run: Run) -> None:
        run.group.forget_hits()
        if run.origin is run.group.image:
            run.group.checkpoint = run.origin
        run.compute()

    def _stop_computing(self, run: Run) -> None:
        if run.done == run.work:
            run.job.keep(run)
            run.part, run.left = Part.FINAL, run.job.verification
        else:
            run.target = run.work
            self._save(run)

    def _save(self, run: Run) -> None:
        """A checkpoint is due."""
        run.due = run.saving is not None
        if run.due:
            return
        if run.job.verified:
            run.part, run.left = Part.VERIFICATION, run.job.verification
        else:
            self._begin_checkpoint(run)

    def save_at_notice(self, run: Run) -> None:
        """If it is computing, and has something to save."""
        if run.part is Part.COMPUTING and run.done > run.base and run.job.on_notice:
            self._save(run)
            self.pass_parts(run)

    def _begin_checkpoint(self, run: Run) -> None:
        run.compute()
        run.saving = Saving(State(run, run.done), run.job.cost)
        if run.job.protection is Protection.IMAGES:
            self._save_images(run, run.saving)
        if run.job.blocking:
            run.part = Part.CHECKPOINT

    def _save_images(self, run: Run, saving: Saving) -> None:
        """To shared storage, or over the link if there is one."""
        if run.job.bytes:
            saving.left = run.job.bytes
        elif self.channels is not None:
            saving.left = ZERO
        if run.job.image_size and self.channels is not None:
            for q in run.group.counting:
                run.pending[q].append(Message(q, Cargo.SAVE, run.job.image_size, run))

    def _saved(self, run: Run) -> None:
        """It is complete: its images may follow; then one that fell due meanwhile."""
        saving = run.saving
        assert saving is not None
        self._keep(run, saving)
        every = run.job.images_every
        if every and not saving.as_images and run.group.saved % every == 0:
            saving.as_images, saving.left = True, run.job.image_cost
            self._save_images(run, saving)
            return
        run.saving = None
        if run.job.blocking:
            run.compute()
        elif run.due and run.part is Part.COMPUTING and run.done < run.work:
            self._save(run)

    def _keep(self, run: Run, saving: Saving) -> None:
        job, group, state = run.job, run.group, saving.state
        told = (job.index, run.number, self.now, state.work)
        if saving.as_images:
            self.images.append(told)
            group.image = state
            return
        self.checkpoints.append(told)
        group.saved += 1
        group.forget_hits()
        if job.protection is Protection.BUDDIES:
            group.checkpoint = state
        elif job.image is None or state.fraction > job.image.fraction:
            job.image = state

    # --- its end ---

    def finish(self, run: Run, outcome: Outcome) -> None:
        """Members are free at once, unless buddies are kept for the next run."""
        job, group = run.job, run.group
        run.end, run.outcome = self.now, outcome
        job.keep(run)
        self.drop_messages(run, list(run.pending))
        group.run, group.pause = None, None
        group.out.clear()
        if outcome is Outcome.FAILED and not job.verified:
            # What was saved may be corrupt.
            group.checkpoint = group.image = None
            if job.protection is Protection.IMAGES:
                job.image = None
        over = outcome in (Outcome.COMPLETED, Outcome.WITHDRAWN)
        if over or not (job.standbys or job.protection is Protection.BUDDIES):
            self._release(group)

    def drop_messages(self, run: Run, members: list[int]) -> None:
        """All of theirs that wait or are under way."""
        for messages in (run.pending[q] for q in members):
            if messages:
                messages[0].stop(self.now)
                self.tell(messages[0], "dropped")
            messages.clear()

    def tell(self, message: Message, outcome: str) -> None:
        """One that is over; one that never had a channel is none."""
        message.outcome = outcome
        if message.spans:
            self.transfers.append(message)

    def _release(self, group: Group) -> None:
        group.job.copies_held.remove(group)
        for q in (*group.members, *group.standbys):
            self.workers[q].group = None
        for q in group.rest:
            self.workers[q].rest_of = None

    def complete(self, run: Run) -> None:
        """The job's other copies are withdrawn; what was saved of the iteration is forgotten."""
        job = run.job
        self.finish(run, Outcome.COMPLETED)
        for group in list(job.copies_held):
            if group.run:
                self.finish(group.run, Outcome.WITHDRAWN)
            else:
                self._release(group)
        mark_useful(run)
        job.work_done += run.work
        job.image = None
        job.iterations_left -= 1
        if job.iterations_left == 0:
            job.completion = self.now


def loads(run: Run) -> bool:
    """Whether it continues from shared storage, if there is one: buddies only where P9 fetches."""
    images = run.job.protection is Protection.IMAGES
    return run.source is Source.KEPT_IMAGE or (images and run.source in BY_THE_MASTER)


def mark_useful(run: Run) -> None:
    """All of it, what the run that it began from computed up to that state, and so on back."""
    run.useful = run.done
    while run.origin is not None:
        run.origin.run.useful = run.origin.work
        run = run.origin.run
