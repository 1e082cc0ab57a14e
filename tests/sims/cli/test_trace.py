"""`holdfast trace`: the life of one job, for people and as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.sims.cli.commands import FEW, Shell


def spans(span: dict[str, Any]) -> list[dict[str, Any]]:
    """The span and all within it."""
    return [span, *(it for child in span["children"] for it in spans(child))]


def test_json_and_text_tell_the_same_spans_of_the_whole_run_and_their_causes(
    shell: Shell, log: Path
) -> None:
    events = [json.loads(line) for line in log.read_text().splitlines()]
    told = shell.told("trace", log, "--job", "application")
    assert (told["start"], told["end"]) == (0, events[-1]["t"])
    parts = [child["title"] for child in told["children"]]
    assert parts[:3] == ["iteration 0", "iteration 1", "iteration 2"]
    lines = shell("trace", log, "--job", "application").out.splitlines()
    for line, span in zip(lines, spans(told), strict=False):
        assert span["title"] in line
        assert events[span["seq"]]["t"] == span["start"]
        if span["cause"] is not None:
            assert f"(#{span['seq']} because of #{span['cause']})" in line
            assert events[span["cause"]]["t"] <= span["start"]


def test_a_cut_log_shows_as_much_as_there_is(shell: Shell, log: Path) -> None:
    content = log.read_bytes()
    log.write_bytes(content[: content.rindex(b"\n", 0, -700) + 20])
    said = shell("trace", log, "--job", "application")
    assert said.code == 0
    assert "the last line is cut" in said.err
    assert "to ?" in said.out.splitlines()[0]


def test_the_job_may_be_named_with_or_without_the_option(shell: Shell, log: Path) -> None:
    assert shell("trace", log, "application").out == shell("trace", log, "--job", "application").out
    assert shell.refused("trace", log) == (
        "holdfast: run.jsonl: NAME: missing; accepted: the name of one of its jobs, or actors"
    )


def test_a_job_is_found_by_its_number_too(shell: Shell) -> None:
    shell("run", shell.write(FEW), "--log", "b.jsonl")
    assert shell("trace", "b.jsonl", "2").out == shell("trace", "b.jsonl", "J2").out != ""
    assert shell("trace", "b.jsonl", "99").code == 2


CROWD = """\
name = "crowd"
platform.workers = 8
job.kind = "rigid"
job.jobs = [
  { processors = 1, time = 10 }, { processors = 1, time = 10 }, { processors = 1, time = 10 },
  { processors = 1, time = 10 }, { processors = 2, time = 10 },
  { processors = 8, time = 5, release = 1 }, { processors = 2, time = 2, release = 3 },
]
policy = { name = "EASY", order = "trace_own:come" }
"""


def test_under_an_order_of_ones_own_who_passed_did_so_by_it_or_by_backfilling(
    shell: Shell,
) -> None:
    """And of many who made room only some are named."""
    shell.write("def come(job, *_):\n    return -job.submitted\n", "trace_own.py")
    shell("run", shell.write(CROWD), "--log", "run.jsonl")
    out = shell("trace", "run.jsonl", "--job", "J6").out
    passed = "1 job that came later started first by the order trace_own:come or by backfilling"
    assert f"{passed}: J7 on 2 at 3 s" in out
    [freed] = [line for line in out.splitlines() if "possible now: " in line]
    assert "J5 (2 processors, 2 of them now its own), J1 (1 processor" in freed
    assert freed.endswith(" and 2 other runs (2) end; 8 are free, it takes 8")


STRUCK = """\
name = "struck"
platform.workers = 4
faults = { kind = "list", strikes = [[45.5, 3]], downtime = 2 }
job.kind = "rigid"
job.jobs = [
  { name = "sim", processors = 4, time = 150, estimate = 80 },
  { name = "next", processors = 4, time = 20, release = 1 },
]
protection = { kind = "buddies", period = 20, cost = 1, recovery = 5 }
policy.name = "EASY"
"""
"""sim is struck at 45.5, goes on at 47.5 on the workers that it has kept, and ends at 167.5."""


def test_who_holds_workers_over_several_runs_holds_them_without_a_gap(shell: Shell) -> None:
    shell("run", shell.write(STRUCK), "--log", "run.jsonl")
    (wait,) = shell.told("trace", "run.jsonl", "next")["waits"]
    [held] = wait["held"]
    assert (held["job"], held["since"], held["until"]) == ("sim", 0, 167.5)
    assert "held by sim (4 processors, 0 s to 167.5 s)" in shell("trace", "run.jsonl", "next").out
    [row] = shell.told("queue", "run.jsonl", "--at", "60")["running"]
    assert (row["job"], row["run"], row["since"], row["until"]) == ("sim", 1, 0, 167.5)


def test_a_promise_that_is_not_kept_says_why(shell: Shell) -> None:
    shell("run", shell.write(STRUCK), "--log", "run.jsonl")
    out = shell("trace", "run.jsonl", "next").out
    assert "promised its start for 80 s" in out
    why = "0 of 4 processors are free; sim holds 4 until 167.5 s (run 0 of sim was lost at 45.5 s)"
    [line] = [line for line in out.splitlines() if "not started, as was promised" in line]
    assert line.split(maxsplit=2)[:2] == ["80", "s"]
    assert why in line
    [promise] = shell.told("trace", "run.jsonl", "next")["waits"][0]["promises"]
    assert why in promise["broken"]


def test_a_run_that_outlives_its_estimate_is_named_where_it_breaks_a_promise(shell: Shell) -> None:
    shell("run", shell.write(STRUCK.replace("[45.5, 3]", "[900, 3]")), "--log", "run.jsonl")
    out = shell("trace", "run.jsonl", "next").out
    assert "sim holds 4 until 157 s (it was believed to end at 80 s)" in out


def test_a_promise_that_is_kept_breaks_nothing(shell: Shell) -> None:
    text = STRUCK.replace("[45.5, 3]", "[900, 3]").replace("estimate = 80", "estimate = 157")
    shell("run", shell.write(text), "--log", "run.jsonl")
    [promise] = shell.told("trace", "run.jsonl", "next")["waits"][0]["promises"]
    assert (promise["start"], promise["broken"]) == (157, None)


URGENT = """\
name = "urgent"
platform.workers = 4
job.kind = "rigid"
job.jobs = [
  { name = "sim", processors = 4, time = 100 },
  { name = "urgent", processors = 2, time = 20, release = 30, priority = 5 },
]
protection = { kind = "images", period = 20, cost = 1, recovery = 5 }
policy = { name = "EASY", order = "PRIORITY", preemption = true }
"""


def test_a_preempted_run_names_for_whom_it_made_way_and_why(shell: Shell) -> None:
    shell("run", shell.write(URGENT), "--log", "run.jsonl")
    out = shell("trace", "run.jsonl", "sim").out
    by = "preempted by urgent, which starts on 2 processors: the order PRIORITY puts it first"
    assert f"ended: cancelled, {by}" in out
    assert "4 of 4 processors are free, as it made way for urgent (2)" in out
    assert "others had them" not in out
    assert "earlier instant" not in out
    (wait,) = shell.told("trace", "run.jsonl", "sim")["waits"]
    assert (wait["preempted"], wait["missed"]) == ("urgent", [])
    [passed] = wait["passed"]
    assert passed["rule"] == "by the order PRIORITY"


def test_a_job_that_starts_beside_the_one_that_preempts_is_named_apart(shell: Shell) -> None:
    """Of sim's four workers urgent gets two, and small one of those that are left."""
    small = '  { name = "small", processors = 1, time = 9, release = 30, priority = 1 },'
    text = URGENT.replace("priority = 5 },", f"priority = 5 }},\n{small}")
    assert shell("run", shell.write(text), "--log", "run.jsonl").code == 0
    out = shell("trace", "run.jsonl", "sim").out
    assert "ended: cancelled, preempted by urgent, which starts on 2" in out
    assert "4 of 4 processors are free, as it made way for urgent (2); small (1) starts" in out


