"""Opening plain and compressed files; what is no file of its format is refused with its place."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sims.errors import InputError
from sims.readers.files import LEAST_GROWN, LONGEST, content, numbered_lines
from sims.readers.job_logs import read_swf
from sims.readers.spot import MOST_BYTES, read_spot_trace, spot_folder
from sims.readers.traces import read_fta_trace, read_intervals, read_simgrid_profile
from tests.case_files import listed

LINES = b"one\r\ntwo\n\nfour"
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "plain.txt": bytes,
    "a.gz": gzip.compress,
    "a.xz": lzma.compress,
    "a.bz2": bz2.compress,
}


@pytest.mark.parametrize("name", COMPRESSORS)
def test_a_file_reads_the_same_under_every_compression(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(COMPRESSORS[name](LINES))
    assert content(path) == LINES
    lines = [(1, "one"), (2, "two"), (3, ""), (4, "four")]
    assert list(numbered_lines(path)) == [it for it in lines if it[1]]


@pytest.mark.parametrize("name", ["a.gz", "a.xz", "a.bz2"])
@pytest.mark.parametrize("keep", [0.5, None])
def test_a_cut_or_wrongly_named_file_is_refused_by_name(
    tmp_path: Path, name: str, keep: float | None
) -> None:
    whole = COMPRESSORS[name](bytes(range(256)) * 20)
    path = tmp_path / name
    path.write_bytes(b"plain text" if keep is None else whole[: int(len(whole) * keep)])
    with pytest.raises(InputError, match="cannot be read") as caught:
        content(path)
    assert caught.value.source == str(path)
    with pytest.raises(InputError, match="cannot be read"):
        list(numbered_lines(path))


def test_a_missing_file_and_a_folder_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        content(tmp_path / "absent.swf.xz")
    with pytest.raises(InputError, match="Is a directory"):
        content(tmp_path)


@pytest.mark.parametrize("name", ["a.tar.zst", "a.zip", "a.tar.xz", "a.tgz"])
def test_what_is_not_one_file_in_a_known_compression_is_refused_with_what_would_do(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(LINES)
    with pytest.raises(InputError) as caught:
        content(tmp_path / name)
    assert caught.value.accepted


def test_bytes_that_are_not_utf8_stay_visible_and_a_byte_order_mark_is_dropped(
    tmp_path: Path,
) -> None:
    path = tmp_path / "latin"
    path.write_bytes(b"\xef\xbb\xbf; Jos\xe9\n")
    assert list(numbered_lines(path)) == [(1, r"; Jos\xe9")]


@pytest.mark.parametrize("name", ["a.gz", "a.xz", "a.bz2"])
def test_a_small_file_that_unpacks_to_far_more_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(COMPRESSORS[name](bytes(LEAST_GROWN + 1)))
    with pytest.raises(InputError, match="more than 100 times as large"):
        content(path)


def test_an_archive_is_unpacked_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "zones.tar.gz"
    with tarfile.open(path, "w:gz") as archive, Path("/dev/zero").open("rb") as zeros:
        member = tarfile.TarInfo("a.json")
        member.size = MOST_BYTES + 1
        archive.addfile(member, zeros)
    with pytest.raises(InputError, match="more than 268,435,456 bytes"), spot_folder(path):
        pass


WORDS = {
    "FTA": "# comment\n1 1 1 1 n1 1 1000 1010 NULL",
    "SWF": "; Version: 2.2\n\n1 0 5 100 4 98.5 2048 4 120 -1 1 1 1 1 1 -1 -1 -1",
    "LONG": "a" * LONGEST,
}
READERS = (read_fta_trace, read_simgrid_profile, read_intervals, read_swf, read_spot_trace)
CASES = [
    pytest.param(read, *case, id=f"{read.__name__}-{case[2]}")
    for read in READERS
    for case in listed(__file__, read.__name__)
]


@pytest.mark.parametrize(("read", "text", "key", "problem"), CASES)
def test_a_malformed_file_is_refused_with_its_place(
    tmp_path: Path, read: Callable[[Path], object], text: str, key: str, problem: str
) -> None:
    path = tmp_path / "file"
    for word, meant in WORDS.items():
        text = text.replace(word, meant)
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert (caught.value.source, caught.value.key) == (str(path), key)
    assert problem in str(caught.value)
