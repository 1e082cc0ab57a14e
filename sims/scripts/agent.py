"""An agent of your own: a user who meets a long queue goes away, and comes back later."""

from typing import ClassVar

import holdfast
from attrs import define, field
from holdfast.agents import Act, Agent, Reminder, events, handles


@define(eq=False)
class Patron(Agent):
    """Submits a job every hour, but not while more than `most` jobs wait."""

    does: ClassVar = (Act.SUBMIT,)
    most: int = 2
    balked: int = field(init=False, default=0)
    _waiting: set[str] = field(init=False, factory=set)

    def begin(self, cause: int) -> None:
        self.wait(3600, cause, list(self.world.jobs))

    @handles(events.JobSubmitted, events.RunStarted)
    def hear(self, event: events.JobSubmitted | events.RunStarted, cause: int) -> None:
        add = isinstance(event, events.JobSubmitted)
        (self._waiting.add if add else self._waiting.discard)(event.job)

    @handles(Reminder)
    def look(self, reminder: Reminder, cause: int) -> None:
        left = reminder.about
        if len(self._waiting) <= self.most:
            self.submit(left.pop(0), cause)
        else:
            self.balked += 1
        if left:
            self.wait(3600, cause, left)


batch = [{"processors": 8, "time": "3 h", "release": f"{k} h"} for k in range(6)]
own = [{"name": f"mine {k}", "processors": 4, "time": "30 min"} for k in range(6)]
scenario = {
    "name": "patron",
    "platform": {"workers": 8},
    "job": {"kind": "rigid", "jobs": batch + own},
    "policy": {"name": "EASY"},
}
patron = Patron(jobs=("mine *",))
result = holdfast.run(scenario, actors=[patron], log="agent.jsonl")
print(result.trace("mine 0"))
print(f"the user came back later {patron.balked} times")
result.plot("jobs", "agent.svg")
