"""Reads a log of a user's own actors as an object with its counts, lives, causes and picture."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from actors.runtime import Record
from sims.errors import InputError
from sims.journals.file import OwnLog, opened
from sims.journals.lives import CLOCK, ActorLife, Counts, find_actor
from sims.journals.words import record_text
from sims.plots.figure import Framing
from sims.plots.pictures import WHOLE, Picture, What, plot


class ActorLog:
    """The log of a system of your own actors, `ActorLog("shop.jsonl")`; iterate for its records.

    Raises InputError where the file is no such log.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not isinstance(opened(self.path), OwnLog):
            accepted = "a log of your own actors; holdfast.open_log reads that of a scenario"
            raise InputError(str(path), "", "is none", accepted)

    def __iter__(self) -> Iterator[Record]:
        return iter(OwnLog(self.path))

    @cached_property
    def counts(self) -> Counts:
        """Numbers of events by kind, and of messages by class and by actor."""
        return Counts.of(self)

    def trace(self, actor: str) -> ActorLife:
        """Return the life of an actor: what it received, sent and recorded, and because of what;
        printing it shows the text.

        Raises InputError, which names other actors, where the log has no such actor.
        """
        return find_actor(OwnLog(self.path), actor)

    def why(self, seq: int) -> list[str]:
        """Return the chain of causes behind the event with this number, a line each, from the event
        itself back to the first.

        Raises InputError where there is no such event.
        """
        from sims.trace.read import (
            causes,  # it brings the world's history, which nothing else needs
        )

        chain = causes(OwnLog(self.path), seq)
        return [f"#{it.seq} {CLOCK(it.t)} {record_text(it, CLOCK)}" for it in chain]

    def plot(self, path: str | Path | None = None, framing: Framing = WHOLE) -> Picture | Path:
        """Draw the messages between the actors into the file `path` and return its path, or return
        a picture that a notebook shows.

        Raises InputError where the log has no messages, for another suffix than that of a picture,
        and where matplotlib is missing.
        """
        if path is None:
            return Picture.of(self, What.MESSAGES, framing)
        return plot(self, What.MESSAGES, Path(path), framing)

    def __repr__(self) -> str:
        return "\n".join(self.counts.lines())
