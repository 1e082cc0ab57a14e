"""Files and arguments that are made to break a command: each is refused in one line, without a
traceback, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.sims.cli.commands import FEW, TINY, Shell

DIGITS = "1" * 5000
"""More digits than Python reads or writes."""

# --- numbers and keys of a file -------------------------------------------------------------------


@pytest.mark.parametrize("number", [DIGITS, "0x" + DIGITS, "0b" + DIGITS * 4])
def test_a_number_of_thousands_of_digits_is_refused_wherever_it_stands(
    shell: Shell, number: str
) -> None:
    shell.write(f"seed = {number}\n{TINY}", "long.toml")
    shell.write(FEW, "few.toml")
    campaign = 'name = "it"\nscenario = "few.toml"\nreplications = {}\nmeasures = ["wait"]\n'
    shell.write(campaign.format(number), "campaign.toml")
    shell.write(campaign.format(2) + f"[axes]\nseed = [{number}]\n", "axes.toml")
    before = shell.files()
    for words in (
        ("run", "long.toml"),
        ("check", "long.toml"),
        ("run", "few.toml", "--set", f"seed={number}"),
        ("run", "few.toml", "--set", f"job.jobs.{number}.time=1"),
        ("compare", "few.toml", "--vary", f"seed={number},2"),
        ("campaign", "run", "campaign.toml"),
        ("campaign", "run", "axes.toml"),
        ("check-policy", "few:Few", "--set", f"x={number}"),
    ):
        assert len(shell.refused(*words)) < 600, words
    assert shell.files() == before


@pytest.mark.parametrize("digit", ["²", "٣", "-1", "01"])
def test_only_the_number_of_an_element_selects_one(shell: Shell, digit: str) -> None:
    shell.write(FEW, "few.toml")
    assert "there is no" in shell.refused("run", "few.toml", "--set", f"job.jobs.{digit}.time=1")


@pytest.mark.parametrize("begin", ["", FEW])
def test_of_a_million_unknown_keys_the_first_is_named_before_the_rest_is_read(
    shell: Shell, begin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = "".join(f"k{number} = 1\n" for number in range(200_000))
    shell.write(f"{begin}\n[link]\n{keys}", "many.toml")
    shell.write(f"{keys}", "campaign.toml")
    read: list[int] = []
    loads = __import__("tomllib").loads
    monkeypatch.setattr("tomllib.loads", lambda text: read.append(len(text)) or loads(text))
    assert "many.toml: link.k0: unknown key" in shell.refused("run", "many.toml")
    assert "campaign.toml: k0: unknown key" in shell.refused("campaign", "run", "campaign.toml")
    assert max(read) < 20_000


# --- what a log of a million jobs costs -----------------------------------------------------------


def _peak(folder: Path, jobs: int) -> int:
    """Largest memory, in bytes, that the check of a log of so many jobs takes."""
    lines = (
        f"{k} {90 * k} 5 {60 + 7 * k % 40_000} 4 -1 -1 4 {k % 9000} -1 1 {k % 500} 7 -1 1 1 -1 -1"
        for k in range(1, jobs + 1)
    )
    (folder / "log.swf").write_text("; MaxProcs: 64\n" + "\n".join(lines))
    (folder / "log.toml").write_text(
        'name = "log"\njob = { kind = "rigid", swf.file = "log.swf" }\n'
    )
    code = "from sims.cli import main; import resource, sys; main(sys.argv[1:]); "
    code += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    words = [sys.executable, "-c", code, "check", str(folder / "log.toml")]
    said = subprocess.run(words, capture_output=True, text=True, check=True)
    assert f"jobs        {jobs:,}" in said.stdout
    return 1024 * int(said.stdout.split()[-1])


def test_a_job_of_a_log_takes_half_a_kilobyte_to_check(tmp_path: Path) -> None:
    few, many = (_peak(tmp_path, jobs) for jobs in (1000, 101_000))
    assert (many - few) / 100_000 < 550  # before: 900
