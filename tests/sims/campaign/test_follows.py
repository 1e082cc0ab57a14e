"""Keys that follow from the number of an axis: `0..8 with platform.workers = 128 + spares`."""

from __future__ import annotations

from pathlib import Path

import holdfast
import pytest

from sims.campaign.follows import apart, evaluated
from sims.errors import InputError
from tests.sims.cli.commands import Shell

SCENARIO = """name = "study"
platform = { workers = 4 }
faults = { kind = "list", strikes = [[100, 0], [200, 2]], downtime = 1000 }
job = { kind = "rigid", jobs = [{ processors = 4, time = 300 }] }
protection = { kind = "buddies", period = "10 s", cost = 0, recovery = 0, replace_after = 0 }
"""
VALUES = {"spares": 2, "period": "2 min", "job.jobs.0.processors": 64, "kind": "images", "on": True}


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    (tmp_path / "study.toml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("128 + spares", 130),
        ("128+2*spares", 132),
        ("-spares + 5", 3),
        ("job.jobs.0.processors + spares", 66),
        ("spares / 4", 0.5),
        ("10 - 2 * spares - 1", 5),
        ("2 * period", "240 s"),
        ("period + 30 s", "150 s"),
        ("period / 2 s", 60),
        ("1.5e3 * spares", 3000),
        ("0.1 * 3", 0.3),
    ],
)
def test_an_expression_is_a_sum_of_products_of_numbers_times_and_names(
    text: str, value: object
) -> None:
    found = evaluated(text, VALUES)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not understood"),
        ("128 +", "'+' is not understood"),
        ("128 spares", "'spares' is not understood"),
        ("* 3", "is not understood"),
        ("__import__('os')", "there is no '__import__'"),
        ("spars + 1", "there is no 'spars' (did you mean spares?)"),
        ("kind + 1", "kind is 'images', which is no number"),
        ("on + 1", "on is True, which is no number"),
        ("period + 30", "it adds up times and plain numbers"),
        ("period * period", "it is neither a number nor a time"),
        ("1 / 0", "it divides by 0"),
        ("1e300 * 1e300", "it is not finite"),
    ],
)
def test_what_is_no_expression_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(ValueError) as refused:
        evaluated(text, VALUES)
    assert said in str(refused.value)


def test_the_word_with_parts_the_values_from_the_keys_that_follow() -> None:
    word = "platform.spares=0..8 with platform.workers = 128 + spares and platform.reserve=spares"
    assert apart([word, "policy.name=a with b"], "--vary") == (
        ["platform.spares=0..8", "policy.name=a with b"],
        {"platform.workers": "128 + spares", "platform.reserve": "spares"},
    )
    with pytest.raises(InputError, match="follows twice"):
        apart(["a=1,2 with b = a, b = 2 * a"], "--vary")


JOB = "job = {{ kind = 'rigid', jobs = [{{ processors = {}, time = 9 }}] }}\n"


@pytest.mark.parametrize("command", ["compare", "tune"])
def test_a_key_that_is_varied_cannot_follow_from_what_is(command: str, shell: Shell) -> None:
    path = shell.write(f"name = 'it'\nplatform = {{ workers = 4 }}\n{JOB.format(1)}")
    word = "platform.spares=0,1 with platform.spares = 1"
    vary = {"compare": ("--vary", word), "tune": ("--over", word, "--minimise", "wait")}
    said = shell.refused(command, path, *vary[command])
    assert "platform.spares is varied, and cannot follow from what is" in said


def test_spares_that_leave_too_few_workers_are_named_with_their_number(shell: Shell) -> None:
    path = shell.write(f"name = 'it'\nplatform = {{ workers = 4 }}\n{JOB.format(3)}")
    said = shell.refused("tune", path, "--over", "platform.spares=0..2", "--minimise", "wait")
    assert (
        "platform.spares: 2 leave 2 of 4 workers, too few for every job; accepted: at most 1"
        in said
    )
    path = shell.write(f"name = 'it'\nplatform = {{ workers = 2, spares = 1 }}\n{JOB.format(3)}")
    said = shell.refused("check", path)
    assert "platform.workers: 1 are too few for every job; accepted: at least 4, which" in said


