"""Files of jobs: which reader reads one, and what dates mean in a run of its jobs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from sims.durations import Date
from sims.errors import COMMAND_LINE, InputError, unfit
from sims.readers import JobLog
from sims.scenario.dates import Calendar, undated
from sims.scenario.jobs import RESERVED, JobSection, RigidSection
from sims.scenario.jobs.logs import Replay

UNTIL = "--until"


def read_jobs(section: RigidSection, folder: Path) -> JobLog:
    """Return the jobs of the log that a section names, as the file has them.

    Raises InputError where the file cannot be read, or a number does not fit in 64 bits.
    """
    try:
        return _read(section, folder)
    except OverflowError:
        problem, accepted = "a whole number beyond 64 bits", "numbers of a log"
        raise InputError(section.log.file if section.log else "", "", problem, accepted) from None


def _read(section: RigidSection, folder: Path) -> JobLog:
    if section.swf:
        from sims.readers.job_logs import read_swf

        return read_swf(folder / section.swf.file)
    if section.batsim:
        from sims.readers.job_logs import read_batsim

        return read_batsim(folder / section.batsim.file, RESERVED)
    it = section.sacct
    assert it is not None
    from sims.readers.sacct import read_sacct

    return read_sacct(folder / it.file, it.timezone, it.partition_limit, it.names)


def file_log(section: RigidSection, folder: Path) -> Replay:
    """Return the jobs of the log that a section names, with time 0 where its `origin` puts it. A
    section without a log has no jobs here."""
    if section.log is None:
        return Replay.of(JobLog.of(()))
    return Replay.of(read_jobs(section, folder)).zeroed(section.log)


def calendar_of(section: JobSection, folder: Path, key: str) -> Calendar:
    """Return the calendar of a run of the jobs of `[job]`, whose files are in `folder`, for a date
    at `key`.

    Raises InputError where the jobs have no dates.
    """
    if not isinstance(section, RigidSection):
        raise undated(key)
    log = file_log(section, folder)
    changed = next((it for it in ("resample", "scale") if getattr(section, it)), None)
    if changed is not None:
        problem = f"a date, and job.{changed} leaves the jobs none"
        raise unfit(key, problem, f"a time, or no job.{changed}")
    if log.begins is None:
        raise undated(key)
    start, _ = section.select.span(log)
    return Calendar(log.begins + start, log.zone)


def time_until(date: Date, calendar: Calendar) -> float:
    """Return the time of the run at the date of `--until`. Raises InputError for a date before the
    run begins."""
    it = datetime.fromtimestamp(date, UTC)
    time = calendar.time(it.replace(tzinfo=None) if date.local else it)
    if time < 0:
        problem = f"{it:%Y-%m-%d %H:%M:%S} is before the run begins"
        raise InputError(COMMAND_LINE, UNTIL, problem, f"{calendar.told(0)} or later")
    return time
