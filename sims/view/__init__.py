"""A log as one page, self-contained and interactive: charts, ledger, summary, and chains of causes
to follow; needs `pip install 'holdfast[view]'`."""

from __future__ import annotations

import gzip
import html
from base64 import b64encode
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from string import Template

import numpy as np
import orjson
from attrs import define, field

from actors.runtime import Record
from sims.history import Job, Listener, Run
from sims.plots.scene import Scene
from sims.summary import Summary
from sims.telling import title_of, told
from sims.view import charts
from sims.writing import replacing

HERE = Path(__file__).parent

DIGITS = 6
"""Of an event's time: twice as many as are shown, so that it is shown as if it had all."""
MANY = (
    "More than {:,} boxes: charts that have so many are images, in which colours mix "
    "and nothing can be picked. Jobs can still be followed by name."
)


@define(eq=False)
class _Lives(Listener):
    """The events of each job's life, by name."""

    told: dict[str, dict[int, None]] = field(factory=dict)

    def job_submitted(self, job: Job, record: Record) -> None:
        self.told[job.name] = {record.seq: None}

    def run_started(self, run: Run, record: Record) -> None:
        self.told[run.job.name][record.seq] = None

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        self.told[run.job.name][record.seq] = None

    def job_ended(self, job: Job, record: Record) -> None:
        self.told[job.name][record.seq] = None


@define
class Page:
    """A log's records, from which a page is written."""

    records: list[Record] = field(factory=list)
    summary: Summary = field(factory=Summary)
    lives: _Lives = field(factory=_Lives)

    def write(self, records: Iterable[Record], path: Path) -> Scene:
        """Read the records, write the page; returns what was drawn.

        Raises InputError where bokeh is missing or the file cannot be written.
        """
        charts.check_installed()
        scene = Scene.of(self._heard(records), self.lives)
        text = self._render(scene)
        with replacing(path) as new:
            new.write_text(text, encoding="utf-8")
        return scene

    def _heard(self, records: Iterable[Record]) -> Iterator[Record]:
        for record in records:
            self.summary(record)
            self.records.append(record)
            yield record

    def _render(self, scene: Scene) -> str:
        from bokeh.embed import components
        from bokeh.resources import Resources

        workers = charts.processors(scene)
        script, divs = components([workers, charts.jobs(scene, workers), charts.ledger(scene)])
        # Only what is drawn here, so that the page is no larger than it must be.
        resources = Resources(mode="inline", components=["bokeh", "bokeh-gl"])
        many = max(len(scene.uses), len(scene.runs)) > charts.MOST
        seqs = (scene.uses.seq, scene.runs.seq, scene.marks.seq)
        data = {
            "jobs": scene.jobs,
            "lives": list(self._lives()),
            "events": self.story(np.unique(np.concatenate(seqs)).tolist()),
        }
        return Template((HERE / "page.html").read_text(encoding="utf-8")).substitute(
            title=html.escape(title_of(scene.header)),
            note=MANY.format(charts.MOST) if many else "",
            summary=html.escape("\n".join(self.summary.lines())),
            scripts=resources.render(),
            charts="\n".join(divs),
            plots=script,
            # Packed: letters alone, of which none could close the element that holds them.
            data=b64encode(gzip.compress(orjson.dumps(data), mtime=0)).decode(),
            code=(HERE / "page.js").read_text(encoding="utf-8"),
        )

    def _lives(self) -> Iterator[list[int]]:
        """The events of each job's life as steps, the first from the first of the life before."""
        lives = list(map(list, self.lives.told.values()))
        for life, step in zip(lives, _steps(life[0] for life in lives), strict=True):
            yield [step, *_steps(life)[1:]]

    def story(self, shown: Iterable[int]) -> dict[str, object]:
        """The events in `shown`, those of all jobs' lives, and the causes of all of them; `page.js`
        adds up the steps between their numbers, which take a fraction of the place."""
        kept: set[int] = set()
        for seq in chain(shown, *self.lives.told.values()):
            now: int | None = seq
            while now is not None and now not in kept:
                kept.add(now)
                now = self.records[now].cause
        told_of = [self.records[seq] for seq in sorted(kept)]
        return {
            "seq": _steps(record.seq for record in told_of),
            "t": [round(record.t, DIGITS) for record in told_of],
            "back": [0 if it.cause is None else it.seq - it.cause for it in told_of],
            "text": [told(record.event) for record in told_of],
        }


def _steps(numbers: Iterable[int]) -> list[int]:
    """From each to the next, the first from 0."""
    return [after - before for before, after in pairwise(chain((0,), numbers))]
