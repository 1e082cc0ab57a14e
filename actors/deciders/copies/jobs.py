"""Jobs whose copies have one worker each, by who carries these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from attrs import define

from actors.job import WAITING, Job, Life
from actors.messages import FirstCopyEnded, JobOver
from actors.runtime import handles


@define(eq=False)
class JobInColumns(Job):
    """Submits itself on arrival; which of its copies run where is not its business."""

    transitions: ClassVar[Mapping[Life, frozenset[Life]]] = {
        Life.PLANNED: frozenset({Life.WAITING}),
        Life.WAITING: frozenset({Life.COMPLETED}),
        Life.COMPLETED: frozenset(),
    }

    @handles(FirstCopyEnded, during=(Life.WAITING,))
    def leave(self, message: FirstCopyEnded) -> None:
        self.complete()
        self.send(self.scheduler, JobOver(self.index))
        self.stop()

    def waits_for(self) -> str | None:
        return "the end of its first copy" if self.state is WAITING else super().waits_for()
