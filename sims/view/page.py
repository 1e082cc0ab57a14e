"""A log as one page: charts, ledger, summary, and the chains of causes to follow."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from pathlib import Path
from string import Template

import orjson
from attrs import define, field

from actors.runtime import Record
from sims.plots.scene import Scene
from sims.summary import Summary
from sims.telling import title_of
from sims.view import charts
from sims.view.story import Story
from sims.writing import replacing

HERE = Path(__file__).parent


@define
class Page:
    """Fold over a log's records that writes a page."""

    summary: Summary = field(factory=Summary)
    story: Story = field(factory=Story)

    def write(self, records: Iterable[Record], path: Path) -> Scene:
        """Read the records, write the page; returns what was drawn.

        Raises InputError where bokeh is missing or the file cannot be written.
        """
        charts.check_installed()
        scene = Scene.of(self._heard(records), ledger=True)
        text = self._render(scene)
        with replacing(path) as new:
            new.write_text(text, encoding="utf-8")
        return scene

    def _heard(self, records: Iterable[Record]) -> Iterator[Record]:
        for record in records:
            self.summary(record)
            self.story(record)
            yield record

    def _render(self, scene: Scene) -> str:
        from bokeh.embed import components
        from bokeh.resources import Resources

        workers = charts.processors(scene)
        models = [workers, charts.jobs(scene, workers), charts.ledger(scene)]
        script, divs = components(models)
        header = scene.header
        # Only what is drawn here, so that the page is no larger than it must be.
        resources = Resources(mode="inline", components=["bokeh", "bokeh-gl"])
        return Template((HERE / "page.html").read_text(encoding="utf-8")).substitute(
            title=html.escape(title_of(header)),
            note=html.escape(_note(scene)),
            summary=html.escape("\n".join(self.summary.lines())),
            scripts=resources.render(),
            charts="\n".join(divs),
            plots=script,
            data=self._data(scene),
            code=(HERE / "page.js").read_text(encoding="utf-8"),
        )

    def _data(self, scene: Scene) -> str:
        boxes = (scene.uses.boxes(), scene.runs.boxes())
        shown = {int(seq) for table in boxes for seq in table.seq}
        shown |= {mark.seq for mark in scene.marks}
        data = {
            "jobs": list(scene.jobs),
            "lives": [self.story.lives.get(job, []) for job in scene.jobs],
            "events": self.story.columns(shown),
        }
        # A job's name could close the script element that holds the data.
        return orjson.dumps(data).decode().replace("<", "\\u003c")


def _note(scene: Scene) -> str:
    uses, runs = scene.uses.boxes(), scene.runs.boxes()
    if max(len(uses), len(runs)) > charts.MOST:
        return (
            f"More than {charts.MOST:,} boxes: charts that have so many are images, in which "
            "colours mix and nothing can be picked. Jobs can still be followed by name."
        )
    return ""
