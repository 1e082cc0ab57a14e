"""Time that stands still is an error with a name, never a hang."""

from __future__ import annotations

import pytest
from attrs import define

from actors.runtime import NOTHING, Actor, Livelock, Phase, System, handles, message
from actors.runtime import loop as loops


@message
class Again:
    """To oneself, now."""


@define(eq=False)
class Restless(Actor):
    """Decides, and at once decides again."""

    def started(self) -> None:
        self.after(2, Again(), NOTHING)

    @handles(Again)
    def again(self, _: Again, cause: int) -> None:
        self.at(self.now, Again(), cause, Phase.DECISION)


@define(eq=False)
class Hasty(Restless):
    """The same without a timer."""

    @handles(Again)
    def again(self, _: Again, cause: int) -> None:
        self.later(Again(), cause, Phase.DECISION)


@pytest.mark.parametrize("kind", [Restless, Hasty])
def test_an_actor_that_decides_for_ever_at_one_instant_is_named(
    kind: type[Restless], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops, "MOST_AT_ONCE", 1000)
    system = System()
    system.spawn(kind("restless"))
    with pytest.raises(Livelock, match=r"livelock at 2.*restless keeps sending itself Again"):
        system.run()
