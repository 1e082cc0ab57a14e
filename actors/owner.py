"""Defines what a run uses of the job that owns it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from actors.copy import Copy
from actors.events import Outcome
from actors.protection.plan import State


class Watcher(Protocol):
    """A part of a job, as far as its runs use it."""

    def computes(self, run: Any, computes: bool) -> None:
        """Note that the run begins to compute, or ceases to."""

    def run_ended(self, run: Any, kept: bool, cause: int) -> None:
        """Note that the run is over. `kept`: its copy keeps the members. `cause` is the number of
        the event that logs the end."""


class Watchers(Protocol):
    """The parts of a job, as far as its runs use them."""

    @property
    def enders(self) -> Sequence[Watcher]:
        """Parts that are to know when a run is over, in their fixed order."""

    @property
    def watchers(self) -> Sequence[Watcher]:
        """Parts that are to know when runs compute; empty in most jobs."""


class Owner(Protocol):
    """The part of a job that its runs may use: to it they report what their job has to know."""

    @property
    def parts(self) -> Watchers:
        """Parts of the job."""

    def finds_error(self, run: Any, cause: int) -> bool:
        """Return whether a verification of the run that ends now finds an error, and log what it
        was drawn by, if it was drawn. `cause` is the number of the event that leads to it."""

    def stage_in(self, copy: Copy[Any], image: bool, cause: int) -> None:
        """Have the copy's members fetch from the master what they lack for its run; with `image`
        also the state that it continues from. `cause` is the number of the event that leads to
        it."""

    def recovered(self, run: Any) -> None:
        """Note that the recovery with which the run began is over."""

    def over(self, run: Any, outcome: Outcome, cause: int) -> int:
        """End a run whose verification has decided its outcome (COMPLETED or FAILED). `cause` is
        the number of the event that leads to it. Return the number (seq) of the last event that
        follows."""

    def saved(self, run: Any, state: State, cause: int) -> None:
        """Store `state`, that of a complete checkpoint of this run. `cause` is the number of the
        event that logs the checkpoint."""

    def stored(self, run: Any, state: State) -> None:
        """Store `state`, that of a checkpoint of this run whose second level is complete, too."""

    def doubts(self, copy: Copy[Any]) -> bool:
        """Return whether the copy's run stands still for a reason that its job does not know yet,
        so that nothing may be built on its state."""
