"""No process outlives the command that started it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.sims.cli.commands import Shell, environment

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
SCENARIO = """\
name = "long"
reclaims = [[1, 900, 0]]

[platform]
workers = 2

[job]
kind = "rigid"
jobs = [{ processors = 2, time = 1000 }]

[live]
scale = 0.5
pace = 0.05
"""
PATIENCE = 60


def descendants(parent: int) -> set[int]:
    """All processes below it."""
    found = {parent}
    for _ in range(4):
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) in found:
                found.add(int(path.parent.name))
    return found - {parent}


def shared_by(pid: int) -> set[Path]:
    """Files of shared memory that a process has."""
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {Path(line.split()[5]) for line in maps if "/dev/shm/" in line}


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def until(happens: object, what: str) -> None:
    began = time.monotonic()
    while not happens():  # type: ignore[operator]
        assert time.monotonic() - began < PATIENCE, what
        time.sleep(0.1)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.slow
def test_nothing_is_left_behind_also_of_stopped_processes(
    tmp_path: Path, short_folder: Path, how: signal.Signals
) -> None:
    file, log = tmp_path / "long.toml", tmp_path / "long.jsonl"
    file.write_text(SCENARIO)
    command = [sys.executable, "-m", "sims.cli", "live", str(file), "--log", str(log)]
    # A killed command cannot remove its folder: the next one does, after a day.
    env = environment(TMPDIR=str(short_folder))
    process = subprocess.Popen(
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until(lambda: log.exists() and "WorkerChanged" in log.read_text(), "the run begins")
    left = descendants(process.pid)
    assert len(left) >= 3
    shared = {path for pid in (process.pid, *left) for path in shared_by(pid)}
    process.send_signal(how)
    process.wait(PATIENCE)
    until(lambda: not any(map(alive, left)), "all are gone")
    assert not [path for path in shared if path.exists()]


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys)


def test_a_scheduler_that_is_there_carries_it_out(shell: Shell, tmp_path: Path) -> None:
    from tests.sims.campaign.campaigns import dask

    (tmp_path / "short.toml").write_text(
        SCENARIO.replace("reclaims = [[1, 900, 0]]", "reclaims = [[1, 2, 0]]").replace("1000", "6")
    )
    with dask(tmp_path) as scheduler:
        said = shell("live", "short.toml", "--scheduler", scheduler)
    assert said.code == 0, said.err
    assert "right" in said.out


def test_a_signal_while_a_cluster_starts_ends_it_once_it_has_started(
    monkeypatch: pytest.MonkeyPatch, short_folder: Path
) -> None:
    import distributed

    from sims.live import live

    begun: list[str] = []

    class Interrupted(ExitStack):
        """Stands in for a cluster: Ctrl-C comes in the middle of its start."""

        def __init__(self, **how: object) -> None:
            super().__init__()
            signal.raise_signal(signal.SIGINT)
            begun.append("started")
            self.callback(begun.append, "closed")
            self.scheduler = self.http_server = self
            self.stop = self.wait_for_workers = lambda *_, **__: None

    monkeypatch.setattr(distributed, "LocalCluster", Interrupted)
    monkeypatch.setattr(live, "_serve_forks", lambda _: None)
    with pytest.raises(KeyboardInterrupt), live.opened(2, live.hashed, open_to_all=True):
        pytest.fail("it goes on")
    assert begun == ["started", "closed"]
