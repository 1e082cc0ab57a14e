"""Folders of results that were cut, damaged or made by others: what does not hold is named, enters
no mean, and is run again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sims.packing import digest
from tests.sims.cli.commands import FEW, Shell

CAMPAIGN = """\
name = "it"
scenario = "few.toml"
replications = 3
measures = ["wait", "makespan"]
faults = { kind = "exponential", mtbf = 20000 }
[variants.one]
[variants.two.policy]
order = "SJF"
""".replace("faults = ", "set.faults = ")
RUN = ("campaign", "run", "it.toml", "--processes", "1")
TELLING = ("table", "status", "export -o out.csv")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a campaign and its results."""
    from sims.campaign.engine import execute
    from sims.campaign.executors import local
    from sims.campaign.file import load_campaign
    from sims.campaign.results import Store

    folder = tmp_path_factory.mktemp("campaign")
    (folder / "few.toml").write_text(FEW)
    (folder / "it.toml").write_text(CAMPAIGN)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with local(1) as workers:
            execute(load_campaign(Path("it.toml")), workers, Store(Path("logs/campaigns/it")))
    return folder


@pytest.fixture
def results(shell: Shell, finished: Path) -> Path:
    """The folder of results, in the current folder."""
    shutil.copytree(finished, shell.folder, dirs_exist_ok=True)
    return Path("logs/campaigns/it")


def forged(path: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Write a file of results anew, under the name that its content has."""
    frame = change(pl.read_parquet(path))
    frame.write_parquet(path)
    path.rename(path.with_name(f"{digest(path.read_bytes())}.parquet"))


def column(name: str, value: Any, kind: Any = None) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda frame: frame.with_columns(pl.lit(value, kind).alias(name))


FORGED = {
    "no seed": column("seed", None, pl.String),
    "a seed in words": column("seed", "one"),
    "a seed of other digits": column("seed", "²"),
    "a wide seed": column("seed", str(2**64)),
    "seeds as numbers": column("seed", 1),
    "an unknown end": column("end", "well"),
    "a makespan as text": column("makespan", "long"),
    "a makespan that is no number": column("makespan", float("nan")),
    "an infinite time": column("time", float("inf")),
    "a time below 0": column("time", -1.0),
    "jobs as text": column("jobs", "3"),
    "blocks as a list": column("blocks", "[1]"),
    "blocks that are cut": column("blocks", "{"),
    "blocks of others": column("blocks", '{"wait": {"": {"value": "x", "blocks": []}}}'),
    "no blocks": column("blocks", None, pl.String),
    "no key": lambda frame: frame.drop("key"),
    "a column of lists": column("wait", [[1.0]]),
    "no rows and no columns": lambda frame: frame.select([]),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_file_is_named_and_its_runs_are_run_again(
    shell: Shell, results: Path, what: str
) -> None:
    table = shell("campaign", "table", "it.toml").out
    forged(next(results.glob("*.parquet")), FORGED[what])
    heals(shell, results, "holds no results", table)


def heals(shell: Shell, results: Path, problem: str, table: str) -> None:
    """No command takes the results as they are, and `run` says what it runs again."""
    before = shell.files()
    for command in TELLING:
        line = shell.refused("campaign", command.split()[0], "it.toml", *command.split()[1:])
        assert problem in line
        assert "`holdfast campaign run` runs again what is missing" in line
    assert shell.files() == before
    with pytest.warns(UserWarning, match=problem) as told:
        said = shell(*RUN)
    assert said.code == 0
    # Objects of earlier tests that are collected meanwhile may warn as well, of files left open.
    [line] = [str(it.message) for it in told if it.category is UserWarning]
    assert line.startswith(str(results))
    assert line.endswith(".damaged, and what it held is made again")
    assert shell("campaign", "table", "it.toml").out == table
    assert shell(*RUN).out == said.out


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def _lacking(path: Path) -> None:
    pl.read_parquet(path).drop("makespan").write_parquet(path)


def _dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (_cut, "is damaged: its name is not the digest of what it holds"),
        (_flipped, "is damaged"),
        (_lacking, "is damaged"),
        (_dangling, "cannot be read: No such file or directory"),
        (_folder, "cannot be read: Is a directory"),
    ],
)
def test_a_file_that_is_cut_or_damaged_heals(
    shell: Shell, results: Path, spoil: Callable[[Path], None], problem: str
) -> None:
    table = shell("campaign", "table", "it.toml").out
    spoil(next(results.glob("*.parquet")))
    heals(shell, results, problem, table)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1]", "null", "{}", '{"campaign": "it", "files": [1]}', "\x00", "[" * 100_000],
)
def test_notes_about_a_campaign_that_cannot_be_read_are_made_again(
    shell: Shell, results: Path, text: str
) -> None:
    notes = results / "campaign.json"
    before = json.loads(notes.read_text())
    notes.write_text(text)
    assert f"{notes}: " in shell.refused("campaign", "status", "it.toml")
    with pytest.warns(UserWarning, match=f"^{notes} "):
        assert shell(*RUN).code == 0
    assert json.loads(notes.read_text()) == before
    assert shell("campaign", "status", "it.toml").code == 0


def test_a_folder_of_results_that_is_a_dangling_link_is_named_as_one(shell: Shell) -> None:
    shell.write(FEW, "few.toml")
    shell.write(CAMPAIGN, "it.toml")
    Path("store").symlink_to("nowhere")
    line = shell.refused("campaign", "run", "it.toml", "--results", "store")
    assert "store: is a link to " in line
    assert "which is not there" in line
    assert "cannot be written" not in line
