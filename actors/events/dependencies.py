"""The event of dependencies between jobs: what a job waits for before it is submitted."""

from __future__ import annotations

from typing import Annotated

from actors.events.quantities import JobName, Quantity, Time
from actors.runtime import Event, fact


@fact
class DependenciesDescribed(Event):
    """Records which jobs a job follows, where it follows any: it is submitted at the latest of its
    release and, for each of these jobs, that job's end and the time to think."""

    job: JobName
    release: Time
    """Time before which the job is not submitted."""
    after: tuple[Annotated[str, Quantity()], ...]
    """Names of the jobs that it follows."""
    think: Time
    """Time from the end of the last of these jobs to the submission."""
