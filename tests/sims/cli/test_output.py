"""Readers that leave early and disks that are full; in processes of their own."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from sims.log import LogFile
from tests.case_files import listed
from tests.sims.cli.commands import FEW, TINY, Said, Shell, begin, ended, environment, spawn


@frozen
class Into:
    """Runs commands with their standard output going somewhere."""

    unbuffered: str

    def start(self, *words: str, **how: Any) -> subprocess.Popen[str]:
        return spawn(*words, env=environment(PYTHONUNBUFFERED=self.unbuffered), **how)

    def full(self, *words: str) -> Said:
        """What a command answers whose output goes to a full disk."""
        with Path("/dev/full").open("wb") as out:
            return ended(self.start(*words, stdout=out))

    def nobody(self, *words: str) -> Said:
        """What a command answers whose output nobody reads."""
        process = self.start(*words)
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        return ended(process)


@pytest.fixture(params=["", "1"], ids=["buffered", "unbuffered"])
def into(request: pytest.FixtureRequest, shell: Shell) -> Into:
    """Beside a scenario and its log."""
    assert shell("run", shell.write(TINY), "--log", "run.jsonl").code == 0
    return Into(request.param)


COMMANDS = (
    ("summary", "run.jsonl"),
    ("trace", "run.jsonl", "--job", "application"),
    ("run", "tiny.toml", "--log", "new.jsonl"),
    ("--help",),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_full_disk_under_the_output_is_reported_in_one_line(
    into: Into, words: tuple[str, ...]
) -> None:
    told = "holdfast: standard output: cannot be written: No space left on device"
    assert into.full(*words).refusal() == told


@pytest.mark.parametrize("words", COMMANDS[:3], ids=lambda words: words[0])
def test_a_reader_who_leaves_early_ends_the_command_quietly(
    into: Into, words: tuple[str, ...]
) -> None:
    said = into.nobody(*words)
    assert (said.code, said.err) == (0, "")


@pytest.mark.parametrize(
    "closed, words, code",
    [(">&-", "run tiny.toml --log none", 0), ("2>&-", "no", 2), (">&- 2>&-", "--help", 0)],
)
def test_closed_streams_are_no_reason_to_fail(
    shell: Shell, closed: str, words: str, code: int
) -> None:
    shell.write(TINY)
    line = f"{sys.executable} -m sims.cli {words} {closed}"
    said = ended(begin("sh", "-c", line))
    assert said.code == code
    assert "Traceback" not in said.err


def test_a_terminal_without_letters_beyond_ascii_has_them_spelt_out(shell: Shell) -> None:
    shell.write(TINY.replace('"tiny"', '"t\u00efny"'))
    words = ["compare", "tiny.toml", "--vary", "policy.name=IE,IY", "--runs", "2"]
    said = ended(spawn(*words, env=environment(PYTHONIOENCODING="ascii", LC_ALL="C")))
    assert (said.code, said.err) == (0, "")
    assert "t\\xefny" in said.out


def test_a_disk_that_is_full_under_a_log_is_one_line_and_what_fits_is_readable(
    shell: Shell,
) -> None:
    file = shell.write(TINY.replace("iterations = 3", "iterations = 3000"))
    line = f"ulimit -f 64; {sys.executable} -m sims.cli run {file} --log run.jsonl"
    told = "holdfast: run.jsonl: cannot be written: File too large"
    refused = ended(begin("sh", "-c", line)).refusal()
    assert refused == f"{told}; accepted: a file in a folder of yours"
    assert sum(1 for _ in LogFile(Path("run.jsonl"))) > 50


JOB = "[[job.jobs]]"
STEERS = r"\u001b[2J$x_1$\n"
CAMPAIGN = """name = "x"
scenario = "few.toml"
replications = 2
axes.policy.name = ["R-LIST-0"]
variants."NAME" = {}
variants.SPT.policy.order = "NOWHERE"
"""


@pytest.mark.parametrize("words", listed(__file__, "told"))
def test_a_name_from_a_file_steers_no_terminal_and_makes_no_line(shell: Shell, words: str) -> None:
    """Told of a job that is called so are as many lines as of one that is called J. A log of others
    says it of the job, the scenario and the user; a scenario's own file only of the user."""
    told = {}
    for name in (STEERS, "J"):
        own = f'{JOB}\nname = "PLACE"\nuser = "{name}"'
        shell.write(FEW.replace('"few"', '"PLACE"').replace(JOB, own, 1), "few.toml")
        campaign = CAMPAIGN.replace("NAME", name)
        shell.write(campaign.replace("NOWHERE", name), "x.toml")
        shell.write(campaign.replace("NOWHERE", "SPT").replace('"x"', '"y"'), "y.toml")
        assert shell("run", "few.toml", "--log", "run.jsonl").code == 0
        text = Path("run.jsonl").read_text()
        # No scenario has such names of its own: a log whose first line has them is refused.
        text = text.replace(r"\"PLACE\"", r"\"J\"")
        shell.write(text.replace("PLACE", name), "run.jsonl")
        assert f'"{name}"' in Path("run.jsonl").read_text()
        if words.startswith(("campaign status", "campaign table")):
            assert shell("campaign", "run", "y.toml", "--processes", "1").code == 0
        asked = [json.loads(f'"{name}"') if it == "NAME" else it for it in words.split()]
        said = shell(*asked)
        drawn = [path.read_text() for path in shell.folder.glob("x.[sh]*")]
        assert "\x1b" not in "".join((said.out, said.err, *drawn))
        told[name] = said.code, len((said.out + said.err).splitlines())
    assert len(set(told.values())) == 1


