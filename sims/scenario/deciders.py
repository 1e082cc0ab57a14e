"""Registry of the kinds of deciders: which keys each kind reads, and which policies it knows.

`builders` makes the deciders from these entries.

The audit and the tests' oracle keep registries of their own, as they check this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from attrs import frozen

from actors.events import DeciderKind
from policies.queue.names import is_strategy

FIXED = "FIXED"
"""Name of the enrolment policy that always enrols the members listed in its parameters."""


@frozen(kw_only=True)
class DeciderEntry:
    """Facts about one kind of decider that scenarios need: its keys, and the names of its policies.

    Modules of policies are imported by the functions below, so that a run loads those of its own
    decider only.
    """

    keys: tuple[str, ...]
    """Keys of `[policy]` that this kind reads, beside those that all kinds read."""
    default: str
    """Policy of ours that decides where a scenario names none, and in place of a user's own code
    where that must not run."""
    knows: Callable[[str], bool]
    """Function that returns whether a policy of ours that decides so has the given name."""
    numbered: bool = False
    """Whether its policies choose single workers, so that the pool tracks their numbers."""
    slotted: bool = False
    """Whether its times are slots, and its runs end at a cap, where the scenario says neither."""


def _enrols(name: str) -> bool:
    from policies import enrolment

    return name in enrolment.CATALOGUE or name == FIXED


def _resizes(name: str) -> bool:
    from policies import pack

    return name in pack.CATALOGUE


def _copies(name: str) -> bool:
    from policies import copies

    try:
        copies.named(name)
    except ValueError:
        return False
    return True


def _meets_deadlines(name: str) -> bool:
    from policies.deadline import NAMED

    return name in NAMED


OF_A_QUEUE = (
    *("order", "preemption", "estimates", "noise", "spread", "reading", "allocation", "allotment"),
    *("eps", "placement", "ties", "expectation"),
)
DECIDERS: Mapping[DeciderKind, DeciderEntry] = MappingProxyType(
    {
        DeciderKind.QUEUE: DeciderEntry(keys=OF_A_QUEUE, default="R-LIST-0", knows=is_strategy),
        DeciderKind.ENROLMENT: DeciderEntry(
            keys=("expectation", "reuse"),
            default="IE",
            knows=_enrols,
            numbered=True,
            slotted=True,
        ),
        DeciderKind.PACK: DeciderEntry(keys=("allocation", "look"), default="none", knows=_resizes),
        DeciderKind.COPIES: DeciderEntry(keys=("placement",), default="SRPT+R", knows=_copies),
        DeciderKind.DEADLINE: DeciderEntry(
            keys=("changeover", "every"),
            default="uniform-progress",
            knows=_meets_deadlines,
            numbered=True,
        ),
    }
)
"""Maps each kind of decider to its entry."""


def readers(key: str) -> tuple[DeciderKind, ...]:
    """Return the kinds of deciders that read this key of `[policy]`: those whose entry lists it in
    `keys`, or all kinds if none does."""
    listing = tuple(kind for kind, entry in DECIDERS.items() if key in entry.keys)
    return listing or tuple(DECIDERS)
