"""Values of unordered categories side by side, with confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sims.plots.axes import title_within
from sims.plots.curves import MARKERS, about_bars, legend_below, plain_log_y
from sims.plots.figure import CYCLE, new_figure, save
from sims.statistics import Interval

WIDTH, HEIGHT = 11.0, 6.0
"""Inches."""
FILLED = 0.8
"""Part of a group's width that its values take."""

Member = tuple[str, str]
"""(family, variant): a colour each, and a marker each."""


def draw_groups(
    groups: Mapping[str, Mapping[Member, Interval]], path: Path, title: str, y: str, note: str = ""
) -> Path:
    """Draw the members of each group side by side, unconnected, on a logarithmic axis.

    A member has one place in all groups. `note` stands below, with the legend. Returns `path`.
    """
    figure, axes = new_figure(WIDTH, HEIGHT)
    members = list(dict.fromkeys(member for values in groups.values() for member in values))
    families = list(dict.fromkeys(family for family, _ in members))
    variants = list(dict.fromkeys(variant for _, variant in members))
    for k, member in enumerate(members):
        shift = FILLED * ((k + 0.5) / len(members) - 0.5)
        found = [(at + shift, it[member]) for at, it in enumerate(groups.values()) if member in it]
        axes.errorbar(
            [at for at, _ in found],
            [value.mean for _, value in found],
            yerr=[value.half for _, value in found],
            label=" ".join(member),
            color=CYCLE[families.index(member[0]) % len(CYCLE)],
            marker=MARKERS[variants.index(member[1]) % len(MARKERS)],
            ls="",
            capsize=3,
            elinewidth=1,
        )
    for edge in range(1, len(groups)):
        axes.axvline(edge - 0.5, color="black", lw=0.5, alpha=0.4)
    axes.set_xticks(range(len(groups)), list(groups))
    axes.tick_params(axis="x", length=0)
    plain_log_y(axes)
    axes.set(title=title_within(title, WIDTH), ylabel=y, xlim=(-0.5, len(groups) - 0.5))
    axes.grid(axis="y", alpha=0.3)
    about = about_bars(value for values in groups.values() for value in values.values())
    legend_below(figure, f"{about}{note and f'; {note}'}", columns=4)
    return save(figure, path)
