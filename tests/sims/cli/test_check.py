"""`holdfast check`: what it says of a scenario before it is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.case_files import listed
from tests.sims.cli.commands import Shell

OUTAGES = "worker,start,end,state\na,50,60,{state}\na,90,100,{state}\nb,10,20,{state}\n"
JOB = """
name = "checked"
unit = "s"

[job]
kind = "rigid"
jobs = [{ processors = 1, time = 30 }]
"""
LISTED = """
[[workers]]
availability = { kind = "csv", file = "nodes.csv", worker = "a", after = "up" }
"""


@pytest.mark.parametrize("state", ["DOWN", "r"])
def test_a_list_of_outages_alone_is_refused_until_gap_says_what_is_between(
    shell: Shell, state: str
) -> None:
    Path("nodes.csv").write_text(OUTAGES.format(state=state))
    file = shell.write(JOB + LISTED)
    for command in ("check", "run"):
        line = shell.refused(command, file)
        assert "nodes.csv: gap: missing: all that it lists is " in line
        assert 'gap = "u" (the file lists outages: UP between them)' in line
        assert 'gap = "d" (what it does not list is DOWN: never UP)' in line
    told = shell.told("run", file, "--set", 'workers.0.availability.gap="u"', "--log", "none")
    assert told["makespan"] == 30


def test_a_worker_with_outages_only_is_refused_in_a_file_that_has_others_up(shell: Shell) -> None:
    """The node is one of a file of failures, in which another one was seen UP."""
    Path("nodes.csv").write_text("a,50,60,DOWN\nb,0,100,UP\n")
    line = shell.refused("check", shell.write(JOB + LISTED))
    assert "nodes.csv: gap: missing: all that it lists of a is DOWN, and" in line
    Path("event.tab").write_text("1 1 7 0 n7 0 1000 1010 x\n2 1 8 0 n8 1 1000 1060 -\n")
    trace = 'kind = "fta", file = "event.tab", node = 7, after = "up"'
    line = shell.refused("check", shell.write(f"{JOB}[[workers]]\navailability = {{ {trace} }}\n"))
    assert "states.gap: missing: all that it lists of node 0/7 is DOWN, and" in line


def test_where_some_interval_is_up_gaps_are_down_without_a_word(shell: Shell) -> None:
    Path("nodes.csv").write_text("a,50,100,UP\n")
    told = shell.told("run", shell.write(JOB + LISTED), "--log", "none")
    assert told["makespan"] == 80


def test_times_away_that_fall_between_the_starts_of_slots_are_told(shell: Shell) -> None:
    """Of slots of 60 s, the second starts within [100, 130), none within [130, 170)."""
    Path("nodes.csv").write_text("a,0,100,UP\na,100,130,DOWN\na,130,170,r\na,170,600,UP\n")
    job = 'name = "short"\n[job]\nkind = "iterative"\ntasks = 1\niterations = 1\n'
    owner = 'kind = "csv", file = "nodes.csv", worker = "a", slot = 60'
    text = f'{job}[policy]\nname = "IE"\n[[workers]]\navailability = {{ {owner} }}\n'
    said = shell("check", shell.write(text)).out
    what = "1 of 2 times at which the traces' workers are away begin and end between the starts of"
    assert (
        f"Warning: workers.availability.slot: {what} two slots of 60 s, and are left out." in said
    )
    assert (
        "left out" not in shell("check", "tiny.toml", "--set", "workers.0.availability.slot=10").out
    )


def test_a_log_of_failures_alone_is_refused_until_gap_says_what_is_between(shell: Shell) -> None:
    Path("event.tab").write_text("1 1 7 0 n7 0 1000 1010 hardware\n2 1 7 0 n7 0 1050 1060 net\n")
    trace = 'kind = "fta", file = "event.tab", node = 7, after = "up"'
    file = shell.write(f"{JOB}\n[[workers]]\navailability = {{ {trace} }}\n")
    line = shell.refused("check", file)
    assert 'states.gap = "u" (the file lists outages: UP between them)' in line
    file = shell.write(f'{JOB}\n[[workers]]\navailability = {{ {trace}, states.gap = "u" }}\n')
    assert shell.told("run", file, "--log", "none")["makespan"] == 40


# --- accounts of Slurm ----------------------------------------------------------------------------

HEADER = "JobID|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|AllocCPUS|State"
REPLAYED = """
name = "replayed"
platform.workers = 4
job.kind = "rigid"
job.sacct.file = "jobs.txt"
"""


def account(*rows: str, header: str = HEADER) -> None:
    """Write jobs.txt: of each row the job's id, hour of May 1, seconds and processors."""
    lines = []
    for row in rows:
        job, hour, seconds, size = row.split()
        then = f"2024-05-01T{hour}:00:00"
        lines.append(f"{job}|{then}|{then}|{then}|Unknown|{seconds}|60|{size}|COMPLETED")
    Path("jobs.txt").write_text("\n".join((header, *lines)) + "\n")


