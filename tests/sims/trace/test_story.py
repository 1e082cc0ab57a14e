"""One job's life, as told from its log: stories checked by hand, and laws of every life."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from actors.events import JobSubmitted
from actors.runtime import Record
from sims.history.reader import HOLDING
from sims.log import LogFile
from sims.scenario.loader import load
from sims.trace import Span
from sims.trace.read import explain, find_life
from sims.trace.story import JobStory
from sims.trace.watch import Waits
from sims.world import run
from tests.sims.kinds import EVERY, records_of, written
from tests.sims.worlds import Table, play, write

STORIES = sorted((Path(__file__).parent / "stories").iterdir())
"""What each is about; the log, or the world, scenario or kind that makes it; what is told of it."""


def log_of(story: Table, folder: Path) -> Path:
    """The log of a story."""
    path = folder / "run.jsonl"
    if "log" in story:
        path.write_text(story["log"])
        return path
    records: list[Record] = []
    if "scenario" in story:
        scenario = folder / "story.toml"
        scenario.write_text(story["scenario"])
        run(load(scenario), [records.append], folder)
    elif "world" in story:
        records = play(story["world"])
    return write(records or records_of(story["kind"]), path)


@pytest.mark.parametrize("path", STORIES, ids=lambda it: it.stem)
def test_the_trace_of_a_job_is_the_one_that_was_checked_by_hand(path: Path, tmp_path: Path) -> None:
    story = tomllib.loads(path.read_text())
    told = str(find_life(LogFile(log_of(story, tmp_path)), story["job"]))
    assert [line.partition("  (#")[0] for line in told.splitlines()] == story["told"].splitlines()


def life(records: Sequence[Record], job: str = "a") -> JobStory:
    """A job's, from all records."""
    story = JobStory(job)
    for record in records:
        story(record)
    story.stop(records[-1].t)
    return story


def everything(span: Span) -> Iterator[tuple[Span, Span]]:
    """(parent, child), the whole tree."""
    for child in span.children:
        yield span, child
        yield from everything(child)


@pytest.mark.parametrize("name", EVERY)
def test_spans_lie_within_their_parents_and_causes_come_first(name: str) -> None:
    for job in jobs_of(name):
        found = life(records_of(name), job).root
        assert found is not None
        for parent, child in everything(found):
            assert parent.end is not None
            assert child.end is not None
            assert parent.start <= child.start <= child.end <= parent.end
            assert child.cause is None or child.seq is None or child.cause < child.seq


@pytest.mark.parametrize("name", EVERY)
def test_lines_that_are_skipped_put_off_or_dropped_change_nothing(
    name: str, tmp_path: Path
) -> None:
    records, log = records_of(name), LogFile(written(name, tmp_path))
    for job in jobs_of(name):
        whole, waits, found = life(records, job), Waits(job), find_life(log, job)
        for record in records:
            if type(record.event) in HOLDING:
                waits(record)
        waits.close()
        assert found.account == whole.account
        assert found.data["waits"] == [it.as_json() for it in waits.done]
        explain(whole, waits)
        assert found.root == whole.root


def jobs_of(name: str) -> list[str]:
    """Its first jobs."""
    return [r.event.job for r in records_of(name) if isinstance(r.event, JobSubmitted)][:12]
