"""Where a question is asked, and what its keys are called there."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from sims.errors import InputError


@frozen
class Door:
    """The place from which a question comes: a program, a campaign file or the command line.

    The keys of a question are the arguments of `holdfast.compare`, `tune` and `sensitivity`. A door
    whose users write something else for a key has that in `names`: what is refused is then named as
    they wrote it.
    """

    source: str = "call"
    """Place that errors name: `call`, the path of the file, or `command line`."""
    names: Mapping[str, str] = field(factory=dict)
    """Maps keys of a question to what they are called here, where that differs."""
    filed: bool = False
    """Whether the question is that of a campaign file."""

    def __call__(self, key: str) -> str:
        """Return what a key of a question is called here."""
        return self.names.get(key, key)

    def refused(self, key: str, problem: str, accepted: str = "") -> InputError:
        """Return the error of a question whose `key` cannot be used."""
        return InputError(self.source, self(key), problem, accepted)


CALL = Door()
"""The door of Python programs."""
