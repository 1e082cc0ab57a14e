"""A run that is killed keeps its log, but for the last second or 10,000 events of it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from actors.runtime import Record
from sims import log_writer as module
from sims.errors import InputError
from sims.log import LogFile
from sims.log_writer import LogWriter
from sims.readers.files import content
from sims.writing import Segments, pack, save
from tests.sims.kinds import records_of

ROOT = Path(__file__).parents[2]
SUFFIXES = ("", ".gz", ".xz", ".zst")
SECOND, EVENTS = 1.0, 10_000

Told = list[tuple[int, float]]
"""(seq, time of day) of each event."""


def killed(folder: Path, pause: float, events: int) -> dict[str, tuple[Told, float, Path]]:
    """Runs that are killed after so many events: what each told, when it was killed, and its log;
    by the log's suffix."""
    children, found = {}, {}
    for suffix in ("", ".gz"):
        path, told = folder / f"run.jsonl{suffix}", folder / f"told{suffix}"
        command = [sys.executable, "-m", "tests.sims.slow_run", str(path), str(pause)]
        with told.open("w") as out:
            children[suffix] = path, told, subprocess.Popen(command, stdout=out, cwd=ROOT)
    for suffix, (path, told, child) in children.items():
        while told.read_bytes().count(b"\n") < events:
            assert child.poll() is None
            time.sleep(0.05)
        now = time.monotonic()
        child.send_signal(signal.SIGKILL)
        child.wait()
        lines = told.read_text().splitlines()[:-1]  # the last may be cut
        pairs = [(int(seq), float(at)) for seq, at in map(str.split, lines)]
        found[suffix] = pairs, now, path
    return found


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits is saved soon."""
    monkeypatch.setattr(module, "TICK", 0.01)


def kept(path: Path) -> int:
    """Events that can be read."""
    return sum(1 for _ in LogFile(path))


def test_no_event_that_is_older_than_a_second_is_lost_however_slow_the_run_is(
    tmp_path: Path,
) -> None:
    for suffix, (told, now, path) in killed(tmp_path, pause=0.02, events=110).items():
        old = sum(at < now - SECOND for _, at in told)
        assert kept(path) >= old > 40, suffix


def test_no_more_than_so_many_events_are_lost_however_fast_the_run_is(tmp_path: Path) -> None:
    for suffix, (told, _, path) in killed(tmp_path, pause=0, events=15_000).items():
        assert kept(path) >= len(told) - EVENTS > 4000, suffix


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_run_that_hangs_in_its_first_instant_has_its_events_on_disk(
    suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"run.jsonl{suffix}"
    first = records_of("figure1")[0]
    with LogWriter(path) as log:
        log(first)
        time.sleep(0.2)
        assert list(LogFile(path)) == [first]


@pytest.mark.usefixtures("quick")
def test_but_an_older_log_stays_as_it_was_and_a_new_one_goes_where_that_instant_fails(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.jsonl"
    for old in (None, b"older"):
        if old is not None:
            path.write_bytes(old)
        with pytest.raises(InputError), LogWriter(path) as log:
            log(records_of("figure1")[0])
            time.sleep(0.1)
            assert path.exists()
            raise InputError("scenario", "", "not to be run")
        assert (path.read_bytes() if path.exists() else None) == old


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_when_what_waits_is_saved_leaves_no_trace_in_the_file(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = records_of("redundant")
    records = [Record(k, it.t, it.cause, it.event) for k, it in enumerate(whole * 35)]
    paths = [tmp_path / f"{k}{suffix}" for k in range(2)]
    for path, tick in zip(paths, (1000, 0.001), strict=True):
        monkeypatch.setattr(module, "TICK", tick)
        with LogWriter(path) as log:
            for record in records:
                log(record)
                if record.seq % 1000 == 0 and tick < 1:
                    time.sleep(0.01)
    assert len(records) > 3 * 4096
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_draft_is_read_like_the_rest_and_gives_way_to_what_follows(
    suffix: str, tmp_path: Path
) -> None:
    path, line = tmp_path / f"lines{suffix}", b"a line that is packed well\n"
    file = pack(path)
    for count in range(1, 50):
        file.write(line)
        save(file)
        if count % 20:
            assert content(path) == line * count
        else:
            file.flush()
            save(file)  # a stream has just ended: nothing is older
    assert isinstance(file, Segments) is bool(suffix)
    file.close()
    assert content(path) == line * 49


@pytest.mark.usefixtures("quick")
def test_what_went_wrong_in_saving_ends_the_run_as_its_own_writing_would(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "file"
    folder.write_text("")
    with pytest.raises(InputError, match="cannot be written"), LogWriter(folder / "log") as log:
        log(records_of("figure1")[0])
        time.sleep(0.1)
        with pytest.raises(OSError):
            log(records_of("figure1")[-1])
