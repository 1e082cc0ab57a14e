"""What a run that fails does to the log, and to the older one in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.events import End, ScenarioEnded
from actors.runtime import Record
from sims.errors import InputError
from sims.log import LogFile
from sims.log_writer import LogWriter
from tests.sims.kinds import records_of

START, *_ = records_of("figure1")
LATER = next(record for record in records_of("figure1") if record.t > 0)
FULL = Path("/dev/full")


def begun(log: LogWriter, end: Record = LATER) -> None:
    """Write the records of figure1 up to this one."""
    for record in records_of("figure1")[: end.seq + 1]:
        log(record)


REFUSAL = InputError("scenario", "", "not to be run")


@pytest.mark.parametrize("error", [REFUSAL, RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_what_fails_before_time_has_advanced_leaves_an_older_log_as_it_was(
    tmp_path: Path, suffix: str, error: BaseException | type[BaseException]
) -> None:
    path = tmp_path / f"new/run.jsonl{suffix}"
    for old in (None, b"older"):
        if old is not None:
            path.parent.mkdir()
            path.write_bytes(old)
        with pytest.raises(BaseException) as caught, LogWriter(path) as log:
            begun(log, START)
            raise error
        assert error in (caught.value, caught.type)
        assert path.exists() is (old is not None)
    assert path.read_bytes() == b"older"
    assert list(tmp_path.rglob("*")) == [path.parent, path]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_what_fails_after_time_has_advanced_leaves_what_was_logged(
    tmp_path: Path, suffix: str, error: type[BaseException]
) -> None:
    path = tmp_path / f"run.jsonl{suffix}"
    path.write_bytes(b"older")
    with pytest.raises(error), LogWriter(path) as log:
        begun(log)
        raise error
    assert list(LogFile(path)) == list(records_of("figure1")[: LATER.seq + 1])


def test_a_value_that_no_line_can_hold_leaves_an_older_log_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"older")
    for more in ([], [LATER]):
        with pytest.raises(TypeError), LogWriter(path) as log:
            for record in (Record(10**41, 0, None, START.event), *more):
                log(record)
    assert path.read_bytes() == b"older"


@pytest.mark.parametrize("count", [1, 40_000])
@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_a_full_disk_is_one_error_that_names_the_log(
    tmp_path: Path, suffix: str, count: int
) -> None:
    """However early it is noticed: in closing the file, or in the middle of a run that fails so."""
    path = tmp_path / f"run.jsonl{suffix}"
    path.symlink_to(FULL)
    written = 0
    with pytest.raises(InputError) as caught, LogWriter(path) as log:
        try:
            begun(log)
            for written in range(count):
                log(Record(written, 5, 0, ScenarioEnded(End.COMPLETED)))
        except OSError as error:
            raise RuntimeError("an actor failed") from error
    assert caught.value.problem == "cannot be written: No space left on device"
    assert caught.value.source == str(path)
    assert written < 39_999


def test_a_log_that_cannot_be_opened_is_that_error_whatever_the_run_makes_of_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match="cannot be written"),
        LogWriter(tmp_path / "file/run.jsonl") as log,
    ):
        try:
            begun(log)
        except OSError as error:
            raise RuntimeError("an actor failed") from error
