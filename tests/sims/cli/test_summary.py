"""`holdfast summary`: which jobs it lists, and in what order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sims.cli.commands import Shell
from tests.sims.kinds import written


def test_the_table_by_job_follows_the_submissions(shell: Shell) -> None:
    lines = shell("summary", written("batch-rigid", shell.folder), "--by", "job").out.splitlines()
    assert [line.split()[0] for line in lines[-100:]] == [f"J{k}" for k in range(1, 101)]


def test_names_longer_than_their_column_keep_it_straight(shell: Shell) -> None:
    name = "a-name-longer-than-sixteen-letters"
    text = (
        'name = "long"\n[platform]\nworkers = 2\n[job]\nkind = "rigid"\n'
        f'jobs = [{{name = "{name}", processors = 1, time = 2}}, {{processors = 1, time = 1}}]\n'
        '[policy]\nname = "R-LIST-0"\norder = "LPT"\n'
    )
    Path("long.toml").write_text(text)
    shell("run", "long.toml", "--log", "long.jsonl")
    rows = shell("summary", "long.jsonl", "--by", "job").out.splitlines()[-3:]
    assert len({len(row) for row in rows}) == 1
    assert rows[1].split() == [name, "2"]


FAR = (
    "the mean wait is 31.5 s recorded, 5 s simulated: compare nothing before the scenario is nearer"
)


@pytest.mark.parametrize(("waited", "warnings"), [(60, [f"  warning     {FAR}"]), (7, [])])
def test_a_replayed_log_tells_its_own_waits_and_warns_where_they_are_far(
    shell: Shell, waited: int, warnings: list[str]
) -> None:
    """On one processor J2 waits 10 s for J1; recorded are 3 s and `waited`."""
    rows = (f"{k} 0 {w} 10 1 -1 -1 1 10 -1 1 1 1 -1 1 -1 -1 -1\n" for k, w in ((1, 3), (2, waited)))
    Path("own.swf").write_text("; UnixStartTime: 86400\n" + "".join(rows))
    job = '[job]\nkind = "rigid"\nswf = {file = "own.swf"}\n'
    text = f'name = "own"\n[platform]\nworkers = 1\n{job}[policy]\nname = "EASY"\n'
    Path("own.toml").write_text(text)
    shell("run", "own.toml", "--log", "own.jsonl")
    lines = shell("summary", "own.jsonl").out.splitlines()
    wait, slowdown = (line for line in lines if line.startswith("    recorded"))
    assert wait.startswith(f"    recorded  mean {(3 + waited) / 2:g} s,")
    assert slowdown.startswith(f"    recorded  slowdown: mean {(23 + waited) / 20:g},")
    assert [line for line in lines if line.startswith("  warning")][:1] == warnings
    assert shell("audit", "own.jsonl").out == "15 events: every law holds\n"
