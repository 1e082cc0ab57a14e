"""Writes a log as one self-contained, interactive page with charts, ledger, summary and chains of
causes to follow; needs `pip install 'holdfast[view]'`."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from attrs import define, field

from actors.runtime import Record, rare_collections
from sims.history.summary import Summary
from sims.plots.scene import Scene
from sims.summary import summary_lines
from sims.telling import title_of
from sims.view import charts
from sims.view.story import Story, in_letters
from sims.writing import replacing

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure

HERE = Path(__file__).parent

MANY = (
    "More than {:,} boxes: charts that have so many are images, in which colours mix "
    "and nothing can be picked. Jobs can still be followed by name."
)


@define
class Page:
    """A page about one run: writes it from the log, which it keeps in memory as columns of numbers
    and packed texts."""

    summary: Summary = field(factory=Summary.brief)

    def write(self, records: Iterable[Record], path: Path) -> Scene:
        """Read the records, write the page, and return the scene that was drawn.

        Raises InputError where bokeh is missing or the file cannot be written.
        """
        charts.check_installed()
        scene = Scene(levels=False)  # the page does not draw them
        story = Story(scene.rows)
        story.listen(scene.history)
        with rare_collections():
            scene.read(self._passed_on(records, story))
        with replacing(path) as new, new.open("w", encoding="utf-8") as file:
            file.writelines(self._rendered(scene, story))
        return scene

    def _passed_on(self, records: Iterable[Record], story: Story) -> Iterator[Record]:
        """Yield the records unchanged, for the scene to read; the summary and the story have read
        each record when it is yielded."""
        record, wants = None, self.summary.wants
        for record in records:
            if type(record.event) in wants:
                self.summary(record)
            story.hear(record)
            yield record
        if record is not None:
            self.summary.time, self.summary.events = record.t, record.seq + 1

    def _rendered(self, scene: Scene, story: Story) -> Iterator[str]:
        workers = charts.processors(scene)
        many = max(len(scene.uses), len(scene.runs)) > charts.MOST
        picked = [it.seq for it in (scene.uses, scene.runs) if len(it) <= charts.MOST]
        yield from rendered(
            title_of(scene.header),
            "\n".join(summary_lines(self.summary)),
            [workers, charts.jobs(scene, workers), charts.ledger(scene)],
            story.pieces(scene.jobs, (*picked, scene.marks.seq)),
            note=MANY.format(charts.MOST) if many else "",
        )


JOB, ACTOR = ("job", "a job"), ("actor", "an actor")
"""Words for what a page follows, without and with its article."""


def rendered(
    title: str,
    summary: str,
    drawn: Sequence[Figure],
    data: Iterable[bytes],
    followed: tuple[str, str] = JOB,
    note: str = "",
) -> Iterator[str]:
    """Yield a page in pieces: the part before its data, the data, and the part after.

    `drawn` are its charts, `data` is the JSON that `page.js` reads, `followed` says what the page
    can follow, and `note` stands above the charts.
    """
    from bokeh.embed import components
    from bokeh.resources import Resources

    script, divs = components(drawn)
    # Only the components that are used, so that the page is as small as possible.
    resources = Resources(mode="inline", components=["bokeh", "bokeh-gl"])
    before, _, after = (HERE / "page.html").read_text(encoding="utf-8").partition("$data")
    yield Template(before).substitute(
        title=html.escape(title),
        note=note,
        summary=html.escape(summary),
        scripts=resources.render(),
        charts="\n".join(divs),
        what=followed[0],
        one=followed[1],
    )
    yield from in_letters(data)
    code = (HERE / "page.js").read_text(encoding="utf-8")
    yield Template(after).substitute(plots=script, code=code)
