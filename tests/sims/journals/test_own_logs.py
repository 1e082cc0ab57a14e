"""Logs of a user's own actors are read by the commands that tell of events and messages."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest
from attrs import define, frozen

from actors.runtime import NOTHING, Actor, Event, JsonLines, System, handles, message
from actors.runtime.coroutines import CoroutineActor
from actors.runtime.errors import Unloggable
from sims.actor_log import ActorLog
from sims.errors import InputError
from sims.log_writer import LogWriter
from tests.sims.cli.commands import TINY, Shell, change


@message
class Ball:
    """A ball."""

    number: int


@frozen
class Caught(Event):
    """A player caught a ball."""

    ball: int
    hands: tuple[int, ...] = (1, 2)


@define(eq=False)
class Thrower(Actor):
    """Throws a ball back after two time units."""

    @handles(Ball)
    def catch(self, it: Ball, cause: int) -> None:
        self.send(self.system.actors["catcher"], it, cause)  # type: ignore[attr-defined]


@define(eq=False)
class Catcher(CoroutineActor):
    """Catches two balls, and holds each for three time units."""

    thrower: Actor

    async def run(self) -> None:
        cause = NOTHING
        for number in (1, 2):
            self.send(self.thrower, Ball(number), cause)
            it, cause = await self.receive()
            cause = self.record(await self.sleep(3, cause), Caught, it.number)
        self.system.finish(cause)


def game(path: Path, messages: bool = True) -> Path:
    """The log of a game in which two balls go to and fro."""
    with LogWriter(path) as log:
        system = System(sinks=[log], messages=messages)
        system.spawn(Catcher("catcher", system.spawn(Thrower("thrower"))))
        system.run()
    return path


@pytest.fixture
def log(shell: Shell) -> Path:
    return game(shell.folder / "game.jsonl")


def test_a_log_of_ones_own_is_what_the_actors_received_and_recorded(log: Path) -> None:
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    ball = {"message": "Ball", "content": "number 1", "event": "MessageReceived", "sent": 0}
    assert lines[2:6] == [
        {"actor": "thrower", "sender": "catcher", "seq": 2, "t": 0} | ball,
        {"actor": "catcher", "sender": "thrower", "seq": 3, "t": 0, "cause": 2} | ball,
        {"actor": "catcher", "sender": "catcher", "seq": 4, "t": 3, "cause": 3}
        | (ball | {"message": "Awake", "content": ""}),
        {"actor": "catcher", "event": "Caught", "ball": 1, "hands": [1, 2], "seq": 5, "t": 3}
        | {"cause": 4},
    ]


def test_the_summary_counts_events_messages_and_what_each_actor_did(
    log: Path, shell: Shell
) -> None:
    told = shell.told("summary", log)
    assert told["events"] == 10
    assert told["time"] == 6
    assert told["kinds"] == {"Caught": 2}
    assert told["messages"] == {"Ball": 4}
    assert told["actors"] == {
        "thrower": {"kind": "Thrower", "received": 2, "sent": 2, "timers": 0, "recorded": 0},
        "catcher": {"kind": "Catcher", "received": 2, "sent": 2, "timers": 2, "recorded": 2},
    }
    lines = [line.split() for line in shell("summary", log).out.splitlines()]
    assert lines[0] == ["10", "events", "until", "6"]
    assert ["catcher", "Catcher", "2", "2", "2", "2"] in lines
    assert "counts by actor" in shell.refused("summary", log, "--by", "job")


def test_the_trace_of_an_actor_is_what_it_received_sent_and_recorded(
    log: Path, shell: Shell
) -> None:
    lines = shell("trace", log, "catcher").out.splitlines()
    assert lines[0] == "catcher, a Catcher: 2 received, 2 sent, 2 timers, 2 recorded"
    assert [" ".join(line.split()) for line in lines[1:7]] == [
        "0 #1 starts, a Catcher",
        "0 #2 sends Ball (number 1) to thrower",
        "0 #3 receives Ball (number 1) from thrower because of #2",
        "3 #4 wakes, set at 0 because of #3",
        "3 #5 Caught: ball 1, hands (1 2) because of #4",
        "3 #6 sends Ball (number 2) to thrower because of #5",
    ]
    told = shell.told("trace", log, "catcher")
    assert told["steps"][4] == {"t": 3, "seq": 5, "cause": 4, "what": "Caught: ball 1, hands (1 2)"}
    refusal = shell.refused("trace", log, "nobody")
    assert "there is no actor 'nobody' in this log; accepted: thrower, catcher" in refusal


def test_why_goes_back_through_messages_to_the_first(log: Path, shell: Shell) -> None:
    assert [it["seq"] for it in shell.told("why", log, 9)] == [9, 8, 7, 6, 5, 4, 3, 2]
    assert shell.told("why", log, 5)[0] == {
        "seq": 5,
        "t": 3,
        "event": "Caught",
        "actor": "catcher",
        "cause": 4,
        "ball": 1,
        "hands": [1, 2],
    }
    first = shell("why", log, 5, "--all").out.splitlines()[-1]
    assert first.split(None, 2)[2] == "thrower: receives Ball (number 1) from catcher"
    assert "10 is not in the log; accepted: 0 to 9" in shell.refused("why", log, 10)


def test_the_picture_has_a_line_for_each_actor_and_the_page_their_lives(
    log: Path, shell: Shell
) -> None:
    pytest.importorskip("matplotlib")
    assert shell("plot", log, "--what", "messages", "-o", "game.svg").code == 0
    picture = (shell.folder / "game.svg").read_text()
    for text in ("2 actors, 4 messages", "thrower", "catcher", "Ball", "sleep", "recorded event"):
        assert f"<!-- {text} -->" in picture
    pytest.importorskip("bokeh")
    assert shell("view", log, "-o", "game.html").code == 0
    page = (shell.folder / "game.html").read_text()
    assert "Follow an actor" in page
    assert "10 events until 6" in page


def test_a_window_of_time_shows_its_messages_only(log: Path, shell: Shell) -> None:
    pytest.importorskip("matplotlib")
    shell("plot", log, "--what", "messages", "--from", 4, "--until", 5, "-o", "late.svg")
    assert "<!-- recorded event -->" not in (shell.folder / "late.svg").read_text()
    refusal = shell.refused("plot", log, "--what", "messages", "--from", 9, "-o", "no.svg")
    assert "from 9 to 6 there is nothing to be drawn" in refusal


def test_a_log_without_messages_has_events_causes_and_a_summary(shell: Shell) -> None:
    log = game(shell.folder / "bare.jsonl", messages=False)
    assert shell.told("summary", log)["kinds"] == {"Caught": 2}
    assert [it["seq"] for it in shell.told("why", log, 1)] == [1, 0]
    assert "messages=True" in shell.refused("trace", log, "catcher")
    pytest.importorskip("matplotlib")
    refusal = shell.refused("plot", log, "--what", "messages", "-o", "no.svg")
    assert f"{log}: messages: there are no messages in this log; accepted: a log of" in refusal


def test_commands_that_ask_for_the_world_say_which_read_a_log_of_ones_own(
    log: Path, shell: Shell
) -> None:
    ends = shell.write("".join(log.read_text().splitlines(True)[:2]), "ends.jsonl")
    queues = [("queue", it, "--at", at) for it in (log, ends) for at in (0, 1, 100)]
    for words in (("audit", log), *queues, ("plot", log, "-o", "no.png")):
        refusal = shell.refused(*words)
        assert "the first record is ActorStarted; accepted: ScenarioStarted" in refusal
        assert "summary, trace, why, view and plot --what messages read a log" in refusal


def test_a_log_of_the_world_has_no_messages_and_says_so(shell: Shell) -> None:
    pytest.importorskip("matplotlib")
    shell("run", shell.write(TINY), "--log", "tiny.jsonl")
    refusal = shell.refused("plot", "tiny.jsonl", "--what", "messages", "-o", "no.png")
    assert "there are no messages in this log" in refusal


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"seq": 7}, "line 4: seq: 7 is not the line's number, counted from 0; accepted: 3"),
        ({"t": -1.0}, "line 4: t: -1.0 is before 0.0; accepted: 0.0 or later"),
        ({"cause": 3}, "line 4: cause: 3 is not an event before #3; accepted: 0 to 2"),
        ({"t": "soon"}, "line 4: t: 'soon' is none; accepted: a number"),
        ({"event": None}, "line 4: event: None is none; accepted: a string"),
        ({"actor": 3}, "line 4: actor: 3 is none; accepted: a string"),
    ],
)
def test_a_spoilt_line_is_named(
    log: Path, shell: Shell, fields: dict[str, object], problem: str
) -> None:
    change(log, 4, **fields)
    assert problem in shell.refused("summary", log)


def test_a_line_that_an_interruption_cut_is_left_out(log: Path, shell: Shell) -> None:
    log.write_text(log.read_text()[:-20])
    said = shell("summary", log, "--json")
    assert said.json()["events"] == 9
    assert "the last line is cut; read up to event 8" in said.err


def test_a_new_log_takes_the_place_of_an_older_one_of_the_same_run(log: Path, shell: Shell) -> None:
    game(log)
    assert shell.files() == {"game.jsonl"}
    game(log, messages=False)
    assert shell.files() == {"game.jsonl", "game.1.jsonl"}


def test_a_compressed_log_and_one_of_plain_lines_are_read(shell: Shell, log: Path) -> None:
    packed = game(shell.folder / "game.jsonl.gz")
    assert gzip.decompress(packed.read_bytes()) == log.read_bytes()
    assert ActorLog(packed).counts == ActorLog(log).counts
    with (shell.folder / "plain.jsonl").open("wb") as file, JsonLines(file) as lines:
        system = System(sinks=[lines], messages=True)
        system.spawn(Catcher("catcher", system.spawn(Thrower("thrower"))))
        system.run()
    assert (shell.folder / "plain.jsonl").read_bytes() == log.read_bytes()


def test_from_python_a_log_has_counts_lives_causes_and_a_picture(log: Path) -> None:
    it = ActorLog(log)
    assert it.counts.messages == {"Ball": 4}
    assert repr(it).startswith("10 events until 6")
    assert it.trace("thrower").counts.sent == 2
    assert it.why(3)[-1] == "#2 0 thrower: receives Ball (number 1) from catcher"
    assert [record.seq for record in it] == list(range(10))
    pytest.importorskip("matplotlib")
    assert it.plot(log.with_suffix(".png")) == log.with_suffix(".png")
    assert it.plot()._repr_png_().startswith(b"\x89PNG")


def test_what_is_no_log_of_ones_own_is_refused(shell: Shell) -> None:
    shell("run", shell.write(TINY), "--log", "tiny.jsonl")
    with pytest.raises(InputError, match=r"tiny\.jsonl: is none; accepted: a log of your own"):
        ActorLog("tiny.jsonl")
    with pytest.raises(InputError):
        ActorLog("missing.jsonl")


def test_many_messages_are_lines_without_heads(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("sims.plots.messages.HEADS", 3)
    log = game(shell.folder / "game.jsonl")
    assert shell("plot", log, "--what", "messages", "-o", "game.png").code == 0


ITSELF: list[object] = []
ITSELF.append(ITSELF)


@frozen
class Noted(Event):
    """Somebody noted a value."""

    place: str
    value: object


@define(eq=False)
class Clerk(CoroutineActor):
    """Notes what is good, and then another value."""

    value: object

    async def run(self) -> None:
        cause = NOTHING
        for value in ("good", [1, None, {"a": 2.5}], self.value):
            cause = self.record(await self.sleep(1, cause), Noted, "desk", value)
        await self.sleep(1)
        self.system.finish(cause)


@pytest.mark.parametrize("messages", [True, False])
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (inf, "inf"),
        ({"a": [nan]}, r"\{'a': \[nan\]\}"),
        (np.array([1.0, -inf]), r"array\(\[  1., -inf\]\)|array\(\[ 1., -inf\]\)"),
        (b"x", "b'x'"),
        ({1, 2}, r"\{1, 2\}"),
        (10**30, "10{30}"),
        ([10**5000], "a value of list that cannot be shown"),
        ({1: 2}, r"\{1: 2\}"),
        (ITSELF, r"\[\[\.\.\.\]\]"),
        ("\ud800", r"'\\ud800'"),
        (Fraction(1, 2), r"Fraction\(1, 2\)"),
    ],
)
def test_a_value_that_no_log_can_hold_is_named_and_the_lines_before_it_are_kept(
    tmp_path: Path, value: object, shown: str, messages: bool
) -> None:
    by = " of clerk" if messages else ""
    said = rf"^no log can hold Noted\.value{by}, at 3\.0: ({shown}); accepted: texts, finite num"
    with pytest.raises(Unloggable, match=said), LogWriter(tmp_path / "c.jsonl") as log:
        system = System(sinks=[log], messages=messages)
        system.spawn(Clerk("clerk", value))
        system.run()
    lines = list(map(json.loads, (tmp_path / "c.jsonl").read_text().splitlines()))
    noted = [it["value"] for it in lines if it["event"] == "Noted"]
    assert noted == ["good", [1, None, {"a": 2.5}]]


@frozen
class Named(Event):
    """An event whose fields are called as what a class of events says of itself."""

    debug: int  # type: ignore[misc]
    optional: str  # type: ignore[misc]
    whole_file: str  # type: ignore[misc]


def test_a_field_may_be_called_as_what_a_class_of_events_says_of_itself(tmp_path: Path) -> None:
    with LogWriter(tmp_path / "n.jsonl") as log:
        system = System(sinks=[log], messages=True)
        clerk = system.spawn(Clerk("clerk", 1))
        clerk.record(NOTHING, Named, 1, "b", "c\nd")
        system.run()
    assert r"Named: debug 1, optional b, whole_file c\nd" in str(
        ActorLog(tmp_path / "n.jsonl").trace("clerk")
    )
