"""What commands that read logs do with bad ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from actors.events import SCHEMA
from tests.case_files import listed
from tests.sims.cli.commands import FEW, Shell, change
from tests.sims.kinds import written

COMMANDS = ("summary", "trace --job application", "why 0")
CHANGED = 17
"""Line of the first WorkerChanged."""
EVERY = (
    "summary",
    "plot -o picture.svg",
    "export --to events -o events.csv",
    "export --to jobs -o jobs.csv",
    "export --to batsim -o runs.csv",
    "export --to chrome -o run.json",
    "view -o page.html",
    "trace --job application",
    "why 9",
    "audit",
)


def read(command: str, path: Path | str) -> list[str]:
    """The command's words, the log in its place."""
    first, *words = command.split()
    return [first, str(path), *words]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_log_that_is_not_there_is_refused_in_one_line(shell: Shell, command: str) -> None:
    assert shell.refused(*read(command, "none.jsonl")).startswith("holdfast: none.jsonl: ")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("name", "content", "problem"), listed(__file__, "no_log"))
def test_what_is_no_log_is_refused_in_one_line(
    shell: Shell, command: str, name: str, content: str, problem: str
) -> None:
    Path(name).write_bytes(content.encode("latin-1"))
    line = shell.refused(*read(command, name))
    assert line.startswith(f"holdfast: {name}: ")
    assert problem in line


@pytest.mark.parametrize("command", COMMANDS)
def test_a_version_that_is_not_known_is_refused_by_name(
    shell: Shell, log: Path, command: str
) -> None:
    """Whatever else that version may have changed."""
    lines = log.read_text().splitlines()
    first = {"event": "ScenarioStarted", "seq": 0, "t": 0, "schema": 99}
    log.write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n")
    line = shell.refused(*read(command, log))
    assert "line 1: schema: 99 is another version's format; run the scenario again" in line
    assert line.endswith(f"accepted: {SCHEMA}")


@pytest.mark.parametrize(("fields", "problem"), listed(__file__, "spoilt"))
def test_a_spoilt_line_in_the_middle_is_refused_with_its_number(
    shell: Shell, log: Path, fields: str, problem: str
) -> None:
    change(log, CHANGED, **json.loads(fields))
    line = shell.refused("summary", log)
    assert f"holdfast: run.jsonl: line {CHANGED}: {problem}" in line


def test_a_log_whose_scenario_is_none_is_refused_in_one_line(shell: Shell, log: Path) -> None:
    change(log, 1, text="name = 1")
    assert "the log's first line: name: 1 is not accepted" in shell.refused("summary", log)


def test_a_log_without_its_beginning_is_refused(shell: Shell, log: Path) -> None:
    lines = log.read_text().splitlines()
    log.write_text("\n".join(lines[1:]) + "\n")
    assert "the first record is ChainsBelieved" in shell.refused("summary", log)


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_a_log_whose_last_line_is_cut_is_read_up_to_it(
    shell: Shell, log: Path, kept: float
) -> None:
    content = log.read_bytes()
    end = content.index(b"\n", int(kept * len(content)))
    whole = content[:end].count(b"\n") + 1
    log.write_bytes(content[: end + 10])
    said = shell("summary", log, "--json")
    assert said.code == 0
    assert said.err == f"holdfast: run.jsonl: the last line is cut; read up to event {whole - 1}\n"
    told = said.json()
    assert (told["end"], told["completed"], told["makespan"]) == (None, False, None)
    assert told["events"] == whole
    assert "interrupted" in shell("summary", log).out


@pytest.mark.parametrize("command", EVERY)
def test_every_command_warns_of_a_log_that_stops_between_two_lines_and_of_no_other(
    shell: Shell, log: Path, command: str
) -> None:
    said = shell(*read(command, log))
    assert (said.code, said.err) == (0, "")
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:-5]))
    said = shell(*read(command, log))
    assert said.code == (4 if command == "audit" else 0)
    note = f"the log stops early; read up to event {len(lines) - 6}"
    assert said.err == f"holdfast: run.jsonl: {note}\n"


def test_a_job_that_is_not_in_the_log_is_refused_with_those_that_are(
    shell: Shell, log: Path
) -> None:
    assert shell.refused("trace", log, "--job", "nobody") == (
        "holdfast: run.jsonl: JOB: there is no job 'nobody' in this log; accepted: application"
    )


# --- summary -----------------------------------------------------------------------------------


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


