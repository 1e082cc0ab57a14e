"""Users' decayed usage in processor-time."""

from __future__ import annotations

from math import exp, log

from attrs import define, field


@define
class _Account:
    used: float = 0.0
    """At `since`."""
    since: float = 0.0
    busy: int = 0
    """Processors in use since then."""


@define(eq=False)
class Usage:
    """Of each user, decayed: it halves in `half_life`, and grows by what runs."""

    half_life: float
    _accounts: dict[str, _Account] = field(factory=dict)

    def of(self, user: str, now: float) -> float:
        """Processor-time: busy / d + (used - busy / d) e^(-d t) after a time t, d = ln 2 over the
        half-life."""
        account = self._accounts.get(user)
        if account is None:
            return 0.0
        decay = log(2) / self.half_life
        limit = account.busy / decay
        return limit + (account.used - limit) * exp(-decay * (now - account.since))

    def change(self, user: str, processors: int, now: float) -> None:
        """So many processors more are in use; fewer where negative."""
        used = self.of(user, now)
        account = self._accounts.setdefault(user, _Account())
        account.used, account.since, account.busy = used, now, account.busy + processors