QUITTER = """\
from policies.interface import Decision


def quitter(view):
    if view.now != 30:
        return Decision(starts=view.queue)
    if view.free == 1:
        return Decision(cancels=view.running)
    return Decision(starts=[it for it in view.queue if it.processors == 1], wake=31)
"""


def test_of_a_run_that_a_users_strategy_cancels_the_trace_does_not_say_for_whom(
    shell: Shell,
) -> None:
    """One processor is free, on which small could start without it."""
    text = URGENT.replace('"EASY", order = "PRIORITY", preemption = true', '"quitting:quitter"')
    text = text.replace("processors = 4, time", "processors = 3, time")
    text = text.replace("processors = 2, time = 20", "processors = 1, time = 20")
    shell.write(QUITTER, "quitting.py")
    assert shell("run", shell.write(text), "--log", "run.jsonl").code == 0
    out = shell("trace", "run.jsonl", "sim").out
    [line] = [it for it in out.splitlines() if "ended: cancelled" in it]
    assert line.endswith("ended: cancelled  (#12 because of #9)")
    assert "as it made way" not in out
    assert shell.told("trace", "run.jsonl", "sim")["waits"][0]["preempted"] is None
    assert "makes way" not in shell("trace", "run.jsonl", "urgent").out


def test_a_copy_that_is_withdrawn_names_the_copy_that_completed(shell: Shell) -> None:
    """Run 0 stands still from 4 to 6, as its worker is RECLAIMED: run 1 completes before it."""
    text = """\
name = "copied"
workers = [{ availability = "uuuurruuuuuuuuuuuu" }, {}]
policy.name = "EASY"
protection.copies = 2
[job]
kind = "rigid"
jobs = [{ processors = 1, time = 10 }]
"""
    assert shell("run", shell.write(text), "--log", "run.jsonl").code == 0
    told = shell("trace", "run.jsonl", "J1").out
    (withdrawn,) = (line for line in told.splitlines() if "cancelled" in line)
    assert "ended: cancelled: run 1, another copy, completed" in withdrawn