def test_attempts_of_a_requeued_job_can_be_drawn_again(shell: Shell) -> None:
    account("8 00 60 1", "8 01 60 1", "8 02 60 1", "9 12 60 1")
    drawn = ("--set", "job.resample.blocks=4", "--set", 'job.resample.length="6 h"')
    told = shell.told("run", shell.write(REPLAYED), *drawn, "--log", "run.jsonl")
    assert told["jobs"] > 4


@pytest.mark.parametrize("word", ["Eligibel", "ELIGBLE", "Timelimitraws", "Pratition"])
def test_a_misspelt_column_is_refused_with_the_one_that_is_meant(shell: Shell, word: str) -> None:
    meant = {"E": "Eligible", "T": "TimelimitRaw", "P": "Partition"}[word[0]]
    account("8 00 60 1", header=HEADER.replace(meant, word))
    if word == "Pratition":
        account("8 00 60 1", header=f"{HEADER}|{word}")
    line = shell.refused("check", shell.write(REPLAYED))
    assert f"jobs.txt: line 1: unknown column {word!r} (did you mean {meant}?)" in line


def test_a_column_that_is_missing_is_reported_with_what_is_assumed(shell: Shell) -> None:
    header = HEADER.replace("Eligible", "Comment").replace("TimelimitRaw", "ReqMem")
    account("8 00 60 1", "9 00 60 1", header=header)
    said = shell("check", shell.write(REPLAYED)).out
    assert (
        "  changed     2: no column Eligible: submitted, and its wait counted, from Submit" in said
    )
    assert "  changed     2: no column TimelimitRaw or Timelimit: it has no estimate" in said


def test_checking_shows_the_jobs_that_a_run_leaves_out_and_why(shell: Shell) -> None:
    account("8 00 60 1", "8.batch 00 60 1", "9 00 60 16", "10 00 60 5")
    file = shell.write(REPLAYED)
    said, told = shell("check", file).out, shell.told("check", file)
    assert "  jobs        1\n" in said
    assert "  left out    1: steps of jobs\n" in said
    assert "  left out    2: needs more than the platform's 4 workers\n" in said
    run = shell.told("run", file, "--log", "none")
    assert told == {key: run[key] for key in ("jobs", "left_out", "doubtful")}


# --- settings without effect, and costs that one side pays ----------------------------------------

FAILING = """
name = "failing"
platform.workers = 4
master.channels = 1

[faults]
kind = "list"
downtime = 0
strikes = [[50, 0]]

[job]
kind = "rigid"
jobs = [{ processors = 1, time = 100 }]

[protection]
kind = "images"
period = 20
cost = 1
recovery = 300
"""
UNLINKED = FAILING.replace("master.channels = 1\n", "")


@pytest.mark.parametrize(("old", "new", "key", "why"), listed(__file__, "idle"))
def test_each_setting_without_effect_is_named_with_the_reason(
    shell: Shell, old: str, new: str, key: str, why: str
) -> None:
    text = UNLINKED.replace(old, new) if old else f"{UNLINKED}\n{new}\n"
    file = shell.write(text)
    assert f"No effect: {key}: {why}" in shell("check", file).out


