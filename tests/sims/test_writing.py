"""Files that commands write: an older one goes only where a whole new one comes."""

from __future__ import annotations

import os
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sims.errors import InputError
from sims.log_writer import LogWriter, check_packing
from sims.writing import HeldBack, refusing, replacing


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def test_what_is_written_takes_its_place_at_the_end_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    with replacing(path) as new:
        assert new.suffix == ".csv"
        new.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("older", ["old", None])
@pytest.mark.parametrize(
    "error", [InputError("bad log", "", ""), KeyboardInterrupt, BrokenPipeError]
)
def test_a_failure_leaves_the_older_file_or_none_and_nothing_else(
    tmp_path: Path, error: BaseException | type[BaseException], older: str | None
) -> None:
    path = tmp_path / "out.csv"
    if older:
        path.write_text(older)
    with pytest.raises(BaseException) as caught, replacing(path) as new:
        new.write_text("half")
        raise error
    assert error in (caught.value, caught.type)
    assert [it.read_text() for it in tmp_path.iterdir()] == ([older] if older else [])


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_refused_also_one_within_its_folder(tmp_path: Path, there: bool) -> None:
    link, target = tmp_path / "out.csv", tmp_path / "elsewhere" / "table"
    if there:
        target.parent.mkdir()
        target.write_text("mine")
    link.symlink_to(target)
    with pytest.raises(InputError, match="is a link to"), replacing(link) as new:
        new.write_text("new")
    assert link.is_symlink()
    assert target.exists() is there


def test_who_may_read_it_is_as_for_the_older_file_or_as_for_any_new_one(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    with umask(0o022), replacing(path) as new:
        new.write_text("new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.chmod(0o600)
    with replacing(path) as new:
        new.write_text("newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write every file")
def test_a_file_that_must_not_be_written_is_not_replaced_either(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(0o400)
    with pytest.raises(InputError, match="Permission denied"), replacing(path) as new:
        new.write_text("new")
    assert path.read_text() == "old"


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with replacing(path) as new:
        new.write_text("new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert path.is_fifo()


def test_a_full_device_is_one_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.symlink_to("/dev/full")
    with pytest.raises(InputError) as caught, replacing(path) as new:
        new.write_text("new")
    assert str(caught.value) == (
        f"{path}: cannot be written: No space left on device; accepted: a file in a folder of yours"
    )


def test_a_folder_in_its_place_and_a_file_in_its_folders_place_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    for path in (tmp_path, tmp_path / "file" / "out.csv"):
        with pytest.raises(InputError, match="cannot be written"), replacing(path) as new:
            new.write_text("new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_pipe_that_nobody_reads_any_more_is_no_error_of_the_users() -> None:
    with pytest.raises(BrokenPipeError), refusing(Path("out.csv")):
        raise BrokenPipeError


REFUSED = ("bz2", "zip", "7z", "lz4", "lzma", "Z", "BZ2", "GZ", "Xz", "tar.gz", "tgz", "rar")


@pytest.mark.parametrize("suffix", REFUSED)
def test_a_log_is_not_named_as_if_it_were_packed_in_a_way_that_is_not_known(
    tmp_path: Path, suffix: str
) -> None:
    with pytest.raises(InputError) as caught:
        LogWriter(tmp_path / f"run.jsonl.{suffix}")
    assert caught.value.accepted == ".gz, .xz, .zst, or plain: .jsonl"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["run", "run.jsonl", "run.log", "v1.2", "a.jsonl.gz", "a.xz"])
def test_a_log_may_have_any_other_name(name: str) -> None:
    check_packing(Path(name))


# --- Ctrl-C in the middle of something ---------------------------------------------------------

hears = pytest.mark.usefixtures("hears_ctrl_c")


def press() -> None:
    signal.raise_signal(signal.SIGINT)


@hears
def test_it_interrupts_at_once_where_nothing_is_half_done() -> None:
    with HeldBack(), pytest.raises(KeyboardInterrupt):
        press()


@hears
def test_it_waits_for_what_is_half_done() -> None:
    done = []
    with HeldBack() as interrupt:
        interrupt.busy = True
        press()
        done.append("the rest")
        with pytest.raises(KeyboardInterrupt):
            interrupt.settle()
        interrupt.settle()  # once for one press
    assert done == ["the rest"]


@hears
def test_what_handled_it_before_handles_it_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    with HeldBack():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


@hears
def test_in_another_thread_it_leaves_the_handler_alone() -> None:
    handlers = []

    def enter() -> None:
        with HeldBack():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGINT)]


@hears
def test_where_it_is_ignored_it_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with HeldBack() as interrupt:
            press()
            interrupt.settle()
    finally:
        signal.signal(signal.SIGINT, before)