WITH = "spares=0..2 with platform.workers = 4 + spares"


def test_spares_beside_the_jobs_own_workers_are_compared_as_a_person_would_ask(
    shell: Shell,
) -> None:
    """Workers 0 and 2 fail after 100 and 200 s for 1,000 s, and buddies lose nothing. Two spares
    take both places at once: 300 s. One takes the first, and the job waits for worker 0, which is
    back at 1,100, in place of worker 2: 200 + 900 + 100 = 1,200 s. Without a spare the job waits
    from 100 to 1,100, while worker 2 fails too and is back at 1,200: 100 + 1,100 + 200 = 1,400."""
    found = shell.told("compare", "study.toml", "--vary", WITH, "--runs", "2")
    means = [it["mean"]["mean"] for it in found["variants"]]
    assert means == [1400, 1200, 300]
    said = shell("compare", "study.toml", "--vary", WITH, "--runs", "2").out
    assert "With platform.workers = 4 + spares." in said


def test_a_search_says_what_follows_and_its_command_sets_it(shell: Shell) -> None:
    few = ("--minimise", "makespan", "--runs", "2", "--each", "4")
    said = shell("tune", "study.toml", "--over", WITH, *few)
    assert said.code == 0, said.err
    assert "platform.spares = 2" in said.out
    assert ", with platform.workers=6; makespan 300" in said.out
    [command] = [it for it in said.out.splitlines() if it.startswith("Run it alone: ")]
    assert "--set platform.spares=2 --set platform.workers=6" in command


def test_a_name_of_the_users_own_only_says_what_follows(shell: Shell) -> None:
    over = "n=0..2 with platform.spares = n and platform.workers = 4 + n"
    found = shell.told("compare", "study.toml", "--vary", over, "--runs", "1")
    assert [it["mean"]["mean"] for it in found["variants"]] == [1400, 1200, 300]


def test_a_campaign_file_and_python_have_keys_that_follow_too(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "spares.toml").write_text(
        """name = "spares"
scenario = "study.toml"
replications = 1
axes.platform.spares = [0, 1, 2]
follows.platform.workers = "job.jobs.0.processors + spares"
"""
    )
    rows = holdfast.campaign("spares.toml").rows()
    assert [it["mean"] for it in rows] == [1400, 1200, 300]
    follows = {"platform.workers": "4 + spares"}
    found = holdfast.compare("study.toml", {"platform.spares": range(3)}, follows=follows, runs=1)
    assert [it["mean"] for it in found.rows()] == [1400, 1200, 300]
    tuned = holdfast.tune(
        *("study.toml", {"platform.spares": (0, 2)}),
        minimise="makespan",
        follows=follows,
        runs=2,
        each=4,
    )
    assert tuned.as_json()["best"] == {"platform.spares": 2, "platform.workers": 6}


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (WITH.replace("+ spares", "+ spars"), "there is no 'spars' (did you mean spares?)"),
        (WITH.replace("= 4 + spares", "= 0 - spares"), "platform.workers: "),
        ("spares=0..2 with platform.workrs = 4 + spares", "(did you mean workers?)"),
        ("spares=0..2 with platform.workers = 4 +", "'+' is not understood"),
        ("task_time=0..2", "task_time may be several keys; accepted: one of platform.task_time"),
    ],
)
def test_what_cannot_follow_is_refused_in_one_line_that_blames_the_command(
    shell: Shell, word: str, said: str
) -> None:
    for command, option in (("compare", "--vary"), ("tune", "--over")):
        also = ("--minimise", "makespan") if command == "tune" else ()
        line = shell.refused(command, "study.toml", option, word, *also)
        assert f"command line: {option}: " in line
        assert said in line
