"""What a worker does of its own, whatever its run does: it is not UP, or a message passes."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.events import TransferStarted
from policies.availability import WorkerState
from sims.ledger.slices import Slice, Use

AWAY = {WorkerState.DOWN: Use.DOWN, WorkerState.RECLAIMED: Use.RECLAIMED}


@define(eq=False)
class Own:
    """One worker, while it is not simply UP."""

    worker: int
    state: WorkerState = field(init=False, default=WorkerState.UP)
    transfer: TransferStarted | None = field(init=False, default=None)
    """Of the message that is under way."""
    holder: tuple[str, int] | None = field(init=False, default=None)
    """Job and run that it is reclaimed from, or transfers for."""
    _use: Use | None = field(init=False, default=None)
    _note: str = field(init=False, default="")
    _since: float = field(init=False, default=0)
    _seq: int = field(init=False, default=0)

    @property
    def apart(self) -> bool:
        """Whether it does something of its own."""
        return self.state is not WorkerState.UP or self.transfer is not None

    def settle(self, now: float, seq: int) -> Iterator[Slice]:
        """Enter its time until `now`; `seq` begins what follows."""
        if self._use is not None and now > self._since:
            job, run = self.holder or (None, None)
            yield Slice(
                *(str(self.worker), self._use, self._since, now, self._seq, job, run),
                note=self._note,
            )
        self._since, self._seq = now, seq

    def turn(self, holder: tuple[str, int] | None) -> None:
        """What follows the time that was entered last."""
        self._use = AWAY.get(self.state) or (Use.TRANSFER if self.transfer else None)
        self._note = self.transfer.kind.value if self.transfer else ""
        # A DOWN worker is nobody's loss but the platform's.
        self.holder = None if self._use is Use.DOWN else holder
