"""How many workers are worth enrolling behind a master of limited bandwidth?"""

import holdfast
from matplotlib.figure import Figure

COUNTS = (1, 2, 3, 4, 6, 12)


def makespan(workers: int, channels: int) -> float:
    """Return the time, in slots, of ten iterations of 12 tasks, spread over so many workers.

    The data of a task takes a channel of the master for 5 slots, and the task a worker for 10.
    """
    model = {
        "name": "bandwidth",
        "unit": "slot",
        "master": {"channels": channels, "program": 10, "data": 5},
        "workers": [{"task_time": 10, "count": 12}],
        "job": {"kind": "iterative", "tasks": 12, "iterations": 10},
        "policy": {
            "name": "policies.enrolment.spread:Spread",
            "parameters": {"workers": workers},
        },
    }
    time = holdfast.run(model, keep=False).makespan
    assert time is not None
    return time


figure = Figure(layout="constrained")
axes = figure.subplots()
for channels in (1, 2, 4):
    times = [makespan(count, channels) for count in COUNTS]
    pairs = zip(COUNTS, times, strict=True)
    enough = next(count for count, time in pairs if time <= 1.05 * min(times))
    print(f"n_com = {channels}: {enough} workers are enough, for {min(times):g} slots")
    axes.plot(COUNTS, times, marker="o", label=f"n_com = {channels}")
axes.set(xlabel="workers", ylabel="makespan, slots", ylim=(0, None))
axes.legend()
figure.savefig("bandwidth.svg")
