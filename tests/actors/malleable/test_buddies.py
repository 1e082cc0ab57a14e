"""Buddies exchange checkpoints, lose them to faults, and send them back (003, section 3.1)."""

from __future__ import annotations

from attrs import define, field

from actors.malleable.messages import (
    CopyLost,
    Fetch,
    Forget,
    Join,
    Leave,
    MemberStruck,
    Save,
    Strike,
    Wipe,
)
from actors.malleable.processor import Processor, befriend
from actors.runtime import Actor, System, handles, message


@message
class Over:
    """The test is over."""


@message
class Say:
    """To itself: pass this on."""

    processor: Processor
    said: object


@define(eq=False)
class Owner(Actor):
    """Stands for an application: hears, and says what its script says, one line per second."""

    script: list[tuple[Processor, object]] = field(factory=list)
    struck: list[int] = field(factory=list)
    lost: list[tuple[int, int]] = field(factory=list)

    def started(self) -> None:
        for second, (processor, said) in enumerate(self.script):
            self.at(second, Say(processor, said))
        self.at(len(self.script), Over())

    @handles(Say)
    def say(self, message: Say) -> None:
        self.send(message.processor, message.said)

    @handles(MemberStruck)
    def member_struck(self, message: MemberStruck) -> None:
        self.struck.append(message.processor.number)

    @handles(CopyLost)
    def copy_lost(self, message: CopyLost) -> None:
        self.lost.append((message.processor, message.buddy))

    @handles(Over)
    def over(self, _: Over) -> None:
        self.system.finish()


def group(size: int) -> list[Processor]:
    processors = [Processor(f"processor-{k}", k) for k in range(size)]
    befriend(processors)
    return processors


def play(processors: list[Processor], *script: tuple[int, object]) -> Owner:
    """Everybody joins and saves checkpoint 1; then the script, one line per second."""
    system = System(0)
    owner = Owner("owner")
    first: list[tuple[Processor, object]] = [(p, Join(owner)) for p in processors]
    first += [(p, Save(1)) for p in processors]
    owner.script = first + [(processors[k], said) for k, said in script]
    for processor in processors:
        system.spawn(processor)
    system.spawn(owner)
    system.run()
    return owner


def memory(processors: list[Processor]) -> list[tuple[int | None, int | None]]:
    return [(processor.own, processor.kept) for processor in processors]


def test_after_a_checkpoint_each_of_a_pair_holds_its_own_and_its_buddys() -> None:
    pair = group(2)
    play(pair)
    assert memory(pair) == [(1, 1), (1, 1)]
    assert pair[0].holder is pair[0].ward is pair[1]


def test_a_fault_destroys_both_copies_of_one_processor_only() -> None:
    pair = group(2)
    owner = play(pair, (0, Wipe()))
    assert memory(pair) == [(None, None), (1, 1)]
    assert owner.lost == []


def test_a_recovery_brings_both_copies_back() -> None:
    pair = group(2)
    play(pair, (0, Wipe()), (0, Fetch()))
    assert memory(pair) == [(1, 1), (1, 1)]
    assert not pair[0].bare


def test_losing_the_buddy_before_the_recovery_loses_the_checkpoint() -> None:
    assert play(group(2), (0, Wipe()), (1, Wipe())).lost == [(0, 1)]


def test_losing_the_buddy_after_the_recovery_loses_nothing() -> None:
    assert play(group(2), (0, Wipe()), (0, Fetch()), (1, Wipe())).lost == []


def test_being_struck_again_before_the_recovery_loses_nothing_more() -> None:
    assert play(group(2), (0, Wipe()), (0, Wipe())).lost == []


def test_a_new_checkpoint_makes_up_for_what_was_lost() -> None:
    pair = group(2)
    assert play(pair, (0, Wipe()), (0, Save(2)), (1, Wipe())).lost == []


def test_what_was_forgotten_cannot_be_lost() -> None:
    pair = group(2)
    assert play(pair, (0, Forget()), (1, Forget()), (0, Wipe()), (1, Wipe())).lost == []


def test_in_a_ring_only_neighbours_depend_on_each_other() -> None:
    ring = group(4)
    assert play(ring, (0, Wipe()), (2, Wipe())).lost == []
    assert play(group(4), (0, Wipe()), (3, Wipe())).lost == [(0, 3)]
    assert play(group(4), (0, Wipe()), (1, Wipe())).lost == [(0, 1)]


def test_a_recovery_in_a_ring_brings_back_ones_own_and_the_neighbours_copy() -> None:
    ring = group(3)
    play(ring, (1, Wipe()), (1, Fetch()))
    assert memory(ring) == [(1, 1)] * 3


def test_a_processor_without_a_buddy_keeps_its_own_only() -> None:
    alone = group(1)
    play(alone)
    assert memory(alone) == [(1, None)]


def test_only_a_processor_that_belongs_to_somebody_reports_a_fault() -> None:
    assert play(group(2), (0, Strike()), (1, Leave()), (1, Strike())).struck == [0]
