"""`holdfast campaign`: from a file to results, a table and a picture."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from tests.sims.campaign.campaigns import MINE, write
from tests.sims.cli.commands import Shell

SMALL = ("--replications", "2", "--results", "kept")


@pytest.fixture
def own(shell: Shell) -> Iterator[Shell]:
    """The command line beside a campaign."""
    write(shell.folder)
    yield shell
    for name in ("mine", "helper"):
        sys.modules.pop(name, None)


def test_one_command_runs_it_prints_the_table_and_draws_the_picture(own: Shell) -> None:
    said = own("campaign", "run", "campaign.toml", *SMALL, "--processes", "1")
    # A slow machine is told how far it is.
    assert (said.code, [it for it in said.err.splitlines() if " s: " not in it]) == (0, [])
    assert "hold at 95 % all together (Holm)" in said.out
    assert said.out.count("baseline") == 2 * 3 * 3
    assert Path("kept/small.png").stat().st_size > 10_000
    status = own("campaign", "status", "campaign.toml", *SMALL)
    assert status.out.startswith("small: 36 of 36 cells finished\n")
    for name, rows in (("long.csv", 54), ("wide.parquet", 18), ("wide.tex", 18)):
        form = name.partition(".")[0]
        words = ("--form", form, "-o", name)
        assert own("campaign", "table", "campaign.toml", *SMALL, *words).out == (
            f"{name}: {rows} rows\n"
        )
    long = pl.read_csv("long.csv")
    assert set(long["variant"]) == {"LPT", "SPT", "mine"}
    assert pl.read_parquet("wide.parquet").columns[:4] == [
        *("platform.workers", "errors.average", "measure", "LPT"),
    ]
    assert Path("wide.tex").read_text().count(r"\\") == 18 + 1
    assert own("campaign", "export", "campaign.toml", *SMALL, "-o", "runs.parquet").code == 0
    runs = pl.read_parquet("runs.parquet")
    assert (len(runs), set(runs["end"])) == (36, {"completed"})
    assert own("campaign", "plot", "campaign.toml", *SMALL, "-o", "own.svg").code == 0


def test_what_raised_is_told_with_its_line_and_tried_again_only_if_asked(own: Shell) -> None:
    broken = MINE.replace("return helper", "1 / 0\n    return helper")
    write(own.folder, mine=broken.replace("1 / 0", "if platform == 8 and processors == 1: 1 / 0"))
    words = ("campaign", "run", "campaign.toml", *SMALL, "--processes", "1")
    said = own(*words)
    assert said.code == 0
    assert "6 cells raised an error, and are in no figure." in said.out
    assert "raised   mine, platform.workers=8, errors.average=0.1, seed 3: policy " in said.out
    assert "holdfast run base.toml --set platform.workers=8 --set errors.average=0.1" in said.out
    before = len(list(Path("kept").glob("*.parquet")))
    assert own(*words).code == 0
    assert len(list(Path("kept").glob("*.parquet"))) == before


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("resume", "campaign.toml"), ["small: there is nothing to go on from"]),
        (("table", "campaign.toml"), ["no cell of it is finished", "campaign run"]),
        (("run", "none.toml"), ["none.toml: No such file", "a campaign file"]),
        (("run", "campaign.toml", "--size", "full"), ["sizes: 'full'", "no [sizes]"]),
        (("run", "campaign.toml", "--scheduler", "none.json"), ["--scheduler: 'none.json'"]),
        (("table", "campaign.toml", "-o", "x.xlsx"), []),
    ],
)
def test_what_cannot_be_is_one_line(own: Shell, words: tuple[str, ...], parts: list[str]) -> None:
    said = own("campaign", *words)
    assert said.code == 2
    line = said.complaint()
    assert all(part in line for part in ("holdfast: ", *parts))


def test_without_polars_the_pip_command_is_named(
    own: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    said = own("campaign", "run", "campaign.toml")
    assert said.code == 2
    assert "polars is missing; accepted: pip install 'holdfast[results]'" in said.complaint()
