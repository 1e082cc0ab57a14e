"""Who is first in a queue. In a scenario file:

[policy]
order = "order:widest"

Any strategy takes any order. The larger number is first; ties go to the job that was listed first.
"""

from policies.interface import BatchJob, Draw


def widest(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """The widest first, of equally wide ones the longest.

    `time` is what one attempt on `processors` of the `platform`'s is believed to take, in the
    scenario's unit; `draw(job)` is a random number in [0, 1) of this job's own.
    """
    return processors + time / (1 + time)  # the fraction is below 1: it only breaks ties