def test_work_of_a_preempted_run_has_one_word_in_the_trace_and_in_the_summary(shell: Shell) -> None:
    shell("run", shell.write(URGENT), "--log", "run.jsonl")
    parts = shell.told("trace", "run.jsonl", "sim")["account"]["parts"]
    ledger = shell.told("summary", "run.jsonl", "--by", "job")["by"]["sim"]
    assert parts["redundant"] == 9
    assert ledger["redundant"] == 4 * 9
    assert "lost" not in {*parts, *ledger}


DUE = """\
name = "due"
[[workers]]
name = "spot"
price = 1
availability = "uuuuuuddddddddddddddddddddduuuuuuuuuudddddddduuuuuuuuuuuuuuuuuuuu"
[[workers]]
name = "on-demand"
price = 3
[job]
kind = "rigid"
jobs = [{ processors = 1, time = 30, deadline = 70 }]
[protection]
kind = "images"
period = 7
cost = 1
recovery = 1
[policy]
name = "uniform-progress"
changeover = 2
every = 1
"""


def test_a_job_under_a_deadline_says_what_its_policy_chose_and_that_it_changes_over(
    shell: Shell,
) -> None:
    shell("run", shell.write(DUE), "--log", "run.jsonl")
    out = shell("trace", "run.jsonl", "J1").out
    assert "1 processor was free from 37 s on, but the policy chose to wait" in out
    assert "the policy starts it now, on spot: spot is UP again; 2 are free, it takes 1" in out
    assert "not for it" not in out
    assert "possible now" not in out
    lines = [
        line.split(") ", 1)[1].strip().split("  (")[0]
        for line in out.splitlines()
        if "change" in line
    ]
    assert lines[0] == "changes over"
    assert set(lines) == {"changes over", "changes over and recovers"}
    assert "ended: cancelled: the policy gives its workers back" in out


def test_a_trace_and_the_summary_part_lost_from_redundant_work_alike(shell: Shell) -> None:
    shell("run", shell.write(DUE), "--log", "run.jsonl")
    parts = shell.told("trace", "run.jsonl", "J1")["account"]["parts"]
    ledger = shell.told("summary", "run.jsonl", "--by", "job")["by"]["J1"]
    assert parts["lost"] > 0
    assert parts["redundant"] > 0
    held = {use: time for use, time in ledger.items() if time}
    assert {use: time for use, time in parts.items() if use != "pending"} == held


TAKEN = """\
name = "taken"
unit = "s"
workers = [{ availability = { kind = "csv", worker = "a", file = "taken.csv", notice = 3 } }, {}]
job.kind = "rigid"
job.jobs = [{ processors = 2, time = 20 }]
protection = { kind = "images", period = 6, cost = 1, recovery = 1 }
policy.name = "EASY"
"""


def test_a_notice_is_in_the_trace_of_the_job_that_holds_the_worker(shell: Shell) -> None:
    shell.write("worker,start,end,state\na,0,10,u\na,10,14,d\na,14,99,u\n", "taken.csv")
    assert shell("run", shell.write(TAKEN), "--log", "run.jsonl").code == 0
    out = shell("trace", "run.jsonl", "J1").out
    [line] = [line for line in out.splitlines() if "notice" in line]
    assert line.strip().startswith("7 s ")
    assert "notice: P1 will go DOWN at 10 s" in line