def test_a_scenario_whose_settings_all_have_an_effect_gets_no_such_line(shell: Shell) -> None:
    assert "No effect" not in shell("check", shell.write(UNLINKED)).out
    preempting = shell("check", shell.write(UNLINKED), "--set", "policy.preemption=true")
    assert (preempting.code, "No effect" in preempting.out) == (0, False)
    linked = FAILING.replace("cost = 1\nrecovery = 300\n", "")
    linked = linked.replace("master.channels = 1", "master = { channels = 1, image = 3, data = 1 }")
    said = shell("check", shell.write(linked)).out
    assert "No effect" not in said
    assert "Warning" not in said


def test_standbys_where_no_worker_goes_down_are_warned_of(shell: Shell) -> None:
    """They do have an effect: they hold workers."""
    file, told = shell.write(UNLINKED), "Warning: job.jobs.0.standbys: no worker ever goes DOWN: "
    keys = "--set", "job.jobs.0.standbys=1"
    assert told in shell("check", file, *keys, "--set", "faults=none").out
    assert told not in shell("check", file, *keys).out


def test_a_recovery_that_only_saved_work_pays_is_warned_of(shell: Shell) -> None:
    """The issue's figures: one fault at 50 of a work of 100."""
    file = shell.write(UNLINKED)
    often, seldom = (
        shell.told("run", file, "--set", f"protection.period={period}", "--log", "none")
        for period in (20, 60)
    )
    assert (often["makespan"], seldom["makespan"]) == (412, 151)
    free = "a run that starts from scratch pays nothing"
    told = "Warning: protection.recovery: a run that continues from a checkpoint pays 300, and "
    assert told + free in shell("check", file).out
    unprotected = shell("check", file, "--set", "protection.kind=none").out
    assert f"Warning: protection.recovery: under kind none {free}" in unprotected
    for even in ("protection.kind=buddies", "protection.recovery=0", "faults={kind='none'}"):
        assert free not in shell("check", file, "--set", even).out


def test_a_start_up_of_each_job_makes_starts_from_scratch_cost_something(shell: Shell) -> None:
    free, file = "a run that starts from scratch pays nothing", shell.write(UNLINKED)
    for key in ("job.startup=300", "job.jobs.0.startup=300"):
        assert free not in shell("check", file, "--set", key).out
    without = ("--set", "job.startup=300", "--set", "job.jobs.0.startup=0")
    assert free in shell("check", file, *without).out


def test_a_checkpoint_that_is_loaded_from_storage_is_a_cost_that_scratch_has_not(
    shell: Shell,
) -> None:
    kept = 'protection={kind="images",period=20,bytes=50}'
    words = ("--set", "storage={bandwidth=1}", "--set", kept)
    told = shell("check", shell.write(UNLINKED), *words).out
    free = "a run that starts from scratch pays nothing"
    text = "protection.bytes: a run that continues from a checkpoint loads 50 bytes, and"
    assert f"Warning: {text} {free}" in told


def test_a_detection_that_outlasts_the_downtime_is_warned_of(shell: Shell) -> None:
    text = UNLINKED.replace("downtime = 0", 'downtime = 60\ndetection = "10 min"')
    told = "Warning: faults.detection: a fault is known as soon as its worker is UP again, after "
    assert f"{told}downtime = 60; 600 is longer" in shell("check", shell.write(text)).out


def test_spares_that_replace_nobody_are_warned_of(shell: Shell) -> None:
    file = shell.write(UNLINKED)
    told = "Warning: platform.spares: no job runs on them"
    assert told in shell("check", file, "--set", "platform.spares=1").out
    kept = ("--set", "protection.kind=buddies", "--set", "protection.replace_after=5")
    assert told not in shell("check", file, "--set", "platform.spares=1", *kept).out
