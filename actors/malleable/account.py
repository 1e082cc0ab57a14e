"""An application's account of its work: what is left, what is saved, when it will end (003)."""

from __future__ import annotations

from attrs import define, field

from actors.malleable.lives import Life
from actors.malleable.standing import Standing
from policies.maths.cosched import Costs


@define
class Account:
    """Exact progress in fractions alpha of the whole work; times in s (003, section 3.3.2)."""

    index: int
    costs: Costs
    size: int = field(init=False, default=0)
    since: float = field(init=False, default=0.0)
    """t_lastR: when it computes again, or did."""
    left: float = field(init=False, default=1.0)
    """alpha at `since`."""
    saved: float = field(init=False, default=1.0)
    """alpha at the last complete checkpoint (1: the input)."""
    holders: int = field(init=False, default=0)
    """Processors among which that checkpoint is spread."""
    taken: int = field(init=False, default=0)
    """Periodic checkpoints since `since`."""
    expected: float = field(init=False, default=0.0)
    """t^U."""
    end: float = field(init=False, default=0.0)
    """When it ends if no fault comes."""
    stages: list[tuple[Life, float]] = field(init=False, factory=list)
    """What must pass before `since`, each with its end."""

    def standing(self) -> Standing:
        """What the scheduler is told."""
        moving = self.holders != self.size
        return Standing(
            *(self.index, self.size, self.since, self.left, self.expected, self.end, moving)
        )

    def whole(self) -> float:
        """t_ij: the whole work's time on its processors without faults and checkpoints."""
        return self.costs.times[self.size // self.costs.pair - 1]

    @property
    def moving(self) -> tuple[int, int]:
        """The redistribution under way: processors before and after."""
        return self.holders, self.size

    def start(self, now: float, size: int) -> None:
        """Begin on `size` processors."""
        self.size = self.holders = size
        self._settle(now)

    def _settle(self, since: float) -> None:
        self.since, self.taken = since, 0
        self.expected = since + self.costs.expected(self.size, self.left)
        self.end = since + self.costs.duration(self.size, self.left)

    # --- checkpoints --------------------------------------------------------------------------

    def next_checkpoint(self) -> float | None:
        """When the next periodic checkpoint begins; None: the work ends before."""
        if self.taken == self.costs.checkpoints(self.size, self.left):
            return None
        return self.next_checkpoint_end() - self.costs.closing(self.size)

    def next_checkpoint_end(self) -> float:
        """When it will be complete."""
        period = self.costs.period[self.size // self.costs.pair - 1]
        return self.since + (self.taken + 1) * period

    def save(self) -> float:
        """A checkpoint is complete; answers the alpha that it saves."""
        self.saved = self.costs.saved(self.size, self.left, self.taken)
        self.holders = self.size
        return self.saved

    # --- redistribution -----------------------------------------------------------------------

    def move(self, now: float, size: int) -> None:
        """Redistribute from now on; all work until now is kept, if no fault comes."""
        elapsed = now - self.since
        self.left = self.costs.left(self.size, self.left, elapsed, self.taken)
        self.stages = []
        self.size = size
        self._redistribute(now)

    def move_after_recovery(self, size: int) -> None:
        """Redistribute when the recovery under way is over."""
        self.size = size
        self._redistribute(self.since)

    def _redistribute(self, start: float) -> None:
        moved = start + self.costs.redistribution(self.holders, self.size)
        self.stages.append((Life.REDISTRIBUTING, moved))
        closed = moved + self.costs.closing(self.size)
        if self.costs.downtime is not None:
            self.stages.append((Life.CLOSING, closed))
        self._settle(closed)

    def arrive(self) -> None:
        """The data is where it should be; with checkpoints, only the next one makes it safe."""
        if self.costs.downtime is None:
            self.holders = self.size

    # --- faults -------------------------------------------------------------------------------

    def fall_back(self, now: float) -> None:
        """A fault: what was not saved is lost, and a redistribution under way starts again."""
        self.left = self.saved
        self._recover(now)

    def restart(self, now: float) -> None:
        """A fatal failure: everything is lost."""
        self.left = self.saved = 1.0
        self.holders = self.size
        self._recover(now)

    def _recover(self, now: float) -> None:
        replaced = now + (self.costs.downtime or 0.0)
        recovered = replaced + self.costs.closing(self.holders)
        self.stages = [(Life.DOWN, replaced), (Life.RECOVERING, recovered)]
        if self.holders != self.size:
            self._redistribute(recovered)
        else:
            self._settle(recovered)
