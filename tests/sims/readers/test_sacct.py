"""`sacct -P`: attempts that ran are read, all else is counted, clocks that jump cost none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sims.cli import main
from sims.errors import InputError
from sims.readers import JobLog
from sims.readers.sacct import XDMOD, read_sacct
from tests.sims.cli.commands import Shell

HEADER = (
    "JobID|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS"
    "|AllocCPUS|AllocTRES|State"
)
DAY = "2024-05-01T"


def line(
    job: str = "7",
    times: tuple[str, str, str, str] = ("10:00:00", "10:00:00", "10:10:00", "11:10:00"),
    day: str = DAY,
    **cells: str,
) -> str:
    """A line of a job that asked for an hour of 4 processors and used it, but for `cells`."""
    names = HEADER.split("|")
    usual = ["ann", "phys", "batch", "3600", "60", "4", "4", "cpu=4,mem=8G", "COMPLETED"]
    others = [name for name in names[1:] if name not in ("Submit", "Eligible", "Start", "End")]
    told = dict(zip(others, usual, strict=True)) | {"JobID": job}
    when = [time if time in ("None", "Unknown") else day + time for time in times]
    told |= dict(zip(("Submit", "Eligible", "Start", "End"), when, strict=True))
    return "|".join((told | cells)[name] for name in names)


def read(tmp_path: Path, *lines: str, header: str = HEADER, **options: object) -> JobLog:
    path = tmp_path / "jobs.txt"
    path.write_text("\n".join((header, *lines)) + "\n")
    return read_sacct(path, **options)  # type: ignore[arg-type]


def test_a_job_is_released_when_eligible_and_runs_as_long_as_it_computed(tmp_path: Path) -> None:
    times = ("10:00:00", "10:05:00", "10:10:00", "11:30:00")
    (job,) = read(tmp_path, line(times=times, ElapsedRaw="1800")).jobs
    assert (job.name, job.submitted, job.wait, job.run) == ("J7", 0, 300, 1800)
    assert (job.processors, job.estimate, job.status) == (4, 3600, "completed")
    assert (job.user, job.group, job.queue) == ("ann", "phys", "batch")


def test_columns_are_found_by_name_in_any_order_and_case(tmp_path: Path) -> None:
    header = "state|alloccpus|elapsedraw|start|submit|jobid|"
    (job,) = read(tmp_path, f"FAILED|2|60|{DAY}10:01:00|{DAY}10:00:00|9|", header=header).jobs
    assert (job.name, job.wait, job.run, job.processors, job.status) == ("J9", 60, 60, 2, "failed")
    assert job.estimate is None


def test_steps_and_jobs_that_never_ran_are_left_out_and_counted(tmp_path: Path) -> None:
    never = ("10:00:00", "10:00:00", "None", "12:00:00")
    waits = ("10:00:00", "10:00:00", "Unknown", "Unknown")
    log = read(
        tmp_path,
        *(line(), line("7.batch"), line("7.0")),
        line("8", never, State="CANCELLED by 12", ElapsedRaw="0"),
        line("9_[1-3,7,20-24:2%4]", waits, State="PENDING", ElapsedRaw="0"),
    )
    assert [job.name for job in log.jobs] == ["J7"]
    assert log.left_out == {
        "steps of jobs": 2,
        "never started": 1,
        "still waiting when the log ends": 7,
    }


def test_each_attempt_of_a_requeued_job_is_a_job_and_a_line_logged_twice_is_one(
    tmp_path: Path,
) -> None:
    first, second = (
        line(State="NODE_FAIL"),
        line(times=("11:10:00",) * 2 + ("11:12:00", "12:12:00")),
    )
    log = read(tmp_path, first, second, second)
    assert [(job.name, job.submitted, job.status) for job in log.jobs] == [
        ("J7", 0, "failed"),
        ("J7.2", 4200, "completed"),
    ]


def test_components_of_a_heterogeneous_job_run_as_one(tmp_path: Path) -> None:
    (job,) = read(tmp_path, line("7+0"), line("7+1", AllocCPUS="12")).jobs
    assert (job.name, job.processors) == ("J7", 16)


def test_a_state_may_be_cut_and_one_that_slurm_does_not_have_is_counted(tmp_path: Path) -> None:
    states = ("CANCELLED by 7", "CANCELLED+", "OUT_OF_ME+", "WEIRD")
    log = read(tmp_path, *(line(str(k), State=state) for k, state in enumerate(states)))
    assert [job.status for job in log.jobs] == ["cancelled", "cancelled", "failed", "failed"]
    assert log.changed == {"its state is none of Slurm's: it counts as failed": 1}


def test_a_limit_may_be_missing_unlimited_or_the_partitions(tmp_path: Path) -> None:
    log = read(
        tmp_path,
        line("1", TimelimitRaw=""),
        line("2", TimelimitRaw="UNLIMITED"),
        line("3", TimelimitRaw="Partition_Limit"),
        limit=7200,
    )
    assert [job.estimate for job in log.jobs] == [None, 365 * 86_400, 7200]
    with pytest.raises(InputError, match=r"line 2: TimelimitRaw.*`partition_limit`"):
        read(tmp_path, line(TimelimitRaw="Partition_Limit"))


def test_a_job_that_still_runs_is_taken_to_run_to_its_limit(tmp_path: Path) -> None:
    times = ("10:00:00", "10:00:00", "10:10:00", "Unknown")
    log = read(tmp_path, line(times=times, State="RUNNING", ElapsedRaw="600"))
    assert log.jobs[0].run == 3600
    assert log.changed == {"still running when the log ends: runs to its limit": 1}


def test_a_job_without_a_limit_that_still_runs_is_not_replayed_for_a_year(
    tmp_path: Path,
) -> None:
    times = ("10:00:00", "10:00:00", "10:10:00", "Unknown")
    log = read(
        tmp_path, line(times=times, State="RUNNING", ElapsedRaw="600", TimelimitRaw="UNLIMITED")
    )
    assert (log.jobs[0].run, log.jobs[0].estimate) == (600, 365 * 86_400)
    assert log.changed == {
        "no limit: reservations count a year": 1,
        "still running when the log ends: runs as long as it has run, without a limit": 1,
    }


def test_a_bar_in_free_text_shifts_no_column_that_is_read(shell: Shell) -> None:
    """Behind all others it does no harm; before `State` it would make a job a failed one."""
    text = '{ file = "jobs.txt" }\n[platform]\nworkers = 8\n[policy]\nname = "EASY"\n'
    shell.write(f'name = "bar"\n[job]\nkind = "rigid"\nsacct = {text}', "bar.toml")
    columns, cells = (
        "JobID|Submit|Start|ElapsedRaw|AllocCPUS",
        f"7|{DAY}10:00:00|{DAY}10:10:00|60|4",
    )
    shell.write(f"{columns}|State|JobName\n{cells}|COMPLETED|a|b|c\n", "jobs.txt")
    assert "jobs        1\n" in shell("check", "bar.toml").out
    shell.write(f"{columns}|JobName|State|User\n{cells}|a|b|COMPLETED|ann\n", "jobs.txt")
    assert "jobs.txt: line 2: 1 cell too many" in shell.refused("check", "bar.toml")


def test_gpus_are_reported_as_left_out(tmp_path: Path) -> None:
    log = read(tmp_path, line(AllocTRES="billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2"))
    assert list(log.changed.values()) == [1]
    assert "GPUs" in next(iter(log.changed))


@pytest.mark.parametrize(
    ("cell", "counted"),
    [("4000M", 1), ("2.5Gc", 1), ("16Gn", 1), ("0", 0), ("0n", 0), ("", 0), ("?", 0)],
)
def test_requested_memory_is_counted_as_left_out(tmp_path: Path, cell: str, counted: int) -> None:
    log = read(tmp_path, f"{line()}|{cell}", header=f"{HEADER}|ReqMem")
    assert sum(n for how, n in log.changed.items() if "memory" in how) == counted


def test_an_hour_that_summer_times_end_repeats_is_reported_by_what_was_computed(
    tmp_path: Path,
) -> None:
    night = "2024-10-27T"
    jobs = [
        line("1", ("01:50:00", "01:50:00", "02:30:00", "02:40:00"), night, ElapsedRaw="4200"),
        line("2", ("02:10:00", "02:10:00", "02:20:00", "03:20:00"), night, ElapsedRaw="3600"),
    ]
    summer, winter = read(tmp_path, *jobs, timezone="Europe/Paris").jobs
    assert (summer.submitted, summer.wait, summer.run) == (0, 2400, 4200)
    # From 02:10 on, of winter time: an hour later than the clock says.
    assert (winter.submitted, winter.wait) == (4800, 600)


@pytest.mark.parametrize(
    ("lines", "options", "said"),
    [
        ((line(AllocCPUS="many"),), {}, "line 2: AllocCPUS: 'many'"),
        ((line(AllocCPUS="²"),), {}, "line 2: AllocCPUS"),
        ((line(times=("10:00", "soon", "10:10:00", "11:10:00")),), {}, "line 2: Eligible: "),
        ((line(times=("12:00:00",) * 2 + ("10:10:00", "11:10:00")),), {}, "`timezone`"),
        ((line(times=("None",) * 2 + ("10:10:00", "11:10:00")),), {}, "line 2: Submit: 'None'"),
        (("7|ann",), {}, "line 2: .*missing"),
        (("7.0" + "|" * 13,), {}, "no job that has started"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(
    lines: tuple[str, ...], options: dict[str, object], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, *lines, **options)


def test_a_header_that_lacks_columns_gets_the_command_that_has_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no column ElapsedRaw, State.*sacct -P -o JobIDRaw"):
        read(tmp_path, header="JobID|Submit|Start|AllocCPUS")


def test_an_unknown_time_zone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'Mars' is no time zone"):
        read(tmp_path, line(), timezone="Mars")


# --- lines and columns that differ from what the guide asks for -----------------------------------

REPORTS = Path(__file__).parents[2] / "data" / "reports"


def report(name: str, **options: object) -> JobLog:
    return read_sacct(REPORTS / f"sacct-{name}.txt", **options)  # type: ignore[arg-type]


def test_elapsed_and_ncpus_tell_what_elapsedraw_and_alloccpus_do() -> None:
    log = report("B")
    assert [(job.name, job.run, job.processors) for job in log.jobs] == [("J12", 1232, 1)]
    assert log.left_out == {"steps of jobs": 1, "never started": 1}
    first = report("C").jobs[0]
    assert (first.run, first.processors, first.group) == (177_896, 8, "group1")


def test_without_a_column_of_elapsed_time_cputimeraw_is_divided_by_the_processors(
    tmp_path: Path,
) -> None:
    header = "JobID|Submit|Start|CPUTimeRAW|NCPUS|State"
    times = f"{DAY}10:00:00|{DAY}10:01:00"
    (job,) = read(tmp_path, f"9|{times}|480|4|COMPLETED", header=header).jobs
    assert (job.run, job.processors) == (120, 4)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("2-01:24:56", 177_896), ("01:09:48", 4188), ("09:48", 588), ("1-12", 129_600)),
        *(("1-00:30", 88_200), ("30", 1800), ("UNLIMITED", 365 * 86_400)),
    ],
)
def test_a_time_limit_may_be_written_as_a_time_span(
    text: str, seconds: float, tmp_path: Path
) -> None:
    header = HEADER.replace("TimelimitRaw", "Timelimit")
    (job,) = read(tmp_path, line(TimelimitRaw=text), header=header).jobs
    assert job.estimate == seconds


def test_more_processors_than_a_job_requested_are_counted(tmp_path: Path) -> None:
    log = read(tmp_path, line("1"), line("2", ReqCPUS="2"))
    assert [job.processors for job in log.jobs] == [4, 4]
    assert log.changed == {"has more processors than it requested: those it has count": 1}


def test_whole_numbers_may_be_written_with_a_point(tmp_path: Path) -> None:
    (job,) = read(tmp_path, line(AllocCPUS="4.0", ElapsedRaw="3600.00")).jobs
    assert (job.processors, job.run) == (4, 3600)


def test_attempts_ids_used_again_and_what_still_waits_are_told_apart() -> None:
    log = report("E")
    assert sum(job.run * job.processors for job in log.jobs) == 70_637
    waits = [job.wait for job in log.jobs if job.wait is not None]
    assert round(sum(waits) / len(waits), 3) == 184.222
    assert log.left_out["still waiting when the log ends"] == 15
    assert log.changed["requeued: each attempt is a job of its own"] == 1
    assert log.changed["id used again by another job: a job of its own"] == 1
    twelve = [job for job in log.jobs if job.name.startswith("J12")]
    assert [(job.user, job.processors) for job in twelve] == [("u6", 1), ("u7", 3)]


def test_a_heterogeneous_job_that_never_started_counts_once(tmp_path: Path) -> None:
    never = ("10:00:00", "10:00:00", "None", "12:00:00")
    cells = {"State": "CANCELLED", "ElapsedRaw": "0"}
    log = read(tmp_path, line(), line("8+0", never, **cells), line("8+1", never, **cells))
    assert log.left_out == {"never started": 1}


def test_a_job_eligible_after_its_start_is_counted_and_the_others_are_read() -> None:
    log = report("G", timezone="Europe/Paris")
    assert [job.name for job in log.jobs] == ["J1"]
    assert log.left_out == {"Eligible is after Start (first: line 3)": 1}


def test_files_that_were_joined_with_their_headers_are_read() -> None:
    log = report("H", timezone="Europe/Paris")
    assert [job.name for job in log.jobs] == ["J1", "J3"]
    assert log.left_out == {"headers of further files": 1}


def test_a_further_header_may_have_its_columns_in_another_order(tmp_path: Path) -> None:
    other = "State|JobID|AllocCPUS|ElapsedRaw|Submit|Start"
    second = f"FAILED|8|2|60|{DAY}10:00:00|{DAY}10:00:00"
    log = read(tmp_path, line(), other, second)
    assert [(job.name, job.processors, job.run) for job in log.jobs] == [
        ("J7", 4, 3600),
        ("J8", 2, 60),
    ]


def test_a_line_that_cannot_be_read_is_left_out_and_more_than_a_tenth_refuse_the_file(
    tmp_path: Path,
) -> None:
    good = [line(str(k)) for k in range(1, 19)]
    bad = line("99", AllocCPUS="many")
    log = read(tmp_path, *good, bad, "100|ann")
    assert len(log.jobs) == 18
    assert log.left_out == {
        "AllocCPUS cannot be read (first: line 20)": 1,
        "cells are missing (first: line 21)": 1,
    }
    with pytest.raises(InputError, match=r"line 20: AllocCPUS: 'many' \(3 of 21 lines"):
        read(tmp_path, *good, bad, bad, bad)


XDMOD_LINE = (
    "7|7|hpc|batch|normal|phys|users|100|ann|1000|{day}10:00:00|{day}10:05:00|{day}10:10:00"
    "|{day}11:10:00|01:00:00|0:0|COMPLETED|1|4|4|4Gn||cpu=4|02:00:00|n1|a | name"
)


@pytest.mark.parametrize("named", ["list", "XDMoD"])
def test_a_dump_without_a_header_is_read_by_the_names_of_its_columns(
    named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [XDMOD_LINE.format(day=DAY)]
    scenario = tmp_path / "dump.toml"
    columns = list(XDMOD) if named == "list" else named
    sacct = f'file = "dump.txt"\ncolumns = {json.dumps(columns)}'
    (tmp_path / "dump.txt").write_text("\n".join(lines))
    scenario.write_text(
        'name = "dump"\nplatform.workers = 8\npolicy.name = "EASY"\n'
        f'[job]\nkind = "rigid"\n[job.sacct]\n{sacct}\n'
    )
    assert main(["run", str(scenario), "--log", "none", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["makespan"] == 3600


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEADER.replace("|", ","), "divided by commas.*`sacct -P`.*without --delimiter"),
        (HEADER.replace("|", ";"), "divided by semicolons.*`sacct -P`"),
        ("JobID    State  Elapsed\n-------- ------ --------", "fixed width.*`sacct -P`"),
        (line(), "no header.*`columns ="),
    ],
)
def test_other_forms_are_refused_by_name_with_what_to_do(
    text: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "jobs.txt").write_text(text)
    with pytest.raises(InputError, match=said):
        read_sacct(tmp_path / "jobs.txt")