WORDS = """\
name = "words"
unit = "s"
workers = [{ availability = "uuuuuuuuuudddduuuurrruuuuuuuuuuuuuuuuuuuu" }, {}]
job.kind = "rigid"
job.jobs = [{ processors = 2, time = 20 }]
protection = { kind = "buddies", period = 6, cost = 1, recovery = 1 }
policy.name = "EASY"
"""


def test_a_job_that_stands_still_says_so_in_words_of_the_ledger(shell: Shell) -> None:
    assert shell("run", shell.write(WORDS), "--log", "run.jsonl").code == 0
    parts = shell.told("trace", "run.jsonl", "J1")["account"]["parts"]
    assert (parts["down"], parts["reclaimed"]) == (4, 3)
    assert parts.keys() <= shell.told("summary", "run.jsonl")["ledger"].keys()


SLURM = """\
JobID|User|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|AllocCPUS|State
1|ann|2024-05-01T10:00:00|2024-05-01T10:00:00|2024-05-01T10:00:00|2024-05-01T12:00:00|7200|180|4|COMPLETED
2|bob|2024-05-01T10:30:00|2024-05-01T10:30:00|2024-05-01T12:00:00|2024-05-01T12:10:00|600|60|4|COMPLETED
"""
DATED = """\
name = "dated"
platform.workers = 4
job.kind = "rigid"
job.sacct = { file = "jobs.txt", timezone = "UTC" }
policy.name = "EASY"
"""


def test_a_log_with_dates_is_asked_for_them_and_shows_them(shell: Shell) -> None:
    shell.write(SLURM, "jobs.txt")
    assert shell("run", shell.write(DATED), "--log", "run.jsonl").code == 0
    out = shell("trace", "run.jsonl", "J2").out
    wait = "2024-05-01 10:30:00 to 2024-05-01 12:00:00 (1 h 30 min) waits for workers"
    assert wait in out
    assert "held by J1 (4 processors, 2024-05-01 10:00:00 to 2024-05-01 12:00:00)" in out
    assert "promised its start for 2024-05-01 13:00:00" in out
    asked = shell.told("queue", "run.jsonl", "--at", "2024-05-01 11:00")
    assert asked == shell.told("queue", "run.jsonl", "--at", "1 h")
    assert asked == shell.told("queue", "run.jsonl", "--at", "2024-05-01T13:00+02:00")
    lines = shell("queue", "run.jsonl", "--at", "1 h").out.splitlines()
    assert lines[1] == "at 2024-05-01 11:00:00, UTC"
    assert "2024-05-01 12:00:00" in lines[-1]
    last = json.loads(Path("run.jsonl").read_text().splitlines()[-1])["seq"]
    assert "2024-05-01 12:10:00" in shell("why", "run.jsonl", last).out


def test_a_date_is_refused_where_the_log_has_none_or_begins_later(shell: Shell, log: Path) -> None:
    line = shell.refused("queue", log, "--at", "2024-05-01 11:00")
    assert "--at: a date, and this log has none; accepted: a number, or such as" in line
    shell.write(SLURM, "jobs.txt")
    shell("run", shell.write(DATED), "--log", "dated.jsonl")
    line = shell.refused("queue", "dated.jsonl", "--at", "2024-04-30")
    assert "2024-04-30 00:00:00 is before the log's first instant" in line
    line = shell.refused("queue", "dated.jsonl", "--at", "2024-05-02")
    assert line.endswith("is after the log's end; accepted: 0 to 7800 (2024-05-01 12:10:00)")


SPARE = """name = "spare"
platform = { workers = 6, spares = 2 }
faults = { kind = "list", strikes = [[50, 0]], downtime = 100 }
job = { kind = "rigid", jobs = [
    { processors = 3, time = 100 }, { processors = 3, time = 50, release = 10 },
] }
protection = { kind = "buddies", period = 20, cost = 1, recovery = 2, replace_after = 5 }
"""


def test_spares_are_none_of_the_workers_on_which_a_job_could_have_started(shell: Shell) -> None:
    """J1 holds 0-2; 3 is free, and 4 and 5 are spares: J2 cannot start at 10. As J1 ends, 1 to 3
    are free, 0 is DOWN, and 4, which had replaced it, is a spare again."""
    shell("run", shell.write(SPARE), "--log", "run.jsonl")
    told = shell("trace", "run.jsonl", "J2").out
    assert "1 of 6 processors is free, 2 are spares\n" in told
    assert "earlier instant" not in told
    assert "possible now: J1 (3 processors, 2 of them now its own) ends; 3 are free" in told
    asked = shell("queue", "run.jsonl", "--at", "60").out
    assert "  free     1 of 6 processors\n  spare    1: 5\n  down     1: 0\n" in asked
