"""The state that a log tells of, folded from its records: who is UP, who holds whom, who waits.

Everything that reads a log asks a `History` for it, or listens to one; none rebuilds it.

*To ask*: `History.of(records)`, or `apply` record by record, up to the instant in question. `jobs`
are in the system (`queue`: those that wait; `waiting` and `running`: how many), `runs` hold members
(under way, or ended with their members kept), `workers` are away or have a message under way,
`speeds` were told, `free` and `holders(worker)` say who holds whom. What has no entry is as at the
start: a worker UP, at speed 1, without a message. Memory grows with what is in the system, never
with the log: a job that is over and a run that is released are forgotten.

*To listen*: subclass `Listener`, override what you want to be notified of, and hand it to
`history.listen`. Spans come without matching on events: `run_span` and `run_ended` tell that what a
run did since `run.since` is over, and `run` is then still as it was over that time; `worker_span`
likewise; `time_passed` comes before anything changes at a later instant, with the state of the time
that has passed. All other hooks come after the change, in the order of the log. `run_over` and
`job_over` tell of every run and job once, ended or still under way where the log ends. A listener
that counts or draws asks its `history` in a hook; it never changes it.

    class Busy(Listener):
        def run_ended(self, run, record, done):
            print(run.job.name, run.number, run.processors, run.start, run.end, run.outcome)

    History.of(LogFile(path), Busy())

*An event that is your own subject* and no state (a reservation's change, a price, an expected end):
`history.on(WorkerPriced, handler)`; `handler(record, event)` is called once the state knows of it.

One line may tell of many runs (`Compound`): listeners hear of each; where no one listens to runs,
none is made before `runs` is asked for. A log whose lines are picked before they are decoded (a
million are too many to decode) is enough for jobs, runs, workers' states, `queue` and `free` where
every line of a class in `HOLDING` is among them; `sims.history.lines` picks them.
"""

from __future__ import annotations

from sims.history.history import History
from sims.history.runs import HOLDING
from sims.history.states import Job, Key, Listener, Run, Worker

__all__ = ["HOLDING", "History", "Job", "Key", "Listener", "Run", "Worker"]
