"""What a run that fails does to the log, and to the older one in its place; packed logs."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from actors.events import End, ScenarioEnded
from actors.runtime import Record
from actors.runtime.journal import FLUSH_EVERY
from sims.errors import InputError
from sims.log import LogFile
from sims.log_writer import LogWriter
from sims.readers.files import content, open_binary
from sims.writing import pack
from tests.sims.cli.commands import without
from tests.sims.kinds import records_of, written

START, *_ = records_of("figure1")
LATER = next(record for record in records_of("figure1") if record.t > 0)
FULL = Path("/dev/full")


def begun(log: LogWriter, end: Record = LATER) -> None:
    """Write the records of figure1 up to this one."""
    for record in records_of("figure1")[: end.seq + 1]:
        log(record)


def older_log(folder: Path, suffix: str = "") -> bytes:
    """What a log of another run has in it."""
    return written("redundant-laps", folder, suffix).read_bytes()


REFUSAL = InputError("scenario", "", "not to be run")


@pytest.mark.parametrize("error", [REFUSAL, RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_what_fails_before_time_has_advanced_leaves_an_older_log_as_it_was(
    tmp_path: Path, suffix: str, error: BaseException | type[BaseException]
) -> None:
    path, older = tmp_path / f"new/run.jsonl{suffix}", older_log(tmp_path / "older", suffix)
    for old in (None, older):
        if old is not None:
            path.parent.mkdir()
            path.write_bytes(old)
        with pytest.raises(BaseException) as caught, LogWriter(path) as log:
            begun(log, START)
            raise error
        assert error in (caught.value, caught.type)
        assert path.exists() is (old is not None)
    assert path.read_bytes() == older
    assert list(path.parent.rglob("*")) == [path]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_what_fails_after_time_has_advanced_leaves_what_was_logged(
    tmp_path: Path, suffix: str, error: type[BaseException]
) -> None:
    path, older = tmp_path / f"run.jsonl{suffix}", older_log(tmp_path / "older", suffix)
    path.write_bytes(older)
    with pytest.raises(error), LogWriter(path) as log:
        begun(log)
        raise error
    assert list(LogFile(path)) == list(records_of("figure1")[: LATER.seq + 1])


def test_a_value_that_no_line_can_hold_leaves_an_older_log_as_it_was(tmp_path: Path) -> None:
    path, older = tmp_path / "run.jsonl", older_log(tmp_path / "older")
    path.write_bytes(older)
    for more in ([], [LATER]):
        with pytest.raises(TypeError), LogWriter(path) as log:
            for record in (Record(10**41, 0, None, START.event), *more):
                log(record)
    assert path.read_bytes() == older


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


@pytest.mark.parametrize("name", ["conftest.py", "run.jsonl", "run.jsonl.gz"])
def test_what_is_no_log_is_neither_moved_nor_written_over(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"event": "of another program"}')
    with pytest.raises(InputError, match="is no log: it is not replaced"), LogWriter(path) as log:
        begun(log)
    assert [it.name for it in tmp_path.iterdir()] == [name]
    assert path.read_text() == '{"event": "of another program"}'


def test_what_takes_the_logs_place_meanwhile_is_not_moved_either(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with pytest.raises(InputError, match="is no log"), LogWriter(path) as log:
        path.write_text("of another program")
        begun(log)
    assert path.read_text() == "of another program"


@pytest.mark.parametrize("there", [True, False])
def test_no_log_is_written_through_a_link(tmp_path: Path, there: bool) -> None:
    path, target = tmp_path / "run.jsonl", tmp_path / "elsewhere"
    if there:
        target.touch()
    path.symlink_to(target)
    with pytest.raises(InputError, match="is a link to"), LogWriter(path) as log:
        begun(log)
    assert target.exists() is there
    assert not there or target.read_text() == ""


# --- packed logs -------------------------------------------------------------------------------


PACKED = (".gz", ".xz", ".zst")

LINES = tuple(b"line %d of what is packed\n" % k for k in range(3000))


@pytest.mark.parametrize("suffix", PACKED)
def test_a_packed_log_holds_the_same_records_as_a_plain_one(suffix: str, tmp_path: Path) -> None:
    path = written("redundant-laps", tmp_path, f".jsonl{suffix}")
    assert tuple(LogFile(path)) == records_of("redundant-laps")
    assert path.stat().st_size < written("redundant-laps", tmp_path).stat().st_size / 3


@pytest.mark.parametrize("suffix", PACKED)
def test_the_same_log_is_packed_into_the_same_bytes(suffix: str, tmp_path: Path) -> None:
    folders = [tmp_path / str(k) for k in range(2)]
    one, other = (written("figure1", folder, suffix).read_bytes() for folder in folders)
    assert one == other


@pytest.mark.parametrize("suffix", PACKED)
def test_what_was_flushed_can_be_read_though_the_file_was_never_closed(
    suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"lines{suffix}"
    file = pack(path)
    for line in LINES[:2000]:
        file.write(line)
    file.flush()
    for line in LINES[2000:]:
        file.write(line)
    copy = tmp_path / f"copy{suffix}"
    copy.write_bytes(path.read_bytes())
    found: list[bytes] = []
    try:
        with open_binary(copy) as stream:
            found.extend(stream)
    except EOFError:
        pass
    assert tuple(found[:2000]) == LINES[:2000]
    file.close()
    assert content(path) == b"".join(LINES)


@pytest.mark.parametrize("suffix", PACKED)
def test_a_log_cut_anywhere_is_read_up_to_the_cut_and_says_so(suffix: str, tmp_path: Path) -> None:
    whole, path = records_of("redundant"), tmp_path / f"log.jsonl{suffix}"
    with LogWriter(path) as log:
        for k in range(3 * FLUSH_EVERY):
            log(evolve(whole[k % len(whole)], seq=k))
    data = path.read_bytes()
    for part in (0.4, 0.7, 0.9, 0.999):
        path.write_bytes(data[: int(part * len(data))])
        file = LogFile(path, ordered=False)  # time runs over and over again
        seqs = [record.seq for record in file]
        assert seqs == list(range(len(seqs)))
        assert file.cut
        # All flushes before the cut; the packed size of a record varies, hence the one less.
        assert len(seqs) >= (int(part * 3) - 1) * FLUSH_EVERY


def test_without_the_package_zst_names_the_pip_command(tmp_path: Path) -> None:
    log = written("figure1", tmp_path, ".zst")
    assert "pip install 'holdfast[zst]'" in without("zstandard", "summary", log)


@pytest.mark.parametrize("suffix", PACKED)
def test_what_is_packed_otherwise_or_cut_before_its_first_record_is_refused_with_the_reason(
    suffix: str, tmp_path: Path
) -> None:
    path = written("figure1", tmp_path, suffix)
    whole = path.read_bytes()
    for data, problem in {
        b"".join(LINES): "cannot be read",
        whole[:30]: "cut within its first records",
    }.items():
        path.write_bytes(data)
        with pytest.raises(InputError, match=problem):
            list(LogFile(path))
