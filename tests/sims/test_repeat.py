"""A run is repeated from its log alone."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import example as such
from hypothesis import given
from hypothesis import strategies as st

from actors.events import ScenarioStarted
from policies.interface import BatchView, Decision
from sims.errors import InputError
from sims.examples import example
from sims.log import LogFile
from sims.log_writer import LogWriter
from sims.repeat import first_difference, repeat_of
from sims.scenario import Scenario
from sims.scenario.faults import ExponentialFaults, ListedFaults, SeveralFaults
from sims.scenario.loader import as_set, load, read, scenario_of
from sims.session import run as simulated
from sims.world import run
from tests.golden.regenerate import GOLDEN, path_of
from tests.sims.cli.commands import TINY, Shell

MINE = """
from holdfast import BatchView, Decision

def first(view: BatchView) -> Decision:
    fits = [job for job in view.queue if job.processors <= view.free]
    return Decision(fits[:1])
"""
QUEUE = """
name = "swf"
platform.workers = 4
job = { kind = "rigid", swf = { file = "jobs.swf" } }
policy.name = "mine:first"
"""
JOBS = "".join(
    f"{k} {3 * k} -1 {4 + k} {1 + k % 3} -1 -1 {1 + k % 3} 9 -1 1 1 1 -1 1 -1 -1 -1\n"
    for k in range(1, 6)
)


@pytest.mark.parametrize("kind", GOLDEN)
def test_the_run_of_a_golden_log_is_repeated_byte_for_byte(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    it = repeat_of(path_of(kind))
    with LogWriter(tmp_path / "again.jsonl") as writer:
        run(it.scenario, [writer], it.folder, it.started.debugged, it.started.until)
    assert (tmp_path / "again.jsonl").read_bytes() == path_of(kind).read_bytes()


@pytest.mark.parametrize("name", ["😀", 'a"\\b', "𝒳é中"])
def test_a_log_whose_job_has_any_printable_name_is_read_and_repeated(
    shell: Shell, name: str
) -> None:
    jobs = f"job = {{ kind = \"rigid\", jobs = [{{ name = '{name}', processors = 1, time = 3 }}] }}"
    file = shell.write(f'name = "n"\nplatform.workers = 2\n{jobs}\n', "n.toml")
    assert shell("run", file, "--log", "n.jsonl").code == 0
    assert name in shell("trace", "n.jsonl", name).out
    assert "every law holds" in shell("audit", "n.jsonl").out
    assert "byte for byte" in shell("run", "n.jsonl", "--log", "again.jsonl").out


def texts_in(parameters: dict[str, object]) -> Scenario:
    agent = {"name": "any.where:Agent", "parameters": parameters}
    jobs = [{"processors": 1, "time": 3}]
    table = {"name": "n", "platform": {"workers": 2}, "job": {"kind": "rigid", "jobs": jobs}}
    return read({**table, "agents": [agent]}, "call")


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text())
@such("\x7f\x00\x1f\n\r", "a")
@such("😀\ud800", "😀.")
def test_any_text_of_a_scenario_comes_back_from_its_log_or_is_refused(text: str, key: str) -> None:
    parameters = {key: text, "list": [text, {key: text}]}
    try:
        scenario = texts_in(parameters)
    except InputError as refused:
        assert "text in UTF-8" in refused.accepted
        return
    again = scenario_of(as_set(scenario), "log")
    assert again.agents[0].parameters == parameters


@pytest.mark.parametrize("parameters", [{"x": "a\ud800b"}, {"\udfff": 1}, {"x": [{"\ud800": {}}]}])
def test_a_text_with_half_a_character_is_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(InputError, match="accepted: a text in UTF-8"):
        texts_in(parameters)


def test_a_log_is_repeated_with_the_options_of_its_run(shell: Shell) -> None:
    words = ("--seed", "3", "--set", "job.iterations=2", "--until", "9", "--debug")
    shell("run", shell.write(TINY), *words, "--log", "one.jsonl")
    (shell.folder / "tiny.toml").unlink()
    said = shell("run", "one.jsonl", "--log", "two.jsonl")
    assert said.code == 0
    assert "repeats     one.jsonl, byte for byte" in said.out
    assert (shell.folder / "one.jsonl").read_bytes() == (shell.folder / "two.jsonl").read_bytes()


def test_a_log_is_repeated_under_its_own_name(shell: Shell) -> None:
    shell("run", shell.write(TINY))
    told = shell.told("run", "logs/tiny.jsonl")
    assert (told["log"], told["same"], told["line"]) == ("logs/tiny.jsonl", True, None)
    assert shell.files() == {"tiny.toml", "logs", "logs/tiny.jsonl"}


def test_a_line_that_is_not_what_the_run_writes_is_named(shell: Shell) -> None:
    shell("run", shell.write(TINY), "--log", "one.jsonl")
    log = shell.folder / "one.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:6], lines[6].replace(b'"seq"', b' "seq"'), *lines[7:]]))
    said = shell("run", "one.jsonl", "--log", "two.jsonl")
    assert said.code == 1
    assert "repeats     one.jsonl, NOT: line 7 differs" in said.out


def test_a_log_that_stops_early_is_compared_as_far_as_it_goes(tmp_path: Path) -> None:
    whole, log = path_of("rigid").read_bytes(), tmp_path / "cut.jsonl"
    lines = whole.splitlines(keepends=True)
    log.write_bytes(whole[: len(whole) // 2])
    assert first_difference(log, path_of("rigid")) is None
    log.write_bytes(b"".join(lines[:-1]))
    assert first_difference(log, path_of("rigid")) is None
    log.write_bytes(whole + lines[-1])
    assert first_difference(log, path_of("rigid")) == len(lines) + 1
    assert first_difference(path_of("rigid"), log) == len(lines) + 1


def test_files_and_code_that_the_scenario_names_are_needed_as_they_were(shell: Shell) -> None:
    for name, text in (("jobs.swf", JOBS), ("mine.py", MINE)):
        shell.write(text, name)
    shell("run", shell.write(QUEUE, "queue.toml"), "--log", "one.jsonl")
    assert shell("run", "one.jsonl", "--log", "two.jsonl").code == 0
    shell.write(JOBS.replace(" 9 ", " 8 "), "jobs.swf")
    complaint = shell("run", "one.jsonl", "--log", "two.jsonl").complaint()
    assert "one.jsonl: inputs: 'jobs.swf' has the same size and other contents" in complaint
    assert "made by Holdfast" in complaint
    shell.write(JOBS + JOBS, "jobs.swf")
    complaint = shell("run", "one.jsonl", "--log", "two.jsonl").complaint()
    assert f"has {2 * len(JOBS)} bytes, and had {len(JOBS)}" in complaint
    (shell.folder / "jobs.swf").unlink()
    assert "'jobs.swf' is missing" in shell("run", "one.jsonl").complaint()
    shell.write(JOBS, "jobs.swf")
    shell.write(f"# changed{MINE}", "mine.py")
    assert "'mine:first' has" in shell("run", "one.jsonl").complaint()


def test_the_files_of_a_log_may_lie_beside_it(shell: Shell) -> None:
    (shell.folder / "paper").mkdir()
    for name, text in (("paper/jobs.swf", JOBS), ("paper/mine.py", MINE)):
        shell.write(text, name)
    shell("run", shell.write(QUEUE, "paper/queue.toml"), "--log", "paper/one.jsonl")
    assert shell("run", "paper/one.jsonl", "--log", "two.jsonl").code == 0


@pytest.mark.parametrize(
    "words", [("--seed", "1"), ("--set", "seed=1"), ("--until", "3"), ("--debug",)]
)
def test_an_option_that_would_change_the_run_is_refused(
    shell: Shell, words: tuple[str, ...]
) -> None:
    shell("run", shell.write(TINY), "--log", "one.jsonl")
    complaint = shell("run", "one.jsonl", *words).complaint()
    assert f"{words[0]}: one.jsonl is a log, whose run is repeated as it was" in complaint


def first(view: BatchView) -> Decision:
    """Start the first job that fits."""
    return Decision([job for job in view.queue if job.processors <= view.free][:1])


def test_a_run_with_a_programs_own_objects_is_not_repeated(tmp_path: Path) -> None:
    log = tmp_path / "mine.jsonl"
    simulated(example("batch-easy"), policy=first, log=log)
    with pytest.raises(InputError, match="a Python program gave objects for the run"):
        repeat_of(log)
    started = next(iter(LogFile(log))).event
    assert isinstance(started, ScenarioStarted)
    assert f'name = "<{__name__}:first>"' in started.text
    assert scenario_of(started.text, "log").platform == load(example("batch-easy")).platform


def test_a_run_of_sections_that_a_program_has_made_is_repeated(tmp_path: Path) -> None:
    """No file has told the kind of their tables."""
    log, again = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    faults = SeveralFaults(laws=(ListedFaults(strikes=((1, 0),)), ExponentialFaults(mtbf=1e6)))
    job = {"kind": "rigid", "jobs": [{"processors": 1, "time": 5}]}
    table = {"name": "made", "platform": {"workers": 2}, "job": job}
    simulated(read(table, "made", tmp_path).model_copy(update={"faults": faults}), log=log)
    simulated(repeat_of(log).scenario, log=again)
    assert first_difference(log, again) is None


def test_a_log_whose_first_line_is_long_is_a_log(shell: Shell) -> None:
    jobs = "".join(
        f"[[job.jobs]]\nname = 'job-{k}'\ntime = 1\nprocessors = 1\n" for k in range(4000)
    )
    table = f"name = 'many'\nplatform.workers = 9\njob.kind = 'rigid'\n{jobs}"
    shell("run", shell.write(table, "many.toml"))
    assert len((shell.folder / "logs/many.jsonl").read_bytes().splitlines()[0]) > 2**17
    assert shell.told("run", "logs/many.jsonl")["same"] is True


def test_whole_numbers_and_unset_keys_stay_so_in_a_logs_scenario() -> None:
    job = {"kind": "rigid", "jobs": [{"time": 3, "processors": 2}]}
    result = simulated({"name": "a", "platform": {"workers": 2}, "job": job})
    started = next(iter(result.records())).event
    assert isinstance(started, ScenarioStarted)
    assert "downtime" not in started.text
    scenario = read(tomllib.loads(started.text), "log")
    assert scenario == result.scenario
    assert type(scenario.job.jobs[0].time) is int
