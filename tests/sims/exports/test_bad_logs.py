"""Exports of what is no log, or no more than half of one: an older target stays as it was."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sims.cli import main
from tests.sims.kinds import written

TARGETS = [
    ("chrome", ".json"),
    ("batsim", ".csv"),
    *((table, suffix) for table in ("events", "jobs") for suffix in (".csv", ".parquet")),
]

END = "unknown event at the end"
SPOILT = {
    "unknown event in the middle": (b'"event":"JobSubmitted"', b'"event":"Nonsense"'),
    END: (b'"event":"ScenarioEnded"', b'"event":"Nonsense"'),
    "other version": (b'"schema":', b'"schema":9'),
}


def spoil(folder: Path, how: str, suffix: str) -> Path:
    """A log that cannot be read to its end."""
    log = written("iterative", folder, suffix)
    content = gzip.decompress(log.read_bytes()) if suffix == ".gz" else log.read_bytes()
    if how == "empty":
        content = b""
    else:
        before, after = SPOILT[how]
        assert before in content
        content = content.replace(before, after, 1)
    log.write_bytes(gzip.compress(content) if suffix == ".gz" else content)
    return log


@pytest.mark.parametrize(("target", "suffix"), TARGETS)
@pytest.mark.parametrize(
    ("how", "packed"), [*((how, ".jsonl") for how in ("empty", *SPOILT)), (END, ".gz")]
)
def test_an_older_target_stays_and_nothing_is_left_beside_it(
    target: str,
    suffix: str,
    how: str,
    packed: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log, path = spoil(tmp_path, how, packed), tmp_path / f"out{suffix}"
    words = ["export", str(log), "--to", target, "-o", str(path)]
    assert main(words) == 2
    assert set(tmp_path.iterdir()) == {log}
    path.write_bytes(b"older")
    assert main(words) == 2
    assert path.read_bytes() == b"older"
    assert set(tmp_path.iterdir()) == {log, path}
    assert all(
        line.startswith(f"holdfast: {log}: ") for line in capsys.readouterr().err.split("\n")[:-1]
    )


@pytest.mark.parametrize(("target", "suffix"), TARGETS)
def test_a_full_disk_is_reported_in_one_line(
    target: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, path = written("iterative", tmp_path), tmp_path / f"out{suffix}"
    path.symlink_to("/dev/full")
    assert main(["export", str(log), "--to", target, "-o", str(path)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"holdfast: {path}: cannot be written: No space left on device")
