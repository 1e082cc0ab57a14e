"""A log of the world with the messages between its actors is the log without them, and more."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from actors.runtime import Record
from actors.runtime.deliveries import ActorStarted, MessageReceived
from sims.audit.audit import audit
from sims.audit.law import Law
from sims.audit.messages import OfWorld
from sims.examples import example
from sims.log import LogFile
from sims.metrics.report import Report
from sims.session import run
from tests.sims.anything import TABLES
from tests.sims.cli.commands import Shell
from tests.sims.kinds import SCENARIOS
from tests.sims.oneworld import records_of

NAMES = "figure1", "batch-easy", "malleable-fatal", "closed-loop", "redundant"
OF_MESSAGES = ActorStarted, MessageReceived


def both(name: str, folder: Path) -> tuple[Path, Path]:
    """The logs of a scenario's run, without and with messages."""
    paths = folder / "plain.jsonl", folder / "both.jsonl"
    for path, messages in zip(paths, (False, True), strict=True):
        run(example(name), log=path, messages=messages)
    return paths


@pytest.mark.parametrize("name", NAMES)
def test_without_its_messages_a_log_is_that_of_a_run_without(name: str, tmp_path: Path) -> None:
    plain, whole = both(name, tmp_path)
    kept = [(it.seq, it.t, it.cause, it.event) for it in OfWorld(LogFile(whole))]
    assert kept == [(it.seq, it.t, it.cause, it.event) for it in LogFile(plain)]
    assert sum(isinstance(it.event, MessageReceived) for it in LogFile(whole)) > 20
    assert [str(it) for it in audit(LogFile(whole, ordered=False))] == []


@pytest.mark.parametrize("kind", TABLES)
def test_messages_of_any_scenario_change_nothing(kind: str) -> None:
    plain, whole = (records_of(TABLES[kind](3), messages=it) for it in (False, True))
    assert [(it.seq, it.t, it.cause, it.event) for it in OfWorld(whole)] == [
        (it.seq, it.t, it.cause, it.event) for it in plain
    ]
    assert [str(it) for it in audit(iter(whole))] == []


def test_numbers_of_a_run_are_the_same_with_messages(tmp_path: Path) -> None:
    plain, whole = (Report.of(LogFile(it)).as_json() for it in both("figure1", tmp_path))
    assert plain.pop("events") < whole.pop("events")
    assert plain == whole


def test_a_message_has_its_sender_its_receiver_and_its_cause(tmp_path: Path) -> None:
    _, path = both("figure1", tmp_path)
    records = list(LogFile(path))
    first = next(it for it in records if isinstance(it.event, MessageReceived))
    assert isinstance(first.event, MessageReceived)
    starts = {it.actor for it in records if isinstance(it.event, ActorStarted)}
    assert {first.actor, first.event.sender} <= starts
    assert {it.actor for it in records if not isinstance(it.event, OF_MESSAGES)} <= starts | {None}
    assert first.cause is not None
    assert not isinstance(records[first.cause].event, OF_MESSAGES)


def altered(path: Path, at: int, **keys: object) -> list[Record]:
    lines = [orjson.loads(it) for it in path.read_bytes().splitlines()]
    lines[at] |= keys
    other = path.with_name("altered.jsonl")
    other.write_bytes(b"\n".join(map(orjson.dumps, lines)) + b"\n")
    return list(LogFile(other, ordered=False))


@pytest.mark.parametrize(
    "keys", [{"seq": 2}, {"t": 0.5}, {"cause": 10**6}, {"actor": "nobody"}, {"sender": "nobody"}]
)
def test_a_line_about_a_message_that_cannot_be_is_noticed(
    keys: dict[str, object], tmp_path: Path
) -> None:
    _, path = both("figure1", tmp_path)
    lines = path.read_text().splitlines()
    late = max(k for k, it in enumerate(lines) if '"MessageReceived"' in it)
    [broken] = audit(iter(altered(path, late, **keys)))
    assert broken.law is Law.ORDER


def test_an_event_that_a_message_causes_is_noticed_by_its_line(tmp_path: Path) -> None:
    _, path = both("figure1", tmp_path)
    records = list(LogFile(path))
    at = next(it.seq for it in records if it.t > 0 and not isinstance(it.event, OF_MESSAGES))
    cause = next(it.seq for it in records if isinstance(it.event, MessageReceived))
    [broken] = audit(iter(altered(path, at, cause=cause)))
    assert (broken.law, broken.events) == (Law.ORDER, (at,))


# --- the commands -------------------------------------------------------------------------------


@pytest.fixture
def log(shell: Shell) -> Path:
    path = shell.folder / "m.jsonl"
    assert shell("run", SCENARIOS / "figure1.toml", "--messages", "--log", path).code == 0
    return path


def test_trace_tells_the_life_of_an_actor_of_the_world(shell: Shell, log: Path) -> None:
    said = shell("trace", log, "master")
    assert said.out.startswith("master, a Master: ")
    assert "receives " in said.out
    assert shell("trace", log, "application").out.startswith("0 slots to ")


def test_an_actor_that_there_is_not_is_refused_as_before(shell: Shell, log: Path) -> None:
    assert "there is no job 'nobody' in this log" in shell.refused("trace", log, "nobody")


def test_other_commands_read_the_log_too(shell: Shell, log: Path) -> None:
    assert shell("audit", log).code == 0
    assert shell("summary", log).code == 0
    assert json.loads(shell("why", log, "100", "--json").out)
    assert shell("view", log, "-o", shell.folder / "m.html").code == 0
    picture = shell.folder / "m.svg"
    assert shell("plot", log, "--what", "messages", "-o", picture).code == 0
    assert picture.read_bytes().startswith(b"<?xml")


def test_a_log_with_messages_is_repeated_with_messages(shell: Shell, log: Path) -> None:
    said = shell("run", log, "--log", shell.folder / "again.jsonl")
    assert "byte for byte" in said.out


def test_a_picture_of_messages_needs_a_log_that_has_them(shell: Shell) -> None:
    path = shell.folder / "plain.jsonl"
    assert shell("run", SCENARIOS / "figure1.toml", "--log", path).code == 0
    said = shell.refused("plot", path, "--what", "messages", "-o", shell.folder / "m.svg")
    assert "`holdfast run --messages`" in said