def test_tables_of_jobs_and_classes_have_the_units_of_their_numbers(shell: Shell) -> None:
    """The ledger above is in hours where the log is long."""
    shell("run", shell.write(FEW), "--log", "few.jsonl")
    said = shell("summary", "few.jsonl", "--by", "job").out
    assert "ledger      processor-hours" in said
    assert re.search(r"^processors x s +useful", said, re.MULTILINE)
    assert " wait, s " in shell("summary", "few.jsonl", "--by", "size").out


FAR = (
    "the mean wait is 31.5 s recorded, 5 s simulated: compare nothing before the scenario is nearer"
)


@pytest.mark.parametrize(("waited", "warnings"), [(60, [f"  warning     {FAR}"]), (7, [])])
def test_a_replayed_log_shows_its_own_waits_and_warns_where_they_are_far(
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
    doubted = waited == 7  # two processors are in use at once then, and there is one
    assert shell("audit", "own.jsonl").out == f"{15 + doubted} events: every law holds\n"


def test_recorded_waits_are_set_beside_the_simulated_ones_of_the_same_jobs(shell: Shell) -> None:
    """On one processor J1 waits 10 s and J2 20 s; recorded is J2's wait only, as 25 s."""
    rows = (
        f"{k} 0 {w} 10 1 -1 -1 1 10 -1 1 1 1 -1 1 -1 -1 -1\n" for k, w in enumerate((-1, -1, 25))
    )
    Path("own.swf").write_text("".join(rows))
    job = '[job]\nkind = "rigid"\nswf = {file = "own.swf"}\n'
    text = f'name = "own"\n[platform]\nworkers = 1\n{job}[policy]\nname = "EASY"\n'
    shell("run", shell.write(text), "--log", "own.jsonl")
    said = shell("summary", "own.jsonl").out
    assert "wait        mean 10 s, median 10 s" in said
    assert "recorded  known of 1 job, mean 25 s, median 25 s" in said
    assert "recorded  slowdown: known of 1 job, mean 3.5," in said
    assert "warning" not in said
    Path("own.swf").write_text(Path("own.swf").read_text().replace("2 0 25", "2 0 4"))
    shell("run", "tiny.toml", "--log", "less.jsonl")
    assert "wait is 4 s recorded, 20 s simulated" in shell("summary", "less.jsonl").out


def test_a_summary_says_where_waits_are_of_completed_jobs_and_lost_has_unfinished_ones(
    shell: Shell,
) -> None:
    """J2 has waited 300 s, and is under way at the end."""
    jobs = "jobs = [{ processors = 4, time = 300 }, { processors = 4, time = 300 }]"
    text = f'name = "cut"\nplatform = {{ workers = 4 }}\njob = {{ kind = "rigid", {jobs} }}\n'
    path = shell.write(text, "cut.toml")
    shell("run", path, "--until", "400", "--log", "cut.jsonl")
    said = shell("summary", "cut.jsonl").out
    assert "wait        of completed jobs, mean 0 s, median" in said
    assert "25.0% lost\n    lost      with what 1 unfinished job had computed at the end\n" in said
    shell("run", path, "--log", "whole.jsonl")
    said = shell("summary", "whole.jsonl").out
    assert "wait        mean 150 s, median" in said and "unfinished" not in said


def test_a_user_named_unknown_is_in_one_class_with_jobs_that_name_none(shell: Shell) -> None:
    jobs = "{ processors = 1, time = 9, user = 'unknown' }, { processors = 1, time = 9 }"
    text = (
        f'name = "who"\nplatform = {{ workers = 1 }}\njob = {{ kind = "rigid", jobs = [{jobs}] }}\n'
    )
    shell("run", shell.write(text), "--log", "who.jsonl")
    row = shell("summary", "who.jsonl", "--by", "user").out.splitlines()[-1].split()
    assert row[:3] == ["unknown", "2", "4.5"]


RECLAIMED = """\
name = "reclaimed"
workers = [{ availability = "uurrrruuuuuu" }, {}]
job = { kind = "rigid", jobs = [{ processors = 2, time = 6 }] }
"""


def test_utilisation_leaves_out_what_jobs_held_while_it_was_not_up_and_says_so(
    shell: Shell,
) -> None:
    """Both workers are held for 10, of which one is RECLAIMED for 4 and the other waits."""
    shell("run", shell.write(RECLAIMED), "--log", "run.jsonl")
    said = shell("summary", "run.jsonl").out
    assert "  utilisation 80.0% held and UP, of which 0.0% wasted" in said
    assert "machine-hours, 20.0% waiting, 20.0% reclaimed" in said