@pytest.mark.parametrize("named", ["few", "job"])
@pytest.mark.parametrize("words", [it for it in listed(__file__, "told") if "few.toml" in it])
def test_a_scenario_whose_own_names_would_steer_a_terminal_is_refused_in_one_line(
    shell: Shell, words: str, named: str
) -> None:
    texts = {
        "few": FEW.replace('"few"', f'"{STEERS}"'),
        "job": FEW.replace(JOB, f'{JOB}\nname = "{STEERS}"', 1),
    }
    shell.write(texts[named], "few.toml")
    line = shell.refused(*words.split())
    assert "\x1b" not in line
    assert r"name: '\x1b[2J$x_1$\n' is not accepted" in line
    assert "control characters" in line


def test_no_cell_of_a_csv_file_is_computed_by_a_spreadsheet(shell: Shell) -> None:
    evil = "=HYPERLINK(1)"
    shell.write(FEW.replace(JOB, f'{JOB}\nname = "{evil}"\nuser = "@user"', 1), "few.toml")
    campaign = CAMPAIGN.replace("NAME", evil).replace("NOWHERE", "SPT")
    shell("run", "few.toml", "--log", "run.jsonl")
    for to in ("jobs", "events", "batsim"):
        assert shell("export", "run.jsonl", "--to", to, "-o", f"{to}.csv").code == 0
    shell.write(campaign, "x.toml")
    assert shell("campaign", "run", "x.toml", "--processes", "1").code == 0
    assert shell("campaign", "table", "x.toml", "-o", "table.csv").code == 0
    assert shell("campaign", "export", "x.toml", "-o", "runs.csv").code == 0
    rows = [row for path in shell.folder.glob("*.csv") for row in csv.reader(path.open())]
    cells = [cell for row in rows for cell in row]
    assert sum(evil in cell for cell in cells) > 5
    assert not [it for it in cells if it.startswith(("=", "+", "@"))]


def test_a_log_that_nobody_reads_ends_its_run_quietly(into: Into) -> None:
    said = into.nobody("run", "tiny.toml", "--log", "/dev/stdout", "--json")
    assert (said.code, said.err) == (0, "")
